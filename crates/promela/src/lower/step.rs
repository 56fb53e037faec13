//! What a process can do at a place: one fine step for each statement, before those of an `atomic` sequence are joined.

use birk_ir::diagnostic::Fix;
use birk_ir::{BinaryOp, Diagnostic, Expr, FaultKind, Op, Place, Span, VarId};

use super::channel::{Choice, Slot};
use super::value::{Hazard, Lowering, Target, Value};
use crate::flow::{Leaf, Node, Scope};
use crate::sema::{Channel, Group, Scalar, World};
use crate::syntax::ast::{self, ExprKind};

/// One statement of one process, as a guarded step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fine {
    guards: Vec<Expr>,
    wrongs: Vec<Expr>,
    pub(crate) ops: Vec<Op>,
    pub(crate) locals: u32,
    /// Who goes on at once, where it can.
    pub(crate) then: Option<usize>,
    /// Where processes are afterwards; `None` is where a process is gone.
    pub(crate) moves: Vec<(usize, Option<usize>)>,
    /// The partner at a rendezvous, which is the one that may go on.
    pub(crate) partner: Option<Partner>,
    pub(crate) spans: Vec<Span>,
    pub(crate) dstep: Option<usize>,
    /// A lower one goes first.
    rank: usize,
}

/// The process that receives at a rendezvous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partner {
    pub(crate) instance: usize,
    /// Where it waits.
    pub(crate) state: usize,
    pub(crate) span: Span,
}

/// A statement that may receive at a rendezvous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    instance: usize,
    state: usize,
    leaf: Leaf,
}

impl Fine {
    /// When it can be executed.
    pub(crate) fn enabled(&self) -> Expr {
        Expr::any(self.wrongs.clone()).or(Expr::all(self.guards.clone()))
    }

    pub(crate) fn guard(&mut self, condition: Expr) {
        if condition != Expr::TRUE {
            self.guards.push(condition);
        }
    }

    /// Can be executed only where a condition is true.
    fn only_where(&mut self, condition: &Expr) {
        if *condition != Expr::TRUE {
            self.guards.insert(0, condition.clone());
            self.wrongs = self.wrongs.drain(..).map(|wrong| condition.clone().and(wrong)).collect();
        }
    }

    /// What goes wrong in finding out whether it can be executed.
    pub(crate) fn wrong(&mut self, hazards: Vec<Hazard>) {
        for hazard in hazards {
            let when = Expr::all(self.guards.clone()).and(hazard.when);
            if when != Expr::FALSE {
                self.ops.push(Op::Check(when.clone().negate(), hazard.fault));
                self.wrongs.push(when);
            }
        }
    }

    /// What goes wrong in executing it.
    pub(crate) fn check(&mut self, hazards: Vec<Hazard>) {
        for hazard in hazards.into_iter().filter(|hazard| hazard.when != Expr::FALSE) {
            self.ops.push(Op::Check(hazard.when.negate(), hazard.fault));
        }
    }

    pub(crate) fn assign(&mut self, variable: VarId, index: Option<Expr>, value: Expr) {
        self.ops.push(Op::Assign(Place { variable, index }, value));
    }

    pub(crate) fn store(&mut self, target: &Target, value: &Value) {
        self.check(target.hazards.clone());
        self.ops.push(Op::Assign(target.place(), value.stored(target.scalar)));
    }
}

/// Everything that may receive at a rendezvous.
pub(crate) fn receivers(world: &World) -> Vec<Receiver> {
    let mut found = Vec::new();
    for (instance, this) in world.instances.iter().enumerate() {
        let proc = &world.procs[this.proc];
        for &state in &proc.states {
            for leaf in proc.flow.leaves(state) {
                if matches!(proc.flow.elements[leaf.element].node, Node::Receive { keep: false, .. }) {
                    found.push(Receiver { instance, state, leaf });
                }
            }
        }
    }
    found
}

