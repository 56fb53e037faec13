//! A search from bound to bound: the frontier is explored by workers up to the next bound, and the next frontier sifted.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
use std::sync::{Mutex, OnceLock, RwLock};

use birk_engine::{
    BoundedStats, Cutoff, EngineStats, FrontierStats, Hunt, Job, Model, Observer, Relief, Stats, Successors,
};
use birk_ir::{Coverage, Outcome, Stop, Trace};

use super::options::{Waiting, increment};
use super::shared::{Seen, Shared, Turn};
use super::spill::SpillQueue;
use super::thresholds::{Thresholds, WAITING};
use super::trace_tree::{Form, Reader, Writer};
use super::worker::{Counts, Worker};
use crate::crew;
use crate::cutoff::Survey;
use crate::store::codec::Codec;

/// Of the states that wait when a search is ended, about so many are read to look at some of them.
const MOST_READ: u64 = 200_000;
/// Packed states of up to this many words are kept in the frontier: a trace is hardly shorter, and must be replayed.
const SMALL_STATE_WORDS: usize = 4;

/// How the engines and tests that use it differ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// Thresholds are what successors ask for.
    pub(super) prunes: bool,
    /// The states at the last bound are wanted, too.
    pub(super) returns_frontier: bool,
}

/// A search of the states of some codec.
pub(super) struct Search<'a, C: Codec> {
    pub(super) shared: Shared<'a, C>,
    pub(super) workers: Vec<Worker<C>>,
    returns_frontier: bool,
    /// The last bound that was completed.
    pub(super) covered: Option<u32>,
    /// Bytes and states of the largest frontier, and the most bytes of one before it was sifted.
    pub(super) largest: (u64, u64),
    pub(super) most_bytes: u64,
    /// The bounds that were completed, and how many states lie within each.
    pub(super) bounds: Vec<(u32, u64)>,
    /// Where it was cut.
    cutoff: Cutoff,
}

impl<'a, C: Codec> Search<'a, C> {
    pub(super) fn new(model: &'a dyn Model, job: &'a Job, codec: C, rules: Rules) -> Self {
        let mut initial = Successors::new(model.words());
        model.initial(&mut initial);
        let waiting = Waiting::of(job)
            .unwrap_or_else(|| if codec.packed_words() <= SMALL_STATE_WORDS { Waiting::States } else { Waiting::Tree });
        let form = Form {
            packed_words: codec.packed_words(),
            origin: if initial.is_empty() { vec![0; model.words()] } else { initial.state(0).to_vec() },
            increment: increment(job),
            is_shared: job.limits.threads > 1,
        };
        let workers = vec![Worker::new(model, &codec)];
        let shared = Shared {
            model,
            job,
            initial,
            seen: RwLock::new(Seen { codec, thresholds: Thresholds::new() }),
            need_room: AtomicUsize::new(0),
            stop: OnceLock::new(),
            is_torn: AtomicBool::new(false),
            here: Mutex::default(),
            next: Mutex::default(),
            frontier_bytes: AtomicU64::new(0),
            form,
            reliefs: reliefs(job, waiting),
            relieved: AtomicUsize::new(0),
            is_short: AtomicBool::new(false),
            relief: Mutex::default(),
            overhead: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            from: 0,
            to: 0,
            waiting,
            prunes: rules.prunes,
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            pending: AtomicI64::new(0),
            found: Mutex::new(vec![None; job.goals]),
        };
        Self {
            shared,
            workers,
            returns_frontier: rules.returns_frontier,
            covered: None,
            largest: (0, 0),
            most_bytes: 0,
            bounds: Vec::new(),
            cutoff: Cutoff::default(),
        }
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer) -> (Hunt, Vec<Vec<u32>>) {
        if let Some(mut input) = observer.outside().and_then(|outside| outside.saved()) {
            if let ControlFlow::Break(stop) = self.restore(&mut input, observer) {
                return (self.nothing(stop), Vec::new());
            }
        } else {
            let _ = self.workers[0].begin(&mut Turn::new(&self.shared, Some(observer)));
        }
        let limits = &self.shared.job.limits;
        let mut is_within = self.shared.from < self.shared.to;
        while self.shared.stop.get().is_none() {
            if !std::mem::take(&mut is_within) {
                self.complete(observer);
                if self.shared.from >= limits.depth || self.chunks().is_empty() {
                    break;
                }
                self.raise();
            }
            self.bound(observer);
        }
        let stopped = match self.shared.stop.get() {
            Some(&stop) => stop,
            None => self.close(observer),
        };
        let is_torn = *self.shared.is_torn.get_mut();
        if self.covered.is_some() && !is_torn && !matches!(stopped, Stop::Goal | Stop::Exhausted) {
            self.checkpoint(true, observer);
        }
        let mut frontier = Vec::new();
        if self.returns_frontier && self.shared.to == self.shared.from {
            let mut chunks = std::mem::take(self.chunks());
            self.each(&mut chunks, 1, WAITING, None, |worker, turn, root| {
                worker.go(turn, root);
                frontier.push(worker.state().to_vec());
            });
        }
        (self.finish(stopped), frontier)
    }

