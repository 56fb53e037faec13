//! A frontier: traces in the order of their discovery, each without what it shares with the one before.
//!
//! Depth-first search finds the states of the next frontier in the lexicographic order of their traces. So this list is
//! the paper's frontier tree written down in pre-order: every edge of the tree is there once, in as few bits as the widest
//! choice needs, and nothing else but a key for each state. The nodes need neither links nor reference counts: a chunk is
//! freed when it has been read. A state that was meanwhile reached on a shorter path is known by its threshold.
//!
//! A trace is the position of its initial state, and then that of each successor among those of the state before. Traces
//! that part early are far from each other. So the list also has *anchors*: a state on the way, from which it is nearer.

use std::io::{ErrorKind, Read, Result, Write};

use super::delta_state;
use super::options::Waiting;
use super::walk::{Path, Way, way};
use crate::store::encoding::{get, get_bytes, put, put_bytes};

/// Bytes of a chunk, which is what a worker takes: at least these, and some times those of its first state, which comes
/// with its whole trace.
const CHUNK: usize = 1 << 9;
const HEADS: usize = 8;

/// Some states of one frontier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) states: u64,
    /// Length of the traces.
    depth: u32,
    /// Bits of a position.
    width: u32,
    pub(crate) held: Vec<u8>,
}

/// What all frontiers of a search have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) packed_words: usize,
    /// Before the first anchor of a chunk.
    pub(crate) origin: Vec<u32>,
    /// Steps from one frontier to the next.
    pub(crate) increment: u32,
    /// Who reads a chunk may not have read the one before.
    pub(crate) is_shared: bool,
}

impl Form {
    /// Steps of replay that there may be for each state, on average. Anchors are small, but they can be left out.
    pub(crate) fn mean(&self, is_short_of_memory: bool) -> u64 {
        let increment = u64::from(self.increment.max(1));
        if is_short_of_memory { 2 * increment - 1 } else { increment / 2 }
    }
}

/// What a state may be written with, to get to it without taking all steps of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Help<'s> {
    None,
    /// The state itself.
    Packed(&'s [u32]),
    /// The state after so many positions of its trace.
    Anchor(usize, &'s [u32]),
}

impl Chunk {
    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        (self.held.len() + size_of::<Self>()) as u64
    }

    /// Writes it to a file.
    pub(crate) fn save(&self, out: &mut dyn Write) -> Result<()> {
        put(out, &(self.states, self.depth, self.width))?;
        put_bytes(out, &self.held)
    }

    /// Reads what `save` wrote of a frontier at a depth.
    pub(crate) fn load(input: &mut dyn Read, depth: u32) -> Result<Self> {
        let (states, of, width): (u64, u32, u32) = get(input)?;
        if of != depth || width > 32 {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(Self { states, depth, width, held: get_bytes(input)? })
    }

    /// The same states, kept as a tree.
    pub(crate) fn thinned(&self, form: &Form) -> Vec<Chunk> {
        let mut writer = Writer::thrifty(Waiting::Tree, self.depth, form, form.mean(true));
        let mut roots = Reader::new(self, form);
        let mut chunks = Vec::new();
        while roots.advance() {
            chunks.extend(writer.push(&roots.trace, roots.key, roots.help()));
        }
        chunks.extend(writer.flush());
        chunks
    }
}

/// Writes a frontier.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) waiting: Waiting,
    form: Form,
    /// Of the frontier.
    depth: u32,
    /// Only so much help is written that replays take so many steps on average; otherwise all of it.
    mean: Option<u64>,
    chunk: Chunk,
    /// Bytes of the first state of the chunk.
    head: usize,
    last: Vec<u32>,
    /// The anchor written last in this chunk: so many positions of the last trace, and its state.
    anchor: Option<usize>,
    before: Vec<u32>,
    /// What reading it back will cost: states and steps, and how far it will be possible to go back.
    states: u64,
    steps: u64,
    base: usize,
}

impl Writer {
    /// For a frontier at a depth.
    pub(crate) fn new(waiting: Waiting, depth: u32, form: &Form) -> Self {
        let chunk = Chunk { depth, ..Chunk::default() };
        let (form, before) = (form.clone(), form.origin.clone());
        let (last, anchor) = (Vec::new(), None);
        let (head, states, steps, base) = (0, 0, 0, 0);
        Self { waiting, form, depth, mean: None, chunk, head, last, anchor, before, states, steps, base }
    }

