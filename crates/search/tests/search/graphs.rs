//! Graphs given edge by edge, searched by every engine: what is found, what is counted, what is claimed.
//!
//! A case is a graph and the outcome, two lines. `0>1` is an edge, `^1` an initial state (else it is 0), `!2` a state in
//! which the goal holds, `#3` the result of a failing check; in a graph with `stuck` the goal is to have no successor.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use birk_agreement::graph::Graph;
use birk_agreement::hunt;
use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Model as _, Observer, Patient, Progress, Storage};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::{ENGINES, engine};

/// Reads a graph.
fn graph(text: &str) -> Graph {
    let mut graph = Graph::default();
    for word in text.split_whitespace() {
        let node = |text: &str| text.parse::<usize>().expect("a number of a node");
        match (word, word.split_once('>')) {
            ("stuck", _) => graph.stuck = Some(0),
            (_, Some((from, to))) => graph.add_edge(node(from), node(to)),
            _ => mark(&mut graph, &word[..1], node(&word[1..])),
        }
    }
    if graph.initial.is_empty() {
        mark(&mut graph, "^", 0);
    }
    graph
}

fn mark(graph: &mut Graph, mark: &str, node: usize) {
    graph.add_node(node);
    match mark {
        "^" => graph.initial.push(node),
        "!" => graph.labels[node] |= 1,
        "#" => _ = graph.faults.insert(node),
        _ => unreachable!("a mark is one of ^ ! #"),
    }
}

fn job(graph: &Graph, limits: Limits) -> Job {
    Job { keep_going: true, ..Job::new(graph.goals(), limits) }
}

fn shown(hunt: &Hunt) -> String {
    let outcomes = hunt.outcomes.iter().map(|outcome| match outcome {
        Outcome::Found(trace) => format!("found in {}", trace.steps.len()),
        Outcome::Absent => "absent".to_owned(),
        Outcome::Untraced(_) | Outcome::Inconclusive => "inconclusive".to_owned(),
    });
    let outcomes: Vec<String> = outcomes.collect();
    let stats = &hunt.stats;
    let (states, steps, depth) = (stats.states, stats.transitions, stats.max_depth);
    format!("{states} states, {steps} steps, depth {depth}, {:?}: {}", hunt.coverage, outcomes.join(", "))
}

fn searched(name: &str, text: &str, limits: Limits) -> String {
    let graph = self::graph(text);
    let engine = engine(name).expect("an engine of the table");
    shown(&hunt::of_model(engine, &graph, &job(&graph, limits), &mut Patient))
}

fn bfs(text: &str) -> String {
    searched("bfs", text, Limits::NONE)
}

fn bfs_to(depth: u32, text: &str) -> String {
    searched("bfs", text, Limits { depth, ..Limits::NONE })
}

fn dfs(text: &str) -> String {
    searched("dfs", text, Limits::NONE)
}

#[test]
fn one_state() {
    assert_eq!(bfs("^0"), "1 states, 0 steps, depth 0, Complete: ");
    assert_eq!(bfs("^0 !0"), "1 states, 0 steps, depth 0, Complete: found in 0");
    assert_eq!(bfs("0>0 stuck"), "1 states, 1 steps, depth 0, Complete: absent");
    assert_eq!(bfs("^0 stuck"), "1 states, 0 steps, depth 0, Complete: found in 0");
    assert_eq!(dfs("0>0 !0"), "1 states, 1 steps, depth 0, Complete: found in 0");
}

#[test]
fn no_state() {
    let graph = Graph::default();
    for engine in ENGINES {
        let hunt = hunt::of_model(engine, &graph, &job(&graph, Limits::NONE), &mut Patient);
        assert_eq!(shown(&hunt), "0 states, 0 steps, depth 0, Complete: ", "{}", engine.name);
    }
}

