//! What random runs showed: violations, how the runs ended and how long they were, how often each transition fired.

use std::fmt::Write as _;

use birk_exec::{Replayed, RunEnd};
use birk_ir::{Program, Property, PropertyKind, Stop, TransitionId, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{ChooseBy, SimulateArgs};
use crate::numbers::count;
use crate::numbers::grouped;
use crate::report::command_line;
use crate::report::ending::Ending;
use crate::report::fold::Look;
use crate::report::human;
use crate::report::json::{Fields, TraceReport, constants, trace_report};
use crate::report::trace_table::{Extent, TraceTable};
use crate::source::Source;
use crate::terminal::{Paint, visible};

/// Bars of a histogram are at most this long.
const BAR: u64 = 40;
/// A histogram has at most this many rows.
const ROWS: usize = 12;

/// Random runs and what was counted.
pub(crate) struct Simulation<'a> {
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
    pub(crate) args: &'a SimulateArgs,
    pub(crate) watched: Vec<Watched<'a>>,
    pub(crate) ends: Ends,
    /// How often each transition was taken.
    pub(crate) fired: Vec<u64>,
    pub(crate) lengths: Lengths,
    /// The first run with a violation; of a single run, that run.
    pub(crate) shown: Option<ShownRun<'a>>,
    /// Why not all runs were made.
    pub(crate) stopped: Option<Stop>,
}

/// A property, and the runs that met its goal.
pub(crate) struct Watched<'a> {
    pub(crate) property: &'a Property,
    pub(crate) runs: u64,
    /// The seed of the first.
    pub(crate) first: Option<u64>,
}

/// How many runs ended in which way.
#[derive(Default)]
pub(crate) struct Ends {
    goal: u64,
    stuck: u64,
    fault: u64,
    cut: u64,
    steps: u64,
}

/// How many runs have which length.
#[derive(Default)]
pub(crate) struct Lengths(Vec<u64>);

/// A run to look at.
pub(crate) struct ShownRun<'a> {
    seed: u64,
    pub(crate) property: Option<&'a Property>,
    pub(crate) run: Replayed,
    end: RunEnd,
}

impl Watched<'_> {
    /// A run met the goal.
    pub(crate) fn meet(&mut self, seed: u64) {
        self.runs += 1;
        self.first.get_or_insert(seed);
    }

    fn verdict(&self) -> Verdict {
        match (self.runs, self.property.wants_goal()) {
            (0, _) => Verdict::Inconclusive,
            (_, true) => Verdict::Holds,
            (_, false) => Verdict::Violated,
        }
    }
}

impl Lengths {
    /// `(first length, last length, runs)`, in rows of equal width.
    fn rows(&self) -> Vec<(usize, usize, u64)> {
        let width = self.0.len().div_ceil(ROWS).max(1);
        let rows = self.0.chunks(width).enumerate();
        rows.map(|(i, chunk)| (i * width, i * width + chunk.len() - 1, chunk.iter().sum())).collect()
    }
}

impl<'a> Simulation<'a> {
    /// Counts a run.
    pub(crate) fn note(&mut self, end: RunEnd, length: usize) {
        *match end {
            RunEnd::Goal => &mut self.ends.goal,
            RunEnd::Stuck => &mut self.ends.stuck,
            RunEnd::Fault => &mut self.ends.fault,
            RunEnd::Cut => &mut self.ends.cut,
            RunEnd::Steps => &mut self.ends.steps,
        } += 1;
        let lengths = &mut self.lengths.0;
        lengths.resize(lengths.len().max(length + 1), 0);
        lengths[length] += 1;
    }

    /// Keeps a run to be shown.
    pub(crate) fn show(&mut self, seed: u64, property: Option<&'a Property>, run: Replayed, end: RunEnd) {
        self.shown = Some(ShownRun { seed, property, run, end });
    }

    /// Whether a run violated something.
    pub(crate) fn is_violated(&self) -> bool {
        self.verdict() == Verdict::Violated
    }

    /// The worst of all; random runs cannot show that something always holds.
    fn verdict(&self) -> Verdict {
        self.watched.iter().map(Watched::verdict).max().unwrap_or(Verdict::Inconclusive)
    }

    fn runs(&self) -> u64 {
        self.lengths.0.iter().sum()
    }

    fn steps(&self) -> u64 {
        self.fired.iter().sum()
    }

