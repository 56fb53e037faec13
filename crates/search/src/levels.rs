//! Levels in files, as searches keep them that survive the process: which search they are of, the keys of their states, and the files.

pub(crate) mod candidates;
pub(crate) mod head;
pub mod keys;
pub mod limits;
pub mod log;
pub mod vault;
