//! Several highway searches of one model, one after the other or side by side, each with a seed of its own.
//!
//! The runs are independent, so that fruitless ones say something of the next: if a run finds a violation with probability
//! `rate`, then `ln(1 - confidence) / ln(1 - rate)` of them all miss it with probability `1 - confidence` at most.
//! Runs are numbered, and what comes after the first that ends it all does not count: so the result is the same for any
//! number of threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use birk_ir::Stop;

use super::options::Highway;
use crate::crew::{self, Leaving};
use birk_engine::{Limits, Observer, Progress};

/// The observer is asked so often while threads are at work.
const PERIOD: Duration = Duration::from_millis(10);

/// Which runs there are.
#[derive(Clone, Copy, Debug)]
pub struct Swarm {
    /// The first; each further one has the next seed.
    pub first: Highway,
    /// How many at most.
    pub count: u64,
    /// Each run is twice as wide as the one before.
    pub doubles: bool,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Ran<R> {
    /// For the caller.
    pub result: R,
    /// States that it visited.
    pub states: u64,
    /// Nothing need be examined after this run.
    pub is_last: bool,
}

impl Swarm {
    /// How many runs must find nothing so that a search which finds something with this probability or a larger one is
    /// ruled out with this confidence.
    pub fn for_confidence(confidence: f64, rate: f64) -> u64 {
        ((1.0 - confidence).ln() / (1.0 - rate).ln()).ceil() as u64
    }

    /// The probability of finding something that so many fruitless runs rule out with this confidence.
    pub fn rate_after(confidence: f64, runs: u64) -> f64 {
        1.0 - (1.0 - confidence).powf(1.0 / runs as f64)
    }

    /// The run of this number.
    pub fn highway(&self, number: u64) -> Highway {
        let widened = if self.doubles { 1usize.checked_shl(number.min(63) as u32).unwrap_or(usize::MAX) } else { 1 };
        let seed = self.first.seed.wrapping_add(number);
        Highway { width: self.first.width.saturating_mul(widened), seed, ..self.first }
    }

    /// The results of all runs up to the first that is the last, or until more states than the limit were visited.
    pub fn hunt<R: Send>(
        &self,
        limits: Limits,
        observer: &mut dyn Observer,
        one: &(dyn Fn(&Highway, Limits, &mut dyn Observer) -> Ran<R> + Sync),
    ) -> Vec<R> {
        let threads = limits.threads.clamp(1, self.count.clamp(1, 1 << 16) as usize);
        if threads == 1 {
            return self.alone(limits, observer, one);
        }
        let limits = Limits { threads: 1, memory: limits.memory / threads as u64, ..limits };
        let shared = Shared { state: Mutex::new(State::new(self.count, threads)), change: Condvar::new() };
        std::thread::scope(|scope| {
            let mut workers = Vec::new();
            // This thread does nothing that counts, but may fail to start the others.
            let _leaving = Leaving(|panics| {
                if panics {
                    shared.lock().stop = Some(Stop::Interrupt);
                }
            });
            for worker in 0..threads {
                let shared = &shared;
                let run = move || {
                    let _leaving = Leaving(|panics| shared.leave(panics));
                    while let Some(number) = shared.begin(worker) {
                        let mut witness = Witness { shared, worker, number };
                        let ran = one(&self.highway(number), limits, &mut witness);
                        shared.end(number, ran, limits.states);
                    }
                };
                workers.push(crew::start(scope, "highway", worker, run));
            }
            shared.watch(observer);
            workers.into_iter().for_each(crew::join);
        });
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let last = state.last;
        state.results.into_iter().filter(|&(number, _)| number <= last).map(|(_, ran)| ran.result).collect()
    }

    fn alone<R>(
        &self,
        limits: Limits,
        observer: &mut dyn Observer,
        one: &(dyn Fn(&Highway, Limits, &mut dyn Observer) -> Ran<R> + Sync),
    ) -> Vec<R> {
        let (mut results, mut states) = (Vec::new(), 0u64);
        for number in 0..self.count {
            let ran = one(&self.highway(number), limits, observer);
            states = states.saturating_add(ran.states);
            results.push(ran.result);
            if ran.is_last || states > limits.states {
                break;
            }
        }
        results
    }
}

/// What the threads share.
struct Shared<R> {
    state: Mutex<State<R>>,
    change: Condvar,
}

struct State<R> {
    /// The run to begin next.
    next: u64,
    /// No run after this one counts.
    last: u64,
    results: BTreeMap<u64, Ran<R>>,
    /// How each thread stands with its run.
    progress: Vec<Progress>,
    working: usize,
    stop: Option<Stop>,
}

impl<R> State<R> {
    fn new(count: u64, threads: usize) -> Self {
        Self {
            next: 0,
            last: count.saturating_sub(1),
            results: BTreeMap::new(),
            progress: vec![Progress::default(); threads],
            working: threads,
            stop: None,
        }
    }
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, worker: usize) -> Option<u64> {
        let mut state = self.lock();
        state.progress[worker] = Progress::default();
        let number = state.next;
        (number <= state.last && state.stop.is_none()).then(|| {
            state.next += 1;
            number
        })
    }

    /// A thread will begin no other run. When it panics, the others need not go on.
    fn leave(&self, panics: bool) {
        let mut state = self.lock();
        state.working -= 1;
        if panics {
            state.stop.get_or_insert(Stop::Interrupt);
        }
        self.change.notify_all();
    }

    fn end(&self, number: u64, ran: Ran<R>, most: u64) {
        let mut state = self.lock();
        if ran.is_last {
            state.last = state.last.min(number);
        }
        state.results.insert(number, ran);
        // The runs that are done without a gap, and their states.
        let mut states = 0u64;
        let done = state.results.iter().zip(0u64..).take_while(|((number, _), place)| *number == place);
        let full = done.map(|((number, ran), _)| {
            states = states.saturating_add(ran.states);
            (*number, states)
        });
        if let Some((number, _)) = full.into_iter().find(|(_, states)| *states > most) {
            state.last = state.last.min(number);
        }
    }

    /// Lets the observer hear how all threads stand, until they are done.
    fn watch(&self, observer: &mut dyn Observer) {
        let mut state = self.lock();
        while state.working > 0 {
            let done: u64 = state.results.values().map(|ran| ran.states).sum();
            let sum = |of: fn(&Progress) -> u64| state.progress.iter().map(of).sum::<u64>();
            let progress = Progress {
                states: done + sum(|one| one.states),
                transitions: sum(|one| one.transitions),
                depth: state.progress.iter().map(|one| one.depth).max().unwrap_or(0),
                frontier: sum(|one| one.frontier),
                bytes: sum(|one| one.bytes),
                ..Progress::default()
            };
            if let (None, ControlFlow::Break(stop)) = (state.stop, observer.progress(&progress)) {
                state.stop = Some(stop);
            }
            state = self.change.wait_timeout(state, PERIOD).map_or_else(|error| error.into_inner().0, |woken| woken.0);
        }
    }
}

/// Tells how a run goes to whoever watches all of them.
struct Witness<'a, R> {
    shared: &'a Shared<R>,
    worker: usize,
    number: u64,
}

impl<R> Observer for Witness<'_, R> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        let mut state = self.shared.lock();
        state.progress[self.worker] = *progress;
        match state.stop {
            Some(stop) => ControlFlow::Break(stop),
            // An earlier run has ended it all: what this one finds does not count.
            None if self.number > state.last => ControlFlow::Break(Stop::Interrupt),
            None => ControlFlow::Continue(()),
        }
    }
}
