//! Properties: expressions of one state, and formulas over them.

mod branching;

use birk_ir::{Expr, FaultId, Formula, Location, Property, PropertyKind, Span, ThreadKind};

use crate::diagnostic::Diagnostic;
use crate::lower::Steps;
use crate::sema::const_eval::constant_int;
use crate::sema::context::{Context, Symbol};
use crate::sema::expression::Elaborator;
use crate::sema::types::{Ty, Value};
use crate::syntax::ast::{self, BinaryOp, Domain, ExprKind, Item, Quantifier, UnaryOp};

/// A quantifier over formulas is written out; it may have this many values.
const MAX_UNROLLED: i64 = 1000;
/// A formula may have this many parts when all its quantifiers and `<->` are written out.
const MAX_PARTS: usize = 20_000;

/// The properties, the built-in ones first, those of marks last, and what can go wrong in evaluating them.
pub(crate) fn lower(
    cx: &mut Context<'_>,
    system: &ast::System,
    steps: &Steps,
) -> (Vec<Property>, Vec<(Expr, FaultId)>) {
    let built_in = |name: &str, kind| Property { name: name.into(), kind, span: None };
    let mut properties = vec![built_in("deadlock", PropertyKind::Deadlock), built_in("fault", PropertyKind::Fault)];
    let mut faults = Vec::new();
    for item in &system.items {
        let Item::Property(property) = item else { continue };
        let earlier = properties.iter().find(|p| p.name == property.name.text && !p.name.is_empty());
        if let Some(earlier) = earlier {
            let name = &property.name;
            let first = system.items.iter().find_map(|item| match item {
                Item::Property(first) if first.name.text == earlier.name => Some(first.name.span),
                _ => None,
            });
            cx.report(match first.filter(|_| earlier.span.is_some()) {
                Some(first) => {
                    let message = format!("`{}` is declared twice", name.text);
                    let diagnostic = Diagnostic::new("E0021", name.span, message, "declared again here");
                    cx.with_other_name(diagnostic.related(first, "first declared here"), name)
                }
                None => {
                    let message = format!("every system has a property `{}` already", name.text);
                    Diagnostic::new("E0021", name.span, message, "built in").help("choose another name")
                }
            });
        }
        let mut lowering = Lowering::new(cx, steps, &mut faults);
        let quantifier = if property.kind == ast::PropertyKind::Reachable { "exists" } else { "forall" };
        lowering.elaborator.whole = Some((property.body.span, quantifier));
        lowering.elaborator.in_fixpoints = property.kind == ast::PropertyKind::Mu;
        let kind = match property.kind {
            ast::PropertyKind::Invariant => PropertyKind::Invariant(lowering.state(&property.body, "an invariant")),
            ast::PropertyKind::Reachable => {
                PropertyKind::Reachable(lowering.state(&property.body, "a `reachable` condition"))
            }
            ast::PropertyKind::Ltl => PropertyKind::Ltl(lowering.formula(&property.body)),
            ast::PropertyKind::Ctl => PropertyKind::Ctl(lowering.branching(&property.body, true)),
            ast::PropertyKind::Mu => PropertyKind::Mu(lowering.branching(&property.body, true)),
        };
        properties.push(Property { name: property.name.text.clone(), kind, span: Some(property.span) });
    }
    let kinds = &steps.kinds;
    let (progress, accept) = (at_mark(kinds, |location| location.progress), at_mark(kinds, |location| location.accept));
    let again = Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(progress.clone())))));
    let no_more = Formula::Always(Box::new(Formula::Atom(accept.clone().negate())));
    for (name, marked, formula) in
        [("progress", progress, again), ("accept", accept, Formula::Eventually(Box::new(no_more)))]
    {
        // A property that the user gave this name is meant where the name is used.
        if marked != Expr::FALSE && !properties.iter().any(|property| property.name == name) {
            properties.push(built_in(name, PropertyKind::Ltl(formula)));
        }
    }
    (properties, faults)
}

