//! One hunt on diagrams: the program is encoded, explored in one of several ways, and what was found becomes traces and
//! counts.

use birk_engine::{BddStats as Counts, EngineStats, Hunt, Job, Observer, Progress, Stats};
use birk_ir::{Coverage, Goal, Outcome, Program, Stop};

use crate::attempt::{Attempt, Broken};
use crate::bdd::condition::Condition;
use crate::bdd::count::count_steps;
use crate::bdd::diagram::{Count, Diagrams, Set};
use crate::bdd::encoding::Encoding;
use crate::bdd::invariant;
use crate::bdd::relation::Relation;
use crate::bdd::saturation::{Saturation, Walk};
use crate::bitvector::{Algebra, Arithmetic};
use crate::cancellable::{Line, cancellable};
use crate::expression::Ground;

/// How states are explored: until nothing is left to explore, or it breaks off.
pub(crate) type Strategy = fn(&mut Search<'_>) -> Attempt<Ended>;

/// A proof that no step leads out of what was reached: the only thing that makes a search complete.
#[derive(Debug)]
pub(crate) struct Fixpoint(());

impl Fixpoint {
    /// There is one if nothing is new: `new` is where steps lead beyond what was reached.
    pub(crate) fn of(diagrams: &Diagrams, new: &Set) -> Option<Self> {
        (*new == diagrams.no).then_some(Self(()))
    }
}

/// Why exploring ended by itself.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Nothing was left to explore.
    Complete(Fixpoint),
    /// A goal was found at which it was told to end.
    Goal,
    /// There is more beyond the depth limit.
    Depth,
    /// There are more states than there may be.
    States,
}

/// What was explored before a fixpoint is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Every state that can be reached in at most this many steps.
    Depth(u32),
    /// This many states.
    Some(u64),
}

/// What every way to explore has at hand, and what it has found.
pub(crate) struct Search<'a> {
    pub(crate) job: &'a Job,
    pub(crate) encoding: Encoding<'a>,
    pub(crate) relation: Relation,
    pub(crate) saturation: Saturation,
    /// The goals as they were asked for.
    pub(crate) asked: &'a [Goal],
    /// The goals on states at hand.
    pub(crate) conditions: Vec<Condition>,
    /// Where each goal is satisfied, of all states: those that ask whether a state is stuck only when the search is settled.
    pub(crate) goals: Vec<Set>,
    /// The results of failing checks: evaluated, but not counted.
    pub(crate) faulty: Set,
    pub(crate) watch: Watch<'a>,
    /// For each goal that was found: the run to it.
    pub(crate) found: Vec<Option<Outcome>>,
    /// What was explored, if the search ended now.
    pub(crate) part: Part,
    /// What was reached so far.
    pub(crate) reached: Set,
    /// States from which all steps were taken; `None` where it is not known of single states.
    pub(crate) expanded: Option<Set>,
    /// Explore on although every goal was found.
    pub(crate) keeps_going: bool,
    /// States at each depth; `None` where they are not reached in this order.
    pub(crate) levels: Option<Vec<Count>>,
    pub(crate) states: Count,
    /// Exploring ends when there are more.
    pub(crate) most_states: u64,
}

/// Tells how it goes, and hears when to end.
pub(crate) struct Watch<'a> {
    line: &'a Line,
    pub(crate) progress: Progress,
    /// How often the steps were applied to a set.
    pub(crate) iterations: u32,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(line: &'a Line) -> Self {
        Self { line, progress: Progress::default(), iterations: 0 }
    }

    pub(crate) fn look(&mut self, diagrams: &Diagrams) -> Attempt<()> {
        let nodes = diagrams.nodes();
        self.progress.bytes = diagrams.bytes_with(nodes);
        match self.line.look(&self.progress, nodes, self.iterations) {
            None => Ok(()),
            Some(stop) => Err(Broken::Stopped(stop)),
        }
    }
}

/// Hunts the goals; a program that cannot be encoded is refused with the reason.
pub(crate) fn hunt(
    strategy: Strategy,
    program: &Program,
    goals: &[Goal],
    job: &Job,
    observer: &mut dyn Observer,
) -> Result<Hunt, String> {
    if let Some(reason) = program.interpreted_only() {
        return Err(reason.to_owned());
    }
    let nothing = nothing(program, goals.len());
    let (program, goals, job, none) = (program.clone(), goals.to_vec(), job.clone(), nothing.clone());
    let search = move |line: &Line| {
        let mut search = match Search::new(&program, &goals, &job, line) {
            Ok(search) => search,
            Err(Broken::Stopped(stopped)) => return Ok(Hunt { stopped, ..none }),
            Err(Broken::Refused(reason)) => return Err(reason),
            Err(Broken::Undecided(_)) => unreachable!("only events are asked, and they answer"),
        };
        let ended = strategy(&mut search);
        Ok(search.finish(ended))
    };
    cancellable(nothing, search, observer)
}

