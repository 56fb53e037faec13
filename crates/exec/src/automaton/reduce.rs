//! Smaller automata with the same language: useless states and marks are dropped, and states that simulate each other
//! become one.
//!
//! State `q` simulates `p` if for every letter and edge of `p` there is an edge of `q` with at least the same marks to a
//! state that simulates the target (direct simulation; Etessami and Holzmann 2000, on edges instead of states).

use super::graph::{Edge, Graph};
use super::label::Label;

/// Larger automata are not compared state by state.
const MAX_STATES: usize = 300;

/// Drops, merges and prunes until nothing changes.
pub(super) fn reduce(graph: &mut Graph) {
    graph.trim();
    loop {
        let before = size(graph);
        drop_marks(graph);
        if graph.edges.len() <= MAX_STATES {
            let simulated = simulation(graph);
            merge(graph, &simulated);
            bypass(graph, &simulated);
        }
        graph.trim();
        if size(graph) == before {
            break;
        }
    }
}

fn size(graph: &Graph) -> (usize, usize, u32) {
    (graph.edges.len(), graph.edges.iter().map(Vec::len).sum(), graph.marks)
}

/// A mark that is wherever another one is need not be asked for.
fn drop_marks(graph: &mut Graph) {
    let components = graph.components();
    let inner = |from: usize, edge: &Edge| {
        components.of[from] == components.of[edge.target] && components.accepting[components.of[from]]
    };
    let mut kept: Vec<u32> = (0..graph.marks).collect();
    for mark in 0..graph.marks {
        let implied = kept.iter().any(|&other| {
            other != mark
                && graph.edges.iter().enumerate().all(|(from, edges)| {
                    edges
                        .iter()
                        .all(|edge| !inner(from, edge) || edge.marks >> other & 1 == 0 || edge.marks >> mark & 1 == 1)
                })
        });
        if implied {
            kept.retain(|&other| other != mark);
        }
    }
    for edge in graph.edges.iter_mut().flatten() {
        let marks = kept.iter().enumerate().map(|(new, &old)| (edge.marks >> old & 1) << new);
        edge.marks = marks.sum();
    }
    graph.marks = kept.len() as u32;
}

/// One state for all that simulate each other; no edge that another one of its state makes superfluous.
fn merge(graph: &mut Graph, simulated: &[Vec<bool>]) {
    let same = |p: usize, q: usize| simulated[p][q] && simulated[q][p];
    let leader: Vec<usize> = (0..graph.edges.len()).map(|p| (0..=p).find(|&q| same(p, q)).unwrap_or(p)).collect();
    for state in 0..graph.edges.len() {
        let mut edges = std::mem::take(&mut graph.edges[state]);
        edges.iter_mut().for_each(|edge| edge.target = leader[edge.target]);
        let mut edges = graph.labels.merged(edges);
        for at in 0..edges.len() {
            for other in 0..edges.len() {
                let (weak, strong) = (edges[at], edges[other]);
                let covers = weak.marks & !strong.marks == 0 && simulated[weak.target][strong.target];
                let is_same = strong.marks == weak.marks && same(weak.target, strong.target);
                if at != other && covers && !is_same {
                    edges[at].label = graph.labels.minus(weak.label, strong.label);
                }
            }
        }
        edges.retain(|edge| edge.label != Label::FALSE);
        graph.edges[state] = edges;
    }
    graph.initial.iter_mut().for_each(|state| *state = leader[*state]);
    graph.initial.sort_unstable();
    graph.initial.dedup();
    let initial = graph.initial.clone();
    graph.initial.retain(|&p| !initial.iter().any(|&q| p != q && simulated[p][q] && !simulated[q][p]));
}

/// A state that is on no cycle is seen once: its own marks do not matter. Another one with the same continuations, from
/// which it cannot be reached, takes its place.
fn bypass(graph: &mut Graph, simulated: &[Vec<bool>]) {
    let components = graph.components();
    let count = graph.edges.len();
    for p in 0..count {
        let is_on_cycle = graph.edges[p].iter().any(|edge| components.of[edge.target] == components.of[p]);
        let lone = (0..count).filter(|&q| components.of[q] == components.of[p]).count() == 1;
        if is_on_cycle || !lone {
            continue;
        }
        let stand_in = (0..count).find(|&q| {
            components.of[q] < components.of[p]
                && can_follow(graph, simulated, (p, q), 0)
                && can_follow(graph, simulated, (q, p), 0)
        });
        if let Some(q) = stand_in {
            graph.edges.iter_mut().flatten().filter(|edge| edge.target == p).for_each(|edge| edge.target = q);
            graph.initial.iter_mut().filter(|state| **state == p).for_each(|state| *state = q);
        }
    }
}

/// `simulated[p][q]`: `q` simulates `p`. The greatest such relation, from above.
fn simulation(graph: &mut Graph) -> Vec<Vec<bool>> {
    let count = graph.edges.len();
    let mut simulated = vec![vec![true; count]; count];
    loop {
        let mut changed = false;
        for p in 0..count {
            for q in 0..count {
                if simulated[p][q] && !can_follow(graph, &simulated, (p, q), u64::MAX) {
                    simulated[p][q] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return simulated;
        }
    }
}

/// Whether `q` has an answer to every edge of `p`, as far as these marks are concerned.
fn can_follow(graph: &mut Graph, simulated: &[Vec<bool>], (p, q): (usize, usize), marks: u64) -> bool {
    let labels = &mut graph.labels;
    graph.edges[p].iter().all(|edge| {
        let mut left = edge.label;
        for answer in &graph.edges[q] {
            if edge.marks & !answer.marks & marks == 0 && simulated[edge.target][answer.target] {
                left = labels.minus(left, answer.label);
            }
        }
        left == Label::FALSE
    })
}
