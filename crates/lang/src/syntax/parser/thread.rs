//! Threads and their locations.

use super::action::FOREIGN;
use super::transformation::JUMP_HELP;
use super::{Parser, is_item};
use crate::diagnostic::{Diagnostic, nearest};
use crate::syntax::ast::{Action, Crashes, Location, Mark, Thread, Transformation, Variables};
use crate::syntax::lexer::TokenKind as T;
use birk_ir::Span;

/// What stands between the braces of a thread.
#[derive(Default)]
pub(super) struct Body {
    pub(super) variables: Vec<Variables>,
    pub(super) locations: Vec<Location>,
    pub(super) statements: Vec<Action>,
    crash: Option<Vec<Action>>,
    restart: Option<Vec<Action>>,
    /// Where `crashes` is missing, if it is.
    steady: Option<Span>,
}

impl Parser<'_> {
    /// `active [N] thread NAME(params) { … }`
    pub(super) fn thread(&mut self) -> Option<Thread> {
        let start = self.span();
        let fair = self.at_word("fair");
        if fair {
            self.bump_word();
        }
        let active = self.eat(T::Active);
        let mut copies = None;
        if self.at(T::OpenBracket) {
            let open = self.bump();
            copies = Some(self.root_expression());
            self.expect_close(T::CloseBracket, open);
        }
        if self.is_foreign_thread() {
            let help = format!("write `thread {}() {{ … }}`", self.source(self.tokens[self.position + 1].span));
            let message = format!("BIR has no `{}`", self.word());
            self.replace(T::Thread, message, "expected `thread`", help);
        }
        if !self.at(T::Thread) && !self.is_misspelt("`thread`", &[T::Thread]) {
            let is_named = self.at(T::Name) && self.peek(1) == T::OpenParen;
            let mut diagnostic = self.unexpected("`thread`");
            if is_named {
                let place = Span { end: self.span().start, ..self.span() };
                diagnostic = diagnostic.help(format!("write `thread {}`", self.word())).fix(place, "thread ");
            }
            self.report(diagnostic);
            if !is_named {
                self.recover();
                return None;
            }
        } else {
            self.bump();
        }
        let name = self.name("the thread's name");
        let params = self.params();
        let mut crashes = self.crashes();
        let mut body = Body { steady: crashes.is_none().then(|| self.behind()), ..Body::default() };
        let messages = self.diagnostics.len();
        let open = self.span();
        let opened = self.expect(T::OpenBrace);
        let has_body = opened || matches!(self.kind(), T::Boolean | T::Byte | T::Int);
        if !has_body {
            self.recover();
        }
        if has_body || self.at(T::Loc) {
            self.thread_body(&mut body);
            if body.locations.is_empty()
                && body.statements.is_empty()
                && self.at(T::CloseBrace)
                && self.diagnostics.len() == messages
            {
                let message = "a thread without a location";
                let diagnostic = Diagnostic::new("E0004", self.span(), message, "expected `loc NAME:` or a statement");
                let help = "give it one: `loc a: do { } return;`, or a statement: `skip;`";
                self.report(diagnostic.help(help).propose(self.behind(), " skip;"));
            }
            self.expect_close(T::CloseBrace, open);
        }
        let Body { variables, locations, statements, crash, restart, .. } = body;
        if let Some(crashes) = &mut crashes {
            (crashes.crash, crashes.restart) = (crash, restart);
        }
        let span = self.since(start);
        Some(Thread { active, fair, copies, name, params, crashes, variables, locations, body: statements, span })
    }

    /// `crashes when expr` behind the parameters.
    fn crashes(&mut self) -> Option<Crashes> {
        if !self.at_word("crashes") {
            return None;
        }
        let start = self.bump_word();
        let condition = self.eat(T::When).then(|| self.root_expression());
        Some(Crashes { condition, crash: None, restart: None, span: self.since(start) })
    }

    /// `durable`, `on crash` or `on restart`, if one of these stands here: something about crashes of this thread.
    fn about_crashes(&self) -> Option<String> {
        if self.at_word("durable") {
            let is_type = matches!(self.peek(1), T::Boolean | T::Byte | T::Int);
            let is_named = self.peek(1) == T::Name && matches!(self.peek(2), T::Name | T::OpenBracket);
            return (is_type || is_named).then(|| "durable".to_owned());
        }
        let is_block = self.at_word("on") && self.peek(1) == T::Name && self.peek(2) == T::OpenBrace;
        is_block.then(|| format!("on {}", self.source(self.tokens[self.position + 1].span)))
    }

    /// The same, where a thread may have it: behind statements, but not in a block or procedure.
    pub(super) fn is_about_crashes(&self) -> bool {
        self.blocks == 0 && self.procedure.is_none() && self.about_crashes().is_some()
    }

    /// A variable that outlives crashes, or what is done at one or after it.
    fn of_crashes(&mut self, what: &str, body: &mut Body) {
        if !matches!(what, "durable" | "on crash" | "on restart") {
            self.bump_word();
            let diagnostic = self.unexpected("`crash` or `restart`");
            self.report(match nearest(self.word(), ["crash", "restart"]) {
                Some(meant) => diagnostic.meant(meant),
                None => diagnostic.help("a thread has `on crash { … }` and `on restart { … }`"),
            });
            self.bump();
            self.block();
            return;
        }
        if let Some(place) = body.steady {
            let message = format!("`{what}` in a thread that does not crash");
            let label = "it has a meaning only where the thread can crash";
            let help = "declare that it may: `thread NAME() crashes { … }`";
            self.report(Diagnostic::new("E0060", self.span(), message, label).help(help).propose(place, " crashes"));
        } else if let Some(first) =
            body.statements.first().map(|first| first.span).or(body.locations.first().map(|l| l.span))
        {
            let diagnostic =
                Diagnostic::new("E0004", self.span(), format!("`{what}` behind the first step"), "too late");
            let help = "write it before the thread's first statement or location";
            self.report(diagnostic.related(first, "the first step").help(help));
        }
        let start = self.bump_word();
        match what {
            "durable" => {
                let variables = self.variables();
                body.variables.push(Variables { durable: true, ..variables });
            }
            _ => {
                let kind = if what == "on crash" { &mut body.crash } else { &mut body.restart };
                if kind.is_some() {
                    let diagnostic =
                        Diagnostic::new("E0021", start.to(self.span()), format!("a second `{what}`"), "again");
                    self.report(diagnostic.help("write all of it in one block"));
                }
                self.bump_word();
                let block = self.block();
                kind.get_or_insert_default().extend(block);
            }
        }
    }

    /// Variables and locations up to the closing brace, or to what cannot be part of a thread.
    pub(super) fn thread_body(&mut self, inside: &mut Body) {
        loop {
            let before = self.position;
            if let Some(what) = self.about_crashes() {
                self.of_crashes(&what, inside);
                continue;
            }
            let Body { variables, locations, statements: body, .. } = inside;
            match self.kind() {
                T::CloseBrace | T::End => return,
                kind if is_item(kind) => return,
                T::Loc => {
                    if let Some(first) = body.first().filter(|_| locations.is_empty()) {
                        let message = "a location behind statements";
                        let diagnostic = Diagnostic::new("E0004", self.span(), message, "expected a statement");
                        let help = "a thread is made of locations or of statements, not of both";
                        self.report(diagnostic.related(first.span, "the first statement").help(help));
                    }
                    locations.push(self.location());
                }
                T::Boolean | T::Byte | T::Int => self.thread_variables(variables, locations),
                _ if locations.is_empty() && self.is_statement() => body.append(&mut self.statements()),
                T::Name if self.is_local_name() => self.thread_variables(variables, locations),
                T::Name if self.is_misspelt("a location", &[T::Loc, T::When, T::Do]) => {}
                _ if self.foreign_statement() => {}
                T::Name if locations.is_empty() && self.is_misspelt_action() => body.append(&mut self.statements()),
                T::When | T::Do | T::Goto | T::Return => match locations.last_mut() {
                    Some(location) => self.transformations(&mut location.transformations),
                    None => self.unplaced_transformations(),
                },
                kind if begins_action(kind) => self.loose_action(),
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

    /// Guarded commands before the first location. Whether they jump does not matter: it may be statements that are meant.
    fn unplaced_transformations(&mut self) {
        let help = "name the place: `loc here: when … do { … } goto here;`; among statements, write `await …;`";
        self.report(self.unexpected("`loc NAME:` before the first guarded command").help(help));
        let messages = self.diagnostics.len();
        self.transformations(&mut Vec::new());
        let found = self.diagnostics.split_off(messages);
        self.diagnostics.extend(found.into_iter().filter(|diagnostic| diagnostic.code != "E0007"));
    }

    /// Whether a name begins a variable whose type it is.
    fn is_local_name(&self) -> bool {
        match (self.peek(1), self.peek(2)) {
            (T::Name, after) => {
                !matches!(after, T::Colon | T::OpenParen)
                    && !FOREIGN.contains(&self.word())
                    && !self.is_statement_word()
            }
            (next, _) => next == T::OpenBracket && self.is_array_variable(),
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
            let message = format!("location `{}` has no guarded command", name.text);
            let diagnostic = Diagnostic::new("E0004", self.behind(), message, "expected `when` or `do`");
            let help = "write `do { } return;` if the thread ends here";
            self.report(diagnostic.help(help).propose(self.behind(), " do { } return;"));
        }
        Location { name, marks, transformations, span: self.since(start) }
    }

    pub(super) fn marks(&mut self) -> Vec<(Mark, Span)> {
        const MARKS: [(&str, Mark); 3] = [("end", Mark::End), ("accept", Mark::Accept), ("progress", Mark::Progress)];
        let mut marks = Vec::new();
        while self.at(T::Name) {
            let word = self.word();
            let known = |mark: &str| MARKS.iter().find(|(name, _)| *name == mark).map(|(_, mark)| *mark);
            if let Some(mark) = known(word) {
                marks.push((mark, self.bump_word()));
                continue;
            }
            let names = MARKS.iter().map(|(name, _)| *name);
            let may_be_mark = word.len() > 1 && !self.is_statement_word();
            let Some(near) = nearest(word, names.chain(["when", "do"])).filter(|_| may_be_mark) else { break };
            if !matches!(self.peek(1), T::When | T::Do | T::Loc | T::Name) || known(near).is_none() {
                break;
            }
            let expected = "`end`, `accept`, `progress`, `when` or `do`";
            self.report(self.unexpected(expected).meant(near));
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
                T::Name if self.at_word("fair") && matches!(self.peek(1), T::When | T::Do) => {
                    transformations.push(self.transformation());
                }
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
                kind if begins_action(kind) => self.loose_action(),
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
    pub(super) fn is_label(&self) -> bool {
        (self.kind(), self.peek(1), self.peek(2)) == (T::Name, T::Name, T::Colon)
    }

    /// A jump that belongs to no transformation.
    fn lone_jump(&mut self, transformation: Option<Span>) {
        let diagnostic = match transformation {
            Some(span) => {
                Diagnostic::new("E0008", self.span(), "a second jump", "this guarded command already has a jump")
                    .related(span, "the guarded command")
                    .help(JUMP_HELP)
            }
            None => {
                self.unexpected("`when` or `do`").help("a jump belongs to a guarded command: `do { } goto LOCATION;`")
            }
        };
        self.report(diagnostic);
        self.jump();
    }

    /// An action outside braces, with what follows it up to the next transformation.
    fn loose_action(&mut self) {
        let diagnostic = self.unexpected("`when` or `do`");
        self.report(diagnostic.help("actions stand in braces: `do { x := 1; } goto LOCATION;`"));
        while begins_action(self.kind()) || matches!(self.kind(), T::Goto | T::Return) {
            if self.is_label() {
                return;
            }
            self.bump();
            self.recover();
        }
        if self.at(T::CloseBrace) && matches!(self.peek(1), T::Goto | T::Return) {
            self.bump();
            self.jump();
        }
    }
}

/// Whether an action can begin with this token.
pub(super) fn begins_action(kind: T) -> bool {
    matches!(kind, T::Name | T::Assert | T::Assume | T::Start | T::Skip)
}
