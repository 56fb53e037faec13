//! Expressions: names, types and lowering in one pass over the tree.
//!
//! `&&`, `||`, `=>` and `?:` evaluate only what they need, so a hazard of their right side counts only where that
//! side is reached. Functions are inlined; their arguments are bound once.

mod call;
mod operator;

use birk_ir::{Expr, FaultKind, LocalId, Span};

use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::lower::control::Scope;
use crate::sema::context::Context;
use crate::sema::types::{Facts, Hazard, INT_MAX, INT_MIN, Scalar, Ty, Value, outside};
use crate::syntax::ast::{self, ExprKind};

/// No expression may grow beyond this when functions are inlined.
const MAX_NODES: usize = 200_000;
/// How deep expressions may be nested after functions and arguments are put in place.
const MAX_DEEP: usize = 500;

/// What a value is converted for.
pub(crate) struct Receiver<'s> {
    /// How messages call it.
    pub(crate) what: &'s str,
    /// Where the value is written.
    pub(crate) value: Span,
    /// Where a fault is shown: all of what happens.
    pub(crate) whole: Span,
    /// Where its type is written, unless that is beside the value.
    pub(crate) declared: Option<Span>,
}

/// The word that asks whether nothing else can move, unless something of this name is declared.
pub(crate) const TIMEOUT: &str = "timeout";

/// What `timeout` is where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeout {
    /// In a guard: the step is lowered once for each of the two.
    Is(bool),
    /// In a guard, but below another operator than `&&` and `||`.
    Below,
    /// In the test of an `if` or `while`.
    Test,
    /// Not in a guard.
    Outside,
}

