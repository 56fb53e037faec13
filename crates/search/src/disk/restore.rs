//! A search that is kept, and taken up again with the last level that was completed.

use std::io::Write;

use birk_engine::{Job, Model, Observer, Successors};
use birk_runs::Run;
use serde::{Deserialize, Serialize};

use super::Search;
use super::keys::Keys;
use super::limits::{Flow, Halt};
use super::log::{Log, Record};
use super::vault::Vault;
use crate::bfs::trace::Target;
use crate::store::encoding::{get, put, take};

/// Changes when what is written does; the first eight bytes.
const FORMAT: u64 = 0x6469_736b_0000_0001;

/// What must be the same for a search to be taken up.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Head {
    state_words: u64,
    key_words: u64,
    goals: u64,
    transitions: u64,
    keep_going: bool,
    stop_at: u64,
}

impl Head {
    pub(super) fn new(model: &dyn Model, job: &Job, keys: &Keys) -> Self {
        Self {
            state_words: model.words() as u64,
            key_words: keys.words() as u64,
            goals: job.goals as u64,
            transitions: model.transitions() as u64,
            keep_going: job.keep_going,
            stop_at: job.stop_at.0,
        }
    }
}

/// The levels that an earlier search has completed, with their records, or none yet. Says which search the files will be of before
/// there is anything in them.
pub(super) fn open(head: &Head, vault: &Vault, observer: &mut dyn Observer) -> Flow<(Log, Vec<Record>)> {
    let saved = observer.outside().and_then(|outside| outside.saved());
    if let Some(mut input) = saved {
        let refused = |_| Halt::Refused("it holds what no search writes");
        if u64::from_le_bytes(take(&mut input).map_err(refused)?) != FORMAT {
            return Err(Halt::Refused("it was written in another format"));
        }
        let written: Head = get(&mut input).map_err(refused)?;
        if written != *head || input.read(&mut [0]).map_err(refused)? != 0 {
            return Err(Halt::Refused("it is of another model, or asks for something else"));
        }
        if let Some(opened) = Log::open(vault)? {
            return Ok(opened);
        }
    } else if let Some(outside) = observer.outside() {
        let save = &mut |out: &mut dyn Write| {
            out.write_all(&FORMAT.to_le_bytes())?;
            put(out, head)
        };
        outside.checkpoint(save, true);
    }
    Ok((Log::new(vault)?, Vec::new()))
}

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
        if record.fired.len() != self.fired.len() || record.found.len() != self.found.len() {
            return Err(Halt::Refused("its transitions or goals are not those of the model"));
        }
        self.fired.clone_from(&record.fired);
        let model = self.shared.model;
        let mut batch = Successors::in_parts(model.words());
        for (goal, found) in record.found.iter().enumerate() {
            let Some((depth, state)) = found else { continue };
            let is_state = state.len() == model.words() && model.is_state(state) && *depth < record.depth;
            if !is_state {
                return Err(Halt::Refused("a state in it is none of the model"));
            }
            batch.clear();
            let cut = batch.cut;
            model.successors(state, &mut batch);
            let stuck = batch.is_stuck_since(0, cut);
            let _ = batch.take_rest();
            if !model.evaluate(state, stuck).contains(goal) {
                return Err(Halt::Refused("a state in it is not what was found"));
            }
            self.goals.insert(goal);
            self.found[goal] = Some(Target { depth: *depth, state: state.clone() });
        }
        self.stats.states = record.states;
        self.stats.transitions = record.transitions;
        self.stats.peak_frontier = record.peak_frontier;
        self.cut = record.cut;
        self.evaluated = record.depth.checked_sub(1);
        Ok(())
    }
}

/// What is damaged is a reason to refuse; other errors stay what they are.
fn as_refusal(halt: Halt) -> Halt {
    match halt {
        Halt::Failed(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Halt::Refused("levels.run is not as it was written")
        }
        Halt::Failed(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Halt::Refused("levels.run ends too early")
        }
        halt => halt,
    }
}
