//! Breadth-first search beyond memory: levels and the visited set are sorted runs in files, and only the successors of the level that
//! is being expanded are in memory, as many as fit (delayed duplicate detection: Korf, "Best-first frontier search with delayed
//! duplicate detection", 2004; Stern and Dill, "Using magnetic disk instead of main memory in the Murphi verifier", 1998).
//!
//! A level is read in the order of its keys and expanded; its successors are sorted, and taken away from them is whatever a run of
//! visited states has. The rest is the next level, and the newest run. Goals are evaluated as in `bfs`, and counts are the same.

mod edge;
mod expand;
mod history;
mod restore;
mod settle;
mod shared;
mod slices;
mod trace;
mod worker;

use birk_engine::{Cutoff, DiskStats, EngineOption, EngineStats, GoalSet, Hunt, Job, Kind, Model, Observer, Stats};
use birk_ir::{Coverage, Outcome, Stop};
use birk_runs::{Cursor, Run};

use crate::bfs::trace::Target;
use crate::cutoff::Survey;
use crate::levels::head::{self, Head};
use crate::levels::limits::{Flow, Halt, nothing, told};
use crate::levels::log::{Log, Record};
use crate::levels::vault::Vault;
use history::History;
use shared::Shared;
use worker::Worker;

/// Bytes of all files.
pub const MAX_DISK: EngineOption = EngineOption {
    name: "max-disk",
    kind: Kind::Size,
    default: None,
    help: "use at most this much room for files, for example 200G [default: no limit]",
    excludes: &[],
    keeps_shortest: true,
};

/// Of a level that waits, states of so many blocks are examined.
const BLOCKS_EXAMINED: usize = 64;

/// Searches level by level until one is empty, a limit is met, or a goal is found at which the search ends.
pub(crate) fn disk_search(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    let files = observer.outside().and_then(|outside| outside.files());
    let vault = Vault::new(files, MAX_DISK.number(&job.options).unwrap_or(u64::MAX));
    let shared = Shared::new(model, job, vault);
    let kept = head::introduce(&Head::new(model, job, &shared.keys), observer);
    let (log, records) = match kept.and_then(|kept| head::open(kept, &shared.vault)) {
        Ok(opened) => opened,
        Err(halt) => return nothing(model, job, halt, observer),
    };
    let fired = vec![false; model.transitions()];
    let search = Search {
        workers: vec![Worker::new(&shared, &fired)],
        shared,
        log,
        history: History::default(),
        goals: GoalSet::default(),
        found: vec![None; job.goals],
        fired,
        edge: Cutoff::new(model.transitions()),
        cut: 0,
        phase: Phase::Expanding,
        depth: 0,
        level: None,
        evaluated: None,
        stats: Stats::default(),
    };
    search.run(&records, observer)
}

/// What a search is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// States of the last level are expanded.
    Expanding,
    /// All are, and the next level is being made.
    Settling,
}

struct Search<'a> {
    shared: Shared<'a>,
    /// The first works alone where there is little to do.
    workers: Vec<Worker>,
    log: Log,
    history: History,
    /// The goals found so far, and where they are.
    goals: GoalSet,
    found: Vec<Option<Target>>,
    fired: Vec<bool>,
    /// What lies beyond the depth limit.
    edge: Cutoff,
    /// Branches that were pruned before the search was taken up.
    cut: u64,
    phase: Phase,
    /// The last level, and its depth: there may be nothing in it but results of failing checks.
    depth: u32,
    level: Option<Run>,
    /// Depth of the last level evaluated to its end.
    evaluated: Option<u32>,
    stats: Stats,
}

