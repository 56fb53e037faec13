//! Formulas of CTL and of the mu-calculus, brought into positive form.
//!
//! A formula is lowered as it is or negated; below a negation the other is done, so that nothing is negated but
//! conditions of one state. CTL is written in fixpoints.

use birk_ir::{Branching, Expr, Steps, TransitionId};

use super::{Lowering, MAX_PARTS};
use crate::diagnostic::Diagnostic;
use crate::lower;
use crate::sema::place::Resolved;
use crate::syntax::ast::{self, BinaryOp, Domain, ExprKind, Name, Quantifier, UnaryOp};

/// The variable of a fixpoint.
pub(super) struct Bound {
    name: Name,
    number: u32,
    /// Whether the fixpoint stands below an even number of negations.
    positive: bool,
}

/// What stands for a formula that is broken, which was reported.
const BROKEN: Branching = Branching::Atom(Expr::TRUE);

impl Lowering<'_, '_, '_> {
    /// A formula, or its negation.
    pub(super) fn branching(&mut self, expr: &ast::Expr, positive: bool) -> Branching {
        if self.is_full {
            return BROKEN;
        }
        let formula = self.branching_of(expr, positive);
        self.parts += match &formula {
            Branching::Atom(expr) => expr.size(),
            _ => 1,
        };
        if self.parts > MAX_PARTS && !self.is_full {
            self.too_large(expr.span);
        }
        if self.is_full { BROKEN } else { formula }
    }

    fn branching_of(&mut self, expr: &ast::Expr, positive: bool) -> Branching {
        if !self.is_branching(expr) {
            let condition = self.state(expr, "a formula");
            return Branching::Atom(if positive { condition } else { condition.negate() });
        }
        match &expr.kind {
            ExprKind::Name(name) => self.variable(name, expr, positive),
            ExprKind::Unary(UnaryOp::Not, operand) => self.branching(operand, !positive),
            ExprKind::Unary(op, operand) => {
                let (is_all, time) = match op {
                    UnaryOp::AllNext => (true, Time::Next),
                    UnaryOp::AllEventually => (true, Time::Eventually),
                    UnaryOp::AllAlways => (true, Time::Always),
                    UnaryOp::SomeNext => (false, Time::Next),
                    UnaryOp::SomeEventually => (false, Time::Eventually),
                    UnaryOp::SomeAlways => (false, Time::Always),
                    _ => return self.misplaced_branching(expr),
                };
                let operand = self.branching(operand, positive);
                self.path(is_all, time, [None, Some(operand)], positive)
            }
            ExprKind::Binary(op, left, right) => self.joined(*op, left, right, expr, positive),
            ExprKind::Index(..) | ExprKind::Call(..) => match quantified(expr) {
                Some((is_all, time, left, right)) => {
                    let (left, right) = (self.branching(left, positive), self.branching(right, positive));
                    self.path(is_all, time, [Some(left), Some(right)], positive)
                }
                None => self.misplaced_branching(expr),
            },
            ExprKind::Quantifier(kind @ (Quantifier::All | Quantifier::Any), name, domain, body) => match &**domain {
                Domain::Range(lo, hi) => {
                    let instances =
                        self.instances(name, [lo, hi, body], expr, |lowering, body| lowering.branching(body, positive));
                    let is_all = (*kind == Quantifier::All) == positive;
                    let none = Branching::Atom(if is_all { Expr::TRUE } else { Expr::FALSE });
                    balanced(instances, if is_all { Branching::and } else { Branching::or }).unwrap_or(none)
                }
                Domain::Members(_) => self.misplaced_branching(expr),
            },
            ExprKind::Conditional(c, yes, no) => {
                let then = self.branching(c, true).and(self.branching(yes, positive));
                then.or(self.branching(c, false).and(self.branching(no, positive)))
            }
            ExprKind::Modal(is_some, label, body) => {
                let steps = label.as_ref().map_or(Some(Steps::All), |label| self.steps_of(label));
                let body = Box::new(self.branching(body, positive));
                match steps {
                    None => BROKEN,
                    Some(steps) if *is_some == positive => Branching::Some(steps, body),
                    Some(steps) => Branching::Every(steps, body),
                }
            }
            ExprKind::Fixpoint(is_least, name, body) => {
                let number = self.bind(name, positive);
                let body = self.branching(body, positive);
                self.bound.pop();
                fixpoint(number, *is_least == positive, body)
            }
            _ => self.misplaced_branching(expr),
        }
    }

    fn joined(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        expr: &ast::Expr,
        positive: bool,
    ) -> Branching {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let (a, b) = (self.branching(left, positive), self.branching(right, positive));
                if (op == BinaryOp::And) == positive { a.and(b) } else { a.or(b) }
            }
            BinaryOp::Implies => {
                let (a, b) = (self.branching(left, !positive), self.branching(right, positive));
                if positive { a.or(b) } else { a.and(b) }
            }
            BinaryOp::Iff => {
                let both = self.branching(left, true).and(self.branching(right, positive));
                both.or(self.branching(left, false).and(self.branching(right, !positive)))
            }
            BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release => {
                let text = self.elaborator.cx.source(expr.span).to_owned();
                let message = "this needs a path quantifier";
                let diagnostic =
                    Diagnostic::new("E0013", expr.span, message, "of all executions, or of some execution?");
                let help = format!("write `A [{text}]` or `E [{text}]`");
                self.elaborator.cx.report(diagnostic.help(help).propose(expr.span, format!("A [{text}]")));
                BROKEN
            }
            _ => self.misplaced_branching(expr),
        }
    }

    /// `A` or `E` with what follows it; where the formula is negated, so are its parts.
    fn path(&mut self, is_all: bool, time: Time, parts: [Option<Branching>; 2], positive: bool) -> Branching {
        let [first, second] = parts;
        let second = second.unwrap_or(BROKEN);
        let next = |body: Branching| match is_all == positive {
            true => Branching::Every(Steps::OrStay, Box::new(body)),
            false => Branching::Some(Steps::OrStay, Box::new(body)),
        };
        let and = |a: Branching, b: Branching| if positive { a.and(b) } else { a.or(b) };
        let or = |a: Branching, b: Branching| if positive { a.or(b) } else { a.and(b) };
        let number = self.fixpoints;
        self.fixpoints += 1;
        let again = next(Branching::Variable(number));
        let first = first.unwrap_or(Branching::Atom(if positive { Expr::TRUE } else { Expr::FALSE }));
        let (is_least, body) = match time {
            Time::Next => return next(second),
            Time::Eventually => (true, or(second, again)),
            Time::Always => (false, and(second, again)),
            Time::Until => (true, or(second, and(first, again))),
            Time::WeakUntil => (false, or(second, and(first, again))),
            Time::Release => (false, and(second, or(first, again))),
        };
        fixpoint(number, is_least == positive, body)
    }

    /// Makes the variable of a fixpoint known.
    fn bind(&mut self, name: &Name, positive: bool) -> u32 {
        let number = self.fixpoints;
        self.fixpoints += 1;
        let outer = self.bound.iter().find(|bound| bound.name.text == name.text).map(|bound| bound.name.span);
        let declared = self.elaborator.cx.symbols.get(name.text.as_str()).map(|(_, span)| *span);
        if let Some(first) = outer.or(declared).filter(|_| !name.text.is_empty()) {
            let message = format!("`{}` is declared already", name.text);
            let diagnostic = Diagnostic::new("E0021", name.span, message, "the same name for a fixpoint");
            let diagnostic = diagnostic.related(first, "first declared here");
            self.elaborator.cx.report(diagnostic.help("give the variable of the fixpoint a name of its own"));
        }
        self.bound.push(Bound { name: name.clone(), number, positive });
        number
    }

    fn variable(&mut self, name: &str, expr: &ast::Expr, positive: bool) -> Branching {
        let Some(bound) = self.bound.iter().rev().find(|bound| bound.name.text == name) else { return BROKEN };
        let (number, is_even, binder) = (bound.number, bound.positive == positive, bound.name.span);
        if !is_even {
            let message = format!("`{name}` is negated within its own fixpoint");
            let diagnostic = Diagnostic::new("E0055", expr.span, message, "below an odd number of negations");
            let help = "a fixpoint exists if its variable is never negated: left of `->`, in `<->` and in the \
                        condition of `?:` it is";
            self.elaborator.cx.report(diagnostic.related(binder, "the fixpoint").help(help));
            return BROKEN;
        }
        Branching::Variable(number)
    }

    /// The steps that a modality names: those of a thread, of a copy of it, or from a location.
    fn steps_of(&mut self, label: &ast::Expr) -> Option<Steps> {
        let (thread, location) = match &label.kind {
            ExprKind::At(thread, location) => (&**thread, Some(location)),
            _ => (label, None),
        };
        // Here a name is a thread's, and no variable of a fixpoint.
        let in_fixpoints = std::mem::take(&mut self.elaborator.in_fixpoints);
        let path = self.elaborator.path(thread);
        self.elaborator.in_fixpoints = in_fixpoints;
        let (kind, copy) = match path {
            Resolved::Thread(kind, copy) => (kind, copy),
            Resolved::Error => return None,
            _ => {
                let message = format!("`{}` is not a thread", self.elaborator.cx.source(thread.span));
                let help = "a modality names the steps of a thread: `<T>`, `[T[0]]`, `<T@waiting>`; `-` means all";
                let diagnostic = Diagnostic::new("E0022", thread.span, message, "expected a thread");
                self.elaborator.cx.report(diagnostic.help(help));
                return None;
            }
        };
        let copies = self.elaborator.cx.threads[kind].copies;
        let copy = match copy {
            None => None,
            Some((value, span)) => {
                let constant = value.expr.as_const().filter(|_| value.ty != crate::sema::types::Ty::Error);
                let Some(copy) = constant else {
                    let message = "the instance must be known before the search";
                    self.elaborator.cx.report(Diagnostic::new("E0024", span, message, "not a constant"));
                    return None;
                };
                if !(0..i64::from(copies)).contains(&copy) {
                    let name = &self.elaborator.cx.threads[kind].ast.name.text;
                    let message = format!("there is no instance {copy} of `{name}`");
                    let label = format!("must be in 0..{}", i64::from(copies) - 1);
                    let diagnostic = Diagnostic::new("E0031", span, message, label);
                    let diagnostic = self.elaborator.cx.with_near_index(diagnostic, copy, i64::from(copies) - 1);
                    self.elaborator.cx.report(diagnostic);
                    return None;
                }
                Some(copy as u32)
            }
        };
        let location = match location {
            None => None,
            Some(name) => match self.elaborator.cx.threads[kind].control.names.get(&name.text) {
                Some(&position) => Some(position),
                None => {
                    self.elaborator.unknown_location(kind, name);
                    return None;
                }
            },
        };
        Some(Steps::Of(transitions(self.steps, kind, copy, location)))
    }

    /// Whether it is about steps, or has the variable of a fixpoint in it.
    fn is_branching(&self, expr: &ast::Expr) -> bool {
        super::has(expr, &|part| match &part.kind {
            ExprKind::Modal(..) | ExprKind::Fixpoint(..) => true,
            ExprKind::Name(name) => self.bound.iter().any(|bound| bound.name.text == *name),
            ExprKind::Binary(BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release, ..) => true,
            ExprKind::Unary(op, _) => !matches!(op, UnaryOp::Not | UnaryOp::Neg),
            _ => false,
        })
    }

    fn misplaced_branching(&mut self, expr: &ast::Expr) -> Branching {
        let help = "combine formulas with `!`, `&&`, `||`, `->` and `<->` only";
        let diagnostic = self.inside_value(expr, "a formula inside a value", help);
        self.elaborator.cx.report(diagnostic);
        BROKEN
    }
}

