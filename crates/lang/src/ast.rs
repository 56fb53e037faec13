//! The tree of a BIR file.
//!
//! A broken file still yields a tree: what is missing is `None`, an empty name, or `ExprKind::Error`, and has a
//! diagnostic already, so later passes stay silent about it. The tokens beside the tree are lossless.
//! No tree is deeper than `MAX_DEPTH`, so that every later pass may recurse.

use birk_ir::Span;

/// How deep expressions and types may nest.
pub const MAX_DEPTH: usize = 200;

/// A name as written; empty where it is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Its letters.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `system NAME { … }`.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The system's name.
    pub name: Name,
    /// What it contains, in source order.
    pub items: Vec<Item>,
    /// From `system` to the closing brace.
    pub span: Span,
}

/// Something declared in a system.
#[derive(Clone, Debug)]
pub enum Item {
    /// `const NAME = expr;` or, with a block name, the entries of `const NAME { … }`.
    Constants(Constants),
    /// `typealias NAME type;`
    Alias(Alias),
    /// `enum NAME { A, B }`
    Enum(Enum),
    /// `type a := 1, b;`
    Variables(Variables),
    /// `function NAME(params): type = expr;`
    Function(Function),
    /// A thread.
    Thread(Thread),
    /// `invariant`, `reachable` or `ltl`.
    Property(Property),
}

/// Constants, alone or in a block.
#[derive(Clone, Debug)]
pub struct Constants {
    /// The block's name; `None` for a constant on its own.
    pub block: Option<Name>,
    /// The constants.
    pub entries: Vec<(Name, Expr)>,
    /// The whole declaration.
    pub span: Span,
}

/// A name for a type.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// What it stands for.
    pub target: Type,
    /// The whole declaration.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Its values, in order.
    pub variants: Vec<Name>,
    /// The whole declaration.
    pub span: Span,
}

/// Variables of one type.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Their type.
    pub ty: Type,
    /// Each with its initial value, where one is given.
    pub declarators: Vec<(Name, Option<Expr>)>,
    /// The whole declaration.
    pub span: Span,
}

/// A pure function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The type of its value.
    pub result: Type,
    /// Its value.
    pub body: Expr,
    /// The whole declaration.
    pub span: Span,
}

/// A parameter of a function or thread.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
}

/// A thread declaration.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Runs from the start.
    pub active: bool,
    /// `[N]`: how many copies.
    pub copies: Option<Expr>,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its local variables.
    pub variables: Vec<Variables>,
    /// Its locations; the first is where it starts.
    pub locations: Vec<Location>,
    /// The whole declaration.
    pub span: Span,
}

/// A location with its transformations.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name.
    pub name: Name,
    /// `end`, `accept`, `progress`.
    pub marks: Vec<(Mark, Span)>,
    /// The steps that leave it.
    pub transformations: Vec<Transformation>,
    /// The whole location.
    pub span: Span,
}

/// A mark on a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Waiting here for ever is proper.
    End,
    /// Visiting it infinitely often is accepting.
    Accept,
    /// Visiting it is progress.
    Progress,
}

/// `when guard do { actions } goto l;`
#[derive(Clone, Debug)]
pub struct Transformation {
    /// The guard, where one is given.
    pub guard: Option<Expr>,
    /// What it does, in order.
    pub actions: Vec<Action>,
    /// Where it leads; `None` when that is missing (and was reported).
    pub jump: Option<Jump>,
    /// The whole transformation, jump included.
    pub span: Span,
}

/// Where a transformation leads.
#[derive(Clone, Debug)]
pub enum Jump {
    /// `goto NAME`.
    Goto(Name),
    /// `return`.
    Return(Span),
}

/// One action.
#[derive(Clone, Debug)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// Where, without the semicolon.
    pub span: Span,
}

/// Kinds of actions.
#[derive(Clone, Debug)]
pub enum ActionKind {
    /// `place := expr`
    Assign(Expr, Expr),
    /// `place := choose(lo, hi)`
    Choose(Expr, Expr, Expr),
    /// `assert expr, "message"`
    Assert(Expr, Option<String>),
    /// `assume expr`
    Assume(Expr),
    /// `start T(args)`
    Start(Name, Vec<Expr>),
    /// `skip`
    Skip,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its base.
    pub kind: TypeKind,
    /// `[n][m]`: lengths, outermost first.
    pub dimensions: Vec<Expr>,
    /// Where.
    pub span: Span,
}

/// Base types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `boolean`
    Boolean,
    /// `byte`
    Byte,
    /// `int`
    Int,
    /// `int (lo, hi)` or, with `true`, `int wrap (lo, hi)`
    Range(bool, Box<Expr>, Box<Expr>),
    /// An alias or enumeration.
    Named(Name),
    /// Missing or broken (and reported).
    Error,
}

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Which kind.
    pub kind: PropertyKind,
    /// Its name.
    pub name: Name,
    /// The expression or formula.
    pub body: Expr,
    /// The whole declaration.
    pub span: Span,
}

/// Kinds of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// True in every reachable state.
    Invariant,
    /// True in some reachable state.
    Reachable,
    /// A formula of linear temporal logic.
    Ltl,
}

/// An expression or formula.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where, parentheses excluded.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number.
    Int(i64),
    /// `true`, `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// `e.name`: `Param.N`, `Enum.A`, `T[i].local`.
    Member(Box<Expr>, Name),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `T@loc`, `T[i]@loc`
    At(Box<Expr>, Name),
    /// `f(args)`
    Call(Name, Vec<Expr>),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands. Chains of `&&` and of `||` are balanced, in the same left-to-right order.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `forall (i : lo .. hi) e` (`true`), `exists …` (`false`)
    Quantifier(bool, Name, Box<Expr>, Box<Expr>, Box<Expr>),
    /// Missing or broken (and reported).
    Error,
}

/// Operators of one operand; the last three only in formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Neg,
    /// `X`, `next`
    Next,
    /// `[]`, `always`
    Always,
    /// `<>`, `eventually`
    Eventually,
}

/// Operators of two operands; the last four only in formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `=>`; in formulas also `->`
    Implies,
    /// `<->`
    Iff,
    /// `U`, `until`
    Until,
    /// `W`, `weakuntil`
    WeakUntil,
    /// `R`, `release`
    Release,
}
