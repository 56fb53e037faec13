//! One worker of a level: expands lanes, judges them, and notes the new states they lead to, each with a random tag.
//!
//! A tag is a hash of the state with the seed and the depth, so that it depends on nobody else: the states with the smallest
//! tags are a subset drawn uniformly, the same for any number of threads. In a beam the estimate comes first in the tag.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use birk_exec::{GoalSet, Model, Successors};
use birk_ir::Stop;

use super::notes::{Distinct, Notes};
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
/// Lanes that are looked at again together.
const LANES_AGAIN: usize = 16;

/// What the workers of a level share.
pub(super) struct Look<'a, C> {
    pub(super) model: &'a dyn Model,
    pub(super) job: &'a Job,
    pub(super) visited: &'a Visited<C>,
    pub(super) tickets: &'a [u32],
    /// Decides the tags.
    pub(super) salt: u64,
    /// The states that seem nearest have the smallest tags.
    pub(super) is_beam: bool,
    /// States with larger tags are surely not chosen.
    pub(super) largest: u64,
    /// Nothing beyond this level counts.
    pub(super) is_last: bool,
    /// The first lane that nobody has taken.
    pub(super) next: AtomicUsize,
    /// The observer wants an end.
    pub(super) stop: OnceLock<Stop>,
    /// Bytes of all but what workers hold; of these, what notes of the level before had, put together; and how many
    /// workers there are.
    pub(super) beside: u64,
    pub(super) together: u64,
    pub(super) workers: u64,
    /// How the search stands, but for what workers have counted.
    pub(super) progress: Progress,
}

impl<C> Look<'_, C> {
    /// The smaller, the sooner a state is chosen.
    #[inline]
    fn tag(&self, state: &[u32], room: &mut Vec<u32>) -> u64 {
        const FARTHEST: u32 = (1 << 24) - 1;
        let tag = hash(state, self.salt);
        match self.is_beam {
            false => tag,
            true => u64::from(self.model.estimate(state, room).min(FARTHEST)) << 40 | tag >> 24,
        }
    }
}

impl<C> Look<'_, C> {
    /// Makes everybody come back, after a panic.
    pub(super) fn call_back(&self) {
        let _ = self.stop.set(Stop::Interrupt);
    }

    /// Bytes that will be needed to put what workers noted together, if all of them noted as much as this one.
    fn ahead(&self, notes: &Notes) -> u64 {
        let copies = if self.workers > 1 { notes.used() * self.workers } else { 0 };
        (copies + Distinct::bytes_for(notes.offers.len() as u64 * self.workers)).saturating_sub(self.together)
    }
}

/// A worker's own things, kept from level to level.
pub(super) struct Worker<C: Codec> {
    batch: Successors,
    keys: Vec<u64>,
    hashes: Vec<u64>,
    /// Whether they were visited, of those that were looked up.
    known: Vec<bool>,
    /// Their tags, where those with large ones are left out.
    tags: Vec<u64>,
    /// The lanes in the batch.
    spans: Vec<Span>,
    /// How many of them were looked at.
    settled: usize,
    state: Vec<u32>,
    /// For estimates.
    room: Vec<u32>,
    parent: C::Parent,
    pub(super) notes: Notes,
    /// What was noted of lanes whose tags are all too large.
    pub(super) lone: Notes,
    /// For each goal the first lane that satisfies it.
    pub(super) found: Vec<Option<u32>>,
    pub(super) fired: Vec<bool>,
    pub(super) transitions: u64,
    /// The lanes at the depth limit that have a successor which was not visited.
    pub(super) open: Vec<u32>,
}

/// A lane in the batch.
struct Span {
    lane: u32,
    /// Where its successors begin.
    from: usize,
    seen: Seen,
}

/// What of a lane is in the batch.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    /// All successors.
    Whole,
    /// Those that have a chance.
    Part,
    /// All successors, and none of them has a chance.
    Lone,
}

