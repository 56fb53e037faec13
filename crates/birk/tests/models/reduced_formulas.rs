//! Partial-order reduction for LTL on models that people know: formulas say of the reduced model what they say of the full one.

use std::fs;
use std::path::Path;

use birk_engine::{Job, Limits, Model, Patient, Successors};
use birk_exec::automaton::violations_of;
use birk_exec::reduction::Preserve;
use birk_exec::{Interpreter, Product, Reduced, Specialised, reference};
use birk_ir::{Expr, Formula, Goal, Outcome, Program, PropertyKind};
use birk_search::liveness::CycleSearch;
use birk_symbolic::with_solver;

use crate::{load, program};

/// Larger models are searched elsewhere.
const MOST_STATES: usize = 2_000;

/// Calls `look` with the model of a specialised program that is reduced for this.
fn with_reduced<T>(
    program: &Program,
    goals: &[Goal],
    preserve: Preserve<'_>,
    look: impl FnOnce(&Reduced<'_>) -> T,
) -> T {
    let specialised = Specialised::new(program);
    let full = Interpreter::new(&specialised.program, goals);
    with_solver(&specialised.program, &mut Patient, u64::MAX, |solver| {
        let solver = solver.expect("it is small");
        solver.learn();
        look(&Reduced::new(&specialised.program, &full, preserve, solver).expect("it can be reduced"))
    })
}

/// Whether no execution of a model violates a formula, whose propositions are what it evaluates; and the states of the product.
fn holds(model: &dyn Model, formula: &Formula) -> (bool, u64) {
    let (automaton, _) = violations_of(formula).expect("a small automaton");
    let product = Product::new(model, automaton, None);
    let search = CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
    let hunt = search.hunt(&product, &mut Patient);
    (hunt.outcomes[0] == Outcome::Absent, hunt.stats.states)
}

fn propositions(formula: &Formula) -> Vec<Goal> {
    let (_, propositions) = violations_of(formula).expect("a small automaton");
    propositions.into_iter().map(Goal::State).collect()
}

fn formulas(program: &Program) -> impl Iterator<Item = (&str, &Formula)> {
    program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Ltl(formula) if !formula.has_next() => Some((property.name.as_str(), formula)),
        _ => None,
    })
}

/// The states of a model.
fn states(model: &dyn Model) -> usize {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut states = vec![batch.state(0).to_vec()];
    let mut seen: std::collections::HashSet<Vec<u32>> = states.iter().cloned().collect();
    while let Some(state) = states.pop() {
        batch.clear();
        model.successors(&state, &mut batch);
        for index in 0..batch.len() {
            if seen.insert(batch.state(index).to_vec()) {
                states.push(batch.state(index).to_vec());
            }
        }
    }
    seen.len()
}

/// That the first thread is at a location.
fn at(program: &Program, location: usize) -> Expr {
    let kind = &program.kinds[program.threads[0].kind];
    Expr::element(kind.counter, Expr::Const(0)).equals(location as i64)
}

/// Those of the corpus, and for each model that its first thread comes to its last location, and to its first one again and again.
#[test]
fn formulas_of_the_corpus_say_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let (mut compared, mut by_truth, mut full_states, mut reduced_states) = (0, [0, 0], 0, 0);
    for entry in fs::read_dir(&folder).expect("there are models") {
        let name = entry.expect("it can be read").file_name().into_string().expect("names are text");
        if !name.ends_with(".bir") {
            continue;
        }
        let program = load(&name, &[]);
        if program.threads.is_empty() || reference::explore(&program, &[], MOST_STATES).is_err() {
            continue;
        }
        let last = program.kinds[program.threads[0].kind].locations.len() - 1;
        let eventually = |location| Formula::Eventually(Box::new(Formula::Atom(at(&program, location))));
        let mut all: Vec<Formula> = formulas(&program).map(|(_, formula)| formula.clone()).collect();
        all.extend([eventually(last), Formula::Always(Box::new(eventually(0)))]);
        for formula in &all {
            let goals = propositions(formula);
            let full = holds(&Interpreter::new(&program, &goals), formula);
            let found = with_reduced(&program, &goals, Preserve::Formulas(&goals), |model| holds(model, formula));
            assert_eq!(found.0, full.0, "{name}: {}", program.formula_text(formula));
            compared += 1;
            by_truth[usize::from(full.0)] += 1;
            if full.0 {
                (full_states, reduced_states) = (full_states + full.1, reduced_states + found.1);
            }
        }
    }
    println!("{compared} formulas, {by_truth:?} hold: {reduced_states} of {full_states} states of the products");
    let is_tried = compared >= 100 && by_truth.iter().all(|&number| number >= 20);
    assert!(is_tried && reduced_states < full_states, "{compared}, {by_truth:?}: {reduced_states} of {full_states}");
}

/// With every step of one philosopher visible.
#[test]
fn philosophers_are_reduced_while_one_is_watched() {
    let program = load("peers/phil.bir", &[("N", "9")]);
    let locations = program.kinds[program.threads[0].kind].locations.len();
    let goals: Vec<Goal> = (0..locations).map(|location| Goal::State(at(&program, location))).collect();
    let reduced = with_reduced(&program, &goals, Preserve::Formulas(&goals), |model| states(model));
    assert_eq!(states(&Interpreter::new(&program, &[])), 19_683);
    assert!(reduced <= 5_321, "{reduced} states");
}

/// Break the rule, see the test fail: sets that keep deadlocks, and nothing else, lose what formulas say.
#[test]
fn sets_for_deadlocks_are_not_enough() {
    // Two steps that commute, and both are seen: their order matters (V).
    let order = "system T10 { boolean x; boolean y;
        active thread A() { loc a: do { x := true; } goto a2; loc a2: end do { } goto a2; }
        active thread B() { loc b: do { y := true; } goto b2; loc b2: end do { } goto b2; }
        ltl formula: !(!y U (x && !y)); ltl other: !(!x U (y && !x)); }";
    // What is seen must not be put off for ever by a loop (L).
    let ignored = "system T01 { boolean x; boolean y;
        active thread Loop() { loc a: do { x := !x; } goto a; }
        active thread Bad() { loc b: do { y := true; } goto c; loc c: end do { } goto c; }
        ltl formula: [] !y; }";
    let mut noticed = 0;
    for text in [order, ignored] {
        let program = program(text, &[]);
        let mut is_noticed = false;
        for (property, formula) in formulas(&program) {
            let goals = propositions(formula);
            assert!(!holds(&Interpreter::new(&program, &goals), formula).0, "`{property}` is violated");
            let found = with_reduced(&program, &goals, Preserve::Formulas(&goals), |model| holds(model, formula));
            assert!(!found.0, "{text}: `{property}` is violated in the reduced model");
            let deadlock = [Goal::State(Expr::Stuck)];
            let bent = with_reduced(&program, &goals, Preserve::Distances(&deadlock), |model| holds(model, formula));
            is_noticed |= bent.0;
        }
        noticed += u32::from(is_noticed);
    }
    assert_eq!(noticed, 2, "both models need more than what keeps deadlocks");
}
