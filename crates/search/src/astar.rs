//! A*: of the states that wait, the one whose steps so far and estimated steps to a goal are fewest is expanded next.
//!
//! The estimate is the model's. It is consistent: no step lowers it by more than 1. So a state that is expanded was
//! reached by a shortest path, and so is the first state that is found for a goal, because goals are looked for
//! where states are expanded, not where they are reached. States from which no goal can be reached come last. With a weight above
//! 1 the estimate counts more than the steps taken: a goal is found sooner, by a path of at most so many times the shortest.
//! No codec is chosen: marks, parents and the open list need the numbers of an exact store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use birk_engine::{Cutoff, EngineOption, Hunt, Job, Kind, Model, NEVER, Observer, Progress, Stats, Successors, Value};
use birk_ir::{Coverage, Outcome, StateId, Stop};

use crate::cutoff::Survey;
use crate::expand::{expand, note_fired};
use crate::overhead::Overhead;
use crate::store::Store;
use crate::store::exact::ExactStore;
use crate::trace;

/// After so many expansions the observer is asked.
const BATCH: u64 = 256;
/// Bytes for a state beside the store: its mark, and its places among those that wait.
const MARK_BYTES: u64 = (size_of::<Mark>() + 2 * size_of::<u32>()) as u64;

/// How much the heuristic counts against the steps taken.
pub const WEIGHT: EngineOption = EngineOption {
    name: "weight",
    kind: Kind::Number(1, u32::MAX as u64),
    default: Some(Value::Number(1)),
    help: "multiply the heuristic estimate; above 1, traces may be longer than the shortest",
    excludes: &[],
    keeps_shortest: false,
};

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Steps by the shortest path so far.
    steps: u32,
    /// Estimated steps to a goal.
    estimate: u32,
    is_expanded: bool,
}

/// Searches until nothing waits, a limit is met, or a goal is found at which the search ends.
pub fn astar(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    let words = model.words();
    let mut search = Search {
        model,
        job,
        weight: WEIGHT.number(&job.options).unwrap_or(1),
        store: ExactStore::new(words),
        marks: Vec::new(),
        open: BTreeMap::new(),
        waiting: 0,
        at_limit: Vec::new(),
        batch: Successors::in_parts(words),
        state: vec![0; words],
        room: Vec::new(),
        found: vec![None; job.goals],
        overhead: Overhead::default(),
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
    };
    let flow = search.run(observer);
    let stopped = search.stats.cutoff.ends(flow);
    search.finish(stopped)
}

struct Search<'a> {
    model: &'a dyn Model,
    job: &'a Job,
    weight: u64,
    store: ExactStore,
    marks: Vec<Mark>,
    /// Those that wait, by the length of the whole way and then by what of it is still ahead. A state to which a
    /// shorter way was found stands here again, and its older place is passed over.
    open: BTreeMap<(u64, u32), Vec<u32>>,
    waiting: u64,
    /// States at the depth limit: evaluated, but not gone on from.
    at_limit: Vec<u32>,
    batch: Successors,
    state: Vec<u32>,
    room: Vec<u32>,
    /// The first state found for each goal.
    found: Vec<Option<StateId>>,
    overhead: Overhead,
    stats: Stats,
    fired: Vec<bool>,
}

