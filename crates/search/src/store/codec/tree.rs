//! Exact tree compression (Laarman, van de Pol, Weber: "Parallel Recursive State Compression for Free", 2011).
//!
//! The fields of a state are divided among leaves; a leaf is the vector of the words that it has a part in, with nothing but
//! its own bits. An inner node is the vector of the numbers of its children, and the two numbers at the root are the key.
//! Differences to the paper: fields that neighbouring threads write share a leaf; nodes have many children, for fewer
//! look-ups, and tables of their own, for short numbers and so short keys; the frontier holds root pairs, so that opening one
//! yields the parent's tree; and a worker's memo gives the numbers after most steps without any look-up.

use std::io::{ErrorKind, Read, Result, Write};

use birk_engine::{Limits, Model, Successors};
use birk_ir::Field;

use super::memo::{Delta, Known, Memo, Written, difference};
use super::{Codec, FIRST_WIDTH, Growth, NO_KEY, rewidened, widened};
use crate::store::interner::Interner;

/// Words of a leaf and children of a node, at most.
const WIDEST: usize = 16;
/// The memos of all workers take no more than this part of the memory: nobody counts them.
const MEMOS: u64 = 32;

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
    /// For each transition, the words it can change, if they are few and known.
    written: Vec<Option<Written>>,
    /// Bytes that the memo of a worker may take.
    memo: u64,
    /// Bits for each half in a key, now and before they last grew.
    widths: [u32; 2],
    before: [u32; 2],
}

/// The tree of the state being expanded.
#[derive(Debug)]
pub(crate) struct Parent {
    state: Vec<u32>,
    halves: [u32; 2],
    /// The tree with the halves below: that of the parent or of an earlier one.
    values: Vec<u32>,
    opened: Option<[u32; 2]>,
    /// There is no parent yet: everything is different.
    is_fresh: bool,
    /// Nodes above changed places.
    changed: Vec<u64>,
    /// Places whose values must be restored, with the values.
    undo: Vec<(usize, u32)>,
    /// The successors that were noted and have no key yet.
    noted: Vec<Noted>,
    memo: Memo,
}

/// What is known of a successor.
#[derive(Clone, Copy, Debug)]
enum Noted {
    /// The halves of its parent and its delta.
    Delta([u32; 2], Known),
    /// Its own halves, or that there is no room for them.
    Halves(Option<[u32; 2]>),
}