    /// The same for states none of which will be dropped: with as little help as makes replays this short on average.
    pub(crate) fn thrifty(waiting: Waiting, depth: u32, form: &Form, mean: u64) -> Self {
        Self { mean: Some(mean), ..Self::new(waiting, depth, form) }
    }

    /// Adds a state, which comes with some help; a chunk that is full is returned.
    pub(crate) fn push(&mut self, trace: &[u32], key: u64, help: Help<'_>) -> Option<Chunk> {
        assert_eq!(trace.len(), self.depth as usize + 1, "a frontier is at one depth");
        let shared = if self.waiting == Waiting::Traces { 0 } else { common(&self.last, trace) };
        let full = self.chunk.held.len() >= CHUNK + HEADS * self.head;
        let is_too_wide = widest(&trace[shared.max(1)..]) > self.chunk.width;
        let done = (full || is_too_wide).then(|| self.flush()).flatten();
        let is_first = self.chunk.states == 0;
        self.anchor = self.anchor.filter(|&length| length <= shared && !is_first);
        let help = self.choose(help, if is_first && self.form.is_shared { 0 } else { shared });
        self.last.truncate(shared);
        self.last.extend_from_slice(&trace[shared..]);
        if is_first {
            self.chunk.width = widest(&trace[1..]).max(self.chunk.width);
        }
        let shared = if is_first { 0 } else { shared };
        let Chunk { states, width, held: bytes, .. } = &mut self.chunk;
        *states += 1;
        let kind = match help {
            Help::None => 0,
            Help::Packed(_) => 1,
            Help::Anchor(..) => 2,
        };
        delta_state::put(bytes, ((trace.len() - shared) as u64) << 2 | kind);
        bytes.extend_from_slice(&key.to_le_bytes());
        if shared == 0 {
            delta_state::put(bytes, u64::from(trace[0]));
        }
        pack(bytes, &trace[shared.max(1)..], *width);
        match help {
            Help::None => {}
            Help::Packed(words) => words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes())),
            Help::Anchor(length, state) => {
                delta_state::put(bytes, (trace.len() - length) as u64);
                delta_state::write(bytes, &mut self.before, state);
                self.anchor = Some(length);
            }
        }
        if is_first {
            self.head = bytes.len();
        }
        done
    }

    /// How much of the help is written for a state that shares this much with the one before.
    fn choose<'s>(&mut self, help: Help<'s>, shared: usize) -> Help<'s> {
        let length = self.depth as usize + 1;
        let nearer = match help {
            Help::None => None,
            Help::Packed(_) => Some(length),
            Help::Anchor(at, _) => Some(at).filter(|&at| self.anchor != Some(at)),
        };
        let help = if nearer.is_some() { help } else { Help::None };
        let mean = match (self.waiting, self.mean) {
            (Waiting::Traces, _) => return Help::None,
            (Waiting::States, _) | (_, None) => return help,
            (Waiting::Tree, Some(mean)) => mean,
        };
        let path = |anchor| match way(self.last.len(), self.base, shared, length, anchor) {
            // Where the reader comes from is not known. From a packed state there is no way back, so it is hoped to be near.
            Path { way: Way::Start, steps } if self.last.is_empty() && nearer == Some(length) => {
                Path { way: Way::Start, steps: steps.min(mean) }
            }
            path => path,
        };
        let (without, with) = (path(self.anchor), path(nearer.or(self.anchor)));
        self.states += 1;
        let is_far = self.steps + without.steps > mean * self.states && with.steps < without.steps;
        let chosen = if is_far { with } else { without };
        self.steps += chosen.steps;
        self.base = chosen.base(self.base);
        if is_far { help } else { Help::None }
    }

    /// The states that are not yet in a full chunk.
    pub(crate) fn flush(&mut self) -> Option<Chunk> {
        let next = Chunk { depth: self.depth, width: self.chunk.width, ..Chunk::default() };
        let mut done = std::mem::replace(&mut self.chunk, next);
        self.before.copy_from_slice(&self.form.origin);
        done.held.shrink_to_fit();
        (done.states > 0).then_some(done)
    }
}

