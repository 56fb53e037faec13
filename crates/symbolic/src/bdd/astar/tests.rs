//! Rules of the search that are easily broken, on small graphs: with estimates that are given instead of inferred, so that
//! those that an inferred estimate never shows are tried, too.

use super::*;
use crate::bitvector::Arithmetic;
use crate::cancellable::Line;
use crate::expression::Ground;
use birk_engine::{GoalSet, Job, Limits};
use birk_exec::{Random, goal_of};
use birk_ir::{Goal, Program};

/// A graph as a program: the number of the state, and one that must not be reached.
fn program(edges: &[Vec<usize>], goal: usize) -> Program {
    let last = edges.len() - 1;
    let mut text = format!("system Graph {{\n  int (0, {last}) x;\n  active thread T() {{\n    loc running: end\n");
    for (from, to) in edges.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        text += &format!("      when x == {from} do {{ x := {to}; }} goto running;\n");
    }
    text += &format!("  }}\n  invariant away: x != {goal};\n}}\n");
    let loaded = birk_lang::load(&text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{text}\n{:#?}", loaded.diagnostics))
}

/// The length of the run that is found with these estimates by state; `None` where there is none.
fn found(edges: &[Vec<usize>], goal: usize, estimates: &[u32]) -> Option<usize> {
    let program = program(edges, goal);
    let property = program.properties.iter().find(|property| property.name == "away").expect("it is declared");
    let goals: Vec<Goal> = goal_of(&program, property).into_iter().collect();
    let job = Job { stop_at: GoalSet(1), ..Job::new(1, Limits { memory: 16 << 20, ..Limits::NONE }) };
    let line = Line::default();
    let mut search = Search::new(&program, &goals, &job, &line).expect("it can be encoded");
    let x = search.encoding.program.variables.iter().position(|variable| variable.name == "x").expect("it is declared");
    let most = estimates.iter().copied().max().unwrap_or(0) as usize;
    let mut sets = vec![search.encoding.diagrams.no.clone(); most + 1];
    for (state, &steps) in estimates.iter().enumerate() {
        let diagrams = &search.encoding.diagrams;
        let value = search.encoding.value(birk_ir::VarId::new(x), 0);
        let here = diagrams.equal(value, &diagrams.literal(state as i64)).expect("memory");
        sets[steps as usize] = diagrams.or(&sets[steps as usize], &here).expect("memory");
    }
    let ended = by(&mut search, &sets);
    let is_over = matches!(ended, Ok(Ended::Complete(_)) | Err(Broken::Stopped(Stop::Goal)));
    assert!(is_over, "{ended:?}");
    let expanded = saturated(&search.states);
    assert!(expanded <= edges.len() as u64, "{expanded} of {} states were expanded", edges.len());
    match search.found[0].take() {
        Some(Outcome::Found(trace)) => Some(trace.steps.len()),
        _ => None,
    }
}

/// The steps from each state to the goal, by walking back.
fn distances(edges: &[Vec<usize>], goal: usize) -> Vec<Option<u32>> {
    let mut distances = vec![None; edges.len()];
    distances[goal] = Some(0);
    for steps in 0..edges.len() as u32 {
        for from in 0..edges.len() {
            let leads = edges[from].iter().any(|&to| distances[to] == Some(steps));
            distances[from] = distances[from].or(leads.then_some(steps + 1));
        }
    }
    distances
}

/// The paper looks for the goal among all that wait. Here that would give a run of 4 steps.
#[test]
fn a_goal_that_only_waits_does_not_end_the_search() {
    let edges = [vec![1, 3], vec![2], vec![6], vec![4], vec![5], vec![6], vec![]];
    assert_eq!(found(&edges, 6, &[0, 2, 1, 0, 0, 0, 0]), Some(3));
}

fn graph(random: &mut Random, states: usize) -> (Vec<Vec<usize>>, usize) {
    let edges = (0..states).map(|_| (0..1 + random.below(3)).map(|_| random.below(states)).collect()).collect();
    (edges, 1 + random.below(states - 1))
}

/// Any consistent estimate gives a shortest run: the greatest that is none larger than these numbers, and 0 at the goal.
fn consistent(edges: &[Vec<usize>], goal: usize, mut numbers: Vec<u32>) -> Vec<u32> {
    numbers[goal] = 0;
    for _ in 0..edges.len() {
        for from in 0..edges.len() {
            for &to in &edges[from] {
                numbers[from] = numbers[from].min(numbers[to] + 1);
            }
        }
    }
    numbers
}

#[test]
fn every_consistent_estimate_gives_a_shortest_run_and_a_mutant_is_noticed() {
    let mut random = Random::new(11);
    let (mut reached, mut longer) = (0, 0);
    for _ in 0..300 {
        let states = 4 + random.below(9);
        let (edges, goal) = graph(&mut random, states);
        let numbers: Vec<u32> = edges.iter().map(|_| random.below(6) as u32).collect();
        let shortest = distances(&edges, goal)[0].map(|steps| steps as usize);
        reached += u32::from(shortest.is_some());
        assert_eq!(found(&edges, goal, &consistent(&edges, goal, numbers.clone())), shortest, "{edges:?} to {goal}");
        // Without the repair it is neither consistent nor optimistic.
        longer += u32::from(found(&edges, goal, &numbers) != shortest);
    }
    assert!(reached > 100 && longer > 0, "{reached} {longer}");
}

/// Where the way is long the bound is raised by several steps at once: what is found beyond the shortest does not count.
#[test]
fn a_bound_beyond_the_goal_gives_a_shortest_run() {
    let mut random = Random::new(5);
    let mut far = 0;
    for _ in 0..60 {
        let states = 40;
        let mut edges: Vec<Vec<usize>> = (0..states).map(|state| vec![(state + 1).min(states - 1)]).collect();
        for _ in 0..30 {
            let from = random.below(states);
            edges[from].push((from + 1 + random.below(3)).min(states - 1).max(1));
            edges[from].push(random.below(from + 1));
        }
        let goal = states - 1;
        let distances = distances(&edges, goal);
        let mut numbers: Vec<u32> = distances.iter().map(|steps| steps.expect("the chain leads there")).collect();
        numbers.iter_mut().for_each(|steps| *steps -= random.below(*steps as usize / 3 + 1) as u32);
        let estimates = consistent(&edges, goal, numbers);
        far += u32::from(estimates[0] as usize >= 2 * STRIDE && estimates[0] < distances[0].unwrap_or(0));
        assert_eq!(found(&edges, goal, &estimates), distances[0].map(|steps| steps as usize), "{edges:?}");
    }
    assert!(far > 20, "{far}");
}

/// The long way to 4 is examined first, so that it waits at two depths.
#[test]
fn a_state_that_waits_at_two_depths_is_expanded_at_the_smaller() {
    let edges = [vec![1, 2], vec![3], vec![4], vec![4], vec![5], vec![]];
    let estimates = consistent(&edges, 5, vec![0, 0, 2, 0, 1, 0]);
    assert_eq!(estimates, [0, 0, 2, 0, 1, 0]);
    assert_eq!(found(&edges, 5, &estimates), Some(3));
}
