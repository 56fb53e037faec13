//! Where a search was cut off: the states that it reached and did not expand, and the steps that it did not take.

use std::ops::ControlFlow;

use birk_ir::Stop;

use crate::model::Model;
use crate::successors::Successors;

/// The edge of what was explored. Empty after a complete search, and where a search ended at what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cutoff {
    /// States (and results of failing checks) that were reached, and of which not all steps were taken.
    pub states: u64,
    /// That is an estimate, within about a hundredth: there were too many to tell apart.
    pub is_estimate: bool,
    /// How many of them were examined, to see what can happen there.
    pub examined: u64,
    /// For each transition, how many steps by it lead from those that were examined to where the search did not go.
    /// No step from a state of the frontier was taken; of a state at the depth limit, those to unknown states were not.
    pub open: Vec<u64>,
}

impl Cutoff {
    /// Nothing is cut off, in a model with this many transitions.
    pub fn new(transitions: usize) -> Self {
        Self { open: vec![0; transitions], ..Self::default() }
    }

    /// Both together.
    pub fn join(&mut self, other: &Cutoff) {
        self.states += other.states;
        self.is_estimate |= other.is_estimate;
        self.examined += other.examined;
        self.open.resize(self.open.len().max(other.open.len()), 0);
        self.open.iter_mut().zip(&other.open).for_each(|(open, more)| *open += more);
    }

    /// The steps of a batch from one on, all from one state at the edge: each is open, or was taken. Whether one is open.
    pub fn edge(
        &mut self,
        batch: &Successors,
        from: usize,
        fired: &mut [bool],
        mut is_known: impl FnMut(&[u32]) -> bool,
    ) -> bool {
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
        is_open
    }

    /// Counts a state at the edge if one of its steps is open.
    #[inline]
    pub fn count(&mut self, is_open: bool) {
        self.states += u64::from(is_open);
        self.examined += u64::from(is_open);
    }

    /// Both, for all steps of a state.
    pub fn edge_of(
        &mut self,
        (model, batch, state): (&dyn Model, &mut Successors, &[u32]),
        fired: &mut [bool],
        mut is_known: impl FnMut(&[u32]) -> bool,
    ) {
        let mut is_open = false;
        let _ = batch.each_part(model, state, |part| {
            is_open |= self.edge(part, 0, fired, &mut is_known);
            ControlFlow::<()>::Continue(())
        });
        self.count(is_open);
    }

    /// Whether a step leads to where the search did not go.
    pub fn is_open(&self) -> bool {
        self.states > 0
    }

    /// Why a search ended with this cutoff.
    pub fn ends(&self, flow: ControlFlow<Stop>) -> Stop {
        match flow {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) if self.is_open() => Stop::Depth,
            ControlFlow::Continue(()) => Stop::Exhausted,
        }
    }
}
