//! Cycles under strong fairness: who can go on again and again goes on again and again.
//!
//! The graph of the product is built, and decomposed into strongly connected components (Tarjan 1972). What a fair run does forever
//! lies in one of them. A condition that is enabled in some states of a component and met by none of its steps is one that such a
//! run can only keep by leaving these states for good: they are removed, and what is left of the component is decomposed again
//! (the test for emptiness of Streett automata, as in Emerson and Lei, "Modalities for model checking: branching time strikes back",
//! 1987). A component with an accepting state, in which every condition that is enabled is met, is full of fair cycles: one goes
//! through an accepting state, and takes a step for each condition.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use birk_engine::{Hunt, Limits, Model, Observer, Successors};
use birk_ir::{Coverage, Outcome, Stop, Trace, TransitionId};

use crate::mucalculus::{Graph, Needs};

/// Bytes for each state beside the graph: what is enabled, and what finding components and paths takes.
const SPARE: u64 = 8 + 4 * 4 + 8 + 8;
/// After so many states the observer is asked.
const BATCH: usize = 1 << 10;
/// No part of the graph, and no number.
const NONE: u32 = u32::MAX;

/// Searches the product with an automaton for an accepting cycle that is strongly fair. The conditions of fairness are those that
/// its monitor says are met by steps.
pub fn find_strongly_fair_cycle(product: &dyn Model, limits: &Limits, observer: &mut dyn Observer) -> Hunt {
    let needs = Needs { propositions: 1, labels: true, spare: SPARE };
    let (mut graph, mut hunt) = Graph::explore(product, needs, limits, observer);
    // Of the states at a depth limit not every step is known, so that a cycle through one may be missing.
    if let (Stop::Depth, Coverage::Depth(depth)) = (hunt.stopped, &hunt.coverage) {
        hunt.coverage = depth.checked_sub(1).map_or(Coverage::Partial(hunt.stats.states), Coverage::Depth);
    }
    let outcome = match search(&mut graph, product, observer) {
        ControlFlow::Continue(Some(trace)) => {
            hunt.stopped = Stop::Goal;
            Outcome::Found(trace)
        }
        ControlFlow::Continue(None) if graph.is_complete() => Outcome::Absent,
        ControlFlow::Continue(None) => Outcome::Inconclusive,
        ControlFlow::Break(stop) => {
            (hunt.stopped, hunt.coverage) = (stop, Coverage::Partial(hunt.stats.states));
            Outcome::Inconclusive
        }
    };
    hunt.outcomes = vec![outcome];
    hunt
}

/// A trace with a fair cycle in a graph, which may be a part of what there is: what is in it is there.
fn search(graph: &mut Graph, product: &dyn Model, observer: &mut dyn Observer) -> ControlFlow<Stop, Option<Trace>> {
    graph.evaluate(product, observer)?;
    let met = met_by(product);
    let search = Search { graph, enabled: enabled(graph, product, &met, observer)?, met };
    let found = search.fair_component(observer)?;
    ControlFlow::Continue(found.map(|component| search.lasso(&component).trace(graph, product)))
}

/// For each transition of a product, the conditions that it meets.
fn met_by(product: &dyn Model) -> Vec<u64> {
    let monitor = product.watched().expect("a product has a monitor").monitor;
    (0..product.transitions()).map(|transition| monitor.met(transition)).collect()
}

/// For each state, the conditions that some step from it would meet, wherever that step leads.
fn enabled(
    graph: &Graph,
    product: &dyn Model,
    met: &[u64],
    observer: &mut dyn Observer,
) -> ControlFlow<Stop, Vec<u64>> {
    let model = product.watched().expect("a product has a model").model;
    let mut batch = Successors::in_parts(model.words());
    let mut enabled = Vec::with_capacity(graph.len() as usize);
    for state in 0..graph.len() {
        if (state as usize).is_multiple_of(BATCH) {
            observer.progress(graph.last())?;
        }
        let words = graph.load(state);
        let mut here = 0;
        let _: ControlFlow<()> = batch.each_part(model, &words[..model.words()], |part| {
            here = (0..part.len()).fold(here, |all, step| all | met[part.step(step).transition.index()]);
            ControlFlow::Continue(())
        });
        enabled.push(here);
    }
    ControlFlow::Continue(enabled)
}

struct Search<'a> {
    graph: &'a Graph,
    /// For each state, the conditions that some step from it would meet.
    enabled: Vec<u64>,
    /// For each transition, the conditions that it meets.
    met: Vec<u64>,
}

