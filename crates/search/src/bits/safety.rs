//! Depth-first search for states in which a goal is true, with a field of bits.

use std::ops::ControlFlow;

use birk_exec::{Model, Successors};
use birk_ir::{Coverage, Outcome, Stop, Trace};

use super::sketch::Sketch;
use super::{Filter, coverage};
use crate::border::{Border, Survey};
use crate::cycle::{Path, trace_of};
use crate::job::{Hunt, Job, Observer, Progress, Stats};

/// The observer is asked after so many expansions.
const PATIENCE: u64 = 256;

/// One run.
pub fn hunt_states(
    model: &dyn Model,
    job: &Job,
    filter: Filter,
    seed: u64,
    observer: &mut dyn Observer,
) -> (Hunt, Sketch) {
    let words = model.words();
    let mut search = Search {
        model,
        job,
        filter,
        path: Path::new(words),
        keys: Vec::new(),
        batch: Successors::new(words),
        stats: Stats::default(),
        found: vec![None; job.goals],
        fired: vec![false; model.transitions()],
        sketch: Sketch::default(),
        order: seed,
        edge: Border::new(model.transitions()),
        observer,
    };
    let end = search.run();
    search.stats.cut = search.batch.cut;
    search.stats.store_bytes = search.filter.bytes();
    let (coverage, stopped) = match end {
        ControlFlow::Break(stop) => (Coverage::Sampled(search.stats.states), stop),
        ControlFlow::Continue(()) if search.edge.is_open() => (Coverage::Sampled(search.stats.states), Stop::Depth),
        ControlFlow::Continue(()) => (coverage(&[&search.filter]), Stop::Exhausted),
    };
    search.stats.border = match stopped {
        Stop::Exhausted | Stop::Goal => Border::default(),
        Stop::Depth => search.edge,
        _ => search.waiting(),
    };
    let outcome = |found: Option<Trace>| found.map_or(Outcome::Inconclusive, Outcome::Found);
    let outcomes = search.found.into_iter().map(outcome).collect();
    (Hunt { outcomes, coverage, stopped, stats: search.stats, fired: search.fired }, search.sketch)
}

struct Search<'a> {
    model: &'a dyn Model,
    job: &'a Job,
    filter: Filter,
    path: Path<(u64, u64)>,
    /// The keys of the batch.
    keys: Vec<(u64, u64)>,
    batch: Successors,
    stats: Stats,
    found: Vec<Option<Trace>>,
    fired: Vec<bool>,
    sketch: Sketch,
    order: u64,
    /// The states at the depth limit. Steps to states that were not known then were not taken.
    edge: Border,
    observer: &'a mut dyn Observer,
}

impl Search<'_> {
    fn run(&mut self) -> ControlFlow<Stop> {
        let mut initial = Successors::new(self.model.words());
        self.model.initial(&mut initial);
        for i in 0..initial.len() {
            let key = self.filter.key(initial.state(i));
            if self.filter.contains(key) {
                continue;
            }
            self.filter.insert(key);
            let root = self.path.root(initial.state(i), key);
            self.enter(root)?;
            while self.path.top().is_some() {
                match self.path.next() {
                    None => _ = self.path.ascend(),
                    Some(place) => {
                        let key = self.path.key(place);
                        if !self.filter.contains(key) {
                            self.filter.insert(key);
                            self.enter(place)?;
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, place: usize) -> ControlFlow<Stop> {
        let state = self.path.state(place);
        self.batch.clear();
        let cut = self.batch.cut;
        self.model.successors(state, &mut self.batch);
        let stuck = self.batch.is_empty() && self.batch.cut == cut;
        let goals = self.model.judge(state, stuck);
        if !self.model.is_fault(state) {
            self.stats.states += 1;
            self.sketch.note(state);
        }
        self.stats.transitions += self.batch.len() as u64;
        self.path.descend(place, false);
        let depth = self.path.len() as u32 - 1;
        self.stats.max_depth = self.stats.max_depth.max(depth);
        self.stats.peak_frontier = self.stats.peak_frontier.max(u64::from(depth));
        let len = self.batch.len();
        let start = self.rotation(len);
        self.keys.clear();
        self.keys.extend((0..len).map(|i| self.filter.key(self.batch.state(i))));
        self.keys.iter().for_each(|&key| self.filter.announce(key));
        if depth >= self.job.limits.depth {
            let is_known = |state: &[u32]| self.filter.contains(self.filter.key(state));
            self.edge.edge(&self.batch, 0, &mut self.fired, is_known);
        } else {
            for i in (0..len).map(|i| (start + i) % len) {
                self.fired[self.batch.step(i).transition.index()] = true;
                if !self.filter.contains(self.keys[i]) {
                    self.path.offer(self.batch.state(i), self.keys[i]);
                }
            }
        }
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.job.goals) {
            if self.found[goal].is_none() {
                self.found[goal] = Some(trace_of(self.model, &self.path.trail()));
                ends |= self.job.stop_at.contains(goal);
            }
        }
        let all = !goals.is_empty() && !self.job.keep_going && self.found.iter().all(Option::is_some);
        if ends || all { ControlFlow::Break(Stop::Goal) } else { self.ask() }
    }

    /// What waits when the search is ended early: beside the path, and at the depth limit.
    fn waiting(&self) -> Border {
        let waiting = self.path.waiting(|key, _| !self.filter.contains(key));
        let mut survey = Survey::new(self.model, waiting.len() as u64);
        waiting.iter().for_each(|state| survey.wait(state));
        let mut border = survey.border();
        border.join(&self.edge);
        border
    }

    /// Where to begin in a list of successors: at its beginning with seed 0, else anywhere.
    fn rotation(&mut self, len: usize) -> usize {
        if self.order == 0 || len == 0 {
            return 0;
        }
        self.order = self.order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.order >> 33) as usize % len
    }

    fn ask(&mut self) -> ControlFlow<Stop> {
        if !self.stats.states.is_multiple_of(PATIENCE) {
            return ControlFlow::Continue(());
        }
        let bytes = self.filter.bytes() + self.path.bytes();
        let progress = Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.path.len() as u32,
            frontier: self.path.len() as u64,
            bytes,
        };
        self.observer.progress(&progress)?;
        match self.stats.states > self.job.limits.states {
            true => ControlFlow::Break(Stop::States),
            false if bytes > self.job.limits.memory => ControlFlow::Break(Stop::Memory),
            false => ControlFlow::Continue(()),
        }
    }
}
