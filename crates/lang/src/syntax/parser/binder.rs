//! What gives names to values inside an expression: quantifiers and `let`; and sets, over which quantifiers range.

use super::expression::{SUM, Tree};
use super::{Parser, shorten};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Domain, ExprKind, Quantifier};
use crate::syntax::lexer::TokenKind as T;

const LET: &str = "write `let x = a + b in x * x`";

impl Parser<'_> {
    /// `forall (i : lo .. hi) body`, whose body reaches as far as it can.
    pub(super) fn quantifier(&mut self) -> Tree {
        let quantifier = match self.word() {
            "forall" => Quantifier::All,
            "exists" => Quantifier::Any,
            "count" => Quantifier::Count,
            _ => Quantifier::Sum,
        };
        let start = self.bump_word();
        let (open, position) = (self.span(), self.position);
        // `forall i in 0 .. 2: body` is read, too, and reported when all of it is known.
        let is_bare = self.at(T::Name) && (self.peek(1) == T::Colon || self.is_word_ahead(1, "in"));
        let opened = !is_bare && self.expect(T::OpenParen);
        let messages = self.diagnostics.len();
        let name = self.name("a name");
        let members = self.at_word("in");
        if members {
            self.bump_word();
        } else {
            self.expect(T::Colon);
        }
        let low = self.expression();
        let mut depth = low.depth();
        let mut range = low.outer();
        if self.at(T::Comma) {
            self.replace(T::DotDot, "a range is written with `..`", "expected `..`", "write `(i : lo .. hi)`");
        }
        let domain = if members && !self.at(T::DotDot) {
            Domain::Members(low.into_expr())
        } else {
            self.expect(T::DotDot);
            // In `0 .. 2 . body` the dot is not a member's.
            let high = if is_bare && self.peek(1) == T::Dot { self.primary() } else { self.expression() };
            depth = depth.max(high.depth());
            range = range.to(high.outer());
            Domain::Range(low.into_expr(), high.into_expr())
        };
        if opened {
            self.expect_close(T::CloseParen, open);
        } else if !self.eat(T::CloseParen) && is_bare && matches!(self.kind(), T::Colon | T::Dot | T::Comma) {
            self.bump();
        }
        let body = match quantifier {
            _ if self.is_reported() => self.error(),
            Quantifier::All | Quantifier::Any => self.expression(),
            // A number is compared and added: the body of `count` and `sum` is one operand.
            Quantifier::Count | Quantifier::Sum => self.deeper(Self::unary),
        };
        if is_bare && self.diagnostics.len() == messages {
            let source = |span| shorten(self.source(span));
            let sign = if matches!(domain, Domain::Members(_)) { " in" } else { " :" };
            let range_span = range;
            let (word, range, body_text) = (source(start), source(range), source(body.outer()));
            let message = format!("the range of `{word}` stands in parentheses");
            let diagnostic = Diagnostic::new("E0012", open, message, "expected `(`");
            let help = format!("write `{word} ({}{sign} {range}) {body_text}`", name.text);
            let whole = [range_span, body.outer()].map(|span| self.source(span));
            let whole = format!("{} ({}{sign} {}) {}", self.source(start), name.text, whole[0], whole[1]);
            self.report_at(position, diagnostic.help(help).fix(start.to(body.outer()), whole));
        }
        let span = start.to(body.outer());
        let depth = depth.max(body.depth());
        let kind = ExprKind::Quantifier(quantifier, name, Box::new(domain), Box::new(body.into_expr()));
        self.node(kind, span, depth)
    }

    /// Whether `count (i :` or `sum (x in` follows.
    pub(super) fn is_total(&self) -> bool {
        let is_word = self.at_word("count") || self.at_word("sum");
        let binds =
            self.peek(3) == T::Colon || self.tokens.get(self.position + 3).is_some_and(|t| self.source(t.span) == "in");
        is_word && self.peek(1) == T::OpenParen && self.peek(2) == T::Name && binds
    }

    /// `let x = value in body`
    pub(super) fn let_in(&mut self) -> Tree {
        let start = self.bump_word();
        let name = self.name("a name");
        if self.at(T::Assign) {
            self.replace(T::Single, "`let` gives a name and does not assign", "expected `=`", "write `=`");
        }
        if !self.eat(T::Single) {
            self.report(self.unexpected("`=`").help(LET));
            return self.error();
        }
        let value = self.operand(SUM);
        if !self.at_word("in") {
            self.report(self.unexpected("`in` and the value").help(LET));
            return self.error();
        }
        self.bump_word();
        let body = self.expression();
        let span = start.to(body.outer());
        let depth = value.depth().max(body.depth());
        self.node(ExprKind::Let(name, Box::new(value.into_expr()), Box::new(body.into_expr())), span, depth)
    }

    /// `{a, b}`
    pub(super) fn set(&mut self) -> Tree {
        self.sets.push(self.span().start);
        let open = self.bump();
        let mut members = Vec::new();
        let mut depth = 0;
        if !self.eat(T::CloseBrace) {
            loop {
                let member = self.expression();
                depth = depth.max(member.depth());
                members.push(member.into_expr());
                if !self.eat(T::Comma) {
                    break;
                }
            }
            self.expect_close(T::CloseBrace, open);
        }
        let span = self.since(open);
        self.node(ExprKind::Set(members), span, depth)
    }
}
