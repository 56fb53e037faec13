//! Which steps commute, for people: for each pair of transitions of different threads why they do, or a state in which they do
//! not.

use std::collections::BTreeSet;

use birk_engine::{Model as _, Successors};
use birk_ir::{Program, TransitionId};

use super::footprint::Footprint;
use super::relations::Oracle;
use crate::interpreter::Interpreter;

/// What is known of two transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Independence {
    /// Neither touches what the other writes.
    Apart,
    /// They are never enabled together.
    Exclusive,
    /// It was proved that they commute wherever both are enabled.
    Proved,
    /// They do not commute in this state, which need not be reachable.
    Conflict(Vec<u32>, Conflict),
    /// It could not be found out: they count as dependent.
    Unknown,
}

/// How the order of two transitions matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The first disables the second.
    FirstDisables,
    /// The second disables the first.
    SecondDisables,
    /// Whether a check fails depends on the order.
    Fails,
    /// Both orders are possible, with different ends.
    Ends,
}

/// Calls `hear` with each pair of transitions of different threads and what is known of it.
pub fn independence(
    program: &Program,
    oracle: &mut dyn Oracle,
    mut hear: impl FnMut(TransitionId, TransitionId, Independence),
) {
    let footprints: Vec<Footprint> = program.transitions.iter().map(|t| Footprint::new(program, t)).collect();
    let model = Interpreter::new(program, &[]);
    for (one, first) in footprints.iter().enumerate() {
        for (other, second) in footprints.iter().enumerate().skip(one + 1) {
            if program.transitions[one].thread == program.transitions[other].thread {
                continue;
            }
            let (first_id, second_id) = (TransitionId::new(one), TransitionId::new(other));
            let known = if first.excludes(second) {
                Independence::Exclusive
            } else if first.is_apart_from(second) {
                Independence::Apart
            } else if oracle.accord(one, other) {
                Independence::Proved
            } else {
                let shown = oracle.conflict(one, other).and_then(|state| {
                    let how = conflict(&model, &state, first_id, second_id)?;
                    Some(Independence::Conflict(state, how))
                });
                shown.unwrap_or(Independence::Unknown)
            };
            hear(first_id, second_id, known);
        }
    }
}

/// How the order of two transitions matters in a state, as the interpreter sees it; nothing if it does not.
fn conflict(model: &Interpreter<'_>, state: &[u32], one: TransitionId, other: TransitionId) -> Option<Conflict> {
    let mut batch = Successors::new(model.words());
    let mut by = |state: &[u32], transition: TransitionId| {
        batch.clear();
        model.successors(state, &mut batch);
        let taken = (0..batch.len()).filter(|&i| batch.step(i).transition == transition);
        taken.map(|i| batch.state(i).to_vec()).collect::<BTreeSet<_>>()
    };
    let (first, second) = (by(state, one), by(state, other));
    let fails = |states: &BTreeSet<Vec<u32>>| states.iter().any(|state| model.is_fault(state));
    // One after the other, where the first does not fail.
    let mut then = |states: &BTreeSet<Vec<u32>>, next| -> Option<(BTreeSet<Vec<u32>>, bool)> {
        let whole: Vec<&Vec<u32>> = states.iter().filter(|state| !model.is_fault(state)).collect();
        if whole.is_empty() {
            return None;
        }
        let ends: BTreeSet<Vec<u32>> = whole.into_iter().flat_map(|state| by(state, next)).collect();
        let is_failing = fails(&ends);
        Some((ends, is_failing))
    };
    let (first_then, second_then) = (then(&first, other), then(&second, one));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    if first_then.as_ref().is_some_and(|(ends, _)| ends.is_empty()) {
        return Some(Conflict::FirstDisables);
    }
    if second_then.as_ref().is_some_and(|(ends, _)| ends.is_empty()) {
        return Some(Conflict::SecondDisables);
    }
    let is_failing = |then: &Option<(_, bool)>, before: bool| then.as_ref().is_some_and(|(_, after)| *after != before);
    if is_failing(&first_then, fails(&second)) || is_failing(&second_then, fails(&first)) {
        return Some(Conflict::Fails);
    }
    let ends = |then: Option<(BTreeSet<Vec<u32>>, bool)>| then.map(|(ends, _)| ends);
    (ends(first_then) != ends(second_then)).then_some(Conflict::Ends)
}
