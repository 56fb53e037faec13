//! What random programs are drawn with: the numbers are those of the whole repository.

pub use birk_exec::Random;

/// More ways to draw.
pub trait Draw {
    /// A number in `lo..=hi`.
    fn between(&mut self, lo: i64, hi: i64) -> i64;

    /// True in so many of a hundred cases.
    fn chance(&mut self, percent: usize) -> bool;

    /// One of several.
    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T;

    /// A position, the more often the larger its weight.
    fn weighted(&mut self, weights: &[usize]) -> usize;
}

impl Draw for Random {
    fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (position, weight) in weights.iter().enumerate() {
            if left < *weight {
                return position;
            }
            left -= weight;
        }
        unreachable!("the weights sum to more than the number below their sum")
    }
}
