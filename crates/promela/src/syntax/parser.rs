//! Tokens to a tree. After an error the parser goes on at the next statement or declaration, so that one run shows all.

mod declaration;
mod expression;
mod statement;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use birk_ir::Span;

use super::ast::{Claim, Expr, ExprKind, Model, Name, Place, Proc};
use super::lexer::{Tok, Token};
use birk_ir::Diagnostic;

/// Statements and expressions do not nest deeper than this, and calls of inlines neither.
const MAX_DEPTH: usize = 120;
/// So many errors are enough to read.
const MAX_ERRORS: usize = 40;
/// A model has at most so many tokens once its inlines are expanded.
const MAX_SPENT: usize = 4_000_000;

/// An error that was reported already.
#[derive(Debug)]
pub(super) struct Reported;
pub(super) type Parsed<T> = Result<T, Reported>;

#[derive(Clone)]
struct Inline {
    params: Vec<Rc<str>>,
    body: Vec<Token>,
    span: Span,
}

/// The parser; its tokens lie in reverse, so that what an inline expands to is pushed.
pub(crate) struct Parser {
    rest: Vec<Token>,
    /// The end of the last token taken.
    last: Span,
    pub(crate) diagnostics: Vec<Diagnostic>,
    procs: HashSet<Rc<str>>,
    types: HashSet<Rc<str>>,
    inlines: HashMap<Rc<str>, Inline>,
    depth: usize,
    temporal: bool,
    /// The last statement ends with a bracket or is `else`: it needs no semicolon.
    closed: bool,
    /// In the body of an inline.
    inlining: bool,
    spent: usize,
    model: Model,
}

/// Reads a model.
pub(crate) fn parse(tokens: Vec<Token>) -> (Model, Vec<Diagnostic>) {
    let named = |word: &str| -> HashSet<Rc<str>> {
        let pairs = tokens.windows(2).filter(|pair| pair[0].name().is_some_and(|name| &**name == word));
        pairs.filter_map(|pair| pair[1].name().cloned()).collect()
    };
    let (mut procs, types) = (named("proctype"), named("typedef"));
    procs.insert("init".into());
    let mut parser = Parser::new(tokens, procs, types);
    parser.units();
    (parser.model, parser.diagnostics)
}

impl Parser {
    fn new(tokens: Vec<Token>, procs: HashSet<Rc<str>>, types: HashSet<Rc<str>>) -> Self {
        let mut rest = tokens;
        rest.reverse();
        Self {
            rest,
            last: Span::default(),
            diagnostics: Vec::new(),
            procs,
            types,
            inlines: HashMap::new(),
            depth: 0,
            temporal: false,
            closed: false,
            inlining: false,
            spent: 0,
            model: Model::default(),
        }
    }

    fn peek(&self) -> &Token {
        self.rest.last().expect("the end is never taken")
    }

    fn ahead(&self, distance: usize) -> Option<&Token> {
        self.rest.len().checked_sub(1 + distance).map(|at| &self.rest[at])
    }

    fn take(&mut self) -> Token {
        self.spent += 1;
        let token = self.peek().clone();
        if token.tok != Tok::End {
            self.last = token.span;
            self.rest.pop();
        }
        token
    }

    fn at(&self, sign: &str) -> bool {
        self.peek().is(sign)
    }

