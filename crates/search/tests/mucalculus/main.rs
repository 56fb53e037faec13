//! The evaluator of the mu-calculus against the definition, on random graphs; the runs that it shows; its mutants.

mod fair;
mod system;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use birk_engine::{GoalSet, Job, Limits, Model, Patient, Stats, Successors};
use birk_exec::automaton::violations_of;
use birk_exec::{Fairness, Product, Random};
use birk_ir::{Branching, Expr, Formula, Outcome, Steps, Trace};
use birk_search::liveness::CycleSearch;
use birk_search::mucalculus::{Graph, Needs, Truth, decide};
use fair::{Ctl, Runs, Unfair};
use system::{Bent, Maker, PROPOSITIONS, Shape, System, alternation, propositions};

/// How many formulas; `BIRK_FORMULAS` asks for more.
fn count(usual: u64) -> u64 {
    std::env::var("BIRK_FORMULAS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn graph(system: &System, limits: &Limits) -> (Graph, Stats) {
    let needs = Needs { propositions: PROPOSITIONS, labels: true, spare: 0 };
    let (graph, hunt) = Graph::explore(system, needs, limits, &mut Patient);
    (graph, hunt.stats)
}

fn truth(system: &System, formula: &Branching, limits: &Limits) -> Truth {
    match decide(formula, &propositions(), &mut graph(system, limits).0, system, &mut Patient) {
        ControlFlow::Continue(truth) => truth,
        ControlFlow::Break(stop) => panic!("nobody ended it: {stop:?}"),
    }
}

fn meant(system: &System, formula: &Branching, bent: Bent) -> bool {
    system.meaning(formula, &system.reached(), &mut BTreeMap::new(), bent).contains(&0)
}

fn case(seed: u64, fixpoints: u32, is_of_one_run: bool) -> (System, Branching) {
    let mut random = Random::new(seed);
    let system = System::random(&mut random);
    let shape = Shape { fixpoints, is_of_one_run };
    let depth = 3 + random.below(5);
    let formula = Maker { random: &mut random, shape, made: 0 }.alternating(depth);
    (system, formula)
}

/// The states of a run, which must be one.
fn walked(system: &System, trace: &Trace) -> Vec<usize> {
    let mut states = vec![0];
    for step in &trace.steps {
        let mut batch = Successors::new(1);
        system.successors(&[states[states.len() - 1] as u32], &mut batch);
        let taken = (0..batch.len()).find(|&i| batch.step(i) == *step).map(|i| batch.state(i)[0] as usize);
        states.push(taken.filter(|&end| !system.faults[end]).expect("a step of the graph"));
    }
    if let Some(back) = trace.loop_start {
        let last = states[states.len() - 1];
        let closes = states[back] == last && (back < trace.steps.len() || system.is_stuck(last));
        assert!(closes, "{trace:?} does not close in {system:?}");
    }
    states
}

#[test]
fn formulas_mean_what_their_definition_says() {
    let (mut by_alternation, mut by_truth) = ([0; 4], [0; 2]);
    for seed in 0..count(5000) {
        let (system, formula) = case(seed, 3, false);
        let wanted = meant(&system, &formula, Bent::Not);
        let Truth::Known(found, trace) = truth(&system, &formula, &Limits::NONE) else {
            panic!("the graph is complete: {formula:?}");
        };
        assert_eq!(found, wanted, "seed {seed}: {formula:?} on {system:?}");
        let Truth::Known(negated, _) = truth(&system, &formula.dual(), &Limits::NONE) else { panic!("complete") };
        assert_eq!(negated, !wanted, "seed {seed}: the dual of {formula:?} on {system:?}");
        walked(&system, &trace);
        by_alternation[alternation(&formula)] += 1;
        by_truth[usize::from(found)] += 1;
    }
    // Seeds are the same everywhere: there are formulas of each kind.
    assert!(by_alternation.iter().all(|&formulas| formulas >= 50), "{by_alternation:?}");
    assert!(by_truth.iter().all(|&formulas| formulas >= 1000), "{by_truth:?}");
}

#[test]
fn a_run_to_a_state_is_a_shortest_one() {
    let mut found = 0;
    for seed in 0..1000 {
        let (system, _) = case(seed, 1, false);
        let p = Branching::Atom(propositions()[0].clone());
        let next = Branching::Some(Steps::OrStay, Box::new(Branching::Variable(0)));
        let can = Branching::Least(0, Box::new(p.or(next)));
        let Truth::Known(true, trace) = truth(&system, &can, &Limits::NONE) else { continue };
        // Level by level from the start.
        let (mut level, mut distance) = (BTreeSet::from([0]), 0);
        while !level.iter().any(|&state: &usize| system.letters[state] & 1 == 1) {
            let steps = level.iter().flat_map(|&state| &system.steps[state]);
            level = steps.map(|&(_, end)| end).filter(|&end| !system.faults[end]).collect();
            distance += 1;
        }
        assert_eq!(trace.steps.len(), distance, "seed {seed}: {trace:?} in {system:?}");
        found += usize::from(distance > 1);
    }
    assert!(found >= 30, "{found}");
}

/// What is left of a system when only the states of a run and its steps between them exist.
fn along(system: &System, states: &[usize]) -> System {
    let mut along = system.clone();
    for (state, steps) in along.steps.iter_mut().enumerate() {
        let was_stuck = system.is_stuck(state);
        steps.retain(|(_, end)| states.contains(&state) && states.contains(end));
        // What has no step any more had some, and does not stay where it is.
        along.cut[state] = !was_stuck;
    }
    along
}

#[test]
fn a_run_shows_what_one_run_can_show() {
    let (mut shown, mut loops, mut alternating) = (0, 0, 0);
    for seed in 0..count(3000) {
        let (system, formula) = case(seed, 3, true);
        let Truth::Known(true, trace) = truth(&system, &formula, &Limits::NONE) else { continue };
        let states = walked(&system, &trace);
        let along = along(&system, &states);
        assert!(meant(&along, &formula, Bent::Not), "seed {seed}: {trace:?} does not show {formula:?} in {system:?}");
        // What it shows of the formula refutes its negation.
        let Truth::Known(false, refuting) = truth(&system, &formula.dual(), &Limits::NONE) else {
            panic!("seed {seed}: the negation is false");
        };
        assert_eq!(refuting, trace, "seed {seed}: the same run refutes the negation of {formula:?}");
        shown += 1;
        loops += usize::from(trace.loop_start.is_some());
        alternating += usize::from(alternation(&formula) > 1 && trace.loop_start.is_some());
    }
    assert!(
        shown >= 500 && loops >= 100 && alternating >= 20,
        "{shown} shown, {loops} loops, {alternating} alternating"
    );
}

#[test]
fn what_is_only_a_part_of_the_graph_says_little_and_is_right() {
    let (mut known, mut open) = (0, 0);
    for seed in 0..count(2000) {
        let (system, formula) = case(seed, 2, seed % 2 == 0);
        let wanted = meant(&system, &formula, Bent::Not);
        for limits in [Limits { depth: 1, ..Limits::NONE }, Limits { states: 3, ..Limits::NONE }] {
            match truth(&system, &formula, &limits) {
                Truth::Known(found, trace) => {
                    assert_eq!(found, wanted, "seed {seed}: {formula:?} on {system:?}");
                    walked(&system, &trace);
                    known += 1;
                }
                Truth::Open => open += 1,
            }
        }
    }
    assert!(known >= 500 && open >= 300, "{known} known, {open} open");
}

#[test]
fn a_wrong_definition_is_noticed() {
    for bent in [Bent::NoReset, Bent::BoxForDiamond, Bent::DeadlockEnds, Bent::DeadEndsStay] {
        let differs = |seed: &u64| {
            let (system, formula) = case(*seed, 3, false);
            meant(&system, &formula, bent) != meant(&system, &formula, Bent::Not)
        };
        assert!((0..1500).any(|seed| differs(&seed)), "no formula tells {bent:?} from the definition");
    }
}

#[test]
fn the_graph_is_what_a_search_finds() {
    for seed in 0..300 {
        let (system, _) = case(seed, 1, false);
        let (graph, stats) = graph(&system, &Limits::NONE);
        let reached = system.reached();
        assert_eq!((graph.len() as usize, stats.states as usize), (reached.len(), reached.len()), "seed {seed}");
        let steps: usize = reached.iter().map(|&state| system.steps[state].len()).sum();
        assert_eq!(stats.transitions as usize, steps, "seed {seed}");
        assert_eq!(stats.levels.iter().sum::<u64>(), stats.states, "seed {seed}");
    }
}

/// A graph whose goals are other propositions, or in another order.
struct Evaluated<'s>(&'s System, Vec<Expr>);

