//! Bit-state hashing: a visited state is remembered by a few bits of a large field (Holzmann 1988; Bloom 1970).
//!
//! Two states may share their bits; then the second is taken for known and is not looked at. Nothing is ever taken for
//! new that was seen, and the states on the path are kept in full: what is found is real. How much may have been lost
//! is estimated while the field fills: before each new state, `p` is the chance that one was taken for known.

mod safety;
mod sketch;

use std::collections::HashSet;

use birk_exec::{Model, Successors};
use birk_ir::{Coverage, Outcome};

use crate::cycle::{Chase, Colour, Painted, hunt_with};
use crate::job::{Hunt, Job, Observer};
use crate::table::prefetch;
pub use safety::hunt_states;
pub use sketch::Sketch;

/// How a search with bits is done.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Bytes of the field.
    pub bytes: u64,
    /// How many states are expected, where that is known: the number of bits for each is chosen by it.
    pub expected: Option<u64>,
    /// Runs, each with other bits and another order.
    pub swarm: u32,
    /// Of the first run.
    pub seed: u64,
}

/// Bits for a state, where nothing is known about how many there are.
const USUAL_BITS: u32 = 4;
/// More are a waste of time.
const MAX_BITS: u32 = 24;

impl Field {
    /// The best number of bits for a state: the share of the field that is set should be about one half in the end.
    fn bits_a_state(&self, bits: u64) -> u32 {
        let Some(expected) = self.expected else { return USUAL_BITS };
        let best = bits as f64 / expected.max(1) as f64 * std::f64::consts::LN_2;
        (best.round() as u32).clamp(1, MAX_BITS)
    }

    /// All runs of a hunt for states in which a goal is true.
    pub fn hunt(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
        self.swarm(&mut |seed| {
            let filter = Filter::new(self.bytes * 8, self.bits_a_state(self.bytes * 8), seed);
            hunt_states(model, job, filter, seed, observer)
        })
    }

    /// All runs of a hunt for cycles.
    pub fn chase(&self, model: &dyn Model, chase: &Chase, observer: &mut dyn Observer) -> Hunt {
        self.swarm(&mut |seed| {
            let painted = BitColours::new(self, seed);
            let mut hunt = hunt_with(model, painted, &Chase { seed, ..*chase }, observer);
            let sketch = hunt.stats.union.take().unwrap_or_default();
            (hunt, sketch)
        })
    }

    /// One run after the other, until one finds something or is told to stop; what they did together.
    fn swarm(&self, run: &mut dyn FnMut(u64) -> (Hunt, Sketch)) -> Hunt {
        let (mut all, mut seen) = run(self.seed);
        let mut lost = share_lost(&all);
        for number in 1..self.swarm {
            let is_over = all.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Found(_)))
                || !matches!(all.coverage, Coverage::Hashed { .. });
            if is_over {
                break;
            }
            let (next, sketch) = run(self.seed.wrapping_add(u64::from(number)));
            lost *= share_lost(&next);
            seen.join(&sketch);
            all = joined(all, next);
            all.stats.states = seen.estimate();
            if let Coverage::Hashed { expected_omissions, omission_probability, .. } = &mut all.coverage {
                *expected_omissions = all.stats.states as f64 * lost;
                *omission_probability = expected_omissions.min(1.0);
            }
        }
        all
    }
}

/// The chance of a state to have been lost.
fn share_lost(hunt: &Hunt) -> f64 {
    match hunt.coverage {
        Coverage::Hashed { expected_omissions, .. } => {
            expected_omissions / (expected_omissions + hunt.stats.states.max(1) as f64)
        }
        _ => 1.0,
    }
}

/// Two runs as one.
fn joined(mut all: Hunt, next: Hunt) -> Hunt {
    for (one, other) in all.outcomes.iter_mut().zip(next.outcomes) {
        if matches!(other, Outcome::Found(_)) {
            *one = other;
        }
    }
    all.fired.iter_mut().zip(next.fired).for_each(|(all, next)| *all |= next);
    all.stats.transitions += next.stats.transitions;
    all.stats.revisits += next.stats.revisits;
    all.stats.max_depth = all.stats.max_depth.max(next.stats.max_depth);
    (all.stopped, all.coverage, all.stats.border) = (next.stopped, next.coverage, next.stats.border);
    all
}

/// Bits of a block: a cache line. All bits of a state lie in one block, so that looking for them costs one access.
const BLOCK: u64 = 512;
const BLOCK_WORDS: usize = 8;

/// A field of bits (a blocked Bloom filter: Putze, Sanders and Singler 2007).
#[derive(Debug)]
pub struct Filter {
    field: Vec<u64>,
    blocks: u64,
    each: u32,
    seed: u64,
    /// For each block the chance that all bits of a state which belongs there are set, added up.
    chances: f64,
    /// Expected number of states taken for known so far.
    expected: f64,
    /// The logarithm of the chance that there was none.
    none: f64,
}

