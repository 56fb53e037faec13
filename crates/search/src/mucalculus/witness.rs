//! A witness: a path that shows why a formula is true, or false, in a state, as far as one path can.
//!
//! Where one part or one step is enough, one is taken that was found before the fact that it explains, so that nothing
//! is put off forever; where the formula may go on forever, the run goes on until it comes back. This is a walk along a
//! winning strategy of the model-checking game (Streett and Emerson 1989), whose signatures are here the order of the
//! facts of a block, and for a block within it the values that it had been given when the fact was found. Where all
//! parts count, the run follows the one that goes on; where several steps count, it ends.

use std::ops::ControlFlow;
use std::rc::Rc;

use birk_engine::{Model, Successors};
use birk_ir::{Stop, Trace, TransitionId};

use super::graph::Graph;
use super::solve::{NEVER, Order, Solver};
use super::states::StateSet;
use birk_exec::equations::Kind;

/// States with the steps between them.
#[derive(Debug, Default)]
pub(super) struct Run {
    states: Vec<u32>,
    labels: Vec<Option<TransitionId>>,
    /// The state to which the last one leads back, or stays in.
    back: Option<usize>,
}

/// A block that the walk is in.
struct Frame {
    first: u32,
    /// In which order its facts were found, if they are what is explained.
    order: Option<Rc<Order>>,
}

struct Walk<'s, 'a> {
    solver: &'s mut Solver<'a>,
    /// What is explained: that the formula is true, or that it is false.
    value: bool,
    run: Run,
    frames: Vec<Frame>,
    /// The fixpoints that may be come back to: fixpoint, state, position in the run.
    open: Vec<(u32, u32, usize)>,
    /// The order of a block that was computed, and what had been supposed then.
    kept: Vec<(u32, u64, Rc<Order>)>,
    /// How often something was supposed.
    supposed: u64,
}

/// Explains the value of the whole formula in a state.
pub(super) fn walk(solver: &mut Solver<'_>, from: u32, value: bool) -> ControlFlow<Stop, Run> {
    let run = Run { states: vec![from], ..Run::default() };
    let mut walk = Walk { solver, value, run, frames: Vec::new(), open: Vec::new(), kept: Vec::new(), supposed: 0 };
    let mut at = Some((0, from));
    while let Some((part, state)) = at {
        let part = walk.solver.equations.computed_for(part);
        walk.enter(part, state)?;
        at = walk.next(part, state);
    }
    ControlFlow::Continue(walk.run)
}

impl Walk<'_, '_> {
    /// Makes the block of a part the innermost one.
    fn enter(&mut self, part: u32, state: u32) -> ControlFlow<Stop> {
        let equations = self.solver.equations;
        let Some(block) = equations.parts[part as usize].block else {
            self.frames.clear();
            return ControlFlow::Continue(());
        };
        if let Some(place) = self.frames.iter().position(|frame| frame.first == block) {
            self.frames.truncate(place + 1);
            return ControlFlow::Continue(());
        }
        if equations.parts[block as usize].is_closed {
            self.frames.clear();
            self.open.clear();
        }
        // A fact of the inner block was found with what the outer one had then, and with no more.
        if let Some(order) = self.frames.last().and_then(|frame| frame.order.clone()) {
            let found = order[&part][state as usize];
            let outer = equations.block(self.frames[self.frames.len() - 1].first);
            for &member in &outer.members {
                if matches!(equations.parts[member as usize].kind, Kind::Fixpoint { .. }) {
                    let mut value = StateSet::new(self.solver.graph.len(), !self.value);
                    let earlier = order[&member].iter().enumerate().filter(|(_, at)| **at < found);
                    earlier.for_each(|(state, _)| value.put(state as u32, self.value));
                    self.solver.suppose(member, value);
                }
            }
            self.supposed += 1;
        }
        let order = match equations.block(block).least == self.value {
            true => Some(self.order_of(block)?),
            false => {
                self.solver.solve(block, None)?;
                None
            }
        };
        self.frames.push(Frame { first: block, order });
        ControlFlow::Continue(())
    }

    fn order_of(&mut self, block: u32) -> ControlFlow<Stop, Rc<Order>> {
        let is_kept = |kept: &&(u32, u64, Rc<Order>)| kept.0 == block && kept.1 == self.supposed;
        if let Some((.., order)) = self.kept.iter().find(is_kept) {
            return ControlFlow::Continue(order.clone());
        }
        let mut order = Order::new();
        self.solver.solve(block, Some(&mut order))?;
        let order = Rc::new(order);
        self.kept.retain(|kept| kept.0 != block);
        self.kept.push((block, self.supposed, order.clone()));
        ControlFlow::Continue(order)
    }

