//! What the workers of a bound share: what is known of states, the frontiers, the counts, and when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, RwLock, RwLockReadGuard};

use birk_engine::{Job, Model, Observer, Progress, Relief, Successors};
use birk_ir::Stop;

use super::options::Waiting;
use super::spill::SpillQueue;
use super::thresholds::{Thresholds, UNSEEN};
use super::trace_tree::{Chunk, Form};
use crate::store::codec::{Codec, Growth};
use crate::store::memory::give_back;

/// Memory is given back when such a part of the limit was freed.
const GIVING_BACK: u64 = 64;

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
    /// That was while the successors of a state were computed: it is neither counted nor evaluated, and the search cannot be
    /// taken up again from here.
    pub(crate) is_torn: AtomicBool,
    /// The frontier that is explored, and the next.
    pub(crate) here: Mutex<SpillQueue>,
    pub(crate) next: Mutex<SpillQueue>,
    pub(crate) frontier_bytes: AtomicU64,
    pub(crate) form: Form,
    /// What can be done when memory is short, how much of it was done, and whether somebody without an observer waits for
    /// that; and with how many states it was done.
    pub(crate) reliefs: Vec<Relief>,
    pub(crate) relieved: AtomicUsize,
    pub(crate) is_short: AtomicBool,
    pub(crate) relief: Mutex<Vec<(Relief, u64)>>,
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
    /// States in both frontiers; below zero for a moment, where a worker takes one up on a shorter path before the worker
    /// that left it there has counted it.
    pub(crate) pending: AtomicI64,
    /// The trace of the first state found for each goal.
    pub(crate) found: Mutex<Vec<Option<Vec<u32>>>>,
}

