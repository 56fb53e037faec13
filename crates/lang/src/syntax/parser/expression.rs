//! Expressions and formulas, by precedence climbing.
//!
//! Two measures keep trees and the stack small: `Parser::depth` counts on the way down, `Tree::depth` on the way up.
//! Chains of `&&` and `||` are collected and built balanced, so that their length does not count.

use super::{Parser, ends_expression, shorten};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, MAX_DEPTH, Name, PropertyKind, UnaryOp};
use crate::syntax::lexer::{TokenKind as T, number_value};
use birk_ir::Span;

/// An expression being built.
pub(super) struct Tree {
    expr: Expr,
    /// Where, parentheses included.
    outer: Span,
    /// The longest way to a leaf.
    depth: usize,
}

impl Tree {
    pub(super) fn into_expr(self) -> Expr {
        self.expr
    }

    pub(super) fn outer(&self) -> Span {
        self.outer
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// The loosest binary operator's precedence.
const LOOSEST: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const TEMPORAL: u8 = 5;
const EQUALITY: u8 = 6;
const RELATION: u8 = 7;
pub(super) const SUM: u8 = 8;
const PRODUCT: u8 = 9;

impl Parser<'_> {
    /// An expression that is not part of another one.
    pub(super) fn root_expression(&mut self) -> Expr {
        debug_assert_eq!(self.depth, 0, "a root is not inside another expression");
        self.expression().expr
    }

    /// What stands for a missing expression.
    pub(super) fn nothing(&self) -> Expr {
        Expr { kind: ExprKind::Error, span: self.behind() }
    }

    /// The left side of an assignment: a name with indices and members.
    pub(super) fn place(&mut self) -> Expr {
        self.postfix().expr
    }

    /// `(a, b)`
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        self.argument_trees().into_iter().map(|tree| tree.expr).collect()
    }

    pub(super) fn expression(&mut self) -> Tree {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let mut tree = self.binary(LOOSEST);
        if self.eat(T::Question) {
            let then = self.expression();
            if !self.eat(T::Colon) {
                self.report(self.unexpected("`:` and the other value").related(tree.outer, "of this condition"));
            }
            let otherwise = if self.is_reported() { self.error() } else { self.expression() };
            let span = tree.outer.to(otherwise.outer);
            let depth = tree.depth.max(then.depth).max(otherwise.depth);
            let kind = ExprKind::Conditional(Box::new(tree.expr), Box::new(then.expr), Box::new(otherwise.expr));
            tree = self.node(kind, span, depth);
        }
        self.depth -= 1;
        tree
    }

