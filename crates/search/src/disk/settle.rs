//! From candidates to the next level: sorted, each once, without those that were visited before.

use std::sync::atomic::{AtomicU64, Ordering};

use birk_engine::Observer;
use birk_runs::{Run, Writer};

use super::Search;
use super::slices::Merging;
use crate::levels::limits::Flow;
use crate::levels::vault::Appender;

impl Search<'_> {
    /// Makes the next level of the candidates; whether it has any state.
    pub(super) fn settle(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let writer = self.log.begin(self.shared.keys.words(), &self.shared.sizes)?;
        let (writer, new) = self.unvisited(writer, observer)?;
        self.clear();
        let keys = writer.keys();
        if keys == 0 {
            return Ok(false);
        }
        let visited = self.history.keys();
        self.stats.states += new;
        self.depth = self.log.len() as u32;
        if new > 0 {
            self.stats.levels.push(new);
            self.stats.max_depth = self.depth;
        }
        let level = self.log.commit(writer, self.record(new))?;
        self.level = Some(level.clone());
        self.phase = super::Phase::Expanding;
        self.stand();
        self.history.add(level, &self.shared, observer)?;
        assert_eq!(self.history.keys(), visited + keys, "every state of the level is visited now, and no other");
        Ok(true)
    }

    /// Writes the candidates that were not visited; how many of them are no results of failing checks.
    pub(super) fn unvisited(
        &mut self,
        writer: Writer<Appender>,
        observer: &mut dyn Observer,
    ) -> Flow<(Writer<Appender>, u64)> {
        let shared = &self.shared;
        let (words, before) = (shared.keys.words(), shared.states.load(Ordering::Relaxed));
        let has_any = |worker: &&mut super::Worker| worker.candidates.len() > 0;
        let mut sorting: Vec<_> = self.workers.iter_mut().filter(has_any).collect();
        if !sorting.is_empty() {
            shared.together(&mut sorting, observer, |worker, asking| worker.candidates.sort(&mut || asking.ask()))?;
        }
        let new = AtomicU64::new(0);
        let hear = |keys: &[u64]| {
            let mut state = vec![0; shared.model.words()];
            let is_state = |key: &[u64]| {
                shared.keys.unpack(key, &mut state);
                !shared.model.is_fault(&state)
            };
            let states = keys.chunks_exact(words).map(is_state).filter(|is_state| *is_state).count() as u64;
            new.fetch_add(states, Ordering::Relaxed);
            shared.states.fetch_add(states, Ordering::Relaxed);
        };
        let candidates = || self.workers.iter().map(|worker| &worker.candidates);
        let merging = Merging {
            runs: candidates().flat_map(|candidates| &candidates.runs).collect(),
            lists: candidates().map(|candidates| &candidates.keys[..]).filter(|list| !list.is_empty()).collect(),
            without: self.history.runs(),
            hear: &hear,
        };
        let merged = merging.merge_into(writer, shared, observer);
        // Where it is ended here, the states of this level do not count: it is made anew when the search is taken up.
        shared.states.store(before, Ordering::Relaxed);
        let (writer, taken) = merged?;
        assert_eq!(taken, self.waiting_keys(), "every candidate was read");
        Ok((writer, new.into_inner()))
    }

    /// How many candidates there are, some of them more than once.
    pub(super) fn waiting_keys(&self) -> u64 {
        self.workers.iter().map(|worker| worker.candidates.len()).sum()
    }

    /// All candidates were used.
    fn clear(&mut self) {
        for worker in &mut self.workers {
            worker.candidates.clear();
            worker.count(&self.shared);
        }
    }

    /// Tells all threads how it stands between two levels.
    pub(super) fn stand(&mut self) {
        let level = self.level.as_ref();
        let bytes = level.map_or(0, Run::memory) + self.history.memory();
        let shared = &self.shared;
        shared.states.store(self.stats.states, Ordering::Relaxed);
        shared.transitions.store(self.stats.transitions, Ordering::Relaxed);
        shared.depth.store(self.depth, Ordering::Relaxed);
        shared.frontier.store(level.map_or(0, Run::keys), Ordering::Relaxed);
        shared.common_bytes.store(bytes, Ordering::Relaxed);
    }
}
