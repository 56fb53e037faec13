//! Shortest traces from the level files, found backwards by all workers: a predecessor of a state at some depth is in the level before,
//! so each looks among the states of that level which it owns, and the smallest that one of them finds is taken.

use std::ops::ControlFlow;

use birk_engine::Successors;
use birk_ir::{Stop, Trace};
use birk_runs::{Cursor, Run};
use birk_search::levels::limits::Flow;
use birk_search::partition::trace;

use crate::block::{Block, Kind};
use crate::fabric::Fabric;
use crate::protocol::{Over, Predecessors, written};
use crate::search::{Turn, Worker};

/// States that are expanded before anybody is asked whether to go on.
const PATIENCE: usize = 256;

impl<F: Fabric> Worker<'_, '_, F> {
    /// A trace to each goal that was found, and why some are missing.
    pub(crate) fn traces(&mut self, over: &Over) -> Turn<(Vec<Option<Trace>>, Option<Stop>)> {
        let (keys, words) = (&self.shared.keys, self.shared.keys.words());
        let targets: Vec<&(u32, Vec<u32>)> = over.found.iter().flatten().collect();
        let key_of = |state: &[u32]| {
            let mut key = Vec::with_capacity(words);
            keys.pack(state, &mut key);
            key
        };
        // From the target back to an initial state.
        let mut paths: Vec<Vec<Vec<u64>>> = targets.iter().map(|(_, state)| vec![key_of(state)]).collect();
        let deepest = targets.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
        let mut ended = None;
        for depth in (1..=deepest).rev() {
            let is_wanted = |(target, _): &(&&(u32, Vec<u32>), &Vec<Vec<u64>>)| target.0 >= depth;
            let wanted: Vec<Option<Vec<u64>>> = targets
                .iter()
                .zip(&paths)
                .map(|pair| Some(pair).filter(is_wanted).and_then(|(_, path)| path.last().cloned()))
                .collect();
            let found = match self.predecessors(depth, &wanted) {
                Ok(found) => found,
                Err(halt) => {
                    Predecessors { keys: vec![None; targets.len()], ended: Some(self.shared.failed(halt).into()) }
                }
            };
            let chosen = self.agree(&found)?;
            if let Some(stop) = chosen.ended {
                ended = Some(stop.into());
                break;
            }
            for ((path, wanted), key) in paths.iter_mut().zip(&wanted).zip(chosen.keys) {
                let is_there = wanted.is_none() || key.is_some();
                assert!(is_there, "every state at depth {depth} has a predecessor in the level before");
                path.extend(key);
            }
        }
        let model = self.shared.model;
        let mut initial = Successors::new(model.words());
        model.initial(&mut initial);
        let state_of = |key: &Vec<u64>| {
            let mut state = vec![0; model.words()];
            self.shared.keys.unpack(key, &mut state);
            state
        };
        let whole = |(target, path): (&&(u32, Vec<u32>), &Vec<Vec<u64>>)| {
            let states: Vec<Vec<u32>> = path.iter().rev().map(state_of).collect();
            (states.len() == target.0 as usize + 1).then(|| trace(model, &initial, &states)).flatten()
        };
        Ok((targets.iter().zip(&paths).map(whole).collect(), ended))
    }

    /// Of each state at a depth that is wanted, its smallest predecessor among those states of the level before that this worker looks
    /// through.
    fn predecessors(&mut self, depth: u32, wanted: &[Option<Vec<u64>>]) -> Flow<Predecessors> {
        let mut all = Predecessors { keys: vec![None; wanted.len()], ended: None };
        for run in self.parts(depth as usize - 1)? {
            let found = self.predecessors_in(run, wanted)?;
            for (all, one) in all.keys.iter_mut().zip(found.keys) {
                *all = [all.take(), one].into_iter().flatten().min();
            }
            all.ended = found.ended;
            if all.ended.is_some() {
                break;
            }
        }
        Ok(all)
    }

    /// The parts of a level that this worker looks through: its own, or, where others have searched the level before this search was
    /// taken up, some of theirs.
    fn parts(&self, depth: usize) -> Flow<Vec<Run>> {
        let own = self.file.as_ref().filter(|file| depth >= file.first());
        if let Some(file) = own {
            return Ok(vec![file.level(depth)?]);
        }
        let Some(restored) = &self.restored else { return Ok(Vec::new()) };
        let level = &restored.levels[depth];
        let workers = (self.fabric.index()..level.parts()).step_by(self.fabric.workers());
        workers.map(|worker| level.part(&self.shared.vault, depth, worker)).collect()
    }

    fn predecessors_in(&mut self, run: Run, wanted: &[Option<Vec<u64>>]) -> Flow<Predecessors> {
        let shared = self.shared;
        let (model, words) = (shared.model, shared.keys.words());
        let mut found: Vec<Option<Vec<u64>>> = vec![None; wanted.len()];
        let mut left = wanted.iter().flatten().count();
        let mut batch = Successors::in_parts(model.words());
        let (mut packed, mut state) = (Vec::new(), vec![0; model.words()]);
        let mut cursor = Cursor::new(run, shared.sizes.io);
        let mut expanded = 0;
        while left > 0 && cursor.refill()? {
            let keys = cursor.head().to_vec();
            for key in keys.chunks_exact(words) {
                if left == 0 {
                    break;
                }
                shared.keys.unpack(key, &mut state);
                let _ = batch.each_part(model, &state, |part| {
                    packed.clear();
                    shared.keys.pack_all(part, 0, &mut packed);
                    for successor in packed.chunks_exact(words) {
                        for (wanted, found) in wanted.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
                            if wanted.as_deref() == Some(successor) {
                                *found = Some(key.to_vec());
                                left -= 1;
                            }
                        }
                    }
                    ControlFlow::<()>::Continue(())
                });
                expanded += 1;
                if expanded % PATIENCE == 0 {
                    self.turn(std::time::Duration::ZERO)?;
                    if let ControlFlow::Break(stop @ (Stop::Time | Stop::Interrupt)) = self.heard() {
                        return Ok(Predecessors { keys: found, ended: Some(stop.into()) });
                    }
                }
            }
            cursor.consume(keys.len());
        }
        Ok(Predecessors { keys: found, ended: None })
    }

    /// Tells the first worker what this one has found; what it chose among what all have found.
    fn agree(&mut self, found: &Predecessors) -> Turn<Predecessors> {
        self.fabric.send(Block::new(0, Kind::Predecessors, written(found)));
        loop {
            if let Some(chosen) = self.path.take() {
                return Ok(chosen);
            }
            self.turn(std::time::Duration::from_millis(20))?;
        }
    }

    /// The first worker hears what another has found; when all have said so, it chooses.
    pub(crate) fn take_predecessors(&mut self, from: usize, found: Predecessors) {
        let before = self.predecessors[from].replace(found);
        assert!(before.is_none(), "worker {from} answers once");
        if self.predecessors.iter().any(Option::is_none) {
            return;
        }
        let all: Vec<Predecessors> = self.predecessors.iter_mut().filter_map(Option::take).collect();
        let smallest = |at: usize| all.iter().filter_map(|one| one.keys[at].clone()).min();
        let chosen = Predecessors {
            keys: (0..all[0].keys.len()).map(smallest).collect(),
            ended: all.iter().filter_map(|one| one.ended).min(),
        };
        self.tell_all(Kind::Path, &written(&chosen));
    }
}
