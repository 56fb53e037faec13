//! Representatives where names are permuted only by rotation: of all rotations the least.

use super::action::{Action, Permutation};

/// Rotations of several rings that are tried for a state.
const MOST_TURNS: usize = 1 << 12;

/// Where the least of all rotations of some keys begins.
#[inline]
pub(super) fn least_start<K: Copy + Ord>(keys: &[K]) -> usize {
    let from = |start: usize| keys[start..].iter().chain(&keys[..start]);
    (1..keys.len()).fold(0, |least, start| if from(start).lt(from(least)) { start } else { least })
}

/// The rotations that lead to the representative of a state, and whether that of all images is the same. All groups are rings.
pub(super) fn permutation(action: &Action, state: &[u32]) -> (Permutation, bool) {
    let many = action.groups.iter().fold(1usize, |many, names| many.saturating_mul(names.len()));
    if many > MOST_TURNS {
        return (action.identity(), false);
    }
    let nth = |mut turn: usize| -> Permutation {
        let of = |(group, names): (usize, &Vec<u32>)| {
            let by = turn % names.len();
            turn /= names.len();
            action.turned(group, by)
        };
        action.groups.iter().enumerate().map(of).collect()
    };
    let least = (0..many).map(nth).min_by_key(|permutation| action.image(permutation, state));
    (least.unwrap_or_else(|| action.identity()), true)
}
