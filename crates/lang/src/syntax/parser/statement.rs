//! Statements: what a structured body is made of, and what may stand inside one step.

use super::{Parser, is_item};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{Action, ActionKind, Expr, Label, MAX_DEPTH, Pattern};
use crate::syntax::lexer::TokenKind as T;

/// Words that begin a statement where they are not used as names.
pub(super) const STATEMENTS: [&str; 11] =
    ["if", "while", "for", "either", "await", "atomic", "break", "send", "receive", "broadcast", "fair"];

pub(super) const RANGE: &str = "a `for` goes over a constant range: `for (i : 0 .. 3) { … }`";

/// So far ahead it is looked for the range of a `for`.
const MOST_AHEAD: usize = 100;

impl Parser<'_> {
    /// Whether a statement begins here that is not also an action of the form with locations.
    pub(super) fn is_statement(&self) -> bool {
        match self.kind() {
            T::Name if self.peek(1) == T::Colon => true,
            T::Name => self.is_statement_word() || self.is_endless() || self.is_action_begin(),
            T::Assert | T::Assume | T::Start | T::Skip | T::Goto | T::Return => true,
            T::Plus | T::Minus => self.is_prefix_update(),
            _ => false,
        }
    }

    /// Whether the current word begins a statement rather than naming a variable.
    pub(super) fn is_statement_word(&self) -> bool {
        let is_name = matches!(self.peek(1), T::Assign | T::OpenBracket | T::Dot | T::Single | T::Equal | T::Colon);
        // A procedure may have that name.
        let is_call = self.at_word("broadcast") && self.peek(1) == T::OpenParen;
        self.at(T::Name) && !is_name && !is_call && STATEMENTS.contains(&self.word())
    }

    /// `x :=`, `a[i] :=`, `r.f :=`, `p(…)`, or what is written like that in other languages
    fn is_action_begin(&self) -> bool {
        self.is_update(1)
            || matches!(
                self.peek(1),
                T::Assign | T::Dot | T::OpenParen | T::Single | T::Equal | T::Not | T::Question | T::Comma
            )
            || (self.peek(1) == T::OpenBracket && !self.declares_array())
    }

    /// Whether `NAME [ … ] NAME` follows (looking only a little ahead): a variable of an array type.
    fn declares_array(&self) -> bool {
        let mut depth = 0usize;
        for ahead in 1..64 {
            match self.peek(ahead) {
                T::OpenBracket => depth += 1,
                T::CloseBracket => {
                    depth -= 1;
                    if depth == 0 && self.peek(ahead + 1) != T::OpenBracket {
                        return self.peek(ahead + 1) == T::Name;
                    }
                }
                T::Semicolon | T::OpenBrace | T::CloseBrace | T::End => return false,
                _ => {}
            }
        }
        false
    }

    /// Statements up to the closing brace.
    pub(super) fn statements(&mut self) -> Vec<Action> {
        let mut list = Vec::new();
        loop {
            let before = self.position;
            match self.kind() {
                T::CloseBrace | T::End | T::Loc | T::When | T::Do => return list,
                kind if is_item(kind) => return list,
                // The `}` before it is missing.
                T::Name if self.is_next_branch() => return list,
                T::Name if self.is_about_crashes() => return list,
                T::Name if self.is_misspelt_action() => continue,
                _ => list.extend(self.statement()),
            }
            if self.position == before {
                self.bump();
            }
        }
    }

    /// `{ statements }`
    pub(super) fn block(&mut self) -> Vec<Action> {
        if !self.at(T::OpenBrace) {
            let help = match self.word() {
                word @ ("do" | "then") => format!("leave out `{word}`: the statements stand in braces, `{{ … }}`"),
                _ => "the statements stand in braces: `{ … }`".to_owned(),
            };
            let diagnostic = self.unexpected("`{`").help(help);
            self.report(Diagnostic { fix: self.braces(), ..diagnostic });
            // `while … do {`, `if … then {`
            if self.peek(1) == T::OpenBrace && (self.at(T::Do) || self.at_word("then")) {
                self.bump();
            } else {
                self.recover();
                return Vec::new();
            }
        }
        let open = self.bump();
        if self.blocks >= MAX_DEPTH / 2 {
            let message = format!("nested too deeply: blocks may be {} levels deep", MAX_DEPTH / 2);
            // The other branches of the same statement would only repeat it.
            if !std::mem::replace(&mut self.is_too_deep, true) {
                self.report(Diagnostic::new("E0009", open, message, "one level too many"));
            }
            self.position -= 1;
            self.recover();
            return Vec::new();
        }
        self.blocks += 1;
        let list = self.statements();
        self.blocks -= 1;
        self.expect_close(T::CloseBrace, open);
        list
    }

    /// One statement with its labels and its `;`.
    pub(super) fn statement(&mut self) -> Option<Action> {
        let labels = self.labels();
        let fair = self.at_word("fair") && self.is_statement_word();
        if fair {
            self.bump_word();
        }
        let start = self.span();
        if self.at(T::CloseBrace) && (fair || !labels.is_empty()) {
            self.report(self.unexpected("a statement").help("a label names the place before a statement: `l: skip;`"));
            return None;
        }
        let kind = match self.kind() {
            T::Goto => {
                self.bump();
                let name = self.name("a label");
                self.expect_semicolon();
                Some(ActionKind::Goto(name))
            }
            T::Return => {
                self.bump();
                self.refuse_result();
                self.expect_semicolon();
                Some(ActionKind::Return)
            }
            T::Name if self.is_statement_word() => self.worded(),
            T::Name if self.is_endless() => Some(self.endless()),
            T::Name if matches!(self.word(), "elseif" | "elif" | "switch") && self.foreign_statement() => return None,
            T::Name if self.is_printing() => return None,
            T::Name if matches!(self.peek(1), T::Not | T::Question) => {
                let (name, sign) = (self.word(), if self.peek(1) == T::Not { "!" } else { "?" });
                let help = match sign {
                    "!" => format!("write `send {name} (…);`"),
                    _ => format!("write `receive {name} (?x);`"),
                };
                let fix = self.message_like_promela();
                self.bump();
                let message = format!("BIR has no `{name} {sign} …`");
                let diagnostic = Diagnostic::new("E0012", self.span(), message, "not known in BIR").help(help);
                self.report(Diagnostic { fix, ..diagnostic });
                self.recover();
                Some(ActionKind::Skip)
            }
            T::Name if self.peek(1) == T::OpenParen => {
                let name = self.name("a procedure");
                let arguments = self.arguments();
                self.expect_semicolon();
                Some(ActionKind::Call(name, arguments))
            }
            _ => {
                let action = self.action()?;
                return Some(Action { labels, fair, ..action });
            }
        };
        let span = self.since(start);
        kind.map(|kind| Action { labels, fair, kind, span })
    }

    fn labels(&mut self) -> Vec<Label> {
        let mut labels = Vec::new();
        while self.at(T::Name) && self.peek(1) == T::Colon {
            let name = self.name("a label");
            self.bump();
            let is_mark = matches!(self.peek(1), T::Assign | T::OpenBracket | T::Dot | T::OpenParen | T::Colon);
            labels.push(Label { name, marks: if is_mark { Vec::new() } else { self.marks() } });
        }
        labels
    }

    /// A statement that begins with a word of its own.
    fn worded(&mut self) -> Option<ActionKind> {
        let word = self.word();
        self.bump_word();
        Some(match word {
            "if" => self.conditional_statement(),
            "while" => {
                let condition = self.condition("while");
                ActionKind::While(condition, self.block())
            }
            "for" => return self.for_statement(),
            "either" => self.either(),
            "atomic" => ActionKind::Atomic(self.block()),
            "await" => {
                let condition = self.root_expression();
                self.expect_semicolon();
                ActionKind::Await(condition)
            }
            "break" => {
                self.expect_semicolon();
                ActionKind::Break
            }
            "send" => {
                self.is_channel = true;
                let channel = self.channel();
                if !self.is_message("send c (…);") {
                    return Some(ActionKind::Send(channel, Vec::new()));
                }
                let values = self.arguments();
                self.expect_semicolon();
                ActionKind::Send(channel, values)
            }
            "broadcast" => self.broadcast(),
            _ => self.receive(),
        })
    }

    /// What stands behind `if` and `while`; a brace there begins the block and no set.
    fn condition(&mut self, word: &str) -> Expr {
        if self.at(T::OpenBrace) {
            let help = format!("write `{word} (…) {{ … }}`");
            self.report(self.unexpected("a condition in parentheses").help(help));
            return self.nothing();
        }
        self.root_expression()
    }

    fn conditional_statement(&mut self) -> ActionKind {
        let condition = self.condition("if");
        let mut branches = vec![(condition, self.block())];
        while self.at_word("else") {
            self.bump_word();
            if !self.at_word("if") {
                return ActionKind::If(branches, Some(self.block()));
            }
            self.bump_word();
            let condition = self.condition("else if");
            branches.push((condition, self.block()));
        }
        ActionKind::If(branches, None)
    }

    /// `for (i : lo .. hi) { … }`
    fn for_statement(&mut self) -> Option<ActionKind> {
        let (open, position) = (self.span(), self.position);
        if self.is_counting_loop() {
            self.counting_loop();
            return None;
        }
        let is_bare = self.at(T::Name) && (self.peek(1) == T::Colon || self.is_word_ahead(1, "in"));
        if !is_bare && !self.at(T::OpenParen) {
            self.report(self.unexpected("`(`").help(RANGE));
            self.recover();
            return None;
        }
        let messages = self.diagnostics.len();
        if !is_bare {
            self.bump();
        }
        let name = self.name("a name");
        if self.at_word("in") && !self.has_range_ahead() {
            let help = format!(
                "go over all values that can be in it: `for ({} : 0 .. 3) {{ if ({0} in …) {{ … }} }}`",
                name.text
            );
            let message = "a `for` goes over a constant range, not over a set";
            self.report(Diagnostic::new("E0012", self.span(), message, "expected `:` and a range").help(help));
            self.recover();
            return None;
        }
        if self.at_word("in") && is_bare {
            self.correct(T::Colon);
        }
        if self.at_word("in") {
            self.replace(T::Colon, "a range is written behind `:`", "expected `:`", RANGE);
        }
        self.expect(T::Colon);
        let low = self.root_expression();
        if self.at(T::Comma) {
            self.replace(T::DotDot, "a range is written with `..`", "expected `..`", RANGE);
        }
        if self.at(T::DotDot) {
            self.bump();
        } else {
            self.report(self.unexpected("`..`").help(RANGE));
        }
        let high = if self.is_reported() { self.nothing() } else { self.root_expression() };
        if !is_bare {
            self.expect_close(T::CloseParen, open);
        } else if self.diagnostics.len() == messages {
            let range = self.source(low.span.to(high.span));
            let help = format!("write `for ({} : {range}) {{ … }}`", name.text);
            let diagnostic = Diagnostic::new("E0012", open, "the range of `for` stands in parentheses", "expected `(`");
            let place = self.tokens[position].span.to(high.span);
            let diagnostic = diagnostic.help(help).fix(place, format!("({} : {range})", name.text));
            self.report_at(position, diagnostic);
        }
        Some(ActionKind::For(name, low, high, self.block()))
    }

    /// Whether a range is written before the block that begins next.
    fn has_range_ahead(&self) -> bool {
        let ahead = self.tokens[self.position..].iter().take(MOST_AHEAD).map(|token| token.kind);
        let mut before = ahead.take_while(|kind| !matches!(kind, T::OpenBrace | T::CloseBrace | T::Semicolon));
        before.any(|kind| matches!(kind, T::DotDot | T::Comma))
    }

    /// Whether the next branch of an `either` begins, although this one is not closed.
    fn is_next_branch(&self) -> bool {
        self.at_word("or") && self.peek(1) == T::OpenBrace && self.either.is_some_and(|depth| self.blocks >= depth)
    }

    fn either(&mut self) -> ActionKind {
        let outer = self.either.replace(self.blocks + 1);
        let mut branches = vec![self.block()];
        while self.at_word("or") {
            self.bump_word();
            branches.push(self.block());
        }
        self.either = outer;
        if branches.len() == 1 && !self.is_reported() {
            let diagnostic = self.unexpected("`or { … }`");
            self.report(diagnostic.help("`either` has at least two branches: `either { … } or { … }`"));
            if self.at(T::Name) && self.peek(1) == T::OpenBrace && !self.is_statement_word() {
                self.bump();
                branches.push(self.block());
            }
        }
        ActionKind::Either(branches)
    }

    /// The channel of a `send` or `receive`.
    fn channel(&mut self) -> Expr {
        if !self.at(T::OpenParen) {
            return self.place();
        }
        self.report(self.unexpected("a channel").help("the channel comes first: `send c (…);`, `receive c (?x);`"));
        self.nothing()
    }

    /// Whether the parenthesis of a message follows; if not, the rest of the statement is skipped.
    fn is_message(&mut self, example: &str) -> bool {
        let is_message = self.at(T::OpenParen) && !self.is_reported();
        if !is_message {
            let help = format!("the message stands in parentheses: `{example}`");
            self.report(self.unexpected("`(`").help(help));
            self.recover();
        }
        is_message
    }

    /// `broadcast channels (values) except index;`
    fn broadcast(&mut self) -> ActionKind {
        self.is_channel = true;
        let channels = self.channel();
        if !self.is_message("broadcast c (…);") {
            return ActionKind::Broadcast(channels, Vec::new(), None);
        }
        let values = self.arguments();
        let except = self.at_word("except").then(|| {
            self.bump_word();
            self.root_expression()
        });
        self.expect_semicolon();
        ActionKind::Broadcast(channels, values, except)
    }

    /// `receive channel (patterns) when condition;`
    fn receive(&mut self) -> ActionKind {
        self.is_channel = true;
        let channel = self.channel();
        let mut patterns = Vec::new();
        if !self.is_message("receive c (?x);") {
            return ActionKind::Receive(channel, patterns, None);
        }
        let open = self.span();
        if self.expect(T::OpenParen) && !self.eat(T::CloseParen) {
            loop {
                patterns.push(self.pattern());
                if !self.eat(T::Comma) {
                    break;
                }
            }
            self.expect_close(T::CloseParen, open);
        }
        let condition: Option<Expr> = self.eat(T::When).then(|| self.root_expression());
        self.expect_semicolon();
        ActionKind::Receive(channel, patterns, condition)
    }

    fn pattern(&mut self) -> Pattern {
        if self.eat(T::Question) {
            return Pattern::Bind(self.place());
        }
        if self.at_word("_") {
            return Pattern::Any(self.bump_word());
        }
        Pattern::Equal(self.root_expression())
    }
}
