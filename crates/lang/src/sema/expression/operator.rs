//! Operators: arithmetic with its hazards, comparisons, and those that evaluate only what they need.

use birk_ir::interval;
use birk_ir::{BinaryOp, Expr, FaultKind, Span, UnaryOp};

use super::Elaborator;
use crate::diagnostic::Diagnostic;
use crate::sema::types::{Hazard, INT_MAX, INT_MIN, Ty, Value, decided, outside};
use crate::syntax::ast::{self, ExprKind};

impl Elaborator<'_, '_> {
    pub(super) fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Value {
        match op {
            ast::UnaryOp::Not => {
                let value = self.condition(operand, "the operand of `!`");
                let mut result = Value::boolean(value.expr.negate());
                (result.hazards, result.fixed) = (value.hazards, value.fixed);
                if value.ty == Ty::Error { Value::error() } else { result }
            }
            ast::UnaryOp::Neg => {
                if let ExprKind::Int(value) = operand.kind {
                    return Value::constant((-value).max(INT_MIN), Ty::Int);
                }
                let value = self.integer(operand, "the operand of `-`");
                if value.ty == Ty::Error {
                    return value;
                }
                let expr = match value.expr.as_const() {
                    Some(constant) => Expr::Const(-constant),
                    None => Expr::Unary(UnaryOp::Neg, Box::new(value.expr)),
                };
                let result = Value { expr, lo: -value.hi, hi: -value.lo, ..value };
                self.checked(result, span)
            }
            _ => {
                self.temporal(span);
                Value::error()
            }
        }
    }

    pub(super) fn temporal(&mut self, span: Span) {
        self.cx.report(
            Diagnostic::new(
                "E0013",
                span,
                "a temporal operator outside a temporal property",
                "not a value of one state",
            )
            .help("temporal operators belong in `ltl`, `ctl` and `mu` properties, outside comparisons and arithmetic"),
        );
    }