impl Filter {
    /// All bits are 0.
    pub fn new(bits: u64, each: u32, seed: u64) -> Self {
        let blocks = (bits / BLOCK).max(1);
        let field = vec![0; blocks as usize * BLOCK_WORDS];
        Self { field, blocks, each, seed, chances: 0.0, expected: 0.0, none: 0.0 }
    }

    /// Two hashes: one for the block, one for the bits.
    fn key(&self, state: &[u32]) -> (u64, u64) {
        let first = crate::cycle::hash(state, self.seed);
        (first, crate::cycle::hash(state, !first))
    }

    /// Where the block of a key begins.
    fn block(&self, key: (u64, u64)) -> usize {
        ((u128::from(key.0) * u128::from(self.blocks)) >> 64) as usize * BLOCK_WORDS
    }

    /// Asks the caches for the block of a key.
    fn announce(&self, key: (u64, u64)) {
        prefetch(&self.field[self.block(key)]);
    }

    /// The bits of a key in its block: word and bit, nine bits of the hash each.
    fn places(&self, key: (u64, u64)) -> impl Iterator<Item = (usize, u64)> + use<> {
        let mut rest = key.1;
        (0..self.each).map(move |number| {
            if number > 0 && number % 7 == 0 {
                rest = (key.1 ^ u64::from(number)).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(number);
            }
            let bit = rest % BLOCK;
            rest >>= 9;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn contains(&self, key: (u64, u64)) -> bool {
        let start = self.block(key);
        self.places(key).all(|(word, bit)| self.field[start + word] & bit != 0)
    }

    fn insert(&mut self, key: (u64, u64)) {
        let lost = self.chances / self.blocks as f64;
        self.expected += lost / (1.0 - lost).max(1e-9);
        self.none += (-lost).ln_1p();
        let start = self.block(key);
        let before = self.chance(start);
        for (word, bit) in self.places(key) {
            self.field[start + word] |= bit;
        }
        self.chances += self.chance(start) - before;
    }

    /// The chance of a state that belongs to a block to be taken for known.
    fn chance(&self, start: usize) -> f64 {
        let set: u32 = self.field[start..start + BLOCK_WORDS].iter().map(|word| word.count_ones()).sum();
        (f64::from(set) / BLOCK as f64).powi(self.each as i32)
    }

    fn bytes(&self) -> u64 {
        self.field.len() as u64 * 8
    }
}

/// What may have been lost in fields like these.
fn coverage(filters: &[&Filter]) -> Coverage {
    let none: f64 = filters.iter().map(|filter| filter.none).sum();
    Coverage::Hashed {
        depth: None,
        omission_probability: -none.exp_m1(),
        expected_omissions: filters.iter().map(|filter| filter.expected).sum(),
    }
}

/// Colours by bits: one field for the states that were seen, one for the red ones; the path is kept in full.
#[derive(Debug)]
struct BitColours {
    seen: Filter,
    red: Filter,
    path: HashSet<Box<[u32]>>,
    path_words: u64,
    sketch: Sketch,
}

impl BitColours {
    fn new(field: &Field, seed: u64) -> Self {
        let bits = field.bytes * 4;
        let filter = || Filter::new(bits, field.bits_a_state(bits), seed);
        Self { seen: filter(), red: filter(), path: HashSet::new(), path_words: 0, sketch: Sketch::default() }
    }
}

impl Painted for BitColours {
    type Key = (u64, u64);

    fn key(&mut self, state: &[u32]) -> (u64, u64) {
        self.seen.key(state)
    }

    fn keys(&mut self, batch: &Successors, keys: &mut Vec<(u64, u64)>) {
        keys.clear();
        keys.extend((0..batch.len()).map(|i| self.seen.key(batch.state(i))));
        keys.iter().for_each(|&key| self.seen.announce(key));
    }

    fn colour(&self, key: (u64, u64), state: &[u32]) -> Colour {
        match self.seen.contains(key) {
            false => Colour::White,
            true if self.path.contains(state) => Colour::Cyan,
            true if self.red.contains(key) => Colour::Red,
            true => Colour::Blue,
        }
    }

    fn paint(&mut self, key: (u64, u64), state: &[u32], colour: Colour) {
        match colour {
            Colour::Cyan => {
                self.seen.insert(key);
                self.path.insert(state.into());
                self.path_words = state.len() as u64;
                self.sketch.note(state);
            }
            Colour::Red => {
                self.path.remove(state);
                self.red.insert(key);
            }
            Colour::White | Colour::Blue => _ = self.path.remove(state),
        }
    }

    fn bytes(&self) -> u64 {
        self.seen.bytes() + self.red.bytes() + self.path.capacity() as u64 * (self.path_words * 4 + 24)
    }

    fn coverage(&self) -> Coverage {
        coverage(&[&self.seen, &self.red])
    }

    fn sketch(self) -> Option<Sketch> {
        Some(self.sketch)
    }
}
