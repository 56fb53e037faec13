//! Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom
//! Number Generators", 2014), and Lemire's way to a bounded number without bias ("Fast Random Integer Generation in
//! an Interval", 2019).

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Neighbouring seeds give unrelated sequences.
    pub fn new(seed: u64) -> Self {
        let mut once = Self(seed);
        Self(once.next() ^ 0x6a09_e667_f3bc_c909)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..n`, each as likely as any other.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is no number below 0");
        let n = n as u64;
        // What is left over when 2^64 numbers are dealt to n places would favour some of them.
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next()) * u128::from(n);
            if product as u64 >= unfair {
                return (product >> 64) as usize;
            }
        }
    }
}