/// What is known before the search: the memory or the time may not be enough even to begin.
pub(crate) fn nothing(program: &Program, goals: usize) -> Hunt {
    let counts = Counts { states: "0".into(), ..Counts::default() };
    Hunt {
        outcomes: vec![Outcome::Inconclusive; goals],
        coverage: Coverage::Partial(0),
        stopped: Stop::Interrupt,
        stats: Stats { engine: EngineStats::Bdd(Box::new(counts)), ..Stats::default() },
        fired: vec![false; program.transitions.len()],
    }
}

impl<'a> Search<'a> {
    /// Encodes a program and its goals.
    pub(crate) fn new(program: &'a Program, asked: &'a [Goal], job: &'a Job, line: &'a Line) -> Attempt<Self> {
        let mut watch = Watch::new(line);
        let encoding = Encoding::new(program, job.limits.memory)?;
        let relation = Relation::new(&encoding, &mut || watch.look(&encoding.diagrams))?;
        let condition = |Goal::State(bad): &Goal| Condition::new(&encoding, bad);
        let conditions = asked.iter().map(condition).collect::<Attempt<Vec<Condition>>>()?;
        let faulty = match program.fault {
            Some(flag) => encoding.diagrams.truth(encoding.value(flag, 0))?,
            None => encoding.diagrams.no.clone(),
        };
        Ok(Self {
            job,
            asked,
            saturation: Saturation::new(&encoding.diagrams, &relation.events, &faulty)?,
            relation,
            faulty,
            watch,
            found: vec![None; asked.len()],
            goals: conditions.iter().map(|condition| condition.plain().clone()).collect(),
            conditions,
            part: Part::Some(0),
            reached: encoding.diagrams.no.clone(),
            expanded: None,
            keeps_going: job.keep_going,
            levels: None,
            states: Count::from(0u32),
            most_states: job.limits.states,
            encoding,
        })
    }

    /// Where states are stuck, and the goals that ask for it, become known of all states at once.
    pub(crate) fn settle(&mut self) -> Attempt<()> {
        if self.conditions.iter().any(Condition::asks) {
            let diagrams = &self.encoding.diagrams;
            self.relation.stuck = diagrams.not(&diagrams.any(self.relation.enabled.clone())?)?;
            let settled = self.conditions.iter().map(|condition| condition.given(diagrams, &self.relation.stuck));
            self.goals = settled.collect::<Attempt<Vec<Set>>>()?;
        }
        Ok(())
    }

    /// The states among these that satisfy a goal.
    pub(crate) fn hits(&self, goal: usize, states: &Set) -> Attempt<Set> {
        self.conditions[goal].among(&self.encoding.diagrams, &self.relation, states)
    }

    /// The initial states.
    pub(crate) fn initial(&self) -> Attempt<Set> {
        self.encoding.initial()
    }

    /// The states to which a step leads from these.
    pub(crate) fn image(&mut self, states: &Set) -> Attempt<Set> {
        let (saturation, mut walk) = self.walk();
        saturation.image(&mut walk, states)
    }

    /// The events by level, and what a walk down the levels needs.
    pub(crate) fn walk(&mut self) -> (&mut Saturation, Walk<'_, 'a>) {
        let Self { encoding, relation, saturation, watch, .. } = self;
        (saturation, Walk { diagrams: &encoding.diagrams, events: &relation.events, watch })
    }

    /// Collects garbage if there may be much of it.
    pub(crate) fn tidy(&mut self) {
        self.saturation.tidy(&self.encoding.diagrams);
    }

    /// How many states are in a set.
    pub(crate) fn count(&self, set: &Set) -> Attempt<Count> {
        let states = self.encoding.diagrams.minus(set, &self.faulty)?;
        self.encoding.diagrams.count(&states, self.encoding.bits)
    }

    /// Whether what was found ends the search.
    pub(crate) fn ends(&self) -> bool {
        let is_found = |goal: usize| !matches!(self.found[goal], None | Some(Outcome::Absent));
        let is_told = (0..self.found.len()).any(|goal| self.job.stop_at.contains(goal) && is_found(goal));
        let is_all = !self.found.is_empty() && self.found.iter().all(Option::is_some);
        is_told || (is_all && !self.keeps_going)
    }

