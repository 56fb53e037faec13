//! Text to tokens: words, numbers and symbols with their places; blanks and comments are left out.

use birk_ir::{Diagnostic, Span};

/// A token. Its kind is its text for keywords and symbols, otherwise one of [`NAME`], [`NUMBER`] and [`END`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) span: Span,
}

/// The kind of a name.
pub(crate) const NAME: &str = "a name";
/// The kind of a number.
pub(crate) const NUMBER: &str = "a number";
/// The kind of the last token.
pub(crate) const END: &str = "the end of the file";

const KEYWORDS: &[&str] = &[
    "accept", "and", "assert", "async", "byte", "channel", "commit", "const", "effect", "false", "guard", "imply",
    "init", "int", "not", "or", "process", "property", "state", "sync", "system", "trans", "true",
];

/// Longer ones first.
const SYMBOLS: &[&str] = &[
    "->", "=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "{", "}", "[", "]", "(", ")", ",", ";",
    ":", ".", "?", "!", "~", "=", "+", "-", "*", "/", "%", "|", "&", "^", "<", ">",
];

/// All tokens of a part of a text, and what is wrong with them. The last one is the end.
pub(crate) fn tokenize(text: &str, part: std::ops::Range<usize>, file: u32) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text: &text[..part.end], at: part.start, file, diagnostics: Vec::new() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token() {
        tokens.push(token);
    }
    tokens.push(Token { kind: END, span: lexer.span(lexer.at, lexer.at) });
    (tokens, lexer.diagnostics)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    file: u32,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, ..Span::new(start, end) }
    }

    fn token(&mut self) -> Option<Token> {
        loop {
            self.skip_blanks();
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let start = self.at;
            if first.is_ascii_alphabetic() || first == '_' {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                self.at += end;
                let keyword = KEYWORDS.iter().find(|keyword| **keyword == &rest[..end]);
                return Some(Token { kind: keyword.copied().unwrap_or(NAME), span: self.span(start, self.at) });
            }
            if first.is_ascii_digit() {
                self.at += rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                return Some(Token { kind: NUMBER, span: self.span(start, self.at) });
            }
            if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                self.at += symbol.len();
                return Some(Token { kind: symbol, span: self.span(start, self.at) });
            }
            let end = rest.find(|c: char| c.is_ascii() && c != first).unwrap_or(rest.len()).max(first.len_utf8());
            self.at += end;
            let message = format!("`{}` has no meaning in DVE", rest[..end].chars().take(20).collect::<String>());
            let help = "names are made of letters, digits and `_`; comments are `// …` and `/* … */`";
            let span = self.span(start, self.at);
            let diagnostic = Diagnostic::new("E1001", span, message, "unknown");
            self.diagnostics.push(match meant_by(&rest[..end]) {
                Some(meant) => diagnostic.meant(meant),
                None => diagnostic.help(help),
            });
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let start = self.at;
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => {
                        self.at = self.text.len();
                        let span = self.span(start, start + 2);
                        let message = "this comment does not end";
                        let found = Diagnostic::new("E1001", span, message, "begins here");
                        self.diagnostics.push(found.help("write `*/` where it ends"));
                    }
                }
            } else {
                // A backslash joins lines.
                let is_blank = |c: char| c.is_whitespace() || c == '\\';
                self.at += rest.find(|c: char| !is_blank(c)).unwrap_or(rest.len());
            }
            if self.at == start {
                return;
            }
        }
    }
}

/// How DVE writes a sign of mathematics.
fn meant_by(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "≤" => "<=",
        "≥" => ">=",
        "≠" => "!=",
        "∧" => "and",
        "∨" => "or",
        "¬" => "not",
        "→" => "->",
        _ => return None,
    })
}
