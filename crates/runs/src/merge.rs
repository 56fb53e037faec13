//! Merging streams of sorted keys: each key comes once, and batches are small enough for the cache.
//!
//! A batch is what all streams have in memory up to the smallest of their last keys. These pieces are merged in pairs, and their
//! results in pairs again.

use std::io::Result;

use crate::cursor::Cursor;
use crate::rows;

/// The most keys that a list gives at once.
const PIECE: usize = 1 << 12;

/// Sorted keys, one after the other.
#[derive(Debug)]
pub enum Stream<'k> {
    /// Of a run.
    Run(Cursor),
    /// Of a list in memory.
    List(&'k [u64]),
    /// Of a part of a list: what is given of it, and the rest.
    Part(&'k [u64], &'k [u64]),
}

impl Stream<'_> {
    fn head(&self, words: usize) -> &[u64] {
        match self {
            Stream::Run(cursor) => cursor.head(),
            Stream::List(keys) | Stream::Part(keys, _) => &keys[..keys.len().min(PIECE * words)],
        }
    }

    fn consume(&mut self, count: usize) {
        match self {
            Stream::Run(cursor) => cursor.consume(count),
            Stream::List(keys) | Stream::Part(keys, _) => *keys = &keys[count..],
        }
    }

    fn refill(&mut self) -> Result<bool> {
        match self {
            Stream::Run(cursor) => cursor.refill(),
            Stream::List(keys) | Stream::Part(keys, _) => Ok(!keys.is_empty()),
        }
    }

    /// Goes forward to the keys whose first word is at least `from`, and gives those whose first word is below `end`.
    fn narrow(&mut self, from: u64, end: Option<u64>, words: usize) -> Result<()> {
        let keys = match self {
            Stream::Run(cursor) => return cursor.narrow(from, end),
            Stream::List(keys) | Stream::Part(_, keys) => *keys,
        };
        let keys = &keys[rows::partition(keys, words, |key| key[0] < from)..];
        let given = end.map_or(keys.len(), |end| rows::partition(keys, words, |key| key[0] < end));
        let (part, rest) = keys.split_at(given);
        *self = Stream::Part(part, rest);
        Ok(())
    }
}

/// The union of streams.
#[derive(Debug)]
pub struct Merge<'k> {
    streams: Vec<Stream<'k>>,
    /// Those that are at their end.
    ended: Vec<Stream<'k>>,
    words: usize,
    /// Pieces side by side, where each ends, and room for those that they become.
    pieces: Vec<u64>,
    ends: Vec<usize>,
    merged: Vec<u64>,
    /// Keys of all streams so far, those that are equal included.
    taken: u64,
}

impl<'k> Merge<'k> {
    /// Of keys of this many words.
    pub fn new(streams: Vec<Stream<'k>>, words: usize) -> Self {
        let (ended, pieces, ends, merged) = Default::default();
        Self { streams, ended, words, pieces, ends, merged, taken: 0 }
    }

    /// Goes forward to the keys whose first word is at least `from`, and gives those whose first word is below `end`.
    pub fn narrow(&mut self, from: u64, end: Option<u64>) -> Result<()> {
        self.streams.append(&mut self.ended);
        self.streams.iter_mut().try_for_each(|stream| stream.narrow(from, end, self.words))
    }

    /// Keys of all streams so far, those that are equal included.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes in memory.
    pub fn memory(&self) -> u64 {
        let cursors = self.streams.iter().chain(&self.ended).map(|stream| match stream {
            Stream::Run(cursor) => cursor.memory(),
            Stream::List(_) | Stream::Part(..) => 0,
        });
        cursors.sum::<u64>() + ((self.pieces.capacity() + self.merged.capacity()) * 8) as u64
    }

    /// Replaces what is in `batch` by the next keys; there are none when it answers false.
    pub fn next(&mut self, batch: &mut Vec<u64>) -> Result<bool> {
        batch.clear();
        let words = self.words;
        let mut at = 0;
        while at < self.streams.len() {
            if self.streams[at].refill()? {
                at += 1;
            } else {
                self.ended.push(self.streams.swap_remove(at));
            }
        }
        let last = |stream: &Stream<'_>| {
            let head = stream.head(words);
            head[head.len() - words..].to_vec()
        };
        let Some(bound) = self.streams.iter().map(last).min() else { return Ok(false) };
        self.pieces.clear();
        self.ends.clear();
        for stream in &mut self.streams {
            let head = stream.head(words);
            let piece = rows::upper_bound(head, words, &bound);
            if piece > 0 {
                self.pieces.extend_from_slice(&head[..piece]);
                self.ends.push(self.pieces.len());
                stream.consume(piece);
            }
        }
        self.taken += (self.pieces.len() / words) as u64;
        while self.ends.len() > 1 {
            self.merge_pairs();
        }
        batch.extend_from_slice(&self.pieces);
        Ok(true)
    }

    fn merge_pairs(&mut self) {
        self.merged.clear();
        let (mut start, mut count) = (0, 0);
        for pair in 0..self.ends.len().div_ceil(2) {
            let middle = self.ends[pair * 2];
            let end = self.ends.get(pair * 2 + 1).copied().unwrap_or(middle);
            rows::union(&self.pieces[start..middle], &self.pieces[middle..end], self.words, &mut self.merged);
            start = end;
            self.ends[count] = self.merged.len();
            count += 1;
        }
        self.ends.truncate(count);
        std::mem::swap(&mut self.pieces, &mut self.merged);
    }
}
