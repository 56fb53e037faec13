//! What is shown where an implementation does not refine its specification: a run of both, side by side, up to the first step that
//! the specification does not have.
//!
//! This shares nothing with the search but the mapping: it follows the replayed run with the interpreter, keeps every specification
//! state that is possible, with its parent, and finds out for itself that no step is possible at the end and only there.

use std::collections::{BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};

use birk_engine::{Model as _, Successors};
use birk_ir::{Mapping, Program, Step, Trace};

use super::mapping::{Lens, Observation};
use crate::interpreter::Interpreter;
use crate::replay::{Replayed, replay};

/// A run of the implementation, and a run of the specification beside it.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// What can be observed of each state of the implementation; nothing where an element has no value of its variable.
    pub observed: Vec<Option<Observation>>,
    /// The run of the specification, as far as there is one: to the state before the last step of the implementation.
    pub specification: Replayed,
    /// For each step of the implementation that the specification can follow.
    pub beside: Vec<Beside>,
    /// What could have been observed instead, after one visible step of the specification.
    pub instead: Vec<Observation>,
}

/// The specification's steps that go with one step of the implementation: none where it stutters, otherwise internal steps and, as
/// the last, the visible one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Positions in the specification's run.
    pub steps: Range<usize>,
}

/// Specification states that are possible while one thing is observed, each with where it comes from: a position in this phase or in
/// the one before.
#[derive(Debug, Default)]
struct Phase {
    states: Vec<Vec<u32>>,
    parents: Vec<Option<(bool, usize, Step)>>,
    numbers: HashMap<Vec<u32>, usize>,
}

impl Phase {
    fn add(&mut self, state: &[u32], parent: Option<(bool, usize, Step)>) {
        if !self.numbers.contains_key(state) {
            self.numbers.insert(state.to_vec(), self.states.len());
            self.states.push(state.to_vec());
            self.parents.push(parent);
        }
    }
}

/// Both sides of a run.
struct Sides<'p> {
    specification: &'p Program,
    model: Interpreter<'p>,
    lens: Lens<'p>,
}

impl Sides<'_> {
    /// Calls `hear` with each step that does not fail, with its result, and what can be observed then.
    fn each(&self, state: &[u32], mut hear: impl FnMut(Step, &[u32], Observation)) {
        let mut batch = Successors::in_parts(self.model.words());
        let _ = batch.each_part(&self.model, state, |part| {
            for at in 0..part.len() {
                let next = part.state(at);
                if !self.specification.is_faulty(next) {
                    hear(part.step(at), next, self.lens.of_specification(self.specification, next));
                }
            }
            ControlFlow::<()>::Continue(())
        });
    }

    /// Adds what internal steps lead to.
    fn close(&self, phase: &mut Phase, observed: &Observation) {
        let mut at = 0;
        while at < phase.states.len() {
            let state = phase.states[at].clone();
            self.each(&state, |step, next, observation| {
                if observation == *observed {
                    phase.add(next, Some((true, at, step)));
                }
            });
            at += 1;
        }
    }

    /// All that one visible step leads to.
    fn leave(&self, phase: &Phase, observed: &Observation) -> Phase {
        let mut next = Phase::default();
        for (at, state) in phase.states.iter().enumerate() {
            self.each(state, |step, to, observation| {
                if observation == *observed {
                    next.add(to, Some((false, at, step)));
                }
            });
        }
        self.close(&mut next, observed);
        next
    }

    /// Where a run to the first state of the last phase begins, and its steps.
    fn run(phases: &[Phase]) -> (Option<&Vec<u32>>, Vec<Step>) {
        let (mut steps, mut at) = (Vec::new(), 0);
        for phase in phases.iter().rev() {
            while let Some((is_internal, from, step)) = phase.parents[at] {
                steps.push(step);
                at = from;
                if !is_internal {
                    break;
                }
            }
        }
        steps.reverse();
        (phases.first().map(|phase| &phase.states[at]), steps)
    }
}

