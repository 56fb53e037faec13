//! `expect` in the tree.

use birk_ir::Span;

use super::Name;

/// What a check should find.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Values of constants, as they are written.
    pub constants: Vec<(Name, String)>,
    /// What is expected.
    pub clauses: Vec<Clause>,
    /// The whole declaration.
    pub span: Span,
}

/// A part of an expectation.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Which kind.
    pub kind: ClauseKind,
    /// The property that it is about.
    pub property: Option<Name>,
    /// The number of steps, or of what is counted.
    pub number: Option<u64>,
}

/// Kinds of parts of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// `holds` or `holds safe`
    Holds,
    /// `violated safe in 3`
    Violated,
    /// `reached far in 3`
    Reached,
    /// `14 states`
    States,
    /// `27 transitions`
    Transitions,
    /// `depth 3`
    Depth,
}
