//! [`refine`]: whether every behaviour of one model is a behaviour of another, under a mapping, and the first step that is not.

use std::ops::ControlFlow;

use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Observer, Outside, Progress, Search};
use birk_exec::refinement::{FAULT, Mismatch, Refining, SpecificationFigures, UNMATCHED, confirm};
use birk_exec::{Replayed, replay};
use birk_ir::{Coverage, Mapping, Outcome, Program, Stop, Trace, Verdict};

use crate::error::Error;
use crate::model::compiled;

/// What was found out about a refinement.
#[derive(Clone, Debug)]
pub struct Refined {
    /// Holds: the implementation refines the specification. Nothing is said where the search was not complete.
    pub verdict: Verdict,
    /// The search: its states are pairs of a state of the implementation and a set of specification states.
    pub hunt: Hunt,
    /// What was computed of the specification.
    pub specification: SpecificationFigures,
    /// The shortest run to what the specification does not have.
    pub counterexample: Option<Counterexample>,
    /// In so many steps there is one, where the search was ended before it had it.
    pub untraced: Option<u32>,
}

/// A run of the implementation that the specification cannot follow to its end. Both sides were replayed.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What is wrong at its end.
    pub kind: Misstep,
    /// The run of the implementation.
    pub run: Replayed,
    /// The run of the specification beside it.
    pub mismatch: Mismatch,
}

/// What is wrong at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misstep {
    /// It begins with values that the specification does not begin with.
    Initial,
    /// Its last step is none of the specification.
    Step,
    /// Its last step is a runtime error: refinement is about steps that do not fail.
    Fault,
}

impl Misstep {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Misstep::Initial => "initial",
            Misstep::Step => "step",
            Misstep::Fault => "fault",
        }
    }
}

/// Adds what the sets occupy to what a search counts.
struct Counting<'o, 'm> {
    observer: &'o mut dyn Observer,
    model: &'o Refining<'m>,
}

impl Observer for Counting<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        let bytes = progress.bytes.saturating_add(self.model.bytes());
        self.observer.progress(&Progress { bytes, ..*progress })?;
        if self.model.is_cut() { ControlFlow::Break(Stop::Memory) } else { ControlFlow::Continue(()) }
    }

    fn overhead(&mut self, counted: u64) -> u64 {
        self.observer.overhead(counted).saturating_add(self.model.bytes())
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        self.observer.outside()
    }
}

/// Checks that an implementation refines a specification under a mapping. Where the time is up while a large set is computed,
/// `may_go_on` says so; the observer is asked between states only.
pub fn refine(
    implementation: &Program,
    specification: &Program,
    mapping: &Mapping,
    limits: Limits,
    observer: &mut dyn Observer,
    may_go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Refined, Error> {
    let sides = [compiled(implementation, &[]), compiled(specification, &[])];
    let [of_implementation, of_specification]: [&dyn Model; 2] = [&sides[0], &sides[1]];
    let model = Refining::new(
        (implementation, of_implementation),
        (specification, of_specification),
        mapping,
        limits.counted_memory(),
        may_go_on,
    );
    let mut stop_at = GoalSet::default();
    [UNMATCHED, FAULT].into_iter().for_each(|goal| stop_at.insert(goal));
    let job = Job { stop_at, ..Job::new(2, limits) };
    let Some(Search::Model(search)) = birk_search::engine("bfs").map(|engine| &engine.search) else {
        return Err(Error::Internal("there is no breadth-first search".to_owned()));
    };
    let mut hunt = search(&model, &job, &mut Counting { observer, model: &model });
    if model.is_cut() {
        cut(&mut hunt, observer);
    }
    let found = [UNMATCHED, FAULT].into_iter().find_map(|goal| match &hunt.outcomes[goal] {
        Outcome::Found(trace) => Some((goal, Some(trace), trace.steps.len() as u32)),
        Outcome::Untraced(steps) => Some((goal, None, *steps)),
        Outcome::Absent | Outcome::Inconclusive => None,
    });
    let is_absent = hunt.outcomes.iter().all(|outcome| *outcome == Outcome::Absent);
    let verdict = match &found {
        Some(_) => Verdict::Violated,
        None if is_absent && hunt.coverage == Coverage::Complete => Verdict::Holds,
        None => Verdict::Inconclusive,
    };
    let untraced = found.as_ref().and_then(|(_, trace, steps)| trace.is_none().then_some(*steps));
    let counterexample = match found {
        Some((goal, Some(trace), _)) => Some(shown(implementation, specification, mapping, goal, trace)?),
        _ => None,
    };
    Ok(Refined { verdict, specification: model.figures(), hunt, counterexample, untraced })
}

/// Some set was not computed: what lies behind was not searched, whatever the search thinks.
fn cut(hunt: &mut Hunt, observer: &mut dyn Observer) {
    let is_absent = |outcome: &&mut Outcome| **outcome == Outcome::Absent;
    hunt.outcomes.iter_mut().filter(is_absent).for_each(|outcome| *outcome = Outcome::Inconclusive);
    hunt.coverage = Coverage::Partial(hunt.stats.states);
    if matches!(hunt.stopped, Stop::Exhausted | Stop::Depth | Stop::Memory) {
        hunt.stopped = observer.progress(&Progress::default()).break_value().unwrap_or(Stop::Memory);
    }
}

/// Replays both sides.
fn shown(
    implementation: &Program,
    specification: &Program,
    mapping: &Mapping,
    goal: usize,
    trace: &Trace,
) -> Result<Counterexample, Error> {
    let wrong = |reason: String| Error::Internal(format!("the trace to what is not refined does not replay: {reason}"));
    let run = replay(implementation, trace).map_err(|error| wrong(error.to_string()))?;
    let is_fault = implementation.is_faulty(run.last());
    if is_fault != (goal == FAULT) {
        return Err(wrong("its end is something else".to_owned()));
    }
    let mismatch = confirm(implementation, specification, mapping, &run).map_err(wrong)?;
    let kind = match trace.steps.len() {
        _ if is_fault => Misstep::Fault,
        0 => Misstep::Initial,
        _ => Misstep::Step,
    };
    Ok(Counterexample { kind, run, mismatch })
}
