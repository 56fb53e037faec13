//! The nearest state that satisfies a condition: a small breadth-first search from any state, for people who look
//! around in a model. Engines are for answers; this is for questions.

use std::collections::HashMap;
use std::ops::ControlFlow;

use birk_ir::{Expr, Program, Step};

use crate::interpreter::Interpreter;
use birk_engine::{Model as _, Successors};

/// What a search for a nearest state found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// The steps to it, at least one.
    Found(Vec<Step>),
    /// No state that can be reached from here satisfies the condition.
    Absent,
    /// None among so many states, and there are more.
    Unknown(usize),
}

/// A state, and from which state and by which step it was reached.
type Arrival = (Vec<u32>, Option<(usize, Step)>);

/// Looks for a state other than `from`, among at most `limit` states. The results of failing checks are not states.
pub fn nearest(program: &Program, from: &[u32], condition: &Expr, limit: usize) -> Nearest {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::in_parts(model.words());
    let mut states: Vec<Arrival> = vec![(from.to_vec(), None)];
    let mut known = HashMap::from([(from.to_vec(), 0)]);
    let mut next = 0;
    while next < states.len() {
        let from = states[next].0.clone();
        let flow = batch.each_part(&model, &from, |part| {
            for i in 0..part.len() {
                let state = part.state(i);
                if model.is_fault(state) || known.contains_key(state) {
                    continue;
                }
                known.insert(state.to_vec(), states.len());
                states.push((state.to_vec(), Some((next, part.step(i)))));
                if model.value(condition, state) != 0 {
                    return ControlFlow::Break(Nearest::Found(path(&states)));
                }
            }
            match states.len() > limit {
                true => ControlFlow::Break(Nearest::Unknown(states.len())),
                false => ControlFlow::Continue(()),
            }
        });
        if let ControlFlow::Break(end) = flow {
            return end;
        }
        next += 1;
    }
    Nearest::Absent
}

/// The steps to the last state.
fn path(states: &[Arrival]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut here = states.len() - 1;
    while let Some((parent, step)) = states[here].1 {
        steps.push(step);
        here = parent;
    }
    steps.reverse();
    steps
}
