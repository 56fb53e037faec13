//! What a search remembers of the states it has seen: a codec and the table of its keys, growing together.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::codec::{Codec, Growth};
use crate::store::table::{Entry, Insertion, Table};

/// The visited set. Shared by threads, except while it grows.
#[derive(Debug)]
pub(crate) struct Visited<C> {
    pub(crate) codec: C,
    table: Table,
    /// The table had no room for a key.
    refused: AtomicBool,
    /// How often keys were changed.
    pub(crate) changes: u64,
}

impl<C: Codec> Visited<C> {
    /// An empty set.
    pub(crate) fn new(codec: C) -> Self {
        let table = Table::new(codec.bits());
        Self { codec, table, refused: AtomicBool::new(false), changes: 0 }
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

    /// Appends the hashes of keys, and asks for their cache lines.
    #[inline]
    pub(crate) fn prefetch(&self, keys: &[u64], hashes: &mut Vec<u64>) {
        self.table.prefetch(keys, hashes);
    }

    /// The hash of one key, its cache line asked for.
    #[inline]
    pub(crate) fn prefetch_one(&self, key: u64) -> u64 {
        self.table.prefetch_one(key)
    }

    /// Inserts what was prefetched, unless it is there, and tells what became of each. With `alone` no other thread
    /// inserts anything meanwhile.
    #[inline]
    pub(crate) fn find_or_insert(
        &self,
        hashes: &[u64],
        depth: u32,
        alone: bool,
        mut told: impl FnMut(usize, Insertion),
    ) {
        self.table.find_or_insert_all(hashes, depth, alone, |at, inserted| {
            if inserted == Insertion::NoRoom {
                self.refused.store(true, Ordering::Relaxed);
            }
            told(at, inserted);
        });
    }

    /// Inserts a key, unless it is there.
    pub(crate) fn find_or_insert_one(&self, key: u64, depth: u32) -> Insertion {
        let mut became = Insertion::NoRoom;
        self.find_or_insert(&[self.table.hash(key)], depth, false, |_, inserted| became = inserted);
        became
    }

    /// Appends whether each of what was prefetched is there.
    #[inline]
    pub(crate) fn have(&self, hashes: &[u64], out: &mut Vec<bool>) {
        self.table.have(hashes, out);
    }

    /// Where a state is, if it was seen.
    pub(crate) fn find(&self, state: &[u32], parent: &mut C::Parent) -> Option<Entry> {
        self.entry(self.table.hash(self.codec.known_key(state, parent)?))
    }

    /// Where the key of this hash is, if it was seen.
    pub(crate) fn entry(&self, hash: u64) -> Option<Entry> {
        self.table.find(hash)
    }

    /// Makes room for more states without exceeding a total of `budget` bytes; false when it cannot.
    pub(crate) fn grow(&mut self, held: u64, budget: u64, workers: usize) -> bool {
        if self.codec.bytes_after_growth() + self.table.bytes() > budget {
            return false;
        }
        let refused = std::mem::take(self.refused.get_mut());
        let held = if refused { held.max(self.table.capacity()) } else { held };
        let must_grow = held >= self.table.capacity() / 8 * 7;
        let growth = match must_grow && self.codec.shorten(&self.table, budget) {
            true => Growth::Rekeyed,
            false => self.codec.grow(),
        };
        match growth {
            Growth::Failed => return false,
            Growth::Same if !must_grow => return true,
            Growth::Same => {}
            Growth::Rekeyed => {
                // New keys come in no order: both tables are in use until the last is moved.
                let codec = &self.codec;
                let room = budget.saturating_sub(codec.bytes()).saturating_sub(self.table.bytes());
                let size = self.table.larger(codec.bits(), held, room);
                let rekey = |key| codec.rekey(key);
                if size.is_some_and(|size| self.table.rebuild(codec.bits(), size, workers, Some(&rekey))) {
                    self.changes += 1;
                    return true;
                }
                if !self.codec.revert() {
                    return false;
                }
            }
        }
        let bits = self.codec.bits();
        let size = self.table.larger(bits, held, budget.saturating_sub(self.codec.bytes()));
        size.is_some_and(|size| self.table.rebuild(bits, size, workers, None))
    }
}
