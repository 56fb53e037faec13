//! Diagnostics for programs, with the edits that editors can apply. The types here are the schema (`birk schema`).

use birk_ir::Span;
use birk_lang::diagnostic::Diagnostic;
use schemars::JsonSchema;
use serde::Serialize;

use crate::say;
use crate::source::Source;
use crate::terminal::is_obeyed;

/// A line of `--diagnostics json`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiagnosticReport {
    schema: u32,
    code: &'static str,
    /// `error` or `warning`
    severity: &'static str,
    message: String,
    /// What is said at the place.
    label: String,
    place: Place,
    related: Vec<Related>,
    help: Option<String>,
    /// An edit that does what `help` says.
    fix: Option<FixReport>,
}

/// A part of a file. `start` and `end` are in bytes, from 0; lines and columns are those of `start`, from 1.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Place {
    file: String,
    start: u32,
    end: u32,
    line: usize,
    column: usize,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Related {
    place: Place,
    message: String,
}

/// What to write in place of a part of the text; an empty place is one to insert at.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct FixReport {
    place: Place,
    replacement: String,
    /// It is sure to be meant; otherwise it is a proposal, which has to be looked at.
    sure: bool,
}

/// Prints diagnostics to standard error, one object a line.
pub(crate) fn print(source: &Source, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let text = serde_json::to_string(&report(source, diagnostic)).expect("a diagnostic has only string keys");
        say(&escaped(&text));
    }
}

fn report(source: &Source, diagnostic: &Diagnostic) -> DiagnosticReport {
    let place = |span: Span| {
        let (line, column) = source.position(span);
        Place { file: source.file(span).path.clone(), start: span.start, end: span.end, line, column }
    };
    DiagnosticReport {
        schema: 1,
        code: diagnostic.code,
        severity: if diagnostic.is_warning() { "warning" } else { "error" },
        message: diagnostic.message.clone(),
        label: diagnostic.label.clone(),
        place: place(diagnostic.span),
        related: diagnostic
            .related
            .iter()
            .map(|(span, message)| Related { place: place(*span), message: message.clone() })
            .collect(),
        help: diagnostic.help.clone(),
        fix: diagnostic.fix.as_ref().map(|fix| FixReport {
            place: place(fix.span),
            replacement: fix.replacement.clone(),
            sure: fix.is_sure,
        }),
    }
}

/// What a terminal would obey, as JSON writes it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match is_obeyed(character) {
            true => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
            false => out.push(character),
        }
    }
    out
}
