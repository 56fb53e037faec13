//! Keys that a worker has made or received not long ago: their owners know them, and need not hear of them again.
//!
//! A state of a wide model is looked up by its owner part by part, which takes longer than to make it. Most successors were met
//! before, and many of them by the same worker a moment ago. Keys are compared as a whole: nothing is left out for its hash alone.

use std::hint::black_box;

/// The keys that were met last, one for each place that a hash can point to.
#[derive(Debug)]
pub(crate) struct Recent {
    words: usize,
    /// For each place the hash of a key, made odd, and the key; 0 where there is none.
    places: Vec<u64>,
    mask: usize,
}

impl Recent {
    /// For keys of so many words, within so many bytes. A key of one word is looked up by its owner as fast as it would be here.
    pub(crate) fn new(words: usize, bytes: u64) -> Self {
        let most = bytes / ((words as u64 + 1) * 8);
        let count = if words > 1 && most > 0 { 1 << most.ilog2() } else { 0 };
        Self { words, places: vec![0; count * (words + 1)], mask: count.wrapping_sub(1) }
    }

    /// Whether it has no places.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.places.len() as u64 * 8
    }

    /// Reads the places of some hashes, so that their cache lines come together.
    pub(crate) fn prefetch(&self, hashes: &[u64]) {
        if !self.places.is_empty() {
            let first = |hash: &u64| self.places[(*hash as usize & self.mask) * (self.words + 1)];
            black_box(hashes.iter().map(first).fold(0, |all, word| all ^ word));
        }
    }

    /// Whether a key with this hash is among them; if not, it is from now on.
    #[inline]
    pub(crate) fn knows(&mut self, hash: u64, key: &[u64]) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let start = (hash as usize & self.mask) * (self.words + 1);
        let place = &mut self.places[start..start + self.words + 1];
        // The lowest bit of the hash is lost, which costs nothing: keys are compared as a whole.
        if place[0] == hash | 1 && place[1..].iter().zip(key).all(|(kept, word)| kept == word) {
            return true;
        }
        place[0] = hash | 1;
        place[1..].copy_from_slice(key);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    /// A place that was never used knows nothing, not even zeros; equal hashes are not equal keys; the last one is known.
    #[test]
    fn only_what_was_sent_is_known() {
        for bytes in [0, 23, 24, 100, 10_000] {
            let mut recent = Recent::new(2, bytes);
            assert!(recent.bytes() <= bytes, "{} of {bytes}", recent.bytes());
            assert!(!recent.knows(0, &[0, 0]));
            assert_eq!(recent.knows(0, &[0, 0]), bytes >= 24);
            assert!(!recent.knows(0, &[0, 1]) && !recent.knows(1, &[1, 1]));
            assert!(!recent.knows(0, &[0, 0]), "another key took its place");
        }
        assert_eq!(Recent::new(1, 1 << 20).bytes(), 0);
    }
}
