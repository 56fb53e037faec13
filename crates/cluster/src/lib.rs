//! Breadth-first search by several workers, in threads or processes, each of which owns a part of the states.
//!
//! `search` is the algorithm, `fabric` what it asks of whatever connects the workers, and `dataflow` is that on timely dataflow:
//! time is the level, and timely's progress tracking says when all states of a level have arrived. Nothing here opens a socket or
//! a file, or looks at the clock: connections and files come through the observer.
#![forbid(unsafe_code)]

mod block;
mod coordinator;
mod dataflow;
mod engine;
mod exchange;
mod fabric;
mod link;
mod manifest;
mod owner;
mod protocol;
mod recent;
mod reordering;
mod search;
mod setting;
mod shared;
mod trace;

pub use block::{Block, Kind};
pub use engine::{ENGINES, hunt_by_threads};
pub use exchange::{Traffic, exchange_only};
pub use fabric::Fabric;
pub use setting::{COMPRESS, Compress, Setting};
