//! `birk refine`: whether every behaviour of a model is a behaviour of its specification, or the first step that is not.

mod json;

use std::fmt::Write as _;

use birk::exec::refinement::{Lens, Observation, Unmappable};
use birk::lang::fit;
use birk::process_memory::Memory;
use birk::{Conditions, Counterexample, Misstep, Refined, refine};
use birk_engine::Limits;
use birk_exec::{Interpreter, Replayed};
use birk_ir::{Coverage, Mapping, Observed, Program, Stop, VarRole, Variable, Verdict};

use crate::cli::{Format, ModelArgs, RefineArgs};
use crate::load::{Read, load_with, read, report};
use crate::numbers::{bytes, count};
use crate::progress::Watcher;
use crate::report::fold::{Look, words};
use crate::report::ordinals_text;
use crate::report::statement::stopped;
use crate::source::Source;
use crate::terminal::{Paint, print, print_for_people, uses_color, visible};
use crate::{Exit, Failure};
pub(super) use json::RefineReport;

/// Of more values that the specification could have had, the rest is counted.
const MOST_INSTEAD: usize = 8;
/// The size of sets is shown from here on.
const LARGE: u64 = 1 << 20;
/// Initially, so many values are shown.
const MOST_VALUES: usize = 8;

/// Both models, the mapping, and what was found out.
struct Shown<'a> {
    source: &'a Source,
    program: &'a Program,
    spec_source: &'a Source,
    specification: &'a Program,
    mapping: &'a Mapping,
    refined: &'a Refined,
    seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: &RefineArgs) -> Result<Exit, Failure> {
    let spec = model(args, args.specification.clone(), args.model.define.clone());
    let spec = ModelArgs { define: known(&spec), ..spec };
    let own = model(args, args.model.model.clone(), Vec::new());
    let is_of_spec_only = |define: &&(String, String)| spec.define.contains(define) && !has_constant(&own, &define.0);
    let define = args.model.define.iter().filter(|define| !is_of_spec_only(define)).cloned().collect();
    let Read { source, program, refinement, .. } = read(&ModelArgs { define, ..own }, None)?;
    let Some(refinement) = refinement else {
        return Err(Failure::usage(format!(
            "{} has no `refines` block: say what the variables of {} are in its states, for example \
             `refines Spec {{ leader = …; }}`; `birk explain E0059` has an example",
            source.path,
            args.specification.display()
        )));
    };
    let Read { source: spec_source, program: specification, .. } = read(&spec, None)?;
    let mapping = fit(&refinement, &specification).map_err(|wrong| {
        report(&args.model, &source, &wrong);
        Failure { exit: Exit::Usage, message: String::new() }
    })?;
    let mut watcher = Watcher::start(args.progress, args.time)?;
    let memory = Memory::new(args.memory);
    watcher.limit_memory(memory);
    watcher.foresee(args.max_depth);
    let pulse = watcher.pulse();
    let may_go_on = || pulse.stop().is_none();
    let refined = refine(&program, &specification, &mapping, limits(args, memory), &mut watcher, &may_go_on)?;
    watcher.clear();
    let shown = Shown {
        source: &source,
        program: &program,
        spec_source: &spec_source,
        specification: &specification,
        mapping: &mapping,
        refined: &refined,
        seconds: watcher.elapsed().as_secs_f64(),
    };
    match args.format {
        Format::Human => {
            let look = Look::of_output(uses_color(args.model.color, &std::io::stdout()));
            print_for_people(&look.folded(&shown.human(look)), look.color)?;
        }
        Format::Json => {
            let report = RefineReport::of(&shown);
            print(&(serde_json::to_string_pretty(&report).expect("a report has only string keys") + "\n"))?;
        }
    }
    Ok(match refined.verdict {
        Verdict::Violated => Exit::Violated,
        _ if refined.hunt.stopped == Stop::Interrupt => Exit::Interrupted,
        Verdict::Holds => Exit::Success,
        Verdict::Inconclusive => Exit::Inconclusive,
    })
}

fn limits(args: &RefineArgs, memory: Memory) -> Limits {
    Limits {
        memory: memory.search,
        depth: args.max_depth.unwrap_or(u32::MAX),
        states: args.max_states.unwrap_or(u64::MAX),
        threads: args.threads.for_states(),
        ..Limits::NONE
    }
}

