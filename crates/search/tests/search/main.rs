//! The searches, on random graphs and against each other.

mod astar;
mod bitstate;
mod disk;
mod graphs;
mod highway;
mod panics;
mod patience;
mod slices;
mod stores;
mod transient;
