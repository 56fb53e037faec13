//! How many different states several runs have seen together, from a few kilobytes (HyperLogLog; Flajolet et al. 2007).

use crate::cycle::fold;

/// Registers; the error is about one part in sixty.
const REGISTERS: usize = 1 << 12;

/// For each register, the longest row of zeros that a hash began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u8>);

impl Default for Sketch {
    fn default() -> Self {
        Self(vec![0; REGISTERS])
    }
}

impl Sketch {
    /// The state with this key was seen.
    #[inline]
    pub(crate) fn note(&mut self, key: u64) {
        let hash = fold(key, 0x8ebc_6af0_9c88_c6e3);
        let register = &mut self.0[hash as usize % REGISTERS];
        *register = (*register).max((hash >> 12).leading_zeros() as u8 - 11);
    }

    /// What another run has seen was seen.
    pub fn join(&mut self, other: &Sketch) {
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
    use super::super::filter::key_of;
    use super::*;

    #[test]
    fn numbers_are_about_right() {
        for count in [10u32, 1_000, 20_000, 300_000] {
            let (mut one, mut other) = (Sketch::default(), Sketch::default());
            (0..count).for_each(|i| if i % 3 == 0 { one.note(key_of(&[i, 7])) } else { other.note(key_of(&[i, 7])) });
            (0..count / 2).for_each(|i| one.note(key_of(&[i, 7])));
            one.join(&other);
            let error = (one.estimate() as f64 / f64::from(count) - 1.0).abs();
            assert!(error < 0.06, "{count}: {}", one.estimate());
        }
    }
}
