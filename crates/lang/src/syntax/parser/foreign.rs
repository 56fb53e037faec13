//! Constructs of other languages that are read as what they mean, so that one message can say how BIR writes all of it.

use std::collections::HashSet;

use super::expression::Tree;
use super::statement::RANGE;
use super::{Parser, is_item, shorten};
use crate::diagnostic::{Diagnostic, Fix};
use crate::syntax::ast::{ActionKind, BinaryOp, Expr, ExprKind, Name, TypeKind, UnaryOp};
use crate::syntax::lexer::{TokenKind as T, number_value, text_value};
use birk_ir::Span;

/// So many tokens ahead a closing bracket or a `;` is looked for.
const AHEAD: usize = 200;

impl Parser<'_> {
    /// Whether a loop without an end begins here, as other languages write it.
    pub(super) fn is_endless(&self) -> bool {
        self.at(T::Name) && matches!(self.word(), "loop" | "forever" | "repeat") && self.peek(1) == T::OpenBrace
    }

    /// `loop { … }`
    pub(super) fn endless(&mut self) -> ActionKind {
        let (span, word) = (self.span(), self.word());
        let diagnostic = Diagnostic::new("E0012", span, format!("BIR has no `{word}`"), "not known in BIR");
        self.report(diagnostic.help("write `while (true) { … }`").fix(span, "while (true)"));
        self.bump();
        ActionKind::While(Expr { kind: ExprKind::Bool(true), span }, self.block())
    }

    /// Whether `++`, `--`, `+=` or the like stands so far ahead.
    pub(super) fn is_update(&self, ahead: usize) -> bool {
        let (sign, next) = (self.peek(ahead), self.peek(ahead + 1));
        match sign {
            T::Plus | T::Minus => matches!(next, T::Single | T::Equal) || next == sign,
            T::Star | T::Slash | T::Percent => matches!(next, T::Single | T::Equal),
            _ => false,
        }
    }

    /// `x++`, `x += 2`
    pub(super) fn update(&mut self, place: &Expr) {
        let span = self.span().to(self.tokens[self.position + 1].span);
        let operand = match self.peek(1) == self.kind() {
            true => "1".to_owned(),
            false => self.rest_of_statement(2),
        };
        let whole = self.up_to_semicolon(place.span);
        self.no_update((span, whole), self.source(place.span), self.word(), &operand);
    }

    /// Whether `++x` or `--x` follows.
    pub(super) fn is_prefix_update(&self) -> bool {
        matches!(self.kind(), T::Plus | T::Minus) && self.peek(1) == self.kind() && self.peek(2) == T::Name
    }

    /// `++x`
    pub(super) fn prefix_update(&mut self) {
        let span = self.span().to(self.tokens[self.position + 1].span);
        let place = self.rest_of_statement(2);
        let whole = self.up_to_semicolon(span);
        self.no_update((span, whole), place.trim_start_matches('(').trim_end_matches(')'), self.word(), "1");
    }

    /// Reports an update at its sign; the whole statement is replaced.
    fn no_update(&mut self, (span, whole): (Span, Option<Span>), name: &str, sign: &str, operand: &str) {
        let message = format!("BIR has no `{}`", self.source(span));
        let text = format!("{name} := {name} {sign} {operand}");
        let diagnostic = Diagnostic::new("E0012", span, message, "expected `:=`").help(format!("write `{text};`"));
        let fix = whole.filter(|_| !text.contains('…')).map(|span| Fix::new(span, text));
        self.report(Diagnostic { fix, ..diagnostic });
    }

    /// From a place to the end of the statement, without its `;`.
    fn up_to_semicolon(&self, start: Span) -> Option<Span> {
        let is_end = |kind| matches!(kind, T::Semicolon | T::OpenBrace | T::CloseBrace | T::End);
        let end = (1..AHEAD).find(|&ahead| is_end(self.peek(ahead)))?;
        (self.peek(end) == T::Semicolon).then(|| start.to(self.tokens[self.position + end - 1].span))
    }

    /// From a place to the end of the statement, with its `;`.
    fn with_semicolon(&self, start: Span) -> Option<Span> {
        let is_end = |kind| matches!(kind, T::Semicolon | T::OpenBrace | T::CloseBrace | T::End);
        let end = (1..AHEAD).find(|&ahead| is_end(self.peek(ahead)))?;
        (self.peek(end) == T::Semicolon).then(|| start.to(self.tokens[self.position + end].span))
    }

    /// `ltl p { [] b }` as BIR writes it, at the brace.
    pub(super) fn without_braces(&self, name: &Name) -> Option<Fix> {
        let is_end = |kind| matches!(kind, T::OpenBrace | T::CloseBrace | T::Semicolon | T::End);
        let end = (1..AHEAD).find(|&ahead| is_end(self.peek(ahead))).filter(|_| self.at(T::OpenBrace))?;
        let close = self.tokens[self.position + end].span;
        let body = self.source(Span { start: self.span().end, end: close.start, ..close }).trim();
        let span = Span { start: name.span.end, end: close.end, ..close };
        (self.peek(end) == T::CloseBrace).then(|| Fix::new(span, format!(": {body};")))
    }

    /// `c ! 1` and `c ? x` as BIR writes them.
    pub(super) fn message_like_promela(&self) -> Option<Fix> {
        let span = self.up_to_semicolon(self.span())?;
        let name = self.word();
        let rest = self.source(Span { start: self.tokens[self.position + 1].span.end, ..span }).trim();
        let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(rest);
        let is_name = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_');
        let replacement = match self.peek(1) {
            T::Not if !inner.is_empty() => format!("send {name} ({inner})"),
            _ if is_name && !inner.starts_with(|c: char| c.is_ascii_digit()) => format!("receive {name} (?{inner})"),
            _ => return None,
        };
        Some(Fix::new(span, replacement))
    }

    /// The braces that a statement lacks, or the word before them that is one too many.
    pub(super) fn braces(&self) -> Option<Fix> {
        let start = self.span();
        if self.peek(1) == T::OpenBrace && (self.at(T::Do) || self.at_word("then")) {
            let span = Span { end: self.tokens[self.position + 1].span.start, ..start };
            return Some(Fix::new(span, String::new()));
        }
        let is_simple = self.at(T::Name) && self.peek(1) == T::Assign || self.at_word("skip");
        let span = self.with_semicolon(start).filter(|_| is_simple)?;
        Some(Fix::new(span, format!("{{ {} }}", self.source(span))))
    }

    /// The text from so many tokens ahead to the end of the statement, in parentheses if it is more than one token.
    fn rest_of_statement(&self, ahead: usize) -> String {
        let is_end = |kind| matches!(kind, T::Semicolon | T::OpenBrace | T::CloseBrace | T::End);
        let first = self.position + ahead;
        match (ahead..AHEAD).find(|&ahead| is_end(self.peek(ahead))) {
            Some(end) if end == ahead + 1 => self.source(self.tokens[first].span).to_owned(),
            Some(end) if end > ahead => {
                let last = self.tokens[self.position + end - 1].span;
                let text = shorten(self.source(self.tokens[first].span.to(last)));
                let is_closed = self.peek(ahead) == T::OpenParen && self.closing(ahead) == Some(end - 1);
                if is_closed { text } else { format!("({text})") }
            }
            _ => "…".to_owned(),
        }
    }

    /// `x := receive c`, which is reported.
    pub(super) fn is_received(&mut self, place: &Expr) -> bool {
        let is_received = self.at_word("receive") && self.peek(1) == T::Name;
        if is_received {
            let channel = self.source(self.tokens[self.position + 1].span);
            let help = format!("write `receive {channel} (?{});`", self.source(place.span));
            let message = "`receive` is a statement, not a value";
            let whole = place.span.to(self.tokens[self.position + 1].span);
            let text = format!("receive {channel} (?{})", self.source(place.span));
            let diagnostic = Diagnostic::new("E0012", self.span(), message, "not a value").help(help);
            self.report(if self.peek(2) == T::Semicolon { diagnostic.fix(whole, text) } else { diagnostic });
        }
        is_received
    }

    /// `x := choose(0, 2) + 1`, behind the parenthesis.
    pub(super) fn after_choice(&mut self, place: &Expr, start: Span) {
        if !matches!(self.kind(), T::Plus | T::Minus | T::Star | T::Slash | T::Percent) {
            return;
        }
        let (choice, name) = (self.source(self.since(start)), self.source(place.span));
        let (sign, operand) = (self.word(), self.rest_of_statement(1));
        let words = |text: &str| -> HashSet<String> {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        // What is assigned to cannot hold the choice meanwhile if its old value is read, too.
        let diagnostic = self.unexpected("`;` after `choose(…)`");
        if !words(&operand).is_disjoint(&words(name)) {
            let help = "choose first, into a variable of its own: `atomic { y := choose(0, 3); x := y * x; }`";
            return self.report(diagnostic.help(help));
        }
        let text = format!("atomic {{ {choice}; {name} := {name} {sign} {operand}; }}");
        let diagnostic = diagnostic.help(format!("choose first, then compute: `{text}`"));
        let fix = self.with_semicolon(start).filter(|_| !text.contains('…'));
        self.report(Diagnostic { fix: fix.map(|span| Fix::new(span, text)), ..diagnostic });
    }

    /// `assert(condition, "text")`, with the text inside of the parentheses.
    pub(super) fn assertion_like_a_call(&mut self) -> Option<ActionKind> {
        let close = self.closing(0).filter(|_| self.at(T::OpenParen))?;
        if close < 3 || (self.peek(close - 2), self.peek(close - 1)) != (T::Comma, T::Text) {
            return None;
        }
        let open = self.position;
        self.bump();
        let condition = self.root_expression();
        self.eat(T::Comma);
        let message = text_value(self.word());
        let span = self.span();
        let help = format!("write `assert {}, {};`", self.source(condition.span), self.source(span));
        let diagnostic = Diagnostic::new("E0012", self.tokens[open].span, "`assert` is not a function", "leave it out");
        let place = self.tokens[open].span.to(self.tokens[self.position + 1].span);
        let text = format!(" {}, {}", self.source(condition.span), self.source(span));
        self.report_at(open, diagnostic.help(help).fix(place, text));
        self.bump();
        self.eat(T::CloseParen);
        Some(ActionKind::Assert(condition, Some(message)))
    }

    /// How far ahead the bracket is that closes the one so far ahead.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for ahead in open..AHEAD {
            match self.peek(ahead) {
                T::OpenParen | T::OpenBracket => depth += 1,
                T::CloseParen | T::CloseBracket => depth = depth.checked_sub(1)?,
                T::Semicolon | T::OpenBrace | T::CloseBrace | T::End => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(ahead);
            }
        }
        None
    }

    /// The value in `return x + 1`.
    pub(super) fn refuse_result(&mut self) {
        let begins_value = match self.kind() {
            T::Number | T::True | T::False | T::Forall | T::Exists | T::OpenParen | T::Not | T::Minus => true,
            kind => kind == T::Name && !self.is_next_statement(),
        };
        if !begins_value {
            return;
        }
        let position = self.position;
        let (span, messages) = (self.span(), self.diagnostics.len());
        let value = self.root_expression();
        if self.diagnostics.len() > messages {
            return;
        }
        let (ty, text) = (if is_condition(&value) { "boolean" } else { "int" }, self.source(self.since(span)));
        let help = match self.procedure {
            Some(head) => format!("what has a value is a function: `function {}: {ty} = {text};`", self.source(head)),
            None => "`return;` ends the thread; assign a result to a variable of the system".to_owned(),
        };
        let diagnostic = Diagnostic::new("E0012", span, "`return` gives no value", "expected `;`");
        self.report_at(position, diagnostic.help(help));
    }

    /// `printf("…")`, which is reported and skipped.
    pub(super) fn is_printing(&mut self) -> bool {
        let is_word = matches!(self.word(), "print" | "printf" | "println" | "echo");
        let is_printing = is_word && (self.peek(1), self.peek(2)) == (T::OpenParen, T::Text);
        if is_printing {
            let message = format!("BIR has no `{}`", self.word());
            let help = "leave it out: a trace shows every step and what it changes";
            let diagnostic = Diagnostic::new("E0012", self.span(), message, "not known in BIR").help(help);
            let fix = self.with_semicolon(self.span()).map(|span| Fix::new(span, String::new()));
            self.report(Diagnostic { fix, ..diagnostic });
            self.recover();
        }
        is_printing
    }

    /// Whether `(int i = 0; …` or `(i = 0; …` follows `for`.
    pub(super) fn is_counting_loop(&self) -> bool {
        let name = 1 + usize::from(matches!(self.peek(1), T::Int | T::Byte));
        let is_typed = name == 2 && self.peek(2) == T::Name;
        let is_assigned = self.peek(name) == T::Name && matches!(self.peek(name + 1), T::Assign | T::Single);
        self.at(T::OpenParen) && (is_typed || is_assigned)
    }

    /// `for (int i = 0; i < 3; i++) { … }`
    pub(super) fn counting_loop(&mut self) {
        let name = 1 + usize::from(matches!(self.peek(1), T::Int | T::Byte));
        let source = |ahead: usize| self.tokens.get(self.position + ahead).map_or("", |token| self.source(token.span));
        let (counter, low, high) = (source(name), source(name + 2), source(name + 6));
        let is_simple = [name + 3, name + 7].iter().all(|&ahead| self.peek(ahead) == T::Semicolon);
        let last = match self.peek(name + 5) {
            T::LessEqual => Some(high.to_owned()),
            T::Less => Some(number_value(high).map_or_else(|| format!("{high} - 1"), |bound| (bound - 1).to_string())),
            _ => None,
        };
        let span = self.tokens[self.position + 1].span;
        let diagnostic =
            Diagnostic::new("E0012", span, "a `for` has a range instead of a counter", "expected `NAME :`");
        self.report(match last.filter(|_| is_simple && source(name + 4) == counter) {
            Some(last) => {
                let text = format!("({counter} : {low} .. {last})");
                let diagnostic = diagnostic.help(format!("a `for` goes over a constant range: `for {text} {{ … }}`"));
                // Only a step of one counts through the range.
                let counts = (source(name + 8), self.peek(name + 9), self.peek(name + 10), self.peek(name + 11))
                    == (counter, T::Plus, T::Plus, T::CloseParen);
                let place = self.span().to(self.tokens[(self.position + name + 11).min(self.tokens.len() - 1)].span);
                if counts { diagnostic.fix(place, text) } else { diagnostic }
            }
            None => diagnostic.help(RANGE),
        });
        let mut depth = 0usize;
        while !matches!(self.kind(), T::OpenBrace | T::CloseBrace | T::End) && !is_item(self.kind()) {
            match self.kind() {
                T::OpenParen => depth += 1,
                T::CloseParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                break;
            }
        }
        // The body is not checked: its counter is not declared.
        self.recover();
    }

    /// Whether `if` stands where a value is expected.
    pub(super) fn is_conditional_value(&self) -> bool {
        let begins = matches!(self.peek(1), T::Name | T::Number | T::True | T::False | T::Not);
        self.at_word("if") && begins && !self.is_infix_name(1) && !self.is_word_ahead(1, "in")
    }

    /// `[1, 2]`, which other languages have for arrays and lists.
    pub(super) fn list_in_brackets(&mut self) -> Tree {
        let Some(close) = self.closing(0) else { return self.not_an_expression() };
        let help = "an array is filled element by element: `a[0] := 1;`; a set is written `{1, 2}`";
        self.report(Diagnostic::new("E0012", self.span(), "BIR has no `[…]` for values", "not a value").help(help));
        self.position += close + 1;
        self.error()
    }

    /// `int 0 .. 3`
    pub(super) fn bare_range(&mut self, wraps: bool) -> TypeKind {
        let (span, position, messages) = (self.span(), self.position, self.diagnostics.len());
        let low = self.root_expression();
        self.expect(T::DotDot);
        let high = self.root_expression();
        if self.diagnostics.len() == messages {
            let help = format!("write `int ({}, {})`", self.source(low.span), self.source(high.span));
            let diagnostic = Diagnostic::new("E0012", span, "a range stands in parentheses", "expected `(`");
            let text = format!("({}, {})", self.source(low.span), self.source(high.span));
            self.report_at(position, diagnostic.help(help).fix(low.span.to(high.span), text));
        }
        TypeKind::Range(wraps, Box::new(low), Box::new(high))
    }

    /// `int[0 .. 3]`, at the dots.
    pub(super) fn range_in_brackets(&mut self, low: &Expr, open: Span) {
        let (dots, position) = (self.bump(), self.position - 1);
        let high = self.root_expression();
        let help = format!("a range is written `int ({}, {})`", self.source(low.span), self.source(high.span));
        let diagnostic = Diagnostic::new("E0012", dots, "brackets hold the length of an array", "expected `]`");
        let mut diagnostic = diagnostic.help(help);
        if self.at(T::CloseBracket) {
            let text = format!(" ({}, {})", self.source(low.span), self.source(high.span));
            diagnostic = diagnostic.fix(open.to(self.span()), text);
        }
        self.report_at(position, diagnostic);
        self.expect_close(T::CloseBracket, open);
    }

    /// Whether a thread of another language is declared here.
    pub(super) fn is_foreign_thread(&self) -> bool {
        let is_word = self.at(T::Name) && matches!(self.word(), "process" | "proctype");
        is_word && self.peek(1) == T::Name && matches!(self.peek(2), T::OpenParen | T::OpenBrace)
    }

    /// Reports and skips a declaration of another language, if one begins here.
    pub(super) fn foreign_item(&mut self) -> bool {
        let word = self.word();
        let next = [self.peek(1), self.peek(2)];
        let is_typed_behind = |name: usize| self.peek(name) == T::Name && self.peek(name + 1) == T::Colon;
        let name = |ahead: usize| self.source(self.tokens[self.position + ahead].span);
        let help = match (word, next) {
            ("chan", [T::Name, _]) => self.promela_channel(),
            ("channel", [T::Name, T::Name]) if name(2) == "of" => {
                format!("the type comes first: `channel of byte [1] {};`", name(1))
            }
            ("init", [T::OpenBrace, _]) => {
                "variables have initial values, `int x := 1;`; what is done first stands in a \
                                            thread: `active thread Main() { … }`"
                    .to_owned()
            }
            ("typedef", [T::Name, T::OpenBrace]) => format!("write `record {} {{ … }}`", name(1)),
            ("typedef", [_, T::Name]) => format!("write `typealias {} {};`", name(2), name(1)),
            ("var" | "let", _) if is_typed_behind(1) => self.type_before_name(1),
            ("property", _) if is_typed_behind(1) => {
                format!("properties are `invariant`, `reachable`, `ltl`, `ctl` and `mu`: `invariant {}: …;`", name(1))
            }
            (_, [T::Colon, T::Boolean | T::Byte | T::Int]) => self.type_before_name(0),
            (_, [T::Colon, T::Number]) if self.peek(3) == T::DotDot => self.type_before_name(0),
            _ => return false,
        };
        let mut diagnostic = self.unexpected("a declaration").help(help);
        diagnostic.code = "E0012";
        diagnostic.fix = self.declaration_as_written(&diagnostic);
        self.report(diagnostic);
        self.recover();
        true
    }

    /// The declaration that the next step of such a message writes out, in place of the one that is here.
    fn declaration_as_written(&self, diagnostic: &Diagnostic) -> Option<Fix> {
        let is_typed = |name: usize| matches!(self.peek(name + 1), T::Colon);
        let is_whole = match self.word() {
            "chan" => (self.peek(9), self.peek(10)) == (T::CloseBrace, T::Semicolon),
            "typedef" => self.peek(3) == T::Semicolon,
            _ => {
                let name = usize::from(!is_typed(0));
                is_typed(name) && (self.peek(name + 3) == T::Semicolon || self.peek(name + 5) == T::Semicolon)
            }
        };
        let help = diagnostic.help.as_deref()?;
        let written = help.split('`').nth(1).filter(|text| is_whole && text.ends_with(';') && !text.contains('…'))?;
        let end = (1..AHEAD).find(|&ahead| self.peek(ahead) == T::Semicolon)?;
        let span = self.span().to(self.tokens[self.position + end].span);
        Some(Fix::new(span, written.to_owned()))
    }

    /// `chan c = [2] of { byte };`
    fn promela_channel(&self) -> String {
        let source = |ahead: usize| self.tokens.get(self.position + ahead).map_or("", |token| self.source(token.span));
        let is_known = source(3) == "[" && source(5) == "]" && source(6) == "of" && source(9) == "}";
        match is_known {
            true => format!("write `channel of {} [{}] {};`", source(8), source(4), source(1)),
            false => format!("write `channel of byte [2] {};`; 0 is a rendezvous", source(1)),
        }
    }

    /// `x : int`, `x : 0 .. 3`, where the name stands so far ahead.
    fn type_before_name(&self, name: usize) -> String {
        let source = |ahead: usize| self.source(self.tokens[self.position + ahead].span);
        match [self.peek(name + 2), self.peek(name + 3), self.peek(name + 4)] {
            [T::Number, T::DotDot, T::Number] => {
                format!("the type comes first: `int ({}, {}) {};`", source(name + 2), source(name + 4), source(name))
            }
            [T::Name | T::Int | T::Boolean | T::Byte, T::Semicolon, _] => {
                format!("the type comes first: `{} {};`", source(name + 2), source(name))
            }
            _ => format!("the type comes first: `int {};`", source(name)),
        }
    }
}

/// Whether an expression is a condition, as far as its outermost operator tells.
fn is_condition(expr: &Expr) -> bool {
    use BinaryOp as B;
    match &expr.kind {
        ExprKind::Bool(_) | ExprKind::Unary(UnaryOp::Not, _) | ExprKind::At(..) => true,
        ExprKind::Binary(op, ..) => !matches!(op, B::Add | B::Sub | B::Mul | B::Div | B::Rem),
        _ => false,
    }
}
