//! Depth-first search in one plain loop: pop, expand, evaluate, insert, push. The frontier decides the order: with a queue instead
//! of a stack it is breadth-first, which tests compare the engines with.
//!
//! A state is evaluated when it is expanded, because only then is it known to be stuck; so every kind of violation
//! has the same meaning of "nearest". A batch gathers the successors of several states before the store sees them.
//! At the depth limit states are still evaluated, and the search is complete if nothing lies beyond them in the end.
//! No codec is chosen: a store gives states numbers, by which the frontier and the parents know them.

use std::ops::ControlFlow;

use birk_engine::{Cutoff, Hunt, Job, Model, Observer, Progress, Stats, Successors};
use birk_ir::{Coverage, Outcome, StateId, Stop};

use crate::cutoff::Survey;
use crate::expand::{expand, note_fired};
use crate::frontier::{Frontier, Node};
use crate::overhead::Overhead;
use crate::store::{Arrival, Store};
use crate::trace;

/// At the end, the observer is asked after so many expansions.
const PATIENCE: usize = 256;

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
        batch: Successors::in_parts(words),
        parents: Vec::new(),
        depths: Vec::new(),
        arrivals: Vec::new(),
        fresh: Vec::new(),
        state: vec![0; words],
        found: vec![None; job.goals],
        expanding: 0,
        edge: Vec::new(),
        overhead: Overhead::default(),
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
    };
    let flow = search.run(observer);
    let stopped = search.stats.cutoff.ends(flow);
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
    /// The states at the depth limit.
    edge: Vec<StateId>,
    overhead: Overhead,
    stats: Stats,
    fired: Vec<bool>,
}

