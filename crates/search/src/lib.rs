//! Explicit-state engines: the explore loop, the stores it remembers states in, the frontiers that order it.
//!
//! An engine never sees a property, never prints, never reads a file and never looks at the clock.

mod border;
mod breadth;
mod chunks;
mod codec;
mod crew;
mod memory;
mod retrace;
mod sync;
mod table;
mod visited;
mod worker;

pub mod astar;
pub mod bits;
pub mod branching;
pub mod cycle;
pub mod depth;
pub mod engines;
pub mod exact;
pub mod explore;
pub mod frontier;
pub mod highway;
pub mod job;
pub mod limit;
pub mod profile;
pub mod store;
pub mod trace;

pub use border::Border;
pub use engines::{ENGINES, Engine, ExplicitHunt, engine};
pub use job::{Hunt, Job, Limits, Observer, Progress, Relief, Save, Scratch, Stats, Storage, Waiting};
