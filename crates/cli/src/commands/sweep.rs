//! `birk sweep`: a model with many values of its constants, the smallest first, within one budget.

mod grid;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use birk::process_memory::Memory;
use birk::{Conditions, Error, Grade, Options, Report};
use birk_ir::{Coverage, Stop, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Format, SweepArgs};
use crate::escape::escape;
use crate::load::imported;
use crate::numbers::{count, grouped, rounded};
use crate::progress::Watcher;
use crate::report::json::Fields;
use crate::report::plot::{Titles, curve};
use crate::source::Source;
use crate::terminal::{Paint, print, uses_color};
use crate::{Exit, Failure, durable};
use grid::{Grid, Place};

/// What became of a point of the grid.
#[derive(Clone, Debug)]
enum Row {
    Checked(Checked),
    /// With these constants it is no model, or its properties cannot be checked.
    Refused(String),
    /// A smaller one did not finish, or the budget was used up; so many states are expected.
    Skipped(Option<f64>),
}

#[derive(Clone, Debug)]
struct Checked {
    verdict: Verdict,
    grade: Grade,
    states: u64,
    transitions: u64,
    depth: u32,
    seconds: f64,
    /// Name, and length of the trace where there is one.
    violated: Vec<(String, Option<usize>)>,
    stopped: Stop,
    is_complete: bool,
    /// How many states are expected, where not all were visited.
    expected: Option<f64>,
}

impl Row {
    /// How many states there are, where that is known.
    fn states(&self) -> Option<f64> {
        match self {
            Row::Checked(checked) if checked.is_complete => Some(checked.states as f64),
            _ => None,
        }
    }

    /// The same, or how many are expected.
    fn expected(&self) -> Option<f64> {
        self.states().or(match self {
            Row::Checked(checked) => checked.expected,
            Row::Refused(_) => None,
            Row::Skipped(expected) => *expected,
        })
    }

