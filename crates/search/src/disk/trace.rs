//! Shortest traces from the level files: a predecessor of a state at some depth is in the level before. So a trace is found backwards,
//! by expanding level after level until a state of it leads where it should; no parents are kept.

use std::ops::ControlFlow;

use birk_engine::{Observer, Progress, Successors};
use birk_ir::{Stop, Trace};
use birk_runs::Cursor;

use super::Search;
use crate::bfs::trace::{Target, trace};
use crate::levels::limits::{Flow, Halt, told};

/// States between two words to the observer.
const PATIENCE: usize = 256;
/// When it was told to end, it goes on until successors have had so many words, a few of which stand for the time to compute
/// one: a trace that is nearly known is not given up.
const MOST_WORDS: usize = 1 << 22;
const FEW_WORDS: usize = 16;

/// Whether to go on: as long as nobody ends it, and then a little longer.
struct Patience<'o> {
    observer: &'o mut dyn Observer,
    progress: Progress,
    ended: Option<Stop>,
    left: usize,
}

impl Patience<'_> {
    fn ask(&mut self, words: usize) -> Flow<()> {
        match self.ended {
            None => {
                // Any amount of memory will do.
                if let ControlFlow::Break(stop @ (Stop::Time | Stop::Interrupt)) =
                    self.observer.progress(&self.progress)
                {
                    self.ended = Some(stop);
                }
                Ok(())
            }
            Some(stop) => {
                self.left = self.left.saturating_sub(words);
                if self.left > 0 { Ok(()) } else { Err(Halt::Stop(stop)) }
            }
        }
    }
}

impl Search<'_> {
    /// A trace to each target, and why some are missing.
    pub(super) fn traces(&self, targets: &[Target], observer: &mut dyn Observer) -> (Vec<Option<Trace>>, Option<Stop>) {
        if targets.is_empty() {
            return (Vec::new(), None);
        }
        let progress = Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.stats.max_depth,
            frontier: 0,
            ..self.shared.progress()
        };
        let mut patience = Patience { observer, progress, ended: None, left: MOST_WORDS };
        // From the target back to an initial state.
        let mut paths: Vec<Vec<Vec<u32>>> = targets.iter().map(|target| vec![target.state.clone()]).collect();
        let deepest = targets.iter().map(|target| target.depth).max().unwrap_or(0);
        let mut ended = None;
        for depth in (1..=deepest).rev() {
            if let Err(halt) = self.step_back(depth, targets, &mut paths, &mut patience) {
                ended = Some(told(halt, patience.observer));
                break;
            }
        }
        let mut initial = Successors::new(self.shared.model.words());
        self.shared.model.initial(&mut initial);
        let whole = |(target, path): (&Target, &Vec<Vec<u32>>)| {
            let path: Vec<Vec<u32>> = path.iter().rev().cloned().collect();
            (path.len() == target.depth as usize + 1).then(|| trace(self.shared.model, &initial, &path)).flatten()
        };
        (targets.iter().zip(&paths).map(whole).collect(), ended)
    }

    /// Adds to each path that is at this depth a state of the level before.
    fn step_back(
        &self,
        depth: u32,
        targets: &[Target],
        paths: &mut [Vec<Vec<u32>>],
        patience: &mut Patience<'_>,
    ) -> Flow<()> {
        // The key that a path is at, and which path.
        let mut wanted: Vec<(Vec<u64>, usize)> = Vec::new();
        for (number, (target, path)) in targets.iter().zip(&*paths).enumerate() {
            if let Some(state) = path.last().filter(|_| target.depth >= depth) {
                let mut key = Vec::new();
                self.shared.keys.pack(state, &mut key);
                wanted.push((key, number));
            }
        }
        let words = self.shared.keys.words();
        let mut batch = Successors::in_parts(self.shared.model.words());
        let (mut packed, mut state) = (Vec::new(), vec![0; self.shared.model.words()]);
        let mut cursor = Cursor::new(self.log.level(depth as usize - 1)?, self.shared.sizes.io);
        let (mut expanded, mut computed) = (0, 0);
        while cursor.refill()? {
            for key in cursor.head().chunks_exact(words) {
                self.shared.keys.unpack(key, &mut state);
                loop {
                    batch.clear();
                    self.shared.model.successors(&state, &mut batch);
                    packed.clear();
                    self.shared.keys.pack_all(&batch, 0, &mut packed);
                    computed += batch.len() * (batch.words() + FEW_WORDS);
                    for successor in packed.chunks_exact(words) {
                        while let Some(at) = wanted.iter().position(|(key, _)| key == successor) {
                            paths[wanted.swap_remove(at).1].push(state.clone());
                        }
                    }
                    if wanted.is_empty() {
                        let _ = batch.take_rest();
                        return Ok(());
                    }
                    if !batch.has_rest() {
                        break;
                    }
                    patience.ask(std::mem::take(&mut computed))?;
                }
                expanded += 1;
                if expanded % PATIENCE == 0 {
                    patience.ask(std::mem::take(&mut computed))?;
                }
            }
            let consumed = cursor.head().len();
            cursor.consume(consumed);
        }
        panic!("every state at depth {depth} has a predecessor in the level before")
    }
}
