//! One worker of a level: expands lanes, judges them, and notes the new states they lead to, each with a random tag.
//!
//! A tag is a hash of the state with the seed and the depth, so that it depends on nobody else: the states with the smallest
//! tags are a subset drawn uniformly, the same for any number of threads.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use birk_exec::{GoalSet, Model, Successors};
use birk_ir::Stop;

use super::notes::Notes;
use crate::codec::{Codec, NO_KEY};
use crate::cycle::hash;
use crate::job::{Job, Observer, Progress};
use crate::visited::Visited;

/// Lanes that a worker takes at once, if that is not more than a grain.
const CHUNK: usize = 256;
/// Successors whose keys are announced together. Those announced before are then looked up: their cache lines are there.
const GROUP: usize = 32;
/// Tickets between asking for what opening one needs and opening it.
const TICKETS_AHEAD: usize = 4;

/// What the workers of a level share.
pub(super) struct Look<'a, C> {
    pub(super) model: &'a dyn Model,
    pub(super) job: &'a Job,
    pub(super) visited: &'a Visited<C>,
    pub(super) tickets: &'a [u32],
    /// Decides the tags.
    pub(super) salt: u64,
    /// States with larger tags are surely not chosen.
    pub(super) largest: u64,
    /// Nothing beyond this level counts.
    pub(super) is_last: bool,
    /// The first lane that nobody has taken.
    pub(super) next: AtomicUsize,
    /// The observer wants an end.
    pub(super) stop: OnceLock<Stop>,
    /// Bytes of all but what workers hold, and how many workers there are.
    pub(super) beside: u64,
    pub(super) workers: u64,
    /// How the search stands, but for what workers have counted.
    pub(super) progress: Progress,
}

/// A worker's own things, kept from level to level.
pub(super) struct Worker<C: Codec> {
    batch: Successors,
    keys: Vec<u64>,
    hashes: Vec<u64>,
    /// Whether they were visited, of those that were looked up.
    known: Vec<bool>,
    /// The lanes in the batch, each with where its successors begin.
    spans: Vec<(u32, usize)>,
    /// How many of them were looked at.
    settled: usize,
    state: Vec<u32>,
    parent: C::Parent,
    pub(super) notes: Notes,
    /// For each goal the first lane that satisfies it.
    pub(super) found: Vec<Option<u32>>,
    pub(super) fired: Vec<bool>,
    pub(super) transitions: u64,
    /// The lanes at the depth limit that have a successor which was not visited.
    pub(super) open: Vec<u32>,
}

impl<C: Codec> Worker<C> {
    pub(super) fn new(model: &dyn Model, job: &Job, codec: &C) -> Self {
        Self {
            batch: Successors::new(model.words()),
            keys: Vec::new(),
            hashes: Vec::new(),
            known: Vec::new(),
            spans: Vec::new(),
            settled: 0,
            state: vec![0; model.words()],
            parent: codec.parent(),
            notes: Notes::default(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            transitions: 0,
            open: Vec::new(),
        }
    }

    pub(super) fn cut(&self) -> u64 {
        self.batch.cut
    }

    /// The initial states, as what a lane before the first level leads to.
    pub(super) fn begin(&mut self, look: &Look<'_, C>) {
        look.model.initial(&mut self.batch);
        self.spans.push((0, 0));
        self.notes.begin_row(0);
        look.visited.codec.note(&self.batch, 0, &mut self.parent);
        self.settle(look);
        self.notes.needy.clear();
        // To begin is no step.
        self.notes.untaken.clear();
    }

    /// Expands lanes until none is left or somebody wants an end.
    pub(super) fn run(&mut self, look: &Look<'_, C>, mut observer: Option<&mut (dyn Observer + '_)>) {
        let words = look.visited.codec.ticket_words();
        let lanes = look.tickets.len() / words;
        let chunk = CHUNK.min(look.job.limits.grain);
        while look.stop.get().is_none() {
            let first = look.next.fetch_add(chunk, Ordering::Relaxed);
            if first >= lanes {
                break;
            }
            if let Some(observer) = &mut observer {
                let transitions = look.progress.transitions + self.transitions;
                // The others hold about as much as this one.
                let bytes = look.beside + self.notes.bytes() * look.workers;
                if let ControlFlow::Break(stop) = observer.progress(&Progress { transitions, bytes, ..look.progress }) {
                    let _ = look.stop.set(stop);
                } else if bytes.saturating_add(observer.overhead(bytes)) > look.job.limits.memory {
                    let _ = look.stop.set(Stop::Memory);
                }
            }
            self.notes.begin_row(first as u32);
            for lane in first..lanes.min(first + chunk) {
                if let Some(later) =
                    look.tickets.get((lane + TICKETS_AHEAD) * words..(lane + TICKETS_AHEAD + 1) * words)
                {
                    look.visited.codec.announce(later);
                }
                self.expand(look, lane);
            }
            self.settle(look);
        }
    }

    /// Computes the successors of a lane into the batch, and judges it.
    fn expand(&mut self, look: &Look<'_, C>, lane: usize) {
        let (before, cut) = (self.batch.len(), self.batch.cut);
        self.successors(look, lane);
        self.transitions += (self.batch.len() - before) as u64;
        let stuck = self.batch.len() == before && self.batch.cut == cut;
        let goals = look.model.judge(&self.state, stuck);
        if !goals.is_empty() {
            self.judge(look, lane as u32, goals);
        }
        if self.batch.len() >= self.keys.len() + GROUP {
            let announced = self.keys.len();
            self.announce(look);
            self.settle_until(look, announced);
        }
    }

