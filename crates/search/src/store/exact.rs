//! The exact store: every state in full, in an arena of chunks, found through an open-addressing table.
//!
//! The arena never moves what it holds, so growing costs one rebuilt table and no second copy of the states. A table
//! entry is the state's number and 32 bits of its hash, so that a probe seldom has to look at another state.

use birk_engine::Successors;
use birk_ir::StateId;

use crate::store::hash::hash;
use crate::store::{Arrival, Store};

/// Words in a chunk of the arena (4 MiB), where a state is not longer than that.
const CHUNK_WORDS: usize = 1 << 20;
/// The table is rebuilt at twice its size when more than this share of it, in sixteenths, is taken.
const FULL_SIXTEENTHS: usize = 11;
/// Entries of an empty table.
const SMALLEST_TABLE: usize = 1 << 10;
/// Marks the parent of an initial state.
const NO_PARENT: u32 = u32::MAX;

/// All states, exactly.
#[derive(Debug)]
pub struct ExactStore {
    words: usize,
    per_chunk: usize,
    chunks: Vec<Vec<u32>>,
    parents: Vec<Vec<u32>>,
    /// `hash tag << 32 | number + 1`; 0 is free.
    table: Vec<u64>,
    len: usize,
    hashes: Vec<u64>,
}

impl ExactStore {
    /// An empty store for states of this many words.
    pub fn new(words: usize) -> Self {
        Self {
            words,
            per_chunk: (CHUNK_WORDS / words).max(1),
            chunks: Vec::new(),
            parents: Vec::new(),
            table: vec![0; SMALLEST_TABLE],
            len: 0,
            hashes: Vec::new(),
        }
    }

    /// Length of a state in words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    fn at(&self, index: usize) -> &[u32] {
        let start = index % self.per_chunk * self.words;
        &self.chunks[index / self.per_chunk][start..start + self.words]
    }

    /// The entry of a state, or the free place where it belongs.
    fn find(&self, state: &[u32], hash: u64) -> (usize, bool) {
        let mask = self.table.len() - 1;
        let tag = hash >> 32;
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry == 0 {
                return (place, false);
            }
            if entry >> 32 == tag && self.at((entry as u32 - 1) as usize) == state {
                return (place, true);
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![0u64; size];
        for index in 0..self.len {
            let hash = hash(self.at(index), 0);
            let mut place = hash as usize & (size - 1);
            while table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            table[place] = (hash >> 32) << 32 | (index as u64 + 1);
        }
        self.table = table;
    }

    fn append(&mut self, state: &[u32], parent: Option<StateId>) -> usize {
        if self.len == self.chunks.len() * self.per_chunk {
            self.chunks.push(Vec::with_capacity(self.per_chunk * self.words));
            self.parents.push(Vec::with_capacity(self.per_chunk));
        }
        let last = self.chunks.len() - 1;
        self.chunks[last].extend_from_slice(state);
        self.parents[last].push(parent.map_or(NO_PARENT, |id| id.0 as u32));
        self.len += 1;
        self.len - 1
    }

    /// The number of a state; if it is new, room for it was reserved.
    pub fn find_or_insert(&mut self, state: &[u32], parent: Option<StateId>) -> StateId {
        let hash = hash(state, 0);
        let (place, known) = self.find(state, hash);
        if known {
            return StateId(u64::from(self.table[place] as u32 - 1));
        }
        let index = self.append(state, parent);
        self.table[place] = (hash >> 32) << 32 | (index as u64 + 1);
        StateId(index as u64)
    }

    /// Notes that a state was reached from another one, too, and by a shorter way.
    pub(crate) fn set_parent(&mut self, state: StateId, parent: StateId) {
        self.parents[state.index() / self.per_chunk][state.index() % self.per_chunk] = parent.0 as u32;
    }

    /// Forgets all states.
    pub fn clear(&mut self) {
        self.chunks.truncate(1);
        self.parents.truncate(1);
        self.chunks.iter_mut().chain(&mut self.parents).for_each(Vec::clear);
        self.table.truncate(SMALLEST_TABLE);
        self.table.fill(0);
        self.len = 0;
    }

    /// A state and its parent.
    fn state_bytes(&self) -> u64 {
        (self.words as u64 + 1) * 4
    }
}

impl Store for ExactStore {
    fn reserve(&mut self, additional: usize, budget: u64) -> bool {
        let wanted = self.len + additional;
        if wanted >= NO_PARENT as usize {
            return false;
        }
        let arena = additional as u64 * self.state_bytes();
        while wanted * 16 > self.table.len() * FULL_SIXTEENTHS {
            // While it is rebuilt, the old table and the new one exist together.
            let both = self.table.len() as u64 * 16;
            if self.bytes() + both + arena > budget {
                return false;
            }
            self.grow();
        }
        self.bytes() + arena <= budget
    }

    fn insert(&mut self, batch: &Successors, parents: &[Option<StateId>], arrivals: &mut Vec<Arrival>) {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend((0..batch.len()).map(|i| hash(batch.state(i), 0)));
        for (i, &hash) in hashes.iter().enumerate() {
            let (place, known) = self.find(batch.state(i), hash);
            arrivals.push(if known {
                Arrival::Known
            } else {
                let index = self.append(batch.state(i), parents[i]);
                self.table[place] = (hash >> 32) << 32 | (index as u64 + 1);
                Arrival::New(StateId(index as u64))
            });
        }
        self.hashes = hashes;
    }

    fn contains(&self, state: &[u32]) -> bool {
        self.find(state, hash(state, 0)).1
    }

    fn load(&self, id: StateId, out: &mut [u32]) {
        out.copy_from_slice(self.at(id.index()));
    }

    fn parent(&self, id: StateId) -> Option<StateId> {
        let parent = self.parents[id.index() / self.per_chunk][id.index() % self.per_chunk];
        (parent != NO_PARENT).then_some(StateId(u64::from(parent)))
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        // The part of a chunk that was never written occupies no memory.
        self.len as u64 * self.state_bytes() + self.table.len() as u64 * 8
    }
}
