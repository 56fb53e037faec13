//! Random traffic on channels: what is sent, what is received, and what is asked of them.

use birk_lang::ast::{Action, ActionKind, BinaryOp, Expr, ExprKind, Pattern, UnaryOp};

use crate::programs::data::Channel;
use crate::programs::expressions::Place;
use crate::programs::generator::Steps;
use crate::programs::wholes::Message;
use crate::programs::world::{Kind, Var};
use crate::random::{Draw as _, Random};
use crate::tree::{action, binary, call, conditional, index, named, unary};

/// `_`
const ANY: Pattern = Pattern::Any(birk_ir::Span { file: 0, start: 0, end: 0 });

impl Place<'_> {
    /// What is asked of a channel that holds messages.
    pub(crate) fn channel_boolean(&mut self, depth: usize) -> Option<Expr> {
        let channel = self.any_channel(&|channel| channel.capacity > 0)?;
        let place = self.channel_place(&channel);
        if let Message::Single(scalar) = &channel.message
            && self.random.chance(40)
        {
            let peek = call("peek", vec![place.clone()]);
            let wanted = self.received_value(scalar, depth.saturating_sub(1));
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

    /// How many messages there are, or the oldest of them where there is one.
    pub(crate) fn channel_integer(&mut self, depth: usize) -> Option<Expr> {
        let is_integer = |message: &Message| matches!(message, Message::Single(scalar) if scalar.kind == Kind::Integer);
        if depth > 0
            && self.random.chance(50)
            && let Some(channel) = self.any_channel(&|channel| channel.capacity > 0 && is_integer(&channel.message))
        {
            let place = self.channel_place(&channel);
            let peek = call("peek", vec![place.clone()]);
            if self.random.chance(15) {
                return Some(peek);
            }
            let otherwise = self.integer(depth - 1);
            return Some(conditional(call("empty", vec![place]), otherwise, peek));
        }
        let channel = self.any_channel(&|channel| channel.capacity > 0)?;
        Some(call("len", vec![self.channel_place(&channel)]))
    }

    pub(crate) fn any_channel(&mut self, wanted: &dyn Fn(&Channel) -> bool) -> Option<Channel> {
        let given = self.procedure.map(|procedure| &procedure.channels[..]).unwrap_or_default();
        // A procedure of steps that wait for a partner has its own channel only: where it is called, there may be others.
        let known = self.world.data.channels.iter().filter(|channel| self.procedure.is_none() || channel.capacity > 0);
        let fitting: Vec<&Channel> = known.chain(given).filter(|channel| wanted(channel)).collect();
        if fitting.is_empty() { None } else { Some((*self.random.pick(&fitting)).clone()) }
    }

    pub(crate) fn channel_place(&mut self, channel: &Channel) -> Expr {
        let indices: Vec<Expr> = channel.shape.iter().map(|&count| self.index_of(count, 1)).collect();
        indices.into_iter().fold(named(&channel.name), index)
    }
}

impl Steps<'_> {
    /// Of each channel, some threads mostly send and some mostly receive: so there is traffic.
    pub(crate) fn exchange(&self, random: &mut Random) -> Vec<Action> {
        let mut all = Vec::new();
        for (position, channel) in self.world.data.channels.iter().enumerate() {
            let sends = (position + self.thread.unwrap_or(0)).is_multiple_of(2) != random.chance(12);
            if random.chance(75) {
                all.extend(self.tame_traffic(channel, sends, random));
            }
        }
        all
    }

    /// Sends a value that fits, or receives whatever comes, at a channel that there is.
    pub(crate) fn tame_traffic(&self, channel: &Channel, sends: bool, random: &mut Random) -> Option<Action> {
        let mut place = named(&channel.name);
        for &count in &channel.shape {
            // Those who meet at one of several channels must mean the same.
            let at = if random.chance(75) { 0 } else { random.between(0, count - 1) };
            place = index(place, self.world.written_number(at, random));
        }
        let parts = self.world.parts_of_message(&channel.message, random)?;
        if sends {
            let values = parts.iter().map(|part| match part {
                Message::Single(scalar) if matches!(scalar.kind, Kind::Set | Kind::Name) => {
                    Some(self.place(random).value_of(scalar, 0))
                }
                Message::Single(scalar) => Some(self.world.constant_of(scalar, random)),
                Message::Whole(group) => self.place(random).whole(*group),
            });
            let values = values.collect::<Option<Vec<_>>>()?;
            return Some(action(self.to_all(channel, &values, random).unwrap_or(ActionKind::Send(place, values))));
        }
        let patterns = parts.iter().map(|part| match part {
            Message::Single(scalar) => {
                let holds = |v: &Var| {
                    v.scalar.kind == scalar.kind && v.scalar.lo <= scalar.lo && scalar.hi <= v.scalar.hi && !v.spread
                };
                let target = self.target(random, holds).filter(|_| random.chance(70));
                target.map_or(ANY, |target| Pattern::Bind(self.known_place_of(target, random)))
            }
            Message::Whole(group) => match self.place(random).whole(*group).filter(|_| random.chance(70)) {
                Some(target) => Pattern::Bind(target),
                None => ANY,
            },
        });
        Some(action(ActionKind::Receive(place, patterns.collect(), None)))
    }

    /// Sends or receives.
    pub(crate) fn traffic(&self, wanted: &dyn Fn(&Channel) -> bool, random: &mut Random) -> Option<Action> {
        let sends = random.chance(50);
        let mut here = self.place(random);
        let channel = here.any_channel(wanted)?;
        let place = here.channel_place(&channel);
        let parts = self.world.parts_of_message(&channel.message, here.random)?;
        if sends {
            let values = parts.iter().map(|part| match part {
                Message::Single(scalar) => Some(here.received_value(scalar, 1)),
                Message::Whole(group) => here.whole_value(*group, 1),
            });
            let values = values.collect::<Option<Vec<_>>>()?;
            return Some(action(self.to_all(&channel, &values, random).unwrap_or(ActionKind::Send(place, values))));
        }
        let patterns = parts.iter().map(|part| self.pattern(part, random)).collect::<Option<Vec<_>>>()?;
        let condition = random.chance(30).then(|| self.probably(random));
        // What is received as a whole cannot be asked about before it is there.
        let is_whole = |(part, pattern): (&Message, &Pattern), name: &str| matches!((part, pattern), (Message::Whole(_), Pattern::Bind(Expr { kind: ExprKind::Name(own), .. })) if own == name);
        let asks = |name: &&str| parts.iter().zip(&patterns).any(|received| is_whole(received, name));
        let condition = condition.filter(|condition| !condition.names().iter().any(asks));
        Some(action(ActionKind::Receive(place, patterns, condition)))
    }

    fn pattern(&self, part: &Message, random: &mut Random) -> Option<Pattern> {
        let mut here = self.place(random);
        let kind = here.random.weighted(&[25, 20, 55]);
        Some(match (kind, part) {
            (0, _) => ANY,
            (1, Message::Single(scalar)) => Pattern::Equal(here.received_value(scalar, 1)),
            (1, Message::Whole(group)) => Pattern::Equal(here.whole_value(*group, 1)?),
            (_, Message::Whole(group)) => Pattern::Bind(here.whole(*group)?),
            (_, Message::Single(scalar)) => match self.target(random, |v| v.scalar.kind == scalar.kind) {
                Some(target) => Pattern::Bind(self.place_of(target, random)),
                None => ANY,
            },
        })
    }
}
