//! Which worker owns a state: a hash of its canonical key says, so that every worker knows without asking.

/// Odd constants, others than those of the stores: keys of one owner must still spread over its table.
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;
const SEED: u64 = 0x6a09_e667_f3bc_c908;

/// The owner among so many workers of the state with this key.
#[inline]
pub(crate) fn owner(key: &[u64], workers: usize) -> usize {
    owner_by(hash(key), workers)
}

/// The same, given the hash of the key.
#[inline]
pub(crate) fn owner_by(hash: u64, workers: usize) -> usize {
    // The high bits decide: a mixer makes them depend on every bit of the key.
    ((u128::from(hash) * workers as u128) >> 64) as usize
}

/// A hash of a key.
#[inline]
pub(crate) fn hash(key: &[u64]) -> u64 {
    let (&last, others) = key.split_last().unwrap_or((&0, &[]));
    mix(others.iter().fold(SEED, |hash, &word| folded(hash ^ word)).rotate_left(23) ^ last)
}

/// Both halves of a product: fewer operations than [`mix`], for all words but the last.
#[inline]
fn folded(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(FIRST);
    (product >> 64) as u64 ^ product as u64
}

/// A bijection in which every bit of the result depends on every bit given (the finaliser of SplitMix64: Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
#[inline]
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(FIRST);
    word = (word ^ word >> 27).wrapping_mul(SECOND);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::owner;

    /// Keys that count upwards, and such that differ in high bits only, are shared evenly.
    #[test]
    fn owners_have_equal_shares() {
        for workers in [2, 3, 4, 8, 13] {
            for shift in [0, 7, 40] {
                let mut counts = vec![0; workers];
                let keys = 40_000u64;
                for key in 0..keys {
                    counts[owner(&[key << shift], workers)] += 1;
                }
                let share = keys as usize / workers;
                let is_fair = counts.iter().all(|&count: &usize| count.abs_diff(share) < share / 12);
                assert!(is_fair, "{workers} workers, shift {shift}: {counts:?}");
            }
        }
    }

    #[test]
    fn all_words_of_a_key_count() {
        let owners = |at: usize| {
            let key = |word: u64| if at == 0 { [word, 7, 9] } else { [7, 9, word] };
            (0..64).map(|word| owner(&key(word), 8)).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!((owners(0), owners(2)), (8, 8));
    }
}
