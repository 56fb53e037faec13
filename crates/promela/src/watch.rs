//! What watches the order of messages (`trace`, `notrace`): a thread without steps of its own, which is moved by every step that
//! sends or receives.

use birk_ir::{BinaryOp, Expr, FaultId, Op, VarId};

use crate::sema::Channel;

/// What watches the order of messages.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Where it is.
    pub(crate) counter: VarId,
    /// Whether a message that is not described is wrong (`trace`), or a description that comes true (`notrace`).
    pub(crate) is_required: bool,
    pub(crate) events: Vec<Event>,
    /// Where it is when everything has come as described.
    pub(crate) end: i64,
    pub(crate) wrong: FaultId,
    pub(crate) ambiguous: FaultId,
}

/// A message that is described.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Where it leads from, and where to; nowhere where a trace never comes to it, but its channel is watched all the same.
    pub(crate) step: Option<(i64, i64)>,
    pub(crate) is_send: bool,
    pub(crate) channel: Channel,
    /// The values of its fields, where they are given.
    pub(crate) fields: Vec<Option<Expr>>,
}

/// A message that is sent or received: the declaration of its channel, the number of the first of these, and which it is.
pub(crate) struct Message<'m> {
    pub(crate) is_send: bool,
    pub(crate) group: usize,
    pub(crate) first: i64,
    pub(crate) index: &'m Expr,
    pub(crate) fields: &'m [Expr],
}

impl Watch {
    fn here(&self) -> Expr {
        Expr::element(self.counter, Expr::Const(0))
    }

    /// What happens to it when a message is sent to a channel, or received from it.
    pub(crate) fn ops(&self, message: &Message<'_>) -> Vec<Op> {
        let mut scope: Vec<Expr> = Vec::new();
        let mut described: Vec<(&Event, (i64, i64), Expr)> = Vec::new();
        for event in self.events.iter().filter(|event| event.is_send == message.is_send) {
            let same = event.is_of(message);
            if same == Expr::FALSE {
                continue;
            }
            if let Some(step) = event.step {
                let now = self.here().equals(step.0).and(same.clone()).and(event.is_like(message.fields));
                described.push((event, step, now));
            }
            if !scope.contains(&same) {
                scope.push(same);
            }
        }
        let scope = Expr::any(scope);
        if scope == Expr::FALSE {
            return Vec::new();
        }
        let mut ops = Vec::new();
        for (at, (event, (from, _), now)) in described.iter().enumerate() {
            let beside = described[..at].iter().filter(|(other, step, _)| step.0 == *from && !other.excludes(event));
            for (_, _, other) in beside {
                ops.push(Op::Check(other.clone().and(now.clone()).negate(), self.ambiguous));
            }
        }
        let any = Expr::any(described.iter().map(|(_, _, now)| now.clone()).collect());
        let here = self.here();
        // What has gone wrong once, or another way, is not looked for again.
        let otherwise = if self.is_required { here.clone() } else { Expr::Const(self.end) };
        let wrong = match self.is_required {
            true => scope.clone().and(any.negate()),
            false => {
                let last = described.iter().filter(|(_, (_, to), _)| *to == self.end);
                Expr::any(last.map(|(_, _, now)| now.clone()).collect())
            }
        };
        if wrong != Expr::FALSE {
            ops.push(Op::Check(wrong.negate(), self.wrong));
        }
        let choose = |next, (_, (_, to), now)| Expr::choose(now, Expr::Const(to), next);
        let next = described.into_iter().rev().fold(otherwise, choose);
        let place = birk_ir::Place { variable: self.counter, index: Some(Expr::Const(0)) };
        ops.push(Op::Assign(place, Expr::choose(scope, next, here)));
        ops
    }
}

impl Event {
    /// Whether it is about the channel of a message.
    fn is_of(&self, message: &Message<'_>) -> Expr {
        match &self.channel {
            Channel::Fixed { group, .. } if *group != message.group => Expr::FALSE,
            Channel::Fixed { index, .. } => Expr::binary(BinaryOp::Eq, message.index.clone(), index.clone()),
            Channel::Number(number) => {
                let own = Expr::binary(BinaryOp::Add, Expr::Const(message.first), message.index.clone());
                Expr::binary(BinaryOp::Eq, own, number.clone())
            }
        }
    }

    /// Whether the fields of a message are as they are described.
    fn is_like(&self, fields: &[Expr]) -> Expr {
        let given = self.fields.iter().zip(fields).filter_map(|(wanted, field)| Some((wanted.clone()?, field)));
        Expr::all(given.map(|(wanted, field)| Expr::binary(BinaryOp::Eq, field.clone(), wanted)).collect())
    }

    /// Whether no message is both.
    fn excludes(&self, other: &Self) -> bool {
        let differ = |a: &Expr, b: &Expr| matches!((a, b), (Expr::Const(a), Expr::Const(b)) if a != b);
        let channels = match (&self.channel, &other.channel) {
            (Channel::Fixed { group, index }, Channel::Fixed { group: others, index: at }) => {
                group != others || differ(index, at)
            }
            _ => false,
        };
        let mut fields = self.fields.iter().zip(&other.fields);
        channels || fields.any(|both| matches!(both, (Some(a), Some(b)) if differ(a, b)))
    }
}
