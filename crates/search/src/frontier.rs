//! The order of a search is the order of its frontier.

use std::collections::VecDeque;

use birk_ir::StateId;

/// A state waiting to be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The state.
    pub id: StateId,
    /// Steps from an initial state on the path by which it was found.
    pub depth: u32,
}

/// States waiting to be expanded.
pub trait Frontier {
    /// States come out in order of their depth, so that the first goal found is a nearest one.
    const BY_DEPTH: bool;
    /// How many successors are gathered before they go to the store.
    const BATCH: usize;

    /// Takes the new successors of a batch, in the order in which the model gave them.
    fn push_all(&mut self, nodes: &[Node]);

    /// The next to expand.
    fn pop(&mut self) -> Option<Node>;

    /// How many wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes it occupies.
    fn bytes(&self) -> u64;
}

/// First in, first out: breadth-first.
#[derive(Debug, Default)]
pub struct Queue {
    ids: VecDeque<StateId>,
    /// Depth of the front, and how many of its level are still in the queue.
    depth: u32,
    left: usize,
}

impl Frontier for Queue {
    const BY_DEPTH: bool = true;
    const BATCH: usize = 256;

    fn push_all(&mut self, nodes: &[Node]) {
        for node in nodes {
            debug_assert!(node.depth == self.depth || node.depth == self.depth + 1);
            self.left += usize::from(node.depth == self.depth);
            self.ids.push_back(node.id);
        }
    }

    fn pop(&mut self) -> Option<Node> {
        let id = self.ids.pop_front()?;
        if self.left == 0 {
            self.depth += 1;
            self.left = self.ids.len() + 1;
        }
        self.left -= 1;
        Some(Node { id, depth: self.depth })
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn bytes(&self) -> u64 {
        (self.ids.capacity() * size_of::<StateId>()) as u64
    }
}

/// Last in, first out: depth-first, on an explicit stack.
#[derive(Debug, Default)]
pub struct Stack {
    nodes: Vec<Node>,
}

impl Frontier for Stack {
    const BY_DEPTH: bool = false;
    const BATCH: usize = 1;

    fn push_all(&mut self, nodes: &[Node]) {
        self.nodes.extend(nodes.iter().rev());
    }

    fn pop(&mut self) -> Option<Node> {
        self.nodes.pop()
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>()) as u64
    }
}
