//! What is asked of a hunt for cycles, and the answer.

use birk_engine::{Hunt, Job, Limits, Model, Stats};
use birk_ir::{Coverage, Outcome, Stop};

use super::lasso::Lasso;
use crate::bounded::INCREMENT;

/// Steps of the model are kept in one part in so many of the memory.
pub(super) const STEPS: u64 = 3;

/// A hunt for cycles.
#[derive(Clone, Copy, Debug)]
pub struct CycleSearch {
    /// No cycle has accepting states and others.
    pub weak: bool,
    /// Cores.
    pub threads: usize,
    /// Where several cores begin to differ.
    pub seed: u64,
    /// What it may use; a depth is the size of the part of the graph that is examined.
    pub limits: Limits,
    /// Steps by which a depth bound grows.
    pub increment: u32,
}

impl CycleSearch {
    /// As a job says.
    pub fn of(weak: bool, job: &Job) -> Self {
        let increment = INCREMENT.number(&job.options).map_or(1, |steps| steps as u32);
        Self { weak, threads: job.limits.threads, seed: job.seed, limits: job.limits, increment }
    }
}

/// The answer to a hunt.
pub(super) fn ended(
    lasso: Option<&Lasso>,
    coverage: Coverage,
    stopped: Stop,
    mut stats: Stats,
    model: &dyn Model,
) -> Hunt {
    let outcome = match (lasso, &coverage) {
        (Some(lasso), _) => {
            let (lasso, is_shortest) = lasso.shortened(model).shortest(model);
            stats.is_shortest_lasso = is_shortest;
            Outcome::Found(lasso.trace(model))
        }
        (None, Coverage::Complete) => Outcome::Absent,
        (None, _) => Outcome::Inconclusive,
    };
    Hunt { outcomes: vec![outcome], coverage, stopped, stats, fired: Vec::new() }
}
