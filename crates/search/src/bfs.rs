//! Breadth-first search, level by level, on one thread or several.
//!
//! Every state of a level is expanded before the next level begins, so a state's depth is the length of a shortest path to
//! it whatever the number of threads. A state is evaluated when it is expanded, because only then is it known to be stuck.
//! The level in which the search ends at a goal is evaluated to its end: what is found, and what is counted, does not depend
//! on who was first. At the depth limit states are still evaluated, and the search is complete if nothing new lies beyond.

pub(crate) mod queue;
pub(crate) mod saved;
pub(crate) mod trace;
mod transient;
pub(crate) mod visited;
pub(crate) mod worker;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use birk_engine::{Cutoff, GoalSet, Hunt, Job, Model, Observer, Progress, Stats};
use birk_ir::{Coverage, Outcome, Stop, Trace};

use crate::crew;
use crate::cutoff::Survey;
use crate::levels::limits::{Flow, Halt, nothing, told};
use crate::levels::log::Record;
use crate::store::codec::Codec;
use crate::store::with_codec::{Keys, WithCodec, with_codec};
use queue::LevelQueue;
use saved::Saved;
use trace::{Target, retrace};
use visited::Visited;
use worker::{Begun, Counts, Level, Worker};

/// Bytes that each worker may have twice, in the old table and in the new one, while it moves keys.
pub(crate) const MOVING: u64 = 4 << 20;
/// Levels with fewer grains of packed states are expanded by one thread: starting others would take longer.
const WORTH_SHARING: u64 = 8;

/// Searches until a level is empty, a limit is met, or a goal is found at which the search ends.
pub(crate) fn breadth_first(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    with_codec(model, job, Keys::Growing, BreadthFirst { model, job, observer })
}

struct BreadthFirst<'a, 'o> {
    model: &'a dyn Model,
    job: &'a Job,
    observer: &'o mut dyn Observer,
}

impl WithCodec for BreadthFirst<'_, '_> {
    type Output = Hunt;

    fn run<C: Codec>(self, codec: C) -> Hunt {
        let Self { model, job, observer } = self;
        let (saved, records) = match Saved::open(model, job, observer) {
            Ok(opened) => opened.unzip(),
            Err(halt) => return nothing(model, job, halt, observer),
        };
        let search = Search {
            model,
            job,
            workers: vec![Worker::new(model, job, &codec)],
            visited: Visited::new(codec),
            counts: Counts::default(),
            depth: u32::MAX,
            evaluated: None,
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            cut: 0,
            // A level that is kept in files has every state once.
            forgets_beyond: transient::forgets_beyond(model, job).filter(|_| saved.is_none()),
            forgets: false,
            is_unknown: false,
            saved,
            stats: Stats::default(),
        };
        search.run(&records.unwrap_or_default(), observer)
    }
}

struct Search<'a, C: Codec> {
    model: &'a dyn Model,
    job: &'a Job,
    visited: Visited<C>,
    workers: Vec<Worker<C>>,
    counts: Counts,
    /// Of the level being expanded; before the first, one less than 0.
    depth: u32,
    /// Depth of the last level evaluated to its end.
    evaluated: Option<u32>,
    /// The state chosen for each goal.
    found: Vec<Option<Target>>,
    /// What was taken and cut before the search was taken up.
    fired: Vec<bool>,
    cut: u64,
    saved: Option<Saved>,
    /// How many states it holds when it begins to forget some; whether it does; and whether it did so in the level before.
    forgets_beyond: Option<u64>,
    forgets: bool,
    is_unknown: bool,
    stats: Stats,
}

/// How a level ended.
enum End {
    /// The next one waits.
    Next(LevelQueue),
    /// The search is over.
    Over(Stop),
}

