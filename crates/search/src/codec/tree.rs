//! Exact tree compression (Laarman, van de Pol, Weber: "Parallel Recursive State Compression for Free", 2011).
//!
//! Groups of a state's fields are the leaves of a binary tree; an inner node is the number of the pair below it, and the root
//! pair is the key. Differences to the paper: fields that neighbouring threads write share a leaf; each node has a table of
//! its own, which keeps numbers, and so keys, short; and the frontier holds root pairs, so that opening one yields the
//! parent's tree without a look-up, and successors are interned only along changed leaves.

use birk_exec::Model;

use super::interner::Interner;
use super::packing::Packing;
use super::{Codec, Growth};

/// A leaf of at most this many bits below the root is its own number.
const SHORT: u32 = 12;

/// An inner node. Places are in the vector of all values: first the groups, then the numbers of the nodes, children first.
#[derive(Debug)]
struct Node {
    left: usize,
    /// Nothing for a single group under the root.
    right: Option<usize>,
    /// The node above it; nothing below the root.
    above: Option<usize>,
    pairs: Interner,
}

/// A forest with the root pair above it.
#[derive(Debug)]
pub(crate) struct Tree {
    words: usize,
    packing: Packing,
    groups: usize,
    nodes: Vec<Node>,
    /// The node above each group; nothing for a short one below the root.
    above_group: Vec<Option<usize>>,
    /// Places of the two halves of the root, and the bits for each in a key.
    halves: [usize; 2],
    widths: [u32; 2],
}

/// The tree of the state being expanded.
#[derive(Debug)]
pub(crate) struct Parent {
    state: Vec<u32>,
    values: Vec<u32>,
    /// There is no parent yet: everything is different.
    is_fresh: bool,
    /// Nodes above changed groups.
    changed: Vec<u64>,
    /// Places whose values must be restored, with the values.
    undo: Vec<(usize, u32)>,
}

impl Tree {
    /// For the states of a model, which have more than 32 bits.
    pub(crate) fn new(model: &dyn Model) -> Self {
        let packing = Packing::new(model);
        let groups = packing.widths().len();
        assert!(groups >= 2, "a state of one group needs no tree");
        let mut tree = Self {
            words: model.words(),
            packing,
            groups,
            nodes: Vec::new(),
            above_group: vec![None; groups],
            halves: [0; 2],
            widths: [0; 2],
        };
        let middle = groups.div_ceil(2);
        tree.halves = [tree.half(0, middle), tree.half(middle, groups)];
        tree.widths = [0, 1].map(|half| tree.width_of(half));
        tree
    }

    fn half(&mut self, from: usize, to: usize) -> usize {
        match to - from {
            1 if self.packing.widths()[from] <= SHORT => from,
            1 => self.node(from, None),
            _ => self.subtree(from, to),
        }
    }

    fn subtree(&mut self, from: usize, to: usize) -> usize {
        if to - from == 1 {
            return from;
        }
        let middle = from + (to - from).div_ceil(2);
        let (left, right) = (self.subtree(from, middle), self.subtree(middle, to));
        self.node(left, Some(right))
    }

    fn node(&mut self, left: usize, right: Option<usize>) -> usize {
        let number = self.nodes.len();
        for child in [Some(left), right].into_iter().flatten() {
            match child.checked_sub(self.groups) {
                Some(node) => self.nodes[node].above = Some(number),
                None => self.above_group[child] = Some(number),
            }
        }
        self.nodes.push(Node { left, right, above: None, pairs: Interner::new() });
        self.groups + number
    }

    /// Bits that the numbers of a half need, with what room it has.
    fn width_of(&self, half: usize) -> u32 {
        match self.halves[half].checked_sub(self.groups) {
            Some(node) => self.nodes[node].pairs.room().ilog2(),
            None => self.packing.widths()[self.halves[half]].max(1),
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
        let Parent { state: old, values, is_fresh, changed, undo } = parent;
        undo.clear();
        for (word, (&new, &old)) in state.iter().zip(old.iter()).enumerate() {
            if new != old {
                self.packing.exchange(word, new ^ old, values, |group, value| {
                    undo.push((group, value));
                    self.mark(group, changed);
                });
            }
        }
        if *is_fresh {
            (0..self.groups).for_each(|group| self.mark(group, changed));
        }
        let mut complete = true;
        for at in 0..changed.len() {
            let mut left = std::mem::take(&mut changed[at]);
            while left != 0 && complete {
                let node = at * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                match number(&self.nodes[node].pairs, self.pair_of(node, values)) {
                    Some(number) => {
                        undo.push((self.groups + node, values[self.groups + node]));
                        values[self.groups + node] = number;
                    }
                    None => complete = false,
                }
            }
        }
        let key = self.pack(self.halves.map(|half| values[half]));
        for &(place, value) in undo.iter().rev() {
            values[place] = value;
        }
        key.filter(|_| complete)
    }

    /// Marks the nodes above a group.
    #[inline]
    fn mark(&self, group: usize, changed: &mut [u64]) {
        let mut above = self.above_group[group];
        while let Some(node) = above {
            let (at, bit) = (node / 64, 1 << (node % 64));
            if changed[at] & bit != 0 {
                break;
            }
            changed[at] |= bit;
            above = self.nodes[node].above;
        }
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
            state: vec![0; self.words],
            values: vec![0; self.groups + nodes],
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
            let pair = node.pairs.pair(values[self.groups + number]);
            values[node.left] = pair as u32;
            if let Some(right) = node.right {
                values[right] = (pair >> 32) as u32;
            }
        }
        self.packing.spread(values, &mut parent.state);
        state.copy_from_slice(&parent.state);
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
            if let Some(node) = self.halves[half].checked_sub(self.groups) {
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
