//! The explorer: a page on this machine on which the computation graph is unfolded by clicking.

mod connections;
mod graph;
mod request;
mod search;
mod server;

pub(crate) use server::serve;
