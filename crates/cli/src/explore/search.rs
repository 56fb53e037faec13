//! The explorer's search: the nearest states that satisfy a condition, and the steps to each.

use std::collections::HashSet;
use std::ops::ControlFlow;

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{Expr, Program, Step};

use crate::interactive::session::HORIZON;

/// A list of results is not longer.
pub(crate) const MAX_FOUND: usize = 20;

/// What was found.
pub(crate) struct Found {
    /// The steps to each state, the nearest first.
    pub(crate) ways: Vec<Vec<Step>>,
    /// How many states were visited, and whether there are more.
    pub(crate) states: usize,
    pub(crate) is_everything: bool,
}

/// A state, and from which state and by which step it was reached.
type Arrival = (Vec<u32>, Option<(usize, Step)>);

/// Searches breadth-first from a state, which is not among the results. The results of failing checks are not states.
pub(crate) fn search(program: &Program, from: &[u32], condition: &Expr) -> Found {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::in_parts(model.words());
    let mut states: Vec<Arrival> = vec![(from.to_vec(), None)];
    let mut known = HashSet::from([from.to_vec()]);
    let mut found = Vec::new();
    let mut next = 0;
    while next < states.len() {
        let here = states[next].0.clone();
        let flow = batch.each_part(&model, &here, |part| {
            for i in 0..part.len() {
                let state = part.state(i);
                if model.is_fault(state) || !known.insert(state.to_vec()) {
                    continue;
                }
                states.push((state.to_vec(), Some((next, part.step(i)))));
                if model.value(condition, state) != 0 {
                    found.push(states.len() - 1);
                }
                if found.len() == MAX_FOUND || states.len() > HORIZON {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if flow.is_break() {
            break;
        }
        next += 1;
    }
    let ways = found.into_iter().map(|end| way(&states, end)).collect();
    Found { ways, states: states.len(), is_everything: next == states.len() }
}

/// The steps to a state.
fn way(states: &[Arrival], mut here: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((parent, step)) = states[here].1 {
        steps.push(step);
        here = parent;
    }
    steps.reverse();
    steps
}
