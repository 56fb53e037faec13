//! A* on graphs with any estimates: what it needs of them, and what it makes of them.

use std::collections::VecDeque;

use birk_exec::heuristic::NEVER;
use birk_exec::{GoalSet, Model, Random, Successors};
use birk_ir::{Coverage, Outcome, Stop, TransitionId};
use birk_search::job::Patient;
use birk_search::{Hunt, Job, Limits, engine};

/// A graph from node 0 on, with an estimate for each node; the goal is one set of nodes.
#[derive(Debug)]
struct Graph {
    edges: Vec<Vec<usize>>,
    estimates: Vec<u32>,
    goal: Vec<bool>,
}

impl Model for Graph {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (choice, &next) in self.edges[state[0] as usize].iter().enumerate() {
            out.push(TransitionId(0), choice as u32, &[next as u32]);
        }
    }

    fn judge(&self, state: &[u32], _stuck: bool) -> GoalSet {
        GoalSet(u64::from(self.goal[state[0] as usize]))
    }

    fn estimate(&self, state: &[u32], _room: &mut Vec<u32>) -> u32 {
        self.estimates[state[0] as usize]
    }

    fn transitions(&self) -> usize {
        1
    }
}

impl Graph {
    fn hunt(&self, limits: Limits) -> Hunt {
        let mut stop_at = GoalSet::default();
        stop_at.insert(0);
        let job = Job { goals: 1, stop_at, keep_going: false, limits };
        (engine("astar").expect("it is in the table").hunt)(self, &job, &mut Patient)
    }

    fn length(&self, weight: u32) -> Option<u32> {
        match &self.hunt(Limits { weight, ..Limits::NONE }).outcomes[0] {
            Outcome::Found(trace) => Some(trace.steps.len() as u32),
            _ => None,
        }
    }

    /// Steps from each node to the nearest of some nodes.
    fn distances(&self, to: &[bool]) -> Vec<u32> {
        let mut distances: Vec<u32> = to.iter().map(|&is_goal| if is_goal { 0 } else { NEVER }).collect();
        let mut queue: VecDeque<usize> = (0..to.len()).filter(|&node| to[node]).collect();
        while let Some(node) = queue.pop_front() {
            for from in 0..to.len() {
                if distances[from] == NEVER && self.edges[from].contains(&node) {
                    distances[from] = distances[node] + 1;
                    queue.push_back(from);
                }
            }
        }
        distances
    }

    /// A random graph whose estimates are the distances to a set of nodes around the goal: they are consistent.
    fn draw(random: &mut Random) -> Self {
        let size = 2 + random.below(30);
        let edges = (0..size).map(|_| (0..random.below(4)).map(|_| random.below(size)).collect()).collect();
        let goal: Vec<bool> = (0..size).map(|_| random.below(size) == 0).collect();
        let mut graph = Self { edges, estimates: Vec::new(), goal };
        let around: Vec<bool> = graph.goal.iter().map(|&is_goal| is_goal || random.below(6) == 0).collect();
        graph.estimates = graph.distances(&around);
        graph
    }
}

/// A goal counts where it is taken from those that wait, not where it is reached: this is a graph with a consistent estimate on which
/// the other way gives 4.
#[test]
fn goals_are_looked_for_where_states_are_expanded() {
    let edges = vec![vec![1, 3], vec![2], vec![6], vec![4], vec![5], vec![6], vec![]];
    let goal = (0..7).map(|node| node == 6).collect();
    let graph = Graph { edges, estimates: vec![0, 2, 1, 0, 0, 0, 0], goal };
    assert_eq!(graph.length(1), Some(3));
}

#[test]
fn consistent_estimates_give_shortest_runs() {
    let mut random = Random::new(11);
    let mut found = 0;
    for round in 0..4000 {
        let graph = Graph::draw(&mut random);
        let truth = graph.distances(&graph.goal)[0];
        let expected = (truth != NEVER).then_some(truth);
        assert_eq!(graph.length(1), expected, "{round}: {graph:?}");
        for weight in [2, 5] {
            let length = graph.length(weight);
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
            let truth = graph.distances(&graph.goal);
            graph.estimates = truth.iter().map(|&steps| if random.below(2) == 0 { steps } else { 0 }).collect();
        }),
    ];
    for (what, bend) in bends {
        let mut random = Random::new(5);
        let is_longer = |_| {
            let mut graph = Graph::draw(&mut random);
            bend(&mut graph, &mut random);
            graph.length(1).is_some_and(|length| length > graph.distances(&graph.goal)[0])
        };
        assert!((0..20_000).any(is_longer), "nobody notices: {what}");
    }
}

/// States from which no goal can be reached come last, with any weight, and are counted.
#[test]
fn what_leads_nowhere_comes_last() {
    let edges = vec![vec![1, 2], vec![1, 3], vec![4], vec![1], vec![5], vec![]];
    let goal = (0..6).map(|node| node == 5).collect();
    let mut graph = Graph { edges, estimates: vec![3, NEVER, 2, NEVER, 1, 0], goal };
    let hunt = graph.hunt(Limits { weight: u32::MAX, ..Limits::NONE });
    assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Goal, 5), "node 3 was never reached");
    graph.goal.fill(false);
    graph.estimates.fill(NEVER);
    let hunt = graph.hunt(Limits::NONE);
    assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Exhausted, 6));
    assert_eq!(hunt.coverage, Coverage::Complete);
}
