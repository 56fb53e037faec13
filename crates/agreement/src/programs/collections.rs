//! Sequences, maps and broadcasts: how random systems declare them, ask about them, and change them.

use birk_lang::ast::{
    Action, ActionKind, BinaryOp, ChannelMarks, Expr, Item, Pattern, Quantifier, Type, TypeKind, UnaryOp,
};

use crate::programs::data::{Channel, Collection, Collections, Holder, Holds};
use crate::programs::expressions::Place;
use crate::programs::generator::Steps;
use crate::programs::wholes::{Group, Message};
use crate::programs::world::{Kind, Scalar, Var, World};
use crate::random::{Draw as _, Random};
use crate::tree::{action, alias, binary, call, conditional, index, member, name, named, number};
use crate::tree::{over_members, set, ty, unary, variables};

/// What a change is, and where it goes right.
type Change = (ActionKind, Option<Expr>);

impl World {
    pub(crate) fn has_collections(&self) -> bool {
        self.data.collections.is_some()
    }

    /// Declares sequences, maps and channels to broadcast on, in about a quarter of all worlds.
    pub(crate) fn declare_collections(&mut self, random: &mut Random) {
        if !random.chance(28) {
            return;
        }
        self.data.collections = Some(Collections::default());
        let which = random.weighted(&[40, 35, 25]);
        if which != 1 {
            self.declare_sequences(random);
        }
        if which != 0 {
            self.declare_maps(random);
        }
        if self.rich && random.chance(30) {
            self.declare_carrier(random);
        }
        if self.rich && random.chance(50) {
            self.declare_audience(random);
        }
        self.declare_own_collections(random);
    }

    fn declare_sequences(&mut self, random: &mut Random) {
        let capacity = random.weighted(&[0, 30, 50, 20]) as i64;
        let element = self.held(if capacity > 2 { 2 } else { 3 }, random);
        let most = Box::new(self.written_number(capacity, random));
        let kind = TypeKind::Sequence(Box::new(self.type_of(&element)), most);
        self.declare_holders(Holds::Sequence(capacity), element, kind, ("q", "Log"), random);
    }

    fn declare_maps(&mut self, random: &mut Random) {
        let (key, written) = self.keys(random);
        let element = self.held(if key.hi - key.lo > 1 { 2 } else { 3 }, random);
        let kind = TypeKind::Map(Box::new(written), Box::new(self.type_of(&element)));
        self.declare_holders(Holds::Map(key), element, kind, ("m", "Table"), random);
    }

    /// The type of the keys of a map, and how the set of them is written.
    fn keys(&mut self, random: &mut Random) -> (Scalar, TypeKind) {
        if self.data.names.is_some() && random.chance(50) {
            return (self.parameter_of_names().scalar, TypeKind::SetOf(name("Id")));
        }
        let lo = *random.pick(&[0, 0, 0, 1, -1]);
        let hi = lo + random.weighted(&[10, 55, 35]) as i64;
        let [low, high] = [lo, hi].map(|bound| Box::new(self.written_number(bound, random)));
        let range = ty(TypeKind::Range(false, low.clone(), high.clone()), Vec::new());
        let key = Scalar { kind: Kind::Integer, lo, hi, wraps: false, written: range.clone() };
        if random.chance(25) {
            self.items.push(alias("Key", range));
            return (key, TypeKind::SetOf(name("Key")));
        }
        (key, TypeKind::Set(low, high))
    }

    /// What is in a sequence or a map: at most so many values, or records.
    fn held(&self, most: i64, random: &mut Random) -> Message {
        if self.data.records.is_some() && random.chance(35) {
            return Message::Whole(Group::Record);
        }
        loop {
            let scalar = self.small_scalar(random);
            if scalar.hi - scalar.lo < most {
                return Message::Single(scalar);
            }
        }
    }

    fn type_of(&self, element: &Message) -> Type {
        match element {
            Message::Single(scalar) => scalar.written.clone(),
            Message::Whole(group) => self.group_type(*group, Vec::new()),
        }
    }

