//! A search on disk that is taken up with the last level that was completed.

use birk_engine::Observer;
use birk_runs::Run;

use super::Search;
use crate::levels::head::{self, as_refusal};
use crate::levels::limits::{Flow, Halt};
use crate::levels::log::Record;

impl Search<'_> {
    /// Takes up what an earlier search has left.
    pub(super) fn restore(&mut self, records: &[Record], observer: &mut dyn Observer) -> Flow<()> {
        let levels = (0..self.log.len()).map(|depth| self.log.level(depth)).collect::<Flow<Vec<Run>>>();
        let levels = levels.map_err(as_refusal)?;
        let Some(last) = records.last() else { return Ok(()) };
        self.take_up(last)?;
        self.stats.levels = records.iter().map(|record| record.new).filter(|&new| new > 0).collect();
        let deepest = records.iter().filter(|record| record.new > 0).map(|record| record.depth).max();
        (self.depth, self.stats.max_depth) = (last.depth, deepest.unwrap_or(0));
        self.level = levels.last().cloned();
        if levels.iter().any(|level| level.words() != self.shared.keys.words()) {
            return Err(Halt::Refused("its keys are not those of the model"));
        }
        self.stand();
        self.history.rebuild(levels, &self.shared, observer).map_err(as_refusal)
    }

    /// Goes on from what was counted and found.
    fn take_up(&mut self, record: &Record) -> Flow<()> {
        (self.found, self.goals) = head::found(record, self.shared.model, self.shared.job)?;
        self.fired.clone_from(&record.fired);
        self.stats.states = record.states;
        self.stats.transitions = record.transitions;
        self.stats.peak_frontier = record.peak_frontier;
        self.cut = record.cut;
        self.evaluated = record.depth.checked_sub(1);
        Ok(())
    }
}