/// Conditions over one state that stand elsewhere; where one cannot be evaluated it is not true.
pub(crate) fn conditions(cx: &mut Context<'_>, steps: &Steps, written: &[ast::Expr]) -> Vec<Expr> {
    let mut faults = Vec::new();
    let mut lowering = Lowering::new(cx, steps, &mut faults);
    written.iter().map(|expr| lowering.state(expr, "a condition")).collect()
}

/// Some thread is at a location with a mark.
fn at_mark(kinds: &[ThreadKind], is_marked: impl Fn(&Location) -> bool) -> Expr {
    let mut any = Vec::new();
    for kind in kinds {
        for (number, _) in kind.locations.iter().enumerate().filter(|(_, location)| is_marked(location)) {
            for copy in 0..kind.copies {
                any.push(Expr::element(kind.counter, Expr::Const(i64::from(copy))).equals(number as i64));
            }
        }
    }
    Expr::any(any)
}

struct Lowering<'e, 'c, 'a> {
    elaborator: Elaborator<'c, 'a>,
    steps: &'e Steps,
    faults: &'e mut Vec<(Expr, FaultId)>,
    /// The variables of the fixpoints around, and how many fixpoints there were.
    bound: Vec<branching::Bound>,
    fixpoints: u32,
    /// How many formulas were put together so far.
    parts: usize,
    /// It became too large, which was reported.
    is_full: bool,
}

impl<'e, 'c, 'a> Lowering<'e, 'c, 'a> {
    fn new(cx: &'c mut Context<'a>, steps: &'e Steps, faults: &'e mut Vec<(Expr, FaultId)>) -> Self {
        let elaborator = Elaborator::new(cx, None);
        Self { elaborator, steps, faults, bound: Vec::new(), fixpoints: 0, parts: 0, is_full: false }
    }

    /// An expression of one state.
    fn state(&mut self, expr: &ast::Expr, what: &str) -> Expr {
        let value = self.elaborator.condition(expr, what);
        let happens: Vec<_> = value.hazards.into_iter().filter(|hazard| hazard.when != Expr::FALSE).collect();
        let wrong = Expr::any(happens.iter().map(|hazard| hazard.when.clone()).collect());
        self.faults.extend(happens.into_iter().map(|hazard| (hazard.when, hazard.fault)));
        // Where it cannot be evaluated it is not true, whoever asks.
        wrong.negate().and(value.expr)
    }

    fn formula(&mut self, expr: &ast::Expr) -> Formula {
        if self.is_full {
            return Formula::Atom(Expr::TRUE);
        }
        let formula = self.formula_of(expr);
        self.parts += 1;
        if self.is_full {
            return Formula::Atom(Expr::TRUE);
        }
        if self.parts.max(size_of(&formula)) > MAX_PARTS {
            self.too_large(expr.span);
            return Formula::Atom(Expr::TRUE);
        }
        formula
    }

    fn too_large(&mut self, span: Span) {
        self.is_full = true;
        let help = format!("a formula may have {MAX_PARTS} parts; quantifiers, `<->` and `?:` are written out");
        let diagnostic = Diagnostic::new("E0039", span, "this formula becomes too large", "written out");
        self.elaborator.cx.report(diagnostic.help(help));
    }

