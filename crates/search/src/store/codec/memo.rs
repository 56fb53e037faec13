//! What a worker remembers of recent steps, so that most numbers of a tree need no look-up in shared memory.
//!
//! A step changes some bits of some words: its delta, the exclusive or of both states. Few different deltas occur in a
//! model, so each gets a number; and the number of a half of a state after a step depends on nothing but its number
//! before and the delta. Both tables are exact: what is not found in full is worked out anew.

use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU64, Ordering};

/// Words that a delta can change; steps that change more are worked out each time.
const WIDEST_DELTA: usize = 8;
/// Parts of a delta, and the first that holds words.
const PARTS: usize = 6;
const WORDS_AT: usize = 4;
/// Places for deltas, at most half of them taken: first and at most, powers of two. Then all is forgotten.
const DELTAS: [usize; 2] = [1 << 6, 1 << 14];
/// Halves that are remembered, first and at most where there is memory.
const HALVES: [usize; 2] = [1 << 8, 1 << 20];
/// Bytes of a half.
const HALF: u64 = 16;
/// Odd factors, one for each part of a delta.
const FACTORS: [u64; PARTS] = {
    let mut factors = [0x9e37_79b9_7f4a_7c15u64; PARTS];
    let mut i = 1;
    while i < factors.len() {
        factors[i] = factors[i - 1].wrapping_mul(0xd6e8_feb8_6659_fd93) | 1;
        i += 1;
    }
    factors
};

/// Words, and what was changed in them: the exclusive or of both values. Those that are left over are 0.
///
/// Two changes lie in one part, then four words in one: they are compared as they were written, in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delta([u64; PARTS]);

impl Delta {
    /// The words that changed, with what was changed in them.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (usize, u32)> {
        let change = |i: usize| (self.0[i / 2] >> (i % 2 * 32)) as u32;
        let word = |i: usize| usize::from((self.0[WORDS_AT + i / 4] >> (i % 4 * 16)) as u16);
        (0..WIDEST_DELTA).map(move |i| (word(i), change(i))).filter(|&(_, change)| change != 0)
    }

    /// The products do not wait for each other, and nothing branches.
    #[inline]
    fn hash(&self) -> u64 {
        let mut hash = 0u64;
        for (part, factor) in self.0.iter().zip(FACTORS) {
            let product = part.wrapping_mul(factor);
            hash = hash.wrapping_add(product ^ product >> 32);
        }
        hash.wrapping_mul(FACTORS[0]) >> 32
    }

    #[inline]
    fn is(&self, other: &Delta) -> bool {
        let mut different = 0;
        for (one, other) in self.0.iter().zip(&other.0) {
            different |= one ^ other;
        }
        different == 0
    }
}

/// A delta as the memo knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) number: u32,
    /// Which halves it changes.
    pub(crate) touches: [bool; 2],
}

/// A delta in its place, a cache line of its own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Place {
    delta: Delta,
    touches: [bool; 2],
    is_taken: bool,
}

/// The memory of one worker.
#[derive(Debug)]
pub(crate) struct Memo {
    /// A delta's number is its place.
    places: Vec<Place>,
    taken: usize,
    /// For each half two cells: the tag of side and delta with the number before, then the number after.
    halves: Option<Region<AtomicU64>>,
    /// Halves written since there is room for this many.
    written: usize,
    /// For how many there may be room.
    most: usize,
}

impl Memo {
    /// An empty one, without room for anything, that may take this many bytes for halves.
    pub(crate) fn new(memory: u64) -> Self {
        let most = usize::try_from(memory / HALF).unwrap_or(usize::MAX).clamp(HALVES[0], HALVES[1]);
        Self { places: Vec::new(), taken: 0, halves: None, written: 0, most: 1 << most.ilog2() }
    }

    /// Whether this many new deltas get numbers without forgetting anything.
    #[inline]
    pub(crate) fn has_room(&self, more: usize) -> bool {
        (self.taken + more) * 2 <= self.places.len()
    }

    /// Forgets all, and makes room for this many deltas.
    #[cold]
    pub(crate) fn forget(&mut self, more: usize) {
        let places = (self.places.len() * 4).clamp(DELTAS[0], DELTAS[1]).max((more * 2).next_power_of_two());
        self.places.clear();
        self.places.resize(places, Place::default());
        self.taken = 0;
        let room = self.halves.as_ref().map_or(HALVES[0], |halves| halves.len() / 2);
        self.halves = Some(halves(room));
        self.written = 0;
    }

