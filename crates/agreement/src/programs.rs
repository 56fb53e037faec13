//! Random programs: trees that use every construct of the language, most of them with a few hundred states.

mod bodies;
mod collections;
mod data;
mod expressions;
mod generator;
mod rich;
mod traffic;
mod wholes;
mod world;

pub mod crashing;
pub mod fair;
pub mod late;
pub mod refining;
pub mod symmetric;

pub use data::SPREAD;
pub use generator::generate;
