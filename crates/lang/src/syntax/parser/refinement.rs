//! `refines Spec { leader = …; votes[i : 0 .. N - 1] = …; }`

use crate::ast::{Mapped, MappedPart, Refinement};
use crate::lexer::TokenKind as T;
use crate::parser::{Parser, is_landmark};

const HELP: &str =
    "write `variable = expression;`, or `variable[i : 0 .. 2] = expression;` for the elements of an array";
const RANGE: &str = "write `variable[i : 0 .. 2] = expression;`";

impl Parser<'_> {
    /// Whether a declaration follows, rather than a variable of a type with this name.
    pub(super) fn is_refinement(&self) -> bool {
        let is_open = self.peek(1) == T::OpenBrace || self.peek(1) == T::Name && self.peek(2) == T::OpenBrace;
        self.at_word("refines") && is_open
    }

    pub(super) fn refinement(&mut self) -> Refinement {
        let start = self.bump_word();
        let name = self.name("the name of the specification");
        let open = self.span();
        let mut mapped = Vec::new();
        if self.expect(T::OpenBrace) {
            while !matches!(self.kind(), T::CloseBrace | T::End) && !is_landmark(self.kind()) {
                let before = self.position;
                mapped.extend(self.mapped());
                if self.position == before {
                    self.bump();
                }
            }
            self.expect_close(T::CloseBrace, open);
        }
        Refinement { name, mapped, span: self.since(start) }
    }

    fn mapped(&mut self) -> Option<Mapped> {
        if !self.at(T::Name) {
            self.report(self.unexpected("a variable of the specification").help(HELP));
            self.recover();
            return None;
        }
        let start = self.span();
        let variable = self.name("a variable of the specification");
        let mut parts = Vec::new();
        loop {
            let open = self.span();
            if self.eat(T::OpenBracket) {
                parts.push(self.mapped_index());
                self.expect_close(T::CloseBracket, open);
            } else if self.eat(T::Dot) {
                parts.push(MappedPart::Field(self.name("a field")));
            } else {
                break;
            }
        }
        let place = self.since(start);
        if matches!(self.kind(), T::Assign | T::Equal) {
            self.replace(
                T::Single,
                "a mapping says what a variable is, it does not assign",
                "expected `=`",
                "write `=`",
            );
        }
        if !self.eat(T::Single) {
            self.report(self.unexpected("`=`").help(HELP));
            self.recover();
            return None;
        }
        let value = self.root_expression();
        self.expect_semicolon();
        Some(Mapped { variable, parts, place, value })
    }

    /// `i : lo .. hi`, or one index.
    fn mapped_index(&mut self) -> MappedPart {
        if !(self.at(T::Name) && self.peek(1) == T::Colon) {
            return MappedPart::At(self.root_expression());
        }
        let name = self.name("a name");
        self.bump();
        let low = self.root_expression();
        if self.at(T::Comma) {
            self.replace(T::DotDot, "a range is written with `..`", "expected `..`", RANGE);
        }
        if !self.eat(T::DotDot) {
            self.report(self.unexpected("`..`").help(RANGE));
            return MappedPart::Each(name, low, self.nothing());
        }
        let high = self.root_expression();
        MappedPart::Each(name, low, high)
    }
}
