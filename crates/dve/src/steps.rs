//! Transitions of processes as transitions of a program: one step of DVE is one step of Birk.
//!
//! What happens in a step happens in DiVinE's order: a value is transmitted first, then the receiver takes its next state and its
//! effects, then the sender. While a process is in a committed state, only processes in committed states move.

use std::collections::{BTreeSet, HashMap};

use birk_ir::{
    BinaryOp, Diagnostic, Expr as Total, LocalId, Location, LocationId, Op, Place, Receiver, Span, Thread, ThreadId,
    ThreadKind, ThreadRole, Transition,
};

use crate::ast::{self, Effect, Expr, ExprKind, Sync};
use crate::context::{Buffer, Context, Symbol};
use crate::expression::{self, Hazard, Located, Value};

/// More transitions than this are surely not intended.
const MAX_TRANSITIONS: usize = 1 << 18;

/// The moving parts of a program.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) kinds: Vec<ThreadKind>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) transitions: Vec<Transition>,
}

/// A transition with what its names stand for.
#[derive(Clone, Copy)]
struct Edge<'a> {
    process: usize,
    from: usize,
    to: usize,
    written: &'a ast::Transition,
    channel: Option<usize>,
}

impl Edge<'_> {
    fn sends(&self) -> Option<bool> {
        self.written.sync.as_ref().map(|sync| sync.sends)
    }
}

/// Lowers all processes but the property.
pub(crate) fn lower(cx: &mut Context<'_>) -> Steps {
    let edges = edges(cx);
    check_values(cx, &edges);
    let mut steps = Steps::default();
    for edge in &edges {
        // Everything is checked once, whether or not somebody ever answers.
        Step::new(cx).alone(edge);
    }
    if cx.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning()) {
        return steps;
    }
    let mut receivers: HashMap<usize, Vec<&Edge<'_>>> = HashMap::new();
    for edge in edges.iter().filter(|edge| edge.sends() == Some(false)) {
        if let Some(channel) = edge.channel.filter(|channel| cx.channels[*channel].buffer.is_none()) {
            receivers.entry(channel).or_default().push(edge);
        }
    }
    warn_of_nobody(cx, &edges);
    let mut at: HashMap<(usize, usize), Vec<&Edge<'_>>> = HashMap::new();
    for edge in &edges {
        at.entry((edge.process, edge.from)).or_default().push(edge);
    }
    for process in cx.system_processes() {
        lower_process(cx, process, &at, &receivers, &mut steps);
    }
    steps
}

/// All transitions, of all processes but the property.
fn edges<'a>(cx: &mut Context<'a>) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    let system = cx.system;
    for (process, declared) in system.processes.iter().enumerate() {
        if Some(process) == cx.property {
            continue;
        }
        for written in &declared.transitions {
            let from = cx.state(process, &written.from);
            let to = cx.state(process, &written.to);
            let channel = written.sync.as_ref().and_then(|sync| channel(cx, process, sync));
            // Whatever is not known was reported: nothing is lowered then.
            edges.push(Edge { process, from: from.unwrap_or(0), to: to.unwrap_or(0), written, channel });
        }
    }
    edges
}

fn channel(cx: &mut Context<'_>, process: usize, sync: &Sync) -> Option<usize> {
    match cx.lookup(Some(process), &sync.channel) {
        Symbol::Channel(channel) => Some(channel),
        Symbol::Error => None,
        other => {
            cx.report_kind(&sync.channel, &other, "a channel");
            None
        }
    }
}

/// As many values are sent as received: as many as the channel has types, or as its first use has.
fn check_values(cx: &mut Context<'_>, edges: &[Edge<'_>]) {
    let mut first: HashMap<usize, (usize, Span)> = HashMap::new();
    for edge in edges {
        let (Some(sync), Some(channel)) = (&edge.written.sync, edge.channel) else { continue };
        let found = sync.values.len();
        let (wanted, because) = match &cx.channels[channel].types {
            Some(types) => (types.len(), None),
            None => {
                let (wanted, span) = *first.entry(channel).or_insert((found, sync.span));
                (wanted, Some(span))
            }
        };
        if found == wanted {
            continue;
        }
        let count = |number: usize| format!("{number} value{}", if number == 1 { "" } else { "s" });
        let message = format!("`{}` transmits {}, not {}", sync.channel.text, count(wanted), count(found));
        let mut diagnostic = Diagnostic::new("E1011", sync.span, message, format!("{} here", count(found)));
        diagnostic = match because {
            Some(span) => diagnostic.related(span, format!("{} here", count(wanted))),
            None => diagnostic.help("the types of the channel say how many values it transmits"),
        };
        cx.report(with_values(cx, diagnostic, edge.process, sync, wanted));
    }
}

