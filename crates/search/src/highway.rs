//! Highway search: breadth-first, but of each level only so many states, drawn at random, are followed.
//!
//! Algorithms 2 and 3 of Meulen, Stappers and Willemse, "Breadth-Bounded Model Checking". What is visited is a slice of the
//! model: a sub-graph of it, in which a state without successors has none in the model either, because every lane
//! goes on. So what is found in a slice is real; what is not found means nothing, unless the slice turns out to be everything.

mod blocks;
mod choice;
mod levels;
mod look;
mod notes;
mod runs;
mod search;
mod slice;
mod visit;

use birk_exec::Model;

use crate::codec::Codec;
use crate::codec::direct::Direct;
use crate::codec::fingerprint::Fingerprint;
use crate::codec::pair::Pair;
use crate::codec::tree::Tree;
use crate::job::{Hunt, Job, Limits, Observer, Storage};
use search::Search;

pub use runs::{Ran, Runs};
pub use slice::{Slice, Sliced};

/// How a highway search is done.
#[derive(Clone, Copy, Debug)]
pub struct Highway {
    /// The most lanes: states of one depth that are followed; at least 1.
    pub width: usize,
    /// From this depth on, at least 1, a lane is followed only as long as it has met no visited state.
    pub degrade_depth: Option<u32>,
    /// Decides what is drawn: the same seed gives the same slice.
    pub seed: u64,
    /// Not drawn: the states that seem nearest to a goal are followed, and the seed decides only among equals.
    pub is_beam: bool,
}

impl Highway {
    /// Lanes, unless told otherwise.
    pub const USUAL_WIDTH: usize = 10_000;

    /// As the limits say.
    pub fn of(limits: &Limits) -> Self {
        Self { width: limits.width, degrade_depth: limits.degrade_depth, seed: limits.seed, is_beam: false }
    }

    /// Beam search: the same levels, of which those states are followed whose estimates are smallest. A lane may end.
    pub fn beam(width: usize, limits: &Limits) -> Self {
        Self { width, degrade_depth: None, seed: limits.seed, is_beam: true }
    }

    /// Searches until no lane goes on, a limit is met, or a goal is found at which the search ends.
    pub fn hunt(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
        self.visit(model, job, observer, false).0
    }

    /// The same, and the states that were visited.
    pub fn slice(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> (Hunt, Slice) {
        let (hunt, slice) = self.visit(model, job, observer, true);
        (hunt, slice.expect("it was asked for"))
    }

    /// With the store that suits the states.
    fn visit(
        &self,
        model: &dyn Model,
        job: &Job,
        observer: &mut dyn Observer,
        wants_slice: bool,
    ) -> (Hunt, Option<Slice>) {
        if let Some(direct) = Direct::new(model, Direct::SMALL_STATE) {
            return self.visit_with(model, job, direct, observer, wants_slice);
        }
        match job.limits.storage {
            Storage::Compact => self.visit_with(model, job, Fingerprint::new(model.words()), observer, wants_slice),
            Storage::Exact => match Pair::new(model) {
                Some(pair) => self.visit_with(model, job, pair, observer, wants_slice),
                None => self.visit_with(model, job, Tree::new(model, &job.limits), observer, wants_slice),
            },
        }
    }

    fn visit_with<C: Codec>(
        &self,
        model: &dyn Model,
        job: &Job,
        codec: C,
        observer: &mut dyn Observer,
        wants_slice: bool,
    ) -> (Hunt, Option<Slice>) {
        Search::new(*self, model, job, codec).run(observer, wants_slice)
    }
}
