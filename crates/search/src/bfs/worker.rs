//! One worker of a level: opens packed states, expands, evaluates, and inserts successors by prefetched keys.
//!
//! A successor's slot is prefetched when some more are known, and its key inserted when the next are prefetched: its
//! cache line has then arrived. A worker shares nothing with others but the visited set, the chunks of the two levels and a few
//! counters, which it looks at once a batch.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use birk_engine::{Cutoff, GoalSet, Job, Model, Observer, Progress, Rest, Successors};
use birk_ir::{Step, Stop};

use crate::bfs::queue::{Filling, LevelQueue};
use crate::bfs::visited::Visited;
use crate::expand::{Expanded, expand};
use crate::store::codec::{Codec, NO_KEY};
use crate::store::table::Insertion;

/// Successors, or states without any, between two looks at what is shared.
const BATCH: usize = 1024;
/// Successors whose slots are prefetched together. Those prefetched before are then inserted: their cache lines are there.
const GROUP: usize = 32;
/// Packed states between asking for what opening one needs and opening it.
const STATES_AHEAD: usize = 4;

/// What the workers of a level share.
pub(crate) struct Level<'a, C> {
    pub(crate) model: &'a dyn Model,
    pub(crate) job: &'a Job,
    pub(crate) visited: &'a Visited<C>,
    pub(crate) depth: u32,
    pub(crate) here: &'a LevelQueue,
    pub(crate) next: &'a LevelQueue,
    pub(crate) counts: &'a Counts,
    /// States of the level are not remembered, and those of the next one are not to be, before they are expanded.
    pub(crate) is_unknown: bool,
    pub(crate) forgets: bool,
    /// Transient states of the level are not remembered then, either.
    pub(crate) may_forget: bool,
    /// The visited set cannot grow any more, and the search ends with this level.
    pub(crate) is_full: bool,
    /// Goals found in earlier levels.
    pub(crate) known_goals: GoalSet,
    /// The visited set must grow before anybody goes on.
    pub(crate) needs_room: AtomicBool,
    /// The search ends with this level: states are evaluated, successors no longer inserted.
    pub(crate) evaluating: AtomicBool,
    /// A limit was met: everybody comes back.
    pub(crate) stop: OnceLock<Stop>,
    /// States of the level of which only a part of the successors was taken.
    pub(crate) begun: &'a Mutex<Vec<Begun>>,
}

/// A state whose successors come in parts, of which some were taken.
pub(crate) struct Begun {
    pub(crate) packed: Vec<u32>,
    rest: Rest,
    is_open: bool,
}

/// Counted by all workers.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// States in the visited set, the results of failing checks included.
    pub(crate) held: AtomicU64,
    pub(crate) states: AtomicU64,
    pub(crate) transient: AtomicU64,
    pub(crate) transitions: AtomicU64,
    /// Goals found, in this level or earlier.
    pub(crate) goals: AtomicU64,
    /// Bytes of the batches of all workers.
    pub(crate) batches: AtomicU64,
    /// Bytes in use beyond those that are counted, as the observer said last.
    overhead: AtomicU64,
}

impl<C: Codec> Level<'_, C> {
    fn begun(&self) -> Option<Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn leave(&self, begun: Begun) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).push(begun);
    }

    fn is_over(&self) -> bool {
        self.needs_room.load(Ordering::Relaxed) || self.stop.get().is_some()
    }

    /// Bytes of what waits in both levels.
    pub(crate) fn frontier_bytes(&self) -> u64 {
        (self.here.words() + self.next.words()) * 4
    }

    fn progress(&self, states: u64) -> Progress {
        let [here, next] = [self.here, self.next].map(|level| level.words() / self.visited.codec.packed_words() as u64);
        // Those that are counted when they are expanded are reached as well.
        let uncounted = if self.is_unknown { here } else { 0 } + if self.forgets { next } else { 0 };
        Progress {
            states: states + uncounted,
            transitions: self.counts.transitions.load(Ordering::Relaxed),
            depth: self.depth,
            frontier: here + next,
            bytes: self.visited.bytes() + self.frontier_bytes() + self.counts.batches.load(Ordering::Relaxed),
            ..Progress::default()
        }
    }
}

