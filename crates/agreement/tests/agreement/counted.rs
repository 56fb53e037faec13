//! A program that counts how often an automaton accepts its runs says of them what the search for cycles says.

use birk::certificate::{self, Bound};
use birk::certify::Refusal;
use birk::{Engines, Options, Patient, check};
use birk_engine::{Job, Limits};
use birk_exec::automaton::violations_of;
use birk_exec::{Counted, Fairness, Interpreter, replay};
use birk_ir::{Expr, Formula, Outcome, Program, Property, PropertyKind, Verdict};

use crate::branching::is_true_of_runs;
use crate::ic3::ic3;
use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::hunt;
use birk_agreement::programs::fair::small;
use birk_agreement::random::{Draw as _, Random};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 120;
/// So many formulas of each.
const FORMULAS: usize = 4;
/// A program with fewer states, counted so far, has no run that is accepted more often and holds all the same, where guards say what is
/// possible.
const MANY: u32 = 30;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// By the verdict.
    formulas: [usize; 2],
    fair: usize,
    /// By the bound that proves them: 0, some, none that was tried.
    bounds: [usize; 3],
    lassos: usize,
    refused: usize,
}

/// Programs with few states, and atoms for formulas about them.
fn programs(usually: u64) -> impl Iterator<Item = (u64, String, Case, Vec<Expr>)> {
    (0..case::seeds(usually)).filter_map(|seed| {
        let text = small(seed ^ 0xc0);
        let case = case::make(&text).usable().filter(|case| case.answer.states < 60)?;
        let atoms: Vec<Expr> = (case.program.visible_elements())
            .filter(|&(variable, _)| case.program.variable(variable).shape.is_empty())
            .map(|(variable, _)| Expr::Var(variable).equals(case.program.variable(variable).hi))
            .collect();
        (!atoms.is_empty()).then_some((seed, text, case, atoms))
    })
}

fn drawn(random: &mut Random, atoms: &[Expr], depth: usize) -> Formula {
    let two = |random: &mut Random| Box::new((drawn(random, atoms, depth - 1), drawn(random, atoms, depth - 1)));
    match if depth == 0 { 0 } else { random.below(9) } {
        0 => Formula::Atom(random.pick(atoms).clone()),
        1 => Formula::Not(Box::new(drawn(random, atoms, depth - 1))),
        2 | 3 => Formula::Always(Box::new(drawn(random, atoms, depth - 1))),
        4 | 5 => Formula::Eventually(Box::new(drawn(random, atoms, depth - 1))),
        6 => Formula::And(two(random)),
        7 => Formula::Or(two(random)),
        _ => Formula::Until(two(random)),
    }
}

/// Whether some run is accepted more than `bound` times, by a search of all states; and the trace to it.
fn more_than(counted: &Counted) -> Outcome {
    let goals = [counted.goal()];
    let model = Interpreter::new(&counted.program, &goals);
    let bfs = birk_search::ENGINES.iter().find(|engine| engine.name == "bfs").expect("it is in the table");
    hunt::of_model(bfs, &model, &Job::new(1, Limits::NONE), &mut birk_engine::Patient).outcomes.remove(0)
}

pub(crate) fn agree(case: &Case, formula: &Formula, fairness: Option<&Fairness>, tally: &mut Tally) -> Checked {
    let program = &case.program;
    let Ok((automaton, propositions)) = violations_of(formula) else { return Ok(()) };
    let holds = is_true_of_runs(program, formula, fairness);
    let mut needed = 2;
    for (place, bound) in [(0, 0), (1, 3), (1, MANY)] {
        let Ok(counted) = Counted::new(program, &automaton, &propositions, fairness, bound) else {
            tally.refused += 1;
            return Ok(());
        };
        match more_than(&counted) {
            Outcome::Found(trace) => {
                // Long enough to repeat: the lasso that it holds is one, if every step of it is.
                let Some(lasso) = counted.lasso(program, &trace) else { continue };
                let run = replay(program, &lasso).map_err(|error| error.to_string())?;
                let property = property(formula);
                let is_fair = fairness.is_none_or(|fairness| run.is_fair(program, fairness).is_ok());
                if is_fair && run.confirm(program, &property).is_ok() {
                    same("a lasso was found", &holds, &false)?;
                    tally.lassos += 1;
                }
            }
            Outcome::Absent => {
                same("a bound was found", &holds, &true)?;
                needed = needed.min(place);
            }
            other => return Err(format!("a complete search says {other:?}")),
        }
    }
    tally.bounds[needed] += usize::from(holds);
    tally.formulas[usize::from(holds)] += 1;
    tally.fair += usize::from(fairness.is_some());
    Ok(())
}

fn property(formula: &Formula) -> Property {
    Property { name: "p".into(), kind: PropertyKind::Ltl(formula.clone()), span: None }
}

