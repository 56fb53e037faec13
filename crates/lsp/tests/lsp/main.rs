//! The language server, asked as an editor asks it.

mod client;
mod corpus;
mod edits;
mod fixes;
mod latency;
mod lifecycle;
mod names;
mod renames;
mod views;
