//! Expressions, and the operators of temporal logic, which stand in `ltl` only.

use super::super::ast::{Expr, ExprKind, Name, Pattern, Place};
use super::super::lexer::Tok;
use super::super::preprocess::precedence;
use super::{Parsed, Parser, join};

/// The binary operators, as static texts.
const OPERATORS: &[&str] =
    &["||", "&&", "|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%"];
/// The questions to a channel.
const QUESTIONS: &[&str] = &["len", "empty", "full", "nempty", "nfull"];

/// How tightly the operators bind that formulas have in addition; those of C come between and behind.
const IMPLIES: u8 = 1;
const UNTIL: u8 = 10;
/// An expression has at most so many operators side by side.
const MAX_LENGTH: usize = 2000;

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    /// The binary operator that comes next, and how tightly it binds.
    fn operator(&self) -> Option<(&'static str, u8)> {
        match &self.peek().tok {
            Tok::Sign("->") if self.temporal => Some(("->", IMPLIES)),
            Tok::Sign("<->") if self.temporal => Some(("<->", IMPLIES)),
            Tok::Sign(sign) => {
                let own = precedence(sign)?;
                // `||` and `&&` bind less tightly than `U`, everything else more.
                let level = if own <= 2 { IMPLIES + own } else { UNTIL + own };
                let known = OPERATORS.iter().find(|known| *known == sign)?;
                Some((known, level))
            }
            Tok::Name(word) if self.temporal => match &**word {
                "U" | "until" | "stronguntil" => Some(("U", UNTIL)),
                "W" | "weakuntil" => Some(("W", UNTIL)),
                "V" | "release" => Some(("V", UNTIL)),
                "implies" => Some(("->", IMPLIES)),
                "equivalent" => Some(("<->", IMPLIES)),
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        self.deeper(|parser| {
            let left = parser.unary()?;
            parser.continued(left, level)
        })
    }

    /// The operators behind a first operand.
    fn continued(&mut self, mut left: Expr, level: u8) -> Parsed<Expr> {
        let mut length = 0;
        while let Some((sign, own)) = self.operator().filter(|(_, own)| *own > level) {
            length += 1;
            if length > MAX_LENGTH {
                return Err(self.unexpected("a shorter expression"));
            }
            self.take();
            let right = self.binary(own)?;
            let span = join(left.span, self.last);
            let parts = Box::new((left, right));
            let kind = match sign {
                "U" | "V" | "W" | "->" | "<->" => ExprKind::Between(sign, parts),
                _ => ExprKind::Binary(sign, parts),
            };
            left = Expr { kind, span };
        }
        Ok(left)
    }

    /// An expression whose first variable was read already.
    pub(super) fn after_place(&mut self, place: Place) -> Parsed<Expr> {
        let first = self.polled(place)?;
        self.continued(first, 0)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let sign = match &token.tok {
            Tok::Sign("!") => "!",
            Tok::Sign("-") => "-",
            Tok::Sign("~") => "~",
            Tok::Sign("!!") => "!!",
            Tok::Sign("[]") if self.temporal => "[]",
            Tok::Sign("<>") if self.temporal => "<>",
            Tok::Name(word) if self.temporal => match &**word {
                "always" => "[]",
                "eventually" => "<>",
                "X" | "next" => "X",
                _ => return self.primary(),
            },
            _ => return self.primary(),
        };
        self.take();
        let operand = self.deeper(Self::unary)?;
        let span = join(token.span, self.last);
        let kind = match sign {
            "[]" | "<>" | "X" => ExprKind::Temporal(sign, Box::new(operand)),
            "!!" => {
                let inner = Expr { kind: ExprKind::Unary("!", Box::new(operand)), span };
                ExprKind::Unary("!", Box::new(inner))
            }
            _ => ExprKind::Unary(sign, Box::new(operand)),
        };
        Ok(Expr { kind, span })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let span = token.span;
        let kind = match &token.tok {
            Tok::Number(number) => {
                self.take();
                ExprKind::Const(*number)
            }
            Tok::Sign("(") => return self.parenthesised(),
            Tok::Name(word) => match &**word {
                "true" | "skip" => self.word(ExprKind::Const(1)),
                "false" => self.word(ExprKind::Const(0)),
                "timeout" => self.word(ExprKind::Timeout),
                "run" => return self.run(),
                question if QUESTIONS.contains(&question) => {
                    let what = QUESTIONS.iter().find(|what| **what == question).expect("just found");
                    self.take();
                    self.expect("(")?;
                    let channel = self.place()?;
                    self.expect(")")?;
                    ExprKind::Ask(what, channel)
                }
                "np_" | "enabled" | "pc_value" | "get_priority" | "c_expr" => {
                    self.take();
                    let help = "say it with labels: `P[i]@label`";
                    self.refuse("E2037", span, &format!("`{word}` is not supported"), help);
                    if self.eat("(") {
                        self.expression()?;
                        self.expect(")")?;
                    } else {
                        self.skip_braces();
                    }
                    ExprKind::Error
                }
                _ if self.procs.contains(word) => return self.remote(),
                _ => {
                    let place = self.place()?;
                    return self.polled(place);
                }
            },
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expr { kind, span: join(span, self.last) })
    }

    fn word(&mut self, kind: ExprKind) -> ExprKind {
        self.take();
        kind
    }

    /// `(e)` and `(c -> a : b)`
    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.expect("(")?;
        let first = self.expression()?;
        let (condition, yes) = match first {
            _ if !self.temporal && self.at("->") => {
                self.take();
                let yes = self.expression()?;
                (first, yes)
            }
            // In a formula `->` was read as an implication.
            Expr { kind: ExprKind::Between("->", parts), .. } if self.at(":") => *parts,
            first => {
                let end = self.expect(")")?;
                return Ok(Expr { span: join(start, end), ..first });
            }
        };
        self.expect(":")?;
        let no = self.expression()?;
        let end = self.expect(")")?;
        Ok(Expr { kind: ExprKind::Cond(Box::new((condition, yes, no))), span: join(start, end) })
    }

    fn run(&mut self) -> Parsed<Expr> {
        let start = self.take().span;
        let name = self.name("the name of a proctype")?;
        self.expect("(")?;
        let args = self.arguments()?;
        self.expect(")")?;
        self.options()?;
        Ok(Expr { kind: ExprKind::Run(name, args), span: join(start, self.last) })
    }

    /// What stands between parentheses, up to the closing one.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        while !self.at(")") {
            args.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        Ok(args)
    }

    /// `P[i]@label`, `P@label`, `P[i]:x`, `P:x`
    fn remote(&mut self) -> Parsed<Expr> {
        let token = self.take();
        let text = token.name().cloned().unwrap_or_else(|| "".into());
        let name = Name { text, span: token.span };
        let index = match self.eat("[") {
            true => {
                let index = self.expression()?;
                self.expect("]")?;
                Some(Box::new(index))
            }
            false => None,
        };
        let kind = if self.eat("@") {
            ExprKind::At(name, index, self.name("a label")?)
        } else if self.eat(":") {
            ExprKind::Remote(name, index, self.place()?)
        } else {
            return Err(self.unexpected("`@` or `:`"));
        };
        Ok(Expr { kind, span: join(token.span, self.last) })
    }

    /// A variable, or a poll of a channel: `c?[x]`.
    fn polled(&mut self, place: Place) -> Parsed<Expr> {
        let is_poll = self.ahead(1).is_some_and(|next| next.is("["));
        if is_poll && (self.at("?") || self.at("??")) {
            let random = self.take().is("??");
            self.expect("[")?;
            let args = self.patterns()?;
            self.expect("]")?;
            let span = join(place.span, self.last);
            return Ok(Expr { kind: ExprKind::Poll { channel: place, args, random }, span });
        }
        Ok(Expr { span: place.span, kind: ExprKind::Place(place) })
    }

    /// What a receive has behind its `?`: `x, 1, eval(y)`, also as `kind(x, y)`.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        if self.eat("(") {
            let found = self.deeper(Self::patterns)?;
            self.expect(")")?;
            return Ok(found);
        }
        let mut found = Vec::new();
        loop {
            found.push(self.pattern()?);
            if self.eat("(") {
                found.extend(self.deeper(Self::patterns)?);
                self.expect(")")?;
                return Ok(found);
            }
            if !self.eat(",") {
                return Ok(found);
            }
        }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        if self.eat_word("eval") {
            self.expect("(")?;
            let value = self.expression()?;
            self.expect(")")?;
            return Ok(Pattern::Eval(value));
        }
        if self.eat_word("true") || self.eat_word("skip") {
            return Ok(Pattern::Const(1));
        }
        if self.eat_word("false") {
            return Ok(Pattern::Const(0));
        }
        let is_negative = self.eat("-");
        if let Tok::Number(number) = self.peek().tok {
            self.take();
            return Ok(Pattern::Const(if is_negative { -number } else { number }));
        }
        if is_negative {
            return Err(self.unexpected("a number"));
        }
        Ok(Pattern::Place(self.place()?))
    }
}
