//! Tokens to a tree: recursive descent that reports every error once and goes on behind it.
//!
//! Three rules keep one error from becoming many messages. At one token at most one message is given. After a
//! message the parser skips to what surely begins something else (`recover`). Where the intended token can be guessed
//! (`=` for `:=`, a misspelt keyword) it is replaced in the parser's own copy of the tokens.

mod action;
mod binder;
mod branching;
mod expectation;
mod expression;
mod foreign;
mod item;
mod language;
mod refinement;
mod statement;
mod thread;
mod transformation;
mod ty;

use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, nearest};
use crate::syntax::ast::{Expr, Name, PropertyKind, System};
use crate::syntax::lexer::{Token, TokenKind, tokenize};
use birk_ir::Span;

const NO_NAME: &str = "keywords cannot be names";

/// What became of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree; `None` if nothing in the text looks like a system.
    pub system: Option<System>,
    /// All tokens, blanks and comments included: together they are the text.
    pub tokens: Vec<Token>,
    /// Where the names begin that are keywords where they stand, like `if` and `in`, in order.
    pub words: Vec<u32>,
    /// Where the braces begin that hold sets, in order; all others hold blocks.
    pub sets: Vec<u32>,
    /// Where the brackets of modalities, `<->` before its operand, and the dots of fixpoints begin, in order.
    pub modal: Vec<u32>,
    /// What is wrong with it, in the order of the text; the tree is complete if this is empty.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a text; its spans name the given file.
pub fn parse(text: &str, file: u32) -> Parsed {
    let (mut tokens, mut diagnostics) = tokenize(text);
    for token in &mut tokens {
        token.span.file = file;
    }
    for diagnostic in &mut diagnostics {
        diagnostic.span.file = file;
        diagnostic.fix.iter_mut().for_each(|fix| fix.span.file = file);
    }
    let mut parser = Parser::new(text, file, &tokens, diagnostics);
    let system = parser.file();
    let (words, sets, modal) = (parser.words, parser.sets, parser.modal);
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    Parsed { system, tokens, words, sets, modal, diagnostics }
}

/// Parses a part of a text as one expression; its spans are those of the whole text, and name the given file.
pub fn parse_expression(text: &str, part: Range<usize>, file: u32) -> (Expr, Vec<Diagnostic>) {
    let (mut tokens, mut diagnostics) = tokenize(&text[part.clone()]);
    let spans = tokens.iter_mut().map(|token| &mut token.span);
    let messages = diagnostics
        .iter_mut()
        .flat_map(|found| std::iter::once(&mut found.span).chain(found.fix.iter_mut().map(|fix| &mut fix.span)));
    for span in spans.chain(messages) {
        *span = Span { file, ..Span::new(part.start + span.start as usize, part.start + span.end as usize) };
    }
    let mut parser = Parser::new(&text[..part.end], file, &tokens, diagnostics);
    let expr = parser.root_expression();
    if !parser.at(TokenKind::End) {
        parser.report(parser.unexpected("an operator"));
    }
    (expr, parser.diagnostics)
}

/// After so many messages one more says so, and the rest of the text is not read.
const MOST_DIAGNOSTICS: usize = 200;

