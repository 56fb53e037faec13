//! Depth-bounded search against breadth-first distances, on random graphs of seven shapes; and every way to get it wrong.
//!
//! `BIRK_TEST_FULL=1` takes the full number of graphs instead of a share.

mod bent;
mod relief;
mod resume;

use std::collections::BTreeSet;

use bent::{Answer, Bend};
use birk_agreement::graph::Graph;
use birk_engine::{Hunt, Job, Limits, Options, Patient, Storage, Value};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::bounded::{FRONTIER, INCREMENT, with_frontier};

const NO_LIMIT: u32 = u32::MAX;

/// A search of everything within these limits, whose bound grows by so many steps.
fn job(limits: Limits, increment: u32) -> Job {
    let options = Options::default().with(&INCREMENT, Value::Number(increment.into()));
    Job { keep_going: true, options, ..Job::new(1, limits) }
}

/// The same with a frontier that is kept so.
fn with(frontier: &'static str, mut job: Job) -> Job {
    job.options.set(&FRONTIER, Value::Word(frontier));
    job
}

/// A graph whose only goal is the last node.
fn graph(edges: Vec<Vec<usize>>, initial: &[usize]) -> Graph {
    let labels = (1..=edges.len()).map(|node| u64::from(node == edges.len())).collect();
    Graph { edges, initial: initial.to_vec(), labels, ..Graph::default() }
}

/// What there is to find within a depth, but for the revisits.
fn truth(graph: &Graph, cutoff: u32) -> Answer {
    let distances = graph.distances();
    let nodes = |wanted: &dyn Fn(u32) -> bool| -> BTreeSet<usize> {
        (0..graph.edges.len()).filter(|&node| distances[node].is_some_and(wanted)).collect()
    };
    Answer {
        visited: nodes(&|distance| distance <= cutoff),
        frontier: nodes(&|distance| distance == cutoff),
        is_complete: nodes(&|distance| distance > cutoff).is_empty(),
        revisits: None,
    }
}

fn bent(graph: &Graph, cutoff: u32, increment: u32, bend: Bend) -> Answer {
    bent::search(&graph.edges, &graph.initial, cutoff, increment, bend)
}

fn hunt(graph: &Graph, job: &Job) -> (Hunt, BTreeSet<usize>) {
    graph.take_evaluated();
    let (hunt, frontier) = with_frontier(graph, job, &mut Patient);
    (hunt, frontier.iter().map(|state| graph.node(state)).collect())
}

/// What the engine finds is what there is to find, and it explores what the short version of it does.
#[track_caller]
fn check(graph: &Graph, cutoff: u32, increment: u32) {
    check_with(graph, &job(Limits { depth: cutoff, ..Limits::NONE }, increment));
}

#[track_caller]
fn check_with(graph: &Graph, job: &Job) {
    let (cutoff, increment) = (job.limits.depth, INCREMENT.number(&job.options).expect("it is set") as u32);
    let (hunt, frontier) = hunt(graph, job);
    let evaluated = graph.evaluated.lock().unwrap();
    let visited: BTreeSet<usize> = evaluated.iter().copied().collect();
    assert_eq!(evaluated.len(), visited.len(), "evaluated once");
    let is_complete = match hunt.coverage {
        Coverage::Hashed { depth, omission_probability, .. } => {
            assert!(omission_probability < 1e-12 && job.storage == Storage::Compact);
            depth.is_none()
        }
        _ => hunt.coverage == Coverage::Complete,
    };
    let truth = truth(graph, cutoff);
    let steps: usize = visited.iter().map(|&node| graph.edges[node].len()).sum();
    assert_eq!((hunt.stats.states, hunt.stats.transitions), (visited.len() as u64, steps as u64));
    assert_eq!(Answer { visited, frontier, is_complete, revisits: None }, truth);
    let (coverage, stopped) =
        if is_complete { (Coverage::Complete, Stop::Exhausted) } else { (Coverage::Depth(cutoff), Stop::Depth) };
    assert_eq!(hunt.stopped, stopped);
    let is_exact = !matches!(hunt.coverage, Coverage::Hashed { .. });
    assert!(!is_exact || hunt.coverage == coverage);
    let frontier = hunt.stats.bounded().and_then(|stats| stats.frontier).expect("what it cost");
    let farthest = if frontier.kind == "tree" { increment } else { cutoff };
    assert!(frontier.replayed <= frontier.replays * u64::from(farthest), "{frontier:?}");
    let bent = bent(graph, cutoff, increment, Bend::Nothing);
    assert_eq!(Some(hunt.stats.revisits), bent.revisits);
    assert_eq!(Answer { revisits: None, ..bent }, truth);
    let goal = graph.edges.len() - 1;
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => {
            assert!(trace.steps.len() as u64 <= u64::from(cutoff), "a trace beyond the limit");
            let start = graph.initial[trace.initial as usize];
            let walk = trace.steps.iter().fold(start, |node, step| graph.edges[node][step.transition.index()]);
            assert_eq!(walk, goal);
            let distance = graph.distances()[goal].expect("found") as usize;
            let within = distance.next_multiple_of(increment as usize).max(distance);
            assert!(trace.steps.len() <= within, "a trace longer than the bound in which it was found");
        }
        outcome => {
            assert!(!truth.visited.contains(&goal));
            assert_eq!(*outcome == Outcome::Absent, is_complete && is_exact);
        }
    }
}

