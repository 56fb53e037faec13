//! Expressions of DVE as total expressions of a program, with what can go wrong in evaluating them.
//!
//! Values have 32 bits, as those of DiVinE: what leaves them wraps. Bounds of values are followed, so that only what can wrap is
//! wrapped, and only what can go wrong is checked.

use birk_ir::interval::{self, Interval};
use birk_ir::{BinaryOp, Diagnostic, Expr as Total, FaultId, FaultKind, Span, UnaryOp};

use crate::ast::{Binary, Expr, ExprKind, Name, Unary};
use crate::context::{Context, Symbol};

const WORD: Interval = (i32::MIN as i64, i32::MAX as i64);

/// A value, its bounds, and what can go wrong before it is known.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) expr: Total,
    pub(crate) range: Interval,
    pub(crate) hazards: Vec<Hazard>,
}

/// Something that goes wrong where `when` is true.
#[derive(Clone, Debug)]
pub(crate) struct Hazard {
    pub(crate) when: Total,
    pub(crate) fault: FaultId,
}

impl Value {
    fn constant(value: i64) -> Self {
        Self { expr: Total::Const(value), range: (value, value), hazards: Vec::new() }
    }

    fn truth_of(expr: Total, hazards: Vec<Hazard>) -> Self {
        Self { expr, range: (0, 1), hazards }
    }

    /// Whether it is other than 0.
    pub(crate) fn truth(self) -> Self {
        if 0 <= self.range.0 && self.range.1 <= 1 {
            return self;
        }
        Self::truth_of(Total::binary(BinaryOp::Ne, self.expr, Total::Const(0)), self.hazards)
    }

    /// The value that a variable with these bounds has after an assignment.
    pub(crate) fn wrapped(self, (lo, hi): Interval) -> Self {
        if lo <= self.range.0 && self.range.1 <= hi {
            return self;
        }
        let expr = match self.expr.as_const() {
            Some(value) => Total::Const(birk_ir::expr::wrap(value, lo, hi)),
            None => Total::Wrap(Box::new(self.expr), lo, hi),
        };
        let range = expr.as_const().map_or((lo, hi), |value| (value, value));
        Self { expr, range, hazards: self.hazards }
    }
}

/// The value of an expression in a process, or outside of any.
pub(crate) fn value(cx: &mut Context<'_>, process: Option<usize>, expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Number(number) => Value::constant(*number),
        ExprKind::Error => Value::constant(0),
        ExprKind::State(owner, state) => in_state(cx, owner, state),
        ExprKind::Variable(owner, name, index) => {
            let scope = match owner {
                Some(owner) => match cx.process(owner) {
                    Some(process) => Some(process),
                    None => return Value::constant(0),
                },
                None => process,
            };
            variable(cx, (process, scope), name, index.as_deref())
        }
        ExprKind::Unary(op, operand) => {
            let operand = value(cx, process, operand);
            unary(*op, operand)
        }
        ExprKind::Binary(op, parts) => {
            let left = value(cx, process, &parts.0);
            let right = value(cx, process, &parts.1);
            binary(cx, *op, left, right, parts.1.span, expr.span)
        }
    }
}

/// `P.q`
fn in_state(cx: &mut Context<'_>, owner: &Name, state: &Name) -> Value {
    let Some(process) = cx.process(owner) else { return Value::constant(0) };
    let Some(number) = cx.state(process, state) else { return Value::constant(0) };
    let Some(counter) = cx.processes[process].counter else {
        let message = format!("`{}` is the property, which is no part of the system", owner.text);
        let help = "only the states of other processes can be asked for";
        cx.report(Diagnostic::new("E1009", owner.span.to(state.span), message, "the property").help(help));
        return Value::constant(0);
    };
    Value::truth_of(Total::element(counter, Total::Const(0)).equals(number as i64), Vec::new())
}

/// What can be written or read: a variable, the element of it, and the bounds of its values.
pub(crate) struct Located {
    pub(crate) variable: birk_ir::VarId,
    /// Absent for a scalar of the system.
    pub(crate) index: Option<Total>,
    pub(crate) range: Interval,
    pub(crate) hazards: Vec<Hazard>,
    pub(crate) is_const: bool,
}

