//! States of which only a 64-bit fingerprint is kept: two states with the same one are taken for the same. This
//! is hash compaction (Wolper and Leroy 1993; Stern and Dill 1995).
//!
//! With n states and a random hash, the expected number of pairs that collide, and so the probability of losing any
//! state, is at most n (n - 1) / 2^65.

use super::Codec;
use crate::store::hash::fingerprint;

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

    fn packed_words(&self) -> usize {
        self.words
    }

    fn open(&self, packed: &[u32], (): &mut (), state: &mut [u32]) {
        state.copy_from_slice(packed);
    }

    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(fingerprint(state))
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        Some(fingerprint(state))
    }

    fn push_packed(&self, _: u64, state: &[u32], out: &mut Vec<u32>) {
        out.extend_from_slice(state);
    }

    fn omission(&self, states: u64) -> Option<f64> {
        let states = states as f64;
        Some((states * (states - 1.0).max(0.0) / 2f64.powi(65)).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_birthday() {
        let bound = |states| Fingerprint::new(1).omission(states).expect("not exact");
        assert_eq!(bound(1), 0.0);
        assert!((0.02..0.03).contains(&bound(1_000_000_000)));
        assert_eq!(bound(u64::MAX), 1.0);
    }
}
