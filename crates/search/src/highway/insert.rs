//! The chosen states become visited: the lanes of the next level.
//!
//! Where the table has room for all of them, threads share the work, each with a part of the queue; where one of them finds no
//! room, what comes after is done again, one state after the other, and the table grows.

use std::ops::ControlFlow;

use birk_engine::{HyperLogLog, Model};
use birk_ir::Stop;

use super::candidates::{Candidate, Candidates, Distinct};
use super::levels::Level;
use super::search::{Search, WORTH_SHARING};
use crate::bfs::MOVING;
use crate::bfs::visited::Visited;
use crate::crew;
use crate::store::codec::{Codec, NO_KEY};
use crate::store::hash::hash;
use crate::store::table::Insertion;

/// States are visited so many at a time.
const BATCH: usize = 256;

/// A part of the queue that a thread has visited, up to the first state for which there was no room.
#[derive(Default)]
struct Part {
    level: Level,
    /// States, not counting results of failing checks.
    states: u64,
    union: HyperLogLog,
}

/// What the threads share.
struct Chosen<'a, C> {
    model: &'a dyn Model,
    visited: &'a Visited<C>,
    candidates: &'a Candidates,
    distinct: &'a Distinct,
    depth: u32,
    /// There is one thread only.
    is_alone: bool,
}

impl<C: Codec> Chosen<'_, C> {
    fn visit(&self, queue: &[u32]) -> Part {
        let (mut part, words) = (Part::default(), self.model.words());
        let (mut keys, mut hashes) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        for numbers in queue.chunks(BATCH) {
            let candidate = |place: usize| self.distinct.candidate(self.candidates, numbers[place]);
            keys.clear();
            hashes.clear();
            keys.extend((0..numbers.len()).map(|place| candidate(place).key).take_while(|&key| key != NO_KEY));
            self.visited.prefetch(&keys, &mut hashes);
            let mut room = keys.len();
            self.visited.find_or_insert(&hashes, self.depth, self.is_alone, |place, inserted| {
                if inserted == Insertion::NoRoom {
                    room = room.min(place);
                }
            });
            for (place, &key) in keys[..room].iter().enumerate() {
                let state = self.candidates.state(candidate(place), words);
                self.visited.codec.push_packed(key, state, &mut part.level.packed);
                part.level.parents.push(candidate(place).lane);
                if !self.model.is_fault(state) {
                    part.states += 1;
                    part.union.note(hash(state, 0));
                }
            }
            if room < numbers.len() {
                break;
            }
        }
        part
    }
}