#[test]
fn counting_says_of_random_programs_what_the_search_for_cycles_says() {
    let mut tally = Tally::default();
    for (seed, text, case, atoms) in programs(PROGRAMS) {
        let mut random = Random::new(seed ^ 0xc1);
        for number in 0..FORMULAS {
            let formula = drawn(&mut random, &atoms, 3);
            let fairness = Fairness::weak(&case.program).ok().filter(|_| number % 2 == 1);
            if let Err(why) = agree(&case, &formula, fairness.as_ref(), &mut tally) {
                panic!("seed {seed}: {why}\n{formula:?}\n{text}");
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.formulas.iter().all(|&formulas| formulas > 40) && tally.fair > 40, "{tally:?}");
    assert!(tally.bounds[0].min(tally.bounds[1]) > 5 && tally.lassos > 40, "{tally:?}");
    assert!(tally.bounds[2] * 4 <= tally.formulas[1], "bounds are hardly ever missed: {tally:?}");
}

/// IC3 through the front door.
#[test]
fn proofs_by_counting_say_of_random_programs_what_the_search_for_cycles_says() {
    let (mut proved, mut found, mut searched) = (0, 0, 0);
    for (seed, text, case, atoms) in programs(PROGRAMS) {
        let mut random = Random::new(seed ^ 0xc2);
        for is_fair in [false, true] {
            let formula = drawn(&mut random, &atoms, 2);
            let mut program = case.program.clone();
            program.properties.push(property(&formula));
            let fairness = Fairness::weak(&program).ok().filter(|_| is_fair);
            let options = Options {
                properties: vec!["p".into()],
                engine: "ic3".into(),
                // Otherwise the search for cycles has decided it before.
                max_states: Some(1),
                certificate: true,
                engines: Engines::default().with(*ic3()),
                fairness: if fairness.is_some() { birk::Fairness::Weak } else { birk::Fairness::None },
                ..Options::default()
            };
            let report = check(&program, &options, &mut Patient).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let answer = &report.answers[0];
            let wanted =
                if is_true_of_runs(&program, &formula, fairness.as_ref()) { Verdict::Holds } else { Verdict::Violated };
            assert_eq!(answer.verdict, wanted, "seed {seed}: {formula:?}\n{text}");
            let figures = answer.automaton.as_ref().expect("it was watched");
            match (answer.trace.is_some(), figures.bound) {
                (true, _) => found += 1,
                (false, Some(bound)) => {
                    let bound = Bound { most: bound, is_fair: fairness.is_some() };
                    let bytes = report.certificate.expect("it was asked for").expect("what is proved has one");
                    is_certified(&program, &bytes, &bound).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
                    proved += 1;
                }
                (false, None) => searched += 1,
            }
        }
    }
    println!("{proved} proved, {found} found, {searched} searched");
    assert!(
        proved.min(found) > 5 && searched * 3 <= proved + found,
        "{proved} proved, {found} found, {searched} searched"
    );
}

/// Whether a certificate proves a bound, and nothing else with the same clauses.
fn is_certified(program: &Program, bytes: &[u8], bound: &Bound) -> Checked {
    let checked = certificate::check(program, bytes, &|| true).map_err(|refusal| refusal.to_string())?;
    same("the properties", &checked.properties.len(), &1)?;
    same("the bound", &checked.properties[0].1.as_ref(), &Some(bound))?;
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let times = format!("accepted at most {} times", bound.most);
    let bent = [
        text.replacen(&times, &format!("accepted at most {} times", bound.most + 1), 1),
        if bound.is_fair {
            text.replacen("weakly fair ", "", 1)
        } else {
            text.replacen("executions", "weakly fair executions", 1)
        },
        text.replacen("violations of p", "violations of q", 1),
        text[..text.len() - 1].to_owned(),
        format!("{text}.\n"),
    ];
    for (number, bent) in bent.iter().enumerate() {
        assert_ne!(bent, text, "{number}");
        let refused = certificate::check(program, bent.as_bytes(), &|| true);
        match refused {
            Err(Refusal::Unfit(_) | Refusal::Unknown(_)) => {}
            other => return Err(format!("a file that is bent ({number}) is taken for {other:?}\n{bent}")),
        }
    }
    Ok(())
}

/// Break the rule, see the check fail: a state in which no step is possible does not repeat.
#[test]
fn a_program_that_does_not_stay_at_its_end_is_noticed() {
    let is_noticed = programs(PROGRAMS).any(|(seed, _, case, atoms)| {
        let formula = drawn(&mut Random::new(seed ^ 0xc3), &atoms, 3);
        let Ok((automaton, propositions)) = violations_of(&formula) else { return false };
        let Ok(mut counted) = Counted::new(&case.program, &automaton, &propositions, None, MANY) else { return false };
        counted.program.transitions.last_mut().expect("the one that stays").guard = Expr::FALSE;
        matches!(more_than(&counted), Outcome::Absent) && !is_true_of_runs(&case.program, &formula, None)
    });
    assert!(is_noticed, "nobody notices");
}

/// Break the rule, see the check fail: a condition of fairness counts as met wherever one is.
#[test]
fn a_round_in_which_nobody_is_waited_for_is_noticed() {
    let is_noticed = programs(PROGRAMS).any(|(seed, _, case, atoms)| {
        let formula = drawn(&mut Random::new(seed ^ 0xc4), &atoms, 2);
        let (Ok((automaton, propositions)), Ok(fairness)) = (violations_of(&formula), Fairness::weak(&case.program))
        else {
            return false;
        };
        let everybody = (1u64 << fairness.names.len()) - 1;
        let bent = Fairness { met_by: vec![everybody; fairness.met_by.len()], names: fairness.names.clone() };
        let counted = Counted::new(&case.program, &automaton, &propositions, Some(&bent), MANY);
        let is_more = counted.is_ok_and(|counted| matches!(more_than(&counted), Outcome::Found(_)));
        is_more && is_true_of_runs(&case.program, &formula, Some(&fairness))
    });
    assert!(is_noticed, "nobody notices");
}
