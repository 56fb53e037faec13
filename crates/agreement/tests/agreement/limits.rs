//! Every limit with every engine, on random programs: wherever a limit ends a search, nothing is claimed that is not so, and a
//! search is complete only if nothing was left to explore.

use birk_engine::{GoalSet, Hunt, Job, Limits};
use birk_exec::Interpreter;
use birk_ir::{Branching, Coverage, Outcome, Stop};
use birk_search::ENGINES;

use crate::branching;
use birk_agreement::case::{Case, programs};
use birk_agreement::check::{Checked, Subject, same, traces, truthful};
use birk_agreement::hunt::{self, Ends};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 48;
/// In how many tests, so that they run beside each other.
const PARTS: u64 = 4;
/// Memory that is enough for such a program, and made ready soon.
const ENOUGH: u64 = 8 << 20;

/// Limits of every kind; the last is after how many questions the time is up.
fn all_limits(case: &Case) -> Vec<(String, Limits, u32)> {
    let usual = Limits { memory: ENOUGH, depth: 40, ..Limits::NONE };
    let none = Limits { memory: ENOUGH, ..Limits::NONE };
    let states = [0, 1, 2, case.answer.states.saturating_sub(1), case.answer.states];
    let depths = [0, 1, case.answer.depth.saturating_sub(1), case.answer.depth];
    let bytes = [1, 1 << 14, 1 << 18];
    let mut limits = Vec::new();
    limits.extend(states.map(|states| (format!("{states} states"), Limits { states, ..none }, u32::MAX)));
    limits.extend(depths.map(|depth| (format!("depth {depth}"), Limits { depth, ..none }, u32::MAX)));
    limits.extend(bytes.map(|memory| (format!("{memory} bytes"), Limits { memory, ..usual }, u32::MAX)));
    limits.extend([1, 2, 9].map(|asked| (format!("{asked} questions"), usual, asked)));
    limits
}

#[derive(Debug, Default)]
struct Tally {
    searches: usize,
    /// By what ended them.
    ended: [usize; 4],
    complete: usize,
    found: usize,
    /// Could not be encoded.
    refused: usize,
}

impl Tally {
    fn add(&mut self, hunt: &Hunt) {
        self.searches += 1;
        let stops = [Stop::States, Stop::Depth, Stop::Memory, Stop::Time];
        stops.iter().position(|stop| *stop == hunt.stopped).into_iter().for_each(|at| self.ended[at] += 1);
        self.complete += usize::from(hunt.coverage == Coverage::Complete);
        self.found += hunt.outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Found(_))).count();
    }
}

/// What is said at the end of a search, whatever ended it, is so.
fn honest(case: &Case, hunt: &Hunt, shortest: bool) -> Checked {
    let is_complete = hunt.coverage == Coverage::Complete;
    same("complete, exactly if nothing was left", &is_complete, &(hunt.stopped == Stop::Exhausted && is_complete))?;
    truthful(case, hunt)?;
    let is_counted = hunt.stats.sat().is_none();
    if is_complete && is_counted {
        same("states of a complete search", &hunt.stats.states, &case.answer.states)?;
    }
    same("states that there are", &(hunt.stats.states <= case.answer.states), &true)?;
    traces(case, &Subject { shortest, hunt: &|_| unreachable!("it is over") }, hunt)
}

/// Every engine, ended in every way, going on behind violations or not.
fn searched(case: &Case, tally: &mut Tally) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    for (limit, limits, asked) in all_limits(case) {
        for keep_going in [false, true] {
            let mut stop_at = GoalSet::default();
            let violations = case.program.properties.iter().enumerate().filter(|(_, property)| !property.wants_goal());
            violations.filter(|_| !keep_going).for_each(|(goal, _)| stop_at.insert(goal));
            let job = Job { stop_at, keep_going, ..Job::new(case.goals.len(), limits) };
            let named = |engine: &str, why: String| format!("{engine}, {limit}, keep going {keep_going}: {why}");
            for engine in ENGINES {
                let hunt = hunt::of_model(engine, &model, &job, &mut Ends(asked));
                tally.add(&hunt);
                honest(case, &hunt, engine.shortest).map_err(|why| named(engine.name, why))?;
            }
            for engine in birk_symbolic::ENGINES {
                // Runs that go round in circles have no end; some steps are enough.
                let depth = if engine.complete { limits.depth } else { limits.depth.min(4) };
                let job = Job { limits: Limits { depth, ..limits }, ..job.clone() };
                let hunt = hunt::of_program(engine, &case.program, &case.goals, &job, &mut Ends(asked));
                let Ok(hunt) = hunt else {
                    tally.refused += 1;
                    continue;
                };
                tally.add(&hunt);
                honest(case, &hunt, engine.shortest).map_err(|why| named(engine.name, why))?;
            }
        }
    }
    Ok(())
}

/// Formulas about branching, on sets: what is said of them under a limit is what the whole graph says.
fn decided(seed: u64, case: &Case, tally: &mut Tally) -> Checked {
    let formulas: Vec<Branching> = branching::formulas(seed, &case.program);
    let truth = |formula| branching::is_true_somewhere(&case.program, formula);
    let truths = formulas.iter().map(truth).collect::<Result<Vec<bool>, String>>()?;
    for (limit, limits, asked) in all_limits(case) {
        for engine in birk_symbolic::ENGINES {
            let Some(decision) = engine.mu_calculus else { continue };
            let job = Job { keep_going: true, ..Job::new(formulas.len(), limits) };
            let Ok(hunt) = decision(&case.program, &formulas, &job, &mut Ends(asked)) else {
                tally.refused += 1;
                continue;
            };
            tally.add(&hunt);
            let is_complete = hunt.coverage == Coverage::Complete;
            for ((outcome, truth), formula) in hunt.outcomes.iter().zip(&truths).zip(&formulas) {
                let is_so = match outcome {
                    Outcome::Found(_) => *truth,
                    Outcome::Absent => !truth,
                    Outcome::Untraced(_) => false,
                    Outcome::Inconclusive => !is_complete,
                };
                let named = |why| format!("{}, {limit}, {}: {why}", engine.name, case.program.branching_text(formula));
                same("so", &is_so, &true).map_err(named)?;
            }
        }
    }
    Ok(())
}

fn look(part: u64) {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS).filter(|(seed, ..)| seed % PARTS == part) {
        // Sets of many states, with so many limits, take too long for a test.
        if case.answer.states > 300 {
            continue;
        }
        let checked = searched(&case, &mut tally).and_then(|()| decided(seed, &case, &mut tally));
        checked.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{tally:?}");
    let least = tally.ended.into_iter().min().expect("there are four");
    assert!(least.min(tally.complete).min(tally.found) > 0, "not everything was tried: {tally:?}");
    assert!(tally.refused * 20 <= tally.searches, "more than 5 % are refused: {tally:?}");
}

#[test]
fn every_limit_with_every_engine_0() {
    look(0);
}

#[test]
fn every_limit_with_every_engine_1() {
    look(1);
}

#[test]
fn every_limit_with_every_engine_2() {
    look(2);
}

#[test]
fn every_limit_with_every_engine_3() {
    look(3);
}
