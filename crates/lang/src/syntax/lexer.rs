//! Cuts BIR text into tokens without losing a byte: blanks and comments are tokens too, so that the formatter and an
//! editor can rebuild the text. What is no token of BIR becomes one `Error` token per run and one diagnostic.

use crate::diagnostic::Diagnostic;
use birk_ir::Span;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
}

macro_rules! token_kinds {
    (
        plain { $($(#[$doc:meta])* $plain:ident,)* }
        keywords { $($keyword:ident $word:literal,)* }
        symbols { $($symbol:ident $sign:literal,)* }
    ) => {
        /// Kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            $($(#[$doc])* $plain,)*
            $(#[doc = concat!("`", $word, "`")] $keyword,)*
            $(#[doc = concat!("`", $sign, "`")] $symbol,)*
        }

        impl TokenKind {
            /// All reserved words.
            pub const KEYWORDS: &'static [Self] = &[$(Self::$keyword,)*];

            /// All operators and brackets.
            pub const SYMBOLS: &'static [Self] = &[$(Self::$symbol,)*];

            /// How it is written, if it is always written the same.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$keyword => Some($word),)*
                    $(Self::$symbol => Some($sign),)*
                    _ => None,
                }
            }

            /// Whether it is a reserved word.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(Self::$keyword)|*)
            }

            /// The reserved word with these letters.
            pub fn keyword(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$keyword),)*
                    _ => None,
                }
            }
        }
    };
}

token_kinds! {
    plain {
        /// Blanks and line ends.
        Whitespace,
        /// `// …`, without its line end.
        LineComment,
        /// `/* … */`
        BlockComment,
        /// Characters that mean nothing in BIR (reported).
        Error,
        /// A name.
        Name,
        /// A number.
        Number,
        /// A text in quotes.
        Text,
        /// Behind the last token; never in the list of tokens.
        End,
    }
    keywords {
        System "system",
        Const "const",
        Typealias "typealias",
        Enum "enum",
        Boolean "boolean",
        Byte "byte",
        Int "int",
        Function "function",
        Active "active",
        Thread "thread",
        Loc "loc",
        When "when",
        Do "do",
        Goto "goto",
        Return "return",
        Choose "choose",
        Assert "assert",
        Assume "assume",
        Start "start",
        Skip "skip",
        Invariant "invariant",
        Reachable "reachable",
        Ltl "ltl",
        True "true",
        False "false",
        Forall "forall",
        Exists "exists",
    }
    symbols {
        Iff "<->",
        Assign ":=",
        Equal "==",
        NotEqual "!=",
        LessEqual "<=",
        GreaterEqual ">=",
        AndAnd "&&",
        OrOr "||",
        Implies "=>",
        Arrow "->",
        Diamond "<>",
        DotDot "..",
        OpenBrace "{",
        CloseBrace "}",
        OpenParen "(",
        CloseParen ")",
        OpenBracket "[",
        CloseBracket "]",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Dot ".",
        At "@",
        Question "?",
        Single "=",
        Not "!",
        Less "<",
        Greater ">",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Percent "%",
        And "&",
        Or "|",
    }
}

impl TokenKind {
    /// Blanks and comments, which the grammar does not see.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::Whitespace | Self::LineComment | Self::BlockComment)
    }
}

/// The largest number that can be written: one more than fits, so that its negation can be.
const LARGEST: i64 = 1 << 31;

/// After so many messages the text is no BIR at all, and more would help nobody.
const MOST_DIAGNOSTICS: usize = 100;

/// Cuts a text into tokens, which together are the text, and reports what cannot be one.
pub fn tokenize(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(0, 0);
        let message = "the file is larger than 4 GiB";
        return (Vec::new(), vec![Diagnostic::new("E0010", span, message, "too large to be read")]);
    }
    let mut lexer = Lexer { text, position: 0, diagnostics: Vec::new() };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while lexer.position < text.len() {
        let start = lexer.position;
        let kind = lexer.token();
        debug_assert!(lexer.position > start, "every token has a length");
        tokens.push(Token { kind, span: Span::new(start, lexer.position) });
    }
    (tokens, lexer.diagnostics)
}