    pub(super) fn binary(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        use ast::BinaryOp as B;
        let is_path = match &left.kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..) => true,
            ExprKind::Call(name, _) => self.is_built_in(name, &["head", "last"]),
            _ => false,
        };
        if let (B::Eq | B::Ne, true) = (op, is_path) {
            let op = if op == B::Eq { BinaryOp::Eq } else { BinaryOp::Ne };
            return self.compare_path(op, left, right);
        }
        if let B::Add | B::Sub | B::Mul | B::Le | B::Eq | B::Ne | B::In = op
            && let Some(value) = self.set_operation(op, left, right)
        {
            return value;
        }
        match op {
            B::And | B::Or | B::Implies => self.logical(op, left, right),
            B::Add => self.arithmetic(BinaryOp::Add, left, right, span),
            B::Sub => self.arithmetic(BinaryOp::Sub, left, right, span),
            B::Mul => self.arithmetic(BinaryOp::Mul, left, right, span),
            B::Div => self.arithmetic(BinaryOp::Div, left, right, span),
            B::Rem => self.arithmetic(BinaryOp::Rem, left, right, span),
            B::Lt => self.ordering(BinaryOp::Lt, left, right),
            B::Le => self.ordering(BinaryOp::Le, left, right),
            B::Gt => self.ordering(BinaryOp::Gt, left, right),
            B::Ge => self.ordering(BinaryOp::Ge, left, right),
            B::Eq | B::Iff => self.equality(BinaryOp::Eq, left, right),
            B::Ne => self.equality(BinaryOp::Ne, left, right),
            B::In => {
                let found = self.cx.source(right.span);
                let message = format!("`{found}` is not a set");
                self.cx.report(Diagnostic::new("E0022", right.span, message, "expected a set"));
                Value::error()
            }
            B::Until | B::WeakUntil | B::Release => {
                self.temporal(span);
                Value::error()
            }
        }
    }

    /// `&&`, `||`, `=>`: the right side is reached only where the left side leaves it open.
    pub(super) fn logical(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        let what = |side| match op {
            ast::BinaryOp::And => format!("the {side} side of `&&`"),
            ast::BinaryOp::Or => format!("the {side} side of `||`"),
            _ => format!("the {side} side of `=>`"),
        };
        let a = self.condition(left, &what("left"));
        let reached = if op == ast::BinaryOp::Or { a.expr.clone().negate() } else { a.expr.clone() };
        let outer = (self.facts.clone(), self.unreached);
        self.facts.assume(&reached);
        self.unreached |= reached == Expr::FALSE;
        let b = self.condition(right, &what("right"));
        (self.facts, self.unreached) = outer;
        if a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        let expr = match op {
            ast::BinaryOp::And => a.expr.and(b.expr),
            ast::BinaryOp::Or => a.expr.or(b.expr),
            _ => a.expr.negate().or(b.expr),
        };
        let mut result = Value::boolean(expr);
        result.fixed = a.fixed && b.fixed;
        result.hazards = a.hazards;
        result.hazards.extend(where_reached(&reached, b.hazards));
        result
    }

    pub(super) fn arithmetic(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let Some((mut a, b)) = self.numbers(op, left, right) else { return Value::error() };
        a.hazards.extend(b.hazards.iter().cloned());
        a.fixed &= b.fixed;
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.lo <= 0 && b.hi >= 0 {
            let when = b.expr.clone().equals(0);
            if when == Expr::TRUE && b.fixed && !self.unreached {
                let message = format!("division by zero in `{}`", self.cx.source(span));
                let diagnostic = Diagnostic::new("E0043", right.span, message, "this is 0");
                let diagnostic = self.cx.with_divisor(diagnostic);
                self.cx.report(diagnostic);
                return Value::error();
            }
            let fault = self
                .cx
                .fault(FaultKind::DivisionByZero, span, |cx| format!("division by zero in `{}`", cx.source(span)));
            a.hazards.push(Hazard { when, fault });
        }
        let (lo, hi) = interval::binary(op, (a.lo, a.hi), (b.lo, b.hi));
        let result = Value { expr: Expr::binary(op, a.expr, b.expr), ty: Ty::Int, lo, hi, ..a };
        self.checked(result, span)
    }

    /// Adds the hazard of leaving 32 bits, where that can happen.
    pub(crate) fn checked(&mut self, mut value: Value, span: Span) -> Value {
        if !value.is_within(INT_MIN, INT_MAX) {
            let when = outside(&value, INT_MIN, INT_MAX);
            if when == Expr::TRUE && value.fixed && !self.unreached {
                let message = format!("`{}` overflows 32 bits", self.cx.source(span));
                let help = format!("numbers go from {INT_MIN} to {INT_MAX}");
                self.cx.report(Diagnostic::new("E0043", span, message, "goes wrong here").help(help));
                return Value::error();
            }
            let fault =
                self.cx.fault(FaultKind::Overflow, span, |cx| format!("`{}` overflows 32 bits", cx.source(span)));
            value.hazards.push(Hazard { when, fault });
            (value.lo, value.hi) = (value.lo.max(INT_MIN), value.hi.min(INT_MAX));
            if value.lo > value.hi {
                (value.lo, value.hi) = (INT_MIN, INT_MAX);
            }
            return value;
        }
        value.settled()
    }

    /// Two operands that must be integers; `None` if one is not, which was reported.
    pub(super) fn numbers(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Option<(Value, Value)> {
        let (a, b) = (self.value(left), self.value(right));
        let operands = [(left.span, a.ty), (right.span, b.ty)];
        let mut wrong = operands.into_iter().filter(|(_, ty)| !matches!(ty, Ty::Int | Ty::Error));
        if let Some((span, ty)) = wrong.next() {
            let found = self.cx.type_name(ty);
            let message = format!("an operand of `{}` must be `int`, not {found}", sign(op));
            let mut diagnostic = Diagnostic::new("E0022", span, message, format!("this is {found}"));
            for (span, ty) in wrong {
                diagnostic = diagnostic.related(span, format!("this is {}", self.cx.type_name(ty)));
            }
            diagnostic.help = self.cx.conversion(ty, Ty::Int, span);
            diagnostic.fix = self.cx.converted(ty, Ty::Int, span);
            self.cx.report(diagnostic);
            return None;
        }
        (a.ty == Ty::Int && b.ty == Ty::Int).then_some((a, b))
    }

    pub(super) fn ordering(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        match self.numbers(op, left, right) {
            Some((a, b)) => self.comparison(op, a, b),
            None => Value::error(),
        }
    }

    pub(super) fn equality(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        let a = self.value(left);
        self.equality_with(op, a, left, right)
    }

    /// The same with the left side evaluated already.
    pub(crate) fn equality_with(&mut self, op: BinaryOp, a: Value, left: &ast::Expr, right: &ast::Expr) -> Value {
        let b = self.value(right);
        if a.ty != b.ty && a.ty != Ty::Error && b.ty != Ty::Error {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            let message = format!("cannot compare {l} with {r}");
            let mut diagnostic = Diagnostic::new("E0022", right.span, message, format!("this is {r}"));
            diagnostic.help = self.cx.conversion(b.ty, a.ty, right.span);
            diagnostic.fix = self.cx.converted(b.ty, a.ty, right.span);
            self.cx.report(diagnostic.related(left.span, format!("this is {l}")));
            return Value::error();
        }
        self.comparison(op, a, b)
    }

    pub(crate) fn comparison(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        if a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        let expr = match decided(op, &a, &b) {
            Some(known) => Expr::Const(i64::from(known)),
            None => Expr::binary(op, a.expr, b.expr),
        };
        let mut result = Value::boolean(expr);
        result.fixed = a.fixed && b.fixed;
        result.hazards = a.hazards;
        result.hazards.extend(b.hazards);
        result
    }

    /// `c ? a : b`, where a type may be expected of both branches. Only the one that is taken can go wrong.
    pub(crate) fn conditional(
        &mut self,
        condition: &ast::Expr,
        [yes, no]: [&ast::Expr; 2],
        expected: Option<Ty>,
    ) -> Value {
        let branch = |this: &mut Self, expr: &ast::Expr| match expected {
            Some(ty) => this.value_as(expr, ty),
            None => this.value(expr),
        };
        let c = self.condition(condition, "the condition of `?:`");
        let outer = (self.facts.clone(), self.unreached);
        self.facts.assume(&c.expr);
        self.unreached |= c.expr == Expr::FALSE;
        let a = branch(self, yes);
        (self.facts, self.unreached) = outer.clone();
        let negated = c.expr.clone().negate();
        self.facts.assume(&negated);
        self.unreached |= negated == Expr::FALSE;
        let b = branch(self, no);
        (self.facts, self.unreached) = outer;
        if c.ty == Ty::Error || a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        if a.ty != b.ty {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            let message = format!("the branches of `?:` are {l} and {r}");
            let mut diagnostic = Diagnostic::new("E0022", no.span, message, format!("this is {r}"));
            diagnostic.help = self.cx.conversion(b.ty, a.ty, no.span);
            diagnostic.fix = self.cx.converted(b.ty, a.ty, no.span);
            self.cx.report(diagnostic.related(yes.span, format!("this is {l}")));
            return Value::error();
        }
        let (lo, hi) = match c.expr.as_const() {
            Some(0) => (b.lo, b.hi),
            Some(_) => (a.lo, a.hi),
            None => (a.lo.min(b.lo), a.hi.max(b.hi)),
        };
        let mut hazards = c.hazards;
        hazards.extend(where_reached(&c.expr, a.hazards));
        hazards.extend(where_reached(&negated, b.hazards));
        let fixed = c.fixed && a.fixed && b.fixed;
        Value { expr: Expr::choose(c.expr, a.expr, b.expr), ty: a.ty, lo, hi, hazards, fixed }
    }
}

pub(super) fn where_reached(reached: &Expr, hazards: Vec<Hazard>) -> impl Iterator<Item = Hazard> + '_ {
    hazards.into_iter().map(|hazard| Hazard { when: reached.clone().and(hazard.when), fault: hazard.fault })
}

/// How an operator on numbers is written.
pub(super) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        _ => unreachable!("only arithmetic and order need numbers"),
    }
}