/// Sparse, dense, a chain with edges back, one with shortcuts, layers, a tree with more edges, a ring with self loops.
fn drawn(random: &mut Random, shape: usize) -> Graph {
    let nodes = 2 + random.below(18);
    let mut edges = vec![Vec::new(); nodes];
    let any = |random: &mut Random| (random.below(nodes), random.below(nodes));
    let chain = (1..nodes).map(|node| (node - 1, node));
    let mut pairs: Vec<(usize, usize)> = match shape {
        0 => (0..nodes * 3 / 2).map(|_| any(random)).collect(),
        1 => (0..nodes * 4).map(|_| any(random)).collect(),
        2 => chain.chain((0..nodes / 2).map(|_| any(random)).map(|(a, b)| (a.max(b), a.min(b)))).collect(),
        3 => chain.chain((0..nodes / 2).map(|_| any(random)).map(|(a, b)| (a.min(b), a.max(b)))).collect(),
        4 => {
            let edge = |random: &mut Random| {
                let from = random.below(nodes);
                (from, (from / 3 + 1) * 3 + random.below(3))
            };
            (0..nodes * 2).map(|_| edge(random)).filter(|&(_, to)| to < nodes).collect()
        }
        5 => {
            let tree: Vec<(usize, usize)> = (1..nodes).map(|node| (random.below(node), node)).collect();
            tree.into_iter().chain((0..nodes / 3).map(|_| any(random))).collect()
        }
        _ => {
            let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
            let extra: Vec<(usize, usize)> = (0..nodes / 3).map(|_| any(random)).collect();
            ring.chain(extra.iter().map(|&(node, _)| (node, node))).chain(extra.iter().copied()).collect()
        }
    };
    // Which successor comes first decides which detours are made.
    for i in (1..pairs.len()).rev() {
        pairs.swap(i, random.below(i + 1));
    }
    pairs.into_iter().for_each(|(from, to)| edges[from].push(to));
    let others = [0, 0, 1, 2][random.below(4)];
    let initial: Vec<usize> = std::iter::once(0).chain((0..others).map(|_| random.below(nodes))).collect();
    graph(edges, &initial)
}

/// As many graphs of each shape, each with a depth limit: none, or one near what can be reached.
fn graphs(full: usize, share: usize, mut look: impl FnMut(&Graph, u32)) {
    let mut random = Random::new(7);
    for number in 0..if std::env::var_os("BIRK_TEST_FULL").is_some() { full } else { share } {
        let graph = drawn(&mut random, number % 7);
        let deepest = graph.distances().into_iter().flatten().max().unwrap_or(0);
        let cutoff = if random.below(4) == 0 { NO_LIMIT } else { random.below(deepest as usize + 2) as u32 };
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(&graph, cutoff)));
        assert!(looked.is_ok(), "cutoff {cutoff}, initial {:?}, edges {:?}", graph.initial, graph.edges);
    }
}

