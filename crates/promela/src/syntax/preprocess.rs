//! Macros, conditions and included files. A token that comes out of a macro has the place where the macro is used, so
//! that every message and every step points into a text that the user wrote there.

use std::collections::HashMap;
use std::rc::Rc;

use birk_ir::{Diagnostic, Resolve, Span};

use super::lexer::{Tok, Token, tokens};

/// No text grows beyond this many tokens.
const MAX_TOKENS: usize = 2_000_000;
/// Files are not included deeper than this.
const MAX_DEPTH: usize = 40;

#[derive(Clone, Debug)]
struct Macro {
    params: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
    /// Given from outside: no definition in the text replaces it.
    fixed: bool,
}

struct Preprocessor<'r> {
    macros: HashMap<Rc<str>, Macro>,
    files: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
    out: Vec<Token>,
    resolve: Resolve<'r>,
    /// How many tokens were looked at.
    spent: usize,
}

/// What is left of a model when all is expanded.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) tokens: Vec<Token>,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The names and values that were given from outside and that no file asks for.
    pub(crate) defined: Vec<(String, String)>,
}

/// Expands a text; `given` are the `-D NAME=VALUE` of the command line.
pub(crate) fn expand(text: &str, given: &[(String, String)], resolve: Resolve<'_>) -> Expanded {
    let mut macros = HashMap::new();
    for (name, value) in given {
        let mut body = tokens(value, 0);
        body.pop();
        for token in &mut body {
            token.span = Span::default();
            token.first = false;
        }
        macros.insert(name.as_str().into(), Macro { params: None, body, fixed: true });
    }
    let files = vec![(String::new(), text.to_owned())];
    let mut all = Preprocessor { macros, files, diagnostics: Vec::new(), out: Vec::new(), resolve, spent: 0 };
    all.file(0, 0);
    let end =
        Token { tok: Tok::End, span: Span::new(text.len(), text.len()), first: true, spaced: true, from: Rc::new([]) };
    all.out.push(end);
    let mut defined: Vec<(String, String)> = all
        .macros
        .iter()
        .filter(|(_, made)| made.params.is_none() && made.body.len() == 1)
        .filter_map(|(name, made)| match &made.body[0].tok {
            Tok::Number(number) => Some((name.to_string(), number.to_string())),
            _ => None,
        })
        .collect();
    defined.sort();
    Expanded { tokens: all.out, files: all.files, diagnostics: all.diagnostics, defined }
}

/// One `#if`: whether its present part is read, and whether one of its parts was.
#[derive(Clone, Copy)]
struct Branch {
    read: bool,
    was_read: bool,
    span: Span,
}

