//! Explicit-state engines: the explore loop, the stores it remembers states in, the frontiers that order it.
//!
//! An engine never sees a property, never prints, never reads a file and never looks at the clock.

mod bfs;
mod crew;
mod cutoff;
mod expand;
mod sync;

pub mod astar;
pub mod bitstate;
pub mod bounded;
pub mod dfs;
pub mod disk;
pub mod engines;
pub mod forecast;
pub mod frontier;
pub mod highway;
pub mod levels;
pub mod liveness;
pub mod mucalculus;
mod overhead;
pub mod partition;
pub mod store;
pub mod trace;

pub use engines::{BEAM, ENGINES, engine};