#[test]
fn what_is_visited_what_waits_and_what_is_claimed_is_right() {
    graphs(100_000, 10_000, |graph, cutoff| {
        for increment in [1, 2, 3, 4, 7, 20, 1_000_000] {
            check(graph, cutoff, increment);
        }
    });
}

const FRONTIERS: [&str; 3] = ["states", "traces", "tree"];

/// However states are remembered and however they wait: large ones, exactly and by their fingerprints.
#[test]
fn every_frontier_and_every_store_finds_the_same() {
    let mut random = Random::new(11);
    graphs(20_000, 1_500, |graph, depth| {
        let more_words = [1, 3, 40, 300][random.below(4)];
        let graph = Graph { more_words, ..self::graph(graph.edges.clone(), &graph.initial) };
        for frontier in FRONTIERS {
            for storage in [Storage::Exact, Storage::Compact] {
                let increment = [1, 2, 3, 7][random.below(4)];
                let job = with(frontier, job(Limits { depth, ..Limits::NONE }, increment));
                check_with(&graph, &Job { storage, ..job });
            }
        }
    });
}

/// Graphs that are large enough to be shared by threads.
#[test]
fn several_threads_visit_the_same() {
    let mut random = Random::new(13);
    let mut shared = 0;
    for number in 0..if std::env::var_os("BIRK_TEST_FULL").is_some() { 400 } else { 40 } {
        let nodes = 4000 + random.below(4000);
        let width = [nodes, 400, 1500][number % 3];
        let target = |random: &mut Random, from: usize| match width {
            width if width == nodes => random.below(nodes),
            width => (from / 2 + random.below(width)).min(nodes - 1),
        };
        let successors = |from: usize| (0..1 + random.below(4)).map(|_| target(&mut random, from)).collect();
        let edges = (0..nodes).map(successors).collect();
        let graph = Graph { more_words: [0, 30][number % 2], ..graph(edges, &[0, 1, 2]) };
        let deepest = graph.distances().into_iter().flatten().max().expect("one");
        let depth =
            if number % 4 == 0 { NO_LIMIT } else { deepest / 2 + random.below(deepest as usize / 2 + 1) as u32 };
        let increment = [2, 3, 5][random.below(3)];
        let kind = FRONTIERS[number % 3];
        let job = with(kind, job(Limits { depth, ..Limits::NONE }, increment));
        let (alone, frontier) = hunt(&graph, &job);
        let visited: BTreeSet<usize> = graph.evaluated.lock().unwrap().iter().copied().collect();
        assert_eq!(visited, truth(&graph, depth).visited);
        shared += u32::from(alone.stats.peak_frontier > 500);
        for threads in [2, 4] {
            let limits = Limits { threads, grain: 8, ..job.limits };
            let (hunt, same) = hunt(&graph, &Job { limits, ..job.clone() });
            let evaluated = graph.evaluated.lock().unwrap();
            assert_eq!(evaluated.len(), visited.len(), "evaluated once");
            assert_eq!(evaluated.iter().copied().collect::<BTreeSet<_>>(), visited);
            assert_eq!((hunt.coverage, hunt.stopped, same), (alone.coverage.clone(), alone.stopped, frontier.clone()));
            assert_eq!((hunt.stats.states, hunt.stats.transitions), (alone.stats.states, alone.stats.transitions));
            assert_eq!((hunt.stats.max_depth, &hunt.fired), (alone.stats.max_depth, &alone.fired));
            let costs = hunt.stats.bounded().and_then(|stats| stats.frontier).expect("what it cost");
            let farthest = if kind == "tree" { increment } else { deepest };
            assert!(costs.replayed <= costs.replays * u64::from(farthest), "{costs:?}");
        }
    }
    assert!(shared > 10, "only {shared} graphs were large enough");
}

