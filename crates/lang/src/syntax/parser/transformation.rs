//! Transformations: a guard, a block of actions, and exactly one jump inside or behind it.

use super::thread::begins_action;
use super::{Parser, is_item};
use crate::diagnostic::{Diagnostic, nearest};
use crate::edit;
use crate::syntax::ast::{Jump, Transformation};
use crate::syntax::lexer::TokenKind as T;
use birk_ir::Span;

pub(super) const JUMP_HELP: &str =
    "a guarded command has exactly one jump, `goto LOCATION;` or `return;`, inside or after its braces";

impl Parser<'_> {
    /// `when guard do { actions } jump`
    pub(super) fn transformation(&mut self) -> Transformation {
        let start = self.span();
        let fair = self.at_word("fair");
        if fair {
            self.bump_word();
        }
        let guard = if self.eat(T::When) { Some(self.root_expression()) } else { None };
        if !self.eat(T::Do) && !self.is_misspelt_do() {
            self.report(self.unexpected("`do`"));
            self.skip_to_block();
        }
        let open = self.span();
        let mut transformation = Transformation { fair, guard, actions: Vec::new(), jump: None, span: start };
        if !self.expect(T::OpenBrace) {
            self.braceless(&mut transformation);
            transformation.span = self.since(start);
            return transformation;
        }
        self.actions(&mut transformation);
        let closed = self.expect_close(T::CloseBrace, open);
        if matches!(self.kind(), T::Goto | T::Return) {
            self.outer_jump(&mut transformation);
        } else if transformation.jump.is_none() && closed {
            self.missing_jump(&mut transformation);
        }
        transformation.span = self.since(start);
        transformation
    }

    fn is_misspelt_do(&mut self) -> bool {
        let misspelt = self.peek(1) == T::OpenBrace && self.is_misspelt("`do`", &[T::Do]);
        misspelt && self.eat(T::Do)
    }

    /// Skips the rest of a broken guard.
    fn skip_to_block(&mut self) {
        while !matches!(self.kind(), T::OpenBrace | T::Do | T::When | T::Semicolon | T::CloseBrace | T::Loc | T::End)
            && !is_item(self.kind())
        {
            self.bump();
        }
        if self.eat(T::Do) {
            return;
        }
        if !self.at(T::OpenBrace) {
            // What is missed here was reported with the guard.
            self.reported_at = Some(self.position);
        }
    }

    /// `do x := 1; goto a;`, which was reported: its actions and jump are read as if the braces were there.
    fn braceless(&mut self, transformation: &mut Transformation) {
        self.eat(T::Semicolon);
        while begins_action(self.kind()) {
            if self.is_label() {
                return;
            }
            let before = self.position;
            transformation.actions.extend(self.action());
            if self.position == before {
                self.bump();
            }
        }
        let closed = self.eat(T::CloseBrace) && !matches!(self.kind(), T::Goto | T::Return);
        if closed {
            // It closed the thread or the forgotten block; which one, the next token tells.
            if !matches!(self.kind(), T::When | T::Do | T::Loc) {
                self.position -= 1;
            }
        } else if matches!(self.kind(), T::Goto | T::Return) {
            transformation.jump = Some(self.jump());
            if self.at(T::CloseBrace) && matches!(self.peek(1), T::When | T::Do | T::Loc) {
                self.bump();
            }
        }
    }

    /// Actions, and the jump if it stands inside, up to the closing brace.
    fn actions(&mut self, transformation: &mut Transformation) {
        let mut jumped_at: Option<Span> = None;
        loop {
            let before = self.position;
            match self.kind() {
                T::CloseBrace | T::End | T::When | T::Do | T::Loc => return,
                kind if is_item(kind) => return,
                T::Goto | T::Return => {
                    if let Some(first) = jumped_at {
                        self.second_jump(first);
                        self.jump();
                    } else {
                        jumped_at = Some(self.span());
                        transformation.jump = Some(self.jump());
                    }
                }
                T::Name if self.is_misspelt_action() => continue,
                _ => {
                    if let Some(jump) = jumped_at.filter(|_| !self.is_reported()) {
                        let diagnostic = self.unexpected("`}`").related(jump, "nothing can follow this jump");
                        self.report(diagnostic.help("put the jump behind the actions"));
                    }
                    transformation.actions.extend(self.statement());
                }
            }
            if self.position == before {
                self.bump();
            }
        }
    }

    fn outer_jump(&mut self, transformation: &mut Transformation) {
        let first = match &transformation.jump {
            Some(Jump::Goto(name)) => Some(name.span),
            Some(Jump::Return(span)) => Some(*span),
            None => None,
        };
        match first {
            Some(first) => {
                self.second_jump(first);
                self.jump();
            }
            None => transformation.jump = Some(self.jump()),
        }
    }

    fn second_jump(&mut self, first: Span) {
        let diagnostic = Diagnostic::new("E0008", self.span(), "a second jump", "the jump is given twice");
        let mut diagnostic = diagnostic.related(first, "the first jump").help(JUMP_HELP);
        if let Some(jump) = edit::statement(self.text, self.span()) {
            diagnostic = diagnostic.propose(edit::removal(self.text, jump), "");
        }
        self.report(diagnostic);
    }

    fn missing_jump(&mut self, transformation: &mut Transformation) {
        let label = "expected `goto LOCATION;` or `return;` here";
        let diagnostic = Diagnostic::new("E0007", self.behind(), "a guarded command without a jump", label);
        let word = self.word();
        let named = self.at(T::Name) && self.peek(1) == T::Semicolon;
        if named && nearest(word, ["return"]).is_some() {
            self.report(diagnostic.help("did you mean `return`?").fix(self.span(), "return"));
            transformation.jump = Some(Jump::Return(self.bump()));
            self.bump();
        } else if named {
            let place = Span { end: self.span().start, ..self.span() };
            self.report(diagnostic.help(format!("did you mean `goto {word};`?")).fix(place, "goto "));
            transformation.jump = Some(Jump::Goto(self.name("a location")));
            self.bump();
        } else if self.at(T::Name) && self.peek(1) == T::Name && self.peek(2) == T::Semicolon {
            self.report(diagnostic.help("did you mean `goto`?").fix(self.span(), "goto"));
            self.bump();
            transformation.jump = Some(Jump::Goto(self.name("a location")));
            self.bump();
        } else {
            let diagnostic = diagnostic.help(JUMP_HELP);
            // Text that goes on with another location suggests that the thread goes there.
            self.report(match (self.kind(), self.peek(1)) {
                (T::Loc, T::Name) => {
                    let next = self.source(self.tokens[self.position + 1].span);
                    diagnostic.propose(self.behind(), format!(" goto {next};"))
                }
                (T::CloseBrace, _) => diagnostic.propose(self.behind(), " return;"),
                _ => diagnostic,
            });
            self.eat(T::Semicolon);
        }
    }

    /// `goto NAME;` or `return;`
    pub(super) fn jump(&mut self) -> Jump {
        let is_return = self.at(T::Return);
        let start = self.bump();
        let jump = match is_return {
            true => {
                self.refuse_result();
                Jump::Return(start)
            }
            false => Jump::Goto(self.name("a location")),
        };
        self.expect_semicolon();
        jump
    }
}
