//! One worker of a level: expands lanes, judges them, and notes the new states they lead to, each with a random tag.
//!
//! A tag is a hash of the state with the seed and the depth, so that it depends on nobody else: the states with the smallest
//! tags are a subset drawn uniformly, the same for any number of threads.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use birk_exec::{Model, Successors};
use birk_ir::Stop;

use crate::codec::{Codec, NO_KEY};
use crate::cycle::hash;
use crate::job::{Job, Observer, Progress};
use crate::visited::Visited;

/// Lanes that a worker takes at once, if that is not more than a grain.
const CHUNK: usize = 256;
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
    /// How the search stands, but for what workers have counted.
    pub(super) progress: Progress,
}

/// A step of a lane to a state that was not visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) tag: u64,
    pub(super) key: u64,
    pub(super) lane: u32,
    /// Where the state lies among the noted ones.
    pub(super) at: u32,
}

/// What was noted of a level.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) offers: Vec<Offer>,
    pub(super) states: Vec<u32>,
    /// Lanes that lead to new states only.
    pub(super) needy: Vec<u32>,
    /// Offers that were not noted, because their tags were too large.
    pub(super) dropped: u64,
    /// Transitions that were not taken before, each with the tag of a state that it offers.
    pub(super) untaken: Vec<(u64, u32)>,
}

impl Notes {
    pub(super) fn clear(&mut self) {
        self.offers.clear();
        self.states.clear();
        self.needy.clear();
        self.untaken.clear();
        self.dropped = 0;
    }

    pub(super) fn state(&self, offer: &Offer, words: usize) -> &[u32] {
        &self.states[offer.at as usize * words..(offer.at as usize + 1) * words]
    }

    /// Orders offers from one on by tag; those of the same state are side by side, by lane.
    pub(super) fn sort(&mut self, from: usize, words: usize) {
        let states = &self.states;
        let state = |offer: &Offer| &states[offer.at as usize * words..(offer.at as usize + 1) * words];
        // Stable, because it is quick with what workers have ordered.
        self.offers[from..]
            .sort_by(|a, b| a.tag.cmp(&b.tag).then_with(|| state(a).cmp(state(b)).then_with(|| a.lane.cmp(&b.lane))));
    }

    /// Takes what another worker has noted.
    pub(super) fn append(&mut self, other: &mut Notes, words: usize) {
        let base = (self.states.len() / words) as u32;
        self.offers.extend(other.offers.iter().map(|offer| Offer { at: offer.at + base, ..*offer }));
        self.states.append(&mut other.states);
        self.needy.append(&mut other.needy);
        self.untaken.append(&mut other.untaken);
        self.dropped += other.dropped;
        other.clear();
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.offers.capacity() * size_of::<Offer>() + (self.states.capacity() + self.needy.capacity()) * 4) as u64
    }
}

