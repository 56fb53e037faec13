//! Searches that remember states by bits: what they find is real, what they lose is what they say they may lose.

use std::collections::HashSet;

use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Patient, Successors};
use birk_ir::{Coverage, Outcome, Stop, TransitionId};
use birk_search::bitstate::BitState;
use birk_search::liveness::CycleSearch;

/// A random graph with a fixed number of successors; in some nodes the goal is true.
struct Web {
    nodes: u32,
    seed: u64,
    /// One node in so many is marked.
    marked: u64,
}

impl Web {
    fn random(&self, a: u32, b: u64) -> u64 {
        let mut x =
            self.seed ^ u64::from(a).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xd6e8_feb8_6659_fd93);
        for _ in 0..3 {
            x ^= x >> 32;
            x = x.wrapping_mul(0xe703_7ed1_a0b4_28db);
        }
        x ^ x >> 29
    }

    /// Without cycles: targets have higher numbers.
    fn targets(&self, node: u32) -> Vec<u32> {
        let above = self.nodes - node - 1;
        if above == 0 {
            Vec::new()
        } else {
            (0..8).map(|i| node + 1 + (self.random(node, i) % u64::from(above.min(50))) as u32).collect()
        }
    }
}

impl Model for Web {
    fn words(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0, 7]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (i, target) in self.targets(state[0]).into_iter().enumerate() {
            out.push(TransitionId(0), i as u32, &[target, 7]);
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(u64::from(self.random(state[0], 99).is_multiple_of(self.marked)))
    }

    fn transitions(&self) -> usize {
        1
    }
}

fn job(stop: bool) -> Job {
    Job { stop_at: GoalSet(u64::from(stop)), keep_going: !stop, ..Job::new(1, Limits::NONE) }
}

fn reachable(web: &Web) -> usize {
    let mut seen = HashSet::from([0]);
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        for target in web.targets(node) {
            if seen.insert(target) {
                waiting.push(target);
            }
        }
    }
    seen.len()
}

fn omissions(hunt: &Hunt) -> (f64, f64) {
    match hunt.coverage {
        Coverage::Hashed { expected_omissions, omission_probability, .. } => (expected_omissions, omission_probability),
        ref other => panic!("{other:?}"),
    }
}

/// Over many runs, as many states are lost as the estimates say; a state that is reached only through lost ones may be
/// missing, too, so the graph has many ways to each.
#[test]
fn losses_are_as_expected() {
    let web = Web { nodes: 4_000, seed: 5, marked: u64::MAX };
    let all = reachable(&web);
    let (mut lost, mut expected, mut clean, mut chance) = (0.0, 0.0, 0.0, 0.0);
    let runs = 200;
    for seed in 1..=runs {
        let bitstate = BitState { bytes: 1 << 12, expected: Some(4_000), swarm: 1, seed };
        let hunt = bitstate.hunt(&web, &job(false), &mut Patient);
        assert_eq!((hunt.stopped, &hunt.outcomes[0]), (Stop::Exhausted, &Outcome::Inconclusive));
        let missing = all as f64 - hunt.stats.states as f64;
        lost += missing;
        clean += f64::from(u8::from(missing == 0.0));
        let (expects, probability) = omissions(&hunt);
        expected += expects;
        chance += 1.0 - probability;
    }
    let ratio: f64 = lost / expected;
    assert!(lost > 50.0 && (0.7..1.5).contains(&ratio), "{lost} lost, {expected} expected");
    assert!((clean - chance).abs() < 0.15 * runs as f64, "{clean} runs lost nothing, {chance} expected");
}

#[test]
fn a_swarm_loses_less_and_says_so() {
    let web = Web { nodes: 4_000, seed: 6, marked: u64::MAX };
    let all = reachable(&web) as f64;
    let bitstate = |swarm| BitState { bytes: 1 << 12, expected: Some(4_000), swarm, seed: 1 };
    let (one, many) =
        (bitstate(1).hunt(&web, &job(false), &mut Patient), bitstate(6).hunt(&web, &job(false), &mut Patient));
    assert!(omissions(&many).0 < omissions(&one).0 / 10.0, "{:?} {:?}", one.coverage, many.coverage);
    assert!((many.stats.states as f64 / all - 1.0).abs() < 0.06, "{} of {all}", many.stats.states);
    assert!(many.stats.transitions > 4 * one.stats.transitions);
}

#[test]
fn what_is_found_is_a_run() {
    for seed in 0..40 {
        let web = Web { nodes: 3_000, seed, marked: 200 };
        let bitstate = BitState { bytes: 512, expected: None, swarm: 3, seed };
        let hunt = bitstate.hunt(&web, &job(true), &mut Patient);
        let Outcome::Found(trace) = &hunt.outcomes[0] else { continue };
        let mut node = 0;
        for step in &trace.steps {
            node = web.targets(node)[step.choice as usize];
        }
        assert!(web.random(node, 99).is_multiple_of(200) && hunt.stopped == Stop::Goal);
    }
}

/// The same graph with a way back from its end: one cycle.
struct Closed(Web, bool);

impl Model for Closed {
    fn words(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Successors) {
        self.0.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.0.successors(state, out);
        if self.1 && state[0] == self.0.nodes - 1 {
            out.push(TransitionId(0), 8, &[0, 7]);
        }
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.0.evaluate(state, stuck)
    }

    fn transitions(&self) -> usize {
        1
    }
}

/// Cycles that are not there are never found, however few bits there are: the path is exact.
#[test]
fn cycles_are_missed_but_not_invented() {
    let mut found = 0;
    for seed in 0..12 {
        for bytes in [8, 64, 1 << 16] {
            let bitstate = BitState { bytes, expected: None, swarm: 1, seed };
            let cycle_search = CycleSearch::of(false, &Job { seed, ..Job::new(1, Limits::NONE) });
            let web = |closed| Closed(Web { nodes: 12_000, seed, marked: 3 }, closed);
            let open = bitstate.find_cycle(&web(false), &cycle_search, &mut Patient);
            assert_eq!(open.outcomes[0], Outcome::Inconclusive, "a false alarm with {bytes} bytes");
            let closed = bitstate.find_cycle(&web(true), &cycle_search, &mut Patient);
            let is_found = matches!(closed.outcomes[0], Outcome::Found(_));
            assert!(is_found || bytes < 1 << 16, "with enough bits nothing is missed");
            found += usize::from(is_found);
        }
    }
    assert!((12..36).contains(&found), "{found} of 36 found: few bits must miss some");
}
