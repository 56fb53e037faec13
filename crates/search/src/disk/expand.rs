//! Expanding a level: its states come in the order of their keys, are evaluated, and their successors become candidates.

use birk_engine::{GoalSet, Observer};
use birk_ir::Stop;
use birk_runs::Cursor;

use super::Search;
use super::candidates::Candidates;
use super::limits::{Flow, Halt, Sizes};

/// Successors after which they become candidates, and states after which somebody is asked.
const BATCH: usize = 256;

impl Search<'_> {
    /// Makes the initial states the first level; whether there are any.
    pub(super) fn begin(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let mut initial = birk_engine::Successors::new(self.model.words());
        self.model.initial(&mut initial);
        self.packed.clear();
        self.keys.pack_all(&initial, 0, &mut self.packed);
        self.candidates.push(&self.packed);
        self.settle(observer)
    }

    /// Expands and evaluates the last level; whether the search is over with it.
    pub(super) fn expand(&mut self, observer: &mut dyn Observer) -> Flow<bool> {
        let Some(level) = self.level.clone() else { return Ok(false) };
        self.stats.peak_frontier = self.stats.peak_frontier.max(level.keys());
        let known = self.goals;
        let at_limit = self.depth == self.job.limits.depth;
        let words = self.keys.words();
        let mut is_over = false;
        let mut cursor = Cursor::new(level, self.sizes.io);
        let mut waiting = 0;
        while cursor.refill()? {
            let head = cursor.head();
            for key in head.chunks_exact(words) {
                self.keys.unpack(key, &mut self.state);
                let (before, cut) = (self.batch.len(), self.batch.cut);
                self.model.successors(&self.state, &mut self.batch);
                let stuck = self.batch.is_stuck_since(before, cut);
                let goals = self.model.evaluate(&self.state, stuck);
                if !goals.is_empty() {
                    is_over |= self.evaluate(goals, known);
                }
                self.take(before, at_limit, is_over);
                while self.batch.has_rest() {
                    self.flush(observer)?;
                    self.model.successors(&self.state, &mut self.batch);
                    self.take(0, at_limit, is_over);
                }
                waiting += 1;
                if self.batch.len() >= BATCH || waiting == BATCH {
                    waiting = 0;
                    self.flush(observer)?;
                }
            }
            let consumed = head.len();
            cursor.consume(consumed);
        }
        self.flush(observer)?;
        Ok(is_over)
    }

    /// Counts the successors from one on; where the search ends with this level, they are of no use.
    #[inline(always)]
    fn take(&mut self, before: usize, at_limit: bool, is_over: bool) {
        self.stats.transitions += (self.batch.len() - before) as u64;
        if at_limit {
            // A step is taken only if it leads to a known state.
            self.batch.steps(before).iter().for_each(|step| self.steps[step.transition.index()] += 1);
        } else if self.unfired > 0 {
            for step in self.batch.steps(before) {
                let fired = &mut self.fired[step.transition.index()];
                self.unfired -= usize::from(!std::mem::replace(fired, true));
            }
        }
        if is_over {
            self.batch.truncate(before);
        }
    }

    /// Makes the successors candidates, and looks at limits and observer.
    fn flush(&mut self, observer: &mut dyn Observer) -> Flow<()> {
        self.packed.clear();
        self.keys.pack_all(&self.batch, 0, &mut self.packed);
        if self.candidates.is_full(self.batch.len()) {
            self.spill(observer)?;
        }
        self.candidates.push(&self.packed);
        self.batch.clear();
        self.ask(observer)?;
        let bytes = self.memory();
        if bytes.saturating_add(observer.overhead(bytes)) > self.job.limits.memory {
            return Err(Halt::Stop(Stop::Memory));
        }
        Ok(())
    }

    /// Writes the candidates that are in memory.
    #[cold]
    fn spill(&mut self, observer: &mut dyn Observer) -> Flow<()> {
        // Taken out, so that the rest can be asked about.
        let empty = Candidates::new(1, &Sizes { buffer: 0, recent: 0, ..self.sizes });
        let mut candidates = std::mem::replace(&mut self.candidates, empty);
        let flow = candidates.spill(&self.vault, &self.sizes, &mut || self.ask(observer));
        self.candidates = candidates;
        flow
    }

    /// Records goals that no earlier level had; whether the search ends with this level.
    #[cold]
    fn evaluate(&mut self, goals: GoalSet, known: GoalSet) -> bool {
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.job.goals && !known.contains(goal)) {
            let smallest = &mut self.here[goal];
            if smallest.as_ref().is_none_or(|state| self.state < *state) {
                *smallest = Some(self.state.clone());
            }
            self.goals.insert(goal);
            ends |= self.job.stop_at.contains(goal);
            ends |= !self.job.keep_going && self.goals.0.count_ones() as usize == self.job.goals;
        }
        ends
    }
}
