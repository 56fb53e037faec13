//! One hunt on diagrams: the program is encoded, explored, and what was found becomes traces and counts.

use std::ops::ControlFlow;

use birk_ir::{Coverage, Goal, Outcome, Program, Stop};
use birk_search::job::Diagrams as Counts;
use birk_search::{Hunt, Job, Observer, Progress, Stats};

use crate::diagram::{Attempt, Broken, Count, Diagrams, Set};
use crate::encoding::Encoding;
use crate::expression::{Ground, Scene};
use crate::layers::Layers;
use crate::relation::Relation;
use crate::trace::rebuild;
use crate::value::{Algebra, Arithmetic};

/// A state that satisfies a goal, and its distance from the start.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) depth: u32,
    pub(crate) state: Vec<u32>,
}

/// What every way to explore has at hand.
pub(crate) struct Search<'a, 'p> {
    pub(crate) job: &'a Job,
    pub(crate) encoding: Encoding<'p>,
    pub(crate) relation: Relation,
    /// Where each goal is satisfied.
    pub(crate) goals: Vec<Set>,
    /// The results of failing checks: judged, but not counted.
    faulty: Set,
    pub(crate) watch: Watch<'a>,
    levels: Vec<Count>,
    states: Count,
}

/// Tells the observer how it goes.
pub(crate) struct Watch<'a> {
    observer: &'a mut dyn Observer,
    pub(crate) progress: Progress,
    /// How often the steps were applied to a set.
    pub(crate) iterations: u32,
}

impl Watch<'_> {
    pub(crate) fn look(&mut self, diagrams: &Diagrams) -> Attempt<()> {
        self.observer.diagrams(diagrams.nodes(), self.iterations);
        self.progress.bytes = diagrams.bytes();
        match self.observer.progress(&self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(stop) => Err(Broken::Stopped(stop)),
        }
    }
}

/// Hunts the goals; a program that cannot be encoded is refused with the reason.
pub(crate) fn hunt(program: &Program, goals: &[Goal], job: &Job, observer: &mut dyn Observer) -> Result<Hunt, String> {
    match Search::new(program, goals, job, observer) {
        Ok(mut search) => {
            let mut layers = match Layers::new(&search) {
                Ok(layers) => layers,
                Err(broken) => return nothing(program, goals, broken),
            };
            let stopped = layers.explore(&mut search);
            Ok(search.finish(&layers, stopped))
        }
        Err(broken) => nothing(program, goals, broken),
    }
}

/// The memory or the time was not enough even to begin.
fn nothing(program: &Program, goals: &[Goal], broken: Broken) -> Result<Hunt, String> {
    match broken {
        Broken::Refused(reason) => Err(reason),
        Broken::Stopped(stopped) => {
            let counts = Counts { states: "0".into(), ..Counts::default() };
            Ok(Hunt {
                outcomes: vec![Outcome::Inconclusive; goals.len()],
                coverage: Coverage::Sampled(0),
                stopped,
                stats: Stats { diagrams: Some(Box::new(counts)), ..Stats::default() },
                fired: vec![false; program.transitions.len()],
            })
        }
    }
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(program: &'p Program, goals: &[Goal], job: &'a Job, observer: &'a mut dyn Observer) -> Attempt<Self> {
        let mut watch = Watch { observer, progress: Progress::default(), iterations: 0 };
        let encoding = Encoding::new(program, job.limits.memory)?;
        let relation = Relation::new(&encoding, &mut || watch.look(&encoding.diagrams))?;
        let judged = |Goal::BadState(bad): &Goal| Scene::with_stuck(&encoding, &relation.stuck).truth(bad);
        let goals = goals.iter().map(judged).collect::<Attempt<Vec<Set>>>()?;
        let faulty = match program.fault {
            Some(flag) => encoding.diagrams.truth(encoding.value(flag, 0))?,
            None => encoding.diagrams.no.clone(),
        };
        let states = Count::from(0u32);
        Ok(Self { job, encoding, relation, goals, faulty, watch, levels: Vec::new(), states })
    }

    /// How many states are in a set.
    pub(crate) fn count(&self, set: &Set) -> Attempt<Count> {
        let states = self.encoding.diagrams.minus(set, &self.faulty)?;
        Ok(self.encoding.diagrams.count(&states, self.encoding.bits))
    }

    /// A further layer was reached.
    pub(crate) fn arrived(&mut self, depth: u32, states: Count) {
        self.watch.progress.depth = depth;
        self.watch.progress.frontier = saturated(&states);
        if states != Count::from(0u32) {
            self.states = self.states.clone() + states.clone();
            self.watch.progress.states = saturated(&self.states);
            self.levels.push(states);
        }
    }

    /// Whether what was found ends the search.
    pub(crate) fn ends_with(&self, found: &[Option<Target>]) -> bool {
        let is_told = |goal: usize| self.job.stop_at.contains(goal) && found[goal].is_some();
        let is_all = !found.is_empty() && found.iter().all(Option::is_some);
        (0..found.len()).any(is_told) || (is_all && !self.job.keep_going)
    }

    fn finish(self, layers: &Layers, stopped: Stop) -> Hunt {
        let coverage = match (stopped, layers.judged) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(depth)) => Coverage::Depth(depth),
            (_, None) => Coverage::Sampled(0),
        };
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |found: &Option<Target>| match found {
            None => absent.clone(),
            // Without the memory to walk back, the run that exists cannot be shown.
            Some(target) => rebuild(&self.encoding, &self.relation, &layers.layers, target)
                .map_or(Outcome::Inconclusive, Outcome::Found),
        };
        let outcomes = layers.found.iter().map(outcome).collect();
        let mut fired = vec![false; self.encoding.program.transitions.len()];
        let mut stats = self.stats();
        if self.count_steps(layers, &mut stats, &mut fired).is_err() {
            fired.fill(true);
        }
        Hunt { outcomes, coverage, stopped, stats, fired }
    }

    fn stats(&self) -> Stats {
        let levels: Vec<u64> = self.levels.iter().map(saturated).collect();
        let depth = (levels.len() as u32).saturating_sub(1);
        Stats {
            states: saturated(&self.states),
            max_depth: depth,
            peak_frontier: levels.iter().copied().max().unwrap_or(0),
            store_bytes: self.encoding.diagrams.bytes(),
            levels,
            diagrams: Some(Box::new(Counts {
                states: self.states.to_string(),
                transitions: None,
                depth: Some(depth),
                iterations: self.watch.iterations,
                peak_nodes: self.encoding.diagrams.peak_nodes(),
            })),
            ..Stats::default()
        }
    }

    /// Steps taken and cut, and the transitions that were taken; it needs memory, and may have none.
    fn count_steps(&self, layers: &Layers, stats: &mut Stats, fired: &mut [bool]) -> Attempt<()> {
        let steps = self.relation.steps(&self.encoding, &layers.expanded)?;
        let cut = self.relation.cut(&self.encoding, &layers.expanded)?;
        for piece in &self.relation.pieces {
            fired[piece.transition.index()] |= piece.is_enabled(&self.encoding.diagrams, &layers.expanded)?;
        }
        (stats.transitions, stats.cut) = (saturated(&steps), saturated(&cut));
        stats.diagrams.iter_mut().for_each(|counts| counts.transitions = Some(steps.to_string()));
        Ok(())
    }
}

/// As many as 64 bits hold.
fn saturated(count: &Count) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
