//! A slice as a model: all steps between its states and no others, no end that the model does not have, and cycles exactly
//! where the slice has them.

use std::collections::BTreeSet;

use birk_agreement::graph::Graph;
use birk_engine::{Hunt, Job, Limits, Model, Observer, Patient, Successors};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome};
use birk_search::highway::{Highway, Ran, Slice, Swarm};
use birk_search::liveness::CycleSearch;

const SYSTEMS: u64 = 2_000;

fn sliced(model: &dyn Model, highway: Highway, limits: Limits) -> (Hunt, Slice) {
    let job = Job { keep_going: true, ..Job::new(1, limits) };
    highway.slice(model, &job, &mut Patient)
}

/// A system, a search of it, and in every third case a limit that ends it early.
fn drawn(seed: u64) -> (Graph, Highway, Limits) {
    let mut random = Random::new(seed);
    let mut system = Graph::drawn(&mut random);
    let nodes = system.edges.len();
    (system.stuck, system.has_cycles, system.labels) = (None, true, vec![0; nodes]);
    (0..nodes / 4 + 1).for_each(|_| system.labels[random.below(nodes)] = 1);
    let degrade_depth = [None, None, Some(1), Some(3)][random.below(4)];
    let highway = Highway { width: 1 + random.below(5), degrade_depth, seed, is_beam: false };
    let limits = match seed % 3 {
        0 => Limits { depth: random.below(4) as u32, ..Limits::NONE },
        _ => Limits::NONE,
    };
    (system, highway, limits)
}

fn nodes(system: &Graph, slice: &Slice) -> BTreeSet<usize> {
    slice.states().map(|state| system.node(&state)).collect()
}

#[test]
fn a_slice_has_all_steps_between_its_states() {
    let mut left_out = 0;
    for seed in 0..SYSTEMS {
        let (system, highway, limits) = drawn(seed);
        let (hunt, slice) = sliced(&system, highway, limits);
        let inside = nodes(&system, &slice);
        assert_eq!(slice.is_complete(), hunt.coverage == Coverage::Complete);
        let states: Vec<Vec<u32>> = slice.states().collect();
        let copy = Slice::of_states(system.words(), &states);
        assert!(copy.states().eq(slice.states()) && !copy.is_complete());
        let model = slice.of(&system);
        let mut batch = Successors::new(system.words());
        for &node in &inside {
            batch.clear();
            let cut = batch.cut;
            model.successors(&system.state(node), &mut batch);
            let there: Vec<usize> = (0..batch.len()).map(|i| system.node(batch.state(i))).collect();
            let expected: Vec<usize> = system.edges[node].iter().copied().filter(|to| inside.contains(to)).collect();
            assert_eq!(there, expected);
            for (i, &to) in there.iter().enumerate() {
                assert_eq!(system.edges[node][batch.step(i).choice as usize], to, "steps keep their names");
            }
            let is_stuck = batch.is_empty() && batch.cut == cut;
            assert_eq!(is_stuck, system.edges[node].is_empty(), "only what ends in the model is stuck");
            left_out += batch.cut - cut;
        }
        batch.clear();
        model.initial(&mut batch);
        let starts: Vec<usize> = (0..batch.len()).map(|i| system.node(batch.state(i))).collect();
        let expected: Vec<usize> = system.initial.iter().copied().filter(|node| inside.contains(node)).collect();
        assert_eq!(starts, expected);
    }
    assert!(left_out > SYSTEMS);
}

/// Whether a cycle through an accepting state lies within a set, by reachability.
fn has_accepting_cycle(system: &Graph, inside: &BTreeSet<usize>) -> bool {
    inside.iter().filter(|&&node| system.is_goal(node, 0)).any(|&node| {
        let edges = system.edges.clone();
        let around = Graph { initial: system.edges[node].clone(), edges, ..Graph::default() };
        around.reachable(&|to| inside.contains(&to)).contains(&node)
    })
}

