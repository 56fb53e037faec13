//! [`repairs`]: small changes of a model after which no violation is found, and so the places where it may be wrong.
//!
//! Mutation-based fault localisation (Papadakis, Le Traon: *Metallaxis-FL: Mutation-based Fault Localization*, Software Testing,
//! Verification and Reliability 25, 2015) with a search in the place of tests: a change that a search cannot tell from a correct model
//! is where the fault may be. Most changes are refuted by the counterexamples that are known already, replayed on the changed model; the
//! others are searched.

mod additions;
mod changes;

use std::ops::ControlFlow;
use std::time::Instant;

use birk_engine::{Observer, Outside, Progress};
use birk_exec::replay;
use birk_ir::{Coverage, Program, Stop, Trace, Verdict};

pub use additions::additions;
pub use changes::{Change, Kind, changes};

use crate::check::{check, decides, validate};
use crate::error::Error;
use crate::options::{Options, Store, Threads};
use crate::report::{Accept, Answer, Report};
use crate::watch::{Phase, Watch};

/// States of a search that tries a change.
const STATES: u64 = 200_000;
/// One change takes at most this part of the time.
const SHARE: u32 = 20;
/// So many counterexamples are replayed before a search.
const KNOWN: usize = 24;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Repairs {
    /// The changes, the most likely first.
    pub found: Vec<Repair>,
    /// How many were tried, and how many there are.
    pub tried: usize,
    /// All that there are.
    pub of: usize,
}

/// A change after which there is no violation.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The change.
    pub change: Change,
    /// What the search explored: everything, or everything up to a depth that is larger than that of the violation.
    pub coverage: Coverage,
    /// How many states it visited.
    pub states: u64,
    /// How many transitions more than in the model as it is never happen then.
    pub unused: usize,
}

/// Looks for repairs of a model with this text, whose violations a report has, until a time. `load` reads a changed text.
pub fn repairs(
    text: &str,
    load: &mut dyn FnMut(&str) -> Option<Program>,
    (program, options): (&Program, &Options),
    report: &Report,
    until: Instant,
    watch: &mut dyn Watch,
) -> Result<Repairs, Error> {
    let began = Instant::now();
    let mut known: Vec<(String, Trace)> = violations(report).collect();
    let depth = known.iter().map(|(_, trace)| trace.steps.len()).max().unwrap_or(0) as u32;
    let all = [changes(text, program), additions(text, program)].concat();
    let order = by_suspicion(all, program, &known);
    let mut all = Repairs { of: order.len(), ..Repairs::default() };
    let most = until.saturating_duration_since(began) / SHARE;
    watch.begin(&Phase { name: "repairs", number: 1, of: 1, is_of_states: false });
    let before = unused_as_it_is(program, options, until.min(began + most), watch);
    for change in order {
        if Instant::now() >= until || watch.progress(&Progress::default()).is_break() {
            break;
        }
        all.tried += 1;
        let Some(changed) = load(&change.apply(text)) else { continue };
        let Ok(properties) = validate(&changed, options) else { continue };
        let still = |(name, trace): &(String, Trace)| {
            let property = properties.iter().find(|property| property.name == *name);
            let run = replay(&changed, trace).ok();
            property.zip(run).is_some_and(|(property, run)| decides(&changed, options, property, &run))
        };
        if let Some(place) = known.iter().position(still) {
            known[..=place].rotate_right(1);
            continue;
        }
        let mut limited = Limited { watch, until: until.min(Instant::now() + most), is_interrupted: false };
        let searched = check(&changed, &searching(options), &mut limited);
        let is_interrupted = limited.is_interrupted;
        let Ok(searched) = searched else { continue };
        match searched.verdict() {
            Verdict::Violated => {
                known.splice(0..0, violations(&searched).take(1));
                known.truncate(KNOWN);
            }
            verdict => all.found.extend(repair(change, verdict, depth, &searched).map(|found| found.beyond(before))),
        }
        if is_interrupted {
            break;
        }
    }
    watch.end();
    all.found.sort_by_key(Repair::rank);
    Ok(all)
}

/// The counterexamples of a report, with the names of what they violate.
fn violations(report: &Report) -> impl Iterator<Item = (String, Trace)> {
    let shown = report.traces.iter().map(|shown| (&report.answers[shown.answer], shown.run.trace()));
    let violated = shown.filter(|(answer, _)| answer.verdict == Verdict::Violated);
    violated.map(|(answer, trace)| (answer.property.name.clone(), trace))
}