impl<C: Codec> Worker<C> {
    pub(super) fn new(model: &dyn Model, job: &Job, codec: &C) -> Self {
        Self {
            batch: Successors::in_parts(model.words()),
            keys: Vec::new(),
            hashes: Vec::new(),
            known: Vec::new(),
            tags: Vec::new(),
            spans: Vec::new(),
            settled: 0,
            state: vec![0; model.words()],
            room: Vec::new(),
            parent: codec.parent(),
            notes: Notes::default(),
            lone: Notes::default(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            transitions: 0,
            open: Vec::new(),
        }
    }

    /// Takes the memory of notes of the level before, which are no longer needed.
    pub(super) fn reuse(&mut self, notes: &mut Notes, lone: &mut Notes) {
        std::mem::swap(&mut self.notes, notes);
        std::mem::swap(&mut self.lone, lone);
        self.notes.reset();
        self.lone.reset();
    }

    /// Bytes of what it noted.
    pub(super) fn bytes(&self) -> u64 {
        self.notes.bytes() + self.lone.bytes()
    }

    pub(super) fn cut(&self) -> u64 {
        self.batch.cut
    }

    /// The initial states, as what a lane before the first level leads to.
    pub(super) fn begin(&mut self, look: &Look<'_, C>) {
        look.model.initial(&mut self.batch);
        self.spans.push(Span { lane: 0, from: 0, seen: Seen::Whole });
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
                let bytes = look.beside + self.bytes() * look.workers;
                if let ControlFlow::Break(stop) = observer.progress(&Progress { transitions, bytes, ..look.progress }) {
                    let _ = look.stop.set(stop);
                } else if (bytes + look.ahead(&self.notes)).saturating_add(observer.overhead(bytes))
                    > look.job.limits.memory
                {
                    let _ = look.stop.set(Stop::Memory);
                }
            }
            self.notes.begin_row(first as u32);
            self.lone.begin_row(first as u32);
            for lane in first..lanes.min(first + chunk) {
                if let Some(later) =
                    look.tickets.get((lane + TICKETS_AHEAD) * words..(lane + TICKETS_AHEAD + 1) * words)
                {
                    look.visited.codec.announce(later);
                }
                self.expand(look, lane, observer.as_deref_mut());
            }
            self.settle(look);
        }
    }

    /// Computes the successors of a lane into the batch, and judges it.
    fn expand<'o>(&mut self, look: &Look<'_, C>, lane: usize, observer: Option<&mut (dyn Observer + 'o)>) {
        let cut = self.batch.cut;
        let is_partial = look.largest < u64::MAX && !look.is_last;
        let count = self.successors(look, lane, is_partial, |worker| worker.append_rest(look, observer));
        self.transitions += count as u64;
        let stuck = count == 0 && self.batch.cut == cut;
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

    /// Adds the rest of the successors of a lane that has very many, and asks in between whether to go on. If not, the search
    /// ends, and nobody looks at what is in the batch.
    #[cold]
    fn append_rest<'o>(&mut self, look: &Look<'_, C>, mut observer: Option<&mut (dyn Observer + 'o)>) {
        let (own, transitions) = (self.bytes(), look.progress.transitions + self.transitions);
        let _ = self.batch.append_rest(look.model, &self.state, |batch| {
            // The batch, what is known of it, and the offers; the others hold about as much as this one.
            let bytes = look.beside + (own + batch * 5) * look.workers;
            if bytes > look.job.limits.memory {
                let _ = look.stop.set(Stop::Memory);
            }
            if let Some(observer) = &mut observer
                && let ControlFlow::Break(stop) = observer.progress(&Progress { transitions, bytes, ..look.progress })
            {
                let _ = look.stop.set(stop);
            }
            if look.stop.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }

    /// Computes the successors of a lane into the batch, all or those that have a chance; how many it has. `append_rest`
    /// adds the rest of very many.
    fn successors(
        &mut self,
        look: &Look<'_, C>,
        lane: usize,
        is_partial: bool,
        append_rest: impl FnOnce(&mut Self),
    ) -> usize {
        let words = look.visited.codec.ticket_words();
        look.visited.codec.open(&look.tickets[lane * words..(lane + 1) * words], &mut self.parent, &mut self.state);
        let from = self.batch.len();
        look.model.successors(&self.state, &mut self.batch);
        if self.batch.has_rest() {
            append_rest(self);
        }
        let count = self.batch.len() - from;
        let seen = if is_partial { self.leave_out(look, from) } else { Seen::Whole };
        self.spans.push(Span { lane: lane as u32, from, seen });
        look.visited.codec.note(&self.batch, from, &mut self.parent);
        count
    }

    /// Adds the rest of the successors of a lane that is looked at again: there was memory for them before.
    #[cold]
    fn append_all(&mut self, look: &Look<'_, C>) {
        let _ = self.batch.append_rest(look.model, &self.state, |_| ControlFlow::<()>::Continue(()));
    }

    /// Takes the successors from one on that have no chance out of the batch, unless none has one.
    fn leave_out(&mut self, look: &Look<'_, C>, from: usize) -> Seen {
        let Self { batch, tags, fired, .. } = self;
        tags.extend((from..batch.len()).map(|i| hash(batch.state(i), look.salt)));
        let out = tags[from..].iter().filter(|&&tag| tag > look.largest).count();
        if out == 0 || out == tags.len() - from {
            return if out == 0 { Seen::Whole } else { Seen::Lone };
        }
        // A step that was never taken is of interest even so: it may lead to a visited state.
        let (mut at, mut kept) = (from, from);
        batch.retain(from, |step, _| {
            let tag = tags[at];
            at += 1;
            let is_kept = tag <= look.largest || !fired[step.transition.index()];
            tags[kept] = tag;
            kept += usize::from(is_kept);
            is_kept
        });
        tags.truncate(kept);
        self.notes.dropped += (at - kept) as u64;
        Seen::Part
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
        while let Some(&Span { lane, from, seen }) = self.spans.get(self.settled) {
            let to = self.end_of(self.settled);
            if to > end {
                break;
            }
            if look.is_last {
                self.end(lane, from..to);
            } else if seen == Seen::Lone {
                self.note_lone(lane, from..to);
            } else {
                self.note(look, lane, from..to, seen == Seen::Part);
            }
            self.settled += 1;
        }
    }

    /// Where the successors of a lane in the batch end.
    fn end_of(&self, span: usize) -> usize {
        self.spans.get(span + 1).map_or(self.batch.len(), |next| next.from)
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

    /// Notes the new successors of a lane. It is needy if it has no visited one; what is known of a lane in part depends on
    /// tags only, so that it is the same for any number of threads.
    fn note(&mut self, look: &Look<'_, C>, lane: u32, successors: Range<usize>, is_partial: bool) {
        let mut is_needy = is_partial || !successors.is_empty();
        for i in successors {
            let is_visited = self.is_visited(i);
            if is_visited {
                self.fired[self.batch.step(i).transition.index()] = true;
            }
            // All are in question where none is left out.
            let tag = match look.largest < u64::MAX {
                true => self.tags[i],
                false if is_visited => 0,
                false => look.tag(self.batch.state(i), &mut self.room),
            };
            match (tag <= look.largest, is_visited) {
                (true, true) => is_needy = false,
                (true, false) => self.offer(tag, lane, i),
                (false, _) => self.notes.dropped += 1,
            }
        }
        if is_needy {
            self.notes.needy.push(lane);
        }
    }

    /// The same for a lane none of whose successors has a chance: if it is needy, it offers the one with the smallest tag.
    fn note_lone(&mut self, lane: u32, successors: Range<usize>) {
        self.notes.dropped += successors.len() as u64;
        let mut is_needy = true;
        for i in successors.clone() {
            if self.is_visited(i) {
                self.fired[self.batch.step(i).transition.index()] = true;
                is_needy = false;
            }
        }
        if is_needy && let Some((tag, i)) = successors.map(|i| (self.tags[i], i)).min() {
            self.lone.needy.push(lane);
            let Self { lone, keys, batch, fired, .. } = self;
            offer(lone, (tag, keys[i], lane), batch, i, fired);
        }
    }

    /// Looks at lanes again of which a part was seen, and which have no successor in the queue: those that have no visited
    /// one are needy, and offer at least the one with the smallest tag. Nothing else is counted.
    pub(super) fn examine(&mut self, look: &Look<'_, C>, lanes: &[u32]) {
        let cut = self.batch.cut;
        for lanes in lanes.chunks(LANES_AGAIN).take_while(|_| look.stop.get().is_none()) {
            self.notes.begin_row(lanes[0]);
            for &lane in lanes {
                self.successors(look, lane as usize, false, |worker| worker.append_all(look));
            }
            self.announce(look);
            self.look_up(look, self.batch.len());
            for (span, &lane) in lanes.iter().enumerate() {
                let successors = self.spans[span].from..self.end_of(span);
                if successors.clone().any(|i| self.is_visited(i)) {
                    continue;
                }
                self.notes.needy.push(lane);
                let tagged = successors.map(|i| (hash(self.batch.state(i), look.salt), i));
                if let Some((tag, i)) = tagged.min().filter(|&(tag, _)| tag > look.largest) {
                    self.offer(tag, lane, i);
                }
            }
            self.forget();
        }
        self.batch.cut = cut;
    }

    fn offer(&mut self, tag: u64, lane: u32, successor: usize) {
        let Self { notes, keys, batch, fired, .. } = self;
        offer(notes, (tag, keys[successor], lane), batch, successor, fired);
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
        self.note(look, lane as u32, 0..to, false);
        self.forget();
    }

    fn again(&mut self, look: &Look<'_, C>, lane: usize) {
        let cut = self.batch.cut;
        self.successors(look, lane, false, |worker| worker.append_all(look));
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
        self.tags.clear();
    }
}

/// Notes the step to a successor: its tag, its key, and the lane.
fn offer(notes: &mut Notes, what: (u64, u64, u32), batch: &Successors, successor: usize, fired: &[bool]) {
    let (tag, key, lane) = what;
    notes.offer(tag, key, lane, batch.state(successor));
    // Initial states come by no step; a model may have no transition at all.
    let transition = batch.step(successor).transition;
    if fired.get(transition.index()) == Some(&false) {
        notes.untaken.push((tag, transition.0));
    }
}
