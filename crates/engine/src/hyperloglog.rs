//! How many different states several runs have seen together, from a few kilobytes (HyperLogLog; Flajolet et al. 2007).

/// Registers; the error is about one part in sixty.
const REGISTERS: usize = 1 << 12;

/// For each register, the longest row of zeros that a hash began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperLogLog(Vec<u8>);

impl Default for HyperLogLog {
    fn default() -> Self {
        Self(vec![0; REGISTERS])
    }
}

impl HyperLogLog {
    /// The state with this key was seen.
    #[inline]
    pub fn note(&mut self, key: u64) {
        let product = u128::from(key) * 0x8ebc_6af0_9c88_c6e3;
        let hash = product as u64 ^ (product >> 64) as u64;
        let register = &mut self.0[hash as usize % REGISTERS];
        *register = (*register).max((hash >> 12).leading_zeros() as u8 - 11);
    }

    /// What another run has seen was seen.
    pub fn join(&mut self, other: &HyperLogLog) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one = (*one).max(*other));
    }

    /// About how many states were seen.
    pub fn estimate(&self) -> u64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|&zeros| 0.5f64.powi(i32::from(zeros))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = self.0.iter().filter(|zeros| **zeros == 0).count();
        let few = raw <= 2.5 * registers && empty > 0;
        (if few { registers * (registers / empty as f64).ln() } else { raw }).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are hashes of states.
    fn key_of(number: u32) -> u64 {
        let product = u128::from(number ^ 0x5bd1_e995).wrapping_mul(0xa076_1d64_78bd_642f_e703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    #[test]
    fn numbers_are_about_right() {
        for count in [10u32, 1_000, 20_000, 300_000] {
            let (mut one, mut other) = (HyperLogLog::default(), HyperLogLog::default());
            (0..count).for_each(|i| if i % 3 == 0 { one.note(key_of(i)) } else { other.note(key_of(i)) });
            (0..count / 2).for_each(|i| one.note(key_of(i)));
            one.join(&other);
            let error = (one.estimate() as f64 / f64::from(count) - 1.0).abs();
            assert!(error < 0.06, "{count}: {}", one.estimate());
        }
    }
}
