//! At the depth limit: which steps of the last level lead to states that were not visited.
//!
//! The states beyond are computed as the next level would be, and read piece by piece; for each piece the level is expanded once more,
//! to see which of its steps lead there.

use std::sync::Arc;

use birk_engine::{Observer, Successors};
use birk_runs::{Cursor, Writer};

use super::Search;
use crate::levels::candidates::finish;
use crate::levels::limits::Flow;
use crate::levels::vault::Appender;

/// States between two words to the observer.
const PATIENCE: usize = 256;

impl Search<'_> {
    /// Counts what lies beyond the last level; whether there is anything.
    pub(super) fn look_beyond(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let Some(level) = self.level.clone() else { return Ok(false) };
        let mut is_open = vec![0u64; level.keys().div_ceil(64) as usize];
        let (words, sizes) = (self.shared.keys.words(), self.shared.sizes);
        let most = (sizes.buffer / 64).max(64 * words);
        let file = self.shared.vault.scratch()?;
        let writer = Writer::new(Appender::new(Arc::clone(&file), 0, sizes.io), words, 0)?;
        let (writer, _) = self.unvisited(writer, observer)?;
        let mut cursor = Cursor::new(finish(writer, file, 0)?, sizes.io);
        let mut beyond: Vec<u64> = Vec::new();
        loop {
            let has_more = cursor.refill()?;
            beyond.extend_from_slice(cursor.head());
            cursor.consume(cursor.head().len());
            if beyond.len() >= most || !has_more {
                self.look_for(&beyond, &mut is_open, observer)?;
                beyond.clear();
            }
            if !has_more {
                break;
            }
        }
        let states = is_open.iter().map(|bits| u64::from(bits.count_ones())).sum();
        (self.edge.states, self.edge.examined) = (states, states);
        for (transition, fired) in self.fired.iter_mut().enumerate() {
            let steps: u64 = self.workers.iter().map(|worker| worker.steps[transition]).sum();
            *fired |= steps > self.edge.open[transition];
        }
        Ok(states > 0)
    }

    /// Expands the level, and counts the steps to these states.
    fn look_for(&mut self, beyond: &[u64], is_open: &mut [u64], observer: &mut dyn Observer) -> Flow<()> {
        let Some(level) = self.level.clone().filter(|_| !beyond.is_empty()) else { return Ok(()) };
        let Self { shared, edge, .. } = self;
        let (model, keys, words) = (shared.model, &shared.keys, shared.keys.words());
        let mut asking = shared.asking(observer);
        let has = |key: &[u64]| match words {
            1 => beyond.binary_search(&key[0]).is_ok(),
            _ => beyond.chunks_exact(words).collect::<Vec<_>>().binary_search(&key).is_ok(),
        };
        let mut batch = Successors::in_parts(model.words());
        let (mut packed, mut state) = (Vec::new(), vec![0; model.words()]);
        let mut cursor = Cursor::new(level, shared.sizes.io);
        let mut place = 0;
        while cursor.refill()? {
            let head = cursor.head();
            for key in head.chunks_exact(words) {
                keys.unpack(key, &mut state);
                loop {
                    batch.clear();
                    model.successors(&state, &mut batch);
                    packed.clear();
                    keys.pack_all(&batch, 0, &mut packed);
                    for (i, key) in packed.chunks_exact(words).enumerate().filter(|(_, key)| has(key)) {
                        debug_assert_eq!(key.len(), words);
                        edge.open[batch.step(i).transition.index()] += 1;
                        is_open[place / 64] |= 1 << (place % 64);
                    }
                    if !batch.has_rest() {
                        break;
                    }
                    asking.ask()?;
                }
                place += 1;
                if place.is_multiple_of(PATIENCE) {
                    asking.ask()?;
                }
            }
            let consumed = head.len();
            cursor.consume(consumed);
        }
        Ok(())
    }
}
