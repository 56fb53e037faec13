//! Random expressions and actions beyond the core: sets, totals, records, whole values, what is asked of channels.

use birk_lang::ast::{Action, ActionKind, BinaryOp, Expr, Pattern, Quantifier, UnaryOp};

use crate::data::Channel;
use crate::expressions::{Place, Readable};
use crate::generator::Steps;
use crate::random::Random;
use crate::tree::{
    action, binary, call, conditional, index, let_in, named, number, over_members, over_range, set, unary,
};
use crate::world::{Kind, Scalar};

impl Place<'_> {
    /// A set that says what it is a set of: there is a variable in it.
    pub(crate) fn set(&mut self, depth: usize) -> Expr {
        let weights = if depth == 0 { [100, 0, 0, 0] } else { [45, 35, 10, 10] };
        match self.random.weighted(&weights) {
            1 => {
                let left = self.set(depth - 1);
                let right = if self.random.chance(60) { self.braces(depth - 1) } else { self.set(depth - 1) };
                let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul]);
                let turned = self.random.chance(15);
                if turned { binary(op, right, left) } else { binary(op, left, right) }
            }
            2 => {
                let condition = self.boolean(depth - 1);
                let [yes, no] = [(); 2].map(|()| self.set(depth - 1));
                conditional(condition, yes, no)
            }
            3 => self.call_of(Kind::Set, depth).unwrap_or_else(|| self.set(0)),
            _ => self.read(Kind::Set, depth).unwrap_or_else(|| named("s")),
        }
    }

    /// A set for a variable, which may be one in braces.
    pub(crate) fn set_value(&mut self, depth: usize) -> Expr {
        match self.random.weighted(&[25, 30, 45]) {
            0 => self.braces(depth),
            1 => {
                let condition = self.boolean(1);
                let (yes, no) = (self.braces(depth), self.set(depth));
                conditional(condition, yes, no)
            }
            _ => self.set(depth),
        }
    }

    /// `{a, b}`: mostly numbers that can be members.
    fn braces(&mut self, depth: usize) -> Expr {
        let (lo, hi) = self.world.data.set.expect("there is a set type");
        let mut members = Vec::new();
        for _ in 0..self.random.weighted(&[10, 60, 30]) {
            let literal = self.random.between(lo, hi);
            let fits = |r: &Readable| !r.fixed && lo <= r.lo && r.hi <= hi;
            members.push(match self.random.weighted(&[45, 35, 20]) {
                1 => match self.readable(Kind::Integer, &fits) {
                    Some(read) => self.indexed(read, depth),
                    None => self.world.written_number(literal, self.random),
                },
                2 if self.params.is_empty() => self.variable_of(Kind::Integer).unwrap_or_else(|| number(literal)),
                _ => self.world.written_number(literal, self.random),
            });
        }
        set(members)
    }

    /// Another value for a set that stands at this place.
    pub(crate) fn changed_set(&mut self, place: &Expr) -> Expr {
        let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
        let changed = self.world.fixed_set(self.random);
        binary(op, place.clone(), changed)
    }

    /// A value of the symmetric type.
    pub(crate) fn name_of(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.random.chance(20) {
            let condition = self.boolean(depth - 1);
            let [yes, no] = [(); 2].map(|()| self.name_of(depth - 1));
            return conditional(condition, yes, no);
        }
        self.read(Kind::Name, depth).unwrap_or_else(|| named("id"))
    }

    /// A boolean that only richer systems have.
    pub(crate) fn rich_boolean(&mut self, depth: usize) -> Option<Expr> {
        let below = depth.saturating_sub(1);
        let data = &self.world.data;
        // Where constants are computed, there are no variables.
        if self.world.globals.is_empty() {
            return None;
        }
        match self.random.below(8) {
            0 if data.set.is_some() => {
                let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Le]);
                let left = self.set(below);
                let right = if self.random.chance(40) { self.braces(below) } else { self.set(below) };
                Some(binary(op, left, right))
            }
            1 if data.set.is_some() => {
                let left = self.integer(below);
                let right = if self.random.chance(25) { self.braces(below) } else { self.set(below) };
                Some(binary(BinaryOp::In, left, right))
            }
            2 if data.set.is_some() && self.bound.len() < 3 => {
                let (lo, hi) = data.set?;
                let kind = *self.random.pick(&[Quantifier::All, Quantifier::Any]);
                let members = self.set(below);
                let body = self.within("v", Kind::Integer, lo, hi, |here| here.boolean(below));
                Some(over_members(kind, "v", members, body))
            }
            3 if data.names.is_some() => {
                let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                let (left, right) = (self.name_of(below), self.name_of(below));
                Some(binary(op, left, right))
            }
            4 if data.names.is_some() && self.bound.len() < 3 => {
                let last = data.names?;
                let kind = *self.random.pick(&[Quantifier::All, Quantifier::Any]);
                let body = self.within("n", Kind::Name, 0, last, |here| here.boolean(below));
                Some(over_members(kind, "n", named("Id"), body))
            }
            5 if !data.arrays.is_empty() => self.whole_comparison(depth, false),
            6 if !data.records.is_empty() => self.whole_comparison(depth, true),
            _ => self.channel_boolean(depth),
        }
    }

    fn within<T>(&mut self, name: &str, kind: Kind, lo: i64, hi: i64, body: impl FnOnce(&mut Self) -> T) -> T {
        self.bound.push((name.to_owned(), kind, lo, hi));
        let body = body(self);
        self.bound.pop();
        body
    }

    /// Whole records or arrays compared. What a local hides is left out by its name.
    fn whole_comparison(&mut self, depth: usize, records: bool) -> Option<Expr> {
        let data = &self.world.data;
        let wholes = if records { &data.records } else { &data.arrays };
        let left = self.random.pick(wholes).clone();
        let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
        let right = match records && self.random.chance(40) && depth > 0 {
            true => self.record(depth - 1),
            false => self.random.pick(wholes).clone(),
        };
        Some(binary(op, left, right))
    }

    /// `Rec(a, b)`, if no field is an array; or else a variable.
    pub(crate) fn record(&mut self, depth: usize) -> Expr {
        let fields = self.world.data.record.clone().expect("there is a record");
        if fields.iter().any(|field| !field.shape.is_empty()) {
            return self.random.pick(&self.world.data.records).clone();
        }
        let args = fields.iter().map(|field| self.received_value(&field.scalar, depth)).collect();
        call("Rec", args)
    }

    /// A value where the type is known: a set may stand in braces.
    pub(crate) fn received_value(&mut self, scalar: &Scalar, depth: usize) -> Expr {
        match scalar.kind {
            Kind::Set => self.set_value(depth),
            _ => self.value_of(scalar, depth),
        }
    }

    /// An integer that only richer systems have.
    pub(crate) fn rich_integer(&mut self, depth: usize) -> Option<Expr> {
        let below = depth.saturating_sub(1);
        let data = &self.world.data;
        if self.world.globals.is_empty() {
            return None;
        }
        match self.random.below(7) {
            0 if data.set.is_some() => Some(call("size", vec![self.set(below)])),
            1 if data.set.is_some() && self.bound.len() < 3 => {
                let (lo, hi) = data.set?;
                let members = self.set(below);
                let total = self.random.chance(50);
                let body = self.within("v", Kind::Integer, lo, hi, |here| here.total_body(total, below));
                Some(over_members(if total { Quantifier::Sum } else { Quantifier::Count }, "v", members, body))
            }
            2 if self.bound.len() < 3 => {
                let (lo, hi) = (self.random.between(0, 1), self.random.between(0, 2));
                let [low, high] = [lo, hi].map(|bound| self.world.written_number(bound, self.random));
                let total = self.random.chance(50);
                let body = self.within("i", Kind::Integer, lo, hi.max(lo), |here| here.total_body(total, below));
                Some(over_range(if total { Quantifier::Sum } else { Quantifier::Count }, "i", low, high, body))
            }
            3 if self.bound.len() < 3 => self.over_elements(below),
            4 if depth > 0 && self.bound.len() < 3 => {
                let value = self.integer(below);
                let body = self.within("w", Kind::Integer, -1000, 1000, |here| here.integer(below));
                let body = if self.random.chance(60) { binary(BinaryOp::Add, named("w"), body) } else { body };
                Some(let_in("w", value, body))
            }
            _ => self.channel_integer(),
        }
    }

    fn total_body(&mut self, total: bool, depth: usize) -> Expr {
        if total { self.integer(depth) } else { self.boolean(depth) }
    }

    /// `sum (x in a) …` over the elements of an array of integers.
    fn over_elements(&mut self, depth: usize) -> Option<Expr> {
        let read = self.readable(Kind::Integer, &|r| r.shape.len() == 1 && r.hi - r.lo <= 7)?;
        let (lo, hi) = (read.lo, read.hi);
        let base = read.array()?;
        let total = self.random.chance(50);
        let body = self.within("e", Kind::Integer, lo, hi, |here| here.total_body(total, depth));
        Some(over_members(if total { Quantifier::Sum } else { Quantifier::Count }, "e", base, body))
    }

    /// What is asked of a channel that holds messages.
    fn channel_boolean(&mut self, depth: usize) -> Option<Expr> {
        let channel = self.any_channel(&|channel| channel.capacity > 0)?;
        let place = self.channel_place(&channel);
        if let Some(scalar) = channel.scalar.filter(|_| self.random.chance(40)) {
            let peek = call("peek", vec![place.clone()]);
            let wanted = self.received_value(&scalar, depth.saturating_sub(1));
            let looked = match scalar.kind {
                Kind::Boolean => peek,
                _ => binary(BinaryOp::Eq, peek, if scalar.kind == Kind::Set { self.set(0) } else { wanted }),
            };
            if self.random.chance(15) {
                return Some(looked);
            }
            return Some(binary(BinaryOp::And, unary(UnaryOp::Not, call("empty", vec![place])), looked));
        }
        Some(call(self.random.pick::<&str>(&["full", "empty"]), vec![place]))
    }

    fn channel_integer(&mut self) -> Option<Expr> {
        let channel = self.any_channel(&|channel| channel.capacity > 0)?;
        Some(call("len", vec![self.channel_place(&channel)]))
    }

    pub(crate) fn any_channel(&mut self, wanted: &dyn Fn(&Channel) -> bool) -> Option<Channel> {
        let fitting: Vec<&Channel> = self.world.data.channels.iter().filter(|channel| wanted(channel)).collect();
        if fitting.is_empty() { None } else { Some((*self.random.pick(&fitting)).clone()) }
    }

    pub(crate) fn channel_place(&mut self, channel: &Channel) -> Expr {
        match channel.several {
            None => named(&channel.name),
            Some(count) => {
                let at = self.index_of(count, 1);
                index(named(&channel.name), at)
            }
        }
    }
}