    /// Two variables, or one, or an array, or a field of two records.
    fn declare_holders(
        &mut self,
        holds: Holds,
        element: Message,
        kind: TypeKind,
        (letter, text): (&'static str, &str),
        random: &mut Random,
    ) {
        let mut written = ty(kind, Vec::new());
        if random.chance(20) {
            self.items.push(alias(text, written));
            written = ty(TypeKind::Named(name(text)), Vec::new());
        }
        let Some(collections) = &mut self.data.collections else { return };
        let of = collections.types.len();
        collections.types.push(Collection { number: of, holds, element, written: written.clone() });
        let holder = |name: String, shape, field| Holder { of, name, shape, field };
        let first = format!("{letter}0");
        match random.weighted(&[50, 20, 15, 15]) {
            2 => {
                collections.holders.push(holder(first.clone(), vec![2], None));
                let dimensions = vec![self.written_number(2, random)];
                let declared = variables(Type { dimensions, ..written }, vec![(name(&first), None)]);
                self.items.push(Item::Variables(declared));
            }
            3 if !collections.bags => {
                collections.bags = true;
                let bags = ["bag0", "bag1"];
                collections.holders.extend(bags.map(|bag| holder(bag.to_owned(), Vec::new(), Some(letter))));
                self.declare_bags(&bags, written, letter, random);
            }
            count => {
                let names = [first, format!("{letter}1")];
                let names = &names[..if count == 0 { 2 } else { 1 }];
                collections.holders.extend(names.iter().map(|text| holder(text.clone(), Vec::new(), None)));
                let declarators = names.iter().map(|text| (name(text), None)).collect();
                self.items.push(Item::Variables(variables(written, declarators)));
            }
        }
    }

    /// Records with a sequence or a map in them.
    fn declare_bags(&mut self, bags: &[&str], inside: Type, field: &str, random: &mut Random) {
        let scalar = self.small_scalar(random);
        let fields = [(inside, field), (scalar.written.clone(), "f")];
        self.declare_record_type("Bag", fields.into_iter());
        let declarators = bags.iter().map(|bag| (name(bag), None)).collect();
        self.items.push(Item::Variables(variables(ty(TypeKind::Named(name("Bag")), Vec::new()), declarators)));
        for bag in bags {
            let fields = vec![(0, "f".to_owned())];
            let (scalar, written) = (scalar.clone(), scalar.written.clone());
            self.globals.push(Var { name: (*bag).to_owned(), scalar, fields, written, ..self.nothing() });
        }
    }

    /// A channel of sequences or maps.
    fn declare_carrier(&mut self, random: &mut Random) {
        let Some(collections) = &mut self.data.collections else { return };
        let of = random.below(collections.types.len());
        collections.carried = Some(of);
        let element = Box::new(collections.types[of].written.clone());
        let room = Box::new(self.written_number(1, random));
        let written = ty(TypeKind::Channel(ChannelMarks::default(), element, room), Vec::new());
        self.items.push(Item::Variables(variables(written, vec![(name("d0"), None)])));
    }

    /// Channels that all get the same message.
    fn declare_audience(&mut self, random: &mut Random) {
        let message = self.held(3, random);
        let capacity = random.weighted(&[0, 75, 25]) as i64;
        let shape = if random.chance(15) { vec![2, 2] } else { vec![random.between(1, 2)] };
        let room = Box::new(self.written_number(capacity, random));
        let dimensions = shape.iter().map(|&count| self.written_number(count, random)).collect();
        let element = Box::new(self.type_of(&message));
        let written = ty(TypeKind::Channel(ChannelMarks::default(), element, room), dimensions);
        let text = format!("c{}", self.data.channels.len());
        self.items.push(Item::Variables(variables(written, vec![(name(&text), None)])));
        self.data.channels.push(Channel { name: text, message, capacity, shape });
    }

    /// Locals of threads.
    fn declare_own_collections(&mut self, random: &mut Random) {
        let Some(collections) = &self.data.collections else { return };
        for thread in &mut self.threads {
            if random.chance(25) {
                let of = random.pick(&collections.types);
                thread.records.push(variables(of.written.clone(), vec![(name("own"), None)]));
                let text = "own".to_owned();
                thread.holders.push(Holder { of: of.number, name: text, shape: Vec::new(), field: None });
            }
        }
    }
}

impl Place<'_> {
    /// A sequence or a map that can be changed here.
    fn holder(&mut self, wanted: &dyn Fn(&Collection) -> bool) -> Option<(Collection, Expr)> {
        let world = self.world;
        let collections = world.data.collections.as_ref()?;
        let own = self.own.map(|own| &world.threads[own].holders[..]).unwrap_or_default();
        let all = collections.holders.iter().chain(own);
        let fitting: Vec<&Holder> = all.filter(|holder| wanted(&collections.types[holder.of])).collect();
        if fitting.is_empty() {
            return None;
        }
        let holder = *self.random.pick(&fitting);
        let indices: Vec<Expr> = holder.shape.iter().map(|&length| self.index_of(length, 1)).collect();
        let element = indices.into_iter().fold(named(&holder.name), index);
        let place = holder.field.map_or(element.clone(), |field| member(element, field));
        Some((collections.types[holder.of].clone(), place))
    }

