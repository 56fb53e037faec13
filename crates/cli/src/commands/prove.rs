//! `birk prove`: which invariants are inductive, and which step breaks the others.

use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use birk::{Breach, Gap, Proved, Strengthened, certificate, process_memory, prove};
use birk_ir::{Program, Property, ShownState, Stop};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Format, ProgressMode, ProveArgs};
use crate::load::load;
use crate::numbers::count;
use crate::progress::Watcher;
use crate::report::fold::Look;
use crate::report::json::{Fields, constants};
use crate::report::trace_table::change_text;
use crate::source::Source;
use crate::terminal::{print, print_for_people, uses_color};
use crate::{Exit, Failure};

/// Of more clauses, the rest is left out of what people read.
const MOST_CLAUSES: usize = 12;

/// The report of `birk prove`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProveReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    /// `proved`: all of them; `violated`: one is; otherwise `unproved`.
    verdict: &'static str,
    invariants: Vec<InvariantReport>,
    /// What ended it early.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<&'static str>,
    queries: u64,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct InvariantReport {
    name: String,
    kind: &'static str,
    /// `inductive`; `proved` with the clauses of IC3; `broken`; `violated`; or `unknown`.
    verdict: &'static str,
    /// The clauses with which it is inductive.
    clauses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_by: Option<BreachReport>,
}

/// A counterexample to induction.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct BreachReport {
    thread: String,
    line: usize,
    column: usize,
    /// The invariants that are true before the step.
    assumed: Vec<String>,
    before: Fields,
    after: Fields,
    /// From every state that is like this, the same step breaks it.
    part: Vec<String>,
}

/// A model, and what was found out about its invariants.
struct Shown<'a> {
    source: &'a Source,
    program: &'a Program,
    proved: &'a Proved<'a>,
}

/// Runs the command.
pub(crate) fn run(args: &ProveArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let began = Instant::now();
    let mut watcher = Watcher::start(ProgressMode::Off, args.time)?;
    let memory = process_memory::Memory::new(None).search;
    let proved = prove(&program, &args.with, args.strengthen, memory, &mut watcher)?;
    let shown = Shown { source: &source, program: &program, proved: &proved };
    match (&args.certificate, &proved.certificate) {
        (Some(path), Some(Ok(bytes))) => fs::write(path, bytes)
            .map_err(|error| Failure::io(&format!("write the certificate to {}", path.display()), &error))?,
        (Some(path), _) => crate::say(&format!("note: no certificate is written to {}", path.display())),
        (None, _) => {}
    }
    if let Some(Err(reason)) = &proved.certificate {
        crate::say(&format!("note: the proof was not checked by the certifier: {reason}"));
    }
    let exit = match shown.verdict() {
        _ if proved.stopped == Some(Stop::Interrupt) => Exit::Interrupted,
        "proved" => Exit::Success,
        "violated" => Exit::Violated,
        _ => Exit::Inconclusive,
    };
    match args.format {
        Format::Human => {
            let color = uses_color(args.model.color, &std::io::stdout());
            print_for_people(&Look::of_output(color).folded(&shown.human()), color)?;
        }
        Format::Json => {
            let report = shown.json(began.elapsed().as_secs_f64());
            print(&(serde_json::to_string_pretty(&report).expect("a report has only string keys") + "\n"))?;
        }
    }
    Ok(exit)
}

