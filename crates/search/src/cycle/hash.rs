//! A hash of a state.

/// 64 bits: each pair of words is folded in by one wide multiplication.
#[inline]
pub(crate) fn hash(state: &[u32], seed: u64) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15 ^ state.len() as u64 ^ seed;
    for pair in state.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
        hash = fold(hash ^ word, 0xa076_1d64_78bd_642f).wrapping_add(0xe703_7ed1_a0b4_28db);
    }
    fold(hash, 0xd6e8_feb8_6659_fd93)
}

/// Both halves of a product in one.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