/// The states of a part of the graph, and where a part number says that a state is in it.
struct Component<'c> {
    states: &'c [u32],
    part: &'c [u32],
}

impl Search<'_> {
    /// The states of a component in which some cycle is accepting and fair.
    fn fair_component(&self, observer: &mut dyn Observer) -> ControlFlow<Stop, Option<Vec<u32>>> {
        // The part of the graph that each state is in; none where no fair run stays.
        let mut part = vec![0; self.graph.len() as usize];
        let mut parts = 1;
        let mut tarjan = Tarjan::new(self.graph.len() as usize);
        let mut work: Vec<Vec<u32>> = vec![(0..self.graph.len()).collect()];
        while let Some(states) = work.pop() {
            let within = Component { states: &states, part: &part };
            let components = tarjan.decompose(&within, self.graph, observer)?;
            for component in components {
                component.iter().for_each(|&state| part[state as usize] = parts);
                let inside = Component { states: &component, part: &part };
                parts += 1;
                let (has_step, met) = self.steps_in(&inside);
                let is_accepting = component.iter().any(|&state| self.graph.proposition(0).contains(state));
                if has_step && is_accepting {
                    let enabled = component.iter().fold(0, |all, &state| all | self.enabled[state as usize]);
                    let unmet = enabled & !met;
                    if unmet == 0 {
                        return ControlFlow::Continue(Some(component));
                    }
                    let (gone, left): (Vec<u32>, Vec<u32>) =
                        component.iter().partition(|&&state| self.enabled[state as usize] & unmet != 0);
                    gone.into_iter().for_each(|state| part[state as usize] = NONE);
                    if !left.is_empty() {
                        work.push(left);
                    }
                } else {
                    component.iter().for_each(|&state| part[state as usize] = NONE);
                }
            }
        }
        ControlFlow::Continue(None)
    }

    /// Whether a step stays in a component, and the conditions that such steps meet.
    fn steps_in(&self, component: &Component<'_>) -> (bool, u64) {
        let (mut has_step, mut met) = (false, 0);
        for &state in component.states {
            for (_, label) in component.steps(self.graph, state) {
                has_step = true;
                met |= self.met[label.index()];
            }
        }
        (has_step, met)
    }

    /// A shortest way to a component that is fair, and a cycle in it through an accepting state and a step for each condition.
    fn lasso(&self, component: &[u32]) -> Path {
        let mut part = vec![NONE; self.graph.len() as usize];
        component.iter().for_each(|&state| part[state as usize] = 0);
        let inside = Component { states: component, part: &part };
        let everywhere = vec![0; self.graph.len() as usize];
        let anywhere = Component { states: &[], part: &everywhere };
        let is_inside = |state: u32, _: Option<TransitionId>| part[state as usize] == 0;
        let mut path = anywhere.path(self.graph, self.graph.initial(), &is_inside).expect("every state is reachable");
        let start = path.last();
        path.back = path.steps.len();
        let go = |path: &mut Path, is_there: &dyn Fn(u32, Option<TransitionId>) -> bool| {
            let rest = inside.path(self.graph, &[path.last()], is_there).expect("a component is connected");
            path.steps.extend(rest.steps);
        };
        go(&mut path, &|state, _| self.graph.proposition(0).contains(state));
        let enabled = component.iter().fold(0, |all, &state| all | self.enabled[state as usize]);
        for condition in (0..u64::BITS).filter(|condition| enabled >> condition & 1 == 1) {
            let is_met = |label: TransitionId| self.met[label.index()] >> condition & 1 == 1;
            if !path.steps[path.back..].iter().any(|(label, _)| is_met(*label)) {
                go(&mut path, &|_, label| label.is_some_and(is_met));
            }
        }
        // Back to where the cycle began, with at least one step.
        let has_step = path.steps.len() > path.back;
        go(&mut path, &|state, label| state == start && (has_step || label.is_some()));
        path
    }
}

/// What finding components takes, for each state: when it was met, the first that it leads back to, and whether its component is open.
struct Tarjan {
    number: Vec<u32>,
    low: Vec<u32>,
    is_open: Vec<bool>,
}

impl Tarjan {
    fn new(states: usize) -> Self {
        Self { number: vec![NONE; states], low: vec![NONE; states], is_open: vec![false; states] }
    }

