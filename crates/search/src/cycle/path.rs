//! The stack of a depth-first search: the states from a root to the present one, and beside each the successors that
//! are still to be looked at. All states lie in one arena; what is popped makes room.

use std::collections::BTreeSet;

/// A state on the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Its place in the arena.
    pub(crate) own: usize,
    /// Its successors in the arena: from here to the end, the next one to look at.
    first: usize,
    next: usize,
    /// It is an accepting state.
    pub(crate) accepting: bool,
    /// No successor seen so far is other than red.
    pub(crate) all_red: bool,
}

/// The stack.
#[derive(Debug)]
pub(crate) struct Path<K> {
    words: usize,
    states: Vec<u32>,
    keys: Vec<K>,
    frames: Vec<Frame>,
}

impl<K: Copy> Path<K> {
    pub(crate) fn new(words: usize) -> Self {
        Self { words, states: Vec::new(), keys: Vec::new(), frames: Vec::new() }
    }

    /// An empty path, with a state to begin at; gives its place.
    pub(crate) fn root(&mut self, state: &[u32], key: K) -> usize {
        self.frames.clear();
        self.states.clear();
        self.keys.clear();
        self.offer(state, key);
        0
    }

    /// Adds a successor of the last state, to be looked at later.
    pub(crate) fn offer(&mut self, state: &[u32], key: K) {
        self.states.extend_from_slice(state);
        self.keys.push(key);
    }

    /// Puts the state at a place on the path. Its successors are offered next.
    pub(crate) fn descend(&mut self, own: usize, accepting: bool) {
        let first = self.keys.len();
        self.frames.push(Frame { own, first, next: first, accepting, all_red: true });
    }

    /// The place of the next successor of the last state.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let frame = self.frames.last_mut()?;
        let place = frame.next;
        (place < self.keys.len()).then(|| {
            frame.next += 1;
            place
        })
    }

    /// Takes the last state off the path, and its successors with it.
    pub(crate) fn ascend(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.states.truncate(frame.first * self.words);
        self.keys.truncate(frame.first);
        Some(frame)
    }

    pub(crate) fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    pub(crate) fn top_mut(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn state(&self, place: usize) -> &[u32] {
        &self.states[place * self.words..(place + 1) * self.words]
    }

    pub(crate) fn key(&self, place: usize) -> K {
        self.keys[place]
    }

    /// The successors beside the path that are still to be looked at, each once, of those whose keys are to be counted.
    pub(crate) fn waiting(&self, mut counts: impl FnMut(K, &[u32]) -> bool) -> BTreeSet<&[u32]> {
        let ends = self.frames.iter().skip(1).map(|frame| frame.first).chain([self.keys.len()]);
        let places = self.frames.iter().zip(ends).flat_map(|(frame, end)| frame.next..end);
        let root = 0..usize::from(self.frames.is_empty()).min(self.keys.len());
        let places = root.chain(places).filter(|&place| counts(self.keys[place], self.state(place)));
        places.map(|place| self.state(place)).collect()
    }

    /// The keys of the states of the path.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> {
        self.frames.iter().map(|frame| self.keys[frame.own])
    }

    /// The states of the path.
    pub(crate) fn trail(&self) -> Vec<Vec<u32>> {
        self.frames.iter().map(|frame| self.state(frame.own).to_vec()).collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.states.capacity() * 4
            + self.keys.capacity() * size_of::<K>()
            + self.frames.capacity() * size_of::<Frame>()) as u64
    }
}
