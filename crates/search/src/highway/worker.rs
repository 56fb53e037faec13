//! One worker of a level: expands lanes, evaluates them, and notes the new states they lead to, each with a random tag.
//!
//! A tag is a hash of the state with the seed and the depth, so that it depends on nobody else: the states with the smallest
//! tags are a subset drawn uniformly, the same for any number of threads. In a beam the estimate comes first in the tag.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use birk_engine::{GoalSet, Job, Model, Observer, Progress, Successors};
use birk_ir::{Step, Stop};

use super::candidates::{Candidates, Distinct};
use crate::bfs::visited::Visited;
use crate::expand::{Expanded, expand};
use crate::store::codec::{Codec, NO_KEY};
use crate::store::hash::hash;

/// Lanes that a worker takes at once, if that is not more than a grain.
const CHUNK: usize = 256;
/// Successors whose keys are prefetched together. Those prefetched before are then looked up: their cache lines are there.
const GROUP: usize = 32;
/// Packed states between asking for what opening one needs and opening it.
const STATES_AHEAD: usize = 4;
/// Bytes that are kept of a successor beside its state: what is known of it, and an candidate.
const BESIDE_STATE: u64 = 64;
/// Lanes that are examined again together.
const LANES_AGAIN: usize = 16;

/// What the workers of a level share.
pub(super) struct Shared<'a, C> {
    pub(super) model: &'a dyn Model,
    pub(super) job: &'a Job,
    pub(super) visited: &'a Visited<C>,
    pub(super) packed: &'a [u32],
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
    /// The first lane of those that were taken and not expanded, because of a limit.
    pub(super) left: AtomicUsize,
    /// A limit was met.
    pub(super) stop: OnceLock<Stop>,
    /// Bytes of all but what workers hold; of these, what notes of the level before had, put together; and how many
    /// workers there are.
    pub(super) beside: u64,
    pub(super) together: u64,
    pub(super) workers: u64,
    /// Bytes in use beyond those that are counted, as the observer said last.
    pub(super) overhead: AtomicU64,
    /// How the search stands, but for what workers have counted.
    pub(super) progress: Progress,
}

impl<C> Shared<'_, C> {
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