    /// One that can be read here, also one of another thread.
    fn seen_holder(&mut self, wanted: &dyn Fn(&Collection) -> bool) -> Option<(Collection, Expr)> {
        let world = self.world;
        let collections = world.data.collections.as_ref()?;
        let owners = world.threads.iter().filter(|thread| thread.copies > 0);
        let all = owners.flat_map(|thread| thread.holders.iter().map(move |holder| (thread, holder)));
        let fitting: Vec<_> = all.filter(|(_, holder)| wanted(&collections.types[holder.of])).collect();
        if fitting.is_empty() || !self.random.chance(15) {
            return self.holder(wanted);
        }
        let (thread, holder) = *self.random.pick(&fitting);
        let copy = self.plain_copy_of(thread);
        Some((collections.types[holder.of].clone(), member(copy, &holder.name)))
    }

    /// A key: mostly one that the map can have.
    fn key_of(&mut self, key: &Scalar, depth: usize) -> Expr {
        match key.kind {
            Kind::Name => self.any_name(),
            _ if self.random.chance(45) => self.value_of(key, depth),
            _ => {
                let literal = self.random.between(key.lo, key.hi);
                self.world.written_number(literal, self.random)
            }
        }
    }

    /// What can be an element of a sequence, or a value of a map.
    fn element_of(&mut self, of: &Collection, depth: usize) -> Option<Expr> {
        match &of.element {
            Message::Single(scalar) => Some(self.value_of(scalar, depth)),
            Message::Whole(group) => self.whole_value(*group, depth),
        }
    }

    /// `{a, b}`
    fn listed(&mut self, of: &Collection, most: i64) -> Option<Expr> {
        let count = self.random.between(0, most);
        (0..count).map(|_| self.element_of(of, 0)).collect::<Option<_>>().map(set)
    }

    /// A value of such a type, and where it goes right.
    fn held_whole(&mut self, of: &Collection) -> Option<(Expr, Option<Expr>)> {
        let (_, place) = self.seen_holder(&|other| other.number == of.number)?;
        Some(match (&of.holds, self.random.below(4)) {
            (_, 0) => (place, None),
            (Holds::Sequence(most), 1) => (self.listed(of, *most)?, None),
            (Holds::Sequence(_), 2) => {
                (call("append", vec![place.clone(), self.element_of(of, 0)?]), Some(has_room(place)))
            }
            (Holds::Sequence(_), _) => (call("tail", vec![place.clone()]), Some(is_filled(place))),
            (Holds::Map(_), 1) => (set(Vec::new()), None),
            (Holds::Map(key), _) => (call("remove", vec![place, self.key_of(key, 0)]), None),
        })
    }

    /// What is asked of a sequence or a map.
    pub(crate) fn held_boolean(&mut self, depth: usize) -> Option<Expr> {
        let below = depth.saturating_sub(1);
        let (of, place) = self.seen_holder(&|_| true)?;
        match self.random.below(4) {
            0 => {
                let (value, goes_right) = self.held_whole(&of)?;
                let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                let compared = binary(op, place, value);
                let goes_right = goes_right.filter(|_| self.random.chance(90));
                Some(goes_right.map_or(compared.clone(), |guard| binary(BinaryOp::And, guard, compared)))
            }
            1 if self.bound.len() < 3 => {
                let kind = *self.random.pick(&[Quantifier::All, Quantifier::Any]);
                self.over_held(kind, &of, place, &mut |here| here.boolean(below))
            }
            _ => match &of.holds {
                Holds::Sequence(most) => Some(self.asked_of_sequence(&of, *most, place)),
                Holds::Map(key) => Some(self.asked_of_map(key, place)),
            },
        }
    }

