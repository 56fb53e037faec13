//! Exact tree compression (Laarman, van de Pol, Weber: "Parallel Recursive State Compression for Free", 2011).
//!
//! The fields of a state are divided among leaves; a leaf is the vector of the words that it has a part in, with nothing but
//! its own bits. An inner node is the vector of the numbers of its children, and the two numbers at the root are the key.
//! Differences to the paper: fields that neighbouring threads write share a leaf; nodes have many children, for fewer
//! look-ups, and tables of their own, for short numbers and so short keys; the frontier holds root pairs, so that opening one
//! yields the parent's tree; and a worker's memo gives the numbers after most steps without any look-up.

use std::io::{Read, Result, Write};

use birk_exec::{Model, Successors};
use birk_ir::Field;

use super::interner::Interner;
use super::memo::{Changes, Delta, Memo, changes};
use super::{Codec, FIRST_WIDTH, Growth, NO_KEY};

/// Words of a leaf and children of a node, at most.
const WIDEST: usize = 16;
/// Successors whose deltas are looked up before their halves.
const AHEAD: usize = 64;

/// How a vector gets its number: an interner's `intern` or `find`.
type Number = fn(&Interner, &[u32]) -> Option<u32>;

/// A leaf or an inner node. Places are in the vector of all values: those of a node side by side, an even number of them.
#[derive(Debug)]
struct Node {
    /// Places of its words or children and, if there is an odd number of them, of a value that stays 0.
    from: usize,
    to: usize,
    /// The place of its number.
    at: usize,
    /// The node above it; nothing above the halves.
    above: Option<usize>,
    vectors: Interner,
}

/// Some bits of a word, and the place in a leaf that holds them.
#[derive(Clone, Copy, Debug)]
struct Part {
    word: usize,
    mask: u32,
    place: usize,
}

/// A forest of two trees, with the root pair above them.
#[derive(Debug)]
pub(crate) struct Tree {
    words: usize,
    /// Nodes come before those above them.
    nodes: Vec<Node>,
    /// The nodes of the two halves.
    halves: [usize; 2],
    /// How many values there are; the numbers of the two halves are the first.
    places: usize,
    /// All parts of all words, and where those of each word begin.
    parts: Vec<Part>,
    parts_of: Vec<usize>,
    /// The node above each place.
    above: Vec<Option<usize>>,
    /// For each place, the set of all nodes above it, in `blocks` words of bits.
    all_above: Vec<u64>,
    blocks: usize,
    /// For each word, its bits that belong to each half.
    sides: Vec<[u32; 2]>,
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
    /// Nodes above changed places.
    changed: Vec<u64>,
    /// Places whose values must be restored, with the values.
    undo: Vec<(usize, u32)>,
    /// Words in which the successor differs.
    changes: Changes,
    /// The deltas of some successors.
    deltas: Vec<Delta>,
    memo: Memo,
}

impl Tree {
    /// For the states of a model.
    pub(crate) fn new(model: &dyn Model) -> Self {
        let mut tree = Self {
            words: model.words(),
            nodes: Vec::new(),
            halves: [0; 2],
            places: 2,
            parts: Vec::new(),
            parts_of: Vec::new(),
            above: vec![None; 2],
            all_above: Vec::new(),
            blocks: 0,
            sides: Vec::new(),
            widths: [FIRST_WIDTH; 2],
        };
        let fields = model.fields();
        let (left, right) = fields.split_at(middle(&fields));
        tree.halves = [tree.node(0, left), tree.node(1, right)];
        tree.index();
        tree
    }

    /// The same with keys that never change: both halves have as many bits as a number can have.
    pub(crate) fn wide(model: &dyn Model) -> Self {
        Self { widths: [32; 2], ..Self::new(model) }
    }

