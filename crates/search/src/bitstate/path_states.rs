//! States that are kept in full while a search may need them: those of its path, and those that wait beside it. What was
//! kept last is forgotten first.

use crate::store::bloom::Spot;

/// The states, each with its spot.
#[derive(Debug)]
pub(super) struct PathStates {
    words: usize,
    states: Vec<u32>,
    spots: Vec<Spot>,
}

impl PathStates {
    pub(super) fn new(words: usize) -> Self {
        Self { words, states: Vec::new(), spots: Vec::new() }
    }

    /// Keeps a state; gives its number.
    #[inline]
    pub(super) fn push(&mut self, state: &[u32], spot: Spot) -> usize {
        self.states.extend_from_slice(state);
        self.spots.push(spot);
        self.spots.len() - 1
    }

    /// Forgets all but the first so many.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        self.states.truncate(len * self.words);
        self.spots.truncate(len);
    }

    pub(super) fn len(&self) -> usize {
        self.spots.len()
    }

    #[inline]
    pub(super) fn state(&self, number: usize) -> &[u32] {
        &self.states[number * self.words..(number + 1) * self.words]
    }

    #[inline]
    pub(super) fn spot(&self, number: usize) -> Spot {
        self.spots[number]
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.states.capacity() * 4 + self.spots.capacity() * size_of::<Spot>()) as u64
    }
}
