//! What a program does: the `Model` every engine sees, the interpreter behind it, the reference checker that
//! engines are tested against, and the replayer that walks every trace again before anyone sees it.
#![forbid(unsafe_code)]

pub mod automaton;
pub mod goal;
pub mod interpreter;
pub mod model;
pub mod product;
pub mod reference;
pub mod replay;

pub use goal::goal_of;
pub use interpreter::Interpreter;
pub use model::{GoalSet, Model, Successors};
pub use product::{Fairness, Product};
pub use replay::{ReplayError, Replayed, replay};
