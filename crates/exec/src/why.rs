//! Why a transition can or cannot be taken in a state: the parts of its condition, each with its value.

use birk_ir::{BinaryOp, Expr, FoldOp, LocalId, LocationId, Op, Program, TransitionId, UnaryOp, ValueKind};

use crate::interpreter::Interpreter;
use birk_engine::{Model as _, Successors};

/// Longer explanations are cut.
const MAX_PARTS: usize = 60;
/// Of a quantifier, so many instances are shown.
const MAX_INSTANCES: usize = 8;

/// The answer to "why is this not enabled?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// In one word.
    pub reason: Reason,
    /// The condition that decides, from the whole to its parts.
    pub parts: Vec<Part>,
}

/// Why, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is enabled.
    Enabled,
    /// Its thread is at another location, or not running.
    Elsewhere(Option<LocationId>),
    /// Its guard is false.
    Guard,
    /// Its guard is true, but something in it cannot be done, and a step is taken whole or not at all.
    Blocked,
    /// An `assume` in it is false.
    Cut,
    /// A check has failed: the run is over.
    Over,
}

/// An expression with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How deep it lies in the whole.
    pub depth: usize,
    /// As BIR writes it.
    pub text: String,
    /// Its value, as its type writes it.
    pub value: String,
}

/// Explains a transition in a state.
pub fn why(program: &Program, state: &[u32], id: TransitionId) -> Why {
    let model = Interpreter::new(program, &[]);
    let transition = program.transition(id);
    let without_parts = |reason| Why { reason, parts: Vec::new() };
    if program.is_faulty(state) {
        return without_parts(Reason::Over);
    }
    let here = program.location_of(transition.thread, state);
    if here != Some(transition.location) {
        return without_parts(Reason::Elsewhere(here));
    }
    // Where only steps that wait for it are possible, or none, `timeout` is true.
    let is_early = |id: TransitionId| model.value(&program.transition(id).guard, state) != 0;
    let first = |wanted: &dyn Fn(TransitionId) -> bool| {
        Successors::in_parts(model.words()).find(&model, state, |step, _| wanted(step.transition)).is_some()
    };
    let stuck = program.has_timeout() && !first(&is_early);
    let parts = || explain_where(program, &transition.guard, state, stuck);
    if model.value_where(&transition.guard, state, stuck) == 0 {
        return Why { reason: Reason::Guard, parts: parts() };
    }
    if first(&|taken| taken == id) {
        return Why { reason: Reason::Enabled, parts: parts() };
    }
    match obstacle(&model, &transition.ops, state) {
        Some((reason, condition, state)) => Why { reason, parts: explain(program, &condition, &state) },
        None => without_parts(Reason::Blocked),
    }
}

/// An expression and its parts, with their values in a state.
pub fn explain(program: &Program, expr: &Expr, state: &[u32]) -> Vec<Part> {
    explain_where(program, expr, state, false)
}

fn explain_where(program: &Program, expr: &Expr, state: &[u32], stuck: bool) -> Vec<Part> {
    let model = Interpreter::new(program, &[]);
    let mut explanation = Explanation { program, model, state, stuck, parts: Vec::new() };
    match expr.as_const() {
        Some(0) => vec![Part { depth: 0, text: "false".into(), value: "always".into() }],
        Some(_) => Vec::new(),
        None => {
            explanation.note(expr, 0);
            explanation.parts
        }
    }
}

/// The first condition that stands in the way of the operations, and the state in which it is asked; of a `choose`,
/// the first value is followed.
fn obstacle(model: &Interpreter<'_>, ops: &[Op], state: &[u32]) -> Option<(Reason, Expr, Vec<u32>)> {
    let mut work = state.to_vec();
    let mut bound: Vec<(LocalId, i64)> = Vec::new();
    for op in ops {
        let closed = |expr: &Expr| bound.iter().fold(expr.clone(), |expr, &(id, value)| replace(&expr, id, value));
        match op {
            Op::Assign(place, value) => {
                let value = model.value(&closed(value), &work);
                let index = place.index.as_ref().map(|index| Expr::Const(model.value(&closed(index), &work)));
                model.write(&birk_ir::Place { variable: place.variable, index }, value, &mut work);
            }
            Op::Let(local, value) | Op::Choose(local, value, _) => {
                let value = model.value(&closed(value), &work);
                bound.push((*local, value));
            }
            Op::Require(condition) | Op::Assume(condition) => {
                let condition = closed(condition);
                if model.value(&condition, &work) == 0 {
                    let reason = if matches!(op, Op::Assume(_)) { Reason::Cut } else { Reason::Blocked };
                    return Some((reason, condition, work));
                }
            }
            Op::Check(..) => {}
        }
    }
    None
}

struct Explanation<'a> {
    program: &'a Program,
    model: Interpreter<'a>,
    state: &'a [u32],
    stuck: bool,
    parts: Vec<Part>,
}

