//! Short ways to build trees without spans: the one place that knows all fields of their nodes.

use birk_ir::Span;
use birk_lang::ast::{
    Action, ActionKind, Alias, BinaryOp, Constants, Domain, Enum, Expr, ExprKind, Function, Item, Jump, Location, Mark,
    Name, Param, Property, PropertyKind, Quantifier, Transformation, Type, TypeKind, UnaryOp, Variables,
};

pub(crate) fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: Span::default() }
}

/// An expression without a span.
pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// A name.
pub fn named(text: &str) -> Expr {
    expr(ExprKind::Name(text.to_owned()))
}

/// A literal; a negative one is a negation, as the parser reads it.
pub fn number(value: i64) -> Expr {
    if value < 0 { unary(UnaryOp::Neg, expr(ExprKind::Int(-value))) } else { expr(ExprKind::Int(value)) }
}

/// `true` or `false`.
pub fn truth(value: bool) -> Expr {
    expr(ExprKind::Bool(value))
}

/// A member of a record.
pub fn member(base: Expr, text: &str) -> Expr {
    expr(ExprKind::Member(Box::new(base), name(text)))
}

/// An element.
pub fn index(base: Expr, at: Expr) -> Expr {
    expr(ExprKind::Index(Box::new(base), Box::new(at)))
}

pub(crate) fn at(thread: Expr, location: &str) -> Expr {
    expr(ExprKind::At(Box::new(thread), name(location)))
}

pub(crate) fn unary(op: UnaryOp, operand: Expr) -> Expr {
    expr(ExprKind::Unary(op, Box::new(operand)))
}

/// Two operands.
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

pub(crate) fn conditional(condition: Expr, yes: Expr, no: Expr) -> Expr {
    expr(ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)))
}

pub(crate) fn call(function: &str, args: Vec<Expr>) -> Expr {
    expr(ExprKind::Call(name(function), args))
}

pub(crate) fn ty(kind: TypeKind, dimensions: Vec<Expr>) -> Type {
    Type { kind, dimensions, span: Span::default() }
}

/// An action without a span.
pub fn action(kind: ActionKind) -> Action {
    Action { labels: Vec::new(), fair: false, kind, span: Span::default() }
}

pub(crate) fn constants(block: Option<&str>, entries: Vec<(Name, Expr)>) -> Item {
    Item::Constants(Constants { block: block.map(name), entries, span: Span::default() })
}

pub(crate) fn alias(text: &str, target: Type) -> Item {
    Item::Alias(Alias { symmetric: false, name: name(text), target, span: Span::default() })
}

pub(crate) fn enumeration(text: &str, variants: &[String]) -> Item {
    let variants = variants.iter().map(|variant| name(variant)).collect();
    Item::Enum(Enum { name: name(text), variants, span: Span::default() })
}

pub(crate) fn variables(ty: Type, declarators: Vec<(Name, Option<Expr>)>) -> Variables {
    Variables { durable: false, ty, declarators, span: Span::default() }
}

pub(crate) fn function(text: &str, params: Vec<Param>, result: Type, body: Expr) -> Item {
    Item::Function(Function { name: name(text), params, result, body, span: Span::default() })
}

pub(crate) fn property(kind: PropertyKind, text: &str, body: Expr) -> Item {
    Item::Property(Property { kind, name: name(text), body, span: Span::default() })
}

pub(crate) fn param(ty: Type, text: &str) -> Param {
    Param { ty, name: name(text) }
}

pub(crate) fn location(text: &str, marks: Vec<Mark>, transformations: Vec<Transformation>) -> Location {
    let marks = marks.into_iter().map(|mark| (mark, Span::default())).collect();
    Location { name: name(text), marks, transformations, span: Span::default() }
}

/// `goto` the location, or `return`.
pub(crate) fn transformation(guard: Option<Expr>, actions: Vec<Action>, target: Option<&str>) -> Transformation {
    let jump = target.map_or(Jump::Return(Span::default()), |target| Jump::Goto(name(target)));
    Transformation { fair: false, guard, actions, jump: Some(jump), span: Span::default() }
}

/// `{a, b}`
pub(crate) fn set(members: Vec<Expr>) -> Expr {
    expr(ExprKind::Set(members))
}

/// A quantifier over the members of a set, the elements of an array, or the values of a symmetric type.
pub(crate) fn over_members(kind: Quantifier, text: &str, members: Expr, body: Expr) -> Expr {
    expr(ExprKind::Quantifier(kind, name(text), Box::new(Domain::Members(members)), Box::new(body)))
}

/// A quantifier over a range.
pub(crate) fn over_range(kind: Quantifier, text: &str, lo: Expr, hi: Expr, body: Expr) -> Expr {
    expr(ExprKind::Quantifier(kind, name(text), Box::new(Domain::Range(lo, hi)), Box::new(body)))
}

/// `let x = value in body`
pub(crate) fn let_in(text: &str, value: Expr, body: Expr) -> Expr {
    expr(ExprKind::Let(name(text), Box::new(value), Box::new(body)))
}
