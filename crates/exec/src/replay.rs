//! Replay, independent of every engine: walks a trace with the interpreter, against what the user wrote.
//!
//! It shares no code with any engine and does not look at goals, only at the property.

mod because;
mod branching;
mod lasso;

use std::fmt;
use std::ops::ControlFlow;

pub use because::{Because, Decided, is_of_state};
pub use branching::Shows;
pub use lasso::Chance;

use birk_ir::{FaultId, Program, Property, PropertyKind, Step, ThreadId, Trace, TransitionId};

use crate::interpreter::Interpreter;
use birk_engine::{Model as _, Successors};

/// A trace with everything that can be said about it.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Which initial state it begins in.
    pub initial: u32,
    /// The states, one more than there are steps.
    pub states: Vec<Vec<u32>>,
    /// The steps taken.
    pub steps: Vec<Step>,
    /// For each step, its position among all successors of the state it leaves.
    pub ordinals: Vec<u32>,
    /// What went wrong in the last step, or in evaluating a property in the last state.
    pub fault: Option<FaultId>,
    /// The computed value that a check of the last step refused.
    pub refused: Option<i64>,
    /// The step from which the rest repeats.
    pub loop_start: Option<usize>,
}

/// A trace that does not fit its program or its property: Birk's own fault, unless the file was edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The step at which it fails, from 0.
    pub step: usize,
    /// Why.
    pub reason: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step + 1, self.reason)
    }
}

impl std::error::Error for ReplayError {}

/// Walks a trace.
pub fn replay(program: &Program, trace: &Trace) -> Result<Replayed, ReplayError> {
    let is_it = |at: usize, _, step: Step, _: &[u32]| step == trace.steps[at];
    walk(program, (trace.initial, trace.steps.len(), trace.loop_start), is_it, |at, _| {
        let wanted = trace.steps[at].transition;
        let known = wanted.index() < program.transitions.len();
        let name = known.then(|| program.transition_text(wanted));
        format!("{} is not enabled", name.unwrap_or_else(|| format!("transition {wanted}")))
    })
}

/// Walks the steps given by their positions among the successors, as in the `replay` line of a report.
pub fn replay_ordinals(
    program: &Program,
    initial: u32,
    ordinals: &[u32],
    loop_start: Option<usize>,
) -> Result<Replayed, ReplayError> {
    let is_it = |at: usize, ordinal: u32, _, _: &[u32]| ordinal == ordinals[at];
    walk(program, (initial, ordinals.len(), loop_start), is_it, |at, enabled| {
        format!("no successor {}, there are {enabled}", ordinals[at])
    })
}

/// Walks a run given by predicates on its states: `fits(position, state)`, the initial state being 0. Begins in the first that fits.
pub fn replay_states(
    program: &Program,
    length: usize,
    fits: impl Fn(usize, &[u32]) -> bool,
) -> Result<Replayed, ReplayError> {
    let is_it = |at: usize, _, _, state: &[u32]| fits(at + 1, state);
    let starts = program.initial_states();
    let first = starts.iter().position(|state| fits(0, state)).unwrap_or(0);
    walk(program, (first as u32, length, None), is_it, |_, _| {
        "no step leads to the state that the trace shows next".to_owned()
    })
}