impl Model for Evaluated<'_> {
    fn words(&self) -> usize {
        self.0.words()
    }

    fn initial(&self, out: &mut Successors) {
        self.0.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.0.successors(state, out);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        let letters = self.0.evaluate(state, stuck);
        let mut goals = GoalSet::default();
        for (goal, expr) in self.1.iter().enumerate() {
            let Expr::Var(variable) = expr else { panic!("{expr:?} is no proposition of these graphs") };
            if letters.contains(variable.index()) {
                goals.insert(goal);
            }
        }
        goals
    }

    fn transitions(&self) -> usize {
        self.0.transitions()
    }
}

/// What the search for cycles says of a formula about runs.
fn is_true_of_runs(system: &System, formula: &Formula) -> bool {
    let (automaton, propositions) = violations_of(formula).expect("a small automaton");
    let evaluated = Evaluated(system, propositions);
    let product = Product::new(&evaluated, automaton, None);
    let cycle_search = CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
    cycle_search.hunt(&product, &mut Patient).outcomes[0] == Outcome::Absent
}

/// A formula of LTL, and the same in CTL, for two conditions.
fn pairs(p: &Expr, q: &Expr) -> Vec<(Formula, Branching)> {
    let (lp, lq) = (|| Formula::Atom(p.clone()), || Formula::Atom(q.clone()));
    let (cp, cq) = (|| Branching::Atom(p.clone()), || Branching::Atom(q.clone()));
    let not_cp = || Branching::Atom(p.clone().negate());
    let next = |body: Branching| Branching::Every(Steps::OrStay, Box::new(body));
    let least = |number, body: Branching| Branching::Least(number, Box::new(body));
    let greatest = |number, body: Branching| Branching::Greatest(number, Box::new(body));
    let variable = Branching::Variable;
    let af_q = || least(0, cq().or(next(variable(0))));
    let implies = |a: Formula, b: Formula| Formula::Or(Box::new((Formula::Not(Box::new(a)), b)));
    let eventually_q = || Formula::Eventually(Box::new(lq()));
    vec![
        (Formula::Always(Box::new(lp())), greatest(0, cp().and(next(variable(0))))),
        (eventually_q(), af_q()),
        (Formula::Next(Box::new(lp())), next(cp())),
        (Formula::Until(Box::new((lp(), lq()))), least(0, cq().or(cp().and(next(variable(0)))))),
        (Formula::WeakUntil(Box::new((lp(), lq()))), greatest(0, cq().or(cp().and(next(variable(0)))))),
        (Formula::Release(Box::new((lp(), lq()))), greatest(0, cq().and(cp().or(next(variable(0)))))),
        (
            Formula::Always(Box::new(implies(lp(), eventually_q()))),
            greatest(1, not_cp().or(af_q()).and(next(variable(1)))),
        ),
        (Formula::Always(Box::new(eventually_q())), greatest(1, af_q().and(next(variable(1))))),
        (
            Formula::Always(Box::new(implies(lp(), Formula::Next(Box::new(lq()))))),
            greatest(0, not_cp().or(next(cq())).and(next(variable(0)))),
        ),
    ]
}

