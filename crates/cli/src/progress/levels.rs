//! How long a search that goes level by level will take to the next depth, or to the depth that limits it.

use birk::search::forecast::Forecast;
use birk_engine::Progress;

/// Nothing is said of less.
const SHORTEST: f64 = 1.0;
/// Nor of what may take this much more than it may take at least.
const VAGUEST: f64 = 8.0;

/// What is known of the levels of a search so far.
#[derive(Debug)]
pub(super) struct Levels {
    /// The depth that limits the search.
    limit: Option<u32>,
    /// States within each depth.
    points: Vec<(u32, u64)>,
    /// When the states of the depth began to be expanded, and how many had been expanded then.
    began: (f64, u64),
    /// It does not go level by level.
    is_other: bool,
}

/// Time until a depth is completed: at least, at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    pub(super) depth: u32,
    pub(super) seconds: (f64, f64),
}

impl Levels {
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self { limit, points: vec![(0, 1)], began: (0.0, 0), is_other: false }
    }

    /// A search begins anew, which may go level by level.
    pub(super) fn restart(&mut self, seconds: f64, may_be: bool) {
        *self = Self { began: (seconds, 0), is_other: !may_be, ..Self::new(self.limit) };
    }

    /// How the search stands now.
    pub(super) fn hear(&mut self, seconds: f64, progress: &Progress) {
        let depth = self.points.last().map_or(0, |point| point.0);
        // Before the first state, there is no depth.
        let now = if progress.depth == u32::MAX { 0 } else { progress.depth };
        // The first state of a depth is expanded when all states of that depth are known.
        if now > depth {
            self.points.push((now, progress.states));
            self.began = (seconds, expanded(progress));
        }
        self.is_other |= now < depth;
    }

    /// How long it will take to the end of the depth that is expanded now, or to the limit, where the forecast reaches it.
    pub(super) fn left(&self, seconds: f64, progress: &Progress) -> Option<Left> {
        let &(depth, within) = self.points.last()?;
        let (time, done) = (seconds - self.began.0, expanded(progress).saturating_sub(self.began.1));
        if self.is_other || time <= 0.0 || done == 0 || self.points.len() < 2 {
            return None;
        }
        let pace = time / done as f64;
        let rest = within.saturating_sub(expanded(progress)) as f64;
        let mut left = Left { depth, seconds: (rest * pace, rest * pace) };
        let guess = Forecast::new(self.points.clone()).after(depth).filter(|guess| self.limit == Some(guess.depth));
        if let Some(guess) = guess {
            let more = (guess.states.0 as f64 * pace, guess.states.1 as f64 * pace);
            left = Left { depth: guess.depth, seconds: (left.seconds.0 + more.0, left.seconds.1 + more.1) };
        }
        let (least, most) = left.seconds;
        (most >= SHORTEST && most <= least * VAGUEST).then_some(left)
    }
}

fn expanded(progress: &Progress) -> u64 {
    progress.states.saturating_sub(progress.frontier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(states: u64, depth: u32, frontier: u64) -> Progress {
        Progress { states, depth, frontier, ..Progress::default() }
    }

    /// A thousand states are expanded each second; each level has three times the states of the one before.
    fn levels(limit: Option<u32>, to: u32) -> (Levels, f64) {
        let mut levels = Levels::new(limit);
        let (mut within, mut size, mut seconds) = (1u64, 1u64, 0.0);
        for depth in 1..=to {
            seconds += size as f64 / 1000.0;
            size *= 3;
            within += size;
            levels.hear(seconds, &progress(within, depth, size));
        }
        (levels, seconds)
    }

    #[test]
    fn the_end_of_a_depth_is_foreseen() {
        let (levels, began) = levels(None, 9);
        // Of the 19,683 states of depth 9, the first 1,000 took a second.
        let now = progress(29_524 + 3000, 9, 18_683 + 3000);
        let left = levels.left(began + 1.0, &now).expect("an estimate");
        assert_eq!(left.depth, 9);
        assert!((left.seconds.0 - 18.683).abs() < 0.01 && left.seconds.0 == left.seconds.1, "{left:?}");
        assert_eq!(levels.left(began, &now), None, "no time has passed");
    }

    #[test]
    fn the_limit_is_foreseen_one_depth_ahead() {
        let now = progress(29_524 + 3000, 9, 18_683 + 3000);
        let left = |limit| {
            let (levels, began) = levels(Some(limit), 9);
            levels.left(began + 1.0, &now).expect("an estimate")
        };
        assert_eq!(left(9).depth, 9);
        let (least, most) = left(10).seconds;
        assert!(left(10).depth == 10 && least < 78.0 && most > 77.0, "{least} to {most}");
        assert_eq!(left(11).depth, 9, "that is too far away");
    }

    #[test]
    fn of_other_searches_nothing_is_said() {
        for (depths, may_be, is_said) in [([1, 2, 1], true, false), ([1, 4, 5], false, false), ([1, 4, 5], true, true)]
        {
            let mut levels = Levels::new(None);
            levels.restart(0.0, may_be);
            for (at, depth) in depths.into_iter().enumerate() {
                levels.hear(at as f64, &progress(1000 * (at as u64 + 1), depth, 900));
            }
            let left = levels.left(9.0, &progress(3100, depths[2], 950));
            assert_eq!(left.is_some(), is_said, "{depths:?}");
        }
    }
}
