//! The bare limit of a visited set: how fast this machine reads random cache lines of a table's memory.
//!
//! No probe can be faster; a benchmark times this beside a search to say how near the search comes.

use std::sync::atomic::{AtomicU64, Ordering};

use birk_search::store::memory::Region;

/// Memory as a table has it, every page touched.
#[derive(Debug)]
pub(crate) struct Lines(Region<AtomicU64>);

impl Lines {
    /// This many bytes; `None` when the system has no memory to give.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let region = Region::<AtomicU64>::new(bytes / 8)?;
        for cell in region.iter().step_by(8) {
            cell.store(1, Ordering::Relaxed);
        }
        Some(Self(region))
    }

    /// Reads this many lines in random order, none waiting for another; the sum keeps the reads from being left out.
    pub(crate) fn read(&self, count: u64) -> u64 {
        let lines = (self.0.len() / 8) as u64;
        let (mut random, mut sum) = (0x9e37_79b9_7f4a_7c15u64, 0u64);
        for _ in 0..count {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let line = ((u128::from(random) * u128::from(lines)) >> 64) as usize;
            sum = sum.wrapping_add(self.0[line * 8].load(Ordering::Relaxed));
        }
        sum
    }
}
