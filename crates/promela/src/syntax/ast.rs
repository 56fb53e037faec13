//! The tree of a model: what the parser understood.

use std::rc::Rc;

use birk_ir::Span;

/// A name with its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// A whole model.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) globals: Vec<Decl>,
    /// Names of `mtype`s in the order of their declarations, one list for each declaration.
    pub(crate) mtypes: Vec<(Option<Rc<str>>, Vec<Name>)>,
    pub(crate) types: Vec<(Name, Vec<Decl>)>,
    /// Proctypes and `init`, in the order of the text.
    pub(crate) procs: Vec<Proc>,
    pub(crate) claims: Vec<Claim>,
    /// Each is named by its keyword, `trace` or `notrace`.
    pub(crate) traces: Vec<Claim>,
    pub(crate) formulas: Vec<(Name, Expr)>,
}

/// A proctype, or `init`.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) name: Name,
    /// How many run from the start: `active [n]`.
    pub(crate) active: Option<Expr>,
    pub(crate) params: Vec<Decl>,
    /// It moves only where this is true: `provided (e)`.
    pub(crate) provided: Option<Expr>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) end: Span,
}

/// A never claim, or what watches the order of messages.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) name: Name,
    pub(crate) body: Vec<Stmt>,
    pub(crate) end: Span,
}

/// The type that a declaration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeName {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(u32),
    Pid,
    Mtype,
    Chan,
    User(Rc<str>),
}

/// One declared variable.
#[derive(Clone, Debug)]
pub(crate) struct Decl {
    pub(crate) name: Name,
    pub(crate) ty: TypeName,
    pub(crate) length: Option<Expr>,
    pub(crate) init: Init,
    pub(crate) hidden: bool,
}

/// What a variable begins with.
#[derive(Clone, Debug)]
pub(crate) enum Init {
    None,
    Value(Expr),
    List(Vec<Expr>),
    Chan { capacity: Expr, fields: Vec<TypeName>, span: Span },
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Decl(Decl),
    /// `xr` and `xs`, and whatever else does nothing at all.
    Nothing,
    Label(Name, Box<Stmt>),
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    Break,
    Goto(Name),
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    Block(Vec<Stmt>),
    /// A call of an `inline`: a block whose labels are its own.
    Inlined(Vec<Stmt>),
    /// The first statement, until the second can be executed.
    Unless(Box<(Stmt, Stmt)>),
    Assign(Place, Expr),
    Assert(Expr),
    Print,
    Send {
        channel: Place,
        args: Vec<Expr>,
        sorted: bool,
    },
    Receive {
        channel: Place,
        args: Vec<Pattern>,
        random: bool,
        keep: bool,
    },
    Else,
    Wait(Expr),
    For {
        variable: Place,
        from: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    ForIn {
        variable: Place,
        array: Place,
        body: Vec<Stmt>,
    },
    /// `spelled` where it is a list of assignments: both bounds are written as numbers.
    Select {
        variable: Place,
        from: Expr,
        to: Expr,
        spelled: bool,
    },
}

/// What a message is compared with, or where it goes.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// A variable, or a constant's name.
    Place(Place),
    Eval(Expr),
    Const(i64),
}

/// A variable, a field, an element: `a[i].b.c[j]`.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) parts: Vec<(Name, Option<Expr>)>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Const(i64),
    Place(Place),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<(Expr, Expr)>),
    Cond(Box<(Expr, Expr, Expr)>),
    Run(Name, Vec<Expr>),
    /// `len`, `empty`, `full`, `nempty`, `nfull`
    Ask(&'static str, Place),
    Poll {
        channel: Place,
        args: Vec<Pattern>,
        random: bool,
    },
    Timeout,
    /// `P[i]@label`, `P@label`
    At(Name, Option<Box<Expr>>, Name),
    /// `P[i]:x`, `P:x`
    Remote(Name, Option<Box<Expr>>, Place),
    /// Temporal: `[]`, `<>`, `X`
    Temporal(&'static str, Box<Expr>),
    /// Temporal: `U`, `V`, `W`
    Between(&'static str, Box<(Expr, Expr)>),
    Error,
}