    fn is_beyond(&self) -> bool {
        match self {
            Row::Checked(checked) => {
                checked.verdict == Verdict::Inconclusive && !matches!(checked.stopped, Stop::Exhausted | Stop::Goal)
            }
            Row::Refused(_) => false,
            Row::Skipped(_) => true,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Failure> {
    let grid = Grid::new(&args.model.define)?;
    let source = Source::read(&args.model.model)?;
    let mut watcher = Watcher::start(args.progress, args.time)?;
    let paint = Paint(args.format == Format::Human && uses_color(args.model.color, &std::io::stdout()));
    if args.format == Format::Human {
        print(&header(&grid))?;
    }
    let mut rows: Vec<(Place, Row)> = Vec::new();
    let mut is_ended = false;
    for place in grid.places() {
        let is_beyond = rows.iter().any(|(other, row)| row.is_beyond() && other.is_within(&place));
        let expected = grid.forecast(&place, &rows, Row::expected);
        let mut row = match is_ended || is_beyond {
            true => Row::Skipped(expected),
            false => check(args, &source, &grid.constants(&place), &mut watcher)?,
        };
        if let Row::Checked(checked) = &mut row {
            checked.expected = expected.filter(|_| !checked.is_complete);
            is_ended |= matches!(checked.stopped, Stop::Time | Stop::Interrupt);
        }
        if args.format == Format::Human {
            watcher.clear();
            print(&line(&grid, &place, &row, paint))?;
        }
        rows.push((place, row));
    }
    watcher.conclude();
    if args.format == Format::Json {
        print(&json(&source, &grid, &rows))?;
    }
    if let Some(path) = &args.report {
        durable::write(path, page(&source, &grid, &rows).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    Ok(exit(&rows))
}

/// Checks the model with these constants.
fn check(
    args: &SweepArgs,
    source: &Source,
    constants: &[(String, String)],
    watcher: &mut Watcher,
) -> Result<Row, Failure> {
    let folder = args.model.model.parent().unwrap_or(Path::new("")).to_owned();
    let resolve = &mut |name: &str| imported(&folder.join(name));
    let loaded = birk::load(&args.model.model, &source.text, constants, resolve, Conditions::default());
    let Some(program) = &loaded.program else {
        let error = loaded.diagnostics.iter().find(|diagnostic| !diagnostic.is_warning());
        return Ok(Row::Refused(
            error.map_or_else(String::new, |error| format!("error[{}]: {}", error.code, error.message)),
        ));
    };
    let memory = Memory::new(args.memory);
    watcher.limit_memory(memory);
    let options = Options { properties: args.property.clone(), threads: args.threads, memory, ..Options::default() };
    let began = Instant::now();
    match birk::check(program, &options, watcher) {
        Ok(report) => Ok(Row::Checked(checked(&report, began.elapsed().as_secs_f64()))),
        Err(Error::Refused(reason)) => Ok(Row::Refused(reason)),
        Err(error) => Err(error.into()),
    }
}

fn checked(report: &Report, seconds: f64) -> Checked {
    let violated = report.answers.iter().filter(|answer| answer.verdict == Verdict::Violated);
    let steps = |trace: usize| report.traces[trace].run.steps.len();
    let stats = &report.hunt.stats;
    Checked {
        verdict: report.verdict(),
        grade: report.grade(),
        states: stats.states,
        transitions: stats.transitions,
        depth: stats.max_depth,
        seconds,
        violated: violated.map(|answer| (answer.property.name.clone(), answer.trace.map(steps))).collect(),
        stopped: report.hunt.stopped,
        is_complete: report.hunt.coverage == Coverage::Complete && report.is_of_all_states(),
        expected: None,
    }
}

/// One for all: whether something is violated, or not known.
fn exit(rows: &[(Place, Row)]) -> Exit {
    let worst = rows.iter().map(|(_, row)| match row {
        Row::Checked(checked) if checked.verdict == Verdict::Violated => 2,
        Row::Checked(checked) if checked.verdict == Verdict::Holds => 0,
        _ => 1,
    });
    match worst.max() {
        Some(2) => Exit::Violated,
        Some(1) => Exit::Inconclusive,
        _ => Exit::Success,
    }
}

fn columns(grid: &Grid, value: impl Fn(usize) -> String) -> String {
    let cell = |axis: usize| format!("{:>width$}  ", value(axis), width = grid.width(axis));
    (0..grid.axes()).map(cell).collect()
}

fn header(grid: &Grid) -> String {
    let names = columns(grid, |axis| grid.name(axis).to_owned());
    format!("{names}{:12}  {:>15}  {:>15}  {:>7}  {:>9}\n", "verdict", "states", "transitions", "depth", "seconds")
}

fn line(grid: &Grid, place: &Place, row: &Row, paint: Paint) -> String {
    let mut out = columns(grid, |axis| grid.value(place, axis).to_owned());
    match row {
        Row::Checked(one) => {
            let word = one.verdict.word();
            let padding = " ".repeat(12 - word.len());
            let _ = write!(
                out,
                "{}{padding}  {:>15}  {:>15}  {:>7}  {:>9.3}",
                paint.verdict(one.verdict, word),
                states(one),
                grouped(one.transitions),
                one.depth,
                one.seconds
            );
            out.push_str(&violations(one).map(|text| format!("  {text}")).unwrap_or_default());
        }
        Row::Refused(reason) => {
            let _ = write!(out, "{:12}  {reason}", "not checked");
        }
        Row::Skipped(expected) => {
            let states = expected.map_or_else(String::new, |states| format!("about {}", rounded(states as u64)));
            let _ = write!(out, "{:12}  {states:>15}", "not checked");
        }
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// How many states were visited; `+` where there may be more.
fn states(checked: &Checked) -> String {
    grouped(checked.states) + if checked.is_complete { "" } else { "+" }
}

/// What is violated, and in how many steps.
fn violations(checked: &Checked) -> Option<String> {
    let text = |(name, steps): &(String, Option<usize>)| match steps {
        Some(steps) => format!("`{name}` in {}", count(*steps as u64, "step")),
        None => format!("`{name}`"),
    };
    let all: Vec<String> = checked.violated.iter().map(text).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The report for programs.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepReport {
    schema: u32,
    model: String,
    points: Vec<PointReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct PointReport {
    constants: Fields,
    /// None where it was not checked.
    verdict: Option<&'static str>,
    grade: Option<&'static str>,
    states: Option<u64>,
    /// Whether these are all states.
    complete: Option<bool>,
    transitions: Option<u64>,
    max_depth: Option<u32>,
    seconds: Option<f64>,
    stopped_by: Option<&'static str>,
    violated: Vec<ViolatedReport>,
    reason: Option<String>,
    /// How many states are expected, where not all were visited.
    forecast_states: Option<f64>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct ViolatedReport {
    property: String,
    steps: Option<usize>,
}

fn json(source: &Source, grid: &Grid, rows: &[(Place, Row)]) -> String {
    let point = |(place, row): &(Place, Row)| {
        let checked = if let Row::Checked(checked) = row { Some(checked) } else { None };
        let violated = checked.map(|one| one.violated.clone()).unwrap_or_default();
        PointReport {
            constants: grid.constants(place).into_iter().map(|(name, value)| (name, value.into())).collect(),
            verdict: checked.map(|one| one.verdict.word()),
            grade: checked.map(|one| one.grade.letter()),
            states: checked.map(|one| one.states),
            complete: checked.map(|one| one.is_complete),
            transitions: checked.map(|one| one.transitions),
            max_depth: checked.map(|one| one.depth),
            seconds: checked.map(|one| one.seconds),
            stopped_by: checked.map(|one| one.stopped.word()),
            violated: violated.into_iter().map(|(property, steps)| ViolatedReport { property, steps }).collect(),
            reason: if let Row::Refused(reason) = row { Some(reason.clone()) } else { None },
            forecast_states: row.expected().filter(|_| row.states().is_none()).map(f64::round),
        }
    };
    let document = SweepReport { schema: 1, model: source.path.clone(), points: rows.iter().map(point).collect() };
    serde_json::to_string_pretty(&document).expect("a report has only string keys") + "\n"
}

/// A page with the table, and the states as curves along the first constant.
fn page(source: &Source, grid: &Grid, rows: &[(Place, Row)]) -> String {
    let mut table = String::from("<table><thead><tr>");
    (0..grid.axes()).for_each(|axis| _ = write!(table, "<th scope=\"col\">{}</th>", escape(grid.name(axis))));
    for title in ["verdict", "states", "transitions", "depth", "seconds", ""] {
        let _ = write!(table, "<th scope=\"col\">{title}</th>");
    }
    table += "</tr></thead><tbody>\n";
    for (place, row) in rows {
        table += "<tr>";
        (0..grid.axes())
            .for_each(|axis| _ = write!(table, "<td class=\"mono\">{}</td>", escape(grid.value(place, axis))));
        let _ = match row {
            Row::Checked(one) => write!(
                table,
                "<td class=\"{0}\"><strong>{0}</strong></td><td>{1}</td><td>{2}</td><td>{3}</td><td>{4:.3}</td><td>{5}</td>",
                one.verdict.word(),
                states(one),
                grouped(one.transitions),
                one.depth,
                one.seconds,
                escape(&violations(one).unwrap_or_default().replace('`', ""))
            ),
            Row::Refused(reason) => {
                write!(table, "<td>not checked</td><td></td><td></td><td></td><td></td><td>{}</td>", escape(reason))
            }
            Row::Skipped(expected) => write!(
                table,
                "<td>not checked</td><td class=\"soft\">{}</td><td></td><td></td><td></td><td></td>",
                expected.map_or_else(String::new, |states| format!("about {}", rounded(states as u64)))
            ),
        };
        table += "</tr>\n";
    }
    table += "</tbody></table>\n";
    let curves = grid.curves(rows, |row| row.states().map(|states| states.max(1.0).log10()));
    let drawn = curve(&Titles { title: "Size", x: grid.name(0), y: "states, as powers of ten" }, &curves);
    let drawn = if curves.is_empty() { String::new() } else { drawn };
    crate::report::html::plain_page(&format!("Sweep of {}", source.path), &(table + &drawn))
}
