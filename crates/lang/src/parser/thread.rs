//! Threads: their locations, transformations and actions.

use super::{Parser, is_item, is_landmark};
use crate::ast::{Action, ActionKind, Expr, ExprKind, Jump, Location, Mark, Thread, Transformation, Variables};
use crate::diagnostic::{Diagnostic, nearest};
use crate::lexer::{TokenKind as T, text_value};
use birk_ir::Span;

/// Statements of other languages, and of a later BIR.
const FOREIGN: [&str; 16] = [
    "if", "else", "while", "for", "switch", "case", "break", "continue", "repeat", "atomic", "either", "await", "send",
    "receive", "import", "print",
];

const JUMP_HELP: &str =
    "a transformation has exactly one jump, `goto LOCATION;` or `return;`, inside or behind its braces";

impl Parser<'_> {
    /// `active [N] thread NAME(params) { … }`
    pub(super) fn thread(&mut self) -> Option<Thread> {
        let start = self.span();
        let active = self.eat(T::Active);
        let mut copies = None;
        if self.at(T::OpenBracket) {
            let open = self.bump();
            copies = Some(self.root_expression());
            self.expect_close(T::CloseBracket, open);
        }
        if !self.at(T::Thread) && !self.is_misspelt("`thread`", &[T::Thread]) {
            self.report(self.unexpected("`thread`"));
            self.recover();
            return None;
        }
        self.bump();
        let name = self.name("the thread's name");
        let params = self.params();
        let mut thread =
            Thread { active, copies, name, params, variables: Vec::new(), locations: Vec::new(), span: start };
        let messages = self.diagnostics.len();
        let open = self.span();
        let opened = self.expect(T::OpenBrace);
        let has_body = opened || matches!(self.kind(), T::Boolean | T::Byte | T::Int);
        if !has_body {
            self.recover();
        }
        if has_body || self.at(T::Loc) {
            self.thread_body(&mut thread.variables, &mut thread.locations);
            if thread.locations.is_empty() && self.at(T::CloseBrace) && self.diagnostics.len() == messages {
                let message = "a thread without a location";
                let diagnostic = Diagnostic::new("E0004", self.span(), message, "expected `loc NAME:`");
                self.report(diagnostic.help("give it one: `loc a: do { } return;`"));
            }
            self.expect_close(T::CloseBrace, open);
        }
        thread.span = self.since(start);
        Some(thread)
    }

    /// Variables and locations up to the closing brace, or to what cannot be part of a thread.
    pub(super) fn thread_body(&mut self, variables: &mut Vec<Variables>, locations: &mut Vec<Location>) {
        loop {
            let before = self.position;
            match self.kind() {
                T::CloseBrace | T::End => return,
                kind if is_item(kind) => return,
                T::Loc => locations.push(self.location()),
                T::Boolean | T::Byte | T::Int => self.thread_variables(variables, locations),
                T::Name if self.is_local_name() => self.thread_variables(variables, locations),
                T::Name if self.is_misspelt("a location", &[T::Loc, T::When, T::Do]) => {}
                _ if self.foreign_statement() => {}
                T::When | T::Do | T::Goto | T::Return => {
                    let expected = "`loc NAME:` before the first transformation";
                    self.report(self.unexpected(expected));
                    self.transformations(&mut Vec::new());
                }
                _ => {
                    self.report(self.unexpected("a location"));
                    self.recover();
                }
            }
            if self.position == before && !matches!(self.kind(), T::Loc | T::When | T::Do) {
                self.bump();
            }
        }
    }

    /// Whether a name begins a variable whose type it is.
    fn is_local_name(&self) -> bool {
        match (self.peek(1), self.peek(2)) {
            (T::Name, after) => after != T::Colon && !FOREIGN.contains(&self.word()),
            (next, _) => next == T::OpenBracket,
        }
    }

    fn thread_variables(&mut self, variables: &mut Vec<Variables>, locations: &[Location]) {
        if let Some(first) = locations.first() {
            let message = "a variable declared behind a location";
            let diagnostic = Diagnostic::new("E0004", self.span(), message, "too late");
            let place = first.name.span;
            self.report(diagnostic.related(place, "the first location").help("declare it before the first location"));
        }
        variables.push(self.variables());
    }

    /// `loc NAME: marks transformations`
    fn location(&mut self) -> Location {
        let start = self.bump();
        let name = self.name("the location's name");
        self.expect(T::Colon);
        let messages = self.diagnostics.len();
        let marks = self.marks();
        let mut transformations = Vec::new();
        self.transformations(&mut transformations);
        if transformations.is_empty() && self.diagnostics.len() == messages && !self.is_reported() {
            let message = format!("location `{}` has no transformation", name.text);
            let diagnostic = Diagnostic::new("E0004", self.behind(), message, "expected `when` or `do`");
            self.report(diagnostic.help("write `do { } return;` if the thread ends here"));
        }
        Location { name, marks, transformations, span: self.since(start) }
    }

    fn marks(&mut self) -> Vec<(Mark, Span)> {
        const MARKS: [(&str, Mark); 3] = [("end", Mark::End), ("accept", Mark::Accept), ("progress", Mark::Progress)];
        let mut marks = Vec::new();
        while self.at(T::Name) {
            let word = self.word();
            let known = |mark: &str| MARKS.iter().find(|(name, _)| *name == mark).map(|(_, mark)| *mark);
            if let Some(mark) = known(word) {
                marks.push((mark, self.bump()));
                continue;
            }
            let names = MARKS.iter().map(|(name, _)| *name);
            let Some(near) = nearest(word, names.chain(["when", "do"])).filter(|_| word.len() > 1) else { break };
            if !matches!(self.peek(1), T::When | T::Do | T::Loc | T::Name) || known(near).is_none() {
                break;
            }
            let expected = "`end`, `accept`, `progress`, `when` or `do`";
            self.report(self.unexpected(expected).help(format!("did you mean `{near}`?")));
            marks.extend(known(near).map(|mark| (mark, self.span())));
            self.bump();
        }
        marks
    }

    /// The transformations of a location.
    fn transformations(&mut self, transformations: &mut Vec<Transformation>) {
        loop {
            match self.kind() {
                T::When | T::Do => transformations.push(self.transformation()),
                T::OpenBrace if !self.is_reported() => {
                    self.report(self.unexpected("`do`").help("write `do { … } goto LOCATION;`"));
                    transformations.push(self.transformation());
                }
                T::Goto | T::Return => self.lone_jump(transformations.last().map(|last| last.span)),
                T::Name if self.is_misspelt_transformation() => {}
                T::Name if self.is_label() => return,
                T::Name if self.foreign_statement() => {
                    if matches!(self.kind(), T::Goto | T::Return) {
                        self.jump();
                    }
                }
                T::Name | T::Assert | T::Assume | T::Start | T::Skip => self.loose_action(),
                T::Semicolon => {
                    self.report(self.unexpected("`when` or `do`").help("remove the `;`"));
                    while self.eat(T::Semicolon) {}
                }
                _ => return,
            }
        }
    }

    fn is_misspelt_transformation(&mut self) -> bool {
        let is_place = matches!(self.peek(1), T::Assign | T::Colon | T::OpenBracket | T::Dot);
        if is_place || self.is_label() || FOREIGN.contains(&self.word()) {
            return false;
        }
        self.is_misspelt("`when` or `do`", &[T::When, T::Do, T::Goto, T::Return])
    }

    /// Whether `NAME NAME :` follows: a location with a misspelt `loc`.
    fn is_label(&self) -> bool {
        (self.kind(), self.peek(1), self.peek(2)) == (T::Name, T::Name, T::Colon)
    }

    /// A jump that belongs to no transformation.
    fn lone_jump(&mut self, transformation: Option<Span>) {
        let diagnostic = match transformation {
            Some(span) => {
                Diagnostic::new("E0008", self.span(), "a second jump", "this transformation has its jump already")
                    .related(span, "the transformation")
                    .help(JUMP_HELP)
            }
            None => {
                self.unexpected("`when` or `do`").help("a jump belongs to a transformation: `do { } goto LOCATION;`")
            }
        };
        self.report(diagnostic);
        self.jump();
    }

    /// An action outside braces, with what follows it up to the next transformation.
    fn loose_action(&mut self) {
        let diagnostic = self.unexpected("`when` or `do`");
        self.report(diagnostic.help("actions stand in braces: `do { x := 1; } goto LOCATION;`"));
        while matches!(self.kind(), T::Name | T::Assert | T::Assume | T::Start | T::Skip | T::Goto | T::Return) {
            if self.is_label() {
                return;
            }
            self.bump();
            self.recover();
        }
    }

    /// `when guard do { actions } jump`
    fn transformation(&mut self) -> Transformation {
        let start = self.span();
        let guard = if self.eat(T::When) { Some(self.root_expression()) } else { None };
        if !self.eat(T::Do) && !self.is_misspelt_do() {
            self.report(self.unexpected("`do`"));
            self.skip_to_block();
        }
        let open = self.span();
        let mut transformation = Transformation { guard, actions: Vec::new(), jump: None, span: start };
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
        while matches!(self.kind(), T::Name | T::Assert | T::Assume | T::Start | T::Skip) {
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
            transformation.jump = self.jump();
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
                        transformation.jump = self.jump();
                    }
                }
                T::Name if self.is_misspelt_action() => continue,
                _ => {
                    if let Some(jump) = jumped_at.filter(|_| !self.is_reported()) {
                        let diagnostic = self.unexpected("`}`").related(jump, "nothing can follow this jump");
                        self.report(diagnostic.help("put the jump behind the actions"));
                    }
                    transformation.actions.extend(self.action());
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
            None => transformation.jump = self.jump(),
        }
    }

    fn second_jump(&mut self, first: Span) {
        let diagnostic = Diagnostic::new("E0008", self.span(), "a second jump", "the jump is given twice");
        self.report(diagnostic.related(first, "the first jump").help(JUMP_HELP));
    }

    fn missing_jump(&mut self, transformation: &mut Transformation) {
        let label = "expected `goto LOCATION;` or `return;` here";
        let diagnostic = Diagnostic::new("E0007", self.behind(), "a transformation without a jump", label);
        let word = self.word();
        let named = self.at(T::Name) && self.peek(1) == T::Semicolon;
        if named && nearest(word, ["return"]).is_some() {
            self.report(diagnostic.help("did you mean `return`?"));
            transformation.jump = Some(Jump::Return(self.bump()));
            self.bump();
        } else if named {
            self.report(diagnostic.help(format!("did you mean `goto {word};`?")));
            transformation.jump = Some(Jump::Goto(self.name("a location")));
            self.bump();
        } else if self.at(T::Name) && self.peek(1) == T::Name && self.peek(2) == T::Semicolon {
            self.report(diagnostic.help("did you mean `goto`?"));
            self.bump();
            transformation.jump = Some(Jump::Goto(self.name("a location")));
            self.bump();
        } else {
            self.report(diagnostic.help(JUMP_HELP));
            self.eat(T::Semicolon);
        }
    }

    /// `goto NAME;` or `return;`
    fn jump(&mut self) -> Option<Jump> {
        let is_return = self.at(T::Return);
        let start = self.bump();
        let jump = if is_return { Jump::Return(start) } else { Jump::Goto(self.name("a location")) };
        self.expect_semicolon();
        Some(jump)
    }

    /// One action with its `;`.
    fn action(&mut self) -> Option<Action> {
        let start = self.span();
        if self.kind().is_keyword() && self.peek(1) == T::Assign {
            self.report(self.unexpected("an action").help("keywords cannot be names"));
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
            _ => {
                self.not_an_action();
                return None;
            }
        };
        let span = self.since(start);
        self.expect_semicolon();
        kind.map(|kind| Action { kind, span })
    }

    fn not_an_action(&mut self) {
        let mut diagnostic = self.unexpected("an action");
        match self.kind() {
            T::Semicolon => diagnostic = diagnostic.help("remove the `;`, or write `skip;`"),
            T::Boolean | T::Byte | T::Int => {
                diagnostic = diagnostic.help("variables are declared at the begin of a thread or in the system");
            }
            _ => {}
        }
        self.report(diagnostic);
        if self.at(T::Semicolon) {
            while self.eat(T::Semicolon) {}
            return;
        }
        self.bump_into_block();
        self.recover();
    }

    /// Steps over the token that was no action; an opening brace is left for `recover`, which skips its block.
    fn bump_into_block(&mut self) {
        if !self.at(T::OpenBrace) {
            self.bump();
        }
    }

    fn assertion(&mut self) -> ActionKind {
        self.bump();
        let condition = self.root_expression();
        let mut message = None;
        if self.eat(T::Comma) {
            if self.at(T::Text) {
                message = Some(text_value(self.word()));
                self.bump();
            } else {
                self.report(self.unexpected("a text in quotes"));
            }
        }
        ActionKind::Assert(condition, message)
    }

    /// `place := expr` or `place := choose(lo, hi)`
    fn assignment(&mut self) -> Option<ActionKind> {
        let place = self.place();
        match self.kind() {
            T::Assign => {}
            T::Single => self.replace(T::Assign, "`=` does not assign", "expected `:=`", "write `:=`"),
            T::Equal => {
                self.replace(T::Assign, "`==` compares and does not assign", "expected `:=`", "write `:=`");
            }
            T::Plus | T::Minus | T::Star | T::Slash | T::Percent if self.is_update() => {
                self.update(&place);
                return None;
            }
            _ => {
                let mut diagnostic = self.unexpected("`:=`");
                if self.at(T::OpenParen) || matches!(place.kind, ExprKind::Call(..)) {
                    diagnostic = diagnostic.help("a thread is started with `start NAME(…);`; a function is no action");
                }
                self.report(diagnostic);
                return None;
            }
        }
        self.bump();
        if !self.at(T::Choose) {
            return Some(ActionKind::Assign(place, self.root_expression()));
        }
        self.bump();
        let open = self.span();
        if !self.expect(T::OpenParen) {
            return None;
        }
        let low = self.root_expression();
        if self.at(T::DotDot) {
            self.replace(T::Comma, "`choose` takes two numbers", "expected `,`", "write `choose(lo, hi)`");
        }
        self.expect(T::Comma);
        let high = self.root_expression();
        self.expect_close(T::CloseParen, open);
        Some(ActionKind::Choose(place, low, high))
    }

    /// A misspelt keyword looks like a place that is not assigned.
    fn is_misspelt_action(&mut self) -> bool {
        let is_place = matches!(
            self.peek(1),
            T::Assign | T::OpenBracket | T::Dot | T::Single | T::Equal | T::Plus | T::Minus | T::Star | T::Slash
        );
        !is_place && self.is_misspelt("an action", &[T::Goto, T::Return, T::Assert, T::Assume, T::Start, T::Skip])
    }

    /// Whether `++`, `--`, `+=` or the like follows.
    fn is_update(&self) -> bool {
        self.peek(1) == T::Single || self.peek(1) == T::Equal || self.peek(1) == self.kind()
    }

    fn update(&mut self, place: &Expr) {
        let name = self.source(place.span);
        let operator = self.word();
        let span = self.span().to(self.tokens[self.position + 1].span);
        let written = self.source(span);
        let operand = if self.peek(1) == self.kind() { "1" } else { "…" };
        let help = format!("write `{name} := {name} {operator} {operand};`");
        self.report(Diagnostic::new("E0012", span, format!("BIR has no `{written}`"), "expected `:=`").help(help));
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
        if !self.at(T::Name) || is_name || !FOREIGN.contains(&word) {
            return false;
        }
        let help = match word {
            "if" | "else" | "switch" | "case" | "either" => "write one `when … do { … }` for each case",
            "while" | "for" | "repeat" | "break" | "continue" => "a loop is a location with a `goto` back to it",
            "await" => "wait with a guard: `when … do { … }`",
            "atomic" => "every transformation is atomic",
            "send" | "receive" => "model a channel with variables",
            _ => "it has to be left out",
        };
        let message = format!("`{word}` is not part of the language yet");
        self.report(Diagnostic::new("E0012", self.span(), message, "not known in BIR").help(help));
        self.skip_header();
        self.recover();
        true
    }
}
