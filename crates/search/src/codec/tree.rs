//! Exact tree compression (Laarman, van de Pol, Weber: "Parallel Recursive State Compression for Free", 2011).
//!
//! A state's words are the leaves of a binary tree; every inner node is the number of the pair below it, and the root pair
//! is the key. Differences to the paper: each node has a table of its own, which keeps numbers, and so keys, short; the
//! root goes to the quotient table with keys as wide as the two numbers need; and the frontier holds root pairs, so that
//! opening one yields the parent's tree without a single look-up and successors are interned only along changed words.

use birk_exec::Model;

use super::interner::Interner;
use super::{Codec, Growth};

/// A word of at most this many bits below the root is its own number.
const SHORT: u32 = 12;

/// An inner node. Places are in the vector of all values: first the words, then the numbers of the nodes, children first.
#[derive(Debug)]
struct Node {
    left: usize,
    /// Nothing for a single word under the root.
    right: Option<usize>,
    /// The node above it; nothing below the root.
    above: Option<usize>,
    pairs: Interner,
}

/// A forest with the root pair above it.
#[derive(Debug)]
pub(crate) struct Tree {
    words: usize,
    nodes: Vec<Node>,
    /// The node above each word; nothing for a short word below the root.
    above_word: Vec<Option<usize>>,
    /// Places of the two halves of the root, and the bits for each in a key.
    halves: [usize; 2],
    widths: [u32; 2],
}

/// The tree of the state being expanded.
#[derive(Debug)]
pub(crate) struct Parent {
    values: Vec<u32>,
    /// There is no parent yet: everything is different.
    is_fresh: bool,
    /// Nodes above changed words.
    changed: Vec<u64>,
    /// Places whose values must be restored, with the values.
    undo: Vec<(usize, u32)>,
}

impl Tree {
    /// For the states of a model, which have at least two words.
    pub(crate) fn new(model: &dyn Model) -> Self {
        let words = model.words();
        assert!(words >= 2, "a state of one word needs no tree");
        let mut tree = Self { words, nodes: Vec::new(), above_word: vec![None; words], halves: [0; 2], widths: [0; 2] };
        // Cut where the left part is a power of two, so that most paths are equally long.
        let middle = words.div_ceil(2).next_multiple_of(if words > 2 { 2 } else { 1 });
        tree.halves = [tree.half(model, 0, middle), tree.half(model, middle, words)];
        tree.widths = [0, 1].map(|half| tree.width_of(model, half));
        tree
    }

    fn half(&mut self, model: &dyn Model, from: usize, to: usize) -> usize {
        match to - from {
            1 if model.used_bits(from) <= SHORT => from,
            1 => self.node(from, None),
            _ => self.subtree(from, to),
        }
    }

    fn subtree(&mut self, from: usize, to: usize) -> usize {
        match to - from {
            1 => from,
            2 => self.node(from, Some(from + 1)),
            len => {
                let middle = from + len.div_ceil(2).next_multiple_of(2);
                let (left, right) = (self.subtree(from, middle), self.subtree(middle, to));
                self.node(left, Some(right))
            }
        }
    }

    fn node(&mut self, left: usize, right: Option<usize>) -> usize {
        let number = self.nodes.len();
        for child in [Some(left), right].into_iter().flatten() {
            match child.checked_sub(self.words) {
                Some(node) => self.nodes[node].above = Some(number),
                None => self.above_word[child] = Some(number),
            }
        }
        self.nodes.push(Node { left, right, above: None, pairs: Interner::new() });
        self.words + number
    }

    /// Bits that the numbers of a half need, with what room it has.
    fn width_of(&self, model: &dyn Model, half: usize) -> u32 {
        match self.halves[half].checked_sub(self.words) {
            Some(node) => self.nodes[node].pairs.room().ilog2(),
            None => model.used_bits(self.halves[half]).max(1),
        }
    }

    #[inline]
    fn pair_of(&self, node: usize, values: &[u32]) -> u64 {
        let node = &self.nodes[node];
        let right = node.right.map_or(0, |right| values[right]);
        u64::from(values[node.left]) | u64::from(right) << 32
    }