#[test]
fn ctl_says_what_ltl_says_where_they_coincide() {
    let mut by_truth = [[0; 2]; 9];
    for seed in 0..count(400) {
        let (mut system, _) = case(seed, 1, false);
        // What ends in a fault or is cut is no run for the one, and may be a prefix of one for the other.
        system.cut.fill(false);
        system.faults.fill(false);
        let [p, q, _] = &propositions()[..] else { panic!("three propositions") };
        for (number, (of_runs, branching)) in pairs(p, q).into_iter().enumerate() {
            let wanted = is_true_of_runs(&system, &of_runs);
            let Truth::Known(found, trace) = truth(&system, &branching, &Limits::NONE) else { panic!("complete") };
            assert_eq!(found, wanted, "seed {seed}: {branching:?} and {of_runs:?} on {system:?}");
            walked(&system, &trace);
            by_truth[number][usize::from(found)] += 1;
        }
    }
    assert!(by_truth.as_flattened().iter().all(|&cases| cases >= 10), "{by_truth:?}");
}

/// A graph, promises about its steps, and a formula of CTL.
fn fair_case(seed: u64) -> (System, Fairness, Ctl) {
    let mut random = Random::new(seed ^ 0xfa12);
    let system = System::random(&mut random);
    let fairness = fair::fairness(&mut random);
    let depth = 1 + random.below(3);
    (system, fairness, Ctl::random(&mut random, depth))
}

