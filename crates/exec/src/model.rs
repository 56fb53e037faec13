//! The waist of Birk: what engines know of the thing they search.
//!
//! A compiled program, a product with an automaton, a reduction and a model written in Rust are all `impl Model`.
//! Successors go out in batches, so that stores can prefetch.

use birk_ir::{Field, Step, TransitionId};

use crate::product::Product;

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

    /// Appends the successors of a state.
    fn successors(&self, state: &[u32], out: &mut Successors);

    /// Which goals a state satisfies; `stuck` says that it has no step, taken or cut.
    fn judge(&self, state: &[u32], stuck: bool) -> GoalSet;

    /// Whether these words can be a state, as far as can be seen from them: other words are not to be expanded or judged.
    fn is_state(&self, _words: &[u32]) -> bool {
        true
    }

    /// Whether this is the result of a failing check: judged, but neither expanded nor counted as a state.
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

    /// The same as a product with an automaton, if it is one: what many of its states have in common can then be kept
    /// once.
    fn as_product(&self) -> Option<&Product<'_>> {
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

/// A reusable batch of successors, each with the step that led to it.
#[derive(Debug)]
pub struct Successors {
    words: usize,
    len: usize,
    /// Longer than `len` asks for: what lies behind is room that was written before.
    states: Vec<u32>,
    steps: Vec<Step>,
    /// Outcomes that an `assume` cut.
    pub cut: u64,
    /// Room for a model's own values while it computes; has no meaning between calls.
    pub scratch: Vec<i64>,
    /// Room for the batch of the model that a layer wraps; has no meaning between calls.
    pub below: Option<Box<Successors>>,
}

impl Successors {
    /// An empty batch for states of this many words.
    pub fn new(words: usize) -> Self {
        Self { words, len: 0, states: Vec::new(), steps: Vec::new(), cut: 0, scratch: Vec::new(), below: None }
    }

    /// Forgets the states and steps; `cut` goes on counting.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets all but the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Takes the one at a position out; those behind it move up.
    pub fn remove(&mut self, index: usize) {
        let words = self.words;
        self.states.copy_within((index + 1) * words..self.len * words, index * words);
        self.steps.copy_within(index + 1..self.len, index);
        self.len -= 1;
    }

    /// Keeps of those from a position on the ones of which this is true, given their steps and states.
    #[inline]
    pub fn retain(&mut self, from: usize, mut is_kept: impl FnMut(Step, &[u32]) -> bool) {
        let (words, mut to) = (self.words, from);
        for index in from..self.len {
            if is_kept(self.steps[index], &self.states[index * words..(index + 1) * words]) {
                if to < index {
                    let (before, here) = self.states.split_at_mut(index * words);
                    // States are short: a call that copies takes longer than to copy.
                    before[to * words..(to + 1) * words].iter_mut().zip(here).for_each(|(to, from)| *to = *from);
                    self.steps[to] = self.steps[index];
                }
                to += 1;
            }
        }
        self.len = to;
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length of a state in words.
    #[inline]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Adds a state.
    pub fn push(&mut self, transition: TransitionId, choice: u32, state: &[u32]) {
        let (states, steps) = self.room(1);
        states[..state.len()].copy_from_slice(state);
        steps[0] = Step { transition, choice };
        self.advance(1);
    }

    /// Room behind the last successor for at least this many more, to be written directly.
    #[inline]
    pub fn room(&mut self, more: usize) -> (&mut [u32], &mut [Step]) {
        let needed = self.len + more;
        if self.steps.len() < needed {
            let size = needed.next_power_of_two().max(64);
            self.steps.resize(size, Step { transition: TransitionId(0), choice: 0 });
            self.states.resize(size * self.words, 0);
        }
        (&mut self.states[self.len * self.words..], &mut self.steps[self.len..])
    }

    /// Takes what was written to the room as successors.
    #[inline]
    pub fn advance(&mut self, more: usize) {
        self.len += more;
        assert!(self.len <= self.steps.len(), "successors are written to the room that was asked for");
    }

    /// The state at a position.
    #[inline]
    pub fn state(&self, index: usize) -> &[u32] {
        &self.states[..self.len * self.words][index * self.words..(index + 1) * self.words]
    }

    /// The states from a position on, one behind the other.
    #[inline]
    pub fn states(&self, from: usize) -> &[u32] {
        &self.states[from * self.words..self.len * self.words]
    }

    /// The step that led to the state at a position.
    #[inline]
    pub fn step(&self, index: usize) -> Step {
        self.steps[..self.len][index]
    }

    /// The steps from a position on.
    #[inline]
    pub fn steps(&self, from: usize) -> &[Step] {
        &self.steps[from..self.len]
    }
}
