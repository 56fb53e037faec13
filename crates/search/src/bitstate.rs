//! Bit-state hashing: a visited state is remembered by a few bits of a large bit array (Holzmann 1988; Bloom 1970).
//!
//! Two states may share their bits; then the second is taken for known and is not examined. Nothing is ever taken for
//! new that was seen, and the states on the path are kept in full: what is found is real. How much may have been lost
//! is estimated while the bit array fills: before each new state, `p` is the chance that one was taken for known.
//! Several runs, each with other bits and another order, are a swarm (Holzmann, Joshi and Groce 2011); how many states they saw
//! together is told by a HyperLogLog (Flajolet, Fusy, Gandouet and Meunier 2007).

mod dfs;
mod ndfs;
mod path_states;

use birk_engine::{EngineStats, Hunt, HyperLogLog, Job, Model, Observer};
use birk_ir::{Coverage, Outcome};

use crate::liveness::{CycleSearch, hunt_in};
use crate::store::bloom::Filter;
use dfs::hunt_states;
use ndfs::BitSpace;

/// How a search with bits is done.
#[derive(Clone, Copy, Debug)]
pub struct BitState {
    /// Bytes of the bit array.
    pub bytes: u64,
    /// How many states are expected, where that is known: the number of bits for each is chosen by it.
    pub expected: Option<u64>,
    /// Runs, each with other bits and another order.
    pub swarm: u32,
    /// Of the first run.
    pub seed: u64,
}

/// Bits for a state, where nothing is known about how many there are.
const USUAL_BITS: u32 = 4;
/// More are a waste of time.
const MAX_BITS: u32 = 24;

impl BitState {
    /// The best number of bits for a state: the share of the bit array that is set should be about one half in the end.
    fn bits_a_state(&self, bits: u64) -> u32 {
        let Some(expected) = self.expected else { return USUAL_BITS };
        let best = bits as f64 / expected.max(1) as f64 * std::f64::consts::LN_2;
        (best.round() as u32).clamp(1, MAX_BITS)
    }

    /// All runs of a hunt for states in which a goal is true.
    pub fn hunt(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
        self.swarm(&mut |seed| {
            let filter = Filter::new(self.bytes * 8, self.bits_a_state(self.bytes * 8), seed);
            hunt_states(model, job, filter, seed, observer)
        })
    }

    /// All runs of a hunt for cycles.
    pub fn find_cycle(&self, model: &dyn Model, cycle_search: &CycleSearch, observer: &mut dyn Observer) -> Hunt {
        self.swarm(&mut |seed| {
            let filter = || Filter::new(self.bytes * 4, self.bits_a_state(self.bytes * 4), seed);
            let space = BitSpace::new(model, filter(), filter());
            let mut hunt = hunt_in(space, model, &CycleSearch { seed, ..*cycle_search }, observer);
            let visited = match std::mem::take(&mut hunt.stats.engine) {
                EngineStats::Sampled(visited) => visited,
                _ => HyperLogLog::default(),
            };
            (hunt, visited)
        })
    }

    /// One run after the other, until one finds something or is told to stop; what they did together.
    fn swarm(&self, run: &mut dyn FnMut(u64) -> (Hunt, HyperLogLog)) -> Hunt {
        let (mut all, mut seen) = run(self.seed);
        let mut lost = share_lost(&all);
        for number in 1..self.swarm {
            let is_over = all.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Found(_)))
                || !matches!(all.coverage, Coverage::Hashed { .. });
            if is_over {
                break;
            }
            let (next, sketch) = run(self.seed.wrapping_add(u64::from(number)));
            lost *= share_lost(&next);
            seen.join(&sketch);
            all = joined(all, next);
            all.stats.states = seen.estimate();
            if let Coverage::Hashed { expected_omissions, omission_probability, .. } = &mut all.coverage {
                *expected_omissions = all.stats.states as f64 * lost;
                *omission_probability = expected_omissions.min(1.0);
            }
        }
        all
    }
}

/// The chance of a state to have been lost.
fn share_lost(hunt: &Hunt) -> f64 {
    match hunt.coverage {
        Coverage::Hashed { expected_omissions, .. } => {
            expected_omissions / (expected_omissions + hunt.stats.states.max(1) as f64)
        }
        _ => 1.0,
    }
}

/// Two runs as one.
fn joined(mut all: Hunt, next: Hunt) -> Hunt {
    for (one, other) in all.outcomes.iter_mut().zip(next.outcomes) {
        if matches!(other, Outcome::Found(_)) {
            *one = other;
        }
    }
    all.fired.iter_mut().zip(next.fired).for_each(|(all, next)| *all |= next);
    all.stats.transitions += next.stats.transitions;
    all.stats.revisits += next.stats.revisits;
    all.stats.max_depth = all.stats.max_depth.max(next.stats.max_depth);
    (all.stopped, all.coverage, all.stats.cutoff) = (next.stopped, next.coverage, next.stats.cutoff);
    all
}

/// What may have been lost in bit arrays like these.
fn coverage(filters: &mut [&mut Filter]) -> Coverage {
    let lost: Vec<(f64, f64)> = filters.iter_mut().map(|filter| filter.lost()).collect();
    Coverage::Hashed {
        depth: None,
        omission_probability: -lost.iter().map(|(_, none)| none).sum::<f64>().exp_m1(),
        expected_omissions: lost.iter().map(|(expected, _)| expected).sum(),
    }
}