    fn asked_of_sequence(&mut self, of: &Collection, most: i64, place: Expr) -> Expr {
        match (&of.element, self.random.below(4)) {
            (_, 0) => call("full", vec![place]),
            (_, 1) => call("empty", vec![place]),
            (Message::Single(scalar), 2) => binary(BinaryOp::In, self.value_of(scalar, 0), place),
            _ => {
                let op = *self.random.pick(&[BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Ge]);
                let many = self.random.between(0, most);
                binary(op, call("len", vec![place]), self.world.written_number(many, self.random))
            }
        }
    }

    fn asked_of_map(&mut self, key: &Scalar, place: Expr) -> Expr {
        let at = self.key_of(key, 0);
        match self.random.below(5) {
            0 => binary(BinaryOp::Eq, call("keys", vec![place]), set(vec![at])),
            1 => binary(BinaryOp::In, at, call("keys", vec![place])),
            2 => {
                let many = self.random.between(0, key.hi - key.lo + 1);
                binary(BinaryOp::Lt, call("size", vec![place]), self.world.written_number(many, self.random))
            }
            _ => binary(BinaryOp::In, at, place),
        }
    }

    /// A quantifier over the elements of a sequence that are single values, or over the keys of a map.
    fn over_held(
        &mut self,
        kind: Quantifier,
        of: &Collection,
        place: Expr,
        body: &mut dyn FnMut(&mut Self) -> Expr,
    ) -> Option<Expr> {
        let scalar = match (&of.holds, &of.element) {
            (Holds::Map(key), _) => key,
            (Holds::Sequence(_), Message::Single(scalar)) => scalar,
            (Holds::Sequence(_), Message::Whole(_)) => return None,
        };
        let body = self.within("u", scalar.kind, scalar.lo, scalar.hi, |here| body(here));
        Some(over_members(kind, "u", place, body))
    }

    /// How many there are, or a total over them.
    pub(crate) fn held_integer(&mut self, depth: usize) -> Option<Expr> {
        let below = depth.saturating_sub(1);
        let (of, place) = self.seen_holder(&|_| true)?;
        if self.random.chance(40) && self.bound.len() < 3 {
            let total = self.random.chance(50);
            let kind = if total { Quantifier::Sum } else { Quantifier::Count };
            return self.over_held(kind, &of, place, &mut |here| here.total_body(total, below));
        }
        Some(match &of.holds {
            Holds::Sequence(_) => call("len", vec![place]),
            Holds::Map(_) if self.random.chance(30) => call("size", vec![call("keys", vec![place])]),
            Holds::Map(_) => call("size", vec![place]),
        })
    }

    /// An element, or the value of a key: of this kind, or a record with such a field. First, where it is there.
    fn held_element(&mut self, kind: Kind, depth: usize) -> Option<(Expr, Expr)> {
        let world = self.world;
        let fields = world.data.records.as_ref().map(|records| &records.fields[..]).unwrap_or_default();
        let (of, place) = self.seen_holder(&|of| match &of.element {
            Message::Single(scalar) => scalar.kind == kind,
            Message::Whole(_) => fields.iter().any(|field| field.scalar.kind == kind),
        })?;
        let (is_there, element) = self.part_of(&of, place, depth);
        if let Message::Single(_) = of.element {
            return Some((is_there, element));
        }
        let fields: Vec<&Var> = fields.iter().filter(|field| field.scalar.kind == kind).collect();
        let field = *self.random.pick(&fields);
        let indices: Vec<Expr> = field.shape.iter().map(|&length| self.index_of(length, 0)).collect();
        Some((is_there, indices.into_iter().fold(member(element, &field.name), index)))
    }