    /// A search that ended before it began.
    fn nothing(self, stopped: Stop) -> Hunt {
        Hunt {
            outcomes: vec![Outcome::Inconclusive; self.shared.job.goals],
            coverage: Coverage::Partial(0),
            stopped,
            stats: Stats::default(),
            fired: vec![false; self.shared.model.transitions()],
        }
    }

    pub(super) fn chunks(&mut self) -> &mut SpillQueue {
        self.shared.here.get_mut().expect("no worker panics with it")
    }

    /// The bound was completed: the next frontier becomes the one to explore.
    fn complete(&mut self, observer: &mut dyn Observer) {
        // A search that was taken up between two bounds has its frontier already.
        if self.covered.is_some_and(|covered| covered == self.shared.to) {
            return;
        }
        self.advance();
        self.checkpoint(false, observer);
    }

    fn checkpoint(&mut self, is_last: bool, observer: &mut dyn Observer) {
        if let Some(outside) = observer.outside() {
            outside.checkpoint(&mut |out| self.save(out), is_last);
        }
    }

    pub(super) fn advance(&mut self) {
        self.sift();
        self.shared.from = self.shared.to;
        self.covered = Some(self.shared.to);
        let within = *self.shared.states.get_mut();
        self.bounds.push((self.shared.to, within));
    }

    /// Goes on to the next bound.
    pub(super) fn raise(&mut self) {
        let job = self.shared.job;
        self.shared.to = self.shared.from.saturating_add(increment(job)).min(job.limits.depth);
        self.register();
    }

