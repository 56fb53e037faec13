//! The tree of a BIR file.
//!
//! A broken file still yields a tree: what is missing is `None`, an empty name, or `ExprKind::Error`, and has a
//! diagnostic already, so later passes stay silent about it. The tokens beside the tree are lossless.
//! No tree is deeper than `MAX_DEPTH`, so that every later pass may recurse.

mod crashes;
mod expectation;
mod refinement;

use birk_ir::Span;

pub use crashes::Crashes;
pub use expectation::{Clause, ClauseKind, Expectation};
pub use refinement::{Mapped, MappedPart, Refinement};

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

/// `system NAME { … }`, or `library NAME { … }` in a file to be imported.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Only declarations to be imported, nothing to run.
    pub library: bool,
    /// `import "path";` before it.
    pub imports: Vec<Import>,
    /// The system's name.
    pub name: Name,
    /// What it contains, in source order.
    pub items: Vec<Item>,
    /// From `system` to the closing brace.
    pub span: Span,
}

/// `import "path";`
#[derive(Clone, Debug)]
pub struct Import {
    /// The path as written, without quotes.
    pub path: String,
    /// Where.
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
    /// `record NAME { type field; … }`
    Record(Record),
    /// `procedure NAME(params) { statements }`
    Procedure(Procedure),
    /// `type a := 1, b;`
    Variables(Variables),
    /// `function NAME(params): type = expr;`
    Function(Function),
    /// A thread.
    Thread(Thread),
    /// `invariant`, `reachable`, `ltl`, `ctl` or `mu`.
    Property(Property),
    /// `expect (N = 2): violated safe in 3, 14 states;`
    Expectation(Expectation),
    /// `refines Spec { leader = …; }`
    Refinement(Refinement),
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

/// A record type.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Its fields, in order; none has an initial value.
    pub fields: Vec<Variables>,
    /// The whole declaration.
    pub span: Span,
}

/// Statements with a name, put in place of its calls.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: Name,
    /// Its parameters: each stands for its argument.
    pub params: Vec<Param>,
    /// Its statements.
    pub body: Vec<Action>,
    /// The whole declaration.
    pub span: Span,
}

/// A name for a type.
#[derive(Clone, Debug)]
pub struct Alias {
    /// `symmetric typealias`: its values can only be compared for equality, assigned and used as indices.
    pub symmetric: bool,
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
    /// `durable`: a crash of their thread does not change them.
    pub durable: bool,
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
    /// `fair`: not kept waiting forever while it can go on.
    pub fair: bool,
    /// `[N]`: how many copies.
    pub copies: Option<Expr>,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// `crashes`: it may stop at any of its locations, and start again.
    pub crashes: Option<Crashes>,
    /// Its local variables.
    pub variables: Vec<Variables>,
    /// Its locations; the first is where it starts. Empty where the body is made of statements.
    pub locations: Vec<Location>,
    /// Its statements. Empty where the body is made of locations.
    pub body: Vec<Action>,
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
    /// Waiting here forever is proper.
    End,
    /// Visiting it infinitely often is accepting.
    Accept,
    /// Visiting it is progress.
    Progress,
}

