//! Highway search: breadth-first, but of each level only so many states, drawn at random, are followed.
//!
//! Algorithms 2 and 3 of Meulen, Stappers and Willemse, "Breadth-Bounded Model Checking". What is visited is a slice of the
//! model: a sub-graph of it, in which a state without successors has none in the model either, because every lane
//! goes on. So what is found in a slice is real; what is not found means nothing, unless the slice turns out to be everything.
//!
//! The paper's condition on the next queue can be met only if there are no more lanes than the width, so that the initial
//! states are drawn, too. Whether the slice is complete is decided at the end: every lane of a level where something was
//! left out is expanded again, to see whether all its successors were visited after all. The first that was not ends that,
//! and nothing but numbers of lanes has to be remembered for it.

mod choice;
mod slice;

use std::ops::ControlFlow;

use birk_exec::{GoalSet, Model, Random, Successors};
use birk_ir::{Coverage, Outcome, StateId, Stop};

use crate::border::{Border, Survey};
use crate::exact::ExactStore;
use crate::job::{Hunt, Job, Limits, Observer, Progress, Stats};
use crate::store::Store;
use crate::trace;
use choice::{Needy, choose};

pub use slice::{Slice, Sliced};

/// After so many expansions the observer is asked; so many states are stored at once.
const BATCH: usize = 256;

/// How a highway search is done.
#[derive(Clone, Copy, Debug)]
pub struct Highway {
    /// The most lanes: states of one depth that are followed; at least 1.
    pub width: usize,
    /// From this depth on, at least 1, a lane is followed only as long as it has met no visited state.
    pub degrade_depth: Option<u32>,
    /// Decides what is drawn: the same seed gives the same slice.
    pub seed: u64,
}

impl Highway {
    /// Lanes, unless told otherwise.
    pub const USUAL_WIDTH: usize = 10_000;

    /// As the limits say.
    pub fn of(limits: &Limits) -> Self {
        Self { width: limits.width, degrade_depth: limits.degrade_depth, seed: limits.seed }
    }

    /// Searches until no lane goes on, a limit is met, or a goal is found at which the search ends.
    pub fn hunt(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
        self.slice(model, job, observer).0
    }

    /// The same, and the states that were visited.
    pub fn slice(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> (Hunt, Slice) {
        let words = model.words();
        let search = Search {
            highway: *self,
            random: Random::new(self.seed),
            model,
            job,
            visited: ExactStore::new(words),
            fresh: ExactStore::new(words),
            needy: Needy::default(),
            lanes: Vec::new(),
            expanded: 0,
            depth: 0,
            curtailed: Vec::new(),
            start_curtailed: false,
            offered: Vec::new(),
            edge: Border::new(model.transitions()),
            batch: Successors::new(words),
            state: vec![0; words],
            found: vec![None; job.goals],
            stats: Stats::default(),
            fired: vec![false; model.transitions()],
        };
        search.run(observer)
    }
}

struct Search<'a> {
    highway: Highway,
    random: Random,
    model: &'a dyn Model,
    job: &'a Job,
    /// V.
    visited: ExactStore,
    /// R: the successors of the lanes that were not visited.
    fresh: ExactStore,
    needy: Needy,
    /// Q, at this depth.
    lanes: Vec<StateId>,
    /// How many of them were expanded.
    expanded: usize,
    depth: u32,
    /// The lanes of levels where something was left out, and whether initial states were.
    curtailed: Vec<StateId>,
    start_curtailed: bool,
    /// The steps of the lanes to fresh states: which state, by which transition. Those to visited ones are taken then.
    offered: Vec<(u32, u32)>,
    /// The lanes at the depth limit.
    edge: Border,
    batch: Successors,
    state: Vec<u32>,
    /// The first state found for each goal.
    found: Vec<Option<StateId>>,
    stats: Stats,
    fired: Vec<bool>,
}

