//! A frontier: traces in the order of their discovery, each without what it shares with the one before.
//!
//! Depth-first search finds the states of the next frontier in the lexicographic order of their traces. So this list is
//! the paper's frontier tree written down in pre-order: every edge of the tree is there once, in as few bits as the widest
//! choice needs, and nothing else but a key for each state. The nodes need neither links nor reference counts: a chunk is
//! freed when it has been read. A state that was meanwhile reached on a shorter path is known by its threshold.
//!
//! A trace is the position of its initial state, and then that of each successor among those of the state before.

use std::io::{Read, Result, Write};

use super::save::{get, get_bytes, put, put_bytes};
use crate::job::Waiting;

/// Bytes of a chunk, which is what a worker takes: at least these, and some times those of a whole trace, with which each
/// begins.
const CHUNK: usize = 1 << 9;
const TRACES: usize = 8;

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

impl Chunk {
    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        (self.held.len() + size_of::<Self>()) as u64
    }

    /// Writes it to a file.
    pub(crate) fn save(&self, out: &mut dyn Write) -> Result<()> {
        put(out, self.states)?;
        put(out, u64::from(self.depth))?;
        put(out, u64::from(self.width))?;
        put_bytes(out, &self.held)
    }

    /// Reads what `save` wrote.
    pub(crate) fn load(input: &mut dyn Read) -> Result<Self> {
        let (states, depth, width) = (get(input)?, get(input)? as u32, get(input)? as u32);
        Ok(Self { states, depth, width, held: get_bytes(input)? })
    }

    /// The same states, kept as a tree.
    pub(crate) fn thinned(&self, ticket_words: usize, mean: u32) -> Vec<Chunk> {
        let (mut writer, mut roots) = (Writer::new(Waiting::Tree, self.depth, mean), Reader::new(self, ticket_words));
        let mut chunks = Vec::new();
        while roots.advance() {
            if !writer.wants_ticket(&roots.trace) {
                roots.ticket.clear();
            }
            chunks.extend(writer.push(&roots.trace, roots.key, &roots.ticket));
        }
        chunks.extend(writer.flush());
        chunks
    }
}

/// Writes a frontier.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) waiting: Waiting,
    /// Of the frontier.
    depth: u32,
    /// Steps of replay that there may be for each state.
    mean: u64,
    chunk: Chunk,
    last: Vec<u32>,
    /// What reading it back will cost: states and steps, and how far it will be possible to go back.
    states: u64,
    steps: u64,
    base: usize,
}

impl Writer {
    /// For a frontier at a depth. Mean replays should be below `mean` steps.
    pub(crate) fn new(waiting: Waiting, depth: u32, mean: u32) -> Self {
        let chunk = Chunk { depth, ..Chunk::default() };
        Self { waiting, depth, mean: u64::from(mean), chunk, last: Vec::new(), states: 0, steps: 0, base: 0 }
    }

    /// Whether the next state, which has this trace, is to be written with its ticket.
    pub(crate) fn wants_ticket(&self, trace: &[u32]) -> bool {
        match self.waiting {
            Waiting::States => true,
            Waiting::Traces => false,
            Waiting::Tree => self.steps + self.cost(common(&self.last, trace)) > self.mean * (self.states + 1),
        }
    }

    /// Steps to get to a state that shares this much with the one before.
    fn cost(&self, shared: usize) -> u64 {
        match self.last.is_empty() {
            true => u64::from(self.depth).min(self.mean),
            false if shared < self.base.max(1) => u64::from(self.depth),
            false => u64::from(self.depth) + 1 - shared as u64,
        }
    }

    /// Adds a state; a chunk that is full is returned.
    pub(crate) fn push(&mut self, trace: &[u32], key: u64, ticket: &[u32]) -> Option<Chunk> {
        assert_eq!(trace.len(), self.depth as usize + 1, "a frontier is at one depth");
        let shared = if self.waiting == Waiting::Traces { 0 } else { common(&self.last, trace) };
        if ticket.is_empty() {
            self.steps += self.cost(shared);
            if shared < self.base {
                self.base = 0;
            }
        } else {
            self.base = trace.len();
        }
        self.states += 1;
        self.last.truncate(shared);
        self.last.extend_from_slice(&trace[shared..]);
        let full = self.chunk.held.len() >= CHUNK + TRACES * (self.depth * self.chunk.width / 8) as usize;
        let widest = |positions: &[u32]| positions.iter().max().map_or(0, |most| 32 - most.leading_zeros());
        let is_too_wide = widest(&trace[shared.max(1)..]) > self.chunk.width;
        let done = (full || is_too_wide).then(|| self.flush()).flatten();
        let shared = if self.chunk.states == 0 { 0 } else { shared };
        if self.chunk.states == 0 {
            self.chunk.width = widest(&trace[1..]).max(self.chunk.width);
        }
        let Chunk { states, width, held: bytes, .. } = &mut self.chunk;
        *states += 1;
        varint(bytes, ((trace.len() - shared) as u64) << 1 | u64::from(!ticket.is_empty()));
        bytes.extend_from_slice(&key.to_le_bytes());
        ticket.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        if shared == 0 {
            varint(bytes, u64::from(trace[0]));
        }
        pack(bytes, &trace[shared.max(1)..], *width);
        done
    }

    /// The states that are not yet in a full chunk.
    pub(crate) fn flush(&mut self) -> Option<Chunk> {
        let next = Chunk { depth: self.depth, width: self.chunk.width, ..Chunk::default() };
        let mut done = std::mem::replace(&mut self.chunk, next);
        done.held.shrink_to_fit();
        (done.states > 0).then_some(done)
    }
}