/// Proposes to leave out the values that are too many; where some are missing, to send 0, or to receive into the only
/// variable of the process.
fn with_values(cx: &Context<'_>, diagnostic: Diagnostic, process: usize, sync: &Sync, wanted: usize) -> Diagnostic {
    let filling = match (sync.sends, &cx.system.processes[process].variables[..]) {
        (true, _) => Some("0".to_owned()),
        (false, [only]) if only.length.is_none() && !only.is_const => Some(only.name.text.clone()),
        (false, _) => None,
    };
    let mut values: Vec<String> =
        sync.values.iter().take(wanted).map(|value| cx.source(value.span).to_owned()).collect();
    match filling {
        Some(filling) => values.resize(wanted, filling),
        None if values.len() < wanted => return diagnostic,
        None => {}
    }
    let sign = if sync.sends { '!' } else { '?' };
    let values = match wanted {
        0 | 1 => values.concat(),
        _ => format!("{{{}}}", values.join(", ")),
    };
    diagnostic.propose(sync.span, format!("{}{sign}{values}", sync.channel.text))
}

/// A rendezvous needs somebody on the other side.
fn warn_of_nobody(cx: &mut Context<'_>, edges: &[Edge<'_>]) {
    let mut users: HashMap<(usize, bool), BTreeSet<usize>> = HashMap::new();
    for edge in edges {
        if let (Some(sends), Some(channel)) = (edge.sends(), edge.channel) {
            users.entry((channel, sends)).or_default().insert(edge.process);
        }
    }
    for edge in edges {
        let (Some(sync), Some(channel)) = (&edge.written.sync, edge.channel) else { continue };
        let others = users.get(&(channel, !sync.sends)).into_iter().flatten();
        let is_answered = others.take(2).any(|other| *other != edge.process);
        if cx.channels[channel].buffer.is_some() || is_answered {
            continue;
        }
        let what = if sync.sends { "receives from" } else { "sends to" };
        let message = format!("this transition is never taken: no other process {what} `{}`", sync.channel.text);
        let help = "a rendezvous needs two processes, one with `!` and one with `?`";
        cx.report(Diagnostic::new("W1004", sync.span, message, "nobody answers").help(help));
    }
}

fn lower_process<'a>(
    cx: &mut Context<'a>,
    process: usize,
    edges: &HashMap<(usize, usize), Vec<&Edge<'a>>>,
    receivers: &HashMap<usize, Vec<&Edge<'a>>>,
    steps: &mut Steps,
) {
    let declared = &cx.system.processes[process];
    let Some(counter) = cx.processes[process].counter else { return };
    let id = ThreadId::new(steps.threads.len());
    let mut at = Vec::new();
    for from in 0..declared.states.len() {
        let start = steps.transitions.len();
        for &edge in edges.get(&(process, from)).into_iter().flatten() {
            let is_rendezvous = edge.channel.is_some_and(|channel| cx.channels[channel].buffer.is_none());
            let partners: Vec<Option<&Edge<'a>>> = match (is_rendezvous, edge.sends(), edge.channel) {
                (true, Some(true), Some(channel)) => {
                    let others = receivers.get(&channel).into_iter().flatten();
                    others.filter(|other| other.process != process).map(|other| Some(*other)).collect()
                }
                // Whoever receives moves with the sender.
                (true, ..) => Vec::new(),
                _ => vec![None],
            };
            for partner in partners {
                let ordinal = (steps.transitions.len() - start) as u32;
                let Some(step) = Step::new(cx).taken(edge, partner) else { continue };
                steps.transitions.push(step.finish(edge, partner, id, ordinal));
            }
            if steps.transitions.len() > MAX_TRANSITIONS {
                let message = format!("this system has more than {MAX_TRANSITIONS} transitions");
                let help = "each sender and each receiver at a rendezvous are one: use fewer of them at one channel";
                cx.report(Diagnostic::new("E1006", edge.written.span, message, "too many").help(help));
                return;
            }
        }
        at.push((start as u32, steps.transitions.len() as u32));
    }
    let accepting = |name: &str| declared.accepting.iter().any(|other| other.text == name);
    let locations = declared.states.iter().map(|state| Location {
        name: state.text.clone(),
        span: state.span,
        end: false,
        accept: accepting(&state.text),
        progress: false,
    });
    steps.threads.push(Thread { name: declared.name.text.clone(), kind: steps.kinds.len(), copy: 0, at });
    steps.kinds.push(ThreadKind {
        name: declared.name.text.clone(),
        role: ThreadRole::Thread,
        span: declared.name.span,
        locations: locations.collect(),
        counter,
        copies: 1,
        indexed: false,
        fair: false,
        crashed: None,
    });
}

/// A step on its way to a transition.
struct Step<'c, 'a> {
    cx: &'c mut Context<'a>,
    guard: Vec<Total>,
    /// When the guard goes wrong.
    wrong: Vec<Total>,
    ops: Vec<Op>,
    locals: u32,
}