/// Reads a chunk from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    chunk: &'c Chunk,
    form: &'c Form,
    at: usize,
    left: u64,
    /// Traces are passed over.
    only_keys: bool,
    /// Of the state read last: its trace, its key, and its packed state if it has one.
    pub(crate) trace: Vec<u32>,
    pub(crate) key: u64,
    packed: Vec<u32>,
    /// The anchor read last, and whether it is on this trace: then after so many positions.
    state: Vec<u32>,
    anchor: Option<usize>,
}

impl<'c> Reader<'c> {
    /// At the beginning of a chunk.
    pub(crate) fn new(chunk: &'c Chunk, form: &'c Form) -> Self {
        let (trace, packed, state) = (Vec::new(), Vec::new(), form.origin.clone());
        Self { chunk, form, at: 0, left: chunk.states, only_keys: false, trace, key: 0, packed, state, anchor: None }
    }

    /// The same for who wants to know the keys only.
    pub(crate) fn of_keys(chunk: &'c Chunk, form: &'c Form) -> Self {
        Self { only_keys: true, ..Self::new(chunk, form) }
    }

    /// Reads the next state; false when there is none.
    pub(crate) fn advance(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.next().expect("what was written is read, or was looked through");
        true
    }

    /// Whether nothing is left, neither states nor bytes.
    pub(crate) fn is_at_end(&self) -> bool {
        self.left == 0 && self.at == self.chunk.held.len()
    }

    /// Reads the next of the states that are left; `None` if there is nothing that a writer writes.
    pub(crate) fn next(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let bytes = &self.chunk.held;
        let header = delta_state::get(bytes, &mut self.at)?;
        let length = self.chunk.depth as usize + 1;
        let shared = length.checked_sub(usize::try_from(header >> 2).ok()?)?;
        self.key = u64::from_le_bytes(self.take()?);
        if shared > self.trace.len() && !self.only_keys {
            return None;
        }
        self.trace.truncate(shared);
        if shared == 0 {
            self.trace.push(delta_state::get(bytes, &mut self.at)? as u32);
        }
        let count = length - shared.max(1);
        let width = self.chunk.width;
        let packed = bytes.get(self.at..)?.get(..(count * width as usize).div_ceil(8))?;
        if !self.only_keys {
            unpack(packed, count, width, &mut self.trace);
        }
        self.at += packed.len();
        self.packed.clear();
        self.anchor = self.anchor.filter(|&length| length <= shared);
        match header & 3 {
            1 => {
                for _ in 0..self.form.packed_words {
                    let word = u32::from_le_bytes(self.take()?);
                    self.packed.push(word);
                }
            }
            2 => {
                let behind = usize::try_from(delta_state::get(bytes, &mut self.at)?).ok()?;
                self.anchor = Some(length.checked_sub(behind).filter(|&kept| kept > 0)?);
                delta_state::read(bytes, &mut self.at, &mut self.state)?;
            }
            0 => {}
            _ => return None,
        }
        Some(())
    }

    /// What there is to get to the state.
    pub(crate) fn help(&self) -> Help<'_> {
        match self.anchor {
            _ if !self.packed.is_empty() => Help::Packed(&self.packed),
            Some(length) => Help::Anchor(length, &self.state),
            None => Help::None,
        }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.chunk.held.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(*bytes)
    }
}

/// How many positions two traces have in common at their beginnings. Traces are long, and mostly the same.
pub(crate) fn common(one: &[u32], other: &[u32]) -> usize {
    const BLOCK: usize = 64;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK)).take_while(|(one, other)| one == other).count();
    let rest = one[blocks * BLOCK..].iter().zip(&other[blocks * BLOCK..]);
    blocks * BLOCK + rest.take_while(|(one, other)| one == other).count()
}

/// Bits that the widest of some positions needs.
fn widest(positions: &[u32]) -> u32 {
    32 - positions.iter().fold(0, |all, &position| all | position).leading_zeros()
}

/// Eight positions are as many bytes as one has bits.
const GROUP: usize = 8;