/// A worker's own things, kept from level to level.
pub(crate) struct Worker<C: Codec> {
    pub(super) batch: Successors,
    /// Key and hash of each successor of the batch.
    pub(super) keys: Vec<u64>,
    pub(super) hashes: Vec<u64>,
    /// How many of the batch were inserted.
    inserted: usize,
    /// Which of the successors are remembered.
    pub(super) known: Vec<bool>,
    pub(super) state: Vec<u32>,
    pub(crate) parent: C::Parent,
    pub(super) filling: Filling,
    /// States for which the visited set had no room.
    pub(crate) deferred: Vec<u32>,
    /// For each goal the smallest state of the level that satisfies it, so that the choice depends on nothing else.
    pub(crate) found: Vec<Option<Vec<u32>>>,
    pub(crate) fired: Vec<bool>,
    /// Transitions that have not fired.
    unfired: usize,
    /// The states at the depth limit, and whether a step of the one that is expanded is open.
    pub(crate) edge: Cutoff,
    is_open: bool,
    pub(super) held: u64,
    pub(super) states: u64,
    pub(super) transient: u64,
    transitions: u64,
    /// Bytes of the batch, as they were added to the counts.
    counted: u64,
}

impl<C: Codec> Worker<C> {
    pub(crate) fn new(model: &dyn Model, job: &Job, codec: &C) -> Self {
        Self {
            batch: Successors::in_parts(model.words()),
            keys: Vec::new(),
            hashes: Vec::new(),
            inserted: 0,
            known: Vec::new(),
            state: vec![0; model.words()],
            parent: codec.parent(),
            filling: Filling::new(codec.packed_words(), job.limits.grain),
            deferred: Vec::new(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            unfired: model.transitions(),
            edge: Cutoff::new(model.transitions()),
            is_open: false,
            held: 0,
            states: 0,
            transient: 0,
            transitions: 0,
            counted: 0,
        }
    }

    /// Outcomes that an `assume` cut.
    pub(crate) fn cut(&self) -> u64 {
        self.batch.cut
    }

    /// Inserts the initial states, as the level before the first.
    pub(crate) fn begin(&mut self, level: &Level<'_, C>) {
        level.model.initial(&mut self.batch);
        level.visited.codec.prepare(&self.batch, 0, &mut self.parent);
        self.settle(level, None);
        self.flush(level);
    }

    /// Gives what it has of the next level.
    pub(crate) fn flush(&mut self, level: &Level<'_, C>) {
        self.filling.flush(level.next);
    }

    /// Expands packed states until none is left or everybody is called back.
    pub(crate) fn run<'o>(&mut self, level: &Level<'_, C>, mut observer: Option<&mut (dyn Observer + 'o)>) {
        let words = level.visited.codec.packed_words();
        let mut expanded = 0;
        while !level.is_over() {
            if let Some(begun) = level.begun() {
                self.take_up(level, begun, observer.as_deref_mut());
                // The next state may have as many successors as are in the batch.
                self.settle(level, observer.as_deref_mut());
                continue;
            }
            let Some(chunk) = level.here.pop() else { break };
            let mut at = 0;
            while at < chunk.len() && !level.is_over() {
                if let Some(later) = chunk.get(at + words * STATES_AHEAD..at + words * (STATES_AHEAD + 1)) {
                    level.visited.codec.prefetch(later);
                }
                if level.is_unknown {
                    self.expand_unless_known(level, &chunk[at..at + words]);
                } else {
                    self.expand(level, &chunk[at..at + words]);
                }
                if self.batch.has_rest() {
                    self.go_on(level, &chunk[at..at + words], observer.as_deref_mut());
                }
                at += words;
                expanded += 1;
                if self.batch.len() >= BATCH || expanded == BATCH {
                    self.settle(level, observer.as_deref_mut());
                    expanded = 0;
                }
            }
            if at < chunk.len() {
                level.here.push_front(chunk[at..].to_vec());
            }
        }
        self.settle(level, observer);
        self.flush(level);
    }

    /// Computes a state's successors into the batch, and evaluates it.
    #[inline]
    fn expand(&mut self, level: &Level<'_, C>, packed: &[u32]) {
        level.visited.codec.open(packed, &mut self.parent, &mut self.state);
        let expanded = expand(level.model, &self.state, &mut self.batch);
        self.look_at(level, expanded);
    }

    /// Evaluates the state that was expanded, and takes its successors.
    #[inline(always)]
    pub(super) fn look_at(&mut self, level: &Level<'_, C>, expanded: Expanded) {
        let goals = expanded.goals(level.model, &self.state);
        if !goals.is_empty() {
            self.evaluate(level, goals);
        }
        self.is_open = false;
        self.take(level, expanded.from);
    }

    /// Goes on with a state whose successors come in parts. When everybody is called back, another worker may take it up.
    #[cold]
    fn go_on<'o>(&mut self, level: &Level<'_, C>, packed: &[u32], mut observer: Option<&mut (dyn Observer + 'o)>) {
        while self.batch.has_rest() {
            self.settle(level, observer.as_deref_mut());
            if level.is_over()
                && let Some(rest) = self.batch.take_rest()
            {
                return level.leave(Begun { packed: packed.to_vec(), rest, is_open: self.is_open });
            }
            level.visited.codec.open(packed, &mut self.parent, &mut self.state);
            level.model.successors(&self.state, &mut self.batch);
            self.take(level, 0);
        }
    }

    /// Goes on with a state that was left when everybody was called back.
    fn take_up<'o>(&mut self, level: &Level<'_, C>, begun: Begun, observer: Option<&mut (dyn Observer + 'o)>) {
        self.settle(level, None);
        self.batch.give_rest(begun.rest);
        self.is_open = begun.is_open;
        self.go_on(level, &begun.packed, observer);
    }

    /// Takes the successors from one on, all of the state that is expanded: counts them, and asks for their cache lines.
    #[inline(always)]
    fn take(&mut self, level: &Level<'_, C>, before: usize) {
        self.transitions += (self.batch.len() - before) as u64;
        let at_limit = level.depth == level.job.limits.depth;
        if self.unfired > 0 && !at_limit {
            self.note_fired(before);
        }
        if at_limit {
            let is_known = |state: &[u32]| level.visited.find(state, &mut self.parent).is_some();
            self.is_open |= self.edge.edge(&self.batch, before, &mut self.fired, is_known);
            if !self.batch.has_rest() {
                self.edge.count(self.is_open);
            }
            self.batch.truncate(before);
        } else if level.evaluating.load(Ordering::Relaxed) {
            self.batch.truncate(before);
        }
        level.visited.codec.prepare(&self.batch, before, &mut self.parent);
        if self.batch.len() >= self.keys.len() + GROUP {
            self.prefetch(level);
        }
    }

    /// Notes the transitions that led to the successors from one on.
    fn note_fired(&mut self, from: usize) {
        for step in self.batch.steps(from) {
            let fired = &mut self.fired[step.transition.index()];
            self.unfired -= usize::from(!std::mem::replace(fired, true));
        }
    }

    /// Asks for the cache lines of the successors without a key, and inserts the others.
    fn prefetch(&mut self, level: &Level<'_, C>) {
        let from = self.keys.len();
        let has_room = level.visited.codec.keys(&self.batch, from, &mut self.parent, &mut self.keys);
        if C::GROWS && !has_room {
            self.defer(level, from);
        }
        level.visited.prefetch(&self.keys[from..], &mut self.hashes);
        if !level.evaluating.load(Ordering::Relaxed) {
            self.find_or_insert(level, from);
        }
    }

    /// Takes the successors without a key out of the batch: they wait until there is room.
    #[cold]
    fn defer(&mut self, level: &Level<'_, C>, from: usize) {
        for i in (from..self.batch.len()).rev().filter(|&i| self.keys[i] == NO_KEY).collect::<Vec<_>>() {
            self.deferred.extend_from_slice(self.batch.state(i));
            self.batch.remove(i);
            self.keys.remove(i);
        }
        level.needs_room.store(true, Ordering::Relaxed);
    }

    /// Gives successors before one to the visited set, and those that are new to the next level.
    fn find_or_insert(&mut self, level: &Level<'_, C>, end: usize) {
        let start = std::mem::replace(&mut self.inserted, end);
        if level.forgets {
            return self.pass_on(level, start..end);
        }
        let Self { batch, keys, hashes, filling, deferred, held, states, .. } = self;
        let alone = level.job.limits.threads == 1;
        level.visited.find_or_insert(&hashes[start..end], level.depth.wrapping_add(1), alone, |at, inserted| {
            let state = batch.state(start + at);
            match inserted {
                Insertion::Known => {}
                Insertion::New => {
                    *held += 1;
                    *states += u64::from(!level.model.is_fault(state));
                    level.visited.codec.push_packed(keys[start + at], state, &mut filling.chunk);
                    filling.flush_if_full(level.next);
                }
                Insertion::NoRoom => {
                    deferred.extend_from_slice(state);
                    level.needs_room.store(true, Ordering::Relaxed);
                }
            }
        });
    }

    /// Inserts the rest of the batch, adds up the counts, and looks at limits and observer.
    fn settle(&mut self, level: &Level<'_, C>, observer: Option<&mut (dyn Observer + '_)>) {
        self.prefetch(level);
        if !level.evaluating.load(Ordering::Relaxed) {
            self.find_or_insert(level, self.batch.len());
        }
        self.inserted = 0;
        self.batch.clear();
        self.keys.clear();
        self.hashes.clear();
        let add = |count: &AtomicU64, own: &mut u64| {
            let own = std::mem::take(own);
            count.fetch_add(own, Ordering::Relaxed) + own
        };
        add(&level.counts.transitions, &mut self.transitions);
        add(&level.counts.transient, &mut self.transient);
        let states = add(&level.counts.states, &mut self.states);
        let held = add(&level.counts.held, &mut self.held);
        if held > level.visited.capacity() && !level.is_full {
            level.needs_room.store(true, Ordering::Relaxed);
        }
        if states > level.job.limits.states {
            let _ = level.stop.set(Stop::States);
        }
        let batch = self.batch.bytes();
        level
            .counts
            .batches
            .fetch_add(batch.wrapping_sub(std::mem::replace(&mut self.counted, batch)), Ordering::Relaxed);
        let progress = level.progress(states);
        let overhead = &level.counts.overhead;
        if let Some(observer) = observer {
            if let ControlFlow::Break(stop) = observer.progress(&progress) {
                let _ = level.stop.set(stop);
            }
            overhead.store(observer.overhead(progress.bytes), Ordering::Relaxed);
        }
        let bytes = (progress.bytes + self.ahead(level)).saturating_add(overhead.load(Ordering::Relaxed));
        if bytes > level.job.limits.memory {
            let _ = level.stop.set(Stop::Memory);
        }
    }

