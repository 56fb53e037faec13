//! The one state that a search has before it, and the way back from it: what each step changed.
//!
//! A step's delta is the exclusive or of both states, so the same delta leads on and back.

use birk_exec::{Model, Successors};

use super::list::common;
use crate::codec::memo::{Changes, changes};

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
    /// Steps that were taken again to get to states.
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

    /// Goes to the state of a trace: back to where the traces part, or from the initial state, and on from there.
    pub(crate) fn go(&mut self, trace: &[u32], model: &dyn Model, initial: &Successors, batch: &mut Successors) {
        let shared = common(&self.trace, trace);
        if shared < self.base.max(1) {
            self.start(trace[0], initial.state(trace[0] as usize));
        }
        while self.trace.len() > shared.max(1) {
            self.back();
        }
        let mut delta = Changes::new();
        for &position in &trace[self.trace.len()..] {
            batch.clear();
            model.successors(&self.state, batch);
            changes(batch.state(position as usize), &self.state, &mut delta);
            self.step(position, &delta);
            self.replayed += 1;
        }
    }
}

fn apply(state: &mut [u32], delta: &[(u32, u32)]) {
    for &(word, change) in delta {
        state[word as usize] ^= change;
    }
}
