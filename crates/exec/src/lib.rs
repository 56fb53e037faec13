//! What a program does: the interpreter as a `Model`, layers around models, the reference checker that
//! engines are tested against, the replayer that walks every trace again before anyone sees it, random runs, and
//! what people ask who look around: why is this not enabled, where is the nearest state like that.
#![forbid(unsafe_code)]

pub mod automaton;
pub mod counted;
pub mod directed;
pub mod equations;
pub mod explanation;
pub mod fair;
pub mod goal;
pub mod heuristic;
pub mod interpreter;
pub mod nearest;
pub mod product;
pub mod random;
pub mod reduction;
pub mod reference;
pub mod refinement;
pub mod replay;
mod rewrite;
pub mod simulate;
pub mod switches;
pub mod symmetry;
pub mod why;

pub use counted::Counted;
pub use directed::Directed;
pub use explanation::{Effort, Explanation, Role, explain_run, fewest_switches_within};
pub use goal::goal_of;
pub use heuristic::Heuristic;
pub use interpreter::Interpreter;
pub use nearest::{Nearest, nearest};
pub use product::{Fairness, Product};
pub use random::Random;
pub use reduction::{Reduced, Relations, Reset, Specialised, Syntactic};
pub use replay::{ReplayError, Replayed, replay};
pub use simulate::{Choose, Rules, Run, RunEnd, simulate};
pub use switches::fewest_switches;
pub use symmetry::{Automorphisms, Generator, Holds, Symmetric};
pub use why::{Part, Reason, Why, explain, why};