    /// The number of a delta and which halves it touches, which `touches` works out when it is new.
    #[inline]
    pub(crate) fn number(&mut self, delta: &Delta, touches: impl FnOnce(&Delta) -> [bool; 2]) -> Known {
        let mask = self.places.len() - 1;
        let mut number = delta.hash() as usize & mask;
        loop {
            let place = &self.places[number];
            if place.delta.is(delta) && place.is_taken {
                return Known { number: number as u32, touches: place.touches };
            }
            if !place.is_taken {
                return self.add(delta, touches(delta), number);
            }
            number = (number + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, delta: &Delta, touches: [bool; 2], number: usize) -> Known {
        self.taken += 1;
        self.places[number] = Place { delta: *delta, touches, is_taken: true };
        Known { number: number as u32, touches }
    }

    /// The delta of this number.
    pub(crate) fn delta(&self, number: u32) -> &Delta {
        &self.places[number as usize].delta
    }

    /// Asks for what `after` will read.
    #[inline]
    pub(crate) fn prefetch(&self, side: usize, before: u32, delta: u32) {
        if let Some(halves) = &self.halves {
            prefetch(&halves[place(halves, tag(side, before, delta))]);
        }
    }

    /// The number of a half after a delta, if it is remembered.
    #[inline]
    pub(crate) fn after(&self, side: usize, before: u32, delta: u32) -> Option<u32> {
        let (halves, tag) = (self.halves.as_ref()?, tag(side, before, delta));
        let place = place(halves, tag);
        let half = &halves[place..place + 2];
        (half[0].load(Ordering::Relaxed) == tag).then(|| half[1].load(Ordering::Relaxed) as u32)
    }

    /// Remembers the number of a half after a delta.
    #[inline]
    pub(crate) fn remember(&mut self, side: usize, before: u32, delta: u32, after: u32) {
        self.written += 1;
        let room = self.halves.as_ref().map_or(0, |halves| halves.len() / 2);
        if self.written > room && room < self.most {
            self.halves = Some(halves((room * 4).clamp(HALVES[0], self.most)));
            self.written = 0;
        }
        if let Some(halves) = &self.halves {
            let tag = tag(side, before, delta);
            let place = place(halves, tag);
            halves[place].store(tag, Ordering::Relaxed);
            halves[place + 1].store(u64::from(after), Ordering::Relaxed);
        }
    }
}

#[inline]
fn place(halves: &[AtomicU64], tag: u64) -> usize {
    ((tag.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as usize * 2) & (halves.len() - 1)
}

fn halves(room: usize) -> Region<AtomicU64> {
    Region::new(room * 2).expect("some megabytes can be had")
}

/// Never 0.
#[inline]
fn tag(side: usize, before: u32, delta: u32) -> u64 {
    u64::from((delta + 1) << 1 | side as u32) << 32 | u64::from(before)
}

/// Words that changed, with the exclusive or of both values.
pub(crate) type Changes = Vec<(u32, u32)>;

/// The words in which two states differ.
pub(crate) fn changes(new: &[u32], old: &[u32], out: &mut Changes) {
    out.clear();
    let both = (0..).zip(new.iter().zip(old));
    out.extend(both.filter(|(_, (new, old))| new != old).map(|(word, (new, old))| (word, new ^ old)));
}

/// The words in which two states differ; `None` when there are too many.
#[inline]
pub(crate) fn difference(new: &[u32], old: &[u32]) -> Option<Delta> {
    let mut delta = Delta::default();
    let (mut count, mut first) = (0, 0);
    for (new, old) in new.chunks(32).zip(old.chunks(32)) {
        let mut differing = differing(new, old);
        while differing != 0 {
            let word = differing.trailing_zeros() as usize;
            differing &= differing - 1;
            *delta.0.get_mut(WORDS_AT + count / 4)? |= u64::from(u16::try_from(first + word).ok()?) << (count % 4 * 16);
            delta.0[count / 2] |= u64::from(new[word] ^ old[word]) << (count % 2 * 32);
            count += 1;
        }
        first += 32;
    }
    Some(delta)
}

/// One bit for each of up to 32 words that is not the same. No branch depends on the words, because which of them change
/// is what nobody can predict.
#[inline]
fn differing(new: &[u32], old: &[u32]) -> u32 {
    let (new_blocks, new_rest) = new.as_chunks::<4>();
    let (old_blocks, old_rest) = old.as_chunks::<4>();
    let mut differing = 0;
    for (block, (new, old)) in new_blocks.iter().zip(old_blocks).enumerate() {
        differing |= (!equal(new, old) & 15) << (block * 4);
    }
    for (word, (new, old)) in new_rest.iter().zip(old_rest).enumerate() {
        differing |= u32::from(new != old) << (new_blocks.len() * 4 + word);
    }
    differing
}

/// One bit for each of four words that is the same.
#[inline]
#[cfg(target_arch = "x86_64")]
fn equal(new: &[u32; 4], old: &[u32; 4]) -> u32 {
    use std::arch::x86_64::{_mm_castsi128_ps, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_ps};
    // SAFETY: SSE2 is part of x86-64, and the loads need no alignment.
    #[allow(unsafe_code, reason = "vector instructions")]
    unsafe {
        let (new, old) = (_mm_loadu_si128(new.as_ptr().cast()), _mm_loadu_si128(old.as_ptr().cast()));
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(new, old))) as u32
    }
}

/// One bit for each of four words that is the same.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn equal(new: &[u32; 4], old: &[u32; 4]) -> u32 {
    (0..4).fold(0, |equal, word| equal | u32::from(new[word] == old[word]) << word)
}