fn pack(bytes: &mut Vec<u8>, positions: &[u32], width: u32) {
    let (groups, rest) = positions.split_at(if width <= 8 { positions.len() / GROUP * GROUP } else { 0 });
    for group in groups.chunks_exact(GROUP) {
        let bits = group.iter().rev().fold(0u64, |bits, &position| bits << width | u64::from(position));
        bytes.extend_from_slice(&bits.to_le_bytes()[..width as usize]);
    }
    let (mut bits, mut count) = (0u64, 0);
    for &position in rest {
        bits |= u64::from(position) << count;
        count += width;
        while count >= 8 {
            bytes.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        bytes.push(bits as u8);
    }
}

fn unpack(mut bytes: &[u8], positions: usize, width: u32, out: &mut Vec<u32>) {
    let mask = (1u64 << width) - 1;
    let groups = if width <= 8 { positions / GROUP } else { 0 };
    out.reserve(positions);
    for _ in 0..groups {
        let (group, rest) = bytes.split_at(width as usize);
        let mut bits = [0; 8];
        bits[..width as usize].copy_from_slice(group);
        let bits = u64::from_le_bytes(bits);
        out.extend_from_slice(&std::array::from_fn::<u32, GROUP, _>(|i| (bits >> (i as u32 * width) & mask) as u32));
        bytes = rest;
    }
    let (mut bits, mut count) = (0u64, 0);
    for _ in groups * GROUP..positions {
        while count < width {
            bits |= u64::from(bytes[0]) << count;
            bytes = &bytes[1..];
            count += 8;
        }
        out.push((bits & mask) as u32);
        bits >>= width;
        count -= width;
    }
}

#[cfg(test)]
mod tests {
    use birk_exec::Random;

    use super::*;

    /// Random traces of one length in lexicographic order, each with a key and perhaps a packed state.
    fn states(random: &mut Random, depth: u32) -> Vec<(Vec<u32>, u64, Vec<u32>)> {
        let widest = [1, 2, 3, 200, 70_000][random.below(5)];
        let mut traces: Vec<Vec<u32>> = (0..random.below(3000) + 1)
            .map(|_| (0..=depth).map(|i| random.below(if i % 7 == 0 { 3 } else { widest }) as u32).collect())
            .collect();
        traces.sort();
        traces.dedup();
        let mut drawn = |trace| (trace, random.below(u32::MAX as usize) as u64, vec![random.below(9) as u32; 3]);
        traces.into_iter().map(&mut drawn).collect()
    }

    fn form() -> Form {
        Form { packed_words: 3, origin: vec![0; 5], increment: 10, is_shared: false }
    }

    /// What can be read of a list: traces, keys, and what helps to get there.
    type Entry = (Vec<u32>, u64, Vec<u32>, Option<usize>);

    fn read(chunks: &[Chunk], form: &Form) -> Vec<Entry> {
        let mut read = Vec::new();
        for chunk in chunks {
            let mut reader = Reader::new(chunk, form);
            while reader.advance() {
                let (words, anchor) = match reader.help() {
                    Help::None => (Vec::new(), None),
                    Help::Packed(words) => (words.to_vec(), None),
                    Help::Anchor(length, state) => (state.to_vec(), Some(length)),
                };
                read.push((reader.trace.clone(), reader.key, words, anchor));
            }
        }
        read
    }

    /// The state after some positions: in these tests, something that depends on them.
    fn state_at(trace: &[u32]) -> Vec<u32> {
        let sum = trace.iter().fold(0u32, |sum, &position| sum.wrapping_mul(31).wrapping_add(position));
        vec![3, sum, 0, sum >> 7 & 1, trace.len() as u32]
    }

    #[test]
    fn what_was_written_is_read() {
        let (mut random, form) = (Random::new(7), form());
        for round in 0..40 {
            let depth = [0, 1, 5, 60][round % 4];
            let states = states(&mut random, depth);
            for waiting in [Waiting::States, Waiting::Traces] {
                let mut writer = Writer::new(waiting, depth, &form);
                let mut chunks = Vec::new();
                for (trace, key, packed) in &states {
                    chunks.extend(writer.push(trace, *key, Help::Packed(packed)));
                }
                chunks.extend(writer.flush());
                assert!(chunks.len() > 1 || states.len() < 2000);
                let packed = |packed: &Vec<u32>| if waiting == Waiting::States { packed.clone() } else { Vec::new() };
                let expected: Vec<_> =
                    states.iter().map(|(trace, key, held)| (trace.clone(), *key, packed(held), None)).collect();
                assert!(read(&chunks, &form) == expected, "round {round}, {waiting:?}");
                if waiting == Waiting::States {
                    let thinned: Vec<Chunk> = chunks.iter().flat_map(|chunk| chunk.thinned(&form)).collect();
                    let thinned = read(&thinned, &form);
                    assert!(thinned.iter().zip(&expected).all(|(one, other)| (&one.0, one.1) == (&other.0, other.1)));
                    assert!(thinned.iter().zip(&expected).all(|(one, other)| one.2.is_empty() || one.2 == other.2));
                    let kept = thinned.iter().filter(|state| !state.2.is_empty()).count();
                    assert!(thinned.len() == expected.len() && (kept > 0) == (depth == 60), "{kept} at {depth}");
                }
            }
        }
    }

    /// Every anchor comes back where it is on the trace; a thrifty writer leaves out what is not needed, and no more.
    #[test]
    fn anchors_make_replays_short() {
        let (mut random, form) = (Random::new(11), form());
        for round in 0..40 {
            let depth = 30 + 10 * (round % 4);
            let (mut writer, mut chunks, mut sifted) =
                (Writer::new(Waiting::Tree, depth, &form), Vec::new(), Vec::new());
            let states = states(&mut random, depth);
            for (trace, key, _) in &states {
                let root = depth as usize - 10;
                chunks.extend(writer.push(trace, *key, Help::Anchor(root, &state_at(&trace[..root]))));
            }
            chunks.extend(writer.flush());
            let all = read(&chunks, &form);
            assert!(all.iter().zip(&states).all(|(one, other)| (&one.0, one.1) == (&other.0, other.1)));
            assert!(all.iter().all(|(.., anchor)| *anchor == Some(depth as usize - 10)));
            let mut thrifty = Writer::thrifty(Waiting::Tree, depth, &form, 12);
            for chunk in &chunks {
                let mut reader = Reader::new(chunk, &form);
                while reader.advance() {
                    if !reader.key.is_multiple_of(3) {
                        sifted.extend(thrifty.push(&reader.trace, reader.key, reader.help()));
                    }
                }
            }
            sifted.extend(thrifty.flush());
            let (some, mut steps, mut here, mut base) = (read(&sifted, &form), 0, Vec::new(), 0);
            assert!(some.len() == all.iter().filter(|(_, key, ..)| !key.is_multiple_of(3)).count());
            for (trace, _, state, anchor) in &some {
                assert!(anchor.is_none_or(|length| *state == state_at(&trace[..length])), "the state of its own trace");
                let path = way(here.len(), base, common(&here, trace), trace.len(), *anchor);
                (steps, base, here) = (steps + path.steps, path.base(base), trace.clone());
            }
            assert!(steps <= 12 * some.len() as u64, "{steps} steps for {} states", some.len());
            let bytes = |chunks: &[Chunk]| chunks.iter().map(Chunk::bytes).sum::<u64>();
            assert!(bytes(&sifted) < bytes(&chunks) * 9 / 10 || some.len() < 50, "anchors that nobody needs");
        }
    }

    /// Traces that end in all combinations of choices between two: a tree with twice as many edges as leaves.
    #[test]
    fn shared_prefixes_are_written_once() {
        let mut writer = Writer::thrifty(Waiting::Tree, 50, &form(), 20);
        let (mut bytes, states) = (0, 1 << 12);
        for leaf in 0..states {
            let trace: Vec<u32> = (0..=50).map(|i| if i < 39 { 0 } else { leaf >> (50 - i) & 1 }).collect();
            let help = Help::Anchor(40, &[1, 2, 3, 4, 5]);
            bytes += writer.push(&trace, u64::from(leaf), help).map_or(0, |chunk| chunk.bytes());
        }
        bytes += writer.flush().map_or(0, |chunk| chunk.bytes());
        let each = bytes as f64 / f64::from(states);
        assert!((10.0..11.0).contains(&each), "{each} bytes for each state");
    }
}