    /// The command that repeats the run that is shown, or all of them.
    fn reproduce(&self) -> String {
        let mut words = self.args.given.clone();
        if let Some(shown) = &self.shown {
            let drop = |words: &mut Vec<String>, option: &str| {
                if let Some(at) = words.iter().position(|word| word == option) {
                    words.drain(at..at + 2);
                }
            };
            ["--runs", "--time", "--seed"].iter().for_each(|option| drop(&mut words, option));
            words.extend(["--seed".to_owned(), shown.seed.to_string()]);
        }
        command_line("birk simulate", &self.source.path, &words)
    }
}

/// The report for people.
pub(crate) fn text(simulation: &Simulation<'_>, look: Look) -> String {
    let paint = Paint(look.color);
    let mut out = headline(simulation, paint);
    if let Some(shown) = &simulation.shown {
        match shown.property {
            Some(property) => {
                let (source, program, run) = (simulation.source, simulation.program, &shown.run);
                out += &human::shown_trace(&Ending { source, program, property, run }, None, look);
            }
            None => {
                let steps = count(shown.run.steps.len() as u64, "step");
                let _ = writeln!(out, "\n{} of seed {}, {steps}:\n", paint.bold("run"), shown.seed);
                let (source, program, run) = (simulation.source, simulation.program, &shown.run);
                out += &TraceTable { source, program, run, extent: Extent::Whole, explanation: None }.text(look);
                let _ = writeln!(out, "\n  it ended because {}", reason(shown.end));
                let _ = writeln!(out, "  {} {}", paint.dim("replay:"), super::ordinals_text(&shown.run));
            }
        }
    }
    properties(&mut out, simulation, paint);
    if simulation.args.runs > 1 {
        ends(&mut out, simulation, paint);
        histogram(&mut out, simulation, paint);
        fired(&mut out, simulation, paint);
    }
    let _ = writeln!(out, "\n{} {}", paint.bold("reproduce:"), simulation.reproduce());
    look.folded(&out).into_owned()
}

/// The first line: what was found, in how many runs.
fn headline(simulation: &Simulation<'_>, paint: Paint) -> String {
    let model = format!("{} ({})", visible(&simulation.source.path), simulation.program.system);
    let runs = count(simulation.runs(), "run");
    let bound = format!("{runs} of at most {}", count(u64::from(simulation.args.steps), "step"));
    let cut_short = match simulation.stopped {
        Some(Stop::Interrupt) => "; interrupted",
        Some(_) => "; the time limit was reached",
        None => "",
    };
    match &simulation.shown {
        Some(ShownRun { property: Some(property), run, seed, .. }) => {
            let violated = paint.verdict(Verdict::Violated, "violated");
            let length = count(run.steps.len() as u64, "step");
            format!("{violated}: {model}: `{}` after {length} with seed {seed}; {bound}{cut_short}\n", property.name)
        }
        _ => {
            let none = paint.verdict(Verdict::Inconclusive, "no violation");
            format!(
                "{none}: {model}: in {bound}, chosen at random; this says nothing about other executions{cut_short}\n"
            )
        }
    }
}

fn reason(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Goal => "it reached the goal of a property",
        RunEnd::Stuck => "no step is possible",
        RunEnd::Fault => "of a runtime error",
        RunEnd::Cut => "every branch is pruned by `assume`",
        RunEnd::Steps => "it reached the limit of --steps",
    }
}