impl Preprocessor<'_> {
    fn report(&mut self, code: &'static str, span: Span, message: impl Into<String>, label: &str) {
        self.diagnostics.push(Diagnostic::new(code, span, message, label));
    }

    fn file(&mut self, file: u32, depth: usize) {
        let text = self.files[file as usize].1.clone();
        let all = tokens(&text, file);
        let mut branches: Vec<Branch> = Vec::new();
        let mut at = 0;
        while at < all.len() && self.spent < MAX_TOKENS {
            let token = &all[at];
            if token.tok == Tok::End {
                break;
            }
            let reads = branches.iter().all(|branch| branch.read);
            if token.is("#") && token.first {
                let line_end = (at + 1..all.len()).find(|&next| all[next].first).unwrap_or(all.len() - 1);
                self.directive(&all[at..line_end], &mut branches, reads, depth);
                at = line_end;
                continue;
            }
            if !reads {
                at += 1;
                continue;
            }
            let mut pending = Vec::new();
            at += 1;
            self.token(token.clone(), &mut pending, &all, &mut at);
        }
        if let Some(open) = branches.last() {
            self.report("E2010", open.span, "this condition is not closed", "no `#endif` for it");
        }
        if self.spent >= MAX_TOKENS {
            let span = Span { file, ..Span::default() };
            self.report("E2010", span, "macros make this model too long", "more than two million tokens");
        }
    }

    /// A token of the text and everything that its expansion leads to.
    fn token(&mut self, token: Token, pending: &mut Vec<Token>, all: &[Token], at: &mut usize) {
        pending.push(token);
        while let Some(token) = pending.pop() {
            self.spent += 1;
            if self.spent >= MAX_TOKENS {
                return;
            }
            let found = token.name().and_then(|name| Some((Rc::clone(name), self.macros.get(name)?.clone())));
            let Some((name, made)) = found.filter(|(name, _)| !token.from.contains(name)) else {
                self.out.push(token);
                continue;
            };
            let from: Rc<[Rc<str>]> = token.from.iter().cloned().chain([Rc::clone(&name)]).collect();
            let mut span = token.span;
            let mut args = Vec::new();
            if let Some(params) = &made.params {
                let next = pending.last().or_else(|| all.get(*at));
                if !next.is_some_and(|next| next.is("(")) {
                    self.out.push(token);
                    continue;
                }
                let Some((given, end)) = arguments(pending, all, at) else {
                    self.report("E2010", token.span, format!("`{name}` lacks the end of its arguments"), "no `)`");
                    continue;
                };
                let wanted = params.len();
                if given.len() != wanted && !(wanted == 0 && given.len() == 1 && given[0].is_empty()) {
                    let message = format!("`{name}` has {wanted} parameters, and {} arguments are given", given.len());
                    self.report("E2010", token.span, message, "here");
                    continue;
                }
                if end.file == span.file && end.end > span.start && token.from.is_empty() {
                    span = span.to(end);
                }
                args = given;
            }
            let mut expanded = body(&made, &args, span, &from);
            if let Some(first) = expanded.first_mut() {
                first.first = token.first;
            }
            pending.extend(expanded.into_iter().rev());
        }
    }

    fn directive(&mut self, line: &[Token], branches: &mut Vec<Branch>, reads: bool, depth: usize) {
        let Some(word) = line.get(1) else { return };
        let rest = &line[2..];
        let name = word.name().map(|name| name.to_string()).unwrap_or_default();
        let is_defined = |all: &Self| rest.first().and_then(Token::name).is_some_and(|n| all.macros.contains_key(n));
        let whole = line[0].span.to(line[line.len() - 1].span);
        match name.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let read = reads
                    && match name.as_str() {
                        "if" => self.condition(rest, whole),
                        "ifdef" => is_defined(self),
                        _ => !is_defined(self),
                    };
                branches.push(Branch { read, was_read: read || !reads, span: whole });
            }
            "else" | "elif" => {
                let Some(branch) = branches.last().copied() else {
                    return self.report("E2010", whole, format!("`#{name}` without `#if`"), "nothing to continue");
                };
                let read = !branch.was_read && (name == "else" || self.condition(rest, whole));
                *branches.last_mut().expect("just read") =
                    Branch { read, was_read: branch.was_read || read, span: branch.span };
            }
            "endif" => {
                if branches.pop().is_none() {
                    self.report("E2010", whole, "`#endif` without `#if`", "nothing to end");
                }
            }
            _ if !reads => {}
            "define" => self.define(rest, whole),
            "undef" => {
                if let Some(name) = rest.first().and_then(Token::name)
                    && self.macros.get(name).is_some_and(|made| !made.fixed)
                {
                    self.macros.remove(name);
                }
            }
            "include" => self.include(rest, whole, depth),
            "error" => self.report("E2010", whole, "the model stops here: `#error`", "reached"),
            "pragma" | "line" | "ident" | "warning" => {}
            // `# 1 "file"`: what a preprocessor leaves behind.
            "" if matches!(word.tok, Tok::Number(_)) => {}
            _ => self.report("E2010", whole, format!("`#{name}` is not known"), "not a directive"),
        }
    }

    fn define(&mut self, rest: &[Token], whole: Span) {
        let Some(name) = rest.first().and_then(Token::name).cloned() else {
            return self.report("E2010", whole, "`#define` needs a name", "no name");
        };
        let mut body = &rest[1..];
        let mut params = None;
        if body.first().is_some_and(|next| next.is("(") && !next.spaced) {
            let close = body.iter().position(|token| token.is(")"));
            let Some(close) = close else {
                return self.report("E2010", whole, "the parameters of this macro have no end", "no `)`");
            };
            params = Some(body[1..close].iter().filter_map(|token| token.name().cloned()).collect());
            body = &body[close + 1..];
        }
        if self.macros.get(&name).is_some_and(|made| made.fixed) {
            return;
        }
        self.macros.insert(name, Macro { params, body: body.to_vec(), fixed: false });
    }

    fn include(&mut self, rest: &[Token], whole: Span, depth: usize) {
        let Some(Tok::Text(name)) = rest.first().map(|token| &token.tok) else {
            return self.report("E2011", whole, "`#include` needs the name of a file in quotes", "expected \"…\"");
        };
        if depth >= MAX_DEPTH {
            return self.report("E2011", whole, "files include each other too deeply", "not read");
        }
        // First beside the file that names it, then beside the model.
        let folder = self.files[whole.file as usize].0.rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}"));
        let found = folder.and_then(|path| Some(((self.resolve)(&path).ok()?, path)));
        match found.map_or_else(|| (self.resolve)(name).map(|text| (text, name.to_string())), Ok) {
            Ok((text, path)) => {
                let number = self.files.len() as u32;
                self.files.push((path, text));
                self.file(number, depth + 1);
            }
            Err(reason) => self.report("E2011", whole, format!("cannot read `{name}`: {reason}"), "included here"),
        }
    }

    /// The value of `#if`.
    fn condition(&mut self, rest: &[Token], whole: Span) -> bool {
        let mut plain: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < rest.len() {
            if rest[at].name().is_some_and(|name| &**name == "defined") {
                let open = usize::from(rest.get(at + 1).is_some_and(|next| next.is("(")));
                let name = rest.get(at + 1 + open).and_then(Token::name);
                let known = name.is_some_and(|name| self.macros.contains_key(name));
                plain.push(Token { tok: Tok::Number(i64::from(known)), ..rest[at].clone() });
                at += 2 + 2 * open;
                continue;
            }
            plain.push(rest[at].clone());
            at += 1;
        }
        let kept = std::mem::take(&mut self.out);
        let mut next = 0;
        while next < plain.len() {
            let token = plain[next].clone();
            next += 1;
            self.token(token, &mut Vec::new(), &plain, &mut next);
        }
        let expanded = std::mem::replace(&mut self.out, kept);
        let mut value = Value { tokens: &expanded, at: 0, depth: 0 };
        match value.binary(0) {
            Some(result) if value.at == expanded.len() => result != 0,
            _ => {
                self.report("E2010", whole, "this condition is no constant expression", "cannot be evaluated");
                false
            }
        }
    }
}

