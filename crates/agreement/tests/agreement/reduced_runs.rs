//! Partial-order reduction for LTL on random programs: each formula without `X` says of the reduced program what it says of the
//! full one, by every search for cycles, and each lasso is one of the original program.

use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::random::{Draw as _, Random};
use birk_engine::{Job, Limits, Patient};
use birk_exec::automaton::violations_of;
use birk_exec::reduction::{Oracle, Preserve};
use birk_exec::{Interpreter, Product, Reduced, Specialised, Syntactic, replay};
use birk_ir::{BinaryOp, Expr, Formula, Goal, Outcome, Program, Property, PropertyKind, VarRole, Variable};
use birk_search::liveness::CycleSearch;
use birk_symbolic::with_solver;

use super::each_program;
use crate::branching::is_true_of_runs;

/// How many programs are looked at, unless the environment says otherwise.
const PROGRAMS: u64 = 480;
/// Formulas for each of them.
const FORMULAS: usize = 2;
/// Every so many programs, with what a solver proves.
const PROVED: u64 = 3;
/// Larger programs take too long, unless the environment asks for more programs.
const MOST_STATES: u64 = 800;
const MOST_TRANSITIONS: usize = 100;

#[derive(Debug, Default)]
struct Tally {
    holds: u64,
    violated: u64,
    full: u64,
    reduced: u64,
}

/// A condition on one element of the state.
pub(crate) fn atom(program: &Program, random: &mut Random) -> Expr {
    let is_seen = |variable: &Variable| variable.role != VarRole::Fault && !variable.is_empty();
    let variables: Vec<_> = program.variables.iter().enumerate().filter(|(_, variable)| is_seen(variable)).collect();
    let (id, variable) = random.pick(&variables);
    let id = birk_ir::VarId::new(*id);
    let read = match variable.shape.is_empty() {
        true => Expr::Var(id),
        false => Expr::element(id, Expr::Const(random.between(0, i64::from(variable.len()) - 1))),
    };
    let value = random.between(variable.lo, variable.hi.min(variable.lo + 5));
    let op = *random.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Ge]);
    Expr::binary(op, read, Expr::Const(value))
}

/// A formula without `X`.
pub(crate) fn formula(atoms: &[Expr], depth: u32, random: &mut Random) -> Formula {
    if depth == 0 {
        return Formula::Atom(random.pick(atoms).clone());
    }
    let mut one = |depth| Box::new(formula(atoms, depth, random));
    let (a, b) = (one(depth - 1), one(depth - 1));
    match random.between(0, 9) {
        0 => Formula::Not(a),
        1 => Formula::And(Box::new((*a, *b))),
        2 => Formula::Or(Box::new((*a, *b))),
        3 => Formula::Until(Box::new((*a, *b))),
        4 => Formula::WeakUntil(Box::new((*a, *b))),
        5 => Formula::Release(Box::new((*a, *b))),
        6 | 7 => Formula::Always(a),
        _ => Formula::Eventually(a),
    }
}

fn reduced_formulas(part: u64) {
    let mut tally = Tally::default();
    each_program(part, PROGRAMS, |seed, _, text| {
        case::make(text).usable().map_or(Ok(()), |case| agreed(&case, seed, &mut tally))
    });
    println!("{tally:?}");
    assert!(tally.holds > 0 && tally.violated > 0 && tally.reduced < tally.full, "{tally:?}");
}

fn agreed(case: &Case, seed: u64, tally: &mut Tally) -> Checked {
    let specialised = Specialised::new(&case.program);
    let is_small = case.answer.states <= MOST_STATES && specialised.program.transitions.len() <= MOST_TRANSITIONS;
    if (!is_small && case::seeds(PROGRAMS) <= PROGRAMS) || case.program.properties.is_empty() {
        return Ok(());
    }
    let mut random = Random::new(seed ^ 0x171);
    let mut search = |name: &str, oracle: &mut dyn Oracle| {
        let atoms: Vec<Expr> = (0..3).map(|_| atom(&case.program, &mut random)).collect();
        for _ in 0..FORMULAS {
            let formula = formula(&atoms, 3, &mut random);
            let of = |why: String| format!("{name}: {}: {why}", case.program.formula_text(&formula));
            // The automaton of a formula may be too large.
            if violations_of(&formula).is_ok() {
                is_same_for(case, &specialised, &formula, oracle, tally).map_err(of)?;
            }
        }
        Ok(())
    };
    search("syntactic", &mut Syntactic)?;
    // What the solver says is asked elsewhere; here it makes sets smaller.
    if !seed.is_multiple_of(PROVED) {
        return Ok(());
    }
    with_solver(&specialised.program, &mut Patient, u64::MAX, |solver| {
        let solver = solver.expect("it is small");
        solver.learn();
        search("solver", solver)
    })
}

/// Whether the reduced program has a run that violates a formula: as the full one.
fn is_same_for(
    case: &Case,
    specialised: &Specialised,
    formula: &Formula,
    oracle: &mut dyn Oracle,
    tally: &mut Tally,
) -> Checked {
    let (automaton, propositions) = violations_of(formula).map_err(|error| error.to_string())?;
    let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
    let full = Interpreter::new(&specialised.program, &goals);
    let Ok(reduced) = Reduced::new(&specialised.program, &full, Preserve::Formulas(&goals), oracle) else {
        return Ok(());
    };
    let holds = is_true_of_runs(&case.program, formula, None);
    *if holds { &mut tally.holds } else { &mut tally.violated } += 1;
    let property = Property { kind: PropertyKind::Ltl(formula.clone()), ..case.program.properties[0].clone() };
    let product = Product::new(&reduced, automaton.clone(), None);
    for threads in [1, 2, 8] {
        let job = Job { seed: 7, ..Job::new(1, Limits { threads, ..Limits::NONE }) };
        let found = CycleSearch::of(product.is_weak(), &job).hunt(&product, &mut Patient);
        if holds && threads == 1 {
            let whole = Product::new(&full, automaton.clone(), None);
            tally.full += CycleSearch::of(whole.is_weak(), &job).hunt(&whole, &mut Patient).stats.states;
            tally.reduced += found.stats.states;
        }
        let mut found = found;
        if let Outcome::Found(trace) = &mut found.outcomes[0] {
            *trace = product.project(trace);
        }
        found.fired.truncate(specialised.program.transitions.len());
        let found = specialised.original(&case.program, found);
        let of = |why: String| format!("on {threads} threads: {why}");
        same("holds", &(found.outcomes[0] == Outcome::Absent), &holds).map_err(of)?;
        if let Outcome::Found(trace) = &found.outcomes[0] {
            let run = replay(&case.program, trace).map_err(|error| of(format!("{error:?}")))?;
            run.confirm(&case.program, &property).map_err(|error| of(format!("{error:?}")))?;
        }
    }
    Ok(())
}

parts! {
    reduced_formulas:
    reduced_formulas_0: 0;
    reduced_formulas_1: 1;
    reduced_formulas_2: 2;
    reduced_formulas_3: 3;
    reduced_formulas_4: 4;
    reduced_formulas_5: 5;
    reduced_formulas_6: 6;
    reduced_formulas_7: 7;
}