fn properties(out: &mut String, simulation: &Simulation<'_>, paint: Paint) {
    out.push('\n');
    let width = simulation.watched.iter().map(|watched| watched.property.name.chars().count()).max().unwrap_or(0);
    for watched in &simulation.watched {
        let (verdict, runs) = (watched.verdict(), count(watched.runs, "run"));
        let word = match verdict {
            Verdict::Holds => "reached",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "not seen",
        };
        let name = &watched.property.name;
        let note = match (watched.first, &watched.property.kind) {
            (Some(seed), _) => format!("in {runs}, first with seed {seed}"),
            (None, kind)
                if watched.property.is_of_runs() || matches!(kind, PropertyKind::Ctl(_) | PropertyKind::Mu(_)) =>
            {
                "not monitored: it is about infinite executions".to_owned()
            }
            (None, _) => String::new(),
        };
        let line = format!("  {}{} {name:width$}  {note}", paint.verdict(verdict, word), " ".repeat(9 - word.len()));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn ends(out: &mut String, simulation: &Simulation<'_>, paint: Paint) {
    let ends = &simulation.ends;
    let parts = [
        (ends.goal, "ended at a violation"),
        (ends.stuck, "reached a state without steps"),
        (ends.fault, "ended in a runtime error"),
        (ends.cut, "were pruned by `assume`"),
        (ends.steps, "reached the step limit"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(runs, _)| *runs > 0).map(|(runs, what)| format!("{} {what}", grouped(*runs))).collect();
    let (runs, steps) = (count(simulation.runs(), "run"), count(simulation.steps(), "step"));
    let _ = writeln!(out, "\n{} {runs} with {steps} in all: {}", paint.bold("runs:"), parts.join(", "));
}

fn histogram(out: &mut String, simulation: &Simulation<'_>, paint: Paint) {
    let rows = simulation.lengths.rows();
    let most = rows.iter().map(|(.., runs)| *runs).max().unwrap_or(0);
    let _ = writeln!(out, "{} steps per run, and number of runs", paint.bold("depth:"));
    let name = |first: usize, last: usize| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let width = rows.iter().map(|&(first, last, _)| name(first, last).len()).max().unwrap_or(0);
    for (first, last, runs) in rows {
        let _ = writeln!(out, "  {:>width$}  {}", name(first, last), bar(runs, most));
    }
}

fn fired(out: &mut String, simulation: &Simulation<'_>, paint: Paint) {
    let program = simulation.program;
    let _ = writeln!(out, "{} how often each transition was taken", paint.bold("fired:"));
    let most = simulation.fired.iter().copied().max().unwrap_or(0);
    let names: Vec<String> =
        (0..program.transitions.len()).map(|id| program.transition_text(TransitionId::new(id))).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, &times) in names.iter().zip(&simulation.fired) {
        let shown = if times == 0 { "never".to_owned() } else { bar(times, most) };
        let _ = writeln!(out, "  {name:width$}  {shown}");
    }
}

/// A bar and its number; what happened at all can be seen.
fn bar(value: u64, most: u64) -> String {
    let length = (value * BAR).div_ceil(most.max(1));
    format!("{} {}", "█".repeat(length as usize), grouped(value)).trim_start().to_owned()
}

/// The report of `birk simulate`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulationReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    seed: u64,
    choose: &'static str,
    verdict: &'static str,
    coverage: Sampled,
    stopped_by: Option<&'static str>,
    properties: Vec<WatchedReport>,
    ends: EndsReport,
    lengths: Vec<Length>,
    fired: Fields,
    traces: Vec<TraceReport>,
    reproduce: String,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Sampled {
    kind: &'static str,
    runs: u64,
    steps: u64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct WatchedReport {
    name: String,
    kind: &'static str,
    verdict: &'static str,
    runs: u64,
    first_seed: Option<u64>,
}

/// How many runs ended how.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct EndsReport {
    violation: u64,
    stuck: u64,
    fault: u64,
    pruned: u64,
    steps: u64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Length {
    steps: usize,
    runs: u64,
}

/// The report for programs.
pub(crate) fn json(simulation: &Simulation<'_>) -> String {
    let (program, args, ends) = (simulation.program, simulation.args, &simulation.ends);
    let name = |id: usize| program.transition_text(TransitionId::new(id));
    let lengths = simulation.lengths.0.iter().enumerate().filter(|(_, runs)| **runs > 0);
    let trace = |shown: &ShownRun<'_>| {
        let mut trace = trace_report(simulation.source, program, shown.property, (&shown.run, None));
        trace.seed = Some(shown.seed);
        trace
    };
    let document = SimulationReport {
        schema: 1,
        birk: env!("CARGO_PKG_VERSION"),
        model: simulation.source.path.clone(),
        system: program.system.clone(),
        constants: constants(program),
        seed: args.seed,
        choose: match args.choose {
            ChooseBy::Transition => "transition",
            ChooseBy::Thread => "thread",
        },
        verdict: simulation.verdict().word(),
        coverage: Sampled { kind: "sampled", runs: simulation.runs(), steps: simulation.steps() },
        stopped_by: simulation.stopped.map(Stop::word),
        properties: simulation.watched.iter().map(watched_report).collect(),
        ends: EndsReport {
            violation: ends.goal,
            stuck: ends.stuck,
            fault: ends.fault,
            pruned: ends.cut,
            steps: ends.steps,
        },
        lengths: lengths.map(|(steps, &runs)| Length { steps, runs }).collect(),
        fired: simulation.fired.iter().enumerate().map(|(id, &times)| (name(id), times.into())).collect(),
        traces: simulation.shown.iter().map(trace).collect(),
        reproduce: simulation.reproduce(),
    };
    serde_json::to_string_pretty(&document).expect("a report has only string keys") + "\n"
}

fn watched_report(watched: &Watched<'_>) -> WatchedReport {
    WatchedReport {
        name: watched.property.name.clone(),
        kind: watched.property.word(),
        verdict: watched.verdict().word(),
        runs: watched.runs,
        first_seed: watched.first,
    }
}
