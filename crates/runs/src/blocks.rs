//! Blocks of a run that are not yet in it.

use crate::block;
use crate::shape::keys_in_block;

/// Blocks of a run, in memory: where several threads write one, each makes its own, and they are appended in order.
#[derive(Debug)]
pub struct Blocks {
    pub(crate) words: usize,
    /// Keys of the block that is not yet full.
    pub(crate) pending: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
    /// Of each block the first word of its first key, and where it begins.
    pub(crate) index: Vec<(u64, u64)>,
    /// The first key of all, the last, and how many there are.
    pub(crate) first: Vec<u64>,
    pub(crate) last: Vec<u64>,
    pub(crate) keys: u64,
}

impl Blocks {
    /// None yet, of keys of this many words.
    pub fn new(words: usize) -> Self {
        assert!(words > 0, "a key has words");
        let (pending, bytes, index, first, last) = Default::default();
        Self { words, pending, bytes, index, first, last, keys: 0 }
    }

    /// Adds keys, which are greater than those before.
    pub fn push(&mut self, mut keys: &[u64]) {
        let full = keys_in_block(self.words) * self.words;
        while self.pending.len() + keys.len() >= full {
            if self.pending.is_empty() {
                let (block, rest) = keys.split_at(full);
                self.add(block);
                keys = rest;
                continue;
            }
            let (part, rest) = keys.split_at(full - self.pending.len());
            self.pending.extend_from_slice(part);
            self.end_block();
            keys = rest;
        }
        self.pending.extend_from_slice(keys);
    }

    /// Bytes so far, without those of the block that is not yet full.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Ends the last block, full or not.
    pub(crate) fn end_block(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.add(&pending);
        }
        pending.clear();
        self.pending = pending;
    }

    fn add(&mut self, keys: &[u64]) {
        let (first, last) = (&keys[..self.words], &keys[keys.len() - self.words..]);
        assert!(self.last.is_empty() || self.last[..] < *first, "the keys of a run ascend");
        if self.index.is_empty() {
            self.first.clear();
            self.first.extend_from_slice(first);
        }
        self.last.clear();
        self.last.extend_from_slice(last);
        self.index.push((first[0], self.bytes.len() as u64));
        self.keys += (keys.len() / self.words) as u64;
        block::encode(keys, self.words, &mut self.bytes);
    }

    /// Forgets what was written; what comes is greater still.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.index.clear();
        self.keys = 0;
    }
}
