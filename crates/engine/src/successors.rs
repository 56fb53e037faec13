//! Successors in batches, so that stores can prefetch. A step may have millions of branches: the successors of such a state come
//! in parts, so that a search can look at its limits in between.

use std::any::Any;
use std::ops::ControlFlow;

use birk_ir::{Step, TransitionId};

use crate::model::Model;

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
    /// Whether a reduction withheld steps of the state that was expanded last.
    pub is_withheld: bool,
    /// Whether a search may forget the state that was expanded last, because a single step leads on.
    pub is_transient: bool,
    /// Room for a model's own values while it computes; has no meaning between calls.
    pub scratch: Vec<i64>,
    /// One call adds about this many.
    most: usize,
    /// Where the last call left off, in the model's own terms.
    rest: Option<Rest>,
    /// Room for the batch of the model that a layer wraps; has a meaning only while there is a rest.
    below: Option<Box<Successors>>,
    /// Room for the own values of layers, which have no meaning between calls; one of each type.
    layers: Vec<Box<dyn Any + Send + Sync>>,
}

/// Where a model left off among the successors of a state.
#[derive(Clone, Debug)]
pub struct Rest {
    state: Box<[u32]>,
    place: Vec<i64>,
}

/// The most successors of a part, and the most bytes of their states.
const PART: usize = 1 << 16;
const PART_BYTES: usize = 4 << 20;
/// Up to so many bytes of states, room is made for twice as many as are needed.
const FEW_BYTES: usize = 1 << 20;

impl Successors {
    /// An empty batch for states of this many words, which takes all successors of a state at once.
    pub fn new(words: usize) -> Self {
        Self {
            words,
            len: 0,
            states: Vec::new(),
            steps: Vec::new(),
            cut: 0,
            is_withheld: false,
            is_transient: false,
            scratch: Vec::new(),
            most: usize::MAX,
            rest: None,
            below: None,
            layers: Vec::new(),
        }
    }

    /// The same for a caller that asks for the rest while there is one.
    pub fn in_parts(words: usize) -> Self {
        Self { most: Self::part(words), ..Self::new(words) }
    }

    /// The most successors of a part, in a model whose states have this many words.
    pub fn part(words: usize) -> usize {
        (PART_BYTES / (words * 4).max(1)).clamp(1, PART)
    }

    /// One call adds about this many successors, or all where they are wanted at once.
    #[inline]
    pub fn most(&self) -> usize {
        self.most
    }

    /// From now on parts are no larger than this.
    pub fn narrow(&mut self, most: usize) {
        if self.most < usize::MAX {
            self.most = self.most.min(most.max(1));
        }
    }

    /// Whether there are more successors of the state.
    #[inline]
    pub fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// Nobody will ask for the rest, or somebody else will.
    pub fn take_rest(&mut self) -> Option<Rest> {
        self.rest.take()
    }

    /// The next successors are those of a rest that was taken.
    pub fn give_rest(&mut self, rest: Rest) {
        self.rest = Some(rest);
    }

    /// For a model: where to continue with a state, if this is not its first part.
    #[inline]
    pub fn resume(&mut self, state: &[u32]) -> Option<Vec<i64>> {
        let Rest { state: of, place } = self.rest.take()?;
        assert!(*of == *state, "the rest of a state is asked for before another one is expanded");
        Some(place)
    }

    /// For a model: there are more successors, from this place on.
    pub fn leave(&mut self, state: &[u32], place: Vec<i64>) {
        self.rest = Some(Rest { state: state.into(), place });
    }

    /// For a layer: an empty batch for the model that it wraps, and the place that it left, if this is not the first part.
    pub fn begin_below(&mut self, words: usize, state: &[u32]) -> (Box<Successors>, Option<Vec<i64>>) {
        let mut below = self.below.take().unwrap_or_else(|| Box::new(Successors::new(words)));
        below.clear();
        below.most = self.most;
        let place = self.resume(state);
        if place.is_none() {
            below.rest = None;
        }
        (below, place)
    }

    /// For a layer: gives that batch back; where there is a rest below, there is one here.
    pub fn end_below(&mut self, below: Box<Successors>, state: &[u32], place: impl FnOnce() -> Vec<i64>) {
        if below.has_rest() {
            self.leave(state, place());
        }
        self.below = Some(below);
    }