impl Search<'_> {
    fn run(mut self, observer: &mut dyn Observer) -> (Hunt, Slice) {
        let end = self.build(observer);
        self.stats.cut = self.batch.cut;
        self.stats.store_bytes = self.visited.bytes();
        let (stopped, is_complete) = match end {
            ControlFlow::Break(stop) => (stop, false),
            ControlFlow::Continue(()) if self.edge.is_open() => (Stop::Depth, false),
            ControlFlow::Continue(()) => match self.is_closed(observer) {
                ControlFlow::Break(stop) => (stop, false),
                ControlFlow::Continue(is_closed) => (Stop::Exhausted, is_closed),
            },
        };
        self.stats.border = match stopped {
            Stop::Exhausted if is_complete => Border::default(),
            Stop::Goal => Border::default(),
            _ => self.border(),
        };
        let (coverage, absent) = match is_complete {
            true => (Coverage::Complete, Outcome::Absent),
            false => (Coverage::Sampled(self.stats.states), Outcome::Inconclusive),
        };
        let outcome = |id: &Option<StateId>| match *id {
            Some(id) => Outcome::Found(trace::rebuild(self.model, &self.visited, id)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        let hunt = Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired };
        (hunt, Slice::new(self.model.words(), self.visited, is_complete))
    }

    /// The slice, level by level.
    fn build(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.offer(None)?;
        let start: Vec<u32> = (0..self.fresh.len() as u32).collect();
        let queue = choose(start, self.highway.width, &self.needy, &mut self.random);
        self.start_curtailed = queue.len() < self.fresh.len() as usize;
        self.visit(&queue, 0)?;
        while !self.lanes.is_empty() {
            self.expand_all(observer)?;
            let is_degraded = self.highway.degrade_depth.is_some_and(|depth| self.depth >= depth);
            let (pool, width) = match is_degraded {
                false => ((0..self.fresh.len() as u32).collect(), self.highway.width),
                true => (self.needy.reached(), self.needy.len()),
            };
            let queue = choose(pool, width, &self.needy, &mut self.random);
            let lanes = std::mem::take(&mut self.lanes);
            self.expanded = 0;
            self.depth += 1;
            let visited = self.visit(&queue, self.depth);
            if self.lanes.len() < self.fresh.len() as usize {
                self.curtailed.extend(lanes);
            }
            self.note_taken(&queue[..self.lanes.len()]);
            visited?;
        }
        ControlFlow::Continue(())
    }

    /// Judges all lanes; their new successors are fresh then, and it is known which lanes need one of them.
    fn expand_all(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.fresh.clear();
        self.needy.clear();
        self.offered.clear();
        for place in 0..self.lanes.len() {
            if place % BATCH == 0 {
                observer.progress(&self.progress())?;
            }
            let lane = self.lanes[place];
            self.visited.load(lane, &mut self.state);
            self.batch.clear();
            let cut = self.batch.cut;
            self.model.successors(&self.state, &mut self.batch);
            self.stats.transitions += self.batch.len() as u64;
            let stuck = self.batch.is_empty() && self.batch.cut == cut;
            let goals = self.model.judge(&self.state, stuck);
            if !goals.is_empty() {
                self.judge(goals, lane)?;
            }
            if self.depth == self.job.limits.depth {
                let before = self.edge.states;
                self.edge.edge(&self.batch, 0, &mut self.fired, |state| self.visited.contains(state));
                if self.edge.states > before {
                    self.curtailed.push(lane);
                }
            } else {
                self.offer(Some(lane))?;
            }
            self.expanded = place + 1;
        }
        ControlFlow::Continue(())
    }

    /// Records the goals that are new; ends the search at those it was told to end at.
    fn judge(&mut self, goals: GoalSet, id: StateId) -> ControlFlow<Stop> {
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.job.goals) {
            if self.found[goal].is_none() {
                self.found[goal] = Some(id);
                ends |= self.job.stop_at.contains(goal);
            }
        }
        let all = !self.job.keep_going && self.found.iter().all(Option::is_some);
        if ends || all { ControlFlow::Break(Stop::Goal) } else { ControlFlow::Continue(()) }
    }

    /// Adds the states of the batch that were not visited to the fresh ones; a lane that has only such ones is needy.
    fn offer(&mut self, lane: Option<StateId>) -> ControlFlow<Stop> {
        let budget = self.budget().saturating_sub(self.visited.bytes());
        if !self.fresh.reserve(self.batch.len(), budget) {
            return ControlFlow::Break(Stop::Memory);
        }
        let mut is_needy = lane.is_some() && !self.batch.is_empty();
        for i in 0..self.batch.len() {
            let state = self.batch.state(i);
            let transition = self.batch.step(i).transition;
            if self.visited.contains(state) {
                is_needy = false;
                self.fired[transition.index()] = true;
            } else {
                let number = self.fresh.find_or_insert(state, lane).0 as u32;
                self.needy.offer(number);
                if lane.is_some() && !self.fired[transition.index()] {
                    self.offered.push((number, transition.0));
                }
            }
        }
        self.needy.close(is_needy);
        ControlFlow::Continue(())
    }

    /// Visits these of the fresh states: they are the lanes of the next level.
    fn visit(&mut self, queue: &[u32], depth: u32) -> ControlFlow<Stop> {
        for part in queue.chunks(BATCH) {
            let budget = self.budget().saturating_sub(self.fresh.bytes());
            if !self.visited.reserve(part.len(), budget) {
                return ControlFlow::Break(Stop::Memory);
            }
            let mut states = 0;
            for &number in part {
                let number = StateId(u64::from(number));
                self.fresh.load(number, &mut self.state);
                self.lanes.push(self.visited.find_or_insert(&self.state, self.fresh.parent(number)));
                states += u64::from(!self.model.is_fault(&self.state));
            }
            self.count(states, depth);
            if self.stats.states > self.job.limits.states {
                return ControlFlow::Break(Stop::States);
            }
        }
        self.stats.peak_frontier = self.stats.peak_frontier.max(self.lanes.len() as u64);
        ControlFlow::Continue(())
    }

    /// The steps that led to these of the fresh states were taken.
    fn note_taken(&mut self, visited: &[u32]) {
        let mut is_visited = vec![false; self.fresh.len() as usize];
        visited.iter().for_each(|&number| is_visited[number as usize] = true);
        for (number, transition) in self.offered.drain(..) {
            self.fired[transition as usize] |= is_visited[number as usize];
        }
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

    /// Whether everything that was left out was visited later: then the slice is the whole model.
    fn is_closed(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop, bool> {
        if self.start_curtailed {
            self.batch.clear();
            self.model.initial(&mut self.batch);
            if !self.is_batch_visited() {
                return ControlFlow::Continue(false);
            }
        }
        // The newest lanes first: what they left out had the least time to be met again.
        for (place, &lane) in self.curtailed.iter().rev().enumerate() {
            if place % BATCH == 0 {
                observer.progress(&self.progress())?;
            }
            self.visited.load(lane, &mut self.state);
            self.batch.clear();
            self.model.successors(&self.state, &mut self.batch);
            if !self.is_batch_visited() {
                return ControlFlow::Continue(false);
            }
            for step in self.batch.steps(0) {
                self.fired[step.transition.index()] = true;
            }
        }
        ControlFlow::Continue(true)
    }

    /// What was left out: of the lanes from which something was, and of those that wait.
    fn border(&mut self) -> Border {
        let mut survey = Survey::new(self.model, (self.curtailed.len() + self.lanes.len()) as u64);
        let (expanded, waiting) = self.lanes.split_at(self.expanded);
        let expanded = self.curtailed.iter().chain(expanded).map(|lane| (lane, true));
        for (&lane, is_expanded) in expanded.chain(waiting.iter().map(|lane| (lane, false))) {
            if survey.counts() {
                self.visited.load(lane, &mut self.state);
                survey.look_beyond(&self.state, &mut self.fired, |state| is_expanded && self.visited.contains(state));
            }
        }
        survey.border()
    }

    fn is_batch_visited(&self) -> bool {
        (0..self.batch.len()).all(|i| self.visited.contains(self.batch.state(i)))
    }

    /// Bytes for the two sets of states.
    fn budget(&self) -> u64 {
        self.job.limits.counted_memory().saturating_sub(self.list_bytes())
    }

    fn list_bytes(&self) -> u64 {
        let ids = self.lanes.capacity() + self.curtailed.capacity();
        ids as u64 * size_of::<StateId>() as u64 + self.offered.capacity() as u64 * 8 + self.needy.bytes()
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.depth,
            frontier: self.lanes.len() as u64,
            bytes: self.visited.bytes() + self.fresh.bytes() + self.list_bytes(),
        }
    }
}
