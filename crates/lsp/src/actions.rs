//! What an editor can do to a text: apply the fixes of diagnostics, format it, and ask for a check.

use std::collections::HashMap;
use std::ops::Range;

use birk_ir::{Diagnostic, Span};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams,
    Command, DocumentFormattingParams, TextEdit, Uri, WorkspaceEdit,
};

use crate::check::shown;
use crate::document::Document;
use crate::documents::Documents;

/// The command of a code lens. Its arguments are the address of the model and the name of a property, or null for all.
const CHECK: &str = "birk.check";

/// Edits of one text.
pub(crate) fn edit_of(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    // The protocol has addresses as keys; they do not change, whatever the lint believes of their type.
    #[allow(clippy::mutable_key_type, reason = "an address is never changed behind its key")]
    let changes = HashMap::from([(uri.clone(), edits)]);
    WorkspaceEdit::new(changes)
}

/// The fixes for what is wrong in a part of a text; and all that are sure to be meant together.
pub(crate) fn actions(documents: &mut Documents<'_>, params: CodeActionParams) -> Option<CodeActionResponse> {
    let uri = params.text_document.uri;
    let checked = documents.check(&uri)?;
    let document = documents.get(&uri)?;
    let asked = params.range;
    let wants = |kind: &CodeActionKind| {
        let is_wanted = |only: &CodeActionKind| {
            *only == CodeActionKind::EMPTY || kind == only || kind.as_str().starts_with(&format!("{}.", only.as_str()))
        };
        params.context.only.as_ref().is_none_or(|only| only.iter().any(is_wanted))
    };
    let action = |title: String, kind: CodeActionKind, edits: Vec<TextEdit>| CodeAction {
        title,
        kind: Some(kind),
        edit: Some(edit_of(&uri, edits)),
        ..CodeAction::default()
    };
    let mut found = Vec::new();
    for diagnostic in &checked.diagnostics {
        let Some((span, replacement, is_sure)) = own_fix(diagnostic) else { continue };
        let (place, about) = (document.range(span.clone()), shown(document, &checked, diagnostic));
        let touches = |range: lsp_types::Range| range.start <= asked.end && asked.start <= range.end;
        if wants(&CodeActionKind::QUICKFIX) && (touches(place) || touches(about.range)) {
            let title = title_of(document, span, replacement, diagnostic.help.as_deref());
            let fix = action(title, CodeActionKind::QUICKFIX, vec![TextEdit::new(place, replacement.to_owned())]);
            found.push(CodeAction { diagnostics: Some(vec![about]), is_preferred: Some(is_sure), ..fix });
        }
    }
    let edits = all_fixes(document, &checked.diagnostics);
    if wants(&CodeActionKind::SOURCE_FIX_ALL) && !edits.is_empty() {
        let title = format!("Apply all {} fixes", edits.len());
        found.push(action(title, CodeActionKind::SOURCE_FIX_ALL, edits));
    }
    Some(found.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

/// The edit of a diagnostic, if it is one of this text.
fn own_fix(diagnostic: &Diagnostic) -> Option<(Range<usize>, &str, bool)> {
    let fix = diagnostic.fix.as_ref().filter(|fix| fix.span.file == 0)?;
    Some((fix.span.range(), &fix.replacement, fix.is_sure))
}

/// All edits that are sure to be meant and do not touch each other, in the order of the text.
fn all_fixes(document: &Document, diagnostics: &[Diagnostic]) -> Vec<TextEdit> {
    let mut fixes: Vec<(Range<usize>, &str, bool)> = diagnostics.iter().filter_map(own_fix).collect();
    fixes.retain(|(.., is_sure)| *is_sure);
    fixes.sort_by_key(|(range, ..)| (range.start, range.end));
    let mut edits = Vec::new();
    let mut end = None;
    for (range, replacement, _) in fixes {
        if end.is_none_or(|end| range.start > end) {
            end = Some(range.end);
            edits.push(TextEdit::new(document.range(range), replacement.to_owned()));
        }
    }
    edits
}

/// What a fix does, in words: what it writes, or the next step of the message where that is long.
fn title_of(document: &Document, span: Range<usize>, replacement: &str, help: Option<&str>) -> String {
    const LONG: usize = 60;
    let old = document.text.get(span).unwrap_or_default().trim();
    let new = replacement.trim();
    let is_long = |text: &str| text.contains('\n') || text.chars().count() > LONG;
    match (old, new) {
        (old, new) if is_long(old) || is_long(new) => {
            let help = help.unwrap_or("rewrite this part");
            let mut letters = help.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
        ("", new) => format!("Insert `{new}`"),
        (old, "") => format!("Remove `{old}`"),
        (old, new) => format!("Replace `{old}` by `{new}`"),
    }
}

/// The edits that format a text; none if it has errors, or its language has no formatter.
pub(crate) fn format(documents: &mut Documents<'_>, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let document = documents.get(&params.text_document.uri)?;
    let formatted = documents.language(document).format?(&document.text).ok()?;
    Some(document.edits_to(&formatted))
}

/// `check` above a system, and `check NAME` above each of its properties.
pub(crate) fn lenses(documents: &mut Documents<'_>, params: CodeLensParams) -> Option<Vec<CodeLens>> {
    let uri = params.text_document.uri;
    let tree = documents.tree(&uri)?;
    let document = documents.get(&uri)?;
    let system = tree.parsed[0].system.as_ref().filter(|system| !system.library)?;
    let lens = |span: Span, title: String, property: Option<&str>| CodeLens {
        range: document.range(span.range()),
        command: Some(Command::new(
            title,
            CHECK.to_owned(),
            Some(vec![serde_json::json!(uri.as_str()), serde_json::json!(property)]),
        )),
        data: None,
    };
    let mut found = vec![lens(system.name.span, "check".to_owned(), None)];
    for item in &system.items {
        if let birk_lang::ast::Item::Property(property) = item
            && !property.name.text.is_empty()
        {
            let name = property.name.text.as_str();
            found.push(lens(property.name.span, format!("check {name}"), Some(name)));
        }
    }
    Some(found)
}