/// The value of a number token; `None` if it is malformed or too large (and was reported).
pub fn number_value(text: &str) -> Option<i64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let mut value = None;
    for digit in digits.chars().filter(|digit| *digit != '_') {
        let digit = i64::from(digit.to_digit(radix)?);
        // Saturating: only whether it is above `LARGEST` matters from here on.
        value = Some((value.unwrap_or(0) * i64::from(radix) + digit).min(LARGEST + 1));
    }
    value.filter(|value| *value <= LARGEST)
}

/// What a text token stands for, its quotes and escapes removed.
pub fn text_value(token: &str) -> String {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => match characters.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => {}
            },
            other => value.push(other),
        }
    }
    value
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.position + ahead).copied().unwrap_or(0)
    }

    fn report(&mut self, diagnostic: impl FnOnce() -> Diagnostic) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic());
        }
    }

    /// Moves over the characters that fit.
    fn skip_while(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.position += rest.find(|character| !fits(character)).unwrap_or(rest.len());
    }

    fn skip_character(&mut self) {
        self.position += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn token(&mut self) -> TokenKind {
        match self.byte(0) {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                self.skip_while(|character| character.is_ascii_whitespace());
                TokenKind::Whitespace
            }
            b'/' if self.byte(1) == b'/' => {
                self.skip_while(|character| character != '\n');
                TokenKind::LineComment
            }
            b'/' if self.byte(1) == b'*' => self.block_comment(),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            byte if !byte.is_ascii() && self.rest().starts_with(char::is_alphabetic) => self.word(),
            _ => match self.symbol() {
                Some(kind) => kind,
                None => self.unknown(),
            },
        }
    }

    fn block_comment(&mut self) -> TokenKind {
        let start = self.position;
        match self.text[start + 2..].find("*/") {
            Some(length) => self.position = start + 2 + length + 2,
            None => {
                self.position = self.text.len();
                let opening = Span::new(start, start + 2);
                let message = "a comment that never ends";
                let line = self.text[start..].find('\n').map_or(self.text.len(), |end| start + end);
                let end = start + self.text[start..line].trim_end().len();
                self.report(|| {
                    let diagnostic = Diagnostic::new("E0002", opening, message, "it begins here");
                    diagnostic.help("close it with `*/`").propose(Span::new(end, end), " */")
                });
            }
        }
        TokenKind::BlockComment
    }

    fn string(&mut self) -> TokenKind {
        let start = self.position;
        self.position += 1;
        loop {
            match self.byte(0) {
                b'"' => {
                    self.position += 1;
                    return TokenKind::Text;
                }
                b'\\' if matches!(self.byte(1), b'n' | b't' | b'"' | b'\\') => self.position += 2,
                b'\\' if self.byte(1).is_ascii_graphic() => self.unknown_escape(),
                b'\n' => break,
                _ if self.position >= self.text.len() => break,
                _ => self.skip_character(),
            }
        }
        // What follows a `;` is most likely not part of the text: let it be parsed.
        if let Some(length) = self.text[start..self.position].find(';') {
            self.position = start + length;
        }
        let span = Span::new(start, self.position);
        let message = "a string that does not end on its line";
        let end = start + self.text[span.range()].trim_end().len();
        self.report(|| {
            let diagnostic = Diagnostic::new("E0002", span, message, "it begins here");
            diagnostic.help("close it with `\"`").propose(Span::new(end, end), "\"")
        });
        TokenKind::Text
    }

    fn unknown_escape(&mut self) {
        let span = Span::new(self.position, self.position + 2);
        let escape = &self.text[span.range()];
        self.position += 2;
        self.report(|| {
            Diagnostic::new("E0001", span, format!("unknown escape `{escape}` in a string"), "not an escape")
                .help("the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`")
        });
    }

    fn number(&mut self) -> TokenKind {
        let start = self.position;
        self.skip_while(|character| character.is_ascii_alphanumeric() || character == '_');
        let text = &self.text[start..self.position];
        if number_value(text).is_none() {
            let span = Span::new(start, self.position);
            self.report(|| {
                if is_number(text) {
                    Diagnostic::new("E0003", span, "number too large", "does not fit into 32 bits")
                        .help("numbers go from -2147483648 to 2147483647")
                        .propose(span, "2147483647")
                } else {
                    Diagnostic::new("E0003", span, "malformed number", "neither a number nor a name")
                        .help("a number is written `42`, `1_000` or `0x2a`; a name begins with a letter or `_`")
                }
            });
        }
        TokenKind::Number
    }

    /// A name or keyword. A name with foreign letters is one name too: reported here, it needs no second message.
    fn word(&mut self) -> TokenKind {
        let start = self.position;
        self.skip_while(|character| character.is_alphanumeric() || character == '_');
        let word = &self.text[start..self.position];
        if !word.is_ascii() {
            let span = Span::new(start, self.position);
            let message = "a name with letters outside ASCII";
            let help = "names are made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`";
            self.report(|| Diagnostic::new("E0001", span, message, "cannot be a name").help(help));
            return TokenKind::Name;
        }
        TokenKind::keyword(word).unwrap_or(TokenKind::Name)
    }

    fn symbol(&mut self) -> Option<TokenKind> {
        let kind = symbol_at(self.byte(0), self.byte(1), self.byte(2))?;
        self.position += kind.text().map_or(0, str::len);
        Some(kind)
    }

    fn unknown(&mut self) -> TokenKind {
        let start = self.position;
        let first = self.rest().chars().next().unwrap_or_default();
        if start == 0 && first == '\u{feff}' {
            self.skip_character();
            return TokenKind::Whitespace;
        }
        self.skip_while(is_unknown);
        // A text in single quotes is one mistake, not one for each quote.
        if first == '\'' {
            let line = self.rest().split(['\n', ';']).next().unwrap_or_default();
            self.position += line.find('\'').map_or(0, |close| close + 1);
        }
        let span = Span::new(start, self.position);
        // In other languages the rest of the line is a comment, and nobody has to read it here either.
        let before = self.text.as_bytes()[start.saturating_sub(200)..start].iter();
        let before = before.rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_comment = first == '#' && matches!(before, None | Some(b'\n' | b';' | b'{' | b'}'));
        if is_comment {
            self.skip_while(|character| character != '\n');
        }
        self.report(|| {
            let several = span.range().len() > first.len_utf8();
            let message = match (several, first.is_control() || first.is_whitespace()) {
                (false, false) => format!("unknown character `{first}`"),
                (false, true) => format!("unknown character U+{:04X}", u32::from(first)),
                _ if first == '\'' => "a string in single quotes".to_string(),
                (true, _) => "unknown characters".to_string(),
            };
            let mut diagnostic = Diagnostic::new("E0001", span, message, "not part of BIR");
            let line = self.text[start..].lines().next().unwrap_or_default();
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["#define", name, value] => {
                    let place = Span::new(start, start + line.trim_end().len());
                    diagnostic = diagnostic.help(format!("write `const {name} = {value};`"));
                    return diagnostic.fix(place, format!("const {name} = {value};"));
                }
                _ if first == '$' && !several => {
                    return diagnostic.help("names have no mark before them: remove it").propose(span, "");
                }
                _ => {}
            }
            let Some(meant) = meant_by(first, is_comment) else { return diagnostic };
            diagnostic = diagnostic.help(format!("did you mean {meant}?"));
            match meant.strip_prefix('`').and_then(|meant| meant.strip_suffix('`')) {
                Some(meant) if !several => diagnostic.propose(span, meant),
                _ => diagnostic,
            }
        });
        TokenKind::Error
    }
}

