//! Depth-first search to depth bounds that grow, with thresholds.
//!
//! A bound is searched depth-first from the frontier of the bound before it; the states met at the bound are the next
//! frontier. A state may first be met on a detour, too deep to see all that is within the bound from it. So it has a
//! *threshold*: it is explored again when it is met at a depth below that, and not otherwise. While a state is on the
//! stack its threshold is the depth it is explored at. Afterwards it is what its successors ask for: one less than the
//! largest of their thresholds, where a state of the frontier asks for the bound; a state from which nothing leads to the
//! frontier is never explored again.
//!
//! When a bound is completed the states visited are exactly those within it, and the frontier is exactly those at it.
//! Why: thresholds only fall, so for each explored state and each of its successors either the successor's threshold is at
//! most one more, or the successor was left to the frontier; by induction on the distance nothing is missed. States before
//! the frontier are never entered again, for all later depths are above their thresholds. Each exploration of a state
//! lowers its threshold, so the search ends.
//!
//! States of the frontier have no threshold until they are explored: with one, the next bound would not start at them.
//!
//! The paper (Udupa, Desai, Rajamani: "Depth Bounded Explicit-State Model Checking", 2011) is made whole by a test whether
//! anything lies behind the last frontier, and by a last step that may be shorter; its frontier tree is a list here.

mod bounded_model;
mod checkpoint;
mod delta_state;
mod options;
mod restore;
mod search;
mod shared;
mod spill;
mod thresholds;
mod trace_tree;
mod verify;
mod walk;
mod worker;

use birk_engine::{Hunt, Job, Model, Observer};

use crate::store::codec::Codec;
use crate::store::with_codec::{Keys, WithCodec, with_codec};
pub(crate) use bounded_model::in_bounded_models;
pub use options::{FRONTIER, INCREMENT};
use search::{Rules, Search};

/// Searches bound by bound until the frontier is empty, a limit is met, or a goal is found at which the search ends.
pub fn depth_bounded(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    search(model, job, Rules { prunes: true, ..Rules::default() }, observer).0
}

/// The same with nothing but the depth of its last exploration for each state: it is explored again wherever it is met at
/// a smaller depth. What thresholds save is the difference.
pub fn without_thresholds(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    search(model, job, Rules::default(), observer).0
}

/// As `depth_bounded`, with the states at the last bound, if that was completed.
pub fn with_frontier(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> (Hunt, Vec<Vec<u32>>) {
    search(model, job, Rules { prunes: true, returns_frontier: true }, observer)
}

fn search(model: &dyn Model, job: &Job, rules: Rules, observer: &mut dyn Observer) -> (Hunt, Vec<Vec<u32>>) {
    with_codec(model, job, Keys::Fixed, Bounded { model, job, rules, observer })
}

struct Bounded<'a, 'o> {
    model: &'a dyn Model,
    job: &'a Job,
    rules: Rules,
    observer: &'o mut dyn Observer,
}

impl WithCodec for Bounded<'_, '_> {
    type Output = (Hunt, Vec<Vec<u32>>);

    fn run<C: Codec>(self, codec: C) -> Self::Output {
        Search::new(self.model, self.job, codec, self.rules).run(self.observer)
    }
}
