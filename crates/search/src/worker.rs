//! One worker of a level: opens tickets, expands, judges, and reaches successors through prefetched keys.
//!
//! A successor's key is announced to the table when some more are known, and reached when the next are announced: its
//! cache line has then arrived. A worker shares nothing with others but the visited set, the chunks of the two levels and a few
//! counters, which it looks at once a batch.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use birk_exec::{GoalSet, Model, Rest, Successors};
use birk_ir::Stop;

use crate::border::Border;
use crate::chunks::{Chunks, Filling};
use crate::codec::{Codec, NO_KEY};
use crate::job::{Job, Observer, Progress};
use crate::table::Reached;
use crate::visited::Visited;

/// Successors, or states without any, between two looks at what is shared.
const BATCH: usize = 1024;
/// Successors whose keys are announced together. Those announced before are then reached: their cache lines are there.
const GROUP: usize = 32;
/// Tickets between asking for what opening one needs and opening it.
const TICKETS_AHEAD: usize = 4;

/// What the workers of a level share.
pub(crate) struct Level<'a, C> {
    pub(crate) model: &'a dyn Model,
    pub(crate) job: &'a Job,
    pub(crate) visited: &'a Visited<C>,
    pub(crate) depth: u32,
    pub(crate) here: &'a Chunks,
    pub(crate) next: &'a Chunks,
    pub(crate) counts: &'a Counts,
    /// Goals found in earlier levels.
    pub(crate) known_goals: GoalSet,
    /// The visited set must grow before anybody goes on.
    pub(crate) needs_room: AtomicBool,
    /// The search ends with this level: states are judged, successors no longer reached.
    pub(crate) judging: AtomicBool,
    /// A limit was met: everybody comes back.
    pub(crate) stop: OnceLock<Stop>,
    /// States of the level of which only a part of the successors was taken.
    pub(crate) begun: &'a Mutex<Vec<Begun>>,
}

/// A state whose successors come in parts, of which some were taken.
pub(crate) struct Begun {
    pub(crate) ticket: Vec<u32>,
    rest: Rest,
    is_open: bool,
}

/// Counted by all workers.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// States in the visited set, the results of failing checks included.
    pub(crate) held: AtomicU64,
    pub(crate) states: AtomicU64,
    pub(crate) transitions: AtomicU64,
    /// Goals found, in this level or earlier.
    pub(crate) goals: AtomicU64,
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
        Progress {
            states,
            transitions: self.counts.transitions.load(Ordering::Relaxed),
            depth: self.depth,
            frontier: (self.here.words() + self.next.words()) / self.visited.codec.ticket_words() as u64,
            bytes: self.visited.bytes() + self.frontier_bytes(),
        }
    }
}

/// A worker's own things, kept from level to level.
pub(crate) struct Worker<C: Codec> {
    batch: Successors,
    /// Key and hash of each successor of the batch.
    keys: Vec<u64>,
    hashes: Vec<u64>,
    /// How many of the batch were reached.
    reached: usize,
    state: Vec<u32>,
    pub(crate) parent: C::Parent,
    filling: Filling,
    /// States for which the visited set had no room.
    pub(crate) deferred: Vec<u32>,
    /// For each goal the smallest state of the level that satisfies it, so that the choice depends on nothing else.
    pub(crate) found: Vec<Option<Vec<u32>>>,
    pub(crate) fired: Vec<bool>,
    /// Transitions that have not fired.
    unfired: usize,
    /// The states at the depth limit, and whether a step of the one that is expanded is open.
    pub(crate) edge: Border,
    is_open: bool,
    held: u64,
    states: u64,
    transitions: u64,
}

