//! Sets of transitions, as bits in words.

/// Whether all members of one set are in another.
#[inline]
pub(super) fn is_within(part: &[u64], whole: &[u64]) -> bool {
    part.iter().zip(whole).all(|(part, whole)| part & !whole == 0)
}

/// Whether a transition is in a set.
#[inline]
pub(super) fn is_in(set: &[u64], member: usize) -> bool {
    set[member / 64] >> (member % 64) & 1 == 1
}

/// How many members a set has.
pub(super) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// The bits of a word that are set.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// The members of a set, in order.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, &word)| bits(word).map(move |bit| at * 64 + bit))
}

/// The members of both sets, in order.
pub(super) fn members_of(a: &[u64], b: &[u64]) -> impl Iterator<Item = usize> {
    a.iter().zip(b).enumerate().flat_map(|(at, (a, b))| bits(a & b).map(move |bit| at * 64 + bit))
}

/// Adds a transition to a set.
#[inline]
pub(super) fn set(words: &mut [u64], member: usize) {
    words[member / 64] |= 1 << (member % 64);
}