    /// Appends the rest of the successors of a state, for whoever needs all of them at once; asks before each part whether to
    /// go on, given the bytes of the batch with it.
    #[cold]
    pub fn append_rest<B>(
        &mut self,
        model: &dyn Model,
        state: &[u32],
        mut may_go_on: impl FnMut(u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        while self.has_rest() {
            let size = self.size_for(self.len + self.most) * (self.words * 4 + size_of::<Step>());
            if let ControlFlow::Break(end) = may_go_on(size as u64) {
                self.rest = None;
                return ControlFlow::Break(end);
            }
            model.successors(state, self);
        }
        ControlFlow::Continue(())
    }

    /// Replaces what is in the batch by part after part of the successors of a state, until `hear` ends that.
    pub fn each_part<B>(
        &mut self,
        model: &dyn Model,
        state: &[u32],
        mut hear: impl FnMut(&Self) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        loop {
            self.clear();
            model.successors(state, self);
            let flow = hear(self);
            if flow.is_break() {
                self.rest = None;
            }
            if flow.is_break() || !self.has_rest() {
                return flow;
            }
        }
    }

    /// The first successor of a state of which this is true. The part that it is in stays in the batch.
    pub fn find(
        &mut self,
        model: &dyn Model,
        state: &[u32],
        mut is_wanted: impl FnMut(Step, &[u32]) -> bool,
    ) -> Option<usize> {
        let found = self.each_part(model, state, |part| {
            match (0..part.len()).find(|&i| is_wanted(part.step(i), part.state(i))) {
                Some(index) => ControlFlow::Break(index),
                None => ControlFlow::Continue(()),
            }
        });
        found.break_value()
    }

    /// The successor of a state at a position among all of them. The part that it is in stays in the batch.
    pub fn nth(&mut self, model: &dyn Model, state: &[u32], position: u32) -> Option<usize> {
        let mut left = position as usize;
        let found = self.each_part(model, state, |part| match left.checked_sub(part.len()) {
            Some(more) => {
                left = more;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(left),
        });
        found.break_value()
    }

    /// Whether the state whose successors were asked for when there were so many, and so many cut, has no step.
    #[inline]
    pub fn is_stuck_since(&self, len: usize, cut: u64) -> bool {
        self.len == len && self.cut == cut && self.rest.is_none() && !self.is_withheld
    }

    /// For a layer: its room, as it was given back last.
    pub fn take_room<T: Any + Send + Sync + Default>(&mut self) -> Box<T> {
        let place = self.layers.iter().position(|room| room.is::<T>());
        place.and_then(|place| self.layers.swap_remove(place).downcast().ok()).unwrap_or_default()
    }

    /// For a layer: gives its room back.
    pub fn give_room<T: Any + Send + Sync>(&mut self, room: Box<T>) {
        self.layers.push(room);
    }

    /// Bytes it occupies.
    pub fn bytes(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |below| below.bytes());
        (self.states.capacity() * 4 + self.steps.capacity() * size_of::<Step>()) as u64 + below
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
            self.grow(needed);
        }
        (&mut self.states[self.len * self.words..], &mut self.steps[self.len..])
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        let size = self.size_for(needed);
        self.steps.reserve_exact(size - self.steps.len());
        self.states.reserve_exact(size * self.words - self.states.len());
        self.steps.resize(size, Step { transition: TransitionId(0), choice: 0 });
        self.states.resize(size * self.words, 0);
    }

    /// How many there is room for once this many are needed: more, but little more where that takes much memory.
    fn size_for(&self, needed: usize) -> usize {
        let many = (FEW_BYTES / (self.words * 4).max(1)).max(1);
        if needed > many { needed + needed / 8 } else { needed.next_power_of_two().max(many.min(64)) }
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

    /// The states from a position on, to be replaced by others.
    #[inline]
    pub fn states_mut(&mut self, from: usize) -> impl Iterator<Item = &mut [u32]> {
        let words = self.words;
        self.states[from * words..self.len * words].chunks_exact_mut(words.max(1))
    }

    /// The steps from a position on.
    #[inline]
    pub fn steps(&self, from: usize) -> &[Step] {
        &self.steps[from..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_states_get_little_room_beyond_what_they_need() {
        for (words, count, most) in [(1, 1, 1 << 10), (50_000, 1, 1 << 20), (50_000, 100, 24_000_000)] {
            let mut batch = Successors::new(words);
            let state = vec![7; words];
            (0..count).for_each(|_| batch.push(TransitionId(0), 0, &state));
            assert!((0..count).all(|i| batch.state(i) == state));
            assert!(batch.bytes() <= most, "{count} of {words} words: {} bytes", batch.bytes());
        }
    }
}