    /// Bytes that may be added before the next look: the batches of others, as large as this one, and the tickets that come of
    /// them; and another batch to look at what waits in the end.
    fn ahead(&self, level: &Level<'_, C>) -> u64 {
        let (batch, threads) = (self.batch.bytes(), level.job.limits.threads as u64);
        let others = (batch * threads).saturating_sub(level.counts.batches.load(Ordering::Relaxed));
        let successors = batch / (self.batch.words() * 4 + size_of::<Step>()) as u64;
        others + successors * threads * level.visited.codec.packed_words() as u64 * 4 + batch
    }

    /// Records goals that no earlier level had; ends the search with this level if it was told to.
    #[cold]
    fn evaluate(&mut self, level: &Level<'_, C>, goals: GoalSet) {
        let job = level.job;
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < job.goals && !level.known_goals.contains(goal)) {
            let smallest = &mut self.found[goal];
            if smallest.as_ref().is_none_or(|state| self.state < *state) {
                *smallest = Some(self.state.clone());
            }
            ends |= job.stop_at.contains(goal);
            let bit = 1 << goal;
            let all = level.counts.goals.fetch_or(bit, Ordering::Relaxed) | bit;
            ends |= !job.keep_going && all.count_ones() as usize == job.goals;
        }
        if ends {
            level.evaluating.store(true, Ordering::Relaxed);
        }
    }

    /// Inserts a deferred state now that there may be room; false when there is still none.
    pub(crate) fn retry(&mut self, level: &Level<'_, C>, state: &[u32]) -> bool {
        let Some(key) = level.visited.codec.key(state, &mut self.parent) else { return false };
        if level.forgets {
            level.visited.codec.push_packed(key, state, &mut self.filling.chunk);
            self.filling.flush_if_full(level.next);
            return true;
        }
        match level.visited.find_or_insert_one(key, level.depth.wrapping_add(1)) {
            Insertion::NoRoom => return false,
            Insertion::Known => {}
            Insertion::New => {
                level.counts.held.fetch_add(1, Ordering::Relaxed);
                level.counts.states.fetch_add(u64::from(!level.model.is_fault(state)), Ordering::Relaxed);
                level.visited.codec.push_packed(key, state, &mut self.filling.chunk);
                self.filling.flush_if_full(level.next);
            }
        }
        true
    }
}
