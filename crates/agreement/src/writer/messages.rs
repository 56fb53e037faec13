//! Channels, and what is sent and received.

use birk_lang::ast::{ChannelMarks, Expr, Pattern, Type};

use super::{ANY, Writer};

impl Writer<'_> {
    pub(super) fn channel(&mut self, marks: ChannelMarks, element: &Type, capacity: &Expr) {
        self.put(if marks.lossy { "lossy " } else { "" });
        self.put(if marks.duplicating { "duplicating " } else { "" });
        self.put(if marks.reordering { "reordering " } else { "" });
        self.put("channel of ");
        self.holding(element, capacity);
    }

    /// `send c (a, b)`
    pub(super) fn message(&mut self, word: &str, channel: &Expr, values: &[Expr]) {
        self.put(word);
        self.put(" ");
        self.expr(channel, ANY, true);
        self.put(" (");
        self.list(&values.iter().collect::<Vec<_>>());
        self.put(")");
    }

    pub(super) fn broadcast(&mut self, channels: &Expr, values: &[Expr], except: Option<&Expr>) {
        self.message("broadcast", channels, values);
        if let Some(except) = except {
            self.put(" except ");
            self.expr(except, ANY, true);
        }
    }

    pub(super) fn receive(&mut self, channel: &Expr, patterns: &[Pattern], condition: Option<&Expr>) {
        self.put("receive ");
        self.expr(channel, ANY, true);
        self.put(" (");
        for (i, pattern) in patterns.iter().enumerate() {
            self.put(if i == 0 { "" } else { ", " });
            match pattern {
                Pattern::Any(_) => self.put("_"),
                Pattern::Equal(expr) => self.expr(expr, ANY, true),
                Pattern::Bind(place) => {
                    self.put("?");
                    self.expr(place, ANY, true);
                }
            }
        }
        self.put(")");
        if let Some(condition) = condition {
            self.put(" when ");
            self.expr(condition, ANY, true);
        }
    }
}