    /// What explains a fact, in this state or the next.
    fn next(&mut self, part: u32, state: u32) -> Option<(u32, u32)> {
        let (equations, value) = (self.solver.equations, self.value);
        let of = &equations.parts[part as usize];
        if of.is_closed && !of.is_modal {
            return None;
        }
        match of.kind {
            Kind::Atom(..) => None,
            Kind::Fixpoint { .. } => self.unfold(part, state),
            Kind::And | Kind::Or if (of.kind == Kind::Or) == value => {
                let ranked =
                    of.children.iter().filter_map(|&child| Some((self.rank(part, state, child, state)?, child)));
                ranked.min_by_key(|(rank, _)| *rank).map(|(_, child)| (child, state))
            }
            Kind::And | Kind::Or => {
                // What comes back to a fixpoint goes on; otherwise anything that is about steps.
                let promise = |&child: &u32| match &equations.parts[child as usize] {
                    _ if child <= part => 3,
                    open if !open.is_closed => 2,
                    closed => u8::from(closed.is_modal),
                };
                let best = of.children.iter().copied().rev().max_by_key(promise);
                best.filter(|child| promise(child) > 0).map(|child| (child, state))
            }
            Kind::Some(steps) | Kind::Every(steps) => self.step(part, steps, state),
        }
    }

    /// Goes into a fixpoint, unless the run has come back to it: then it repeats from there.
    fn unfold(&mut self, part: u32, state: u32) -> Option<(u32, u32)> {
        let of = &self.solver.equations.parts[part as usize];
        self.open.retain(|&(other, ..)| !(part + 1..of.end).contains(&other));
        let here = self.run.states.len() - 1;
        let may_repeat = of.kind == Kind::Fixpoint { least: !self.value };
        if may_repeat {
            let before = self.open.iter().find(|&&(other, at, _)| (other, at) == (part, state));
            match before.map(|(.., position)| *position) {
                Some(position) if position < here => {
                    self.run.states.pop();
                    self.run.back = Some(position);
                    return None;
                }
                Some(_) => {
                    self.run.back = self.solver.graph.is_stuck(state).then_some(here);
                    return None;
                }
                None => self.open.push((part, state, here)),
            }
        }
        Some((of.children[0], state))
    }

    /// Takes a step, where one is enough, or where there is but one.
    fn step(&mut self, part: u32, steps: usize, state: u32) -> Option<(u32, u32)> {
        let child = self.solver.equations.parts[part as usize].children[0];
        let one_is_enough = matches!(self.solver.equations.parts[part as usize].kind, Kind::Some(_)) == self.value;
        let (graph, moves) = (self.solver.graph, self.solver.moves);
        let mut ends: Vec<u32> = moves.successors(steps, state).collect();
        ends.sort_unstable();
        ends.dedup();
        let end = match one_is_enough {
            false => ends.first().copied().filter(|_| ends.len() == 1),
            true => {
                let ranked = ends.iter().filter_map(|&end| Some((self.rank(part, state, child, end)?, end)));
                ranked.min().map(|(_, end)| end)
            }
        }?;
        if !graph.is_stuck(state) {
            let label =
                graph.forwards().of(state).find(|&(to, label)| to == end && moves.is_meant(steps, state, label));
            self.run.labels.push(label.and_then(|(_, label)| label));
            self.run.states.push(end);
        }
        Some((child, end))
    }

    /// When what explains a fact was found; `None` if it does not explain it.
    fn rank(&self, part: u32, state: u32, child: u32, end: u32) -> Option<u32> {
        let of = &self.solver.equations.parts[part as usize];
        let frame = self.frames.last().filter(|frame| Some(frame.first) == of.block);
        let found = frame.and_then(|frame| frame.order.as_ref()).and_then(|order| {
            let own = order[&part][state as usize];
            order.get(&child).map(|order| (order[end as usize], own))
        });
        match found {
            Some((found, own)) => (found != NEVER && found < own).then_some(found),
            None => (self.solver.value(child, end) == self.value).then_some(0),
        }
    }
}

impl Run {
    /// As the steps of a model.
    pub(super) fn trace(&self, graph: &Graph, model: &dyn Model) -> Trace {
        let mut states: Vec<Vec<u32>> = self.states.iter().map(|&state| graph.load(state)).collect();
        let mut batch = Successors::in_parts(model.words());
        model.initial(&mut batch);
        let initial =
            (0..batch.len()).find(|&i| batch.state(i) == states[0]).expect("a run begins in an initial state");
        let mut trace = Trace { initial: initial as u32, ..Trace::default() };
        let closes = self.labels.len() == self.states.len();
        if let Some(back) = self.back {
            trace.loop_start = Some(back);
            if closes {
                states.push(states[back].clone());
            }
        }
        for (pair, label) in states.windows(2).zip(&self.labels) {
            let found = batch.find(model, &pair[0], |step, state| {
                state == pair[1] && label.is_none_or(|label| step.transition == label)
            });
            trace.steps.push(batch.step(found.expect("each edge of the graph is a step of the model")));
        }
        trace
    }
}
