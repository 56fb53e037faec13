//! Random products of a graph and an automaton, with every search for cycles, against strongly connected components.
//!
//! `BIRK_TEST_FULL=1` takes the full number of products instead of a share.

mod large;
mod mutants;
mod schedules;
mod strong;
mod system;

use std::ops::ControlFlow;

use birk_agreement::graph::Graph;
use birk_engine::{Hunt, Job, Limits, Model, Observer, Patient, Progress, Successors};
use birk_exec::{Product, Random};
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::liveness::CycleSearch;
use system::System;

/// A share of the full number.
fn number(full: usize, share: usize) -> usize {
    if std::env::var_os("BIRK_TEST_FULL").is_some() { full } else { share }
}

fn cycle_search(threads: usize) -> CycleSearch {
    CycleSearch::of(false, &Job::new(1, Limits { threads, ..Limits::NONE }))
}

/// Found if and only if it is there, and what is found is real.
fn check(system: &System, fair: bool, hunt: &Hunt, context: &str) {
    let product = system.product(fair);
    let expected = system.explicit(fair).has_cycle();
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => {
            assert!(expected, "{context}: false alarm in {system:?}");
            system.confirm(&product.project(trace), fair).unwrap_or_else(|e| panic!("{context}: {e} in {system:?}"));
        }
        Outcome::Absent => {
            assert!(!expected, "{context}: missed in {system:?}");
            assert_eq!((&hunt.coverage, hunt.stopped), (&Coverage::Complete, Stop::Exhausted));
        }
        Outcome::Untraced(_) | Outcome::Inconclusive => panic!("{context}: no limit was set"),
    }
}

fn run(threads: usize, fair: bool, seed: u64) {
    let mut random = Random::new(seed);
    let mut found = 0;
    let rounds = number(20_000, if threads > 1 { 1_500 } else { 4_000 });
    for round in 0..rounds {
        let system = System::random(&mut random, 1 + round % 3);
        let product = system.product(fair);
        let hunt = cycle_search(threads).hunt(&product, &mut Patient);
        found += usize::from(matches!(hunt.outcomes[0], Outcome::Found(_)));
        check(&system, fair, &hunt, &format!("round {round}, {threads} threads, fair {fair}"));
    }
    assert!(found * 10 > rounds && found * 10 < rounds * 9, "{found} of {rounds} have a cycle: both must occur");
}

#[test]
fn one_core() {
    run(1, false, 1);
}

#[test]
fn one_core_fair() {
    run(1, true, 2);
}

#[test]
fn two_cores() {
    run(2, false, 3);
}

#[test]
fn two_cores_fair() {
    run(2, true, 4);
}

#[test]
fn eight_cores() {
    run(8, false, 5);
}

#[test]
fn eight_cores_fair() {
    run(8, true, 6);
}

/// Automata in which any cycle through an accepting state will do, with the simple search.
#[test]
fn weak_automata() {
    let mut random = Random::new(7);
    let mut tried = 0;
    let rounds = number(20_000, 3_000);
    while tried < rounds {
        let system = System::random(&mut random, 1 + tried % 3);
        let product = system.product(false);
        if product.is_weak() {
            tried += 1;
            for threads in [1, 2, 3] {
                let hunt = CycleSearch { weak: true, ..cycle_search(threads) }.hunt(&product, &mut Patient);
                check(&system, false, &hunt, "weak");
                if hunt.outcomes[0] == Outcome::Absent {
                    assert_eq!(hunt.stats.states, system.explicit(false).size().0, "{threads} threads");
                }
            }
        }
    }
}

/// Exactly the cycles that lie within the depth.
#[test]
fn depth_is_a_part_of_the_graph() {
    let mut random = Random::new(8);
    for round in 0..number(20_000, 3_000) {
        let system = System::random(&mut random, 1 + round % 3);
        let fair = round % 2 == 0;
        let product = system.product(fair);
        for depth in [0, 1, 2, 3, 5] {
            let limits = Limits { depth, ..Limits::NONE };
            let hunt = CycleSearch { limits, ..cycle_search(1) }.hunt(&product, &mut Patient);
            let explicit = system.explicit(fair);
            let inside = explicit.within(depth);
            match &hunt.outcomes[0] {
                Outcome::Found(trace) => {
                    assert!(inside.has_cycle(), "false alarm at depth {depth} in {system:?}");
                    system.confirm(&product.project(trace), fair).expect("it is a run");
                }
                Outcome::Absent => {
                    assert!(!explicit.has_cycle() && hunt.coverage == Coverage::Complete, "{depth} {system:?}");
                }
                Outcome::Untraced(_) | Outcome::Inconclusive => {
                    assert!(!inside.has_cycle(), "missed at depth {depth} in {system:?}");
                    assert_eq!((hunt.coverage, hunt.stopped), (Coverage::Depth(depth), Stop::Depth));
                }
            }
        }
    }
}

