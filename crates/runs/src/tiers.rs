//! Which runs to merge, so that there are few of them and none is written often.

use std::ops::Range;

/// There are never more runs than this between two merges.
pub const MOST_RUNS: usize = 10;
/// A run is merged with newer ones that together have at least this share of its size: one in so many.
const SHARE: u64 = 2;

/// Which runs to merge now, given their sizes from the oldest to the newest: the newest ones, and older ones that are not much larger
/// than these together.
pub fn due(sizes: &[u64]) -> Option<Range<usize>> {
    if sizes.len() <= MOST_RUNS {
        return None;
    }
    let mut start = sizes.len() - 2;
    let mut together: u64 = sizes[start..].iter().sum();
    while start > 0 && sizes[start - 1] < together.saturating_mul(SHARE) {
        start -= 1;
        together += sizes[start];
    }
    Some(start..sizes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of these sizes come one after the other: how many runs there are at most, and how often a key is written on average.
    fn simulate(levels: impl Iterator<Item = u64>) -> (usize, f64) {
        let (mut runs, mut most, mut keys, mut written) = (Vec::new(), 0, 0, 0);
        for level in levels {
            keys += level;
            runs.push(level);
            if let Some(range) = due(&runs) {
                let merged: u64 = runs.drain(range).sum();
                written += merged;
                runs.push(merged);
            }
            most = most.max(runs.len());
        }
        (most, written as f64 / keys as f64)
    }

    #[test]
    fn runs_are_few_and_written_seldom() {
        let equal = simulate((0..60).map(|_| 1000));
        let many = simulate((0..100_000).map(|_| 3));
        let growing = simulate((0..40).map(|level| 1 << level));
        let bell = simulate(
            (0..60).map(|level: u64| 1 + (1_000_000.0 * (-((level as f64 - 30.0) / 9.0).powi(2)).exp()) as u64),
        );
        for (most, written) in [equal, growing, bell] {
            assert!(most <= MOST_RUNS && written <= 4.0, "{most} runs, written {written} times");
        }
        assert!(many.0 <= MOST_RUNS && many.1 <= 12.0, "{many:?}");
    }
}