/// What a search that tries a change is given.
fn searching(options: &Options) -> Options {
    Options {
        engine: "bfs".to_owned(),
        engine_options: birk_engine::Options::default(),
        keep_going: false,
        store: Store::Exact,
        swarm: 1,
        threads: Threads::Number(1),
        max_depth: None,
        max_states: Some(STATES),
        accept: Accept::Complete,
        certificate: false,
        is_saved: false,
        has_folder: false,
        is_continued: false,
        ..options.clone()
    }
}

/// A change counts if everything was explored, or more than what the violation needed.
fn repair(change: Change, verdict: Verdict, depth: u32, searched: &Report) -> Option<Repair> {
    // A limit may leave open whether something is violated further away, and nothing else.
    let is_without = |answer: &Answer| match (answer.verdict, &answer.coverage) {
        (Verdict::Holds, _) => true,
        (Verdict::Inconclusive, Some(Coverage::Depth(covered))) => {
            *covered >= depth && answer.property.is_of_states() && !answer.property.wants_goal()
        }
        _ => false,
    };
    let is_far = match searched.hunt.coverage {
        Coverage::Complete => verdict == Verdict::Holds,
        Coverage::Depth(covered) => covered >= depth && searched.answers.iter().all(is_without),
        _ => false,
    };
    is_far.then(|| Repair {
        change,
        coverage: searched.hunt.coverage.clone(),
        states: searched.hunt.stats.states,
        unused: unused(searched),
    })
}

fn unused(searched: &Report) -> usize {
    searched.hunt.fired.iter().filter(|&&is_fired| !is_fired).count()
}

/// How many transitions never happen in the model as it is, with its violations; none where nobody knows.
fn unused_as_it_is(program: &Program, options: &Options, until: Instant, watch: &mut dyn Watch) -> usize {
    let whole = Options { keep_going: true, ..searching(options) };
    let searched = check(program, &whole, &mut Limited { watch, until, is_interrupted: false });
    searched
        .ok()
        .filter(|searched| searched.hunt.coverage == Coverage::Complete)
        .map_or(0, |searched| unused(&searched))
}

impl Repair {
    fn beyond(self, before: usize) -> Self {
        Self { unused: self.unused.saturating_sub(before), ..self }
    }

    /// What is proved comes first, then what adds nothing, then what leaves most of the model alive, then what is said in a word.
    fn rank(&self) -> (bool, bool, usize, Kind, u64) {
        let (is_open, kind) = (self.coverage != Coverage::Complete, self.change.kind);
        (is_open, kind == Kind::Addition, self.unused, kind, u64::MAX - self.states)
    }
}

/// The changes of what the counterexamples execute come first, the last steps before the others.
fn by_suspicion(mut changes: Vec<Change>, program: &Program, known: &[(String, Trace)]) -> Vec<Change> {
    let mut executed: Vec<(usize, usize)> = Vec::new();
    for step in known.iter().flat_map(|(_, trace)| trace.steps.iter().rev()) {
        let span = program.transitions[step.transition.index()].span;
        executed.push((span.start as usize, span.end as usize));
    }
    let place = |change: &Change| {
        executed.iter().position(|&(from, to)| from <= change.at.start && change.at.end <= to).unwrap_or(executed.len())
    };
    // What there are most of comes last.
    let class = |kind: Kind| u8::from(kind == Kind::Name) + 2 * u8::from(kind == Kind::Addition);
    changes.sort_by_key(|change| (class(change.kind), place(change)));
    changes
}

/// Ends a search in time.
struct Limited<'w> {
    watch: &'w mut dyn Watch,
    until: Instant,
    is_interrupted: bool,
}

impl Observer for Limited<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        if let ControlFlow::Break(stop) = self.watch.progress(progress) {
            self.is_interrupted = true;
            return ControlFlow::Break(stop);
        }
        if Instant::now() >= self.until { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }

    fn overhead(&mut self, counted: u64) -> u64 {
        self.watch.overhead(counted)
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        None
    }
}

impl Watch for Limited<'_> {
    fn deadline(&self) -> Option<Instant> {
        Some(self.until)
    }
}
