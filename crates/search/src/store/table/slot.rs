//! One slot of the table, and the search of a bucket for one.
//!
//! A slot is 0 when it is free, otherwise remainder + 1, the displacement from the home bucket, and the depth modulo 3.
//! It is written once. Slots of a bucket are taken in order, so the first free one ends the search.

use crate::store::memory::Cell;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Bits below the remainder: four of displacement, two of depth.
pub(crate) const REMAINDER_AT: u32 = 6;
/// Buckets in which a key can be, its home included.
pub(crate) const REACH: u64 = 16;
/// The bits of the depth.
pub(crate) const DEPTH: u64 = 3;

/// What a slot holds of a key at depth 0.
#[inline]
pub(crate) fn value(remainder: u64, displacement: u64) -> u64 {
    (remainder + 1) << REMAINDER_AT | displacement << 2
}

/// What a look at a bucket showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The slot with what was looked for.
    Found(usize),
    /// It is not there, and this slot is free.
    Free(usize),
    /// It is not there, and no slot is free.
    Full,
}

/// A slot of some width.
pub(crate) trait Slot: Cell + Sized {
    /// Slots in a cache line.
    const PER_BUCKET: usize;
    /// Remainders are smaller than this.
    const REMAINDERS: u64;

    /// What it holds.
    fn get(&self) -> u64;

    /// Writes to a free slot; what is there if it is not free.
    fn claim(&self, value: u64) -> Result<(), u64>;

    /// Writes to a free slot that nobody else writes to.
    fn set(&self, value: u64);

    /// The first free slot of a bucket.
    #[inline]
    fn free(bucket: &[Self]) -> Option<usize> {
        bucket.iter().position(|slot| slot.get() == 0)
    }

    /// Looks through one bucket for a value, whatever its depth.
    #[inline]
    fn look(bucket: &[Self], value: u64) -> Look {
        for (at, slot) in bucket.iter().enumerate() {
            let here = slot.get();
            if here == 0 {
                return Look::Free(at);
            }
            if here & !DEPTH == value {
                return Look::Found(at);
            }
        }
        Look::Full
    }
}

impl Slot for AtomicU32 {
    const PER_BUCKET: usize = 16;
    const REMAINDERS: u64 = (1 << (32 - REMAINDER_AT)) - 1;

    #[inline]
    fn get(&self) -> u64 {
        u64::from(self.load(Ordering::Relaxed))
    }

    #[inline]
    fn set(&self, value: u64) {
        self.store(value as u32, Ordering::Relaxed);
    }

    #[inline]
    fn claim(&self, value: u64) -> Result<(), u64> {
        match self.compare_exchange(0, value as u32, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(there) => Err(u64::from(there)),
        }
    }

    #[cfg(all(target_arch = "x86_64", not(loom)))]
    #[inline]
    fn free(bucket: &[Self]) -> Option<usize> {
        vector::free(bucket.try_into().expect("a bucket has sixteen slots"))
    }

    #[cfg(all(target_arch = "x86_64", not(loom)))]
    #[inline]
    fn look(bucket: &[Self], value: u64) -> Look {
        vector::look(bucket.try_into().expect("a bucket has sixteen slots"), value as u32)
    }
}

impl Slot for AtomicU64 {
    const PER_BUCKET: usize = 8;
    const REMAINDERS: u64 = (1 << (64 - REMAINDER_AT)) - 1;

    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, value: u64) {
        self.store(value, Ordering::Relaxed);
    }

    #[inline]
    fn claim(&self, value: u64) -> Result<(), u64> {
        match self.compare_exchange(0, value, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(there) => Err(there),
        }
    }

    #[cfg(all(target_arch = "x86_64", not(loom)))]
    #[inline]
    fn look(bucket: &[Self], value: u64) -> Look {
        vector::look_wide(bucket.try_into().expect("a bucket has eight slots"), value)
    }
}