/// The steps of a process at a place, in SPIN's order.
pub(crate) fn steps(world: &mut World, receivers: &[Receiver], instance: usize, state: usize) -> Vec<Fine> {
    let proc = world.instances[instance].proc;
    let mut all: Vec<Fine> = Vec::new();
    for leaf in world.procs[proc].flow.leaves(state) {
        let element = &world.procs[proc].flow.elements[leaf.element];
        let (node, scope, dstep, span) = (element.node.clone(), element.scope.clone(), element.dstep, element.span);
        let mut lowering = Lowering::new(world, Some(instance), &scope);
        let mut found = match node {
            Node::Else => {
                let mut earlier = all.iter().filter(|fine| fine.rank == leaf.rank).collect::<Vec<_>>();
                earlier.retain(|fine| dstep.is_none() || fine.dstep == dstep);
                let none = Expr::any(earlier.into_iter().map(Fine::enabled).collect()).negate();
                let mut fine = Fine::default();
                fine.guard(none);
                vec![fine]
            }
            node => lowering.statement(&node, receivers, span),
        };
        let locals = lowering.locals;
        for fine in &mut found {
            fine.dstep = dstep;
            fine.rank = leaf.rank;
            fine.locals = fine.locals.max(locals);
            fine.spans.insert(0, span);
            if fine.moves.iter().all(|(moved, _)| *moved != instance) {
                fine.moves.push((instance, Some(leaf.target)));
                world.go(instance, leaf.target, state, &mut fine.ops);
            }
            if fine.partner.is_none() && leaf.atomic {
                fine.then = Some(instance);
            }
            if fine.partner.is_some() && dstep.is_some() {
                world.error("E2036", span, "a rendezvous in a `d_step`", "cannot be executed here");
            }
        }
        // A `d_step` takes the first of its options that can be executed.
        if dstep.is_some() {
            let earlier: Vec<Expr> = all.iter().filter(|fine| fine.dstep == dstep).map(Fine::enabled).collect();
            let none = Expr::any(earlier).negate();
            found.iter_mut().for_each(|fine| fine.only_where(&none));
        }
        all.extend(found);
    }
    // Inside a `d_step` waiting is an error.
    if let Some(whole) = world.procs[proc].flow.elements[state].dstep {
        let span = world.procs[proc].flow.elements[state].span;
        let none = Expr::any(all.iter().map(Fine::enabled).collect()).negate();
        if none != Expr::FALSE {
            let fault = world.fault(FaultKind::Assertion, span, "a statement inside a `d_step` cannot be executed");
            let mut fine = Fine { dstep: Some(whole), spans: vec![span], ..Fine::default() };
            fine.guard(none);
            fine.ops.push(Op::Check(Expr::FALSE, fault));
            fine.moves.push((instance, Some(state)));
            all.push(fine);
        }
    }
    // What a sequence is left for goes before its own statements.
    for rank in 1..=all.iter().map(|fine| fine.rank).max().unwrap_or(0) {
        let before = all.iter().filter(|fine| fine.rank < rank).map(Fine::enabled).collect();
        let none = Expr::any(before).negate();
        all.iter_mut().filter(|fine| fine.rank == rank).for_each(|fine| fine.only_where(&none));
    }
    if world.procs[proc].flow.elements[state].dstep.is_none() {
        let provided = world.provided(instance);
        all.iter_mut().for_each(|fine| fine.only_where(&provided));
    }
    all.retain(|fine| fine.enabled() != Expr::FALSE);
    all
}

impl World {
    /// Sets where a process is.
    pub(crate) fn go(&self, instance: usize, target: usize, state: usize, ops: &mut Vec<Op>) {
        let this = &self.instances[instance];
        let position = self.procs[this.proc].position[&target];
        if self.procs[this.proc].position.get(&state) != Some(&position) {
            let place = Place { variable: this.counter, index: Some(Expr::Const(0)) };
            ops.push(Op::Assign(place, Expr::Const(position as i64)));
        }
    }

