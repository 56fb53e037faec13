//! The mapping of a system to its specification.

use birk_ir::Span;

use super::{Expr, Name};

/// `refines NAME { variable = expr; … }`
#[derive(Clone, Debug)]
pub struct Refinement {
    /// What messages call the specification.
    pub name: Name,
    /// Its variables that are mapped.
    pub mapped: Vec<Mapped>,
    /// The whole declaration.
    pub span: Span,
}

/// `variable = expr;`
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The variable of the specification.
    pub variable: Name,
    /// Which elements and fields of it.
    pub parts: Vec<MappedPart>,
    /// Variable and parts.
    pub place: Span,
    /// Its value, over the state of this system.
    pub value: Expr,
}

/// A part of a mapped variable.
#[derive(Clone, Debug)]
pub enum MappedPart {
    /// `[i : lo .. hi]`: one element for each value of the name.
    Each(Name, Expr, Expr),
    /// `[expr]`: one element.
    At(Expr),
    /// `.name`
    Field(Name),
}