/// A bound that grows comes to the same end: it finds a cycle in the first ball searched that has one, and knows when the
/// ball is everything.
#[test]
fn a_bound_grows_until_a_cycle_lies_within_it() {
    let mut random = Random::new(10);
    let mut grown = 0;
    for round in 0..number(20_000, 500) {
        let system = System::random(&mut random, 1 + round % 3);
        let fair = round % 2 == 0;
        let (product, explicit) = (system.product(fair), system.explicit(fair));
        for increment in [1, 2, 3, 5] {
            for depth in [u32::MAX, random.below(6) as u32] {
                let limits = Limits { depth, ..Limits::NONE };
                let hunt = CycleSearch { limits, increment, ..cycle_search(1 + round % 2) }
                    .hunt_by_bounds(&product, &mut Patient);
                let here = format!("increment {increment}, depth {depth}: {system:?}");
                let bounds = &hunt.stats.bounded().expect("its bounds").bounds;
                let last = bounds.last().expect("one").0;
                assert!(bounds.iter().all(|&(bound, _)| bound % increment == 0 || bound == depth), "{here}");
                grown += usize::from(bounds.len() > 3);
                match &hunt.outcomes[0] {
                    Outcome::Found(trace) => {
                        assert!(explicit.within(last).has_cycle(), "false alarm within {last}, {here}");
                        let mut searched = 0;
                        for &(bound, states) in bounds {
                            if bound < last && states >= 2 * searched {
                                searched = states;
                                assert!(!explicit.within(bound).has_cycle(), "missed within {bound}, {here}");
                            }
                        }
                        system.confirm(&product.project(trace), fair).expect("it is a run");
                    }
                    Outcome::Absent => {
                        assert!(!explicit.has_cycle() && hunt.stopped == Stop::Exhausted, "missed, {here}");
                        assert_eq!(hunt.coverage, Coverage::Complete);
                    }
                    Outcome::Untraced(_) | Outcome::Inconclusive => {
                        assert!(!explicit.within(depth).has_cycle(), "missed, {here}");
                        assert_eq!((hunt.coverage, hunt.stopped), (Coverage::Depth(depth), Stop::Depth));
                    }
                }
            }
        }
    }
    assert!(grown > 100, "only {grown} bounds have grown");
}

/// Where the search is ended, it claims a ball that was searched, and no cycle lies in that.
#[test]
fn a_bound_that_is_cut_short_claims_a_ball_that_was_searched() {
    let mut random = Random::new(11);
    let mut claimed = 0;
    for round in 0..number(20_000, 2_000) {
        let system = System::random(&mut random, 1 + round % 3);
        let (product, explicit) = (system.product(false), system.explicit(false));
        let states = random.below(explicit.size().0 as usize) as u64;
        let (limits, increment) = (Limits { states, ..Limits::NONE }, 1 + random.below(3) as u32);
        let hunt = CycleSearch { limits, increment, ..cycle_search(1) }.hunt_by_bounds(&product, &mut Patient);
        match hunt.coverage {
            _ if matches!(hunt.outcomes[0], Outcome::Found(_)) => assert!(explicit.has_cycle()),
            Coverage::Depth(depth) => {
                assert!(hunt.stopped == Stop::States && !explicit.within(depth).has_cycle(), "{system:?}");
                claimed += 1;
            }
            ref coverage => assert!(matches!(coverage, Coverage::Partial(_)), "{coverage:?}"),
        }
    }
    assert!(claimed > 100, "{claimed}");
}

/// A long ring with an accepting state at its end, and a short cut.
struct Ring(u32);

