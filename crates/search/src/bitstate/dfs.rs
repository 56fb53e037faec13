//! Depth-first search for states in which a goal is true, with a bit array.

use std::ops::ControlFlow;

use birk_engine::{Cutoff, Hunt, HyperLogLog, Job, Model, Observer, Progress, Stats, Successors};
use birk_ir::{Coverage, Outcome, Stop, Trace};

use super::coverage;
use super::path_states::PathStates;
use crate::cutoff::Sample;
use crate::expand::{expand, note_fired};
use crate::liveness::{Path, trace_of};
use crate::store::bloom::{Filter, Spot, key_of};
use crate::store::hash::hash;

/// The observer is asked after so many expansions.
const PATIENCE: u64 = 256;

/// One run.
pub(super) fn hunt_states(
    model: &dyn Model,
    job: &Job,
    filter: Filter,
    seed: u64,
    observer: &mut dyn Observer,
) -> (Hunt, HyperLogLog) {
    let words = model.words();
    let mut search = Search {
        model,
        job,
        filter,
        path: Path::new(),
        kept: PathStates::new(words),
        state: Vec::new(),
        spots: Vec::new(),
        batch: Successors::in_parts(words),
        stats: Stats::default(),
        found: vec![None; job.goals],
        fired: vec![false; model.transitions()],
        sketch: HyperLogLog::default(),
        order: seed,
        edge: Cutoff::new(model.transitions()),
        observer,
    };
    let end = search.run();
    search.stats.cut = search.batch.cut;
    search.stats.store_bytes = search.filter.bytes();
    let (coverage, stopped) = match end {
        ControlFlow::Break(stop) => (Coverage::Partial(search.stats.states), stop),
        ControlFlow::Continue(()) if search.edge.is_open() => (Coverage::Partial(search.stats.states), Stop::Depth),
        ControlFlow::Continue(()) => (coverage(&mut [&mut search.filter]), Stop::Exhausted),
    };
    search.stats.cutoff = match stopped {
        Stop::Exhausted | Stop::Goal => Cutoff::default(),
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
    /// Numbers of states that are kept.
    path: Path<usize>,
    kept: PathStates,
    /// The state that is expanded.
    state: Vec<u32>,
    /// The spots of the batch.
    spots: Vec<Spot>,
    batch: Successors,
    stats: Stats,
    found: Vec<Option<Trace>>,
    fired: Vec<bool>,
    sketch: HyperLogLog,
    order: u64,
    /// The states at the depth limit. Steps to states that were not known then were not taken.
    edge: Cutoff,
    observer: &'a mut dyn Observer,
}

impl Search<'_> {
    fn run(&mut self) -> ControlFlow<Stop> {
        let mut initial = Successors::new(self.model.words());
        self.model.initial(&mut initial);
        for i in 0..initial.len() {
            let root = self.kept.push(initial.state(i), self.filter.spot(key_of(initial.state(i))));
            self.visit(root)?;
            while let Some(&frame) = self.path.top() {
                match self.path.next() {
                    Some(node) => {
                        if let Some(next) = self.path.peek() {
                            self.filter.prefetch(self.kept.spot(next));
                        }
                        self.visit(node)?;
                    }
                    None => {
                        self.path.ascend();
                        self.kept.truncate(frame.mark);
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Expands a state, unless it is known.
    fn visit(&mut self, node: usize) -> ControlFlow<Stop> {
        let spot = self.kept.spot(node);
        if self.filter.contains(spot) {
            return ControlFlow::Continue(());
        }
        self.state.clear();
        self.state.extend_from_slice(self.kept.state(node));
        self.batch.clear();
        let expanded = expand(self.model, &self.state, &mut self.batch);
        if self.batch.has_rest()
            && let ControlFlow::Break(stop) = self.expand_rest()
        {
            self.path.offer(node);
            return ControlFlow::Break(stop);
        }
        let len = self.batch.len();
        self.spots.clear();
        self.spots.extend((0..len).map(|i| self.filter.spot(key_of(self.batch.state(i)))));
        // The blocks of the successors arrive while there is something else to do.
        self.filter.insert(spot);
        let goals = expanded.goals(self.model, &self.state);
        if !self.model.is_fault(&self.state) {
            self.stats.states += 1;
            self.sketch.note(key_of(&self.state));
        }
        self.stats.transitions += len as u64;
        self.path.descend(node, false, self.kept.len());
        let depth = self.path.len() as u32 - 1;
        self.stats.max_depth = self.stats.max_depth.max(depth);
        self.stats.peak_frontier = self.stats.peak_frontier.max(u64::from(depth));
        let start = self.rotation(len);
        if depth >= self.job.limits.depth {
            let is_known = |state: &[u32]| self.filter.contains(self.filter.spot(key_of(state)));
            let is_open = self.edge.edge(&self.batch, 0, &mut self.fired, is_known);
            self.edge.count(is_open);
        } else {
            note_fired(&self.batch, 0, &mut self.fired);
            for i in (start..len).chain(0..start) {
                if !self.filter.contains(self.spots[i]) {
                    self.path.offer(self.kept.push(self.batch.state(i), self.spots[i]));
                }
            }
        }
        if goals.is_empty() {
            return self.ask();
        }
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.job.goals) {
            if self.found[goal].is_none() {
                self.found[goal] = Some(self.trace());
                ends |= self.job.stop_at.contains(goal);
            }
        }
        let all = !self.job.keep_going && self.found.iter().all(Option::is_some);
        if ends || all { ControlFlow::Break(Stop::Goal) } else { self.ask() }
    }

    /// Adds the rest of the successors of a state that has very many.
    #[cold]
    fn expand_rest(&mut self) -> ControlFlow<Stop> {
        let here = self.progress();
        let Self { batch, observer, job, .. } = self;
        batch.append_rest(self.model, &self.state, |bytes| {
            // The batch, its spots, and what is kept of both.
            let bytes = here.bytes + bytes * 4;
            observer.progress(&Progress { bytes, ..here })?;
            if bytes > job.limits.memory { ControlFlow::Break(Stop::Memory) } else { ControlFlow::Continue(()) }
        })
    }

    /// The way to the state that was expanded last.
    fn trace(&self) -> Trace {
        let states: Vec<Vec<u32>> = self.path.nodes().map(|node| self.kept.state(node).to_vec()).collect();
        trace_of(self.model, &states)
    }

    /// What waits when the search is ended early: beside the path, and at the depth limit.
    fn waiting(&self) -> Cutoff {
        let mut waiting = Sample::new();
        self.path.waiting().for_each(|node| waiting.add(hash(self.kept.state(node), 0), node));
        let is_new = |&node: &usize| !self.filter.contains(self.kept.spot(node));
        let mut cutoff = waiting.survey(self.model, is_new, |&node| self.kept.state(node).to_vec());
        cutoff.join(&self.edge);
        cutoff
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
        let progress = self.progress();
        self.observer.progress(&progress)?;
        match self.stats.states > self.job.limits.states {
            true => ControlFlow::Break(Stop::States),
            false if progress.bytes > self.job.limits.memory => ControlFlow::Break(Stop::Memory),
            false => ControlFlow::Continue(()),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.path.len() as u32,
            frontier: self.path.len() as u64,
            bytes: self.filter.bytes() + self.path.bytes() + self.kept.bytes(),
            ..Progress::default()
        }
    }
}