/// The words that a transition can change: the others need not be examined.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    words: [u16; WIDEST_DELTA],
    /// All bits, and none where there are fewer words.
    masks: [u32; WIDEST_DELTA],
    /// Pairs of words to look at. The same for all transitions of a model, so that nothing waits for a wrong guess.
    pairs: usize,
    /// A delta without changes.
    none: Delta,
}

impl Written {
    /// For each transition what it writes; `None` when there are too many words.
    pub(crate) fn all(words: impl Iterator<Item = Option<Vec<u32>>>) -> Vec<Option<Self>> {
        let mut all: Vec<Option<Self>> = words.map(|words| Self::new(&words?)).collect();
        let pairs = all.iter().flatten().map(|written| written.pairs).max().unwrap_or_default();
        all.iter_mut().flatten().for_each(|written| written.pairs = pairs);
        all
    }

    fn new(words: &[u32]) -> Option<Self> {
        let mut written = Self { pairs: words.len().div_ceil(2), ..Self::default() };
        for (at, &word) in words.iter().enumerate() {
            *written.words.get_mut(at)? = u16::try_from(word).ok()?;
            written.masks[at] = u32::MAX;
            written.none.0[WORDS_AT + at / 4] |= u64::from(word) << (at % 4 * 16);
        }
        Some(written)
    }

    /// The delta of a step that changed nothing else.
    #[inline]
    pub(crate) fn delta(&self, new: &[u32], old: &[u32]) -> Delta {
        let mut delta = self.none;
        for part in 0..self.pairs {
            let (low, high) = (usize::from(self.words[2 * part]), usize::from(self.words[2 * part + 1]));
            let low = (new[low] ^ old[low]) & self.masks[2 * part];
            let high = (new[high] ^ old[high]) & self.masks[2 * part + 1];
            delta.0[part] = u64::from(low) | u64::from(high) << 32;
        }
        delta
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    fn delta(i: u32) -> Delta {
        let mut new = [0; 3];
        (new[i as usize % 2], new[2]) = (i + 1, i * 7);
        difference(&new, &[0; 3]).expect("few words")
    }

    #[test]
    fn deltas_are_told_apart_and_halves_remembered() {
        let mut memo = Memo::new(u64::MAX);
        let touches = |delta: &Delta| [0, 1].map(|side| delta.changes().any(|(word, _)| word == side));
        let count = DELTAS[1] as u32 / 2;
        memo.forget(count as usize);
        let mut numbers = Vec::new();
        for round in 0..2 {
            for i in 0..count {
                let Known { number, touches } = memo.number(&delta(i), touches);
                assert_eq!(touches, [i % 2 == 0, i % 2 == 1], "round {round}");
                assert!(memo.delta(number).is(&delta(i)));
                memo.remember(1, i, number, i * 3);
                assert_eq!(memo.after(1, i, number), Some(i * 3));
                assert_eq!(memo.after(0, i, number), None);
                assert_eq!(memo.after(1, i + 1, number), None);
                if round == 0 {
                    numbers.push(number);
                }
                assert_eq!(numbers[i as usize], number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count as usize, "no number is given twice");
        assert!(!memo.has_room(1) || memo.places.len() > count as usize * 2);
        memo.forget(1);
        assert!(memo.has_room(1));
        assert!(numbers.iter().all(|&number| (0..count).all(|i| memo.after(1, i, number).is_none())));
    }

    #[test]
    fn a_delta_is_what_changed() {
        let old: Vec<u32> = (0..70).collect();
        for words in [&[][..], &[0], &[3, 4, 69], &[1, 33, 34, 35, 50, 51, 68, 69], &[0, 1, 2, 3, 4, 5, 6, 7, 8]] {
            let mut new = old.clone();
            words.iter().for_each(|&word| new[word as usize] ^= word + 5);
            let expected: Vec<(usize, u32)> = words.iter().map(|&word| (word as usize, word + 5)).collect();
            let found = difference(&new, &old).map(|delta| delta.changes().collect::<Vec<_>>());
            assert_eq!(found, (words.len() <= WIDEST_DELTA).then_some(expected.clone()));
            let found = Written::new(words).map(|written| written.delta(&new, &old).changes().collect::<Vec<_>>());
            assert_eq!(found, (words.len() <= WIDEST_DELTA).then_some(expected));
        }
        // A word that was not written is no change, and words left over are none either.
        let mut new = old.clone();
        (new[0], new[9]) = (77, 78);
        let changes: Vec<_> = Written::new(&[9, 10]).expect("few").delta(&new, &old).changes().collect();
        assert_eq!(changes, [(9, 9 ^ 78)]);
    }
}
