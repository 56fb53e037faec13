//! The ground of several cores where states are large, or many of the product share one of the model: a graph, in which
//! what a worker knows for itself is a set of bits of its own.

use birk_exec::Model;

use super::concurrent::{Ground, Mark};
use super::graph::{self, Graph, Node};
use crate::sync::Ordering;
use crate::table::prefetch;

/// The ground.
pub(super) struct Numbered<'m>(Graph<'m>);

impl<'m> Numbered<'m> {
    /// Of a model, for so many workers; steps are kept in at most this many bytes.
    pub(super) fn new(model: &'m dyn Model, workers: usize, step_bytes: u64) -> Self {
        Self(Graph::new(model, workers, step_bytes))
    }
}

/// What one worker has in hand.
pub(super) struct Hand {
    hand: graph::Hand,
    cyan: Nodes,
    region: Nodes,
}

/// A set of nodes, as bits.
struct Nodes {
    places: usize,
    bits: Vec<u64>,
}

impl Nodes {
    fn at(&self, node: Node) -> (usize, u32) {
        let place = node.number as usize * self.places + node.place as usize;
        (place / 64, (place % 64) as u32)
    }

    fn contains(&self, node: Node) -> bool {
        let (word, bit) = self.at(node);
        self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Asks for the place of a node, to have it when it is needed.
    fn announce(&self, node: Node) {
        if let Some(word) = self.bits.get(self.at(node).0) {
            prefetch(word);
        }
    }

    /// Whether it was not there.
    fn insert(&mut self, node: Node) -> bool {
        let (word, bit) = self.at(node);
        if self.bits.len() <= word {
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        let before = self.bits[word];
        self.bits[word] |= 1 << bit;
        before >> bit & 1 == 0
    }

    fn remove(&mut self, node: Node) {
        let (word, bit) = self.at(node);
        self.bits[word] &= !(1 << bit);
    }
}

/// Marks that all workers see.
const BLUE: u32 = 1;
const RED: u32 = 2;

impl Numbered<'_> {
    /// Whether a mark was set; what its setter wrote before is seen.
    fn is_set(&self, node: Node, mark: u32) -> bool {
        let (cell, shift) = self.0.colour(node);
        cell.load(Ordering::Acquire) >> shift & mark != 0
    }

    /// Sets marks; whether the first of them was not set before.
    fn mark(&self, node: Node, marks: u32) -> bool {
        let (cell, shift) = self.0.colour(node);
        let first = marks & marks.wrapping_neg();
        // A cell that is as it should be is not written: other threads may have it in their caches.
        let here = cell.load(Ordering::Acquire) >> shift;
        here & marks != marks && cell.fetch_or(marks << shift, Ordering::AcqRel) >> shift & first == 0
    }
}

impl Ground for Numbered<'_> {
    type Node = Node;
    type Hand<'g>
        = Hand
    where
        Self: 'g;

    fn hand(&self, worker: usize) -> Hand {
        let nodes = || Nodes { places: self.0.places(), bits: Vec::new() };
        Hand { hand: self.0.hand(worker), cyan: nodes(), region: nodes() }
    }

    fn initial(&self, hand: &mut Hand) -> Option<Vec<Node>> {
        self.0.initial(&mut hand.hand)
    }

    fn successors(
        &self,
        hand: &mut Hand,
        node: Node,
        is_first: bool,
        soon: impl Iterator<Item = Node>,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        // The red search meets states that were expanded before.
        self.0.successors(&mut hand.hand, node, soon.take(if is_first { usize::MAX } else { 0 }), out)?;
        out.iter().for_each(|&node| hand.cyan.announce(node));
        Some(())
    }

    fn announce(&self, _: &Hand, node: Node) {
        self.0.announce(node);
    }

    fn has(&self, hand: &Hand, node: Node, mark: Mark) -> bool {
        match mark {
            Mark::Blue => self.is_set(node, BLUE),
            Mark::Red => self.is_set(node, RED),
            Mark::Cyan => hand.cyan.contains(node),
            Mark::Region => hand.region.contains(node),
        }
    }

    fn set(&self, hand: &mut Hand, node: Node, mark: Mark) -> bool {
        match mark {
            Mark::Blue => self.mark(node, BLUE),
            Mark::Red => self.mark(node, RED),
            Mark::Cyan => hand.cyan.insert(node),
            Mark::Region => hand.region.insert(node),
        }
    }

    fn leave(&self, hand: &mut Hand, node: Node, is_red: bool) -> bool {
        hand.cyan.remove(node);
        self.mark(node, if is_red { BLUE | RED } else { BLUE })
    }

    fn clear(&self, hand: &mut Hand, node: Node, mark: Mark) {
        match mark {
            Mark::Cyan => hand.cyan.remove(node),
            Mark::Region => hand.region.remove(node),
            Mark::Blue | Mark::Red => panic!("what all workers see stays"),
        }
    }

    fn is_accepting(&self, node: Node) -> bool {
        self.0.is_accepting(node)
    }

    fn state(&self, node: Node) -> Vec<u32> {
        self.0.state(node)
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn hand_bytes(hand: &Hand) -> u64 {
        ((hand.cyan.bits.len() + hand.region.bits.len()) * 8) as u64
    }

    fn end(hand: Hand) -> (u64, Vec<bool>) {
        (hand.hand.cut(), hand.hand.fired)
    }
}
