//! The system and what it declares: constants, types, variables, functions, properties.

use super::thread::Body;
use super::{Parser, is_landmark};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::syntax::ast::{
    Alias, Constants, Enum, Expr, Function, Import, Item, Name, Param, Procedure, Property, PropertyKind, Record,
    System, Type, TypeKind, Variables,
};
use crate::syntax::lexer::{TokenKind as T, text_value};
use birk_ir::Span;

/// The words that can begin a declaration.
const ITEMS: [T; 12] = [
    T::Const,
    T::Typealias,
    T::Enum,
    T::Boolean,
    T::Byte,
    T::Int,
    T::Function,
    T::Active,
    T::Thread,
    T::Invariant,
    T::Reachable,
    T::Ltl,
];

const MINIMAL: &str = "the smallest system is `system Name { active thread T() { loc a: do { } goto a; } }`";

const ONE_TYPE: &str = "end the declaration before it with `;`: a `,` stands between names of the same type";

impl Parser<'_> {
    /// The whole file.
    pub(super) fn file(&mut self) -> Option<System> {
        if self.at(T::End) {
            let diagnostic = Diagnostic::new("E0010", self.span(), "the file is empty", "expected a system");
            self.report(diagnostic.help(MINIMAL));
            return None;
        }
        let start = self.span();
        if let Some(diagnostic) = self.other_language() {
            // What the lexer found is a consequence.
            self.diagnostics = vec![diagnostic];
            return None;
        }
        let imports = self.imports();
        let library = self.at_word("library") && self.peek(1) == T::Name;
        if library {
            self.words.push(self.span().start);
            self.correct(T::System);
        }
        if !self.at(T::System) && !self.is_misspelt("`system`", &[T::System]) {
            let message = format!("a file is one system, expected `system`, found {}", self.found());
            let diagnostic = Diagnostic::new("E0010", self.span(), message, "expected `system NAME {`");
            self.report(diagnostic.help(MINIMAL));
            if !ITEMS.contains(&self.kind()) {
                return None;
            }
            let mut system = System { span: start, ..System::default() };
            self.items(&mut system);
            return Some(system);
        }
        self.bump();
        let mut system = System { library, imports, name: self.name("the system's name"), ..System::default() };
        let open = self.span();
        let opened = self.expect(T::OpenBrace);
        self.items(&mut system);
        let close = self.span();
        if self.eat(T::CloseBrace) {
            self.after_system(&mut system, close);
        } else if opened {
            self.expect_close(T::CloseBrace, open);
        }
        system.span = self.since(start);
        Some(system)
    }

    /// `import "path";` before the system.
    fn imports(&mut self) -> Vec<Import> {
        let mut imports = Vec::new();
        while self.at_word("import") {
            let start = self.bump_word();
            if self.at(T::Text) {
                let path = text_value(self.word());
                self.bump();
                imports.push(Import { path, span: self.since(start) });
            } else {
                self.report(self.unexpected("a path in quotes").help("write `import \"std/mutex.bir\";`"));
            }
            self.expect_semicolon();
        }
        imports
    }

    /// Reports text behind the system. If it looks like more of the system, it is read as such.
    fn after_system(&mut self, system: &mut System, close: Span) {
        if self.at(T::End) {
            return;
        }
        let more = ITEMS.contains(&self.kind()) || matches!(self.kind(), T::Loc | T::CloseBrace);
        let message = format!("the system ends before {}", self.found());
        let mut diagnostic = Diagnostic::new("E0010", self.span(), message, "text after the system");
        diagnostic = diagnostic.related(close, "the system is closed here");
        if self.at(T::System) {
            diagnostic = diagnostic.help("a file holds one system; move the second one to a file of its own");
        } else if more {
            diagnostic = diagnostic.help("is there a `}` too many?");
            if self.previous().end == close.end && self.text.trim_end().ends_with('}') {
                diagnostic = diagnostic.propose(edit::removal(self.text, close), "");
            }
        }
        self.report(diagnostic);
        while more && !self.at(T::End) {
            self.items(system);
            self.bump();
        }
    }

    /// Declarations up to a closing brace.
    fn items(&mut self, system: &mut System) {
        while !matches!(self.kind(), T::CloseBrace | T::End) {
            let before = self.position;
            if let Some(item) = self.item(system) {
                system.items.push(item);
            }
            if self.position == before {
                self.bump();
            }
        }
    }

    fn item(&mut self, system: &mut System) -> Option<Item> {
        match self.kind() {
            T::Const => Some(Item::Constants(self.constants())),
            T::Typealias => Some(Item::Alias(self.alias())),
            T::Enum => Some(Item::Enum(self.enumeration())),
            T::Function => Some(Item::Function(self.function())),
            T::Active | T::Thread | T::OpenBracket => self.thread().map(Item::Thread),
            T::Invariant | T::Reachable | T::Ltl => Some(Item::Property(self.property())),
            T::Boolean | T::Byte | T::Int => Some(Item::Variables(self.variables())),
            T::Name if self.at_word("record") && (self.peek(1) == T::OpenBrace || self.peek(2) == T::OpenBrace) => {
                Some(Item::Record(self.record()))
            }
            T::Name if self.at_word("procedure") && matches!(self.peek(2), T::OpenParen | T::OpenBrace) => {
                Some(Item::Procedure(self.procedure()))
            }
            T::Name if self.is_foreign_thread() => self.thread().map(Item::Thread),
            T::Name if self.foreign_item() => None,
            T::Name if self.is_expectation() => Some(Item::Expectation(self.expectation())),
            T::Name if self.is_refinement() => Some(Item::Refinement(self.refinement())),
            T::Name if self.is_branching_property() => Some(Item::Property(self.property())),
            T::Name if self.at_word("symmetric") && self.peek(1) == T::Typealias => Some(Item::Alias(self.alias())),
            T::Name if self.at_word("fair") && matches!(self.peek(1), T::Active | T::Thread | T::OpenBracket) => {
                self.thread().map(Item::Thread)
            }
            T::Name if self.is_item_name() => Some(Item::Variables(self.variables())),
            T::Name if self.peek(1) != T::Assign && self.is_misspelt("a declaration", &ITEMS) => self.item(system),
            T::Name if self.peek(1) == T::Name => Some(Item::Variables(self.variables())),
            T::Loc | T::When | T::Do | T::Goto | T::Return => {
                self.orphans(system);
                None
            }
            _ => {
                self.unexpected_item();
                None
            }
        }
    }

    /// Whether a name begins a variable whose type it is, rather than being a misspelt keyword.
    fn is_item_name(&self) -> bool {
        match (self.peek(1), self.peek(2)) {
            (T::Name, T::OpenParen | T::OpenBrace | T::Colon | T::Single) => false,
            (T::OpenBracket, _) => self.is_array_variable(),
            (next, _) => next == T::Name,
        }
    }

    /// Whether `NAME [ … ] NAME` follows, rather than `activ [N] thread` or `a[i] := …` (looks only a little ahead).
    pub(super) fn is_array_variable(&self) -> bool {
        let mut depth = 0usize;
        for kind in (1..50).map(|ahead| self.peek(ahead)) {
            match kind {
                T::OpenBracket => depth += 1,
                T::CloseBracket if depth > 0 => depth -= 1,
                _ if depth == 0 => return kind == T::Name,
                _ => {}
            }
        }
        false
    }

    fn unexpected_item(&mut self) {
        let foreign = self.foreign_statement();
        if foreign {
            return;
        }
        let mut diagnostic = self.unexpected("a declaration");
        if self.at(T::Semicolon) {
            diagnostic = diagnostic.help("remove the `;`");
        } else if self.at(T::Name) && self.peek(1) == T::Assign {
            diagnostic =
                diagnostic.help("a variable is declared with its type: `int x := 1;`; actions stand in threads");
        } else if self.is_statement_word() {
            diagnostic = diagnostic.help("statements stand in threads and procedures");
        } else if self.at(T::Assert) {
            diagnostic = diagnostic.help("for every state, write `invariant NAME: …;`; statements stand in threads");
        } else if let Some(help) = self.declaration_help() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        while self.eat(T::Semicolon) {}
        if self.is_reported() {
            self.recover();
        }
    }

    /// How a declaration is written that begins with a word of its own.
    fn declaration_help(&self) -> Option<&'static str> {
        Some(match self.word() {
            "import" => "imports stand before `system`",
            "library" => "a library is a file of its own",
            "refines" => "write `refines NAME { variable = expression; … }`",
            "record" => "write `record NAME { type field; … }`",
            "procedure" => "write `procedure NAME(type parameter, …) { … }`",
            "channel" => "write `channel of type [capacity] NAME;`",
            "lossy" | "duplicating" | "reordering" => "it modifies a channel: `lossy channel of type [capacity] NAME;`",
            "set" => "write `set of lo .. hi NAME;`",
            "sequence" => "write `sequence of type [capacity] NAME;`",
            "map" => "write `map of lo .. hi to type NAME;`",
            "symmetric" => "it modifies a type: `symmetric typealias NAME int (0, N - 1);`",
            _ => return None,
        })
    }

    /// Locations outside a thread: most likely its brace was closed too early, so they are given to it.
    fn orphans(&mut self, system: &mut System) {
        let message = format!("{} outside a thread", self.found());
        let diagnostic = Diagnostic::new("E0004", self.span(), message, "expected a declaration");
        self.report(diagnostic.help("is there a `}` too many before it?"));
        let mut body = Body::default();
        self.thread_body(&mut body);
        self.eat(T::CloseBrace);
        if let Some(Item::Thread(thread)) = system.items.last_mut() {
            thread.variables.append(&mut body.variables);
            thread.locations.append(&mut body.locations);
            thread.body.append(&mut body.statements);
        }
    }

    fn constants(&mut self) -> Constants {
        let start = self.bump();
        if matches!(self.kind(), T::Boolean | T::Byte | T::Int) && self.peek(1) == T::Name {
            self.report(self.unexpected("a name").help("a constant has no type: `const NAME = …;`"));
            self.bump();
        }
        let name = self.name("a name");
        let open = self.span();
        if self.is_reported() && !self.at(T::OpenBrace) {
            self.recover();
            return Constants { block: None, entries: Vec::new(), span: self.since(start) };
        }
        if self.at(T::Name) && self.peek(1) == T::Single {
            if !self.is_block_without_brace() {
                let help = format!("a constant has no type: `const {} = …;`", self.word());
                self.report(self.unexpected("`=` or `{`").help(help));
                let (name, value) = (self.name("a name"), self.constant_value("`=`"));
                self.expect_semicolon();
                return Constants { block: None, entries: vec![(name, value)], span: self.since(start) };
            }
            self.report(self.unexpected("`=` or `{`"));
        } else if !self.eat(T::OpenBrace) {
            let value = self.constant_value("`=` or `{`");
            self.expect_semicolon();
            return Constants { block: None, entries: vec![(name, value)], span: self.since(start) };
        }
        let mut entries = Vec::new();
        while !matches!(self.kind(), T::CloseBrace | T::End | T::Boolean | T::Byte | T::Int)
            && !is_landmark(self.kind())
        {
            let before = self.position;
            let name = self.name("the name of a constant");
            if self.is_reported() {
                self.recover();
            } else {
                let value = self.constant_value("`=`");
                if !self.eat(T::Comma) {
                    self.expect_semicolon();
                }
                entries.push((name, value));
            }
            if self.position == before {
                self.bump();
            }
        }
        if entries.is_empty() && self.at(T::CloseBrace) {
            self.report(self.unexpected("a constant").help("write `NAME = value;`"));
        }
        self.expect_close(T::CloseBrace, open);
        self.eat(T::Semicolon);
        Constants { block: Some(name), entries, span: self.since(start) }
    }

    /// Whether the constant that begins here is followed by another one, so that a `{` was forgotten before it.
    fn is_block_without_brace(&self) -> bool {
        let end = (2..64).find(|&ahead| matches!(self.peek(ahead), T::Semicolon | T::Comma | T::End));
        end.is_some_and(|end| (self.peek(end + 1), self.peek(end + 2)) == (T::Name, T::Single))
    }

    fn constant_value(&mut self, expected: &str) -> Expr {
        if self.at(T::Assign) {
            self.replace(T::Single, "a constant is not assigned", "expected `=`", "write `=`: `const N = 3;`");
        } else if self.at(T::Equal) {
            self.replace(T::Single, "a constant is not compared", "expected `=`", "write `=`: `const N = 3;`");
        }
        if !self.eat(T::Single) {
            self.report(self.unexpected(expected).help("write `const NAME = value;`"));
            if !matches!(self.kind(), T::Name | T::Number) {
                return self.nothing();
            }
        }
        self.root_expression()
    }

    /// `record NAME { type field; … }`
    fn record(&mut self) -> Record {
        let start = self.bump_word();
        let name = self.name("a name for the record");
        let open = self.span();
        if !self.expect(T::OpenBrace) {
            self.recover();
            return Record { name, fields: Vec::new(), span: self.since(start) };
        }
        let mut fields = Vec::new();
        let messages = self.diagnostics.len();
        while !matches!(self.kind(), T::CloseBrace | T::End) && !is_landmark(self.kind()) {
            let before = self.position;
            fields.push(self.variables());
            if self.position == before {
                self.bump();
            }
        }
        // Where commas separate the fields, no `;` ends the last of them.
        let found = self.diagnostics.split_off(messages);
        let is_list = found.iter().any(|diagnostic| diagnostic.help.as_deref() == Some(ONE_TYPE));
        self.diagnostics.extend(found.into_iter().filter(|diagnostic| !is_list || diagnostic.code != "E0005"));
        if fields.is_empty() && self.at(T::CloseBrace) {
            self.report(self.unexpected("a field").help("write `type NAME;`"));
        }
        self.expect_close(T::CloseBrace, open);
        self.eat(T::Semicolon);
        Record { name, fields, span: self.since(start) }
    }

    /// `procedure NAME(params) { statements }`
    fn procedure(&mut self) -> Procedure {
        let start = self.bump_word();
        let name = self.name("the procedure's name");
        let params = self.params();
        let head = self.since(name.span);
        let open = self.span();
        if self.at(T::Colon) {
            let help = format!("what has a value is a function: `function {}: int = …;`", self.source(head));
            self.report(self.unexpected("`{`").help(help));
        }
        if !self.expect(T::OpenBrace) {
            self.recover();
            return Procedure { name, params, body: Vec::new(), span: self.since(start) };
        }
        self.procedure = Some(head);
        let body = self.statements();
        self.procedure = None;
        if matches!(self.kind(), T::Loc | T::When | T::Do) {
            self.report(self.unexpected("a statement").help("a procedure is made of statements, not of locations"));
            self.thread_body(&mut Body::default());
        }
        self.expect_close(T::CloseBrace, open);
        Procedure { name, params, body, span: self.since(start) }
    }

    fn alias(&mut self) -> Alias {
        let start = self.span();
        let symmetric = self.at_word("symmetric");
        if symmetric {
            self.bump_word();
        }
        self.bump();
        let name = self.name("a name for the type");
        if self.at(T::Single) {
            self.report(self.unexpected("a type").help("write `typealias NAME type;` without `=`"));
            self.bump();
        }
        let target = self.ty();
        self.expect_semicolon();
        Alias { symmetric, name, target, span: self.since(start) }
    }

    fn enumeration(&mut self) -> Enum {
        let start = self.bump();
        let name = self.name("a name for the enumeration");
        if self.at(T::Single) {
            self.report(self.unexpected("`{`").help(format!("leave out the `=`: `enum {} {{ … }}`", name.text)));
            self.bump();
        }
        let open = self.span();
        let mut variants = Vec::new();
        if self.expect(T::OpenBrace) {
            loop {
                variants.push(self.name("the name of a value"));
                if !self.eat(T::Comma) {
                    break;
                }
            }
            if !self.at(T::CloseBrace) && !self.at(T::End) {
                let diagnostic = self.unexpected("`,` or `}`");
                let is_name = self.at(T::Name);
                self.report(if is_name { diagnostic.propose(self.behind(), ",") } else { diagnostic });
                self.recover();
            }
            self.expect_close(T::CloseBrace, open);
            self.eat(T::Semicolon);
        } else {
            self.recover();
        }
        Enum { name, variants, span: self.since(start) }
    }

    /// Whether `ctl NAME:` or `mu NAME:` follows, or what was meant as that.
    fn is_branching_property(&self) -> bool {
        let is_word = self.at_word("ctl") || self.at_word("mu");
        let is_variable = matches!(self.peek(2), T::Semicolon | T::Assign | T::Comma | T::End);
        is_word && (self.peek(1) == T::Colon || self.peek(1) == T::Name && !is_variable)
    }

    fn property(&mut self) -> Property {
        let kind = match self.kind() {
            T::Invariant => PropertyKind::Invariant,
            T::Reachable => PropertyKind::Reachable,
            T::Name if self.at_word("ctl") => PropertyKind::Ctl,
            T::Name => PropertyKind::Mu,
            _ => PropertyKind::Ltl,
        };
        let word = self.word();
        let start = self.bump_word();
        let help = format!("a property has a name: `{word} NAME: …;`");
        let name = if self.at(T::Name) {
            self.name("a name")
        } else {
            self.report(self.unexpected("the property's name").help(help.as_str()));
            Name { text: String::new(), span: self.behind() }
        };
        if !self.eat(T::Colon) {
            let help = match self.kind() {
                T::OpenBrace => format!("write `{word} {}: …;`, without braces", name.text),
                _ => help,
            };
            let diagnostic = self.unexpected("`:`").help(help);
            self.report(Diagnostic { fix: self.without_braces(&name), ..diagnostic });
            self.recover();
            let body = self.nothing();
            return Property { kind, name, body, span: self.since(start) };
        }
        let is_formula = matches!(kind, PropertyKind::Ltl | PropertyKind::Ctl | PropertyKind::Mu);
        self.formula = is_formula.then_some(kind);
        let body = self.root_expression();
        self.formula = None;
        self.expect_semicolon();
        Property { kind, name, body, span: self.since(start) }
    }

    fn function(&mut self) -> Function {
        let start = self.bump();
        let name = self.name("the function's name");
        let params = self.params();
        let result = if self.eat(T::Colon) {
            self.ty()
        } else {
            let help = "a function is written `function NAME(int x): int = x + 1;`";
            self.report(self.unexpected("`:` and the type of the value").help(help));
            Type { kind: TypeKind::Error, dimensions: Vec::new(), span: self.behind() }
        };
        if self.at(T::OpenBrace) {
            let help = "a function is one expression: `function NAME(int x): int = x + 1;`";
            self.report(self.unexpected("`=`").help(help));
        } else if self.at(T::Assign) {
            self.replace(T::Single, "a function is not assigned", "expected `=`", "write `=`");
        }
        let body = if self.expect(T::Single) { self.root_expression() } else { self.nothing() };
        self.expect_semicolon();
        Function { name, params, result, body, span: self.since(start) }
    }

    /// `(type name, …)`
    pub(super) fn params(&mut self) -> Vec<Param> {
        let open = self.span();
        let mut params = Vec::new();
        if self.at(T::OpenBrace) {
            let help = format!(
                "the parameters stand in parentheses, also if there are none: `{}()`",
                self.source(self.previous())
            );
            self.report(self.unexpected("`(`").help(help));
        }
        if !self.expect(T::OpenParen) || self.eat(T::CloseParen) {
            return params;
        }
        loop {
            let ty = self.ty();
            if !self.at(T::Name) && !self.kind().is_keyword() {
                let help = "a parameter has a type and a name, as in `int i`";
                self.report(self.unexpected("the parameter's name").help(help));
            }
            let name = self.name("the parameter's name");
            params.push(Param { ty, name });
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, open);
        params
    }

    /// `type a := 1, b;`
    pub(super) fn variables(&mut self) -> Variables {
        let ty = self.ty();
        let start = ty.span;
        let mut declarators = Vec::new();
        loop {
            let name = self.name("a name");
            if self.at(T::OpenBracket) && !self.is_reported() {
                let help = "write the length behind the type: `int[3] a;`";
                let message = "the length of an array belongs to its type";
                let mut diagnostic = Diagnostic::new("E0012", self.span(), message, "not here").help(help);
                if (self.peek(2), self.peek(3)) == (T::CloseBracket, T::Semicolon) && declarators.is_empty() {
                    let close = self.tokens[self.position + 2].span;
                    let (length, place) = (self.source(self.span().to(close)), ty.span.to(close));
                    diagnostic = diagnostic.fix(place, format!("{}{length} {}", self.source(ty.span), name.text));
                }
                self.report(diagnostic);
                self.recover();
                declarators.push((name, None));
                return Variables { durable: false, ty, declarators, span: self.since(start) };
            }
            if self.at(T::Single) || self.at(T::Equal) {
                self.replace(T::Assign, "an initial value is given with `:=`", "expected `:=`", "write `:=`");
            }
            let value = if self.eat(T::Assign) { Some(self.initial()) } else { None };
            declarators.push((name, value));
            if !self.eat(T::Comma) {
                break;
            }
            if matches!(self.kind(), T::Boolean | T::Byte | T::Int) {
                self.report(self.unexpected("a name").help(ONE_TYPE));
                return Variables { durable: false, ty, declarators, span: self.since(start) };
            }
        }
        self.expect_semicolon();
        Variables { durable: false, ty, declarators, span: self.since(start) }
    }
}