    /// Whether there are as many states as there may be, and these are more.
    pub(crate) fn is_full(&self, next: &Set) -> Attempt<bool> {
        let is_full = self.most_states != u64::MAX && saturated(&self.states) >= self.most_states;
        Ok(is_full && saturated(&self.count(next)?) > 0)
    }

    /// Tells what is known by now, for the case that the search must be left behind in its next operation.
    pub(crate) fn tell(&self) {
        self.watch.line.so_far(self.hunt(None, Stop::Interrupt));
    }

    /// What became of it.
    pub(crate) fn finish(mut self, ended: Attempt<Ended>) -> Hunt {
        let is_complete = matches!(ended, Ok(Ended::Complete(_)));
        let mut hunt = match ended {
            Ok(Ended::Complete(fixpoint)) => self.hunt(Some(fixpoint), Stop::Exhausted),
            Ok(Ended::Goal) => self.hunt(None, Stop::Goal),
            Ok(Ended::Depth) => self.hunt(None, Stop::Depth),
            Ok(Ended::States) => self.hunt(None, Stop::States),
            Err(Broken::Stopped(stopped)) => self.hunt(None, stopped),
            Err(other) => unreachable!("everything is encoded: {other:?}"),
        };
        let counted = self.expanded.as_ref().is_some_and(|expanded| self.count_steps(expanded, &mut hunt).is_ok());
        if !counted {
            hunt.fired.fill(true);
        }
        if is_complete && self.job.wants_invariant {
            self.add_invariants(&mut hunt);
        }
        hunt
    }

    /// What excludes the goals that were not found: all that was expanded. The time or the memory may not be enough for it.
    fn add_invariants(&mut self, hunt: &mut Hunt) {
        let Some(expanded) = &self.expanded else { return };
        let Ok(Some(invariant)) = invariant::of(&self.encoding, expanded, &mut self.watch) else { return };
        let of = |outcome: &Outcome| (*outcome == Outcome::Absent).then(|| invariant.clone());
        if let EngineStats::Bdd(counts) = &mut hunt.stats.engine {
            counts.invariants = hunt.outcomes.iter().map(of).collect();
        }
    }

    fn hunt(&self, fixpoint: Option<Fixpoint>, stopped: Stop) -> Hunt {
        let (coverage, open) = match (fixpoint, self.part) {
            (Some(Fixpoint(())), _) => (Coverage::Complete, Outcome::Absent),
            (None, Part::Depth(depth)) => (Coverage::Depth(depth), Outcome::Inconclusive),
            (None, Part::Some(states)) => (Coverage::Partial(states), Outcome::Inconclusive),
        };
        Hunt {
            outcomes: self.found.iter().map(|found| found.clone().unwrap_or_else(|| open.clone())).collect(),
            coverage,
            stopped,
            stats: self.stats(),
            fired: vec![true; self.encoding.program.transitions.len()],
        }
    }

    fn stats(&self) -> Stats {
        let levels: Vec<u64> = self.levels.iter().flatten().map(saturated).collect();
        let depth = self.levels.as_ref().map(|levels| (levels.len() as u32).saturating_sub(1));
        Stats {
            states: saturated(&self.states),
            max_depth: depth.unwrap_or(0),
            peak_frontier: levels.iter().copied().max().unwrap_or(0),
            store_bytes: self.encoding.diagrams.bytes(),
            levels,
            engine: EngineStats::Bdd(Box::new(Counts {
                states: self.states.to_string(),
                transitions: None,
                depth,
                iterations: self.watch.iterations,
                peak_nodes: self.encoding.diagrams.peak_nodes(),
                invariants: Vec::new(),
            })),
            ..Stats::default()
        }
    }

    /// Steps taken and cut, and the transitions that were taken; it needs memory, and may have none.
    fn count_steps(&self, expanded: &Set, hunt: &mut Hunt) -> Attempt<()> {
        let counted = count_steps(&self.encoding, &self.relation, &self.faulty, expanded)?;
        hunt.fired = counted.fired;
        (hunt.stats.transitions, hunt.stats.cut) = (saturated(&counted.steps), saturated(&counted.cut));
        if let EngineStats::Bdd(counts) = &mut hunt.stats.engine {
            counts.transitions = Some(counted.steps.to_string());
        }
        Ok(())
    }
}

/// As many as 64 bits hold.
pub(crate) fn saturated(count: &Count) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
