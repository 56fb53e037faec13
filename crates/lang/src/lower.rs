//! Steps: each transformation of each copy of a thread becomes one transition.
//!
//! What can go wrong becomes a `Check` in front of the operation that would go wrong. A guard with hazards is
//! enabled where it is true or where evaluating it goes wrong; the checks come first, so that the latter is a fault.

mod action;
mod broadcast;
pub(crate) mod channel;
pub(crate) mod control;
pub(crate) mod expectations;
pub(crate) mod properties;
pub(crate) mod refinement;
mod rendezvous;

use std::collections::HashSet;
use std::rc::Rc;

use birk_ir::{
    BinaryOp, Expr, LocationId, Op, Receiver, Span, Thread, ThreadId, ThreadKind, ThreadRole, Transition, VarId,
};

use crate::diagnostic::Diagnostic;
use crate::lower::control::{Edge, Part, Spot, What};
use crate::sema::context::Context;
use crate::sema::expression::{Elaborator, Timeout};
use crate::sema::lint::is_switch;
use crate::sema::types::{Hazard, Ty, Value};
use crate::syntax::ast::{Action, ActionKind};
pub(crate) use rendezvous::Partner;
use rendezvous::{Receivers, partners, receivers};

/// A system may not have more transitions.
const MAX_TRANSITIONS: usize = 1 << 18;
/// All steps together may not have more operations and parts of expressions.
const MAX_PARTS: usize = 3_000_000;

/// The threads and transitions of a system.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) kinds: Vec<ThreadKind>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) transitions: Vec<Transition>,
    /// Where the steps are written whose conditions depend on what their user sets.
    pub(crate) switches: HashSet<Span>,
}

/// Lowers all threads, and what the environment does to channels.
pub(crate) fn lower(cx: &mut Context<'_>) -> Steps {
    let mut steps = Steps::default();
    let receivers = receivers(cx);
    for kind in 0..cx.threads.len() {
        let (thread, copies) = (cx.threads[kind].ast, cx.threads[kind].copies);
        let control = Rc::clone(&cx.threads[kind].control);
        steps.kinds.push(ThreadKind {
            name: thread.name.text.clone(),
            role: ThreadRole::Thread,
            span: thread.name.span,
            locations: control.spots.iter().map(location).collect(),
            counter: cx.threads[kind].counter,
            copies,
            indexed: thread.copies.is_some(),
            fair: thread.fair,
            crashed: control.crashed.map(LocationId::new),
        });
        if copies == 0 {
            // No copy runs, but its text is checked all the same.
            lower_copy(cx, &mut Steps::default(), &receivers, kind, 0);
        }
        for copy in 0..copies {
            lower_copy(cx, &mut steps, &receivers, kind, copy);
            if steps.transitions.len() > MAX_TRANSITIONS {
                let message = format!("this system has more than {MAX_TRANSITIONS} transitions");
                let help = "use fewer instances, or fewer steps that send and receive at a rendezvous";
                cx.report(Diagnostic::new("E0039", thread.name.span, message, "too many").help(help));
                return steps;
            }
        }
    }
    crate::lower::channel::environment(cx, &mut steps);
    steps
}

fn location(spot: &Spot) -> birk_ir::Location {
    birk_ir::Location {
        name: spot.name.clone(),
        span: spot.span,
        end: spot.end,
        accept: spot.accept,
        progress: spot.progress,
    }
}

