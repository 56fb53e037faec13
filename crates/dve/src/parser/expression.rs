//! Expressions, by the precedence of their operators.

use birk_ir::{Diagnostic, Span, edit};

use super::Parser;
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::lexer::{NAME, NUMBER};

/// Deeper expressions are refused, so that later passes may recurse.
const MAX_DEPTH: u32 = 200;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Expr {
        self.binary(1)
    }

    fn binary(&mut self, level: u8) -> Expr {
        let mut left = self.unary();
        while let Some((op, own)) = Binary::of(self.kind()).filter(|(_, own)| *own >= level) {
            let sign = self.bump().span;
            let right = self.binary(own + 1);
            self.warn_of_mixture(op, &left, sign);
            let span = left.span.to(right.span);
            let depth = left.depth.max(right.depth) + 1;
            left = self.limited(Expr { kind: ExprKind::Binary(op, Box::new((left, right))), span, depth });
        }
        left
    }

    /// Whoever knows C reads `a || b && c` in another way than DiVinE.
    fn warn_of_mixture(&mut self, op: Binary, left: &Expr, sign: Span) {
        let ExprKind::Binary(inner, _) = &left.kind else { return };
        let looser = match op {
            Binary::And => Binary::Or,
            Binary::BitAnd => Binary::BitOr,
            _ => return,
        };
        if *inner == looser && !self.is_parenthesised(left.span) {
            let text = self.source(sign).to_owned();
            let message = format!("`{text}` binds no tighter than what stands before it");
            let help = "DVE evaluates both from left to right; parentheses make the order visible";
            self.diagnostics.push(Diagnostic::new("W1001", sign, message, "evaluated last").help(help));
        }
    }

    /// Whether the first parenthesis of a text is closed by its last character.
    fn is_parenthesised(&self, span: Span) -> bool {
        let text = self.source(span);
        let mut depth = 0usize;
        for (at, c) in text.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1 == text.len();
            }
        }
        false
    }

    fn limited(&mut self, expr: Expr) -> Expr {
        if expr.depth <= MAX_DEPTH {
            return expr;
        }
        let message = format!("an expression is nested more than {MAX_DEPTH} deep");
        let help = "split it: assign a part of it to a variable first";
        let diagnostic = Diagnostic::new("E1003", expr.span, message, "too deep").help(help);
        self.report(self.negated_once(diagnostic));
        Expr { kind: ExprKind::Error, span: expr.span, depth: 0 }
    }

    /// Proposes to remove a double negation with which an expression begins.
    fn negated_once(&self, diagnostic: Diagnostic) -> Diagnostic {
        let rest =
            self.source(diagnostic.span).strip_prefix("not").and_then(|rest| rest.trim_start().strip_prefix("not"));
        match rest {
            Some(rest) => {
                let both = Span { end: diagnostic.span.end - rest.len() as u32, ..diagnostic.span };
                diagnostic.help("`not not` says nothing: remove both").propose(edit::removal(self.text, both), "")
            }
            None => diagnostic,
        }
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        let op = match self.kind() {
            "not" | "!" => Unary::Not,
            "-" => Unary::Minus,
            "~" => Unary::Complement,
            _ => return self.primary(),
        };
        self.bump();
        let Some(operand) = self.nested(start, Self::unary) else { return self.error(start) };
        let span = start.to(operand.span);
        let depth = operand.depth + 1;
        self.limited(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span, depth })
    }

    /// A part of an expression, one level deeper.
    fn nested(&mut self, start: Span, read: impl FnOnce(&mut Self) -> Expr) -> Option<Expr> {
        if self.nesting == MAX_DEPTH {
            let message = format!("an expression is nested more than {MAX_DEPTH} deep");
            let help = "split it: assign a part of it to a variable first";
            let whole = self.tokens[self.next.saturating_sub(2)].span.to(start);
            let diagnostic = Diagnostic::new("E1003", start, message, "too deep").help(help);
            self.report(Diagnostic { span: start, ..self.negated_once(Diagnostic { span: whole, ..diagnostic }) });
            while ![";", "}", "{", "process", "system", crate::lexer::END].contains(&self.kind()) {
                self.bump();
            }
            return None;
        }
        self.nesting += 1;
        let expr = read(self);
        self.nesting -= 1;
        Some(expr)
    }

    /// Takes what closes a part of an expression; after an error in that part nothing more is said.
    fn closed(&mut self, kind: &'static str, after: &str, inner: &Expr) {
        match inner.kind {
            ExprKind::Error => _ = self.eat(kind),
            _ => _ = self.expect(kind, after),
        }
    }

    fn error(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Error, span, depth: 0 }
    }

    fn primary(&mut self) -> Expr {
        let start = self.span();
        match self.kind() {
            NUMBER => self.number(),
            "true" | "false" => {
                let value = i64::from(self.bump().kind == "true");
                Expr { kind: ExprKind::Number(value), span: start, depth: 0 }
            }
            "(" => {
                self.bump();
                let Some(inner) = self.nested(start, Self::expression) else { return self.error(start) };
                self.closed(")", "an expression", &inner);
                Expr { span: start.to(self.before()), ..inner }
            }
            NAME => self.variable(),
            _ => {
                let diagnostic = self.expected("an expression");
                self.report(diagnostic);
                self.error(start)
            }
        }
    }

    fn number(&mut self) -> Expr {
        let span = self.bump().span;
        let kind = match self.source(span).parse::<i32>() {
            Ok(value) => ExprKind::Number(i64::from(value)),
            Err(_) => {
                let message = format!("`{}` is larger than 2147483647", self.source(span));
                let help = "values have 32 bits in expressions, and 8 or 16 in variables";
                self.report(Diagnostic::new("E1006", span, message, "too large").help(help));
                ExprKind::Error
            }
        };
        Expr { kind, span, depth: 0 }
    }

    /// `x`, `a[i]`, `P.q`, `P->x`, `P->a[i]`
    fn variable(&mut self) -> Expr {
        let first = self.name("a name");
        if self.eat(".") {
            let state = self.name("a state");
            let span = first.span.to(self.before());
            return Expr { kind: ExprKind::State(first, state), span, depth: 0 };
        }
        let (process, name) = match self.eat("->") {
            true => (Some(first), self.name("a variable")),
            false => (None, first),
        };
        let start = process.as_ref().map_or(name.span, |process| process.span);
        let mut depth = 0;
        let mut index = None;
        if self.eat("[") {
            let Some(inner) = self.nested(start, Self::expression) else { return self.error(start) };
            self.closed("]", "an index", &inner);
            depth = inner.depth + 1;
            index = Some(Box::new(inner));
        }
        let span = start.to(self.before());
        self.limited(Expr { kind: ExprKind::Variable(process, name, index), span, depth })
    }
}
