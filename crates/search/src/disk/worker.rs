//! One worker at a level: it takes piece after piece of it, evaluates and expands its states, and makes their successors candidates.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use birk_engine::{GoalSet, Job, Successors};
use birk_runs::{Cursor, Run};

use super::shared::{Asking, Shared};
use crate::levels::candidates::Candidates;
use crate::levels::limits::Flow;

/// Successors after which they become candidates, and states after which somebody is asked.
const BATCH: usize = 256;
/// A worker takes so many blocks at once, or fewer.
const MOST_BLOCKS: usize = 64;
/// As many pieces as this for each worker, where there are enough blocks.
const PIECES: usize = 8;

/// What the workers of a level share.
pub(super) struct Level<'a> {
    shared: &'a Shared<'a>,
    run: &'a Run,
    /// Blocks of a piece; or, where a worker takes fewer states than a block has, into how many parts a block is divided.
    blocks: usize,
    parts: usize,
    next: AtomicUsize,
    /// States that were expanded.
    pub(super) expanded: AtomicU64,
    /// Goals found in earlier levels, and those with the goals of this one.
    known: GoalSet,
    goals: AtomicU64,
    /// The search ends with this level.
    pub(super) is_over: AtomicBool,
    at_limit: bool,
}

impl<'a> Level<'a> {
    /// Of so many workers.
    pub(super) fn new(shared: &'a Shared<'a>, run: &'a Run, known: GoalSet, workers: usize, at_limit: bool) -> Self {
        let parts = if workers == 1 { 1 } else { run.block_keys().div_ceil(shared.job.limits.grain.max(1)) };
        let blocks = match workers {
            1 => run.blocks(),
            _ if parts > 1 => 1,
            _ => (run.blocks() / (workers * PIECES)).clamp(1, MOST_BLOCKS),
        };
        Self {
            shared,
            run,
            blocks,
            parts,
            next: AtomicUsize::new(0),
            expanded: AtomicU64::new(0),
            known,
            goals: AtomicU64::new(known.0),
            is_over: AtomicBool::new(false),
            at_limit,
        }
    }

    /// The goals found so far.
    pub(super) fn goals(&self) -> GoalSet {
        GoalSet(self.goals.load(Ordering::Relaxed))
    }

    /// Takes the next piece: the cursor is at its blocks; which part of these it is.
    fn take(&self, cursor: &mut Cursor) -> Option<usize> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let start = number / self.parts * self.blocks;
        if start >= self.run.blocks() {
            return None;
        }
        cursor.seek(start..(start + self.blocks).min(self.run.blocks()));
        Some(number % self.parts)
    }
}

/// A worker's own things, kept from level to level.
pub(super) struct Worker {
    pub(super) candidates: Candidates,
    /// Successors that are not yet candidates, their keys, and the state that is expanded.
    pub(super) batch: Successors,
    packed: Vec<u64>,
    state: Vec<u32>,
    /// For each goal the smallest state of the level that satisfies it.
    pub(super) here: Vec<Option<Vec<u32>>>,
    pub(super) fired: Vec<bool>,
    unfired: usize,
    /// At the depth limit: for each transition the steps that were taken by it.
    pub(super) steps: Vec<u64>,
    transitions: u64,
    /// Its bytes, as they were added to those of all.
    counted: u64,
}

impl Worker {
    /// Knows which transitions were taken before.
    pub(super) fn new(shared: &Shared<'_>, fired: &[bool]) -> Self {
        let words = shared.model.words();
        Self {
            candidates: Candidates::new(shared.keys.words(), &shared.sizes),
            batch: Successors::in_parts(words),
            packed: Vec::new(),
            state: vec![0; words],
            here: vec![None; shared.job.goals],
            fired: fired.to_vec(),
            unfired: fired.iter().filter(|fired| !**fired).count(),
            steps: vec![0; fired.len()],
            transitions: 0,
            counted: 0,
        }
    }