#[test]
fn several_initial_states() {
    assert_eq!(bfs("^0 ^1 0>2 2>3 1>3 !3"), "4 states, 3 steps, depth 1, Complete: found in 1");
    assert_eq!(bfs("^1 ^1 1>0 !0"), "2 states, 1 steps, depth 1, Complete: found in 1");
    assert_eq!(bfs("^2 ^0 0>2 !2"), "2 states, 1 steps, depth 0, Complete: found in 0");
    let graph = graph("^0 ^1 0>2 2>3 1>3 !3");
    let hunt = hunt::of_model(&ENGINES[0], &graph, &job(&graph, Limits::NONE), &mut Patient);
    let Outcome::Found(trace) = &hunt.outcomes[0] else { panic!("3 is found") };
    assert_eq!((trace.initial, graph.walk(trace)), (1, Some(vec![1, 3])));
}

#[test]
fn cycles_diamonds_and_parallel_edges() {
    assert_eq!(bfs("0>1 1>2 2>0 !2"), "3 states, 3 steps, depth 2, Complete: found in 2");
    assert_eq!(bfs("0>1 0>2 1>3 2>3 stuck"), "4 states, 4 steps, depth 2, Complete: found in 2");
    assert_eq!(bfs("0>1 0>1 1>1 1>0"), "2 states, 4 steps, depth 1, Complete: ");
    assert_eq!(bfs("0>1 1>2 2>3 0>3 3>4 !4"), "5 states, 5 steps, depth 2, Complete: found in 2");
    assert_eq!(bfs("0>1 2>3 !3"), "2 states, 1 steps, depth 1, Complete: absent");
}

#[test]
fn depth_first_follows_one_run_to_its_end() {
    assert_eq!(dfs("0>1 1>2 2>3 0>3 !2"), "4 states, 4 steps, depth 2, Complete: found in 2");
    assert_eq!(dfs("0>1 0>4 1>2 2>3 3>5 4>5 !5"), "6 states, 6 steps, depth 4, Complete: found in 4");
}

#[test]
fn results_of_failing_checks_are_evaluated_and_not_counted() {
    assert_eq!(bfs("0>1 0>2 #2 !2"), "2 states, 2 steps, depth 1, Complete: found in 1");
    assert_eq!(bfs("0>1 1>2 #2 !2"), "2 states, 2 steps, depth 1, Complete: found in 2");
    assert_eq!(bfs_to(1, "0>1 1>2 #2 !2"), "2 states, 2 steps, depth 1, Depth(1): inconclusive");
}

#[test]
fn depth_limits() {
    assert_eq!(bfs_to(2, "0>1 1>2 stuck"), "3 states, 2 steps, depth 2, Complete: found in 2");
    assert_eq!(bfs_to(1, "0>1 1>2 stuck"), "2 states, 2 steps, depth 1, Depth(1): inconclusive");
    assert_eq!(bfs_to(1, "0>1 1>2 !2"), "2 states, 2 steps, depth 1, Depth(1): inconclusive");
    assert_eq!(bfs_to(2, "0>1 1>2 2>3 !2"), "3 states, 3 steps, depth 2, Depth(2): found in 2");
    assert_eq!(bfs_to(2, "0>1 1>2 2>1 2>0 2>2 !9"), "3 states, 5 steps, depth 2, Complete: absent");
    assert_eq!(bfs_to(0, "^0 0>0 !1"), "1 states, 1 steps, depth 0, Complete: absent");
    assert_eq!(bfs_to(0, "^0 ^1 0>1 1>0 !0"), "2 states, 2 steps, depth 0, Complete: found in 0");
    assert_eq!(bfs_to(0, "0>1 !1"), "1 states, 1 steps, depth 0, Depth(0): inconclusive");
}

/// What waits in a batch is not beyond the limit.
#[test]
fn the_last_level_may_be_reached_late() {
    let mut text = String::new();
    for middle in 1..=200 {
        let (left, right) = (200 + middle, 400 + middle);
        text += &format!("0>{middle} {middle}>{left} {middle}>{right} {left}>600 ");
    }
    assert_eq!(bfs_to(2, &text), "601 states, 800 steps, depth 2, Complete: ");
}