/// When something is true on a run.
#[derive(Clone, Copy)]
enum Time {
    Next,
    Eventually,
    Always,
    Until,
    WeakUntil,
    Release,
}

/// Joins neighbours until one is left, so that a thousand parts do not nest a thousand deep.
fn balanced(mut parts: Vec<Branching>, join: fn(Branching, Branching) -> Branching) -> Option<Branching> {
    while parts.len() > 1 {
        let mut halves = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halves.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        parts = halves;
    }
    parts.pop()
}

fn fixpoint(number: u32, is_least: bool, body: Branching) -> Branching {
    match is_least {
        true => Branching::Least(number, Box::new(body)),
        false => Branching::Greatest(number, Box::new(body)),
    }
}

/// `A [p U q]` and its like, which look like an element of an array, or like a call.
fn quantified(expr: &ast::Expr) -> Option<(bool, Time, &ast::Expr, &ast::Expr)> {
    let (name, inner) = match &expr.kind {
        ExprKind::Index(base, inner) => match &base.kind {
            ExprKind::Name(name) => (name, &**inner),
            _ => return None,
        },
        ExprKind::Call(name, args) => match &args[..] {
            [inner] => (&name.text, inner),
            _ => return None,
        },
        _ => return None,
    };
    let is_all = match name.as_str() {
        "A" => true,
        "E" => false,
        _ => return None,
    };
    let ExprKind::Binary(op, left, right) = &inner.kind else { return None };
    let time = match op {
        BinaryOp::Until => Time::Until,
        BinaryOp::WeakUntil => Time::WeakUntil,
        BinaryOp::Release => Time::Release,
        _ => return None,
    };
    Some((is_all, time, left, right))
}

/// The steps of a kind of thread: of all copies or of one, from all locations or from one.
fn transitions(steps: &lower::Steps, kind: usize, copy: Option<u32>, location: Option<usize>) -> Vec<TransitionId> {
    let is_meant = |id: &usize| {
        let transition = &steps.transitions[*id];
        let thread = &steps.threads[transition.thread.index()];
        thread.kind == kind
            && copy.is_none_or(|copy| thread.copy == copy)
            && location.is_none_or(|location| transition.location.index() == location)
    };
    (0..steps.transitions.len()).filter(is_meant).map(TransitionId::new).collect()
}
