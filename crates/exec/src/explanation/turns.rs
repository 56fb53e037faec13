//! Of all executions to the goal of at most so many steps, one with the fewest context switches, and of those a shortest one.
//!
//! What counts is the state and who moved last. Such a pair is visited again only with fewer switches than before: whatever can be done
//! with more steps and no fewer switches can be done without them.

use std::collections::HashMap;

use birk_ir::{Step, ThreadId, Trace};

use super::graph::{Graph, OutOfWork};

/// An execution, as its last step and the number of the one before it.
struct Visit {
    state: usize,
    last: Option<ThreadId>,
    switches: u32,
    from: Option<(usize, Step)>,
}

/// Nothing if there is no execution of at most so many steps.
pub(super) fn fewest(graph: &mut Graph<'_>, steps: u32) -> Result<Option<Trace>, OutOfWork> {
    let initial: Vec<Vec<u32>> = graph.program.initial_states();
    let mut visits: Vec<Visit> = Vec::new();
    for state in &initial {
        visits.push(Visit { state: graph.number(state), last: None, switches: 0, from: None });
    }
    let mut best: HashMap<(usize, Option<ThreadId>), u32> = HashMap::new();
    let mut goal: Option<usize> = None;
    let mut level = 0..visits.len();
    for left in (0..=steps).rev() {
        for at in level.clone() {
            let Visit { state, last, switches, .. } = visits[at];
            let least = goal.map_or(u32::MAX, |goal| visits[goal].switches);
            if switches >= least || best.get(&(state, last)) != Some(&switches) && last.is_some() {
                continue;
            }
            let node = graph.node(state)?;
            if node.is_goal {
                goal = Some(at);
                continue;
            }
            for &(step, to) in node.steps.iter().filter(|_| left > 0) {
                let thread = graph.program.transition(step.transition).thread;
                let switches = switches + u32::from(last.is_some_and(|last| last != thread));
                let known = best.entry((to, Some(thread))).or_insert(u32::MAX);
                if switches < *known {
                    *known = switches;
                    visits.push(Visit { state: to, last: Some(thread), switches, from: Some((at, step)) });
                }
            }
        }
        level = level.end..visits.len();
        if level.is_empty() {
            break;
        }
    }
    Ok(goal.map(|goal| followed(&visits, goal)))
}

/// The execution that ends with a visit.
fn followed(visits: &[Visit], last: usize) -> Trace {
    let (mut here, mut steps) = (last, Vec::new());
    while let Some((before, step)) = visits[here].from {
        steps.push(step);
        here = before;
    }
    steps.reverse();
    Trace { initial: here as u32, steps, loop_start: None }
}
