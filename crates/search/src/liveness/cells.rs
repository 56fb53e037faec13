//! Rows of cells that several threads share without a lock: they are made when they are needed, in regions that double
//! in size, and never move.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::store::memory::Region;
use crate::sync::AtomicU32;

/// Rows of the first region, as a power of two.
const FIRST: u32 = if cfg!(loom) { 2 } else { 8 };

/// The rows.
#[derive(Debug)]
pub(super) struct Cells {
    /// Cells of a row.
    width: usize,
    regions: [OnceLock<Region<AtomicU32>>; 33],
    /// Where each region begins; null while there is none.
    starts: [AtomicPtr<AtomicU32>; 33],
}

impl Cells {
    /// No row yet.
    pub(super) fn new(width: usize) -> Self {
        let starts = [const { AtomicPtr::new(std::ptr::null_mut()) }; 33];
        Self { width, regions: [const { OnceLock::new() }; 33], starts }
    }

    /// Makes a row, and others with it; false where the system has no memory to give.
    pub(super) fn reserve(&self, row: u32) -> bool {
        let (region, _) = place(row);
        if self.starts[region].load(Ordering::Acquire).is_null() {
            let Some(new) = Region::new(self.width << (region as u32 + FIRST)) else { return false };
            // Another thread may have been faster; then its region is as good.
            let cells = self.regions[region].get_or_init(|| new);
            self.starts[region].store(cells.as_ptr().cast_mut(), Ordering::Release);
        }
        true
    }

    /// A row that was made.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[AtomicU32] {
        let (region, at) = place(row);
        let start = self.starts[region].load(Ordering::Acquire);
        assert!(!start.is_null(), "a row is made before it is used");
        // SAFETY: `start` is the first cell of a region of `width` cells for each of its rows, which lives and does not
        // move as long as `self` does; `place` gives a row inside the region; cells are atomic, so that they can be shared.
        #[allow(unsafe_code, reason = "examined for every step of every search")]
        unsafe {
            std::slice::from_raw_parts(start.add(at * self.width), self.width)
        }
    }

    /// Bytes of the first rows.
    pub(super) fn bytes(&self, rows: u64) -> u64 {
        rows * self.width as u64 * 4
    }
}

/// The region of a row, and its place there.
#[inline]
fn place(row: u32) -> (usize, usize) {
    let position = u64::from(row) + (1 << FIRST);
    let region = position.ilog2();
    ((region - FIRST) as usize, (position - (1 << region)) as usize)
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_own_cells() {
        let cells = Cells::new(3);
        for row in 0..5_000 {
            assert!(cells.reserve(row));
            let cells = cells.row(row);
            assert_eq!(cells.len(), 3);
            cells.iter().enumerate().for_each(|(i, cell)| cell.store(row * 3 + i as u32, Ordering::Relaxed));
        }
        for row in 0..5_000 {
            let value = |i: usize| cells.row(row)[i].load(Ordering::Relaxed);
            assert!((0..3).all(|i| value(i) == row * 3 + i as u32));
        }
        assert_eq!(place(u32::MAX), (24, 255), "the last row has a place");
    }
}