    #[cold]
    fn judge(&mut self, look: &Look<'_, C>, lane: u32, goals: GoalSet) {
        for goal in goals.iter().filter(|&goal| goal < look.job.goals) {
            self.found[goal] = Some(self.found[goal].map_or(lane, |found| found.min(lane)));
        }
    }

    fn successors(&mut self, look: &Look<'_, C>, lane: usize) {
        let words = look.visited.codec.ticket_words();
        look.visited.codec.open(&look.tickets[lane * words..(lane + 1) * words], &mut self.parent, &mut self.state);
        self.spans.push((lane as u32, self.batch.len()));
        let before = self.batch.len();
        look.model.successors(&self.state, &mut self.batch);
        look.visited.codec.note(&self.batch, before, &mut self.parent);
    }

    /// Asks for the cache lines of the successors without a key.
    fn announce(&mut self, look: &Look<'_, C>) {
        let from = self.keys.len();
        if look.visited.codec.keys(&self.batch, from, &mut self.parent, &mut self.keys) {
            look.visited.announce(&self.keys[from..], &mut self.hashes);
            return;
        }
        for &key in &self.keys[from..] {
            self.hashes.push(if key == NO_KEY { 0 } else { look.visited.announce_one(key) });
        }
    }

    /// Looks which successors of the batch are new, and empties it.
    fn settle(&mut self, look: &Look<'_, C>) {
        self.announce(look);
        self.settle_until(look, self.batch.len());
        self.forget();
    }

    /// Looks which successors of the batch are new, of lanes whose successors all come before one.
    fn settle_until(&mut self, look: &Look<'_, C>, end: usize) {
        self.look_up(look, end);
        while let Some(&(lane, from)) = self.spans.get(self.settled) {
            let to = self.spans.get(self.settled + 1).map_or(self.batch.len(), |next| next.1);
            if to > end {
                break;
            }
            if look.is_last {
                self.end(lane, from..to);
            } else {
                self.note(look, lane, from..to);
            }
            self.settled += 1;
        }
    }

    /// Looks up the successors before this one.
    fn look_up(&mut self, look: &Look<'_, C>, end: usize) {
        look.visited.have(&self.hashes[self.known.len()..end], &mut self.known);
    }

    /// A state of which a part has no number was never visited.
    fn is_visited(&self, index: usize) -> bool {
        self.known[index] && self.keys[index] != NO_KEY
    }

    /// A lane beyond which nothing is visited: its steps are open, or were taken.
    fn end(&mut self, lane: u32, successors: Range<usize>) {
        let mut is_open = false;
        for i in successors {
            let transition = self.batch.step(i).transition.index();
            if self.is_visited(i) {
                self.fired[transition] = true;
            } else {
                is_open = true;
            }
        }
        if is_open {
            self.open.push(lane);
        }
    }

    fn note(&mut self, look: &Look<'_, C>, lane: u32, successors: Range<usize>) {
        let mut is_needy = !successors.is_empty();
        let before = self.notes.offers.len();
        // The one with the smallest tag of those that are not noted.
        let mut spare: Option<(u64, usize)> = None;
        for i in successors {
            let transition = self.batch.step(i).transition;
            if self.is_visited(i) {
                is_needy = false;
                self.fired[transition.index()] = true;
                continue;
            }
            let tag = hash(self.batch.state(i), look.salt);
            if tag > look.largest {
                self.notes.dropped += 1;
                if spare.is_none_or(|spare| tag < spare.0) {
                    spare = Some((tag, i));
                }
                continue;
            }
            self.offer(tag, lane, i);
        }
        if is_needy {
            self.notes.needy.push(lane);
            if let Some((tag, i)) = spare.filter(|_| self.notes.offers.len() == before) {
                self.offer(tag, lane, i);
            }
        }
    }

    fn offer(&mut self, tag: u64, lane: u32, successor: usize) {
        self.notes.offer(tag, self.keys[successor], lane, self.batch.state(successor));
        // Initial states come by no step; a model may have no transition at all.
        let transition = self.batch.step(successor).transition;
        if self.fired.get(transition.index()) == Some(&false) {
            self.notes.untaken.push((tag, transition.0));
        }
    }

    /// Whether all successors of a lane were visited; nothing is counted.
    pub(super) fn is_closed(&mut self, look: &Look<'_, C>, lane: usize) -> bool {
        self.again(look, lane);
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(i));
        for step in self.batch.steps(0).iter().filter(|_| is_closed) {
            self.fired[step.transition.index()] = true;
        }
        self.forget();
        is_closed
    }

    /// Whether all initial states were visited.
    pub(super) fn is_start_closed(&mut self, look: &Look<'_, C>) -> bool {
        look.model.initial(&mut self.batch);
        look.visited.codec.note(&self.batch, 0, &mut self.parent);
        self.announce(look);
        self.look_up(look, self.batch.len());
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(i));
        self.forget();
        is_closed
    }

    /// Notes the new successors of a lane again, those with too large tags, too; nothing else is counted.
    pub(super) fn recall(&mut self, look: &Look<'_, C>, lane: usize) {
        self.again(look, lane);
        self.notes.begin_row(lane as u32);
        let to = self.batch.len();
        self.note(look, lane as u32, 0..to);
        self.forget();
    }

    fn again(&mut self, look: &Look<'_, C>, lane: usize) {
        let cut = self.batch.cut;
        self.successors(look, lane);
        self.batch.cut = cut;
        self.announce(look);
        self.look_up(look, self.batch.len());
    }

    fn forget(&mut self) {
        self.settled = 0;
        self.spans.clear();
        self.batch.clear();
        self.keys.clear();
        self.hashes.clear();
        self.known.clear();
    }
}