    /// Some element, and before it, where it is there.
    fn part_of(&mut self, of: &Collection, place: Expr, depth: usize) -> (Expr, Expr) {
        let below = depth.saturating_sub(1);
        match (&of.holds, self.random.weighted(&[25, 20, 55])) {
            (Holds::Map(key), _) => {
                let at = self.key_of(key, below);
                (binary(BinaryOp::In, at.clone(), place.clone()), index(place, at))
            }
            (Holds::Sequence(most), 2) => {
                let at = self.index_of(*most, below);
                (binary(BinaryOp::Lt, at.clone(), call("len", vec![place.clone()])), index(place, at))
            }
            (Holds::Sequence(_), end) => {
                let function = ["head", "last"][end];
                (is_filled(place.clone()), call(function, vec![place]))
            }
        }
    }

    /// A value out of a sequence or a map; seldom without asking whether it is there.
    pub(crate) fn held_value(&mut self, kind: Kind, depth: usize) -> Option<Expr> {
        let (is_there, element) = self.held_element(kind, depth)?;
        if self.random.chance(10) {
            return Some(element);
        }
        if kind == Kind::Boolean && self.random.chance(60) {
            return Some(binary(BinaryOp::And, is_there, element));
        }
        let other = self.readable(kind, &|_| true)?;
        let other = self.indexed(other, 0);
        Some(conditional(is_there, element, other))
    }
}

impl Steps<'_> {
    /// A change that goes right, or nearly always does. Only where a step may have several ways it is asked for first.
    pub(crate) fn possible_change(&self, random: &mut Random) -> Option<Action> {
        let (change, is_possible) = self.change(random)?;
        match is_possible.filter(|_| !random.chance(8)) {
            None => Some(action(change)),
            Some(test) if self.world.rich => Some(action(ActionKind::If(vec![(test, vec![action(change)])], None))),
            Some(_) => None,
        }
    }

    /// Changes a sequence or a map, sends one, or keeps one that is received.
    pub(crate) fn change(&self, random: &mut Random) -> Option<Change> {
        if random.chance(30)
            && let Some(carried) = self.carried(random)
        {
            return Some(carried);
        }
        if self.world.data.collections.as_ref().is_some_and(|collections| collections.bags) && random.chance(15) {
            let bags = [named("bag0"), named("bag1")];
            let [to, from] = bags;
            return Some((ActionKind::Assign(to, from), None));
        }
        let mut here = self.place(random);
        let (of, place) = here.holder(&|_| true)?;
        match &of.holds {
            _ if here.random.chance(15) => {
                let (value, goes_right) = here.held_whole(&of)?;
                Some((ActionKind::Assign(place, value), goes_right))
            }
            Holds::Sequence(most) => here.changed_sequence(&of, *most, place),
            Holds::Map(key) => self.changed_map(&of, key, place, random),
        }
    }

    /// Traffic on the channel of sequences or maps.
    fn carried(&self, random: &mut Random) -> Option<Change> {
        let collections = self.world.data.collections.as_ref()?;
        let of = &collections.types[collections.carried?];
        let mut here = self.place(random);
        let channel = named("d0");
        if here.random.chance(50) {
            let (value, goes_right) = here.held_whole(of)?;
            return Some((ActionKind::Send(channel, vec![value]), goes_right));
        }
        let (_, place) = here.holder(&|other| other.number == of.number)?;
        let pattern = if here.random.chance(75) { Pattern::Bind(place) } else { Pattern::Equal(place) };
        Some((ActionKind::Receive(channel, vec![pattern], None), None))
    }

    fn changed_map(&self, of: &Collection, key: &Scalar, place: Expr, random: &mut Random) -> Option<Change> {
        let mut here = self.place(random);
        let at = here.key_of(key, 1);
        let has = binary(BinaryOp::In, at.clone(), place.clone());
        let own = index(place.clone(), at.clone());
        Some(match (here.random.weighted(&[55, 18, 4, 15, 8]), &of.element) {
            (0, _) => (ActionKind::Assign(own, here.element_of(of, 1)?), None),
            (1, _) => (ActionKind::Assign(place.clone(), call("remove", vec![place, at])), None),
            (2, _) => (ActionKind::Assign(place, set(Vec::new())), None),
            (3, Message::Whole(_)) => (here.changed_field(own)?, Some(has)),
            (3, Message::Single(scalar)) if scalar.kind == Kind::Integer => (chosen(own, scalar), None),
            (3, Message::Single(_)) => {
                let (is_there, element) = here.part_of(of, place, 1);
                (ActionKind::Assign(own, element), Some(is_there))
            }
            _ => {
                let target = self.target(random, |v| v.scalar.kind == key.kind && !v.spread)?;
                let target = self.known_place_of(target, random);
                let is_some = binary(BinaryOp::Gt, call("size", vec![place.clone()]), number(0));
                (ActionKind::ChooseMember(target, call("keys", vec![place])), Some(is_some))
            }
        })
    }

    /// A message for all channels of an array, or all but one.
    pub(crate) fn to_all(&self, channel: &Channel, values: &[Expr], random: &mut Random) -> Option<ActionKind> {
        let is_audience = self.world.has_collections() && channel.capacity > 0 && !channel.shape.is_empty();
        if !is_audience || !random.chance(65) {
            return None;
        }
        let mut here = self.place(random);
        let mut channels = named(&channel.name);
        let mut missing = &channel.shape[..];
        if missing.len() == 2 && here.random.chance(60) {
            channels = index(channels, here.index_of(missing[0], 1));
            missing = &missing[1..];
        }
        let except = match missing {
            [count] if here.random.chance(60) => Some(here.index_of(*count, 1)),
            _ => None,
        };
        Some(ActionKind::Broadcast(channels, values.to_vec(), except))
    }
}

