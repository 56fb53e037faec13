//! `trace` and `notrace`: what they describe, as an automaton, and the messages that it is told.

use std::collections::{BTreeSet, HashMap};

use birk_ir::{Diagnostic, Expr, FaultKind, Location, Span, ThreadKind, ThreadRole, VarRole};

use super::channel::Choice;
use super::step::Fine;
use super::value::Lowering;
use crate::flow::{Element, Flow, Node, Scope};
use crate::sema::{Channel, Kind, Scalar, World};
use crate::syntax::ast::{self, ExprKind, Pattern};
use crate::watch::{Event, Message, Watch};

/// Makes the automaton of a flow; `names` are its places, as they are shown.
pub(crate) fn declare(world: &mut World, trace: &ast::Claim, flow: &Flow, names: Vec<String>) -> ThreadKind {
    let states = flow.states();
    let number: HashMap<usize, i64> = states.iter().enumerate().map(|(at, state)| (*state, at as i64)).collect();
    let mut events = Vec::new();
    let mut never: BTreeSet<usize> = (0..flow.elements.len()).collect();
    let mut locations = Vec::new();
    for (&state, name) in states.iter().zip(names) {
        let [is_end, accept, progress] = flow.marks[state];
        if accept || progress {
            let message = format!("labels of acceptance and progress have no meaning in a `{}`", trace.name.text);
            let help = "leave the label out, or ask for it in an `ltl` property";
            refuse(world, flow.elements[state].span, message, "labelled", help);
        }
        let end = is_end || matches!(flow.elements[state].node, Node::End);
        locations.push(Location { name, span: flow.elements[state].span, end, accept: false, progress: false });
        for leaf in flow.leaves(state) {
            let element = &flow.elements[leaf.element];
            if !matches!(element.node, Node::End) {
                let step = Some((number[&state], number[&leaf.target]));
                events.extend(event(world, element).map(|event| Event { step, ..event }));
                never.remove(&leaf.element);
            }
        }
    }
    never.retain(|element| matches!(flow.elements[*element].node, Node::Send { .. } | Node::Receive { .. }));
    events.extend(never.iter().filter_map(|unreached| event(world, &flow.elements[*unreached])));
    // A loop without an end has no place for what has gone beyond it.
    let is_last = |state: &usize| matches!(flow.elements[*state].node, Node::End);
    let end = states.iter().position(is_last).unwrap_or_else(|| {
        let (name, span) = ("end".into(), trace.name.span);
        locations.push(Location { name, span, end: true, accept: false, progress: false });
        locations.len() - 1
    });
    let (name, span) = (trace.name.text.to_string(), trace.name.span);
    let scalar = Scalar { lo: 0, hi: locations.len() as i64, kind: Kind::Number };
    let role = VarRole::Counter(world.instances.len());
    let counter = world.variable(&format!("{name}@"), role, scalar, vec![1], span);
    let is_required = &*trace.name.text == "trace";
    let message =
        if is_required { "no event of the `trace` matches this message" } else { "the `notrace` matched to its end" };
    let wrong = world.fault(FaultKind::Assertion, trace.name.span, message);
    let message = format!("two events of the `{}` match this message", trace.name.text);
    let ambiguous = world.fault(FaultKind::Assertion, trace.name.span, message);
    world.watch = Some(Watch { counter, is_required, events, end: end as i64, wrong, ambiguous });
    ThreadKind {
        name,
        role: ThreadRole::Thread,
        span,
        locations,
        counter,
        copies: 1,
        indexed: false,
        fair: false,
        crashed: None,
    }
}

fn refuse(world: &mut World, span: Span, message: impl Into<String>, label: &str, help: &str) {
    let refused = Diagnostic::new("E2034", span, message, label);
    world.diagnostics.push(Diagnostic { help: Some(help.into()), ..refused });
}

/// What a statement of a trace describes; where it leads from and to is not known here.
fn event(world: &mut World, element: &Element) -> Option<Event> {
    let mut lowering = Lowering::new(world, None, &element.scope);
    lowering.is_property = true;
    lowering.event(&element.node, element.span)
}

impl Lowering<'_> {
    /// Moves what watches with a message, before the step changes anything that its fields depend on.
    pub(crate) fn observe(&self, is_send: bool, channel: &Choice, fields: &[Expr], fine: &mut Fine) {
        if let Some(watch) = &self.world.watch {
            let (group, index) = (channel.group, &channel.index);
            let first = self.world.groups[group].first;
            fine.ops.extend(watch.ops(&Message { is_send, group, first, index, fields }));
        }
    }

    fn event(&mut self, node: &Node, span: Span) -> Option<Event> {
        let (is_send, place, fields) = match node {
            Node::Send { channel, args, sorted: false } => {
                (true, channel, args.iter().map(|arg| self.sent(arg)).collect::<Vec<_>>())
            }
            Node::Receive { channel, args, random: false, keep: false } => {
                (false, channel, args.iter().map(|arg| self.received(arg)).collect())
            }
            _ => {
                let message = "a `trace` consists of plain sends and receives, and of choices among them";
                refuse(self.world, span, message, "describes no message", "ask for conditions in an `ltl` property");
                return None;
            }
        };
        let (channel, hazards) = self.channel(place)?;
        if !hazards.is_empty() {
            let message = "a `trace` names its channels without what may go wrong";
            refuse(self.world, place.span, message, "may go wrong", "write a constant index");
        }
        if let Channel::Fixed { group, .. } = channel {
            let known = self.world.groups[group].fields.len();
            if fields.len() > known {
                let message = format!("a message of this channel has {known} fields, not {}", fields.len());
                self.error("E2025", span, message, "another number");
            }
        }
        Some(Event { step: None, is_send, channel, fields })
    }

    fn sent(&mut self, arg: &ast::Expr) -> Option<Expr> {
        match &arg.kind {
            ExprKind::Place(place) => self.named(place, "write `_`"),
            _ => self.fixed(arg),
        }
    }

    fn received(&mut self, arg: &Pattern) -> Option<Expr> {
        match arg {
            Pattern::Const(value) => Some(Expr::Const(*value)),
            Pattern::Eval(value) => self.fixed(value),
            Pattern::Place(place) => self.named(place, "write `_`, or `eval(…)` around the variable"),
        }
    }

    /// A name is that of an `mtype`, or `_`.
    fn named(&mut self, place: &ast::Place, help: &str) -> Option<Expr> {
        let name = &place.parts[0].0;
        if place.parts.len() == 1 && &*name.text == "_" {
            return None;
        }
        let is_declared = self.world.find(None, &Scope::default(), &name.text).is_some();
        if let (false, Some(value)) = (is_declared, self.world.mtypes.get(&name.text)) {
            return Some(Expr::Const(*value));
        }
        let message = "a `trace` gives the value of a field, or `_`";
        refuse(self.world, place.span, message, "a variable", help);
        None
    }

    fn fixed(&mut self, value: &ast::Expr) -> Option<Expr> {
        let given = self.value(value);
        if !given.hazards.is_empty() {
            let message = "a `trace` compares fields with what cannot go wrong";
            refuse(self.world, value.span, message, "may go wrong", "write a constant, or `_`");
        }
        Some(given.expr)
    }
}