impl<C> Shared<'_, C> {
    /// Makes everybody come back, after a panic.
    pub(super) fn call_back(&self) {
        let _ = self.stop.set(Stop::Interrupt);
    }

    /// What ends the search, otherwise the bytes in use beyond those that are counted.
    pub(super) fn end(&self) -> ControlFlow<Stop, u64> {
        match self.stop.get() {
            Some(&stop) => ControlFlow::Break(stop),
            None => ControlFlow::Continue(self.overhead.load(Ordering::Relaxed)),
        }
    }

    /// Bytes that will be needed to put what workers noted together, if all of them noted as much as this one.
    fn ahead(&self, candidates: &Candidates) -> u64 {
        let copies = if self.workers > 1 { candidates.used() * self.workers } else { 0 };
        (copies + Distinct::bytes_for(candidates.list.len() as u64 * self.workers)).saturating_sub(self.together)
    }

    /// Whether so many bytes, and what is not counted, are more than there may be.
    fn is_beyond(&self, bytes: u64) -> bool {
        bytes.saturating_add(self.overhead.load(Ordering::Relaxed)) > self.job.limits.memory
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
    /// How many of them were examined.
    settled: usize,
    state: Vec<u32>,
    /// For estimates.
    room: Vec<u32>,
    parent: C::Parent,
    pub(super) candidates: Candidates,
    /// What was noted of lanes whose tags are all too large.
    pub(super) lone: Candidates,
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
            candidates: Candidates::default(),
            lone: Candidates::default(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            transitions: 0,
            open: Vec::new(),
        }
    }

    /// Takes the memory of notes of the level before, which are no longer needed.
    pub(super) fn reuse(&mut self, candidates: &mut Candidates, lone: &mut Candidates) {
        std::mem::swap(&mut self.candidates, candidates);
        std::mem::swap(&mut self.lone, lone);
        self.candidates.reset();
        self.lone.reset();
    }

    /// Bytes of what it noted, and of the batch.
    pub(super) fn bytes(&self) -> u64 {
        self.candidates.bytes() + self.lone.bytes() + self.batch.bytes() + self.lists()
    }

    /// Bytes of what is known of the batch.
    fn lists(&self) -> u64 {
        let numbers = self.keys.capacity() + self.hashes.capacity() + self.tags.capacity();
        (numbers * 8 + self.known.capacity()) as u64
    }

    /// Looks at the limits; the others hold about as much as this one. What will be noted before the next look is no more than
    /// what the batch has room for.
    fn look_at_limits(&self, shared: &Shared<'_, C>, observer: Option<&mut (dyn Observer + '_)>) {
        let bytes = shared.beside + self.bytes() * shared.workers;
        if let Some(observer) = observer {
            let transitions = shared.progress.transitions + self.transitions;
            if let ControlFlow::Break(stop) = observer.progress(&Progress { transitions, bytes, ..shared.progress }) {
                let _ = shared.stop.set(stop);
            }
            shared.overhead.store(observer.overhead(bytes), Ordering::Relaxed);
        }
        let ahead = shared.ahead(&self.candidates) + (self.batch.bytes() + self.lists()) * shared.workers;
        if shared.is_beyond(bytes + ahead) {
            let _ = shared.stop.set(Stop::Memory);
        }
    }

    pub(super) fn cut(&self) -> u64 {
        self.batch.cut
    }

    /// The initial states, as what a lane before the first level leads to.
    pub(super) fn begin(&mut self, shared: &Shared<'_, C>) {
        shared.model.initial(&mut self.batch);
        self.spans.push(Span { lane: 0, from: 0, seen: Seen::Whole });
        self.candidates.begin_row(0);
        shared.visited.codec.prepare(&self.batch, 0, &mut self.parent);
        self.settle(shared);
        self.candidates.needy.clear();
        // To begin is no step.
        self.candidates.untaken.clear();
    }

    /// Expands lanes until none is left or somebody wants an end.
    pub(super) fn run(&mut self, shared: &Shared<'_, C>, mut observer: Option<&mut (dyn Observer + '_)>) {
        let words = shared.visited.codec.packed_words();
        let lanes = shared.packed.len() / words;
        let chunk = CHUNK.min(shared.job.limits.grain);
        while shared.stop.get().is_none() {
            let first = shared.next.fetch_add(chunk, Ordering::Relaxed);
            if first >= lanes {
                break;
            }
            self.look_at_limits(shared, observer.as_deref_mut());
            self.candidates.begin_row(first as u32);
            self.lone.begin_row(first as u32);
            for lane in first..lanes.min(first + chunk) {
                if let Some(later) = shared.packed.get((lane + STATES_AHEAD) * words..(lane + STATES_AHEAD + 1) * words)
                {
                    shared.visited.codec.prefetch(later);
                }
                self.expand(shared, lane, observer.as_deref_mut());
                if self.batch.len() >= self.batch.most() {
                    self.look_at_limits(shared, observer.as_deref_mut());
                }
                if shared.stop.get().is_some() {
                    shared.left.fetch_min(lane, Ordering::Relaxed);
                    return self.forget();
                }
                if self.batch.len() >= self.batch.most() {
                    self.settle(shared);
                }
            }
            self.settle(shared);
        }
    }

    /// Computes the successors of a lane into the batch, and evaluates it.
    fn expand<'o>(&mut self, shared: &Shared<'_, C>, lane: usize, observer: Option<&mut (dyn Observer + 'o)>) {
        let is_partial = shared.largest < u64::MAX && !shared.is_last;
        let (expanded, count) =
            self.successors(shared, lane, is_partial, |worker| worker.append_rest(shared, observer));
        self.transitions += count as u64;
        let goals = expanded.goals(shared.model, &self.state);
        if !goals.is_empty() {
            self.evaluate(shared, lane as u32, goals);
        }
        if self.batch.len() >= self.keys.len() + GROUP {
            let prefetched = self.keys.len();
            self.prefetch(shared);
            self.settle_until(shared, prefetched);
        }
    }

    #[cold]
    fn evaluate(&mut self, shared: &Shared<'_, C>, lane: u32, goals: GoalSet) {
        for goal in goals.iter().filter(|&goal| goal < shared.job.goals) {
            self.found[goal] = Some(self.found[goal].map_or(lane, |found| found.min(lane)));
        }
    }

    /// Adds the rest of the successors of a lane that has very many, and asks in between whether to go on. If not, the search
    /// ends, and nobody looks at what is in the batch.
    #[cold]
    fn append_rest<'o>(&mut self, shared: &Shared<'_, C>, mut observer: Option<&mut (dyn Observer + 'o)>) {
        let own = self.candidates.bytes() + self.lone.bytes();
        let transitions = shared.progress.transitions + self.transitions;
        let progress =
            Progress { transitions, bytes: shared.beside + self.bytes() * shared.workers, ..shared.progress };
        let step = (self.batch.words() * 4 + size_of::<Step>()) as u64;
        let _ = self.batch.append_rest(shared.model, &self.state, |batch| {
            // The batch, what is known of it, and the candidates; the others hold about as much as this one.
            let bytes = shared.beside + (own + batch * 2 + batch / step * BESIDE_STATE) * shared.workers;
            if shared.is_beyond(bytes) {
                let _ = shared.stop.set(Stop::Memory);
            }
            if let Some(observer) = &mut observer
                && let ControlFlow::Break(stop) = observer.progress(&progress)
            {
                let _ = shared.stop.set(stop);
            }
            if shared.stop.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }

    /// Computes the successors of a lane into the batch, all or those that have a chance; how many it has. `append_rest`
    /// adds the rest of very many.
    fn successors(
        &mut self,
        shared: &Shared<'_, C>,
        lane: usize,
        is_partial: bool,
        append_rest: impl FnOnce(&mut Self),
    ) -> (Expanded, usize) {
        let words = shared.visited.codec.packed_words();
        shared.visited.codec.open(&shared.packed[lane * words..(lane + 1) * words], &mut self.parent, &mut self.state);
        let expanded = expand(shared.model, &self.state, &mut self.batch);
        let from = expanded.from;
        if self.batch.has_rest() {
            append_rest(self);
        }
        let count = self.batch.len() - from;
        let seen = if is_partial { self.leave_out(shared, from) } else { Seen::Whole };
        self.spans.push(Span { lane: lane as u32, from, seen });
        shared.visited.codec.prepare(&self.batch, from, &mut self.parent);
        (expanded, count)
    }

    /// Adds the rest of the successors of a lane that is examined again: there was memory for them before.
    #[cold]
    fn append_all(&mut self, shared: &Shared<'_, C>) {
        let _ = self.batch.append_rest(shared.model, &self.state, |_| ControlFlow::<()>::Continue(()));
    }

    /// Takes the successors from one on that have no chance out of the batch, unless none has one.
    fn leave_out(&mut self, shared: &Shared<'_, C>, from: usize) -> Seen {
        let Self { batch, tags, fired, .. } = self;
        tags.extend((from..batch.len()).map(|i| hash(batch.state(i), shared.salt)));
        let out = tags[from..].iter().filter(|&&tag| tag > shared.largest).count();
        if out == 0 || out == tags.len() - from {
            return if out == 0 { Seen::Whole } else { Seen::Lone };
        }
        // A step that was never taken is of interest even so: it may lead to a visited state.
        let (mut at, mut kept) = (from, from);
        batch.retain(from, |step, _| {
            let tag = tags[at];
            at += 1;
            let is_kept = tag <= shared.largest || !fired[step.transition.index()];
            tags[kept] = tag;
            kept += usize::from(is_kept);
            is_kept
        });
        tags.truncate(kept);
        self.candidates.dropped += (at - kept) as u64;
        Seen::Part
    }

    /// Asks for the cache lines of the successors without a key.
    fn prefetch(&mut self, shared: &Shared<'_, C>) {
        let from = self.keys.len();
        if shared.visited.codec.keys(&self.batch, from, &mut self.parent, &mut self.keys) {
            shared.visited.prefetch(&self.keys[from..], &mut self.hashes);
            return;
        }
        for &key in &self.keys[from..] {
            self.hashes.push(if key == NO_KEY { 0 } else { shared.visited.prefetch_one(key) });
        }
    }

    /// Looks which successors of the batch are new, and empties it.
    fn settle(&mut self, shared: &Shared<'_, C>) {
        self.prefetch(shared);
        self.settle_until(shared, self.batch.len());
        self.forget();
    }

    /// Looks which successors of the batch are new, of lanes whose successors all come before one.
    fn settle_until(&mut self, shared: &Shared<'_, C>, end: usize) {
        self.look_up(shared, end);
        while let Some(&Span { lane, from, seen }) = self.spans.get(self.settled) {
            let to = self.end_of(self.settled);
            if to > end {
                break;
            }
            if shared.is_last {
                self.end(lane, from..to);
            } else if seen == Seen::Lone {
                self.note_lone(lane, from..to);
            } else {
                self.note(shared, lane, from..to, seen == Seen::Part);
            }
            self.settled += 1;
        }
    }

    /// Where the successors of a lane in the batch end.
    fn end_of(&self, span: usize) -> usize {
        self.spans.get(span + 1).map_or(self.batch.len(), |next| next.from)
    }

    /// Looks up the successors before this one.
    fn look_up(&mut self, shared: &Shared<'_, C>, end: usize) {
        shared.visited.have(&self.hashes[self.known.len()..end], &mut self.known);
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
    fn note(&mut self, shared: &Shared<'_, C>, lane: u32, successors: Range<usize>, is_partial: bool) {
        let mut is_needy = is_partial || !successors.is_empty();
        for i in successors {
            let is_visited = self.is_visited(i);
            if is_visited {
                self.fired[self.batch.step(i).transition.index()] = true;
            }
            // All are in question where none is left out.
            let tag = match shared.largest < u64::MAX {
                true => self.tags[i],
                false if is_visited => 0,
                false => shared.tag(self.batch.state(i), &mut self.room),
            };
            match (tag <= shared.largest, is_visited) {
                (true, true) => is_needy = false,
                (true, false) => self.add(tag, lane, i),
                (false, _) => self.candidates.dropped += 1,
            }
        }
        if is_needy {
            self.candidates.needy.push(lane);
        }
    }

    /// The same for a lane none of whose successors has a chance: if it is needy, it candidates the one with the smallest tag.
    fn note_lone(&mut self, lane: u32, successors: Range<usize>) {
        self.candidates.dropped += successors.len() as u64;
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
            candidate(lone, (tag, keys[i], lane), batch, i, fired);
        }
    }

    /// Looks at lanes again of which a part was seen, and which have no successor in the queue: those that have no visited
    /// one are needy, and candidate at least the one with the smallest tag. Nothing else is counted.
    pub(super) fn examine(
        &mut self,
        shared: &Shared<'_, C>,
        mut lanes: &[u32],
        mut observer: Option<&mut (dyn Observer + '_)>,
    ) {
        let cut = self.batch.cut;
        while !lanes.is_empty() && shared.stop.get().is_none() {
            self.candidates.begin_row(lanes[0]);
            let mut count = 0;
            while count < lanes.len().min(LANES_AGAIN) && self.batch.len() < self.batch.most() {
                self.successors(shared, lanes[count] as usize, false, |worker| worker.append_all(shared));
                count += 1;
            }
            self.prefetch(shared);
            self.look_up(shared, self.batch.len());
            let (examined, rest) = lanes.split_at(count);
            lanes = rest;
            for (span, &lane) in examined.iter().enumerate() {
                let successors = self.spans[span].from..self.end_of(span);
                if successors.clone().any(|i| self.is_visited(i)) {
                    continue;
                }
                self.candidates.needy.push(lane);
                let tagged = successors.map(|i| (hash(self.batch.state(i), shared.salt), i));
                if let Some((tag, i)) = tagged.min().filter(|&(tag, _)| tag > shared.largest) {
                    self.add(tag, lane, i);
                }
            }
            self.forget();
            self.look_at_limits(shared, observer.as_deref_mut());
        }
        self.batch.cut = cut;
    }

    fn add(&mut self, tag: u64, lane: u32, successor: usize) {
        let Self { candidates, keys, batch, fired, .. } = self;
        candidate(candidates, (tag, keys[successor], lane), batch, successor, fired);
    }

    /// Whether all successors of a lane were visited; nothing is counted.
    pub(super) fn is_closed(&mut self, shared: &Shared<'_, C>, lane: usize) -> bool {
        self.again(shared, lane);
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(i));
        for step in self.batch.steps(0).iter().filter(|_| is_closed) {
            self.fired[step.transition.index()] = true;
        }
        self.forget();
        is_closed
    }

    /// Whether all initial states were visited.
    pub(super) fn is_start_closed(&mut self, shared: &Shared<'_, C>) -> bool {
        shared.model.initial(&mut self.batch);
        // No state that was opened before is before these.
        self.parent = shared.visited.codec.parent();
        shared.visited.codec.prepare(&self.batch, 0, &mut self.parent);
        self.prefetch(shared);
        self.look_up(shared, self.batch.len());
        let is_closed = (0..self.batch.len()).all(|i| self.is_visited(i));
        self.forget();
        is_closed
    }

    /// Notes the new successors of all lanes again, those with too large tags, too; nothing else is counted.
    pub(super) fn recall(&mut self, shared: &Shared<'_, C>, observer: &mut dyn Observer) {
        let lanes = shared.packed.len() / shared.visited.codec.packed_words();
        let mut seen = 0;
        for lane in 0..lanes {
            self.again(shared, lane);
            self.candidates.begin_row(lane as u32);
            let to = self.batch.len();
            seen += to + 1;
            if seen >= self.batch.most() {
                self.look_at_limits(shared, Some(observer));
                seen = 0;
            }
            if shared.stop.get().is_some() {
                return self.forget();
            }
            self.note(shared, lane as u32, 0..to, false);
            self.forget();
        }
    }

    fn again(&mut self, shared: &Shared<'_, C>, lane: usize) {
        let cut = self.batch.cut;
        self.successors(shared, lane, false, |worker| worker.append_all(shared));
        self.batch.cut = cut;
        self.prefetch(shared);
        self.look_up(shared, self.batch.len());
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
fn candidate(candidates: &mut Candidates, what: (u64, u64, u32), batch: &Successors, successor: usize, fired: &[bool]) {
    let (tag, key, lane) = what;
    candidates.add(tag, key, lane, batch.state(successor));
    // Initial states come by no step; a model may have no transition at all.
    let transition = batch.step(successor).transition;
    if fired.get(transition.index()) == Some(&false) {
        candidates.untaken.push((tag, transition.0));
    }
}
