//! The hunt for accepting cycles: a run that comes again and again through a state in which goal 0 is true.
//!
//! One core takes the nested search (or, where any cycle through an accepting state will do, a simple one), several
//! take its concurrent relative. What they find is made shorter before it is told.

mod cells;
mod concurrent;
mod exact;
mod gifts;
mod graph;
mod ground;
mod hash;
mod joint;
mod lasso;
mod marks;
mod nested;
mod numbered;
mod packed;
mod path;
mod slots;
mod small;

use birk_exec::Model;
use birk_ir::{Coverage, Outcome, Stop};

use crate::depth::in_balls;
use crate::job::{Hunt, Limits, Observer, Stats};

use exact::Exact;
pub(crate) use hash::{fold, hash};
pub use lasso::Lasso;
pub(crate) use lasso::trace_of;
pub(crate) use nested::{Colour, Space, hunt_in};
use packed::Packed;
pub(crate) use path::Path;

/// Steps of the model are kept in one part in so many of the memory.
const STEPS: u64 = 3;

/// A hunt for cycles.
#[derive(Clone, Copy, Debug)]
pub struct Chase {
    /// No cycle has accepting states and others.
    pub weak: bool,
    /// Cores.
    pub threads: usize,
    /// Where several cores begin to differ.
    pub seed: u64,
    /// What it may use; a depth is the size of the part of the graph that is looked at.
    pub limits: Limits,
}

impl Chase {
    /// Searches until a cycle is found, or there is none, or a limit is met.
    pub fn hunt(&self, model: &dyn Model, observer: &mut dyn Observer) -> Hunt {
        if self.limits.depth == u32::MAX {
            return self.hunt_all(model, observer);
        }
        self.hunt_within(model, false, observer)
    }

    /// The same within a depth bound that grows, by the increments that searches for states take, until it is all.
    pub fn hunt_by_bounds(&self, model: &dyn Model, observer: &mut dyn Observer) -> Hunt {
        self.hunt_within(model, true, observer)
    }

    fn hunt_within(&self, model: &dyn Model, grows: bool, observer: &mut dyn Observer) -> Hunt {
        let limits = Limits { threads: self.threads.max(1), ..self.limits };
        let mut hunt = |ball: &dyn Model, bytes: u64, observer: &mut dyn Observer| {
            let limits = Limits { memory: self.limits.memory.saturating_sub(bytes), ..self.limits };
            Chase { limits, ..*self }.hunt_all(ball, observer)
        };
        in_balls(model, &limits, grows, &mut hunt, observer)
    }

    fn hunt_all(&self, model: &dyn Model, observer: &mut dyn Observer) -> Hunt {
        let memory = self.limits.counted_memory();
        let counted = Chase { limits: Limits { memory, ..self.limits }, ..*self };
        match self.threads {
            0 | 1 => match Packed::new(model) {
                Some(space) => hunt_in(space, model, &counted, observer),
                None => hunt_in(Exact::new(model, memory / STEPS), model, &counted, observer),
            },
            _ => concurrent::hunt(model, &counted, observer),
        }
    }
}

/// The answer to a hunt.
fn ended(lasso: Option<&Lasso>, coverage: Coverage, stopped: Stop, stats: Stats, model: &dyn Model) -> Hunt {
    let outcome = match (lasso, &coverage) {
        (Some(lasso), _) => Outcome::Found(lasso.shortened(model).trace(model)),
        (None, Coverage::Complete) => Outcome::Absent,
        (None, _) => Outcome::Inconclusive,
    };
    Hunt { outcomes: vec![outcome], coverage, stopped, stats, fired: Vec::new() }
}