/// Where the search ends early, it claims the last bound it completed, and that was examined.
#[test]
fn a_search_cut_short_claims_the_last_bound_completed() {
    let mut claims = BTreeSet::new();
    graphs(20_000, 4_000, |graph, _| {
        let reachable = truth(graph, NO_LIMIT).visited.len() as u64;
        for (states, increment) in (0..reachable).zip([1, 2, 3, 4].into_iter().cycle()) {
            let (hunt, _) = hunt(graph, &job(Limits { states, ..Limits::NONE }, increment));
            assert_eq!(hunt.stopped, Stop::States);
            let evaluated: BTreeSet<usize> = graph.evaluated.lock().unwrap().iter().copied().collect();
            match hunt.coverage {
                Coverage::Depth(depth) => {
                    assert!(depth.is_multiple_of(increment));
                    assert!(truth(graph, depth).visited.is_subset(&evaluated));
                    assert!(!truth(graph, depth.saturating_add(increment)).visited.is_subset(&evaluated) || states > 0);
                    claims.insert(depth);
                }
                Coverage::Partial(_) => assert!(evaluated.len() <= graph.initial.len()),
                coverage => panic!("{coverage:?}"),
            }
        }
    });
    assert!(claims.len() > 5, "{claims:?}");
}

/// What a bend does to the answers.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    missed: u32,
    wrong_frontier: u32,
    wrongly_complete: u32,
    wrongly_incomplete: u32,
    more_revisits: u32,
}

fn harm(bend: Bend) -> Harm {
    let mut harm = Harm::default();
    graphs(21_000, 4_200, |graph, cutoff| {
        let cutoff = cutoff.min(40);
        for increment in [1, 2, 3, 5, 40] {
            let right = bent(graph, cutoff, increment, Bend::Nothing);
            let (truth, bent) = (truth(graph, cutoff), bent(graph, cutoff, increment, bend));
            assert!(bent.visited.is_subset(&truth.visited), "nothing beyond the bound");
            harm.missed += u32::from(bent.visited != truth.visited);
            harm.wrong_frontier += u32::from(bent.frontier != truth.frontier);
            harm.wrongly_complete += u32::from(bent.is_complete && !truth.is_complete);
            harm.wrongly_incomplete += u32::from(!bent.is_complete && truth.is_complete);
            harm.more_revisits += u32::from(bent.revisits.unwrap_or(u64::MAX) > right.revisits.expect("few"));
        }
    });
    harm
}

#[test]
fn bends_that_lose_states() {
    let bend = harm(Bend::FrontierGetsThreshold);
    assert!(bend.missed > 100 && bend.wrongly_complete > 100, "{bend:?}");
    let bend = harm(Bend::LeastOfChildren);
    assert!(bend.missed > 10, "{bend:?}");
    let bend = harm(Bend::OnlyWholeSteps);
    assert!(bend.missed > 100, "{bend:?}");
    let bend = harm(Bend::FrontierIsNotVisited);
    assert!(bend.missed > 100, "{bend:?}");
    // It is late only: what was cut off is in the frontier.
    let bend = harm(Bend::OnlyOnce);
    assert!(bend.missed > 100 && bend.wrong_frontier > 100 && bend.wrongly_complete == 0, "{bend:?}");
}

#[test]
fn bends_that_keep_or_claim_the_wrong_thing() {
    let bend = harm(Bend::NoProvisionalThreshold);
    assert!(bend.wrong_frontier > 100 && bend.more_revisits > 100 && bend.missed == 0, "{bend:?}");
    let bend = harm(Bend::ForgetsThresholds);
    assert!(bend.wrong_frontier > 100 && bend.missed == 0, "{bend:?}");
    let bend = harm(Bend::FrontierKeepsAll);
    assert!(bend.wrong_frontier > 100 && bend.missed == 0, "{bend:?}");
    let bend = harm(Bend::NoClosureTest);
    assert!(bend.wrongly_incomplete > 100 && bend.missed == 0 && bend.wrong_frontier == 0, "{bend:?}");
}

