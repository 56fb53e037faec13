//! Expressions with known values put in: for initial states, and for steps of which parts are known.

use birk_ir::expr::wrap;
use birk_ir::{Expr, FoldOp, VarId};

/// What is known of a variable, or of an element of it.
pub(crate) type Known<'k> = &'k dyn Fn(VarId, i64) -> Option<i64>;

/// The same expression with everything computed that is known.
pub(crate) fn fold(expr: &Expr, known: Known<'_>) -> Expr {
    let inner = |e: &Expr| fold(e, known);
    match expr {
        Expr::Const(_) | Expr::Local(_) | Expr::Stuck => expr.clone(),
        Expr::Var(variable) => known(*variable, 0).map_or_else(|| expr.clone(), Expr::Const),
        Expr::Element(variable, index) => {
            let index = inner(index);
            match index.as_const().and_then(|index| known(*variable, index)) {
                Some(value) => Expr::Const(value),
                None => Expr::element(*variable, index),
            }
        }
        Expr::Unary(op, a) => match inner(a) {
            Expr::Const(value) => Expr::Const(op.apply(value)),
            other => Expr::Unary(*op, Box::new(other)),
        },
        Expr::Binary(op, parts) => {
            let left = inner(&parts.0);
            // What is not evaluated need not be known.
            match (op, left.as_const()) {
                (birk_ir::BinaryOp::And, Some(0)) => Expr::FALSE,
                (birk_ir::BinaryOp::Or, Some(value)) if value != 0 => Expr::TRUE,
                _ => Expr::binary(*op, left, inner(&parts.1)),
            }
        }
        Expr::If(parts) => match inner(&parts.0).as_const() {
            Some(0) => inner(&parts.2),
            Some(_) => inner(&parts.1),
            None => Expr::choose(inner(&parts.0), inner(&parts.1), inner(&parts.2)),
        },
        Expr::Wrap(a, lo, hi) => match inner(a) {
            Expr::Const(value) => Expr::Const(wrap(value, *lo, *hi)),
            other => Expr::Wrap(Box::new(other), *lo, *hi),
        },
        Expr::Let { local, parts } => {
            let value = inner(&parts.0);
            match value.as_const() {
                Some(value) => inner(&with_local(&parts.1, *local, value)),
                None => Expr::Let { local: *local, parts: Box::new((value, inner(&parts.1))) },
            }
        }
        Expr::Fold { op, local, parts } => {
            let (lo, hi) = (inner(&parts.0), inner(&parts.1));
            let (Some(from), Some(to)) = (lo.as_const(), hi.as_const()) else {
                return Expr::Fold { op: *op, local: *local, parts: Box::new((lo, hi, inner(&parts.2))) };
            };
            let bodies: Vec<Expr> = (from..=to).map(|value| inner(&with_local(&parts.2, *local, value))).collect();
            match op {
                FoldOp::All => Expr::all(bodies),
                FoldOp::Any => Expr::any(bodies),
                FoldOp::Count | FoldOp::Sum => {
                    bodies.into_iter().fold(Expr::Const(0), |sum, body| Expr::binary(birk_ir::BinaryOp::Add, sum, body))
                }
            }
        }
    }
}

/// The same expression with a value for a local.
pub(crate) fn with_local(expr: &Expr, local: birk_ir::LocalId, value: i64) -> Expr {
    replace(expr, &|e| match e {
        Expr::Local(own) if *own == local => Some(Expr::Const(value)),
        _ => None,
    })
}

/// The same expression with parts replaced.
pub(crate) fn replace(expr: &Expr, by: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    if let Some(other) = by(expr) {
        return other;
    }
    let inner = |e: &Expr| replace(e, by);
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Local(_) | Expr::Stuck => expr.clone(),
        Expr::Element(variable, index) => Expr::element(*variable, inner(index)),
        Expr::Unary(op, a) => Expr::Unary(*op, Box::new(inner(a))),
        Expr::Binary(op, parts) => Expr::Binary(*op, Box::new((inner(&parts.0), inner(&parts.1)))),
        Expr::If(parts) => Expr::If(Box::new((inner(&parts.0), inner(&parts.1), inner(&parts.2)))),
        Expr::Wrap(a, lo, hi) => Expr::Wrap(Box::new(inner(a)), *lo, *hi),
        Expr::Let { local, parts } => Expr::Let { local: *local, parts: Box::new((inner(&parts.0), inner(&parts.1))) },
        Expr::Fold { op, local, parts } => {
            Expr::Fold { op: *op, local: *local, parts: Box::new((inner(&parts.0), inner(&parts.1), inner(&parts.2))) }
        }
    }
}