/// A worker's own things, kept from level to level.
pub(super) struct Worker<C: Codec> {
    batch: Successors,
    keys: Vec<u64>,
    hashes: Vec<u64>,
    /// The lanes in the batch, each with where its successors begin.
    spans: Vec<(u32, usize)>,
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
            spans: Vec::new(),
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
        self.announce(look, 0);
        self.settle(look);
        self.notes.needy.clear();
        // To begin is no step.
        self.notes.untaken.clear();
        self.notes.sort(0, look.model.words());
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
                if let ControlFlow::Break(stop) = observer.progress(&Progress { transitions, ..look.progress }) {
                    let _ = look.stop.set(stop);
                }
            }
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
        self.notes.sort(0, look.model.words());
    }

    /// Computes the successors of a lane into the batch, and judges it.
    fn expand(&mut self, look: &Look<'_, C>, lane: usize) {
        let (before, cut) = (self.batch.len(), self.batch.cut);
        self.successors(look, lane);
        self.transitions += (self.batch.len() - before) as u64;
        let stuck = self.batch.len() == before && self.batch.cut == cut;
        let goals = look.model.judge(&self.state, stuck);
        for goal in goals.iter().filter(|&goal| goal < look.job.goals) {
            let lane = lane as u32;
            self.found[goal] = Some(self.found[goal].map_or(lane, |found| found.min(lane)));
        }
        self.announce(look, before);
    }

    fn successors(&mut self, look: &Look<'_, C>, lane: usize) {
        let words = look.visited.codec.ticket_words();
        look.visited.codec.open(&look.tickets[lane * words..(lane + 1) * words], &mut self.parent, &mut self.state);
        self.spans.push((lane as u32, self.batch.len()));
        look.model.successors(&self.state, &mut self.batch);
    }

    /// Asks for the cache lines of the successors from one on.
    fn announce(&mut self, look: &Look<'_, C>, from: usize) {
        look.visited.codec.note(&self.batch, from, &mut self.parent);
        if look.visited.codec.keys(&self.batch, from, &mut self.parent, &mut self.keys) {
            look.visited.announce(&self.keys[from..], &mut self.hashes);
            return;
        }
        for &key in &self.keys[from..] {
            self.hashes.push(if key == NO_KEY { 0 } else { look.visited.announce_one(key) });
        }
    }

    /// Looks which successors of the batch are new.
    fn settle(&mut self, look: &Look<'_, C>) {
        for span in 0..self.spans.len() {
            let (lane, from) = self.spans[span];
            let to = self.spans.get(span + 1).map_or(self.batch.len(), |next| next.1);
            if look.is_last {
                self.end(look, lane, from..to);
            } else {
                self.note(look, lane, from..to);
            }
        }
        self.spans.clear();
        self.batch.clear();
        self.keys.clear();
        self.hashes.clear();
    }

    /// A state of which a part has no number was never visited.
    fn is_visited(&self, look: &Look<'_, C>, index: usize) -> bool {
        self.keys[index] != NO_KEY && look.visited.has(self.hashes[index])
    }

    /// A lane beyond which nothing is visited: its steps are open, or were taken.
    fn end(&mut self, look: &Look<'_, C>, lane: u32, successors: Range<usize>) {
        let mut is_open = false;
        for i in successors {
            let transition = self.batch.step(i).transition.index();
            if self.is_visited(look, i) {
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
        for i in successors {
            let transition = self.batch.step(i).transition;
            if self.is_visited(look, i) {
                is_needy = false;
                self.fired[transition.index()] = true;
                continue;
            }
            let state = self.batch.state(i);
            let tag = hash(state, look.salt);
            if tag > look.largest {
                self.notes.dropped += 1;
                continue;
            }
            let at = (self.notes.states.len() / state.len()) as u32;
            self.notes.offers.push(Offer { tag, key: self.keys[i], lane, at });
            self.notes.states.extend_from_slice(state);
            // Initial states come by no step; a model may have no transition at all.
            if self.fired.get(transition.index()) == Some(&false) {
                self.notes.untaken.push((tag, transition.0));
            }
        }
        if is_needy {
            self.notes.needy.push(lane);
        }
    }

    /// Whether all successors of a lane were visited; nothing is counted.
    pub(super) fn is_closed(&mut self, look: &Look<'_, C>, lane: usize) -> bool {
        self.again(look, lane);
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(look, i));
        for step in self.batch.steps(0).iter().filter(|_| is_closed) {
            self.fired[step.transition.index()] = true;
        }
        self.forget();
        is_closed
    }

    /// Whether all initial states were visited.
    pub(super) fn is_start_closed(&mut self, look: &Look<'_, C>) -> bool {
        look.model.initial(&mut self.batch);
        self.announce(look, 0);
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(look, i));
        self.forget();
        is_closed
    }

    /// Notes the new successors of a lane again, those with too large tags, too; nothing else is counted.
    pub(super) fn recall(&mut self, look: &Look<'_, C>, lane: usize) {
        self.again(look, lane);
        let to = self.batch.len();
        self.note(look, lane as u32, 0..to);
        self.forget();
    }

    fn again(&mut self, look: &Look<'_, C>, lane: usize) {
        let cut = self.batch.cut;
        self.successors(look, lane);
        self.batch.cut = cut;
        self.announce(look, 0);
    }

    fn forget(&mut self) {
        self.spans.clear();
        self.batch.clear();
        self.keys.clear();
        self.hashes.clear();
    }
}
