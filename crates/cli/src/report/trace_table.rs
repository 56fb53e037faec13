//! The steps of a trace as a table for people: number, thread, locations, what changed, where it is written.

use std::fmt::Write as _;

use anstyle::AnsiColor;
use birk_exec::{Explanation, Replayed};
use birk_ir::{Change, Program, ShownState, ShownValue};

use crate::numbers::grouped;
use crate::report::explained::is_marked;
use crate::report::fold::{Look, words};
use crate::report::json::is_location_of;
use crate::source::Source;
use crate::terminal::Paint;

/// Of longer traces, the middle is left out of a report.
const LONG: usize = 100;
/// So many steps are shown at both ends.
const ENDS: (usize, usize) = (20, 40);
/// Changes have at most so many columns where the width does not matter.
const WIDEST: usize = 60;
/// With less room beside the other columns, changes stand below them.
const NARROW: usize = 24;

/// Statements have at most so many columns.
pub(crate) const STATEMENT: usize = 32;

/// How much of a trace is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Without the middle of a long one.
    Ends,
}

/// A trace, and how it is shown.
pub(crate) struct TraceTable<'a> {
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
    pub(crate) run: &'a Replayed,
    pub(crate) extent: Extent,
    /// Steps that do not matter are marked.
    pub(crate) explanation: Option<&'a Explanation>,
}

type Row = [String; 5];

impl TraceTable<'_> {
    /// The steps that are left out, numbered from 1.
    fn hidden(&self) -> std::ops::Range<usize> {
        let steps = self.run.steps.len();
        match self.extent == Extent::Ends && steps > LONG {
            true => ENDS.0 + 1..steps - ENDS.1 + 1,
            false => 0..0,
        }
    }

    /// Whether not all of it is shown.
    pub(crate) fn is_cut(&self) -> bool {
        !self.hidden().is_empty()
    }

    /// The table, aligned.
    pub(crate) fn text(&self, look: Look) -> String {
        let (paint, rows, hidden) = (Paint(look.color), self.rows(), self.hidden());
        let columns = Columns::of(&rows, look.width);
        let mut out = String::new();
        for (number, row) in &rows {
            if *number == hidden.end && !hidden.is_empty() {
                let _ = writeln!(out, "{}", self.gap_text(&hidden, look, paint));
            }
            if self.run.loop_start.is_some_and(|start| start + 1 == *number) {
                let _ = writeln!(out, "  {}", paint.dim("forever:"));
            }
            columns.write(&mut out, row, (self.is_minor(*number), paint));
        }
        if self.run.loop_start == Some(self.run.steps.len()) {
            let _ = writeln!(out, "  {}", paint.dim("stutters forever: no step is possible"));
        }
        out
    }

    /// Whether a step, from 1, does not matter.
    fn is_minor(&self, number: usize) -> bool {
        let explanation = self.explanation.filter(|explanation| number > 0 && is_marked(explanation));
        explanation.is_some_and(|explanation| explanation.steps[number - 1].is_minor())
    }

    /// What stands in the place of the steps that are left out.
    fn gap_text(&self, hidden: &std::ops::Range<usize>, look: Look, paint: Paint) -> String {
        let (from, to) = (grouped(hidden.start as u64), grouped(hidden.end as u64 - 1));
        let cycle = self.run.loop_start.map(|start| start + 1).filter(|step| hidden.contains(step));
        let cycle = cycle.map(|step| format!("; step {} begins the cycle", grouped(step as u64))).unwrap_or_default();
        let number = grouped(hidden.len() as u64);
        let text = format!(
            "  … {number} steps hidden, {from} to {to}{cycle}; --trace FILE saves all, and birk replay shows them"
        );
        paint.dim(look.folded(&text).trim_end())
    }

    /// The rows that are shown, with the numbers of their steps.
    fn rows(&self) -> Vec<(usize, Row)> {
        let (program, run, hidden) = (self.program, self.run, self.hidden());
        let view = program.view();
        let mut history = view.history();
        let mut before = history.show(&run.states[0]);
        let start =
            ["0".to_owned(), "(start)".to_owned(), String::new(), start_text(&before, self.source), String::new()];
        let mut rows = vec![(0, start)];
        for at in 0..run.steps.len() {
            let after = history.show(&run.states[at + 1]);
            if !hidden.contains(&(at + 1)) {
                rows.push((at + 1, self.row(at, &before.changes(&after))));
            }
            before = after;
        }
        rows
    }

    fn row(&self, at: usize, changes: &[Change<'_, '_>]) -> Row {
        let (program, run) = (self.program, self.run);
        let transition = program.transition(run.steps[at].transition);
        let thread = transition.thread;
        let name = |state: &[u32]| program.location_text(thread, program.location_of(thread, state)).to_owned();
        let faults = at + 1 == run.steps.len() && program.is_faulty(run.last());
        let to = if faults { "fault".to_owned() } else { name(&run.states[at + 1]) };
        let is_own = |change: &&Change<'_, '_>| {
            !is_location_of(program, thread, &change.name) && self.source.has_variable(&change.name)
        };
        let others = changes.iter().filter(is_own);
        let changes: Vec<String> = others.map(change_text).collect();
        let (line, column) = self.source.position(transition.span);
        let what = match self.source.is_promela() && !faults {
            true => self.source.statements(transition, STATEMENT),
            false => format!("{} → {to}", name(&run.states[at])),
        };
        [
            (at + 1).to_string(),
            program.thread(thread).name.clone(),
            what,
            changes.join(", "),
            format!("{line}:{column}"),
        ]
    }
}

