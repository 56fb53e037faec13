//! Statements. A call of an `inline` is replaced by its body, token by token, and read as a block.

use std::rc::Rc;

use birk_ir::Span;

use super::super::ast::{Expr, ExprKind, Place, Stmt, StmtKind};
use super::super::lexer::{Tok, Token};
use super::{Parsed, Parser, join};
use birk_ir::Diagnostic;

impl Parser {
    /// `{ statements }`, and where it ends.
    pub(super) fn body(&mut self) -> Parsed<(Vec<Stmt>, Span)> {
        self.expect("{")?;
        let body = self.sequence()?;
        let end = self.expect("}")?;
        Ok((body, end))
    }

    fn at_end_of_sequence(&self) -> bool {
        self.at("}") || self.at("::") || self.at_word("fi") || self.at_word("od") || self.peek().tok == Tok::End
    }

    fn sequence(&mut self) -> Parsed<Vec<Stmt>> {
        self.deeper(|parser| {
            let mut found = Vec::new();
            loop {
                while parser.eat(";") || parser.eat("->") {}
                if parser.at_end_of_sequence() {
                    return Ok(found);
                }
                let before = parser.rest.len();
                match parser.step() {
                    Ok(steps) => found.extend(steps),
                    Err(reported) => {
                        if parser.is_hopeless() {
                            return Err(reported);
                        }
                        parser.skip_statement(before);
                        continue;
                    }
                }
                let is_separated =
                    parser.closed || parser.at(";") || parser.at("->") || parser.peek().first || parser.is_joined();
                if !is_separated && !parser.at_end_of_sequence() {
                    let reported = parser.unexpected("`;`");
                    if parser.is_hopeless() {
                        return Err(reported);
                    }
                    parser.skip_statement(before);
                }
            }
        })
    }

    /// The lines of a macro are one line: there, a keyword begins a statement, too.
    fn is_joined(&self) -> bool {
        let is_start = ["assert", "atomic", "break", "d_step", "do", "for", "goto", "if", "printf"]
            .iter()
            .any(|word| self.at_word(word));
        is_start && !self.peek().from.is_empty()
    }

    fn is_hopeless(&self) -> bool {
        self.diagnostics.len() >= super::MAX_ERRORS
            || self.depth >= super::MAX_DEPTH - 3
            || self.spent > super::MAX_SPENT
    }

    /// After an error: to the end of the statement.
    fn skip_statement(&mut self, before: usize) {
        if self.rest.len() == before {
            self.take();
        }
        while !self.at_end_of_sequence() && !self.at(";") && !self.at("->") {
            if self.at("{") {
                self.skip_braces();
            } else {
                self.take();
            }
        }
    }

    /// A declaration or a statement.
    fn step(&mut self) -> Parsed<Vec<Stmt>> {
        self.closed = false;
        let span = self.peek().span;
        if self.at_declaration() {
            let decls = self.declaration()?;
            let span = join(span, self.last);
            return Ok(decls.into_iter().map(|decl| Stmt { kind: StmtKind::Decl(decl), span }).collect());
        }
        if self.eat_word("xr") || self.eat_word("xs") {
            loop {
                self.place()?;
                if !self.eat(",") {
                    return Ok(vec![Stmt { kind: StmtKind::Nothing, span }]);
                }
            }
        }
        let found = self.statement()?;
        if self.eat_word("unless") {
            let escape = self.statement()?;
            let span = join(span, self.last);
            return Ok(vec![Stmt { kind: StmtKind::Unless(Box::new((found, escape))), span }]);
        }
        Ok(vec![found])
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.deeper(|parser| {
            let start = parser.peek().span;
            let kind = parser.statement_kind()?;
            let is_closed = match kind {
                StmtKind::If(_)
                | StmtKind::Do(_)
                | StmtKind::Atomic(_)
                | StmtKind::DStep(_)
                | StmtKind::Block(_)
                | StmtKind::Inlined(_)
                | StmtKind::For { .. }
                | StmtKind::ForIn { .. }
                | StmtKind::Else => true,
                // A label may stand without a semicolon.
                StmtKind::Label(..) => parser.closed,
                _ => false,
            };
            parser.closed = is_closed;
            Ok(Stmt { kind, span: join(start, parser.last) })
        })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let token = self.peek().clone();
        let Some(word) = token.name().cloned() else {
            return match token.tok {
                Tok::Sign("{") => Ok(StmtKind::Block(self.body()?.0)),
                _ => Ok(StmtKind::Wait(self.expression()?)),
            };
        };
        match &*word {
            "if" => self.options_of("fi").map(StmtKind::If),
            "do" => self.options_of("od").map(StmtKind::Do),
            "break" => {
                self.take();
                Ok(StmtKind::Break)
            }
            "goto" => {
                self.take();
                Ok(StmtKind::Goto(self.name("a label")?))
            }
            "atomic" => {
                self.take();
                Ok(StmtKind::Atomic(self.body()?.0))
            }
            "d_step" => {
                self.take();
                Ok(StmtKind::DStep(self.body()?.0))
            }
            "assert" => {
                self.take();
                Ok(StmtKind::Assert(self.expression()?))
            }
            "printf" | "printm" => self.print(),
            "else" => {
                self.take();
                Ok(StmtKind::Else)
            }
            "for" => self.for_loop(),
            "select" => self.select(),
            "c_code" | "c_decl" => {
                self.refuse("E2035", token.span, "embedded C is not supported", "write it in Promela");
                self.take();
                self.skip_braces();
                Ok(StmtKind::Nothing)
            }
            "return" | "set_priority" => {
                self.refuse("E2037", token.span, &format!("`{word}` is not supported"), "write it without");
                self.take();
                self.expression()?;
                Ok(StmtKind::Nothing)
            }
            _ if self.is_label() => self.label(),
            _ if self.inlines.contains_key(&word) && self.ahead(1).is_some_and(|next| next.is("(")) => self.call(),
            _ if super::is_keyword(&word) || self.procs.contains(&word) => Ok(StmtKind::Wait(self.expression()?)),
            _ => self.of_place(),
        }
    }