#[test]
fn a_depth_first_search_that_was_cut_claims_nothing() {
    let to = |depth, text| searched("dfs", text, Limits { depth, ..Limits::NONE });
    let detour = "0>1 0>4 1>2 2>3 4>3 3>5 !5";
    assert_eq!(to(3, detour), "5 states, 6 steps, depth 3, Partial(5): inconclusive");
    assert_eq!(to(4, detour), "6 states, 6 steps, depth 4, Complete: found in 4");
    assert_eq!(to(2, "0>1 1>2 2>0 stuck"), "3 states, 3 steps, depth 2, Complete: absent");
}

#[test]
fn the_search_ends_at_some_goals_and_goes_on_at_others() {
    let mut graph = graph("0>1 1>2 2>3 3>4 4>5");
    (graph.labels[1], graph.labels[3], graph.labels[5]) = (1, 2, 4);
    let run = |stop_at: u64, keep_going| {
        let job = Job { stop_at: GoalSet(stop_at), keep_going, ..job(&graph, Limits::NONE) };
        let hunt = hunt::of_model(&ENGINES[0], &graph, &job, &mut Patient);
        (hunt.stopped, hunt.coverage, hunt.outcomes.iter().filter(|o| matches!(o, Outcome::Found(_))).count())
    };
    assert_eq!(run(0b001, true), (Stop::Goal, Coverage::Depth(1), 1));
    assert_eq!(run(0b010, false), (Stop::Goal, Coverage::Depth(3), 2));
    assert_eq!(run(0b000, false), (Stop::Goal, Coverage::Depth(5), 3));
    assert_eq!(run(0b000, true), (Stop::Exhausted, Coverage::Complete, 3));
    graph.labels[0] = 1;
    let job = Job { stop_at: GoalSet(1), ..job(&graph, Limits::NONE) };
    let hunt = hunt::of_model(&ENGINES[0], &graph, &job, &mut Patient);
    assert_eq!((hunt.stopped, hunt.coverage), (Stop::Goal, Coverage::Depth(0)));
}

#[test]
fn a_limit_on_states() {
    let chain: String = (0..9).map(|node| format!("{node}>{} ", node + 1)).collect();
    let limited = |states| searched("bfs", &format!("{chain} !9"), Limits { states, ..Limits::NONE });
    assert_eq!(limited(10), "10 states, 9 steps, depth 9, Complete: found in 9");
    assert_eq!(limited(4), "5 states, 4 steps, depth 4, Depth(2): inconclusive");
    assert_eq!(limited(0), "1 states, 0 steps, depth 0, Partial(1): inconclusive");
}

/// A tree in which every node has two children.
fn tree(nodes: usize) -> Graph {
    let mut graph = graph("^0");
    for node in 1..nodes {
        graph.add_edge((node - 1) / 2, node);
    }
    graph.labels[nodes - 1] = 1;
    graph
}

/// What the coverage of a search claims was examined, was.
fn truthful(graph: &Graph, hunt: &Hunt) {
    let evaluated: BTreeSet<usize> = graph.evaluated.lock().unwrap().iter().copied().collect();
    let distances = graph.distances();
    let claimed = |distance: u32| match hunt.coverage {
        Coverage::Complete => true,
        Coverage::Depth(depth) => distance <= depth,
        _ => false,
    };
    for (node, distance) in distances.iter().enumerate() {
        let is_claimed = distance.is_some_and(claimed);
        assert!(!is_claimed || evaluated.contains(&node), "{:?}: {node} was not examined", hunt.coverage);
    }
    for (goal, outcome) in hunt.outcomes.iter().enumerate() {
        let nodes = (0..graph.edges.len()).filter(|&node| graph.is_goal(node, goal));
        let nearest = nodes.filter_map(|node| distances[node]).min();
        match outcome {
            Outcome::Found(trace) => {
                let nodes = graph.walk(trace).expect("a trace is a path");
                assert!(graph.is_goal(nodes[nodes.len() - 1], goal), "a trace leads to the goal");
                assert!(nearest.is_some_and(|nearest| nearest as usize <= trace.steps.len()));
            }
            Outcome::Absent => assert_eq!((nearest, &hunt.coverage), (None, &Coverage::Complete)),
            Outcome::Untraced(_) | Outcome::Inconclusive => {
                assert!(!nearest.is_some_and(claimed) && hunt.coverage != Coverage::Complete);
            }
        }
    }
}