/// A variable: its index means what it means in one process, its name what it means in another.
fn variable(
    cx: &mut Context<'_>,
    (process, scope): (Option<usize>, Option<usize>),
    name: &Name,
    index: Option<&Expr>,
) -> Value {
    match located(cx, (process, scope), name, index) {
        Ok(place) => {
            let expr = match place.index {
                Some(index) => Total::element(place.variable, index),
                None => Total::Var(place.variable),
            };
            Value { expr, range: place.range, hazards: place.hazards }
        }
        Err(constant) => Value::constant(constant),
    }
}

/// Where a variable is; otherwise its value, if it is a constant, or 0 if it is not known.
pub(crate) fn located(
    cx: &mut Context<'_>,
    (process, scope): (Option<usize>, Option<usize>),
    name: &Name,
    index: Option<&Expr>,
) -> Result<Located, i64> {
    let symbol = cx.lookup(scope, name);
    let Symbol::Variable { id, ty, length, is_local, is_const } = symbol else {
        return Err(match symbol {
            Symbol::Constant(value) => {
                if index.is_some() {
                    cx.report_kind(name, &symbol, "an array");
                }
                value
            }
            Symbol::Error => 0,
            _ => {
                cx.report_kind(name, &symbol, "a variable");
                0
            }
        });
    };
    let range = cx.variables.get(id.index()).map_or(ty.range(), |variable| (variable.lo, variable.hi));
    let mut hazards = Vec::new();
    let index = match (length, index) {
        (Some(length), Some(index)) => {
            let at = value(cx, process, index);
            hazards = at.hazards;
            let last = i64::from(length) - 1;
            if at.range.0 < 0 || last < at.range.1 {
                let below = Total::binary(BinaryOp::Lt, at.expr.clone(), Total::Const(0));
                let above = Total::binary(BinaryOp::Gt, at.expr.clone(), Total::Const(last));
                let below = if at.range.0 < 0 { below } else { Total::FALSE };
                let message = format!("the index `{}` must stay in 0..{last}", cx.source(index.span));
                let fault = cx.fault(FaultKind::Index, index.span, message);
                hazards.push(Hazard { when: below.or(above), fault });
            }
            Some(at.expr)
        }
        (Some(_), None) => {
            let message = format!("`{}` is an array; without an index it is its first element", name.text);
            let help = format!("write an index: `{}[0]`", name.text);
            cx.report(Diagnostic::new("W1005", name.span, message, "an array").help(help));
            Some(Total::Const(0))
        }
        (None, Some(_)) => {
            cx.report_kind(name, &symbol, "an array");
            Some(Total::Const(0))
        }
        (None, None) => is_local.then_some(Total::Const(0)),
    };
    Ok(Located { variable: id, index, range, hazards, is_const })
}

fn unary(op: Unary, operand: Value) -> Value {
    match op {
        Unary::Not => {
            let operand = operand.truth();
            Value::truth_of(operand.expr.negate(), operand.hazards)
        }
        Unary::Minus => minus(operand),
        // As numbers, the complement of x is -x - 1.
        Unary::Complement => {
            let negated = minus(operand);
            arithmetic(BinaryOp::Sub, negated, Value::constant(1))
        }
    }
}

fn minus(operand: Value) -> Value {
    let range = interval::unary(UnaryOp::Neg, operand.range);
    let expr = match operand.expr.as_const() {
        Some(value) => Total::Const(-value),
        None => Total::Unary(UnaryOp::Neg, Box::new(operand.expr)),
    };
    Value { expr, range, hazards: operand.hazards }.wrapped(WORD)
}

