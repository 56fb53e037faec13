//! The explicit graph: states numbered breadth-first, edges in compressed rows, forwards and backwards.
//! No codec is chosen: edges and sets of states need the numbers of an exact store.

use std::ops::ControlFlow;

use birk_engine::{Hunt, Limits, Model, Observer, Progress, Stats, Successors};
use birk_ir::{Coverage, StateId, Stop, TransitionId};

use super::states::StateSet;
use crate::expand::expand;
use crate::store::Store;
use crate::store::exact::ExactStore;

/// After so many expansions the observer is asked.
const BATCH: usize = 256;
/// And after so many edges or states that are only examined.
const MANY: usize = 1 << 14;

/// What is to be known of the states and edges of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// How many goals of the model are propositions.
    pub propositions: usize,
    /// Which transition an edge is a step of.
    pub labels: bool,
    /// Bytes for each state that are left for what comes later.
    pub spare: u64,
}

/// Edges that begin, or end, in a state.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Where the edges of each state begin, and where those of the last one end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Of what each is a step, if that was asked for.
    labels: Vec<TransitionId>,
}

impl Rows {
    /// The other ends of a state's edges, with their labels.
    pub(crate) fn of(&self, state: u32) -> impl Iterator<Item = (u32, Option<TransitionId>)> + '_ {
        let row = self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize;
        row.map(|edge| (self.ends[edge], self.labels.get(edge).copied()))
    }

    /// The other end of one of a state's edges.
    pub(crate) fn end(&self, state: u32, edge: usize) -> Option<u32> {
        let mut row = self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize;
        row.nth(edge).map(|edge| self.ends[edge])
    }

    pub(crate) fn count(&self, state: u32) -> u32 {
        self.starts[state as usize + 1] - self.starts[state as usize]
    }

    /// The same edges from their other ends; now and then it is asked whether to go on.
    fn reversed(&self, states: u32, ask: &mut dyn FnMut() -> ControlFlow<Stop>) -> ControlFlow<Stop, Self> {
        let mut starts = vec![0u32; states as usize + 1];
        for ends in self.ends.chunks(MANY) {
            ask()?;
            ends.iter().for_each(|&end| starts[end as usize + 1] += 1);
        }
        for at in 0..states as usize {
            starts[at + 1] += starts[at];
        }
        let mut places = starts.clone();
        let mut ends = vec![0; self.ends.len()];
        let mut labels = vec![TransitionId(0); self.labels.len()];
        for state in 0..states {
            if (state as usize).is_multiple_of(MANY) {
                ask()?;
            }
            for (end, label) in self.of(state) {
                let place = places[end as usize] as usize;
                places[end as usize] += 1;
                ends[place] = state;
                if let Some(label) = label {
                    labels[place] = label;
                }
            }
        }
        ControlFlow::Continue(Self { starts, ends, labels })
    }
}

/// What was found of a model: all of it, or a part.
#[derive(Debug)]
pub struct Graph {
    store: ExactStore,
    initial: Vec<u32>,
    forwards: Rows,
    backwards: Rows,
    /// States with the steps in them that go wrong, if labels were asked for.
    wrong: Vec<(u32, TransitionId)>,
    /// States without any step, taken or cut.
    stuck: StateSet,
    /// For each proposition, where it is true.
    propositions: Vec<StateSet>,
    transitions: usize,
    is_complete: bool,
    /// The propositions and the edges backwards are known.
    is_evaluated: bool,
    /// How the search stood when it ended.
    last: Progress,
}

impl Graph {
    /// Explores a model breadth-first, as far as the limits let it. What the hunt tells is about states only; a step
    /// into a fault is counted, and is no edge.
    pub fn explore(model: &dyn Model, needs: Needs, limits: &Limits, observer: &mut dyn Observer) -> (Self, Hunt) {
        let words = model.words();
        let mut search = Search {
            model,
            needs,
            limits,
            graph: Graph {
                store: ExactStore::new(words),
                initial: Vec::new(),
                forwards: Rows { starts: vec![0], ..Rows::default() },
                backwards: Rows::default(),
                wrong: Vec::new(),
                stuck: StateSet::default(),
                propositions: vec![StateSet::default(); needs.propositions],
                transitions: model.transitions(),
                is_complete: false,
                is_evaluated: false,
                last: Progress::default(),
            },
            batch: Successors::in_parts(words),
            state: vec![0; words],
            stats: Stats::default(),
            fired: vec![false; model.transitions()],
            depth: 0,
            level_end: 0,
        };
        let end = search.run(observer);
        search.finish(end)
    }

