//! The agreement check: what a search says about a program against what the reference says.

use std::fmt::Debug;

use birk_engine::{GoalSet, Hunt, Job, Limits};
use birk_exec::{replay, replay::replay_ordinals};
use birk_ir::{Coverage, Outcome, Stop, Trace, Verdict};

use crate::case::Case;

/// A search to be held against the reference.
pub struct Subject<'a> {
    /// It promises shortest traces, and goes level by level.
    pub shortest: bool,
    /// The search.
    pub hunt: &'a dyn Fn(&Job) -> Hunt,
}

/// What differs, if something does.
pub type Checked = Result<(), String>;

/// Says what differs, if something does. The depth limits tried are `depth` and that of the deepest state.
pub fn check(case: &Case, subject: &Subject<'_>, depth: u32) -> Checked {
    explored_to_the_end(case, subject).map_err(|why| format!("keep going: {why}"))?;
    ended_at_a_goal(case, subject).map_err(|why| format!("ending at a goal: {why}"))?;
    for depth in [depth, case.answer.depth] {
        limited(case, subject, depth).map_err(|why| format!("depth limit {depth}: {why}"))?;
    }
    Ok(())
}

/// Says what was found where something else was expected.
pub fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Checked {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}")) }
}

fn job(case: &Case, depth: u32) -> Job {
    Job { keep_going: true, ..Job::new(case.goals.len(), Limits { depth, ..Limits::NONE }) }
}

/// Everything is explored: the counts are the reference's, and every goal that can be reached is found.
fn explored_to_the_end(case: &Case, subject: &Subject<'_>) -> Checked {
    let hunt = (subject.hunt)(&job(case, u32::MAX));
    let answer = &case.answer;
    same("coverage", &hunt.coverage, &Coverage::Complete)?;
    same("stop", &hunt.stopped, &Stop::Exhausted)?;
    same("states", &hunt.stats.states, &answer.states)?;
    same("transitions", &hunt.stats.transitions, &answer.transitions)?;
    same("cut", &hunt.stats.cut, &answer.cut)?;
    same("fired", &hunt.fired, &case.survey.fired)?;
    // Sets that are not reached level by level have no depth, and say so.
    let has_levels = hunt.stats.bdd().is_none_or(|sets| sets.depth.is_some());
    if subject.shortest && has_levels {
        same("depth", &hunt.stats.max_depth, &answer.depth)?;
        same("levels", &hunt.stats.levels, &answer.levels)?;
    }
    for goal in 0..case.goals.len() {
        let is_found = matches!(hunt.outcomes[goal], Outcome::Found(_));
        same(&named(case, goal, "found"), &is_found, &answer.shortest[goal].is_some())?;
        same(&named(case, goal, "left open"), &(hunt.outcomes[goal] == Outcome::Inconclusive), &false)?;
    }
    traces(case, subject, &hunt)
}

/// As the command searches: it ends at the first bad news, or when there is nothing more to learn.
fn ended_at_a_goal(case: &Case, subject: &Subject<'_>) -> Checked {
    let mut stop_at = GoalSet::default();
    for (goal, property) in case.program.properties.iter().enumerate() {
        if !property.wants_goal() {
            stop_at.insert(goal);
        }
    }
    let hunt = (subject.hunt)(&Job { stop_at, keep_going: false, ..job(case, u32::MAX) });
    let shortest = &case.answer.shortest;
    let nearest = stop_at.iter().filter_map(|goal| shortest[goal]).min();
    let ends = nearest.is_some() || shortest.iter().all(Option::is_some);
    same("stop", &hunt.stopped, &if ends { Stop::Goal } else { Stop::Exhausted })?;
    if let Some(nearest) = nearest {
        let lengths = stop_at.iter().filter_map(|goal| length(&hunt.outcomes[goal])).min();
        let Some(length) = lengths else { return Err("it ended at a goal that it did not find".to_owned()) };
        let right = if subject.shortest { length == nearest } else { length >= nearest };
        same("the trace to the nearest goal is as short as promised", &right, &true)?;
    }
    same("complete", &(hunt.coverage == Coverage::Complete), &!ends)?;
    truthful(case, &hunt)?;
    traces(case, subject, &hunt)
}

