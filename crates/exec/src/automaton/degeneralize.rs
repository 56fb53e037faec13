//! From several marks on edges to one set of accepting states (Gastin and Oddoux 2001; per component, as Babiak et al.
//! 2013).
//!
//! A state gets a level: how many marks, in a fixed order, were seen since the last accepting state. The last level is
//! accepting, and counts from 0 again. Levels matter only inside components that can accept.

use std::collections::HashMap;

use super::buchi::Buchi;
use super::graph::{Components, Edge, Graph};
use super::reduce::reduce;

/// For so many marks all orders are tried.
const MAX_ORDERED: u32 = 4;

/// The smallest automaton with accepting states that an order of the marks gives.
pub(super) fn degeneralize(graph: &Graph, names: Vec<String>) -> Buchi {
    let components = graph.components();
    let best = orders(graph.marks).into_iter().map(|order| {
        let mut flat = with_levels(graph, &components, &order);
        reduce(&mut flat);
        flat
    });
    let best = best.min_by_key(|flat| (flat.edges.len(), flat.edges.iter().map(Vec::len).sum::<usize>()));
    Buchi::new(best.expect("there is at least one order"), names)
}

fn orders(marks: u32) -> Vec<Vec<u32>> {
    if marks > MAX_ORDERED {
        return vec![(0..marks).collect(), (0..marks).rev().collect()];
    }
    let mut orders = vec![Vec::new()];
    for mark in 0..marks {
        let longer = |order: &Vec<u32>| {
            let places = 0..=order.len();
            let insert = |place: usize| {
                let mut order = order.clone();
                order.insert(place, mark);
                order
            };
            places.map(insert).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

fn with_levels(graph: &Graph, components: &Components, order: &[u32]) -> Graph {
    let last = order.len();
    let entry = entry_levels(graph, components, last);
    let mut flat = Graph { labels: graph.labels.clone(), marks: 1, by_state: true, ..Graph::default() };
    let mut numbers = HashMap::new();
    let mut states: Vec<(usize, usize)> = Vec::new();
    let mut number = |state: (usize, usize), states: &mut Vec<(usize, usize)>| {
        *numbers.entry(state).or_insert_with(|| {
            states.push(state);
            states.len() - 1
        })
    };
    flat.initial = graph.initial.iter().map(|&state| number((state, entry[state]), &mut states)).collect();
    while let Some(&(state, level)) = states.get(flat.edges.len()) {
        let component = components.of[state];
        let accepting = components.accepting[component] && level == last;
        let mut edges = Vec::new();
        for edge in &graph.edges[state] {
            let stays = components.of[edge.target] == component && components.accepting[component];
            let level = if stays {
                let from = if level == last { 0 } else { level };
                let seen = order[from..].iter().take_while(|&&mark| edge.marks >> mark & 1 == 1).count();
                from + seen
            } else {
                entry[edge.target]
            };
            let target = number((edge.target, level), &mut states);
            edges.push(Edge { label: edge.label, marks: u64::from(accepting), target });
        }
        flat.edges.push(edges);
    }
    flat
}

/// The level with which a component is entered: any is right. Where every edge has every mark, the last one needs no
/// copies.
fn entry_levels(graph: &Graph, components: &Components, last: usize) -> Vec<usize> {
    let mut all = vec![true; components.accepting.len()];
    for (from, edges) in graph.edges.iter().enumerate() {
        let component = components.of[from];
        let mut inner = edges.iter().filter(|edge| components.of[edge.target] == component);
        all[component] &= inner.all(|edge| edge.marks == graph.all_marks());
    }
    (0..graph.edges.len())
        .map(|state| {
            let component = components.of[state];
            if components.accepting[component] && all[component] { last } else { 0 }
        })
        .collect()
}