#[test]
fn memory_that_is_used_up() {
    for engine in ENGINES {
        let graph = tree(5000);
        let limits = Limits { memory: 1, ..Limits::NONE };
        let hunt = hunt::of_model(engine, &graph, &job(&graph, limits), &mut Patient);
        assert_eq!(hunt.stopped, Stop::Memory, "{}", engine.name);
        assert_eq!(hunt.outcomes, [Outcome::Inconclusive], "{}", engine.name);
        assert!(hunt.stats.states < 5000, "{}", engine.name);
        truthful(&graph, &hunt);
        let graph = tree(5000);
        let limits = Limits { memory: 1 << 30, ..Limits::NONE };
        let hunt = hunt::of_model(engine, &graph, &job(&graph, limits), &mut Patient);
        assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Exhausted, 5000), "{}", engine.name);
    }
}

/// Ends a search after some calls, and counts them.
struct Counting {
    calls: u64,
    last: u64,
}

impl Observer for Counting {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        assert!(progress.states > 0, "there is something to tell");
        self.calls += 1;
        if self.calls == self.last { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn observers_can_end_a_search() {
    for engine in ENGINES {
        for last in [1, 2, 7] {
            let graph = tree(5000);
            let hunt = hunt::of_model(engine, &graph, &job(&graph, Limits::NONE), &mut Counting { calls: 0, last });
            assert_eq!(hunt.stopped, Stop::Time, "{}", engine.name);
            assert_eq!(hunt.outcomes, [Outcome::Inconclusive], "{}", engine.name);
            truthful(&graph, &hunt);
        }
    }
}

/// Also where nothing is added: at states without successors, and at the depth limit.
#[test]
fn observers_are_called_often() {
    let mut star = graph("^0");
    (1..=20_000).for_each(|leaf| star.add_edge(0, leaf));
    let mut brush = graph("^0");
    (1..=20_000).for_each(|leaf| {
        brush.add_edge(0, leaf);
        brush.add_edge(leaf, leaf + 20_000);
    });
    for engine in ENGINES {
        for (graph, depth) in [(&star, u32::MAX), (&brush, 1)] {
            let mut observer = Counting { calls: 0, last: u64::MAX };
            hunt::of_model(engine, graph, &job(graph, Limits { depth, ..Limits::NONE }), &mut observer);
            assert!(observer.calls >= 20, "{}: {} calls in 20000 expansions", engine.name, observer.calls);
        }
    }
}

#[test]
fn long_states_are_compared_in_full() {
    for (words, nodes) in [(1, 3000), (2, 3000), (3, 3000), (10_000, 300)] {
        for engine in ENGINES {
            let mut graph = tree(nodes);
            graph.more_words = words - 1;
            let hunt = hunt::of_model(engine, &graph, &job(&graph, Limits::NONE), &mut Patient);
            assert_eq!(hunt.stats.states, nodes as u64, "{} with {words} words", engine.name);
            truthful(&graph, &hunt);
        }
    }
}

/// A digraph: sparse or dense, with one to three initial states, goals, and some results of failing checks.
fn drawn(random: &mut Random) -> Graph {
    let nodes = 1 + [4, 12, 40][random.below(3)] * (1 + random.below(2)) / 2;
    let mut graph = Graph { more_words: [0, 1, 2, 4, 39][random.below(5)], ..Graph::default() };
    graph.add_node(nodes - 1);
    for _ in 0..=random.below(3) {
        mark(&mut graph, "^", random.below(nodes));
    }
    for _ in 0..nodes / 12 {
        let fault = random.below(nodes);
        if !graph.initial.contains(&fault) {
            graph.faults.insert(fault);
        }
    }
    for _ in 0..random.below(3 * nodes) {
        let from = random.below(nodes);
        if !graph.faults.contains(&from) {
            graph.add_edge(from, random.below(nodes));
        }
    }
    for goal in 0..2 {
        graph.labels[random.below(nodes)] |= 1 << goal;
    }
    graph.stuck = Some(2);
    graph
}

fn random_graphs(seed: u64, check: impl Fn(&Graph, &mut Random)) {
    let mut random = Random::new(seed);
    for _ in 0..20_000 {
        let before = random.clone();
        let graph = drawn(&mut random);
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&graph, &mut random)));
        let edges = &graph.edges;
        assert!(looked.is_ok(), "{before:?}: initial {:?}, faults {:?}, {edges:?}", graph.initial, graph.faults);
    }
}