    /// Finds where the propositions are true, which the model evaluates, and the edges backwards, unless they are known.
    pub(crate) fn evaluate(&mut self, model: &dyn Model, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        if self.is_evaluated {
            return ControlFlow::Continue(());
        }
        let (states, last) = (self.len(), self.last);
        self.propositions.fill(StateSet::new(states, false));
        let mut state = vec![0; self.store.words()];
        for number in 0..states {
            if (number as usize).is_multiple_of(BATCH) {
                observer.progress(&last)?;
            }
            self.store.load(StateId(u64::from(number)), &mut state);
            let goals = model.evaluate(&state, self.stuck.contains(number));
            for goal in goals.iter() {
                if let Some(set) = self.propositions.get_mut(goal) {
                    set.put(number, true);
                }
            }
        }
        self.backwards = self.forwards.reversed(states, &mut || observer.progress(&last))?;
        self.is_evaluated = true;
        ControlFlow::Continue(())
    }

    /// Whether it has every state and every step.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The graph is only a part of what is asked about, although nothing of the model was left out.
    pub fn is_of_part(&mut self) {
        self.is_complete = false;
    }

    /// How many states there are.
    pub fn len(&self) -> u32 {
        self.store.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    pub(crate) fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// How the search stood when it ended.
    pub(crate) fn last(&self) -> &Progress {
        &self.last
    }

    pub(crate) fn transitions(&self) -> usize {
        self.transitions
    }

    pub(crate) fn forwards(&self) -> &Rows {
        &self.forwards
    }

    pub(crate) fn backwards(&self) -> &Rows {
        &self.backwards
    }

    /// Whether some of these transitions can be taken in a state, wherever that leads.
    pub(crate) fn is_possible(&self, of: &[bool], state: u32) -> bool {
        let first = self.wrong.partition_point(|&(other, _)| other < state);
        let mut wrong = self.wrong[first..].iter().take_while(|&&(other, _)| other == state).map(|(_, label)| *label);
        let mut right = self.forwards.of(state).filter_map(|(_, label)| label);
        right.any(|label| of[label.index()]) || wrong.any(|label| of[label.index()])
    }

    pub(crate) fn is_stuck(&self, state: u32) -> bool {
        self.stuck.contains(state)
    }

    pub(crate) fn proposition(&self, index: usize) -> &StateSet {
        &self.propositions[index]
    }

    pub(crate) fn load(&self, state: u32) -> Vec<u32> {
        let mut words = vec![0; self.store.words()];
        self.store.load(StateId(u64::from(state)), &mut words);
        words
    }
}

struct Search<'a> {
    model: &'a dyn Model,
    needs: Needs,
    limits: &'a Limits,
    graph: Graph,
    batch: Successors,
    state: Vec<u32>,
    stats: Stats,
    fired: Vec<bool>,
    /// Of the state that is expanded next.
    depth: u32,
    /// The first state that is deeper.
    level_end: u64,
}