/// Whether the digits are those of a number, of whatever size.
fn is_number(text: &str) -> bool {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => digits.contains(|digit| digit != '_') && digits.chars().all(is_hex),
        None => text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_'),
    }
}

fn is_hex(character: char) -> bool {
    character.is_ascii_hexdigit() || character == '_'
}

/// Whether no token begins with this character.
fn is_unknown(character: char) -> bool {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() => {
            let word = byte.is_ascii_alphanumeric() || byte == b'_';
            !word && !byte.is_ascii_whitespace() && byte != b'"' && symbol_at(byte, 0, 0).is_none()
        }
        _ => true,
    }
}

/// The longest operator or bracket that begins with these bytes.
fn symbol_at(first: u8, second: u8, third: u8) -> Option<TokenKind> {
    use TokenKind as T;
    Some(match (first, second) {
        (b'<', b'-') if third == b'>' => T::Iff,
        (b':', b'=') => T::Assign,
        (b'=', b'=') => T::Equal,
        (b'!', b'=') => T::NotEqual,
        (b'<', b'=') => T::LessEqual,
        (b'>', b'=') => T::GreaterEqual,
        (b'&', b'&') => T::AndAnd,
        (b'|', b'|') => T::OrOr,
        (b'=', b'>') => T::Implies,
        (b'-', b'>') => T::Arrow,
        (b'<', b'>') => T::Diamond,
        (b'.', b'.') => T::DotDot,
        (b'{', _) => T::OpenBrace,
        (b'}', _) => T::CloseBrace,
        (b'(', _) => T::OpenParen,
        (b')', _) => T::CloseParen,
        (b'[', _) => T::OpenBracket,
        (b']', _) => T::CloseBracket,
        (b',', _) => T::Comma,
        (b';', _) => T::Semicolon,
        (b':', _) => T::Colon,
        (b'.', _) => T::Dot,
        (b'@', _) => T::At,
        (b'?', _) => T::Question,
        (b'=', _) => T::Single,
        (b'!', _) => T::Not,
        (b'<', _) => T::Less,
        (b'>', _) => T::Greater,
        (b'+', _) => T::Plus,
        (b'-', _) => T::Minus,
        (b'*', _) => T::Star,
        (b'/', _) => T::Slash,
        (b'%', _) => T::Percent,
        (b'&', _) => T::And,
        (b'|', _) => T::Or,
        _ => return None,
    })
}

