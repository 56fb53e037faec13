//! Dead variables on random programs: the program that resets them is bisimilar to the original one, walked pair by pair, and
//! checks of it give the same verdicts with traces of the original.

use std::collections::HashSet;

use birk::{Options, Reduce, Report};
use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::random::Random;
use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, Reset};
use birk_ir::{Expr, Program, Property, PropertyKind, Span, VarId};

use super::each_program;
use crate::reduced_runs::{atom, formula};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 240;
/// Larger programs take too long, unless the environment asks for more programs.
const MOST_STATES: u64 = 1_500;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    programs: u64,
    /// In which something is reset.
    reset: u64,
    /// Of which there are fewer states.
    smaller: u64,
    full: u64,
    reduced: u64,
    /// Lassos that close only after one more turn.
    turned: u64,
    violated: u64,
    holds: u64,
}

/// Walks both programs side by side: the same steps in the same order from every pair, the same goals, and states that differ in
/// elements only of variables that are reset. How many states there are on each side.
fn bisimilar(program: &Program, reset: &Reset) -> Result<(usize, usize), String> {
    let goals = case::goals_of(program);
    let (full, searched) = (Interpreter::new(program, &goals), Interpreter::new(&reset.program, &goals));
    let (mut here, mut there) = (Successors::new(full.words()), Successors::new(full.words()));
    let normal = |state: Vec<u32>| (state.clone(), reset.initial(&state));
    let mut open: Vec<_> = program.initial_states().into_iter().map(normal).collect();
    let begins: HashSet<Vec<u32>> = open.iter().map(|(_, normal)| normal.clone()).collect();
    same("initial states", &begins, &reset.program.initial_states().into_iter().collect())?;
    let mut pairs: HashSet<_> = open.iter().cloned().collect();
    while let Some((one, other)) = open.pop() {
        for (number, variable) in (0..).zip(&program.variables) {
            let slot = program.layout.slot(VarId(number));
            let is_equal = (0..variable.len()).all(|element| slot.get(&one, element) == slot.get(&other, element));
            if !is_equal && !reset.variables.contains(&VarId(number)) {
                return Err(format!("`{}` differs, and is not said to be reset", variable.name));
            }
        }
        here.clear();
        there.clear();
        let cut = (here.cut, there.cut);
        full.successors(&one, &mut here);
        searched.successors(&other, &mut there);
        same("outcomes that were cut", &(here.cut - cut.0), &(there.cut - cut.1))?;
        same("steps", &here.steps(0), &there.steps(0))?;
        same("results of failing checks", &full.is_fault(&one), &searched.is_fault(&other))?;
        let is_stuck = !full.is_fault(&one) && here.is_stuck_since(0, cut.0);
        same("goals", &full.evaluate(&one, is_stuck), &searched.evaluate(&other, is_stuck))?;
        for index in 0..here.len() {
            let pair = (here.state(index).to_vec(), there.state(index).to_vec());
            if pairs.insert(pair.clone()) {
                open.push(pair);
            }
        }
    }
    // Failing checks end a step before anything is reset.
    pairs.retain(|(one, _)| !full.is_fault(one));
    let full: HashSet<&Vec<u32>> = pairs.iter().map(|(one, _)| one).collect();
    let searched: HashSet<&Vec<u32>> = pairs.iter().map(|(_, other)| other).collect();
    // No state becomes several.
    same("pairs", &pairs.len(), &full.len())?;
    Ok((full.len(), searched.len()))
}

fn checked(program: &Program, reduce: Reduce) -> Result<Report, String> {
    let options = Options { reduce, ..Options::default() };
    birk::check(program, &options, &mut birk::Patient).map_err(|error| error.to_string())
}

pub(crate) fn agreed(case: &Case, seed: u64, tally: &mut Tally) -> Checked {
    if case.answer.states > MOST_STATES && case::seeds(PROGRAMS) <= PROGRAMS {
        return Ok(());
    }
    tally.programs += 1;
    // By all properties, and, so that more is dead, by one of them.
    let all = 0..case.program.properties.len();
    let one = seed as usize % all.len();
    for asked in [all, one..one + 1] {
        let asks = Program { properties: case.program.properties[asked].to_vec(), ..case.program.clone() };
        let Some(reset) = Reset::new(&asks, asks.properties.iter().flat_map(Property::conditions)) else { continue };
        let (full, reduced) = bisimilar(&asks, &reset)?;
        tally.reset += 1;
        tally.smaller += u64::from(reduced < full);
        tally.full += full as u64;
        tally.reduced += reduced as u64;
        let (full, reduced) = (checked(&asks, Reduce::Off)?, checked(&asks, Reduce::Dead)?);
        for (full, other) in full.answers.iter().zip(&reduced.answers) {
            same(&format!("verdict of {}", full.property.name), &full.verdict, &other.verdict)?;
        }
        let lengths = |report: &Report| report.traces.iter().map(|t| (t.answer, t.run.steps.len())).collect::<Vec<_>>();
        same("lengths", &lengths(&full), &lengths(&reduced))?;
        same("dead variables", &reduced.dead.len(), &reset.variables.len())?;
    }
    of_runs(case, seed, tally)
}

/// A formula says the same of both.
fn of_runs(case: &Case, seed: u64, tally: &mut Tally) -> Checked {
    let mut random = Random::new(seed);
    let atoms: Vec<Expr> = (0..2).map(|_| atom(&case.program, &mut random)).collect();
    let kind = PropertyKind::Ltl(formula(&atoms, 2, &mut random));
    let property = Property { name: "formula".into(), kind, span: Some(Span::default()) };
    let program = Program { properties: vec![property], ..case.program.clone() };
    let (full, reduced) = (checked(&program, Reduce::Off)?, checked(&program, Reduce::Dead)?);
    same("verdict of the formula", &full.answers[0].verdict, &reduced.answers[0].verdict)?;
    match reduced.traces.first() {
        Some(trace) => {
            tally.violated += 1;
            trace.run.closes(&program).map_err(|error| error.to_string())?;
            let (start, steps) = (trace.run.loop_start.unwrap_or(0), &trace.run.steps);
            let turn = steps.len() - start;
            tally.turned += u64::from(turn > 0 && start >= turn && steps[start - turn..start] == steps[start..]);
        }
        None => tally.holds += 1,
    }
    Ok(())
}

fn dead_variables(part: u64) {
    let mut tally = Tally::default();
    each_program(part, PROGRAMS, |seed, _, text| {
        case::make(text).usable().map_or(Ok(()), |case| agreed(&case, seed, &mut tally))
    });
    println!("{tally:?}");
    assert!(tally.smaller > 5 && tally.reduced < tally.full && tally.holds > 0 && tally.violated > 0, "{tally:?}");
}

parts! {
    dead_variables:
    dead_variables_0: 0;
    dead_variables_1: 1;
    dead_variables_2: 2;
    dead_variables_3: 3;
    dead_variables_4: 4;
    dead_variables_5: 5;
    dead_variables_6: 6;
    dead_variables_7: 7;
}
