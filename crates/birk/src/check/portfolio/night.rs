//! One run of a campaign: a breadth-first search that is kept on disk goes on, and others hunt in what is left of the time.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use birk_engine::{Observer, Outside, Progress};
use birk_exec::Replayed;
use birk_ir::{Coverage, Program, Property, Stop, Verdict};

use super::{EARLIER, Portfolio};
use crate::check::search;
use crate::error::Error;
use crate::options::Options;
use crate::report::{Answer, Pace, Report, ShownTrace};
use crate::watch::{Phase, Watch};

/// The engine that goes on: exact, level by level, with more states than fit into memory.
const KEPT: &str = "disk";

/// What the search that is kept does in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It begins, or goes on where it was saved, for half of the time.
    Half {
        /// It was saved before.
        is_continued: bool,
    },
    /// The same for all of it.
    Whole {
        /// It was saved before.
        is_continued: bool,
    },
    /// It is complete, or nothing is asked of states.
    Over,
}

/// What earlier runs found out about the same program.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// Executions that decide properties, with their names: counterexamples, and witnesses of what is reachable.
    pub traces: Vec<(String, Replayed)>,
    /// Properties that a complete search or a proof decided.
    pub decided: Vec<(String, Verdict)>,
    /// How far those who hunt have come, by name.
    pub paces: Vec<(String, Pace)>,
}

impl Earlier {
    /// Whether a property is decided.
    pub fn has(&self, name: &str) -> bool {
        self.traces
            .iter()
            .map(|(known, _)| known)
            .chain(self.decided.iter().map(|(known, _)| known))
            .any(|it| it == name)
    }
}

/// Checks a program for as long as the watch allows. The answers to properties of states are those of the search that is kept, as far
/// as it has come in all runs, unless others know better. What earlier runs know need not be found again.
pub fn night(
    program: &Program,
    options: &Options,
    kept: Kept,
    earlier: &Earlier,
    watch: &mut dyn Watch,
) -> Result<Report, Error> {
    let began = Instant::now();
    let Some(deadline) = watch.deadline() else {
        return Err(Error::Refused("a campaign needs a limit on the time of each run; use --time".to_owned()));
    };
    let native = Arc::default();
    let mut portfolio = Portfolio::new(program, options, &native, began)?;
    portfolio.know(earlier);
    for standing in &mut portfolio.standing {
        if let Some((_, pace)) = earlier.paces.iter().find(|(name, _)| name == standing.member.name) {
            standing.go_on(*pace);
        }
    }
    if !options.keep_going && portfolio.report.verdict() == Verdict::Violated {
        return Ok(portfolio.report());
    }
    let until = match kept {
        Kept::Half { .. } => began + deadline.saturating_duration_since(began) / 2,
        Kept::Whole { .. } | Kept::Over => deadline,
    };
    if let Kept::Half { is_continued } | Kept::Whole { is_continued } = kept {
        let of_states = portfolio.report.answers.iter().filter(|answer| answer.property.is_of_states());
        let properties = of_states.map(|answer| answer.property.name.clone()).collect();
        let engine = KEPT.to_owned();
        let first = Options { engine, properties, is_saved: true, is_continued, ..options.clone() };
        let report = search(program, &first, &native, &mut Until { watch, until })?;
        let found = |open: &Answer| report.answers.iter().find(|answer| answer.property.name == open.property.name);
        let answers: Vec<Answer> =
            portfolio.report.answers.iter().map(|open| found(open).unwrap_or(open).clone()).collect();
        let place = |trace: &ShownTrace| {
            let name = &report.answers[trace.answer].property.name;
            answers.iter().position(|answer| answer.property.name == *name).unwrap_or(trace.answer)
        };
        let traces: Vec<ShownTrace> =
            report.traces.iter().map(|trace| ShownTrace::new(place(trace), trace.run.clone())).collect();
        portfolio.adopt(Report { answers, traces, ..report }, watch);
        portfolio.know(earlier);
    }
    let is_open = portfolio.open().next().is_some();
    let is_violated = !options.keep_going && portfolio.report.verdict() == Verdict::Violated;
    let is_interrupted = portfolio.report.hunt.stopped == Stop::Interrupt;
    if is_open && !is_violated && !is_interrupted && Instant::now() < deadline {
        portfolio.hunt(deadline, options.memory.search, false, watch)?;
    }
    watch.end();
    Ok(portfolio.report())
}

impl Portfolio<'_> {
    /// Takes up what is known from before, where nothing is decided.
    fn know(&mut self, earlier: &Earlier) {
        for (name, run) in &earlier.traces {
            let Some((at, property)) = self.open_at(name) else { continue };
            let verdict = if property.wants_goal() { Verdict::Holds } else { Verdict::Violated };
            self.report.traces.push(ShownTrace::new(at, run.clone()));
            self.report.is_shortest = false;
            self.not_shortest.insert(self.report.traces.len() - 1);
            let trace = Some(self.report.traces.len() - 1);
            let (coverage, by) = (Some(Coverage::Partial(0)), Some(EARLIER));
            self.report.answers[at] = Answer { verdict, coverage, trace, by, ..Answer::open(&property) };
        }
        for &(ref name, verdict) in &earlier.decided {
            let Some((at, property)) = self.open_at(name) else { continue };
            let (coverage, by) = (Some(Coverage::Complete), Some(EARLIER));
            self.report.answers[at] = Answer { verdict, coverage, by, ..Answer::open(&property) };
        }
    }

    /// A property that is not decided, and where its answer is.
    fn open_at(&self, name: &str) -> Option<(usize, Property)> {
        let is_it = |answer: &Answer| answer.property.name == name && answer.verdict == Verdict::Inconclusive;
        let at = self.report.answers.iter().position(is_it)?;
        Some((at, self.report.answers[at].property.clone()))
    }
}

/// Ends a search earlier than the watch would.
struct Until<'w> {
    watch: &'w mut dyn Watch,
    until: Instant,
}

impl Observer for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.watch.progress(progress)?;
        if Instant::now() >= self.until { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }

    fn overhead(&mut self, counted: u64) -> u64 {
        self.watch.overhead(counted)
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        self.watch.outside()
    }
}

impl Watch for Until<'_> {
    fn begin(&mut self, phase: &Phase<'_>) {
        self.watch.begin(phase);
    }

    fn end(&mut self) {
        self.watch.end();
    }

    fn decided(&mut self, position: usize, answer: &Answer, trace: Option<&ShownTrace>) {
        self.watch.decided(position, answer, trace);
    }

    fn note(&mut self, text: &str) {
        self.watch.note(text);
    }

    fn deadline(&self) -> Option<Instant> {
        Some(self.until)
    }
}