/// What a macro stands for, with its arguments put in.
fn body(made: &Macro, args: &[Vec<Token>], span: Span, from: &Rc<[Rc<str>]>) -> Vec<Token> {
    let mut found = Vec::new();
    let mut quotes = false;
    // Where the token before is joined with the next.
    let mut joint = None;
    for part in &made.body {
        if part.is("##") {
            joint = Some(found.len());
            continue;
        }
        if part.is("#") && made.params.is_some() {
            quotes = true;
            continue;
        }
        let param = made.params.iter().flatten().position(|param| part.name() == Some(param));
        match param {
            // What is quoted is only printed.
            _ if std::mem::take(&mut quotes) => {
                let tok = Tok::Text("".into());
                found.push(Token { tok, span, first: false, from: Rc::clone(from), ..part.clone() });
            }
            // Arguments keep their own places.
            Some(param) => found.extend(args[param].iter().cloned()),
            None => found.push(Token { span, first: false, from: Rc::clone(from), ..part.clone() }),
        }
        if let Some(at) = joint.take() {
            join(&mut found, at);
        }
    }
    found
}

/// Makes one token of the one before a place and the one at it, where that is a token.
fn join(all: &mut Vec<Token>, at: usize) {
    let Some((left, right)) = at.checked_sub(1).and_then(|left| Some((all.get(left)?, all.get(at)?))) else { return };
    let text = |token: &Token| token.text().trim_matches('`').to_owned();
    if let [joined, _] = &tokens(&(text(left) + &text(right)), 0)[..] {
        all[at - 1].tok = joined.tok.clone();
        all.remove(at);
    }
}

/// The arguments of a macro behind its `(`, and where they end.
fn arguments(pending: &mut Vec<Token>, all: &[Token], at: &mut usize) -> Option<(Vec<Vec<Token>>, Span)> {
    let mut next = || {
        pending.pop().or_else(|| {
            let token = all.get(*at)?;
            *at += 1;
            Some(token.clone())
        })
    };
    next();
    let mut args = vec![Vec::new()];
    let mut depth = 0;
    loop {
        let mut token = next()?;
        match &token.tok {
            Tok::End => return None,
            Tok::Sign("(") => depth += 1,
            Tok::Sign(")") if depth == 0 => return Some((args, token.span)),
            Tok::Sign(")") => depth -= 1,
            Tok::Sign(",") if depth == 0 => {
                args.push(Vec::new());
                continue;
            }
            _ => {}
        }
        token.first = false;
        args.last_mut().expect("one at least").push(token);
    }
}

/// A constant expression of `#if`.
struct Value<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Value<'_> {
    fn binary(&mut self, level: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some(Tok::Sign(sign)) = self.tokens.get(self.at).map(|token| &token.tok) {
            let Some(own) = precedence(sign).filter(|own| *own > level) else { break };
            let sign = *sign;
            self.at += 1;
            let right = self.binary(own)?;
            left = match sign {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(right as u32),
                ">>" => left.wrapping_shr(right as u32),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        let token = self.tokens.get(self.at).filter(|_| self.depth < 200)?;
        self.at += 1;
        let value = match &token.tok {
            Tok::Number(number) => *number,
            // A name that is no macro.
            Tok::Name(_) => 0,
            Tok::Sign("!") => i64::from(self.unary()? == 0),
            Tok::Sign("!!") => i64::from(self.unary()? != 0),
            Tok::Sign("-") => self.unary()?.wrapping_neg(),
            Tok::Sign("+") => self.unary()?,
            Tok::Sign("~") => !self.unary()?,
            Tok::Sign("(") => {
                let inner = self.binary(0)?;
                self.tokens.get(self.at).filter(|token| token.is(")"))?;
                self.at += 1;
                inner
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }
}

/// How tightly an operator of C binds.
pub(super) fn precedence(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}
