//! The search, level by level: all lanes are expanded, by threads that share them; then the next queue is chosen and visited.
//!
//! The paper's condition on the next queue can be met only if there are no more lanes than the width, so that the initial
//! states are drawn, too. Whether the slice is complete is decided at the end: every lane of a level where something was
//! left out is expanded again, to see whether all its successors were visited after all. The first that was not ends that,
//! and nothing but numbers of levels has to be remembered for it.
//!
//! Where many states are left out of a wide level, most of them are not even noted: the largest tag that was chosen in the
//! level before tells which have no chance in this one, and whether they were visited is not looked up. If too few are left
//! then, the level is examined again. Of a lane that has no successor in the queue and may need one, all are looked up, at
//! once if none of them has a chance; it candidates the one with the smallest tag, which is one drawn uniformly.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use birk_engine::{Cutoff, EngineStats, Hunt, HyperLogLog, Job, Model, Observer, Progress, Stats};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop};

use super::candidates::{Candidates, Distinct, Drawn};
use super::levels::Levels;
use super::options::Highway;
use super::sampling::{Pool, choose};
use super::slice::Slice;
use super::worker::{Shared, Worker};
use crate::bfs::trace;
use crate::bfs::visited::Visited;
use crate::crew;
use crate::cutoff::Survey;
use crate::store::codec::Codec;
use crate::store::exact::ExactStore;
use crate::store::hash::hash;

/// Levels with fewer grains of lanes are expanded by one thread: starting others would take longer.
pub(super) const WORTH_SHARING: usize = 8;
/// From this width on, states with large tags are not noted.
const WIDE: usize = 4096;
/// More of the tags are noted than will be chosen, if they become more as from the level before the last to the last.
const MARGIN: f64 = 1.15;
/// They become more by this factor at first.
const FIRST_GROWTH: f64 = 1.3;
/// How many tags there are.
const TAGS: f64 = 18_446_744_073_709_551_616.0;
/// Lanes that are examined again between two words to the observer.
const BATCH: usize = 256;

pub(super) struct Search<'a, C: Codec> {
    pub(super) highway: Highway,
    pub(super) model: &'a dyn Model,
    pub(super) job: &'a Job,
    /// V.
    pub(super) visited: Visited<C>,
    pub(super) levels: Levels,
    pub(super) workers: Vec<Worker<C>>,
    pub(super) depth: u32,
    /// What was noted of this level.
    pub(super) candidates: Candidates,
    /// What was noted of lanes that have no chance to be served by what is drawn.
    lone: Candidates,
    /// The new states of this level.
    pub(super) distinct: Distinct,
    /// The share of all tags that was chosen in the last level, if something was left out there, and how much more that
    /// was than in the level before.
    chosen_share: Option<(f64, f64)>,
    /// The levels where something was left out, and whether initial states were.
    pub(super) curtailed: Vec<u32>,
    is_start_curtailed: bool,
    /// How many lanes of the newest level were expanded.
    pub(super) expanded: usize,
    pub(super) held: u64,
    /// Bytes in use beyond those that are counted, as the observer said last.
    overhead: u64,
    /// The keys that were computed for this level are no longer what they were.
    pub(super) have_keys_changed: bool,
    /// The first state found for each goal: its depth and its place.
    found: Vec<Option<(u32, u32)>>,
    pub(super) stats: Stats,
    /// Which states were visited, roughly.
    pub(super) union: HyperLogLog,
}

