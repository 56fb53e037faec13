//! `broadcast`: one message for every channel of an array, in one step.

use birk_ir::{BinaryOp, Expr, Span};

use crate::diagnostic::Diagnostic;
use crate::lower::Step;
use crate::lower::channel::{Channel, number};
use crate::sema::collection::{either, is};
use crate::sema::context::ChannelDecl;
use crate::sema::place::{Indexed, Resolved};
use crate::sema::types::{Ty, Value};
use crate::syntax::ast;

impl Step<'_, '_> {
    /// `broadcast channels (values) except index`: waits until all channels that get the message have room for it.
    pub(super) fn broadcast(
        &mut self,
        channels: &ast::Expr,
        values: &[ast::Expr],
        except: Option<&ast::Expr>,
        span: Span,
    ) {
        let Some((decl, indexed)) = self.array_of_channels(channels) else { return };
        let Some(types) = self.types_sent(&decl.element, values, span) else { return };
        let Some(indexed) = self.steady_place(indexed) else { return };
        let left_out = match except {
            Some(except) => match self.left_out(except, &indexed, channels) {
                Some(left_out) => Some(left_out),
                None => return,
            },
            None => None,
        };
        let all = self.each_channel(&decl, &indexed, channels.span);
        let is_left_out =
            |number: usize| left_out.as_ref().map_or(Value::boolean(Expr::FALSE), |e| is(e, number as i64));
        for (number, channel) in all.iter().enumerate() {
            let length = self.elaborator.element(channel.length(), channels.span).expr;
            let room = Expr::binary(BinaryOp::Lt, length, Expr::Const(i64::from(decl.capacity)));
            self.require(Value::boolean(is_left_out(number).expr.or(room)));
        }
        let Some(parts) = self.sent(values, &types) else { return };
        for (number, channel) in all.iter().enumerate() {
            self.put(channel, &is_left_out(number), &parts, [channels.span, span]);
        }
    }

    /// Puts a message into a channel with room for it, unless that is left out.
    fn put(&mut self, channel: &Channel, left_out: &Value, parts: &[Value], [at, span]: [Span; 2]) {
        if left_out.expr == Expr::TRUE {
            return;
        }
        let length =
            Value { hi: i64::from(channel.decl.capacity) - 1, ..self.elaborator.element(channel.length(), at) };
        let last = either(left_out, number(0), Value { lo: 0, ..length.clone() });
        let slot = channel.slot(last, at);
        for (part, value) in self.elaborator.spread(&slot, at).into_iter().zip(parts) {
            let old = self.elaborator.element(part.clone(), at);
            let target = self.elaborator.target_of(part);
            self.assign(target, either(left_out, old, value.clone()), [at, span, span]);
        }
        let more = Value { expr: Expr::binary(BinaryOp::Add, length.expr.clone(), Expr::Const(1)), ..length.clone() };
        self.set_length(channel, either(left_out, length, more).expr, at);
    }

    /// The channels of an array, in order.
    fn each_channel(&mut self, decl: &ChannelDecl, indexed: &Indexed, at: Span) -> Vec<Channel> {
        let mut all = vec![indexed.clone()];
        for &length in &indexed.shape[indexed.indices.len()..] {
            let with = |channel: &Indexed, index: u32| {
                let mut channel = channel.clone();
                channel.indices.push((number(i64::from(index)), at));
                channel
            };
            all = all.iter().flat_map(|channel| (0..length).map(move |index| with(channel, index))).collect();
        }
        all.into_iter().map(|indexed| Channel { decl: decl.clone(), indexed }).collect()
    }

    /// What is left out: a number, or a value of the symmetric type that numbers the channels.
    fn left_out(&mut self, except: &ast::Expr, indexed: &Indexed, channels: &ast::Expr) -> Option<Value> {
        let given = indexed.indices.len();
        if indexed.shape.len() != given + 1 {
            let message = format!("`{}` needs more than one index", self.elaborator.cx.source(channels.span));
            let help = "`except` names the one that is missing: give the others";
            let diagnostic = Diagnostic::new("E0033", except.span, message, "one index is not enough").help(help);
            self.elaborator.cx.report(diagnostic);
            return None;
        }
        let value = self.elaborator.value(except);
        let value = match value.ty {
            Ty::Symmetric(_) => value,
            _ => self.elaborator.expect(value, Ty::Int, except.span, "an index"),
        };
        let value = self.elaborator.name_as_index(value, indexed.by[given], except.span, channels.span)?;
        if value.ty == Ty::Error {
            return None;
        }
        self.hold(vec![value]).pop()
    }

    /// An array of channels that hold messages.
    fn array_of_channels(&mut self, expr: &ast::Expr) -> Option<(ChannelDecl, Indexed)> {
        let path = self.elaborator.path(expr);
        let cx = &mut self.elaborator.cx;
        let (message, label, help) = match path {
            Resolved::Error => return None,
            Resolved::Variable(indexed) if let Ty::Channel(index) = indexed.scalar.ty => {
                let decl = cx.channels[index].clone();
                let is_array = indexed.indices.len() < indexed.shape.len();
                if is_array && decl.capacity > 0 {
                    return Some((decl, indexed));
                }
                match is_array {
                    true => (
                        "a rendezvous has one receiver, and nobody can wait for several at once".to_owned(),
                        "these channels hold no messages",
                        "give them a capacity, such as `1`",
                    ),
                    false => (
                        format!("`{}` is one channel", cx.source(expr.span)),
                        "expected an array of channels",
                        "write `send`, or leave the index out",
                    ),
                }
            }
            _ => (
                format!("`{}` is not an array of channels", cx.source(expr.span)),
                "expected an array of channels",
                "declare one in the system: `channel of byte [2][N] c;`",
            ),
        };
        cx.report(Diagnostic::new("E0051", expr.span, message, label).help(help));
        None
    }
}
