//! Expanding a level: its states come in the order of their keys, are evaluated, and their successors become candidates.

use std::sync::atomic::Ordering;

use birk_engine::Observer;

use super::Search;
use super::worker::{Level, Worker};
use crate::levels::limits::{Flow, Halt, WORTH_SHARING};

impl Search<'_> {
    /// Makes the initial states the first level; whether there are any.
    pub(super) fn begin(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let mut initial = birk_engine::Successors::new(self.shared.model.words());
        self.shared.model.initial(&mut initial);
        self.workers[0].add(&self.shared, &initial);
        self.settle(observer)
    }

    /// Expands and evaluates the last level; whether the search is over with it.
    pub(super) fn expand(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        self.stand();
        let Self { shared, workers, level: Some(run), .. } = self else { return Ok(false) };
        self.stats.peak_frontier = self.stats.peak_frontier.max(run.keys());
        let is_shared = run.keys() >= WORTH_SHARING * shared.job.limits.grain as u64;
        while is_shared && workers.len() < shared.sizes.threads {
            workers.push(Worker::new(shared, &self.fired));
        }
        let count = if is_shared { workers.len() } else { 1 };
        let level = Level::new(shared, run, self.goals, count, self.depth == shared.job.limits.depth);
        let flow = shared.together(&mut workers[..count], observer, |worker, asking| worker.run(&level, asking));
        self.stats.transitions = shared.transitions.load(Ordering::Relaxed);
        self.goals = level.goals();
        flow?;
        if level.expanded.into_inner() != run.keys() {
            return Err(Halt::from(std::io::Error::new(std::io::ErrorKind::InvalidData, "a level has other states")));
        }
        Ok(level.is_over.into_inner())
    }
}