impl<'a, C: Codec> Search<'a, C> {
    pub(super) fn new(highway: Highway, model: &'a dyn Model, job: &'a Job, codec: C) -> Self {
        Self {
            highway,
            model,
            job,
            workers: vec![Worker::new(model, job, &codec)],
            visited: Visited::new(codec),
            levels: Levels::default(),
            depth: 0,
            candidates: Candidates::default(),
            lone: Candidates::default(),
            distinct: Distinct::default(),
            chosen_share: None,
            curtailed: Vec::new(),
            is_start_curtailed: false,
            expanded: 0,
            held: 0,
            overhead: 0,
            have_keys_changed: false,
            found: vec![None; job.goals],
            stats: Stats::default(),
            union: HyperLogLog::default(),
        }
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer, wants_slice: bool) -> (Hunt, Option<Slice>) {
        let end = self.build(observer);
        self.stats.transitions = self.workers.iter().map(|worker| worker.transitions).sum();
        self.stats.cut = self.workers.iter().map(Worker::cut).sum();
        self.stats.store_bytes = self.visited.bytes() + self.levels.bytes();
        let is_cut = self.workers.iter().any(|worker| !worker.open.is_empty());
        let (stopped, is_complete) = match end {
            ControlFlow::Break(stop) => (stop, false),
            ControlFlow::Continue(()) if is_cut => (Stop::Depth, false),
            ControlFlow::Continue(()) => match self.is_closed(observer) {
                ControlFlow::Break(stop) => (stop, false),
                ControlFlow::Continue(is_closed) => (Stop::Exhausted, is_closed),
            },
        };
        if !is_complete && stopped != Stop::Goal {
            self.stats.cutoff = self.cutoff(end.is_break());
        }
        let coverage = match (is_complete, self.visited.codec.omission(self.stats.states)) {
            (false, _) => Coverage::Partial(self.stats.states),
            (true, None) => Coverage::Complete,
            (true, Some(omission)) => {
                Coverage::Hashed { depth: None, omission_probability: omission, expected_omissions: omission }
            }
        };
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |found: &Option<(u32, u32)>| match *found {
            Some((depth, place)) => Outcome::Found(self.trace(depth, place)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        let mut fired = vec![false; self.model.transitions()];
        for worker in &self.workers {
            fired.iter_mut().zip(&worker.fired).for_each(|(all, one)| *all |= one);
        }
        let slice = wants_slice.then(|| self.slice(coverage == Coverage::Complete));
        let stats = Stats { engine: EngineStats::Sampled(self.union), ..self.stats };
        (Hunt { outcomes, coverage, stopped, stats, fired }, slice)
    }

    fn trace(&self, depth: u32, place: u32) -> birk_ir::Trace {
        let path = self.levels.path(&self.visited.codec, self.model, depth, place);
        let mut initial = birk_engine::Successors::new(self.model.words());
        self.model.initial(&mut initial);
        trace::trace(self.model, &initial, &path).expect("each state was reached from its parent")
    }

    /// The states in full, as many as fit: a part of a slice is a slice, too, only not complete.
    fn slice(&self, is_complete: bool) -> Slice {
        let words = self.model.words();
        let mut states = ExactStore::new(words);
        let budget = self.budget();
        let fits = self.levels.store(&self.visited.codec, &mut states, &mut vec![0; words], budget);
        Slice::new(words, states, is_complete && fits)
    }

    /// The slice, level by level.
    fn build(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.with_shared(None, u64::MAX, |shared, workers| workers[0].begin(shared));
        self.gather();
        let queue = self.distinct.smallest(self.highway.width).numbers;
        self.is_start_curtailed = queue.len() < self.distinct.len();
        let mut lanes = self.visit(&queue, 0)?;
        while !lanes.parents.is_empty() {
            self.levels.push(lanes);
            self.expanded = 0;
            let queue = self.next_queue(observer)?;
            self.overhead = observer.overhead(self.bytes());
            lanes = self.visit(&queue, self.depth + 1)?;
            self.note_taken(&queue);
            self.depth += 1;
        }
        ControlFlow::Continue(())
    }

    /// Expands the lanes of this depth and chooses those of the next.
    fn next_queue(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop, Vec<u32>> {
        let is_degraded = self.highway.degrade_depth.is_some_and(|depth| self.depth >= depth);
        // Estimates change from level to level, so that those of the last tell nothing of this one.
        let is_wide = self.highway.width >= WIDE && !is_degraded && !self.highway.is_beam;
        let share = self.chosen_share.filter(|_| is_wide).map_or(1.0, |(share, growth)| share * growth * MARGIN);
        // The conversion saturates: the share of all tags is the largest tag.
        let largest_noted = (share * TAGS) as u64;
        self.expand_all(largest_noted, observer)?;
        self.evaluate()?;
        let mut needy = std::mem::take(&mut self.candidates.needy);
        let lanes = self.lanes();
        let mut new = self.distinct.len();
        let width = if is_degraded { needy.len() } else { self.highway.width };
        if is_degraded {
            let mut is_needy = vec![false; lanes];
            needy.iter().for_each(|&lane| is_needy[lane as usize] = true);
            self.candidates.list.retain(|candidate| is_needy[candidate.lane as usize]);
            self.distinct.number(&self.candidates, self.model.words());
        }
        if self.candidates.dropped > 0 && new < width {
            needy = self.recall_all(observer)?;
            new = self.distinct.len();
        }
        let drawn = self.distinct.smallest(width);
        let largest = drawn.largest;
        let is_whole = self.candidates.dropped == 0;
        let mut unserved = if self.highway.is_beam { Vec::new() } else { self.unserved(&drawn, &needy) };
        if !is_whole {
            // A lane that is served may be needy or not: it is not left without a successor.
            let mut others = unserved.iter().peekable();
            needy.retain(|lane| others.next_if_eq(&lane).is_none());
            unserved = self.examine(&unserved, largest_noted, observer)?;
            needy.extend_from_slice(&unserved);
        }
        let queue = if unserved.is_empty() {
            drawn.numbers
        } else {
            let mut random = Random::new(self.salt(Some(self.depth)));
            choose(&self.pool(&needy), drawn.numbers, &needy, vec![0; lanes], is_whole, &mut random)
        };
        let is_curtailed = !is_whole || queue.len() < new;
        if is_curtailed {
            self.curtailed.push(self.depth);
        }
        let share = largest as f64 / TAGS;
        let growth = self.chosen_share.map_or(FIRST_GROWTH, |last| (share / last.0).clamp(1.0, 2.0));
        self.chosen_share = is_curtailed.then_some((share, growth));
        ControlFlow::Continue(queue)
    }

    /// Expands and evaluates all lanes of this depth; notes their new successors with no larger tags.
    fn expand_all(&mut self, largest: u64, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let is_shared = self.lanes() >= WORTH_SHARING * self.job.limits.grain;
        while is_shared && self.workers.len() < self.job.limits.threads {
            self.workers.push(Worker::new(self.model, self.job, &self.visited.codec));
        }
        match &mut self.workers[..] {
            [only] => only.reuse(&mut self.candidates, &mut self.lone),
            several => self.candidates.lend(several.iter_mut().map(|worker| &mut worker.candidates)),
        }
        let (stop, taken) = self.with_shared(Some(self.depth), largest, |shared, workers| {
            if is_shared {
                let first = |worker: &mut Worker<C>| worker.run(shared, Some(observer));
                crew::together("highway", workers, &|| shared.call_back(), first, &|worker| worker.run(shared, None));
            } else {
                workers[0].run(shared, Some(observer));
            }
            (shared.end(), shared.next.load(Ordering::Relaxed).min(shared.left.load(Ordering::Relaxed)))
        });
        self.expanded = taken.min(self.lanes());
        // What was noted will not be needed then, and there may be no memory to put it together.
        self.overhead = stop?;
        self.gather();
        if self.budget() == 0 { ControlFlow::Break(Stop::Memory) } else { ControlFlow::Continue(()) }
    }

    /// What workers need to look at a level, and the workers.
    fn with_shared<R>(
        &mut self,
        depth: Option<u32>,
        largest: u64,
        run: impl FnOnce(&Shared<'_, C>, &mut [Worker<C>]) -> R,
    ) -> R {
        let salt = self.salt(depth);
        let progress = self.progress();
        let shared = Shared {
            model: self.model,
            job: self.job,
            visited: &self.visited,
            packed: depth.map_or(&[], |depth| &self.levels.get(depth).packed),
            salt,
            is_beam: self.highway.is_beam,
            largest,
            is_last: depth == Some(self.job.limits.depth),
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(usize::MAX),
            stop: OnceLock::new(),
            beside: self.bytes_beside(),
            together: self.candidates.bytes() + self.distinct.bytes(),
            workers: self.workers.len() as u64,
            overhead: AtomicU64::new(self.overhead),
            progress,
        };
        run(&shared, &mut self.workers)
    }

    /// Takes what the workers have noted.
    fn gather(&mut self) {
        let words = self.model.words();
        self.candidates.gather(self.workers.iter_mut().map(|worker| &mut worker.candidates));
        self.lone.gather(self.workers.iter_mut().map(|worker| &mut worker.lone));
        self.distinct.number(&self.candidates, words);
    }

    /// Notes all new successors of all lanes, whatever their tags; the needy lanes.
    fn recall_all(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop, Vec<u32>> {
        self.overhead = self.with_shared(Some(self.depth), u64::MAX, |shared, workers| {
            workers[0].recall(shared, observer);
            shared.end()
        })?;
        self.gather();
        ControlFlow::Continue(std::mem::take(&mut self.candidates.needy))
    }

    /// Looks at some lanes again of which successors with no larger tags were noted; those that are needy, and the lone ones.
    fn examine(&mut self, lanes: &[u32], largest: u64, observer: &mut dyn Observer) -> ControlFlow<Stop, Vec<u32>> {
        let words = self.model.words();
        let mut needy = std::mem::take(&mut self.lone.needy);
        self.candidates.append(&mut self.lone);
        let is_shared = lanes.len() >= WORTH_SHARING * self.job.limits.grain;
        self.overhead = self.with_shared(Some(self.depth), largest, |shared, workers| {
            if !is_shared || workers.len() == 1 {
                workers[0].examine(shared, lanes, Some(observer));
                return shared.end();
            }
            let parts = lanes.chunks(lanes.len().div_ceil(workers.len()));
            let mut parts: Vec<_> = workers.iter_mut().zip(parts).collect();
            let first = |(worker, lanes): &mut (&mut Worker<C>, &[u32])| worker.examine(shared, lanes, Some(observer));
            let other = |(worker, lanes): &mut (&mut Worker<C>, &[u32])| worker.examine(shared, lanes, None);
            crew::together("highway", &mut parts, &|| shared.call_back(), first, &other);
            shared.end()
        })?;
        for worker in &mut self.workers {
            needy.append(&mut worker.candidates.needy);
            self.candidates.append(&mut worker.candidates);
        }
        self.distinct.number_more(&self.candidates, words);
        ControlFlow::Continue(needy)
    }

    /// The needy lanes that would have no successor in the queue.
    fn unserved(&self, drawn: &Drawn, needy: &[u32]) -> Vec<u32> {
        if drawn.numbers.len() == self.distinct.len() && self.candidates.dropped == 0 {
            return Vec::new();
        }
        let mut is_drawn = vec![false; self.distinct.len()];
        drawn.numbers.iter().for_each(|&number| is_drawn[number as usize] = true);
        let mut is_served = vec![false; self.lanes()];
        for (candidate, &number) in self.candidates.list.iter().zip(&self.distinct.numbers) {
            is_served[candidate.lane as usize] |= is_drawn[number as usize];
        }
        needy.iter().copied().filter(|&lane| !is_served[lane as usize]).collect()
    }

    /// The new states, each with the needy lanes that lead to it.
    fn pool(&self, needy: &[u32]) -> Pool {
        let mut is_needy = vec![false; self.lanes()];
        needy.iter().for_each(|&lane| is_needy[lane as usize] = true);
        let steps = self
            .distinct
            .numbers
            .iter()
            .zip(&self.candidates.list)
            .map(|(&number, candidate)| (number, candidate.lane));
        Pool::new(self.distinct.len(), steps.filter(|&(_, lane)| is_needy[lane as usize]))
    }

    /// Records the goals that are new; ends the search at those it was told to end at.
    fn evaluate(&mut self) -> ControlFlow<Stop> {
        let mut ends = false;
        for goal in 0..self.job.goals {
            let first = self.workers.iter_mut().filter_map(|worker| worker.found[goal].take()).min();
            if let (None, Some(lane)) = (self.found[goal], first) {
                self.found[goal] = Some((self.depth, lane));
                let all = !self.job.keep_going && self.found.iter().all(Option::is_some);
                ends |= all || self.job.stop_at.contains(goal);
            }
        }
        if ends { ControlFlow::Break(Stop::Goal) } else { ControlFlow::Continue(()) }
    }

    /// The steps that led to these of the new states were taken.
    pub(super) fn note_taken(&mut self, visited: &[u32]) {
        let mut fired = std::mem::take(&mut self.workers[0].fired);
        self.workers.iter().for_each(|worker| fired.iter_mut().zip(&worker.fired).for_each(|(all, one)| *all |= one));
        if !self.candidates.untaken.is_empty() {
            let tag = |&number: &u32| self.distinct.candidate(&self.candidates, number).tag;
            let tags: HashSet<u64> = visited.iter().map(tag).collect();
            for (tag, transition) in self.candidates.untaken.drain(..) {
                fired[transition as usize] |= tags.contains(&tag);
            }
        }
        self.workers.iter_mut().skip(1).for_each(|worker| worker.fired.clone_from(&fired));
        self.workers[0].fired = fired;
    }

    /// What was left out: of the lanes from which something was, and of those that wait if the search was ended early.
    fn cutoff(&mut self, is_early: bool) -> Cutoff {
        let mut fired = std::mem::take(&mut self.workers[0].fired);
        let all = |depth: u32| 0..self.levels.get(depth).parents.len() as u32;
        let last = self.levels.len().checked_sub(1).filter(|_| is_early).map(|last| last as u32);
        // They may be nearly all states there are, when there is no memory for a list of them.
        let lanes = || {
            let curtailed =
                self.curtailed.iter().flat_map(move |&depth| all(depth).map(move |lane| (depth, lane, true)));
            let open = self.workers.iter().flat_map(|worker| &worker.open);
            let open = open.map(|&lane| (self.job.limits.depth, lane, true));
            let waiting = last.into_iter().flat_map(move |last| all(last).map(move |lane| (last, lane)));
            let waiting = waiting.map(|(last, lane)| (last, lane, (lane as usize) < self.expanded));
            curtailed.chain(open).chain(waiting)
        };
        let mut survey = Survey::new(self.model, lanes().count() as u64);
        let (mut opened, mut asked) = (self.visited.codec.parent(), self.visited.codec.parent());
        let words = self.visited.codec.packed_words();
        let mut state = vec![0; self.model.words()];
        for (depth, lane, is_expanded) in lanes() {
            if survey.counts() {
                let packed = &self.levels.get(depth).packed[lane as usize * words..(lane as usize + 1) * words];
                self.visited.codec.open(packed, &mut opened, &mut state);
                survey.look_beyond(&state, &mut fired, |state| {
                    is_expanded && self.visited.find(state, &mut asked).is_some()
                });
            }
        }
        self.workers[0].fired = fired;
        survey.cutoff()
    }

    /// Whether everything that was left out was visited later: then the slice is the whole model.
    fn is_closed(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop, bool> {
        let is_closed = |shared: &Shared<'_, C>, workers: &mut [Worker<C>]| workers[0].is_start_closed(shared);
        if self.is_start_curtailed && !self.with_shared(None, u64::MAX, is_closed) {
            return ControlFlow::Continue(false);
        }
        // The newest lanes first: what they left out had the least time to be met again.
        for depth in self.curtailed.clone().into_iter().rev() {
            for part in 0..self.levels.get(depth).parents.len().div_ceil(BATCH) {
                observer.progress(&self.progress())?;
                let lanes = self.levels.get(depth).parents.len();
                let lanes = part * BATCH..lanes.min((part + 1) * BATCH);
                let is_closed = |shared: &Shared<'_, C>, workers: &mut [Worker<C>]| {
                    lanes.into_iter().all(|lane| workers[0].is_closed(shared, lane))
                };
                if !self.with_shared(Some(depth), u64::MAX, is_closed) {
                    return ControlFlow::Continue(false);
                }
            }
        }
        ControlFlow::Continue(true)
    }

    /// How many lanes this level has.
    fn lanes(&self) -> usize {
        self.levels.get(self.depth).parents.len()
    }

    /// A number that seed and depth decide; the initial states have one of their own.
    fn salt(&self, depth: Option<u32>) -> u64 {
        let place = depth.map_or(0, |depth| u64::from(depth) + 1);
        hash(&[place as u32, (place >> 32) as u32], self.highway.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Bytes that are left.
    pub(super) fn budget(&self) -> u64 {
        self.job.limits.memory.saturating_sub(self.bytes().saturating_add(self.overhead))
    }

    fn bytes(&self) -> u64 {
        self.bytes_beside() + self.workers.iter().map(Worker::bytes).sum::<u64>()
    }

    /// All but what workers hold.
    fn bytes_beside(&self) -> u64 {
        self.visited.bytes() + self.levels.bytes() + self.candidates.bytes() + self.lone.bytes() + self.distinct.bytes()
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.workers.iter().map(|worker| worker.transitions).sum(),
            depth: self.depth,
            frontier: self.stats.levels.last().copied().unwrap_or(0),
            bytes: self.bytes(),
            ..Progress::default()
        }
    }
}