impl Place<'_> {
    fn changed_sequence(&mut self, of: &Collection, most: i64, place: Expr) -> Option<Change> {
        let assigned = |value: Expr| ActionKind::Assign(place.clone(), value);
        let appended = |to: Expr, element: Expr| call("append", vec![to, element]);
        let tail = call("tail", vec![place.clone()]);
        Some(match self.random.weighted(&[40, 22, 8, 5, 7, 18]) {
            0 => (assigned(appended(place.clone(), self.element_of(of, 1)?)), Some(has_room(place))),
            1 => (assigned(tail), Some(is_filled(place))),
            2 => (assigned(self.listed(of, most)?), None),
            3 => (assigned(appended(tail, self.element_of(of, 0)?)), Some(is_filled(place))),
            4 if most > 1 => {
                let (first, second) = (self.element_of(of, 0)?, self.element_of(of, 0)?);
                let room = binary(BinaryOp::Lt, call("len", vec![place.clone()]), number(most - 1));
                (assigned(appended(appended(place.clone(), first), second)), Some(room))
            }
            _ => {
                let at = self.index_of(most, 1);
                let is_there = binary(BinaryOp::Lt, at.clone(), call("len", vec![place.clone()]));
                let element = index(place, at);
                let change = match &of.element {
                    Message::Whole(_) if self.random.chance(60) => self.changed_field(element)?,
                    Message::Single(scalar) if scalar.kind == Kind::Integer && self.random.chance(30) => {
                        chosen(element, scalar)
                    }
                    _ => ActionKind::Assign(element, self.element_of(of, 1)?),
                };
                (change, Some(is_there))
            }
        })
    }

    /// Gives a field of a record another value.
    fn changed_field(&mut self, record: Expr) -> Option<ActionKind> {
        let records = self.world.data.records.as_ref()?;
        let field = self.random.pick(&records.fields);
        let indices: Vec<Expr> = field.shape.iter().map(|&length| self.index_of(length, 0)).collect();
        let place = indices.into_iter().fold(member(record, &field.name), index);
        Some(ActionKind::Assign(place, self.received_value(&field.scalar, 1)))
    }
}

/// `place := choose(lo, hi)`
fn chosen(place: Expr, scalar: &Scalar) -> ActionKind {
    ActionKind::Choose(place, number(scalar.lo), number(scalar.hi))
}

fn has_room(sequence: Expr) -> Expr {
    unary(UnaryOp::Not, call("full", vec![sequence]))
}

fn is_filled(sequence: Expr) -> Expr {
    unary(UnaryOp::Not, call("empty", vec![sequence]))
}