    /// Where a process may move: its `provided`.
    fn provided(&mut self, instance: usize) -> Expr {
        let Some(condition) = self.procs[self.instances[instance].proc].provided.clone() else { return Expr::TRUE };
        let value = Lowering::new(self, Some(instance), &Scope::default()).value(&condition);
        if !value.hazards.is_empty() {
            self.error("E2033", condition.span, "a `provided` condition cannot go wrong", "may go wrong");
        }
        value.truth()
    }

    /// Whether a process runs.
    pub(crate) fn runs(&self, instance: usize) -> Expr {
        let this = &self.instances[instance];
        let idle = self.procs[this.proc].states.len() as i64;
        Expr::binary(BinaryOp::Ne, Expr::element(this.counter, Expr::Const(0)), Expr::Const(idle))
    }

    /// Everything of a process as it is when it does not run.
    fn clear(&self, instance: usize, ops: &mut Vec<Op>) {
        let mut ids: Vec<VarId> = Vec::new();
        for var in self.instances[instance].vars.iter().filter(|var| var.fixed.is_none()) {
            ids.extend(var.leaves.iter().map(|leaf| leaf.id));
        }
        for &group in &self.instances[instance].groups {
            ids.extend(self.groups[group].contents.iter().chain(&self.groups[group].length));
        }
        for id in ids {
            let variable = &self.variables[id.index()];
            for element in 0..variable.len() {
                let index = (!variable.shape.is_empty()).then_some(Expr::Const(i64::from(element)));
                ops.push(Op::Assign(Place { variable: id, index }, Expr::Const(0)));
            }
        }
    }
}

