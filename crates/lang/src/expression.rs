//! Expressions: names, types and lowering in one pass over the tree.
//!
//! `&&`, `||`, `=>` and `?:` evaluate only what they need, so a hazard of their right side counts only where that
//! side is reached. Functions are inlined; their arguments are bound once.

use birk_ir::{BinaryOp, Expr, FaultKind, FoldOp, LocalId, Span, UnaryOp};

use crate::ast::{self, ExprKind};
use crate::context::{Context, Evaluated, Symbol};
use crate::diagnostic::Diagnostic;
use crate::types::{Facts, Hazard, INT_MAX, INT_MIN, Scalar, Ty, Value, decided, interval, outside};

/// No expression may grow beyond this when functions are inlined.
const MAX_NODES: usize = 200_000;

/// Lowers the expressions of one place: a step of one copy of a thread, a property, a constant.
pub(crate) struct Elaborator<'c, 'a> {
    pub(crate) cx: &'c mut Context<'a>,
    /// Quantified names and parameters of functions, innermost last.
    pub(crate) bindings: Vec<(String, Value)>,
    /// The thread whose names are visible, and which copy of it.
    pub(crate) thread: Option<(usize, u32)>,
    pub(crate) facts: Facts,
    /// Local values bound so far.
    pub(crate) locals: u32,
    /// Variables may be read; otherwise only constants.
    pub(crate) stateful: bool,
    calls: Vec<usize>,
    nodes: usize,
}

impl<'c, 'a> Elaborator<'c, 'a> {
    pub(crate) fn new(cx: &'c mut Context<'a>, thread: Option<(usize, u32)>) -> Self {
        Self {
            cx,
            bindings: Vec::new(),
            thread,
            facts: Facts::default(),
            locals: 0,
            stateful: true,
            calls: Vec::new(),
            nodes: 0,
        }
    }

    /// For expressions that must be constant.
    pub(crate) fn constant(cx: &'c mut Context<'a>) -> Self {
        Self { stateful: false, ..Self::new(cx, None) }
    }

    pub(crate) fn fresh(&mut self) -> LocalId {
        self.locals += 1;
        LocalId(self.locals - 1)
    }

    /// An expression that must be boolean.
    pub(crate) fn condition(&mut self, expr: &ast::Expr, what: &str) -> Value {
        let value = self.value(expr);
        self.expect(value, Ty::Boolean, expr.span, what)
    }

    /// An expression that must be an integer.
    pub(crate) fn integer(&mut self, expr: &ast::Expr, what: &str) -> Value {
        let value = self.value(expr);
        self.expect(value, Ty::Int, expr.span, what)
    }

    fn expect(&mut self, value: Value, ty: Ty, span: Span, what: &str) -> Value {
        if value.ty == ty || value.ty == Ty::Error {
            return value;
        }
        let (wanted, found) = (self.cx.type_name(ty), self.cx.type_name(value.ty));
        let mut diagnostic =
            Diagnostic::new("E0022", span, format!("{what} must be {wanted}, not {found}"), format!("this is {found}"));
        if (ty, value.ty) == (Ty::Boolean, Ty::Int) {
            diagnostic = diagnostic.help("compare it, for example with `!= 0`");
        }
        self.cx.report(diagnostic);
        Value::error()
    }

