//! The space of one core: a graph, in which colours are exact.

use birk_engine::{HyperLogLog, Model};

use super::graph::{Graph, Hand, Node};
use super::ndfs::{Colour, Space};
use crate::sync::Ordering;

/// A graph and the only hand that writes to it.
pub(super) struct GraphSingle<'m> {
    graph: Graph<'m>,
    hand: Hand,
}

impl<'m> GraphSingle<'m> {
    /// Of a model; steps are kept in at most this many bytes.
    pub(super) fn new(model: &'m dyn Model, step_bytes: u64) -> Self {
        let graph = Graph::new(model, 1, step_bytes);
        let hand = graph.hand(0);
        Self { graph, hand }
    }
}

impl Space for GraphSingle<'_> {
    type Node = Node;

    fn initial(&mut self) -> Option<Vec<Node>> {
        self.graph.initial(&mut self.hand)
    }

    #[inline]
    fn successors(
        &mut self,
        node: Node,
        soon: impl Iterator<Item = Node>,
        mut may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        let Self { graph, hand } = self;
        graph.successors(hand, node, soon, |bytes| may_go_on(graph.bytes() + bytes), out)
    }

    #[inline]
    fn prefetch(&self, node: Node) {
        self.graph.prefetch(node);
    }

    #[inline]
    fn is_accepting(&self, node: Node) -> bool {
        self.graph.is_accepting(node)
    }

    #[inline]
    fn colour(&self, node: Node) -> Colour {
        let (cell, shift) = self.graph.colour(node);
        match cell.load(Ordering::Relaxed) >> shift & 3 {
            0 => Colour::White,
            1 => Colour::Cyan,
            2 => Colour::Blue,
            _ => Colour::Red,
        }
    }

    #[inline]
    fn paint(&mut self, node: Node, colour: Colour) {
        let (cell, shift) = self.graph.colour(node);
        let others = cell.load(Ordering::Relaxed) & !(3 << shift);
        cell.store(others | (colour as u32) << shift, Ordering::Relaxed);
    }

    fn key(&self, node: Node) -> u64 {
        node.key()
    }

    fn state(&self, node: Node) -> Vec<u32> {
        self.graph.state(node)
    }

    fn bytes(&self) -> u64 {
        self.graph.bytes()
    }

    fn end(self) -> (Vec<bool>, u64, Option<HyperLogLog>) {
        let cut = self.hand.cut();
        (self.hand.fired, cut, None)
    }
}
