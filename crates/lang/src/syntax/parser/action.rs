//! Actions, and what people write instead of them.

use super::{Parser, is_landmark};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Action, ActionKind, Expr, ExprKind};
use crate::syntax::lexer::{TokenKind as T, text_value};

/// Statements of other languages.
pub(super) const FOREIGN: [&str; 9] = ["else", "or", "switch", "case", "continue", "repeat", "print", "elseif", "elif"];

impl Parser<'_> {
    /// One action with its `;`.
    pub(super) fn action(&mut self) -> Option<Action> {
        let start = self.span();
        if self.kind().is_keyword() && self.peek(1) == T::Assign {
            self.report(self.renamed(self.unexpected("an action")));
            self.bump();
            self.recover();
            return None;
        }
        let kind = match self.kind() {
            T::Assert => Some(self.assertion()),
            T::Assume => {
                self.bump();
                Some(ActionKind::Assume(self.root_expression()))
            }
            T::Start => {
                self.bump();
                let name = self.name("the thread to start");
                let arguments = self.arguments();
                Some(ActionKind::Start(name, arguments))
            }
            T::Skip => {
                self.bump();
                Some(ActionKind::Skip)
            }
            T::Name if self.foreign_statement() => return None,
            T::Name => self.assignment(),
            T::Plus | T::Minus if self.is_prefix_update() => {
                self.prefix_update();
                None
            }
            _ => {
                self.not_an_action();
                return None;
            }
        };
        let span = self.since(start);
        self.expect_semicolon();
        kind.map(|kind| Action { labels: Vec::new(), fair: false, kind, span })
    }

    fn not_an_action(&mut self) {
        let mut diagnostic = self.unexpected("an action");
        match self.kind() {
            T::Semicolon => diagnostic = diagnostic.help("remove the `;`, or write `skip;`"),
            T::Boolean | T::Byte | T::Int => {
                diagnostic = diagnostic.help("variables are declared at the beginning of a thread or in the system");
            }
            _ => {}
        }
        self.report(diagnostic);
        if self.at(T::Semicolon) {
            while self.eat(T::Semicolon) {}
            return;
        }
        // A block is left whole to `recover`, which skips it.
        if !self.at(T::OpenBrace) {
            self.bump();
        }
        self.recover();
    }

    fn assertion(&mut self) -> ActionKind {
        self.bump();
        if let Some(assertion) = self.assertion_like_a_call() {
            return assertion;
        }
        let condition = self.root_expression();
        let mut message = None;
        if self.eat(T::Comma) {
            if self.at(T::Text) {
                message = Some(text_value(self.word()));
                self.bump();
            } else {
                self.report(self.unexpected("a string in quotes"));
            }
        }
        ActionKind::Assert(condition, message)
    }

    /// `place := expr` or `place := choose(lo, hi)`
    fn assignment(&mut self) -> Option<ActionKind> {
        let start = self.position;
        let place = self.place();
        match self.kind() {
            T::Assign => {}
            T::Single => self.replace(T::Assign, "`=` does not assign", "expected `:=`", "write `:=`"),
            T::Equal => {
                self.replace(T::Assign, "`==` compares and does not assign", "expected `:=`", "write `:=`");
            }
            T::Plus | T::Minus | T::Star | T::Slash | T::Percent if self.is_update(0) => {
                self.update(&place);
                return None;
            }
            _ => {
                let mut diagnostic = self.unexpected("`:=`");
                if self.at(T::OpenParen) || matches!(place.kind, ExprKind::Call(..)) {
                    diagnostic = diagnostic.help("a thread is started with `start NAME(…);`; a function is no action");
                } else if self.at(T::Comma) {
                    diagnostic = diagnostic.help("one variable at a time: `atomic { x := 1; y := 2; }` is one step");
                }
                self.report(diagnostic);
                return None;
            }
        }
        self.bump();
        if self.is_received(&place) {
            return None;
        }
        if !self.at(T::Choose) {
            return Some(ActionKind::Assign(place, self.root_expression()));
        }
        let chosen = self.chosen(&place);
        self.after_choice(&place, self.tokens[start].span);
        chosen
    }

    /// `choose(lo, hi)` or `choose(set)`
    fn chosen(&mut self, place: &Expr) -> Option<ActionKind> {
        let mut parts = self.choice()?.into_iter();
        match (parts.next()?, parts.next()) {
            (set, None) => Some(ActionKind::ChooseMember(place.clone(), set)),
            (low, Some(high)) => Some(ActionKind::Choose(place.clone(), low, high)),
        }
    }

    /// `choose(lo, hi)` or `choose(set)`: two numbers or one set.
    fn choice(&mut self) -> Option<Vec<Expr>> {
        self.bump();
        let open = self.span();
        if !self.expect(T::OpenParen) {
            return None;
        }
        let low = self.root_expression();
        if self.eat(T::CloseParen) {
            return Some(vec![low]);
        }
        if self.at(T::DotDot) {
            self.replace(T::Comma, "`choose` takes two numbers", "expected `,`", "write `choose(lo, hi)`");
        }
        self.expect(T::Comma);
        let high = self.root_expression();
        self.expect_close(T::CloseParen, open);
        Some(vec![low, high])
    }

    /// An initial value, or a choice of one.
    pub(super) fn initial(&mut self) -> Expr {
        let start = self.span();
        if !self.at(T::Choose) {
            return self.root_expression();
        }
        match self.choice() {
            Some(parts) => Expr { kind: ExprKind::Choose(parts), span: self.since(start) },
            None => Expr { kind: ExprKind::Error, span: start },
        }
    }

    /// A misspelt keyword looks like a place that is not assigned.
    pub(super) fn is_misspelt_action(&mut self) -> bool {
        let is_place = matches!(
            self.peek(1),
            T::Assign
                | T::OpenParen
                | T::OpenBracket
                | T::Dot
                | T::Single
                | T::Equal
                | T::Plus
                | T::Minus
                | T::Star
                | T::Slash
        );
        // A label may have any name too.
        let is_own = self.peek(1) == T::Colon || self.is_statement_word();
        let actions = [T::Goto, T::Return, T::Assert, T::Assume, T::Start, T::Skip];
        !is_place && !is_own && self.is_misspelt("an action", &actions)
    }

    /// Skips to the block of a foreign statement, or to what cannot be part of its head.
    fn skip_header(&mut self) {
        self.bump();
        while !matches!(self.kind(), T::OpenBrace | T::CloseBrace | T::Semicolon | T::End)
            && !matches!(self.kind(), T::Goto | T::Return)
            && !is_landmark(self.kind())
        {
            self.bump();
        }
    }

    /// Reports and skips a statement that BIR does not have, if one begins here.
    pub(super) fn foreign_statement(&mut self) -> bool {
        let word = self.word();
        let is_name = matches!(self.peek(1), T::Assign | T::OpenBracket | T::Dot | T::Single | T::Equal | T::Colon);
        let starts = matches!(word, "run" | "spawn") && (self.peek(1), self.peek(2)) == (T::Name, T::OpenParen);
        if !self.at(T::Name) || is_name || !(starts || FOREIGN.contains(&word)) {
            return false;
        }
        let help = match word {
            "else" => "`else` follows the block of an `if`",
            "or" => "`or` follows a block of an `either`",
            "elseif" | "elif" => "write `else if (…) { … }`",
            "switch" | "case" => "write `if (…) { … } else if (…) { … }`",
            "repeat" => "write `while (true) { … }`",
            "continue" => "label the loop, and `goto` the label",
            "run" | "spawn" => "a thread is started with `start NAME(…);`",
            _ => "it has to be left out",
        };
        let message = format!("BIR has no `{word}` here");
        self.report(Diagnostic::new("E0012", self.span(), message, "not known in BIR").help(help));
        self.skip_header();
        self.recover();
        true
    }
}
