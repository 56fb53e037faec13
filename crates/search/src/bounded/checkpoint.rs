//! A search written down, to be taken up later: what was counted and found, the thresholds, and both frontiers.

use std::io::{Result, Write};

use super::search::Search;
use crate::store::codec::Codec;
use crate::store::encoding::{put, put_bytes};

/// Changes when what is written does.
pub(super) const FORMAT: u64 = 4;

impl<C: Codec> Search<'_, C> {
    /// Writes everything that it takes to go on from here. No worker runs.
    pub(super) fn save(&mut self, out: &mut dyn Write) -> Result<()> {
        let counts = self.counts();
        let shared = &mut self.shared;
        let seen = shared.seen.get_mut().expect("no worker panics with it");
        let numbers = [
            FORMAT,
            u64::from(shared.from),
            u64::from(shared.to),
            *shared.states.get_mut(),
            *shared.transitions.get_mut(),
            counts.cut,
            u64::from(counts.max_depth),
            counts.revisits,
            counts.peak_frontier,
            counts.replays,
            counts.replayed,
            self.largest.0,
            self.largest.1,
            self.most_bytes,
        ];
        numbers.iter().try_for_each(|&number| put(out, number))?;
        put_bytes(out, &counts.fired.iter().map(|&fired| u8::from(fired)).collect::<Vec<u8>>())?;
        for trace in shared.found.get_mut().expect("no worker panics with it") {
            let words = trace.as_deref().unwrap_or_default();
            put_bytes(out, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        seen.codec.save(out)?;
        put(out, seen.thresholds.len())?;
        seen.thresholds.for_each(|key, value| {
            put(out, key)?;
            out.write_all(&value.to_le_bytes())
        })?;
        for frontier in [&mut shared.here, &mut shared.next] {
            let frontier = frontier.get_mut().expect("no worker panics with it");
            put(out, frontier.len() as u64)?;
            frontier.each(|chunk| chunk.save(out))?;
        }
        Ok(())
    }
}
