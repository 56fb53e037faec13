//! Bounded model checking on random programs: the same shortest runs as the reference, and nothing claimed that is not so.

use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, Subject, same, traces, truthful};
use birk_agreement::hunt::{self, Ends};
use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Patient};
use birk_ir::{Coverage, Outcome, Stop};

/// How many programs are examined, unless the environment says otherwise, and how deep.
const PROGRAMS: u64 = 60;
const DEPTH: u32 = 7;

/// What became of some programs.
#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    /// Could not be encoded.
    refused: usize,
    found: usize,
    /// Goals that were proved to be out of reach by induction, although there are states beyond the depth.
    proved: usize,
}

fn bmc() -> &'static Engine {
    birk_symbolic::ENGINES.iter().find(|engine| engine.name == "bmc").expect("it is in the table")
}

fn job(case: &Case, keep_going: bool, depth: u32) -> Job {
    let mut stop_at = GoalSet::default();
    let violations = case.program.properties.iter().enumerate().filter(|(_, property)| !property.wants_goal());
    violations.filter(|_| !keep_going).for_each(|(goal, _)| stop_at.insert(goal));
    Job { stop_at, keep_going, ..Job::new(case.goals.len(), Limits { depth, ..Limits::NONE }) }
}

/// A way to change what a search answers.
type Bend = fn(&mut Hunt);

/// A search, perhaps bent, of one program.
fn bounded(case: &Case, tally: &mut Tally, bend: Bend) -> Checked {
    let ask =
        |keep_going| hunt::of_program(bmc(), &case.program, &case.goals, &job(case, keep_going, DEPTH), &mut Patient);
    let Ok(mut hunt) = ask(true) else {
        tally.refused += 1;
        return Ok(());
    };
    bend(&mut hunt);
    honest(case, &hunt)?;
    for (goal, outcome) in hunt.outcomes.iter().enumerate() {
        let is_near = case.answer.shortest[goal].is_some_and(|shortest| shortest <= DEPTH);
        same("found", &matches!(outcome, Outcome::Found(_)), &is_near)?;
        tally.found += usize::from(is_near);
        tally.proved += usize::from(*outcome == Outcome::Absent && case.survey.deepest > DEPTH);
    }
    let hunt = ask(false)?;
    honest(case, &hunt)?;
    let violations = case.program.properties.iter().zip(&case.answer.shortest).filter(|(p, _)| !p.wants_goal());
    if let Some(nearest) = violations.filter_map(|(_, shortest)| *shortest).min().filter(|&steps| steps <= DEPTH) {
        same("stop", &hunt.stopped, &Stop::Goal)?;
        same("covered", &hunt.coverage, &Coverage::Depth(nearest))?;
    }
    Ok(())
}

fn honest(case: &Case, hunt: &Hunt) -> Checked {
    truthful(case, hunt)?;
    traces(case, &Subject { shortest: true, hunt: &|_| unreachable!("it is over") }, hunt)?;
    match (hunt.stopped, &hunt.coverage) {
        (Stop::Exhausted, Coverage::Complete) | (Stop::Goal, Coverage::Depth(0..=DEPTH)) => Ok(()),
        // Whether anything lies beyond, runs that go round in circles do not tell.
        (Stop::Depth, Coverage::Depth(DEPTH)) => Ok(()),
        other => Err(format!("it ended with {other:?}")),
    }
}

#[test]
fn clauses_find_the_shortest_runs_of_random_programs() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        tally.programs += 1;
        if let Err(why) = bounded(&case, &mut tally, |_| {}) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    assert!(tally.refused * 20 <= tally.programs, "more than 5 % are refused: {tally:?}");
    assert!(tally.found.min(tally.proved) > 0, "not everything was tried: {tally:?}");
}

/// Wherever it is ended, also while it encodes a step or the solver works, it claims only what it knows.
#[test]
fn a_search_of_clauses_can_be_ended() {
    let mut ended = 0;
    for (seed, text, case) in programs(PROGRAMS).take(12) {
        for asked in [1, 2, 9, 40, 200] {
            let job = job(&case, true, DEPTH);
            let Ok(hunt) = hunt::of_program(bmc(), &case.program, &case.goals, &job, &mut Ends(asked)) else {
                continue;
            };
            let subject = Subject { shortest: true, hunt: &|_| unreachable!("it is over") };
            let checked = truthful(&case, &hunt).and_then(|()| traces(&case, &subject, &hunt));
            checked.unwrap_or_else(|why| panic!("seed {seed}, asked {asked} times: {why}\n{text}"));
            if hunt.stopped == Stop::Time {
                assert_ne!(hunt.coverage, Coverage::Complete, "seed {seed}, asked {asked} times");
                ended += 1;
            }
        }
    }
    assert!(ended > 12, "only {ended} searches were ended");
}

/// What a search must not get wrong; each is noticed.
#[test]
fn bent_answers_of_clauses_are_noticed() {
    let bends: [(&str, Bend); 4] = [
        ("a run is forgotten", |hunt| {
            let found = hunt.outcomes.iter_mut().find(|outcome| matches!(outcome, Outcome::Found(_)));
            found.into_iter().for_each(|outcome| *outcome = Outcome::Inconclusive);
        }),
        ("what is open is proved", |hunt| {
            let open = hunt.outcomes.iter_mut().find(|outcome| **outcome == Outcome::Inconclusive);
            open.into_iter().for_each(|outcome| *outcome = Outcome::Absent);
        }),
        ("a run lacks its last step", |hunt| {
            for outcome in &mut hunt.outcomes {
                if let Outcome::Found(trace) = outcome {
                    trace.steps.pop();
                }
            }
        }),
        ("complete", |hunt| hunt.coverage = Coverage::Complete),
    ];
    let cases: Vec<Case> = programs(PROGRAMS).take(40).map(|(.., case)| case).collect();
    for (what, bend) in bends {
        let notices = |case: &Case| bounded(case, &mut Tally::default(), bend).is_err();
        assert!(cases.iter().any(notices), "nobody notices: {what}");
    }
}