/// Runs an engine with one thread and exactly, and, if it can, with several and by fingerprints: the same is found.
fn run(engine: &Engine, graph: &Graph, job: &Job) -> Hunt {
    let run = |threads, storage| {
        graph.take_evaluated();
        let job = Job { limits: Limits { threads, ..job.limits }, storage, ..job.clone() };
        let hunt = hunt::of_model(engine, graph, &job, &mut Patient);
        truthful(graph, &hunt);
        hunt
    };
    let hunt = run(1, Storage::Exact);
    if engine.scales && job.limits.states == u64::MAX {
        let ways = [(2, Storage::Exact), (8, Storage::Exact), (1, Storage::Compact)];
        // An engine that starts its threads for every level is slow on graphs of this size: one of eight is enough here.
        let is_tried = |storage| engine.compacts || storage == Storage::Exact && graph.edges.len().is_multiple_of(8);
        for (threads, storage) in ways.into_iter().filter(|way| is_tried(way.1)) {
            let other = run(threads, storage);
            let is_hashed = matches!(other.coverage, Coverage::Hashed { .. });
            // A sample claims nothing that a lost state could belie.
            let claims = !matches!(other.coverage, Coverage::Partial(_));
            let is_compact = storage == Storage::Compact && graph.more_words > 0;
            assert_eq!(is_hashed, is_compact && claims, "{:?}", other.coverage);
            for (other, expected) in other.outcomes.iter().zip(&hunt.outcomes) {
                // With fingerprints nothing is known to be absent.
                let expected =
                    if is_hashed && *expected == Outcome::Absent { &Outcome::Inconclusive } else { expected };
                assert_eq!(other, expected, "{threads} threads, {storage:?}");
            }
            assert_eq!((other.stopped, &other.fired), (hunt.stopped, &hunt.fired), "{threads} threads, {storage:?}");
            assert_eq!(other.stats.levels, hunt.stats.levels, "{threads} threads, {storage:?}");
            assert_eq!(other.stats.transitions, hunt.stats.transitions, "{threads} threads, {storage:?}");
        }
    }
    hunt
}

/// Thousands of nodes with parts of their own, so that every table grows often, also at the end of a level.
#[test]
fn nothing_is_lost_where_tables_grow() {
    let mut random = Random::new(3);
    for words in [1, 2, 3, 17, 40] {
        // Also a chain, where each level is one state, and a band, where it is a few.
        for (nodes, width) in [(300, 1), (1000, 1), (3000, 1), (3000, 3), (300, 200), (1000, 200), (10_000, 200)] {
            let mut graph = Graph { more_words: words - 1, stuck: Some(0), ..Graph::default() };
            graph.add_node(nodes - 1);
            mark(&mut graph, "^", 0);
            for node in 1..nodes {
                // Of every node some nearer one, far back or not: the levels have all sizes.
                let most = 1 + random.below(width);
                let back = 1 + random.below(node.min(most));
                graph.add_edge(node - back.min(node), node);
            }
            for _ in 0..nodes {
                // Only backwards, which shortens nothing.
                let from = random.below(nodes);
                graph.add_edge(from, random.below(from + 1));
            }
            let distances = graph.distances();
            for engine in ENGINES {
                let hunt = run(engine, &graph, &job(&graph, Limits::NONE));
                assert_eq!(hunt.stats.states, nodes as u64, "{} with {words} words", engine.name);
                assert_eq!(hunt.stats.transitions, 2 * nodes as u64 - 1, "{} with {words} words", engine.name);
                if engine.shortest {
                    shortest(&graph, &hunt, &distances);
                }
            }
        }
    }
}

