//! The frontier of a level-by-level search: packed states in chunks, which are freed as they are consumed.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words in a chunk, about.
const CHUNK_WORDS: usize = 1 << 11;

/// Packed states of one level, shared by threads chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct LevelQueue {
    chunks: Mutex<VecDeque<Vec<u32>>>,
    words: AtomicU64,
}

impl LevelQueue {
    /// Takes a chunk. Workers that are alone get chunks in the order in which they were given.
    pub(crate) fn pop(&self) -> Option<Vec<u32>> {
        let chunk = self.chunks.lock().expect("no thread panics with it").pop_front()?;
        self.words.fetch_sub(chunk.len() as u64, Ordering::Relaxed);
        Some(chunk)
    }

    /// Gives a chunk.
    pub(crate) fn push(&self, chunk: Vec<u32>) {
        if !chunk.is_empty() {
            self.words.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            self.chunks.lock().expect("no thread panics with it").push_back(chunk);
        }
    }

    /// Gives back what is left of a chunk, to be taken first.
    pub(crate) fn push_front(&self, chunk: Vec<u32>) {
        if !chunk.is_empty() {
            self.words.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            self.chunks.lock().expect("no thread panics with it").push_front(chunk);
        }
    }

    /// Gives every packed state of this many words to `hear`, and keeps them.
    pub(crate) fn each<E>(&self, words: usize, mut hear: impl FnMut(&[u32]) -> Result<(), E>) -> Result<(), E> {
        let chunks = self.chunks.lock().expect("no thread panics with it");
        chunks.iter().flat_map(|chunk| chunk.chunks(words)).try_for_each(&mut hear)
    }

    /// Words of all its packed states.
    pub(crate) fn words(&self) -> u64 {
        self.words.load(Ordering::Relaxed)
    }
}

/// Packed states a worker has found and not yet given to the level.
#[derive(Debug)]
pub(crate) struct Filling {
    pub(crate) chunk: Vec<u32>,
    full: usize,
}

impl Filling {
    /// For packed states of this many words, at most this many in a chunk.
    pub(crate) fn new(packed_words: usize, grain: usize) -> Self {
        let full = (CHUNK_WORDS / packed_words).min(grain).max(1) * packed_words;
        Self { chunk: Vec::new(), full }
    }

    /// Gives the chunk to the level if it is full.
    #[inline]
    pub(crate) fn flush_if_full(&mut self, to: &LevelQueue) {
        if self.chunk.len() >= self.full {
            self.flush(to);
        }
    }

    /// Gives the chunk to the level.
    pub(crate) fn flush(&mut self, to: &LevelQueue) {
        if !self.chunk.is_empty() {
            let mut chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(self.full));
            chunk.shrink_to_fit();
            to.push(chunk);
        }
    }
}