fn lower_copy<'a>(cx: &mut Context<'a>, steps: &mut Steps, receivers: &Receivers<'a>, kind: usize, copy: u32) {
    let control = Rc::clone(&cx.threads[kind].control);
    let id = ThreadId::new(steps.threads.len());
    let mut at = Vec::new();
    let mut edges = control.edges.iter().zip(one_of_several(&control.edges)).peekable();
    for from in 0..control.spots.len() {
        let start = steps.transitions.len() as u32;
        while let Some((edge, is_one_of_several)) = edges.next_if(|(edge, _)| edge.from == from) {
            if steps.transitions.len() > MAX_TRANSITIONS || cx.parts > MAX_PARTS {
                break;
            }
            let guard_span = guard_span(edge);
            for (partner, (guard, ops, locals)) in lowered(cx, receivers, edge, kind, copy) {
                if partner.is_some() && guard == Expr::FALSE {
                    // What is sent can never be what is received there.
                    continue;
                }
                let depends = |part: &Part<'_>| match part.what {
                    What::Require(condition) | What::Test(condition) | What::Refuse(condition) => {
                        is_switch(cx, condition, &part.scope)
                    }
                    What::Do(_) | What::Leave(_) | What::Lose(_) => false,
                };
                if guard_span.is_some() && guard.as_const().is_some() && edge.parts.iter().any(depends) {
                    steps.switches.insert(edge.span);
                }
                cx.note_writes(&ops);
                steps.transitions.push(Transition {
                    thread: id,
                    location: LocationId::new(from),
                    ordinal: steps.transitions.len() as u32 - start,
                    target: edge.to.map(LocationId::new),
                    span: edge.span,
                    guard_span,
                    parts: if is_one_of_several { spans(edge) } else { Vec::new() },
                    guard,
                    ops,
                    locals,
                    fair: edge.fair,
                    receiver: partner.map(|partner| receiver(cx, &partner)),
                    then: None,
                });
            }
        }
        at.push((start, steps.transitions.len() as u32));
    }
    let thread = cx.threads[kind].ast;
    let name = match thread.copies {
        Some(_) => format!("{}[{copy}]", thread.name.text),
        None => thread.name.text.clone(),
    };
    steps.threads.push(Thread { name, kind, copy, at });
}

/// Guard, operations and the number of locals of a step.
type Lowered = (Expr, Vec<Op>, u32);

/// A step with each of its partners. A guard that asks for `timeout` makes two: one where
/// it is false, and one that is taken only where no other step is possible.
fn lowered<'a>(
    cx: &mut Context<'a>,
    receivers: &Receivers<'a>,
    edge: &Edge<'a>,
    kind: usize,
    copy: u32,
) -> Vec<(Option<Partner<'a>>, Lowered)> {
    let mut found = Vec::new();
    for partner in partners(cx, receivers, edge, kind, copy) {
        let mut with = |timeout| {
            let mut step = Step::new(cx, edge.span, kind, copy);
            step.timeout = timeout;
            step.edge(edge, partner.as_ref());
            let asks = step.elaborator.asks_timeout;
            let (guard, ops, locals) = step.finish();
            (asks, (if asks { decided(guard) } else { guard }, ops, locals))
        };
        match with(false) {
            (false, step) => found.push((partner, step)),
            (true, step) => {
                let (_, (guard, ops, locals)) = with(true);
                let late = (guard.and(Expr::Stuck), ops, locals);
                let may_wait = step.1.iter().any(|op| matches!(op, Op::Require(_)));
                match &step.0 {
                    Expr::Const(0) => found.push((partner, late)),
                    // It never waits for anything.
                    Expr::Const(_) if !may_wait => found.push((partner, step)),
                    _ => found.extend([(partner.clone(), step), (partner, late)]),
                }
            }
        }
    }
    found
}

/// A condition without the parts that `timeout` has decided.
fn decided(condition: Expr) -> Expr {
    let Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), parts) = condition else { return condition };
    let deciding = if op == BinaryOp::And { Expr::FALSE } else { Expr::TRUE };
    let (left, right) = (decided(parts.0), decided(parts.1));
    if left == deciding || right == deciding { deciding } else { Expr::binary(op, left, right) }
}

/// Where the guard of a step is written.
fn guard_span(edge: &Edge<'_>) -> Option<Span> {
    edge.parts.iter().find_map(|part| match part.what {
        What::Require(guard) | What::Test(guard) => Some(guard.span),
        What::Do(Action {
            kind: ActionKind::Send(channel, _) | ActionKind::Broadcast(channel, ..) | ActionKind::Receive(channel, ..),
            ..
        }) => Some(channel.span),
        _ => None,
    })
}

