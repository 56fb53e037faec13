//! States by number: each state is kept once, in full, and its number finds its colour. For one core, and in shards
//! for several.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use birk_exec::Successors;

use super::nested::{Colour, Painted};
use crate::table::prefetch;

/// The table is rebuilt at twice its size when more than this share of it, in sixteenths, is taken.
const FULL_SIXTEENTHS: usize = 11;

/// States and their numbers.
#[derive(Debug)]
pub(crate) struct Ids {
    words: usize,
    states: Vec<u32>,
    /// `hash tag << 32 | number + 1`; 0 is free.
    table: Vec<u64>,
    len: usize,
}

impl Ids {
    pub(crate) fn new(words: usize) -> Self {
        Self { words, states: Vec::new(), table: vec![0; 64], len: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.states.capacity() * 4 + self.table.len() * 8) as u64
    }

    fn at(&self, number: usize) -> &[u32] {
        &self.states[number * self.words..(number + 1) * self.words]
    }

    /// Asks the caches for what the hashes of a batch will need: first the places in the table, then the states there.
    fn announce(&self, hashes: &[u64]) {
        let mask = self.table.len() - 1;
        hashes.iter().for_each(|&hash| prefetch(&self.table[hash as usize & mask]));
        for &hash in hashes {
            let entry = self.table[hash as usize & mask];
            if entry != 0 && entry >> 32 == hash >> 32 {
                prefetch(&self.states[(entry as u32 - 1) as usize * self.words]);
            }
        }
    }

    /// The number of a state, and whether it is new.
    pub(crate) fn number(&mut self, state: &[u32], hash: u64) -> (u32, bool) {
        let place = match self.find(state, hash) {
            Ok(number) => return (number, false),
            Err(place) => place,
        };
        let number = u32::try_from(self.len).expect("fewer than four thousand million states fit into memory");
        self.table[place] = (hash >> 32 << 32) | (u64::from(number) + 1);
        self.states.extend_from_slice(state);
        self.len += 1;
        if self.len * 16 > self.table.len() * FULL_SIXTEENTHS {
            self.grow();
        }
        (number, true)
    }

    /// The number of a state, or the free place where it belongs.
    pub(crate) fn find(&self, state: &[u32], hash: u64) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry == 0 {
                return Err(place);
            }
            let number = entry as u32 - 1;
            // Word by word: states are too short for a call.
            let is_same = || self.at(number as usize).iter().zip(state).all(|(a, b)| a == b);
            if entry >> 32 == hash >> 32 && is_same() {
                return Ok(number);
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![0u64; size];
        for number in 0..self.len {
            let hash = hash(self.at(number), 0);
            let mut place = hash as usize & (size - 1);
            while table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            table[place] = (hash >> 32 << 32) | (number as u64 + 1);
        }
        self.table = table;
    }
}

/// The exact colours of one core.
#[derive(Debug)]
pub struct Colours {
    ids: Ids,
    colours: Vec<Colour>,
    hashes: Vec<u64>,
}

impl Colours {
    /// None is painted yet.
    pub fn new(words: usize) -> Self {
        Self { ids: Ids::new(words), colours: Vec::new(), hashes: Vec::new() }
    }
}

impl Colours {
    fn number(&mut self, state: &[u32], hash: u64) -> u32 {
        let (number, new) = self.ids.number(state, hash);
        if new {
            self.colours.push(Colour::White);
        }
        number
    }
}

impl Painted for Colours {
    type Key = u32;

    fn key(&mut self, state: &[u32]) -> u32 {
        self.number(state, hash(state, 0))
    }

    fn keys(&mut self, batch: &Successors, keys: &mut Vec<u32>) {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend((0..batch.len()).map(|i| hash(batch.state(i), 0)));
        self.ids.announce(&hashes);
        keys.clear();
        keys.extend(hashes.iter().enumerate().map(|(i, &hash)| self.number(batch.state(i), hash)));
        self.hashes = hashes;
    }

    fn colour(&self, key: u32, _: &[u32]) -> Colour {
        self.colours[key as usize]
    }

    fn paint(&mut self, key: u32, _: &[u32], colour: Colour) {
        self.colours[key as usize] = colour;
    }

    fn bytes(&self) -> u64 {
        self.ids.bytes() + self.colours.capacity() as u64
    }
}

const SHARDS: usize = 256;

/// States and their numbers, for several cores.
#[derive(Debug)]
pub(crate) struct SharedIds {
    shards: Vec<Mutex<Ids>>,
    len: AtomicU64,
}

impl SharedIds {
    pub(crate) fn new(words: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(Ids::new(words))).collect();
        Self { shards, len: AtomicU64::new(0) }
    }

    pub(crate) fn number(&self, state: &[u32]) -> u32 {
        let hash = hash(state, 0);
        // The low bits find the place in the shard's table, the high ones are its tag.
        let shard = (hash >> 24) as usize % SHARDS;
        let mut ids = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        let (number, new) = ids.number(state, hash);
        if new {
            self.len.fetch_add(1, Ordering::Relaxed);
        }
        number * SHARDS as u32 + shard as u32
    }

    pub(crate) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(|ids| ids.lock().unwrap_or_else(PoisonError::into_inner).bytes()).sum()
    }
}

/// A byte for every number, without a lock: chunks that double in size are made when they are needed.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    chunks: [OnceLock<Box<[AtomicU8]>>; 32],
}

impl Marks {
    fn byte(&self, number: u32) -> &AtomicU8 {
        let position = u64::from(number) + 1;
        let chunk = position.ilog2();
        let make = || (0..1u64 << chunk).map(|_| AtomicU8::new(0)).collect();
        &self.chunks[chunk as usize].get_or_init(make)[(position - (1 << chunk)) as usize]
    }

    /// Whether a mark was set; what its setter wrote before is seen.
    pub(crate) fn has(&self, number: u32, mark: u8) -> bool {
        self.byte(number).load(Ordering::Acquire) & mark != 0
    }

    pub(crate) fn set(&self, number: u32, mark: u8) {
        self.byte(number).fetch_or(mark, Ordering::AcqRel);
    }
}

/// A 64-bit hash of a state: each pair of words is folded in by one wide multiplication.
pub(crate) fn hash(state: &[u32], seed: u64) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15 ^ state.len() as u64 ^ seed;
    for pair in state.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
        hash = fold(hash ^ word, 0xa076_1d64_78bd_642f).wrapping_add(0xe703_7ed1_a0b4_28db);
    }
    fold(hash, 0xd6e8_feb8_6659_fd93)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
