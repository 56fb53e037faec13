//! A place in the text, one character for each byte of the file.

use birk_ir::{Diagnostic, Span};

use super::Result;

pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// What was read since a place.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    /// How many bytes of the file are before a place.
    pub(super) fn byte_number(&self, place: usize) -> usize {
        self.text[..place].chars().count()
    }

    /// The line that it is in, up to here or as far as it goes.
    pub(super) fn line(&self) -> Span {
        let start = self.text[..self.at].rfind('\n').map_or(0, |end| end + 1);
        let rest = &self.text[self.at..];
        let end = self.at + rest.find(['\n', '\r']).unwrap_or(rest.len());
        // What follows may be anything, also binary.
        let shown = self.text[start..end].char_indices().take_while(|(_, c)| (' '..='~').contains(c));
        Span::new(start, shown.last().map_or(start, |(at, _)| start + at + 1))
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// The next byte of the file.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = u8::try_from(self.peek()?).ok()?;
        self.skip();
        Some(byte)
    }

    /// Letters as far as they go.
    pub(super) fn word(&mut self) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            self.skip();
        }
        &self.text[start..self.at]
    }

    /// The rest of the line, and beyond its end.
    pub(super) fn rest_of_line(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        rest[..end].trim_end_matches('\r')
    }

    /// Whether there were spaces, which are passed.
    pub(super) fn space(&mut self) -> bool {
        let start = self.at;
        while self.peek() == Some(' ') {
            self.skip();
        }
        self.at > start
    }

    /// Passes a space that must be there.
    pub(super) fn one_space(&mut self) -> Result<()> {
        if self.space() { Ok(()) } else { Err(self.unexpected("a space and a number")) }
    }

    pub(super) fn is_at_end_of_line(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | '\r'))
    }

    /// Passes the end of a line; the last line needs none.
    pub(super) fn end_of_line(&mut self) -> Result<()> {
        self.space();
        if self.peek() == Some('\r') {
            self.skip();
        }
        match self.peek() {
            Some('\n') => self.skip(),
            None => {}
            Some(_) => return Err(self.unexpected("the end of the line")),
        }
        Ok(())
    }

    /// A number of digits.
    pub(super) fn number(&mut self, what: &str) -> Result<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.skip();
        }
        let digits = &self.text[start..self.at];
        if digits.is_empty() {
            return Err(self.unexpected(what));
        }
        digits.parse().map_err(|_| {
            let message = "this number is larger than all that AIGER knows";
            let help = "numbers are below 2^32";
            Box::new(Diagnostic::new("E3003", self.since(start), message, "too large").help(help))
        })
    }

    fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let shown = self.peek().filter(|c| (' '..='~').contains(c));
        let span = Span::new(self.at, self.at + usize::from(shown.is_some()));
        let found = match (shown, self.peek()) {
            (Some(found), _) => format!("`{found}`"),
            (None, None) => "the end of the file".to_owned(),
            (None, Some('\n' | '\r')) => "the end of the line".to_owned(),
            (None, Some(other)) => format!("the byte {:#04x}", u32::from(other)),
        };
        let help = "the header says how many lines of which kind follow: inputs, latches, outputs, bads, constraints, justice, \
                    fairness, gates";
        Box::new(Diagnostic::new("E3002", span, format!("expected {wanted}, found {found}"), "unexpected").help(help))
    }
}
