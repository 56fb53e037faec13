//! A search in memory that is kept: every level that is complete is written to files, as a search on disk writes it, and is a
//! checkpoint. To go on, the levels are read into the table, one after the other; the last one is the frontier.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use birk_engine::{GoalSet, Job, Model, Observer, Progress};
use birk_ir::Stop;
use birk_runs::{Cursor, Merge, Run, Stream};

use super::Search;
use crate::bfs::queue::LevelQueue;
use crate::bfs::worker::Level;
use crate::levels::candidates::Candidates;
use crate::levels::head::{self, Head, Kept, as_refusal};
use crate::levels::keys::Keys;
use crate::levels::limits::{Flow, Halt, Sizes};
use crate::levels::log::{Log, Record};
use crate::levels::vault::Vault;
use crate::store::codec::Codec;

/// Of the memory, this part is for sorting a level: one in so many.
const SHARE: u64 = 16;

/// Where levels are kept.
pub(crate) struct Saved {
    keys: Keys,
    sizes: Sizes,
    vault: Vault,
    log: Log,
    /// States of all levels, without the results of failing checks.
    states: u64,
}

impl Saved {
    /// A place for levels, if they are to be kept, with the records of those that an earlier search has left there.
    pub(crate) fn open(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Flow<Option<(Self, Vec<Record>)>> {
        let keys = Keys::new(model);
        let kept = head::introduce(&Head::new(model, job, &keys), observer)?;
        let Some(files) = observer.outside().filter(|_| kept != Kept::No).and_then(|outside| outside.files()) else {
            return Ok(None);
        };
        let vault = Vault::new(Some(files), u64::MAX);
        let sizes = Sizes::of(job.limits.counted_memory() / SHARE, 1);
        let (log, records) = head::open(kept, &vault)?;
        let states = records.last().map_or(0, |last| last.states);
        Ok(Some((Self { keys, sizes, vault, log, states }, records)))
    }

    /// Writes a level: its states come from `each`, in any order.
    fn write(
        &mut self,
        record: Record,
        may_go_on: &mut dyn FnMut() -> Flow<()>,
        each: impl FnOnce(&mut dyn FnMut(&[u32]) -> Flow<()>) -> Flow<()>,
    ) -> Flow<Run> {
        let Self { keys, sizes, vault, log, states } = self;
        let words = keys.words();
        let mut candidates = Candidates::new(words, sizes);
        let mut key = Vec::new();
        each(&mut |state| {
            key.clear();
            keys.pack(state, &mut key);
            if candidates.is_full(1) {
                candidates.spill((vault, sizes), may_go_on)?;
            }
            candidates.push(&key);
            Ok(())
        })?;
        candidates.sort(may_go_on)?;
        let mut streams: Vec<Stream<'_>> =
            candidates.runs.iter().map(|run| Stream::Run(Cursor::new(run.clone(), sizes.io))).collect();
        streams.push(Stream::List(&candidates.keys));
        let (mut merge, mut batch) = (Merge::new(streams, words), Vec::new());
        let mut writer = log.begin(words, sizes)?;
        while merge.next(&mut batch)? {
            writer.push(&batch)?;
            may_go_on()?;
        }
        *states = record.states;
        log.commit(writer, record)
    }
}

/// Whether the observer lets it go on.
fn asked(observer: &mut dyn Observer, progress: &Progress) -> Flow<()> {
    match observer.progress(progress) {
        ControlFlow::Break(stop) => Err(Halt::Stop(stop)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

impl<C: Codec> Search<'_, C> {
    /// Writes a level that is complete, where levels are kept.
    pub(super) fn save(&mut self, level: &LevelQueue, observer: &mut dyn Observer) -> Flow<()> {
        let Some(mut saved) = self.saved.take() else { return Ok(()) };
        let words = self.visited.codec.packed_words();
        let (record, progress) = (self.record(saved.states), self.progress(level));
        let (visited, parent) = (&self.visited, &mut self.workers[0].parent);
        let mut state = vec![0; self.model.words()];
        let written = saved.write(record, &mut || asked(observer, &progress), |hear| {
            level.each(words, |packed| {
                visited.codec.open(packed, parent, &mut state);
                hear(&state)
            })
        });
        self.saved = Some(saved);
        assert_eq!(written?.keys(), level.words() / words as u64, "a level has the states that were found");
        Ok(())
    }

    /// What is known now that a level is complete, with the states of all levels before it.
    fn record(&self, before: u64) -> Record {
        let states = self.counts.states.load(Ordering::Relaxed);
        Record {
            new: states - before,
            states,
            transitions: self.counts.transitions.load(Ordering::Relaxed),
            cut: self.cut(),
            peak_frontier: self.stats.peak_frontier,
            found: self.found.iter().map(|found| found.as_ref().map(|at| (at.depth, at.state.clone()))).collect(),
            fired: self.fired(),
            ..Record::default()
        }
    }

    fn progress(&self, level: &LevelQueue) -> Progress {
        Progress {
            states: self.counts.states.load(Ordering::Relaxed),
            transitions: self.counts.transitions.load(Ordering::Relaxed),
            depth: self.depth,
            frontier: level.words() / self.visited.codec.packed_words() as u64,
            bytes: self.visited.bytes() + level.words() * 4,
            ..Progress::default()
        }
    }

    /// Takes up what an earlier search has left: the level that waits.
    pub(super) fn restore(&mut self, records: &[Record], observer: &mut dyn Observer) -> Flow<LevelQueue> {
        let mut level = LevelQueue::default();
        let Some(last) = records.last() else { return Ok(level) };
        let Some(saved) = self.saved.take() else { return Ok(level) };
        let (found, goals) = head::found(last, self.model, self.job)?;
        for record in records {
            level = LevelQueue::default();
            self.depth = record.depth.wrapping_sub(1);
            let held = self.counts.held.load(Ordering::Relaxed) + record.keys;
            let run = saved.log.level(record.depth as usize).map_err(as_refusal)?;
            self.read(run, &saved.keys, &level, observer).map_err(as_refusal)?;
            let counts = [&self.counts.held, &self.counts.states].map(|count| count.load(Ordering::Relaxed));
            if counts != [held, record.states] {
                return Err(Halt::Refused("two of its levels have a state in common"));
            }
        }
        self.saved = Some(saved);
        self.depth = last.depth;
        self.evaluated = last.depth.checked_sub(1);
        (self.found, self.fired, self.cut) = (found, last.fired.clone(), last.cut);
        self.counts.goals.store(goals.0, Ordering::Relaxed);
        self.counts.transitions.store(last.transitions, Ordering::Relaxed);
        self.stats.peak_frontier = last.peak_frontier;
        self.stats.levels = records.iter().map(|record| record.new).filter(|&new| new > 0).collect();
        let deepest = records.iter().filter(|record| record.new > 0).map(|record| record.depth).max();
        self.stats.max_depth = deepest.unwrap_or(0);
        Ok(level)
    }

    /// Inserts the states of a level, which are those of the next one.
    fn read(&mut self, run: Run, keys: &Keys, next: &LevelQueue, observer: &mut dyn Observer) -> Flow<()> {
        let (here, begun, words) = (LevelQueue::default(), Mutex::default(), keys.words());
        if run.words() != words {
            return Err(Halt::Refused("its keys are not those of the model"));
        }
        let mut state = vec![0; self.model.words()];
        let mut is_state = true;
        let mut cursor = Cursor::new(run, 1 << 16);
        while cursor.refill()? {
            let mut left = cursor.head().chunks_exact(words).peekable();
            loop {
                let level = Level {
                    model: self.model,
                    job: self.job,
                    visited: &self.visited,
                    depth: self.depth,
                    here: &here,
                    next,
                    counts: &self.counts,
                    is_unknown: false,
                    forgets: false,
                    may_forget: false,
                    is_full: false,
                    known_goals: GoalSet::default(),
                    needs_room: AtomicBool::new(false),
                    evaluating: AtomicBool::new(false),
                    stop: OnceLock::new(),
                    begun: &begun,
                };
                let worker = &mut self.workers[0];
                while left
                    .next_if(|key| {
                        keys.unpack(key, &mut state);
                        is_state &= level.model.is_state(&state);
                        is_state && worker.retry(&level, &state)
                    })
                    .is_some()
                {}
                worker.flush(&level);
                let is_full = self.counts.held.load(Ordering::Relaxed) > self.visited.capacity();
                if !is_state {
                    return Err(Halt::Refused("a state in it is none of the model"));
                }
                if left.peek().is_none() && !is_full {
                    break;
                }
                if !self.make_room(&here, next, GoalSet::default(), observer) {
                    return Err(Halt::Stop(Stop::Memory));
                }
            }
            let consumed = cursor.head().len();
            cursor.consume(consumed);
            asked(observer, &self.progress(next))?;
        }
        Ok(())
    }
}