/// The other side of a rendezvous, in a program whose threads are numbered by declaration and instance.
fn receiver(cx: &Context<'_>, partner: &Partner<'_>) -> Receiver {
    let before: u32 = cx.threads[..partner.kind].iter().map(|thread| thread.copies).sum();
    Receiver {
        thread: ThreadId::new((before + partner.copy) as usize),
        location: LocationId::new(partner.edge.from),
        target: partner.edge.to.map(LocationId::new),
        span: partner.edge.span,
        guard_span: guard_span(&partner.edge),
    }
}

/// For each step, whether there are other paths through the same text: these are neighbours.
fn one_of_several(edges: &[Edge<'_>]) -> Vec<bool> {
    let is_same = |one: usize, other: usize| {
        let both = edges.get(one).zip(edges.get(other));
        both.is_some_and(|(one, other)| (one.from, one.span) == (other.from, other.span))
    };
    (0..edges.len()).map(|at| is_same(at, at + 1) || at > 0 && is_same(at, at - 1)).collect()
}

/// Where the parts of a step stand, each once, in order.
fn spans(edge: &Edge<'_>) -> Vec<Span> {
    let span = |part: &Part<'_>| match part.what {
        What::Require(condition) | What::Test(condition) | What::Refuse(condition) => condition.span,
        What::Do(action) | What::Leave(action) => action.span,
        What::Lose(span) => span,
    };
    let mut spans: Vec<Span> = edge.parts.iter().map(span).collect();
    spans.sort_unstable();
    spans.dedup();
    spans
}

/// One step of one copy on its way to a transition.
pub(crate) struct Step<'c, 'a> {
    pub(crate) elaborator: Elaborator<'c, 'a>,
    ops: Vec<Op>,
    /// What must be true before anything is done, and what can go wrong in finding out.
    guard: Vec<Expr>,
    wrong: Vec<Expr>,
    /// Nothing was done yet: what is required now belongs to the guard.
    leading: bool,
    /// Where it is written.
    span: Span,
    pub(crate) kind: usize,
    pub(crate) copy: u32,
    /// What `timeout` is in its guard.
    timeout: bool,
    /// What is being handed over at a rendezvous: the values, and the index of the channel.
    pub(crate) handed: Option<Handed>,
}

/// What a sender hands over at a rendezvous.
pub(crate) struct Handed {
    pub(crate) channel: VarId,
    pub(crate) index: Option<Expr>,
    pub(crate) values: Vec<Value>,
}

impl<'c, 'a> Step<'c, 'a> {
    fn new(cx: &'c mut Context<'a>, span: Span, kind: usize, copy: u32) -> Self {
        Self {
            elaborator: Elaborator::new(cx, Some((kind, copy))),
            ops: Vec::new(),
            guard: Vec::new(),
            wrong: Vec::new(),
            leading: true,
            span,
            kind,
            copy,
            timeout: false,
            handed: None,
        }
    }

    fn finish(self) -> Lowered {
        (Expr::any(self.wrong).or(Expr::all(self.guard)), self.ops, self.elaborator.locals)
    }

    fn edge(&mut self, edge: &Edge<'a>, partner: Option<&Partner<'a>>) {
        if let Some(partner) = partner {
            let counter = self.elaborator.cx.threads[partner.kind].counter;
            let here = Expr::element(counter, Expr::Const(i64::from(partner.copy)));
            self.require(Value::boolean(here.equals(partner.edge.from as i64)));
        }
        self.parts(edge, partner);
        self.jump(edge);
    }