/// Reads a chunk from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    chunk: &'c Chunk,
    at: usize,
    left: u64,
    ticket_words: usize,
    /// Of the state read last: its trace, its key, and its ticket if it has one.
    pub(crate) trace: Vec<u32>,
    pub(crate) key: u64,
    pub(crate) ticket: Vec<u32>,
}

impl<'c> Reader<'c> {
    /// At the beginning of a chunk.
    pub(crate) fn new(chunk: &'c Chunk, ticket_words: usize) -> Self {
        let left = chunk.states;
        Self { chunk, at: 0, left, ticket_words, trace: Vec::new(), key: 0, ticket: Vec::new() }
    }

    /// Reads the next state; false when there is none.
    pub(crate) fn advance(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let header = self.varint();
        let length = self.chunk.depth as usize + 1;
        let shared = length - (header >> 1) as usize;
        self.key = u64::from_le_bytes(self.take());
        self.ticket.clear();
        if header & 1 == 1 {
            for _ in 0..self.ticket_words {
                let word = u32::from_le_bytes(self.take());
                self.ticket.push(word);
            }
        }
        self.trace.truncate(shared);
        if shared == 0 {
            let initial = self.varint() as u32;
            self.trace.push(initial);
        }
        let count = length - self.trace.len();
        let width = self.chunk.width;
        let bytes = (count * width as usize).div_ceil(8);
        unpack(&self.chunk.held[self.at..self.at + bytes], count, width, &mut self.trace);
        self.at += bytes;
        true
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        self.at += N;
        self.chunk.held[self.at - N..self.at].try_into().expect("a slice of this length")
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let [byte] = self.take();
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return value;
            }
        }
    }
}

/// How many positions two traces have in common at their beginnings.
pub(crate) fn common(one: &[u32], other: &[u32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn pack(bytes: &mut Vec<u8>, positions: &[u32], width: u32) {
    let (mut bits, mut count) = (0u64, 0);
    for &position in positions {
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
    let (mut bits, mut count) = (0u64, 0);
    for _ in 0..positions {
        while count < width {
            bits |= u64::from(bytes[0]) << count;
            bytes = &bytes[1..];
            count += 8;
        }
        out.push((bits & ((1 << width) - 1)) as u32);
        bits >>= width;
        count -= width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random traces of one length in lexicographic order, each with a key and perhaps a ticket.
    fn states(random: &mut u64, depth: u32) -> Vec<(Vec<u32>, u64, Vec<u32>)> {
        let mut below = |n: u64| {
            *random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (*random >> 33) % n
        };
        let widest = [1, 2, 3, 200, 70_000][below(5) as usize];
        let mut traces: Vec<Vec<u32>> = (0..below(3000) + 1)
            .map(|_| (0..=depth).map(|i| below(if i % 7 == 0 { 3 } else { widest }) as u32).collect())
            .collect();
        traces.sort();
        traces.dedup();
        traces.into_iter().map(|trace| (trace, below(u64::MAX >> 32), vec![below(9) as u32; 3])).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut random = 7;
        for round in 0..40 {
            let depth = [0, 1, 5, 60][round % 4];
            let states = states(&mut random, depth);
            for waiting in [Waiting::States, Waiting::Traces, Waiting::Tree] {
                let mut writer = Writer::new(waiting, depth, 20);
                let (mut chunks, mut expected) = (Vec::new(), Vec::new());
                for (trace, key, ticket) in &states {
                    let ticket = if writer.wants_ticket(trace) { ticket.clone() } else { Vec::new() };
                    chunks.extend(writer.push(trace, *key, &ticket));
                    expected.push((trace.clone(), *key, ticket));
                }
                chunks.extend(writer.flush());
                assert!(chunks.len() > 1 || states.len() < 2000);
                let mut read = Vec::new();
                for chunk in chunks {
                    let mut reader = Reader::new(&chunk, 3);
                    while reader.advance() {
                        read.push((reader.trace.clone(), reader.key, reader.ticket.clone()));
                    }
                }
                assert!(read == expected, "round {round}, {waiting:?}");
                let tickets = read.iter().filter(|(_, _, ticket)| !ticket.is_empty()).count();
                match waiting {
                    Waiting::States => assert_eq!(tickets, read.len()),
                    Waiting::Traces => assert_eq!(tickets, 0),
                    Waiting::Tree => assert_eq!(tickets > 0, depth == 60 && read.len() > 1, "{}", read.len()),
                }
            }
        }
    }

    /// Traces that end in all combinations of choices between two: a tree with twice as many edges as leaves.
    #[test]
    fn shared_prefixes_are_written_once() {
        let mut writer = Writer::new(Waiting::Tree, 50, 100);
        let (mut bytes, states) = (0, 1 << 12);
        for leaf in 0..states {
            let trace: Vec<u32> = (0..=50).map(|i| if i < 39 { 0 } else { leaf >> (50 - i) & 1 }).collect();
            assert!(!writer.wants_ticket(&trace));
            bytes += writer.push(&trace, u64::from(leaf), &[]).map_or(0, |chunk| chunk.bytes());
        }
        bytes += writer.flush().map_or(0, |chunk| chunk.bytes());
        let each = bytes as f64 / f64::from(states);
        assert!((10.0..11.0).contains(&each), "{each} bytes for each state");
    }
}