/// With a depth limit: an engine that goes by depth finds what is near enough, and says whether that was all.
fn limited(case: &Case, subject: &Subject<'_>, depth: u32) -> Checked {
    let hunt = (subject.hunt)(&job(case, depth));
    truthful(case, &hunt)?;
    traces(case, subject, &hunt)?;
    for outcome in &hunt.outcomes {
        same("a trace beyond the limit", &length(outcome).is_some_and(|length| length > depth), &false)?;
    }
    if !subject.shortest {
        return Ok(());
    }
    let near = (depth as usize + 1).min(case.answer.levels.len());
    same("levels", &hunt.stats.levels, &case.answer.levels[..near].to_vec())?;
    same("states", &hunt.stats.states, &case.answer.levels[..near].iter().sum())?;
    let steps = case.survey.steps.iter().take(depth as usize + 1).sum();
    same("transitions", &hunt.stats.transitions, &steps)?;
    let closed = case.survey.deepest <= depth;
    let (coverage, stop) =
        if closed { (Coverage::Complete, Stop::Exhausted) } else { (Coverage::Depth(depth), Stop::Depth) };
    same("coverage", &hunt.coverage, &coverage)?;
    same("stop", &hunt.stopped, &stop)?;
    for goal in 0..case.goals.len() {
        let is_near = case.answer.shortest[goal].is_some_and(|shortest| shortest <= depth);
        let is_found = matches!(hunt.outcomes[goal], Outcome::Found(_));
        same(&named(case, goal, "found"), &is_found, &is_near)?;
    }
    Ok(())
}

/// Nothing is claimed that is not so: neither by an outcome, nor by the coverage, nor by a verdict.
pub fn truthful(case: &Case, hunt: &Hunt) -> Checked {
    let examined = |depth: u32| match hunt.coverage {
        Coverage::Complete => true,
        Coverage::Depth(covered) => depth <= covered,
        Coverage::Hashed { .. } | Coverage::Partial(_) => false,
    };
    for (goal, property) in case.program.properties.iter().enumerate() {
        let shortest = case.answer.shortest[goal];
        let outcome = &hunt.outcomes[goal];
        let right = match outcome {
            Outcome::Found(_) => shortest.is_some(),
            Outcome::Absent => shortest.is_none(),
            Outcome::Untraced(length) => shortest.is_some_and(|shortest| shortest <= *length),
            Outcome::Inconclusive => hunt.coverage != Coverage::Complete && !shortest.is_some_and(examined),
        };
        same(&named(case, goal, "truthful"), &right, &true)?;
        let truth = if shortest.is_some() == property.wants_goal() { Verdict::Holds } else { Verdict::Violated };
        let verdict = property.verdict(outcome);
        same(&named(case, goal, "verdict"), &(verdict == truth || verdict == Verdict::Inconclusive), &true)?;
    }
    Ok(())
}

/// Every trace replays, shows what it claims, and is as short as promised.
pub fn traces(case: &Case, subject: &Subject<'_>, hunt: &Hunt) -> Checked {
    for (goal, outcome) in hunt.outcomes.iter().enumerate() {
        let Outcome::Found(trace) = outcome else { continue };
        replayed(case, goal, trace).map_err(|why| named(case, goal, &why))?;
        let length = trace.steps.len() as u32;
        match case.answer.shortest[goal] {
            Some(shortest) if length == shortest || (length > shortest && !subject.shortest) => {}
            shortest => return Err(named(case, goal, &format!("a trace of {length} steps, shortest {shortest:?}"))),
        }
    }
    Ok(())
}

fn replayed(case: &Case, goal: usize, trace: &Trace) -> Checked {
    let run = replay(&case.program, trace).map_err(|error| error.to_string())?;
    run.confirm(&case.program, &case.program.properties[goal]).map_err(|error| error.to_string())?;
    let again =
        replay_ordinals(&case.program, trace.initial, &run.ordinals, None).map_err(|error| error.to_string())?;
    same("the run by ordinals", &again.states, &run.states)
}

fn length(outcome: &Outcome) -> Option<u32> {
    match outcome {
        Outcome::Found(trace) => Some(trace.steps.len() as u32),
        Outcome::Absent | Outcome::Untraced(_) | Outcome::Inconclusive => None,
    }
}

fn named(case: &Case, goal: usize, what: &str) -> String {
    format!("`{}`: {what}", case.program.properties[goal].name)
}