/// How many nodes are within a distance, not counting results of failing checks, and how many edges leave them.
fn within(graph: &Graph, depth: u32) -> (u64, u64) {
    let distances = graph.distances();
    let near = |node: &usize| distances[*node].is_some_and(|distance| distance <= depth);
    let nodes: Vec<usize> = (0..graph.edges.len()).filter(near).collect();
    let states = nodes.iter().filter(|node| !graph.faults.contains(node)).count();
    (states as u64, nodes.iter().map(|&node| graph.edges[node].len() as u64).sum())
}

#[test]
fn random_graphs_to_the_end() {
    random_graphs(1, |graph, _| {
        let distances = graph.distances();
        let (states, steps) = within(graph, u32::MAX);
        let is_state = |node: &usize| !graph.faults.contains(node);
        let depth = (0..graph.edges.len()).filter(is_state).filter_map(|node| distances[node]).max();
        let taken =
            |edge| (0..graph.edges.len()).any(|node| distances[node].is_some() && graph.edges[node].len() > edge);
        let fired: Vec<bool> = (0..graph.transitions()).map(taken).collect();
        for engine in ENGINES {
            let hunt = run(engine, graph, &job(graph, Limits::NONE));
            assert_eq!(hunt.fired, fired, "{}", engine.name);
            assert_eq!((hunt.stats.states, hunt.stats.transitions), (states, steps), "{}", engine.name);
            assert_eq!((hunt.stopped, &hunt.coverage), (Stop::Exhausted, &Coverage::Complete), "{}", engine.name);
            if engine.shortest {
                assert_eq!(Some(hunt.stats.max_depth), depth);
                shortest(graph, &hunt, &distances);
            }
        }
    });
}

/// Every trace is as long as its goal is far.
fn shortest(graph: &Graph, hunt: &Hunt, distances: &[Option<u32>]) {
    for (goal, outcome) in hunt.outcomes.iter().enumerate() {
        let goals = (0..graph.edges.len()).filter(|&node| graph.is_goal(node, goal));
        let nearest = goals.filter_map(|node| distances[node]).min();
        if let Outcome::Found(trace) = outcome {
            assert_eq!(Some(trace.steps.len() as u32), nearest);
        }
    }
}

#[test]
fn random_graphs_to_a_limit() {
    random_graphs(2, |graph, random| {
        let distances = graph.distances();
        let deepest = distances.iter().flatten().max().copied().unwrap_or(0);
        let depth = random.below(deepest as usize + 2) as u32;
        let states = random.below(graph.edges.len() + 1) as u64;
        for engine in ENGINES {
            let hunt = run(engine, graph, &job(graph, Limits { depth, ..Limits::NONE }));
            if engine.shortest {
                let coverage = if deepest <= depth { Coverage::Complete } else { Coverage::Depth(depth) };
                assert_eq!(hunt.coverage, coverage);
                assert_eq!((hunt.stats.states, hunt.stats.transitions), within(graph, depth));
                shortest(graph, &hunt, &distances);
            }
            let hunt = run(engine, graph, &job(graph, Limits { states, ..Limits::NONE }));
            let all = within(graph, u32::MAX).0;
            let stop = if all > states { Stop::States } else { Stop::Exhausted };
            assert_eq!(hunt.stopped, stop, "{} with {states} of {all} states", engine.name);
            let stop_at = GoalSet(random.below(8) as u64);
            let hunt = run(engine, graph, &Job { stop_at, keep_going: false, ..job(graph, Limits::NONE) });
            let ends = stop_at.iter().any(|goal| matches!(hunt.outcomes[goal], Outcome::Found(_)));
            let all = hunt.outcomes.iter().all(|outcome| matches!(outcome, Outcome::Found(_)));
            assert_eq!(hunt.stopped == Stop::Goal, ends || all, "{}", engine.name);
        }
    });
}
