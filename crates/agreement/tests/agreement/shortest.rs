//! Breadth-first search, A*, A* on sets and bounded model checking: the same shortest run to each goal of random programs.

use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt;
use birk_engine::{GoalSet, Hunt, Job, Limits, Patient};
use birk_exec::{Directed, Heuristic, Interpreter};
use birk_ir::{Outcome, Stop};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 24;
/// Up to which depth bounded model checking looks for what cannot be reached.
const VAIN_DEPTH: u32 = 4;

/// How often each engine was asked, and of what use it was.
#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    /// Goals with a shortest run.
    reached: usize,
    longest: u32,
    /// Refused, or more memory was needed than such small programs get.
    left: usize,
}

/// What four engines say about each goal by itself.
fn agreed(case: &Case, tally: &mut Tally) -> Checked {
    let engine = |name: &str| {
        let mut rows = birk_search::ENGINES.iter().chain(birk_symbolic::ENGINES);
        rows.find(|row| row.name == name).expect("it is in the table")
    };
    for (number, goal) in case.goals.iter().enumerate() {
        let shortest = case.answer.shortest[number];
        let goals = std::slice::from_ref(goal);
        let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits { memory: 8 << 20, ..Limits::NONE }) };
        let bounded = Limits { depth: shortest.unwrap_or(VAIN_DEPTH), ..Limits::NONE };
        let bounded = Job { limits: bounded, ..job.clone() };
        let model = Interpreter::new(&case.program, goals);
        let directed = Directed::new(&model, vec![Heuristic::deepened(&case.program, goal)]);
        let answers: [(&str, Result<Hunt, String>); 4] = [
            ("bfs", Ok(hunt::of_model(engine("bfs"), &model, &job, &mut Patient))),
            ("astar", Ok(hunt::of_model(engine("astar"), &directed, &job, &mut Patient))),
            ("bdd-astar", hunt::of_program(engine("bdd-astar"), &case.program, goals, &job, &mut Patient)),
            ("bmc", hunt::of_program(engine("bmc"), &case.program, goals, &bounded, &mut Patient)),
        ];
        for (name, answer) in answers {
            let Some(hunt) = answer.ok().filter(|hunt| hunt.stopped != Stop::Memory) else {
                tally.left += 1;
                continue;
            };
            let found = match &hunt.outcomes[0] {
                Outcome::Found(trace) => Some(trace.steps.len() as u32),
                Outcome::Absent => None,
                // Only bounded model checking may not know.
                Outcome::Inconclusive if name == "bmc" && shortest.is_none() => None,
                Outcome::Untraced(_) | Outcome::Inconclusive => {
                    return Err(format!("{name} does not know about goal {number}"));
                }
            };
            same(&format!("{name}, goal {number}: steps"), &found, &shortest)?;
        }
        tally.reached += usize::from(shortest.is_some());
        tally.longest = tally.longest.max(shortest.unwrap_or(0));
    }
    tally.programs += 1;
    Ok(())
}

#[test]
fn four_engines_find_runs_of_the_same_length() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        agreed(&case, &mut tally).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{tally:?}");
    assert!(tally.left * 20 <= tally.programs, "more than 5 % are left: {tally:?}");
    assert!(tally.reached * 2 > tally.programs, "few goals are reached: {tally:?}");
}
