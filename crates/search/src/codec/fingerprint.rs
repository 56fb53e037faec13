//! States of which only a 64-bit fingerprint is kept: two states with the same one are taken for the same.
//!
//! With n states and a random hash, the expected number of pairs that collide, and so the probability of losing any
//! state, is at most n (n - 1) / 2^65.

use super::Codec;

/// Fingerprints of states of some length.
#[derive(Debug)]
pub(crate) struct Fingerprint {
    words: usize,
}

impl Fingerprint {
    /// For states of this many words.
    pub(crate) fn new(words: usize) -> Self {
        Self { words }
    }
}

impl Codec for Fingerprint {
    type Parent = ();

    fn parent(&self) {}

    fn bits(&self) -> u32 {
        64
    }

    fn ticket_words(&self) -> usize {
        self.words
    }

    fn open(&self, ticket: &[u32], (): &mut (), state: &mut [u32]) {
        state.copy_from_slice(ticket);
    }

    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(fingerprint(state))
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(fingerprint(state))
    }

    fn ticket(&self, _: u64, state: &[u32], out: &mut Vec<u32>) {
        out.extend_from_slice(state);
    }

    fn omission(&self, states: u64) -> Option<f64> {
        let states = states as f64;
        Some((states * (states - 1.0).max(0.0) / 2f64.powi(65)).min(1.0))
    }
}

/// Each pair of words is folded in by one wide multiplication; two lanes, so that they overlap.
#[inline]
pub(crate) fn fingerprint(state: &[u32]) -> u64 {
    let mut lanes = [0x9e37_79b9_7f4a_7c15 ^ state.len() as u64, 0x5851_f42d_4c95_7f2d];
    for (i, pair) in state.chunks(2).enumerate() {
        let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
        let lane = &mut lanes[i % 2];
        *lane = fold(*lane ^ word, 0xa076_1d64_78bd_642f).wrapping_add(0xe703_7ed1_a0b4_28db ^ word);
    }
    fold(lanes[0] ^ 0x8ebc_6af0_9c88_c6e3, lanes[1] ^ 0x5899_65cc_7537_4cc3)
        ^ lanes[0].wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_of_similar_states_differ() {
        let mut seen = std::collections::HashSet::new();
        for length in 1..6 {
            for word in 0..length {
                for value in 1..5000u32 {
                    let mut state = vec![0; length];
                    state[word] = value;
                    assert!(seen.insert(fingerprint(&state)), "{state:?}");
                }
            }
        }
    }

    #[test]
    fn the_bound_is_that_of_the_birthday() {
        let bound = |states| Fingerprint::new(1).omission(states).expect("not exact");
        assert_eq!(bound(1), 0.0);
        assert!((0.02..0.03).contains(&bound(1_000_000_000)));
        assert_eq!(bound(u64::MAX), 1.0);
    }
}
