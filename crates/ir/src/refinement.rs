//! What a model says of itself: which specification it refines, and what the specification's variables are in its states.

use crate::expr::Expr;
use crate::ids::{Span, VarId};
use crate::program::ValueKind;

/// A mapping from the states of a model to the variables of a specification.
#[derive(Clone, Debug, PartialEq)]
pub struct Refinement {
    /// What messages call the specification.
    pub name: String,
    /// The variables that are mapped, arrays element by element.
    pub mapped: Vec<Mapped>,
    /// Where it stands.
    pub span: Span,
}

/// A variable of the specification, or an element of one, and its value in a state of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The variable's name as a program has it: `leader`, `queue[].kind`.
    pub variable: String,
    /// Which element of it, in the order of its dimensions.
    pub indices: Vec<i64>,
    /// How the values of the expression are written: what they mean.
    pub values: ValueKind,
    /// Its value.
    pub value: Expr,
    /// Where one of these is true, it has no value, for this reason.
    pub hazards: Vec<(Expr, String)>,
    /// Where the variable is written.
    pub span: Span,
    /// Where the value is written.
    pub value_span: Span,
}

/// A mapping that fits its specification.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// What messages call the specification.
    pub name: String,
    /// The elements that are mapped: what can be observed.
    pub observed: Vec<Observed>,
}

/// One mapped element.
#[derive(Clone, Debug)]
pub struct Observed {
    /// As it is shown: `leader`, `votes[2]`.
    pub name: String,
    /// The variable of the specification.
    pub variable: VarId,
    /// The element of it.
    pub element: u32,
    /// Its value in a state of the model, before it is given its meaning.
    pub value: Expr,
    /// Where one of these is true, it has no value, for this reason.
    pub hazards: Vec<(Expr, String)>,
    /// How the values of the expression are written.
    pub values: ValueKind,
    /// What they are as values of the variable.
    pub meaning: Meaning,
    /// The smallest and the largest value of the variable.
    pub range: (i64, i64),
}

/// What the values of an expression are as values of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The same.
    Same,
    /// The enumerator of the same name, if there is one.
    Named(Vec<Option<i64>>),
    /// The set of the same numbers, whose bits are so many places higher.
    Shifted(i64),
}