struct Parser<'a> {
    text: &'a str,
    /// What the grammar sees: no blanks, no comments, no unknown characters; `End` last.
    tokens: Vec<Token>,
    /// Positions in `tokens` that follow something which the lexer reported.
    tainted: Vec<usize>,
    position: usize,
    /// The position of the latest message.
    reported_at: Option<usize>,
    /// How deep the expression being parsed is nested.
    depth: usize,
    /// How deep the statement being parsed is nested in blocks, or the type in types.
    blocks: usize,
    /// How deep the branches of the innermost `either` are nested in blocks.
    either: Option<usize>,
    /// A block was nested too deeply, which was reported.
    is_too_deep: bool,
    /// Lengths behind the channel, sequence or map type just parsed: they make an array of these.
    outer_dimensions: Vec<crate::syntax::ast::Expr>,
    /// The functions that the file declares: their names are no operators of formulas.
    functions: HashSet<&'a str>,
    /// The procedure whose body is being parsed, its name with the parameters.
    procedure: Option<Span>,
    /// A name is not a call here: the parenthesis behind it belongs to `send` or `receive`.
    is_channel: bool,
    /// The kind of formula being parsed: which temporal operators are allowed.
    formula: Option<PropertyKind>,
    /// The first block whose closing brace is indented less than its opening line: if a brace is missing, it is its.
    suspect: Option<(Span, Span)>,
    words: Vec<u32>,
    sets: Vec<u32>,
    modal: Vec<u32>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: u32, all: &[Token], diagnostics: Vec<Diagnostic>) -> Self {
        let is_unterminated = |token: &Token| {
            let start = token.span.start;
            let found = diagnostics.binary_search_by_key(&start, |diagnostic| diagnostic.span.start);
            found.is_ok_and(|index| diagnostics[index].code == "E0002")
        };
        let mut tokens = Vec::with_capacity(all.len() / 2 + 1);
        let mut tainted = Vec::new();
        for token in all {
            if !token.kind.is_trivia() && token.kind != TokenKind::Error {
                tokens.push(*token);
            }
            // A comment or text without end may have swallowed what is missed next.
            let swallows = matches!(token.kind, TokenKind::BlockComment | TokenKind::Text) && is_unterminated(token);
            if token.kind == TokenKind::Error || swallows {
                tainted.push(tokens.len());
            }
        }
        if all.is_empty() && !diagnostics.is_empty() {
            tainted.push(0);
        }
        let end = Span { file, ..Span::new(text.len(), text.len()) };
        tokens.push(Token { kind: TokenKind::End, span: end });
        let declared = tokens.windows(2).filter(|pair| pair[0].kind == TokenKind::Function);
        let functions = declared.map(|pair| &text[pair[1].span.range()]).collect();
        Self {
            text,
            tokens,
            tainted,
            functions,
            procedure: None,
            position: 0,
            reported_at: None,
            depth: 0,
            blocks: 0,
            either: None,
            is_too_deep: false,
            is_channel: false,
            outer_dimensions: Vec::new(),
            formula: None,
            suspect: None,
            words: Vec::new(),
            sets: Vec::new(),
            modal: Vec::new(),
            diagnostics,
        }
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.position + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    fn source(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    /// The letters of the current token.
    fn word(&self) -> &'a str {
        self.source(self.span())
    }

    fn previous(&self) -> Span {
        match self.position {
            0 => Span { end: self.span().start, ..self.span() },
            position => self.tokens[position - 1].span,
        }
    }

    /// The place just behind the previous token.
    fn behind(&self) -> Span {
        let previous = self.previous();
        Span { start: previous.end, ..previous }
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.kind() != TokenKind::End {
            self.position += 1;
        }
        span
    }

    /// Moves over a name that is a keyword here.
    fn bump_word(&mut self) -> Span {
        if self.at(TokenKind::Name) {
            self.words.push(self.span().start);
        }
        self.bump()
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Whether the current token is a name with these letters: a word that is a keyword only here.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Name) && self.word() == word
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let eaten = self.at(kind);
        if eaten {
            self.bump();
        }
        eaten
    }

    /// Whether the token at a position is the first on its line.
    fn starts_line(&self, position: usize) -> bool {
        let before = match position {
            0 => return true,
            _ => self.tokens[position - 1].span.end,
        };
        self.text[before as usize..self.tokens[position].span.start as usize].contains('\n')
    }

    /// From the start of a construct to the end of the token before the current one.
    fn since(&self, start: Span) -> Span {
        let end = self.previous().end.max(start.end);
        Span { end, ..start }
    }

    /// Reports at the current token, unless that token has a message already.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.report_at(self.position, diagnostic);
    }

    fn report_at(&mut self, position: usize, diagnostic: Diagnostic) {
        let silent = self.reported_at == Some(position) || self.tainted.binary_search(&position).is_ok();
        self.reported_at = Some(position);
        if silent || self.diagnostics.len() > MOST_DIAGNOSTICS {
            return;
        }
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
            return;
        }
        let message = "too many errors; the rest of the file was not read";
        self.diagnostics.push(Diagnostic::new("E0014", diagnostic.span, message, "the next error is here"));
        self.position = self.tokens.len() - 1;
    }

    /// Whether the current token has a message already.
    fn is_reported(&self) -> bool {
        self.reported_at == Some(self.position)
    }

    /// How to name the current token in a message.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the file".to_string(),
            TokenKind::Text => "a string".to_string(),
            kind if kind.is_keyword() => format!("the keyword `{}`", self.word()),
            _ => format!("`{}`", shorten(self.word())),
        }
    }

    /// A message that something else was expected at the current token.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.found());
        Diagnostic::new("E0004", self.span(), message, format!("expected {expected}"))
    }

    fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            let expected = format!("`{}`", kind.text().unwrap_or_default());
            self.report(self.unexpected(&expected));
        }
        found
    }

    /// The bracket that closes what `open` opened.
    fn expect_close(&mut self, kind: TokenKind, open: Span) -> bool {
        use TokenKind as T;
        if self.at(kind) {
            let close = self.span();
            self.step_over();
            if kind == T::CloseBrace && self.suspect.is_none() && self.is_misaligned(open, close) {
                self.suspect = Some((open, close));
            }
            return true;
        }
        let (open, hint) = match self.suspect.filter(|_| self.at(T::End)) {
            Some((open, close)) => (open, Some((close, "this `}` looks as if it closed something else".to_string()))),
            None => (open, None),
        };
        let bracket = kind.text().unwrap_or_default();
        let opened = format!("this `{}` is not closed", self.source(open));
        let ends = matches!(self.kind(), T::Semicolon | T::OpenBrace | T::CloseBrace | T::CloseParen | T::CloseBracket);
        if ends || kind == T::CloseBrace || self.kind().is_keyword() || self.at(T::End) {
            let label = format!("expected `{bracket}` here");
            let missing = Diagnostic::new("E0006", self.behind(), format!("missing `{bracket}`"), label);
            let missing = if self.at(T::End) && kind == T::CloseBrace {
                missing.propose(self.behind(), format!("\n{bracket}"))
            } else if kind == T::CloseBrace {
                missing
            } else {
                missing.propose(self.behind(), bracket)
            };
            let mut diagnostic = missing.related(open, opened);
            diagnostic.related.extend(hint);
            self.report(diagnostic);
            return false;
        }
        let expected = match kind {
            T::CloseParen if !self.at(T::Comma) => "an operator, `,` or `)`",
            T::CloseParen => "an operator or `)`",
            _ => "an operator or `]`",
        };
        let opened = format!("to go with this `{}`", self.source(open));
        let mut diagnostic = self.unexpected(expected).related(open, opened);
        if self.at(T::Name) {
            diagnostic = diagnostic.propose(self.behind(), bracket);
        }
        self.report(diagnostic);
        false
    }

    /// Whether a closing brace stands first on its line and further left than the line of its opening brace.
    fn is_misaligned(&self, open: Span, close: Span) -> bool {
        // The window keeps a file of one endless line linear.
        let indentation = |span: Span| {
            let start = span.start as usize;
            let before = &self.text.as_bytes()[start.saturating_sub(200)..start];
            let line = &before[before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)..];
            let blanks = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            (blanks, blanks == line.len())
        };
        let (opened, _) = indentation(open);
        let (closed, is_first) = indentation(close);
        is_first && closed < opened
    }

    /// The `;` at the end of a declaration or action; skips the rest of a broken one.
    fn expect_semicolon(&mut self) {
        if self.at(TokenKind::Semicolon) {
            self.step_over();
            return;
        }
        if !self.is_reported() {
            if !self.is_next_statement() {
                self.report(self.unexpected("`;`"));
            } else {
                let diagnostic = Diagnostic::new("E0005", self.behind(), "missing `;`", "expected `;` here");
                self.report(diagnostic.fix(self.behind(), ";"));
                return;
            }
        }
        self.recover();
    }

    /// Moves over a token that ends something. If there was a message at that token, the rest of its line may still be
    /// part of what is broken and gets no message of its own.
    fn step_over(&mut self) {
        let broken = self.is_reported();
        self.bump();
        if broken && !self.at(TokenKind::CloseBrace) && !self.starts_line(self.position) {
            self.reported_at = Some(self.position);
        }
    }

    /// Whether the current token looks like the begin of something new, so that only a `;` is missing before it.
    fn is_next_statement(&self) -> bool {
        use TokenKind as T;
        match self.kind() {
            T::CloseBrace | T::End => true,
            T::Name => self.starts_line(self.position) || matches!(self.peek(1), T::Assign | T::Single),
            kind => kind.is_keyword(),
        }
    }

    /// A name; a keyword in its place is reported and taken for it where it cannot be anything else.
    fn name(&mut self, expected: &str) -> Name {
        use TokenKind as T;
        if self.at(T::Name) {
            let text = self.word().to_string();
            return Name { text, span: self.bump() };
        }
        let diagnostic = self.unexpected(expected);
        if !self.kind().is_keyword() {
            self.report(diagnostic);
            return Name { text: String::new(), span: self.behind() };
        }
        let known = self.is_reported();
        let follows = matches!(
            self.peek(1),
            T::Semicolon
                | T::Assign
                | T::Single
                | T::Comma
                | T::Colon
                | T::OpenParen
                | T::CloseParen
                | T::OpenBrace
                | T::CloseBrace
        );
        let is_taken = follows && !known && !self.starts_line(self.position);
        self.report(if is_taken { self.renamed(diagnostic) } else { diagnostic.help(NO_NAME) });
        if is_taken {
            return Name { text: String::new(), span: self.bump() };
        }
        Name { text: String::new(), span: self.behind() }
    }

    /// Proposes another name for a keyword that stands where a name should.
    fn renamed(&self, diagnostic: Diagnostic) -> Diagnostic {
        let name = format!("{}_", self.word());
        diagnostic.help(format!("{NO_NAME}; write `{name}`")).propose(self.span(), name)
    }

    /// If the current token is a name that looks like one of these keywords, reports that and makes it the keyword.
    fn is_misspelt(&mut self, expected: &str, keywords: &[TokenKind]) -> bool {
        if !self.at(TokenKind::Name) || self.word().len() < 2 {
            return false;
        }
        let word = self.word();
        let alike = keywords.iter().filter_map(|keyword| keyword.text()).filter(|keyword| is_alike(word, keyword));
        let Some(keyword) = nearest(word, alike) else { return false };
        let diagnostic = self.unexpected(expected).meant(keyword);
        self.correct(TokenKind::keyword(keyword).unwrap_or(TokenKind::Name));
        self.report(diagnostic);
        true
    }

    /// Reports the current token as that of another language and goes on as if it were `meant`.
    fn replace(&mut self, meant: TokenKind, message: impl Into<String>, label: &str, help: impl Into<String>) {
        let diagnostic = Diagnostic::new("E0012", self.span(), message, label).help(help);
        let diagnostic = diagnostic.fix(self.span(), meant.text().unwrap_or_default());
        self.correct(meant);
        self.report(diagnostic);
    }

    /// Makes the current token what it should be, in the parser's copy.
    fn correct(&mut self, meant: TokenKind) {
        self.tokens[self.position].kind = meant;
    }

    /// Skips the rest of a broken statement: past its `;` or block, or up to what surely begins something else.
    fn recover(&mut self) {
        use TokenKind as T;
        let mut depth = 0usize;
        loop {
            match self.kind() {
                T::End => return,
                kind if is_landmark(kind) => return,
                T::OpenBrace => depth += 1,
                T::CloseBrace if depth == 0 => return,
                T::CloseBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(T::Semicolon);
                        if !self.at_word("else") {
                            return;
                        }
                    }
                }
                T::Semicolon if depth == 0 => {
                    self.step_over();
                    return;
                }
                T::When | T::Do | T::Goto | T::Return if depth == 0 => return,
                T::Boolean | T::Byte | T::Int if depth == 0 && self.starts_line(self.position) => return,
                _ => {}
            }
            self.bump();
        }
    }
}