    /// What `parse` reads one level deeper, unless that is too deep.
    pub(super) fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Tree) -> Tree {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let tree = parse(self);
        self.depth -= 1;
        tree
    }

    /// A node above children of the given depth.
    pub(super) fn node(&mut self, kind: ExprKind, span: Span, depth: usize) -> Tree {
        if depth >= MAX_DEPTH {
            return self.too_deep();
        }
        Tree { expr: Expr { kind, span }, outer: span, depth: depth + 1 }
    }

    pub(super) fn error(&self) -> Tree {
        let expr = self.nothing();
        Tree { outer: expr.span, expr, depth: 1 }
    }

    /// Reports the nesting once and skips the rest of the statement, which has nothing more to say.
    fn too_deep(&mut self) -> Tree {
        let message = format!("nested too deeply: expressions may be {MAX_DEPTH} levels deep");
        let mut diagnostic = Diagnostic::new("E0009", self.span(), message, "one level too many");
        diagnostic = diagnostic.help("name a part of it: `function part(): boolean = …;`");
        if let Some((pair, inside)) = self.doubled_parentheses() {
            diagnostic = diagnostic.help("remove the parentheses that are doubled").propose(pair, inside);
        }
        self.report(diagnostic);
        while !ends_expression(self.kind()) {
            self.bump();
        }
        self.reported_at = Some(self.position);
        self.error()
    }

    /// Parentheses right inside of others, with what is in them, up to here.
    fn doubled_parentheses(&self) -> Option<(Span, String)> {
        let is_open = |at: usize| self.tokens[at].kind == T::OpenParen;
        let open = (1..self.position).rev().take_while(|&at| is_open(at)).find(|&at| is_open(at - 1))?;
        let mut depth = 0usize;
        let is_close = |token: &crate::syntax::lexer::Token| {
            match token.kind {
                T::OpenParen => depth += 1,
                T::CloseParen => depth -= 1,
                _ => {}
            }
            depth == 0
        };
        let close = open + self.tokens[open..].iter().position(is_close)?;
        let is_doubled = self.tokens.get(close + 1).is_some_and(|next| next.kind == T::CloseParen);
        let pair = self.tokens[open].span.to(self.tokens[close].span);
        let inside = self.source(Span { start: pair.start + 1, end: pair.end - 1, ..pair }).to_owned();
        is_doubled.then_some((pair, inside))
    }

    /// Operands joined by operators that bind at least as tightly as `tightness`.
    fn binary(&mut self, tightness: u8) -> Tree {
        let mut left = self.unary();
        let mut compared = false;
        while let Some((op, precedence)) = self.infix().filter(|(_, precedence)| *precedence >= tightness) {
            if matches!(op, BinaryOp::And | BinaryOp::Or) {
                left = self.chain(op, precedence, left);
                continue;
            }
            let position = self.position;
            self.bump_word();
            let to_the_right = matches!(precedence, LOOSEST | IMPLIES | TEMPORAL);
            let right = self.operand(precedence + u8::from(!to_the_right));
            if precedence == RELATION && compared {
                left = self.chained(position, &left, &right);
            } else {
                left = self.join(op, left, right);
            }
            compared = precedence == RELATION;
        }
        left
    }

    /// The right operand of a binary operator.
    pub(super) fn operand(&mut self, tightness: u8) -> Tree {
        self.deeper(|parser| parser.binary(tightness))
    }

    fn join(&mut self, op: BinaryOp, left: Tree, right: Tree) -> Tree {
        let span = left.outer.to(right.outer);
        let depth = left.depth.max(right.depth);
        self.node(ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr)), span, depth)
    }

    /// The rest of `first && b && c …`.
    fn chain(&mut self, op: BinaryOp, precedence: u8, first: Tree) -> Tree {
        let mut trees = vec![first];
        while self.infix().is_some_and(|(next, _)| next == op) {
            self.bump();
            trees.push(self.operand(precedence + 1));
        }
        let count = trees.len();
        self.balance(op, &mut trees.into_iter(), count)
    }

    fn balance(&mut self, op: BinaryOp, trees: &mut std::vec::IntoIter<Tree>, count: usize) -> Tree {
        if count <= 1 {
            return trees.next().unwrap_or_else(|| self.error());
        }
        let left = self.balance(op, trees, count / 2);
        let right = self.balance(op, trees, count - count / 2);
        self.join(op, left, right)
    }

    /// `a < b < c`, which compares a truth value with a number.
    fn chained(&mut self, position: usize, left: &Tree, right: &Tree) -> Tree {
        let span = left.outer.to(right.outer);
        if let ExprKind::Binary(_, _, middle) = &left.expr.kind {
            let operator = self.tokens[position].span;
            let [left, middle, sign, right] =
                [left.outer, middle.span, operator, right.outer].map(|at| self.source(at));
            let short = [left, middle, sign, right].map(shorten);
            let diagnostic = Diagnostic::new("E0011", operator, "comparisons cannot be chained", "a second comparison")
                .help(format!("write `{} && {} {} {}`", short[0], short[1], short[2], short[3]))
                .fix(span, format!("{left} && {middle} {sign} {right}"));
            self.report_at(position, diagnostic);
        }
        Tree { expr: Expr { kind: ExprKind::Error, span }, outer: span, depth: 1 }
    }

    /// The binary operator here and its precedence. Operators of other languages are reported and replaced.
    fn infix(&mut self) -> Option<(BinaryOp, u8)> {
        Some(match self.kind() {
            T::Iff => self.temporal_infix(BinaryOp::Iff, LOOSEST, "write `==`"),
            T::Arrow => self.temporal_infix(BinaryOp::Implies, IMPLIES, "write `=>`"),
            T::Implies => (BinaryOp::Implies, IMPLIES),
            T::OrOr => (BinaryOp::Or, OR),
            T::AndAnd => (BinaryOp::And, AND),
            T::Equal if self.is_adjacent(T::Greater) && self.is_foreign_infix() => return self.infix(),
            T::Equal => (BinaryOp::Eq, EQUALITY),
            T::NotEqual => (BinaryOp::Ne, EQUALITY),
            T::Less => (BinaryOp::Lt, RELATION),
            T::LessEqual => (BinaryOp::Le, RELATION),
            T::Greater => (BinaryOp::Gt, RELATION),
            T::GreaterEqual => (BinaryOp::Ge, RELATION),
            T::Plus => (BinaryOp::Add, SUM),
            T::Minus => (BinaryOp::Sub, SUM),
            T::Star => (BinaryOp::Mul, PRODUCT),
            T::Slash => (BinaryOp::Div, PRODUCT),
            T::Percent => (BinaryOp::Rem, PRODUCT),
            T::Name if self.at_word("in") && !self.starts_line(self.position) => (BinaryOp::In, RELATION),
            T::Name => return self.infix_word(),
            _ => return if self.is_foreign_infix() { self.infix() } else { None },
        })
    }

    fn temporal_infix(&mut self, op: BinaryOp, precedence: u8, help: &str) -> (BinaryOp, u8) {
        if self.formula.is_none() {
            self.outside_formula(self.span(), Some(help));
        }
        (op, precedence)
    }

    /// `p U q`, `p until q`, …
    fn infix_word(&mut self) -> Option<(BinaryOp, u8)> {
        let op = match self.word() {
            "U" | "until" => BinaryOp::Until,
            "W" | "weakuntil" => BinaryOp::WeakUntil,
            "R" | "release" => BinaryOp::Release,
            _ => return if self.is_foreign_infix() { self.infix() } else { None },
        };
        if self.formula == Some(PropertyKind::Mu) {
            self.wrong_logic(self.span(), "`ltl` and `ctl`", "write it as a fixpoint: `mu X. q || p && <-> X`", None);
        } else if self.formula.is_none() {
            // At the begin of a line it is rather the next action, and a `;` is missing.
            if self.starts_line(self.position) || matches!(self.peek(1), T::Assign | T::OpenBracket | T::Single) {
                return None;
            }
            self.outside_formula(self.span(), None);
        }
        Some((op, TEMPORAL))
    }

    fn outside_formula(&mut self, span: Span, help: Option<&str>) {
        let message = format!("the operator `{}` outside a temporal property", self.source(span));
        let diagnostic = Diagnostic::new("E0013", span, message, "only allowed in `ltl` properties");
        let help = help.unwrap_or("state it as a property: `ltl NAME: …;`");
        self.report(diagnostic.help(help));
    }

    /// Replaces an operator of another language.
    fn is_foreign_infix(&mut self) -> bool {
        let (meant, message) = match (self.kind(), self.word()) {
            (T::Single, _) if self.is_adjacent(T::Less) => {
                let start = self.bump().start;
                self.tokens[self.position].span.start = start;
                (T::LessEqual, "`=<` is not an operator")
            }
            (T::Equal, _) => {
                let start = self.bump().start;
                self.tokens[self.position].span.start = start;
                (T::Implies, "`==>` is not an operator")
            }
            (T::Single, _) => (T::Equal, "`=` is not a comparison"),
            (T::Assign, _) => (T::Equal, "`:=` assigns and does not compare"),
            (T::And, _) => (T::AndAnd, "BIR has no `&`"),
            (T::Or, _) => (T::OrOr, "BIR has no `|`"),
            (T::Diamond, _) => (T::NotEqual, "`<>` does not compare"),
            (T::Name, _) if self.starts_line(self.position) || self.peek(1) == T::Assign => return false,
            (T::Name, "and") => (T::AndAnd, "BIR has no `and`"),
            (T::Name, "or") => (T::OrOr, "BIR has no `or`"),
            (T::Name, "implies") => (T::Implies, "BIR has no `implies`"),
            (T::Name, "mod") => (T::Percent, "BIR has no `mod`"),
            (T::Name, "div") => (T::Slash, "BIR has no `div`"),
            _ => return false,
        };
        let sign = meant.text().unwrap_or_default();
        self.replace(meant, message, &format!("expected `{sign}`"), format!("write `{sign}`"));
        true
    }

    /// Whether the next token has this kind and touches the current one.
    fn is_adjacent(&self, kind: T) -> bool {
        self.peek(1) == kind && self.tokens[self.position + 1].span.start == self.span().end
    }

    pub(super) fn unary(&mut self) -> Tree {
        if self.is_modality() {
            return self.deeper(Self::modality);
        }
        let Some((op, tokens)) = self.prefix() else { return self.postfix() };
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        let start = self.span();
        for _ in 0..tokens {
            self.bump_word();
        }
        self.depth += 1;
        let operand = self.unary();
        self.depth -= 1;
        let span = start.to(operand.outer);
        self.node(ExprKind::Unary(op, Box::new(operand.expr)), span, operand.depth)
    }

    /// The prefix operator here and of how many tokens it is made.
    fn prefix(&mut self) -> Option<(UnaryOp, usize)> {
        let (op, tokens) = match self.kind() {
            T::Not => return Some((UnaryOp::Not, 1)),
            T::Minus => return Some((UnaryOp::Neg, 1)),
            T::OpenBracket if self.peek(1) == T::CloseBracket => (UnaryOp::Always, 2),
            T::Diamond => (UnaryOp::Eventually, 1),
            T::Name => (self.prefix_word()?, 1),
            _ => return None,
        };
        let span = self.span().to(self.tokens[self.position + tokens - 1].span);
        let is_of_ctl = !matches!(op, UnaryOp::Not | UnaryOp::Next | UnaryOp::Always | UnaryOp::Eventually);
        match self.formula {
            _ if op == UnaryOp::Not => {}
            None if op == UnaryOp::Always && self.begins_invariant() => {
                let message = format!("the operator `{}` in an invariant", self.source(span));
                let diagnostic = Diagnostic::new("E0013", span, message, "an invariant is about every state anyway");
                self.report(diagnostic.help("leave it out").propose(edit::removal(self.text, span), ""));
            }
            None => self.outside_formula(span, None),
            Some(PropertyKind::Ctl) if !is_of_ctl => {
                let letter = match op {
                    UnaryOp::Next => 'X',
                    UnaryOp::Always => 'G',
                    _ => 'F',
                };
                let help = format!("write `A{letter}` for all executions, `E{letter}` for some execution");
                self.wrong_logic(span, "`ltl`", &help, Some(&format!("A{letter}")));
            }
            Some(PropertyKind::Mu) => {
                let help = "the modalities are `[-]` (each step) and `<->` (some step)";
                let meant = match self.source(span) {
                    "[]" => Some("[-]"),
                    "<>" => Some("<->"),
                    _ => None,
                };
                self.wrong_logic(span, if is_of_ctl { "`ctl`" } else { "`ltl`" }, help, meant);
            }
            Some(PropertyKind::Ltl) if is_of_ctl => {
                let meant = match self.source(span) {
                    "AG" => Some("[]"),
                    "AF" => Some("<>"),
                    "AX" => Some("X"),
                    _ => None,
                };
                let help = "an `ltl` property is about every execution: write `[]`, `<>` or `X`";
                self.wrong_logic(span, "`ctl`", help, meant);
            }
            Some(_) => {}
        }
        Some((op, tokens))
    }

    /// Whether this is the first token of the condition of an invariant.
    fn begins_invariant(&self) -> bool {
        let back = |tokens: usize| self.position.checked_sub(tokens).map(|position| self.tokens[position].kind);
        back(1) == Some(T::Colon) && back(3) == Some(T::Invariant)
    }

    /// An operator of another logic than that of the formula.
    fn wrong_logic(&mut self, span: Span, logic: &str, help: &str, meant: Option<&str>) {
        let property = match self.formula {
            Some(PropertyKind::Ctl) => "a `ctl`",
            Some(PropertyKind::Mu) => "a `mu`",
            _ => "an `ltl`",
        };
        let message = format!("the operator `{}` in {property} property", self.source(span));
        let diagnostic = Diagnostic::new("E0013", span, message, format!("an operator of {logic}")).help(help);
        self.report(match meant {
            Some(meant) => diagnostic.propose(span, meant),
            None => diagnostic,
        });
    }

    /// `X p`, `G p`, `always p`, …: operators if an operand follows, otherwise names. A function that the file declares wins.
    fn prefix_word(&mut self) -> Option<UnaryOp> {
        let is_operand = match self.peek(1) {
            T::Name if self.formula.is_none() && self.starts_line(self.position + 1) => false,
            T::Name => !self.is_infix_name(1),
            T::Number | T::True | T::False => true,
            T::OpenParen => (self.formula.is_some() && !self.functions.contains(self.word())) || self.at_word("not"),
            T::Not | T::Diamond | T::Forall | T::Exists => self.formula.is_some(),
            T::OpenBracket => self.formula.is_some() && self.peek(2) == T::CloseBracket,
            _ => false,
        };
        if !is_operand {
            return None;
        }
        match self.word() {
            "X" | "next" => Some(UnaryOp::Next),
            "G" | "always" => Some(UnaryOp::Always),
            "F" | "eventually" => Some(UnaryOp::Eventually),
            "AX" if self.formula.is_some() => Some(UnaryOp::AllNext),
            "AF" if self.formula.is_some() => Some(UnaryOp::AllEventually),
            "AG" if self.formula.is_some() => Some(UnaryOp::AllAlways),
            "EX" if self.formula.is_some() => Some(UnaryOp::SomeNext),
            "EF" if self.formula.is_some() => Some(UnaryOp::SomeEventually),
            "EG" if self.formula.is_some() => Some(UnaryOp::SomeAlways),
            "not" if !self.starts_line(self.position + 1) => {
                self.replace(T::Not, "BIR has no `not`", "expected `!`", "write `!`");
                Some(UnaryOp::Not)
            }
            _ => None,
        }
    }

    /// Whether the name so far ahead is an operator behind an operand, as in `X U p`.
    pub(super) fn is_infix_name(&self, ahead: usize) -> bool {
        let Some(token) = self.tokens.get(self.position + ahead) else { return false };
        let is_operator = matches!(self.source(token.span), "U" | "until" | "W" | "weakuntil" | "R" | "release");
        let mut next = self.peek(ahead + 1);
        if next == T::OpenBracket && self.peek(ahead + 2) == T::CloseBracket {
            next = T::Diamond;
        }
        let starts_operand = matches!(
            next,
            T::Name | T::Number | T::True | T::False | T::OpenParen | T::Not | T::Diamond | T::Forall | T::Exists
        );
        is_operator && starts_operand
    }

    /// An operand with `[i]`, `.name`, `@loc` and `(args)` behind it.
    pub(super) fn postfix(&mut self) -> Tree {
        let is_name = self.at(T::Name);
        let mut tree = self.primary();
        let is_channel = std::mem::take(&mut self.is_channel);
        if is_name && self.at(T::OpenParen) && !is_channel {
            tree = self.call(&tree);
        }
        loop {
            let kind = match self.kind() {
                T::OpenBracket => {
                    let open = self.bump();
                    let index = self.expression();
                    self.expect_close(T::CloseBracket, open);
                    let depth = tree.depth.max(index.depth);
                    let span = self.since(tree.outer);
                    tree = self.node(ExprKind::Index(Box::new(tree.expr), Box::new(index.expr)), span, depth);
                    continue;
                }
                T::Dot => {
                    self.bump();
                    ExprKind::Member(Box::new(tree.expr), self.name("a name"))
                }
                T::At => {
                    self.bump();
                    ExprKind::At(Box::new(tree.expr), self.name("a location"))
                }
                _ => return tree,
            };
            let span = self.since(tree.outer);
            tree = self.node(kind, span, tree.depth);
        }
    }

    fn call(&mut self, callee: &Tree) -> Tree {
        let name = Name { text: self.source(callee.outer).to_string(), span: callee.outer };
        let arguments = self.argument_trees();
        let depth = arguments.iter().map(|argument| argument.depth).max().unwrap_or(0);
        let span = self.since(callee.outer);
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        self.node(ExprKind::Call(name, arguments), span, depth)
    }

    fn argument_trees(&mut self) -> Vec<Tree> {
        let open = self.span();
        let mut trees = Vec::new();
        if !self.expect(T::OpenParen) || self.eat(T::CloseParen) {
            return trees;
        }
        loop {
            trees.push(self.expression());
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, open);
        trees
    }

    pub(super) fn primary(&mut self) -> Tree {
        let span = self.span();
        let kind = match self.kind() {
            T::Number => number_value(self.word()).map_or(ExprKind::Error, ExprKind::Int),
            T::True => ExprKind::Bool(true),
            T::False => ExprKind::Bool(false),
            T::Name if self.is_total() => return self.quantifier(),
            T::Name if self.is_fixpoint() => return self.fixpoint(),
            T::Name if self.at_word("let") && self.peek(1) == T::Name => return self.let_in(),
            T::Name if self.is_conditional_value() => return self.not_an_expression(),
            T::Name => ExprKind::Name(self.word().to_string()),
            T::OpenBracket => return self.list_in_brackets(),
            T::OpenBrace => return self.set(),
            T::Forall | T::Exists => return self.quantifier(),
            T::OpenParen => {
                let open = self.bump();
                let mut tree = self.expression();
                self.expect_close(T::CloseParen, open);
                tree.outer = self.since(open);
                return tree;
            }
            _ => return self.not_an_expression(),
        };
        self.bump();
        Tree { expr: Expr { kind, span }, outer: span, depth: 1 }
    }

    pub(super) fn not_an_expression(&mut self) -> Tree {
        let mut diagnostic = self.unexpected("an expression");
        if self.at(T::Choose) {
            let help = "`choose` stands alone on the right side: `atomic { x := choose(0, 3); x := x + 1; }`";
            diagnostic = diagnostic.help(help);
        } else if self.at(T::Text) {
            diagnostic = diagnostic.help("strings are allowed only after the condition of `assert`");
        } else if self.at(T::Name) {
            diagnostic = diagnostic.help("a value that depends on a condition is written `condition ? a : b`");
        } else if self.kind().is_keyword() && matches!(self.peek(1), T::Plus | T::Minus | T::Star | T::Semicolon) {
            diagnostic = self.renamed(diagnostic);
        }
        self.report(diagnostic);
        self.error()
    }
}
