//! The levels of a search, one behind the other in a file, and in another file what was counted and found when each was complete: every
//! level is a checkpoint.
//!
//! A record counts only when it is whole and fits the one before it, and is written behind the level that it is of. So whatever ends a
//! process, the search can be taken up with the last level that has a record. What is changed later is refused.

use birk_runs::{Run, Writer};
use serde::{Deserialize, Serialize};

use super::file::{LevelFile, Place};
use super::limits::{Flow, Halt, Sizes};
use super::records::{Magic, Records};
use super::vault::{Appender, Vault};

const LEVELS: &str = "levels.run";
const MAGIC: Magic = *b"birklog\x01";

/// What is known when a level is complete, and none of its states is expanded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Record {
    /// The depth of its states.
    pub depth: u32,
    /// Where the level is.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its keys.
    pub keys: u64,
    /// States of the level, without the results of failing checks.
    pub new: u64,
    /// States of all levels so far.
    pub states: u64,
    /// Steps taken from those that were expanded.
    pub transitions: u64,
    /// Branches that were pruned by `assume`.
    pub cut: u64,
    /// The largest level before this one.
    pub peak_frontier: u64,
    /// For each goal the depth at which it was found, and the state.
    pub found: Vec<Option<(u32, Vec<u32>)>>,
    /// For each transition, whether it was taken.
    pub fired: Vec<bool>,
}

/// The levels.
pub struct Log {
    levels: LevelFile,
    records: Records,
}

impl Log {
    /// No level yet.
    pub fn new(vault: &Vault) -> Flow<Self> {
        Ok(Self { levels: LevelFile::create(vault, LEVELS, 0)?, records: Records::create(vault, MAGIC)? })
    }

    /// What an earlier search has left, with its records; none if that has no complete level.
    pub fn open(vault: &Vault) -> Flow<Option<(Self, Vec<Record>)>> {
        let (Some(file), Some(mut records)) = (vault.open(LEVELS)?, Records::open(vault, MAGIC)?) else {
            return Ok(None);
        };
        let mut levels = LevelFile::new(file, 0);
        let mut found: Vec<Record> = Vec::new();
        while let Some(record) = records.read::<Record>()? {
            let before = found.last().map_or((0, 0), |before| (before.depth + 1, before.states));
            let is_next = (record.depth, record.at, record.states) == (before.0, levels.end(), before.1 + record.new);
            if !is_next {
                return Err(Halt::Refused("a record of levels.log does not fit the one before it"));
            }
            let place = Place { at: record.at, bytes: record.bytes, keys: record.keys };
            // Where the power failed, a record may be there whose level is not.
            if place.end() > levels.size() {
                records.put_back();
                break;
            }
            levels.add(place);
            found.push(record);
        }
        if found.is_empty() {
            return Ok(None);
        }
        // What was written behind the last record belongs to a level that was not completed.
        levels.cut_off()?;
        records.cut_off()?;
        Ok(Some((Self { levels, records }, found)))
    }

    /// How many levels there are.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> u64 {
        self.levels.end()
    }

    /// A level.
    pub fn level(&self, depth: usize) -> Flow<Run> {
        self.levels.level(depth)
    }

    /// Begins the next level.
    pub fn begin(&self, words: usize, sizes: &Sizes) -> Flow<Writer<Appender>> {
        self.levels.begin(words, sizes)
    }

    /// Ends it, and adds its record, in which only the place is missing.
    pub fn commit(&mut self, writer: Writer<Appender>, mut record: Record) -> Flow<Run> {
        // First the level, then the record that says that it is there.
        let (level, place) = self.levels.finish(writer)?;
        (record.depth, record.at) = (self.levels.len() as u32, place.at);
        (record.bytes, record.keys) = (place.bytes, place.keys);
        self.records.push(&record)?;
        self.levels.add(place);
        Ok(level)
    }
}
