//! States become a trace. Which step leads from one state to the next is asked of the interpreter, so that a trace never
//! rests on diagrams or clauses alone.

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{Outcome, Program, Step, Trace, TransitionId};

/// A trace numbers the outcomes of a step: so many are looked at.
const MOST_OUTCOMES: u64 = 1 << 22;

/// A step that a solver found: its transition, and the values that it chooses.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) transition: TransitionId,
    pub(crate) chosen: Vec<i64>,
}

/// The run through these states by these steps, each of which was made by the interpreter; only its length where a step has too many
/// outcomes for its number to be found.
pub(crate) fn found(program: &Program, states: &[Vec<u32>], steps: &[Taken]) -> Outcome {
    if let Some(trace) = among(program, states, MOST_OUTCOMES) {
        return Outcome::Found(trace);
    }
    let model = Interpreter::new(program, &[]);
    for (step, pair) in steps.iter().zip(states.windows(2)) {
        assert!(after(&model, program, &pair[0], step) == pair[1], "a solver knows where its steps lead");
    }
    Outcome::Untraced(steps.len() as u32)
}

/// Where a step leads: the outcome with which the interpreter begins where it is told the values that are chosen.
pub(crate) fn after(model: &Interpreter<'_>, program: &Program, state: &[u32], step: &Taken) -> Vec<u32> {
    let mut successors = Successors::in_parts(model.words());
    successors.narrow(1);
    let thread = i64::from(program.transition(step.transition).thread.0);
    let values = step.chosen.iter().rev().copied();
    successors.leave(state, values.chain([0, i64::from(step.transition.0), thread]).collect());
    model.successors(state, &mut successors);
    assert!(!successors.is_empty(), "a step that a solver takes is possible");
    successors.state(0).to_vec()
}

/// The run through these states.
pub(crate) fn through(program: &Program, states: &[Vec<u32>]) -> Trace {
    among(program, states, u64::MAX).expect("an engine on sets knows the successors")
}

/// The run through these states, if each is among so many successors of the one before it.
fn among(program: &Program, states: &[Vec<u32>], most: u64) -> Option<Trace> {
    let model = Interpreter::new(program, &[]);
    let steps = states.windows(2).map(|pair| step(&model, &pair[0], &pair[1], most)).collect::<Option<_>>()?;
    let initial = states.first().and_then(|first| program.initial_states().iter().position(|state| state == first));
    Some(Trace { initial: initial.unwrap_or(0) as u32, steps, loop_start: None })
}

fn step(model: &Interpreter<'_>, from: &[u32], to: &[u32], most: u64) -> Option<Step> {
    let (mut successors, mut looked_at) = (Successors::in_parts(model.words()), 0);
    let found = successors.find(model, from, |_, state| {
        looked_at += 1;
        looked_at > most || state == to
    })?;
    (looked_at <= most).then(|| successors.step(found))
}
