//! The visited states, level by level, as packed states, each with its parent's place in the level before.

use birk_engine::Model;

use crate::store::Store;
use crate::store::codec::Codec;
use crate::store::exact::ExactStore;

/// One level.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) packed: Vec<u32>,
    pub(super) parents: Vec<u32>,
}

impl Level {
    /// Takes what comes after.
    pub(super) fn append(&mut self, mut after: Level) {
        self.packed.append(&mut after.packed);
        self.parents.append(&mut after.parents);
    }
}

/// All levels.
#[derive(Debug, Default)]
pub(super) struct Levels {
    all: Vec<Level>,
    words: u64,
}

impl Levels {
    pub(super) fn push(&mut self, level: Level) {
        self.words += (level.packed.capacity() + level.parents.capacity()) as u64;
        self.all.push(level);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.words * 4
    }

    pub(super) fn get(&self, depth: u32) -> &Level {
        &self.all[depth as usize]
    }

    /// The states on the way to a state, from an initial one on.
    pub(super) fn path<C: Codec>(&self, codec: &C, model: &dyn Model, depth: u32, place: u32) -> Vec<Vec<u32>> {
        let (mut place, mut path) = (place as usize, Vec::new());
        let mut parent = codec.parent();
        let words = codec.packed_words();
        for level in self.all[..=depth as usize].iter().rev() {
            let mut state = vec![0; model.words()];
            codec.open(&level.packed[place * words..(place + 1) * words], &mut parent, &mut state);
            path.push(state);
            place = level.parents[place] as usize;
        }
        path.reverse();
        path
    }

    /// All states in full; false when they do not fit.
    pub(super) fn store<C: Codec>(&self, codec: &C, store: &mut ExactStore, state: &mut [u32], budget: u64) -> bool {
        let mut parent = codec.parent();
        for packed in self.all.iter().flat_map(|level| level.packed.chunks(codec.packed_words())) {
            if !store.reserve(1, budget) {
                return false;
            }
            codec.open(packed, &mut parent, state);
            store.find_or_insert(state, None);
        }
        true
    }
}
