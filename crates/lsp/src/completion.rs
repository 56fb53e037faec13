//! Completions: members behind a dot, locations behind `@` and `goto`, otherwise every name in scope and the words.
//!
//! What stands before the cursor is read from the tokens, because a text in which somebody types is seldom complete.

use birk_lang::lexer::{Token, TokenKind};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse};

use crate::documents::Documents;
use crate::hover::declaration;
use crate::scope::{Kind, Room};
use crate::tree::Tree;
use crate::words::{BUILT_IN, OPERATORS, VALUES, WORDS};

/// What can be written at a position.
pub(crate) fn complete(documents: &mut Documents<'_>, params: CompletionParams) -> Option<CompletionResponse> {
    let place = params.text_document_position;
    let tree = documents.tree(&place.text_document.uri)?;
    let document = documents.get(&place.text_document.uri)?;
    let offset = document.lines.offset(&document.text, place.position);
    Some(CompletionResponse::Array(candidates(&tree, offset)))
}

fn candidates(tree: &Tree, offset: usize) -> Vec<CompletionItem> {
    if is_silent(tree, offset) {
        return Vec::new();
    }
    // What is being typed does not count, only what stands before it.
    let typed = tree.token_at(offset).filter(|token| token.kind == TokenKind::Name || token.kind.is_keyword());
    let begin = typed.map_or(offset, |token| (token.span.start as usize).min(offset));
    let mut before = tree.tokens_before(begin).peekable();
    let scope = scope_before(tree, begin, before.peek().copied());
    match before.next().map(|token| token.kind) {
        Some(TokenKind::Dot) => {
            let owner = owner(tree, scope, &mut before);
            owner.map_or(Vec::new(), |owner| items(tree, tree.names.members(Room::Members(owner))))
        }
        Some(TokenKind::At) => {
            let owner = owner(tree, scope, &mut before);
            owner.map_or(Vec::new(), |owner| items(tree, tree.names.members(Room::Locations(owner))))
        }
        Some(TokenKind::Goto) => {
            let names = &tree.names;
            let is_around = |symbol: &usize| {
                let found = &names.symbols[*symbol];
                found.kind == Kind::Thread && found.span.file == 0 && (found.span.start as usize) < begin
            };
            let owner = (0..names.symbols.len()).filter(is_around).max_by_key(|symbol| names.symbols[*symbol].span);
            owner.map_or(Vec::new(), |owner| items(tree, names.members(Room::Locations(owner))))
        }
        _ => everything(tree, scope),
    }
}

/// The scope in which something is being written: that of the token before it, unless that ends something.
fn scope_before(tree: &Tree, begin: usize, before: Option<&Token>) -> usize {
    match before {
        Some(token) if !matches!(token.kind, TokenKind::Semicolon | TokenKind::CloseBrace) => {
            tree.names.scope_at(token.span.end as usize - 1)
        }
        _ => tree.names.scope_at(begin),
    }
}

/// Whether a place is inside of a comment, a string or a number.
fn is_silent(tree: &Tree, offset: usize) -> bool {
    let inside = |token: &&Token| (token.span.start as usize) < offset && offset <= token.span.end as usize;
    let around = tree.tokens().iter().find(inside);
    around.is_some_and(|token| match token.kind {
        TokenKind::LineComment | TokenKind::Number => true,
        TokenKind::BlockComment | TokenKind::Text => offset < token.span.end as usize,
        _ => false,
    })
}

/// The symbol whose members stand behind what the tokens end with: `q`, `q[i]`, `T[i].x`.
fn owner<'t>(
    tree: &Tree,
    scope: usize,
    before: &mut std::iter::Peekable<impl Iterator<Item = &'t Token>>,
) -> Option<usize> {
    let mut path = Vec::new();
    loop {
        let mut depth = 0;
        let name = loop {
            let token = before.next()?;
            match token.kind {
                TokenKind::CloseBracket => depth += 1,
                TokenKind::OpenBracket if depth > 0 => depth -= 1,
                TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace => return None,
                TokenKind::Name if depth == 0 => break token.span,
                _ if depth == 0 => return None,
                _ => {}
            }
        };
        path.push(tree.source(name));
        if before.peek().is_none_or(|token| token.kind != TokenKind::Dot) {
            break;
        }
        before.next();
    }
    let first = tree.names.visible(scope, path.pop()?)?;
    let mut owner = tree.names.owner_of(first)?;
    while let Some(name) = path.pop() {
        let member = tree.names.in_room(Room::Members(owner), name)?;
        owner = tree.names.owner_of(member)?;
    }
    Some(owner)
}

/// All names that are visible, the nearest first, and all words.
fn everything(tree: &Tree, scope: usize) -> Vec<CompletionItem> {
    let mut symbols: Vec<usize> = Vec::new();
    let mut next = Some(scope);
    while let Some(scope) = next {
        let scope = &tree.names.scopes[scope];
        for &symbol in &scope.names {
            let is_hidden = |other: &usize| tree.names.symbols[*other].name == tree.names.symbols[symbol].name;
            if !symbols.iter().any(is_hidden) {
                symbols.push(symbol);
            }
        }
        next = scope.parent;
    }
    let mut found = items(tree, symbols);
    let (function, keyword) = (CompletionItemKind::FUNCTION, CompletionItemKind::KEYWORD);
    for (words, kind) in [(BUILT_IN, function), (VALUES, keyword), (WORDS, keyword), (OPERATORS, keyword)] {
        found.extend(words.iter().map(|(word, meaning)| CompletionItem {
            label: (*word).to_owned(),
            kind: Some(kind),
            detail: Some((*meaning).to_owned()),
            sort_text: Some(format!("~{word}")),
            ..CompletionItem::default()
        }));
    }
    found
}

fn items(tree: &Tree, symbols: Vec<usize>) -> Vec<CompletionItem> {
    let item = |(order, symbol): (usize, usize)| {
        let symbol = &tree.names.symbols[symbol];
        CompletionItem {
            label: symbol.name.clone(),
            kind: Some(item_kind(symbol.kind)),
            detail: declaration(tree, symbol).lines().next().map(str::to_owned),
            sort_text: Some(format!("{order:05}")),
            ..CompletionItem::default()
        }
    };
    symbols.into_iter().enumerate().map(item).collect()
}

fn item_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::System | Kind::Block => CompletionItemKind::MODULE,
        Kind::Constant => CompletionItemKind::CONSTANT,
        Kind::Alias => CompletionItemKind::TYPE_PARAMETER,
        Kind::Enum => CompletionItemKind::ENUM,
        Kind::Variant => CompletionItemKind::ENUM_MEMBER,
        Kind::Record => CompletionItemKind::STRUCT,
        Kind::Field => CompletionItemKind::FIELD,
        Kind::Variable | Kind::Local | Kind::Param | Kind::Bound => CompletionItemKind::VARIABLE,
        Kind::Function | Kind::Procedure => CompletionItemKind::FUNCTION,
        Kind::Thread => CompletionItemKind::CLASS,
        Kind::Location => CompletionItemKind::REFERENCE,
        Kind::Property => CompletionItemKind::PROPERTY,
    }
}
