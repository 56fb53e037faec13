//! Which codec suits the states of a model: the one place where engines choose.
//!
//! States of few bits are their own keys. Of others, hash compaction keeps fingerprints; exact storage keeps pairs of numbers
//! where a state has up to 64 bits, and trees of numbers where it has more. The search for cycles does not ask here: the keys of
//! `liveness/packed.rs` share a word with colours, and its graphs keep states in full.

use birk_engine::{Job, Model, Storage};

use super::codec::Codec;
use super::codec::direct::Direct;
use super::codec::fingerprint::Fingerprint;
use super::codec::pair::Pair;
use super::codec::tree::Tree;

/// What an engine does with the codec that is chosen.
pub(crate) trait WithCodec {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run<C: Codec>(self, codec: C) -> Self::Output;
}

/// Whether the keys of states may change during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// They grow with the number of states, and the table is rebuilt with them: few bits, for tables of quotients.
    Growing,
    /// They have their full width from the beginning: for tables that keep whole keys, and values with them.
    Fixed,
}

impl Keys {
    /// States of up to this many bits are their own keys. A table of quotients has slots of four bytes for them when it is
    /// large; one of whole keys marks free places by a key that no state has.
    fn small_state(self) -> u32 {
        match self {
            Keys::Growing => 46,
            Keys::Fixed => 63,
        }
    }
}

/// Runs an engine with the codec that suits the states of a model, and how a job wants them stored.
pub(crate) fn with_codec<W: WithCodec>(model: &dyn Model, job: &Job, keys: Keys, engine: W) -> W::Output {
    if let Some(direct) = Direct::new(model, keys.small_state()) {
        return engine.run(direct);
    }
    match (job.storage, keys) {
        (Storage::Compact, _) => engine.run(Fingerprint::new(model.words())),
        (Storage::Exact, Keys::Fixed) => engine.run(Tree::wide(model, &job.limits)),
        (Storage::Exact, Keys::Growing) => match Pair::new(model) {
            Some(pair) => engine.run(pair),
            None => engine.run(Tree::new(model, &job.limits)),
        },
    }
}