impl<C: Codec> Search<'_, C> {
    fn run(mut self, records: &[Record], observer: &mut dyn Observer) -> Hunt {
        match self.search(records, observer) {
            Ok(stop) => self.finish(stop, observer),
            Err(halt @ Halt::Refused(_)) => nothing(self.model, self.job, halt, observer),
            Err(halt) => {
                let stopped = told(halt, observer);
                self.finish(stopped, observer)
            }
        }
    }

    fn search(&mut self, records: &[Record], observer: &mut dyn Observer) -> Flow<Stop> {
        let mut here = self.restore(records, observer)?;
        if !records.is_empty() && self.depth > self.job.limits.depth {
            self.stats.cutoff = self.waiting(&here, &LevelQueue::default(), &[]);
            return Ok(Stop::Depth);
        }
        loop {
            match self.level(&here, observer) {
                End::Over(stop) => return Ok(stop),
                End::Next(next) if next.words() == 0 => return Ok(self.exhausted()),
                End::Next(next) => here = next,
            }
            self.depth = self.depth.wrapping_add(1);
            if let Err(halt) = self.save(&here, observer) {
                self.stats.cutoff = self.waiting(&here, &LevelQueue::default(), &[]);
                return Err(halt);
            }
        }
    }

    /// Which transitions were taken.
    fn fired(&self) -> Vec<bool> {
        let mut fired = self.fired.clone();
        for worker in &self.workers {
            fired.iter_mut().zip(&worker.fired).for_each(|(all, one)| *all |= one);
        }
        fired
    }

    /// Branches that an `assume` cut.
    fn cut(&self) -> u64 {
        self.cut + self.workers.iter().map(Worker::cut).sum::<u64>()
    }

    fn exhausted(&self) -> Stop {
        if self.workers.iter().any(|worker| worker.edge.is_open()) { Stop::Depth } else { Stop::Exhausted }
    }

    /// Expands one level, growing the visited set as often as needed.
    fn level(&mut self, here: &LevelQueue, observer: &mut dyn Observer) -> End {
        let next = LevelQueue::default();
        let states_before = self.counts.states.load(Ordering::Relaxed);
        let packed_words = self.visited.codec.packed_words() as u64;
        let waiting = here.words() / packed_words;
        let held = self.counts.held.load(Ordering::Relaxed);
        self.is_unknown = self.forgets;
        let is_settled = self.visited.codec.is_settled();
        self.forgets |= is_settled && self.forgets_beyond.is_some_and(|beyond| held >= beyond);
        let may_forget = transient::may_forget(self.depth, &self.counts);
        let (mut evaluating, mut is_full) = (false, false);
        let mut begun = Mutex::default();
        let known_goals = GoalSet(self.counts.goals.load(Ordering::Relaxed));
        let stop = loop {
            let level = Level {
                model: self.model,
                job: self.job,
                visited: &self.visited,
                depth: self.depth,
                here,
                next: &next,
                counts: &self.counts,
                is_unknown: self.is_unknown,
                forgets: self.forgets,
                may_forget,
                is_full,
                known_goals,
                needs_room: AtomicBool::new(false),
                evaluating: AtomicBool::new(evaluating),
                stop: OnceLock::new(),
                begun: &begun,
            };
            expand(&mut self.workers, &level, observer);
            evaluating = level.evaluating.load(Ordering::Relaxed);
            if let Some(&stop) = level.stop.get() {
                break Some(stop);
            }
            let needs_room = level.needs_room.load(Ordering::Relaxed);
            // States that are remembered late are remembered to the end of the level.
            let may_grow = !evaluating || self.is_unknown && !is_full;
            if needs_room && may_grow && !self.make_room(here, &next, known_goals, observer) {
                if !evaluating {
                    break Some(Stop::Memory);
                }
                is_full = true;
            }
            if here.words() == 0 && begun.get_mut().is_ok_and(|begun| begun.is_empty()) {
                self.evaluated = Some(self.depth).filter(|&depth| depth != u32::MAX);
                break None;
            }
        };
        self.gather();
        let reached = self.counts.states.load(Ordering::Relaxed) - states_before;
        // What waits more than once is one state.
        self.stats.peak_frontier = self.stats.peak_frontier.max(if self.is_unknown { reached } else { waiting });
        if evaluating && !self.forgets {
            // What was reached of the next level before that was known does not count.
            self.counts.states.store(states_before, Ordering::Relaxed);
            return End::Over(Stop::Goal);
        }
        if stop.is_some() && !evaluating {
            let begun = begun.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.stats.cutoff = self.waiting(here, &next, &begun);
        }
        if reached > 0 {
            self.stats.levels.push(reached);
            self.stats.max_depth = if self.is_unknown { self.depth } else { self.depth.wrapping_add(1) };
        }
        if evaluating {
            return End::Over(Stop::Goal);
        }
        stop.map_or(End::Next(next), End::Over)
    }

    /// Grows the visited set, and inserts the states that had no room in it; false when the memory does not suffice.
    fn make_room(
        &mut self,
        here: &LevelQueue,
        next: &LevelQueue,
        known_goals: GoalSet,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut deferred = Vec::new();
        for worker in &mut self.workers {
            deferred.append(&mut worker.deferred);
        }
        let mut waiting = deferred.chunks(self.model.words()).peekable();
        loop {
            let held = self.counts.held.load(Ordering::Relaxed);
            let frontier = (here.words() + next.words()) * 4;
            let beside = frontier + self.counts.batches.load(Ordering::Relaxed);
            let overhead = observer.overhead(self.visited.bytes() + beside);
            let moving = self.visited.bytes().min(self.workers.len() as u64 * MOVING);
            let budget = self.job.limits.memory.saturating_sub(beside + overhead + moving);
            if !self.visited.grow(held, budget, self.workers.len()) {
                return false;
            }
            let level = Level {
                model: self.model,
                job: self.job,
                visited: &self.visited,
                depth: self.depth,
                here,
                next,
                counts: &self.counts,
                is_unknown: self.is_unknown,
                forgets: self.forgets,
                may_forget: false,
                is_full: false,
                known_goals,
                needs_room: AtomicBool::new(false),
                evaluating: AtomicBool::new(false),
                stop: OnceLock::new(),
                begun: &Mutex::default(),
            };
            let worker = &mut self.workers[0];
            while waiting.next_if(|state| worker.retry(&level, state)).is_some() {}
            worker.flush(&level);
            if waiting.peek().is_none() {
                return true;
            }
        }
    }

    /// What waits when a search is ended early: packed states of both levels, states of which only a part of the successors was
    /// taken, and states for which there was no room.
    fn waiting(&mut self, here: &LevelQueue, next: &LevelQueue, begun: &[Begun]) -> Cutoff {
        let words = self.visited.codec.packed_words();
        let deferred: Vec<u32> =
            self.workers.iter_mut().flat_map(|worker| std::mem::take(&mut worker.deferred)).collect();
        let deferred = deferred.chunks(self.model.words());
        let mut survey = Survey::new(self.model, (here.words() + next.words()) / words as u64 + deferred.len() as u64);
        let mut state = vec![0; self.model.words()];
        while let Some(chunk) = here.pop().or_else(|| next.pop()) {
            for packed in chunk.chunks(words) {
                if survey.counts() {
                    self.visited.codec.open(packed, &mut self.workers[0].parent, &mut state);
                    survey.look(&state);
                }
            }
        }
        for begun in begun {
            self.visited.codec.open(&begun.packed, &mut self.workers[0].parent, &mut state);
            survey.wait(&state);
        }
        deferred.for_each(|state| survey.wait(state));
        survey.cutoff()
    }

    /// Takes from the workers the goals they found in a level: the smallest state for each.
    fn gather(&mut self) {
        for (goal, found) in self.found.iter_mut().enumerate() {
            let states = self.workers.iter_mut().filter_map(|worker| worker.found[goal].take());
            let smallest = states.min();
            if let (None, Some(state)) = (&found, smallest) {
                *found = Some(Target { depth: self.depth, state });
            }
        }
    }

    fn finish(mut self, stopped: Stop, observer: &mut dyn Observer) -> Hunt {
        let memory = self.job.limits.memory.saturating_sub(observer.overhead(self.visited.bytes()));
        self.stats.states = self.counts.states.load(Ordering::Relaxed);
        self.stats.transient = self.counts.transient.load(Ordering::Relaxed);
        self.stats.transitions = self.counts.transitions.load(Ordering::Relaxed);
        self.stats.cut = self.cut();
        self.stats.store_bytes = self.visited.bytes();
        let fired = self.fired();
        if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
            self.workers.iter().for_each(|worker| self.stats.cutoff.join(&worker.edge));
        }
        let coverage = self.coverage(stopped);
        // What may have been lost to hashing is not known to be absent.
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let targets: Vec<Target> = self.found.iter().flatten().cloned().collect();
        let (traces, ended) = self.traces(&targets, memory, observer);
        let mut traces = traces.into_iter();
        let mut outcome = |found: &Option<Target>| match found {
            None => absent.clone(),
            Some(target) => match traces.next().flatten() {
                Some(trace) => Outcome::Found(trace),
                None if ended.is_some() => Outcome::Untraced(target.depth),
                None => Outcome::Inconclusive,
            },
        };
        let outcomes: Vec<Outcome> = self.found.iter().map(&mut outcome).collect();
        let is_untraced = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Untraced(_)));
        let stopped = match (stopped, ended) {
            (Stop::Goal, Some(ended)) if is_untraced => ended,
            (stopped, _) => stopped,
        };
        Hunt { outcomes, coverage, stopped, stats: self.stats, fired }
    }

    /// A trace to each target, and why some are missing.
    fn traces(
        &self,
        targets: &[Target],
        memory: u64,
        observer: &mut dyn Observer,
    ) -> (Vec<Option<Trace>>, Option<Stop>) {
        let progress = Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.stats.max_depth,
            frontier: 0,
            bytes: self.visited.bytes(),
            ..Progress::default()
        };
        let mut ended = None;
        let mut may_go_on = || {
            // Any amount of memory will do.
            if let ControlFlow::Break(stop @ (Stop::Time | Stop::Interrupt)) = observer.progress(&progress) {
                ended = Some(stop);
            }
            ended.is_none()
        };
        (retrace((self.model, self.forgets), &self.visited, targets, memory, &mut may_go_on), ended)
    }

    /// What was examined: everything up to the last level evaluated to its end.
    fn coverage(&self, stopped: Stop) -> Coverage {
        let depth = if stopped == Stop::Exhausted { None } else { Some(self.evaluated) };
        match (self.visited.codec.omission(self.stats.states), depth) {
            (None, None) => Coverage::Complete,
            (None, Some(Some(depth))) => Coverage::Depth(depth),
            // The bound on the probability is the mean number of pairs that collide.
            (Some(omission_probability), depth @ (None | Some(Some(_)))) => Coverage::Hashed {
                depth: depth.flatten(),
                omission_probability,
                expected_omissions: omission_probability,
            },
            (_, Some(None)) => Coverage::Partial(self.stats.states),
        }
    }
}

/// Runs the workers on a level: one of them, or all if there is enough to do.
fn expand<C: Codec>(workers: &mut Vec<Worker<C>>, level: &Level<'_, C>, observer: &mut dyn Observer) {
    let is_shared = level.here.words() / (level.visited.codec.packed_words() as u64)
        >= WORTH_SHARING * level.job.limits.grain as u64;
    while is_shared && workers.len() < level.job.limits.threads {
        workers.push(Worker::new(level.model, level.job, &level.visited.codec));
    }
    if level.depth == u32::MAX {
        workers[0].begin(level);
    } else if !is_shared {
        workers[0].run(level, Some(observer));
    } else {
        let call_back = || _ = level.stop.set(Stop::Interrupt);
        let first = |worker: &mut Worker<C>| worker.run(level, Some(observer));
        crew::together("bfs", workers, &call_back, first, &|worker| worker.run(level, None));
    }
}
