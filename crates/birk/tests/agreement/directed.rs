//! Estimates and directed search on random programs: every estimate is held against the true distances, and A* against
//! the reference.
//!
//! An estimate is right if it never exceeds the true distance, if no step lowers it by more than 1, if refining it never
//! lowers it, and if it is 0 exactly where the goal is.

use std::collections::HashMap;

use birk_exec::heuristic::NEVER;
use birk_exec::{Directed, Heuristic, Interpreter, Model, Successors};
use birk_ir::{Expr, Goal};
use birk_search::job::Patient;
use birk_search::{Job, Limits, engine};

use crate::case::{self, Case, Made};
use crate::check::{Checked, Subject, check};

/// The depths of refinement that are looked at.
const DEPTHS: [u32; 6] = [0, 1, 2, 3, 4, 8];

/// All states of a program with the steps between them, results of failing checks included.
struct Graph {
    states: Vec<Vec<u32>>,
    edges: Vec<Vec<usize>>,
    /// For each state, whether it is the result of a failing check, and the goals it satisfies.
    faulty: Vec<bool>,
    goals: Vec<u64>,
}

fn graph(model: &Interpreter<'_>) -> Graph {
    let mut graph = Graph { states: Vec::new(), edges: Vec::new(), faulty: Vec::new(), goals: Vec::new() };
    let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    graph.states.push(batch.state(0).to_vec());
    numbers.insert(graph.states[0].clone(), 0);
    while graph.edges.len() < graph.states.len() {
        let state = graph.states[graph.edges.len()].clone();
        batch.clear();
        let cut = batch.cut;
        model.successors(&state, &mut batch);
        let successors = (0..batch.len()).map(|i| {
            *numbers.entry(batch.state(i).to_vec()).or_insert_with(|| {
                graph.states.push(batch.state(i).to_vec());
                graph.states.len() - 1
            })
        });
        let successors = successors.collect();
        graph.edges.push(successors);
        graph.faulty.push(model.is_fault(&state));
        graph.goals.push(model.judge(&state, batch.is_empty() && batch.cut == cut).0);
    }
    graph
}

impl Graph {
    /// Steps from each state to the nearest that satisfies a goal.
    fn distances(&self, goal: usize) -> Vec<u32> {
        let mut distances: Vec<u32> =
            self.goals.iter().map(|goals| if goals >> goal & 1 == 1 { 0 } else { NEVER }).collect();
        loop {
            let nearer = |state: usize, distances: &[u32]| {
                self.edges[state].iter().map(|&next| distances[next].saturating_add(1)).min().unwrap_or(NEVER)
            };
            let mut is_settled = true;
            for state in 0..self.states.len() {
                let best = nearer(state, &distances).min(distances[state]);
                is_settled &= best == distances[state];
                distances[state] = best;
            }
            if is_settled {
                return distances;
            }
        }
    }
}

fn estimated(case: &Case) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let graph = graph(&model);
    let mut room = Vec::new();
    for (number, goal) in case.goals.iter().enumerate() {
        let distances = graph.distances(number);
        let Goal::BadState(condition) = goal;
        let mut speaks_of_stuck = false;
        condition.walk(&mut |e| speaks_of_stuck |= *e == Expr::Stuck);
        let mut last: Option<Vec<u32>> = None;
        for depth in DEPTHS {
            let Some(heuristic) = Heuristic::new(&case.program, goal, depth) else { break };
            let directed = Directed::new(&model, vec![heuristic]);
            let estimates: Vec<u32> = graph.states.iter().map(|state| directed.estimate(state, &mut room)).collect();
            let wrong = |why: &str, state: usize| {
                let (name, estimate) = (&case.program.properties[number].name, estimates[state]);
                Err(format!("`{name}`, depth {depth}: {why}: {estimate}, true {}", distances[state]))
            };
            for state in (0..graph.states.len()).filter(|&state| !graph.faulty[state]) {
                if estimates[state] > distances[state] {
                    return wrong("too much", state);
                }
                let lowest = graph.edges[state].iter().filter(|&&next| !graph.faulty[next] || distances[next] == 0);
                if lowest.clone().any(|&next| estimates[state] > estimates[next].saturating_add(1)) {
                    return wrong("a step lowers it by more than 1", state);
                }
                if !speaks_of_stuck && (estimates[state] == 0) != (distances[state] == 0) {
                    return wrong("not 0 exactly at the goal", state);
                }
                if last.as_ref().is_some_and(|last| last[state] > estimates[state]) {
                    return wrong("less than before it was refined", state);
                }
            }
            last = Some(estimates);
        }
    }
    Ok(())
}

/// A* with estimates of this depth, or of the depth that suits.
fn directed(case: &Case, refine: Option<u32>, weight: u32) -> Checked {
    let model = Interpreter::new(&case.program, &case.goals);
    let estimate = |goal| match refine {
        Some(depth) => Heuristic::new(&case.program, goal, depth),
        None => Some(Heuristic::deepened(&case.program, goal)),
    };
    let Some(estimates) = case.goals.iter().map(estimate).collect() else { return Ok(()) };
    let model = Directed::new(&model, estimates);
    let astar = engine("astar").expect("there is A*");
    let hunt = |job: &Job| {
        let job = Job { limits: Limits { weight, ..job.limits }, ..job.clone() };
        (astar.hunt)(&model, &job, &mut Patient)
    };
    check(case, &Subject { shortest: weight == 1, hunt: &hunt }, 3)
}

/// How many programs are looked at, unless the environment says otherwise.
const PROGRAMS: u64 = 120;

fn programs() -> impl Iterator<Item = (u64, String, Case)> {
    let asked = std::env::var("BIRK_AGREEMENT").ok();
    let programs = asked.map_or(PROGRAMS, |n| n.parse().expect("BIRK_AGREEMENT is a number of programs"));
    (0..programs).filter_map(|seed| {
        let text = case::draw(seed).1;
        match case::make(&text) {
            Made::Usable(case) => Some((seed, text, *case)),
            _ => None,
        }
    })
}

#[test]
fn estimates_of_random_programs_are_right() {
    for (seed, text, case) in programs().filter(|(.., case)| case.answer.states < 400) {
        if let Err(why) = estimated(&case) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
}

#[test]
fn directed_search_of_random_programs_finds_the_shortest_way() {
    for (seed, text, case) in programs() {
        for (refine, weight) in [(Some(seed as u32 % 4), 1), (None, 1), (None, 3)] {
            if let Err(why) = directed(&case, refine, weight) {
                panic!("seed {seed}, depth {refine:?}, weight {weight}: {why}\n{text}");
            }
        }
    }
}
