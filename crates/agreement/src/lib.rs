//! What the tests of several crates share: random programs with their text ([`programs`], [`writer`]), the meaning of the
//! language said a second time ([`meaning`]), the check that holds a search against both ([`case`], [`check`]), and random
//! graphs and counters as models ([`graph`], [`counters`]). Also which programs tests need ([`tools`]).
#![forbid(unsafe_code)]

pub mod case;
pub mod check;
mod colours;
pub mod counters;
pub mod faithful;
pub mod graph;
pub mod hunt;
pub mod meaning;
pub mod programs;
pub mod random;
pub mod shelf;
pub mod tools;
pub mod tree;
pub mod writer;
