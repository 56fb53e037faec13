//! Bounded model checking: runs of a program as clauses, and a solver that looks for one.

mod circuit;
mod search;
mod stuck;
mod unrolling;

pub(crate) use search::hunt;
