//! Runs with the fewest context switches on random programs: as short as the reference says, real, and with no more switches than the
//! best of all runs of that length, which a search forwards through all of them finds.

use std::collections::HashMap;

use birk_agreement::case::{Case, programs, seeds};
use birk_agreement::check::{Checked, same};
use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, fewest_switches, fewest_switches_within, replay};
use birk_ir::{ThreadId, TransitionId};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 120;
/// So much longer may executions be that have fewer switches.
const MORE: u32 = 3;
/// Programs with more states are left out, unless the environment asks for more programs.
const MOST_STATES: u64 = 1_000;

#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    /// Of which some have more switches than others.
    differ: u64,
    switches: u64,
    /// Longer ones that have fewer.
    fewer: u64,
}

/// The fewest and the most switches of all runs of this length to a goal.
fn extremes(case: &Case, model: &Interpreter<'_>, goal: usize, length: u32) -> Option<(u32, u32)> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let thread = |id: TransitionId| case.program.transition(id).thread;
    let mut here: HashMap<(Vec<u32>, Option<ThreadId>), (u32, u32)> = HashMap::new();
    (0..batch.len()).for_each(|index| _ = here.insert((batch.state(index).to_vec(), None), (0, 0)));
    for _ in 0..length {
        let mut next: HashMap<(Vec<u32>, Option<ThreadId>), (u32, u32)> = HashMap::new();
        for ((state, last), (fewest, most)) in here {
            if model.is_fault(&state) {
                continue;
            }
            batch.clear();
            model.successors(&state, &mut batch);
            for index in 0..batch.len() {
                let moved = thread(batch.step(index).transition);
                let switch = u32::from(last.is_some_and(|last| last != moved));
                let both = next.entry((batch.state(index).to_vec(), Some(moved))).or_insert((u32::MAX, 0));
                *both = (both.0.min(fewest + switch), both.1.max(most + switch));
            }
        }
        here = next;
    }
    let mut is_goal = |state: &[u32]| {
        batch.clear();
        let cut = batch.cut;
        if !model.is_fault(state) {
            model.successors(state, &mut batch);
        }
        let is_stuck = !model.is_fault(state) && batch.is_stuck_since(0, cut);
        model.evaluate(state, is_stuck).contains(goal)
    };
    let goals: Vec<(u32, u32)> =
        here.into_iter().filter(|((state, _), _)| is_goal(state)).map(|(_, both)| both).collect();
    goals.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

fn agreed(case: &Case, tally: &mut Tally) -> Checked {
    if case.answer.states > MOST_STATES && seeds(PROGRAMS) <= PROGRAMS {
        return Ok(());
    }
    let model = Interpreter::new(&case.program, &case.goals);
    for (goal, shortest) in case.answer.shortest.iter().enumerate() {
        let found = fewest_switches(&case.program, &model, goal, shortest.unwrap_or(40), usize::MAX);
        same(&format!("length of goal {goal}"), &found.as_ref().map(|trace| trace.steps.len() as u32), shortest)?;
        let (Some(trace), Some(length)) = (found, *shortest) else { continue };
        let property = &case.program.properties[goal];
        let run = replay(&case.program, &trace).map_err(|error| format!("goal {goal}: {error:?}"))?;
        run.confirm(&case.program, property).map_err(|error| format!("goal {goal}: {error:?}"))?;
        let thread = |at: usize| case.program.transition(trace.steps[at].transition).thread;
        let switches = (1..trace.steps.len()).filter(|&at| thread(at) != thread(at - 1)).count() as u32;
        let (fewest, most) = extremes(case, &model, goal, length).ok_or("there is no such run")?;
        same(&format!("switches to goal {goal}"), &switches, &fewest)?;
        tally.runs += 1;
        tally.differ += u64::from(fewest < most);
        tally.switches += u64::from(switches);
        let (trace, within) = (fewest_switches_within(&case.program, property, length + MORE, u64::MAX), length + MORE);
        let run = replay(&case.program, &trace.ok_or("there is a run")?).map_err(|error| format!("{error:?}"))?;
        run.confirm(&case.program, property).map_err(|error| format!("goal {goal}: {error:?}"))?;
        same("it is short enough", &(run.steps.len() as u32 <= within), &true)?;
        let thread = |at: usize| case.program.transition(run.steps[at].transition).thread;
        let switches = (1..run.steps.len()).filter(|&at| thread(at) != thread(at - 1)).count() as u32;
        let least = (length..=within).filter_map(|steps| extremes(case, &model, goal, steps)).map(|both| both.0).min();
        same(&format!("switches to goal {goal} within {within}"), &Some(switches), &least)?;
        tally.fewer += u64::from(switches < fewest);
        // Without room nothing is said.
        let none = fewest_switches(&case.program, &model, goal, length, 1);
        same("with one word", &(length > 0 && none.is_some()), &false)?;
    }
    Ok(())
}

#[test]
fn no_shortest_run_has_fewer_switches() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        agreed(&case, &mut tally).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{tally:?}");
    assert!(tally.runs > 20 && tally.differ > 5 && tally.switches > 0 && tally.fewer > 0, "{tally:?}");
}
