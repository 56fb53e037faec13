//! Runs of a program as clauses, and a SAT solver that looks for one: bounded model checking, k-induction and IC3; and whether conditions are inductive.

mod bmc;
mod circuit;
mod commute;
pub(crate) mod ic3;
mod induction;
mod inductive;
mod pairs;
mod stuck;
mod unrolling;

pub(crate) use bmc::hunt;
pub use commute::with_solver;
pub use ic3::strengthen;
pub use inductive::{Breach, Gap, Induction, induction};
pub(crate) use stuck::depends_on_choices;
