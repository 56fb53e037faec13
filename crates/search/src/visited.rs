//! What a search remembers of the states it has seen: a codec and the table of its keys, growing together.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::codec::{Codec, Growth};
use crate::table::{Entry, Reached, Rekey, Table};

/// The visited set. Shared by threads, except while it grows.
#[derive(Debug)]
pub(crate) struct Visited<C> {
    pub(crate) codec: C,
    table: Table,
    /// The table had no room for a key.
    refused: AtomicBool,
}

impl<C: Codec> Visited<C> {
    /// An empty set.
    pub(crate) fn new(codec: C) -> Self {
        let table = Table::new(codec.bits());
        Self { codec, table, refused: AtomicBool::new(false) }
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes() + self.codec.bytes()
    }

    /// How many states it should hold at most before it grows.
    pub(crate) fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Slots of the table: every `Entry::slot` is below this until it grows.
    pub(crate) fn slots(&self) -> u64 {
        self.table.slots()
    }

    /// The hash of a key, its cache line asked for.
    #[inline]
    pub(crate) fn announce(&self, key: u64) -> u64 {
        let hash = self.table.hash(key);
        self.table.prefetch(hash);
        hash
    }

    /// Inserts what was announced, unless it is there.
    #[inline]
    pub(crate) fn reach(&self, hash: u64, depth: u32) -> Reached {
        let reached = self.table.reach(hash, depth);
        if reached == Reached::NoRoom {
            self.refused.store(true, Ordering::Relaxed);
        }
        reached
    }

    /// Whether what was announced is there.
    #[inline]
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.table.find(hash).is_some()
    }

    /// Where a state is, if it was seen.
    pub(crate) fn find(&self, state: &[u32], parent: &mut C::Parent) -> Option<Entry> {
        self.entry(self.codec.known_key(state, parent)?)
    }

    /// Where a key is, if it was seen.
    pub(crate) fn entry(&self, key: u64) -> Option<Entry> {
        self.table.find(self.table.hash(key))
    }

    /// Makes room for more states without exceeding a total of `budget` bytes; false when it cannot.
    pub(crate) fn grow(&mut self, held: u64, budget: u64, workers: usize) -> bool {
        if self.codec.bytes_after_growth() + self.table.bytes() > budget {
            return false;
        }
        let refused = std::mem::take(self.refused.get_mut());
        let held = if refused { held.max(self.table.capacity()) } else { held };
        let rekey: Box<Rekey<'static>> = match self.codec.grow() {
            Growth::Failed => return false,
            Growth::Same if held < self.table.capacity() / 8 * 7 => return true,
            Growth::Same => Box::new(|key| key),
            Growth::Wider(rekey) => rekey,
        };
        let bits = self.codec.bits();
        let mut room = budget.saturating_sub(self.codec.bytes());
        if bits != self.table.bits() {
            // Keys in a new width come in no order: both tables are in use until the last is moved.
            room = room.saturating_sub(self.table.bytes());
        }
        self.table.larger(bits, held, room).is_some_and(|size| self.table.rebuild(bits, size, workers, &*rekey))
    }
}
