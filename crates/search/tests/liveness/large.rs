//! Graphs large enough that tables grow under the threads' hands, against strongly connected components.

use birk_engine::{GoalSet, Model, Patient, Successors};
use birk_exec::Random;
use birk_ir::{Outcome, TransitionId};
use birk_search::liveness::CycleSearch;

use crate::cycle_search;

/// Layers of nodes; steps lead down, and inside a layer round in a circle. Few nodes are accepting.
struct Layers {
    edges: Vec<Vec<u32>>,
    accepting: Vec<bool>,
    /// Nodes of a layer.
    size: usize,
    /// Words of a state; more than one are too many for it to be its own key.
    words: usize,
}

impl Layers {
    fn random(random: &mut Random, count: usize) -> Self {
        let mut edges = vec![Vec::new(); count];
        let size = 2 + random.below(40);
        for (node, edges) in edges.iter_mut().enumerate() {
            let layer = node / size * size;
            if layer + size < count {
                (0..2).for_each(|_| {
                    edges.push((layer + size + random.below((count - layer - size).min(3 * size))) as u32);
                });
            }
            if random.below(3) > 0 {
                edges.push((layer + random.below(size.min(count - layer))) as u32);
            }
        }
        let rare = 1 + random.below(6 * count / size);
        let accepting = (0..count).map(|_| random.below(rare) == 0).collect();
        Self { edges, accepting, size, words: 1 + random.below(2) }
    }

    /// Makes a cycle all accepting or not at all: the nodes of a layer are alike.
    fn weaken(&mut self, random: &mut Random) {
        let rare = 2 + random.below(self.edges.len() / self.size);
        for layer in self.accepting.chunks_mut(self.size) {
            layer.fill(random.below(rare) == 0);
        }
    }

    /// Whether some accepting node that is reached can reach itself, by Tarjan's algorithm.
    fn has_cycle(&self) -> bool {
        let count = self.edges.len();
        let (mut index, mut low, mut on_stack) = (vec![0usize; count], vec![0usize; count], vec![false; count]);
        let (mut stack, mut path, mut next) = (Vec::new(), vec![(0usize, 0usize)], 1);
        let mut found = false;
        while let Some(&mut (node, ref mut at)) = path.last_mut() {
            if *at == 0 {
                (index[node], low[node], on_stack[node]) = (next, next, true);
                next += 1;
                stack.push(node);
            }
            if let Some(&target) = self.edges[node].get(*at) {
                let target = target as usize;
                *at += 1;
                if index[target] == 0 {
                    path.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(index[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let members = stack.split_off(stack.iter().rposition(|&other| other == node).expect("it is there"));
                members.iter().for_each(|&member| on_stack[member] = false);
                let is_cycle = members.len() > 1 || self.edges[node].contains(&(node as u32));
                found |= is_cycle && members.iter().any(|&member| self.accepting[member]);
            }
        }
        found
    }
}

impl Model for Layers {
    fn words(&self) -> usize {
        self.words
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0; 2][..self.words]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (i, &target) in self.edges[state[0] as usize].iter().enumerate() {
            out.push(TransitionId(0), i as u32, &[target, target][..self.words]);
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(u64::from(self.accepting[state[0] as usize]))
    }

    fn transitions(&self) -> usize {
        1
    }
}

/// Found if and only if it is there, by searches of one, two and eight threads.
fn hunt_all(graph: &Layers, weak: bool, seed: u64) -> bool {
    let expected = graph.has_cycle();
    let mut states = None;
    for threads in [1, 2, 8] {
        let hunt = CycleSearch { weak, seed, ..cycle_search(threads) }.hunt(graph, &mut Patient);
        match &hunt.outcomes[0] {
            Outcome::Found(trace) => assert!(expected && is_cycle(graph, trace), "round {seed}, {threads} threads"),
            other => {
                assert!(!expected && *other == Outcome::Absent, "round {seed}, {threads} threads: {other:?}");
                assert_eq!(*states.get_or_insert(hunt.stats.states), hunt.stats.states, "round {seed}");
            }
        }
    }
    expected
}

fn both_occur(found: usize, rounds: usize) {
    assert!(found * 5 > rounds && found * 5 < rounds * 4, "{found} of {rounds} have a cycle: both must occur");
}

#[test]
fn tables_grow_and_nothing_is_lost() {
    let mut random = Random::new(21);
    let (mut found, rounds) = (0, crate::number(2_000, 60));
    for round in 0..rounds {
        let count = 1_000 + random.below(3_000);
        let graph = Layers::random(&mut random, count);
        found += usize::from(hunt_all(&graph, false, round as u64));
    }
    both_occur(found, rounds);
}

#[test]
fn parts_of_paths_are_given_away_and_nothing_is_lost() {
    let mut random = Random::new(23);
    let (mut found, rounds) = (0, crate::number(2_000, 60));
    for round in 0..rounds {
        let count = 1_000 + random.below(9_000);
        let mut graph = Layers::random(&mut random, count);
        graph.weaken(&mut random);
        found += usize::from(hunt_all(&graph, true, round as u64));
    }
    both_occur(found, rounds);
}

/// Walks a run: its loop comes back to where it began, through an accepting node.
fn is_cycle(graph: &Layers, trace: &birk_ir::Trace) -> bool {
    let mut nodes = vec![0u32];
    for step in &trace.steps {
        let here = nodes[nodes.len() - 1];
        nodes.push(graph.edges[here as usize][step.choice as usize]);
    }
    let period = &nodes[trace.loop_start.expect("a loop")..];
    period.len() > 1 && period.first() == period.last() && period.iter().any(|&node| graph.accepting[node as usize])
}
