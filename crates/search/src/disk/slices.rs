//! Merging runs on all threads: the keys are divided into slices, workers merge one slice after the other, and what comes of them is
//! appended in order, so that it is one run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use birk_engine::Observer;
use birk_runs::{Blocks, Cursor, Merge, Run, Stream, Writer};

use super::shared::{Asking, Shared};
use crate::levels::limits::{Flow, WORTH_SHARING};
use crate::levels::vault::Appender;

/// As many slices as this for each worker, if they are not too small.
const SLICES: u64 = 8;
/// A slice is estimated from so many samples, about.
const SAMPLES: u64 = 8;
/// So many slices for each worker may be merged and wait to be appended.
const AHEAD: usize = 2;
/// Bytes that a key takes in a slice, about.
const KEY_BYTES: usize = 4;
/// Who waits for others asks that often whether to go on.
const PERIOD: Duration = Duration::from_millis(10);

/// What is to be merged.
pub(super) struct Merging<'a> {
    pub(super) runs: Vec<&'a Run>,
    pub(super) lists: Vec<&'a [u64]>,
    /// Their keys are left out.
    pub(super) without: &'a [Run],
    /// Hears all keys that are left, in no particular order.
    pub(super) hear: &'a (dyn Fn(&[u64]) + Sync),
}

impl Merging<'_> {
    /// Keys of all that is merged.
    fn keys(&self, words: usize) -> u64 {
        let lists: usize = self.lists.iter().map(|list| list.len() / words).sum();
        self.runs.iter().map(|run| run.keys()).sum::<u64>() + lists as u64
    }

    /// Merges all of it; how many keys were taken, equal ones included.
    pub(super) fn merge_into(
        self,
        writer: Writer<Appender>,
        shared: &Shared<'_>,
        observer: &mut dyn Observer,
    ) -> Flow<(Writer<Appender>, u64)> {
        let (words, limits) = (shared.keys.words(), &shared.job.limits);
        let keys = self.keys(words);
        let is_shared = keys >= WORTH_SHARING * limits.grain as u64;
        let workers = if is_shared { shared.sizes.threads } else { 1 };
        let most = (shared.sizes.part / (KEY_BYTES * words)).max(limits.grain) as u64;
        let size = (keys / (workers as u64 * SLICES)).clamp(limits.grain as u64, most);
        let slices = Slices {
            borders: if workers == 1 { Vec::new() } else { self.borders(size, words) },
            ahead: AHEAD * workers,
            io: (shared.sizes.io / workers).max(1 << 10),
            turns: Mutex::new(Turns { next: 0, appended: 0, done: BTreeMap::new(), writer }),
            changed: Condvar::new(),
            taken: AtomicU64::new(0),
            merging: self,
        };
        shared.together(&mut vec![(); workers], observer, |(), asking| slices.work(asking))?;
        let turns = slices.turns.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(turns.appended == slices.borders.len() + 1 && turns.done.is_empty(), "every slice was appended");
        Ok((turns.writer, slices.taken.into_inner()))
    }

    /// First words of keys that divide all of them into slices of about this size.
    fn borders(&self, size: u64, words: usize) -> Vec<u64> {
        let step = (size / SAMPLES).max(1);
        // A word, and how many keys it stands for.
        let mut samples: Vec<(u64, u64)> = Vec::new();
        for run in self.runs.iter().filter(|run| run.keys() > 0) {
            let in_block = (run.keys() / run.blocks() as u64).max(1);
            let blocks = (step / in_block).max(1);
            let firsts = run.firsts().iter().step_by(blocks as usize);
            samples.extend(firsts.map(|&first| (first, blocks * in_block)));
        }
        for list in &self.lists {
            samples.extend(list.chunks(words).step_by(step as usize).map(|key| (key[0], step)));
        }
        samples.sort_unstable();
        let (mut borders, mut keys) = (Vec::new(), 0);
        for (word, count) in samples {
            if keys >= size && borders.last().is_none_or(|&last| last < word) {
                borders.push(word);
                keys = 0;
            }
            keys += count;
        }
        borders
    }
}

/// Slices that workers share.
struct Slices<'a> {
    merging: Merging<'a>,
    borders: Vec<u64>,
    ahead: usize,
    io: usize,
    turns: Mutex<Turns>,
    changed: Condvar,
    taken: AtomicU64,
}

struct Turns {
    /// The slice to be taken next, and the one to be appended next.
    next: usize,
    appended: usize,
    /// Those that wait for others.
    done: BTreeMap<usize, Blocks>,
    writer: Writer<Appender>,
}

impl Slices<'_> {
    /// Merges slice after slice.
    fn work(&self, asking: &mut Asking<'_>) -> Flow<()> {
        let (words, sizes) = (asking.shared.keys.words(), &asking.shared.sizes);
        let cursor = |run: &Run| Cursor::new(run.clone(), self.io);
        let mut streams: Vec<Stream<'_>> = self.merging.runs.iter().map(|run| Stream::Run(cursor(run))).collect();
        streams.extend(self.merging.lists.iter().map(|list| Stream::List(list)));
        let mut merge = Merge::new(streams, words);
        let mut without: Vec<Cursor> = self.merging.without.iter().map(cursor).collect();
        let mut batch = Vec::new();
        while let Some(slice) = self.take(asking)? {
            let end = self.borders.get(slice).copied();
            let mut blocks = Blocks::new(words);
            if !self.borders.is_empty() {
                merge.narrow(slice.checked_sub(1).map_or(0, |before| self.borders[before]), end)?;
                without.iter_mut().for_each(|cursor| cursor.limit_to(end));
            }
            while merge.next(&mut batch)? {
                without.iter_mut().try_for_each(|cursor| cursor.subtract(&mut batch))?;
                (self.merging.hear)(&batch);
                blocks.push(&batch);
                if blocks.bytes() >= sizes.part {
                    self.give_part(slice, &mut blocks, asking)?;
                }
                asking.ask()?;
            }
            self.give(slice, blocks)?;
        }
        self.taken.fetch_add(merge.taken(), Ordering::Relaxed);
        Ok(())
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is appended, or a moment.
    fn wait(&self, turns: MutexGuard<'_, Turns>, asking: &mut Asking<'_>) -> Flow<()> {
        drop(self.changed.wait_timeout(turns, PERIOD));
        asking.ask()
    }

    /// Takes a slice, when those before it are not too far behind.
    fn take(&self, asking: &mut Asking<'_>) -> Flow<Option<usize>> {
        loop {
            let mut turns = self.turns();
            let slice = turns.next;
            if slice > self.borders.len() {
                return Ok(None);
            }
            if slice < turns.appended + self.ahead {
                turns.next += 1;
                return Ok(Some(slice));
            }
            self.wait(turns, asking)?;
        }
    }

    /// Appends what there is of a slice, when its turn has come.
    fn give_part(&self, slice: usize, blocks: &mut Blocks, asking: &mut Asking<'_>) -> Flow<()> {
        loop {
            let mut turns = self.turns();
            if turns.appended == slice {
                return Ok(turns.writer.append(blocks)?);
            }
            self.wait(turns, asking)?;
        }
    }

    /// Gives the rest of a slice: all are appended whose turn has come.
    fn give(&self, slice: usize, blocks: Blocks) -> Flow<()> {
        let mut turns = self.turns();
        turns.done.insert(slice, blocks);
        let Turns { appended, done, writer, .. } = &mut *turns;
        while let Some(mut blocks) = done.remove(appended) {
            writer.append(&mut blocks)?;
            *appended += 1;
        }
        self.changed.notify_all();
        Ok(())
    }
}
