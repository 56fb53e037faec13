//! What the next depth of a search will hold, guessed from the sizes of those before it.
//!
//! The sizes of levels rise, flatten and fall; from one to the next their ratio changes slowly. So the next ratio is taken to
//! lie near the last few, or to go on changing as it did. This says nothing about how many levels there are: no share of the whole is ever guessed.

use birk_engine::Stats;

/// So many of the last ratios are examined.
const RATIOS: usize = 3;
/// The next ratio may be smaller than the smallest of them by this factor, and larger than the largest by the other.
const SLACK: (f64, f64) = (0.8, 1.1);

/// How many states lie within each depth, as far as a search knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast(Vec<(u32, u64)>);

/// The next depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The depth.
    pub depth: u32,
    /// States that are new there: at least, at most. Equal where they are known.
    pub states: (u64, u64),
    /// States before them.
    pub within: u64,
}

impl Forecast {
    /// Of a search that knows how many states lie within each of these depths, which increase.
    pub fn new(points: Vec<(u32, u64)>) -> Self {
        Self(points)
    }

    /// Of a search that goes by levels or by bounds; empty for others.
    pub fn of(stats: &Stats) -> Self {
        if let Some(bounded) = stats.bounded().filter(|bounded| !bounded.bounds.is_empty()) {
            return Self(bounded.bounds.clone());
        }
        // Sets may have more states than 64 bits hold; from there on nothing is known here.
        let mut within = 0u64;
        let levels = stats.levels.iter().zip(0..).map_while(|(&level, depth)| {
            within = within.checked_add(level)?;
            Some((depth, within))
        });
        Self(levels.collect())
    }

    /// What comes after a depth that was completed; nothing where too little is known.
    pub fn after(&self, depth: u32) -> Option<Guess> {
        let place = self.0.iter().position(|point| point.0 == depth)?;
        let within = self.0[place].1;
        if let Some(&(depth, more)) = self.0.get(place + 1) {
            return Some(Guess { depth, states: (more - within, more - within), within });
        }
        let steps = |pair: &[(u32, u64)]| pair[1].0 - pair[0].0;
        let known = &self.0[place.checked_sub(RATIOS + 1)?..=place];
        let sizes: Vec<f64> =
            known.windows(2).map(|pair| (pair[1].1 - pair[0].1) as f64 / f64::from(steps(pair))).collect();
        let more = known.windows(2).map(steps).max()?;
        let (least, most) = next_size(&sizes)?;
        let states = ((least * f64::from(more)).floor() as u64, (most * f64::from(more)).ceil() as u64);
        Some(Guess { depth: depth.checked_add(more)?, states, within })
    }
}

/// The least and the most that the next of these sizes will probably be.
fn next_size(sizes: &[f64]) -> Option<(f64, f64)> {
    let mut ratios: Vec<f64> = sizes.windows(2).map(|pair| pair[1] / pair[0]).collect();
    if let [.., before, last] = ratios[..] {
        ratios.push(last * last / before);
    }
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let last = *sizes.last()?;
    (least.is_finite() && most.is_finite()).then_some((last * least * SLACK.0, last * most * SLACK.1))
}
