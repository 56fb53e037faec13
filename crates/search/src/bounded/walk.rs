//! The one state that a search has before it, and the way back from it: what each step changed.
//!
//! A step's delta is the exclusive or of both states, so the same delta leads on and back.

use birk_engine::{Model, Successors};

use super::trace_tree::common;
use crate::store::codec::memo::{Changes, changes};

/// How to get to a state, in how many steps, back and on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) way: Way,
    pub(crate) steps: u64,
}

/// Where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Where the traces part.
    Back,
    /// At the initial state.
    Start,
    /// At a state on the way that was kept, after so many positions.
    Anchor(usize),
}

impl Path {
    /// How many positions will be left when it is not possible to go back any further.
    pub(crate) fn base(self, before: usize) -> usize {
        match self.way {
            Way::Back => before,
            Way::Start => 1,
            Way::Anchor(length) => length,
        }
    }
}

/// The shortest way to a state whose trace has so many positions, from one whose trace has `here` and shares some with it,
/// if it is possible to go back to `base`.
pub(crate) fn way(here: usize, base: usize, shared: usize, length: usize, anchor: Option<usize>) -> Path {
    let back = (shared >= base.max(1)).then(|| Path { way: Way::Back, steps: (here + length - 2 * shared) as u64 });
    let start = Path { way: Way::Start, steps: length as u64 - 1 };
    let anchor = anchor.map(|kept| Path { way: Way::Anchor(kept), steps: (length - kept) as u64 });
    back.into_iter().chain(anchor).chain([start]).min_by_key(|path| path.steps).expect("there is one")
}

/// A state with its trace from an initial state.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) state: Vec<u32>,
    /// Positions, as in the frontier.
    pub(crate) trace: Vec<u32>,
    /// It is possible to go back until this many positions are left.
    base: usize,
    /// The deltas of the steps since then, and where each begins.
    deltas: Changes,
    starts: Vec<usize>,
    /// Steps that were taken back and taken again to get to states.
    pub(crate) replayed: u64,
}

impl Walk {
    /// Nowhere yet.
    pub(crate) fn new(words: usize) -> Self {
        Self { state: vec![0; words], trace: Vec::new(), base: 0, deltas: Vec::new(), starts: Vec::new(), replayed: 0 }
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        (self.deltas.capacity() * 8 + self.starts.capacity() * 8 + self.trace.capacity() * 4) as u64
    }

    /// Takes a step to a successor whose delta is known.
    pub(crate) fn step(&mut self, position: u32, delta: &[(u32, u32)]) {
        self.starts.push(self.deltas.len());
        self.deltas.extend_from_slice(delta);
        self.trace.push(position);
        apply(&mut self.state, delta);
    }

    /// Takes the last step back.
    pub(crate) fn back(&mut self) {
        let start = self.starts.pop().expect("only steps that were taken are taken back");
        apply(&mut self.state, &self.deltas[start..]);
        self.deltas.truncate(start);
        self.trace.pop();
    }

    /// Starts from an initial state.
    pub(crate) fn start(&mut self, position: u32, initial: &[u32]) {
        self.state.copy_from_slice(initial);
        self.jump(&[position]);
    }

    /// The state was written from elsewhere: this is its trace, and there is no way back.
    pub(crate) fn jump(&mut self, trace: &[u32]) {
        self.trace.clear();
        self.trace.extend_from_slice(trace);
        self.base = trace.len();
        self.deltas.clear();
        self.starts.clear();
    }

    /// Goes to the state of a trace: from where the traces part, from an anchor, or from the initial state. False if there is
    /// no such state.
    pub(crate) fn go(
        &mut self,
        trace: &[u32],
        anchor: Option<(usize, &[u32])>,
        model: &dyn Model,
        initial: &Successors,
        batch: &mut Successors,
    ) -> bool {
        let shared = common(&self.trace, trace);
        let path = way(self.trace.len(), self.base, shared, trace.len(), anchor.map(|(length, _)| length));
        match (path.way, anchor) {
            (Way::Anchor(length), Some((_, state))) => {
                self.state.copy_from_slice(state);
                self.jump(&trace[..length]);
            }
            (Way::Back, _) => (shared..self.trace.len()).for_each(|_| self.back()),
            _ => self.start(trace[0], initial.state(trace[0] as usize)),
        }
        self.replayed += path.steps;
        let mut delta = Changes::new();
        for &position in &trace[self.trace.len()..] {
            let Some(place) = batch.nth(model, &self.state, position) else { return false };
            changes(batch.state(place), &self.state, &mut delta);
            self.step(position, &delta);
        }
        true
    }
}

fn apply(state: &mut [u32], delta: &[(u32, u32)]) {
    for &(word, change) in delta {
        state[word as usize] ^= change;
    }
}
