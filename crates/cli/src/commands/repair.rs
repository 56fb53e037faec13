//! `birk repair`: small changes of a model after which a violation is not found any more.

mod page;

use std::fmt::Write as _;
use std::time::Instant;

use birk::process_memory::Memory;
use birk::repair::{Kind, Repair, Repairs, repairs};
use birk::{Conditions, Options};
use birk_ir::{Coverage, Program, Span, Stop, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Format, OnOff, RepairArgs};
use crate::load::{Read, load_with, read};
use crate::numbers::count;
use crate::progress::Watcher;
use crate::report::fold::Look;
use crate::source::Source;
use crate::terminal::{Paint, print, print_for_people, uses_color, visible};
use crate::{Exit, Failure, durable};

/// So many lines are shown, and so many changes of each.
const MOST_LINES: usize = 5;
const MOST_CHANGES: usize = 3;

const FOUND: &str = "no violation is found after one of these changes; the most likely places come first";

/// What was found out.
struct Shown<'a> {
    args: &'a RepairArgs,
    source: &'a Source,
    program: &'a Program,
    found: &'a birk::Report,
    repairs: &'a Repairs,
    seconds: f64,
}

/// Runs the command.
pub(crate) fn run(args: &RepairArgs) -> Result<Exit, Failure> {
    let Read { source, program, .. } = read(&args.model, None)?;
    let began = Instant::now();
    let memory = Memory::new(args.memory);
    let options = Options {
        properties: args.property.clone(),
        deadlock: args.deadlock == OnOff::On,
        fairness: args.fairness.into(),
        memory,
        ..Options::default()
    };
    let mut watcher = Watcher::start(args.progress, Some(args.time))?;
    watcher.limit_memory(memory);
    let found = birk::check(&program, &options, &mut watcher)?;
    let mut load = |text: &str| load_with(&args.model, text, Conditions::default()).program;
    let repairs = match found.verdict() {
        Verdict::Violated => {
            let until = began + args.time;
            repairs(&source.text, &mut load, (&program, &options), &found, until, &mut watcher)?
        }
        _ => Repairs::default(),
    };
    watcher.clear();
    let seconds = watcher.elapsed().as_secs_f64();
    let shown = Shown { args, source: &source, program: &program, found: &found, repairs: &repairs, seconds };
    match args.format {
        Format::Human => {
            let look = Look::of_output(uses_color(args.model.color, &std::io::stdout()));
            print_for_people(&look.folded(&shown.human(Paint(look.color))), look.color)?;
        }
        Format::Json => {
            print(&(serde_json::to_string_pretty(&shown.json()).expect("a report has only string keys") + "\n"))?;
        }
    }
    if let Some(path) = &args.report {
        durable::write(path, page::page(&shown).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    Ok(match found.verdict() {
        Verdict::Violated => Exit::Violated,
        _ if found.hunt.stopped == Stop::Interrupt => Exit::Interrupted,
        Verdict::Holds => Exit::Success,
        Verdict::Inconclusive => Exit::Inconclusive,
    })
}

impl Shown<'_> {
    fn human(&self, paint: Paint) -> String {
        let verdict = self.found.verdict();
        let model = format!("{} ({})", visible(&self.source.path), self.program.system);
        let mut out = format!("{}: {model}: {}\n", paint.verdict(verdict, verdict.word()), self.detail());
        if verdict != Verdict::Violated {
            return out;
        }
        let lines = self.lines();
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{FOUND}:");
        }
        for (line, changes) in lines.iter().take(MOST_LINES) {
            let text = self.source.text.lines().nth(line - 1).unwrap_or_default();
            let _ = writeln!(out, "\n{line:>6} | {}", visible(text.trim_end()));
            for repair in changes.iter().take(MOST_CHANGES) {
                let _ = writeln!(out, "       | {}", self.change(repair, paint));
            }
            if changes.len() > MOST_CHANGES {
                let _ = writeln!(out, "       | {}", count((changes.len() - MOST_CHANGES) as u64, "more change"));
            }
        }
        if lines.len() > MOST_LINES {
            let _ = writeln!(out, "\n{} more; --format json has all", count((lines.len() - MOST_LINES) as u64, "line"));
        }
        let tried = self.tried().unwrap_or_default();
        let _ = writeln!(out, "\n{} {tried}", paint.bold("tried:"));
        out
    }

    /// What became of the model.
    fn detail(&self) -> String {
        match self.found.verdict() {
            Verdict::Violated => self.violated().join(", "),
            Verdict::Holds => "there is nothing to repair".to_owned(),
            Verdict::Inconclusive => "no violation was found, so there is nothing to repair yet".to_owned(),
        }
    }

    /// How many changes were tried, and what follows from it; nothing where nothing is violated.
    fn tried(&self) -> Option<String> {
        let Repairs { found, tried, of } = self.repairs;
        let tried = if tried == of { format!("all {of}") } else { format!("{tried} of {of}") };
        let prevents = match found.len() {
            0 => "none prevents".to_owned(),
            1 => "one prevents".to_owned(),
            number => format!("{number} prevent"),
        };
        let caution = match found.is_empty() {
            true => "",
            false => {
                "\nA change that prevents a violation may also prevent what the model is for: the properties decide, and only they."
            }
        };
        let seconds = self.seconds;
        (self.found.verdict() == Verdict::Violated)
            .then(|| format!("{tried} small changes, of which {prevents} what is violated; {seconds:.1} s{caution}"))
    }

    fn violated(&self) -> Vec<String> {
        let violated = self.found.answers.iter().filter(|answer| answer.verdict == Verdict::Violated);
        violated
            .map(|answer| match answer.trace.map(|trace| &self.found.traces[trace].run) {
                Some(run) => format!("`{}` ({})", answer.property.name, count(run.steps.len() as u64, "step")),
                None => format!("`{}`", answer.property.name),
            })
            .collect()
    }

    /// The repairs by their lines, in the order of the best of each.
    fn lines(&self) -> Vec<(usize, Vec<&Repair>)> {
        let mut lines: Vec<(usize, Vec<&Repair>)> = Vec::new();
        for repair in &self.repairs.found {
            let (line, _) = self.position(repair);
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, changes)) => changes.push(repair),
                None => lines.push((line, vec![repair])),
            }
        }
        lines
    }

    fn position(&self, repair: &Repair) -> (usize, usize) {
        self.source.position(Span::new(repair.change.at.start, repair.change.at.end))
    }

    /// What is changed, in words, and what was explored then.
    fn change(&self, repair: &Repair, paint: Paint) -> String {
        let change = &repair.change;
        let one_line = |text: &str| visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
        let (from, to) = (one_line(&self.source.text[change.at.clone()]), one_line(&change.with));
        let what = match change.kind {
            Kind::Removal => format!("without `{from}`"),
            Kind::Addition => {
                let added = to.trim_matches([';', ',', ' ']);
                format!("with `{}` {}", paint.bold(added), self.neighbour(&change.at))
            }
            _ if to.is_empty() => format!("without `{from}`"),
            _ => format!("`{from}` as `{}`", paint.bold(&to)),
        };
        let unused = match repair.unused {
            0 => String::new(),
            number => format!("; {} then", count(number as u64, "unused transition")),
        };
        let states = count(repair.states, "state");
        match repair.coverage {
            Coverage::Depth(depth) => format!("{what}: none within {} ({states}){unused}", count(depth.into(), "step")),
            _ => format!("{what}: none in any reachable state ({states}){unused}"),
        }
    }

    /// `before …` or `after …`: the statement beside which another one is added.
    fn neighbour(&self, at: &std::ops::Range<usize>) -> String {
        let text = &self.source.text;
        let is_end = |letter: char| ";{}\n".contains(letter);
        let word = |text: &str| visible(text.trim()).into_owned();
        let next = text[at.start..].split(is_end).next().unwrap_or_default();
        match next.trim().is_empty() {
            false => format!("before `{}`", word(next)),
            true => {
                let before = text[..at.start].trim_end_matches([';', ' ', '\n']);
                format!("after `{}`", word(before.rsplit(is_end).next().unwrap_or_default()))
            }
        }
    }

    fn json(&self) -> RepairReport {
        let of = |repair: &Repair| {
            let (line, column) = self.position(repair);
            let Repair { change, coverage, states, unused } = repair;
            let depth = if let Coverage::Depth(depth) = coverage { Some(*depth) } else { None };
            RepairOf {
                line,
                column,
                kind: word(change.kind),
                from: self.source.text[change.at.clone()].to_owned(),
                to: change.with.clone(),
                complete: depth.is_none(),
                depth,
                states: *states,
                unused_transitions: *unused,
            }
        };
        RepairReport {
            schema: 1,
            birk: env!("CARGO_PKG_VERSION"),
            model: self.source.path.clone(),
            system: self.program.system.clone(),
            verdict: self.found.verdict().word(),
            violated: self
                .found
                .answers
                .iter()
                .filter(|answer| answer.verdict == Verdict::Violated)
                .map(|answer| answer.property.name.clone())
                .collect(),
            tried: self.repairs.tried,
            changes: self.repairs.of,
            repairs: self.repairs.found.iter().map(of).collect(),
            seconds: self.seconds,
        }
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Operator => "operator",
        Kind::Number => "number",
        Kind::Atomic => "atomic",
        Kind::Order => "order",
        Kind::Name => "name",
        Kind::Removal => "removal",
        Kind::Addition => "addition",
    }
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepairReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    verdict: &'static str,
    /// Names of properties.
    violated: Vec<String>,
    /// How many changes were tried, and how many there are.
    tried: usize,
    changes: usize,
    /// The most likely first.
    repairs: Vec<RepairOf>,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct RepairOf {
    line: usize,
    column: usize,
    kind: &'static str,
    from: String,
    to: String,
    /// Every reachable state was explored then; otherwise every state to a depth.
    complete: bool,
    depth: Option<u32>,
    states: u64,
    /// Transitions that never happen then, beyond those that never do as it is.
    unused_transitions: usize,
}
