//! What only formulas of the mu-calculus have: modalities and fixpoints.

use super::Parser;
use super::expression::Tree;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{ExprKind, PropertyKind};
use crate::syntax::lexer::TokenKind as T;

impl Parser<'_> {
    /// Whether `<->`, `[-]`, `<T>` or `[T]` begins here, before an operand.
    pub(super) fn is_modality(&self) -> bool {
        let begins = match self.kind() {
            T::Iff | T::Less => true,
            T::OpenBracket => self.peek(1) != T::CloseBracket,
            _ => false,
        };
        begins && self.formula == Some(PropertyKind::Mu)
    }

    /// `<-> operand`, `[T[0]@waiting] operand`
    pub(super) fn modality(&mut self) -> Tree {
        let start = self.span();
        let is_some = !self.at(T::OpenBracket);
        self.modal.push(start.start);
        let mut label = None;
        let mut depth = 0;
        let is_whole = self.at(T::Iff);
        self.bump();
        if !is_whole {
            if !self.eat(T::Minus) {
                let tree = self.postfix();
                depth = tree.depth();
                label = Some(Box::new(tree.into_expr()));
            }
            let close = if is_some { T::Greater } else { T::CloseBracket };
            if self.at(close) {
                self.modal.push(self.span().start);
                self.bump();
            } else {
                let bracket = close.text().unwrap_or_default();
                let message = format!("expected `{bracket}`, found {}", self.found());
                let help = "a modality names all steps, a thread or a place: `<->`, `[-]`, `<T>`, `[T[0]@waiting]`";
                let diagnostic = Diagnostic::new("E0004", self.span(), message, format!("expected `{bracket}`"));
                self.report(diagnostic.related(start, "the modality begins here").help(help));
            }
        }
        let body = if self.is_reported() { self.error() } else { self.unary() };
        let span = start.to(body.outer());
        depth = depth.max(body.depth());
        self.node(ExprKind::Modal(is_some, label, Box::new(body.into_expr())), span, depth)
    }

    /// Whether `mu X.` or `nu X.` follows.
    pub(super) fn is_fixpoint(&self) -> bool {
        let is_word = self.at_word("mu") || self.at_word("nu");
        let is_sure = self.formula == Some(PropertyKind::Mu) || matches!(self.peek(2), T::Dot | T::Colon);
        is_word && self.peek(1) == T::Name && is_sure
    }

    /// `mu X. body`, whose body reaches as far as it can.
    pub(super) fn fixpoint(&mut self) -> Tree {
        let is_least = self.at_word("mu");
        if self.formula != Some(PropertyKind::Mu) {
            let message = format!("the fixpoint `{}` outside a `mu` property", self.word());
            let diagnostic = Diagnostic::new("E0013", self.span(), message, "only allowed in `mu` properties");
            self.report(diagnostic.help("state it as a property: `mu NAME: …;`"));
        }
        let start = self.bump_word();
        let name = self.name("a name");
        if self.at(T::Colon) {
            self.replace(T::Dot, "a fixpoint is written with `.`", "expected `.`", "write `mu X. …`");
        }
        let dot = self.span().start;
        if self.expect(T::Dot) {
            self.modal.push(dot);
        }
        let body = self.expression();
        let span = start.to(body.outer());
        let depth = body.depth();
        self.node(ExprKind::Fixpoint(is_least, name, Box::new(body.into_expr())), span, depth)
    }
}
