//! What people are shown of a state: variables element by element, channels as queues with the oldest message first.

use crate::ids::VarId;
use crate::program::{Channel, Program};
use crate::text::indexed;

/// One thing with a name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// An element of a variable.
    Element(VarId, u32),
    /// A channel by its position in the program, and which of an array of channels it is.
    Queue(usize, u32),
}

impl Program {
    /// Everything that is shown of a state, in order.
    pub fn shown(&self) -> impl Iterator<Item = Shown> + '_ {
        self.grouped(self.visible_elements())
    }

    /// What is shown of these elements, in their order: each channel once.
    pub fn grouped<'p>(
        &'p self,
        elements: impl Iterator<Item = (VarId, u32)> + 'p,
    ) -> impl Iterator<Item = Shown> + 'p {
        let mut queues = Vec::new();
        elements.map(|(variable, element)| self.shown_as(variable, element)).filter(move |shown| {
            let is_again = queues.contains(shown);
            if matches!(shown, Shown::Queue(..)) && !is_again {
                queues.push(*shown);
            }
            !is_again
        })
    }

    /// What an element is shown as.
    pub fn shown_as(&self, variable: VarId, element: u32) -> Shown {
        let holds = |channel: &Channel| channel.length == variable || channel.contents.contains(&variable);
        match self.channels.iter().position(holds) {
            Some(channel) => {
                let own = self.variable(variable).len() / self.variable(self.channels[channel].length).len().max(1);
                Shown::Queue(channel, element / own.max(1))
            }
            None => Shown::Element(variable, element),
        }
    }

    /// Its name: `x`, `fork[2]`, `c`, `inbox[1]`.
    pub fn shown_name(&self, shown: Shown) -> String {
        match shown {
            Shown::Element(variable, element) => self.element_name(variable, element),
            Shown::Queue(channel, copy) => {
                let channel = &self.channels[channel];
                indexed(channel.name.clone(), &self.variable(channel.length).shape, copy)
            }
        }
    }

    /// Its value: `3`, `{1, 3}`, `[(Data, 1), (Ack, 0)]`.
    pub fn shown_value(&self, shown: Shown, state: &[u32]) -> String {
        match shown {
            Shown::Element(variable, element) => {
                self.variable(variable).value_text(self.layout.slot(variable).get(state, element))
            }
            Shown::Queue(channel, copy) => {
                let channel = &self.channels[channel];
                let length = self.layout.slot(channel.length).get(state, copy);
                let messages = (0..length).map(|at| self.message_text(channel, copy, at as u32, state));
                format!("[{}]", messages.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The message at a place of a channel: its only value, or all of them in parentheses.
    fn message_text(&self, channel: &Channel, copy: u32, at: u32, state: &[u32]) -> String {
        let capacity = self.variable(channel.length).hi as u32;
        let mut values = Vec::new();
        for &id in &channel.contents {
            let (variable, slot) = (self.variable(id), self.layout.slot(id));
            let own = variable.len() / (self.variable(channel.length).len() * capacity).max(1);
            let first = (copy * capacity + at) * own;
            values.extend((first..first + own).map(|element| variable.value_text(slot.get(state, element))));
        }
        match &values[..] {
            [value] => value.clone(),
            _ => format!("({})", values.join(", ")),
        }
    }
}
