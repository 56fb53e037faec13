//! The part of a graph that lies within some steps of its initial states, as a model.
//!
//! A nested search with a limit on its own depth would miss cycles: it reaches states late and by detours. So the part
//! is computed first, level by level, its last level included, and then searched as a whole.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use birk_exec::{GoalSet, Model, Successors};
use birk_ir::Stop;

use crate::border::{Border, Survey};
use crate::job::{Limits, Observer, Progress, Stats};

/// A model without what lies beyond a depth.
pub struct Within<'m> {
    model: &'m dyn Model,
    inside: HashSet<Vec<u32>>,
    left_out: AtomicBool,
    /// The states at the depth, and how many there are at each.
    edge: Vec<Vec<u32>>,
    pub(super) levels: Vec<u64>,
}

impl std::fmt::Debug for Within<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Within({} states)", self.inside.len())
    }
}

impl<'m> Within<'m> {
    /// Computes the part; an error says what ended it, and how many states were reached.
    pub fn new(model: &'m dyn Model, limits: &Limits, observer: &mut dyn Observer) -> Result<Self, Box<(Stop, Stats)>> {
        let mut batch = Successors::new(model.words());
        model.initial(&mut batch);
        let mut inside: HashSet<Vec<u32>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
        let mut level: Vec<Vec<u32>> = inside.iter().cloned().collect();
        let mut stats = Stats { levels: vec![level.len() as u64], ..Stats::default() };
        for depth in 0..limits.depth {
            let mut next = Vec::new();
            for (count, state) in level.iter().enumerate() {
                batch.clear();
                model.successors(state, &mut batch);
                stats.transitions += batch.len() as u64;
                for i in 0..batch.len() {
                    if !inside.contains(batch.state(i)) {
                        inside.insert(batch.state(i).to_vec());
                        next.push(batch.state(i).to_vec());
                    }
                }
                stats.states = inside.len() as u64;
                let bytes = stats.states * (model.words() as u64 * 4 + 48);
                let frontier = next.len() as u64;
                let progress =
                    Progress { states: stats.states, transitions: stats.transitions, depth, frontier, bytes };
                if count % 256 == 0 {
                    let stop = match observer.progress(&progress) {
                        ControlFlow::Break(stop) => Some(stop),
                        _ if bytes > limits.memory / 2 => Some(Stop::Memory),
                        _ if stats.states > limits.states => Some(Stop::States),
                        _ => None,
                    };
                    if let Some(stop) = stop {
                        let waiting = level[count..].iter().chain(&next);
                        let mut survey = Survey::new(model, (level.len() - count + next.len()) as u64);
                        waiting.for_each(|state| survey.wait(state));
                        stats.border = survey.border();
                        return Err(Box::new((stop, stats)));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            stats.levels.push(next.len() as u64);
            level = next;
        }
        Ok(Self { model, inside, left_out: AtomicBool::new(false), edge: level, levels: stats.levels })
    }

    /// The steps that leave the part.
    pub(super) fn border(&self, fired: &mut [bool]) -> Border {
        let mut border = Border::new(self.model.transitions());
        let mut batch = Successors::new(self.model.words());
        for state in &self.edge {
            batch.clear();
            self.model.successors(state, &mut batch);
            border.edge(&batch, 0, fired, |state| self.inside.contains(state));
        }
        border
    }

    /// Whether a search of the part met a step that leaves it.
    pub fn leaves_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }
}

impl Model for Within<'_> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn initial(&self, out: &mut Successors) {
        self.model.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let mut below = out.below.take().unwrap_or_else(|| Box::new(Successors::new(self.words())));
        below.clear();
        let cut = below.cut;
        self.model.successors(state, &mut below);
        out.cut += below.cut - cut;
        for i in 0..below.len() {
            if self.inside.contains(below.state(i)) {
                let step = below.step(i);
                out.push(step.transition, step.choice, below.state(i));
            } else {
                self.left_out.store(true, Ordering::Relaxed);
            }
        }
        out.below = Some(below);
    }

    fn judge(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.model.judge(state, stuck)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }
}