impl Search<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.find_or_insert(None, 0, observer)?;
        let mut expanded = 0u64;
        while let Some((state, depth)) = self.pop() {
            self.expand(state, depth, observer)?;
            expanded += 1;
            if expanded.is_multiple_of(BATCH) {
                observer.progress(&self.progress(depth))?;
            }
        }
        self.close(observer)
    }

    /// Whether anything lies beyond the depth limit can be told only when everything within it was reached.
    fn close(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let mut cutoff = Cutoff::new(self.model.transitions());
        let cut = self.batch.cut;
        for place in 0..self.at_limit.len() {
            if (place as u64).is_multiple_of(BATCH) {
                observer.progress(&self.progress(self.job.limits.depth))?;
            }
            self.store.load(StateId(u64::from(self.at_limit[place])), &mut self.state);
            let Self { model, batch, state, fired, store, .. } = self;
            cutoff.edge_of((*model, batch, state), fired, |state| store.contains(state));
        }
        self.batch.clear();
        self.batch.cut = cut;
        self.stats.cutoff = cutoff;
        ControlFlow::Continue(())
    }

    /// The state that seems best, and its depth.
    fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            let mut best = self.open.first_entry()?;
            let (length, estimate) = *best.key();
            let Some(state) = best.get_mut().pop() else {
                best.remove();
                continue;
            };
            let mark = &mut self.marks[state as usize];
            if !mark.is_expanded && Self::length(self.weight, mark.steps, estimate) == length {
                mark.is_expanded = true;
                self.waiting -= 1;
                return Some((state, mark.steps));
            }
        }
    }

    fn expand(&mut self, id: u32, depth: u32, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.store.load(StateId(u64::from(id)), &mut self.state);
        self.batch.clear();
        let goals = expand(self.model, &self.state, &mut self.batch).goals(self.model, &self.state);
        if !self.model.is_fault(&self.state) {
            self.stats.max_depth = self.stats.max_depth.max(depth);
        }
        if depth == self.job.limits.depth {
            self.at_limit.push(id);
        }
        let found = self.job.record(goals, &mut self.found, || StateId(u64::from(id)));
        loop {
            self.stats.transitions += self.batch.len() as u64;
            if depth == self.job.limits.depth {
                self.batch.clear();
            }
            note_fired(&self.batch, 0, &mut self.fired);
            let flow = if found.is_continue() { self.insert_part(id, depth, observer) } else { found };
            if !self.batch.has_rest() {
                return flow;
            }
            if flow.is_break() && found.is_continue() {
                // It waits again: not all of its steps were taken.
                self.batch.take_rest();
                self.marks[id as usize].is_expanded = false;
                self.waiting += 1;
                return flow;
            }
            self.batch.clear();
            self.model.successors(&self.state, &mut self.batch);
        }
    }

    /// Takes the batch, successors of a state at this depth; if it is not the last part, asks whether to go on.
    fn insert_part(&mut self, id: u32, depth: u32, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.find_or_insert(Some(id), depth.saturating_add(1), observer)?;
        if self.batch.has_rest() { observer.progress(&self.progress(depth)) } else { ControlFlow::Continue(()) }
    }

    /// Takes the batch: what is new waits, and so does again what was reached by a shorter way than before. As much as the batch
    /// takes is left to look at what waits in the end.
    fn find_or_insert(&mut self, parent: Option<u32>, depth: u32, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let overhead = self.overhead.at(self.bytes(), &self.job.limits, observer);
        let beside = (self.store.len() + self.batch.len() as u64) * MARK_BYTES + overhead + self.batch.bytes();
        if !self.store.reserve(self.batch.len(), self.job.limits.memory.saturating_sub(beside)) {
            return ControlFlow::Break(Stop::Memory);
        }
        for index in 0..self.batch.len() {
            let state = self.batch.state(index);
            let id = self.store.find_or_insert(state, parent.map(|parent| StateId(u64::from(parent)))).0 as u32;
            if id as usize == self.marks.len() {
                let estimate = self.model.estimate(state, &mut self.room);
                self.marks.push(Mark { steps: depth, estimate, is_expanded: false });
                self.stats.states += u64::from(!self.model.is_fault(state));
                self.waiting += 1;
            } else {
                let mark = &mut self.marks[id as usize];
                if mark.is_expanded || mark.steps <= depth {
                    continue;
                }
                mark.steps = depth;
                let parent = parent.expect("an initial state has depth 0, the least there is");
                self.store.set_parent(StateId(u64::from(id)), StateId(u64::from(parent)));
            }
            let estimate = self.marks[id as usize].estimate;
            self.open.entry((Self::length(self.weight, depth, estimate), estimate)).or_default().push(id);
        }
        self.batch.clear();
        self.stats.peak_frontier = self.stats.peak_frontier.max(self.waiting);
        let is_full = self.stats.states > self.job.limits.states;
        if is_full { ControlFlow::Break(Stop::States) } else { ControlFlow::Continue(()) }
    }

    /// What waits when a search is ended early; what is left of the batch had no room in the store.
    fn waiting(&mut self) -> Cutoff {
        let mut survey = Survey::new(self.model, self.waiting + self.at_limit.len() as u64);
        (0..self.batch.len()).for_each(|i| survey.wait(self.batch.state(i)));
        let waits = |&id: &u32| !self.marks[id as usize].is_expanded;
        let waiting = (0..self.marks.len() as u32).filter(waits);
        for id in waiting.chain(self.at_limit.iter().copied()) {
            if survey.counts() {
                self.store.load(StateId(u64::from(id)), &mut self.state);
                survey.look(&self.state);
            }
        }
        survey.cutoff()
    }

    /// How many states were expanded at each depth, where that is their distance.
    fn levels(&mut self) -> Vec<u64> {
        let mut levels = Vec::new();
        for id in 0..self.marks.len() {
            let mark = self.marks[id];
            self.store.load(StateId(id as u64), &mut self.state);
            if mark.is_expanded && !self.model.is_fault(&self.state) {
                levels.resize(levels.len().max(mark.steps as usize + 1), 0);
                levels[mark.steps as usize] += 1;
            }
        }
        levels
    }

    /// The length of a path of which so much is behind and so much, by the estimate, ahead.
    fn length(weight: u64, steps: u32, estimate: u32) -> u64 {
        // Beyond every path that leads to a goal.
        const NO_WAY: u64 = u64::MAX / 2;
        match estimate {
            NEVER => NO_WAY + u64::from(steps),
            estimate => u64::from(steps) + u64::from(estimate) * weight,
        }
    }

    fn bytes(&self) -> u64 {
        self.store.bytes() + self.marks.len() as u64 * MARK_BYTES
    }

    fn progress(&self, depth: u32) -> Progress {
        Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth,
            frontier: self.waiting,
            bytes: self.bytes(),
            ..Progress::default()
        }
    }

    fn finish(mut self, stopped: Stop) -> Hunt {
        self.stats.cut = self.batch.cut;
        self.stats.store_bytes = self.bytes();
        self.stats.levels = self.levels();
        if !matches!(stopped, Stop::Exhausted | Stop::Depth | Stop::Goal) {
            self.stats.cutoff = self.waiting();
        }
        let coverage = match stopped {
            Stop::Exhausted => Coverage::Complete,
            // A weighted search may have come to a state by a detour, and not have gone on from it for that.
            Stop::Depth if self.weight <= 1 => Coverage::Depth(self.job.limits.depth),
            _ => Coverage::Partial(self.stats.states),
        };
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |id: &Option<StateId>| match *id {
            Some(id) => Outcome::Found(trace::rebuild(self.model, &self.store, id)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired }
    }
}
