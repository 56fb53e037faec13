//! What a program does: the `Model` every engine sees, the interpreter behind it, the reference checker that
//! engines are tested against, and the replayer that walks every trace again before anyone sees it, and random runs.
#![forbid(unsafe_code)]

pub mod goal;
pub mod interpreter;
pub mod model;
pub mod random;
pub mod reference;
pub mod replay;
pub mod simulate;

pub use goal::goal_of;
pub use interpreter::Interpreter;
pub use model::{GoalSet, Model, Successors};
pub use random::Random;
pub use replay::{ReplayError, Replayed, replay};
pub use simulate::{Choose, Rules, Run, RunEnd, simulate};
