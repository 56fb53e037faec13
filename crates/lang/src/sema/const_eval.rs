//! Values that must be known before the search: constants, bounds, lengths, numbers of copies.

use birk_ir::{Expr, FaultId, FoldOp, LocalId, Span};

use crate::diagnostic::Diagnostic;
use crate::sema::context::{Context, Evaluated};
use crate::sema::expression::Elaborator;
use crate::sema::types::{Ty, Value};
use crate::syntax::ast;

/// A constant may take this many steps to compute.
const MAX_STEPS: usize = 1_000_000;

/// A constant integer; `None` if it is wrong, which was reported.
pub(crate) fn constant_int(cx: &mut Context<'_>, expr: &ast::Expr, what: &str) -> Option<i64> {
    let mut elaborator = Elaborator::constant(cx);
    let value = elaborator.integer(expr, what);
    let value = elaborator.settle(value, expr.span);
    (value.ty == Ty::Int).then_some(value.lo)
}

impl Elaborator<'_, '_> {
    /// The value of a constant, computed when first asked for.
    pub(crate) fn constant_value(&mut self, index: usize) -> Value {
        let constant = &self.cx.constants[index];
        let (name, span, expr) = (constant.full_name.clone(), constant.name.span, constant.expr);
        match &constant.state {
            Evaluated::Done(value) => return value.clone(),
            Evaluated::Begun => {
                self.cx.depends_on_itself("constant", &name, span);
                self.cx.constants[index].state = Evaluated::Done(Value::error());
                return Value::error();
            }
            Evaluated::NotYet => {}
        }
        if !self.cx.begin(&name, span) {
            self.cx.constants[index].state = Evaluated::Done(Value::error());
            return Value::error();
        }
        self.cx.constants[index].state = Evaluated::Begun;
        let mut inner = Elaborator::constant(self.cx);
        let value = inner.value(expr);
        let value = inner.settle(value, expr.span);
        self.cx.evaluating.pop();
        self.cx.constants[index].state = Evaluated::Done(value.clone());
        value
    }

    /// A value that must be constant, and must not go wrong; otherwise that is reported, and the type is `Error`.
    pub(crate) fn settle(&mut self, value: Value, span: Span) -> Value {
        if value.ty == Ty::Error {
            return value;
        }
        for hazard in &value.hazards {
            match fold_constant(&hazard.when) {
                Some(0) => {}
                Some(_) => return self.goes_wrong(hazard.fault, span),
                None => return self.takes_too_long(span),
            }
        }
        match fold_constant(&value.expr) {
            Some(constant) => Value::constant(constant, value.ty),
            None => self.takes_too_long(span),
        }
    }

    fn goes_wrong(&mut self, fault: FaultId, span: Span) -> Value {
        let fault = &self.cx.faults[fault.index()];
        let (message, at) = (fault.message.clone(), fault.span);
        let mut diagnostic = Diagnostic::new("E0043", at, message, "goes wrong here");
        if at.start < span.start || at.end > span.end {
            diagnostic = diagnostic.related(span, "in the value of this constant expression");
        }
        self.cx.report(diagnostic);
        Value::error()
    }

    /// Nothing here reads the state, so what cannot be folded has too many parts.
    fn takes_too_long(&mut self, span: Span) -> Value {
        let message = "this constant takes too long to compute";
        let help = format!("a constant may take {MAX_STEPS} steps; make the ranges of its quantifiers smaller");
        self.cx.report(Diagnostic::new("E0039", span, message, "too many steps").help(help));
        Value::error()
    }
}

/// Constant expressions that keep a fold or a binding: quantifiers and functions of constants.
fn fold_constant(expr: &Expr) -> Option<i64> {
    fn eval(expr: &Expr, locals: &mut Vec<(LocalId, i64)>, steps: &mut usize) -> Option<i64> {
        *steps = steps.checked_sub(1)?;
        Some(match expr {
            Expr::Const(value) => *value,
            Expr::Local(local) => locals.iter().rev().find(|(l, _)| l == local)?.1,
            Expr::Unary(op, a) => op.apply(eval(a, locals, steps)?),
            Expr::Binary(op, parts) => op.apply(eval(&parts.0, locals, steps)?, eval(&parts.1, locals, steps)?),
            Expr::If(parts) if eval(&parts.0, locals, steps)? != 0 => eval(&parts.1, locals, steps)?,
            Expr::If(parts) => eval(&parts.2, locals, steps)?,
            Expr::Wrap(a, lo, hi) => birk_ir::expr::wrap(eval(a, locals, steps)?, *lo, *hi),
            Expr::Let { local, parts } => {
                let value = eval(&parts.0, locals, steps)?;
                locals.push((*local, value));
                let result = eval(&parts.1, locals, steps);
                locals.pop();
                result?
            }
            Expr::Fold { op, local, parts } => {
                let (lo, hi) = (eval(&parts.0, locals, steps)?, eval(&parts.1, locals, steps)?);
                let mut result = i64::from(*op == FoldOp::All);
                for value in lo..=hi {
                    locals.push((*local, value));
                    let body = eval(&parts.2, locals, steps);
                    locals.pop();
                    let body = body?;
                    match op {
                        FoldOp::All => result &= i64::from(body != 0),
                        FoldOp::Any => result |= i64::from(body != 0),
                        FoldOp::Count => result += i64::from(body != 0),
                        FoldOp::Sum => result = result.wrapping_add(body),
                    }
                }
                result
            }
            Expr::Var(_) | Expr::Element(..) | Expr::Stuck => return None,
        })
    }
    let mut steps = MAX_STEPS;
    eval(expr, &mut Vec::new(), &mut steps)
}
