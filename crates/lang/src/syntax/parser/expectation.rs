//! `expect (N = 3): violated deadlock in 4, 167 states;`

use crate::ast::{Clause, ClauseKind, Expectation, Name};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind as T;
use crate::parser::Parser;

const KINDS: [(&str, ClauseKind); 6] = [
    ("holds", ClauseKind::Holds),
    ("violated", ClauseKind::Violated),
    ("reached", ClauseKind::Reached),
    ("states", ClauseKind::States),
    ("transitions", ClauseKind::Transitions),
    ("depth", ClauseKind::Depth),
];
const HELP: &str =
    "write `holds`, `violated NAME in 3`, `reached NAME in 3`, `14 states`, `27 transitions` or `depth 3`";

impl Parser<'_> {
    /// Whether a declaration follows, rather than a variable of a type with this name.
    pub(super) fn is_expectation(&self) -> bool {
        let begins = |ahead| KINDS.iter().any(|(word, _)| self.is_word_ahead(ahead, word));
        self.at_word("expect") && (matches!(self.peek(1), T::OpenParen | T::Number | T::Semicolon) || begins(1))
    }

    pub(super) fn expectation(&mut self) -> Expectation {
        let start = self.bump_word();
        let constants = if self.at(T::OpenParen) { self.given() } else { Vec::new() };
        let mut clauses = Vec::new();
        loop {
            let Some(clause) = self.clause() else {
                let diagnostic = self.unexpected("a verdict or a count").help(HELP);
                // A number counts something: states are what is counted most often.
                let is_counted = self.at(T::Number) && self.peek(1) == T::Name;
                self.report(match is_counted {
                    true => diagnostic.propose(self.tokens[self.position + 1].span, "states"),
                    false => diagnostic,
                });
                self.recover();
                break;
            };
            clauses.push(clause);
            if !self.eat(T::Comma) {
                self.expect_semicolon();
                break;
            }
        }
        Expectation { constants, clauses, span: self.since(start) }
    }

    /// `(N = 3, KIND = Kind.fast):`
    fn given(&mut self) -> Vec<(Name, String)> {
        self.bump();
        let mut constants = Vec::new();
        while !matches!(self.kind(), T::CloseParen | T::Semicolon | T::CloseBrace | T::End) {
            let mut name = self.name("the name of a constant");
            while self.eat(T::Dot) {
                let inner = self.name("the name of a constant");
                name.text = format!("{}.{}", name.text, inner.text);
                name.span.end = inner.span.end;
            }
            if !self.expect(T::Single) {
                break;
            }
            let start = self.span();
            self.root_expression();
            let value = self.source(self.since(start)).to_owned();
            constants.push((name, value));
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect(T::CloseParen);
        self.expect(T::Colon);
        constants
    }

    fn clause(&mut self) -> Option<Clause> {
        if self.at(T::Number) {
            let counted = KINDS[3..5].iter().find(|(word, _)| self.is_word_ahead(1, word))?.1;
            let number = self.count();
            self.bump_word();
            return Some(Clause { kind: counted, property: None, number });
        }
        let kind = KINDS.iter().find(|(word, _)| self.at_word(word)).map(|(_, kind)| *kind)?;
        match kind {
            ClauseKind::States | ClauseKind::Transitions => None,
            ClauseKind::Depth => {
                self.bump_word();
                let number = self.at(T::Number).then(|| self.count())?;
                Some(Clause { kind, property: None, number })
            }
            ClauseKind::Holds => {
                self.bump_word();
                let property = self.at(T::Name).then(|| self.name("a property"));
                Some(Clause { kind, property, number: None })
            }
            ClauseKind::Violated | ClauseKind::Reached => {
                self.bump_word();
                let property = Some(self.name("a property"));
                let mut number = None;
                if self.at_word("in") {
                    self.bump_word();
                    number = self.at(T::Number).then(|| self.count())?;
                }
                Some(Clause { kind, property, number })
            }
        }
    }

    /// A number; too large a one is an error.
    fn count(&mut self) -> Option<u64> {
        let number = self.word().parse().ok();
        if number.is_none() {
            let message = format!("{} is too large to be counted", self.found());
            self.report(Diagnostic::new("E0002", self.span(), message, "too large"));
        }
        self.bump();
        number
    }
}
