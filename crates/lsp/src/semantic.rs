//! Semantic tokens: the lexer's tokens, with names coloured by what they stand for.

use std::collections::HashMap;

use birk_lang::lexer::{Token, TokenKind};
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensResult,
};

use crate::documents::Documents;
use crate::scope::{Kind, Use};
use crate::tree::Tree;
use crate::words;

/// The types of tokens, by the number that is sent.
const TYPES: [SemanticTokenType; 15] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::TYPE,
    SemanticTokenType::ENUM,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::STRUCT,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::CLASS,
];
/// Of constants.
const READ_ONLY: u32 = 1 << 1;
/// Where something is declared.
const DECLARATION: u32 = 1;

/// What the numbers of types and modifiers mean.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![SemanticTokenModifier::DECLARATION, SemanticTokenModifier::READONLY],
    }
}

/// All tokens of a text.
pub(crate) fn tokens(documents: &mut Documents<'_>, params: SemanticTokensParams) -> Option<SemanticTokensResult> {
    let uri = params.text_document.uri;
    let tree = documents.tree(&uri)?;
    let document = documents.get(&uri)?;
    let own = tree.names.uses.iter().filter(|found| found.span.file == 0);
    let uses: HashMap<u32, &Use> = own.map(|found| (found.span.start, found)).collect();
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for token in tree.tokens() {
        let Some((kind, modifiers)) = kind_of(&tree, &uses, token) else { continue };
        let token_type = TYPES.iter().position(|own| *own == kind).unwrap_or_default() as u32;
        // A comment of several lines is a token on each of them.
        let mut start = token.span.start as usize;
        for part in document.text[token.span.range()].split_inclusive(['\n', '\r']) {
            let shown = part.trim_end_matches(['\n', '\r']);
            let place = document.range(start..start + shown.len());
            start += part.len();
            if shown.is_empty() {
                continue;
            }
            let begin = place.start;
            data.push(SemanticToken {
                delta_line: begin.line - line,
                delta_start: if begin.line == line { begin.character - column } else { begin.character },
                length: place.end.character - begin.character,
                token_type,
                token_modifiers_bitset: modifiers,
            });
            (line, column) = (begin.line, begin.character);
        }
    }
    Some(SemanticTokens { result_id: None, data }.into())
}

fn kind_of(tree: &Tree, uses: &HashMap<u32, &Use>, token: &Token) -> Option<(SemanticTokenType, u32)> {
    let plain = |kind: SemanticTokenType| Some((kind, 0));
    match token.kind {
        TokenKind::Whitespace | TokenKind::Error | TokenKind::End => None,
        TokenKind::LineComment | TokenKind::BlockComment => plain(SemanticTokenType::COMMENT),
        TokenKind::Text => plain(SemanticTokenType::STRING),
        TokenKind::Number => plain(SemanticTokenType::NUMBER),
        TokenKind::Name => match uses.get(&token.span.start) {
            Some(found) => {
                let (kind, modifiers) = symbol_type(tree.names.symbols[found.symbol].kind);
                Some((kind, modifiers | if found.declares { DECLARATION } else { 0 }))
            }
            None if tree.is_keyword(token) => plain(SemanticTokenType::KEYWORD),
            None if words::built_in(tree.source(token.span)).is_some() => plain(SemanticTokenType::FUNCTION),
            None => {
                let word = tree.source(token.span);
                words::operator(word).or_else(|| words::value(word)).and_then(|_| plain(SemanticTokenType::KEYWORD))
            }
        },
        kind if kind.is_keyword() => plain(SemanticTokenType::KEYWORD),
        TokenKind::OpenBrace
        | TokenKind::CloseBrace
        | TokenKind::OpenParen
        | TokenKind::CloseParen
        | TokenKind::OpenBracket
        | TokenKind::CloseBracket
        | TokenKind::Comma
        | TokenKind::Semicolon => None,
        _ => plain(SemanticTokenType::OPERATOR),
    }
}

fn symbol_type(kind: Kind) -> (SemanticTokenType, u32) {
    match kind {
        Kind::System | Kind::Block => (SemanticTokenType::NAMESPACE, 0),
        Kind::Constant => (SemanticTokenType::VARIABLE, READ_ONLY),
        Kind::Alias => (SemanticTokenType::TYPE, 0),
        Kind::Enum => (SemanticTokenType::ENUM, 0),
        Kind::Variant => (SemanticTokenType::ENUM_MEMBER, 0),
        Kind::Record => (SemanticTokenType::STRUCT, 0),
        Kind::Field | Kind::Property | Kind::Location => (SemanticTokenType::PROPERTY, 0),
        Kind::Variable | Kind::Local | Kind::Bound => (SemanticTokenType::VARIABLE, 0),
        Kind::Param => (SemanticTokenType::PARAMETER, 0),
        Kind::Function | Kind::Procedure => (SemanticTokenType::FUNCTION, 0),
        Kind::Thread => (SemanticTokenType::CLASS, 0),
    }
}