fn binary(cx: &mut Context<'_>, op: Binary, left: Value, right: Value, divisor: Span, whole: Span) -> Value {
    match op {
        Binary::And => connected(BinaryOp::And, left, right),
        Binary::Or => connected(BinaryOp::Or, left, right),
        Binary::Imply => connected(BinaryOp::Or, unary(Unary::Not, left), right),
        Binary::Eq => compared(BinaryOp::Eq, left, right),
        Binary::Ne => compared(BinaryOp::Ne, left, right),
        Binary::Lt => compared(BinaryOp::Lt, left, right),
        Binary::Le => compared(BinaryOp::Le, left, right),
        Binary::Gt => compared(BinaryOp::Gt, left, right),
        Binary::Ge => compared(BinaryOp::Ge, left, right),
        Binary::Add => arithmetic(BinaryOp::Add, left, right),
        Binary::Sub => arithmetic(BinaryOp::Sub, left, right),
        Binary::Mul => arithmetic(BinaryOp::Mul, left, right),
        Binary::Div => divided(cx, BinaryOp::Div, left, right, divisor, whole),
        Binary::Rem => divided(cx, BinaryOp::Rem, left, right, divisor, whole),
        Binary::BitAnd => arithmetic(BinaryOp::BitAnd, left, right),
        Binary::BitOr => arithmetic(BinaryOp::BitOr, left, right),
        Binary::BitXor => exclusive(left, right),
        Binary::Shl => arithmetic(BinaryOp::Shl, left, distance(right)),
        Binary::Shr => shifted_down(left, distance(right)),
    }
}

/// The right operand is evaluated only where the left one does not decide.
fn connected(op: BinaryOp, left: Value, right: Value) -> Value {
    let (left, right) = (left.truth(), right.truth());
    let mut hazards = left.hazards;
    for hazard in right.hazards {
        let goes_on = if op == BinaryOp::And { left.expr.clone() } else { left.expr.clone().negate() };
        hazards.push(Hazard { when: goes_on.and(hazard.when), fault: hazard.fault });
    }
    Value::truth_of(Total::binary(op, left.expr, right.expr), hazards)
}

fn compared(op: BinaryOp, left: Value, right: Value) -> Value {
    let hazards = left.hazards.into_iter().chain(right.hazards).collect();
    Value::truth_of(Total::binary(op, left.expr, right.expr), hazards)
}

fn arithmetic(op: BinaryOp, left: Value, right: Value) -> Value {
    let range = interval::binary(op, left.range, right.range);
    let hazards = left.hazards.into_iter().chain(right.hazards).collect();
    Value { expr: Total::binary(op, left.expr, right.expr), range, hazards }.wrapped(WORD)
}

fn divided(cx: &mut Context<'_>, op: BinaryOp, left: Value, mut right: Value, divisor: Span, whole: Span) -> Value {
    if right.range.0 <= 0 && 0 <= right.range.1 {
        let message = format!("division by zero in `{}`", cx.source(whole));
        let fault = cx.fault(FaultKind::DivisionByZero, divisor, message);
        right.hazards.push(Hazard { when: right.expr.clone().equals(0), fault });
    }
    arithmetic(op, left, right)
}

/// What is in one of them, without what is in both.
fn exclusive(left: Value, right: Value) -> Value {
    let either = arithmetic(BinaryOp::BitOr, left.clone(), right.clone());
    let both = interval::binary(BinaryOp::BitAnd, left.range, right.range);
    let is_natural = left.range.0 >= 0 && right.range.0 >= 0;
    let range = if is_natural { (0, either.range.1) } else { interval::binary(BinaryOp::Sub, either.range, both) };
    let both = Total::binary(BinaryOp::BitAnd, left.expr, right.expr);
    let expr = Total::binary(BinaryOp::Sub, either.expr, both);
    Value { expr, range, hazards: either.hazards }.wrapped(WORD)
}

/// How far to shift: the lowest five bits, as processors do it.
fn distance(value: Value) -> Value {
    match (0..32).contains(&value.range.0) && (0..32).contains(&value.range.1) {
        true => value,
        false => arithmetic(BinaryOp::BitAnd, value, Value::constant(31)),
    }
}

/// The sign is kept: of a negative number, it is the complement that is shifted.
fn shifted_down(value: Value, by: Value) -> Value {
    if value.range.0 >= 0 {
        return arithmetic(BinaryOp::Shr, value, by);
    }
    let is_negative = Total::binary(BinaryOp::Lt, value.expr.clone(), Total::Const(0));
    let complement = unary(Unary::Complement, value.clone());
    let turned = Total::binary(BinaryOp::Shr, complement.expr, by.expr.clone());
    let turned = Total::binary(BinaryOp::Sub, Total::Const(-1), turned);
    let plain = Total::binary(BinaryOp::Shr, value.expr, by.expr);
    let hazards = value.hazards.into_iter().chain(by.hazards).collect();
    let range = (value.range.0, value.range.1.max(0));
    Value { expr: Total::choose(is_negative, turned, plain), range, hazards }
}