    /// Expands and evaluates piece after piece.
    pub(super) fn run(&mut self, level: &Level<'_>, asking: &mut Asking<'_>) -> Flow<()> {
        let words = level.shared.keys.words();
        let mut cursor = Cursor::new(level.run.clone(), level.shared.sizes.io);
        let (mut waiting, mut expanded) = (0, 0);
        while let Some(part) = level.take(&mut cursor) {
            while cursor.refill()? {
                let head = cursor.head();
                let size = (head.len() / words).div_ceil(level.parts) * words;
                let head = &head[(part * size).min(head.len())..((part + 1) * size).min(head.len())];
                for key in head.chunks_exact(words) {
                    self.expand(level, key, asking)?;
                    waiting += 1;
                    if self.batch.len() >= BATCH || waiting == BATCH {
                        waiting = 0;
                        self.flush(level.shared, asking)?;
                    }
                }
                expanded += (head.len() / words) as u64;
                let consumed = cursor.head().len();
                cursor.consume(consumed);
            }
        }
        level.expanded.fetch_add(expanded, Ordering::Relaxed);
        self.flush(level.shared, asking)
    }

    #[inline(always)]
    fn expand(&mut self, level: &Level<'_>, key: &[u64], asking: &mut Asking<'_>) -> Flow<()> {
        let Shared { model, job, keys, .. } = level.shared;
        keys.unpack(key, &mut self.state);
        let (before, cut) = (self.batch.len(), self.batch.cut);
        model.successors(&self.state, &mut self.batch);
        let stuck = self.batch.is_stuck_since(before, cut);
        let goals = model.evaluate(&self.state, stuck);
        if !goals.is_empty() {
            self.evaluate(level, job, goals);
        }
        self.take(level, before);
        while self.batch.has_rest() {
            self.flush(level.shared, asking)?;
            model.successors(&self.state, &mut self.batch);
            self.take(level, 0);
        }
        Ok(())
    }

    /// Counts the successors from one on; where the search ends with this level, they are of no use.
    #[inline(always)]
    fn take(&mut self, level: &Level<'_>, before: usize) {
        self.transitions += (self.batch.len() - before) as u64;
        if level.at_limit {
            // A step is taken only if it leads to a known state.
            self.batch.steps(before).iter().for_each(|step| self.steps[step.transition.index()] += 1);
        } else if self.unfired > 0 {
            for step in self.batch.steps(before) {
                let fired = &mut self.fired[step.transition.index()];
                self.unfired -= usize::from(!std::mem::replace(fired, true));
            }
        }
        if level.is_over.load(Ordering::Relaxed) {
            self.batch.truncate(before);
        }
    }

    /// Makes states candidates.
    pub(super) fn add(&mut self, shared: &Shared<'_>, batch: &Successors) {
        self.packed.clear();
        shared.keys.pack_all(batch, 0, &mut self.packed);
        self.candidates.push(&self.packed);
    }

    /// Makes the successors candidates, and looks at limits and observer.
    fn flush(&mut self, shared: &Shared<'_>, asking: &mut Asking<'_>) -> Flow<()> {
        self.packed.clear();
        shared.keys.pack_all(&self.batch, 0, &mut self.packed);
        if self.candidates.is_full(self.batch.len()) {
            self.candidates.spill((&shared.vault, &shared.sizes), &mut || asking.ask())?;
        }
        self.candidates.push(&self.packed);
        self.batch.clear();
        shared.transitions.fetch_add(std::mem::take(&mut self.transitions), Ordering::Relaxed);
        self.count(shared);
        asking.ask_for_memory()
    }

    /// Adds its bytes to those of all.
    pub(super) fn count(&mut self, shared: &Shared<'_>) {
        let bytes = self.candidates.memory() + self.batch.bytes();
        let before = std::mem::replace(&mut self.counted, bytes);
        shared.own_bytes.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Records goals that no earlier level had; ends the search with this level if it was told to.
    #[cold]
    fn evaluate(&mut self, level: &Level<'_>, job: &Job, goals: GoalSet) {
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < job.goals && !level.known.contains(goal)) {
            let smallest = &mut self.here[goal];
            if smallest.as_ref().is_none_or(|state| self.state < *state) {
                *smallest = Some(self.state.clone());
            }
            ends |= job.stop_at.contains(goal);
            let bit = 1 << goal;
            let all = level.goals.fetch_or(bit, Ordering::Relaxed) | bit;
            ends |= !job.keep_going && all.count_ones() as usize == job.goals;
        }
        if ends {
            level.is_over.store(true, Ordering::Relaxed);
        }
    }
}
