//! What several searches find, put together: an answer for each property, and one statement about what was covered.

use birk_engine::{Engine, Hunt, Stats};
use birk_exec::Replayed;
use birk_ir::{Coverage, Outcome, Property, Stop, Verdict};
use birk_search::forecast::Forecast;

use super::context::Context;
use crate::error::Error;
use crate::report::{Answer, AutomatonFigures, Grade, Report, ShownTrace, Slices, SymmetryFigures};
use crate::watch::Watch;

/// Something that one search decides.
pub(super) trait Question {
    /// What it decides, in a few words.
    fn name(&self, context: &Context<'_>) -> String;

    fn decide(&self, context: &Context<'_>, watch: &mut dyn Watch) -> Result<Decided, Error>;
}

/// What became of a question.
pub(super) struct Decided {
    pub(super) hunt: Hunt,
    /// By the positions of the properties.
    pub(super) answers: Vec<(usize, Answered)>,
    /// For each transition, whether an `assume` pruned one of its branches, where that was noticed.
    pub(super) assumed: Option<Vec<bool>>,
    /// Whether steps that commute were taken in one order only.
    pub(super) is_reduced: bool,
    /// What was found of its symmetry, where that was asked for.
    pub(super) symmetry: Option<SymmetryFigures>,
}

impl Decided {
    /// Whether a property is violated.
    pub(super) fn is_violated(&self) -> bool {
        self.answers.iter().any(|(_, answer)| answer.verdict == Verdict::Violated)
    }
}

/// What became of one property.
#[derive(Clone)]
pub(super) struct Answered {
    pub(super) verdict: Verdict,
    /// What was explored for it; nothing where nobody looked, for that reason.
    pub(super) coverage: Option<Coverage>,
    pub(super) reason: Option<String>,
    pub(super) run: Option<Replayed>,
    pub(super) untraced: Option<u32>,
    pub(super) automaton: Option<AutomatonFigures>,
}

impl Answered {
    /// By an outcome that rests on what a search covered.
    pub(super) fn new(property: &Property, outcome: &Outcome, coverage: &Coverage) -> Self {
        Self {
            verdict: property.verdict(outcome),
            coverage: Some(coverage.clone()),
            reason: None,
            run: None,
            untraced: if let Outcome::Untraced(steps) = outcome { Some(*steps) } else { None },
            automaton: None,
        }
    }

    /// Nobody looked.
    pub(super) fn not_checked(reason: String) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            coverage: None,
            reason: Some(reason),
            run: None,
            untraced: None,
            automaton: None,
        }
    }
}

/// Everything that is known so far.
pub(super) struct Findings {
    answers: Vec<Answer>,
    traces: Vec<ShownTrace>,
    hunt: Option<Hunt>,
    forecast: Forecast,
    assumed: Option<Vec<bool>>,
    slices: Option<Slices>,
    is_reduced: bool,
    symmetry: Option<SymmetryFigures>,
    keep_going: bool,
    is_continued: bool,
}

impl Findings {
    pub(super) fn new(context: &Context<'_>) -> Self {
        Self {
            answers: context.properties.iter().map(|property| Answer::open(property)).collect(),
            traces: Vec::new(),
            hunt: None,
            forecast: Forecast::default(),
            assumed: Some(vec![false; context.program.transitions.len()]),
            slices: None,
            is_reduced: false,
            symmetry: None,
            keep_going: context.options.keep_going,
            is_continued: context.options.is_continued,
        }
    }

    /// A property cannot be checked.
    pub(super) fn give_up(&mut self, index: usize, reason: String) {
        self.answers[index].reason = Some(reason);
    }

    /// What the slices were.
    pub(super) fn sliced(&mut self, slices: Slices) {
        self.slices = Some(slices);
    }

    fn is_violated(&self) -> bool {
        !self.keep_going && self.answers.iter().any(|answer| answer.verdict == Verdict::Violated)
    }