    fn parts(&mut self, edge: &Edge<'a>, partner: Option<&Partner<'a>>) {
        for part in &edge.parts {
            if self.elaborator.cx.parts > MAX_PARTS {
                break;
            }
            self.elaborator.enter(&part.scope);
            match part.what {
                What::Require(condition) | What::Test(condition) => {
                    let is_guard = matches!(part.what, What::Require(_));
                    self.elaborator.timeout = if is_guard { Timeout::Is(self.timeout) } else { Timeout::Test };
                    let value = self.elaborator.condition(condition, "a condition");
                    self.elaborator.timeout = Timeout::Outside;
                    self.require(value);
                }
                What::Refuse(condition) => {
                    // Where the condition goes wrong, the branch that requires it says so.
                    self.elaborator.timeout = Timeout::Test;
                    let value = self.elaborator.condition(condition, "a condition");
                    self.elaborator.timeout = Timeout::Outside;
                    let goes_wrong = Expr::any(value.hazards.into_iter().map(|hazard| hazard.when).collect());
                    if value.ty != Ty::Error {
                        self.require(Value::boolean(goes_wrong.or(value.expr).negate()));
                    }
                }
                What::Do(action) => self.action(action),
                What::Leave(_) => {}
                What::Lose(_) => self.lose(),
            }
            if let (Some(partner), Some(_)) = (partner, &self.handed) {
                self.hand_over(partner);
            }
        }
    }

    /// The partner's whole step, in the middle of the sender's.
    fn hand_over(&mut self, partner: &Partner<'a>) {
        let own = (self.kind, self.copy, self.elaborator.scope.clone());
        (self.kind, self.copy) = (partner.kind, partner.copy);
        self.elaborator.thread = Some((partner.kind, partner.copy));
        self.parts(&partner.edge, None);
        self.jump(&partner.edge);
        self.handed = None;
        (self.kind, self.copy, self.elaborator.scope) = own;
        self.elaborator.thread = Some((self.kind, self.copy));
    }

    fn jump(&mut self, edge: &Edge<'a>) {
        match edge.to {
            None => self.end(),
            Some(to) if to != edge.from => {
                let counter = self.elaborator.cx.threads[self.kind].counter;
                self.write(counter, Expr::Const(i64::from(self.copy)), Expr::Const(to as i64));
            }
            Some(_) => {}
        }
    }

    fn push(&mut self, op: Op) {
        self.leading = false;
        self.add(op);
    }

    fn add(&mut self, op: Op) {
        let size = match &op {
            Op::Check(expr, _) | Op::Assume(expr) | Op::Require(expr) | Op::Let(_, expr) => expr.size(),
            Op::Assign(place, expr) => expr.size() + place.index.as_ref().map_or(0, Expr::size),
            Op::Choose(_, lo, hi) => lo.size() + hi.size(),
        };
        if self.spend(1 + size) {
            self.ops.push(op);
        }
    }

    /// Whether there is room for so many more parts; if not, that is reported once.
    fn spend(&mut self, parts: usize) -> bool {
        let cx = &mut self.elaborator.cx;
        let before = cx.parts;
        cx.parts = before.saturating_add(parts);
        if before <= MAX_PARTS && cx.parts > MAX_PARTS {
            let message = format!("the steps of this system have more than {MAX_PARTS} parts");
            let help =
                "arrays and channels are copied element by element: make them smaller, or put less into one step";
            cx.report(Diagnostic::new("E0039", self.span, message, "too many").help(help));
        }
        cx.parts <= MAX_PARTS
    }

    /// The step exists only where this is true.
    pub(crate) fn require(&mut self, value: Value) {
        if value.ty == Ty::Error {
            return;
        }
        if self.leading {
            for hazard in value.hazards {
                let when = Expr::all(self.guard.clone()).and(hazard.when);
                if when != Expr::FALSE && self.spend(when.size()) {
                    self.add(Op::Check(when.clone().negate(), hazard.fault));
                    self.wrong.push(when);
                }
            }
            if self.spend(value.expr.size()) {
                self.guard.push(value.expr.clone());
            }
        } else {
            self.check(value.hazards);
            if value.expr != Expr::TRUE {
                self.push(Op::Require(value.expr.clone()));
            }
        }
        self.elaborator.facts.assume(&value.expr);
    }

    pub(crate) fn check(&mut self, hazards: Vec<Hazard>) {
        for hazard in hazards {
            if hazard.when != Expr::FALSE {
                let holds = hazard.when.negate();
                self.elaborator.facts.assume(&holds);
                self.push(Op::Check(holds, hazard.fault));
            }
        }
    }
}
