//! Steps: each transformation of each copy of a thread becomes one transition.
//!
//! What can go wrong becomes a `Check` in front of the operation that would go wrong. A guard with hazards is
//! enabled where it is true or where evaluating it goes wrong; the checks come first, so that the latter is a fault.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::{Expr, FaultKind, LocationId, Op, Place, Span, Thread, ThreadId, ThreadKind, Transition, VarId};

use crate::ast::{self, Action, ActionKind};
use crate::context::{Context, Symbol};
use crate::control::{Edge, Spot, What};
use crate::diagnostic::Diagnostic;
use crate::expression::{Elaborator, Receiver, count};
use crate::path::{Indexed, Path};
use crate::types::{Hazard, Ty, Value};

/// A system may not have more transitions.
const MAX_TRANSITIONS: usize = 1 << 18;
/// All steps together may not have more operations and parts of expressions.
const MAX_PARTS: usize = 3_000_000;
/// A choice may have this many values.
const MAX_CHOICE: i64 = 1 << 16;

/// The threads and transitions of a system.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) kinds: Vec<ThreadKind>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) transitions: Vec<Transition>,
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
            span: thread.name.span,
            locations: control.spots.iter().map(location).collect(),
            counter: cx.threads[kind].counter,
            copies,
            indexed: thread.copies.is_some(),
            fair: thread.fair,
        });
        if copies == 0 {
            // No copy runs, but its text is checked all the same.
            lower_copy(cx, &mut Steps::default(), &receivers, kind, 0);
        }
        for copy in 0..copies {
            lower_copy(cx, &mut steps, &receivers, kind, copy);
            if steps.transitions.len() > MAX_TRANSITIONS {
                let message = format!("this system has more than {MAX_TRANSITIONS} transitions");
                let help = "use fewer copies, or fewer steps that send and receive at a rendezvous";
                cx.report(Diagnostic::new("E0039", thread.name.span, message, "too many").help(help));
                return steps;
            }
        }
    }
    crate::channel::environment(cx, &mut steps);
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
    let mut edges = control.edges.iter().peekable();
    for from in 0..control.spots.len() {
        let start = steps.transitions.len() as u32;
        while let Some(edge) = edges.next_if(|edge| edge.from == from) {
            if steps.transitions.len() > MAX_TRANSITIONS || cx.parts > MAX_PARTS {
                break;
            }
            for partner in partners(cx, receivers, edge, kind, copy) {
                let mut step = Step::new(cx, edge.span, kind, copy);
                step.edge(edge, partner.as_ref());
                let guard_span = edge.parts.iter().find_map(|part| match part.what {
                    What::Require(guard) => Some(guard.span),
                    What::Do(Action {
                        kind: ActionKind::Send(channel, _) | ActionKind::Receive(channel, ..), ..
                    }) => Some(channel.span),
                    _ => None,
                });
                let (guard, ops, locals) = step.finish();
                if partner.is_some() && guard == Expr::FALSE {
                    // What is sent can never be what is received there.
                    continue;
                }
                cx.note_writes(&ops);
                steps.transitions.push(Transition {
                    thread: id,
                    location: LocationId::new(from),
                    ordinal: steps.transitions.len() as u32 - start,
                    target: edge.to.map(LocationId::new),
                    span: edge.span,
                    guard_span,
                    guard,
                    ops,
                    locals,
                    fair: edge.fair,
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

/// The other side of a rendezvous: a thread, and the step of it that receives.
#[derive(Clone)]
pub(crate) struct Partner<'a> {
    pub(crate) kind: usize,
    pub(crate) copy: u32,
    pub(crate) edge: Rc<Edge<'a>>,
}

/// The steps that receive at each rendezvous.
type Receivers<'a> = HashMap<VarId, Vec<Partner<'a>>>;

fn receivers<'a>(cx: &mut Context<'a>) -> Receivers<'a> {
    let mut receivers = Receivers::new();
    if cx.channels.iter().all(|channel| channel.capacity > 0) {
        return receivers;
    }
    for kind in 0..cx.threads.len() {
        let control = Rc::clone(&cx.threads[kind].control);
        let edges: Vec<Rc<Edge<'a>>> = control.edges.iter().cloned().map(Rc::new).collect();
        for copy in 0..cx.threads[kind].copies {
            for edge in &edges {
                if let Some((false, channel)) = rendezvous(cx, edge, kind, copy) {
                    let partner = Partner { kind, copy, edge: Rc::clone(edge) };
                    receivers.entry(channel).or_default().push(partner);
                }
            }
        }
    }
    receivers
}

/// With whom a step is taken: alone, with each of the steps that can receive what it sends, or (a step that receives
/// at a rendezvous) only as somebody's partner.
fn partners<'a>(
    cx: &mut Context<'a>,
    receivers: &Receivers<'a>,
    edge: &Edge<'a>,
    kind: usize,
    copy: u32,
) -> Vec<Option<Partner<'a>>> {
    let Some((sends, channel)) = rendezvous(cx, edge, kind, copy) else { return vec![None] };
    let others = receivers.get(&channel).into_iter().flatten().filter(|_| sends);
    others.filter(|other| (other.kind, other.copy) != (kind, copy)).cloned().map(Some).collect()
}