    /// Whether nothing more need be asked.
    pub(super) fn is_over(&self) -> bool {
        let is_stopped = |hunt: &Hunt| matches!(hunt.stopped, Stop::Time | Stop::Interrupt);
        self.is_violated() || self.hunt.as_ref().is_some_and(is_stopped)
    }

    /// Takes up what a search decided.
    pub(super) fn take(&mut self, decided: Decided, watch: &mut dyn Watch) {
        let Decided { hunt, answers, assumed, is_reduced, symmetry } = decided;
        self.is_reduced |= is_reduced;
        self.symmetry = self.symmetry.take().or(symmetry);
        for (index, answered) in answers {
            let answer = &mut self.answers[index];
            (answer.verdict, answer.coverage, answer.reason) = (answered.verdict, answered.coverage, answered.reason);
            (answer.untraced, answer.automaton) = (answered.untraced, answered.automaton);
            if let Some(run) = answered.run {
                answer.trace = Some(self.traces.len());
                self.traces.push(ShownTrace::new(index, run));
            }
            let trace = answer.trace.map(|trace| &self.traces[trace]);
            watch.decided(index, &self.answers[index], trace);
        }
        self.assumed = match (self.assumed.take(), assumed) {
            (Some(mut all), Some(one)) => {
                all.iter_mut().zip(one).for_each(|(all, one)| *all |= one);
                Some(all)
            }
            _ => None,
        };
        self.join(hunt);
    }

    /// What several searches covered together: as much as the one that covered least. A trace that was found takes nothing
    /// from what is known of the states.
    fn join(&mut self, next: Hunt) {
        let Some(all) = &mut self.hunt else {
            let is_of_orbits = self.symmetry.as_ref().is_some_and(|symmetry| symmetry.is_used);
            if !self.is_continued && !self.is_reduced && !is_of_orbits {
                self.forecast = Forecast::of(&next.stats);
            }
            self.hunt = Some(next);
            return;
        };
        all.fired.iter_mut().zip(&next.fired).for_each(|(all, next)| *all |= next);
        let grade = |hunt: &Hunt| Grade::of(Some(&hunt.coverage));
        let is_found = next.stopped == Stop::Goal;
        if !is_found && grade(&next) > grade(all) {
            self.forecast = Forecast::of(&next.stats);
            (all.coverage, all.stopped, all.stats.cutoff) = (next.coverage, next.stopped, next.stats.cutoff);
        }
        if is_found {
            all.stopped = Stop::Goal;
        }
    }

    /// The end; properties whose turn never came say why.
    pub(super) fn report(mut self, engine: Engine, threads: usize, is_shortest: bool) -> Report {
        let transitions = self.assumed.as_ref().map_or(0, Vec::len);
        let is_violated = self.is_violated();
        let hunt = self.hunt.take().unwrap_or_else(|| nothing(transitions));
        let unasked = match hunt.stopped {
            _ if is_violated => "the search stopped at a violation",
            Stop::Time => "the time limit was reached",
            _ => "the search ended before its turn",
        };
        for answer in self.answers.iter_mut().filter(|answer| answer.coverage.is_none() && answer.reason.is_none()) {
            answer.reason = Some(unasked.to_owned());
        }
        Report {
            answers: self.answers,
            traces: self.traces,
            hunt,
            forecast: self.forecast,
            assumed: self.assumed,
            slices: self.slices,
            is_reduced: self.is_reduced,
            dead: Vec::new(),
            symmetry: self.symmetry,
            joint: None,
            certificate: None,
            engine,
            threads,
            is_shortest,
        }
    }
}

/// Nothing was searched, and nothing was left to search.
pub(super) fn nothing(transitions: usize) -> Hunt {
    Hunt {
        outcomes: Vec::new(),
        coverage: Coverage::Complete,
        stopped: Stop::Exhausted,
        stats: Stats::default(),
        fired: vec![false; transitions],
    }
}