/// Walks from an initial state so many steps, each the first of which `is_it` is true, given its position, the successor's
/// ordinal, its step and its state; `missing` says what is wrong where there is none, given how many successors there are.
fn walk(
    program: &Program,
    (initial, length, loop_start): (u32, usize, Option<usize>),
    is_it: impl Fn(usize, u32, Step, &[u32]) -> bool,
    missing: impl Fn(usize, u32) -> String,
) -> Result<Replayed, ReplayError> {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::in_parts(model.words());
    model.initial(&mut batch);
    if initial as usize >= batch.len() {
        return Err(ReplayError { step: 0, reason: format!("there is no initial state {initial}") });
    }
    let mut states = vec![batch.state(initial as usize).to_vec()];
    let mut replayed = Replayed {
        initial,
        states: Vec::new(),
        steps: Vec::new(),
        ordinals: Vec::new(),
        fault: None,
        refused: None,
        loop_start,
    };
    for at in 0..length {
        let (here, mut seen) = (&states[at], 0);
        let found = batch.find(&model, here, |step, state| {
            seen += 1;
            is_it(at, seen - 1, step, state)
        });
        let found = found.ok_or_else(|| ReplayError { step: at, reason: missing(at, seen) })?;
        let (step, next) = (batch.step(found), batch.state(found).to_vec());
        replayed.steps.push(step);
        replayed.ordinals.push(seen - 1);
        if program.is_faulty(&next) {
            replayed.fault = model.fault_of(here, step);
            replayed.refused = model.refused_by(here, step);
        }
        states.push(next);
    }
    let last = &states[length];
    if replayed.fault.is_none() {
        let property_fault = program.property_faults.iter().find(|(condition, _)| model.value(condition, last) != 0);
        replayed.fault = property_fault.map(|(_, fault)| *fault);
    }
    replayed.states = states;
    Ok(replayed)
}

impl Replayed {
    /// The last state.
    pub fn last(&self) -> &[u32] {
        self.states.last().expect("a run has at least its initial state")
    }

    /// Whether the run shows what it claims: a violation of the property, or, for `reachable`, its witness.
    pub fn confirm(&self, program: &Program, property: &Property) -> Result<(), ReplayError> {
        let model = Interpreter::new(program, &[]);
        let last = self.last();
        let broken = program.is_faulty(last);
        let shown = match &property.kind {
            PropertyKind::Fault => self.fault.is_some(),
            PropertyKind::Invariant(holds) => !broken && model.value(holds, last) == 0,
            PropertyKind::Reachable(target) => !broken && model.value(target, last) != 0,
            PropertyKind::Deadlock => !broken && is_stuck(&model, last) && !ends_properly(program, last),
            PropertyKind::Ltl(formula) => {
                self.closes(program)?;
                !self.satisfies(program, formula)
            }
            PropertyKind::Ctl(formula) | PropertyKind::Mu(formula) => {
                if self.loop_start.is_some() {
                    self.closes(program)?;
                }
                // It is about initial states; whoever looks at another one is told nothing.
                let is_whole = self.shows(program, formula) == Shows::Whole(property.wants_goal());
                is_whole && program.initial_states().contains(&self.states[0])
            }
            PropertyKind::Automaton | PropertyKind::Claim(_) => return self.closes(program),
        };
        let step = self.steps.len().saturating_sub(1);
        let reason = || match property.kind {
            PropertyKind::Ltl(_) => format!("the property `{}` is true of the execution", property.name),
            PropertyKind::Ctl(_) | PropertyKind::Mu(_) => format!("the trace does not decide `{}`", property.name),
            _ => format!("the last state does not decide `{}`", property.name),
        };
        if shown { Ok(()) } else { Err(ReplayError { step, reason: reason() }) }
    }

    /// The trace that was walked.
    pub fn trace(&self) -> Trace {
        Trace { initial: self.initial, steps: self.steps.clone(), loop_start: self.loop_start }
    }
}

/// Whether no step is possible, taken or cut.
fn is_stuck(model: &Interpreter<'_>, state: &[u32]) -> bool {
    let mut batch = Successors::in_parts(model.words());
    model.successors(state, &mut batch);
    batch.is_stuck_since(0, 0)
}

/// The transitions by which a step is possible, in order.
fn possible(model: &Interpreter<'_>, state: &[u32]) -> Vec<TransitionId> {
    let mut found: Vec<TransitionId> = Vec::new();
    let _ = Successors::in_parts(model.words()).each_part(model, state, |part| {
        found.extend(part.steps(0).iter().map(|step| step.transition));
        found.dedup();
        ControlFlow::<()>::Continue(())
    });
    found
}

/// Whether every thread has ended or waits at a location marked `end`.
fn ends_properly(program: &Program, state: &[u32]) -> bool {
    (0..program.threads.len()).map(ThreadId::new).all(|thread| {
        program.location_of(thread, state).is_none_or(|at| program.kind_of(thread).locations[at.index()].end)
    })
}