/// Whether a step sends (or else receives) at a rendezvous, and which channel that is.
fn rendezvous<'a>(cx: &mut Context<'a>, edge: &Edge<'a>, kind: usize, copy: u32) -> Option<(bool, VarId)> {
    if cx.channels.iter().all(|channel| channel.capacity > 0) {
        return None;
    }
    for part in &edge.parts {
        let What::Do(action) = part.what else { continue };
        let (sends, channel) = match &action.kind {
            ActionKind::Send(channel, _) => (true, channel),
            ActionKind::Receive(channel, ..) => (false, channel),
            _ => continue,
        };
        let reported = cx.diagnostics.len();
        let mut elaborator = Elaborator::new(cx, Some((kind, copy)));
        elaborator.enter(&part.scope);
        let path = elaborator.path(channel);
        // Whatever is wrong with it is said when the step is lowered.
        cx.diagnostics.truncate(reported);
        if let Path::Variable(indexed) = path
            && let Ty::Channel(index) = indexed.scalar.ty
            && cx.channels[index].capacity == 0
        {
            return Some((sends, indexed.leaves[0]));
        }
    }
    None
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
            handed: None,
        }
    }

    fn finish(self) -> (Expr, Vec<Op>, u32) {
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
                What::Require(condition) => {
                    let value = self.elaborator.condition(condition, "a condition");
                    self.require(value);
                }
                What::Refuse(condition) => {
                    // Where the condition goes wrong, the branch that requires it says so.
                    let value = self.elaborator.condition(condition, "a condition");
                    let goes_wrong = Expr::any(value.hazards.into_iter().map(|hazard| hazard.when).collect());
                    if value.ty != Ty::Error {
                        self.require(Value::boolean(goes_wrong.or(value.expr).negate()));
                    }
                }
                What::Do(action) => self.action(action),
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

    fn action(&mut self, action: &ast::Action) {
        match &action.kind {
            ActionKind::Skip => {}
            ActionKind::Assign(place, expr) => {
                let Some(target) = self.elaborator.target(place) else {
                    self.elaborator.value(expr);
                    return;
                };
                if target.is_whole() {
                    let what = format!("`{}`", self.elaborator.cx.source(place.span));
                    if let Some(values) = self.elaborator.parts(expr, &target.ty(), &what) {
                        self.assign_whole(&target, values, [place.span, expr.span, action.span]);
                    }
                    return;
                }
                let value = self.elaborator.value_as(expr, target.scalar.ty);
                let target = self.elaborator.target_of(target);
                self.assign(target, value, [place.span, expr.span, action.span]);
            }
            ActionKind::ChooseMember(place, set) => self.choose_member(place, set, action.span),
            ActionKind::Send(channel, values) => self.send(channel, values, action.span),
            ActionKind::Receive(channel, patterns, condition) => {
                self.receive(channel, patterns, condition.as_ref(), action.span);
            }
            ActionKind::Choose(place, lo, hi) => self.choose(place, lo, hi, action.span),
            ActionKind::Assert(condition, message) => {
                let value = self.elaborator.condition(condition, "an assertion");
                self.check(value.hazards);
                let fault = self.elaborator.cx.fault(FaultKind::Assertion, condition.span, |cx| match message {
                    Some(message) => message.clone(),
                    None => format!("assertion `{}` failed", cx.source(condition.span)),
                });
                if value.expr != Expr::TRUE {
                    self.elaborator.facts.assume(&value.expr);
                    self.push(Op::Check(value.expr, fault));
                }
            }
            ActionKind::Assume(condition) => {
                let value = self.elaborator.condition(condition, "an assumption");
                self.check(value.hazards);
                self.elaborator.facts.assume(&value.expr);
                self.push(Op::Assume(value.expr));
            }
            ActionKind::Start(name, args) => self.start(name, args, action.span),
            // Control has made edges of these.
            ActionKind::Await(_)
            | ActionKind::Call(..)
            | ActionKind::If(..)
            | ActionKind::While(..)
            | ActionKind::For(..)
            | ActionKind::Either(_)
            | ActionKind::Atomic(_)
            | ActionKind::Break
            | ActionKind::Return
            | ActionKind::Goto(_) => unreachable!("not an action of one step"),
        }
    }

    /// Assigns all parts of a record or array; all values are computed before the first is written.
    pub(crate) fn assign_whole(&mut self, target: &Indexed, values: Vec<Value>, spans: [Span; 3]) {
        let values = self.hold(values);
        for (part, value) in self.elaborator.spread(target, spans[0]).into_iter().zip(values) {
            let part = self.elaborator.target_of(part);
            self.assign(part, value, spans);
        }
    }

    /// Values that later writes do not change.
    pub(crate) fn hold(&mut self, values: Vec<Value>) -> Vec<Value> {
        let mut held = Vec::new();
        for mut value in values {
            self.check(std::mem::take(&mut value.hazards));
            if value.expr.as_const().is_none() {
                let local = self.elaborator.fresh();
                self.push(Op::Let(local, std::mem::replace(&mut value.expr, Expr::Local(local))));
            }
            held.push(value);
        }
        held
    }

    /// `place := choose(set)`: one outcome for each member.
    fn choose_member(&mut self, place: &ast::Expr, set: &ast::Expr, span: Span) {
        let Some(target) = self.elaborator.target(place) else { return };
        let Some(mut target) = self.elaborator.target_of(target) else { return };
        self.check(std::mem::take(&mut target.hazards));
        let target = Some(target);
        let local = self.elaborator.fresh();
        let member = Value { expr: Expr::Local(local), fixed: false, ..Value::constant(0, Ty::Int) };
        if let Some((ty, last)) = self.elaborator.symmetric(set) {
            self.push(Op::Choose(local, Expr::Const(0), Expr::Const(last)));
            let chosen = Value { ty, lo: 0, hi: last, ..member };
            return self.assign(target, chosen, [place.span, span, span]);
        }
        let mut value = self.elaborator.value(set);
        let Ty::Set(lo, hi) = value.ty else {
            if value.ty != Ty::Error {
                let message = format!("`{}` is not a set", self.elaborator.cx.source(set.span));
                let help = "choose from a set, or from a range: `choose(lo, hi)`";
                self.elaborator.cx.report(Diagnostic::new("E0022", set.span, message, "expected a set").help(help));
            }
            return;
        };
        self.check(std::mem::take(&mut value.hazards));
        let fault = self
            .elaborator
            .cx
            .fault(FaultKind::EmptyChoice, span, |cx| format!("`{}` has no value to choose", cx.source(span)));
        self.check(vec![Hazard { when: value.expr.clone().equals(0), fault }]);
        self.push(Op::Choose(local, Expr::Const(lo), Expr::Const(hi)));
        let chosen = Value { lo, hi, ..member };
        self.push(Op::Require(crate::set::has(&chosen, value.expr, lo, hi)));
        self.assign(target, chosen, [place.span, span, span]);
    }

    /// The spans are those of the place, of the value, and of the whole action.
    pub(crate) fn assign(
        &mut self,
        target: Option<crate::path::Target>,
        mut value: Value,
        [place, at, whole]: [Span; 3],
    ) {
        let Some(target) = target else { return };
        self.check(target.hazards);
        self.check(std::mem::take(&mut value.hazards));
        if !value.is_within(target.scalar.lo, target.scalar.hi) && value.expr.size() > 1 && value.ty != Ty::Error {
            let local = self.elaborator.fresh();
            self.push(Op::Let(local, std::mem::replace(&mut value.expr, Expr::Local(local))));
        }
        // Most values need no message about their conversion.
        if value.ty != target.scalar.ty || !value.is_within(target.scalar.lo, target.scalar.hi) {
            let name = format!("`{}`", self.elaborator.cx.source(place));
            let declared = Some(self.elaborator.cx.variables[target.place.variable.index()].span);
            let receiver = Receiver { what: &name, value: at, whole, declared };
            value = self.elaborator.convert(value, &target.scalar, &receiver);
        }
        if value.ty == Ty::Error {
            return;
        }
        self.check(std::mem::take(&mut value.hazards));
        self.elaborator.facts.write(target.place.variable, target.element, value.lo, value.hi);
        self.push(Op::Assign(target.place, value.expr));
    }

    fn choose(&mut self, place: &ast::Expr, lo: &ast::Expr, hi: &ast::Expr, span: Span) {
        let Some(target) = self.elaborator.target(place) else { return };
        if target.is_whole() {
            self.elaborator.element(target, place.span);
            return;
        }
        let target = self.elaborator.target_of(target);
        let mut from = self.elaborator.integer(lo, "a bound of `choose`");
        let mut to = self.elaborator.integer(hi, "a bound of `choose`");
        if from.ty == Ty::Error || to.ty == Ty::Error {
            return;
        }
        if let Some(other) = target.as_ref().map(|t| t.scalar.ty).filter(|ty| !matches!(ty, Ty::Int | Ty::Error)) {
            let cx = &mut self.elaborator.cx;
            let message = format!("`{}` is {}, but `choose` gives `int`", cx.source(place.span), cx.type_name(other));
            let help = "write one transformation for each of the values";
            return cx.report(Diagnostic::new("E0022", span, message, "this gives `int`").help(help));
        }
        let bounds = lo.span.to(hi.span);
        if to.hi - from.lo >= MAX_CHOICE {
            let message = format!("a choice among up to {} values", to.hi - from.lo + 1);
            let help = format!("at most {MAX_CHOICE} are possible; bound the variables in it by their types");
            self.elaborator.cx.report(Diagnostic::new("E0039", bounds, message, "too many").help(help));
            return;
        }
        if from.fixed && to.fixed && from.lo > to.hi {
            let message = format!("a choice from the empty range {}..{}", from.lo, to.hi);
            let diagnostic = Diagnostic::new("E0032", bounds, message, "no value to choose");
            let help = format!("the lower bound comes first: `choose({}, {})`", to.hi, from.lo);
            self.elaborator.cx.report(diagnostic.help(help));
            return;
        }
        self.check(std::mem::take(&mut from.hazards));
        self.check(std::mem::take(&mut to.hazards));
        if from.hi > to.lo {
            let fault = self
                .elaborator
                .cx
                .fault(FaultKind::EmptyChoice, span, |cx| format!("`{}` has no value to choose", cx.source(span)));
            let some = Expr::binary(birk_ir::BinaryOp::Le, from.expr.clone(), to.expr.clone());
            self.check(vec![Hazard { when: some.negate(), fault }]);
        }
        let Some(mut target) = target else { return };
        self.check(std::mem::take(&mut target.hazards));
        let local = self.elaborator.fresh();
        self.push(Op::Choose(local, from.expr, to.expr));
        let expr = Expr::Local(local);
        let chosen = Value { expr, ty: Ty::Int, lo: from.lo, hi: to.hi, hazards: Vec::new(), fixed: false };
        self.assign(Some(target), chosen, [place.span, span, span]);
    }

    /// Takes the first copy that is not running.
    fn start(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) {
        let values: Vec<Value> = args.iter().map(|arg| self.elaborator.value(arg)).collect();
        let Some(&(Symbol::Thread(kind), _)) = self.elaborator.cx.symbols.get(name.text.as_str()) else {
            let cx = &mut self.elaborator.cx;
            if cx.symbols.contains_key(name.text.as_str()) {
                let diagnostic = cx.misused(&name.text, name.span, "a thread");
                return cx.diagnostics.extend(diagnostic);
            }
            let names: Vec<&str> = cx.threads.iter().map(|t| t.ast.name.text.as_str()).collect();
            return cx.unknown("a thread", name, &names);
        };
        let declaration = &self.elaborator.cx.threads[kind];
        let (copies, counter, thread) = (declaration.copies, declaration.counter, declaration.ast);
        if args.len() != thread.params.len() {
            let message =
                format!("`{}` takes {}, not {}", name.text, count(thread.params.len(), "argument"), args.len());
            self.elaborator.cx.report(
                Diagnostic::new("E0027", span, message, "wrong number of arguments")
                    .related(thread.name.span, "declared here"),
            );
            return;
        }
        let params: Vec<_> = declaration.locals[..declaration.params].to_vec();
        let idle = declaration.control.spots.len() as i64;
        let mut converted = Vec::new();
        for ((value, param), arg) in values.into_iter().zip(&params).zip(args) {
            let what = format!("the argument `{}`", param.name);
            let (at, declared) = (arg.span, Some(param.span));
            let receiver = Receiver { what: &what, value: at, whole: at, declared };
            let value = self.elaborator.convert(value, &param.ty.scalar, &receiver);
            converted.push(value);
        }
        // All arguments are computed before the first parameter is written.
        let converted: Vec<(VarId, Expr)> =
            params.iter().map(|param| param.id).zip(self.hold(converted).into_iter().map(|value| value.expr)).collect();
        let is_free = |copy: u32| Expr::element(counter, Expr::Const(i64::from(copy))).equals(idle);
        let fault = self.elaborator.cx.fault(FaultKind::Start, span, |_| match copies {
            1 => format!("`{}` is already running", name.text),
            _ => format!("all {copies} copies of `{}` are already running", name.text),
        });
        self.push(Op::Check(Expr::any((0..copies).map(is_free).collect()), fault));
        let slot = if copies == 1 {
            Expr::Const(0)
        } else {
            let last = Expr::Const(i64::from(copies) - 1);
            let first = (0..copies.saturating_sub(1))
                .rev()
                .fold(last, |rest, copy| Expr::choose(is_free(copy), Expr::Const(i64::from(copy)), rest));
            let local = self.elaborator.fresh();
            self.push(Op::Let(local, first));
            Expr::Local(local)
        };
        for (variable, value) in converted {
            self.write(variable, slot.clone(), value);
        }
        self.write(counter, slot, Expr::Const(0));
    }

    pub(crate) fn write(&mut self, variable: VarId, index: Expr, value: Expr) {
        let (lo, hi) = {
            let declared = &self.elaborator.cx.variables[variable.index()];
            (declared.lo, declared.hi)
        };
        let element = index.as_const().and_then(|i| u32::try_from(i).ok());
        let (lo, hi) = value.as_const().map_or((lo, hi), |constant| (constant, constant));
        self.elaborator.facts.write(variable, element, lo, hi);
        self.push(Op::Assign(Place { variable, index: Some(index) }, value));
    }

    /// `return`: locals and parameters go back to where they began, so that ended threads are all alike.
    fn end(&mut self) {
        let declaration = &self.elaborator.cx.threads[self.kind];
        let (counter, idle) = (declaration.counter, declaration.control.spots.len() as i64);
        let locals = declaration.locals.iter().enumerate();
        let ids: Vec<(VarId, bool)> =
            locals.flat_map(|(i, l)| l.leaves.iter().map(move |&id| (id, i < declaration.params))).collect();
        for (id, is_param) in ids {
            let variable = &self.elaborator.cx.variables[id.index()];
            let own: u32 = variable.shape[1..].iter().product();
            let (lo, hi, first) = (variable.lo, variable.hi, variable.initial.first().copied().unwrap_or(0));
            let rest = match is_param {
                true if (lo..=hi).contains(&0) => 0,
                true => lo,
                false => first,
            };
            for element in self.copy * own..(self.copy + 1) * own {
                self.write(id, Expr::Const(i64::from(element)), Expr::Const(rest));
            }
        }
        self.write(counter, Expr::Const(i64::from(self.copy)), Expr::Const(idle));
    }
}