    fn print(&mut self) -> Parsed<StmtKind> {
        self.take();
        self.expect("(")?;
        if matches!(self.peek().tok, Tok::Text(_)) {
            self.take();
            self.eat(",");
        }
        self.arguments()?;
        self.expect(")")?;
        Ok(StmtKind::Print)
    }

    fn is_label(&self) -> bool {
        let is_name = self.peek().name().is_some_and(|word| !super::is_keyword(word));
        is_name && self.ahead(1).is_some_and(|next| next.is(":"))
    }

    fn label(&mut self) -> Parsed<StmtKind> {
        let name = self.name("a label")?;
        self.expect(":")?;
        let is_alone = self.at_end_of_sequence() || self.at(";") || self.at("->") || self.at_declaration();
        let stmt = match is_alone {
            // A label without a statement stands at a `skip`.
            true => Stmt { kind: StmtKind::Wait(one(name.span)), span: name.span },
            false => self.statement()?,
        };
        self.closed |= is_alone;
        Ok(StmtKind::Label(name, Box::new(stmt)))
    }

    fn options_of(&mut self, end: &str) -> Parsed<Vec<Vec<Stmt>>> {
        self.take();
        let mut options = Vec::new();
        while self.at("::") {
            let span = self.take().span;
            let option = self.sequence()?;
            if option.iter().all(|stmt| matches!(stmt.kind, StmtKind::Decl(_) | StmtKind::Nothing)) {
                let message = "an option needs at least one statement";
                self.diagnostics.push(Diagnostic::new("E2001", span, message, "nothing behind it"));
            }
            options.push(option);
        }
        if options.is_empty() {
            return Err(self.unexpected("`::`"));
        }
        if !self.eat_word(end) {
            return Err(self.unexpected(&format!("`::` or `{end}`")));
        }
        Ok(options)
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.take();
        self.expect("(")?;
        let variable = self.place()?;
        if self.eat_word("in") {
            let array = self.place()?;
            self.expect(")")?;
            let _ = self.eat(";") || self.eat("->");
            let body = self.body()?.0;
            return Ok(StmtKind::ForIn { variable, array, body });
        }
        let (from, to) = self.range()?;
        let _ = self.eat(";") || self.eat("->");
        let body = self.body()?.0;
        Ok(StmtKind::For { variable, from, to, body })
    }

    fn select(&mut self) -> Parsed<StmtKind> {
        self.take();
        self.expect("(")?;
        let variable = self.place()?;
        let (from, to) = self.range()?;
        // SPIN replaces such a statement before it reads it, except in an inline.
        let is_plain = matches!(&variable.parts[..], [(name, None)] if name.text.chars().all(char::is_alphanumeric));
        let spelled = match (&from.kind, &to.kind) {
            (ExprKind::Const(from), ExprKind::Const(to)) => is_plain && !self.inlining && to - from <= 32,
            _ => false,
        };
        Ok(StmtKind::Select { variable, from, to, spelled })
    }

