//! The explorer: a page on this machine on which the computation graph is unfolded by clicking.

#[cfg(feature = "native")]
mod connections;
mod graph;
mod questions;
#[cfg(feature = "native")]
mod request;
mod search;
#[cfg(feature = "native")]
mod server;

pub(crate) use questions::Questions;
#[cfg(feature = "native")]
pub(crate) use server::serve;