impl Model for Ring {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(birk_ir::TransitionId(0), 0, &[0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        out.push(birk_ir::TransitionId(0), 0, &[(state[0] + 1) % self.0]);
        if state[0] == 2 {
            out.push(birk_ir::TransitionId(0), 0, &[self.0 - 3]);
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> birk_engine::GoalSet {
        birk_engine::GoalSet(u64::from(state[0] == self.0 - 1))
    }

    fn transitions(&self) -> usize {
        1
    }
}

#[test]
fn long_runs_need_no_recursion_and_become_short() {
    for threads in [1, 2] {
        let hunt = cycle_search(threads).hunt(&Ring(60_000), &mut Patient);
        let Outcome::Found(trace) = &hunt.outcomes[0] else { panic!("there is a cycle") };
        assert_eq!((trace.steps.len(), trace.loop_start), (6, Some(0)), "0 1 2 -3 -2 -1 and back");
    }
}

/// Stops when told.
struct Impatient(u32);

impl Observer for Impatient {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn limits_end_a_search_without_a_claim() {
    struct Endless;
    impl Model for Endless {
        fn words(&self) -> usize {
            1
        }
        fn initial(&self, out: &mut Successors) {
            out.push(birk_ir::TransitionId(0), 0, &[0]);
        }
        fn successors(&self, state: &[u32], out: &mut Successors) {
            out.push(birk_ir::TransitionId(0), 0, &[state[0].wrapping_add(1)]);
        }
        fn evaluate(&self, _: &[u32], _: bool) -> birk_engine::GoalSet {
            birk_engine::GoalSet(1)
        }
        fn transitions(&self) -> usize {
            1
        }
    }
    for threads in [1, 2] {
        let limited = |limits: Limits| CycleSearch { limits, ..cycle_search(threads) };
        let by_time = cycle_search(threads).hunt(&Endless, &mut Impatient(5));
        let by_states = limited(Limits { states: 1000, ..Limits::NONE }).hunt(&Endless, &mut Patient);
        let by_memory = limited(Limits { memory: 1 << 20, ..Limits::NONE }).hunt(&Endless, &mut Patient);
        for (hunt, stop) in [(by_time, Stop::Time), (by_states, Stop::States), (by_memory, Stop::Memory)] {
            assert_eq!((hunt.stopped, &hunt.outcomes[0]), (stop, &Outcome::Inconclusive));
            assert!(matches!(hunt.coverage, Coverage::Partial(_)));
        }
    }
}

/// The number of states is that of the product.
#[test]
fn states_are_counted_once() {
    let mut random = Random::new(9);
    for _ in 0..500 {
        let system = System::random(&mut random, 2);
        let product: Product<'_> = system.product(false);
        let hunt = cycle_search(1).hunt(&product, &mut Patient);
        if hunt.outcomes[0] == Outcome::Absent {
            let explicit = system.explicit(false);
            assert_eq!((hunt.stats.states, hunt.stats.transitions), explicit.size());
        }
    }
}

/// As few steps as possible, stem and cycle together, against the distances between all pairs of nodes.
#[test]
fn lassos_of_small_graphs_are_shortest() {
    let mut random = Random::new(23);
    let (mut found, mut long) = (0, 0);
    for round in 0..number(20_000, 4_000) {
        let mut graph = Graph::drawn(&mut random);
        let nodes = graph.edges.len();
        (graph.stuck, graph.has_cycles, graph.labels) = (None, true, vec![0; nodes]);
        for _ in 0..=random.below(3) {
            graph.labels[random.below(nodes)] = 1;
        }
        let hunt = cycle_search(1 + round % 2).hunt(&graph, &mut Patient);
        let Outcome::Found(trace) = &hunt.outcomes[0] else { continue };
        let expected = shortest_lasso(&graph).expect("one was found");
        assert!(hunt.stats.is_shortest_lasso, "so little lies nearby that nothing is left out");
        assert_eq!(trace.steps.len(), expected, "{:?} {:?} {:?}", graph.initial, graph.edges, graph.labels);
        let way = graph.walk(trace).expect("it is a path");
        let start = trace.loop_start.expect("it is a lasso");
        assert_eq!(way[start], way[way.len() - 1]);
        assert!(way[start..].iter().any(|&node| graph.labels[node] == 1), "the cycle is accepting");
        found += 1;
        long += usize::from(expected > 5);
    }
    assert!(found > 1_000 && long > 50, "{found} lassos, {long} long ones");
}

/// The least number of steps up to the end of an accepting cycle.
fn shortest_lasso(graph: &Graph) -> Option<usize> {
    let nodes = graph.edges.len();
    let mut steps = vec![vec![usize::MAX; nodes]; nodes];
    for (from, edges) in graph.edges.iter().enumerate() {
        edges.iter().for_each(|&to| steps[from][to] = 1);
    }
    for middle in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                let through = steps[from][middle].saturating_add(steps[middle][to]);
                steps[from][to] = steps[from][to].min(through);
            }
        }
    }
    let accepting = |node: &usize| graph.labels[*node] == 1;
    let cycle = |entry: usize| {
        let through = |node: usize| match node == entry {
            true => steps[entry][entry],
            false => steps[entry][node].saturating_add(steps[node][entry]),
        };
        (0..nodes).filter(accepting).map(through).min().unwrap_or(usize::MAX)
    };
    let stem = |entry: usize| {
        let from = graph.initial.iter().map(|&node| if node == entry { 0 } else { steps[node][entry] });
        from.min().unwrap_or(usize::MAX)
    };
    (0..nodes).map(|entry| stem(entry).saturating_add(cycle(entry))).min().filter(|&least| least < usize::MAX)
}
