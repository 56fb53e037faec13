//! Exact tree compression (Laarman, van de Pol, Weber: "Parallel Recursive State Compression for Free", 2011).
//!
//! Groups of a state's fields are the leaves of a tree; an inner node is the number of the vector below it, and the pair at
//! the root is the key. Differences to the paper: fields that neighbouring threads write share a leaf; nodes have up to five
//! children, for fewer look-ups, and tables of their own, for short numbers and so short keys; and the frontier holds root
//! pairs, so that opening one yields the parent's tree without a look-up, and successors are interned along changes only.

use birk_exec::Model;

use super::interner::Interner;
use super::packing::Packing;
use super::{Codec, Growth};

/// Children of a node, at most.
const CHILDREN: usize = 5;

/// An inner node. Places are in the vector of all values: the children of a node side by side, an even number of places.
#[derive(Debug)]
struct Node {
    /// Places of its children and, if there is an odd number of them, of a value that stays 0.
    from: usize,
    to: usize,
    /// The place of its number.
    at: usize,
    /// The node above it; nothing below the root.
    above: Option<usize>,
    vectors: Interner,
}

/// A forest with the root pair above it.
#[derive(Debug)]
pub(crate) struct Tree {
    words: usize,
    packing: Packing,
    /// Children come before the nodes above them.
    nodes: Vec<Node>,
    /// How many values there are; the two halves of the root are the first.
    places: usize,
    /// The node above each place.
    above: Vec<Option<usize>>,
    /// For each place, the set of all nodes above it, in `blocks` words of bits.
    all_above: Vec<u64>,
    blocks: usize,
    /// Bits for each half in a key.
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
        let mut packing = Packing::new(model);
        let groups = packing.groups();
        assert!(groups >= 2, "a state of one group needs no tree");
        let mut tree = Self {
            words: model.words(),
            packing: Packing::default(),
            nodes: Vec::new(),
            places: 2,
            above: vec![None; 2],
            all_above: Vec::new(),
            blocks: 0,
            widths: [0; 2],
        };
        let mut places = vec![0; groups];
        let middle = groups.div_ceil(2);
        tree.node(0, &mut places[..middle]);
        tree.node(1, &mut places[middle..]);
        packing.move_groups(&places);
        tree.packing = packing;
        tree.blocks = tree.nodes.len().div_ceil(64);
        tree.all_above = vec![0; tree.places * tree.blocks];
        for place in 0..tree.places {
            let mut above = tree.above[place];
            while let Some(node) = above {
                tree.all_above[place * tree.blocks + node / 64] |= 1 << (node % 64);
                above = tree.nodes[node].above;
            }
        }
        tree.widths = [0, 1].map(|half| tree.width_of(half));
        tree
    }

    /// Makes the node whose number is at a place, above these groups; notes the places of the groups.
    fn node(&mut self, at: usize, groups: &mut [usize]) -> usize {
        // As few levels as possible, then as few children as possible.
        let mut children = groups.len();
        while children > CHILDREN {
            children = children.div_ceil(CHILDREN);
        }
        let (from, to) = (self.places, (self.places + children).next_multiple_of(2));
        self.places = to;
        self.above.resize(to, None);
        let mut below = Vec::new();
        if children == groups.len() {
            for (group, place) in groups.iter_mut().enumerate() {
                *place = from + group;
            }
        } else {
            let (each, rest) = (groups.len() / children, groups.len() % children);
            let mut left = groups;
            for child in 0..children {
                let (own, others) = left.split_at_mut(each + usize::from(child < rest));
                below.push(self.node(from + child, own));
                left = others;
            }
        }
        let number = self.nodes.len();
        for child in below {
            self.nodes[child].above = Some(number);
        }
        self.above[from..to].fill(Some(number));
        self.nodes.push(Node { from, to, at, above: None, vectors: Interner::new((to - from) / 2) });
        number
    }

    /// The node of a half of the root.
    fn half(&self, half: usize) -> usize {
        self.nodes.iter().position(|node| node.at == half).expect("both halves are nodes")
    }

    /// Bits that the numbers of a half need, with what room it has.
    fn width_of(&self, half: usize) -> u32 {
        self.nodes[self.half(half)].vectors.room().ilog2()
    }

    /// The key of a state, its nodes numbered by `number`; the parent is afterwards as it was.
    #[inline]
    fn key_by(
        &self,
        state: &[u32],
        parent: &mut Parent,
        number: impl Fn(&Interner, &[u32]) -> Option<u32>,
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
            for node in 0..self.nodes.len() {
                changed[node / 64] |= 1 << (node % 64);
            }
        }
        let mut complete = true;
        for (block, left) in changed.iter_mut().enumerate() {
            let mut left = std::mem::take(left);
            while left != 0 && complete {
                let node = &self.nodes[block * 64 + left.trailing_zeros() as usize];
                left &= left - 1;
                match number(&node.vectors, &values[node.from..node.to]) {
                    Some(number) => {
                        undo.push((node.at, values[node.at]));
                        values[node.at] = number;
                    }
                    None => complete = false,
                }
            }
        }
        let key = self.pack([values[0], values[1]]);
        for &(place, value) in undo.iter().rev() {
            values[place] = value;
        }
        key.filter(|_| complete)
    }

    /// Marks the nodes above a place.
    #[inline]
    fn mark(&self, place: usize, changed: &mut [u64]) {
        let above = &self.all_above[place * self.blocks..(place + 1) * self.blocks];
        for (changed, above) in changed.iter_mut().zip(above) {
            *changed |= above;
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
        Parent {
            state: vec![0; self.words],
            values: vec![0; self.places],
            is_fresh: true,
            changed: vec![0; self.nodes.len().div_ceil(64)],
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
        values[..2].copy_from_slice(ticket);
        for node in self.nodes.iter().rev() {
            node.vectors.vector(values[node.at], &mut values[node.from..node.to]);
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
        self.nodes.iter().map(|node| node.vectors.bytes()).sum()
    }

    fn bytes_after_growth(&self) -> u64 {
        let after = |node: &Node| node.vectors.bytes() * if node.vectors.is_full() { 2 } else { 1 };
        self.nodes.iter().map(after).sum()
    }

    fn grow(&mut self) -> Growth {
        for node in &mut self.nodes {
            if node.vectors.is_full() && !node.vectors.grow() {
                return Growth::Failed;
            }
        }
        let old = self.widths;
        for half in 0..2 {
            // A little ahead, because every change of width rebuilds the table.
            let needed = self.width_of(half);
            if needed > self.widths[half] {
                self.widths[half] = (needed + 1).min(32);
            }
        }
        if self.widths == old {
            return Growth::Same;
        }
        let new = self.widths;
        Growth::Wider(Box::new(move |key| key & ((1 << old[0]) - 1) | key >> old[0] << new[0]))
    }
}
