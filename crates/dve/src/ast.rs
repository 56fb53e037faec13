//! The syntax of a DVE system. What is missing or wrong in the text is an `Error` node or an empty name, which later passes
//! say nothing about.

use birk_ir::Span;

/// A name, where it stands; empty where it is missing.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A whole system.
#[derive(Debug, Default)]
pub(crate) struct System {
    pub(crate) variables: Vec<Variable>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) processes: Vec<Process>,
    /// The process after `property`.
    pub(crate) property: Option<Name>,
}

/// The types of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Byte,
    Int,
}

impl Type {
    /// The values of a variable of this type.
    pub(crate) fn range(self) -> (i64, i64) {
        match self {
            Type::Byte => (0, 255),
            Type::Int => (-32768, 32767),
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Type::Byte => "byte",
            Type::Int => "int",
        }
    }
}

/// A variable or constant, or an array of them.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) is_const: bool,
    pub(crate) ty: Type,
    pub(crate) name: Name,
    /// The length of an array.
    pub(crate) length: Option<Expr>,
    /// One value, or those of an array's elements.
    pub(crate) initial: Vec<Expr>,
    /// Whether the values stand in braces.
    pub(crate) is_list: bool,
}

/// A channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) name: Name,
    /// The types of what is transmitted, where they are declared.
    pub(crate) types: Option<Vec<Type>>,
    /// How many messages it holds; 0 is a rendezvous.
    pub(crate) capacity: Option<Expr>,
}

/// A process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: Name,
    pub(crate) variables: Vec<Variable>,
    pub(crate) states: Vec<Name>,
    pub(crate) initial: Option<Name>,
    pub(crate) accepting: Vec<Name>,
    pub(crate) committed: Vec<Name>,
    pub(crate) assertions: Vec<(Name, Expr)>,
    pub(crate) transitions: Vec<Transition>,
}

/// A transition of a process.
#[derive(Debug)]
pub(crate) struct Transition {
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) guard: Option<Expr>,
    pub(crate) sync: Option<Sync>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) span: Span,
}

/// What is sent to or received from a channel.
#[derive(Debug)]
pub(crate) struct Sync {
    pub(crate) channel: Name,
    pub(crate) sends: bool,
    /// What is sent, or the variables that receive it.
    pub(crate) values: Vec<Expr>,
    pub(crate) span: Span,
}

/// An assignment.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) place: Expr,
    pub(crate) value: Expr,
    pub(crate) span: Span,
}

/// An expression. Its depth is limited when it is built, so that later passes may recurse.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    pub(crate) depth: u32,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Number(i64),
    /// A variable, a constant, or an element of an array, in the process where it stands or, after `P->`, in another one.
    Variable(Option<Name>, Name, Option<Box<Expr>>),
    /// `P.q`: whether a process is in a state.
    State(Name, Name),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<(Expr, Expr)>),
    Error,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Minus,
    Complement,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Imply,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    /// The operator of a token, and how tightly it binds. Operators of one level are evaluated from left to right; as in
    /// DiVinE's own grammar, `&&` and `||` are of one level, and so are `&`, `|` and `^`.
    pub(crate) fn of(token: &str) -> Option<(Self, u8)> {
        Some(match token {
            "imply" => (Binary::Imply, 1),
            "&&" | "and" => (Binary::And, 2),
            "||" | "or" => (Binary::Or, 2),
            "&" => (Binary::BitAnd, 3),
            "|" => (Binary::BitOr, 3),
            "^" => (Binary::BitXor, 3),
            "==" => (Binary::Eq, 4),
            "!=" => (Binary::Ne, 4),
            "<" => (Binary::Lt, 5),
            "<=" => (Binary::Le, 5),
            ">" => (Binary::Gt, 5),
            ">=" => (Binary::Ge, 5),
            "<<" => (Binary::Shl, 6),
            ">>" => (Binary::Shr, 6),
            "+" => (Binary::Add, 7),
            "-" => (Binary::Sub, 7),
            "*" => (Binary::Mul, 8),
            "/" => (Binary::Div, 8),
            "%" => (Binary::Rem, 8),
            _ => return None,
        })
    }
}