    fn at_word(&self, word: &str) -> bool {
        self.peek().name().is_some_and(|name| &**name == word)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.at(sign);
        if found {
            self.take();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<Span> {
        if self.at(sign) {
            return Ok(self.take().span);
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    /// Reports what stands here instead of something else.
    fn unexpected(&mut self, wanted: &str) -> Reported {
        let token = self.peek().clone();
        let message = format!("expected {wanted}, found {}", token.text());
        self.error("E2001", &token, message, "unexpected")
    }

    fn error(&mut self, code: &'static str, token: &Token, message: impl Into<String>, label: &str) -> Reported {
        let mut diagnostic = Diagnostic::new(code, token.span, message, label);
        if let Some(name) = token.from.first() {
            diagnostic = diagnostic.help(format!("this is in the expansion of `{name}`"));
        }
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    fn refuse(&mut self, code: &'static str, span: Span, message: &str, help: &str) {
        let diagnostic = Diagnostic::new(code, span, message, "not supported").help(help);
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match &self.peek().tok {
            Tok::Name(text) if !is_keyword(text) => {
                let text = Rc::clone(text);
                Ok(Name { text, span: self.take().span })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH || self.spent > MAX_SPENT {
            let token = self.peek().clone();
            return Err(self.error("E2001", &token, "this is nested too deeply", "here"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn units(&mut self) {
        while self.peek().tok != Tok::End && self.diagnostics.len() < MAX_ERRORS && self.spent <= MAX_SPENT {
            let before = self.rest.len();
            self.depth = 0;
            if self.unit().is_err() {
                if self.rest.len() == before {
                    self.take();
                }
                self.skip_to_unit();
            }
        }
    }

    /// After an error: to what begins a declaration.
    fn skip_to_unit(&mut self) {
        const STARTS: &[&str] = &[
            "proctype",
            "active",
            "init",
            "never",
            "ltl",
            "typedef",
            "inline",
            "mtype",
            "chan",
            "D_proctype",
            "trace",
            "notrace",
        ];
        while self.peek().tok != Tok::End && !STARTS.iter().any(|word| self.at_word(word)) {
            self.take();
        }
    }

    fn unit(&mut self) -> Parsed<()> {
        if self.eat(";") || self.eat("->") {
            return Ok(());
        }
        let token = self.peek().clone();
        let Some(word) = token.name().cloned() else { return Err(self.unexpected("a declaration")) };
        match &*word {
            "active" | "proctype" | "D_proctype" => self.proctype(),
            "init" => self.init(),
            "never" => self.never(),
            "ltl" => self.ltl(),
            "typedef" => self.typedef(),
            "inline" => self.inline(),
            "mtype" if self.is_mtype_list() => self.mtype(),
            "trace" | "notrace" => {
                self.take();
                let (body, end) = self.body()?;
                self.model.traces.push(Claim { name: Name { text: word, span: token.span }, body, end });
                Ok(())
            }
            "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr" => {
                self.take();
                let help = "write it in Promela: Birk runs no compiler";
                self.refuse("E2035", token.span, "embedded C is not supported", help);
                while matches!(self.peek().tok, Tok::Text(_)) {
                    self.take();
                }
                self.skip_braces();
                Ok(())
            }
            _ if self.at_declaration() => {
                let found = self.declaration()?;
                self.model.globals.extend(found);
                Ok(())
            }
            _ => Err(self.unexpected("a declaration")),
        }
    }

    /// `{ … }` with all that is in it.
    fn skip_braces(&mut self) {
        let mut depth = 0;
        while self.peek().tok != Tok::End {
            let token = self.peek().clone();
            if depth == 0 && !token.is("{") {
                return;
            }
            depth += usize::from(token.is("{"));
            depth -= usize::from(token.is("}"));
            self.take();
            if depth == 0 {
                return;
            }
        }
    }

    fn proctype(&mut self) -> Parsed<()> {
        let mut active = None;
        let start = self.peek().span;
        if self.eat_word("active") {
            active = Some(Expr { kind: ExprKind::Const(1), span: start });
            if self.eat("[") {
                active = Some(self.expression()?);
                self.expect("]")?;
            }
        }
        if !self.eat_word("proctype") && !self.eat_word("D_proctype") {
            return Err(self.unexpected("`proctype`"));
        }
        let name = self.name("the name of the proctype")?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            params.extend(self.declaration()?);
        }
        self.expect(")")?;
        let provided = self.options()?;
        let (body, end) = self.body()?;
        self.model.procs.push(Proc { name, active, params, provided, body, end });
        Ok(())
    }

    /// `priority n`, `provided (e)`
    fn options(&mut self) -> Parsed<Option<Expr>> {
        let mut provided = None;
        loop {
            let span = self.peek().span;
            if self.eat_word("priority") {
                self.refuse("E2032", span, "`priority` is not supported", "Birk explores every order of the processes");
                self.take();
            } else if self.eat_word("provided") {
                self.expect("(")?;
                provided = Some(self.expression()?);
                self.expect(")")?;
            } else {
                return Ok(provided);
            }
        }
    }

    fn init(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let provided = self.options()?;
        let (body, end) = self.body()?;
        let (name, params) = (Name { text: "init".into(), span }, Vec::new());
        let active = Some(Expr { kind: ExprKind::Const(1), span });
        self.model.procs.push(Proc { name, active, params, provided, body, end });
        Ok(())
    }

    fn never(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let name = match self.at("{") {
            true => Name { text: format!("never_{}", self.model.claims.len()).into(), span },
            false => self.name("the name of the claim")?,
        };
        let (body, end) = self.body()?;
        self.model.claims.push(Claim { name, body, end });
        Ok(())
    }

    fn ltl(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let name = match self.at("{") {
            true => Name { text: format!("ltl_{}", self.model.formulas.len()).into(), span },
            false => self.name("the name of the formula")?,
        };
        self.expect("{")?;
        self.temporal = true;
        let formula = self.expression();
        self.temporal = false;
        let formula = formula?;
        self.eat(";");
        self.expect("}")?;
        self.model.formulas.push((name, formula));
        Ok(())
    }

    fn inline(&mut self) -> Parsed<()> {
        let span = self.take().span;
        let name = self.name("the name of the inline")?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            if !self.eat(",") {
                params.push(self.name("a parameter")?.text);
            }
        }
        self.expect(")")?;
        if !self.at("{") {
            return Err(self.unexpected("`{`"));
        }
        let mut body = Vec::new();
        let mut depth = 0;
        loop {
            let token = self.take();
            match &token.tok {
                Tok::End => return Err(self.unexpected("`}`")),
                Tok::Sign("{") => depth += 1,
                Tok::Sign("}") => depth -= 1,
                _ => {}
            }
            body.push(token);
            if depth == 0 {
                break;
            }
        }
        self.inlines.insert(name.text, Inline { params, body, span });
        Ok(())
    }

    /// `a[i].b`
    pub(super) fn place(&mut self) -> Parsed<Place> {
        let mut parts = Vec::new();
        let mut span = self.peek().span;
        loop {
            let name = self.name("a variable")?;
            let index = match self.eat("[") {
                true => {
                    let index = self.expression()?;
                    self.expect("]")?;
                    Some(index)
                }
                false => None,
            };
            parts.push((name, index));
            if !self.eat(".") {
                span = join(span, self.last);
                return Ok(Place { parts, span });
            }
        }
    }
}

/// From one place to another, where both are in one file and in this order.
pub(super) fn join(from: Span, to: Span) -> Span {
    if from.file == to.file && from.start <= to.start { from.to(to) } else { from }
}

/// Words that are no names.
pub(crate) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "active"
            | "assert"
            | "atomic"
            | "bit"
            | "bool"
            | "break"
            | "byte"
            | "c_code"
            | "c_decl"
            | "c_expr"
            | "c_state"
            | "c_track"
            | "chan"
            | "d_step"
            | "do"
            | "else"
            | "empty"
            | "enabled"
            | "eval"
            | "fi"
            | "for"
            | "full"
            | "goto"
            | "hidden"
            | "if"
            | "inline"
            | "int"
            | "len"
            | "ltl"
            | "mtype"
            | "nempty"
            | "never"
            | "nfull"
            | "notrace"
            | "od"
            | "of"
            | "pc_value"
            | "pid"
            | "printf"
            | "printm"
            | "priority"
            | "proctype"
            | "provided"
            | "return"
            | "run"
            | "select"
            | "short"
            | "show"
            | "skip"
            | "timeout"
            | "trace"
            | "typedef"
            | "unless"
            | "unsigned"
            | "xr"
            | "xs"
            | "D_proctype"
            | "np_"
            | "true"
            | "false"
    )
}

/// Reads a condition that stands in another text.
pub(crate) fn condition(
    text: &str,
    place: std::ops::Range<usize>,
    file: u32,
    model: &Model,
) -> (Option<Expr>, Vec<Diagnostic>) {
    let inner = text.get(place.clone()).unwrap_or_default();
    let mut all = super::lexer::tokens(inner, file);
    for token in &mut all {
        token.span.start += place.start as u32;
        token.span.end += place.start as u32;
    }
    let mut parser = Parser::new(all, model.procs.iter().map(|proc| proc.name.text.clone()).collect(), HashSet::new());
    let expr = parser.expression();
    if expr.is_ok() && parser.peek().tok != Tok::End {
        parser.unexpected("the end of the condition");
    }
    (expr.ok(), parser.diagnostics)
}
