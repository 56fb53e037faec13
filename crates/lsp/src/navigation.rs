//! From a name to what it stands for, to all its uses, and to another name.

use birk_lang::lexer::{TokenKind, tokenize};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, Position, PrepareRenameResponse, Range, ReferenceParams, RenameParams, TextDocumentPositionParams,
    TextEdit, Uri, WorkspaceEdit,
};

use crate::actions::edit_of;
use crate::documents::Documents;
use crate::position::Lines;
use crate::scope::{Names, Room, Use};
use crate::server::Refusal;
use crate::tree::{Tree, beside};
use crate::uri::uri_of;

/// The use of a name at a position.
fn use_at(documents: &mut Documents<'_>, uri: &Uri, position: Position) -> Option<(std::rc::Rc<Tree>, Use)> {
    let tree = documents.tree(uri)?;
    let document = documents.get(uri)?;
    let found = tree.names.use_at(document.lines.offset(&document.text, position))?;
    Some((tree, found))
}

/// Where a name is declared; nowhere, if that is in the standard library, which is no file.
fn declaration(documents: &Documents<'_>, uri: &Uri, tree: &Tree, symbol: usize) -> Option<Location> {
    let document = documents.get(uri)?;
    let span = tree.names.symbols[symbol].span;
    if span.file == 0 {
        return Some(Location::new(uri.clone(), document.range(span.range())));
    }
    let (path, text) = &tree.files[span.file as usize];
    let place = uri_of(&beside(document.path.as_ref(), path)?)?;
    Some(Location::new(place, Lines::of(text).range(text, span.range())))
}

/// Where the name at a position is declared; in an import, the file that it names.
pub(crate) fn definition(
    documents: &mut Documents<'_>,
    params: GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
    let uri = text_document.uri;
    let place = match use_at(documents, &uri, position) {
        Some((tree, found)) => declaration(documents, &uri, &tree, found.symbol),
        None => imported(documents, &uri, position),
    };
    place.map(GotoDefinitionResponse::Scalar)
}

/// The begin of the file that is imported at a position.
fn imported(documents: &mut Documents<'_>, uri: &Uri, position: Position) -> Option<Location> {
    let tree = documents.tree(uri)?;
    let document = documents.get(uri)?;
    let offset = document.lines.offset(&document.text, position);
    let imports = &tree.parsed[0].system.as_ref()?.imports;
    let import = imports.iter().find(|import| import.span.range().contains(&offset))?;
    let place = uri_of(&beside(document.path.as_ref(), &import.path)?)?;
    Some(Location::new(place, Range::default()))
}

/// Where the name at a position is used, in this text; and where it is declared, if that is asked for.
pub(crate) fn references(documents: &mut Documents<'_>, params: ReferenceParams) -> Option<Vec<Location>> {
    let TextDocumentPositionParams { text_document, position } = params.text_document_position;
    let uri = text_document.uri;
    let (tree, found) = use_at(documents, &uri, position)?;
    let document = documents.get(&uri)?;
    let uses = tree.names.uses_of(found.symbol).filter(|found| !found.declares);
    let mut places: Vec<Location> =
        uses.map(|found| Location::new(uri.clone(), document.range(found.span.range()))).collect();
    if params.context.include_declaration {
        places.extend(declaration(documents, &uri, &tree, found.symbol));
        places.sort_by_key(|place| (place.uri != uri, place.range.start));
    }
    Some(places)
}

/// The uses of the name at a position, and which of them change it.
pub(crate) fn highlights(
    documents: &mut Documents<'_>,
    params: DocumentHighlightParams,
) -> Option<Vec<DocumentHighlight>> {
    let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
    let (tree, found) = use_at(documents, &text_document.uri, position)?;
    let document = documents.get(&text_document.uri)?;
    let shown = |found: &Use| {
        let is_written = found.declares || found.writes;
        let kind = if is_written { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ };
        DocumentHighlight { range: document.range(found.span.range()), kind: Some(kind) }
    };
    Some(tree.names.uses_of(found.symbol).map(shown).collect())
}

