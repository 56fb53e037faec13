//! Random runs: the choice is uniform, the seed decides everything, and runs end where they should.

use birk_engine::{GoalSet, Model as _, Successors};
use birk_exec::simulate::{Choose, Rules, Run, RunEnd, draw, simulate};
use birk_exec::{Interpreter, Random, goal_of, replay};
use birk_ir::Program;

fn program(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// One thread with one transition, one with three, one with a choice of four values.
const UNEVEN: &str = "system Uneven { int (0, 3) x;
    active thread A() { loc l: do { } goto l; }
    active thread B() { loc l: do { } goto l; do { } goto l; do { } goto l; }
    active thread C() { loc l: do { x := choose(0, 3); } goto l; } }";

/// How often each of the steps of the initial state is drawn.
fn drawn(choose: Choose, seed: u64, times: usize) -> Vec<u64> {
    let program = program(UNEVEN);
    let model = Interpreter::new(&program, &[]);
    let mut batch = Successors::new(model.words());
    model.successors(&program.initial_state(), &mut batch);
    assert_eq!(batch.len(), 8);
    let mut counts = vec![0; batch.len()];
    let mut random = Random::new(seed);
    for _ in 0..times {
        counts[draw(&program, batch.steps(0), choose, &mut random)] += 1;
    }
    counts
}

/// Pearson's statistic of counts against expected shares.
fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let part = |(&count, &share): (&u64, &f64)| {
        let expected = share * total as f64;
        (count as f64 - expected).powi(2) / expected
    };
    counts.iter().zip(shares).map(part).sum()
}

/// The value that seven degrees of freedom exceed once in a thousand times.
const ONCE_IN_A_THOUSAND: f64 = 24.32;

#[test]
fn the_choice_is_uniform_by_chi_square() {
    let (fifth, third) = (1.0 / 5.0, 1.0 / 3.0);
    let by_transition = [fifth, fifth, fifth, fifth, fifth / 4.0, fifth / 4.0, fifth / 4.0, fifth / 4.0];
    let by_thread = [third, third / 3.0, third / 3.0, third / 3.0, third / 4.0, third / 4.0, third / 4.0, third / 4.0];
    for seed in 0..5 {
        for (choose, shares) in [(Choose::Transition, by_transition), (Choose::Thread, by_thread)] {
            let statistic = chi_square(&drawn(choose, seed, 60_000), &shares);
            assert!(statistic < ONCE_IN_A_THOUSAND, "{choose:?}, seed {seed}: {statistic}");
        }
        // The test can tell the two ways apart, so it can fail.
        let statistic = chi_square(&drawn(Choose::Thread, seed, 60_000), &by_transition);
        assert!(statistic > 100.0 * ONCE_IN_A_THOUSAND, "seed {seed}: {statistic}");
    }
}

#[test]
fn first_draws_of_neighbouring_seeds_are_uniform_too() {
    // Runs have consecutive seeds: their first steps must not follow a pattern.
    let mut counts = [0; 8];
    (0..80_000).for_each(|seed| counts[Random::new(seed).below(8)] += 1);
    assert!(chi_square(&counts, &[1.0 / 8.0; 8]) < ONCE_IN_A_THOUSAND, "{counts:?}");
}

fn run_of(program: &Program, seed: u64, steps: usize) -> (Run, Vec<u64>) {
    let goals: Vec<_> = program.properties.iter().filter_map(|property| goal_of(program, property)).collect();
    let model = Interpreter::new(program, &goals);
    let mut stop_at = GoalSet::default();
    program.properties.iter().enumerate().filter(|(_, p)| !p.wants_goal()).for_each(|(i, _)| stop_at.insert(i));
    let mut fired = vec![0; program.transitions.len()];
    let rules = Rules { choose: Choose::Transition, steps, stop_at };
    (simulate(program, &model, &rules, seed, &mut fired), fired)
}

#[test]
fn a_seed_repeats_its_run_exactly() {
    let program = program(UNEVEN);
    let (first, fired) = run_of(&program, 7, 200);
    let (again, _) = run_of(&program, 7, 200);
    assert_eq!(first.trace, again.trace);
    assert_eq!(first.trace.steps.len(), 200);
    assert_eq!(fired.iter().sum::<u64>(), 200);
    assert_ne!(first.trace, run_of(&program, 8, 200).0.trace);
    replay(&program, &first.trace).expect("a random run is a run");
}

#[test]
fn runs_end_where_they_should() {
    let ends = |body: &str| run_of(&program(&format!("system S {{ int (0, 3) x; {body} }}")), 0, 50).0;
    let proper = ends("active thread T() { loc l: do { } return; }");
    assert_eq!((proper.end, proper.met.is_empty(), proper.trace.steps.len()), (RunEnd::Stuck, true, 1));
    let deadlock = ends("active thread T() { loc l: when x > 0 do { } goto l; }");
    assert_eq!((deadlock.end, deadlock.met.contains(0)), (RunEnd::Goal, true));
    let fault = ends("active thread T() { loc l: do { assert x == 1; } goto l; }");
    assert_eq!((fault.end, fault.met.contains(1), fault.trace.steps.len()), (RunEnd::Goal, true, 1));
    let invariant = ends("active thread T() { loc l: do { x := 2; } goto l; } invariant small: x < 2;");
    assert_eq!((invariant.end, invariant.met.contains(2)), (RunEnd::Goal, true));
    let cut = ends("active thread T() { loc l: do { assume x > 0; } goto l; }");
    assert_eq!((cut.end, cut.met.is_empty()), (RunEnd::Cut, true));
    let target = ends("active thread T() { loc l: do { x := 2; } goto l; } reachable two: x == 2;");
    assert_eq!((target.end, target.met.contains(2), target.trace.steps.len()), (RunEnd::Steps, true, 50));
}
