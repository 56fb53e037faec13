//! What a worker remembers of recent steps, so that most numbers of a tree need no look-up in shared memory.
//!
//! A step changes some bits of some words: its delta, the exclusive or of both states. Few different deltas occur in a
//! model, so each gets a number; and the number of a half of a state after a step depends on nothing but its number
//! before and the delta. Both tables are exact: what is not found in full is worked out anew.

use crate::table::prefetch;

/// Deltas that are told apart before all is forgotten.
const DELTAS: usize = 1 << 13;
/// Places for deltas and halves at first; both are powers of two.
const FEW: usize = 1 << 6;
/// Halves that are remembered at most.
const HALVES: usize = 1 << 17;

/// Words that changed, with the exclusive or of both values.
pub(crate) type Changes = Vec<(u32, u32)>;

/// A delta as the memo knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) number: u32,
    /// Which halves it changes.
    pub(crate) touches: [bool; 2],
}

/// A half before and after a delta.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The number of the delta plus one, twice, plus the side; 0 where nothing is remembered.
    delta: u32,
    before: u32,
    after: u32,
}

/// The memory of one worker.
#[derive(Debug)]
pub(crate) struct Memo {
    /// A delta's number plus one, or 0; at most half are taken.
    places: Vec<u32>,
    /// Where each delta's changes are, and which halves it touches.
    deltas: Vec<(u32, u32, [bool; 2])>,
    changes: Changes,
    halves: Vec<Half>,
    /// Halves written since there is room for this many.
    written: usize,
}

impl Memo {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self {
            places: vec![0; FEW],
            deltas: Vec::new(),
            changes: Vec::new(),
            halves: vec![Half::default(); FEW],
            written: 0,
        }
    }

    /// Makes sure that this many new deltas get numbers: forgets all where there would be too many.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        if (self.deltas.len() + more) * 2 > self.places.len() {
            self.make_room(more);
        }
    }

    #[cold]
    fn make_room(&mut self, more: usize) {
        if self.deltas.len() + more > DELTAS {
            *self = Self::new();
        }
        let places = ((self.deltas.len() + more) * 4).next_power_of_two();
        self.places = vec![0; places];
        for (number, &(from, to, _)) in self.deltas.iter().enumerate() {
            let mut place = place(&self.changes[from as usize..to as usize]) & (places - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (places - 1);
            }
            self.places[place] = number as u32 + 1;
        }
    }

    /// The number of a delta and which halves it touches, which `touches` works out when it is new.
    #[inline]
    pub(crate) fn delta(&mut self, changes: &Changes, touches: impl FnOnce(&Changes) -> [bool; 2]) -> Delta {
        let mut place = place(changes) & (self.places.len() - 1);
        loop {
            match self.places[place] {
                0 => return self.add(changes, touches(changes), place),
                number => {
                    let (from, to, touches) = self.deltas[number as usize - 1];
                    if self.changes[from as usize..to as usize] == changes[..] {
                        return Delta { number: number - 1, touches };
                    }
                }
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    #[cold]
    fn add(&mut self, changes: &Changes, touches: [bool; 2], place: usize) -> Delta {
        let (number, from) = (self.deltas.len() as u32, self.changes.len() as u32);
        self.changes.extend_from_slice(changes);
        self.deltas.push((from, self.changes.len() as u32, touches));
        self.places[place] = number + 1;
        Delta { number, touches }
    }

    /// The changes of a delta.
    pub(crate) fn changes(&self, delta: u32) -> &[(u32, u32)] {
        let (from, to, _) = self.deltas[delta as usize];
        &self.changes[from as usize..to as usize]
    }

    /// Asks for what `after` will read.
    #[inline]
    pub(crate) fn announce(&self, side: usize, before: u32, delta: u32) {
        prefetch(&self.halves[self.slot(tag(side, delta), before)]);
    }

    /// The number of a half after a delta, if it is remembered.
    #[inline]
    pub(crate) fn after(&self, side: usize, before: u32, delta: u32) -> Option<u32> {
        let tag = tag(side, delta);
        let half = &self.halves[self.slot(tag, before)];
        (half.delta == tag && half.before == before).then_some(half.after)
    }

    /// Remembers the number of a half after a delta.
    #[inline]
    pub(crate) fn remember(&mut self, side: usize, before: u32, delta: u32, after: u32) {
        self.written += 1;
        if self.written > self.halves.len() && self.halves.len() < HALVES {
            self.halves = vec![Half::default(); self.halves.len() * 4];
            self.written = 0;
        }
        let delta = tag(side, delta);
        let slot = self.slot(delta, before);
        self.halves[slot] = Half { delta, before, after };
    }

    #[inline]
    fn slot(&self, tag: u32, before: u32) -> usize {
        let both = u64::from(tag) << 32 | u64::from(before);
        (both.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 40) as usize & (self.halves.len() - 1)
    }
}

/// The words in which two states differ.
#[inline]
pub(crate) fn changes(new: &[u32], old: &[u32], out: &mut Changes) {
    out.clear();
    let mut first = 0;
    for (new, old) in new.chunks(32).zip(old.chunks(32)) {
        let mut differing = differing(new, old);
        while differing != 0 {
            let word = differing.trailing_zeros();
            differing &= differing - 1;
            out.push((first + word, new[word as usize] ^ old[word as usize]));
        }
        first += 32;
    }
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

#[inline]
fn tag(side: usize, delta: u32) -> u32 {
    (delta + 1) << 1 | side as u32
}

#[inline]
fn place(changes: &[(u32, u32)]) -> usize {
    let mut hash = 0u64;
    for &(word, change) in changes {
        // The products do not wait for each other.
        hash = hash.rotate_left(5) ^ (u64::from(change) | u64::from(word) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (hash ^ hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_told_apart_and_halves_remembered() {
        let mut memo = Memo::new();
        let touches = |changes: &Changes| [changes[0].0 == 0, changes[0].0 == 1];
        let delta = |i: u32| vec![(i % 2, i + 1), (2, i * 7)];
        for round in 0..2 {
            for i in 0..DELTAS as u32 {
                if round == 0 {
                    memo.reserve(1);
                }
                let Delta { number, touches } = memo.delta(&delta(i), touches);
                assert_eq!((number, touches), (i, [i % 2 == 0, i % 2 == 1]), "round {round}");
                assert_eq!(memo.changes(number), delta(i));
                memo.remember(1, i, number, i * 3);
                assert_eq!(memo.after(1, i, number), Some(i * 3));
                assert_eq!(memo.after(0, i, number), None);
                assert_eq!(memo.after(1, i + 1, number), None);
            }
        }
        memo.reserve(1);
        let first = memo.delta(&delta(DELTAS as u32), touches).number;
        assert_eq!(first, 0, "all was forgotten");
        assert_eq!(memo.after(1, 0, 0), None, "and so are the halves after deltas of the same numbers");
    }
}