impl<'c, 'a> Step<'c, 'a> {
    fn new(cx: &'c mut Context<'a>) -> Self {
        Self { cx, guard: Vec::new(), wrong: Vec::new(), ops: Vec::new(), locals: 0 }
    }

    /// The transition of a process with, at a rendezvous, that of another; absent where committed states exclude it.
    fn taken(mut self, edge: &Edge<'a>, partner: Option<&Edge<'a>>) -> Option<Self> {
        if let Some(partner) = partner {
            let counter = self.cx.processes[partner.process].counter?;
            self.guard.push(Total::element(counter, Total::Const(0)).equals(partner.from as i64));
        }
        let is_committed = |edge: &Edge<'_>| self.cx.processes[edge.process].committed[edge.from];
        match (is_committed(edge), partner.map(is_committed)) {
            (true, None | Some(true)) => {}
            (false, None | Some(false)) => {
                let somebody = committed(self.cx);
                self.guard.push(somebody.negate());
            }
            _ => return None,
        }
        self.require(edge);
        if let Some(partner) = partner {
            self.require(partner);
            self.hand_over(edge, partner);
            self.go(partner);
        } else if let Some(buffer) = edge.channel.and_then(|channel| self.cx.channels[channel].buffer.clone()) {
            self.through(edge, &buffer);
        }
        self.go(edge);
        Some(self)
    }

    /// For its errors only.
    fn alone(mut self, edge: &Edge<'a>) {
        self.require(edge);
        for value in edge.written.sync.iter().flat_map(|sync| &sync.values) {
            match edge.sends() {
                Some(false) => _ = self.place(edge.process, value),
                _ => _ = expression::value(self.cx, Some(edge.process), value),
            }
        }
        self.go(edge);
    }

    fn finish(self, edge: &Edge<'_>, partner: Option<&Edge<'_>>, thread: ThreadId, ordinal: u32) -> Transition {
        let written = edge.written;
        let receiver = partner.map(|partner| Receiver {
            thread: ThreadId::new(
                self.cx.system_processes().iter().take_while(|&&other| other != partner.process).count(),
            ),
            location: LocationId::new(partner.from),
            target: Some(LocationId::new(partner.to)),
            span: partner.written.span,
            guard_span: partner.written.guard.as_ref().map(|guard| guard.span),
        });
        let own = written.sync.iter().map(|sync| sync.span).chain(written.effects.iter().map(|effect| effect.span));
        Transition {
            thread,
            location: LocationId::new(edge.from),
            ordinal,
            target: Some(LocationId::new(edge.to)),
            span: written.span,
            guard_span: written.guard.as_ref().map(|guard| guard.span),
            parts: own.chain(partner.map(|partner| partner.written.span)).collect(),
            guard: Total::any(self.wrong).or(Total::all(self.guard)),
            ops: self.ops,
            locals: self.locals,
            fair: None,
            then: None,
            receiver,
        }
    }

    /// The guard of a transition.
    fn require(&mut self, edge: &Edge<'a>) {
        let Some(guard) = &edge.written.guard else { return };
        let value = expression::value(self.cx, Some(edge.process), guard).truth();
        for hazard in value.hazards {
            let when = Total::all(self.guard.clone()).and(hazard.when);
            if when != Total::FALSE {
                self.ops.push(Op::Check(when.clone().negate(), hazard.fault));
                self.wrong.push(when);
            }
        }
        self.guard.push(value.expr);
    }

    fn check(&mut self, hazards: Vec<Hazard>) {
        for hazard in hazards.into_iter().filter(|hazard| hazard.when != Total::FALSE) {
            self.ops.push(Op::Check(hazard.when.negate(), hazard.fault));
        }
    }

    /// Values that are transmitted, as they were before the step; `types` are those of the channel.
    fn values(&mut self, edge: &Edge<'a>, sync: &Sync) -> Vec<Value> {
        let types = edge.channel.and_then(|channel| self.cx.channels[channel].types.clone());
        let mut values = Vec::new();
        for (number, written) in sync.values.iter().enumerate() {
            let mut value = expression::value(self.cx, Some(edge.process), written);
            if let Some(ty) = types.as_ref().and_then(|types| types.get(number)) {
                value = value.wrapped(ty.range());
            }
            let hazards = std::mem::take(&mut value.hazards);
            self.check(hazards);
            if sync.values.len() > 1 {
                let local = LocalId(self.locals);
                self.locals += 1;
                self.ops.push(Op::Let(local, std::mem::replace(&mut value.expr, Total::Local(local))));
            }
            values.push(value);
        }
        values
    }

