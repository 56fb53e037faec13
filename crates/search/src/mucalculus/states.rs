//! Sets of the states of a graph, by number.

/// A set of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateSet {
    words: Vec<u64>,
    len: u32,
}

impl StateSet {
    /// All of `len` states, or none of them.
    pub(crate) fn new(len: u32, all: bool) -> Self {
        let mut set = Self { words: vec![0; len.div_ceil(64) as usize], len };
        set.fill(all);
        set
    }

    /// Makes it all or nothing.
    pub(crate) fn fill(&mut self, all: bool) {
        self.words.fill(if all { u64::MAX } else { 0 });
    }

    /// Room for one more state, which is not in it.
    pub(crate) fn extend_to(&mut self, len: u32) {
        self.words.resize(len.div_ceil(64) as usize, 0);
        self.len = len;
    }

    pub(crate) fn contains(&self, state: u32) -> bool {
        self.words[state as usize / 64] >> (state % 64) & 1 == 1
    }

    pub(crate) fn put(&mut self, state: u32, is_in: bool) {
        let bit = 1 << (state % 64);
        match is_in {
            true => self.words[state as usize / 64] |= bit,
            false => self.words[state as usize / 64] &= !bit,
        }
    }

    /// The states that are in it, or those that are not.
    pub(crate) fn iter(&self, is_in: bool) -> impl Iterator<Item = u32> + '_ {
        let flip = if is_in { 0 } else { u64::MAX };
        let words = self.words.iter().enumerate();
        words
            .flat_map(move |(at, &word)| {
                let mut left = word ^ flip;
                std::iter::from_fn(move || {
                    let bit = left.trailing_zeros();
                    left &= left.wrapping_sub(1);
                    (bit < 64).then_some(at as u32 * 64 + bit)
                })
            })
            .take_while(|&state| state < self.len)
    }
}
