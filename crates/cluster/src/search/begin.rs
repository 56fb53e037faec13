//! How a search begins: with the initial states, or with the last level that an earlier search has completed, whoever had its states then.

use std::time::Duration;

use birk_engine::{Observer, Successors};
use birk_runs::{Cursor, Run};
use birk_search::levels::file::LevelFile;
use birk_search::levels::head::{Head, Kept, as_refusal, introduce};
use birk_search::levels::limits::Flow;

use super::{Turn, Worker};
use crate::block::Kind;
use crate::fabric::Fabric;
use crate::manifest::{Manifest, Restored, file_name};
use crate::owner::owner;
use crate::protocol::{Decision, written};
use crate::shared::Shared;

impl<F: Fabric> Worker<'_, '_, F> {
    /// The first worker looks whether there is a search to be taken up, and tells all how to begin.
    pub(super) fn introduce(&mut self) {
        let shared = self.shared;
        let (Some(coordinator), Some(observer)) = (&mut self.coordinator, self.observer.as_deref_mut()) else { return };
        let decision = match begun(shared, self.fabric.workers(), observer) {
            Ok((manifest, restored)) => {
                let start = manifest.as_ref().map_or(1, |manifest| manifest.start);
                coordinator.begin(manifest, restored.as_deref());
                Decision::Begin { start, restored }
            }
            Err(halt) => coordinator.over(shared.failed(halt)),
        };
        self.tell_all(Kind::Decision, &written(&decision));
    }

    /// Begins with the initial states, or with the level that was complete.
    pub(super) fn begin(&mut self, start: u32, restored: Option<Box<Restored>>) -> Turn<()> {
        let first = restored.as_ref().map_or(0, |restored| restored.record.depth);
        match LevelFile::create(&self.shared.vault, &file_name(start, self.fabric.index()), first as usize) {
            Ok(file) => self.file = Some(file),
            Err(halt) => self.fail(halt),
        }
        let Some(restored) = restored else {
            self.add_initial();
            return Ok(());
        };
        for depth in 0..=first {
            self.arriving = depth;
            self.next.clear();
            self.next_states = 0;
            let level = &restored.levels[depth as usize];
            for worker in 0..level.parts() {
                match level.part(&self.shared.vault, depth as usize, worker) {
                    Ok(run) => self.add_own(run)?,
                    Err(halt) => self.fail(halt),
                }
            }
        }
        for _ in 0..first {
            self.fabric.advance();
        }
        (self.level, self.restored) = (first, Some(restored));
        Ok(())
    }

    /// The initial states that this worker owns are its part of the first level: every worker computes all of them.
    fn add_initial(&mut self) {
        let mut initial = Successors::new(self.shared.model.words());
        self.shared.model.initial(&mut initial);
        let mut keys = Vec::new();
        self.shared.keys.pack_all(&initial, 0, &mut keys);
        let own = self.own(&keys);
        self.add(&own);
    }

    /// Adds those keys of a level that this worker owns now, whoever did before.
    fn add_own(&mut self, run: Run) -> Turn<()> {
        let mut cursor = Cursor::new(run, self.shared.sizes.io);
        while !self.is_ceasing {
            match cursor.refill().map_err(|error| as_refusal(error.into())) {
                Ok(true) => {}
                Ok(false) => break,
                Err(halt) => {
                    self.fail(halt);
                    break;
                }
            }
            let own = self.own(cursor.head());
            cursor.consume(cursor.head().len());
            self.add(&own);
            self.turn(Duration::ZERO)?;
        }
        Ok(())
    }

    fn own(&self, keys: &[u64]) -> Vec<u64> {
        let is_own = |key: &&[u64]| owner(key, self.fabric.workers()) == self.fabric.index();
        keys.chunks_exact(self.shared.keys.words()).filter(is_own).flatten().copied().collect()
    }
}

/// Where a search is written down that is to be kept, and what an earlier one has left of it.
fn begun(
    shared: &Shared<'_>,
    workers: usize,
    observer: &mut dyn Observer,
) -> Flow<(Option<Manifest>, Option<Box<Restored>>)> {
    let (model, job, vault) = (shared.model, shared.job, &shared.vault);
    match introduce(&Head::new(model, job, &shared.keys), observer)? {
        Kept::No => Ok((None, None)),
        Kept::New => Ok((Some(Manifest::create(vault, workers)?), None)),
        Kept::Again => {
            let (manifest, restored) = Manifest::open(vault, (model, job), workers)?;
            Ok((Some(manifest), restored.map(Box::new)))
        }
    }
}
