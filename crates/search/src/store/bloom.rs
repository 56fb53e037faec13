//! A bit array (a blocked Bloom filter: Putze, Sanders and Singler 2007), and how much it may have lost.

use crate::store::hash::{fold, hash};
use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU64, Ordering};

/// Bits of a block: a cache line. All bits of a state lie in one block, so that looking for them costs one access.
const BLOCK: u64 = 512;
/// Cells of a block.
const CELLS: usize = 8;
/// In larger bit arrays, only one block in `SHARE` is watched to tell how full they are.
const FEW: u64 = 1 << 14;
const SHARE: u64 = 64;

/// A hash of a state, the same in every run.
pub(crate) type Key = u64;

/// The key of a state.
#[inline]
pub(crate) fn key_of(state: &[u32]) -> Key {
    hash(state, 0)
}

/// The bit array.
#[derive(Debug)]
pub(crate) struct Filter {
    cells: Region<AtomicU64>,
    blocks: u64,
    each: u32,
    seed: u64,
    /// By the number of bits set in a block: the chance that those of another state which belongs there are among them.
    chance: Vec<f64>,
    /// One block in so many is watched.
    share: u64,
    /// The chances of those that are, added up.
    chances: f64,
    inserted: u64,
    /// Insertions since the estimates were brought up to date.
    pending: u64,
    /// Expected number of states taken for known so far.
    expected: f64,
    /// The logarithm of the chance that there was none.
    none: f64,
}

/// Where the bits of a key are: the block, and a hash for the places there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    block: usize,
    places: u64,
}

impl Spot {
    /// A hash for other tables.
    pub(crate) fn home(self) -> usize {
        self.places as usize
    }
}

impl Filter {
    /// All bits are 0.
    pub(crate) fn new(bits: u64, each: u32, seed: u64) -> Self {
        let count = (bits / BLOCK).max(1);
        let chance = (0..=BLOCK).map(|set| (set as f64 / BLOCK as f64).powi(each as i32)).collect();
        let share = if count > FEW { SHARE } else { 1 };
        let cells = Region::new(count as usize * CELLS).expect("memory for the field");
        Self {
            cells,
            blocks: count,
            each,
            seed,
            chance,
            share,
            chances: 0.0,
            inserted: 0,
            pending: 0,
            expected: 0.0,
            none: 0.0,
        }
    }

    /// Where a key belongs; asks the caches for it.
    #[inline]
    pub(crate) fn spot(&self, key: Key) -> Spot {
        let own = fold(key ^ self.seed, 0x9fb2_1c65_1e98_df25);
        let block = ((u128::from(own) * u128::from(self.blocks)) >> 64) as usize;
        prefetch(&self.cells[block * CELLS]);
        Spot { block, places: fold(own, 0xd6e8_feb8_6659_fd93) }
    }

    /// Asks the caches again.
    #[inline]
    pub(crate) fn prefetch(&self, spot: Spot) {
        prefetch(&self.cells[spot.block * CELLS]);
    }

    /// Whether all bits of a spot are set.
    #[inline]
    pub(crate) fn contains(&self, spot: Spot) -> bool {
        let block = self.block(spot.block);
        self.places(spot).all(|(word, bit)| block[word].load(Ordering::Relaxed) & bit != 0)
    }

    /// Sets the bits of a spot.
    pub(crate) fn insert(&mut self, spot: Spot) {
        let is_watched = (spot.block as u64).is_multiple_of(self.share);
        self.inserted += 1;
        self.pending += 1;
        if is_watched {
            self.settle();
            self.chances -= self.chance[self.set_in(spot.block)];
        }
        let block = self.block(spot.block);
        for (word, bit) in self.places(spot) {
            block[word].store(block[word].load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        }
        if is_watched {
            self.chances += self.chance[self.set_in(spot.block)];
        }
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks * BLOCK / 8
    }

    /// Expected number of states taken for known, and the logarithm of the chance that there was none.
    pub(crate) fn lost(&mut self) -> (f64, f64) {
        self.settle();
        (self.expected, self.none)
    }

    /// Before each new state, how many were taken for known: as many as would be, if chances were as they are now.
    fn settle(&mut self) {
        let watched = self.blocks.div_ceil(self.share);
        // Two states with the same key are never told apart.
        let lost = self.chances / watched as f64 + self.inserted as f64 / 2f64.powi(64);
        let pending = std::mem::take(&mut self.pending) as f64;
        self.expected += pending * lost / (1.0 - lost).max(1e-9);
        self.none += pending * (-lost).ln_1p();
    }

    fn set_in(&self, block: usize) -> usize {
        self.block(block).iter().map(|cell| cell.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    #[inline]
    fn block(&self, number: usize) -> &[AtomicU64] {
        &self.cells[number * CELLS..(number + 1) * CELLS]
    }

    /// The bits of a spot in its block: word and bit, nine bits of the hash each.
    #[inline]
    fn places(&self, spot: Spot) -> impl Iterator<Item = (usize, u64)> + use<> {
        let mut rest = spot.places;
        (0..self.each).map(move |number| {
            if number > 0 && number % 7 == 0 {
                rest = (spot.places ^ u64::from(number)).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(number);
            }
            let bit = rest % BLOCK;
            rest >>= 9;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }
}