    /// Makes the node of some fields, whose number is at a place, and everything below it.
    fn node(&mut self, at: usize, fields: &[Field]) -> usize {
        let mut words: Vec<usize> = fields.iter().map(|field| field.word as usize).collect();
        words.sort_unstable();
        words.dedup();
        let is_leaf = words.len() <= WIDEST || fields.len() < 2;
        let children =
            if is_leaf { words.len() } else { words.len().div_ceil(WIDEST).clamp(2, WIDEST).min(fields.len()) };
        let (from, to) = (self.places, self.places + children.next_multiple_of(2).max(2));
        self.places = to;
        self.above.resize(to, None);
        let mut below = Vec::new();
        if is_leaf {
            for (place, &word) in (from..).zip(&words) {
                let own = fields.iter().filter(|field| field.word as usize == word);
                let mask = own.fold(0, |mask, field| mask | ((1u64 << field.bits) - 1) << field.shift) as u32;
                self.parts.push(Part { word, mask, place });
            }
        } else {
            for child in 0..children {
                let part = |child: usize| fields.len() * child / children;
                below.push(self.node(from + child, &fields[part(child)..part(child + 1)]));
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

    /// Finds for each word its parts, and for each place everything above it.
    fn index(&mut self) {
        self.parts.sort_by_key(|part| (part.word, part.place));
        self.parts_of = (0..=self.words).map(|word| self.parts.partition_point(|part| part.word < word)).collect();
        self.blocks = self.nodes.len().div_ceil(64);
        self.all_above = vec![0; self.places * self.blocks];
        for place in 0..self.places {
            let mut above = self.above[place];
            while let Some(node) = above {
                self.all_above[place * self.blocks + node / 64] |= 1 << (node % 64);
                above = self.nodes[node].above;
            }
        }
        self.sides = vec![[0; 2]; self.words];
        for part in &self.parts {
            let mut place = part.place;
            while let Some(node) = self.above[place] {
                place = self.nodes[node].at;
            }
            self.sides[part.word][place] |= part.mask;
        }
    }

    /// Bits that the numbers of a half need, with what room it has.
    fn width_of(&self, half: usize) -> u32 {
        self.nodes[self.halves[half]].vectors.room().ilog2()
    }

    /// Which halves some changes touch.
    fn touched(&self, changes: &Changes) -> [bool; 2] {
        [0, 1].map(|side| changes.iter().any(|&(word, change)| self.sides[word as usize][side] & change != 0))
    }

    /// The key of a state, its nodes numbered by `number`; the parent is afterwards as it was.
    #[inline]
    fn key_by(&self, state: &[u32], parent: &mut Parent, number: Number) -> Option<u64> {
        changes(state, &parent.state, &mut parent.changes);
        if parent.is_fresh {
            return self.pack(self.work_out(parent, number)?);
        }
        parent.memo.reserve(1);
        let delta = parent.memo.delta(&parent.changes, |changes| self.touched(changes));
        self.pack(self.after(delta, parent, number)?)
    }

    /// The halves of the parent after a delta.
    #[inline]
    fn after(&self, delta: Delta, parent: &mut Parent, number: Number) -> Option<[u32; 2]> {
        let before = [parent.values[0], parent.values[1]];
        let mut after = before;
        for side in 0..2 {
            if delta.touches[side] {
                match parent.memo.after(side, before[side], delta.number) {
                    Some(number) => after[side] = number,
                    None => return self.learn(delta, before, parent, number),
                }
            }
        }
        Some(after)
    }

    /// Works out the halves after a delta, and remembers them.
    #[cold]
    fn learn(&self, delta: Delta, before: [u32; 2], parent: &mut Parent, number: Number) -> Option<[u32; 2]> {
        parent.changes.clear();
        parent.changes.extend_from_slice(parent.memo.changes(delta.number));
        let after = self.work_out(parent, number)?;
        for side in 0..2 {
            if delta.touches[side] {
                parent.memo.remember(side, before[side], delta.number, after[side]);
            }
        }
        Some(after)
    }

    /// The halves of the parent with its changes, by numbering every node above them.
    fn work_out(&self, parent: &mut Parent, number: Number) -> Option<[u32; 2]> {
        let Parent { values, is_fresh, changed, undo, changes, .. } = parent;
        undo.clear();
        for &(word, change) in &*changes {
            let word = word as usize;
            for part in &self.parts[self.parts_of[word]..self.parts_of[word + 1]] {
                if change & part.mask != 0 {
                    undo.push((part.place, values[part.place]));
                    values[part.place] ^= change & part.mask;
                    self.mark(part.place, changed);
                }
            }
        }
        if *is_fresh {
            for node in 0..self.nodes.len() {
                changed[node / 64] |= 1 << (node % 64);
            }
        }
        let mut is_complete = true;
        for (block, left) in changed.iter_mut().enumerate() {
            let mut left = std::mem::take(left);
            while left != 0 && is_complete {
                let node = &self.nodes[block * 64 + left.trailing_zeros() as usize];
                left &= left - 1;
                match number(&node.vectors, &values[node.from..node.to]) {
                    Some(number) => {
                        undo.push((node.at, values[node.at]));
                        values[node.at] = number;
                    }
                    None => is_complete = false,
                }
            }
        }
        let halves = [values[0], values[1]];
        for &(place, value) in undo.iter().rev() {
            values[place] = value;
        }
        is_complete.then_some(halves)
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

/// Where to cut the fields so that both halves have about as many bits.
fn middle(fields: &[Field]) -> usize {
    let total: u64 = fields.iter().map(|field| u64::from(field.bits)).sum();
    let mut left = 0;
    fields
        .iter()
        .take_while(|field| {
            left += u64::from(field.bits);
            left * 2 <= total
        })
        .count()
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
            changes: Changes::new(),
            deltas: Vec::new(),
            memo: Memo::new(),
        }
    }

    fn bits(&self) -> u32 {
        self.widths[0] + self.widths[1]
    }

    fn ticket_words(&self) -> usize {
        2
    }

    #[inline]
    fn announce(&self, ticket: &[u32]) {
        for (&half, &number) in self.halves.iter().zip(ticket) {
            self.nodes[half].vectors.announce(number);
        }
    }

    fn open(&self, ticket: &[u32], parent: &mut Parent, state: &mut [u32]) {
        let values = &mut parent.values;
        parent.is_fresh = false;
        values[..2].copy_from_slice(ticket);
        for node in self.nodes.iter().rev() {
            node.vectors.vector(values[node.at], &mut values[node.from..node.to]);
        }
        parent.state.fill(0);
        for part in &self.parts {
            parent.state[part.word] |= values[part.place];
        }
        state.copy_from_slice(&parent.state);
    }

    #[inline]
    fn key(&self, state: &[u32], parent: &mut Parent) -> Option<u64> {
        self.key_by(state, parent, Interner::intern)
    }

    /// First all deltas, then all halves, so that the halves' cache lines are there when they are needed.
    #[inline]
    fn keys(&self, batch: &Successors, from: usize, parent: &mut Parent, keys: &mut Vec<u64>) {
        if parent.is_fresh {
            keys.extend((from..batch.len()).map(|i| self.key(batch.state(i), parent).unwrap_or(NO_KEY)));
            return;
        }
        let mut start = from;
        while start < batch.len() {
            let end = batch.len().min(start + AHEAD);
            parent.memo.reserve(end - start);
            parent.deltas.clear();
            for i in start..end {
                changes(batch.state(i), &parent.state, &mut parent.changes);
                let delta = parent.memo.delta(&parent.changes, |changes| self.touched(changes));
                for side in 0..2 {
                    if delta.touches[side] {
                        parent.memo.announce(side, parent.values[side], delta.number);
                    }
                }
                parent.deltas.push(delta);
            }
            for i in 0..parent.deltas.len() {
                let after = self.after(parent.deltas[i], parent, Interner::intern);
                keys.push(after.and_then(|halves| self.pack(halves)).unwrap_or(NO_KEY));
            }
            start = end;
        }
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

    fn save(&self, out: &mut dyn Write) -> Result<()> {
        self.nodes.iter().try_for_each(|node| node.vectors.save(out))
    }

    fn load(&mut self, input: &mut dyn Read) -> Result<()> {
        self.nodes.iter_mut().try_for_each(|node| node.vectors.load(input))
    }

    fn grow(&mut self) -> Growth {
        for node in &mut self.nodes {
            if node.vectors.is_full() && !node.vectors.grow() {
                return Growth::Failed;
            }
        }
        let needed = [0, 1].map(|half| self.width_of(half));
        super::widen(&mut self.widths, needed)
    }
}
