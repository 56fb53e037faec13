//! Text to tokens: comments and joined lines are blanks, and every token knows whether it begins a line.

use std::rc::Rc;

use birk_ir::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A name or a keyword.
    Name(Rc<str>),
    /// A number, or a character.
    Number(i64),
    /// A string, without its quotes.
    Text(Rc<str>),
    /// An operator or a bracket.
    Sign(&'static str),
    /// What no token begins with.
    Strange(char),
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
    /// First on its line.
    pub(crate) first: bool,
    /// Behind a blank.
    pub(crate) spaced: bool,
    /// The macros that it comes from, the outermost first.
    pub(crate) from: Rc<[Rc<str>]>,
}

impl Token {
    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(&self.tok, Tok::Sign(own) if *own == sign)
    }

    pub(crate) fn name(&self) -> Option<&Rc<str>> {
        match &self.tok {
            Tok::Name(name) => Some(name),
            _ => None,
        }
    }

    /// As it is named in messages.
    pub(crate) fn text(&self) -> String {
        match &self.tok {
            Tok::Name(name) => format!("`{name}`"),
            Tok::Number(number) => format!("`{number}`"),
            Tok::Text(_) => "a string".into(),
            Tok::Sign(sign) => format!("`{sign}`"),
            Tok::Strange(c) => format!("`{c}`"),
            Tok::End => "the end of the file".into(),
        }
    }
}

/// The longest first.
const SIGNS: &[&str] = &[
    "<->", "::", "->", "--", "++", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "!!", "??", "..", "[]", "<>", "##",
    ";", ",", ":", "{", "}", "(", ")", "[", "]", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "<", ">", "=",
    ".", "@", "#", "\\", "$",
];

/// The tokens of a file, with the end of the text as the last.
pub(crate) fn tokens(text: &str, file: u32) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut at, mut first, mut spaced) = (0, true, true);
    let mut found = Vec::new();
    let none: Rc<[Rc<str>]> = Rc::new([]);
    loop {
        let start = at;
        let rest = &bytes[at..];
        let Some(&byte) = rest.first() else {
            let span = Span { file, ..Span::new(at, at) };
            found.push(Token { tok: Tok::End, span, first: true, spaced: true, from: none });
            return found;
        };
        if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") {
            at += if rest[1] == b'\n' { 2 } else { 3 };
            spaced = true;
            continue;
        }
        if byte.is_ascii_whitespace() {
            first |= byte == b'\n';
            spaced = true;
            at += 1;
            continue;
        }
        if rest.starts_with(b"//") {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += if bytes[at..].starts_with(b"\\\n") { 2 } else { 1 };
            }
            spaced = true;
            continue;
        }
        if rest.starts_with(b"/*") {
            at += text[at + 2..].find("*/").map_or(bytes.len() - at, |end| end + 4);
            spaced = true;
            continue;
        }
        let tok = if byte.is_ascii_alphabetic() || byte == b'_' {
            at += rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            Tok::Name(text[start..at].into())
        } else if byte.is_ascii_digit() {
            number(text, &mut at)
        } else if byte == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                at += if bytes[at] == b'\\' && at + 1 < bytes.len() && bytes[at + 1] != b'\n' { 2 } else { 1 };
            }
            while !text.is_char_boundary(at) {
                at += 1;
            }
            let inner = text[start + 1..at].into();
            at += usize::from(bytes.get(at) == Some(&b'"'));
            Tok::Text(inner)
        } else if let (b'\'', Some((value, length))) = (byte, character(rest)) {
            at += length;
            Tok::Number(value)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
            at += sign.len();
            Tok::Sign(sign)
        } else {
            let strange = text[at..].chars().next().unwrap_or(' ');
            at += strange.len_utf8();
            Tok::Strange(strange)
        };
        let span = Span { file, ..Span::new(start, at) };
        found.push(Token { tok, span, first, spaced, from: Rc::clone(&none) });
        (first, spaced) = (false, false);
    }
}

fn number(text: &str, at: &mut usize) -> Tok {
    let rest = &text.as_bytes()[*at..];
    let is_hex = rest.len() > 2 && rest[0] == b'0' && rest[1] | 32 == b'x' && rest[2].is_ascii_hexdigit();
    let start = *at + if is_hex { 2 } else { 0 };
    let digits = text.as_bytes()[start..].iter();
    let count = digits.take_while(|b| if is_hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() }).count();
    *at = start + count;
    let value = i64::from_str_radix(&text[start..*at], if is_hex { 16 } else { 10 });
    Tok::Number(value.unwrap_or(i64::MAX))
}

/// `'a'` and `'\n'`: the value and the length.
fn character(rest: &[u8]) -> Option<(i64, usize)> {
    match rest {
        [b'\'', b'\\', c, b'\'', ..] => {
            let value = match c {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'0' => 0,
                other => *other,
            };
            Some((i64::from(value), 4))
        }
        [b'\'', c, b'\'', ..] => Some((i64::from(*c), 3)),
        _ => None,
    }
}
