//! What runs along with a model in a product, as far as engines must know: a state of the product is one of the model and,
//! as its last word, a place of the monitor.

use birk_ir::TransitionId;

use crate::model::Model;

/// The two parts of a product.
#[derive(Clone, Copy)]
pub struct Watched<'m> {
    /// The model that is watched.
    pub model: &'m dyn Model,
    /// What watches it.
    pub monitor: &'m dyn Monitor,
}

/// An automaton that reads the state that is left, with a copy of itself for each fairness condition and one more.
pub trait Monitor: Sync {
    /// How many states it has, without copies.
    fn watchers(&self) -> u32;

    /// How many copies there are: 1 where nothing need be fair.
    fn copies(&self) -> u32;

    /// How many propositions it reads.
    fn propositions(&self) -> usize;

    /// The states in which it can begin.
    fn initial(&self) -> &[usize];

    /// Whether one of its states is accepting.
    fn accepts(&self, watcher: u32) -> bool;

    /// The fairness conditions that a transition meets.
    fn met(&self, transition: usize) -> u64;

    /// Where it can go from one of its states with a letter, in order; `room` is for whoever has to compute it.
    fn moves<'a>(&'a self, watcher: u32, letter: u64, room: &'a mut Vec<u32>) -> &'a [u32];

    /// The step that stands for staying in a state without steps.
    fn stutter(&self) -> TransitionId;
}

impl<'m> dyn Monitor + 'm {
    /// A place is below this.
    pub fn places(&self) -> u32 {
        self.watchers() * self.copies()
    }

    /// Where watching begins.
    pub fn initial_places(&self) -> impl Iterator<Item = u32> {
        self.initial().iter().map(|&watcher| watcher as u32 * self.copies())
    }

    /// Whether a cycle through this place is accepting.
    #[inline]
    pub fn is_accepting(&self, place: u32) -> bool {
        let copies = self.copies();
        place.is_multiple_of(copies) && self.accepts(place / copies)
    }

    /// The fairness conditions that could be met by some of so many steps.
    #[inline]
    pub fn enabled(&self, steps: usize, met: impl Fn(usize) -> u64) -> u64 {
        if self.copies() == 1 { 0 } else { (0..steps).fold(0, |all, step| all | met(step)) }
    }

    /// Goes from a place with each of some steps from a model state that satisfies the propositions of `letter`, and in which
    /// the conditions `enabled` could be met. `met` tells which fairness conditions a step meets; `to` hears of each step
    /// and place that follow, in order.
    #[inline]
    pub fn follow(
        &self,
        place: u32,
        letter: u64,
        (steps, enabled): (usize, u64),
        met: impl Fn(usize) -> u64,
        mut to: impl FnMut(usize, u32),
    ) {
        let copies = self.copies();
        let (watcher, copy) = (place / copies, place % copies);
        let mut room = Vec::new();
        let moves = self.moves(watcher, letter, &mut room);
        if copies == 1 {
            (0..steps).for_each(|step| moves.iter().for_each(|&next| to(step, next)));
            return;
        }
        let accepting = self.accepts(watcher);
        for step in 0..steps {
            let copy = next_copy(copies, copy, accepting, enabled & !met(step));
            moves.iter().for_each(|&next| to(step, next * copies + copy));
        }
    }
}

/// The copy after a step that passes over some fairness conditions that could have been met.
fn next_copy(copies: u32, copy: u32, accepting: bool, passed_over: u64) -> u32 {
    let mut next = if copy == 0 && accepting { 1 } else { copy };
    while next > 0 && next < copies && passed_over >> (next - 1) & 1 == 0 {
        next += 1;
    }
    if next == copies { 0 } else { next }
}
