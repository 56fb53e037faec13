//! Sets of states as binary decision diagrams: the transition relation of a program, and strategies to explore with it.

mod abstraction;
pub(crate) mod astar;
pub(crate) mod bfs;
pub(crate) mod chaining;
mod choices;
mod condition;
mod count;
mod diagram;
mod encoding;
mod heuristic;
mod invariant;
pub(crate) mod mucalculus;
mod order;
mod partition;
mod preimage;
mod relation;
mod saturation;
pub(crate) mod search;
#[cfg(test)]
mod testing;
mod trace;
