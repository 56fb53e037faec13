//! Hovers: the declaration of a name with what is known of its values, or a sentence about a word of the language.

use birk_ir::Span;
use birk_lang::lexer::TokenKind;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, TextDocumentPositionParams};

use crate::check::{Fact, Facts};
use crate::documents::Documents;
use crate::hints::size;
use crate::scope::{Kind, Symbol};
use crate::tree::Tree;
use crate::words;

/// More parts of a record or channel are not listed.
const MOST_PARTS: usize = 12;
/// Longer declarations are cut.
const MOST_LINES: usize = 12;

/// What to say about the place of the pointer.
pub(crate) fn hover(documents: &mut Documents<'_>, params: HoverParams) -> Option<Hover> {
    let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
    let uri = text_document.uri;
    documents.check(&uri)?;
    let tree = documents.tree(&uri)?;
    let document = documents.get(&uri)?;
    let offset = document.lines.offset(&document.text, position);
    let (span, value) = match tree.names.use_at(offset) {
        Some(found) => (found.span, about_symbol(&tree, &document.facts, found.symbol)),
        None => about_word(&tree, offset)?,
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(document.range(span.range())) })
}

fn about_word(tree: &Tree, offset: usize) -> Option<(Span, String)> {
    let token = tree.token_at(offset)?;
    let word = tree.source(token.span);
    let sentence = if tree.is_keyword(token) {
        words::meaning(word)
    } else if token.kind == TokenKind::Name {
        words::built_in(word).or_else(|| words::operator(word)).or_else(|| words::value(word))
    } else {
        None
    };
    Some((token.span, sentence?.to_owned()))
}

/// The declaration, its values, where it comes from, and the comment above it.
fn about_symbol(tree: &Tree, facts: &Facts, index: usize) -> String {
    let symbol = &tree.names.symbols[index];
    let mut parts = vec![format!("```bir\n{}\n```", declaration(tree, symbol))];
    parts.extend(values(tree, facts, symbol));
    let place = match symbol.owner.map(|owner| &tree.names.symbols[owner]) {
        Some(owner) => format!("{} of `{}`", symbol.kind.noun().split(" of ").next().unwrap_or_default(), owner.name),
        None => symbol.kind.noun().to_owned(),
    };
    let from = tree.files.get(symbol.span.file as usize).map_or("", |(path, _)| path.as_str());
    parts.push(if from.is_empty() { place } else { format!("{place}, from `{from}`") });
    let comment = tree.comment_above(symbol.head);
    if !comment.is_empty() && !matches!(symbol.kind, Kind::Bound | Kind::Param | Kind::Variant) {
        parts.push(comment);
    }
    parts.join("\n\n")
}

/// How a symbol is declared, as it is written.
pub(crate) fn declaration(tree: &Tree, symbol: &Symbol) -> String {
    let head = tree.source(symbol.head);
    let text = match (symbol.kind, &symbol.ty) {
        (Kind::Variable | Kind::Local | Kind::Field, Some(ty)) => format!("{} {}", tree.source(ty.span), symbol.name),
        (Kind::Constant, _) => format!("const {head}"),
        (Kind::Variant, _) => {
            let owner = symbol.owner.map_or("", |owner| tree.names.symbols[owner].name.as_str());
            format!("{owner}.{}", symbol.name)
        }
        (Kind::Location, _) => match symbol.owner.map(|owner| tree.names.symbols[owner].name.as_str()) {
            Some(owner) => format!("{owner}@{}", symbol.name),
            None => head.to_owned(),
        },
        _ => head.to_owned(),
    };
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match lines.get(..MOST_LINES) {
        Some(shown) if lines.len() > MOST_LINES => format!("{}\n…", shown.join("\n")),
        _ => lines.join("\n"),
    }
}

/// What values something has, as far as the model is without errors.
fn values(tree: &Tree, facts: &Facts, symbol: &Symbol) -> Option<String> {
    let owner = symbol.owner.map(|owner| tree.names.symbols[owner].name.as_str());
    let full = owner.map_or(symbol.name.clone(), |owner| format!("{owner}.{}", symbol.name));
    match symbol.kind {
        Kind::Constant => facts.constants.get(&full).map(|value| format!("= {value}")),
        Kind::Variable | Kind::Local | Kind::Param => facts.variables.get(&full).map(described),
        _ => None,
    }
}

fn described(fact: &Fact) -> String {
    if let [(_, values)] = &fact.parts[..] {
        return format!("{values}; {}", size(fact.bits));
    }
    let mut lines = vec![format!("{} in all:", size(fact.bits)), String::new()];
    lines.extend(fact.parts.iter().take(MOST_PARTS).map(|(name, values)| format!("- `{name}`: {values}")));
    if fact.parts.len() > MOST_PARTS {
        lines.push(format!("- and {} more", fact.parts.len() - MOST_PARTS));
    }
    lines.join("\n")
}
