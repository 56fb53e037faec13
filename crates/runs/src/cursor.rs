//! A place in a run, which only moves forward: reads all its keys in order, or takes those of others away that it has.

use std::io::Result;
use std::ops::Range;

use crate::rows;
use crate::run::{Ahead, Run};
use crate::shape::damaged;

/// With so many times fewer keys to look up than a block has, each is searched for by itself.
const FEW: usize = 16;

/// A place in a run.
#[derive(Debug)]
pub struct Cursor {
    run: Run,
    /// The block to be read next, and the one that was read last.
    next: usize,
    last: Option<usize>,
    /// Blocks from this one on are not read ahead, nor are they, or keys whose first word is not below the other number, given.
    limit: usize,
    end: Option<u64>,
    /// The keys of the block that was read, how many words of them are behind, and how many are given.
    keys: Vec<u64>,
    at: usize,
    stop: usize,
    ahead: Ahead,
    /// Bytes that may be read ahead.
    most: usize,
    /// Keys that were read, for runs that are read whole.
    read: u64,
}

impl Cursor {
    /// At the beginning of a run; up to so many bytes are read at once.
    pub fn new(run: Run, most: usize) -> Self {
        let limit = run.blocks();
        Self {
            run,
            next: 0,
            last: None,
            limit,
            end: None,
            keys: Vec::new(),
            at: 0,
            stop: 0,
            ahead: Ahead::default(),
            most,
            read: 0,
        }
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Bytes in memory, without the index.
    pub fn memory(&self) -> u64 {
        (self.keys.capacity() * 8) as u64 + self.ahead.memory()
    }

    /// The next keys, as far as they are in memory.
    #[inline]
    pub fn head(&self) -> &[u64] {
        &self.keys[self.at..self.stop]
    }

    /// Leaves so many words of the head behind.
    #[inline]
    pub fn consume(&mut self, words: usize) {
        self.at += words;
        debug_assert!(self.at <= self.stop);
    }

    /// Sees to it that there is a head; false at the end of the run, or of what is given of it.
    pub fn refill(&mut self) -> Result<bool> {
        if self.at < self.stop {
            return Ok(true);
        }
        if self.stop < self.keys.len() {
            return Ok(false);
        }
        if self.next >= self.limit {
            // Whoever has come here block by block has read all keys.
            let is_whole = self.read == self.run.keys() || self.last.is_none_or(|last| last + 1 != self.next);
            return if is_whole || self.read == u64::MAX { Ok(false) } else { Err(damaged("a run has other keys")) };
        }
        self.load(self.next)?;
        Ok(self.at < self.stop)
    }

    /// Goes to some blocks, of which it gives the keys.
    pub fn seek(&mut self, blocks: Range<usize>) {
        self.forget();
        (self.next, self.limit, self.end) = (blocks.start, blocks.end, None);
    }

    /// Goes forward to the keys whose first word is at least `from`, and gives those whose first word is below `end`.
    pub fn narrow(&mut self, from: u64, end: Option<u64>) -> Result<()> {
        let words = self.run.words();
        self.limit_to(end);
        let is_behind = self.keys.len().checked_sub(words).is_none_or(|last| self.keys[last] < from);
        if is_behind {
            let firsts = self.run.firsts();
            let start = firsts.partition_point(|&first| first < from);
            // The block before may end with such keys.
            let is_first = words == 1 && firsts.get(start) == Some(&from);
            let start = if is_first { start } else { start.saturating_sub(1) };
            if start > self.next || self.last.is_none() {
                self.forget();
                self.next = start;
            }
            if self.next >= self.limit {
                (self.at, self.stop) = (self.keys.len(), self.keys.len());
                return Ok(());
            }
            self.load(self.next)?;
        }
        let before = rows::partition(&self.keys, words, |key| key[0] < from);
        self.at = self.at.max(before);
        self.stop = self.given().max(self.at);
        Ok(())
    }

    /// Reads nothing ahead that cannot have a key whose first word is below this.
    pub fn limit_to(&mut self, end: Option<u64>) {
        let blocks = self.run.blocks();
        self.limit = end.map_or(blocks, |end| self.run.firsts().partition_point(|&first| first < end));
        self.end = end;
    }

    /// Words of the keys of the block that are given.
    fn given(&self) -> usize {
        let Some(end) = self.end else { return self.keys.len() };
        rows::partition(&self.keys, self.run.words(), |key| key[0] < end)
    }

    fn forget(&mut self) {
        self.keys.clear();
        (self.last, self.at, self.stop, self.read) = (None, 0, 0, u64::MAX);
    }

    fn load(&mut self, block: usize) -> Result<()> {
        let is_next = self.last.is_none_or(|last| last + 1 == block);
        let more = if is_next { self.most } else { 0 };
        let words = self.run.words();
        let end = self.keys.len().checked_sub(words).map(|end| self.keys[end..].to_vec());
        self.run.read(block, &mut self.ahead, (more, self.limit), &mut self.keys)?;
        if end.is_some_and(|end| end[..] >= self.keys[..words]) {
            return Err(damaged("the blocks of a run are out of order"));
        }
        if !is_next || (self.last.is_none() && block > 0) {
            self.read = u64::MAX;
        }
        self.read = self.read.saturating_add((self.keys.len() / words) as u64);
        (self.last, self.next, self.at) = (Some(block), block + 1, 0);
        self.stop = self.given();
        Ok(())
    }

    /// Takes those keys out of a sorted list that the run has. Lists come in ascending order: none has a key below the last of the
    /// list before. Blocks in which no key of the list can be are not read.
    pub fn subtract(&mut self, keys: &mut Vec<u64>) -> Result<()> {
        let words = self.run.words();
        let (mut from, mut to) = (0, 0);
        while from < keys.len() {
            if self.at == self.keys.len() && !self.approach(keys, &mut from, &mut to)? {
                break;
            }
            let block = &self.keys[self.at..];
            let last = &block[block.len() - words..];
            let within = rows::upper_bound(&keys[from..], words, last);
            if within.saturating_mul(FEW) < block.len() {
                for place in (from..from + within).step_by(words) {
                    let block = &self.keys[self.at..];
                    let key = &keys[place..place + words];
                    let found = rows::lower_bound(block, words, key);
                    let is_known = block[found..].starts_with(key);
                    self.at += found;
                    if !is_known {
                        keys.copy_within(place..place + words, to);
                        to += words;
                    }
                }
                from += within;
                if from < keys.len() {
                    self.at = self.keys.len();
                }
            } else {
                let (here, moved, at) = rows::subtract(keys, (from, to), block, words);
                (from, to) = (here, moved);
                self.at += at;
            }
        }
        if to < from {
            let rest = keys.len() - from;
            keys.copy_within(from.., to);
            keys.truncate(to + rest);
        }
        Ok(())
    }

    /// Reads the next block that can hold a key of a list from a place on; those keys that lie before it are not in the run. False
    /// when there is none.
    fn approach(&mut self, keys: &mut [u64], from: &mut usize, to: &mut usize) -> Result<bool> {
        let words = self.run.words();
        loop {
            // Blocks that end before the key: the next one begins below it. Of wide keys only the first word is compared.
            let firsts = &self.run.firsts()[self.next..];
            let ends_before = |first: u64| if words == 1 { first <= keys[*from] } else { first < keys[*from] };
            let Some(after) = firsts.get(1..) else { return Ok(false) };
            let skipped = gallop(after, ends_before);
            self.next += skipped;
            let first = self.run.firsts()[self.next];
            if keys[*from] >= first {
                break;
            }
            let before = rows::partition(&keys[*from..], words, |key| key[0] < first);
            keys.copy_within(*from..*from + before, *to);
            *from += before;
            *to += before;
            if *from == keys.len() {
                return Ok(false);
            }
        }
        // The keys of the block before are forgotten: blocks may have been skipped.
        self.keys.clear();
        self.at = 0;
        self.load(self.next)?;
        Ok(true)
    }
}

/// How many numbers at the beginning have a property that only the first ones have.
fn gallop(numbers: &[u64], is_before: impl Fn(u64) -> bool) -> usize {
    let mut step = 1;
    while step <= numbers.len() && is_before(numbers[step - 1]) {
        step *= 2;
    }
    let (low, high) = (step / 2, step.min(numbers.len()));
    low + numbers[low..high].partition_point(|&number| is_before(number))
}
