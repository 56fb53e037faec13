//! The hash functions of all stores: products of 64 by 64 bits, folded (multiply-fold, as in wyhash).
//!
//! Two are elsewhere, because they must do more than spread: the bijection of `table/geometry.rs` gives keys back, and the
//! tags of `codec/memo.rs` are computed from parts in any order.

/// Odd constants with well-spread bits.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const ODD: u64 = 0xd6e8_feb8_6659_fd93;
const FACTOR: u64 = 0xa076_1d64_78bd_642f;
const ADDEND: u64 = 0xe703_7ed1_a0b4_28db;

/// Both halves of a product in one.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Of a state: each pair of words is folded in.
#[inline]
pub(crate) fn hash(state: &[u32], seed: u64) -> u64 {
    let mut hash = GOLDEN ^ state.len() as u64 ^ seed;
    for word in pairs(state) {
        hash = fold(hash ^ word, FACTOR).wrapping_add(ADDEND);
    }
    fold(hash, ODD)
}

/// Of a state of which nothing else is kept (hash compaction): two lanes, so that they overlap.
#[inline]
pub(crate) fn fingerprint(state: &[u32]) -> u64 {
    let mut lanes = [GOLDEN ^ state.len() as u64, 0x5851_f42d_4c95_7f2d];
    for (i, word) in pairs(state).enumerate() {
        let lane = &mut lanes[i % 2];
        *lane = fold(*lane ^ word, FACTOR).wrapping_add(ADDEND ^ word);
    }
    fold(lanes[0] ^ 0x8ebc_6af0_9c88_c6e3, lanes[1] ^ 0x5899_65cc_7537_4cc3) ^ lanes[0].wrapping_mul(ODD)
}

/// Of a short vector of pairs of words, all of one length.
#[inline]
pub(crate) fn hash_pairs(pairs: impl Iterator<Item = u64>) -> u64 {
    pairs.fold(ODD, |hash, pair| fold(pair ^ hash, GOLDEN))
}

/// Of a key; its upper bits are spread best.
#[inline]
pub(crate) fn hash_key(key: u64) -> u64 {
    fold(key ^ GOLDEN, ODD).wrapping_mul(GOLDEN)
}

/// Of a value of 32 bits; its lower bits are spread best.
#[inline]
pub(crate) fn hash_value(value: u32) -> u64 {
    let hash = u64::from(value).wrapping_mul(GOLDEN);
    hash ^ hash >> 32
}

/// Of a key, and of no other: a bijection.
#[inline]
pub(crate) fn permute(key: u64) -> u64 {
    let hash = (key ^ key >> 32).wrapping_mul(ODD);
    let hash = (hash ^ hash >> 32).wrapping_mul(GOLDEN);
    hash ^ hash >> 32
}

/// The words of a state, two by two.
#[inline]
fn pairs(state: &[u32]) -> impl Iterator<Item = u64> {
    state.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_of_similar_states_differ() {
        let mut seen = std::collections::HashSet::new();
        for length in 1..6 {
            for word in 0..length {
                for value in 1..5000u32 {
                    let mut state = vec![0; length];
                    state[word] = value;
                    assert!(seen.insert(fingerprint(&state)), "{state:?}");
                }
            }
        }
    }
}
