//! The successors of a level, before it is known which of them are new: in a buffer, and, whenever that is full, sorted and written as
//! a run.
//!
//! A small table of the keys that came last drops most of those that come again soon. It is never cleared: whatever was a candidate
//! once is visited when its level is done.

use std::sync::Arc;

use birk_runs::{Cursor, Merge, Run, Sorted, Stream, Writer, sort_unique};

use super::limits::{Flow, Sizes};
use super::vault::{Appender, Held, Vault};

/// Places for keys that came last, at first.
const FEW: usize = 1 << 8;
/// Spreads keys over the table.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Successors of a level.
pub(crate) struct Candidates {
    words: usize,
    /// Those that are in memory; so many words may be.
    pub(crate) keys: Vec<u64>,
    most: usize,
    /// Keys that came last, each at the place that its hash says.
    recent: Vec<u64>,
    shift: u32,
    /// So many places there may be.
    most_recent: usize,
    pub(crate) runs: Vec<Run>,
    /// How often the buffer was written.
    pub(crate) spills: u64,
}

impl Candidates {
    pub(crate) fn new(words: usize, sizes: &Sizes) -> Self {
        let most_recent = (sizes.recent / (8 * words)).next_power_of_two().clamp(2, 1 << 16);
        let most = (sizes.buffer / 8).max(64 * words) / words * words;
        let (recent, shift) = table(words, most_recent.min(FEW));
        Self { words, keys: Vec::new(), most, recent, shift, most_recent, runs: Vec::new(), spills: 0 }
    }

    /// Bytes in memory.
    pub(crate) fn memory(&self) -> u64 {
        let runs: u64 = self.runs.iter().map(Run::memory).sum();
        ((self.keys.capacity() + self.recent.len()) * 8) as u64 + runs
    }

    /// How many there are, some of them more than once.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(Run::keys).sum::<u64>() + (self.keys.len() / self.words) as u64
    }

    /// Adds keys, but for some that it has.
    #[inline]
    pub(crate) fn push(&mut self, keys: &[u64]) {
        self.reserve(keys.len());
        if self.words > 1 {
            return self.push_wide(keys);
        }
        let mut end = self.keys.len();
        self.keys.resize(end + keys.len(), 0);
        let (list, recent) = (&mut self.keys[..], &mut self.recent[..]);
        for &key in keys {
            let place = &mut recent[(key.wrapping_mul(GOLDEN) >> self.shift) as usize];
            list[end] = key;
            end += usize::from(*place != key);
            *place = key;
        }
        self.keys.truncate(end);
    }

    fn push_wide(&mut self, keys: &[u64]) {
        let words = self.words;
        for key in keys.chunks_exact(words) {
            let place = place_of(key, self.shift) * words;
            let recent = &mut self.recent[place..place + words];
            if recent != key {
                recent.copy_from_slice(key);
                self.keys.extend_from_slice(key);
            }
        }
    }

    /// Room for more; where there is none, twice as much, but not more than may be.
    fn reserve(&mut self, more: usize) {
        let needed = self.keys.len() + more;
        if needed > self.keys.capacity() {
            let size = (self.keys.capacity() * 2).min(self.most).max(needed);
            self.keys.reserve_exact(size - self.keys.len());
        }
    }

    /// Whether the buffer has no room for so many keys.
    #[inline]
    pub(crate) fn is_full(&self, keys: usize) -> bool {
        self.keys.len() + keys * self.words > self.most
    }

    /// Sorts the buffer.
    pub(crate) fn sort(&mut self, may_go_on: &mut dyn FnMut() -> Flow<()>) -> Flow<()> {
        let mut flow = Ok(());
        let mut ask = || {
            flow = may_go_on();
            flow.is_ok()
        };
        match sort_unique(&mut self.keys, self.words, &mut ask) {
            Sorted::Whole => Ok(()),
            Sorted::Ended => flow,
        }
    }

    /// Writes what is in the buffer as a run.
    #[cold]
    pub(crate) fn spill(
        &mut self,
        (vault, sizes): (&Vault, &Sizes),
        may_go_on: &mut dyn FnMut() -> Flow<()>,
    ) -> Flow<()> {
        self.sort(may_go_on)?;
        let file = vault.scratch()?;
        let out = Appender::new(Arc::clone(&file), 0, sizes.io);
        let mut writer = Writer::new(out, self.words, 0)?;
        for piece in self.keys.chunks(self.words << 14) {
            writer.push(piece)?;
            may_go_on()?;
        }
        self.runs.push(finish(writer, file, 0)?);
        self.keys.clear();
        self.spills += 1;
        if self.runs.len() >= sizes.runs {
            let merged = merge(&self.runs, self.words, (vault, sizes), may_go_on)?;
            self.runs = vec![merged];
        }
        Ok(())
    }

    /// All of them were used. Where there were many, the table of those that come last grows.
    pub(crate) fn clear(&mut self) {
        let (slots, wanted) = (self.recent.len() / self.words, self.len().min(self.most_recent as u64) as usize);
        if wanted > slots {
            (self.recent, self.shift) = table(self.words, wanted.next_power_of_two().min(self.most_recent));
        }
        self.keys.clear();
        self.runs.clear();
    }
}

/// An empty table for keys that came last, and how far their hashes are shifted.
fn table(words: usize, slots: usize) -> (Vec<u64>, u32) {
    let shift = 64 - slots.trailing_zeros();
    let mut recent = vec![0; slots * words];
    // No place holds a key that belongs there: the place of 0 gets another one.
    let home = place_of(&vec![0; words], shift);
    let mut other = vec![0; words];
    while place_of(&other, shift) == home {
        other[0] += 1;
    }
    recent[home * words..(home + 1) * words].copy_from_slice(&other);
    (recent, shift)
}

/// The place of a key among those that came last.
#[inline]
fn place_of(key: &[u64], shift: u32) -> usize {
    let hash = key.iter().fold(0u64, |hash, &word| (hash.rotate_left(29) ^ word).wrapping_mul(GOLDEN));
    (hash >> shift) as usize
}

/// Ends a run that is written to a file from a place on, and opens it.
pub(crate) fn finish(writer: Writer<Appender>, file: Arc<Held>, at: u64) -> Flow<Run> {
    let keys = writer.keys();
    let (mut out, bytes) = writer.finish()?;
    std::io::Write::flush(&mut out)?;
    let run = Run::open(file, at, bytes)?;
    assert_eq!(run.keys(), keys, "a run has the keys that were written");
    Ok(run)
}

/// Merges runs into one in a new file.
fn merge(
    runs: &[Run],
    words: usize,
    (vault, sizes): (&Vault, &Sizes),
    may_go_on: &mut dyn FnMut() -> Flow<()>,
) -> Flow<Run> {
    let file = vault.scratch()?;
    let mut writer = Writer::new(Appender::new(Arc::clone(&file), 0, sizes.io), words, 0)?;
    let streams = runs.iter().map(|run| Stream::Run(Cursor::new(run.clone(), sizes.io))).collect();
    let mut merge = Merge::new(streams, words);
    let mut batch = Vec::new();
    while merge.next(&mut batch)? {
        writer.push(&batch)?;
        may_go_on()?;
    }
    assert_eq!(merge.taken(), runs.iter().map(Run::keys).sum::<u64>(), "a merge takes all keys of its runs");
    finish(writer, file, 0)
}