impl Shown<'_> {
    fn verdict(&self) -> &'static str {
        let mut all = 0..self.proved.properties.len();
        match () {
            () if all.clone().any(|at| self.proved.is_violated(at)) => "violated",
            () if all.all(|at| self.proved.is_proved(at)) => "proved",
            () => "unproved",
        }
    }

    fn human(&self) -> String {
        let Shown { program, proved, source } = self;
        let constants: Vec<String> =
            program.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let constants = if constants.is_empty() { String::new() } else { format!(", {}", constants.join(", ")) };
        let mut out = format!("{}: system {}{constants}\n", source.path, program.system);
        for (position, property) in proved.properties.iter().enumerate() {
            let what = titled(property);
            let _ = match &proved.induction.gaps[position] {
                None if proved.is_inductive(position) => {
                    writeln!(out, "  inductive: {what}; it holds in every reachable state")
                }
                None => writeln!(out, "  unknown: {what}"),
                Some(Gap::Initial) => writeln!(out, "  violated: {what} is false initially"),
                Some(Gap::Step(breach)) => {
                    out += &self.breach(property, breach);
                    out += &self.strengthened(position);
                    Ok(())
                }
            };
        }
        let by = match &proved.certificate {
            Some(Ok(_)) => "what is inductive was checked again by the certifier",
            Some(Err(_)) => "what is inductive was not checked by the certifier",
            None => "nothing is proved",
        };
        let _ = writeln!(out, "  {}; {by}", count(proved.induction.queries, "question") + " to a SAT solver");
        if let Some(stop) = proved.stopped {
            let _ = writeln!(out, "  stopped early: {}; the rest is not known", ended_by(stop));
        }
        let is_shown = |at: usize| matches!(proved.induction.gaps[at], Some(Gap::Step(_))) && !proved.is_proved(at);
        if self.verdict() == "unproved" && (0..proved.properties.len()).any(is_shown) {
            out += "next: if no such state can be reached, exclude it by another invariant, and prove both together;\n";
            let _ = writeln!(out, "  --strengthen looks for one; birk check {} looks for a violation", source.path);
        }
        out
    }

    fn breach(&self, property: &Property, breach: &Breach) -> String {
        let program = self.program;
        let view = program.view();
        let mut history = view.history();
        let [before, after] = [0, 1].map(|at| history.show(&breach.states[at]));
        let assumed: Vec<String> =
            breach.assumed.iter().map(|&at| format!("`{}`", self.proved.properties[at].name)).collect();
        let are_true = match &assumed[..] {
            [_] => "it is".to_owned(),
            _ => format!("{} are", assumed.join(", ")),
        };
        let transition = program.transition(breach.step.transition);
        let (line, column) = self.source.position(transition.span);
        let mut out =
            format!("  not inductive: {}; a step makes it false, where {are_true} true before:\n", titled(property));
        let changes: Vec<String> = before.changes(&after).iter().map(change_text).collect();
        let part = certificate::of_part(program, &breach.part, &self.proved.induction.bounds);
        let _ = writeln!(out, "    from   {}", text(&before));
        let _ = writeln!(out, "    step   {} at {line}:{column}", program.thread(transition.thread).name);
        let _ = writeln!(out, "    to     {}", changes.join(", "));
        let _ = match &part[..] {
            [] => writeln!(out, "    enough for it: nothing, it is so in every state"),
            _ => writeln!(out, "    enough for it: {}", part.join(" && ")),
        };
        out
    }

    fn strengthened(&self, position: usize) -> String {
        match &self.proved.strengthened[position] {
            Strengthened::Open => String::new(),
            Strengthened::Violated(steps) => {
                format!(
                    "    and it is violated: IC3 finds {} to there; birk check shows one\n",
                    count(*steps as u64, "step")
                )
            }
            Strengthened::By(_) => {
                let lines = self.clauses(position);
                let what = count(lines.len() as u64, "clause");
                let hidden = lines.len().saturating_sub(MOST_CLAUSES);
                let mut lines: String = lines.iter().take(MOST_CLAUSES).map(|line| format!("      {line}\n")).collect();
                if hidden > 0 {
                    let _ = writeln!(lines, "      … {hidden} more; --certificate FILE writes all");
                }
                format!("    but it holds in every reachable state: with {what} of IC3 it is inductive\n{lines}")
            }
        }
    }

    /// The clauses with which IC3 has proved an invariant.
    fn clauses(&self, position: usize) -> Vec<String> {
        let Strengthened::By(invariant) = &self.proved.strengthened[position] else { return Vec::new() };
        let mut lines = certificate::of_invariant(self.program, invariant);
        lines.retain(|line| line.starts_with("never "));
        lines
    }

    fn json(&self, seconds: f64) -> ProveReport {
        let Shown { program, proved, source } = self;
        let invariant = |(position, property): (usize, &&Property)| InvariantReport {
            name: property.name.clone(),
            kind: property.word(),
            verdict: match &proved.induction.gaps[position] {
                _ if proved.is_violated(position) => "violated",
                _ if proved.is_inductive(position) => "inductive",
                _ if proved.is_proved(position) => "proved",
                Some(_) => "broken",
                None => "unknown",
            },
            clauses: self.clauses(position),
            broken_by: match &proved.induction.gaps[position] {
                Some(Gap::Step(breach)) => Some(self.breach_report(breach)),
                _ => None,
            },
        };
        ProveReport {
            schema: 1,
            birk: env!("CARGO_PKG_VERSION"),
            model: source.path.clone(),
            system: program.system.clone(),
            constants: constants(program),
            verdict: self.verdict(),
            invariants: proved.properties.iter().enumerate().map(invariant).collect(),
            stopped_by: proved.stopped.map(ended_by),
            queries: proved.induction.queries,
            seconds,
        }
    }

    fn breach_report(&self, breach: &Breach) -> BreachReport {
        let program = self.program;
        let view = program.view();
        let mut history = view.history();
        let [before, after] = [0, 1].map(|at| fields(&history.show(&breach.states[at])));
        let transition = program.transition(breach.step.transition);
        let (line, column) = self.source.position(transition.span);
        BreachReport {
            thread: program.thread(transition.thread).name.clone(),
            line,
            column,
            assumed: breach.assumed.iter().map(|&at| self.proved.properties[at].name.clone()).collect(),
            before,
            after,
            part: certificate::of_part(program, &breach.part, &self.proved.induction.bounds),
        }
    }
}

fn titled(property: &Property) -> String {
    match property.word() {
        word if word == property.name => format!("`{word}`"),
        word => format!("{word} `{}`", property.name),
    }
}

fn text(state: &ShownState<'_>) -> String {
    let values: Vec<String> = state.leaves().iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.join(" ")
}

fn fields(state: &ShownState<'_>) -> Fields {
    state.leaves().iter().map(|(name, value)| (name.clone(), value.to_string().into())).collect()
}

fn ended_by(stop: Stop) -> &'static str {
    match stop {
        Stop::Time => "time",
        Stop::Memory => "memory",
        _ => "interrupt",
    }
}
