//! Runs of a program as clauses, and a SAT solver that looks for one: bounded model checking and k-induction.

mod bmc;
mod circuit;
mod commute;
mod induction;
mod stuck;
mod unrolling;

pub(crate) use bmc::hunt;
pub use commute::with_solver;