impl Lowering<'_> {
    fn statement(&mut self, node: &Node, receivers: &[Receiver], span: Span) -> Vec<Fine> {
        let mut fine = Fine::default();
        match node {
            Node::Assign(place, value) => {
                if let ExprKind::Run(name, args) = &value.kind {
                    let target = self.target(place);
                    return self.run(name, args, target.as_ref(), span);
                }
                let value = self.value(value);
                fine.check(value.hazards.clone());
                if &*place.parts[0].0.text == "_" && place.parts.len() == 1 {
                    return vec![fine];
                }
                if let Some(target) = self.target(place) {
                    fine.store(&target, &value);
                }
            }
            Node::Assert(condition) => {
                let value = self.value(condition);
                fine.check(value.hazards.clone());
                let fault = self.world.fault(FaultKind::Assertion, span, "assertion violated");
                if value.truth() != Expr::TRUE {
                    fine.ops.push(Op::Check(value.truth(), fault));
                }
            }
            Node::Wait(condition) => {
                if let ExprKind::Run(name, args) = &condition.kind {
                    return self.run(name, args, None, span);
                }
                let value = self.value(condition);
                fine.wrong(value.hazards.clone());
                fine.guard(value.truth());
            }
            Node::Send { channel, args, sorted } => return self.sends(channel, args, *sorted, receivers, span),
            Node::Receive { channel, args, random, keep } => {
                return self.receives(channel, args, *random, *keep, span);
            }
            Node::End => self.end(&mut fine),
            Node::Skip
            | Node::Print
            | Node::Goto(_)
            | Node::Dot
            | Node::Break
            | Node::Else
            | Node::Choice
            | Node::Atomic
            | Node::DStep
            | Node::Block
            | Node::Unless => {}
        }
        vec![fine]
    }

    /// The process is gone; only the youngest can go.
    fn end(&mut self, fine: &mut Fine) {
        let Some(instance) = self.instance else { return };
        let this = &self.world.instances[instance];
        let running = self.world.running.expect("declared first");
        fine.guard(Expr::Var(running).equals(this.pid + 1));
        let idle = self.world.procs[this.proc].states.len() as i64;
        fine.assign(this.counter, Some(Expr::Const(0)), Expr::Const(idle));
        self.world.clear(instance, &mut fine.ops);
        fine.assign(running, None, Expr::Const(this.pid));
        fine.moves.push((instance, None));
    }

    /// `run P(args)`: a step for each number that the new process may get.
    fn run(&mut self, name: &ast::Name, args: &[ast::Expr], target: Option<&Target>, span: Span) -> Vec<Fine> {
        let Some(proc) = self.world.procs.iter().position(|proc| proc.name.text == name.text) else {
            self.error("E2020", name.span, format!("there is no proctype `{}`", name.text), "not found");
            return Vec::new();
        };
        let values: Vec<Value> = self.message(args);
        let wanted: usize = self.world.procs[proc].flow.locals.iter().filter(|local| local.is_param).count();
        if wanted != args.len() {
            let message = format!("`{}` has {wanted} parameters, and {} arguments are given", name.text, args.len());
            self.error("E2025", span, message, "here");
            return Vec::new();
        }
        let running = self.world.running.expect("declared first");
        let mut all = Vec::new();
        let mut possible = Vec::new();
        let instances = self.world.procs[proc].instances.clone();
        for new in instances {
            if Some(new) == self.instance {
                continue;
            }
            let pid = self.world.instances[new].pid;
            let mut fine = Fine::default();
            fine.guard(Expr::Var(running).equals(pid));
            possible.push(Expr::Var(running).equals(pid));
            for value in &values {
                fine.check(value.hazards.clone());
            }
            let mut ops = self.start(new, &values);
            fine.ops.append(&mut ops);
            fine.assign(running, None, Expr::Const(pid + 1));
            if let Some(target) = target {
                fine.store(target, &Value::constant(pid));
            }
            all.push(fine);
        }
        let mut none = Fine::default();
        none.guard(Expr::any(possible).negate());
        let most = self.world.most;
        let message = format!("more than {most} processes: raise the limit with `-D _processes=N`");
        let fault = self.world.fault(FaultKind::Start, span, message);
        none.ops.push(Op::Check(Expr::FALSE, fault));
        all.push(none);
        all
    }

    /// What a new process begins with.
    pub(crate) fn start(&mut self, new: usize, args: &[Value]) -> Vec<Op> {
        let mut fine = Fine::default();
        let proc = self.world.instances[new].proc;
        let locals = self.world.procs[proc].flow.locals.clone();
        let mut given = args.iter();
        for (local, var) in locals.iter().zip(self.world.instances[new].vars.clone()) {
            let Some(scope) = &local.init else { continue };
            if var.fixed.is_some() {
                continue;
            }
            if local.is_param {
                for leaf in &var.leaves {
                    let Some(value) = given.next() else { break };
                    let place = Place { variable: leaf.id, index: Some(Expr::Const(0)) };
                    fine.ops.push(Op::Assign(place, value.stored(leaf.scalar)));
                }
                continue;
            }
            let mut own = Lowering::new(self.world, Some(new), scope);
            own.locals = self.locals;
            own.initial(&local.decl, &var, &mut fine);
        }
        let start = self.world.procs[proc].flow.start;
        let position = self.world.procs[proc].position[&start] as i64;
        let counter = self.world.instances[new].counter;
        fine.assign(counter, Some(Expr::Const(0)), Expr::Const(position));
        fine.ops
    }

    /// The value that a variable begins with.
    pub(crate) fn initial(&mut self, decl: &ast::Decl, var: &crate::sema::Var, fine: &mut Fine) {
        for leaf in &var.leaves {
            let length = self.world.variables[leaf.id.index()].len();
            let is_array = !self.world.variables[leaf.id.index()].shape.is_empty();
            let mut set = |element: u32, value: Expr| {
                if value != Expr::Const(0) {
                    let index = is_array.then_some(Expr::Const(i64::from(element)));
                    fine.ops.push(Op::Assign(Place { variable: leaf.id, index }, value));
                }
            };
            if let Some(group) = self.world.chan_groups.get(&leaf.id) {
                let first = self.world.groups[*group].first;
                (0..length).for_each(|element| set(element, Expr::Const(first + i64::from(element))));
                continue;
            }
            match &decl.init {
                ast::Init::None | ast::Init::Chan { .. } => {}
                ast::Init::Value(value) => {
                    let value = self.value(value);
                    (0..length).for_each(|element| set(element, value.stored(leaf.scalar)));
                }
                ast::Init::List(values) => {
                    for (element, value) in (0..length).zip(values) {
                        let value = self.value(value);
                        set(element, value.stored(leaf.scalar));
                    }
                }
            }
        }
    }

    fn sends(
        &mut self,
        channel: &ast::Place,
        args: &[ast::Expr],
        sorted: bool,
        receivers: &[Receiver],
        span: Span,
    ) -> Vec<Fine> {
        let Some((channel, hazards)) = self.channel(channel) else { return Vec::new() };
        let values = self.message(args);
        let (choices, none) = self.choices(&channel);
        let mut all = Vec::new();
        for choice in &choices {
            let group = self.world.groups[choice.group].clone();
            let Ok(other) = self.other_number(&channel, &group, values.len(), span) else {
                if let (Some(last), Some(end)) = (args.get(group.fields.len().wrapping_sub(1)), args.last())
                    && let Some(said) = self.world.diagnostics.last_mut().filter(|_| args.len() == values.len())
                {
                    let surplus = Span { start: last.span.end, ..end.span };
                    said.help = Some("remove what is too much".into());
                    said.fix = Some(Fix::proposed(surplus, ""));
                }
                continue;
            };
            let mut values = values.clone();
            values.resize(group.fields.len(), Value::constant(0));
            let mut fine = Fine::default();
            fine.wrong(hazards.clone());
            fine.guard(choice.when.clone());
            let mut found = Vec::new();
            if group.capacity > 0 {
                self.send(choice, &values, sorted, &mut fine);
                found.push(fine);
            } else if other.is_none() || matches!(channel, Channel::Fixed { .. }) {
                let own = self.instance;
                for receiver in receivers.iter().filter(|receiver| Some(receiver.instance) != own) {
                    found.extend(self.meet(fine.clone(), choice, &values, receiver));
                }
            }
            found.iter_mut().for_each(|fine| fine.ops.splice(0..0, other.clone()).for_each(drop));
            all.extend(found);
        }
        all.extend(self.missing(none, span));
        all
    }

    /// What goes wrong with a message that has another number of values than its channel has fields. Where the channel is known
    /// and has no room for them, that is said before.
    fn other_number(&mut self, channel: &Channel, group: &Group, given: usize, span: Span) -> Result<Option<Op>, ()> {
        let fields = group.fields.len();
        if given == fields {
            return Ok(None);
        }
        let message = format!("a message of this channel has {fields} fields, not {given}");
        if matches!(channel, Channel::Fixed { .. }) {
            if given > fields {
                self.error("E2025", span, message, "another number");
                return Err(());
            }
            let label = "a runtime error, when it is executed";
            self.world.diagnostics.push(Diagnostic::new("W2002", span, message.clone(), label));
        }
        let fault = self.world.fault(FaultKind::Range, span, message);
        Ok(Some(Op::Check(Expr::FALSE, fault)))
    }

    /// Using a channel that does not exist.
    fn missing(&mut self, none: Expr, span: Span) -> Option<Fine> {
        if none == Expr::FALSE {
            return None;
        }
        let message = "there is no such channel";
        let fault = self.world.fault(FaultKind::Range, span, message);
        let mut fine = Fine::default();
        fine.guard(none);
        fine.ops.push(Op::Check(Expr::FALSE, fault));
        Some(fine)
    }

    /// A rendezvous with one receiver.
    fn meet(&mut self, mut fine: Fine, choice: &Choice, values: &[Value], receiver: &Receiver) -> Option<Fine> {
        let group = self.world.groups[choice.group].clone();
        let proc = self.world.instances[receiver.instance].proc;
        let element = self.world.procs[proc].flow.elements[receiver.leaf.element].clone();
        let Node::Receive { channel, args, .. } = &element.node else { return None };
        let mut other = Lowering::new(self.world, Some(receiver.instance), &element.scope);
        other.locals = self.locals;
        let (theirs, hazards) = other.channel(channel)?;
        let same = match theirs {
            Channel::Fixed { group, .. } if group != choice.group => return None,
            Channel::Fixed { index, .. } => Expr::binary(BinaryOp::Eq, index, choice.index.clone()),
            Channel::Number(number) => {
                let own = Expr::binary(BinaryOp::Add, Expr::Const(group.first), choice.index.clone());
                Expr::binary(BinaryOp::Eq, number, own)
            }
        };
        let mut slots: Vec<Slot> = other.slots(args, false);
        let theirs = other.channel(channel)?.0;
        let wrong = other.other_number(&theirs, &group, slots.len(), element.span).ok()?;
        if wrong.is_some() && matches!(theirs, Channel::Number(_)) {
            return None;
        }
        fine.ops.extend(wrong);
        slots.resize(values.len(), Slot::Ignore);
        fine.guard(other.world.is_at(receiver.instance, receiver.state));
        fine.guard(other.world.provided(receiver.instance));
        fine.wrong(hazards);
        fine.guard(same);
        for value in values {
            fine.wrong(value.hazards.clone());
        }
        let typed: Vec<(Value, Scalar)> = values.iter().cloned().zip(group.fields.iter().copied()).collect();
        let fields: Vec<Expr> = typed.iter().map(|(value, scalar)| value.stored(*scalar)).collect();
        for is_send in [true, false] {
            other.observe(is_send, choice, &fields, &mut fine);
        }
        other.hand_over(&typed, &slots, &mut fine);
        let locals = other.locals;
        self.locals = locals;
        self.world.go(receiver.instance, receiver.leaf.target, receiver.state, &mut fine.ops);
        fine.moves.push((receiver.instance, Some(receiver.leaf.target)));
        fine.partner = Some(Partner { instance: receiver.instance, state: receiver.state, span: element.span });
        fine.then = receiver.leaf.atomic.then_some(receiver.instance);
        fine.spans.push(element.span);
        fine.locals = locals;
        Some(fine)
    }

    fn receives(
        &mut self,
        channel: &ast::Place,
        args: &[ast::Pattern],
        random: bool,
        keep: bool,
        span: Span,
    ) -> Vec<Fine> {
        let Some((channel, hazards)) = self.channel(channel) else { return Vec::new() };
        let given = self.slots(args, false);
        let (choices, none) = self.choices(&channel);
        let mut all = Vec::new();
        for choice in &choices {
            let group = self.world.groups[choice.group].clone();
            let Ok(other) = self.other_number(&channel, &group, given.len(), span) else { continue };
            let mut slots = given.clone();
            slots.resize(group.fields.len(), Slot::Ignore);
            let places = if random { group.capacity } else { group.capacity.min(1) };
            let mut earlier = Vec::new();
            for place in 0..places {
                let mut fine = Fine::default();
                fine.wrong(hazards.clone());
                fine.guard(choice.when.clone());
                fine.guard(Expr::any(earlier.clone()).negate());
                let before = fine.guards.len();
                self.receive(choice, place, &slots, keep, &mut fine);
                earlier.push(Expr::all(fine.guards[before..].to_vec()));
                fine.ops.splice(0..0, other.clone()).for_each(drop);
                all.push(fine);
            }
        }
        all.extend(self.missing(none, span));
        all
    }
}