/// One of the two models, with values for its constants.
fn model(args: &RefineArgs, model: std::path::PathBuf, define: Vec<(String, String)>) -> ModelArgs {
    let ModelArgs { profile, color, diagnostics, .. } = &args.model;
    ModelArgs { model, define, profile: profile.clone(), color: *color, diagnostics: *diagnostics }
}

/// The values of those constants that a model has: `-D` is for both files.
fn known(args: &ModelArgs) -> Vec<(String, String)> {
    args.define.iter().filter(|(name, _)| has_constant(args, name)).cloned().collect()
}

fn has_constant(args: &ModelArgs, name: &str) -> bool {
    let Ok(source) = Source::read(&args.model) else { return false };
    let own = ModelArgs { define: Vec::new(), profile: None, model: args.model.clone(), ..*args };
    let loaded = load_with(&own, &source.text, Conditions::default());
    let is_it = |full: &str| full == name || full.rsplit_once('.').is_some_and(|(_, short)| short == name);
    // Where the values in the file are wrong, it is not known; what does not fit is said when the file is read.
    loaded.program.is_none_or(|program| program.constants.iter().any(|(full, _)| is_it(full)))
}

impl Shown<'_> {
    fn human(&self, look: Look) -> String {
        let (paint, refined) = (Paint(look.color), self.refined);
        let model = format!("{} ({})", visible(&self.source.path), self.program.system);
        let of = format!("{} ({})", visible(&self.mapping.name), visible(&self.spec_source.path));
        let (word, detail) = match refined.verdict {
            Verdict::Holds => {
                ("refined", format!("every step is a step of {of}, or leaves its mapped variables as they are"))
            }
            Verdict::Violated => ("not refined", self.misstep(&of)),
            Verdict::Inconclusive => {
                let why = stopped(refined.hunt.stopped);
                ("inconclusive", format!("no step was found that is not a step of {of}; {why}"))
            }
        };
        let mut out = format!("{}: {model}: {detail}\n", paint.verdict(refined.verdict, word));
        if let Some(counterexample) = &refined.counterexample {
            out.push('\n');
            out += &self.table(counterexample, look);
            out += &self.ending(counterexample, paint);
            let _ = writeln!(out, "  {} {}", paint.dim("replay:"), ordinals_text(&counterexample.run));
        }
        let stats = &refined.hunt.stats;
        let searched = [count(stats.states, "pair"), count(stats.transitions, "transition")].join(", ");
        let specification = [count(refined.specification.states, "state"), count(refined.specification.sets, "set")];
        let _ = writeln!(out, "\n{} {}", paint.bold("covered:"), self.covered());
        let _ = writeln!(out, "{} {searched}, depth {}", paint.bold("searched:"), stats.max_depth);
        let large = Some(refined.specification.bytes).filter(|size| *size >= LARGE);
        let large = large.map(|size| format!(", {}", bytes(size))).unwrap_or_default();
        let _ = writeln!(out, "{} {}{large}", paint.bold("specification:"), specification.join(" in "));
        for (title, is_mapped) in [("mapped:", true), ("hidden:", false)] {
            if let Some(names) = self.listed(is_mapped) {
                let _ = writeln!(out, "{} {names}", paint.bold(title));
            }
        }
        let _ = writeln!(out, "{} {:.3} s with bfs", paint.bold("time:"), self.seconds);
        out
    }

    /// What was covered: the grade of the search, for runs of the implementation.
    fn covered(&self) -> String {
        let hunt = &self.refined.hunt;
        let ended = stopped(hunt.stopped);
        match hunt.coverage {
            Coverage::Complete => {
                "A, exhaustive: every run of the implementation (safety: not whether it goes on)".into()
            }
            Coverage::Depth(depth) => {
                let steps = count(u64::from(depth), "step");
                format!("B, complete to depth {depth}: every run of up to {steps}; {ended}")
            }
            _ => format!("D, partial: {}, with no claim about others; {ended}", count(hunt.stats.states, "pair")),
        }
    }

    /// The global variables of the specification that are mapped, or that are hidden, each with whether only some of its elements are.
    fn variables(&self, is_mapped: bool) -> Vec<(&str, bool)> {
        let variables = self.specification.variables.iter().enumerate();
        let globals = variables.filter(|(_, variable)| variable.role == VarRole::Global);
        let part = |(number, variable): (usize, &'_ Variable)| {
            let mapped = self.mapping.observed.iter().filter(|one| one.variable.index() == number).count() as u32;
            let is_meant = if is_mapped { mapped > 0 } else { mapped < variable.len() };
            is_meant.then_some((number, mapped > 0 && mapped < variable.len()))
        };
        let name = |(number, is_part): (usize, bool)| (&*self.specification.variables[number].name, is_part);
        globals.filter_map(part).map(name).collect()
    }

    /// The same as one line.
    fn listed(&self, is_mapped: bool) -> Option<String> {
        let text = |(name, is_part): (&str, bool)| format!("{name}{}", if is_part { " (some elements)" } else { "" });
        let all: Vec<String> = self.variables(is_mapped).into_iter().map(text).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn misstep(&self, of: &str) -> String {
        let Some(counterexample) = &self.refined.counterexample else {
            let steps = count(u64::from(self.refined.untraced.unwrap_or(0)), "step");
            return format!("{of} cannot follow it for {steps}; the search ended before it had the trace");
        };
        let steps = counterexample.run.steps.len();
        match counterexample.kind {
            Misstep::Initial => format!("it does not begin as {of}"),
            Misstep::Step => format!("step {steps} is not a step of {of}"),
            Misstep::Fault => format!("step {steps} is a runtime error, so it is not a step of {of}"),
        }
    }

    /// The values that are observed, as `name=value`.
    fn values(&self, observation: &Observation) -> Vec<(String, String)> {
        let text = |(one, value): (&Observed, &i64)| {
            (one.name.clone(), self.specification.variable(one.variable).value_text(*value))
        };
        self.mapping.observed.iter().zip(observation).map(text).collect()
    }

    /// What changes from one observation to another.
    fn changes(&self, before: &Observation, after: &Observation) -> Vec<String> {
        let both = self.values(before).into_iter().zip(self.values(after));
        both.filter(|(a, b)| a != b).map(|((name, a), (_, b))| format!("{name}: {a} → {b}")).collect()
    }

    /// The elements without a value in a state, and why.
    fn unmapped(&self, state: &[u32]) -> Vec<(String, String)> {
        let model = Interpreter::new(self.program, &[]);
        let why = |why: Unmappable| match why {
            Unmappable::Undefined(reason) => format!("has no value: {reason}"),
            Unmappable::Outside(value) => format!("would be {value}, which it cannot be"),
        };
        let unmapped = Lens::new(self.mapping).unmappable(&model, state).into_iter();
        unmapped.map(|(one, reason)| (one.name.clone(), why(reason))).collect()
    }

    /// A step: who takes it, and where it is written.
    fn step(source: &Source, program: &Program, run: &Replayed, at: usize) -> (String, (usize, usize)) {
        let transition = program.transition(run.steps[at].transition);
        (program.thread(transition.thread).name.clone(), source.position(transition.span))
    }

    /// What the specification does beside a step.
    fn beside(&self, counterexample: &Counterexample, at: usize) -> String {
        let Some(beside) = counterexample.mismatch.beside.get(at) else { return "no such step".to_owned() };
        let run = &counterexample.mismatch.specification;
        let last = beside.steps.end;
        let text = |step: usize| {
            let (thread, (line, column)) = Self::step(self.spec_source, self.specification, run, step);
            format!("{thread} at {line}:{column}{}", if step + 1 < last { " (internal)" } else { "" })
        };
        let steps: Vec<String> = beside.steps.clone().map(text).collect();
        if steps.is_empty() { "stutters".to_owned() } else { steps.join(", ") }
    }

    /// Both runs, side by side.
    fn table(&self, counterexample: &Counterexample, look: Look) -> String {
        let paint = Paint(look.color);
        let (run, mismatch) = (&counterexample.run, &counterexample.mismatch);
        let start = match &mismatch.observed[0] {
            Some(observation) => {
                let values: Vec<String> =
                    self.values(observation).iter().map(|(name, value)| format!("{name}={value}")).collect();
                let hidden = values.len().saturating_sub(MOST_VALUES);
                let more = if hidden > 0 { format!(" … ({hidden} more)") } else { String::new() };
                values.iter().take(MOST_VALUES).cloned().collect::<Vec<_>>().join(" ") + &more
            }
            None => "(no values)".to_owned(),
        };
        let begins = if counterexample.kind == Misstep::Initial { "begins otherwise" } else { "(start)" };
        let mut rows = vec![["0".to_owned(), "(start)".to_owned(), String::new(), start, begins.to_owned()]];
        for at in 0..run.steps.len() {
            let (thread, (line, column)) = Self::step(self.source, self.program, run, at);
            let observed = match (&mismatch.observed[at], mismatch.observed.get(at + 1)) {
                (Some(before), Some(Some(after))) => self.changes(before, after).join(", "),
                (_, Some(_)) => "(no values)".to_owned(),
                (_, None) => "(runtime error)".to_owned(),
            };
            let place = format!("{line}:{column}");
            rows.push([(at + 1).to_string(), thread, place, observed, self.beside(counterexample, at)]);
        }
        let titles =
            ["".to_owned(), "step".to_owned(), "at".to_owned(), "mapped values".to_owned(), self.mapping.name.clone()];
        let widths = [0, 1, 2, 3].map(|column| {
            let all = rows.iter().chain([&titles]);
            all.map(|row| row[column].chars().count()).max().unwrap_or(0)
        });
        let line = |row: &[String; 5]| {
            let cell =
                |column: usize| format!("{}{}", row[column], " ".repeat(widths[column] - row[column].chars().count()));
            format!("  {}  {}  {}  {}  {}", cell(0), cell(1), cell(2), cell(3), row[4]).trim_end().to_owned() + "\n"
        };
        let width = look.width.unwrap_or(usize::MAX);
        if rows.iter().all(|row| line(row).trim_end().chars().count() <= width) {
            let lines: String = rows.iter().map(line).collect();
            return format!("{}\n{lines}", paint.dim(line(&titles).trim_end()));
        }
        // A table that is too wide has a line for each column.
        let mut out = String::new();
        let indent = 2 + widths[0] + 2;
        for row in &rows {
            out += format!("  {}  {} {}", row[0], row[1], row[2]).trim_end();
            out.push('\n');
            for text in [&row[3], &row[4]].into_iter().filter(|text| !text.is_empty()) {
                for part in words(text, width.saturating_sub(indent + 2)) {
                    let _ = writeln!(out, "{}{part}", " ".repeat(indent + 2));
                }
            }
        }
        out
    }

    /// What is wrong at the end, and what the specification could have done.
    fn ending(&self, counterexample: &Counterexample, paint: Paint) -> String {
        let Counterexample { kind, run, mismatch } = counterexample;
        let name = visible(&self.mapping.name);
        let mut out = String::from("\n");
        if *kind == Misstep::Fault {
            let fault = run.fault.map(|id| &self.program.faults[id.index()]);
            let (message, span) = fault.map_or(("a check fails", None), |fault| (&fault.message, Some(fault.span)));
            let place = span.map(|span| self.source.position(span));
            let place = place.map(|(line, column)| format!(" at {line}:{column}")).unwrap_or_default();
            let _ = writeln!(out, "  {} {}{place}", paint.bold("runtime error:"), visible(message));
            return out;
        }
        for (element, why) in self.unmapped(run.last()) {
            let _ = writeln!(out, "  {} `{element}` {why}", paint.bold("not a state of it:"));
        }
        let before = mismatch.observed.iter().rev().nth(1).and_then(Option::as_ref);
        let could = |observation: &Observation| match before {
            Some(before) => self.changes(before, observation).join(", "),
            None => self
                .values(observation)
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        };
        let verb = if *kind == Misstep::Initial { "begins with" } else { "could have done instead" };
        let _ = writeln!(out, "  {}", paint.bold(&format!("{name} {verb}:")));
        for observation in mismatch.instead.iter().take(MOST_INSTEAD) {
            let _ = writeln!(out, "    {}", could(observation));
        }
        let more = mismatch.instead.len().saturating_sub(MOST_INSTEAD);
        if more > 0 {
            let _ = writeln!(out, "    … {more} more");
        }
        if *kind == Misstep::Step {
            let nothing = if mismatch.instead.is_empty() {
                "nothing: no step of it changes a mapped variable here"
            } else {
                "or nothing: it may stutter"
            };
            let _ = writeln!(out, "    {nothing}");
        }
        out
    }
}
