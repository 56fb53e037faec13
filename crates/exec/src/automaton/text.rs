//! Formulas as text, in the spellings of BIR and SPIN: `[] <> X U W R V G F`, or in words.
//!
//! A proposition is a name, or any text in double quotes.

use super::MAX_PROPOSITIONS;
use super::formula::{FormulaId, Formulas};

/// Deeper formulas are refused, so that reading them may recurse.
const MAX_DEPTH: usize = 200;

/// What is wrong with a text, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where.
    pub at: usize,
    /// What.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Symbol(&'static str),
    End,
}

/// Symbols, the longer first; the second is what it means.
const SYMBOLS: &[(&str, &str)] = &[
    ("<->", "<->"),
    ("->", "->"),
    ("=>", "->"),
    ("[]", "[]"),
    ("<>", "<>"),
    ("&&", "&&"),
    ("||", "||"),
    ("/\\", "&&"),
    ("\\/", "||"),
    ("&", "&&"),
    ("|", "||"),
    ("!", "!"),
    ("~", "!"),
    ("(", "("),
    (")", ")"),
];
/// Words that are operators.
const WORDS: &[(&str, &str)] = &[
    ("G", "[]"),
    ("always", "[]"),
    ("F", "<>"),
    ("eventually", "<>"),
    ("X", "X"),
    ("next", "X"),
    ("U", "U"),
    ("until", "U"),
    ("W", "W"),
    ("weakuntil", "W"),
    ("R", "R"),
    ("V", "R"),
    ("release", "R"),
    ("true", "true"),
    ("false", "false"),
];

/// Reads a formula.
pub fn parse(text: &str, formulas: &mut Formulas) -> Result<FormulaId, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, depth: 0, formulas };
    let formula = parser.binary(0)?;
    match parser.peek() {
        Token::End => Ok(formula),
        _ => Err(parser.error("expected an operator")),
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '"' {
            let end = rest[1..].find('"').ok_or(ParseError { at, reason: "this quote is never closed".into() })?;
            tokens.push((at, Token::Name(rest[1..=end].to_owned())));
            at += end + 2;
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || "_.@".contains(c);
        if is_word(first) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            let operator = WORDS.iter().find(|(name, _)| *name == word);
            let constant = match word {
                "1" => Some("true"),
                "0" => Some("false"),
                _ => operator.map(|(_, meaning)| *meaning),
            };
            tokens.push((at, constant.map_or_else(|| Token::Name(word.to_owned()), Token::Symbol)));
            at += end;
            continue;
        }
        let Some((symbol, meaning)) = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol)) else {
            return Err(ParseError { at, reason: format!("`{first}` has no meaning in a formula") });
        };
        tokens.push((at, Token::Symbol(meaning)));
        at += symbol.len();
    }
    tokens.push((text.len(), Token::End));
    Ok(tokens)
}

struct Parser<'t> {
    tokens: &'t [(usize, Token)],
    next: usize,
    depth: usize,
    formulas: &'t mut Formulas,
}

/// From weak to strong; those of a level associate to the right, as in SPIN's manual for `U`.
const LEVELS: &[&[&str]] = &[&["<->"], &["->"], &["||"], &["&&"], &["U", "W", "R"]];

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    fn error(&self, expected: &str) -> ParseError {
        let (at, token) = &self.tokens[self.next];
        let found = match token {
            Token::Name(name) => format!("found `{name}`"),
            Token::Symbol(symbol) => format!("found `{symbol}`"),
            Token::End => "the formula ends here".into(),
        };
        ParseError { at: *at, reason: format!("{expected}, but {found}") }
    }

    fn binary(&mut self, level: usize) -> Result<FormulaId, ParseError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let left = self.binary(level + 1)?;
        let Token::Symbol(operator) = *self.peek() else { return Ok(left) };
        if !operators.contains(&operator) {
            return Ok(left);
        }
        self.next += 1;
        self.deeper()?;
        let right = self.binary(level)?;
        self.depth -= 1;
        let formulas = &mut *self.formulas;
        Ok(match operator {
            "&&" => formulas.and([left, right]),
            "||" => formulas.or([left, right]),
            "->" => {
                let not = formulas.negate(left);
                formulas.or([not, right])
            }
            "<->" => {
                let (not_left, not_right) = (formulas.negate(left), formulas.negate(right));
                let (both, neither) = (formulas.and([left, right]), formulas.and([not_left, not_right]));
                formulas.or([both, neither])
            }
            "U" => formulas.until(left, right),
            "W" => formulas.weak_until(left, right),
            _ => formulas.release(left, right),
        })
    }

    fn unary(&mut self) -> Result<FormulaId, ParseError> {
        let token = self.peek().clone();
        self.deeper()?;
        let formula = match token {
            Token::Name(name) => {
                self.next += 1;
                if self.formulas.names().len() >= MAX_PROPOSITIONS && !self.formulas.names().contains(&name) {
                    let reason = format!("a formula has at most {MAX_PROPOSITIONS} propositions");
                    return Err(ParseError { at: self.tokens[self.next - 1].0, reason });
                }
                self.formulas.proposition(&name)
            }
            Token::Symbol(constant @ ("true" | "false")) => {
                self.next += 1;
                self.formulas.constant(constant == "true")
            }
            Token::Symbol("(") => {
                self.next += 1;
                let inner = self.binary(0)?;
                if *self.peek() != Token::Symbol(")") {
                    return Err(self.error("expected `)`"));
                }
                self.next += 1;
                inner
            }
            Token::Symbol(operator @ ("!" | "[]" | "<>" | "X")) => {
                self.next += 1;
                let inner = self.unary()?;
                match operator {
                    "!" => self.formulas.negate(inner),
                    "[]" => self.formulas.always(inner),
                    "<>" => self.formulas.eventually(inner),
                    _ => self.formulas.next(inner),
                }
            }
            _ => return Err(self.error("expected a proposition, `!`, `[]`, `<>`, `X` or `(`")),
        };
        self.depth -= 1;
        Ok(formula)
    }

    fn deeper(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(self.error(&format!("a formula is at most {MAX_DEPTH} operators deep"))),
            false => Ok(()),
        }
    }
}