impl<C: Codec> Search<'_, C> {
    /// Visits these of the new states: they are the lanes of the next level.
    pub(super) fn visit(&mut self, queue: &[u32], depth: u32) -> ControlFlow<Stop, Level> {
        let mut level = self.visit_together(queue, depth);
        let mut parent = self.visited.codec.parent();
        let words = self.model.words();
        for part in queue[level.parents.len()..].chunks(BATCH) {
            if !self.reserve(part.len() as u64) {
                return self.leave(queue, level, Stop::Memory);
            }
            let list: Vec<Candidate> =
                part.iter().map(|&number| *self.distinct.candidate(&self.candidates, number)).collect();
            let keys =
                list.iter().map(|candidate| candidate.key).filter(|&key| key != NO_KEY && !self.have_keys_changed);
            keys.for_each(|key| _ = self.visited.prefetch_one(key));
            let mut states = 0;
            for candidate in &list {
                let Some(key) = self.insert(candidate, depth, &mut parent) else {
                    return self.leave(queue, level, Stop::Memory);
                };
                let state = self.candidates.state(candidate, words);
                self.visited.codec.push_packed(key, state, &mut level.packed);
                level.parents.push(candidate.lane);
                if !self.model.is_fault(state) {
                    states += 1;
                    self.union.note(hash(state, 0));
                }
            }
            self.count(states, depth);
            if self.stats.states > self.job.limits.states {
                return self.leave(queue, level, Stop::States);
            }
        }
        self.have_keys_changed = false;
        self.stats.peak_frontier = self.stats.peak_frontier.max(queue.len() as u64);
        ControlFlow::Continue(level)
    }

    /// Visits as much of a long queue as there is room for without changing the table.
    fn visit_together(&mut self, queue: &[u32], depth: u32) -> Level {
        let is_below_limit = self.stats.states.saturating_add(queue.len() as u64) <= self.job.limits.states;
        if queue.len() < BATCH || !is_below_limit || !self.reserve(queue.len() as u64) || self.have_keys_changed {
            return Level::default();
        }
        let is_shared = queue.len() >= WORTH_SHARING * self.job.limits.grain;
        let share = if is_shared { queue.len().div_ceil(self.workers.len()) } else { queue.len() };
        let chosen = Chosen {
            model: self.model,
            visited: &self.visited,
            candidates: &self.candidates,
            distinct: &self.distinct,
            depth,
            is_alone: share == queue.len(),
        };
        let parts: Vec<Part> = match chosen.is_alone {
            true => vec![chosen.visit(queue)],
            false => std::thread::scope(|scope| {
                let chosen = &chosen;
                let visit = |(number, queue)| crew::start(scope, "highway", number, move || chosen.visit(queue));
                let threads: Vec<_> = (1..).zip(queue.chunks(share)).map(visit).collect();
                threads.into_iter().map(crew::join).collect()
            }),
        };
        let mut level = Level::default();
        for (part, expected) in parts.into_iter().zip(queue.chunks(share)) {
            let is_whole = part.level.parents.len() == expected.len();
            self.held += part.level.parents.len() as u64;
            level.append(part.level);
            self.count(part.states, depth);
            self.union.join(&part.union);
            if !is_whole {
                break;
            }
        }
        level
    }

    /// Keeps what was visited of a level that is not visited to its end.
    fn leave(&mut self, queue: &[u32], level: Level, stop: Stop) -> ControlFlow<Stop, Level> {
        if self.levels.len() > 0 {
            self.note_taken(&queue[..level.parents.len()]);
            self.curtailed.push(self.depth);
            self.curtailed.dedup();
        }
        self.expanded = 0;
        self.levels.push(level);
        ControlFlow::Break(stop)
    }

    /// Puts a new state into the visited set and gives its key; `None` when there is no memory for it.
    fn insert(&mut self, candidate: &Candidate, depth: u32, parent: &mut C::Parent) -> Option<u64> {
        loop {
            let key = match candidate.key {
                key if key != NO_KEY && !self.have_keys_changed => Some(key),
                _ => self.visited.codec.key(self.candidates.state(candidate, self.model.words()), parent),
            };
            if let Some(key) = key
                && self.visited.find_or_insert_one(key, depth) != Insertion::NoRoom
            {
                self.held += 1;
                return Some(key);
            }
            if !self.grow(self.held) {
                return None;
            }
        }
    }

    /// Makes room for more states; false when there is no memory for it.
    fn reserve(&mut self, more: u64) -> bool {
        while self.held + more > self.visited.capacity() {
            if !self.grow(self.held + more) {
                return false;
            }
        }
        self.budget() > 0
    }

    fn grow(&mut self, held: u64) -> bool {
        let changes = self.visited.changes;
        let moving = self.visited.bytes().min(self.workers.len() as u64 * MOVING);
        let budget = (self.visited.bytes() + self.budget()).saturating_sub(moving);
        let has_grown = self.visited.grow(held, budget, self.workers.len());
        self.have_keys_changed |= self.visited.changes != changes;
        has_grown
    }

    /// More states of the slice, not counting results of failing checks.
    fn count(&mut self, states: u64, depth: u32) {
        if states > 0 {
            self.stats.states += states;
            self.stats.max_depth = depth;
            self.stats.levels.resize(depth as usize + 1, 0);
            self.stats.levels[depth as usize] += states;
        }
    }
}
