//! Where a search was cut: the states that it reached and did not follow further, and the steps that it did not take.

use std::ops::ControlFlow;

use birk_exec::{Model, Successors};
use birk_ir::Stop;

/// Of the states that wait when a search is ended early, so many are looked at, spread evenly over them.
const MOST: u64 = 10_000;

/// The edge of what was searched. Empty after a complete search, and where a search ended at what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Border {
    /// States (and results of failing checks) that were reached, and of which not all steps were taken.
    pub states: u64,
    /// How many of them were looked at, to see what can happen there.
    pub looked_at: u64,
    /// For each transition, how many steps by it lead from those that were looked at to where the search did not go.
    /// No step from a state that waited was taken; of a state at the depth limit, those to unknown states were not.
    pub open: Vec<u64>,
}

impl Border {
    /// Nothing is cut, in a model with this many transitions.
    pub(crate) fn new(transitions: usize) -> Self {
        Self { states: 0, looked_at: 0, open: vec![0; transitions] }
    }

    /// Both together.
    pub(crate) fn join(&mut self, other: &Border) {
        self.states += other.states;
        self.looked_at += other.looked_at;
        self.open.resize(self.open.len().max(other.open.len()), 0);
        self.open.iter_mut().zip(&other.open).for_each(|(open, more)| *open += more);
    }

    /// The steps of a batch from one on, all from one state at the edge: each is open, or was taken.
    pub(crate) fn edge(
        &mut self,
        batch: &Successors,
        from: usize,
        fired: &mut [bool],
        mut is_known: impl FnMut(&[u32]) -> bool,
    ) {
        let mut is_open = false;
        for i in from..batch.len() {
            let transition = batch.step(i).transition.index();
            match is_known(batch.state(i)) {
                true => fired[transition] = true,
                false => {
                    self.open[transition] += 1;
                    is_open = true;
                }
            }
        }
        self.states += u64::from(is_open);
        self.looked_at += u64::from(is_open);
    }

    /// Whether a step leads to where the search did not go.
    pub(crate) fn is_open(&self) -> bool {
        self.states > 0
    }

    /// Why a search ended that has this border.
    pub(crate) fn ends(&self, flow: ControlFlow<Stop>) -> Stop {
        match flow {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) if self.is_open() => Stop::Depth,
            ControlFlow::Continue(()) => Stop::Exhausted,
        }
    }
}

/// Looks at states that wait.
pub(crate) struct Survey<'m> {
    model: &'m dyn Model,
    batch: Successors,
    border: Border,
    /// One in so many is looked at.
    stride: u64,
}

impl<'m> Survey<'m> {
    /// Of about this many states.
    pub(crate) fn new(model: &'m dyn Model, about: u64) -> Self {
        let border = Border::new(model.transitions());
        Self { model, batch: Successors::new(model.words()), border, stride: about.div_ceil(MOST).max(1) }
    }

    /// Counts a state that waits; whether it is one of those to look at.
    pub(crate) fn counts(&mut self) -> bool {
        self.border.states += 1;
        (self.border.states - 1).is_multiple_of(self.stride)
    }

    /// Looks at the state that was counted.
    pub(crate) fn look(&mut self, state: &[u32]) {
        self.look_beyond(state, &mut [], |_| false);
    }

    /// The same, where steps were followed: those to known states were taken.
    pub(crate) fn look_beyond(&mut self, state: &[u32], fired: &mut [bool], mut is_known: impl FnMut(&[u32]) -> bool) {
        self.batch.clear();
        self.model.successors(state, &mut self.batch);
        self.border.looked_at += 1;
        for i in 0..self.batch.len() {
            let transition = self.batch.step(i).transition.index();
            match is_known(self.batch.state(i)) {
                true => fired[transition] = true,
                false => self.border.open[transition] += 1,
            }
        }
    }

    /// Both, for a state that is at hand.
    pub(crate) fn wait(&mut self, state: &[u32]) {
        if self.counts() {
            self.look(state);
        }
    }

    /// What was seen.
    pub(crate) fn border(self) -> Border {
        self.border
    }
}