impl Tree {
    /// For the states of a model, in a search within limits.
    pub(crate) fn new(model: &dyn Model, limits: &Limits) -> Self {
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
            written: Written::all((0..model.transitions()).map(|transition| model.written(transition))),
            memo: limits.memory / MEMOS / limits.threads as u64,
            widths: [FIRST_WIDTH; 2],
            before: [FIRST_WIDTH; 2],
        };
        let fields = model.fields();
        let (left, right) = fields.split_at(middle(&fields));
        tree.halves = [tree.node(0, left), tree.node(1, right)];
        tree.index();
        tree
    }

    /// The same with keys that never change: both halves have as many bits as a number can have.
    pub(crate) fn wide(model: &dyn Model, limits: &Limits) -> Self {
        Self { widths: [32; 2], ..Self::new(model, limits) }
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

    /// What a successor changes, from what its transition can change where that is known.
    #[inline]
    fn delta(&self, batch: &Successors, index: usize, parent: &[u32]) -> Option<Delta> {
        let (state, transition) = (batch.state(index), batch.step(index).transition.index());
        let Some(written) = &self.written[transition] else { return difference(state, parent) };
        let delta = written.delta(state, parent);
        debug_assert!(
            difference(state, parent).is_some_and(|all| all.changes().eq(delta.changes())),
            "transition {transition} changes only what it writes"
        );
        Some(delta)
    }

    /// Which halves a delta touches.
    fn touched(&self, delta: &Delta) -> [bool; 2] {
        [0, 1].map(|side| delta.changes().any(|(word, change)| self.sides[word][side] & change != 0))
    }

    /// The halves of a state, by all words in which it differs from the parent.
    fn halves_of(&self, state: &[u32], parent: &mut Parent, number: Number) -> Option<[u32; 2]> {
        if !parent.is_fresh {
            self.open_tree(parent.halves, parent);
        }
        let before = std::mem::take(&mut parent.state);
        let changes = state.iter().zip(&before).map(|(new, old)| new ^ old).enumerate();
        let halves = self.work_out(changes, parent, number);
        parent.state = before;
        halves
    }

    /// The halves of what was noted.
    #[inline]
    fn halves_after(&self, noted: Noted, parent: &mut Parent) -> Option<[u32; 2]> {
        let (before, known) = match noted {
            Noted::Delta(before, known) => (before, known),
            Noted::Halves(halves) => return halves,
        };
        let mut after = before;
        for side in 0..2 {
            if known.touches[side] {
                match parent.memo.after(side, before[side], known.number) {
                    Some(number) => after[side] = number,
                    None => return self.learn(before, known, parent),
                }
            }
        }
        Some(after)
    }

    /// Works out the halves after a delta, and remembers them.
    #[cold]
    fn learn(&self, before: [u32; 2], known: Known, parent: &mut Parent) -> Option<[u32; 2]> {
        self.open_tree(before, parent);
        let delta = *parent.memo.delta(known.number);
        let after = self.work_out(delta.changes(), parent, Interner::intern)?;
        for side in 0..2 {
            if known.touches[side] {
                parent.memo.remember(side, before[side], known.number, after[side]);
            }
        }
        Some(after)
    }

    /// Forgets deltas to make room for some; what was noted by them is worked out first.
    #[cold]
    fn make_room(&self, more: usize, parent: &mut Parent) {
        for i in 0..parent.noted.len() {
            parent.noted[i] = Noted::Halves(self.halves_after(parent.noted[i], parent));
        }
        parent.memo.forget(more);
    }

    /// Writes the values of a tree from its halves on down.
    #[inline]
    fn open_tree(&self, halves: [u32; 2], parent: &mut Parent) {
        if parent.opened.replace(halves) == Some(halves) {
            return;
        }
        let values = &mut parent.values;
        values[..2].copy_from_slice(&halves);
        for node in self.nodes.iter().rev() {
            node.vectors.vector(values[node.at], &mut values[node.from..node.to]);
        }
    }

    /// The halves of the parent with some changes, by numbering every node above them.
    fn work_out(
        &self,
        changes: impl Iterator<Item = (usize, u32)>,
        parent: &mut Parent,
        number: Number,
    ) -> Option<[u32; 2]> {
        let Parent { values, is_fresh, changed, undo, .. } = parent;
        undo.clear();
        for (word, change) in changes {
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

    /// Whether the vectors of all nodes consist of what can be there: numbers of vectors, or bits of fields.
    fn is_sound(&self) -> bool {
        let mut masks = vec![0; self.places];
        self.parts.iter().for_each(|part| masks[part.place] = part.mask);
        let mut lengths = vec![0; self.places];
        self.nodes.iter().for_each(|node| lengths[node.at] = node.vectors.len());
        let mut values = vec![0; self.places];
        self.nodes.iter().all(|node| {
            (0..node.vectors.len()).all(|number| {
                let places = node.from..node.to;
                node.vectors.vector(number, &mut values[places.clone()]);
                places.into_iter().all(|at| values[at] < lengths[at] || values[at] & !masks[at] == 0)
            })
        })
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
            halves: [0; 2],
            values: vec![0; self.places],
            opened: None,
            is_fresh: true,
            changed: vec![0; self.nodes.len().div_ceil(64)],
            undo: Vec::new(),
            noted: Vec::new(),
            memo: Memo::new(self.memo),
        }
    }

    fn bits(&self) -> u32 {
        self.widths[0] + self.widths[1]
    }

    fn packed_words(&self) -> usize {
        2
    }

    #[inline]
    fn prefetch(&self, packed: &[u32]) {
        for (&half, &number) in self.halves.iter().zip(packed) {
            self.nodes[half].vectors.prefetch(number);
        }
    }

    fn open(&self, packed: &[u32], parent: &mut Parent, state: &mut [u32]) {
        parent.is_fresh = false;
        parent.halves = [packed[0], packed[1]];
        self.open_tree(parent.halves, parent);
        state.fill(0);
        for part in &self.parts {
            state[part.word] |= parent.values[part.place];
        }
        parent.state.copy_from_slice(state);
    }

    fn key(&self, state: &[u32], parent: &mut Parent) -> Option<u64> {
        self.pack(self.halves_of(state, parent, Interner::intern)?)
    }

    /// Takes the deltas, and asks for the halves' cache lines, to have them when `keys` needs them.
    #[inline]
    fn prepare(&self, batch: &Successors, from: usize, parent: &mut Parent) {
        if !parent.memo.has_room(batch.len() - from) {
            self.make_room(batch.len() - from, parent);
        }
        for i in from..batch.len() {
            let delta = if parent.is_fresh { None } else { self.delta(batch, i, &parent.state) };
            let Some(delta) = delta else {
                let halves = self.halves_of(batch.state(i), parent, Interner::intern);
                parent.noted.push(Noted::Halves(halves));
                continue;
            };
            let known = parent.memo.number(&delta, |delta| self.touched(delta));
            for side in 0..2 {
                if known.touches[side] {
                    parent.memo.prefetch(side, parent.halves[side], known.number);
                }
            }
            parent.noted.push(Noted::Delta(parent.halves, known));
        }
    }

    #[inline]
    fn keys(&self, batch: &Successors, from: usize, parent: &mut Parent, keys: &mut Vec<u64>) -> bool {
        assert!(parent.noted.len() == batch.len() - from, "every successor was noted");
        let mut has_room = true;
        for i in 0..parent.noted.len() {
            let halves = self.halves_after(parent.noted[i], parent);
            let key = halves.and_then(|halves| self.pack(halves));
            has_room &= key.is_some();
            keys.push(key.unwrap_or(NO_KEY));
        }
        parent.noted.clear();
        has_room
    }

    fn known_key(&self, state: &[u32], parent: &mut Parent) -> Option<u64> {
        self.pack(self.halves_of(state, parent, Interner::find)?)
    }

    #[inline]
    fn push_packed(&self, key: u64, _: &[u32], out: &mut Vec<u32>) {
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

    fn load(&mut self, input: &mut dyn Read, most: u64) -> Result<()> {
        self.nodes.iter_mut().try_for_each(|node| node.vectors.load(input, most))?;
        if self.is_sound() { Ok(()) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn is_packed_state(&self, packed: &[u32]) -> bool {
        self.halves.iter().zip(packed).all(|(&half, &number)| number < self.nodes[half].vectors.len())
    }

    fn is_key(&self, key: u64) -> bool {
        self.is_packed_state(&self.unpack(key))
    }

    fn grow(&mut self) -> Growth {
        for node in &mut self.nodes {
            if node.vectors.is_full() && !node.vectors.grow() {
                return Growth::Failed;
            }
        }
        self.before = self.widths;
        self.widths = widened(self.widths, [0, 1].map(|half| self.width_of(half)));
        if self.widths == self.before { Growth::Same } else { Growth::Rekeyed }
    }

    #[inline]
    fn rekey(&self, key: u64) -> u64 {
        rewidened(key, self.before, self.widths)
    }

    fn revert(&mut self) -> bool {
        self.widths = self.before;
        false
    }
}