impl Explanation<'_> {
    fn value(&self, expr: &Expr) -> i64 {
        self.model.value_where(expr, self.state, self.stuck)
    }

    fn note(&mut self, expr: &Expr, depth: usize) {
        if self.parts.len() >= MAX_PARTS {
            return;
        }
        let value = kind(self.program, expr).text(self.value(expr));
        self.parts.push(Part { depth, text: self.program.expr_text(expr), value });
        for part in self.below(expr) {
            self.note(&part, depth + 1);
        }
    }

    /// The parts worth showing: not constants, and of a choice only what counts.
    fn below(&self, expr: &Expr) -> Vec<Expr> {
        let parts = match expr {
            Expr::Const(_) | Expr::Var(_) | Expr::Local(_) | Expr::Stuck => Vec::new(),
            Expr::Element(_, part) | Expr::Unary(_, part) | Expr::Wrap(part, ..) => vec![(**part).clone()],
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _) => chain(*op, expr),
            Expr::Binary(_, parts) => vec![parts.0.clone(), parts.1.clone()],
            Expr::If(parts) => {
                let chosen = if self.value(&parts.0) != 0 { &parts.1 } else { &parts.2 };
                vec![parts.0.clone(), chosen.clone()]
            }
            Expr::Let { local, parts } => {
                let value = self.value(&parts.0);
                vec![parts.0.clone(), replace(&parts.1, *local, value)]
            }
            Expr::Fold { op, local, parts } => self.instances(*op, *local, parts),
        };
        parts.into_iter().filter(|part| part.as_const().is_none()).collect()
    }

    /// The bodies of a quantifier: those that decide it, or the first few.
    fn instances(&self, op: FoldOp, local: LocalId, (lo, hi, body): &(Expr, Expr, Expr)) -> Vec<Expr> {
        let (lo, hi) = (self.value(lo), self.value(hi));
        let all: Vec<Expr> = (lo..=hi).map(|value| replace(body, local, value)).collect();
        let decisive = |part: &&Expr| match (op, self.value(part) != 0) {
            (FoldOp::All, holds) => !holds,
            (FoldOp::Any, holds) => holds,
            _ => false,
        };
        let deciding: Vec<Expr> = all.iter().filter(decisive).cloned().collect();
        let mut shown = if deciding.is_empty() { all } else { deciding };
        shown.truncate(MAX_INSTANCES);
        shown
    }
}

/// The operands of a chain of one operator.
fn chain(op: BinaryOp, expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary(own, parts) if *own == op => {
            let mut found = chain(op, &parts.0);
            found.extend(chain(op, &parts.1));
            found
        }
        other => vec![other.clone()],
    }
}

/// How the value of an expression is written.
fn kind(program: &Program, expr: &Expr) -> ValueKind {
    match expr {
        Expr::Var(variable) | Expr::Element(variable, _) => program.variable(*variable).values.clone(),
        Expr::Unary(UnaryOp::Not, _) | Expr::Stuck => ValueKind::Boolean,
        Expr::Fold { op: FoldOp::All | FoldOp::Any, .. } => ValueKind::Boolean,
        Expr::Binary(op, _) => match op {
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                ValueKind::Boolean
            }
            BinaryOp::And | BinaryOp::Or => ValueKind::Boolean,
            _ => ValueKind::Integer,
        },
        Expr::If(parts) => kind(program, &parts.1),
        Expr::Let { parts, .. } => kind(program, &parts.1),
        _ => ValueKind::Integer,
    }
}

/// The expression with a value in the place of a bound name; where the name is bound anew, it is left alone.
fn replace(expr: &Expr, local: LocalId, value: i64) -> Expr {
    let go = |part: &Expr| replace(part, local, value);
    match expr {
        Expr::Local(id) if *id == local => Expr::Const(value),
        Expr::Const(_) | Expr::Var(_) | Expr::Local(_) | Expr::Stuck => expr.clone(),
        Expr::Element(variable, index) => Expr::element(*variable, fold_constants(&go(index))),
        Expr::Unary(op, operand) => Expr::Unary(*op, Box::new(go(operand))),
        Expr::Binary(op, parts) => Expr::Binary(*op, Box::new((go(&parts.0), go(&parts.1)))),
        Expr::If(parts) => Expr::If(Box::new((go(&parts.0), go(&parts.1), go(&parts.2)))),
        Expr::Wrap(inner, lo, hi) => Expr::Wrap(Box::new(go(inner)), *lo, *hi),
        Expr::Fold { op, local: own, parts } => {
            let body = if *own == local { parts.2.clone() } else { go(&parts.2) };
            Expr::Fold { op: *op, local: *own, parts: Box::new((go(&parts.0), go(&parts.1), body)) }
        }
        Expr::Let { local: own, parts } => {
            let body = if *own == local { parts.1.clone() } else { go(&parts.1) };
            Expr::Let { local: *own, parts: Box::new((go(&parts.0), body)) }
        }
    }
}

/// An index that became constant is shown as the element it names.
fn fold_constants(expr: &Expr) -> Expr {
    match expr {
        Expr::Binary(op, parts) => Expr::binary(*op, fold_constants(&parts.0), fold_constants(&parts.1)),
        other => other.clone(),
    }
}
