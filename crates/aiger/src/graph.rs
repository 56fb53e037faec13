//! The gates that something depends on, each after its inputs: constants are folded, none is there twice, and conjunctions that
//! make up an exclusive or, or a choice between two signals, are one gate.

use std::collections::HashMap;

use crate::circuit::{Circuit, Definition, Literal};

/// A gate or an input, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge(u32);

impl Edge {
    pub(crate) const FALSE: Edge = Edge(0);
    pub(crate) const TRUE: Edge = Edge(1);

    fn to(node: usize) -> Self {
        Self((node as u32) << 1)
    }

    pub(crate) fn node(self) -> usize {
        self.0 as usize >> 1
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }

    fn negated_if(self, condition: bool) -> Self {
        Self(self.0 ^ u32::from(condition))
    }

    fn positive(self) -> Self {
        Self(self.0 & !1)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    False,
    Input(u32),
    Latch(u32),
    And(Edge, Edge),
    /// The first is not negated, nor is the second.
    Xor(Edge, Edge),
    /// The second where the first, which is not negated, is true; else the third.
    If(Edge, Edge, Edge),
}

impl Node {
    /// What it is made of.
    pub(crate) fn operands(&self) -> Vec<Edge> {
        match *self {
            Node::False | Node::Input(_) | Node::Latch(_) => Vec::new(),
            Node::And(a, b) | Node::Xor(a, b) => vec![a, b],
            Node::If(a, b, c) => vec![a, b, c],
        }
    }
}

/// Nodes in an order in which each is behind what it is made of.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    known: HashMap<Node, usize>,
    /// By variable of the file.
    edges: Vec<Option<Edge>>,
}

impl Graph {
    pub(crate) fn new(circuit: &Circuit) -> Self {
        let edges = vec![None; circuit.definitions.len()];
        Self { nodes: vec![Node::False], known: HashMap::from([(Node::False, 0)]), edges }
    }

    /// What a literal stands for; the variable of a gate that depends on itself, if there is one.
    pub(crate) fn edge(&mut self, circuit: &Circuit, literal: Literal) -> Result<Edge, usize> {
        let root = literal as usize / 2;
        // A gate is on its way from where it is opened until its inputs are known.
        let mut open = vec![root];
        let mut is_on_its_way = std::collections::HashSet::new();
        while let Some(&variable) = open.last() {
            if self.edges[variable].is_some() {
                open.pop();
                continue;
            }
            let made = match circuit.definitions[variable].0 {
                Definition::Nothing | Definition::False => Edge::FALSE,
                Definition::Input(input) => self.node(Node::Input(input)),
                Definition::Latch(latch) => self.node(Node::Latch(latch)),
                Definition::And(left, right) => match (self.known(left), self.known(right)) {
                    (Some(left), Some(right)) => self.and(left, right),
                    (known_left, known_right) => {
                        if !is_on_its_way.insert(variable) {
                            return Err(variable);
                        }
                        // The left one is made first.
                        let missing = [(known_right, right), (known_left, left)].into_iter();
                        open.extend(missing.filter(|(known, _)| known.is_none()).map(|(_, of)| of as usize / 2));
                        continue;
                    }
                },
            };
            self.edges[variable] = Some(made);
            open.pop();
        }
        Ok(self.known(literal).unwrap_or(Edge::FALSE))
    }

    fn known(&self, literal: Literal) -> Option<Edge> {
        self.edges[literal as usize / 2].map(|edge| edge.negated_if(literal & 1 == 1))
    }

    fn node(&mut self, node: Node) -> Edge {
        let nodes = &mut self.nodes;
        Edge::to(*self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        }))
    }

    /// The conjunction of two.
    pub(crate) fn and(&mut self, a: Edge, b: Edge) -> Edge {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            _ if a == Edge::FALSE || a == b.negated() => Edge::FALSE,
            _ if a == Edge::TRUE || a == b => b,
            _ => self.recognised(a, b).unwrap_or_else(|| self.node(Node::And(a, b))),
        }
    }

    /// `!(c && x) && !(!c && y)` is the negation of `c ? x : y`; where `y` is `!x`, it is `c` differing from `!x`.
    fn recognised(&mut self, a: Edge, b: Edge) -> Option<Edge> {
        let parts = |edge: Edge| match self.nodes[edge.node()] {
            Node::And(left, right) if edge.is_negated() => Some([left, right]),
            _ => None,
        };
        let (a, b) = (parts(a)?, parts(b)?);
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let (at, other) = pairs.into_iter().find(|&(i, j)| a[i] == b[j].negated())?;
        let (condition, yes, no) = (a[at], a[1 - at], b[1 - other]);
        Some(self.choose(condition, yes, no).negated())
    }

    fn choose(&mut self, condition: Edge, yes: Edge, no: Edge) -> Edge {
        let (yes, no) = if condition.is_negated() { (no, yes) } else { (yes, no) };
        let condition = condition.positive();
        if yes == no {
            return yes;
        }
        if yes == no.negated() {
            // Where the condition is true it is `yes`, else its negation: they are alike.
            return self.xor(condition, yes).negated();
        }
        let is_negated = yes.is_negated();
        self.node(Node::If(condition, yes.negated_if(is_negated), no.negated_if(is_negated))).negated_if(is_negated)
    }

    fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        let is_negated = a.is_negated() != b.is_negated();
        let (a, b) = (a.positive().min(b.positive()), a.positive().max(b.positive()));
        self.node(Node::Xor(a, b)).negated_if(is_negated)
    }

    /// Which nodes these depend on, themselves included.
    pub(crate) fn cone(&self, roots: &[Edge]) -> Vec<bool> {
        let mut is_in = vec![false; self.nodes.len()];
        for root in roots {
            is_in[root.node()] = true;
        }
        for node in (0..self.nodes.len()).rev().filter(|&node| self.nodes[node] != Node::False) {
            if is_in[node] {
                for operand in self.nodes[node].operands() {
                    is_in[operand.node()] = true;
                }
            }
        }
        is_in
    }
}