    fn formula_of(&mut self, expr: &ast::Expr) -> Formula {
        if !is_temporal(expr) {
            return Formula::Atom(self.state(expr, "a formula"));
        }
        match &expr.kind {
            ExprKind::Unary(op, operand) => {
                self.refuse_ambiguity(expr);
                let inner = Box::new(self.formula(operand));
                match op {
                    UnaryOp::Not => Formula::Not(inner),
                    UnaryOp::Next => Formula::Next(inner),
                    UnaryOp::Always => Formula::Always(inner),
                    UnaryOp::Eventually => Formula::Eventually(inner),
                    _ => self.misplaced(expr),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr),
            ExprKind::Quantifier(kind @ (Quantifier::All | Quantifier::Any), name, domain, body) => match &**domain {
                Domain::Range(lo, hi) => {
                    let instances = self.instances(name, [lo, hi, body], expr, Self::formula);
                    let is_all = *kind == Quantifier::All;
                    let joined = instances.into_iter().reduce(|before, instance| match is_all {
                        true => Formula::And(Box::new((before, instance))),
                        false => Formula::Or(Box::new((before, instance))),
                    });
                    joined.unwrap_or(Formula::Atom(if is_all { Expr::TRUE } else { Expr::FALSE }))
                }
                Domain::Members(_) => self.misplaced(expr),
            },
            ExprKind::Conditional(c, yes, no) => {
                let (c, yes, no) = (self.formula(c), self.formula(yes), self.formula(no));
                let then = Formula::And(Box::new((c.clone(), yes)));
                let otherwise = Formula::And(Box::new((Formula::Not(Box::new(c)), no)));
                Formula::Or(Box::new((then, otherwise)))
            }
            _ => self.misplaced(expr),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, expr: &ast::Expr) -> Formula {
        if !matches!(
            op,
            BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Implies
                | BinaryOp::Iff
                | BinaryOp::Until
                | BinaryOp::WeakUntil
                | BinaryOp::Release
        ) {
            return self.misplaced(expr);
        }
        let (a, b) = (self.formula(left), self.formula(right));
        let not = |f: Formula| Formula::Not(Box::new(f));
        match op {
            BinaryOp::And => Formula::And(Box::new((a, b))),
            BinaryOp::Or => Formula::Or(Box::new((a, b))),
            BinaryOp::Implies => Formula::Or(Box::new((not(a), b))),
            BinaryOp::Until => Formula::Until(Box::new((a, b))),
            BinaryOp::WeakUntil => Formula::WeakUntil(Box::new((a, b))),
            BinaryOp::Release => Formula::Release(Box::new((a, b))),
            _ => {
                let both = Formula::And(Box::new((a.clone(), b.clone())));
                let neither = Formula::And(Box::new((not(a), not(b))));
                Formula::Or(Box::new((both, neither)))
            }
        }
    }

    /// `forall (i : 0 .. 2) [] p(i)` is the conjunction of its three instances.
    fn instances<F>(
        &mut self,
        name: &ast::Name,
        [lo, hi, body]: [&ast::Expr; 3],
        expr: &ast::Expr,
        mut lower: impl FnMut(&mut Self, &ast::Expr) -> F,
    ) -> Vec<F> {
        let lo = constant_int(self.elaborator.cx, lo, "a bound");
        let hi = constant_int(self.elaborator.cx, hi, "a bound");
        let (Some(lo), Some(hi)) = (lo, hi) else { return Vec::new() };
        if hi - lo >= MAX_UNROLLED {
            let message = format!("a subformula for each of {} values", hi - lo + 1);
            let label = format!("at most {MAX_UNROLLED} are possible");
            self.elaborator.cx.report(Diagnostic::new("E0039", expr.span, message, label));
            return Vec::new();
        }
        let mut instances = Vec::new();
        for value in lo..=hi {
            if self.is_full {
                break;
            }
            let bound = Value { fixed: false, ..Value::constant(value, Ty::Int) };
            self.elaborator.bindings.push((name.text.clone(), bound));
            instances.push(lower(self, body));
            self.elaborator.bindings.pop();
        }
        instances
    }

    fn misplaced(&mut self, expr: &ast::Expr) -> Formula {
        let help = "combine formulas with `!`, `&&`, `||`, `->`, `<->`, `U`, `W` and `R` only";
        let diagnostic = self.inside_value(expr, "a temporal operator inside a value", help);
        self.elaborator.cx.report(diagnostic);
        Formula::Atom(Expr::TRUE)
    }

    /// A temporal operator where a value of one state is expected; most often its operand lacks parentheses.
    fn inside_value(&self, expr: &ast::Expr, message: &str, help: &str) -> Diagnostic {
        let label = "not a value of one state";
        let Some((first, operand)) = leftmost_temporal(expr) else {
            return Diagnostic::new("E0013", expr.span, message, label).help(help);
        };
        let cx = &self.elaborator.cx;
        let operator = cx.source(Span { end: operand.start, ..first });
        let operator = operator.trim_end_matches(|c: char| c == '(' || c.is_whitespace());
        let whole = cx.source(Span { end: expr.span.end, ..first });
        let value = whole[operator.len()..].trim();
        let message = format!("`{operator}` binds more tightly than what follows");
        let (place, text) = (Span { end: expr.span.end, ..first }, format!("{operator} ({value})"));
        Diagnostic::new("E0013", expr.span, message, label).help(format!("write `{text}`")).fix(place, text)
    }

    /// A word is an operator where no function of its file has that name; one of another file makes it ambiguous.
    fn refuse_ambiguity(&mut self, expr: &ast::Expr) {
        let text = self.elaborator.cx.source(expr.span);
        let word = &text[..text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())];
        let Some(&(Symbol::Function(_), declared)) = self.elaborator.cx.symbols.get(word) else { return };
        if !text[word.len()..].trim_start().starts_with('(') {
            return;
        }
        let message = format!("`{word}` is an operator here, and a function of an imported file");
        let help = "write `[]`, `<>` or `next` for the operator; a function with another name can be called";
        let diagnostic = Diagnostic::new("E0013", expr.span, message, "which of them is meant?");
        self.elaborator.cx.report(diagnostic.related(declared, "the function").help(help));
    }
}

/// How many parts a formula has, with those of its atoms.
fn size_of(formula: &Formula) -> usize {
    match formula {
        Formula::Atom(expr) => expr.size(),
        Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => 1 + size_of(a),
        Formula::And(parts)
        | Formula::Or(parts)
        | Formula::Until(parts)
        | Formula::WeakUntil(parts)
        | Formula::Release(parts) => 1 + size_of(&parts.0) + size_of(&parts.1),
    }
}

/// The temporal operator with which a value begins, with the one behind it and so on, and their operand.
fn leftmost_temporal(expr: &ast::Expr) -> Option<(Span, Span)> {
    let is_prefix = |op: &UnaryOp| !matches!(op, UnaryOp::Neg);
    match &expr.kind {
        ExprKind::Binary(_, left, right) if !is_temporal(right) => leftmost_temporal(left),
        ExprKind::Unary(op, operand) if is_prefix(op) => {
            let mut inner = &**operand;
            while let ExprKind::Unary(op, operand) = &inner.kind
                && is_prefix(op)
            {
                inner = operand;
            }
            (!is_temporal(inner)).then_some((expr.span, inner.span))
        }
        _ => None,
    }
}

/// Whether a temporal operator occurs in it.
fn is_temporal(expr: &ast::Expr) -> bool {
    has(expr, &|part| match part.kind {
        ExprKind::Unary(op, _) => !matches!(op, UnaryOp::Not | UnaryOp::Neg),
        ExprKind::Binary(op, ..) => matches!(op, BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release),
        _ => false,
    })
}

/// Whether it or some part of it is meant.
fn has(expr: &ast::Expr, is_meant: &dyn Fn(&ast::Expr) -> bool) -> bool {
    let has = |part: &ast::Expr| has(part, is_meant);
    is_meant(expr)
        || match &expr.kind {
            ExprKind::Unary(_, a) | ExprKind::Member(a, _) | ExprKind::At(a, _) => has(a),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) | ExprKind::Let(_, a, b) => has(a) || has(b),
            ExprKind::Conditional(a, b, c) => has(a) || has(b) || has(c),
            ExprKind::Quantifier(_, _, _, body) | ExprKind::Modal(_, _, body) | ExprKind::Fixpoint(_, _, body) => {
                has(body)
            }
            ExprKind::Call(_, parts) | ExprKind::Set(parts) | ExprKind::Choose(parts) => parts.iter().any(has),
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => false,
        }
}