impl<S: Store, F: Frontier> Search<'_, S, F> {
    fn run(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.parents.resize(self.batch.len(), None);
        self.depths.resize(self.batch.len(), 0);
        self.insert_and_push(observer)?;
        while !self.frontier.is_empty() {
            let mut expanded = 0;
            while self.batch.len() < F::BATCH && expanded < F::BATCH {
                let Some(node) = self.frontier.pop() else { break };
                self.expand(node, observer)?;
                expanded += 1;
            }
            self.insert_and_push(observer)?;
            observer.progress(&self.progress())?;
        }
        self.close(observer)
    }

    /// Whether anything lies beyond the depth limit can be told only when everything within it was reached.
    fn close(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let mut cutoff = Cutoff::new(self.model.transitions());
        let cut = self.batch.cut;
        for place in 0..self.edge.len() {
            if place % PATIENCE == 0 {
                observer.progress(&self.progress())?;
            }
            self.store.load(self.edge[place], &mut self.state);
            let Self { model, batch, state, fired, store, .. } = self;
            cutoff.edge_of((*model, batch, state), fired, |state| store.contains(state));
        }
        self.batch.clear();
        self.batch.cut = cut;
        self.stats.cutoff = cutoff;
        ControlFlow::Continue(())
    }

    /// Computes a state's successors into the batch, and evaluates it. Where they come in parts, all but the last are inserted
    /// at once; what is new waits until all of them were.
    fn expand(&mut self, node: Node, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.expanding = node.depth;
        self.store.load(node.id, &mut self.state);
        let expanded = expand(self.model, &self.state, &mut self.batch);
        let (mut before, goals) = (expanded.from, expanded.goals(self.model, &self.state));
        let found = self.job.record(goals, &mut self.found, || node.id);
        let at_limit = node.depth == self.job.limits.depth;
        if at_limit {
            self.edge.push(node.id);
        }
        loop {
            self.stats.transitions += (self.batch.len() - before) as u64;
            if at_limit {
                self.batch.truncate(before);
            }
            note_fired(&self.batch, before, &mut self.fired);
            self.parents.resize(self.batch.len(), Some(node.id));
            self.depths.resize(self.batch.len(), node.depth.saturating_add(1));
            if !self.batch.has_rest() {
                return found;
            }
            if let ControlFlow::Break(stop) = self.insert_part(found, observer) {
                // Not all of its steps were taken: it waits.
                self.batch.take_rest();
                self.fresh.push(node);
                self.push();
                return ControlFlow::Break(stop);
            }
            before = self.batch.len();
            self.model.successors(&self.state, &mut self.batch);
        }
    }

    /// Gives a part of a state's successors to the store, unless the search has found its end, and asks whether to go on.
    #[cold]
    fn insert_part(&mut self, found: ControlFlow<Stop>, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        if found.is_break() {
            self.empty();
            return ControlFlow::Continue(());
        }
        self.insert(observer)?;
        observer.progress(&self.progress())
    }

    /// Gives the batch to the store, and what is new to the frontier.
    fn insert_and_push(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let flow = self.insert(observer);
        self.push();
        flow
    }

    /// Gives the batch to the store. As much as the batch takes is left to look at what waits in the end.
    fn insert(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let (limits, waiting) = (&self.job.limits, self.waiting_bytes());
        let overhead = self.overhead.at(self.store.bytes() + waiting, limits, observer);
        let budget = limits.memory.saturating_sub(waiting + overhead + self.batch.bytes());
        if !self.store.reserve(self.batch.len(), budget) {
            return ControlFlow::Break(Stop::Memory);
        }
        self.arrivals.clear();
        self.store.insert(&self.batch, &self.parents, &mut self.arrivals);
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
        self.empty();
        let full = self.stats.states > self.job.limits.states;
        if full { ControlFlow::Break(Stop::States) } else { ControlFlow::Continue(()) }
    }

    /// Gives what is new to the frontier.
    fn push(&mut self) {
        self.frontier.push_all(&self.fresh);
        self.fresh.clear();
        self.stats.peak_frontier = self.stats.peak_frontier.max(self.frontier.len() as u64);
    }

    fn empty(&mut self) {
        self.batch.clear();
        self.parents.clear();
        self.depths.clear();
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.expanding,
            frontier: self.frontier.len() as u64,
            bytes: self.store.bytes() + self.waiting_bytes(),
            ..Progress::default()
        }
    }

    fn waiting_bytes(&self) -> u64 {
        let (edge, fresh) = (self.edge.capacity() * size_of::<StateId>(), self.fresh.capacity() * size_of::<Node>());
        self.frontier.bytes() + (edge + fresh) as u64
    }

    /// What waits when a search is ended early; what is left of the batch had no room in the store.
    fn waiting(&mut self) -> Cutoff {
        let waiting = self.batch.len() + self.edge.len() + self.frontier.len();
        let mut survey = Survey::new(self.model, waiting as u64);
        (0..self.batch.len()).for_each(|i| survey.wait(self.batch.state(i)));
        let frontier = std::iter::from_fn(|| self.frontier.pop());
        for id in frontier.map(|node| node.id).chain(self.edge.iter().copied()) {
            if survey.counts() {
                self.store.load(id, &mut self.state);
                survey.look(&self.state);
            }
        }
        survey.cutoff()
    }

    fn finish(mut self, stopped: Stop) -> Hunt {
        self.stats.cut = self.batch.cut;
        self.stats.store_bytes = self.store.bytes();
        if !matches!(stopped, Stop::Exhausted | Stop::Depth | Stop::Goal) {
            self.stats.cutoff = self.waiting();
        }
        let coverage = self.coverage(stopped);
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |id: &Option<StateId>| match *id {
            Some(id) => Outcome::Found(trace::rebuild(self.model, &self.store, id)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired }
    }

    /// What was examined. By depth, everything before the level being expanded was evaluated, and, at the depth
    /// limit, that level too.
    fn coverage(&self, stopped: Stop) -> Coverage {
        match (stopped, self.expanding) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (Stop::Depth, depth) if F::BY_DEPTH => Coverage::Depth(depth),
            (_, depth @ 1..) if F::BY_DEPTH => Coverage::Depth(depth - 1),
            _ => Coverage::Partial(self.stats.states),
        }
    }
}
