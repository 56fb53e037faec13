//! Expressions that are known by their form: sums with a constant, all members of a set, indices of several dimensions.

use birk_ir::{BinaryOp, Expr};

/// A value and what is added to it.
pub(super) fn offset(expr: &Expr) -> (&Expr, i64) {
    let Expr::Binary(op, parts) = expr else { return (expr, 0) };
    match (op, &parts.0, &parts.1) {
        (BinaryOp::Add, value, Expr::Const(by)) | (BinaryOp::Add, Expr::Const(by), value) => {
            let (value, more) = offset(value);
            (value, more.saturating_add(*by))
        }
        (BinaryOp::Sub, value, Expr::Const(by)) => {
            let (value, more) = offset(value);
            (value, more.saturating_sub(*by))
        }
        _ => (expr, 0),
    }
}

/// How many bits are set, if these are the lowest ones and no others.
pub(super) fn all_of(value: i64) -> Option<i64> {
    let bits = value.trailing_ones();
    (value > 0 && bits < 63 && value >> bits == 0).then_some(i64::from(bits))
}

/// The indices of several dimensions that were made one: each but the first is known to be within its dimension.
pub(super) fn split(index: &Expr, shape: &[u32], is_within: &dyn Fn(&Expr, i64) -> bool) -> Option<Vec<Expr>> {
    let (&length, outer_shape) = shape.split_last()?;
    if outer_shape.is_empty() {
        return Some(vec![index.clone()]);
    }
    let length = i64::from(length);
    let scaled = |expr: &Expr| match expr {
        Expr::Const(value) if value % length == 0 => Some(Expr::Const(value / length)),
        Expr::Binary(BinaryOp::Mul, parts) if parts.1 == Expr::Const(length) => Some(parts.0.clone()),
        _ => None,
    };
    let (outer, inner) = match index {
        Expr::Const(value) => (Expr::Const(value.div_euclid(length)), Expr::Const(value.rem_euclid(length))),
        index if is_within(index, length - 1) => (Expr::Const(0), index.clone()),
        Expr::Binary(BinaryOp::Add, parts) if length == 1 && is_within(&parts.1, 0) => {
            (parts.0.clone(), parts.1.clone())
        }
        index if length == 1 => (index.clone(), Expr::Const(0)),
        Expr::Binary(BinaryOp::Add, parts) => (scaled(&parts.0)?, parts.1.clone()),
        index => (scaled(index)?, Expr::Const(0)),
    };
    let mut parts = split(&outer, outer_shape, is_within)?;
    parts.push(inner);
    Some(parts)
}