impl<C: Codec> Shared<'_, C> {
    /// States in both frontiers.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.load(Ordering::Relaxed).max(0) as u64
    }

    /// Takes a chunk of the frontier that is explored.
    pub(crate) fn take(&self) -> Option<Chunk> {
        self.change(&self.here, |here| here.pop()).unwrap_or_else(|_| {
            let _ = self.stop.set(Stop::Memory);
            None
        })
    }

    /// Gives a chunk to a frontier.
    pub(crate) fn give(&self, chunk: Option<Chunk>, to: &Mutex<SpillQueue>) {
        if let Some(chunk) = chunk {
            self.change(to, |queue| queue.push(chunk));
        }
    }

    /// Changes a frontier.
    fn change<T>(&self, queue: &Mutex<SpillQueue>, change: impl FnOnce(&mut SpillQueue) -> T) -> T {
        let mut queue = queue.lock().expect("no worker panics with it");
        let before = queue.bytes;
        let result = change(&mut queue);
        self.frontier_bytes.fetch_add(queue.bytes.wrapping_sub(before), Ordering::Relaxed);
        result
    }

    /// Whether this was done because memory was short.
    pub(crate) fn has(&self, relief: Relief) -> bool {
        self.reliefs[..self.relieved.load(Ordering::Relaxed)].contains(&relief)
    }

    /// How what waits is kept now.
    pub(crate) fn waiting(&self) -> Waiting {
        if self.has(Relief::Tree) { Waiting::Tree } else { self.waiting }
    }

    fn budget(&self, beside: u64) -> u64 {
        let frontier = self.frontier_bytes.load(Ordering::Relaxed);
        self.job.limits.memory.saturating_sub(frontier + beside + self.overhead.load(Ordering::Relaxed))
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
        loop {
            let done = self.shared.relieved.load(Ordering::Relaxed);
            self.shared.need_room.fetch_add(1, Ordering::Relaxed);
            self.seen = None;
            let has_room = {
                let mut seen = self.shared.seen.write().expect("no worker panics with it");
                let has_room = seen.make_room(self.shared.budget(beside));
                self.shared.need_room.fetch_sub(1, Ordering::Relaxed);
                has_room
            };
            self.seen = Some(self.shared.seen.read().expect("no worker panics with it"));
            if has_room {
                return ControlFlow::Continue(());
            }
            self.relieve(done)?;
        }
    }

    /// Memory was short when this much had been done about it: more is done, by the one who has the observer; the others
    /// wait for that, and leave if one is to go on alone.
    fn relieve(&mut self, done: usize) -> ControlFlow<()> {
        let shared = self.shared;
        if self.observer.is_none() {
            loop {
                if shared.stop.get().is_some() || shared.has(Relief::Thread) {
                    return ControlFlow::Break(());
                }
                if shared.relieved.load(Ordering::Relaxed) != done {
                    return ControlFlow::Continue(());
                }
                shared.is_short.store(true, Ordering::Relaxed);
                self.pause();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        if shared.relieved.load(Ordering::Relaxed) != done {
            return ControlFlow::Continue(());
        }
        let Some(&relief) = shared.reliefs.get(done) else { return self.end(Stop::Memory) };
        shared.relieved.store(done + 1, Ordering::Relaxed);
        let is_done = match relief {
            Relief::Tree => {
                let mut freed = 0;
                let mut thinned = |chunk: &Chunk| {
                    // What other threads had allocated is not used again for what this one allocates.
                    freed += chunk.bytes();
                    if freed > shared.job.limits.memory / GIVING_BACK {
                        give_back();
                        freed = 0;
                    }
                    chunk.thinned(&shared.form)
                };
                for queue in [&shared.here, &shared.next] {
                    shared.change(queue, |queue| queue.replace(&mut thinned));
                }
                true
            }
            Relief::Disk => [&shared.here, &shared.next].into_iter().all(|queue| {
                let outside = self.observer.as_mut().and_then(|observer| observer.outside()?.spill());
                outside.map(|outside| shared.change(queue, |queue| queue.leave(outside))).is_some()
            }),
            Relief::Thread => {
                while shared.busy.load(Ordering::Acquire) > 1 {
                    self.pause();
                    std::thread::yield_now();
                }
                true
            }
        };
        give_back();
        if let Some(observer) = self.observer.as_mut().filter(|_| is_done) {
            let states = shared.states.load(Ordering::Relaxed);
            shared.relief.lock().expect("no worker panics with it").push((relief, states));
            let frontier = shared.pending();
            let progress = Progress { states, frontier, relief: Some(relief), ..Progress::default() };
            if let ControlFlow::Break(stop) = observer.progress(&progress) {
                return self.end(stop);
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls everybody back.
    pub(crate) fn end(&self, stop: Stop) -> ControlFlow<()> {
        let _ = self.shared.stop.set(stop);
        ControlFlow::Break(())
    }

    /// Lets the observer look, and looks at the memory.
    pub(crate) fn look(&mut self, depth: u32, beside: u64) -> ControlFlow<()> {
        let shared = self.shared;
        let bytes = loop {
            let done = shared.relieved.load(Ordering::Relaxed);
            let bytes = self.seen().bytes() + beside + shared.frontier_bytes.load(Ordering::Relaxed);
            if let Some(observer) = &mut self.observer {
                shared.overhead.store(observer.overhead(bytes), Ordering::Relaxed);
            }
            let is_asked = self.observer.is_some() && shared.is_short.swap(false, Ordering::Relaxed);
            let is_short = bytes + shared.overhead.load(Ordering::Relaxed) > shared.job.limits.memory;
            if !is_asked && !is_short {
                break bytes;
            }
            self.relieve(done)?;
        };
        let progress = Progress {
            states: shared.states.load(Ordering::Relaxed),
            transitions: shared.transitions.load(Ordering::Relaxed),
            depth,
            frontier: shared.pending(),
            bytes,
            ..Progress::default()
        };
        match self.observer.as_mut().map(|observer| observer.progress(&progress)) {
            Some(ControlFlow::Break(stop)) => self.end(stop),
            _ => ControlFlow::Continue(()),
        }
    }
}
