//! The report for code scanners, as SARIF 2.1.0, and as annotations of a build on GitHub: where each property stands, what became
//! of it, and the steps of its trace.

use std::fmt::Write as _;

use birk::{Answer, ShownTrace};
use birk_exec::Role;
use birk_ir::{Span, Verdict};
use serde_json::{Value, json};

use crate::numbers::count;
use crate::report::Report;
use crate::report::explained::is_marked;
use crate::source::Source;

/// Longer traces are cut: their first and their last steps are shown.
const MOST_STEPS: usize = 1000;

/// The report as one SARIF log with one run, and a line feed at its end.
pub(crate) fn text(report: &Report<'_>) -> String {
    let rules: Vec<Value> = report.answers.iter().map(|answer| rule(report, answer)).collect();
    let results: Vec<Value> =
        report.answers.iter().enumerate().map(|(index, answer)| result(report, index, answer)).collect();
    let driver = json!({
        "name": "birk", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules,
    });
    let log = json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": {"driver": driver},
            "invocations": [{"executionSuccessful": true, "commandLine": report.reproduce()}],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {"verdict": report.verdict().word(), "covered": report.covered()},
        }],
    });
    serde_json::to_string_pretty(&log).expect("a log has only string keys") + "\n"
}

/// Lines that GitHub shows beside the model: an error for what is violated, a warning for what is not known.
pub(crate) fn annotations(report: &Report<'_>) -> String {
    let mut out = String::new();
    for answer in &report.answers {
        let word = match answer.verdict {
            Verdict::Violated => "error",
            Verdict::Inconclusive => "warning",
            Verdict::Holds => continue,
        };
        let start = Span { file: 0, start: 0, end: 0 };
        let span = place(report, answer).unwrap_or(start);
        let title = format!("birk: {}", answer.property.name);
        out += &annotation(word, (report.source, span), &title, &message(report, answer));
    }
    out
}

/// One line of such.
pub(crate) fn annotation(word: &str, (source, span): (&Source, Span), title: &str, message: &str) -> String {
    let (line, column) = source.position(span);
    let (file, title) = (property_of_command(&source.file(span).path), property_of_command(title));
    format!("::{word} file={file},line={line},col={column},title={title}::{}\n", data_of_command(message))
}

fn data_of_command(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property_of_command(text: &str) -> String {
    data_of_command(text).replace(':', "%3A").replace(',', "%2C")
}

fn rule(report: &Report<'_>, answer: &Answer) -> Value {
    let text = match answer.property.span {
        Some(span) => report.source.slice(span),
        None => answer.property.word().to_owned(),
    };
    json!({"id": answer.property.name, "name": answer.property.word(), "shortDescription": {"text": text}})
}

fn result(report: &Report<'_>, index: usize, answer: &Answer) -> Value {
    let (kind, level) = match answer.verdict {
        Verdict::Holds => ("pass", "none"),
        Verdict::Violated => ("fail", "error"),
        Verdict::Inconclusive => ("open", "none"),
    };
    let mut result = json!({
        "ruleId": answer.property.name,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": message(report, answer)},
        "locations": [location(report.source, place(report, answer))],
    });
    if let (Some(trace), Verdict::Violated) = (trace(report, answer), answer.verdict) {
        result["codeFlows"] = json!([{"threadFlows": [{"locations": flow(report, trace)}]}]);
    }
    result
}

/// What became of a property, in a sentence.
fn message(report: &Report<'_>, answer: &Answer) -> String {
    let steps = trace(report, answer).map(|trace| count(trace.run.steps.len() as u64, "step"));
    let name = &answer.property.name;
    match (answer.verdict, steps) {
        (Verdict::Violated, Some(steps)) => format!("`{name}` is violated in {steps}"),
        (Verdict::Violated, None) => format!("`{name}` is violated: nothing of the kind can be reached"),
        (Verdict::Holds, _) => format!("`{name}` holds"),
        (Verdict::Inconclusive, _) => match &answer.reason {
            Some(reason) => format!("`{name}` was not checked: {reason}"),
            None => format!("`{name}` is not decided. Covered: {}", report.covered()),
        },
    }
}

fn trace<'r>(report: &'r Report<'_>, answer: &Answer) -> Option<&'r ShownTrace> {
    answer.trace.map(|trace| &report.traces[trace])
}

/// Where a property stands; otherwise, the last step of its trace.
fn place(report: &Report<'_>, answer: &Answer) -> Option<Span> {
    answer.property.span.or_else(|| {
        let last = trace(report, answer)?.run.steps.last()?;
        Some(report.program.transition(last.transition).span)
    })
}

fn file(source: &Source, span: Option<Span>) -> &Source {
    span.map_or(source, |span| source.file(span))
}

fn location(source: &Source, span: Option<Span>) -> Value {
    let (line, column) = span.map_or((1, 1), |span| source.position(span));
    let uri = encoded(&file(source, span).path);
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri}, "region": {"startLine": line, "startColumn": column},
    }})
}

/// The steps of a trace, with what each changes.
fn flow(report: &Report<'_>, trace: &ShownTrace) -> Vec<Value> {
    let (program, run) = (report.program, &trace.run);
    let view = program.view();
    let mut history = view.history();
    let mut before = history.show(&run.states[0]);
    let mut locations = Vec::new();
    for at in 0..run.steps.len() {
        let after = history.show(&run.states[at + 1]);
        let transition = program.transition(run.steps[at].transition);
        let changes: Vec<String> = before
            .changes(&after)
            .iter()
            .map(|change| format!("{}: {} → {}", change.name, change.before, change.after))
            .collect();
        let thread = &program.thread(transition.thread).name;
        if at < MOST_STEPS / 2 || at + MOST_STEPS / 2 >= run.steps.len() {
            let mut place = location(report.source, Some(transition.span));
            place["message"] = json!({"text": format!("{}. {thread}: {}", at + 1, changes.join(", "))});
            let mut step = json!({"location": place, "executionOrder": at + 1});
            if let Some(importance) = importance(trace, at) {
                step["importance"] = json!(importance);
            }
            locations.push(step);
        }
        before = after;
    }
    locations
}

/// How much a step matters, as far as that is known.
fn importance(trace: &ShownTrace, at: usize) -> Option<&'static str> {
    let explanation = trace.explanation.as_ref().filter(|explanation| is_marked(explanation))?;
    match explanation.steps[at] {
        Role::Matters(_) => Some("essential"),
        Role::Unknown => None,
        _ => Some("unimportant"),
    }
}

/// A path as a relative reference.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => out.push(char::from(byte)),
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}
