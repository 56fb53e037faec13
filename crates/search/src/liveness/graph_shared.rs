//! The colour store of several cores where states are large, or many of the product share one of the model: a graph, in which
//! the row of a state has colours that all workers see, and some for each worker.

use birk_engine::Model;

use super::colour_store::{ColourStore, Mark};
use super::graph::{self, Graph, Node};
use crate::sync::Ordering;

/// The ground.
pub(super) struct GraphShared<'m>(Graph<'m>);

impl<'m> GraphShared<'m> {
    /// Of a model, for so many workers; steps are kept in at most this many bytes.
    pub(super) fn new(model: &'m dyn Model, workers: usize, step_bytes: u64) -> Self {
        Self(Graph::new(model, workers, step_bytes))
    }
}

/// What one worker has in hand.
pub(super) struct Hand {
    hand: graph::Hand,
    worker: usize,
}

/// Marks that all workers see.
const BLUE: u32 = 1;
const RED: u32 = 2;
/// Marks that a worker has for itself.
const CYAN: u32 = 1;
const REGION: u32 = 2;

impl GraphShared<'_> {
    /// Sets marks that all see; whether the first of them was not set before.
    #[inline]
    fn mark(&self, node: Node, marks: u32) -> bool {
        let (cell, shift) = self.0.colour(node);
        let first = marks & marks.wrapping_neg();
        // A cell that is as it should be is not written: other threads may have it in their caches.
        let here = cell.load(Ordering::Acquire) >> shift;
        here & marks != marks && cell.fetch_or(marks << shift, Ordering::AcqRel) >> shift & first == 0
    }

    /// Takes away and sets marks of a worker's own, which nobody else writes; gives those that were there.
    #[inline]
    fn mark_own(&self, hand: &Hand, node: Node, taken: u32, set: u32) -> u32 {
        let (cell, shift) = self.0.own_colour(node, hand.worker);
        let before = cell.load(Ordering::Relaxed);
        cell.store(before & !(taken << shift) | set << shift, Ordering::Relaxed);
        before >> shift
    }
}

impl ColourStore for GraphShared<'_> {
    type Node = Node;
    type Hand<'g>
        = Hand
    where
        Self: 'g;

    fn hand(&self, worker: usize) -> Hand {
        Hand { hand: self.0.hand(worker), worker }
    }

    fn initial(&self, hand: &mut Hand) -> Option<Vec<Node>> {
        self.0.initial(&mut hand.hand)
    }

    #[inline]
    fn successors(
        &self,
        hand: &mut Hand,
        node: Node,
        is_first: bool,
        soon: impl Iterator<Item = Node>,
        may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        // The red search meets states that were expanded before.
        self.0.successors(&mut hand.hand, node, soon.take(if is_first { usize::MAX } else { 0 }), may_go_on, out)
    }

    #[inline]
    fn prefetch(&self, _: &Hand, node: Node) {
        self.0.prefetch(node);
    }

    #[inline]
    fn has(&self, hand: &Hand, node: Node, mark: Mark) -> bool {
        let ((cell, shift), mark) = match mark {
            Mark::Blue => (self.0.colour(node), BLUE),
            Mark::Red => (self.0.colour(node), RED),
            Mark::Cyan => (self.0.own_colour(node, hand.worker), CYAN),
            Mark::Region => (self.0.own_colour(node, hand.worker), REGION),
        };
        cell.load(Ordering::Acquire) >> shift & mark != 0
    }

    #[inline]
    fn set(&self, hand: &mut Hand, node: Node, mark: Mark) -> bool {
        match mark {
            Mark::Blue => self.mark(node, BLUE),
            Mark::Red => self.mark(node, RED),
            Mark::Cyan => self.mark_own(hand, node, 0, CYAN) & CYAN == 0,
            Mark::Region => self.mark_own(hand, node, 0, REGION) & REGION == 0,
        }
    }

    #[inline]
    fn leave(&self, hand: &mut Hand, node: Node, is_red: bool) -> bool {
        self.mark_own(hand, node, CYAN, 0);
        self.mark(node, if is_red { BLUE | RED } else { BLUE })
    }

    fn leave_region(&self, hand: &mut Hand, node: Node) {
        self.mark_own(hand, node, REGION, 0);
    }

    #[inline]
    fn is_accepting(&self, node: Node) -> bool {
        self.0.is_accepting(node)
    }

    fn key(&self, node: Node) -> u64 {
        node.key()
    }

    fn state(&self, node: Node) -> Vec<u32> {
        self.0.state(node)
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn end(hand: Hand) -> (u64, Vec<bool>) {
        (hand.hand.cut(), hand.hand.fired)
    }
}