    /// The strongly connected components of a part of the graph, those without a cycle included.
    fn decompose(
        &mut self,
        part: &Component<'_>,
        graph: &Graph,
        observer: &mut dyn Observer,
    ) -> ControlFlow<Stop, Vec<Vec<u32>>> {
        let Self { number, low, is_open } = self;
        part.states.iter().for_each(|&state| number[state as usize] = NONE);
        let (mut components, mut open, mut next) = (Vec::new(), Vec::new(), 0);
        for &root in part.states {
            if number[root as usize] != NONE {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((state, edge)) = path.last_mut() {
                let (here, first) = (*state as usize, *edge == 0);
                if first {
                    if (next as usize).is_multiple_of(BATCH) {
                        observer.progress(graph.last())?;
                    }
                    (number[here], low[here]) = (next, next);
                    next += 1;
                    open.push(*state);
                    is_open[here] = true;
                }
                let following = graph.forwards().end(*state, *edge);
                *edge += 1;
                match following {
                    Some(end) if part.part[end as usize] != part.part[here] => {}
                    Some(end) if number[end as usize] == NONE => path.push((end, 0)),
                    Some(end) if is_open[end as usize] => low[here] = low[here].min(number[end as usize]),
                    Some(_) => {}
                    None => {
                        if low[here] == number[here] {
                            let from = open.iter().rposition(|&other| other as usize == here).expect("it is open");
                            let component = open.split_off(from);
                            component.iter().for_each(|&state| is_open[state as usize] = false);
                            components.push(component);
                        }
                        path.pop();
                        if let Some(&(above, _)) = path.last() {
                            low[above as usize] = low[above as usize].min(low[here]);
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(components)
    }
}

impl Component<'_> {
    /// The steps from a state that stay inside.
    fn steps<'g>(&'g self, graph: &'g Graph, state: u32) -> impl Iterator<Item = (u32, TransitionId)> + 'g {
        let here = self.part[state as usize];
        let inside = graph.forwards().of(state).filter(move |&(end, _)| self.part[end as usize] == here);
        inside.filter_map(|(end, label)| Some((end, label?)))
    }

    /// A shortest path to where it is, from one of some states: which state, or behind which step.
    fn path(&self, graph: &Graph, from: &[u32], is_there: &dyn Fn(u32, Option<TransitionId>) -> bool) -> Option<Path> {
        if let Some(&start) = from.iter().find(|&&state| is_there(state, None)) {
            return Some(Path { start, steps: Vec::new(), back: 0 });
        }
        let mut before: Vec<(u32, TransitionId)> = vec![(NONE, TransitionId(0)); self.part.len()];
        let mut seen = vec![false; self.part.len()];
        let mut queue: VecDeque<u32> = from.iter().copied().collect();
        from.iter().for_each(|&state| seen[state as usize] = true);
        while let Some(state) = queue.pop_front() {
            for (end, label) in self.steps(graph, state) {
                if is_there(end, Some(label)) {
                    let mut steps = vec![(label, end)];
                    let mut at = state;
                    while before[at as usize].0 != NONE {
                        let (above, label) = before[at as usize];
                        steps.push((label, at));
                        at = above;
                    }
                    steps.reverse();
                    return Some(Path { start: at, steps, back: 0 });
                }
                if !std::mem::replace(&mut seen[end as usize], true) {
                    before[end as usize] = (state, label);
                    queue.push_back(end);
                }
            }
        }
        None
    }
}

/// States with the steps to them; from `back` on it repeats.
struct Path {
    start: u32,
    steps: Vec<(TransitionId, u32)>,
    back: usize,
}

impl Path {
    fn last(&self) -> u32 {
        self.steps.last().map_or(self.start, |(_, state)| *state)
    }

    fn trace(&self, graph: &Graph, model: &dyn Model) -> Trace {
        let mut batch = Successors::in_parts(model.words());
        model.initial(&mut batch);
        let mut state = graph.load(self.start);
        let initial = (0..batch.len()).find(|&i| batch.state(i) == state).expect("a run begins in an initial state");
        let mut trace = Trace { initial: initial as u32, loop_start: Some(self.back), ..Trace::default() };
        for &(label, number) in &self.steps {
            let target = graph.load(number);
            let mut taken = None;
            let _ = batch.each_part(model, &state, |part| {
                let is_it = |&i: &usize| part.step(i).transition == label && part.state(i) == target;
                taken = (0..part.len()).find(is_it).map(|i| part.step(i));
                if taken.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            trace.steps.push(taken.expect("the graph has the steps of the model"));
            state = target;
        }
        trace
    }
}