impl Search<'_> {
    fn run(mut self, records: &[Record], observer: &mut dyn Observer) -> Hunt {
        let stopped = match self.search(records, observer) {
            Ok(stop) => stop,
            Err(halt @ Halt::Stop(_)) => {
                self.stats.cutoff = self.waiting();
                told(halt, observer)
            }
            Err(halt @ Halt::Refused(_)) => return nothing(self.shared.model, self.shared.job, halt, observer),
            Err(halt @ Halt::Failed(_)) => {
                // What was found is not looked for in files that cannot be relied on.
                self.gather();
                let stopped = told(halt, observer);
                return self.answer(stopped, |target| Outcome::Untraced(target.depth));
            }
        };
        self.gather();
        self.finish(stopped, observer)
    }

    fn search(&mut self, records: &[Record], observer: &mut dyn Observer) -> Flow<Stop> {
        if !records.is_empty() {
            self.restore(records, observer)?;
        } else if !self.begin(observer)? {
            return Ok(Stop::Exhausted);
        }
        loop {
            if self.stats.states > self.shared.job.limits.states {
                return Err(Halt::Stop(Stop::States));
            }
            let depth = self.depth;
            if depth > self.shared.job.limits.depth {
                return Err(Halt::Stop(Stop::Depth));
            }
            let is_over = self.expand(observer)?;
            self.evaluated = Some(depth);
            self.gather();
            if is_over {
                return Ok(Stop::Goal);
            }
            self.phase = Phase::Settling;
            if depth == self.shared.job.limits.depth {
                return Ok(if self.look_beyond(observer)? { Stop::Depth } else { Stop::Exhausted });
            }
            if !self.settle(observer)? {
                return Ok(Stop::Exhausted);
            }
            self.phase = Phase::Expanding;
        }
    }

    /// What is known now, with a level of so many states, without the results of failing checks.
    fn record(&self, new: u64) -> Record {
        Record {
            new,
            states: self.stats.states,
            transitions: self.stats.transitions,
            cut: self.cut(),
            peak_frontier: self.stats.peak_frontier,
            found: self.found.iter().map(|found| found.as_ref().map(|at| (at.depth, at.state.clone()))).collect(),
            fired: self.fired.clone(),
            ..Record::default()
        }
    }

    /// Branches that were pruned.
    fn cut(&self) -> u64 {
        self.cut + self.workers.iter().map(|worker| worker.batch.cut).sum::<u64>()
    }

    /// What waits when a search is ended early: a level of which not all states were expanded, or successors of which it is not known
    /// which of them are new.
    fn waiting(&self) -> Cutoff {
        let Shared { model, keys, .. } = &self.shared;
        let words = keys.words();
        let mut state = vec![0; model.words()];
        let mut look = |survey: &mut Survey<'_>, list: &[u64]| {
            for key in list.chunks_exact(words) {
                if survey.counts() {
                    keys.unpack(key, &mut state);
                    survey.look(&state);
                }
            }
        };
        if self.phase == Phase::Settling {
            let lists = || self.workers.iter().map(|worker| &worker.candidates.keys);
            let mut survey = Survey::new(*model, lists().map(|list| (list.len() / words) as u64).sum());
            lists().for_each(|list| look(&mut survey, list));
            return Cutoff { states: self.waiting_keys(), is_estimate: true, ..survey.cutoff() };
        }
        let Some(level) = &self.level else { return Cutoff::new(model.transitions()) };
        let every = level.blocks().div_ceil(BLOCKS_EXAMINED).max(1);
        let mut survey = Survey::new(*model, level.keys() / every as u64);
        let mut cursor = Cursor::new(level.clone(), 0);
        for block in (0..level.blocks()).step_by(every) {
            cursor.seek(block..block + 1);
            // What cannot be read is not examined.
            let Ok(true) = cursor.refill() else { break };
            look(&mut survey, cursor.head());
        }
        Cutoff { states: level.keys(), ..survey.cutoff() }
    }

    /// Takes from the workers what they found in a level: the smallest state for each goal, and which transitions were taken.
    fn gather(&mut self) {
        for (goal, found) in self.found.iter_mut().enumerate() {
            let smallest = self.workers.iter_mut().filter_map(|worker| worker.here[goal].take()).min();
            if let (None, Some(state)) = (&found, smallest) {
                *found = Some(Target { depth: self.depth, state });
            }
        }
        for worker in &self.workers {
            self.fired.iter_mut().zip(&worker.fired).for_each(|(all, one)| *all |= one);
        }
    }

    fn finish(self, stopped: Stop, observer: &mut dyn Observer) -> Hunt {
        let targets: Vec<Target> = self.found.iter().flatten().cloned().collect();
        let (traces, ended) = self.traces(&targets, observer);
        let stopped = match (stopped, ended) {
            (Stop::Goal, Some(ended)) if traces.iter().any(Option::is_none) => ended,
            (stopped, _) => stopped,
        };
        let mut traces = traces.into_iter();
        self.answer(stopped, |target| match traces.next().flatten() {
            Some(trace) => Outcome::Found(trace),
            None => Outcome::Untraced(target.depth),
        })
    }

    /// What is said in the end, given what is said of each goal that was found.
    fn answer(mut self, stopped: Stop, outcome_of: impl FnMut(&Target) -> Outcome) -> Hunt {
        self.stats.cut = self.cut();
        self.stats.store_bytes = self.shared.memory();
        if stopped == Stop::Depth {
            self.stats.cutoff.join(&self.edge);
        }
        let coverage = match (stopped, self.evaluated) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(depth)) => Coverage::Depth(depth),
            (_, None) => Coverage::Partial(self.stats.states),
        };
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let found = self.found.iter().map(Option::as_ref);
        let mut outcome_of = outcome_of;
        let outcomes = found.map(|found| found.map_or(absent.clone(), &mut outcome_of)).collect();
        let (read, written) = self.shared.vault.traffic();
        self.stats.engine = EngineStats::Disk(DiskStats {
            read,
            written,
            peak_bytes: self.shared.vault.peak(),
            level_bytes: self.log.bytes(),
            spills: self.workers.iter().map(|worker| worker.candidates.spills).sum(),
            merges: self.history.merges,
        });
        Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired }
    }
}
