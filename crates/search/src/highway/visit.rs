//! The chosen states become visited: the lanes of the next level.
//!
//! Where the table has room for all of them, threads share the work, each with a part of the queue; where one of them finds no
//! room, what comes after is done again, one state after the other, and the table grows.

use std::ops::ControlFlow;

use birk_exec::Model;
use birk_ir::Stop;

use super::levels::Level;
use super::notes::{Distinct, Notes, Offer};
use super::search::{Search, WORTH_SHARING};
use crate::bits::Sketch;
use crate::breadth::MOVING;
use crate::codec::{Codec, NO_KEY};
use crate::crew;
use crate::cycle::hash;
use crate::table::Reached;
use crate::visited::Visited;

/// States are visited so many at a time.
const BATCH: usize = 256;

/// A part of the queue that a thread has visited, up to the first state for which there was no room.
#[derive(Default)]
struct Part {
    level: Level,
    /// States, not counting results of failing checks.
    states: u64,
    union: Sketch,
}

/// What the threads share.
struct Chosen<'a, C> {
    model: &'a dyn Model,
    visited: &'a Visited<C>,
    notes: &'a Notes,
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
            let offer = |place: usize| self.distinct.offer(self.notes, numbers[place]);
            keys.clear();
            hashes.clear();
            keys.extend((0..numbers.len()).map(|place| offer(place).key).take_while(|&key| key != NO_KEY));
            self.visited.announce(&keys, &mut hashes);
            let mut room = keys.len();
            self.visited.reach(&hashes, self.depth, self.is_alone, |place, reached| {
                if reached == Reached::NoRoom {
                    room = room.min(place);
                }
            });
            for (place, &key) in keys[..room].iter().enumerate() {
                let state = self.notes.state(offer(place), words);
                self.visited.codec.ticket(key, state, &mut part.level.tickets);
                part.level.parents.push(offer(place).lane);
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
            let offers: Vec<Offer> = part.iter().map(|&number| *self.distinct.offer(&self.notes, number)).collect();
            let keys = offers.iter().map(|offer| offer.key).filter(|&key| key != NO_KEY && !self.have_keys_changed);
            keys.for_each(|key| _ = self.visited.announce_one(key));
            let mut states = 0;
            for offer in &offers {
                let Some(key) = self.insert(offer, depth, &mut parent) else {
                    return self.leave(queue, level, Stop::Memory);
                };
                let state = self.notes.state(offer, words);
                self.visited.codec.ticket(key, state, &mut level.tickets);
                level.parents.push(offer.lane);
                if !self.model.is_fault(state) {
                    states += 1;
                    self.stats.union.iter_mut().for_each(|union| union.note(hash(state, 0)));
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
            notes: &self.notes,
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
            self.stats.union.iter_mut().for_each(|union| union.join(&part.union));
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
    fn insert(&mut self, offer: &Offer, depth: u32, parent: &mut C::Parent) -> Option<u64> {
        loop {
            let key = match offer.key {
                key if key != NO_KEY && !self.have_keys_changed => Some(key),
                _ => self.visited.codec.key(self.notes.state(offer, self.model.words()), parent),
            };
            if let Some(key) = key
                && self.visited.reach_one(key, depth) != Reached::NoRoom
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