    /// The value of an expression; what is wrong with it is reported.
    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Value {
        self.nodes += 1;
        match &expr.kind {
            ExprKind::Int(value) => self.literal(*value, expr.span),
            ExprKind::Bool(value) => Value::constant(i64::from(*value), Ty::Boolean),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) | ExprKind::At(..) => self.read(expr),
            ExprKind::Call(name, args) => self.call(name, args, expr.span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, expr.span),
            ExprKind::Quantifier(all, name, lo, hi, body) => self.quantifier(*all, name, [lo, hi, body]),
            ExprKind::Error => Value::error(),
        }
    }

    fn literal(&mut self, value: i64, span: Span) -> Value {
        if value > INT_MAX {
            self.cx.report(
                Diagnostic::new("E0003", span, "this number does not fit in 32 bits", "too large")
                    .help(format!("the largest `int` is {INT_MAX}")),
            );
            return Value::error();
        }
        Value::constant(value, Ty::Int)
    }

    fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Value {
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
            ast::UnaryOp::Next | ast::UnaryOp::Always | ast::UnaryOp::Eventually => {
                self.temporal(span);
                Value::error()
            }
        }
    }

    fn temporal(&mut self, span: Span) {
        self.cx.report(
            Diagnostic::new("E0013", span, "a temporal operator outside a formula", "not a value of one state")
                .help("temporal operators belong in an `ltl` property, outside comparisons and arithmetic"),
        );
    }

    fn binary(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        use ast::BinaryOp as B;
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
            B::Eq => self.equality(BinaryOp::Eq, left, right, span),
            B::Ne => self.equality(BinaryOp::Ne, left, right, span),
            B::Iff => self.equality(BinaryOp::Eq, left, right, span),
            B::Until | B::WeakUntil | B::Release => {
                self.temporal(span);
                Value::error()
            }
        }
    }

    /// `&&`, `||`, `=>`: the right side is reached only where the left side leaves it open.
    fn logical(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        let what = |side| match op {
            ast::BinaryOp::And => format!("the {side} side of `&&`"),
            ast::BinaryOp::Or => format!("the {side} side of `||`"),
            _ => format!("the {side} side of `=>`"),
        };
        let a = self.condition(left, &what("left"));
        let reached = if op == ast::BinaryOp::Or { a.expr.clone().negate() } else { a.expr.clone() };
        let facts = self.facts.clone();
        self.facts.assume(&reached);
        let b = self.condition(right, &what("right"));
        self.facts = facts;
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

    fn arithmetic(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let mut a = self.integer(left, "an operand of arithmetic");
        let b = self.integer(right, "an operand of arithmetic");
        if a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        a.hazards.extend(b.hazards.iter().cloned());
        a.fixed &= b.fixed;
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.lo <= 0 && b.hi >= 0 {
            let when = b.expr.clone().equals(0);
            if when == Expr::TRUE && b.fixed {
                self.cx.report(Diagnostic::new("E0043", span, "division by zero", "always goes wrong"));
                return Value::error();
            }
            let fault = self
                .cx
                .fault(FaultKind::DivisionByZero, span, |cx| format!("division by zero in `{}`", cx.source(span)));
            a.hazards.push(Hazard { when, fault });
        }
        let (lo, hi) = interval(op, &a, &b);
        let result = Value { expr: Expr::binary(op, a.expr, b.expr), ty: Ty::Int, lo, hi, ..a };
        self.checked(result, span)
    }

    /// Adds the hazard of leaving 32 bits, where that can happen.
    fn checked(&mut self, mut value: Value, span: Span) -> Value {
        if !value.is_within(INT_MIN, INT_MAX) {
            let when = outside(&value, INT_MIN, INT_MAX);
            if when == Expr::TRUE && value.fixed {
                self.cx.report(Diagnostic::new("E0043", span, "this does not fit in 32 bits", "always goes wrong"));
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

    fn ordering(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        let a = self.integer(left, "an operand of a comparison");
        let b = self.integer(right, "an operand of a comparison");
        self.comparison(op, a, b)
    }

    fn equality(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let a = self.value(left);
        let b = self.value(right);
        if a.ty != b.ty && a.ty != Ty::Error && b.ty != Ty::Error {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            self.cx.report(
                Diagnostic::new("E0022", span, format!("cannot compare {l} with {r}"), "different types")
                    .related(left.span, format!("this is {l}"))
                    .related(right.span, format!("this is {r}")),
            );
            return Value::error();
        }
        self.comparison(op, a, b)
    }

    fn comparison(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
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

    fn conditional(&mut self, condition: &ast::Expr, yes: &ast::Expr, no: &ast::Expr, span: Span) -> Value {
        let c = self.condition(condition, "the condition of `?:`");
        let facts = self.facts.clone();
        self.facts.assume(&c.expr);
        let a = self.value(yes);
        self.facts.clone_from(&facts);
        let negated = c.expr.clone().negate();
        self.facts.assume(&negated);
        let b = self.value(no);
        self.facts = facts;
        if c.ty == Ty::Error || a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        if a.ty != b.ty {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            self.cx.report(
                Diagnostic::new("E0022", span, format!("the branches are {l} and {r}"), "different types")
                    .help("both branches of `?:` must have the same type"),
            );
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

    /// Every value of the range is looked at, so a hazard of the body counts wherever it happens.
    fn quantifier(&mut self, all: bool, name: &ast::Name, [lo, hi, body]: [&ast::Expr; 3]) -> Value {
        let from = self.integer(lo, "a bound of a quantifier");
        let to = self.integer(hi, "a bound of a quantifier");
        let local = self.fresh();
        let mut bound = Value::constant(0, Ty::Int);
        (bound.expr, bound.lo, bound.hi, bound.fixed) = (Expr::Local(local), from.lo, to.hi.max(from.lo), false);
        self.bindings.push((name.text.clone(), bound));
        let inner = self.condition(body, "the body of a quantifier");
        self.bindings.pop();
        if [&from, &to, &inner].iter().any(|value| value.ty == Ty::Error) {
            return Value::error();
        }
        let fold = |op, body| Expr::Fold { op, local, parts: Box::new((from.expr.clone(), to.expr.clone(), body)) };
        let mut hazards: Vec<Hazard> = from.hazards.iter().chain(&to.hazards).cloned().collect();
        for hazard in inner.hazards {
            if hazard.when != Expr::FALSE {
                hazards.push(Hazard { when: fold(FoldOp::Any, hazard.when), fault: hazard.fault });
            }
        }
        let op = if all { FoldOp::All } else { FoldOp::Any };
        let expr =
            if from.fixed && to.fixed && from.lo > to.hi { Expr::Const(i64::from(all)) } else { fold(op, inner.expr) };
        Value { hazards, ..Value::boolean(expr) }
    }

    fn call(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        let Some(&(Symbol::Function(index), _)) = self.cx.symbols.get(name.text.as_str()) else {
            let names: Vec<&str> = self.cx.functions.iter().map(|(f, _)| f.name.text.as_str()).collect();
            self.cx.unknown("function", &name.text, name.span, &names);
            return Value::error();
        };
        let (function, recursive) = self.cx.functions[index];
        if recursive {
            return Value::error();
        }
        if function.params.len() != args.len() {
            self.cx.report(
                Diagnostic::new(
                    "E0027",
                    span,
                    format!("`{}` takes {}, not {}", name.text, count(function.params.len(), "argument"), args.len()),
                    "wrong number of arguments",
                )
                .related(function.name.span, "declared here"),
            );
            return Value::error();
        }
        if self.nodes > MAX_NODES {
            self.too_large(span);
            return Value::error();
        }
        self.inline(index, function, values, args)
    }

    pub(crate) fn too_large(&mut self, span: Span) {
        self.cx.report(
            Diagnostic::new("E0039", span, "this expression becomes too large", "after functions are put in place")
                .help(format!("an expression may have {MAX_NODES} parts; let functions call each other less often")),
        );
    }

    fn inline(&mut self, index: usize, function: &ast::Function, values: Vec<Value>, args: &[ast::Expr]) -> Value {
        if self.calls.contains(&index) {
            let name = &function.name;
            self.cx.report(
                Diagnostic::new("E0028", name.span, format!("`{}` calls itself", name.text), "recursive")
                    .help("functions are put in place of their calls, so they must not be recursive"),
            );
            self.cx.functions[index].1 = true;
            return Value::error();
        }
        let mut hazards = Vec::new();
        let mut bound = Vec::new();
        let mut bindings = Vec::new();
        for ((param, value), arg) in function.params.iter().zip(values).zip(args) {
            let scalar = crate::declarations::scalar_type(self.cx, &param.ty);
            let mut value = self.convert(value, &scalar, arg.span, &format!("the argument `{}`", param.name.text));
            if value.ty == Ty::Error {
                return Value::error();
            }
            hazards.append(&mut value.hazards);
            if !matches!(value.expr, Expr::Const(_) | Expr::Var(_) | Expr::Local(_)) {
                let local = self.fresh();
                bound.push((local, std::mem::replace(&mut value.expr, Expr::Local(local))));
            }
            bindings.push((param.name.text.clone(), value));
        }
        let outer = (std::mem::replace(&mut self.bindings, bindings), self.thread.take());
        self.calls.push(index);
        let result = self.value(&function.body);
        let scalar = crate::declarations::scalar_type(self.cx, &function.result);
        let what = format!("the value of `{}`", function.name.text);
        let mut result = self.convert(result, &scalar, function.body.span, &what);
        self.calls.pop();
        (self.bindings, self.thread) = outer;
        let within = |body: Expr| match body {
            Expr::Const(_) => body,
            body => bound
                .iter()
                .rev()
                .fold(body, |body, (local, value)| Expr::Let { local: *local, parts: Box::new((value.clone(), body)) }),
        };
        hazards.extend(result.hazards.into_iter().map(|h| Hazard { when: within(h.when), fault: h.fault }));
        result.expr = within(result.expr);
        result.hazards = hazards;
        result
    }

    /// Checks a function that may never be called.
    pub(crate) fn check_function(&mut self, index: usize, args: Vec<Value>) {
        let function = self.cx.functions[index].0;
        let spans: Vec<ast::Expr> =
            function.params.iter().map(|p| ast::Expr { kind: ExprKind::Error, span: p.name.span }).collect();
        if !self.cx.functions[index].1 {
            self.inline(index, function, args, &spans);
        }
    }

    /// The value as one of a type: wrapped, or with the hazard of leaving the range.
    pub(crate) fn convert(&mut self, value: Value, scalar: &Scalar, span: Span, what: &str) -> Value {
        if value.ty == Ty::Error || scalar.ty == Ty::Error {
            return Value::error();
        }
        if value.ty != scalar.ty {
            let (wanted, found) = (self.cx.type_name(scalar.ty), self.cx.type_name(value.ty));
            self.cx.report(Diagnostic::new(
                "E0022",
                span,
                format!("{what} is {wanted}, but this is {found}"),
                format!("expected {wanted}"),
            ));
            return Value::error();
        }
        let (lo, hi) = (scalar.lo, scalar.hi);
        if value.is_within(lo, hi) {
            return value;
        }
        if scalar.wrap {
            let expr = match value.expr.as_const() {
                Some(constant) => Expr::Const(birk_ir::expr::wrap(constant, lo, hi)),
                None => Expr::Wrap(Box::new(value.expr), lo, hi),
            };
            let (lo, hi) = expr.as_const().map_or((lo, hi), |constant| (constant, constant));
            return Value { expr, lo, hi, ..value };
        }
        if value.fixed && (value.hi < lo || value.lo > hi) {
            self.cx.report(Diagnostic::new(
                "E0030",
                span,
                format!("{what} must be in {lo}..{hi}"),
                format!("this is {}", value.lo),
            ));
            return Value::error();
        }
        let fault = self.cx.fault(FaultKind::Range, span, |_| format!("{what} must stay in {lo}..{hi}"));
        let when = outside(&value, lo, hi);
        let mut hazards = value.hazards;
        hazards.push(Hazard { when, fault });
        let (lo, hi) = (value.lo.max(lo).min(hi), value.hi.min(hi).max(lo));
        Value { lo, hi, hazards, ..value }
    }

    /// The value of a constant, computed when first asked for.
    pub(crate) fn constant_value(&mut self, index: usize) -> Value {
        match &self.cx.constants[index].state {
            Evaluated::Done(value) => return value.clone(),
            Evaluated::Begun => {
                let constant = &self.cx.constants[index];
                let message = format!("the constant `{}` depends on itself", constant.full_name);
                let span = constant.name.span;
                self.cx.constants[index].state = Evaluated::Done(Value::error());
                self.cx.report(Diagnostic::new("E0025", span, message, "part of a cycle"));
                return Value::error();
            }
            Evaluated::NotYet => {}
        }
        self.cx.constants[index].state = Evaluated::Begun;
        let expr = self.cx.constants[index].expr;
        let mut inner = Elaborator::constant(self.cx);
        let value = inner.value(expr);
        let value = inner.settle(value, expr.span);
        self.cx.constants[index].state = Evaluated::Done(value.clone());
        value
    }

    /// A value that must be constant, and must not go wrong.
    pub(crate) fn settle(&mut self, value: Value, span: Span) -> Value {
        if value.ty == Ty::Error {
            return value;
        }
        let fails = value.hazards.iter().find(|hazard| hazard.when != Expr::FALSE);
        if let Some(hazard) = fails {
            let message = self.cx.faults[hazard.fault.index()].message.clone();
            self.cx.report(Diagnostic::new("E0043", span, message, "goes wrong in a constant expression"));
            return Value::error();
        }
        let folded = value.expr.as_const().or_else(|| fold_constant(&value.expr));
        match folded {
            Some(constant) => Value::constant(constant, value.ty),
            None => {
                self.cx.report(Diagnostic::new(
                    "E0024",
                    span,
                    "this is not constant",
                    "must be known before the search",
                ));
                Value::error()
            }
        }
    }
}

/// Constant expressions that keep a fold or a binding: quantifiers and functions of constants.
fn fold_constant(expr: &Expr) -> Option<i64> {
    fn eval(expr: &Expr, locals: &mut Vec<(LocalId, i64)>) -> Option<i64> {
        Some(match expr {
            Expr::Const(value) => *value,
            Expr::Local(local) => locals.iter().rev().find(|(l, _)| l == local)?.1,
            Expr::Unary(UnaryOp::Not, a) => i64::from(eval(a, locals)? == 0),
            Expr::Unary(UnaryOp::Neg, a) => -eval(a, locals)?,
            Expr::Binary(op, parts) => op.apply(eval(&parts.0, locals)?, eval(&parts.1, locals)?),
            Expr::If(parts) if eval(&parts.0, locals)? != 0 => eval(&parts.1, locals)?,
            Expr::If(parts) => eval(&parts.2, locals)?,
            Expr::Wrap(a, lo, hi) => birk_ir::expr::wrap(eval(a, locals)?, *lo, *hi),
            Expr::Let { local, parts } => {
                let value = eval(&parts.0, locals)?;
                locals.push((*local, value));
                let result = eval(&parts.1, locals);
                locals.pop();
                result?
            }
            Expr::Fold { op, local, parts } => {
                let (lo, hi) = (eval(&parts.0, locals)?, eval(&parts.1, locals)?);
                if hi.saturating_sub(lo) > MAX_NODES as i64 {
                    return None;
                }
                let mut result = *op == FoldOp::All;
                for value in lo..=hi {
                    locals.push((*local, value));
                    let body = eval(&parts.2, locals);
                    locals.pop();
                    result = if *op == FoldOp::All { result && body? != 0 } else { result || body? != 0 };
                }
                i64::from(result)
            }
            Expr::Var(_) | Expr::Element(..) | Expr::Stuck => return None,
        })
    }
    eval(expr, &mut Vec::new())
}

fn where_reached(reached: &Expr, hazards: Vec<Hazard>) -> impl Iterator<Item = Hazard> + '_ {
    hazards.into_iter().map(|hazard| Hazard { when: reached.clone().and(hazard.when), fault: hazard.fault })
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