/// Confirms that a run of the implementation ends in the first step that the specification does not have, or in a runtime error; or
/// says why it does not.
pub fn confirm(
    implementation: &Program,
    specification: &Program,
    mapping: &Mapping,
    run: &Replayed,
) -> Result<Mismatch, String> {
    let of = Interpreter::new(implementation, &[]);
    let lens = Lens::new(mapping);
    let sides = Sides { specification, model: Interpreter::new(specification, &[]), lens };
    let is_fault = implementation.is_faulty(run.last());
    // What a failing check leaves cannot be observed.
    let whole = run.states.len() - usize::from(is_fault);
    let mut room = Vec::new();
    let observe = |state: &Vec<u32>| lens.of_implementation(&of, state, &mut room);
    let observed: Vec<Option<Observation>> = run.states[..whole].iter().map(observe).collect();
    let starts = specification.initial_states();
    let (mut phases, mut followed) = (Vec::new(), 0);
    let seen = starts.iter().map(|start| lens.of_specification(specification, start)).collect::<Vec<Observation>>();
    let fitting = |observation: &&Observation| observed[0].as_ref() == Some(observation);
    let first = seen.iter().find(fitting).unwrap_or(&seen[0]).clone();
    if observed[0].as_ref() == Some(&first) {
        let mut phase = Phase::default();
        starts.iter().zip(&seen).filter(|(_, seen)| **seen == first).for_each(|(start, _)| phase.add(start, None));
        sides.close(&mut phase, &first);
        phases.push(phase);
        followed = 1;
    }
    while followed > 0 && followed < whole {
        if observed[followed] != observed[followed - 1] {
            let next = match &observed[followed] {
                Some(observation) => sides.leave(&phases[phases.len() - 1], observation),
                None => Phase::default(),
            };
            if next.states.is_empty() {
                break;
            }
            phases.push(next);
        }
        followed += 1;
    }
    let expected = if is_fault { whole } else { whole - 1 };
    if followed != expected {
        return Err(format!("the specification follows {followed} of the run's {whole} states, not {expected}"));
    }
    let instead = instead(&sides, &phases, seen);
    let (start, steps) = Sides::run(&phases);
    let initial = starts.iter().position(|state| Some(state) == start).unwrap_or(0) as u32;
    let trace = Trace { initial, steps, loop_start: None };
    let specification = replay(sides.specification, &trace).map_err(|error| format!("the specification: {error}"))?;
    let beside = beside(&sides, &observed[..followed], &specification)?;
    Ok(Mismatch { observed, specification, beside, instead })
}

/// What can be observed after one visible step; initially, what is observed then.
fn instead(sides: &Sides<'_>, phases: &[Phase], first: Vec<Observation>) -> Vec<Observation> {
    let mut found = BTreeSet::new();
    let Some(last) = phases.last() else {
        found.extend(first);
        return found.into_iter().collect();
    };
    let here = sides.lens.of_specification(sides.specification, &last.states[0]);
    for state in &last.states {
        sides.each(state, |_, _, observation| _ = (observation != here).then(|| found.insert(observation)));
    }
    found.into_iter().collect()
}

/// Which steps of the specification go with which of the implementation: the same must be observed, up to repetition.
fn beside(sides: &Sides<'_>, observed: &[Option<Observation>], run: &Replayed) -> Result<Vec<Beside>, String> {
    let of = |state: &Vec<u32>| sides.lens.of_specification(sides.specification, state);
    let shown: Vec<Observation> = run.states.iter().map(of).collect();
    if observed.is_empty() {
        return Ok(Vec::new());
    }
    let (mut beside, mut at) = (Vec::new(), 0);
    for pair in observed.windows(2) {
        let from = at;
        if pair[0] != pair[1] {
            while Some(&shown[at]) == pair[0].as_ref() && at + 1 < shown.len() {
                at += 1;
            }
        }
        if Some(&shown[at]) != pair[1].as_ref() {
            return Err(format!("the specification's run shows something else after {at} steps"));
        }
        beside.push(Beside { steps: from..at });
    }
    if at + 1 != shown.len() {
        return Err("the specification's run goes on".to_owned());
    }
    Ok(beside)
}
