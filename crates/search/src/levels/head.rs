//! Which search the levels in a folder are of, and whether what it found can be relied on.

use std::io::Write;

use birk_engine::{GoalSet, Job, Model, Observer, Successors};
use serde::{Deserialize, Serialize};

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
pub struct Head {
    state_words: u64,
    key_words: u64,
    goals: u64,
    transitions: u64,
    keep_going: bool,
    stop_at: u64,
}

impl Head {
    /// Of a search.
    pub fn new(model: &dyn Model, job: &Job, keys: &Keys) -> Self {
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

/// What becomes of a search when its process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is gone.
    No,
    /// It can be taken up.
    New,
    /// It is one that is taken up.
    Again,
}

/// Says which search the files will be of, before there is anything in them, or looks whether they are of this one.
pub fn introduce(head: &Head, observer: &mut dyn Observer) -> Flow<Kept> {
    let Some(outside) = observer.outside() else { return Ok(Kept::No) };
    let Some(mut input) = outside.saved() else {
        let mut kept = Kept::No;
        outside.checkpoint(
            &mut |out: &mut dyn Write| {
                kept = Kept::New;
                out.write_all(&FORMAT.to_le_bytes())?;
                put(out, head)
            },
            true,
        );
        return Ok(kept);
    };
    let refused = |_| Halt::Refused("it holds what no search writes");
    if u64::from_le_bytes(take(&mut input).map_err(refused)?) != FORMAT {
        return Err(Halt::Refused("it was written in another format"));
    }
    let written: Head = get(&mut input).map_err(refused)?;
    if written != *head || input.read(&mut [0]).map_err(refused)? != 0 {
        return Err(Halt::Refused("it is of another model, or asks for something else"));
    }
    Ok(Kept::Again)
}

/// The levels that an earlier search has completed, with their records, or none yet.
pub(crate) fn open(kept: Kept, vault: &Vault) -> Flow<(Log, Vec<Record>)> {
    if kept == Kept::Again
        && let Some(opened) = Log::open(vault)?
    {
        return Ok(opened);
    }
    Ok((Log::new(vault)?, Vec::new()))
}

/// Where the goals are that a record says were found, if they are there.
pub(crate) fn found(record: &Record, model: &dyn Model, job: &Job) -> Flow<(Vec<Option<Target>>, GoalSet)> {
    let goals = verified(record, model, job)?;
    let target = |found: &Option<(u32, Vec<u32>)>| {
        found.as_ref().map(|(depth, state)| Target { depth: *depth, state: state.clone() })
    };
    Ok((record.found.iter().map(target).collect(), goals))
}

/// The goals that a record says were found, if the states that it names meet them.
pub fn verified(record: &Record, model: &dyn Model, job: &Job) -> Flow<GoalSet> {
    if record.fired.len() != model.transitions() || record.found.len() != job.goals {
        return Err(Halt::Refused("its transitions or goals are not those of the model"));
    }
    let mut goals = GoalSet::default();
    let mut batch = Successors::in_parts(model.words());
    for (goal, found) in record.found.iter().enumerate() {
        let Some((depth, state)) = found else { continue };
        if state.len() != model.words() || !model.is_state(state) || *depth >= record.depth {
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
        goals.insert(goal);
    }
    Ok(goals)
}

/// What is damaged is a reason to refuse; other errors stay what they are.
pub fn as_refusal(halt: Halt) -> Halt {
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