#[test]
fn bends_that_only_cost_time() {
    let bends = [Bend::AlsoAtThreshold, Bend::Naive, Bend::CutOffAsksForItsDepth, Bend::AsksForItsDepth];
    for bend in bends {
        let harm = harm(bend);
        assert_eq!((harm.missed, harm.wrong_frontier), (0, 0), "{bend:?}: {harm:?}");
        assert_eq!((harm.wrongly_complete, harm.wrongly_incomplete), (0, 0), "{bend:?}: {harm:?}");
        assert!(harm.more_revisits > 100, "{bend:?}: {harm:?}");
    }
    let always = harm(Bend::NeverBecomesAlways);
    assert!(always.more_revisits > 100, "{always:?}");
}

/// The smallest graphs on which a bend shows, those of children on the stack and of closed parts too rarely to be met by
/// chance; the engine is right on them.
#[test]
fn smallest_cases() {
    let case = |edges: &[&[usize]], cutoff: u32, increment: u32, bend: Bend| {
        let graph = graph(edges.iter().map(|to| to.to_vec()).collect(), &[0]);
        check(&graph, cutoff, increment);
        let bent = bent(&graph, cutoff, increment, bend);
        assert_ne!(Answer { revisits: None, ..bent }, truth(&graph, cutoff), "{bend:?}");
    };
    case(&[&[1], &[2], &[]], 2, 1, Bend::FrontierGetsThreshold);
    case(&[&[1], &[1]], 2, 2, Bend::NoProvisionalThreshold);
    case(&[&[1], &[0]], 3, 1, Bend::ForgetsThresholds);
    case(&[&[1, 2], &[2], &[]], 2, 2, Bend::FrontierKeepsAll);
    case(&[&[6, 4], &[2], &[5], &[4, 1], &[3], &[3], &[7], &[3]], 5, 5, Bend::IgnoresStack);
    case(&[&[2, 4], &[6], &[3, 4], &[5], &[5], &[1], &[]], 4, 4, Bend::ClosedByStackPosition);
    case(&[&[4, 3], &[2], &[], &[1, 4], &[3]], 3, 3, Bend::LeastOfChildren);
    case(&[&[1, 2], &[2], &[3], &[4], &[]], 3, 3, Bend::OnlyOnce);
    case(&[&[1], &[2], &[3], &[]], 3, 2, Bend::OnlyWholeSteps);
    case(&[&[1], &[]], 1, 1, Bend::NoClosureTest);
    case(&[&[1], &[]], 1, 1, Bend::FrontierIsNotVisited);
}

/// Twenty diamonds in a row have a million paths.
#[test]
fn diamonds_are_explored_once() {
    let mut edges = Vec::new();
    for top in (0..60).step_by(3) {
        edges.extend([vec![top + 1, top + 2], vec![top + 3], vec![top + 3]]);
    }
    edges.push(Vec::new());
    let graph = graph(edges, &[0]);
    check(&graph, NO_LIMIT, 50);
    assert_eq!(bent(&graph, NO_LIMIT, 50, Bend::Nothing).revisits, Some(0));
    assert_eq!(bent(&graph, NO_LIMIT, 50, Bend::NeverBecomesAlways).revisits, None);
    // A path behind them that is cut: there is something to come back for, but only from less deep.
    let mut edges = graph.edges;
    edges[60].push(61);
    edges.push(Vec::new());
    let long = self::graph(edges, &[0]);
    check(&long, 40, 40);
    assert_eq!(bent(&long, 40, 40, Bend::Nothing).revisits, Some(0));
    assert_eq!(bent(&long, 40, 40, Bend::AlsoAtThreshold).revisits, None);
}

/// The stack is the program's own: a run may be as long as the increment.
#[test]
fn a_long_chain_with_a_large_increment() {
    let nodes = 200_000;
    let edges = (1..=nodes).map(|next| if next < nodes { vec![next] } else { Vec::new() }).collect();
    let graph = graph(edges, &[0]);
    let (hunt, _) = hunt(&graph, &job(Limits::NONE, 1_000_000));
    assert_eq!((hunt.coverage, hunt.stats.states, hunt.stats.revisits), (Coverage::Complete, nodes as u64, 0));
    assert!(matches!(&hunt.outcomes[0], Outcome::Found(trace) if trace.steps.len() == nodes - 1));
}