/// Whether the name at a position can be changed, and where it stands.
pub(crate) fn prepare_rename(
    documents: &mut Documents<'_>,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, Refusal> {
    let uri = params.text_document.uri;
    let Some((tree, found)) = use_at(documents, &uri, params.position) else { return Ok(None) };
    is_own(&tree, found.symbol)?;
    let Some(document) = documents.get(&uri) else { return Ok(None) };
    let range = document.range(found.span.range());
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range,
        placeholder: tree.names.symbols[found.symbol].name.clone(),
    }))
}

/// Refuses what is declared in another file, or is a part of the language.
fn is_own(tree: &Tree, symbol: usize) -> Result<(), Refusal> {
    let symbol = &tree.names.symbols[symbol];
    if symbol.span.file == 0 && tree.text().get(symbol.span.range()) == Some(symbol.name.as_str()) {
        return Ok(());
    }
    if symbol.span.file == 0 {
        return Err(Refusal(format!("`{}` is a word of the language", symbol.name)));
    }
    let (path, _) = &tree.files[symbol.span.file as usize];
    Err(Refusal(format!("`{}` is declared in `{path}`: rename it there", symbol.name)))
}

/// Gives the name at a position another one, wherever it is used in the text. Refuses what would change the model.
pub(crate) fn rename(documents: &mut Documents<'_>, params: RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let TextDocumentPositionParams { text_document, position } = params.text_document_position;
    let (uri, new) = (text_document.uri, params.new_name);
    let Some((tree, found)) = use_at(documents, &uri, position) else {
        return Err(Refusal("there is no name here that is declared".to_owned()));
    };
    is_own(&tree, found.symbol)?;
    is_name(&new)?;
    let symbol = &tree.names.symbols[found.symbol];
    if symbol.name == new {
        return Ok(None);
    }
    is_free(&tree.names, symbol.room, &new)?;
    let places: Vec<std::ops::Range<usize>> =
        tree.names.uses_of(found.symbol).map(|found| found.span.range()).collect();
    let mut renamed = tree.text().to_owned();
    for place in places.iter().rev() {
        renamed.replace_range(place.clone(), &new);
    }
    let had_errors = documents.check(&uri).is_some_and(|checked| checked.has_errors());
    let Some(document) = documents.get(&uri) else { return Ok(None) };
    let after = documents.tree_of(document, &renamed);
    if meanings(&tree.names) != meanings(&after.names) {
        return Err(Refusal(format!("`{new}` would mean something else at one of the uses of `{}`", symbol.name)));
    }
    if !had_errors && documents.check_text(document, &renamed).program.is_none() {
        return Err(Refusal(format!("with `{new}` instead of `{}` the model would have errors", symbol.name)));
    }
    let edits = places.into_iter().map(|place| TextEdit::new(document.range(place), new.clone())).collect();
    Ok(Some(edit_of(&uri, edits)))
}

/// Refuses what is no name.
fn is_name(new: &str) -> Result<(), Refusal> {
    if TokenKind::keyword(new).is_some() {
        return Err(Refusal(format!("`{new}` is a reserved word")));
    }
    let (tokens, wrong) = tokenize(new);
    match &tokens[..] {
        [token] if token.kind == TokenKind::Name && wrong.is_empty() => Ok(()),
        _ => Err(Refusal(format!(
            "`{new}` is no name: one begins with a letter or `_`, and is made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`"
        ))),
    }
}

/// Refuses a name that something else has in the same place.
fn is_free(names: &Names, room: Room, new: &str) -> Result<(), Refusal> {
    match names.in_room(room, new) {
        None => Ok(()),
        Some(other) => {
            let noun = names.symbols[other].kind.noun();
            Err(Refusal(format!("there is a {noun} called `{new}` already")))
        }
    }
}

/// What every use of a name means, without where it stands and how it is called.
fn meanings(names: &Names) -> Vec<(u32, usize, bool)> {
    names.uses.iter().map(|found| (found.span.file, found.symbol, found.declares)).collect()
}
