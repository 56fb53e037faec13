//! Channels: questions, sends and receives. A rendezvous is one step of the sender, with the receiver's in it.

use birk_ir::{BinaryOp, Expr, FaultKind, LocalId, Op, Span};

use super::step::Fine;
use super::value::{Hazard, Lowering, Target, Value};
use crate::sema::{Channel, Group, Scalar};
use crate::syntax::ast::{self, Pattern, Place};

/// What a receive does with a field of a message.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Compare(Value),
    Store(Target),
    Ignore,
}

/// A declaration of channels that may be meant: when, and which of them.
pub(crate) struct Choice {
    pub(crate) group: usize,
    pub(crate) when: Expr,
    pub(crate) index: Expr,
}

impl Lowering<'_> {
    /// The channels that may be meant, and whether none of them is.
    pub(crate) fn choices(&self, channel: &Channel) -> (Vec<Choice>, Expr) {
        match channel {
            Channel::Fixed { group, index } => {
                (vec![Choice { group: *group, when: Expr::TRUE, index: index.clone() }], Expr::FALSE)
            }
            Channel::Number(number) => {
                let mut all = Vec::new();
                let mut some = Vec::new();
                for (at, group) in self.world.groups.iter().enumerate() {
                    let last = group.first + i64::from(group.count) - 1;
                    let when =
                        match group.count {
                            1 => number.clone().equals(group.first),
                            _ => Expr::binary(BinaryOp::Ge, number.clone(), Expr::Const(group.first))
                                .and(Expr::binary(BinaryOp::Le, number.clone(), Expr::Const(last))),
                        };
                    some.push(when.clone());
                    let index = match group.count {
                        1 => Expr::Const(0),
                        _ => Expr::binary(BinaryOp::Sub, number.clone(), Expr::Const(group.first)),
                    };
                    all.push(Choice { group: at, when, index });
                }
                (all, Expr::any(some).negate())
            }
        }
    }

    fn group(&self, choice: &Choice) -> Group {
        self.world.groups[choice.group].clone()
    }

    /// How many messages a channel has.
    fn length(&self, group: &Group, index: &Expr) -> Expr {
        match group.length {
            None => Expr::Const(0),
            Some(length) if self.world.variables[length.index()].shape.is_empty() => Expr::Var(length),
            Some(length) => Expr::element(length, index.clone()),
        }
    }

    /// A field of the message at a place.
    fn field(&self, group: &Group, index: &Expr, field: usize, place: Expr) -> Expr {
        Expr::element(group.contents[field], self.place_in(group, index, place))
    }

    fn place_in(&self, group: &Group, index: &Expr, place: Expr) -> Expr {
        let before = Expr::binary(BinaryOp::Mul, index.clone(), Expr::Const(i64::from(group.capacity)));
        Expr::binary(BinaryOp::Add, before, place)
    }

    fn no_channel(&mut self, when: Expr, span: Span) -> Vec<Hazard> {
        if when == Expr::FALSE {
            return Vec::new();
        }
        let message = "there is no such channel";
        let fault = self.world.fault(FaultKind::Range, span, message);
        vec![Hazard { when, fault }]
    }

    /// `len(c)` and its relatives.
    pub(crate) fn ask(&mut self, what: &str, place: &Place) -> Value {
        let Some((channel, mut hazards)) = self.channel(place) else { return Value::constant(0) };
        let (choices, none) = self.choices(&channel);
        hazards.extend(self.no_channel(none, place.span));
        let mut result: Option<Value> = None;
        for choice in &choices {
            let group = self.group(choice);
            let length = self.length(&group, &choice.index);
            let capacity = i64::from(group.capacity.max(1));
            let (expr, hi) = match what {
                "len" => (length, i64::from(group.capacity)),
                "empty" => (length.equals(0), 1),
                "nempty" => (length.equals(0).negate(), 1),
                "full" => (length.equals(capacity), 1),
                _ => (length.equals(capacity).negate(), 1),
            };
            result = Some(match result {
                None => Value { expr, lo: 0, hi, hazards: Vec::new() },
                Some(other) => {
                    let expr = Expr::choose(choice.when.clone(), expr, other.expr);
                    Value { expr, lo: 0, hi: hi.max(other.hi), hazards: Vec::new() }
                }
            });
        }
        let result = result.unwrap_or_else(|| Value::constant(0));
        Value { hazards, ..result }
    }

    /// `c?[x]`: whether the receive could be executed.
    pub(crate) fn poll(&mut self, place: &Place, args: &[Pattern], random: bool, span: Span) -> Value {
        let Some((channel, mut hazards)) = self.channel(place) else { return Value::constant(0) };
        let slots = self.slots(args, true);
        // A poll may ask for the first fields only.
        let (choices, none) = self.choices(&channel);
        hazards.extend(self.no_channel(none, span));
        let mut found = Vec::new();
        for choice in &choices {
            let group = self.group(choice);
            let is_number = matches!(channel, Channel::Number(_));
            if is_number && group.fields.len() < slots.len() {
                continue;
            }
            if !self.has_fields(&group, slots.len(), span) {
                continue;
            }
            let places = if random { group.capacity } else { group.capacity.min(1) };
            for place in 0..places {
                found.push(choice.when.clone().and(self.matches(&group, &choice.index, place, &slots)));
            }
        }
        for slot in slots {
            if let Slot::Compare(value) = slot {
                hazards.extend(value.hazards);
            }
        }
        Value { expr: Expr::any(found), lo: 0, hi: 1, hazards }
    }

    fn has_fields(&mut self, group: &Group, given: usize, span: Span) -> bool {
        if group.fields.len() < given {
            let message = format!("a message of this channel has {} fields, not {given}", group.fields.len());
            self.error("E2025", span, message, "another number");
        }
        group.fields.len() >= given
    }

    /// Whether there is a message at a place, and it is what is wanted.
    fn matches(&self, group: &Group, index: &Expr, place: u32, slots: &[Slot]) -> Expr {
        let mut all = vec![Expr::binary(BinaryOp::Gt, self.length(group, index), Expr::Const(i64::from(place)))];
        for (field, slot) in slots.iter().enumerate() {
            if let Slot::Compare(value) = slot {
                let own = self.field(group, index, field, Expr::Const(i64::from(place)));
                all.push(Expr::binary(BinaryOp::Eq, own, value.expr.clone()));
            }
        }
        Expr::all(all)
    }

    /// What a receive does with each field.
    pub(crate) fn slots(&mut self, args: &[Pattern], is_poll: bool) -> Vec<Slot> {
        let mut slots = Vec::new();
        for arg in args {
            match arg {
                Pattern::Const(value) => slots.push(Slot::Compare(Value::constant(*value))),
                Pattern::Eval(value) => slots.push(Slot::Compare(self.value(value))),
                Pattern::Place(place) => {
                    let name = &place.parts[0].0.text;
                    let is_declared = self.world.find(self.instance, &self.scope, name).is_some();
                    if place.parts.len() == 1 && &**name == "_" {
                        slots.push(Slot::Ignore);
                    } else if let (false, Some(value)) = (is_declared, self.world.mtypes.get(name)) {
                        slots.push(Slot::Compare(Value::constant(*value)));
                    } else if is_poll {
                        slots.extend(self.expanded(place).iter().map(|_| Slot::Ignore));
                    } else {
                        slots.extend(self.targets(place).into_iter().map(Slot::Store));
                    }
                }
            }
        }
        slots
    }

    /// What is sent; a record stands for all its fields.
    pub(crate) fn message(&mut self, args: &[ast::Expr]) -> Vec<Value> {
        let mut values = Vec::new();
        for arg in args {
            match &arg.kind {
                ast::ExprKind::Place(place) => {
                    for place in self.expanded(place) {
                        let span = place.span;
                        let part = ast::Expr { kind: ast::ExprKind::Place(place), span };
                        values.push(self.value(&part));
                    }
                }
                _ => values.push(self.value(arg)),
            }
        }
        values
    }

    /// `c!x` into a buffer: waits while it is full.
    pub(crate) fn send(&mut self, choice: &Choice, values: &[Value], sorted: bool, fine: &mut Fine) {
        let group = self.group(choice);
        let length = self.length(&group, &choice.index);
        let capacity = i64::from(group.capacity);
        fine.guard(Expr::binary(BinaryOp::Lt, length.clone(), Expr::Const(capacity)));
        let bound: Vec<LocalId> = values
            .iter()
            .zip(&group.fields)
            .map(|(value, scalar)| {
                fine.check(value.hazards.clone());
                let local = self.bind();
                fine.ops.push(Op::Let(local, value.stored(*scalar)));
                local
            })
            .collect();
        let fields: Vec<Expr> = bound.iter().map(|local| Expr::Local(*local)).collect();
        self.observe(true, choice, &fields, fine);
        if sorted {
            self.insert(&group, &choice.index, &bound, fine);
        } else {
            for (field, local) in bound.iter().enumerate() {
                let place = self.place_in(&group, &choice.index, length.clone());
                fine.assign(group.contents[field], Some(place), Expr::Local(*local));
            }
        }
        let more = Expr::binary(BinaryOp::Add, length, Expr::Const(1));
        self.set_length(&group, &choice.index, more, fine);
    }

    /// `c!!x`: before the first message that is larger.
    fn insert(&mut self, group: &Group, index: &Expr, bound: &[LocalId], fine: &mut Fine) {
        let length = self.length(group, index);
        let at = self.bind();
        // The first place whose message is larger, or the first that is free.
        let mut position = length.clone();
        for place in (0..group.capacity).rev() {
            let place_expr = Expr::Const(i64::from(place));
            let mut larger = Expr::FALSE;
            for (field, local) in bound.iter().enumerate().rev() {
                let own = self.field(group, index, field, place_expr.clone());
                let greater = Expr::binary(BinaryOp::Gt, own.clone(), Expr::Local(*local));
                let equal = Expr::binary(BinaryOp::Eq, own, Expr::Local(*local));
                larger = greater.or(equal.and(larger));
            }
            let is_there = Expr::binary(BinaryOp::Gt, length.clone(), place_expr.clone());
            position = Expr::choose(is_there.and(larger), place_expr, position);
        }
        fine.ops.push(Op::Let(at, position));
        for place in (0..group.capacity).rev() {
            for (field, local) in bound.iter().enumerate() {
                let here = Expr::Const(i64::from(place));
                let own = self.field(group, index, field, here.clone());
                let moved = match place {
                    0 => own.clone(),
                    _ => Expr::choose(
                        Expr::binary(BinaryOp::Gt, here.clone(), Expr::Local(at)),
                        self.field(group, index, field, Expr::Const(i64::from(place - 1))),
                        own,
                    ),
                };
                let is_place = Expr::binary(BinaryOp::Eq, here.clone(), Expr::Local(at));
                let value = Expr::choose(is_place, Expr::Local(*local), moved);
                let target = self.place_in(group, index, here);
                fine.assign(group.contents[field], Some(target), value);
            }
        }
    }

    fn set_length(&self, group: &Group, index: &Expr, value: Expr, fine: &mut Fine) {
        let Some(length) = group.length else { return };
        let is_array = !self.world.variables[length.index()].shape.is_empty();
        fine.assign(length, is_array.then(|| index.clone()), value);
    }

    /// `c?x` from a buffer: the message at a place, which moves the others up.
    pub(crate) fn receive(&mut self, choice: &Choice, place: u32, slots: &[Slot], keep: bool, fine: &mut Fine) {
        let group = self.group(choice);
        for slot in slots {
            if let Slot::Compare(value) = slot {
                fine.wrong(value.hazards.clone());
            }
        }
        fine.guard(self.matches(&group, &choice.index, place, slots));
        let here = Expr::Const(i64::from(place));
        let bound: Vec<(LocalId, Scalar)> = (0..group.fields.len())
            .map(|field| {
                let local = self.bind();
                let value = self.field(&group, &choice.index, field, here.clone());
                if matches!(slots[field], Slot::Store(_)) {
                    fine.ops.push(Op::Let(local, value));
                }
                (local, group.fields[field])
            })
            .collect();
        if !keep {
            let field = |field| self.field(&group, &choice.index, field, here.clone());
            let fields: Vec<Expr> = (0..group.fields.len()).map(field).collect();
            self.observe(false, choice, &fields, fine);
            for field in 0..group.fields.len() {
                for at in place..group.capacity {
                    let value = match at + 1 < group.capacity {
                        true => self.field(&group, &choice.index, field, Expr::Const(i64::from(at + 1))),
                        false => Expr::Const(0),
                    };
                    let target = self.place_in(&group, &choice.index, Expr::Const(i64::from(at)));
                    fine.assign(group.contents[field], Some(target), value);
                }
            }
            let less = Expr::binary(BinaryOp::Sub, self.length(&group, &choice.index), Expr::Const(1));
            self.set_length(&group, &choice.index, less, fine);
        }
        for (slot, (local, scalar)) in slots.iter().zip(bound) {
            if let Slot::Store(target) = slot {
                let value = Value { expr: Expr::Local(local), lo: scalar.lo, hi: scalar.hi, hazards: Vec::new() };
                fine.store(target, &value);
            }
        }
    }

    /// The receiver's part of a rendezvous: what is compared, and what is stored.
    pub(crate) fn hand_over(&mut self, values: &[(Value, Scalar)], slots: &[Slot], fine: &mut Fine) {
        let mut bound = Vec::new();
        for ((value, scalar), slot) in values.iter().zip(slots) {
            let stored = value.stored(*scalar);
            match slot {
                Slot::Compare(wanted) => {
                    fine.wrong(wanted.hazards.clone());
                    fine.guard(Expr::binary(BinaryOp::Eq, stored, wanted.expr.clone()));
                }
                Slot::Store(target) => {
                    let local = self.bind();
                    fine.ops.push(Op::Let(local, stored));
                    bound.push((local, *scalar, target.clone()));
                }
                Slot::Ignore => {}
            }
        }
        for (local, scalar, target) in bound {
            let value = Value { expr: Expr::Local(local), lo: scalar.lo, hi: scalar.hi, hazards: Vec::new() };
            fine.store(&target, &value);
        }
    }
}
