//! The waist of Birk: what engines know of the thing they search.
//!
//! A compiled program, a product with an automaton, a reduction and a model written in Rust are all `impl Model`.
//! Successors go out in batches, so that stores can prefetch. A step may have millions of outcomes: the successors of such a
//! state come in parts, so that a search can look at its limits in between.

use birk_ir::Field;

use crate::monitor::Watched;
use crate::successors::Successors;

/// The estimate of a state from which there is no path to a goal.
pub const NEVER: u32 = u32::MAX;

/// Something with states and steps. The order of `initial` and `successors` is deterministic: traces count on it.
pub trait Model: Sync {
    /// Length of a state in 32-bit words.
    fn words(&self) -> usize;

    /// The bits of a state that can be other than 0, in runs, ordered so that those that change together are near each
    /// other: what a store must keep, and where it may split.
    fn fields(&self) -> Vec<Field> {
        (0..self.words() as u32).map(|word| Field { word, shift: 0, bits: 32 }).collect()
    }

    /// Appends the initial states.
    fn initial(&self, out: &mut Successors);

    /// Appends the successors of a state: all of them, or, where there are more than the batch takes at once, the next
    /// part, and leaves in the batch where to continue. A state without a step, taken or cut, has no rest.
    fn successors(&self, state: &[u32], out: &mut Successors);

    /// Which goals a state satisfies; `stuck` says that it has no step, taken or cut.
    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet;

    /// Whether these words can be a state, as far as can be seen from them: other words are not to be expanded or evaluated.
    fn is_state(&self, _words: &[u32]) -> bool {
        true
    }

    /// Whether this is the result of a failing check: evaluated, but neither expanded nor counted as a state.
    fn is_fault(&self, _state: &[u32]) -> bool {
        false
    }

    /// A lower bound on the steps from a state to the nearest goal, which no step lowers by more than 1; `NEVER` if there
    /// is no way. The room has no meaning between calls.
    fn estimate(&self, _state: &[u32], _room: &mut Vec<u32>) -> u32 {
        0
    }

    /// How many transitions there are: `Step::transition` is below this.
    fn transitions(&self) -> usize;

    /// The words that a transition can change, in order; `None` where that is not known.
    fn written(&self, _transition: usize) -> Option<Vec<u32>> {
        None
    }

    /// A search that holds so many states may forget others, if any: `Successors::is_transient` says which, once they are expanded.
    fn forgets_beyond(&self) -> Option<u64> {
        None
    }

    /// The two parts of a product with an automaton, if it is one: what many of its states have in common can then be
    /// kept once.
    fn watched(&self) -> Option<Watched<'_>> {
        None
    }
}

/// A set of goals, by their position in the list the model was built with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoalSet(pub u64);

impl GoalSet {
    /// How many goals one search can hunt.
    pub const CAPACITY: usize = 64;

    /// Adds a goal.
    pub fn insert(&mut self, goal: usize) {
        self.0 |= 1 << goal;
    }

    /// Whether a goal is in the set.
    pub fn contains(self, goal: usize) -> bool {
        self.0 >> goal & 1 == 1
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The goals in it, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::CAPACITY).filter(move |&goal| self.contains(goal))
    }
}
