//! Highway search: breadth-first, but of each level only so many states, drawn at random, are followed.
//!
//! Algorithms 2 and 3 of Meulen, Stappers and Willemse, "Breadth-Bounded Model Checking". What is visited is a slice of the
//! model: a sub-graph of it, in which a state without successors has none in the model either, because every lane
//! goes on. So what is found in a slice is real; what is not found means nothing, unless the slice turns out to be everything.

mod blocks;
mod candidates;
mod insert;
mod levels;
mod options;
mod sampling;
mod search;
mod slice;
mod swarm;
mod worker;

use birk_engine::{Hunt, Job, Model, Observer};

use crate::store::codec::Codec;
use crate::store::with_codec::{Keys, WithCodec, with_codec};
use search::Search;

pub use options::{CONFIDENCE, DEGRADE_DEPTH, Highway, RATE, RUNS, WIDTH};
pub use slice::{Slice, Sliced};
pub use swarm::{Ran, Swarm};

impl Highway {
    /// Searches until no lane goes on, a limit is met, or a goal is found at which the search ends.
    pub fn hunt(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
        self.visit(model, job, observer, false).0
    }

    /// The same, and the states that were visited.
    pub fn slice(&self, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> (Hunt, Slice) {
        let (hunt, slice) = self.visit(model, job, observer, true);
        (hunt, slice.expect("it was asked for"))
    }

    fn visit(
        &self,
        model: &dyn Model,
        job: &Job,
        observer: &mut dyn Observer,
        wants_slice: bool,
    ) -> (Hunt, Option<Slice>) {
        with_codec(model, job, Keys::Growing, Visit { highway: *self, model, job, observer, wants_slice })
    }
}

struct Visit<'a, 'o> {
    highway: Highway,
    model: &'a dyn Model,
    job: &'a Job,
    observer: &'o mut dyn Observer,
    wants_slice: bool,
}

impl WithCodec for Visit<'_, '_> {
    type Output = (Hunt, Option<Slice>);

    fn run<C: Codec>(self, codec: C) -> Self::Output {
        Search::new(self.highway, self.model, self.job, codec).run(self.observer, self.wants_slice)
    }
}