    /// Takes over the next frontier, without the states that were meanwhile reached on shorter paths.
    fn sift(&mut self) {
        let shared = &mut self.shared;
        let waiting = shared.waiting();
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        let here = shared.here.get_mut().expect("no worker panics with it");
        let next = shared.next.get_mut().expect("no worker panics with it");
        self.most_bytes = self.most_bytes.max(next.size);
        here.clear();
        let mean = shared.form.mean(*shared.relieved.get_mut() > 0);
        let mut writer = Writer::thrifty(waiting, shared.to, &shared.form, mean);
        let sifted = loop {
            let chunk = match next.pop() {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let mut roots = Reader::new(&chunk, &shared.form);
            while roots.advance() {
                if seen.thresholds.get(roots.key) == WAITING
                    && let Some(chunk) = writer.push(&roots.trace, roots.key, roots.help())
                {
                    here.push(chunk);
                }
            }
        };
        writer.flush().into_iter().for_each(|chunk| here.push(chunk));
        self.largest = self.largest.max((here.size, here.states));
        match sifted {
            Ok(()) => next.clear(),
            // What cannot be read stays: nobody may take this for all that waits.
            Err(_) => _ = shared.stop.set(Stop::Memory),
        }
        *shared.frontier_bytes.get_mut() = here.bytes + next.bytes;
    }

    /// Gives the states of the frontier their thresholds. First all of them: whoever meets one need not look behind it.
    fn register(&mut self) {
        let seen = self.shared.seen.get_mut().expect("no worker panics with it");
        let here = self.shared.here.get_mut().expect("no worker panics with it");
        let registered = here.each(|chunk| {
            let mut roots = Reader::of_keys(chunk, &self.shared.form);
            while roots.advance() {
                seen.thresholds.lower(roots.key, self.shared.from + 1).expect("it is there");
            }
            Ok(())
        });
        if registered.is_err() {
            let _ = self.shared.stop.set(Stop::Memory);
        }
    }

    /// Explores the frontier to the bound, by several workers if there is enough to do. One that leaves because memory is
    /// short puts back what it had.
    pub(super) fn bound(&mut self, observer: &mut dyn Observer) {
        while self.shared.stop.get().is_none() && !self.chunks().is_empty() {
            self.explore(observer);
        }
    }

    fn explore(&mut self, observer: &mut dyn Observer) {
        let is_shared =
            self.shared.pending() >= self.shared.job.limits.grain as u64 && !self.shared.has(Relief::Thread);
        let count = if is_shared { self.chunks().len().min(self.shared.job.limits.threads).max(1) } else { 1 };
        while self.workers.len() < count {
            let seen = self.shared.seen.get_mut().expect("no worker panics with it");
            self.workers.push(Worker::new(self.shared.model, &seen.codec));
        }
        self.shared.busy = AtomicUsize::new(count);
        let shared = &self.shared;
        let first = |worker: &mut Worker<C>| worker.run(&mut Turn::new(shared, Some(observer)));
        let other = |worker: &mut Worker<C>| worker.run(&mut Turn::new(shared, None));
        let call_back = || _ = shared.stop.set(Stop::Interrupt);
        crew::together("depth", &mut self.workers[..count], &call_back, first, &other);
    }

    /// The search is complete if no successor of the last frontier is new, although it lies beyond the bound.
    pub(super) fn close(&mut self, observer: &mut dyn Observer) -> Stop {
        let mut chunks = std::mem::take(self.chunks());
        let mut cutoff = Cutoff::new(self.shared.model.transitions());
        let stop = self.each(&mut chunks, 1, WAITING, Some(observer), |worker, turn, root| {
            worker.go(turn, root);
            worker.edge(turn, &mut cutoff);
        });
        *self.chunks() = chunks;
        if stop.is_none() {
            self.cutoff = cutoff;
        }
        stop.unwrap_or(if self.cutoff.is_open() { Stop::Depth } else { Stop::Exhausted })
    }

    /// What waits when the search is ended early: the rest of the frontier, what was met at the next bound, and what was
    /// being explored.
    fn cut(&mut self) -> Cutoff {
        let mut here = std::mem::take(self.chunks());
        let mut next = std::mem::take(self.shared.next.get_mut().expect("no worker panics with it"));
        let begun: Vec<Vec<u32>> =
            self.workers.iter_mut().flat_map(|worker| std::mem::take(&mut worker.begun)).collect();
        let (waiting, begun_states) = (self.shared.pending(), begun.len() as u64);
        let every = (here.states + next.states).div_ceil(MOST_READ).max(1) as usize;
        let about = (here.states + next.states) / every as u64 + begun_states;
        let mut survey = Survey::new(self.shared.model, about);
        let mark = if self.shared.from < self.shared.to { self.shared.from + 1 } else { WAITING };
        let mut is_read = every == 1;
        for (chunks, mark) in [(&mut here, mark), (&mut next, WAITING)] {
            let stop = self.each(chunks, every, mark, None, |worker, turn, root| {
                if survey.counts() {
                    worker.go(turn, root);
                    survey.look(worker.state());
                }
            });
            is_read &= stop.is_none();
        }
        let (worker, turn) = (&mut self.workers[0], Turn::new(&self.shared, None));
        for state in begun {
            if survey.counts() {
                let mut fired = std::mem::take(&mut worker.counts.fired);
                survey.look_beyond(&state, &mut fired, |state| turn.is_known(state));
                worker.counts.fired = fired;
            }
        }
        let cutoff = survey.cutoff();
        debug_assert!(!is_read || cutoff.states == waiting + begun_states, "what waits was counted all the time");
        Cutoff { states: waiting + begun_states, ..cutoff }
    }

    /// Looks at each state that still has a mark in every so many chunks of a frontier, until the observer ends that.
    fn each(
        &mut self,
        chunks: &mut SpillQueue,
        every: usize,
        mark: u32,
        observer: Option<&mut dyn Observer>,
        mut look: impl FnMut(&mut Worker<C>, &Turn<'_, '_, C>, &Reader<'_>),
    ) -> Option<Stop> {
        let is_watched = observer.is_some();
        let (worker, mut turn) =
            (&mut self.workers[0], Turn::new(&self.shared, observer.map(|observer| observer as _)));
        let looked = chunks.each_of(every, |chunk| {
            let mut roots = Reader::new(chunk, &turn.shared.form);
            while roots.advance() {
                if turn.seen().thresholds.get(roots.key) == mark {
                    if is_watched && worker.tick(&mut turn).is_break() {
                        return Err(ErrorKind::Interrupted.into());
                    }
                    look(worker, &turn, &roots);
                }
            }
            Ok(())
        });
        // What cannot be read was put outside because memory was short.
        looked.is_err().then(|| self.shared.stop.get().copied().unwrap_or(Stop::Memory))
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts { fired: vec![false; self.shared.model.transitions()], ..Counts::default() };
        self.workers.iter().for_each(|worker| counts.add(&worker.counts));
        counts
    }

    pub(super) fn finish(mut self, stopped: Stop) -> Hunt {
        if !matches!(stopped, Stop::Exhausted | Stop::Depth | Stop::Goal) {
            self.cutoff = self.cut();
        }
        let counts = self.counts();
        let waiting = self.shared.waiting();
        let Shared { model, seen, states, transitions, found, initial, relief, .. } = self.shared;
        let seen = seen.into_inner().expect("no worker panics with it");
        let states = states.into_inner();
        let stats = Stats {
            states,
            transitions: transitions.into_inner(),
            max_depth: counts.max_depth,
            revisits: counts.revisits,
            cut: counts.cut,
            peak_frontier: counts.peak_frontier,
            store_bytes: seen.bytes(),
            cutoff: self.cutoff,
            engine: EngineStats::Bounded(BoundedStats {
                bounds: self.bounds,
                frontier: Some(FrontierStats {
                    kind: waiting.word(),
                    states: self.largest.1,
                    bytes: self.largest.0,
                    peak_bytes: self.most_bytes,
                    replays: counts.replays,
                    replayed: counts.replayed,
                }),
                relief: relief.into_inner().expect("no worker panics with it"),
            }),
            ..Stats::default()
        };
        let depth = if stopped == Stop::Exhausted { None } else { Some(self.covered) };
        let coverage = match (seen.codec.omission(states), depth) {
            (None, None) => Coverage::Complete,
            (None, Some(Some(bound))) => Coverage::Depth(bound),
            // The bound on the probability is the mean number of pairs that collide.
            (Some(omission_probability), depth @ (None | Some(Some(_)))) => Coverage::Hashed {
                depth: depth.flatten(),
                omission_probability,
                expected_omissions: omission_probability,
            },
            (_, Some(None)) => Coverage::Partial(states),
        };
        // What may have been lost to hashing is not known to be absent.
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |positions: Option<Vec<u32>>| match positions {
            Some(positions) => Outcome::Found(run(model, &initial, &positions).expect("models are deterministic").0),
            None => absent.clone(),
        };
        let outcomes = found.into_inner().expect("no worker panics with it").into_iter().map(outcome).collect();
        Hunt { outcomes, coverage, stopped, stats, fired: counts.fired }
    }
}

/// What can be done when memory is short. Who said how states wait means it.
fn reliefs(job: &Job, waiting: Waiting) -> Vec<Relief> {
    if Waiting::of(job).is_some() {
        return Vec::new();
    }
    let tree = (waiting == Waiting::States).then_some(Relief::Tree);
    let thread = (job.limits.threads > 1).then_some(Relief::Thread);
    tree.into_iter().chain([Relief::Disk]).chain(thread).collect()
}

/// The steps of a trace that is given by positions, and where it leads; `None` if there are no such steps.
pub(super) fn run(model: &dyn Model, initial: &Successors, positions: &[u32]) -> Option<(Trace, Vec<u32>)> {
    let (&first, rest) = positions.split_first().filter(|(first, _)| (**first as usize) < initial.len())?;
    let mut trace = Trace { initial: first, ..Trace::default() };
    let mut state = initial.state(first as usize).to_vec();
    let mut batch = Successors::in_parts(model.words());
    for &position in rest {
        let place = batch.nth(model, &state, position)?;
        trace.steps.push(batch.step(place));
        state.copy_from_slice(batch.state(place));
    }
    Some((trace, state))
}
