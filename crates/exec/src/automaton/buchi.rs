//! A Büchi automaton with accepting states: what a product is built with.

use super::degeneralize::degeneralize;
use super::graph::{Edge, Graph};
use super::label::{Label, Labels};
use super::reduce::reduce;

/// How simple an automaton is; what a search needs to know to be simple, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Once accepting, every continuation is accepted: a finite prefix decides.
    Terminal,
    /// No cycle has both accepting states and others: any cycle through an accepting state will do.
    Weak,
    /// Nothing of this.
    General,
}

/// An automaton over letters that are sets of propositions. A run is accepted if it is in accepting states infinitely
/// often.
#[derive(Clone, Debug)]
pub struct Buchi {
    graph: Graph,
    names: Vec<String>,
}

impl Buchi {
    /// From a graph whose only mark is on all edges of a state or on none.
    pub(super) fn new(graph: Graph, names: Vec<String>) -> Self {
        assert!(graph.marks == 1 && graph.by_state, "one set of accepting states");
        Self { graph, names }
    }

    /// The smallest automaton that can be made of a graph with marks.
    pub fn from_graph(mut graph: Graph, names: Vec<String>) -> Self {
        reduce(&mut graph);
        degeneralize(&graph, names)
    }

    /// An automaton exactly as given: accepting states, and edges `(from, label, to)`.
    pub fn exactly(
        labels: Labels,
        names: Vec<String>,
        initial: Vec<usize>,
        accepting: &[bool],
        edges: &[(usize, Label, usize)],
    ) -> Self {
        let mut graph = Graph { labels, marks: 1, by_state: true, initial, edges: vec![Vec::new(); accepting.len()] };
        for &(from, label, target) in edges {
            graph.edges[from].push(Edge { label, marks: u64::from(accepting[from]), target });
        }
        Self { graph, names }
    }

    /// How many states.
    pub fn len(&self) -> usize {
        self.graph.edges.len()
    }

    /// Whether it has none, and accepts nothing.
    pub fn is_empty(&self) -> bool {
        self.graph.edges.is_empty()
    }

    /// The names of the propositions.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where runs begin.
    pub fn initial(&self) -> &[usize] {
        &self.graph.initial
    }

    /// Whether a state is accepting.
    pub fn is_accepting(&self, state: usize) -> bool {
        self.graph.edges[state].first().is_some_and(|edge| edge.marks == 1)
    }

    /// The edges of a state.
    pub fn edges(&self, state: usize) -> &[Edge] {
        &self.graph.edges[state]
    }

    /// The labels of its edges.
    pub fn labels(&self) -> &Labels {
        &self.graph.labels
    }

    /// A copy of its graph.
    pub fn graph(&self) -> Graph {
        self.graph.clone()
    }

    /// How simple it is.
    pub fn strength(&self) -> Strength {
        let components = self.graph.components();
        let mixed = |component: usize| {
            let members = (0..self.len()).filter(|&state| components.of[state] == component);
            let inner = |state: &usize| self.edges(*state).iter().any(|edge| components.of[edge.target] == component);
            let mut kinds = members.filter(inner).map(|state| self.is_accepting(state));
            kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
        };
        let accepts = (0..components.accepting.len()).filter(|&component| components.accepting[component]);
        if accepts.clone().any(mixed) {
            return Strength::General;
        }
        let mut labels = self.graph.labels.clone();
        let mut stays_for_ever = |state: usize| {
            let component = components.of[state];
            let inner = self.edges(state).iter().filter(|edge| components.of[edge.target] == component);
            inner.fold(Label::FALSE, |all, edge| labels.or(all, edge.label)) == Label::TRUE
        };
        let mut in_accepting = (0..self.len()).filter(|&state| components.accepting[components.of[state]]);
        if in_accepting.all(&mut stays_for_ever) { Strength::Terminal } else { Strength::Weak }
    }
}
