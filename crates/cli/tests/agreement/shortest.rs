//! Breadth-first search, A*, A* on sets and bounded model checking: the same shortest run to each goal of random programs.

use birk_exec::{Directed, GoalSet, Heuristic, Interpreter};
use birk_ir::{Outcome, Stop};
use birk_search::job::Patient;
use birk_search::{Hunt, Job, Limits, engine};

use crate::case::{Case, programs};
use crate::check::{Checked, same};

/// How many programs are looked at, unless the environment says otherwise.
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
    let set = |name: &str| birk_symbolic::ENGINES.iter().find(|row| row.name == name).expect("it is in the table");
    let explicit = |name: &str| engine(name).expect("it is in the table");
    for (number, goal) in case.goals.iter().enumerate() {
        let shortest = case.answer.shortest[number];
        let goals = std::slice::from_ref(goal);
        let mut stop_at = GoalSet::default();
        stop_at.insert(0);
        let limits = Limits { memory: 8 << 20, ..Limits::NONE };
        let job = Job { goals: 1, stop_at, keep_going: false, limits };
        let bounded = Limits { depth: shortest.unwrap_or(VAIN_DEPTH), ..Limits::NONE };
        let bounded = Job { limits: bounded, ..job.clone() };
        let model = Interpreter::new(&case.program, goals);
        let directed = Directed::new(&model, vec![Heuristic::deepened(&case.program, goal)]);
        let answers: [(&str, Result<Hunt, String>); 4] = [
            ("bfs", Ok((explicit("bfs").hunt)(&model, &job, &mut Patient))),
            ("astar", Ok((explicit("astar").hunt)(&directed, &job, &mut Patient))),
            ("bdd-astar", (set("bdd-astar").hunt)(&case.program, goals, &job, &mut Patient)),
            ("bmc", (set("bmc").hunt)(&case.program, goals, &bounded, &mut Patient)),
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
