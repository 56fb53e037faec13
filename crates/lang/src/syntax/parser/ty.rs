//! Types as they are written: ranges, sets, arrays, channels, sequences, maps, names.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{ChannelMarks, Expr, MAX_DEPTH, Type, TypeKind};
use crate::syntax::lexer::TokenKind as T;

impl Parser<'_> {
    /// A type with its array lengths.
    pub(super) fn ty(&mut self) -> Type {
        let start = self.span();
        let kind = match self.kind() {
            T::Boolean => self.base(TypeKind::Boolean),
            T::Byte => self.base(TypeKind::Byte),
            T::Int => self.int_type(),
            T::Name if self.at_word("set") && self.is_word_ahead(1, "of") => self.set_type(),
            T::Name if self.is_channel_type() => self.channel_type(),
            T::Name if self.at_word("sequence") && self.is_word_ahead(1, "of") => self.sequence_type(),
            T::Name if self.at_word("map") && self.is_word_ahead(1, "of") => self.map_type(),
            T::Name if self.is_word_ahead(1, "or") && self.is_word_ahead(2, "nobody") => {
                let name = self.name("a type");
                self.bump_word();
                self.bump_word();
                TypeKind::OrNobody(name)
            }
            T::Name => TypeKind::Named(self.name("a type")),
            _ => {
                self.report(self.unexpected("a type"));
                return Type { kind: TypeKind::Error, dimensions: Vec::new(), span: self.behind() };
            }
        };
        let mut dimensions = std::mem::take(&mut self.outer_dimensions);
        while self.at(T::OpenBracket) {
            let open = self.bump();
            let length = self.root_expression();
            if self.at(T::DotDot) {
                self.range_in_brackets(&length, open);
                return Type { kind: TypeKind::Error, dimensions: Vec::new(), span: self.since(start) };
            }
            dimensions.push(length);
            self.expect_close(T::CloseBracket, open);
        }
        Type { kind, dimensions, span: self.since(start) }
    }

    pub(super) fn is_word_ahead(&self, ahead: usize, word: &str) -> bool {
        self.tokens.get(self.position + ahead).is_some_and(|t| t.kind == T::Name && self.source(t.span) == word)
    }

    /// `set of lo .. hi` or `set of Client`
    pub(super) fn set_type(&mut self) -> TypeKind {
        let example = if self.at_word("map") { "write `map of 0 .. 3 to byte m;`" } else { "write `set of 0 .. 3 s;`" };
        self.bump_word();
        self.bump_word();
        if matches!(self.kind(), T::Boolean | T::Byte | T::Int) {
            self.report(self.unexpected("a range").help(example));
            let kind = if self.at(T::Int) { self.int_type() } else { self.base(TypeKind::Error) };
            drop(kind);
            return TypeKind::Error;
        }
        if self.at(T::Name)
            && matches!(self.peek(1), T::Name | T::OpenBracket | T::CloseParen | T::Semicolon | T::Single)
        {
            return TypeKind::SetOf(self.name("a type"));
        }
        let low = self.root_expression();
        if self.at(T::Comma) {
            self.replace(T::DotDot, "a range is written with `..`", "expected `..`", "write `set of lo .. hi`");
        }
        self.expect(T::DotDot);
        let high = self.root_expression();
        TypeKind::Set(Box::new(low), Box::new(high))
    }

    /// Whether marks and `channel of` follow.
    pub(super) fn is_channel_type(&self) -> bool {
        let is_mark = |ahead| ["lossy", "duplicating", "reordering"].iter().any(|mark| self.is_word_ahead(ahead, mark));
        let marks = (0..4).take_while(|&ahead| is_mark(ahead)).count();
        self.is_word_ahead(marks, "channel") && self.is_word_ahead(marks + 1, "of")
    }

    /// `lossy channel of type [capacity]`; further lengths make an array of channels.
    pub(super) fn channel_type(&mut self) -> TypeKind {
        let mut marks = ChannelMarks::default();
        while !self.at_word("channel") {
            match self.word() {
                "lossy" => marks.lossy = true,
                "duplicating" => marks.duplicating = true,
                _ => marks.reordering = true,
            }
            self.bump_word();
        }
        self.bump_word();
        self.bump_word();
        let help = "write the capacity: `channel of byte [2] c;`; 0 is a rendezvous";
        match self.held(Some(help)) {
            Some((element, capacity)) => TypeKind::Channel(marks, Box::new(element), Box::new(capacity)),
            None => TypeKind::Error,
        }
    }

    /// `sequence of type [capacity]`; further lengths make an array of sequences.
    fn sequence_type(&mut self) -> TypeKind {
        self.bump_word();
        self.bump_word();
        match self.held(Some("write how many elements it holds at most: `sequence of byte [4] s;`")) {
            Some((element, capacity)) => TypeKind::Sequence(Box::new(element), Box::new(capacity)),
            None => TypeKind::Error,
        }
    }

    /// `map of lo .. hi to type` or `map of Client to type`; lengths make an array of maps.
    fn map_type(&mut self) -> TypeKind {
        let keys = self.set_type();
        if matches!(keys, TypeKind::Error) {
            return TypeKind::Error;
        }
        if !self.at_word("to") {
            self.report(self.unexpected("`to`").help("write the keys and the values: `map of 0 .. 3 to byte m;`"));
            return TypeKind::Error;
        }
        self.bump_word();
        match self.held(None) {
            Some((value, _)) => TypeKind::Map(Box::new(keys), Box::new(value)),
            None => TypeKind::Error,
        }
    }

    /// The type of what a channel, a sequence or a map holds. With help for who leaves it out, the first length is the
    /// capacity; the others make an array of what holds it.
    fn held(&mut self, capacity: Option<&str>) -> Option<(Type, Expr)> {
        if self.blocks >= MAX_DEPTH / 2 {
            let message = format!("nested too deeply: types may be {} levels deep", MAX_DEPTH / 2);
            self.report(Diagnostic::new("E0009", self.span(), message, "one level too many"));
            self.recover();
            return None;
        }
        self.blocks += 1;
        let mut element = self.ty();
        self.blocks -= 1;
        if matches!(element.kind, TypeKind::Error) {
            return None;
        }
        let capacity = match capacity {
            Some(help) if element.dimensions.is_empty() => {
                self.report(self.unexpected("`[` and the capacity").help(help));
                self.nothing()
            }
            Some(_) => element.dimensions.remove(0),
            None => self.nothing(),
        };
        self.outer_dimensions = std::mem::take(&mut element.dimensions);
        Some((element, capacity))
    }

    pub(super) fn base(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    /// `int`, `int (lo, hi)`, `int wrap (lo, hi)`
    pub(super) fn int_type(&mut self) -> TypeKind {
        self.bump();
        let wraps = self.at_word("wrap") && self.peek(1) == T::OpenParen;
        if wraps {
            self.bump_word();
        }
        let open = self.span();
        if matches!(self.kind(), T::Number | T::Minus) || self.at(T::Name) && self.peek(1) == T::DotDot {
            return self.bare_range(wraps);
        }
        if !self.eat(T::OpenParen) {
            return TypeKind::Int;
        }
        let low = self.root_expression();
        if self.at(T::DotDot) {
            self.replace(T::Comma, "a range is written with a comma", "expected `,`", "write `int (lo, hi)`");
        }
        self.expect(T::Comma);
        let high = self.root_expression();
        self.expect_close(T::CloseParen, open);
        TypeKind::Range(wraps, Box::new(low), Box::new(high))
    }
}
