//! How workers that have nothing to do get something: others leave it here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What lies ready. A piece of work is a copy: it does not matter if nobody takes it.
pub(super) struct WorkSharing<T> {
    workers: usize,
    /// Those that wait.
    waiting: AtomicUsize,
    ready: Mutex<Vec<T>>,
}

impl<T> WorkSharing<T> {
    /// For so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self { workers, waiting: AtomicUsize::new(0), ready: Mutex::new(Vec::new()) }
    }

    /// Whether somebody waits.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Leaves something for whoever waits, unless there is enough for all of them.
    pub(super) fn give(&self, work: T) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() < self.waiting.load(Ordering::Relaxed) {
            ready.push(work);
        }
    }

    /// A worker has nothing to do from now on.
    pub(super) fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether all of them have nothing to do, and will not have.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == self.workers
    }

    /// What lies ready; who gets it does not wait any more.
    pub(super) fn take(&self) -> Option<T> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody takes what is left when all are done.
        let work = if self.is_over() { None } else { ready.pop() };
        if work.is_some() {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        work
    }
}