    fn hand_over(&mut self, sender: &Edge<'a>, receiver: &Edge<'a>) {
        let (Some(sent), Some(received)) = (&sender.written.sync, &receiver.written.sync) else { return };
        let values = self.values(sender, sent);
        for (value, place) in values.into_iter().zip(&received.values) {
            self.assign(receiver.process, place, value);
        }
    }

    /// Through a channel that holds messages.
    fn through(&mut self, edge: &Edge<'a>, buffer: &Buffer) {
        let Some(sync) = &edge.written.sync else { return };
        let length = Total::Var(buffer.length);
        let whole = |variable| Place { variable, index: None };
        if sync.sends {
            self.guard.push(Total::binary(BinaryOp::Lt, length.clone(), Total::Const(buffer.capacity)));
            let values = self.values(edge, sync);
            for (value, &variable) in values.into_iter().zip(&buffer.contents) {
                self.ops.push(Op::Assign(Place { variable, index: Some(length.clone()) }, value.expr));
            }
            let more = Total::binary(BinaryOp::Add, length, Total::Const(1));
            self.ops.push(Op::Assign(whole(buffer.length), more));
            return;
        }
        self.guard.push(Total::binary(BinaryOp::Gt, length.clone(), Total::Const(0)));
        for (place, &variable) in sync.values.iter().zip(&buffer.contents) {
            let declared = &self.cx.variables[variable.index()];
            let range = (declared.lo, declared.hi);
            let expr = Total::element(variable, Total::Const(0));
            self.assign(edge.process, place, Value { expr, range, hazards: Vec::new() });
        }
        for &variable in &buffer.contents {
            for at in 0..buffer.capacity {
                let is_last = at + 1 == buffer.capacity;
                let next = if is_last { Total::Const(0) } else { Total::element(variable, Total::Const(at + 1)) };
                self.ops.push(Op::Assign(Place { variable, index: Some(Total::Const(at)) }, next));
            }
        }
        let fewer = Total::binary(BinaryOp::Sub, length, Total::Const(1));
        self.ops.push(Op::Assign(whole(buffer.length), fewer));
    }

    /// The next state of a process, then its effects.
    fn go(&mut self, edge: &Edge<'a>) {
        if let Some(variable) = self.cx.processes[edge.process].counter.filter(|_| edge.from != edge.to) {
            let place = Place { variable, index: Some(Total::Const(0)) };
            self.ops.push(Op::Assign(place, Total::Const(edge.to as i64)));
        }
        for Effect { place, value, .. } in &edge.written.effects {
            let value = expression::value(self.cx, Some(edge.process), value);
            self.assign(edge.process, place, value);
        }
    }

    fn assign(&mut self, process: usize, place: &Expr, mut value: Value) {
        let hazards = std::mem::take(&mut value.hazards);
        self.check(hazards);
        let Some(located) = self.place(process, place) else { return };
        self.check(located.hazards);
        let value = value.wrapped(located.range);
        let place = Place { variable: located.variable, index: located.index };
        self.ops.push(Op::Assign(place, value.expr));
    }

    /// What an expression stands for that something is assigned to.
    fn place(&mut self, process: usize, place: &Expr) -> Option<Located> {
        let refused = |what: String| {
            let help = "only a variable or an element of an array can be assigned to";
            Diagnostic::new("E1007", place.span, what, "not a variable").help(help)
        };
        let text = self.cx.source(place.span);
        let located = match &place.kind {
            ExprKind::Variable(None, name, index) => {
                let known = self.cx.diagnostics.len();
                let located = expression::located(self.cx, (Some(process), Some(process)), name, index.as_deref());
                if located.is_err() && self.cx.diagnostics.len() == known {
                    let is_wrong = matches!(self.cx.lookup(Some(process), name), Symbol::Error);
                    if !is_wrong {
                        self.cx.report(refused(format!("`{text}` is constant")));
                    }
                }
                located.ok()
            }
            ExprKind::Error => None,
            ExprKind::Variable(Some(owner), ..) => {
                let what = format!("`{text}` is a variable of `{}`, which other processes only read", owner.text);
                self.cx.report(refused(what));
                None
            }
            _ => {
                self.cx.report(refused(format!("`{text}` is a value")));
                None
            }
        };
        if located.as_ref().is_some_and(|located| located.is_const) {
            self.cx.report(refused(format!("`{text}` is constant")));
            return None;
        }
        located
    }
}

/// Whether some process is in a committed state.
fn committed(cx: &Context<'_>) -> Total {
    let mut any = Vec::new();
    for process in &cx.processes {
        let Some(counter) = process.counter else { continue };
        let states = process.committed.iter().enumerate().filter(|(_, is_committed)| **is_committed);
        any.extend(states.map(|(state, _)| Total::element(counter, Total::Const(0)).equals(state as i64)));
    }
    Total::any(any)
}
