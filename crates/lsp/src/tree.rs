//! A BIR text as requests see it: its tree and tokens, those of the libraries that it imports, and all names.

use std::path::PathBuf;

use birk_ir::{Resolve, Span};
use birk_lang::import::STANDARD;
use birk_lang::lexer::{Token, TokenKind};
use birk_lang::parser::{Parsed, parse};

use crate::resolve::resolve;
use crate::scope::Names;

/// More imports than this are surely not intended.
const MAX_FILES: usize = 200;

/// A text and what it imports.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Paths as written in imports, and texts; the text itself, without a path, is the first.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) parsed: Vec<Parsed>,
    pub(crate) names: Names,
}

impl Tree {
    /// Reads a text and what it imports; what cannot be read is left out.
    pub(crate) fn of(text: &str, read: Resolve<'_>) -> Self {
        let mut files = vec![(String::new(), text.to_owned())];
        let mut parsed = vec![parse(text, 0)];
        let mut next = 0;
        while next < parsed.len() && files.len() < MAX_FILES {
            let imports = parsed[next].system.as_ref().map(|system| system.imports.clone()).unwrap_or_default();
            for import in imports {
                if files.iter().any(|(path, _)| *path == import.path) {
                    continue;
                }
                let standard = STANDARD.iter().find(|(path, _)| *path == import.path);
                let text = match standard {
                    Some((_, text)) => Some((*text).to_owned()),
                    None => read(&import.path).ok(),
                };
                if let Some(text) = text {
                    parsed.push(parse(&text, files.len() as u32));
                    files.push((import.path, text));
                }
            }
            next += 1;
        }
        let names = resolve(&files, &parsed);
        Self { files, parsed, names }
    }

    /// The text itself.
    pub(crate) fn text(&self) -> &str {
        &self.files[0].1
    }

    /// The tokens of the text itself.
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.parsed[0].tokens
    }

    /// What stands at a place of any of the files.
    pub(crate) fn source(&self, span: Span) -> &str {
        self.files.get(span.file as usize).and_then(|(_, text)| text.get(span.range())).unwrap_or_default()
    }

    /// Whether a token is a keyword: reserved, or a name that is one where it stands.
    pub(crate) fn is_keyword(&self, token: &Token) -> bool {
        let words = &self.parsed[0].words;
        token.kind.is_keyword() || token.kind == TokenKind::Name && words.binary_search(&token.span.start).is_ok()
    }

    /// The token that a place is in, or at the end of; a name comes before what is beside it.
    pub(crate) fn token_at(&self, offset: usize) -> Option<&Token> {
        let tokens = self.tokens();
        let index = tokens.partition_point(|token| token.span.end as usize <= offset);
        let is_word = |token: &&Token| token.kind == TokenKind::Name || token.kind.is_keyword();
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let before = before.filter(|token| token.span.end as usize == offset);
        let after = tokens.get(index);
        after.filter(is_word).or(before.filter(is_word)).or(after)
    }

    /// The tokens before a place that are neither blanks nor comments, the nearest first.
    pub(crate) fn tokens_before(&self, offset: usize) -> impl Iterator<Item = &Token> {
        let tokens = self.tokens();
        let end = tokens.partition_point(|token| token.span.end as usize <= offset);
        tokens[..end].iter().rev().filter(|token| !token.kind.is_trivia())
    }

    /// The comment lines directly above a place.
    pub(crate) fn comment_above(&self, span: Span) -> String {
        let Some((_, text)) = self.files.get(span.file as usize) else { return String::new() };
        let before = text.get(..span.start as usize).unwrap_or_default();
        let above = before.rfind('\n').map_or("", |end| &before[..end]);
        let lines: Vec<&str> =
            above.lines().rev().map(str::trim).map_while(|line| line.strip_prefix("//")).map(str::trim).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

/// The path of an imported file, beside the file that imports it.
pub(crate) fn beside(importer: Option<&PathBuf>, path: &str) -> Option<PathBuf> {
    if path.starts_with("std/") {
        return None;
    }
    Some(crate::uri::plain(&importer?.parent()?.join(path)))
}
