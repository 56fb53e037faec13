//! From which step of a run on every execution leads where it leads: nothing that any thread does avoids it any more.
//!
//! A state is doomed if it is a goal, or if it has steps and all of them lead to doomed states. A depth-first search from a state of the
//! run either meets only such states, or finds an execution that goes round or ends without a goal.

use std::collections::{HashMap, HashSet};

use birk_ir::{Step, Trace};

use super::Run;
use super::graph::{Graph, OutOfWork};
use crate::replay::{ReplayError, replay};

/// An execution that leaves the run at the last step at which that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The step in whose place another one is taken, from 0.
    pub instead_of: usize,
    /// That other step.
    pub step: Step,
    /// The execution. It goes round, or ends.
    pub trace: Trace,
    /// The state after the step that is taken instead.
    pub after: Vec<u32>,
    /// How it ends.
    pub end: EscapeEnd,
}

/// How an execution goes on that avoids something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeEnd {
    /// Round and round.
    Forever,
    /// It ends: no step is possible.
    Ends,
    /// It ends with a runtime error, which was not asked about.
    Fault,
}

/// What cannot be avoided.
pub(super) struct Doomed {
    /// After so many steps of the run that is left.
    pub(super) after: usize,
    pub(super) escape: Option<Escape>,
}

pub(super) fn unavoidable(graph: &mut Graph<'_>, run: &Run) -> Result<Doomed, ReplayError> {
    let mut doomed = HashSet::from([run.states[run.steps.len()]]);
    for at in (0..run.steps.len()).rev() {
        let Ok(found) = avoiding(graph, run.states[at], &mut doomed) else {
            return Ok(Doomed { after: at + 1, escape: None });
        };
        let Some(way) = found else { continue };
        let mut trace = run.trace(at);
        trace.steps.extend(&way.steps);
        trace.loop_start = way.back_to.map(|place| at + place).or(Some(trace.steps.len()));
        if way.end == EscapeEnd::Fault {
            trace.loop_start = None;
        }
        let replayed = replay(graph.program, &trace)?;
        if trace.loop_start.is_some() {
            replayed.closes(graph.program)?;
        }
        // It cannot end where it begins: from there the run goes on.
        let after = replayed.states[at + 1].clone();
        let escape = Escape { instead_of: run.kept[at], step: way.steps[0], trace, after, end: way.end };
        return Ok(Doomed { after: at + 1, escape: Some(escape) });
    }
    Ok(Doomed { after: 0, escape: None })
}

/// Steps that avoid the goal, from a state on.
struct Way {
    steps: Vec<Step>,
    /// After so many of them, the execution is where it is at their end.
    back_to: Option<usize>,
    end: EscapeEnd,
}

/// A way on which the goal is avoided, unless there is none; what is doomed is noted.
fn avoiding(graph: &mut Graph<'_>, from: usize, doomed: &mut HashSet<usize>) -> Result<Option<Way>, OutOfWork> {
    // The path: each state with the position of its next step; and the places of its states.
    let mut path: Vec<(usize, usize)> = vec![(from, 0)];
    let mut places: HashMap<usize, usize> = HashMap::from([(from, 0)]);
    while let Some(&(state, next)) = path.last() {
        let node = graph.node(state)?;
        if next == 0 && !node.is_goal && node.steps.is_empty() && !node.is_pruned {
            let end = if node.is_fault { EscapeEnd::Fault } else { EscapeEnd::Ends };
            return Ok(Some(Way { steps: taken(graph, &path)?, back_to: None, end }));
        }
        match node.steps.get(next).filter(|_| !node.is_goal) {
            None => {
                doomed.insert(state);
                places.remove(&state);
                path.pop();
            }
            Some(&(_, to)) => {
                path.last_mut().expect("the path has this state").1 += 1;
                if doomed.contains(&to) {
                    continue;
                }
                if let Some(&place) = places.get(&to) {
                    let (steps, end) = (taken(graph, &path)?, EscapeEnd::Forever);
                    return Ok(Some(Way { steps, back_to: Some(place), end }));
                }
                places.insert(to, path.len());
                path.push((to, 0));
            }
        }
    }
    Ok(None)
}

/// The steps that are taken on a path.
fn taken(graph: &mut Graph<'_>, path: &[(usize, usize)]) -> Result<Vec<Step>, OutOfWork> {
    let taken = path.iter().filter(|(_, next)| *next > 0);
    taken.map(|&(state, next)| Ok(graph.node(state)?.steps[next - 1].0)).collect()
}