#[cfg(all(target_arch = "x86_64", not(loom)))]
mod vector {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        _mm_set1_epi64x, _mm_setzero_si128,
    };
    use std::sync::atomic::{AtomicU32, AtomicU64};

    use super::{DEPTH, Look};

    /// The four vectors of a bucket.
    #[inline]
    fn load<T>(bucket: &T) -> [__m128i; 4] {
        const { assert!(size_of::<T>() == 64) };
        let (a, b, c, d): (__m128i, __m128i, __m128i, __m128i);
        // SAFETY: the loads stay inside the bucket. Other threads may write slots meanwhile; the hardware reads each
        // aligned slot in one piece, and because the loads are not the language's, its rule against unsynchronised
        // plain reads is not touched.
        #[allow(unsafe_code, reason = "vector loads of slots that other threads write")]
        unsafe {
            asm!(
                "movups {a}, [{p}]",
                "movups {b}, [{p} + 16]",
                "movups {c}, [{p} + 32]",
                "movups {d}, [{p} + 48]",
                p = in(reg) bucket,
                a = out(xmm_reg) a,
                b = out(xmm_reg) b,
                c = out(xmm_reg) c,
                d = out(xmm_reg) d,
                options(readonly, nostack, preserves_flags)
            );
        }
        [a, b, c, d]
    }

    /// All sixteen slots at once, with the vector instructions that every x86-64 has.
    #[inline]
    pub(super) fn look(bucket: &[AtomicU32; 16], value: u32) -> Look {
        let lanes = load(bucket);
        // SAFETY: SSE2 is part of x86-64.
        #[allow(unsafe_code, reason = "vector instructions")]
        unsafe {
            let keep = _mm_set1_epi32(!(DEPTH as i32));
            let wanted = _mm_set1_epi32(value as i32);
            let found = mask(lanes.map(|v| _mm_cmpeq_epi32(_mm_and_si128(v, keep), wanted)));
            if found != 0 {
                return Look::Found(found.trailing_zeros() as usize);
            }
            let free = mask(lanes.map(|v| _mm_cmpeq_epi32(v, _mm_setzero_si128())));
            if free != 0 { Look::Free(free.trailing_zeros() as usize) } else { Look::Full }
        }
    }

    /// The first free one of sixteen slots.
    #[inline]
    pub(super) fn free(bucket: &[AtomicU32; 16]) -> Option<usize> {
        // SAFETY: SSE2 is part of x86-64.
        #[allow(unsafe_code, reason = "vector instructions")]
        let free = unsafe { mask(load(bucket).map(|v| _mm_cmpeq_epi32(v, _mm_setzero_si128()))) };
        (free != 0).then_some(free.trailing_zeros() as usize)
    }

    /// All eight slots at once: two lanes each, both of which must be the same.
    #[inline]
    pub(super) fn look_wide(bucket: &[AtomicU64; 8], value: u64) -> Look {
        let lanes = load(bucket);
        let both = |mask: u32| mask & mask >> 1 & 0x5555;
        // SAFETY: SSE2 is part of x86-64.
        #[allow(unsafe_code, reason = "vector instructions")]
        unsafe {
            let keep = _mm_set1_epi64x(!(DEPTH as i64));
            let wanted = _mm_set1_epi64x(value as i64);
            let found = both(mask(lanes.map(|v| _mm_cmpeq_epi32(_mm_and_si128(v, keep), wanted))));
            if found != 0 {
                return Look::Found(found.trailing_zeros() as usize / 2);
            }
            let free = both(mask(lanes.map(|v| _mm_cmpeq_epi32(v, _mm_setzero_si128()))));
            if free != 0 { Look::Free(free.trailing_zeros() as usize / 2) } else { Look::Full }
        }
    }

    /// One bit for each of sixteen lanes.
    #[inline]
    fn mask([a, b, c, d]: [__m128i; 4]) -> u32 {
        // SAFETY: SSE2 is part of x86-64.
        #[allow(unsafe_code, reason = "vector instructions")]
        unsafe {
            _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) as u32
        }
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_show_what_is_there() {
        for filled in 0..=16u64 {
            let slot = |i: u64, high: u64| if i < filled { (i + 1) << 6 | high | (i % 3) } else { 0 };
            let narrow: Vec<AtomicU32> = (0..16).map(|i| AtomicU32::new(slot(i, 0) as u32)).collect();
            for wanted in 1..=17u64 {
                let expected = |filled: u64, all: u64| match wanted {
                    _ if wanted <= filled => Look::Found(wanted as usize - 1),
                    _ if filled < all => Look::Free(filled as usize),
                    _ => Look::Full,
                };
                assert_eq!(AtomicU32::look(&narrow, wanted << 6), expected(filled, 16));
                assert_eq!(AtomicU32::free(&narrow), (filled < 16).then_some(filled as usize));
                // Slots that differ in one half only are different, and a half that is 0 is not a free slot.
                for high in [0, 1 << 32, 5 << 60] {
                    let wide: Vec<AtomicU64> = (0..8).map(|i| AtomicU64::new(slot(i, high))).collect();
                    let filled = filled.min(8);
                    assert_eq!(AtomicU64::look(&wide, wanted << 6 | high), expected(filled, 8));
                    let other = AtomicU64::look(&wide, wanted << 6 | 3 << 40);
                    assert_eq!(other, if filled < 8 { Look::Free(filled as usize) } else { Look::Full });
                }
            }
            let high_only: Vec<AtomicU64> = (1..=8).map(|i| AtomicU64::new(i << 32)).collect();
            assert_eq!(AtomicU64::look(&high_only, 64), Look::Full);
            assert_eq!(AtomicU64::look(&high_only, 7 << 32), Look::Found(6));
        }
    }
}
