//! What the front end says of a text: diagnostics in the words of the protocol, facts about variables and constants.

use std::collections::HashMap;

use birk_ir::{Diagnostic, Loaded, Program, Span, ValueKind, VarId, VarRole};
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString};

use crate::document::Document;
use crate::position::Lines;
use crate::tree::beside;
use crate::uri::uri_of;

/// What was found in a text.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The files that were read, by the number in the spans.
    pub(crate) files: Vec<(String, String)>,
}

impl Checked {
    /// Whether the text cannot be checked.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning())
    }
}

/// What is known of a model without errors, by names: `x`, `T.local`, `N`, `Block.N`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) constants: HashMap<String, String>,
    pub(crate) variables: HashMap<String, Fact>,
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fact {
    /// The bits that it takes in a state, with all elements and instances.
    pub(crate) bits: u64,
    /// Its parts, if it is a record or a channel; otherwise itself: the name, and what values it has.
    pub(crate) parts: Vec<(String, String)>,
}

impl Facts {
    pub(crate) fn of(program: &Program, files: &[(String, String)]) -> Self {
        let mut variables: HashMap<String, Fact> = HashMap::new();
        for (index, variable) in program.variables.iter().enumerate() {
            let declared = files.get(variable.span.file as usize).and_then(|(_, text)| text.get(variable.span.range()));
            let Some(declared) = declared else { continue };
            let name = match variable.role {
                VarRole::Global | VarRole::Length => declared.to_owned(),
                VarRole::Local(kind) => format!("{}.{declared}", program.kinds[kind].name),
                VarRole::Counter(_) | VarRole::Fault => continue,
            };
            let slot = program.layout.slot(VarId::new(index));
            let fact = variables.entry(name).or_default();
            fact.bits += u64::from(slot.bits) * u64::from(slot.len);
            let values = match &variable.values {
                ValueKind::Boolean => "true or false".to_owned(),
                ValueKind::Integer => format!("{}..{}", variable.lo, variable.hi),
                ValueKind::Names(names) => birk_ir::diagnostic::list(names.iter().map(String::as_str)),
                ValueKind::Set(lo) => {
                    let members = u64::BITS - (variable.hi as u64).leading_zeros();
                    format!("a set of {lo}..{}", lo + i64::from(members) - 1)
                }
            };
            fact.parts.push((variable.title(), values));
        }
        Self { constants: program.constants.iter().cloned().collect(), variables }
    }
}

/// Takes apart what the front end answered.
pub(crate) fn checked(loaded: Loaded) -> (Checked, Option<Facts>) {
    let facts = loaded.program.as_ref().map(|program| Facts::of(program, &loaded.files));
    (Checked { diagnostics: loaded.diagnostics, files: loaded.files }, facts)
}

/// The diagnostics of a text as the protocol has them, in the same order.
pub(crate) fn diagnostics(document: &Document, checked: &Checked) -> Vec<lsp_types::Diagnostic> {
    checked.diagnostics.iter().map(|diagnostic| shown(document, checked, diagnostic)).collect()
}

/// One diagnostic. What is wrong in an imported file is shown where that is imported.
pub(crate) fn shown(document: &Document, checked: &Checked, diagnostic: &Diagnostic) -> lsp_types::Diagnostic {
    let mut message = diagnostic.message.clone();
    let mut related = Vec::new();
    let mut relate = |span: Span, text: &str, message: &mut String| match place_of(document, checked, span) {
        Some(location) => related.push(DiagnosticRelatedInformation { location, message: text.to_owned() }),
        None => message.push_str(&format!("\n{}: {text}", name_of(checked, span))),
    };
    let range = if diagnostic.span.file == 0 {
        if !diagnostic.label.is_empty() {
            message.push_str(&format!("\n{}", diagnostic.label));
        }
        document.range(diagnostic.span.range())
    } else {
        message = format!("in `{}`: {message}", name_of(checked, diagnostic.span));
        relate(diagnostic.span, &diagnostic.label, &mut message);
        document.range(import_of(document, name_of(checked, diagnostic.span)))
    };
    for (span, text) in &diagnostic.related {
        relate(*span, text, &mut message);
    }
    if let Some(help) = &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    lsp_types::Diagnostic {
        range,
        severity: Some(severity(diagnostic)),
        code: Some(NumberOrString::String(diagnostic.code.to_owned())),
        source: Some("birk".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

fn severity(diagnostic: &Diagnostic) -> DiagnosticSeverity {
    match diagnostic.code {
        // A library is no system, but nothing is wrong with a text that is meant to be one.
        "E0050" if diagnostic.label == "not a system" => DiagnosticSeverity::INFORMATION,
        _ if diagnostic.is_warning() => DiagnosticSeverity::WARNING,
        _ => DiagnosticSeverity::ERROR,
    }
}

/// The name of the file of a span, as it is imported.
fn name_of(checked: &Checked, span: Span) -> &str {
    checked.files.get(span.file as usize).map_or("", |(name, _)| name.as_str())
}

/// Where a span is, unless it is in the standard library, which is no file.
fn place_of(document: &Document, checked: &Checked, span: Span) -> Option<Location> {
    if span.file == 0 {
        return Some(Location::new(document.uri.clone(), document.range(span.range())));
    }
    let (name, text) = checked.files.get(span.file as usize)?;
    let uri = uri_of(&beside(document.path.as_ref(), name)?)?;
    Some(Location::new(uri, Lines::of(text).range(text, span.range())))
}

/// Where a text imports a file, as far as it names it itself; otherwise its begin.
fn import_of(document: &Document, name: &str) -> std::ops::Range<usize> {
    let quoted = format!("\"{name}\"");
    document.text.find(&quoted).map_or(0..0, |at| at..at + quoted.len())
}
