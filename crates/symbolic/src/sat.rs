//! Runs of a program as clauses, and a SAT solver that looks for one: bounded model checking, k-induction and IC3.

mod bmc;
mod circuit;
mod commute;
pub(crate) mod ic3;
mod induction;
mod stuck;
mod unrolling;

pub(crate) use bmc::hunt;
pub use commute::with_solver;
