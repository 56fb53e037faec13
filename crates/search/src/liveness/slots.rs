//! Where a state's number is found: a table of hashes and numbers that threads share without a lock.
//!
//! A slot is 0, or the upper half of a hash and a number. It is written once, by one compare-and-swap, after the state
//! was written to the row of its number; who reads the slot sees the row. The upper bits of the hash are also the place,
//! so that a larger table is filled by streaming through the old one.

use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU64, Ordering};

/// No more than this share of the slots is taken, in sixteenths.
const FULL_SIXTEENTHS: u64 = 10;

/// Slots after which the memory of an old table is given back.
const PART: usize = 1 << 18;

/// The table.
#[derive(Debug)]
pub(super) struct Slots {
    cells: Region<AtomicU64>,
    /// Bits of a place.
    bits: u32,
}

impl Slots {
    /// With 2^bits places; `None` when the system has no memory to give.
    pub(super) fn new(bits: u32) -> Option<Self> {
        assert!((1..=32).contains(&bits), "a place is part of half a hash");
        Some(Self { cells: Region::new(1 << bits)?, bits })
    }

    /// Numbers must be below this.
    pub(super) fn capacity(&self) -> u64 {
        (self.cells.len() as u64) * FULL_SIXTEENTHS / 16
    }

    /// Bytes it occupies.
    pub(super) fn bytes(&self) -> u64 {
        self.cells.len() as u64 * 8
    }

    /// Asks for the slot of a hash, to have it when it is needed.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.cells[self.home(hash)]);
    }

    /// The number that may be the one of this hash, if it is in the first place; a guess.
    #[inline]
    pub(super) fn guess(&self, hash: u64) -> Option<u32> {
        let entry = self.cells[self.home(hash)].load(Ordering::Acquire);
        (entry != 0 && entry >> 32 == hash >> 32).then(|| entry as u32 - 1)
    }

    /// The number of the state with this hash for which `is_same` holds, or else the one that `new` gives; `None` when
    /// that gives none. What `new` gave and was not needed, because another thread was faster, is given again later.
    #[inline]
    pub(super) fn number(
        &self,
        hash: u64,
        is_same: impl Fn(u32) -> bool,
        mut new: impl FnMut() -> Option<u32>,
    ) -> Option<(u32, bool)> {
        let mask = self.cells.len() - 1;
        let mut place = self.home(hash);
        loop {
            let entry = self.cells[place].load(Ordering::Acquire);
            if entry == 0 {
                let number = new()?;
                let value = hash >> 32 << 32 | (u64::from(number) + 1);
                let claimed = self.cells[place].compare_exchange(0, value, Ordering::Release, Ordering::Relaxed);
                if claimed.is_ok() {
                    return Some((number, true));
                }
                // Another thread was faster, perhaps with the same state: look again.
                continue;
            }
            let number = entry as u32 - 1;
            if entry >> 32 == hash >> 32 && is_same(number) {
                return Some((number, false));
            }
            place = (place + 1) & mask;
        }
    }

    /// The same with twice as many places, in the memory of this one and as much again; nobody may use this one any more,
    /// except where it is `None`, because there are no more places or the system has no memory to give.
    pub(super) fn doubled(&self) -> Option<Self> {
        if self.bits == 32 {
            return None;
        }
        let new = Self::new(self.bits + 1)?;
        let mask = new.cells.len() - 1;
        for (part, cells) in self.cells.chunks(PART).enumerate() {
            for entry in cells.iter().map(|cell| cell.load(Ordering::Relaxed)).filter(|&entry| entry != 0) {
                let mut place = new.home(entry);
                while new.cells[place].load(Ordering::Relaxed) != 0 {
                    place = (place + 1) & mask;
                }
                new.cells[place].store(entry, Ordering::Relaxed);
            }
            self.cells.release(part * PART..part * PART + cells.len());
        }
        Some(new)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
