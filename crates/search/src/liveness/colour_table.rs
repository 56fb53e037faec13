//! Marks of small states: one word for a state, its key and its marks side by side, in a table that threads share
//! without a lock.
//!
//! A state that has no mark is not in the table, and one that has keeps at least one. So a look at one cache line tells
//! all that is known of a state, and one compare-and-swap changes it. The upper bits of the hash are the place, so that
//! a larger table is filled by streaming through the old one.

use crate::store::hash::fold;
use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU64, Ordering};

/// No more than this share of the words is taken, in sixteenths.
const FULL_SIXTEENTHS: u64 = 10;

/// Words after which the memory of an old table is given back.
const PART: usize = 1 << 18;

/// The table.
#[derive(Debug)]
pub(super) struct ColourTable {
    words: Region<AtomicU64>,
    /// Bits of a place.
    bits: u32,
    /// Marks of a state, below its key.
    marks: u32,
    /// States whose keys differ in so many lower bits only lie side by side.
    near: u32,
}

impl ColourTable {
    /// With 2^bits places, for so many marks; keys that differ in the `near` lower bits only lie side by side. `None`
    /// when the system has no memory to give.
    pub(super) fn new(bits: u32, marks: u32, near: u32) -> Option<Self> {
        Some(Self { words: Region::new(1 << bits)?, bits, marks, near })
    }

    /// So many states may be in it.
    pub(super) fn capacity(&self) -> u64 {
        self.words.len() as u64 * FULL_SIXTEENTHS / 16
    }

    /// Bytes it occupies.
    pub(super) fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// Asks for the word of a state, to have it when it is needed.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(&self.words[self.home(key)]);
    }

    /// The marks of a state. What was written before they were set is seen.
    #[inline]
    pub(super) fn of(&self, key: u64) -> u64 {
        let mut place = self.home(key);
        loop {
            let word = self.words[place].load(Ordering::Acquire);
            if word == 0 {
                return 0;
            }
            if word >> self.marks == key {
                return word & ((1 << self.marks) - 1);
            }
            place = (place + 1) & (self.words.len() - 1);
        }
    }

    /// Takes some marks of a state away and sets others; gives those it had before. If it had none, it takes room.
    #[inline]
    pub(super) fn change(&self, key: u64, taken: u64, set: u64) -> u64 {
        let mut place = self.home(key);
        loop {
            let word = self.words[place].load(Ordering::Acquire);
            if word != 0 && word >> self.marks != key {
                place = (place + 1) & (self.words.len() - 1);
                continue;
            }
            let before = word & ((1 << self.marks) - 1);
            let new = key << self.marks | before & !taken | set;
            // A word that is as it should be is not written: other threads may have it in their caches.
            let is_done = new == word
                || self.words[place].compare_exchange(word, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if is_done {
                return before;
            }
            // Another thread was faster, perhaps with the same state: look again.
        }
    }

    /// The same with twice as many places, in the memory of this one and as much again; nobody else may use either.
    /// False when the system has no memory to give: then it is as it was.
    pub(super) fn double(&mut self) -> bool {
        let Some(new) = Self::new(self.bits + 1, self.marks, self.near) else { return false };
        let mask = new.words.len() - 1;
        for (part, words) in self.words.chunks(PART).enumerate() {
            for word in words.iter().map(|word| word.load(Ordering::Relaxed)).filter(|&word| word != 0) {
                let mut place = new.home(word >> self.marks);
                while new.words[place].load(Ordering::Relaxed) != 0 {
                    place = (place + 1) & mask;
                }
                new.words[place].store(word, Ordering::Relaxed);
            }
            self.words.release(part * PART..part * PART + words.len());
        }
        *self = new;
        true
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        (fold(key >> self.near ^ 0x9e37_79b9_7f4a_7c15, 0xa076_1d64_78bd_642f) >> (64 - self.bits)) as usize
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn marks_are_those_that_were_set_through_growth() {
        for near in [0, 2] {
            let mut marks = ColourTable::new(4, 3, near).expect("memory");
            let mut expected: HashMap<u64, u64> = HashMap::new();
            let mut random = 1u64;
            for _ in 0..40_000 {
                random = fold(random ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
                if expected.len() as u64 >= marks.capacity() {
                    assert!(marks.double());
                }
                // Keys of 61 bits, many of which come again, 0 and the largest among them.
                let key = match random >> 40 & 7 {
                    0 => (1 << 61) - 1 - (random >> 50),
                    _ => random >> 50,
                };
                // A state keeps a mark.
                let (taken, set) = (random & 7, 1 << (random >> 8 & 1));
                let here = expected.entry(key).or_default();
                assert_eq!(marks.of(key), *here);
                assert_eq!(marks.change(key, taken, set), *here);
                *here = *here & !taken | set;
            }
            assert!(expected.len() > 10_000 && marks.bytes() >= expected.len() as u64 * 8);
            assert!(expected.iter().all(|(&key, &here)| marks.of(key) == here));
            assert_eq!(marks.of(1 << 60), 0);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