/// What was probably meant by a character that BIR does not know.
fn meant_by(character: char, is_comment: bool) -> Option<&'static str> {
    Some(match character {
        '∧' => "`&&`",
        '∨' => "`||`",
        '¬' | '~' => "`!`",
        '≤' => "`<=`",
        '≥' => "`>=`",
        '≠' => "`!=`",
        '→' | '⇒' => "`=>`",
        '↔' | '⇔' => "`<->`",
        '□' => "`[]`",
        '◇' => "`<>`",
        '×' | '·' => "`*`",
        '−' | '–' => "`-`",
        '←' | '≔' => "`:=`",
        '“' | '”' | '\'' | '‘' | '’' => "`\"`",
        '#' if is_comment => "`//`",
        '#' => "`!=`",
        '\u{a0}' => "a blank",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokenize(text).0.into_iter().map(|token| token.kind).filter(|kind| !kind.is_trivia()).collect()
    }

    #[test]
    fn operators_are_cut_as_long_as_possible() {
        use TokenKind as T;
        assert_eq!(kinds("a<->b"), [T::Name, T::Iff, T::Name]);
        assert_eq!(kinds("a<-1"), [T::Name, T::Less, T::Minus, T::Number]);
        assert_eq!(kinds("[]<>p"), [T::OpenBracket, T::CloseBracket, T::Diamond, T::Name]);
        assert_eq!(kinds("0..n"), [T::Number, T::DotDot, T::Name]);
        assert_eq!(kinds("a:=!b"), [T::Name, T::Assign, T::Not, T::Name]);
    }

    #[test]
    fn numbers_have_values() {
        assert_eq!(number_value("1_000"), Some(1000));
        assert_eq!(number_value("0x7f"), Some(127));
        assert_eq!(number_value("2147483648"), Some(1 << 31));
        assert_eq!(number_value("2147483649"), None);
        assert_eq!(number_value(&"9".repeat(1000)), None);
        assert_eq!(number_value("0x"), None);
        assert_eq!(number_value("12ab"), None);
    }

    #[test]
    fn texts_have_values() {
        assert_eq!(text_value(r#""a\n\"b\\""#), "a\n\"b\\");
        assert_eq!(text_value("\"open"), "open");
    }
}
