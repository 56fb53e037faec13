//! Expressions: names, types and lowering in one pass over the tree.
//!
//! `&&`, `||`, `=>` and `?:` evaluate only what they need, so a hazard of their right side counts only where that
//! side is reached. Functions are inlined; their arguments are bound once.

use birk_ir::{BinaryOp, Expr, FaultKind, LocalId, Span, UnaryOp};

use crate::ast::{self, ExprKind};
use crate::context::{Context, Symbol};
use crate::control::Scope;
use crate::diagnostic::{Diagnostic, list};
use crate::types::{Facts, Hazard, INT_MAX, INT_MIN, Scalar, Ty, Value, decided, interval, outside};

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
        let help = self.cx.conversion(found, wanted, span);
        let (found, wanted) = (self.cx.type_name(found), self.cx.type_name(wanted));
        let message = format!("{what} must be {wanted}, not {found}");
        let mut diagnostic = Diagnostic::new("E0022", span, message, format!("this is {found}"));
        diagnostic.help = help;
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
        let value = self.value_of(expr);
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
            ExprKind::Call(name, args) => self.call(name, args, expr.span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expr.span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no),
            ExprKind::Quantifier(kind, name, domain, body) => self.quantifier(*kind, name, domain, body),
            ExprKind::Let(name, value, body) => self.let_in(name, value, body),
            ExprKind::Set(_) => {
                let message = "nothing here says what this is a set of";
                let help = "compare it with a set, add it to one, or assign it to one";
                self.cx.report(Diagnostic::new("E0022", expr.span, message, "a set of what?").help(help));
                Value::error()
            }
            ExprKind::Error => Value::error(),
        }
    }

    fn literal(&mut self, value: i64, span: Span) -> Value {
        if value > INT_MAX {
            self.cx.report(
                Diagnostic::new("E0003", span, "number too large", "does not fit into 32 bits")
                    .help(format!("numbers go from {INT_MIN} to {INT_MAX}")),
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
        if let (B::Eq | B::Ne, ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member(..)) = (op, &left.kind) {
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
    fn logical(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
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

    fn arithmetic(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let Some((mut a, b)) = self.numbers(op, left, right) else { return Value::error() };
        a.hazards.extend(b.hazards.iter().cloned());
        a.fixed &= b.fixed;
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.lo <= 0 && b.hi >= 0 {
            let when = b.expr.clone().equals(0);
            if when == Expr::TRUE && b.fixed && !self.unreached {
                let message = format!("division by zero in `{}`", self.cx.source(span));
                self.cx.report(Diagnostic::new("E0043", right.span, message, "this is 0"));
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
    fn numbers(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Option<(Value, Value)> {
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
            self.cx.report(diagnostic);
            return None;
        }
        (a.ty == Ty::Int && b.ty == Ty::Int).then_some((a, b))
    }

    fn ordering(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
        match self.numbers(op, left, right) {
            Some((a, b)) => self.comparison(op, a, b),
            None => Value::error(),
        }
    }

    fn equality(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Value {
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

    fn conditional(&mut self, condition: &ast::Expr, yes: &ast::Expr, no: &ast::Expr) -> Value {
        let c = self.condition(condition, "the condition of `?:`");
        let outer = (self.facts.clone(), self.unreached);
        self.facts.assume(&c.expr);
        self.unreached |= c.expr == Expr::FALSE;
        let a = self.value(yes);
        (self.facts, self.unreached) = outer.clone();
        let negated = c.expr.clone().negate();
        self.facts.assume(&negated);
        self.unreached |= negated == Expr::FALSE;
        let b = self.value(no);
        (self.facts, self.unreached) = outer;
        if c.ty == Ty::Error || a.ty == Ty::Error || b.ty == Ty::Error {
            return Value::error();
        }
        if a.ty != b.ty {
            let (l, r) = (self.cx.type_name(a.ty), self.cx.type_name(b.ty));
            let message = format!("the branches of `?:` are {l} and {r}");
            let mut diagnostic = Diagnostic::new("E0022", no.span, message, format!("this is {r}"));
            diagnostic.help = self.cx.conversion(b.ty, a.ty, no.span);
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

    fn call(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) -> Value {
        if !self.cx.symbols.contains_key(name.text.as_str())
            && let Some(value) = self.built_in(name, args, span)
        {
            return value;
        }
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        let Some(&(Symbol::Function(index), _)) = self.cx.symbols.get(name.text.as_str()) else {
            self.not_a_function(name);
            return Value::error();
        };
        let (function, is_broken) = self.cx.functions[index];
        if is_broken {
            return Value::error();
        }
        if self.calls.contains(&index) {
            self.recursion(index, span);
            return Value::error();
        }
        if function.params.len() != args.len() {
            let takes = count(function.params.len(), "argument");
            let message = format!("`{}` takes {takes}, not {}", name.text, args.len());
            self.cx.report(
                Diagnostic::new("E0027", span, message, "wrong number of arguments")
                    .related(function.name.span, "declared here"),
            );
            return Value::error();
        }
        if self.is_too_large(span) {
            return Value::error();
        }
        let before = self.cx.diagnostics.len();
        let result = self.inline(index, function, values, args);
        self.nodes += result.size();
        // What is wrong in the body for any arguments was said without a call; the rest is due to this one.
        for diagnostic in &mut self.cx.diagnostics[before..] {
            let is_inside = function.span.start <= diagnostic.span.start && diagnostic.span.end <= function.span.end;
            if is_inside {
                diagnostic.related.push((span, "in this call".into()));
            }
        }
        result
    }

    fn not_a_function(&mut self, name: &ast::Name) {
        let symbol = self.cx.symbols.get(name.text.as_str()).map(|(symbol, _)| *symbol);
        let help = match symbol {
            Some(Symbol::Thread(_)) => Some(format!("a thread is started by an action: `start {}(…);`", name.text)),
            Some(Symbol::Variable(_)) => Some(format!("an element of an array is written `{}[i]`", name.text)),
            Some(_) => None,
            None => {
                let names: Vec<&str> = self.cx.functions.iter().map(|(f, _)| f.name.text.as_str()).collect();
                return self.cx.unknown("a function", name, &names);
            }
        };
        if let Some(mut diagnostic) = self.cx.misused(&name.text, name.span, "a function") {
            diagnostic.help = help;
            self.cx.report(diagnostic);
        }
    }

    /// Says that a function calls itself, through which others, and where.
    fn recursion(&mut self, index: usize, span: Span) {
        let name = &self.cx.functions[index].0.name;
        let others = self.calls.iter().skip_while(|call| **call != index).skip(1);
        let others: Vec<&str> = others.map(|call| self.cx.functions[*call].0.name.text.as_str()).collect();
        let through = if others.is_empty() { String::new() } else { format!(" through {}", list(others)) };
        let message = format!("`{}` calls itself{through}", name.text);
        let diagnostic = Diagnostic::new("E0028", name.span, message, "a function must not be recursive")
            .related(span, "called again here")
            .help("calls are replaced by what they stand for; describe a loop with locations and `goto`");
        self.cx.report(diagnostic);
        self.cx.functions[index].1 = true;
    }

    /// Whether what was put in place of calls and parameters is too much, which is reported.
    pub(crate) fn is_too_large(&mut self, span: Span) -> bool {
        let too_large = self.nodes > MAX_NODES;
        if too_large {
            self.too_large(span);
            self.give_up();
        }
        too_large
    }

    pub(crate) fn too_large(&mut self, span: Span) {
        self.cx.report(
            Diagnostic::new("E0039", span, "this expression becomes too large", "after functions are put in place")
                .help(format!("an expression may have {MAX_NODES} parts; let functions call each other less often")),
        );
    }

    fn inline(&mut self, index: usize, function: &ast::Function, values: Vec<Value>, args: &[ast::Expr]) -> Value {
        let mut hazards = Vec::new();
        let mut bound = Vec::new();
        let mut bindings = Vec::new();
        for ((param, value), arg) in function.params.iter().zip(values).zip(args) {
            let scalar = crate::declarations::scalar_type(self.cx, &param.ty);
            let what = format!("the argument `{}`", param.name.text);
            let receiver = Receiver { what: &what, value: arg.span, whole: arg.span, declared: Some(param.name.span) };
            let mut value = self.convert(value, &scalar, &receiver);
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
        let outer = (std::mem::replace(&mut self.bindings, bindings), self.thread.take(), self.scope.take());
        self.calls.push(index);
        let result = self.value(&function.body);
        let scalar = crate::declarations::scalar_type(self.cx, &function.result);
        let what = format!("the value of `{}`", function.name.text);
        let (value, declared) = (function.body.span, Some(function.result.span));
        let mut result = self.convert(result, &scalar, &Receiver { what: &what, value, whole: value, declared });
        self.calls.pop();
        (self.bindings, self.thread, self.scope) = outer;
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
        if self.cx.functions[index].1 {
            return;
        }
        let before = self.cx.diagnostics.len();
        let result = self.inline(index, function, args, &spans);
        // It needs something that is broken, which was reported there: nobody has to find that out again.
        let is_silent = self.cx.diagnostics.len() == before;
        self.cx.functions[index].1 |= is_silent && result.ty == Ty::Error;
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

fn where_reached(reached: &Expr, hazards: Vec<Hazard>) -> impl Iterator<Item = Hazard> + '_ {
    hazards.into_iter().map(|hazard| Hazard { when: reached.clone().and(hazard.when), fault: hazard.fault })
}

/// `no arguments`, `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    match n {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{n} {noun}s"),
    }
}

/// How an operator on numbers is written.
fn sign(op: BinaryOp) -> &'static str {
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