fn is_true_of_fair_runs(system: &System, fairness: &Fairness, formula: &Ctl, unfair: Unfair) -> bool {
    Runs { system, fairness, unfair }.meaning(formula, &system.reached()).contains(&0)
}

#[test]
fn ctl_about_fair_runs_means_what_its_definition_says() {
    let (mut by_truth, mut differs, mut lassos) = ([0; 2], 0, 0);
    for seed in 0..count(4000) {
        let (system, fairness, ctl) = fair_case(seed);
        let formula = ctl.branching(true, &mut 0);
        let goes_on = !system.cut.contains(&true) && !system.faults.contains(&true);
        let wanted = is_true_of_fair_runs(&system, &fairness, &ctl, Unfair::Not);
        for goes_on in [false, goes_on] {
            let fair = fairness.ctl(&formula, goes_on).expect("it is CTL");
            let Truth::Known(found, trace) = truth(&system, &fair, &Limits::NONE) else { panic!("complete") };
            assert_eq!(found, wanted, "seed {seed}: {ctl:?} under {fairness:?} on {system:?}");
            assert_eq!(fair.seeks(), formula.seeks(), "seed {seed}: {ctl:?}");
            walked(&system, &trace);
            lassos += usize::from(trace.loop_start.is_some());
        }
        let Truth::Known(of_all, _) = truth(&system, &formula, &Limits::NONE) else { panic!("complete") };
        by_truth[usize::from(wanted)] += 1;
        differs += usize::from(of_all != wanted);
    }
    assert!(by_truth.iter().all(|&formulas| formulas >= 500) && differs >= 40, "{by_truth:?}, {differs} differ");
    assert!(lassos >= 300, "{lassos}");
}

/// The witness that `p` is always true on some fair run is such a run.
#[test]
fn a_fair_run_is_shown() {
    let mut shown = 0;
    for seed in 0..count(1500) {
        let (system, fairness, _) = fair_case(seed);
        let always = Ctl::Runs(false, fair::Time::Always, Box::new((Ctl::Atom(0), Ctl::Atom(0))));
        let formula = fairness.ctl(&always.branching(true, &mut 0), false).expect("it is CTL");
        let Truth::Known(true, trace) = truth(&system, &formula, &Limits::NONE) else { continue };
        let states = walked(&system, &trace);
        let back = trace.loop_start.expect("it goes on forever");
        assert!(states.iter().all(|&state| system.letters[state] & 1 == 1), "seed {seed}");
        // A promise is kept in the loop, or cannot be kept in one of its states.
        let taken = trace.steps[back..].iter().fold(0, |all, step| all | fairness.met_by[step.transition.index()]);
        let possible = |state: &usize| {
            system.steps[*state].iter().fold(0, |all, (transition, _)| all | fairness.met_by[*transition])
        };
        let always_possible = states[back..].iter().map(possible).fold(u64::MAX, |all, one| all & one);
        let wanted = (1 << fairness.names.len()) - 1;
        assert_eq!(always_possible & !taken & wanted, 0, "seed {seed}: {trace:?} under {fairness:?} in {system:?}");
        shown += usize::from(!fairness.names.is_empty());
    }
    assert!(shown >= 100, "{shown}");
}

#[test]
fn a_wrong_definition_of_fair_runs_is_noticed() {
    for unfair in [Unfair::Ignored, Unfair::First, Unfair::Strict, Unfair::FaultsAreNone, Unfair::Anywhere] {
        let differs = |seed: &u64| {
            let (system, fairness, ctl) = fair_case(*seed);
            let truth = |unfair| is_true_of_fair_runs(&system, &fairness, &ctl, unfair);
            truth(unfair) != truth(Unfair::Not)
        };
        assert!((0..4000).any(|seed| differs(&seed)), "no formula tells {unfair:?} from the definition");
    }
}