/// How wide the columns are.
struct Columns {
    widths: [usize; 4],
    /// Changes are folded into their column.
    folds: bool,
    /// Changes stand below the rest, in so many columns.
    below: Option<usize>,
}

impl Columns {
    fn of(rows: &[(usize, Row)], width: Option<usize>) -> Self {
        let widest = |column: usize| rows.iter().map(|(_, row)| row[column].chars().count()).max().unwrap_or(0);
        let mut widths = [widest(0), widest(1), widest(2), widest(3).min(WIDEST)];
        let Some(width) = width else { return Self { widths, folds: false, below: None } };
        // Every column has two blanks before it.
        let others = widths[0] + widths[1] + widths[2] + widest(4) + 5 * 2;
        let room = width.saturating_sub(others);
        widths[3] = widest(3);
        if widths[3] <= room || room >= NARROW {
            widths[3] = widths[3].min(room);
            return Self { widths, folds: true, below: None };
        }
        let below = width.saturating_sub(Self::indent(&widths)).max(NARROW);
        widths[3] = 0;
        Self { widths, folds: false, below: Some(below) }
    }

    /// Where changes begin that stand below the rest.
    fn indent(widths: &[usize; 4]) -> usize {
        2 + widths[0] + 2 + 2
    }

    fn write(&self, out: &mut String, row: &Row, (is_minor, paint): (bool, Paint)) {
        let [w0, w1, w2, w3] = self.widths;
        let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.chars().count()));
        let bold = |text: &str| if is_minor { paint.dim(text) } else { paint.bold(text) };
        let plain = |text: &str| if is_minor { paint.dim(text) } else { text.to_owned() };
        let cyan = |text: &str| match is_minor {
            true => paint.dim(text),
            false => paint.with(AnsiColor::Cyan.on_default(), text),
        };
        let changes = match self.below {
            Some(_) => vec![String::new()],
            None if self.folds => words(&row[3], w3),
            None => vec![row[3].clone()],
        };
        let line = format!(
            "{} {}{}  {}{}  {}{}  {}{}  {}",
            if is_minor { paint.dim("·") } else { " ".to_owned() },
            pad(&row[0], w0),
            paint.dim(&row[0]),
            bold(&row[1]),
            pad(&row[1], w1),
            plain(&row[2]),
            pad(&row[2], w2),
            cyan(&changes[0]),
            pad(&changes[0], w3),
            paint.dim(&row[4]),
        );
        let _ = writeln!(out, "{}", line.trim_end());
        let (rest, indent) = match self.below {
            Some(room) if !row[3].is_empty() => (words(&row[3], room), Self::indent(&self.widths)),
            Some(_) => (Vec::new(), 0),
            None => (changes[1..].to_vec(), 2 + w0 + 2 + w1 + 2 + w2 + 2),
        };
        for text in rest {
            let _ = writeln!(out, "{}{}", " ".repeat(indent), cyan(&text));
        }
    }
}

/// The initial values, leaving out locations and what is zero or false when there are many.
fn start_text(start: &ShownState<'_>, source: &Source) -> String {
    let is_place = |value: &ShownValue<'_>| matches!(value, ShownValue::Location(_));
    let leaves = start.leaves().into_iter().filter(|(name, value)| !is_place(value) && source.has_variable(name));
    let values: Vec<String> = leaves.map(|(name, value)| format!("{name}={value}")).collect();
    let hidden = values.len().saturating_sub(6);
    let mut text = values.into_iter().take(6).collect::<Vec<_>>().join(" ");
    if hidden > 0 {
        let _ = write!(text, " … ({hidden} more)");
    }
    text
}

/// A part of the state with its values before and after a step.
pub(crate) fn change_text(change: &Change<'_, '_>) -> String {
    format!("{}: {} → {}", change.name, change.before, change.after)
}
