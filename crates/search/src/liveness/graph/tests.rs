//! A graph gives what its model gives, with or without room for steps, to one thread or several.

use std::collections::HashMap;

use birk_engine::{GoalSet, Model, Successors};
use birk_ir::TransitionId;

use super::*;

/// Each state has some successors drawn by its number; some have many, some only themselves.
struct Drawn(u32);

impl Drawn {
    fn targets(&self, state: u32) -> Vec<u32> {
        let draw = |i: u32| hash(&[state, i], 5) as u32;
        let count = match draw(0) % 300 {
            0 => 0,
            1 => 1_500,
            few => few % 6,
        };
        (1..=count).map(|i| draw(i) % self.0).collect()
    }
}

impl Model for Drawn {
    fn words(&self) -> usize {
        3
    }

    fn initial(&self, out: &mut Successors) {
        (0..9).for_each(|i| out.push(TransitionId(0), 0, &[i, 1, i ^ 5]));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        assert_eq!(state, [state[0], 1, state[0] ^ 5], "a state comes back as it was given");
        for (i, target) in self.targets(state[0]).into_iter().enumerate() {
            out.push(TransitionId(1), i as u32, &[target, 1, target ^ 5]);
        }
    }

    fn evaluate(&self, _: &[u32], _: bool) -> GoalSet {
        GoalSet(0)
    }

    fn transitions(&self) -> usize {
        2
    }
}

/// Walks the whole graph with one hand, each state twice; gives the number of each state.
fn walk(graph: &Graph<'_>, model: &Drawn, thread: usize) -> HashMap<u32, u32> {
    let mut hand = graph.hand(thread);
    let mut numbers = HashMap::new();
    let mut waiting = graph.initial(&mut hand).expect("memory");
    assert_eq!(waiting.len(), 9);
    // Threads begin at different ends.
    waiting.rotate_left(thread);
    let (mut first, mut again) = (Vec::new(), Vec::new());
    while let Some(node) = waiting.pop() {
        let state = graph.state(node)[0];
        if let Some(known) = numbers.insert(state, node.number) {
            assert_eq!(known, node.number, "a state has one number");
            continue;
        }
        graph.successors(&mut hand, node, waiting.iter().rev().copied(), |_| true, &mut first).expect("memory");
        graph.successors(&mut hand, node, waiting.iter().rev().copied(), |_| true, &mut again).expect("memory");
        let states: Vec<u32> = first.iter().map(|&node| graph.state(node)[0]).collect();
        assert_eq!(states, model.targets(state));
        assert_eq!(first, again);
        waiting.extend(&first);
    }
    numbers
}

#[test]
fn successors_are_those_of_the_model() {
    let model = Drawn(5_000);
    for step_bytes in [u64::MAX, 0, 1 << 16] {
        let graph = Graph::new(&model, 1, step_bytes);
        let numbers = walk(&graph, &model, 0);
        assert!(numbers.len() > 3_000, "{} states", numbers.len());
        let steps = graph.pages.bytes(graph.pages_taken.load(Ordering::Relaxed));
        assert!(steps <= step_bytes && (steps > 0 || step_bytes == 0));
    }
}

#[test]
fn threads_agree_on_numbers_while_the_table_grows() {
    let model = Drawn(5_000);
    let graph = Graph::new(&model, 4, u64::MAX);
    let walks: Vec<HashMap<u32, u32>> = std::thread::scope(|scope| {
        let walk = |thread| {
            scope.spawn({
                let (graph, model) = (&graph, &model);
                move || walk(graph, model, thread)
            })
        };
        let threads: Vec<_> = (0..4).map(walk).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread fails")).collect()
    });
    assert!(walks.windows(2).all(|pair| pair[0] == pair[1]));
    let mut numbers: Vec<u32> = walks[0].values().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), walks[0].len(), "a number is one state's");
}
