//! A part of a visited set: the states that one of several workers owns. What comes in are canonical keys, which mean the same in
//! every process; what is kept is whatever the codec makes of their states, and never leaves it.

use birk_engine::{Job, Model};

use crate::bfs::visited::Visited;
use crate::levels::keys::Keys;
use crate::store::codec::Codec;
use crate::store::table::Insertion;
use crate::store::with_codec::{self, WithCodec, with_codec};

pub use crate::bfs::trace::trace;

/// Keys that are looked up together, so that their cache lines come together.
const GROUP: usize = 64;

/// There is no memory for more states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The states that one worker owns.
pub trait Partition: Send {
    /// Adds the states of some keys, and appends the keys of those that are new. It may have so many bytes; where that does not
    /// suffice, some are not added.
    fn insert(&mut self, keys: &[u64], depth: u32, budget: u64, new: &mut Vec<u64>) -> Result<(), Full>;

    /// Appends whether it has the state of each key.
    fn has(&mut self, keys: &[u64], out: &mut Vec<bool>);

    /// How many states it has.
    fn states(&self) -> u64;

    /// Bytes it occupies.
    fn bytes(&self) -> u64;
}

/// An empty part of the visited set of a search.
pub fn partition(model: &dyn Model, job: &Job) -> Box<dyn Partition> {
    with_codec(model, job, with_codec::Keys::Growing, Empty(model))
}

struct Empty<'m>(&'m dyn Model);

impl WithCodec for Empty<'_> {
    type Output = Box<dyn Partition>;

    fn run<C: Codec>(self, codec: C) -> Self::Output {
        Box::new(Part {
            canonical: Keys::new(self.0),
            parent: codec.parent(),
            visited: Visited::new(codec),
            state: vec![0; self.0.words()],
            packed: Vec::new(),
            keys: Vec::new(),
            hashes: Vec::new(),
            held: 0,
        })
    }
}

struct Part<C: Codec> {
    canonical: Keys,
    visited: Visited<C>,
    /// The state that was keyed last: successors of one state, which come one after the other, have much in common.
    parent: C::Parent,
    state: Vec<u32>,
    packed: Vec<u32>,
    /// Of a group.
    keys: Vec<u64>,
    hashes: Vec<u64>,
    held: u64,
}

impl<C: Codec> Part<C> {
    /// Computes the keys of a group; false when there is no room for a part of a state.
    fn key_all(&mut self, group: &[u64]) -> bool {
        let Self { canonical, visited, parent, state, packed, keys, .. } = self;
        keys.clear();
        for canonical_key in group.chunks_exact(canonical.words()) {
            canonical.unpack(canonical_key, state);
            let Some(key) = visited.codec.key(state, parent) else { return false };
            keys.push(key);
            if size_of::<C::Parent>() > 0 {
                packed.clear();
                visited.codec.push_packed(key, state, packed);
                visited.codec.open(packed, parent, state);
            }
        }
        true
    }

    fn grow(&mut self, budget: u64) -> Result<(), Full> {
        let has_grown = self.visited.grow(self.held, budget, 1);
        // What a parent knows may be of numbers that are others now.
        self.parent = self.visited.codec.parent();
        if has_grown { Ok(()) } else { Err(Full) }
    }

    /// Inserts a group; the places of those for which there was no room.
    fn insert_group(&mut self, group: &[u64], depth: u32, new: &mut Vec<u64>) -> Vec<usize> {
        let words = self.canonical.words();
        self.hashes.clear();
        self.visited.prefetch(&self.keys, &mut self.hashes);
        let (mut held, mut late) = (self.held, Vec::new());
        self.visited.find_or_insert(&self.hashes, depth, true, |at, inserted| match inserted {
            Insertion::New => {
                held += 1;
                new.extend_from_slice(&group[at * words..(at + 1) * words]);
            }
            Insertion::Known => {}
            Insertion::NoRoom => late.push(at),
        });
        self.held = held;
        late
    }
}

impl<C: Codec> Partition for Part<C> {
    fn insert(&mut self, keys: &[u64], depth: u32, budget: u64, new: &mut Vec<u64>) -> Result<(), Full> {
        let words = self.canonical.words();
        for group in keys.chunks(GROUP * words) {
            let mut waiting = group.to_vec();
            while !waiting.is_empty() {
                if self.held + (waiting.len() / words) as u64 > self.visited.capacity() {
                    self.grow(budget)?;
                }
                while !self.key_all(&waiting) {
                    self.grow(budget)?;
                }
                let late = self.insert_group(&waiting, depth, new);
                if !late.is_empty() {
                    self.grow(budget)?;
                }
                waiting = late.iter().flat_map(|at| &waiting[at * words..(at + 1) * words]).copied().collect();
            }
        }
        Ok(())
    }

    fn has(&mut self, keys: &[u64], out: &mut Vec<bool>) {
        for key in keys.chunks_exact(self.canonical.words()) {
            self.canonical.unpack(key, &mut self.state);
            out.push(self.visited.find(&self.state, &mut self.parent).is_some());
        }
    }

    fn states(&self) -> u64 {
        self.held
    }

    fn bytes(&self) -> u64 {
        self.visited.bytes()
    }
}