impl Timeout {
    /// The same for what stands inside of an expression.
    fn inside(self, kind: &ExprKind) -> Self {
        use ast::BinaryOp::{And, Or};
        match (self, kind) {
            (Self::Is(_), ExprKind::Name(_) | ExprKind::Binary(And | Or, ..)) => self,
            (Self::Is(_), _) => Self::Below,
            _ => self,
        }
    }
}

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
    /// Where the condition of the property is written that this is part of, and the quantifier that says the same of
    /// several threads.
    pub(crate) whole: Option<(Span, &'static str)>,
    /// A name may be the variable of a fixpoint.
    pub(crate) in_fixpoints: bool,
    pub(crate) timeout: Timeout,
    /// A guard asks for it.
    pub(crate) asks_timeout: bool,
    /// The path that is looked up next is a place that is written.
    pub(crate) writes: bool,
    /// The calls and rounds that this stands inside of.
    pub(crate) scope: Scope<'a>,
    /// Constants decide that this is never evaluated: it must have a type, but nothing can go wrong in it.
    pub(crate) unreached: bool,
    calls: Vec<usize>,
    pub(crate) nodes: usize,
    /// How deep the expression being elaborated is nested.
    deep: usize,
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
            whole: None,
            in_fixpoints: false,
            timeout: Timeout::Outside,
            asks_timeout: false,
            writes: false,
            scope: None,
            unreached: false,
            calls: Vec::new(),
            nodes: 0,
            deep: 0,
        }
    }

    /// For expressions that must be constant.
    pub(crate) fn constant(cx: &'c mut Context<'a>) -> Self {
        Self { stateful: false, ..Self::new(cx, None) }
    }

    /// Makes the names of calls and rounds visible.
    pub(crate) fn enter(&mut self, scope: &Scope<'a>) {
        self.scope.clone_from(scope);
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

    pub(crate) fn expect(&mut self, value: Value, ty: Ty, span: Span, what: &str) -> Value {
        if value.ty == ty || value.ty == Ty::Error {
            return value;
        }
        self.mismatch(value.ty, ty, span, what, None);
        Value::error()
    }

    /// Says that a value has the wrong type, and how to change that.
    fn mismatch(&mut self, found: Ty, wanted: Ty, span: Span, what: &str, declared: Option<Span>) {
        let (help, fix) = (self.cx.conversion(found, wanted, span), self.cx.converted(found, wanted, span));
        let (found, wanted) = (self.cx.type_name(found), self.cx.type_name(wanted));
        let message = format!("{what} must be {wanted}, not {found}");
        let mut diagnostic = Diagnostic::new("E0022", span, message, format!("this is {found}"));
        (diagnostic.help, diagnostic.fix) = (help, fix);
        diagnostic.related.extend(declared.map(|span| (span, "declared here".into())));
        self.cx.report(diagnostic);
    }

    /// The value of an expression; what is wrong with it is reported.
    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Value {
        self.nodes += 1;
        if self.deep >= MAX_DEEP {
            return self.too_deep(expr.span);
        }
        self.deep += 1;
        let timeout = self.timeout;
        self.timeout = timeout.inside(&expr.kind);
        let value = self.value_of(expr);
        self.timeout = timeout;
        self.deep -= 1;
        // Some operators need an operand several times.
        if value.size() > MAX_NODES {
            self.too_large(expr.span);
            self.give_up();
            return Value::error();
        }
        value
    }

    fn too_deep(&mut self, span: Span) -> Value {
        let message = format!("nested too deeply: {MAX_DEEP} levels after functions and arguments are put in place");
        self.cx.report(Diagnostic::new("E0009", span, message, "one level too many"));
        self.give_up();
        Value::error()
    }

    /// One message is enough: who calls these functions gets no other.
    fn give_up(&mut self) {
        for &index in &self.calls {
            self.cx.functions[index].1 = true;
        }
    }

    fn value_of(&mut self, expr: &ast::Expr) -> Value {
        match &expr.kind {
            ExprKind::Int(value) => self.literal(*value, expr.span),
            ExprKind::Bool(value) => Value::constant(i64::from(*value), Ty::Boolean),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) | ExprKind::At(..) => self.read(expr),
            ExprKind::Call(name, _) if self.is_built_in(name, &["head", "last"]) => self.read(expr),
            ExprKind::Call(name, args) => self.call(name, args, expr.span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, [yes, no], None),
            ExprKind::Quantifier(kind, name, domain, body) => self.quantifier(*kind, name, domain, body),
            ExprKind::Let(name, value, body) => self.let_in(name, value, body),
            // Where there is one initial value, the parser has said so.
            ExprKind::Choose(_) => Value::error(),
            ExprKind::Set(_) => {
                let message = "nothing here says what this is a set of";
                let help = "compare it with a set, add it to one, or assign it to one";
                self.cx.report(Diagnostic::new("E0022", expr.span, message, "a set of what?").help(help));
                Value::error()
            }
            ExprKind::Modal(..) | ExprKind::Fixpoint(..) => {
                self.temporal(expr.span);
                Value::error()
            }
            ExprKind::Error => Value::error(),
        }
    }

    fn literal(&mut self, value: i64, span: Span) -> Value {
        if value > INT_MAX {
            self.cx.report(
                Diagnostic::new("E0003", span, "number too large", "does not fit into 32 bits")
                    .help(format!("numbers go from {INT_MIN} to {INT_MAX}"))
                    .propose(span, INT_MAX.to_string()),
            );
            return Value::error();
        }
        Value::constant(value, Ty::Int)
    }

    /// The value as one of a type: wrapped, or with the hazard of leaving the range.
    pub(crate) fn convert(&mut self, value: Value, scalar: &Scalar, receiver: &Receiver<'_>) -> Value {
        if value.ty == Ty::Error || scalar.ty == Ty::Error {
            return Value::error();
        }
        if value.ty != scalar.ty {
            self.mismatch(value.ty, scalar.ty, receiver.value, receiver.what, receiver.declared);
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
        if value.fixed && !self.unreached && (value.hi < lo || value.lo > hi) {
            let message = format!("{} is outside the range of {}", value.lo, receiver.what);
            let mut diagnostic = Diagnostic::new("E0030", receiver.value, message, format!("must be in {lo}..{hi}"));
            diagnostic.related.extend(receiver.declared.map(|span| (span, "declared here".into())));
            let written = receiver.declared.unwrap_or(receiver.value);
            if let Some((ty, wider)) = self.cx.text(written).and_then(|text| edit::widened(text, written, value.lo)) {
                diagnostic = diagnostic.help(format!("widen the range: `{wider}`")).propose(ty, wider);
            }
            self.cx.report(diagnostic);
            return Value::error();
        }
        let message = |_: &Context<'_>| format!("{} must stay in {lo}..{hi}", receiver.what);
        let fault = self.cx.fault(FaultKind::Range, receiver.whole, message);
        let when = outside(&value, lo, hi);
        let mut hazards = value.hazards;
        hazards.push(Hazard { when, fault });
        let (lo, hi) = (value.lo.max(lo).min(hi), value.hi.min(hi).max(lo));
        Value { lo, hi, hazards, ..value }
    }
}

/// `no arguments`, `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    match n {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{n} {noun}s"),
    }
}
