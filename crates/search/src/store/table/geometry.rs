//! Where a key lives: a bijection on its bits, then a quotient (the bucket) and a remainder (what the slot keeps).
//!
//! The quotient is a fixed-point product with the number of buckets, which may be any number, so that a table can grow by
//! a quarter. Both maps are order preserving and invertible: bucket and remainder give the key back (Cleary's idea; his
//! tables divide by powers of two). Keys are held at the top of a 64-bit word, so that "modulo 2^bits" costs nothing.

/// Odd constants with well-spread bits.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// A bijection on keys of some number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mixer {
    /// 64 less the number of bits.
    shift: u32,
    /// Half the number of bits, rounded up: shifting by it and folding is its own inverse.
    half: u32,
    mask: u64,
}

impl Mixer {
    /// For keys of 1 to 64 bits.
    pub(crate) fn new(bits: u32) -> Self {
        assert!((1..=64).contains(&bits), "keys have 1 to 64 bits, not {bits}");
        let shift = 64 - bits;
        Self { shift, half: bits.div_ceil(2), mask: u64::MAX << shift }
    }

    /// Bits of a key.
    pub(crate) fn bits(self) -> u32 {
        64 - self.shift
    }

    /// Spreads a key; the result is aligned to the top.
    #[inline]
    pub(crate) fn mix(self, key: u64) -> u64 {
        debug_assert!(self.shift == 0 || key >> (64 - self.shift) == 0, "the key fits its width");
        let mut hash = key << self.shift;
        for factor in FACTORS {
            hash = self.fold(hash).wrapping_mul(factor);
        }
        hash
    }

    /// The key whose hash this is.
    #[inline]
    pub(crate) fn unmix(self, mut hash: u64) -> u64 {
        for factor in FACTORS.iter().rev() {
            hash = self.fold(hash.wrapping_mul(inverse(*factor)));
        }
        hash >> self.shift
    }

    #[inline]
    fn fold(self, hash: u64) -> u64 {
        hash ^ (hash >> self.half) & self.mask
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

/// A hash as bucket and remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    shift: u32,
    buckets: u64,
    /// How far apart the smallest hashes of two neighbouring buckets are, rounded down.
    step: u64,
}

impl Division {
    /// Divides the hashes of a mixer among this many buckets, at least 2.
    pub(crate) fn new(mixer: Mixer, buckets: u64) -> Self {
        assert!((2..1 << 40).contains(&buckets), "a table has 2 to 2^40 buckets, not {buckets}");
        Self { shift: mixer.shift, buckets, step: u64::MAX / buckets }
    }

    /// How many buckets there are.
    pub(crate) fn buckets(self) -> u64 {
        self.buckets
    }

    /// No remainder is larger than this.
    pub(crate) fn largest_remainder(self) -> u64 {
        // The step is less than one unit short, which adds up over the buckets.
        let width = self.step.saturating_add(1).saturating_add(self.buckets);
        (width >> self.shift) + 1
    }

    /// The bucket of a hash.
    #[inline]
    pub(crate) fn bucket(self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(self.buckets)) >> 64) as u64
    }

    /// What distinguishes a hash from the others of its bucket.
    #[inline]
    pub(crate) fn remainder(self, hash: u64, bucket: u64) -> u64 {
        (hash >> self.shift) - (bucket.wrapping_mul(self.step) >> self.shift)
    }

    /// The bucket for a hash when all before it on its way are full. The way depends on the remainder, so that full
    /// buckets do not run together, and stays near, so that streaming through a table stays in the caches.
    #[inline]
    pub(crate) fn displaced(self, home: u64, remainder: u64, displacement: u64) -> u64 {
        let bucket = home + displacement * stride(remainder);
        if bucket < self.buckets { bucket } else { bucket % self.buckets }
    }

    /// The home of what is in this bucket with this displacement.
    #[inline]
    pub(crate) fn home(self, bucket: u64, remainder: u64, displacement: u64) -> u64 {
        let distance = displacement * stride(remainder);
        if distance <= bucket {
            return bucket - distance;
        }
        (bucket + self.buckets - distance % self.buckets) % self.buckets
    }

    /// The hash with this bucket and remainder.
    #[inline]
    pub(crate) fn hash(self, bucket: u64, remainder: u64) -> u64 {
        ((bucket.wrapping_mul(self.step) >> self.shift) + remainder) << self.shift
    }
}

#[inline]
fn stride(remainder: u64) -> u64 {
    1 + (remainder ^ remainder >> 6) % 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_comes_back_from_bucket_and_remainder() {
        for bits in [1, 2, 3, 7, 13, 26, 31, 32, 33, 39, 48, 63, 64] {
            let mixer = Mixer::new(bits);
            for buckets in [2, 3, 7, 64, 1000, 1 << 20, 1_234_567] {
                let division = Division::new(mixer, buckets);
                let mut key = 0u64;
                for i in 0..2000u64 {
                    let hash = mixer.mix(key);
                    assert_eq!(mixer.unmix(hash), key);
                    let bucket = division.bucket(hash);
                    assert!(bucket < buckets);
                    let remainder = division.remainder(hash, bucket);
                    assert!(remainder <= division.largest_remainder(), "{bits} bits, {buckets} buckets");
                    assert_eq!(division.hash(bucket, remainder), hash, "{bits} bits, {buckets} buckets, key {key}");
                    let displaced = division.displaced(bucket, remainder, i % 16);
                    assert!(displaced < buckets);
                    assert_eq!(division.home(displaced, remainder, i % 16), bucket);
                    key = (i + 1).wrapping_mul(0x1234_5678_9abc_def1) & (u64::MAX >> (64 - bits));
                }
            }
        }
    }

    #[test]
    fn small_key_spaces_are_permuted() {
        for bits in 1..=12 {
            let mixer = Mixer::new(bits);
            let mut seen = vec![false; 1 << bits];
            for key in 0..1u64 << bits {
                let hash = mixer.mix(key) >> (64 - bits);
                assert!(!std::mem::replace(&mut seen[hash as usize], true), "{bits} bits: {key} collides");
            }
        }
    }
}
