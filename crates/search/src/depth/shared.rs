//! What the workers of a bound share: what is known of states, the frontiers, the counts, and when to stop.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, RwLock, RwLockReadGuard};

use birk_exec::{Model, Successors};
use birk_ir::Stop;

use super::list::Chunk;
use super::thresholds::{Thresholds, UNSEEN};
use crate::codec::{Codec, Growth};
use crate::job::{Job, Observer, Progress, Waiting};

/// What is known of the states visited.
#[derive(Debug)]
pub(crate) struct Seen<C> {
    pub(crate) codec: C,
    pub(crate) thresholds: Thresholds,
}

impl<C: Codec> Seen<C> {
    pub(crate) fn bytes(&self) -> u64 {
        self.thresholds.bytes() + self.codec.bytes()
    }

    /// Makes room with at most this many bytes; false when it cannot.
    fn make_room(&mut self, most: u64) -> bool {
        if self.codec.bytes_after_growth() + self.thresholds.bytes() > most {
            return false;
        }
        match self.codec.grow() {
            Growth::Failed => return false,
            Growth::Same => {}
            Growth::Rekeyed => unreachable!("keys have their full width from the beginning"),
        }
        !self.thresholds.is_full() || self.thresholds.grow(most - self.codec.bytes())
    }
}

/// What the workers share.
pub(crate) struct Shared<'a, C> {
    pub(crate) model: &'a dyn Model,
    pub(crate) job: &'a Job,
    pub(crate) initial: Successors,
    /// Everybody reads; whoever needs more room waits until all others do.
    pub(crate) seen: RwLock<Seen<C>>,
    /// How many wait for that.
    pub(crate) need_room: AtomicUsize,
    /// Everybody comes back.
    pub(crate) stop: OnceLock<Stop>,
    /// The frontier that is explored, and the next.
    pub(crate) here: Mutex<VecDeque<Chunk>>,
    pub(crate) next: Mutex<VecDeque<Chunk>>,
    pub(crate) frontier_bytes: AtomicU64,
    /// Bytes in use that nobody here counts, as the observer said last.
    pub(crate) overhead: AtomicU64,
    /// Workers that have not yet found the frontier empty.
    pub(crate) busy: AtomicUsize,
    /// The depth of the frontier, and the bound.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) waiting: Waiting,
    /// Thresholds are what successors ask for, not the depth of the last exploration.
    pub(crate) prunes: bool,
    pub(crate) states: AtomicU64,
    pub(crate) transitions: AtomicU64,
    /// States in both frontiers.
    pub(crate) pending: AtomicU64,
    /// The trace of the first state found for each goal.
    pub(crate) found: Mutex<Vec<Option<Vec<u32>>>>,
}

impl<C: Codec> Shared<'_, C> {
    /// Takes a chunk of the frontier that is explored.
    pub(crate) fn take(&self) -> Option<Chunk> {
        let chunk = self.here.lock().expect("no worker panics with it").pop_front()?;
        self.frontier_bytes.fetch_sub(chunk.bytes(), Ordering::Relaxed);
        Some(chunk)
    }

    /// Gives a chunk to a frontier.
    pub(crate) fn give(&self, chunk: Option<Chunk>, to: &Mutex<VecDeque<Chunk>>) {
        if let Some(chunk) = chunk {
            self.frontier_bytes.fetch_add(chunk.bytes(), Ordering::Relaxed);
            to.lock().expect("no worker panics with it").push_back(chunk);
        }
    }

    fn budget(&self, beside: u64) -> u64 {
        let frontier = self.frontier_bytes.load(Ordering::Relaxed);
        self.job.limits.memory.saturating_sub(frontier + beside + self.overhead.load(Ordering::Relaxed))
    }

    /// Steps of replay that there may be for each state of a frontier.
    pub(crate) fn mean(&self) -> u32 {
        self.job.limits.increment.saturating_mul(2).saturating_sub(1).max(1)
    }
}

/// What a worker has while it runs.
pub(crate) struct Turn<'s, 'a, C> {
    pub(crate) shared: &'s Shared<'a, C>,
    seen: Option<RwLockReadGuard<'s, Seen<C>>>,
    pub(crate) observer: Option<&'s mut dyn Observer>,
}

impl<'s, 'a, C: Codec> Turn<'s, 'a, C> {
    pub(crate) fn new(shared: &'s Shared<'a, C>, observer: Option<&'s mut dyn Observer>) -> Self {
        Self { shared, seen: Some(shared.seen.read().expect("no worker panics with it")), observer }
    }

    /// What is known of the states visited.
    pub(crate) fn seen(&self) -> &Seen<C> {
        self.seen.as_ref().expect("given up only in between")
    }

    /// Whether a state was visited.
    pub(crate) fn is_known(&self, state: &[u32]) -> bool {
        let seen = self.seen();
        let key = seen.codec.known_key(state, &mut seen.codec.parent());
        key.is_some_and(|key| seen.thresholds.get(key) != UNSEEN)
    }

    /// Lets others make room.
    pub(crate) fn pause(&mut self) {
        while self.shared.need_room.load(Ordering::Relaxed) > 0 {
            self.seen = None;
            std::thread::yield_now();
            self.seen = Some(self.shared.seen.read().expect("no worker panics with it"));
        }
    }

    /// Makes room, while everybody else waits.
    pub(crate) fn make_room(&mut self, beside: u64) -> ControlFlow<()> {
        self.shared.need_room.fetch_add(1, Ordering::Relaxed);
        self.seen = None;
        let has_room = {
            let mut seen = self.shared.seen.write().expect("no worker panics with it");
            let has_room = seen.make_room(self.shared.budget(beside));
            self.shared.need_room.fetch_sub(1, Ordering::Relaxed);
            has_room
        };
        self.seen = Some(self.shared.seen.read().expect("no worker panics with it"));
        if has_room { ControlFlow::Continue(()) } else { self.end(Stop::Memory) }
    }

    /// Calls everybody back.
    pub(crate) fn end(&self, stop: Stop) -> ControlFlow<()> {
        let _ = self.shared.stop.set(stop);
        ControlFlow::Break(())
    }

    /// Lets the observer look, and looks at the memory.
    pub(crate) fn look(&mut self, depth: u32, beside: u64) -> ControlFlow<()> {
        let (shared, bytes) = (self.shared, self.seen().bytes() + beside);
        let bytes = bytes + shared.frontier_bytes.load(Ordering::Relaxed);
        if let Some(observer) = &mut self.observer {
            shared.overhead.store(observer.overhead(bytes), Ordering::Relaxed);
        }
        if bytes + shared.overhead.load(Ordering::Relaxed) > shared.job.limits.memory {
            return self.end(Stop::Memory);
        }
        let progress = Progress {
            states: shared.states.load(Ordering::Relaxed),
            transitions: shared.transitions.load(Ordering::Relaxed),
            depth,
            frontier: shared.pending.load(Ordering::Relaxed),
            bytes,
        };
        match self.observer.as_mut().map(|observer| observer.progress(&progress)) {
            Some(ControlFlow::Break(stop)) => self.end(stop),
            _ => ControlFlow::Continue(()),
        }
    }
}
