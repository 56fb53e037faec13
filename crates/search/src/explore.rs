//! The one explore loop: pop, expand, judge, reach, push.
//!
//! A state is judged when it is expanded, because only then is it known to be stuck; so every kind of violation
//! has the same meaning of "nearest". A batch gathers the successors of several states before the store sees them.
//! At the depth limit states are still judged, and the search is complete if nothing new lies beyond them.

use std::ops::ControlFlow;

use birk_exec::{GoalSet, Model, Successors};
use birk_ir::{Coverage, Outcome, StateId, Stop};

use crate::frontier::{Frontier, Node};
use crate::job::{Hunt, Job, Observer, Progress, Stats};
use crate::store::{Arrival, Store};
use crate::trace;

/// Searches until the frontier is empty, a limit is met, or a goal is found at which the search ends.
pub fn explore<S: Store, F: Frontier>(
    model: &dyn Model,
    job: &Job,
    store: S,
    frontier: F,
    observer: &mut dyn Observer,
) -> Hunt {
    let words = model.words();
    let mut search = Search {
        model,
        job,
        store,
        frontier,
        batch: Successors::new(words),
        parents: Vec::new(),
        depths: Vec::new(),
        arrivals: Vec::new(),
        fresh: Vec::new(),
        state: vec![0; words],
        found: vec![None; job.goals],
        expanding: 0,
        beyond_depth: false,
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
    };
    let stopped = match search.run(observer) {
        ControlFlow::Break(stop) => stop,
        ControlFlow::Continue(()) if search.beyond_depth => Stop::Depth,
        ControlFlow::Continue(()) => Stop::Exhausted,
    };
    search.finish(stopped)
}

struct Search<'a, S, F> {
    model: &'a dyn Model,
    job: &'a Job,
    store: S,
    frontier: F,
    batch: Successors,
    /// Where each successor of the batch came from, and the depth it would have.
    parents: Vec<Option<StateId>>,
    depths: Vec<u32>,
    arrivals: Vec<Arrival>,
    fresh: Vec<Node>,
    state: Vec<u32>,
    /// The first state found for each goal.
    found: Vec<Option<StateId>>,
    /// Depth of the state expanded last.
    expanding: u32,
    /// A state at the depth limit has a successor that was not reached.
    beyond_depth: bool,
    stats: Stats,
    fired: Vec<bool>,
}

impl<S: Store, F: Frontier> Search<'_, S, F> {
    fn run(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.parents.resize(self.batch.len(), None);
        self.depths.resize(self.batch.len(), 0);
        self.reach()?;
        while !self.frontier.is_empty() {
            let mut expanded = 0;
            while self.batch.len() < F::BATCH && expanded < F::BATCH {
                let Some(node) = self.frontier.pop() else { break };
                if node.depth == self.job.limits.depth {
                    // Whether anything lies beyond can be told only when the whole last level was reached.
                    self.reach()?;
                }
                self.expand(node)?;
                expanded += 1;
            }
            self.reach()?;
            observer.progress(&self.progress())?;
        }
        ControlFlow::Continue(())
    }

    /// Computes a state's successors into the batch, and judges it.
    fn expand(&mut self, node: Node) -> ControlFlow<Stop> {
        self.expanding = node.depth;
        self.store.load(node.id, &mut self.state);
        let (before, cut) = (self.batch.len(), self.batch.cut);
        self.model.successors(&self.state, &mut self.batch);
        let taken = self.batch.len() - before;
        self.stats.transitions += taken as u64;
        for step in before..self.batch.len() {
            self.fired[self.batch.step(step).transition.index()] = true;
        }
        let stuck = taken == 0 && self.batch.cut == cut;
        let goals = self.model.judge(&self.state, stuck);
        if node.depth == self.job.limits.depth {
            let unseen = |step| !self.store.contains(self.batch.state(step));
            self.beyond_depth |= (before..self.batch.len()).any(unseen);
            self.batch.truncate(before);
        }
        self.parents.resize(self.batch.len(), Some(node.id));
        self.depths.resize(self.batch.len(), node.depth.saturating_add(1));
        if goals.is_empty() { ControlFlow::Continue(()) } else { self.judge(goals, node.id) }
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

    /// Gives the batch to the store, and what is new to the frontier.
    fn reach(&mut self) -> ControlFlow<Stop> {
        let budget = self.job.limits.memory.saturating_sub(self.frontier.bytes());
        if !self.store.reserve(self.batch.len(), budget) {
            return ControlFlow::Break(Stop::Memory);
        }
        self.arrivals.clear();
        self.store.insert(&self.batch, &self.parents, &mut self.arrivals);
        self.fresh.clear();
        for (i, arrival) in self.arrivals.iter().enumerate() {
            let Arrival::New(id) = *arrival else { continue };
            let depth = self.depths[i];
            self.fresh.push(Node { id, depth });
            if !self.model.is_fault(self.batch.state(i)) {
                self.stats.states += 1;
                self.stats.max_depth = self.stats.max_depth.max(depth);
                if F::BY_DEPTH {
                    self.stats.levels.resize(self.stats.levels.len().max(depth as usize + 1), 0);
                    self.stats.levels[depth as usize] += 1;
                }
            }
        }
        self.frontier.push_all(&self.fresh);
        self.stats.peak_frontier = self.stats.peak_frontier.max(self.frontier.len() as u64);
        self.batch.clear();
        self.parents.clear();
        self.depths.clear();
        let full = self.stats.states > self.job.limits.states;
        if full { ControlFlow::Break(Stop::States) } else { ControlFlow::Continue(()) }
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.expanding,
            frontier: self.frontier.len() as u64,
            bytes: self.store.bytes() + self.frontier.bytes(),
        }
    }

    fn finish(mut self, stopped: Stop) -> Hunt {
        self.stats.cut = self.batch.cut;
        self.stats.store_bytes = self.store.bytes();
        let coverage = self.coverage(stopped);
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |id: &Option<StateId>| match *id {
            Some(id) => Outcome::Found(trace::rebuild(self.model, &self.store, id)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired }
    }

    /// What was looked at. By depth, everything before the level being expanded was judged, and, at the depth
    /// limit, that level too.
    fn coverage(&self, stopped: Stop) -> Coverage {
        match (stopped, self.expanding) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (Stop::Depth, depth) if F::BY_DEPTH => Coverage::Depth(depth),
            (_, depth @ 1..) if F::BY_DEPTH => Coverage::Depth(depth - 1),
            _ => Coverage::Sampled(self.stats.states),
        }
    }
}