    /// The key of a state, its nodes numbered by `number`; the parent is afterwards as it was.
    #[inline]
    fn key_by(
        &self,
        state: &[u32],
        parent: &mut Parent,
        number: impl Fn(&Interner, u64) -> Option<u32>,
    ) -> Option<u64> {
        let Parent { values, is_fresh, changed, undo } = parent;
        for word in 0..self.words {
            if state[word] != values[word] || *is_fresh {
                undo.push((word, values[word]));
                values[word] = state[word];
                let mut above = self.above_word[word];
                while let Some(node) = above {
                    let (at, bit) = (node / 64, 1 << (node % 64));
                    if changed[at] & bit != 0 {
                        break;
                    }
                    changed[at] |= bit;
                    above = self.nodes[node].above;
                }
            }
        }
        let mut complete = true;
        for at in 0..changed.len() {
            let mut left = std::mem::take(&mut changed[at]);
            while left != 0 && complete {
                let node = at * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                match number(&self.nodes[node].pairs, self.pair_of(node, values)) {
                    Some(number) => {
                        undo.push((self.words + node, values[self.words + node]));
                        values[self.words + node] = number;
                    }
                    None => complete = false,
                }
            }
        }
        let key = self.pack(self.halves.map(|half| values[half]));
        for (place, value) in undo.drain(..).rev() {
            values[place] = value;
        }
        key.filter(|_| complete)
    }

    /// The key of a root pair, if its numbers fit the widths.
    #[inline]
    fn pack(&self, [left, right]: [u32; 2]) -> Option<u64> {
        let fits = |value: u32, width: u32| u64::from(value) >> width == 0;
        (fits(left, self.widths[0]) && fits(right, self.widths[1]))
            .then(|| u64::from(left) | u64::from(right) << self.widths[0])
    }

    #[inline]
    fn unpack(&self, key: u64) -> [u32; 2] {
        [(key & ((1 << self.widths[0]) - 1)) as u32, (key >> self.widths[0]) as u32]
    }
}

impl Codec for Tree {
    type Parent = Parent;

    const GROWS: bool = true;

    fn parent(&self) -> Parent {
        let nodes = self.nodes.len();
        Parent {
            values: vec![0; self.words + nodes],
            is_fresh: true,
            changed: vec![0; nodes.div_ceil(64)],
            undo: Vec::new(),
        }
    }

    fn bits(&self) -> u32 {
        self.widths[0] + self.widths[1]
    }

    fn ticket_words(&self) -> usize {
        2
    }

    fn open(&self, ticket: &[u32], parent: &mut Parent, state: &mut [u32]) {
        let values = &mut parent.values;
        parent.is_fresh = false;
        for (half, &number) in self.halves.iter().zip(ticket) {
            values[*half] = number;
        }
        for (number, node) in self.nodes.iter().enumerate().rev() {
            let pair = node.pairs.pair(values[self.words + number]);
            values[node.left] = pair as u32;
            if let Some(right) = node.right {
                values[right] = (pair >> 32) as u32;
            }
        }
        state.copy_from_slice(&values[..self.words]);
    }

    #[inline]
    fn key(&self, state: &[u32], parent: &mut Parent) -> Option<u64> {
        self.key_by(state, parent, Interner::intern)
    }

    fn known_key(&self, state: &[u32], parent: &mut Parent) -> Option<u64> {
        self.key_by(state, parent, Interner::find)
    }

    #[inline]
    fn ticket(&self, key: u64, _: &[u32], out: &mut Vec<u32>) {
        out.extend_from_slice(&self.unpack(key));
    }

    fn bytes(&self) -> u64 {
        self.nodes.iter().map(|node| node.pairs.bytes()).sum()
    }

    fn bytes_after_growth(&self) -> u64 {
        let after = |node: &Node| node.pairs.bytes() * if node.pairs.is_full() { 2 } else { 1 };
        self.nodes.iter().map(after).sum()
    }

    fn grow(&mut self) -> Growth {
        for node in &mut self.nodes {
            if node.pairs.is_full() && !node.pairs.grow() {
                return Growth::Failed;
            }
        }
        let old = self.widths;
        for half in 0..2 {
            if let Some(node) = self.halves[half].checked_sub(self.words) {
                // A little ahead, because every change of width rebuilds the table.
                let needed = self.nodes[node].pairs.room().ilog2();
                if needed > self.widths[half] {
                    self.widths[half] = (needed + 1).min(32);
                }
            }
        }
        if self.widths == old {
            return Growth::Same;
        }
        let new = self.widths;
        Growth::Wider(Box::new(move |key| key & ((1 << old[0]) - 1) | key >> old[0] << new[0]))
    }
}
