//! Strong fairness against its definition: a cycle is fair if the threads that can move in it are among those that do.

use std::collections::BTreeSet;

use birk_engine::{Limits, Patient};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop, Trace};
use birk_search::liveness::find_strongly_fair_cycle;

use crate::system::{Explicit, System};
use crate::{cycle_search, number};

/// Whether there is a set of threads such that, where no other can move, a cycle through an accepting node has a step of each.
fn has_strongly_fair_cycle(system: &System) -> bool {
    is_in(system, &system.explicit(false))
}

/// The same within some steps.
fn has_strongly_fair_cycle_within(system: &System, depth: u32) -> bool {
    let mut part = system.explicit(false);
    let mut inside: BTreeSet<usize> = part.initial.iter().copied().collect();
    for _ in 0..depth {
        let next: Vec<usize> = inside.iter().flat_map(|node| part.edges[node].iter().map(|edge| edge.1)).collect();
        inside.extend(next);
    }
    part.edges.retain(|node, _| inside.contains(node));
    part.edges.values_mut().for_each(|edges| edges.retain(|(_, target)| inside.contains(target)));
    part.accepting.retain(|node| inside.contains(node));
    is_in(system, &part)
}

fn is_in(system: &System, whole: &Explicit) -> bool {
    let reached: BTreeSet<usize> =
        whole.initial.iter().flat_map(|&node| whole.reach(node).into_iter().chain([node])).collect();
    (0..1 << system.threads).any(|set: usize| {
        let is_left = |node: &usize| whole.enabled[node].iter().all(|thread| set >> thread & 1 == 1);
        let mut part = Explicit { enabled: whole.enabled.clone(), ..Explicit::default() };
        for (node, edges) in whole.edges.iter().filter(|(node, _)| is_left(node) && reached.contains(node)) {
            part.edges.insert(*node, edges.iter().copied().filter(|(_, target)| is_left(target)).collect());
        }
        whole.accepting.iter().filter(|&node| part.edges.contains_key(node)).any(|node| {
            let there = part.reach(*node);
            let component: Vec<usize> = there.into_iter().filter(|&other| part.reach(other).contains(node)).collect();
            let moves = |thread: usize| {
                let mut steps = component.iter().flat_map(|member| &part.edges[member]);
                steps.any(|(of, target)| *of == Some(thread) && component.contains(target))
            };
            !component.is_empty() && (0..system.threads).filter(|thread| set >> thread & 1 == 1).all(moves)
        })
    })
}

/// The thread that can move in the loop of a run, and does not.
fn starved(system: &System, trace: &Trace) -> Option<usize> {
    let mut states = vec![system.initial[trace.initial as usize]];
    for step in &trace.steps {
        states.push(system.steps[states[states.len() - 1]][step.choice as usize].1);
    }
    let start = trace.loop_start.expect("a loop");
    let is_taken = |thread: usize| {
        (start..trace.steps.len()).any(|at| system.steps[states[at]][trace.steps[at].choice as usize].0 == thread)
    };
    (0..system.threads)
        .find(|&thread| !is_taken(thread) && states[start..].iter().any(|&state| system.is_enabled(state, thread)))
}

#[test]
fn random_products_under_strong_fairness() {
    let mut random = Random::new(21);
    let rounds = number(20_000, 4_000);
    let (mut found, mut weak_only) = (0, 0);
    for round in 0..rounds {
        let system = System::random(&mut random, 1 + round % 3);
        let product = system.product_without_copies();
        let hunt = find_strongly_fair_cycle(&product, &Limits::NONE, &mut Patient);
        let expected = has_strongly_fair_cycle(&system);
        match &hunt.outcomes[0] {
            Outcome::Found(trace) => {
                assert!(expected, "round {round}: false alarm in {system:?}");
                let trace = product.project(trace);
                system.confirm(&trace, true).unwrap_or_else(|error| panic!("round {round}: {error} in {system:?}"));
                assert_eq!(starved(&system, &trace), None, "round {round}: {trace:?} in {system:?}");
                found += 1;
            }
            Outcome::Absent => {
                assert!(!expected, "round {round}: missed in {system:?}");
                assert_eq!((&hunt.coverage, hunt.stopped), (&Coverage::Complete, Stop::Exhausted));
                // Weak fairness in its place would be noticed.
                let weak = cycle_search(1).hunt(&system.product(true), &mut Patient);
                weak_only += usize::from(matches!(weak.outcomes[0], Outcome::Found(_)));
            }
            outcome => panic!("round {round}: no limit was set: {outcome:?}"),
        }
    }
    assert!(found * 10 > rounds && found * 10 < rounds * 9, "{found} of {rounds} have a cycle: both must occur");
    assert!(weak_only > 2, "{weak_only} of {rounds} differ from weak fairness");
}

/// What is found in a part is there; nothing is claimed of the rest.
#[test]
fn parts_of_products_under_strong_fairness() {
    let mut random = Random::new(22);
    let (mut open, mut found, mut claimed) = (0, 0, 0);
    for round in 0..number(10_000, 2_000) {
        let system = System::random(&mut random, 1);
        let product = system.product_without_copies();
        let limits = Limits { depth: random.below(4) as u32, ..Limits::NONE };
        let hunt = find_strongly_fair_cycle(&product, &limits, &mut Patient);
        match &hunt.outcomes[0] {
            Outcome::Found(trace) => {
                assert!(has_strongly_fair_cycle(&system), "round {round}");
                assert_eq!(starved(&system, &product.project(trace)), None, "round {round}");
                found += 1;
            }
            Outcome::Absent => {
                assert!(!has_strongly_fair_cycle(&system), "round {round}");
                assert_eq!(hunt.coverage, Coverage::Complete);
            }
            _ => {
                match hunt.coverage {
                    Coverage::Depth(depth) => {
                        assert!(!has_strongly_fair_cycle_within(&system, depth), "round {round}: depth {depth}");
                        claimed += 1;
                    }
                    Coverage::Partial(_) => {}
                    ref coverage => panic!("round {round}: {coverage:?}"),
                }
                open += 1;
            }
        }
    }
    assert!(open > 100 && found > 100 && claimed > 100, "{open} {found} {claimed}");
}
