//! Repairs as a page: each change in the text around it, with what a search of the changed model found.

use std::fmt::Write as _;

use birk::repair::Repair;
use birk_ir::Verdict;

use super::{FOUND, Shown};
use crate::escape::escape;
use crate::numbers::count;
use crate::report::command_line;
use crate::report::html::{plain_page, with_code};
use crate::terminal::Paint;

/// So many lines of the text are shown before and after a change.
const AROUND: usize = 2;
/// So many lines are shown with their changes, and so many changes of each.
const MOST_LINES: usize = 40;
const MOST_CHANGES: usize = 12;

/// The whole file.
pub(super) fn page(shown: &Shown<'_>) -> String {
    let verdict = shown.found.verdict().word();
    let model = format!("<span class=\"mono\">{}</span>", escape(&shown.source.path));
    let title = format!("{}: repairs", shown.program.system);
    let mut body = format!("<p><strong class=\"verdict {verdict}\">{verdict}</strong> {model}: ");
    body += &with_code(&escape(&shown.detail()));
    body += "</p>\n";
    let lines = shown.lines();
    if let Some(tried) = shown.tried() {
        let _ = writeln!(body, "<p>Tried: {}</p>", escape(&tried.replace("\n", ". ")));
    }
    if !lines.is_empty() {
        let _ = writeln!(body, "<p>N{}.</p>", &FOUND[1..]);
    }
    for (line, repairs) in lines.iter().take(MOST_LINES) {
        let _ = writeln!(body, "<section><h2>Line {line}</h2>");
        for repair in repairs.iter().take(MOST_CHANGES) {
            body += &one(shown, repair);
        }
        if repairs.len() > MOST_CHANGES {
            let more = count((repairs.len() - MOST_CHANGES) as u64, "more change");
            let _ = writeln!(body, "<p class=\"soft\">{more}</p>");
        }
        body += "</section>\n";
    }
    if lines.len() > MOST_LINES {
        let more = count((lines.len() - MOST_LINES) as u64, "more line");
        let _ = writeln!(body, "<p class=\"soft\">{more}; <code>--format json</code> has all</p>");
    }
    if shown.found.verdict() == Verdict::Violated {
        body += &trace(shown);
    }
    plain_page(&title, &body)
}

/// The command that writes the page of the trace.
fn trace(shown: &Shown<'_>) -> String {
    let defined = &shown.args.model.define;
    let constants = defined.iter().flat_map(|(name, value)| ["-D".to_owned(), format!("{name}={value}")]);
    let words: Vec<String> = constants.chain(["--report", "trace.html"].map(str::to_owned)).collect();
    let line = command_line("birk check", &shown.source.path, &words);
    format!("<p>The trace, as a page:</p><pre class=\"scroll\">{}</pre>\n", escape(&line))
}

/// A change in the text around it.
fn one(shown: &Shown<'_>, repair: &Repair) -> String {
    let (text, change) = (&shown.source.text, &repair.change);
    let changed = change.apply(text);
    let line = |text: &str, at: usize| text[..at].matches('\n').count();
    let first = line(text, change.at.start);
    let (last, new_last) = (line(text, change.at.end), line(&changed, change.at.start + change.with.len()));
    let mut out = format!("<p>{}</p>\n", with_code(&escape(&shown.change(repair, Paint(false)))));
    out += "<div class=\"scroll source mono\" tabindex=\"0\" role=\"group\" aria-label=\"the change\">";
    let (old, new): (Vec<&str>, Vec<&str>) = (text.lines().collect(), changed.lines().collect());
    let (from, to) = (first.saturating_sub(AROUND), old.len().min(last + 1 + AROUND));
    let indent = indent(old[from..to].iter().chain(&new[first..=new_last]));
    let mut put = |class: &str, sign: &str, number: usize, text: &str| {
        let text = escape(text.get(indent..).unwrap_or_default());
        let _ = write!(out, "<div{class}><span class=\"n\">{}</span>{sign} {text}</div>", number + 1);
    };
    (from..first).for_each(|at| put("", " ", at, old[at]));
    (first..=last).for_each(|at| put(" class=\"never\"", "−", at, old[at]));
    (first..=new_last).for_each(|at| put(" class=\"ran\"", "+", at, new[at]));
    (last + 1..to).for_each(|at| put("", " ", at, old[at]));
    out + "</div>\n"
}

/// The blanks with which all lines begin that are not empty.
fn indent<'a>(lines: impl Iterator<Item = &'a &'a str>) -> usize {
    let blanks = |line: &&&str| line.bytes().take_while(|byte| *byte == b' ').count();
    lines.filter(|line| !line.trim().is_empty()).map(|line| blanks(&line)).min().unwrap_or(0)
}
