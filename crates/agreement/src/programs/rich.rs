//! Random expressions and actions beyond the core: sets, totals, records, whole values, what is asked of channels.

use birk_lang::ast::{Action, ActionKind, BinaryOp, Expr, Quantifier};

use crate::programs::expressions::{Place, Readable};
use crate::programs::generator::Steps;
use crate::programs::world::{Kind, Scalar};
use crate::random::{Draw as _, Random};
use crate::tree::{action, binary, call, conditional, let_in, member, named, number, over_members, over_range, set};

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
        let candidates = self.world.candidates();
        let mut members = Vec::new();
        for _ in 0..self.random.weighted(&[10, 60, 30]) {
            let literal = *self.random.pick(&candidates);
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
                let (left, mut right) = (self.name_of(below), self.name_of(below));
                if self.random.chance(25) {
                    right = member(named("Id"), "nobody");
                }
                Some(binary(op, left, right))
            }
            4 if data.names.is_some() && self.bound.len() < 3 => {
                let last = data.names?;
                let kind = *self.random.pick(&[Quantifier::All, Quantifier::Any]);
                let body = self.within("n", Kind::Name, 0, last, |here| here.boolean(below));
                Some(over_members(kind, "n", named("Id"), body))
            }
            5 | 6 if !data.wholes.is_empty() => self.whole_comparison(depth),
            _ => self.channel_boolean(depth),
        }
    }

    pub(crate) fn within<T>(
        &mut self,
        name: &str,
        kind: Kind,
        lo: i64,
        hi: i64,
        body: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.bound.push((name.to_owned(), kind, lo, hi));
        let body = body(self);
        self.bound.pop();
        body
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
        match self.random.below(8) {
            0 | 7 if data.set.is_some() => Some(call("size", vec![self.set(below)])),
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
            _ => self.channel_integer(depth),
        }
    }

    pub(crate) fn total_body(&mut self, total: bool, depth: usize) -> Expr {
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
            1 | 2 if !data.wholes.is_empty() => self.whole_assignment(random),
            _ => self.traffic(&|channel| channel.capacity > 0, random),
        }
    }

    /// A record or an array assigned as a whole.
    pub(crate) fn whole_assignment(&self, random: &mut Random) -> Option<Action> {
        let mut here = self.place(random);
        let groups = here.groups();
        if groups.is_empty() {
            return None;
        }
        let group = *here.random.pick(&groups);
        let to = here.whole(group)?;
        let from = here.whole_value(group, 1)?;
        Some(action(ActionKind::Assign(to, from)))
    }
}
