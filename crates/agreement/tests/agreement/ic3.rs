//! IC3 on random programs: what it proves is so, what it finds is there, and it decides most of what it is given.

use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, Subject, same, traces, truthful};
use birk_agreement::hunt::{self, Ends};
use birk_engine::{Engine, Job, Limits};
use birk_ir::{Coverage, Outcome, Stop};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 60;
/// A search is ended when it has asked so many times whether to go on.
const MOST: u32 = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    programs: usize,
    /// Could not be encoded.
    refused: usize,
    found: usize,
    proved: usize,
    open: usize,
}

pub(crate) fn ic3() -> &'static Engine {
    birk_symbolic::ENGINES.iter().find(|engine| engine.name == "ic3").expect("it is in the table")
}

pub(crate) fn decided(case: &Case, tally: &mut Tally) -> Checked {
    let job = Job { keep_going: true, ..Job::new(case.goals.len(), Limits::NONE) };
    let Ok(hunt) = hunt::of_program(ic3(), &case.program, &case.goals, &job, &mut Ends(MOST)) else {
        tally.refused += 1;
        return Ok(());
    };
    truthful(case, &hunt)?;
    traces(case, &Subject { shortest: false, hunt: &|_| unreachable!("it is over") }, &hunt)?;
    for (outcome, shortest) in hunt.outcomes.iter().zip(&case.answer.shortest) {
        match outcome {
            Outcome::Found(trace) => {
                let nearest = shortest.ok_or("something was found that is not there")?;
                same("not shorter than the shortest", &(trace.steps.len() >= nearest as usize), &true)?;
                tally.found += 1;
            }
            Outcome::Absent => {
                same("absent", &shortest.is_none(), &true)?;
                tally.proved += 1;
            }
            Outcome::Untraced(_) | Outcome::Inconclusive => {
                same("ended", &hunt.stopped, &Stop::Time)?;
                same("complete", &(hunt.coverage == Coverage::Complete), &false)?;
                tally.open += 1;
            }
        }
    }
    Ok(())
}

#[test]
fn invariants_prove_what_is_so_of_random_programs() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        tally.programs += 1;
        if let Err(why) = decided(&case, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    assert!(tally.found.min(tally.proved) > 20, "not everything was tried: {tally:?}");
    assert!(tally.open * 4 <= tally.found + tally.proved, "too much is left open: {tally:?}");
}
