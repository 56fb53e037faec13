//! The hunt for accepting cycles: a run that comes again and again through a state in which goal 0 is true.
//!
//! One core takes the nested search (or, where any cycle through an accepting state will do, a simple one), several
//! take its concurrent relative. What they find is made shorter before it is told, and as short as possible where the product is small.

mod cells;
mod cndfs;
mod colour_store;
mod colour_table;
mod cycle_search;
mod graph;
mod graph_shared;
mod graph_single;
mod lasso;
mod ndfs;
mod packed;
mod packed_shared;
mod packed_single;
mod path;
mod shortest;
mod slots;
mod strong;
mod work_sharing;

use birk_engine::{Hunt, Limits, Model, Observer};

use crate::bounded::in_bounded_models;

pub use cycle_search::CycleSearch;
use cycle_search::STEPS;
use graph_single::GraphSingle;
pub use lasso::Lasso;
pub(crate) use lasso::trace_of;
pub(crate) use ndfs::{Colour, Space, hunt_in};
use packed_single::PackedSingle;
pub(crate) use path::Path;
pub use strong::find_strongly_fair_cycle;

impl CycleSearch {
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
        let mut hunt = |bounded_model: &dyn Model, bytes: u64, observer: &mut dyn Observer| {
            let limits = Limits { memory: self.limits.memory.saturating_sub(bytes), ..self.limits };
            CycleSearch { limits, ..*self }.hunt_all(bounded_model, observer)
        };
        in_bounded_models(model, (&limits, self.increment), grows, &mut hunt, observer)
    }

    fn hunt_all(&self, model: &dyn Model, observer: &mut dyn Observer) -> Hunt {
        let memory = self.limits.counted_memory();
        let counted = CycleSearch { limits: Limits { memory, ..self.limits }, ..*self };
        match self.threads {
            0 | 1 => match PackedSingle::new(model) {
                Some(space) => hunt_in(space, model, &counted, observer),
                None => hunt_in(GraphSingle::new(model, memory / STEPS), model, &counted, observer),
            },
            _ => cndfs::hunt(model, &counted, observer),
        }
    }
}
