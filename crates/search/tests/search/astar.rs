//! A* on graphs with any estimates: what it needs of them, and what it makes of them.

use std::collections::VecDeque;

use birk_agreement::graph::Graph;
use birk_engine::{GoalSet, Hunt, Job, Limits, NEVER, Options, Patient, Value};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::astar::{WEIGHT, astar};

/// A graph from node 0 on, with an estimate for each node.
fn graph(edges: Vec<Vec<usize>>, estimates: Vec<u32>, goal: &[bool]) -> Graph {
    let labels = goal.iter().map(|&is_goal| u64::from(is_goal)).collect();
    Graph { initial: vec![0], edges, estimates, labels, ..Graph::default() }
}

fn hunt(graph: &Graph, weight: u32) -> Hunt {
    let options = Options::default().with(&WEIGHT, Value::Number(weight.into()));
    let job = Job { stop_at: GoalSet(1), options, ..Job::new(1, Limits::NONE) };
    astar(graph, &job, &mut Patient)
}

fn length(graph: &Graph, weight: u32) -> Option<u32> {
    match &hunt(graph, weight).outcomes[0] {
        Outcome::Found(trace) => Some(trace.steps.len() as u32),
        _ => None,
    }
}

/// Steps from each node to the nearest of some nodes.
fn distances(edges: &[Vec<usize>], to: &dyn Fn(usize) -> bool) -> Vec<u32> {
    let mut distances: Vec<u32> = (0..edges.len()).map(|node| if to(node) { 0 } else { NEVER }).collect();
    let mut queue: VecDeque<usize> = (0..edges.len()).filter(|&node| to(node)).collect();
    while let Some(node) = queue.pop_front() {
        for from in 0..edges.len() {
            if distances[from] == NEVER && edges[from].contains(&node) {
                distances[from] = distances[node] + 1;
                queue.push_back(from);
            }
        }
    }
    distances
}

/// Steps from each node to the goal.
fn truth(graph: &Graph) -> Vec<u32> {
    distances(&graph.edges, &|node| graph.is_goal(node, 0))
}

/// A random graph whose estimates are the distances to a set of nodes around the goal: they are consistent.
fn draw(random: &mut Random) -> Graph {
    let size = 2 + random.below(30);
    let edges: Vec<Vec<usize>> =
        (0..size).map(|_| (0..random.below(4)).map(|_| random.below(size)).collect()).collect();
    let goal: Vec<bool> = (0..size).map(|_| random.below(size) == 0).collect();
    let around: Vec<bool> = goal.iter().map(|&is_goal| is_goal || random.below(6) == 0).collect();
    let estimates = distances(&edges, &|node| around[node]);
    graph(edges, estimates, &goal)
}

/// A goal counts where it is taken from those that wait, not where it is reached: this is a graph with a consistent estimate on which
/// the other way gives 4.
#[test]
fn goals_are_looked_for_where_states_are_expanded() {
    let edges = vec![vec![1, 3], vec![2], vec![6], vec![4], vec![5], vec![6], vec![]];
    let goal = [false, false, false, false, false, false, true];
    let graph = graph(edges, vec![0, 2, 1, 0, 0, 0, 0], &goal);
    assert_eq!(length(&graph, 1), Some(3));
}

#[test]
fn consistent_estimates_give_shortest_runs() {
    let mut random = Random::new(11);
    let mut found = 0;
    for round in 0..4000 {
        let graph = draw(&mut random);
        let truth = truth(&graph)[0];
        let expected = (truth != NEVER).then_some(truth);
        assert_eq!(length(&graph, 1), expected, "{round}: {graph:?}");
        for weight in [2, 5] {
            let length = length(&graph, weight);
            assert_eq!(length.is_some(), expected.is_some(), "{round}, weight {weight}: {graph:?}");
            let most = truth.saturating_mul(weight);
            assert!(length.is_none_or(|length| truth <= length && length <= most), "{round}, {weight}: {graph:?}");
        }
        found += usize::from(expected.is_some_and(|length| length > 2));
    }
    assert!(found > 300, "only {found} goals are far away");
}

/// A way to change the estimates of a graph.
type Bend = fn(&mut Graph, &mut Random);

/// Each way to bend an estimate is noticed: what is doubled is no longer optimistic, and what is optimistic is not always
/// consistent.
#[test]
fn estimates_that_are_not_consistent_are_not_enough() {
    let bends: [(&str, Bend); 2] = [
        ("doubled", |graph, _| graph.estimates.iter_mut().for_each(|estimate| *estimate = estimate.saturating_mul(2))),
        ("only optimistic", |graph, random| {
            graph.estimates = truth(graph).iter().map(|&steps| if random.below(2) == 0 { steps } else { 0 }).collect();
        }),
    ];
    for (what, bend) in bends {
        let mut random = Random::new(5);
        let is_longer = |_| {
            let mut graph = draw(&mut random);
            bend(&mut graph, &mut random);
            length(&graph, 1).is_some_and(|length| length > truth(&graph)[0])
        };
        assert!((0..20_000).any(is_longer), "nobody notices: {what}");
    }
}

/// States from which no goal can be reached come last, with any weight, and are counted.
#[test]
fn what_leads_nowhere_comes_last() {
    let edges = vec![vec![1, 2], vec![1, 3], vec![4], vec![1], vec![5], vec![]];
    let goal = [false, false, false, false, false, true];
    let mut graph = graph(edges, vec![3, NEVER, 2, NEVER, 1, 0], &goal);
    let hunt = self::hunt(&graph, u32::MAX);
    assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Goal, 5), "node 3 was never reached");
    graph.labels.fill(0);
    graph.estimates.fill(NEVER);
    let hunt = self::hunt(&graph, 1);
    assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Exhausted, 6));
    assert_eq!(hunt.coverage, Coverage::Complete);
}