/// Whether a word may be a misspelt keyword: it begins with the same letter, or has the same letters.
fn is_alike(word: &str, keyword: &str) -> bool {
    let letters = |text: &str| {
        let mut letters = text.to_ascii_lowercase().into_bytes();
        letters.sort_unstable();
        letters
    };
    let first = |text: &str| text.bytes().next().map(|letter| letter.to_ascii_lowercase());
    first(word) == first(keyword) || (word.len() == keyword.len() && letters(word) == letters(keyword))
}

/// Whether no expression goes on with this token.
fn ends_expression(kind: TokenKind) -> bool {
    use TokenKind as T;
    match kind {
        T::Semicolon | T::OpenBrace | T::CloseBrace | T::End => true,
        T::True | T::False | T::Forall | T::Exists | T::Choose => false,
        kind => kind.is_keyword(),
    }
}

/// A word that only ever begins a declaration or a location.
fn is_landmark(kind: TokenKind) -> bool {
    kind == TokenKind::Loc || kind == TokenKind::System || is_item(kind)
}

/// A word that begins a declaration of a system and stands nowhere else.
fn is_item(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::Const | T::Typealias | T::Enum | T::Function | T::Active | T::Thread | T::Invariant | T::Reachable | T::Ltl
    )
}

/// A text for a message, cut if it is long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_string(),
    }
}
