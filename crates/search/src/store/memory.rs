//! Zeroed memory for tables that many threads write to: mapped from the system, in huge pages where it has them.
//!
//! A table is rebuilt by streaming through the old one, whose pages go back to the system as they are consumed, so that
//! growing needs hardly more memory than the larger of the two.

use crate::sync::{AtomicU32, AtomicU64};

/// What a region consists of: an atomic integer for which all zero bytes are the value 0.
pub trait Cell: Send + Sync + Default {}

impl Cell for AtomicU32 {}
impl Cell for AtomicU64 {}

#[cfg(all(unix, not(loom)))]
pub use mapped::Region;
#[cfg(not(all(unix, not(loom))))]
pub use owned::Region;

/// Lets the allocator give back what was freed, where it would keep it.
pub fn give_back() {
    // SAFETY: it may be called at any time.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "memory back to the system")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks for a cache line.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    let place: *const T = place;
    // SAFETY: prefetching has no effect but on the caches, and the address is that of a reference.
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    #[allow(unsafe_code, reason = "a hint to the caches")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    // SAFETY: as above.
    #[cfg(all(target_arch = "aarch64", not(loom)))]
    #[allow(unsafe_code, reason = "a hint to the caches")]
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{p}]", p = in(reg) place, options(readonly, nostack, preserves_flags));
    }
    #[cfg(any(loom, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = place;
}

#[cfg(all(unix, not(loom)))]
mod mapped {
    use std::marker::PhantomData;
    use std::ops::{Deref, Range};

    use memmap2::{MmapMut, MmapRaw, UncheckedAdvice};

    use super::Cell;

    /// Regions at least this large are advised to be of huge pages.
    #[cfg(target_os = "linux")]
    const HUGE: usize = 1 << 21;
    /// Smaller releases are not worth a system call; also a multiple of every page size, and a huge page.
    const RELEASED: usize = 1 << 21;

    /// Memory of its own, shared by threads through its atomic cells.
    #[derive(Debug)]
    pub struct Region<T: Cell> {
        map: MmapRaw,
        len: usize,
        cells: PhantomData<T>,
    }

    impl<T: Cell> Region<T> {
        /// This many cells of value 0; `None` when the system has no memory to give.
        pub fn new(len: usize) -> Option<Self> {
            let map = MmapRaw::from(MmapMut::map_anon(len.checked_mul(size_of::<T>())?).ok()?);
            // Advice may be refused: the memory is the same without it.
            #[cfg(target_os = "linux")]
            if map.len() >= HUGE {
                let _ = map.advise(memmap2::Advice::HugePage);
            }
            Some(Self { map, len, cells: PhantomData })
        }

        /// Gives the memory of these cells back; they may not be read afterwards. Only whole large blocks count.
        pub fn release(&self, cells: Range<usize>) {
            let size = size_of::<T>();
            let from = (cells.start * size).next_multiple_of(RELEASED);
            let to = cells.end * size / RELEASED * RELEASED;
            if from < to {
                // SAFETY: the cells are atomic, so they may change while they are borrowed: they stay valid and become 0.
                #[allow(unsafe_code, reason = "memory back to the system")]
                let _ = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to - from) };
            }
        }
    }

    impl<T: Cell> Deref for Region<T> {
        type Target = [T];

        #[inline]
        fn deref(&self) -> &[T] {
            // SAFETY: the mapping holds `len` cells, is aligned to a page, and zero bytes are a value of every `Cell`.
            #[allow(unsafe_code, reason = "the mapping as a slice")]
            unsafe {
                std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len)
            }
        }
    }
}

#[cfg(not(all(unix, not(loom))))]
mod owned {
    use std::ops::{Deref, Range};

    use super::Cell;

    /// Memory of its own, shared by threads through its atomic cells.
    #[derive(Debug)]
    pub struct Region<T: Cell>(Vec<T>);

    impl<T: Cell> Region<T> {
        /// This many cells of value 0.
        pub fn new(len: usize) -> Option<Self> {
            Some(Self((0..len).map(|_| T::default()).collect()))
        }

        /// Nothing: this memory goes back as a whole.
        pub fn release(&self, _: Range<usize>) {}
    }

    impl<T: Cell> Deref for Region<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }
}
