//! At the depth limit: which steps of the last level lead to states that were not visited.
//!
//! The states beyond are computed as the next level would be, and kept in memory piece by piece; for each piece the level is expanded
//! once more, to see which of its steps lead there.

use birk_engine::{Observer, Successors};
use birk_runs::Cursor;

use super::Search;
use super::limits::Flow;

/// States between two words to the observer.
const PATIENCE: usize = 256;

impl Search<'_> {
    /// Counts what lies beyond the last level; whether there is anything.
    pub(super) fn look_beyond(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let Some(level) = self.level.clone() else { return Ok(false) };
        let mut is_open = vec![0u64; level.keys().div_ceil(64) as usize];
        let most = (self.sizes.buffer / 64).max(64 * self.keys.words());
        let mut beyond: Vec<u64> = Vec::new();
        let mut pieces: Vec<Vec<u64>> = Vec::new();
        self.unvisited(observer, &mut |_, batch| {
            beyond.extend_from_slice(batch);
            if beyond.len() >= most {
                pieces.push(std::mem::take(&mut beyond));
            }
            Ok(())
        })?;
        pieces.push(beyond);
        for piece in &pieces {
            self.look_for(piece, &mut is_open, observer)?;
        }
        let states = is_open.iter().map(|bits| u64::from(bits.count_ones())).sum();
        (self.edge.states, self.edge.examined) = (states, states);
        for ((fired, &steps), &open) in self.fired.iter_mut().zip(&self.steps).zip(&self.edge.open) {
            *fired |= steps > open;
        }
        Ok(states > 0)
    }

    /// Expands the level, and counts the steps to these states.
    fn look_for(&mut self, beyond: &[u64], is_open: &mut [u64], observer: &mut dyn Observer) -> Flow<()> {
        let Some(level) = self.level.clone().filter(|_| !beyond.is_empty()) else { return Ok(()) };
        let words = self.keys.words();
        let has = |key: &[u64]| match words {
            1 => beyond.binary_search(&key[0]).is_ok(),
            _ => beyond.chunks_exact(words).collect::<Vec<_>>().binary_search(&key).is_ok(),
        };
        let mut batch = Successors::in_parts(self.model.words());
        let mut packed = Vec::new();
        let mut cursor = Cursor::new(level, self.sizes.io);
        let mut place = 0;
        while cursor.refill()? {
            let head = cursor.head();
            for key in head.chunks_exact(words) {
                self.keys.unpack(key, &mut self.state);
                loop {
                    batch.clear();
                    self.model.successors(&self.state, &mut batch);
                    packed.clear();
                    self.keys.pack_all(&batch, 0, &mut packed);
                    for (i, key) in packed.chunks_exact(words).enumerate().filter(|(_, key)| has(key)) {
                        debug_assert_eq!(key.len(), words);
                        self.edge.open[batch.step(i).transition.index()] += 1;
                        is_open[place / 64] |= 1 << (place % 64);
                    }
                    if !batch.has_rest() {
                        break;
                    }
                    self.ask(observer)?;
                }
                place += 1;
                if place.is_multiple_of(PATIENCE) {
                    self.ask(observer)?;
                }
            }
            let consumed = head.len();
            cursor.consume(consumed);
        }
        Ok(())
    }
}