impl<C: Codec> Worker<C> {
    pub(crate) fn new(model: &dyn Model, job: &Job, codec: &C) -> Self {
        Self {
            batch: Successors::in_parts(model.words()),
            keys: Vec::new(),
            hashes: Vec::new(),
            reached: 0,
            state: vec![0; model.words()],
            parent: codec.parent(),
            filling: Filling::new(codec.ticket_words(), job.limits.grain),
            deferred: Vec::new(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            unfired: model.transitions(),
            edge: Border::new(model.transitions()),
            is_open: false,
            held: 0,
            states: 0,
            transitions: 0,
        }
    }

    /// Outcomes that an `assume` cut.
    pub(crate) fn cut(&self) -> u64 {
        self.batch.cut
    }

    /// Reaches the initial states, as the level before the first.
    pub(crate) fn begin(&mut self, level: &Level<'_, C>) {
        level.model.initial(&mut self.batch);
        level.visited.codec.note(&self.batch, 0, &mut self.parent);
        self.settle(level, None);
        self.flush(level);
    }

    /// Gives what it has of the next level.
    pub(crate) fn flush(&mut self, level: &Level<'_, C>) {
        self.filling.flush(level.next);
    }

    /// Expands tickets until none is left or everybody is called back.
    pub(crate) fn run<'o>(&mut self, level: &Level<'_, C>, mut observer: Option<&mut (dyn Observer + 'o)>) {
        let words = level.visited.codec.ticket_words();
        let mut expanded = 0;
        while !level.is_over() {
            if let Some(begun) = level.begun() {
                self.take_up(level, begun, observer.as_deref_mut());
                continue;
            }
            let Some(chunk) = level.here.pop() else { break };
            let mut at = 0;
            while at < chunk.len() && !level.is_over() {
                if let Some(later) = chunk.get(at + words * TICKETS_AHEAD..at + words * (TICKETS_AHEAD + 1)) {
                    level.visited.codec.announce(later);
                }
                self.expand(level, &chunk[at..at + words]);
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

    /// Computes a state's successors into the batch, and judges it.
    #[inline]
    fn expand(&mut self, level: &Level<'_, C>, ticket: &[u32]) {
        level.visited.codec.open(ticket, &mut self.parent, &mut self.state);
        let (before, cut) = (self.batch.len(), self.batch.cut);
        level.model.successors(&self.state, &mut self.batch);
        let stuck = self.batch.is_stuck_since(before, cut);
        let goals = level.model.judge(&self.state, stuck);
        if !goals.is_empty() {
            self.judge(level, goals);
        }
        self.is_open = false;
        self.take(level, before);
    }

    /// Goes on with a state whose successors come in parts. When everybody is called back, another worker may take it up.
    #[cold]
    fn go_on<'o>(&mut self, level: &Level<'_, C>, ticket: &[u32], mut observer: Option<&mut (dyn Observer + 'o)>) {
        while self.batch.has_rest() {
            self.settle(level, observer.as_deref_mut());
            if level.is_over()
                && let Some(rest) = self.batch.take_rest()
            {
                return level.leave(Begun { ticket: ticket.to_vec(), rest, is_open: self.is_open });
            }
            level.visited.codec.open(ticket, &mut self.parent, &mut self.state);
            level.model.successors(&self.state, &mut self.batch);
            self.take(level, 0);
        }
    }

    /// Goes on with a state that was left when everybody was called back.
    fn take_up<'o>(&mut self, level: &Level<'_, C>, begun: Begun, observer: Option<&mut (dyn Observer + 'o)>) {
        self.settle(level, None);
        self.batch.give_rest(begun.rest);
        self.is_open = begun.is_open;
        self.go_on(level, &begun.ticket, observer);
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
        } else if level.judging.load(Ordering::Relaxed) {
            self.batch.truncate(before);
        }
        level.visited.codec.note(&self.batch, before, &mut self.parent);
        if self.batch.len() >= self.keys.len() + GROUP {
            self.announce(level);
        }
    }

    /// Notes the transitions that led to the successors from one on.
    fn note_fired(&mut self, from: usize) {
        for step in self.batch.steps(from) {
            let fired = &mut self.fired[step.transition.index()];
            self.unfired -= usize::from(!std::mem::replace(fired, true));
        }
    }

    /// Asks for the cache lines of the successors without a key, and reaches the others.
    fn announce(&mut self, level: &Level<'_, C>) {
        let from = self.keys.len();
        let has_room = level.visited.codec.keys(&self.batch, from, &mut self.parent, &mut self.keys);
        if C::GROWS && !has_room {
            self.defer(level, from);
        }
        level.visited.announce(&self.keys[from..], &mut self.hashes);
        if !level.judging.load(Ordering::Relaxed) {
            self.reach(level, from);
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
    fn reach(&mut self, level: &Level<'_, C>, end: usize) {
        let start = std::mem::replace(&mut self.reached, end);
        let Self { batch, keys, hashes, filling, deferred, held, states, .. } = self;
        let alone = level.job.limits.threads == 1;
        level.visited.reach(&hashes[start..end], level.depth.wrapping_add(1), alone, |at, reached| {
            let state = batch.state(start + at);
            match reached {
                Reached::Known => {}
                Reached::New => {
                    *held += 1;
                    *states += u64::from(!level.model.is_fault(state));
                    level.visited.codec.ticket(keys[start + at], state, &mut filling.chunk);
                    filling.flush_if_full(level.next);
                }
                Reached::NoRoom => {
                    deferred.extend_from_slice(state);
                    level.needs_room.store(true, Ordering::Relaxed);
                }
            }
        });
    }

    /// Reaches the rest of the batch, adds up the counts, and looks at limits and observer.
    fn settle(&mut self, level: &Level<'_, C>, observer: Option<&mut (dyn Observer + '_)>) {
        self.announce(level);
        if !level.judging.load(Ordering::Relaxed) {
            self.reach(level, self.batch.len());
        }
        self.reached = 0;
        self.batch.clear();
        self.keys.clear();
        self.hashes.clear();
        let add = |count: &AtomicU64, own: &mut u64| {
            let own = std::mem::take(own);
            count.fetch_add(own, Ordering::Relaxed) + own
        };
        add(&level.counts.transitions, &mut self.transitions);
        let states = add(&level.counts.states, &mut self.states);
        let held = add(&level.counts.held, &mut self.held);
        if held > level.visited.capacity() {
            level.needs_room.store(true, Ordering::Relaxed);
        }
        if states > level.job.limits.states {
            let _ = level.stop.set(Stop::States);
        }
        if let Some(observer) = observer {
            let progress = level.progress(states);
            if let ControlFlow::Break(stop) = observer.progress(&progress) {
                let _ = level.stop.set(stop);
            } else if progress.bytes.saturating_add(observer.overhead(progress.bytes)) > level.job.limits.memory {
                let _ = level.stop.set(Stop::Memory);
            }
        }
    }

    /// Records goals that no earlier level had; ends the search with this level if it was told to.
    #[cold]
    fn judge(&mut self, level: &Level<'_, C>, goals: GoalSet) {
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
            level.judging.store(true, Ordering::Relaxed);
        }
    }

    /// Inserts a deferred state now that there may be room; false when there is still none.
    pub(crate) fn retry(&mut self, level: &Level<'_, C>, state: &[u32]) -> bool {
        let Some(key) = level.visited.codec.key(state, &mut self.parent) else { return false };
        match level.visited.reach_one(key, level.depth.wrapping_add(1)) {
            Reached::NoRoom => return false,
            Reached::Known => {}
            Reached::New => {
                level.counts.held.fetch_add(1, Ordering::Relaxed);
                level.counts.states.fetch_add(u64::from(!level.model.is_fault(state)), Ordering::Relaxed);
                level.visited.codec.ticket(key, state, &mut self.filling.chunk);
                self.filling.flush_if_full(level.next);
            }
        }
        true
    }
}
