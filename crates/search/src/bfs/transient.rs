//! States that are not remembered: a reduction takes a single step from them.
//!
//! Whether a state is transient is known when it is expanded, so from some level on states are remembered only then. In between a
//! level may have a state more than once: it is expanded the first time. A transient state is expanded each time that it is reached,
//! and so are those behind it, up to the next one that is remembered. That is not far, and cycles end, because some levels remember all
//! their states: every [`RARELY`]th, and whenever [`MOST`] times as many were forgotten as are held. So no search visits many times as
//! many states as there are. Where they are met first, and with that distances, is as in a search that remembers everything.
//!
//! What SPIN does by merging statements, and LTSmin by transactions (Laarman, "Stubborn transaction reduction", NFM 2018), without
//! another graph: the states are evaluated, and paths have their steps.

use std::ops::Range;
use std::sync::atomic::Ordering;

use birk_engine::{Job, Model};

use super::worker::{Counts, Level, Worker};
use crate::expand::expand;
use crate::store::codec::Codec;
use crate::store::table::Insertion;

/// One level in so many forgets nothing,
const RARELY: u32 = 64;
/// nor does one before which so many times as many states were forgotten as are held, or as these.
const MOST: u64 = 10;
const FEW: u64 = 64;

/// How many states a search holds when it begins to forget. What waits at a depth limit is compared with all that is known.
pub(super) fn forgets_beyond(model: &dyn Model, job: &Job) -> Option<u64> {
    model.forgets_beyond().filter(|_| job.limits.depth == u32::MAX)
}

/// Whether a level forgets transient states.
pub(super) fn may_forget(depth: u32, counts: &Counts) -> bool {
    let (held, forgotten) = (counts.held.load(Ordering::Relaxed), counts.transient.load(Ordering::Relaxed));
    !depth.wrapping_add(1).is_multiple_of(RARELY) && forgotten <= MOST * held.max(FEW)
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
        if self.batch.is_transient && level.may_forget {
            self.transient += 1;
        } else {
            match level.visited.find_or_insert_one(key, level.depth) {
                Insertion::New => self.held += 1,
                // The search is about to end, and looks no further.
                Insertion::NoRoom if level.is_full => {}
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