/// `when guard do { actions } goto l;`
#[derive(Clone, Debug)]
pub struct Transformation {
    /// `fair`: not passed over forever while it is enabled.
    pub fair: bool,
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

/// One action of a transformation, or one statement of a body.
#[derive(Clone, Debug)]
pub struct Action {
    /// `name:` before it, with marks behind the colon.
    pub labels: Vec<Label>,
    /// `fair` before it.
    pub fair: bool,
    /// What.
    pub kind: ActionKind,
    /// Where, without the semicolon.
    pub span: Span,
}

/// A name for the place before a statement.
#[derive(Clone, Debug)]
pub struct Label {
    /// The name.
    pub name: Name,
    /// `end`, `accept`, `progress`.
    pub marks: Vec<(Mark, Span)>,
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
    /// `place := choose(set)`
    ChooseMember(Expr, Expr),
    /// `await expr`
    Await(Expr),
    /// `send channel (values)`
    Send(Expr, Vec<Expr>),
    /// `broadcast channels (values) except index`
    Broadcast(Expr, Vec<Expr>, Option<Expr>),
    /// `receive channel (patterns) when expr`
    Receive(Expr, Vec<Pattern>, Option<Expr>),
    /// `NAME(args)`: a procedure
    Call(Name, Vec<Expr>),
    /// `if (c) { } else if (d) { } else { }`: the conditions with their branches, and the last branch
    If(Vec<(Expr, Vec<Action>)>, Option<Vec<Action>>),
    /// `while (c) { }`
    While(Expr, Vec<Action>),
    /// `for (i : lo .. hi) { }` over a constant range
    For(Name, Expr, Expr, Vec<Action>),
    /// `either { } or { }`
    Either(Vec<Vec<Action>>),
    /// `atomic { }`
    Atomic(Vec<Action>),
    /// `break`
    Break,
    /// `return`
    Return,
    /// `goto NAME`
    Goto(Name),
}

/// What a received value must be.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `?place`: anything, kept there.
    Bind(Expr),
    /// Equal to this.
    Equal(Expr),
    /// `_`: anything.
    Any(Span),
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
    /// `set of lo .. hi`
    Set(Box<Expr>, Box<Expr>),
    /// `set of Client`: of the values of a type.
    SetOf(Name),
    /// `Client or nobody`: a value of a symmetric type, or none of them.
    OrNobody(Name),
    /// `lossy channel of type [capacity]`
    Channel(ChannelMarks, Box<Type>, Box<Expr>),
    /// `sequence of type [capacity]`
    Sequence(Box<Type>, Box<Expr>),
    /// `map of lo .. hi to type` or `map of Client to type`: first the type that the set of its keys has.
    Map(Box<TypeKind>, Box<Type>),
    /// An alias, enumeration or record.
    Named(Name),
    /// Missing or broken (and reported).
    Error,
}

/// What the environment may do to the messages in a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelMarks {
    /// Lose one.
    pub lossy: bool,
    /// Double one.
    pub duplicating: bool,
    /// Swap two neighbours.
    pub reordering: bool,
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
    /// A formula of CTL.
    Ctl,
    /// A formula of the modal mu-calculus.
    Mu,
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
    /// `forall (i : lo .. hi) e`, `exists`, `count`, `sum`
    Quantifier(Quantifier, Name, Box<Domain>, Box<Expr>),
    /// `let x = e in body`
    Let(Name, Box<Expr>, Box<Expr>),
    /// `{a, b}`
    Set(Vec<Expr>),
    /// `choose(lo, hi)` or `choose(set)`, as an initial value
    Choose(Vec<Expr>),
    /// `<->` or, with `false`, `[-]`; in place of the `-`, whose steps are meant
    Modal(bool, Option<Box<Expr>>, Box<Expr>),
    /// `mu X. e` or, with `false`, `nu X. e`
    Fixpoint(bool, Name, Box<Expr>),
    /// Missing or broken (and reported).
    Error,
}

impl Expr {
    /// The names in it, in order; not those of members, locations and functions.
    pub fn names(&self) -> Vec<&str> {
        fn visit<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
            match &expr.kind {
                ExprKind::Name(name) => names.push(name),
                ExprKind::Member(a, _) | ExprKind::At(a, _) | ExprKind::Unary(_, a) => visit(a, names),
                ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Let(_, a, b) => {
                    visit(a, names);
                    visit(b, names);
                }
                ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| visit(part, names)),
                ExprKind::Quantifier(_, _, domain, body) => {
                    match &**domain {
                        Domain::Range(lo, hi) => [lo, hi].into_iter().for_each(|part| visit(part, names)),
                        Domain::Members(members) => visit(members, names),
                    }
                    visit(body, names);
                }
                ExprKind::Call(_, parts) | ExprKind::Set(parts) | ExprKind::Choose(parts) => {
                    parts.iter().for_each(|part| visit(part, names));
                }
                ExprKind::Modal(_, _, body) | ExprKind::Fixpoint(_, _, body) => visit(body, names),
                ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Error => {}
            }
        }
        let mut names = Vec::new();
        visit(self, &mut names);
        names
    }
}

/// What a quantifier makes of its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `forall`
    All,
    /// `exists`
    Any,
    /// `count`
    Count,
    /// `sum`
    Sum,
}

/// What a quantifier ranges over.
#[derive(Clone, Debug)]
pub enum Domain {
    /// `i : lo .. hi`
    Range(Expr, Expr),
    /// `x in e`: the members of a set, or the elements of an array
    Members(Expr),
}

/// Operators of one operand; all but the first two only in formulas.
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
    /// `AX`
    AllNext,
    /// `AF`
    AllEventually,
    /// `AG`
    AllAlways,
    /// `EX`
    SomeNext,
    /// `EF`
    SomeEventually,
    /// `EG`
    SomeAlways,
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
    /// `in`
    In,
}