#[test]
fn cycles_of_slices_are_found_and_real() {
    let (mut found, mut missed, mut absent) = (0, 0, 0);
    for seed in 0..SYSTEMS {
        let (system, highway, limits) = drawn(seed);
        let (_, slice) = sliced(&system, highway, limits);
        let cycle_search = CycleSearch::of(false, &Job { seed, ..Job::new(1, limits) });
        let hunt = slice.find_cycle(&system, &cycle_search, &mut Patient);
        let expected = has_accepting_cycle(&system, &nodes(&system, &slice));
        match &hunt.outcomes[0] {
            Outcome::Found(trace) => {
                let run = system.walk(trace).expect("a trace is a path");
                let looped = &run[trace.loop_start.expect("a lasso has a loop")..];
                assert_eq!(looped.first(), looped.last());
                assert!(looped.len() > 1 && looped.iter().any(|&node| system.is_goal(node, 0)) && expected);
                found += 1;
            }
            Outcome::Absent => {
                assert!(slice.is_complete() && hunt.coverage == Coverage::Complete && !expected);
                absent += 1;
            }
            Outcome::Untraced(_) | Outcome::Inconclusive => {
                assert!(!slice.is_complete() && hunt.coverage == Coverage::Partial(hunt.stats.states) && !expected);
                missed += u64::from(has_accepting_cycle(&system, &system.reachable(&|_| true)));
            }
        }
    }
    assert!(found > 200 && missed > 50 && absent > 100, "{found} {missed} {absent}");
}

#[test]
fn runs_are_the_same_for_any_number_of_threads() {
    let (mut cut_short, mut limited) = (0, 0);
    for seed in 0..150 {
        let (system, highway, _) = drawn(seed);
        let doubles = seed % 4 == 0;
        let runs = Swarm { first: Highway { width: 1, ..highway }, count: 1 + seed % 9, doubles };
        let most = if seed % 5 == 0 { 12 } else { u64::MAX };
        let results = |threads| {
            let one = |highway: &Highway, limits: Limits, observer: &mut dyn Observer| {
                let limits = Limits { states: u64::MAX, ..limits };
                let job = Job { keep_going: true, ..Job::new(1, limits) };
                let (hunt, slice) = highway.slice(&system, &job, observer);
                let is_last = highway.seed % 13 == 3;
                Ran {
                    result: (highway.seed, highway.width, nodes(&system, &slice)),
                    states: hunt.stats.states,
                    is_last,
                }
            };
            runs.hunt(Limits { threads, states: most, ..Limits::NONE }, &mut Patient, &one)
        };
        let alone = results(1);
        for threads in [2, 4] {
            assert_eq!(results(threads), alone, "seed {seed}");
        }
        for (number, (seed, width, _)) in alone.iter().enumerate() {
            assert_eq!((*seed, *width), (runs.first.seed + number as u64, if doubles { 1 << number } else { 1 }));
        }
        let ends = alone.iter().map(|(seed, ..)| seed % 13 == 3);
        assert!(ends.clone().rev().skip(1).all(|is_last| !is_last), "nothing comes after the last");
        let states: usize = alone.iter().rev().skip(1).map(|(_, _, nodes)| nodes.len()).sum();
        assert!(states as u64 <= most);
        let is_short = (alone.len() as u64) < runs.count;
        let has_end = ends.clone().any(|is_last| is_last);
        assert!(is_short || alone.len() as u64 == runs.count);
        assert!(!is_short || has_end || most == 12, "it ended for no reason");
        cut_short += u32::from(is_short && has_end);
        limited += u32::from(is_short && !has_end);
    }
    assert!(cut_short > 10 && limited > 2, "{cut_short} {limited}");
}

#[test]
fn how_many_runs_a_confidence_needs() {
    for (rate, runs) in
        [(0.1, [22, 29, 44]), (0.05, [45, 59, 90]), (0.01, [230, 299, 459]), (0.001, [2302, 2995, 4603])]
    {
        assert_eq!([0.9, 0.95, 0.99].map(|confidence| Swarm::for_confidence(confidence, rate)), runs);
        for (confidence, runs) in [0.9, 0.95, 0.99].into_iter().zip(runs) {
            assert!(Swarm::rate_after(confidence, runs) <= rate && Swarm::rate_after(confidence, runs - 1) > rate);
        }
    }
}
