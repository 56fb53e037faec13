//! Sets of transitions, as bits in words.

use std::ops::{BitAnd, BitOrAssign, Sub};

/// A set of transitions with numbers below 64 times `W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set<const W: usize>([u64; W]);

impl<const W: usize> Default for Set<W> {
    fn default() -> Self {
        Self([0; W])
    }
}

impl<const W: usize> Set<W> {
    /// The set with these bits; there are at most `W` words.
    pub(super) fn from_words(words: &[u64]) -> Self {
        let mut set = Self::default();
        set.0[..words.len()].copy_from_slice(words);
        set
    }

    #[inline]
    pub(super) fn words(&self) -> &[u64; W] {
        &self.0
    }

    #[inline]
    pub(super) fn contains(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    #[inline]
    pub(super) fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    #[inline]
    pub(super) fn is_within(&self, whole: &Self) -> bool {
        (*self - *whole).is_empty()
    }

    /// How many members it has.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The member with the least number.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some(at * 64 + self.0[at].trailing_zeros() as usize)
    }

    /// Its members, in order.
    pub(super) fn members(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, word)| bits(word).map(move |bit| at * 64 + bit))
    }
}

impl<const W: usize> BitAnd for Set<W> {
    type Output = Self;

    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }
}

impl<const W: usize> BitOrAssign for Set<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

impl<const W: usize> Sub for Set<W> {
    type Output = Self;

    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
        self
    }
}

/// The bits of a word that are set.
#[inline]
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// The members of a set of any length, in order.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, &word)| bits(word).map(move |bit| at * 64 + bit))
}

/// Whether a transition is in a set of any length.
#[inline]
pub(super) fn is_in(set: &[u64], member: usize) -> bool {
    set[member / 64] >> (member % 64) & 1 == 1
}

/// How many members a set of any length has.
pub(super) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// Adds a transition to a set of any length.
#[inline]
pub(super) fn set(words: &mut [u64], member: usize) {
    words[member / 64] |= 1 << (member % 64);
}