impl Search<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.reserve()?;
        for i in 0..self.batch.len() {
            let number = self.graph.store.find_or_insert(self.batch.state(i), None).0 as u32;
            if !self.graph.initial.contains(&number) {
                self.graph.initial.push(number);
            }
        }
        self.level_end = self.graph.store.len();
        self.stats.levels.push(self.level_end);
        let mut next = 0;
        while next < self.graph.store.len() {
            if next % BATCH as u64 == 0 {
                observer.progress(&self.progress(next))?;
            }
            if next == self.level_end {
                self.depth += 1;
                self.stats.levels.push(self.graph.store.len() - self.level_end);
                self.level_end = self.graph.store.len();
            }
            if self.depth == self.limits.depth && self.leads_on(next as u32) {
                return ControlFlow::Break(Stop::Depth);
            }
            self.expand(next as u32, observer)?;
            next += 1;
        }
        ControlFlow::Continue(())
    }

    /// Whether a state has a successor that was not found before.
    fn leads_on(&mut self, number: u32) -> bool {
        self.graph.store.load(StateId(u64::from(number)), &mut self.state);
        let cut = self.batch.cut;
        let Self { model, batch, graph, .. } = self;
        let is_new = |_, state: &[u32]| !model.is_fault(state) && !graph.store.contains(state);
        let leads_on = batch.find(*model, &self.state, is_new).is_some();
        // It was only asked, and is not expanded yet.
        self.batch.cut = cut;
        leads_on
    }

    fn expand(&mut self, number: u32, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        self.graph.store.load(StateId(u64::from(number)), &mut self.state);
        self.batch.clear();
        let expanded = expand(self.model, &self.state, &mut self.batch);
        let (edges, wrong) = (self.graph.forwards.ends.len(), self.graph.wrong.len());
        self.graph.stuck.extend_to(number + 1);
        self.graph.stuck.put(number, expanded.is_stuck);
        let mut flow = self.take(number);
        while self.batch.has_rest() && flow.is_continue() {
            flow = observer.progress(&self.progress(u64::from(number)));
            if flow.is_continue() {
                self.batch.clear();
                self.model.successors(&self.state, &mut self.batch);
                flow = self.take(number);
            }
        }
        if self.batch.take_rest().is_some() || flow == ControlFlow::Break(Stop::Memory) {
            // Not all of its edges are known, so that it has none: it waits.
            self.graph.forwards.ends.truncate(edges);
            self.graph.forwards.labels.truncate(edges);
            self.graph.wrong.truncate(wrong);
            return flow;
        }
        self.graph.forwards.starts.push(self.graph.forwards.ends.len() as u32);
        flow
    }

    /// Takes the batch, successors of a state.
    fn take(&mut self, number: u32) -> ControlFlow<Stop> {
        self.reserve()?;
        let edges = self.graph.forwards.ends.len() + self.batch.len();
        if u32::try_from(edges).is_err() {
            return ControlFlow::Break(Stop::Memory);
        }
        self.stats.transitions += self.batch.len() as u64;
        for i in 0..self.batch.len() {
            let transition = self.batch.step(i).transition;
            self.fired[transition.index()] = true;
            if self.model.is_fault(self.batch.state(i)) {
                if self.needs.labels {
                    self.graph.wrong.push((number, transition));
                }
                continue;
            }
            let end = self.graph.store.find_or_insert(self.batch.state(i), Some(StateId(u64::from(number)))).0 as u32;
            self.graph.forwards.ends.push(end);
            if self.needs.labels {
                self.graph.forwards.labels.push(transition);
            }
        }
        if self.graph.store.len() > self.limits.states {
            return ControlFlow::Break(Stop::States);
        }
        ControlFlow::Continue(())
    }

    /// Room for the states of the batch, for their edges there and back, and for what comes later.
    fn reserve(&mut self) -> ControlFlow<Stop> {
        let states = self.graph.store.len() + self.batch.len() as u64;
        let taken = self.bytes_beside(states, self.graph.forwards.ends.len() as u64 + self.batch.len() as u64);
        let budget = self.limits.counted_memory().saturating_sub(taken);
        match self.graph.store.reserve(self.batch.len(), budget) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(Stop::Memory),
        }
    }

    fn bytes_beside(&self, states: u64, edges: u64) -> u64 {
        let by_edge = if self.needs.labels { 8 } else { 4 };
        // A list that grows exists twice for a moment; the edges back come when the list has ceased to grow.
        let by_state = 3 * 4 + self.needs.spare + (self.needs.propositions as u64).div_ceil(8) + 1;
        let wrong = (self.graph.wrong.len() * 2 * size_of::<(u32, TransitionId)>()) as u64;
        states * by_state + edges * 2 * by_edge + wrong
    }

    fn progress(&self, next: u64) -> Progress {
        let states = self.graph.store.len();
        Progress {
            states,
            transitions: self.stats.transitions,
            depth: self.depth,
            frontier: states - next,
            bytes: self.graph.store.bytes() + self.bytes_beside(states, self.graph.forwards.ends.len() as u64),
            ..Progress::default()
        }
    }

    fn finish(mut self, end: ControlFlow<Stop>) -> (Graph, Hunt) {
        let states = self.graph.store.len();
        let expanded = self.graph.forwards.starts.len() as u64 - 1;
        let found: u64 = self.stats.levels.iter().sum();
        if states > found {
            self.stats.levels.push(states - found);
        }
        self.stats.max_depth = (self.stats.levels.len() as u32).saturating_sub(1);
        let mut stopped = match end {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) => Stop::Exhausted,
        };
        // A level that was not expanded to its end does not count, unless it is the last that was asked for.
        let coverage = match self.depth {
            _ if states > 0 && expanded == states => Coverage::Complete,
            depth if stopped == Stop::Depth => Coverage::Depth(depth),
            0 => Coverage::Partial(states),
            depth => Coverage::Depth(depth - 1),
        };
        if coverage == Coverage::Complete {
            stopped = Stop::Exhausted;
        }
        self.graph.is_complete = coverage == Coverage::Complete;
        // States that were found and not expanded have no edges, and are not known to be stuck.
        let edges = self.graph.forwards.ends.len() as u32;
        self.graph.forwards.starts.resize(states as usize + 1, edges);
        self.graph.stuck.extend_to(states as u32);
        self.stats.states = states;
        self.stats.cut = self.batch.cut;
        self.stats.peak_frontier = self.stats.levels.iter().copied().max().unwrap_or(0);
        self.stats.store_bytes = self.graph.store.bytes() + self.bytes_beside(states, u64::from(edges));
        self.graph.last = self.progress(states);
        let hunt = Hunt { outcomes: Vec::new(), coverage, stopped, stats: self.stats, fired: self.fired };
        (self.graph, hunt)
    }
}
