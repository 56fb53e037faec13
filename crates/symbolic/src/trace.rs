//! States become a trace. Which step leads from one state to the next is asked of the interpreter, so that a trace never
//! rests on diagrams or clauses alone.

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{Program, Step, Trace};

/// The run through these states.
pub(crate) fn through(program: &Program, states: &[Vec<u32>]) -> Trace {
    let model = Interpreter::new(program, &[]);
    let steps = states.windows(2).map(|pair| step(&model, &pair[0], &pair[1])).collect();
    let initial = states.first().and_then(|first| program.initial_states().iter().position(|state| state == first));
    Trace { initial: initial.unwrap_or(0) as u32, steps, loop_start: None }
}

fn step(model: &Interpreter<'_>, from: &[u32], to: &[u32]) -> Step {
    let mut successors = Successors::in_parts(model.words());
    let found = successors.find(model, from, |_, state| state == to);
    successors.step(found.expect("an engine on sets knows the successors"))
}
