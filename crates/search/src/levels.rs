//! Levels in files, as searches keep them that survive the process: which search they are of, the keys of their states, and the files.

pub(crate) mod candidates;
pub mod file;
pub mod head;
pub mod keys;
pub mod limits;
pub mod log;
pub mod records;
pub mod vault;
