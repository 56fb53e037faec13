//! Executing programs: simulation, replay, and the reasons that are given.

mod because;
mod replay;
mod simulate;
mod why;