    /// `: from .. to )`
    fn range(&mut self) -> Parsed<(Expr, Expr)> {
        self.expect(":")?;
        let from = self.expression()?;
        self.expect("..")?;
        let to = self.expression()?;
        self.expect(")")?;
        Ok((from, to))
    }

    /// What begins with a variable: an assignment, a send, a receive, or a condition.
    fn of_place(&mut self) -> Parsed<StmtKind> {
        let place = self.place()?;
        let token = self.peek().clone();
        match token.tok {
            Tok::Sign("=") => {
                self.take();
                Ok(StmtKind::Assign(place, self.expression()?))
            }
            Tok::Sign(sign @ ("++" | "--")) => {
                self.take();
                let span = join(place.span, self.last);
                let old = Expr { span: place.span, kind: ExprKind::Place(place.clone()) };
                let kind = ExprKind::Binary(if sign == "++" { "+" } else { "-" }, Box::new((old, one(span))));
                Ok(StmtKind::Assign(place, Expr { kind, span }))
            }
            Tok::Sign(sign @ ("!" | "!!")) => {
                self.take();
                let args = self.message()?;
                Ok(StmtKind::Send { channel: place, args, sorted: sign == "!!" })
            }
            Tok::Sign("?" | "??") if !self.ahead(1).is_some_and(|next| next.is("[")) => {
                self.take();
                self.receive(place, token.is("??"))
            }
            _ => Ok(StmtKind::Wait(self.after_place(place)?)),
        }
    }

    fn receive(&mut self, channel: Place, random: bool) -> Parsed<StmtKind> {
        let keep = self.eat("<");
        let args = self.patterns()?;
        if keep {
            self.expect(">")?;
        }
        Ok(StmtKind::Receive { channel, args, random, keep })
    }

    /// What is sent: `a, b`, also as `kind(a, b)`.
    fn message(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = vec![self.expression()?];
        if self.eat("(") {
            args.extend(self.arguments()?);
            self.expect(")")?;
            return Ok(args);
        }
        while self.eat(",") {
            args.push(self.expression()?);
        }
        Ok(args)
    }

    /// A call of an inline.
    fn call(&mut self) -> Parsed<StmtKind> {
        let name = self.take();
        let inline = name.name().and_then(|text| self.inlines.get(text)).cloned();
        let Some(inline) = inline else { return Err(self.unexpected("an inline")) };
        let args = self.texts()?;
        if args.len() != inline.params.len() {
            let (wanted, given) = (inline.params.len(), args.len());
            let message = format!("this inline has {wanted} parameters, and {given} arguments are given");
            let diagnostic = Diagnostic::new("E2001", name.span, message, "here").related(inline.span, "declared here");
            self.diagnostics.push(diagnostic);
            return Ok(StmtKind::Nothing);
        }
        let text = name.name().cloned().unwrap_or_else(|| "".into());
        if name.from.contains(&text) {
            return Err(self.error("E2001", &name, "an inline may not call itself", "calls itself"));
        }
        let from: Rc<[Rc<str>]> = name.from.iter().cloned().chain([text]).collect();
        let mut body = Vec::new();
        for token in &inline.body {
            match inline.params.iter().position(|param| token.name() == Some(param)) {
                Some(param) => {
                    // The first stands on a new line if the parameter does.
                    let first = args[param].iter().take(1).map(|arg| Token { first: token.first, ..arg.clone() });
                    body.extend(first.chain(args[param].iter().skip(1).cloned()));
                }
                None => body.push(Token { from: Rc::clone(&from), ..token.clone() }),
            }
        }
        self.rest.extend(body.into_iter().rev());
        let outer = std::mem::replace(&mut self.inlining, true);
        let body = self.deeper(Self::body);
        self.inlining = outer;
        Ok(StmtKind::Inlined(body?.0))
    }

    /// The arguments of an inline, as they are written.
    fn texts(&mut self) -> Parsed<Vec<Vec<Token>>> {
        self.expect("(")?;
        let mut args: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let token = self.take();
            match token.tok {
                Tok::End => return Err(self.unexpected("`)`")),
                Tok::Sign(")") if depth == 0 => break,
                Tok::Sign("(" | "[" | "{") => depth += 1,
                Tok::Sign(")" | "]" | "}") => depth -= 1,
                Tok::Sign(",") if depth == 0 => {
                    args.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            args.last_mut().expect("one at least").push(token);
        }
        if args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        Ok(args)
    }
}

fn one(span: Span) -> Expr {
    Expr { kind: ExprKind::Const(1), span }
}