impl Steps<'_> {
    /// An action that only richer systems have.
    pub(crate) fn rich_action(&self, random: &mut Random) -> Option<Action> {
        let data = &self.world.data;
        match random.below(4) {
            0 if data.set.is_some() => {
                let target = self.target(random, |v| v.scalar.kind == Kind::Integer)?;
                let place = self.place_of(target, random);
                let chosen = self.place(random).set(1);
                Some(action(ActionKind::ChooseMember(place, chosen)))
            }
            1 if !data.arrays.is_empty() => {
                let [to, from] = [(); 2].map(|()| random.pick(&data.arrays).clone());
                Some(action(ActionKind::Assign(to, from)))
            }
            2 if !data.records.is_empty() => {
                let to = random.pick(&data.records).clone();
                let from = match random.chance(50) {
                    true => self.place(random).record(1),
                    false => random.pick(&data.records).clone(),
                };
                Some(action(ActionKind::Assign(to, from)))
            }
            _ => self.traffic(&|channel| channel.capacity > 0, random),
        }
    }

    /// Sends or receives.
    pub(crate) fn traffic(&self, wanted: &dyn Fn(&Channel) -> bool, random: &mut Random) -> Option<Action> {
        let sends = random.chance(50);
        let mut here = self.place(random);
        let channel = here.any_channel(wanted)?;
        let place = here.channel_place(&channel);
        let fields = self.world.data.record.clone().unwrap_or_default();
        let has_arrays = fields.iter().any(|field| !field.shape.is_empty());
        let by_field = channel.scalar.is_none() && !has_arrays && here.random.chance(60);
        let scalars: Vec<Scalar> = match &channel.scalar {
            Some(scalar) => vec![scalar.clone()],
            None => fields.iter().map(|field| field.scalar.clone()).collect(),
        };
        if sends {
            let values = match channel.scalar.is_some() || by_field {
                true => scalars.iter().map(|scalar| here.received_value(scalar, 1)).collect(),
                false if fields.len() == 1 => return None,
                false => vec![here.record(1)],
            };
            return Some(action(ActionKind::Send(place, values)));
        }
        if channel.scalar.is_none() && !by_field {
            if fields.len() == 1 {
                return None;
            }
            let pattern = match here.random.chance(30) {
                true => Pattern::Any(birk_ir::Span::default()),
                false => Pattern::Bind(here.random.pick(&self.world.data.records).clone()),
            };
            return Some(action(ActionKind::Receive(place, vec![pattern], None)));
        }
        let mut patterns = Vec::new();
        for scalar in &scalars {
            let mut here = self.place(random);
            patterns.push(match here.random.weighted(&[25, 20, 55]) {
                0 => Pattern::Any(birk_ir::Span::default()),
                1 => Pattern::Equal(here.received_value(scalar, 1)),
                _ => match self.target(random, |v| v.scalar.kind == scalar.kind) {
                    Some(target) => Pattern::Bind(self.place_of(target, random)),
                    None => Pattern::Any(birk_ir::Span::default()),
                },
            });
        }
        let condition = random.chance(30).then(|| self.probably(random));
        Some(action(ActionKind::Receive(place, patterns, condition)))
    }
}
