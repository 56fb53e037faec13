//! States that are not remembered: a reduction takes a single step from them.
//!
//! Whether a state is transient is known when it is expanded, so from some level on states are remembered only then. In between a
//! level may have a state more than once: it is expanded the first time. A transient state is expanded each time that it is reached,
//! and so are those behind it, up to the next one that is remembered; every [`RARELY`]th level remembers all its states, so that is
//! not far, and cycles end. Where states are met first, and with that distances, is as in a search that remembers everything.
//!
//! What SPIN does by merging statements, and LTSmin by transactions (Laarman, "Stubborn transaction reduction", NFM 2018), without
//! another graph: the states are evaluated, and paths have their steps.

use std::ops::Range;
use std::sync::atomic::Ordering;

use birk_engine::{Job, Model};

use super::worker::{Level, Worker};
use crate::expand::expand;
use crate::store::codec::Codec;
use crate::store::table::Insertion;

/// One level in so many forgets nothing.
const RARELY: u32 = 64;

/// How many states a search holds when it begins to forget. What waits at a depth limit is compared with all that is known.
pub(super) fn forgets_beyond(model: &dyn Model, job: &Job) -> Option<u64> {
    model.forgets_beyond().filter(|_| job.limits.depth == u32::MAX)
}

impl<C: Codec> Worker<C> {
    /// Expands a state that is not known, and remembers it unless it is transient.
    pub(super) fn expand_unless_known(&mut self, level: &Level<'_, C>, packed: &[u32]) {
        level.visited.codec.open(packed, &mut self.parent, &mut self.state);
        let known = level.visited.codec.known_key(&self.state, &mut self.parent);
        let key = known.expect("what waits has a key");
        let hash = level.visited.prefetch_one(key);
        if level.visited.entry(hash).is_some() {
            return;
        }
        let cut = self.batch.cut;
        let expanded = expand(level.model, &self.state, &mut self.batch);
        if self.batch.is_transient && !(level.depth + 1).is_multiple_of(RARELY) {
            self.transient += 1;
        } else {
            match level.visited.find_or_insert_one(key, level.depth) {
                Insertion::New => self.held += 1,
                // The search is about to end, and looks no further.
                Insertion::NoRoom if level.evaluating.load(Ordering::Relaxed) => {}
                inserted => {
                    self.batch.truncate(expanded.from);
                    self.batch.cut = cut;
                    if inserted == Insertion::NoRoom {
                        level.here.push_front(packed.to_vec());
                        level.needs_room.store(true, Ordering::Relaxed);
                    }
                    return;
                }
            }
        }
        self.states += u64::from(!level.model.is_fault(&self.state));
        self.look_at(level, expanded);
    }

    /// Gives successors that are not known to the next level.
    pub(super) fn pass_on(&mut self, level: &Level<'_, C>, those: Range<usize>) {
        self.known.clear();
        level.visited.have(&self.hashes[those.clone()], &mut self.known);
        for (at, _) in those.zip(&self.known).filter(|(_, is_known)| !**is_known) {
            level.visited.codec.push_packed(self.keys[at], self.batch.state(at), &mut self.filling.chunk);
            self.filling.flush_if_full(level.next);
        }
    }
}
