//! A search written down, to be taken up later: what was counted and found, the thresholds, and both frontiers.

use std::io::{Result, Write};

use serde::{Deserialize, Serialize};

use super::search::Search;
use super::worker::Counts;
use crate::store::codec::Codec;
use crate::store::encoding::put;

/// Changes when what is written does; the first eight bytes.
pub(super) const FORMAT: u64 = 5;

/// What is written before the tables.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Written {
    /// The bound that was completed, and the one that is being explored.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) counts: Counts,
    /// Bytes and states of the largest frontier, and the most bytes of one before it was sifted.
    pub(super) largest: (u64, u64),
    pub(super) most_bytes: u64,
    /// The traces to the goals that were found.
    pub(super) found: Vec<Option<Vec<u32>>>,
    /// How many keys have thresholds, and how many chunks the frontiers have.
    pub(super) keys: u64,
    pub(super) chunks: [u64; 2],
}

impl<C: Codec> Search<'_, C> {
    /// Writes everything that it takes to go on from here. No worker runs.
    pub(super) fn save(&mut self, out: &mut dyn Write) -> Result<()> {
        let counts = self.counts();
        let shared = &mut self.shared;
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        let frontiers =
            [&mut shared.here, &mut shared.next].map(|frontier| frontier.get_mut().expect("no worker panics with it"));
        let written = Written {
            from: shared.from,
            to: shared.to,
            states: *shared.states.get_mut(),
            transitions: *shared.transitions.get_mut(),
            counts,
            largest: self.largest,
            most_bytes: self.most_bytes,
            found: shared.found.get_mut().expect("no worker panics with it").clone(),
            keys: seen.thresholds.len(),
            chunks: [frontiers[0].len() as u64, frontiers[1].len() as u64],
        };
        out.write_all(&FORMAT.to_le_bytes())?;
        put(out, &written)?;
        seen.codec.save(out)?;
        seen.thresholds.for_each(|key, value| {
            out.write_all(&key.to_le_bytes())?;
            out.write_all(&value.to_le_bytes())
        })?;
        frontiers.into_iter().try_for_each(|frontier| frontier.each(|chunk| chunk.save(out)))
    }
}
