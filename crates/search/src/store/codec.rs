//! How a state becomes a key of at most 64 bits, and a packed state that waits in the frontier.
//!
//! A codec is exact when a packed state gives its state back: then two states have the same key only if they are equal.

pub(crate) mod direct;
pub(crate) mod fingerprint;
pub(crate) mod memo;
pub(crate) mod numbers;
pub(crate) mod pair;
pub(crate) mod tree;

use std::io::{Read, Result, Write};

use birk_engine::Successors;

use crate::store::table::Table;

/// In place of the key of a state for which there was no room.
pub(crate) const NO_KEY: u64 = u64::MAX;

/// What growing did to the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// They are as they were.
    Same,
    /// They are others, and `rekey` gives the new key for an old one.
    Rekeyed,
    /// The system had no memory to give.
    Failed,
}

/// Turns states into keys and back. Shared by threads; each has a `Parent` of its own.
pub(crate) trait Codec: Send + Sync + 'static {
    /// What a worker knows of the state it is expanding.
    type Parent: Send + 'static;

    /// A state can have parts for which there is no room.
    const GROWS: bool = false;

    /// Room for a worker's parent.
    fn parent(&self) -> Self::Parent;

    /// Bits of a key, now.
    fn bits(&self) -> u32;

    /// Asks for what `open` will read for a packed state, to have it when it is needed.
    #[inline]
    fn prefetch(&self, _packed: &[u32]) {}

    /// Words of a packed state.
    fn packed_words(&self) -> usize;

    /// Writes the state of a packed state, and remembers it as the parent of the states that follow.
    fn open(&self, packed: &[u32], parent: &mut Self::Parent, state: &mut [u32]);

    /// The key of a successor of the parent; `None` when there is no room for its parts, so that the codec must grow.
    fn key(&self, state: &[u32], parent: &mut Self::Parent) -> Option<u64>;

    /// Prepares the keys of the successors in a batch from one on, all of the parent.
    #[inline]
    fn prepare(&self, _batch: &Successors, _from: usize, _parent: &mut Self::Parent) {}

    /// Appends the keys of the successors in a batch from one on, which were noted: `NO_KEY` where there is no room, and
    /// then the answer is false.
    #[inline]
    fn keys(&self, batch: &Successors, from: usize, parent: &mut Self::Parent, keys: &mut Vec<u64>) -> bool {
        let mut has_room = true;
        keys.extend((from..batch.len()).map(|i| {
            let key = self.key(batch.state(i), parent);
            has_room &= key.is_some();
            key.unwrap_or(NO_KEY)
        }));
        has_room
    }

    /// The key of a state if all its parts are known; nothing is added.
    fn known_key(&self, state: &[u32], parent: &mut Self::Parent) -> Option<u64>;

    /// Appends the packed state of a state with this key.
    fn push_packed(&self, key: u64, state: &[u32], out: &mut Vec<u32>);

    /// Bytes it occupies.
    fn bytes(&self) -> u64 {
        0
    }

    /// Bytes it will occupy when it has grown.
    fn bytes_after_growth(&self) -> u64 {
        0
    }

    /// Makes room where there is none.
    fn grow(&mut self) -> Growth {
        Growth::Same
    }

    /// Changes to shorter keys than those in a table that must grow; whether it did. Together they may have this many
    /// bytes.
    fn shorten(&mut self, _table: &Table, _budget: u64) -> bool {
        false
    }

    /// Whether a state that has a key will have one whatever becomes of the table, also if it is not in there.
    fn is_settled(&self) -> bool {
        true
    }

    /// The key of a state from the key it had before the last change of keys.
    #[inline]
    fn rekey(&self, key: u64) -> u64 {
        key
    }

    /// Takes the last change of keys back, because there was no memory for another table; whether the old keys will do.
    fn revert(&mut self) -> bool {
        false
    }

    /// Writes what keys and packed states stand for, as far as it is not in themselves.
    fn save(&self, _out: &mut dyn Write) -> Result<()> {
        Ok(())
    }

    /// Reads what `save` wrote: keys and packed states mean then what they meant when it was written. It may have `most` bytes;
    /// what nobody can have written is an error.
    fn load(&mut self, _input: &mut dyn Read, _most: u64) -> Result<()> {
        Ok(())
    }

    /// Whether this can be a packed state of some state: it can be opened.
    fn is_packed_state(&self, _packed: &[u32]) -> bool {
        true
    }

    /// Whether this can be the key of some state.
    fn is_key(&self, key: u64) -> bool {
        key != NO_KEY
    }

    /// The probability that one of this many states was lost because another had its key.
    fn omission(&self, _states: u64) -> Option<f64> {
        None
    }
}

/// Bits of a half at first. Every change rebuilds the table, and keys of 34 bits fit the narrow slots of a small one.
const FIRST_WIDTH: u32 = 17;

/// The widths of halves when they must be this wide: where they grow, by a little more.
fn widened(widths: [u32; 2], needed: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|half| if needed[half] > widths[half] { (needed[half] + 1).min(32) } else { widths[half] })
}

/// A key whose halves had other widths.
#[inline]
fn rewidened(key: u64, before: [u32; 2], after: [u32; 2]) -> u64 {
    key & ((1 << before[0]) - 1) | (key >> before[0]) << after[0]
}
