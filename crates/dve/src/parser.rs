//! Tokens to a tree. After an error the parser goes on at the next part that it recognises, so that one mistake gives one
//! message.

mod expression;

use std::ops::Range;

use birk_ir::{Diagnostic, Span};

use crate::ast::{Channel, Effect, Expr, ExprKind, Name, Process, Sync, System, Transition, Type, Variable};
use crate::lexer::{END, NAME, NUMBER, Token, tokenize};

/// What was read, and what is wrong with it.
pub(crate) struct Parsed<T> {
    pub(crate) tree: T,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a system.
pub(crate) fn parse(text: &str) -> Parsed<System> {
    let mut parser = Parser::new(text, 0..text.len(), 0);
    let tree = parser.system();
    parser.finish(tree)
}

/// Reads an expression that stands at a place of a text.
pub(crate) fn parse_expression(text: &str, place: Range<usize>, file: u32) -> Parsed<Expr> {
    let mut parser = Parser::new(text, place, file);
    let tree = parser.expression();
    if parser.kind() != END {
        parser.report_expected("an operator, or the end");
    }
    parser.finish(tree)
}

/// More errors than this are not worth reading.
const MAX_ERRORS: usize = 200;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    /// How deep expressions are nested here.
    nesting: u32,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, part: Range<usize>, file: u32) -> Self {
        let (tokens, diagnostics) = tokenize(text, part, file);
        Self { text, tokens, next: 0, nesting: 0, diagnostics }
    }

    fn finish<T>(mut self, tree: T) -> Parsed<T> {
        // Where characters are missing, what follows may be a consequence.
        if self.diagnostics.iter().any(|diagnostic| diagnostic.code == "E1001") {
            self.diagnostics.retain(|diagnostic| diagnostic.code == "E1001");
        }
        self.diagnostics.truncate(MAX_ERRORS);
        Parsed { tree, diagnostics: self.diagnostics }
    }

    fn token(&self) -> Token {
        self.tokens[self.next]
    }

    fn kind(&self) -> &'static str {
        self.token().kind
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn source(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    /// Where the last token ended.
    fn before(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].span
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, kind: &str) -> bool {
        let is_there = self.kind() == kind;
        if is_there {
            self.bump();
        }
        is_there
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // A second message about one place helps nobody.
        if self.diagnostics.last().is_none_or(|last| last.span != diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn report_expected(&mut self, what: &str) {
        let diagnostic = self.expected(what);
        self.report(diagnostic);
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.kind() {
            END => END.to_owned(),
            _ => format!("`{}`", self.source(self.span())),
        };
        Diagnostic::new("E1002", self.span(), format!("expected {what}, found {found}"), format!("expected {what}"))
    }

    /// Takes a symbol; where it is missing, that is said at the end of what stands before it.
    fn expect(&mut self, kind: &'static str, after: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let end = Span { start: self.before().end, ..self.before() };
        let place = if self.kind() == END || self.next == 0 { self.span() } else { end };
        let message = format!("missing `{kind}` after {after}");
        let diagnostic = Diagnostic::new("E1002", place, message, format!("`{kind}` is missing here"));
        self.report(diagnostic.propose(end, if kind == "}" { "\n}" } else { kind }));
        false
    }

    fn name(&mut self, what: &str) -> Name {
        if self.kind() == NAME {
            let span = self.bump().span;
            return Name { text: self.source(span).to_owned(), span };
        }
        let diagnostic = self.expected(what);
        if self.kind().starts_with(|c: char| c.is_ascii_lowercase()) && ![NUMBER, END].contains(&self.kind()) {
            let (span, other) = (self.span(), format!("{}_", self.kind()));
            let help = format!("`{}` is a keyword of DVE; choose another name, such as `{other}`", self.kind());
            self.report(diagnostic.help(help).propose(span, other));
            if self.tokens.get(self.next + 1).is_some_and(|next| [",", ";", "->", "{", "["].contains(&next.kind)) {
                self.bump();
            }
            return Name { text: String::new(), span };
        }
        self.report(diagnostic);
        Name { text: String::new(), span: self.span() }
    }

    /// Names with commas between them, and a semicolon.
    fn names(&mut self, what: &str) -> Vec<Name> {
        let mut names = vec![self.name(what)];
        while self.eat(",") {
            names.push(self.name(what));
        }
        self.close(&format!("{what}s").replace("a state", "the state"));
        names
    }

    /// Takes the semicolon at the end of a declaration, or goes to where the next one begins.
    fn close(&mut self, after: &str) {
        if self.expect(";", after) {
            return;
        }
        while !SECTIONS.contains(&self.kind()) && !self.eat(";") {
            self.bump();
        }
    }

    fn system(&mut self) -> System {
        let mut system = System::default();
        let mut is_closed = false;
        while self.kind() != END {
            match self.kind() {
                "byte" | "int" | "const" => system.variables.append(&mut self.variables()),
                "channel" => system.channels.append(&mut self.channels()),
                "process" => system.processes.push(self.process()),
                "system" => {
                    system.property = self.composition();
                    is_closed = true;
                }
                _ => {
                    let what = "a declaration, a process, or `system async;`";
                    let diagnostic = self.expected(what);
                    self.report(diagnostic.help(
                        "a system is made of variables, channels, processes, and one line `system async;` at its end",
                    ));
                    self.bump();
                    while !["byte", "int", "const", "channel", "process", "system", END].contains(&self.kind()) {
                        self.bump();
                    }
                }
            }
        }
        if !is_closed && self.diagnostics.is_empty() {
            let diagnostic = self.expected("`system async;`");
            let help = "the last line of a model says how its processes run: `system async;`";
            let end = Span { start: self.before().end, ..self.before() };
            self.report(diagnostic.help(help).propose(end, "\nsystem async;"));
        }
        system
    }

    /// `system async property P;`
    fn composition(&mut self) -> Option<Name> {
        self.bump();
        match self.kind() {
            "async" => _ = self.bump(),
            "sync" => {
                let span = self.bump().span;
                let message = "synchronous systems are not supported";
                let help =
                    "in `system sync` all processes move at once; Birk takes one step at a time: `system async;`";
                self.report(Diagnostic::new("E1008", span, message, "not supported").help(help));
            }
            _ => self.report_expected("`async`"),
        }
        let property = self.eat("property").then(|| self.name("the name of a process"));
        self.close("`system async`");
        property
    }

    fn ty(&mut self) -> Option<Type> {
        let ty = match self.kind() {
            "byte" => Type::Byte,
            "int" => Type::Int,
            _ => {
                self.report_expected("`byte` or `int`");
                return None;
            }
        };
        self.bump();
        Some(ty)
    }

    /// `const byte a = 1, b[2] = {0, 1};`
    fn variables(&mut self) -> Vec<Variable> {
        let is_const = self.eat("const");
        let ty = self.ty().unwrap_or(Type::Int);
        let mut variables = Vec::new();
        loop {
            let name = self.name("a name");
            let length = self.eat("[").then(|| {
                let length = self.expression();
                self.expect("]", "the length of an array");
                length
            });
            let (mut initial, mut is_list) = (Vec::new(), false);
            if self.eat("=") {
                is_list = self.eat("{");
                initial.push(self.expression());
                while is_list && self.eat(",") {
                    initial.push(self.expression());
                }
                if is_list {
                    self.expect("}", "the values of an array");
                }
            }
            variables.push(Variable { is_const, ty, name, length, initial, is_list });
            if !self.eat(",") {
                break;
            }
        }
        self.close("a declaration");
        variables
    }

    /// `channel a, b;` or `channel {byte, int} c[2];`
    fn channels(&mut self) -> Vec<Channel> {
        self.bump();
        let types = self.eat("{").then(|| {
            let mut types = Vec::from_iter(self.ty());
            while self.eat(",") {
                types.extend(self.ty());
            }
            self.expect("}", "the types of a channel");
            types
        });
        let mut channels = Vec::new();
        loop {
            let name = self.name("the name of a channel");
            let capacity = self.eat("[").then(|| {
                let capacity = self.expression();
                self.expect("]", "the capacity of a channel");
                capacity
            });
            channels.push(Channel { name, types: types.clone(), capacity });
            if !self.eat(",") {
                break;
            }
        }
        self.close("a declaration");
        channels
    }

    fn process(&mut self) -> Process {
        self.bump();
        let mut process = Process {
            name: self.name("the name of a process"),
            variables: Vec::new(),
            states: Vec::new(),
            initial: None,
            accepting: Vec::new(),
            committed: Vec::new(),
            assertions: Vec::new(),
            transitions: Vec::new(),
        };
        self.expect("{", "the name of a process");
        loop {
            match self.kind() {
                "byte" | "int" | "const" => process.variables.append(&mut self.variables()),
                "state" => {
                    self.bump();
                    process.states.append(&mut self.names("a state"));
                }
                "init" => {
                    self.bump();
                    process.initial = Some(self.name("a state"));
                    self.close("the initial state");
                }
                "accept" => {
                    self.bump();
                    process.accepting.append(&mut self.accepting());
                }
                "commit" => {
                    self.bump();
                    process.committed.append(&mut self.names("a state"));
                }
                "assert" => {
                    self.bump();
                    process.assertions.append(&mut self.assertions());
                }
                "trans" => {
                    self.bump();
                    process.transitions.append(&mut self.transitions());
                }
                "}" => {
                    self.bump();
                    break;
                }
                "process" | "system" | END => {
                    self.expect("}", "the transitions of a process");
                    break;
                }
                _ => {
                    self.report_expected("`state`, `init`, `accept`, `commit`, `assert`, `trans` or `}`");
                    self.bump();
                    while !SECTIONS.contains(&self.kind()) {
                        self.bump();
                    }
                }
            }
        }
        process
    }

    /// The states after `accept`; other conditions than that of Büchi are refused.
    fn accepting(&mut self) -> Vec<Name> {
        let span = self.span();
        let word = self.source(span);
        if self.kind() == NAME && ["genbuchi", "muller", "rabin", "streett"].contains(&word) {
            let message = format!("the acceptance condition `{word}` is not supported");
            let help = "write a Büchi automaton: `accept q1, q2;`";
            self.report(Diagnostic::new("E1008", span, message, "not supported").help(help));
            while !["init", "commit", "assert", "trans", "}", END].contains(&self.kind()) {
                self.bump();
            }
            return Vec::new();
        }
        if word == "buchi" && self.tokens.get(self.next + 1).is_some_and(|token| token.kind == NAME) {
            self.bump();
        }
        self.names("a state")
    }

    /// `q: x < 2, r: y == 0;`
    fn assertions(&mut self) -> Vec<(Name, Expr)> {
        let mut assertions = Vec::new();
        loop {
            let state = self.name("a state");
            self.expect(":", "the state of an assertion");
            assertions.push((state, self.expression()));
            if !self.eat(",") {
                break;
            }
        }
        self.close("an assertion");
        assertions
    }

    fn transitions(&mut self) -> Vec<Transition> {
        let mut transitions: Vec<Transition> = Vec::new();
        loop {
            let start = self.span();
            let from = match transitions.last() {
                Some(last) if self.kind() == "->" => last.from.clone(),
                _ if self.kind() == "}" => break,
                _ => self.name("a state"),
            };
            if self.kind() == "=>" {
                self.probabilistic();
            } else {
                transitions.extend(self.transition(start, from));
            }
            if self.eat(",") {
                continue;
            }
            if self.kind() == NAME && self.tokens.get(self.next + 1).is_some_and(|token| token.kind == "->") {
                self.expect(",", "a transition");
                continue;
            }
            self.close("the last transition");
            break;
        }
        transitions
    }

    fn probabilistic(&mut self) {
        let span = self.bump().span;
        let message = "probabilistic transitions are not supported";
        let help = "write `q -> r {}` for each of the states that can be next";
        self.report(Diagnostic::new("E1008", span, message, "not supported").help(help));
        while !["}", "trans", END].contains(&self.kind()) {
            self.bump();
        }
        self.eat("}");
    }

    fn transition(&mut self, start: Span, from: Name) -> Option<Transition> {
        if !self.eat("->") {
            self.report_expected("`->`");
            while !["->", "}", ",", ";", "process", "system", END].contains(&self.kind()) {
                self.bump();
            }
            self.eat("}");
            return None;
        }
        let to = self.name("a state");
        let mut transition = Transition { from, to, guard: None, sync: None, effects: Vec::new(), span: start };
        if self.expect("{", "the next state") {
            self.parts(&mut transition);
        }
        transition.span = start.to(self.before());
        Some(transition)
    }

    /// `guard x > 0; sync c!x; effect x = 0; }`
    fn parts(&mut self, transition: &mut Transition) {
        let (mut last, mut before) = (0, self.span());
        loop {
            let order = ["guard", "sync", "effect"].iter().position(|part| *part == self.kind()).map_or(0, |at| at + 1);
            if order > 0 && order <= last {
                let help = "a transition has a guard, then `sync`, then `effect`, each at most once";
                let diagnostic = self.expected("the parts of a transition in their order").help(help);
                let diagnostic = match self.swapped(before).filter(|_| order < last) {
                    Some((both, text)) => diagnostic.propose(both, text),
                    None => diagnostic,
                };
                self.report(diagnostic);
            }
            last = order.max(last);
            before = self.span();
            match self.kind() {
                "guard" => {
                    self.bump();
                    transition.guard = Some(self.expression());
                    self.end_part("a guard");
                }
                "sync" => {
                    self.bump();
                    transition.sync = self.sync();
                    self.end_part("`sync`");
                }
                "effect" => {
                    self.bump();
                    self.effects(&mut transition.effects);
                    self.end_part("an effect");
                }
                "}" => {
                    self.bump();
                    return;
                }
                _ => {
                    self.report_expected("`guard`, `sync`, `effect` or `}`");
                    if self.is_over() {
                        return;
                    }
                    self.bump();
                    self.skip_part();
                }
            }
        }
    }

    /// A part of a transition and the one that begins here, in the other order.
    fn swapped(&self, first: Span) -> Option<(Span, String)> {
        let end = self.tokens[self.next..].iter().find(|token| [";", "}"].contains(&token.kind))?;
        let (first, second) = (first.to(self.before()), self.span().to(end.span));
        let text = format!("{} {}", self.source(second), self.source(first));
        (end.kind == ";").then(|| (first.to(second), text))
    }

    /// Whether something stands here that no transition has.
    fn is_over(&self) -> bool {
        ["process", "system", "trans", "state", "init", "accept", "commit", "assert", END].contains(&self.kind())
    }

    fn skip_part(&mut self) {
        while !["guard", "sync", "effect", "}"].contains(&self.kind()) && !self.is_over() && !self.eat(";") {
            self.bump();
        }
    }

    fn end_part(&mut self, after: &str) {
        if !self.expect(";", after) {
            self.skip_part();
        }
    }

    fn sync(&mut self) -> Option<Sync> {
        let start = self.span();
        let channel = self.name("the name of a channel");
        let sends = match self.kind() {
            "!" => true,
            "?" => false,
            _ => {
                let diagnostic = self.expected("`!` or `?`");
                self.report(diagnostic.help("`sync c!x` sends, `sync c?x` receives"));
                return None;
            }
        };
        self.bump();
        let mut values = Vec::new();
        if self.eat("{") {
            values.push(self.expression());
            while self.eat(",") {
                values.push(self.expression());
            }
            self.expect("}", "the values");
        } else if self.kind() != ";" {
            values.push(self.expression());
        }
        Some(Sync { channel, sends, values, span: start.to(self.before()) })
    }

    fn effects(&mut self, effects: &mut Vec<Effect>) {
        loop {
            let place = self.expression();
            if self.eat("=") {
                let value = self.expression();
                let span = place.span.to(value.span);
                effects.push(Effect { place, value, span });
            } else if !matches!(place.kind, ExprKind::Error) {
                let diagnostic = self.expected("`=`");
                if ["++", "--"].contains(&self.kind()) {
                    let (text, whole) = (self.source(place.span), place.span.to(self.span()));
                    let written = format!("{text} = {text} {} 1", &self.bump().kind[..1]);
                    self.report(diagnostic.help(format!("write `{written}`")).fix(whole, written));
                } else {
                    self.report(diagnostic);
                }
            }
            if !self.eat(",") {
                return;
            }
        }
    }
}

/// What a part of a process or of a system begins with.
const SECTIONS: &[&str] = &[
    "byte", "int", "const", "channel", "process", "system", "state", "init", "accept", "commit", "assert", "trans",
    "}", END,
];
