//! One expansion step, as every explicit search takes it: the successors of a state, whether it is stuck, the goals that it meets,
//! and the transitions that were fired.

use birk_engine::{GoalSet, Model, Successors};

/// What an expansion showed of a state; its successors, or the first part of very many, are at the end of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expanded {
    /// Where they begin.
    pub(crate) from: usize,
    /// How many outcomes an `assume` cut among them.
    pub(crate) cut: u64,
    /// It has no step.
    pub(crate) is_stuck: bool,
}

/// Appends the successors of a state to a batch.
#[inline(always)]
pub(crate) fn expand(model: &dyn Model, state: &[u32], batch: &mut Successors) -> Expanded {
    let (from, cut) = (batch.len(), batch.cut);
    model.successors(state, batch);
    Expanded { from, cut: batch.cut - cut, is_stuck: batch.is_stuck_since(from, cut) }
}

impl Expanded {
    /// The goals that the state meets.
    #[inline(always)]
    pub(crate) fn goals(self, model: &dyn Model, state: &[u32]) -> GoalSet {
        model.evaluate(state, self.is_stuck)
    }
}

/// Notes the transitions that led to the successors from one on.
#[inline]
pub(crate) fn note_fired(batch: &Successors, from: usize, fired: &mut [bool]) {
    for step in batch.steps(from) {
        fired[step.transition.index()] = true;
    }
}
