//! How searches are set, and what of them must be the same.

use birk_cluster::{Compress, Setting};
use birk_engine::{Hunt, Job, Limits};
use birk_ir::{Outcome, Stop};

/// Large blocks; blocks of a few keys, one on its way at a time, and a few keys that are remembered; the same in any order, compressed; the
/// same as bytes, for which every worker has megabytes of buffers, compressed where credit runs out.
pub(crate) fn settings(seed: u64) -> [Setting; 4] {
    let small = Setting { block: 7, window: 1, recent: 300, ..Setting::default() };
    let reordered = Setting { window: 2, recent: 0, reorders: Some(seed), compress: Compress::Always, ..small };
    [Setting::default(), small, reordered, Setting { serialises: true, compress: Compress::Auto, ..reordered }]
}

pub(crate) const WORKERS: [usize; 4] = [1, 2, 3, 8];

pub(crate) fn with_workers(job: &Job, threads: usize) -> Job {
    Job { limits: Limits { threads, ..job.limits }, ..job.clone() }
}

#[track_caller]
pub(crate) fn same(hunt: &Hunt, other: &Hunt) {
    let length = |outcome: &Outcome| match outcome {
        Outcome::Found(trace) => Ok(trace.steps.len()),
        other => Err(other.clone()),
    };
    let essence = |hunt: &Hunt| {
        let stats = &hunt.stats;
        let counts = (stats.states, stats.transitions, stats.max_depth, stats.cut, stats.peak_frontier);
        let outcomes: Vec<_> = hunt.outcomes.iter().map(length).collect();
        (hunt.stopped, hunt.coverage.clone(), counts, stats.levels.clone(), hunt.fired.clone(), outcomes)
    };
    assert_eq!(essence(hunt), essence(other));
    if matches!(hunt.stopped, Stop::Exhausted | Stop::Goal | Stop::Depth) {
        assert_eq!(hunt.stats.cutoff, other.stats.cutoff);
    }
}
