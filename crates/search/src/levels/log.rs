//! The levels of a search, one behind the other in a file, and in another file what was counted and found when each was complete: every
//! level is a checkpoint.
//!
//! A record counts only when it is whole and fits the one before it, and is written behind the level that it is of. So whatever ends a
//! process, the search can be taken up with the last level that has a record. What is changed later is refused.

use std::sync::Arc;

use birk_runs::{Run, Source as _, Writer};
use serde::{Deserialize, Serialize};

use super::candidates::finish;
use super::limits::{Flow, Halt, Sizes};
use super::vault::{Appender, Held, Vault};

const LEVELS: &str = "levels.run";
const RECORDS: &str = "levels.log";
/// How the file of records begins; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"birklog\x01";
/// Bytes before a record: its length, and the checksum of it and of the one before.
const FRAME: usize = 8;
/// No record is longer.
const LONGEST: usize = 1 << 26;

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
    levels: Arc<Held>,
    records: Arc<Held>,
    /// Where each level is, and how many bytes and keys it has.
    places: Vec<(u64, u64, u64)>,
    /// Where both files end.
    end: u64,
    records_end: u64,
    /// The checksum of the last record.
    chain: u32,
}

impl Log {
    /// No level yet.
    pub fn new(vault: &Vault) -> Flow<Self> {
        Self::create(vault, (LEVELS, RECORDS))
    }

    /// No level yet, of the states that one of several workers owns.
    pub fn of_worker(vault: &Vault, worker: usize) -> Flow<Self> {
        Self::create(vault, (&format!("{worker}-{LEVELS}"), &format!("{worker}-{RECORDS}")))
    }

    fn create(vault: &Vault, (levels, records): (&str, &str)) -> Flow<Self> {
        let (levels, records) = (vault.create(levels)?, vault.create(records)?);
        records.write_at(&MAGIC, 0)?;
        let chain = crc32fast::hash(&MAGIC);
        Ok(Self { levels, records, places: Vec::new(), end: 0, records_end: MAGIC.len() as u64, chain })
    }

    /// What an earlier search has left, with its records; none if that has no complete level.
    pub fn open(vault: &Vault) -> Flow<Option<(Self, Vec<Record>)>> {
        let (Some(levels), Some(records)) = (vault.open(LEVELS)?, vault.open(RECORDS)?) else { return Ok(None) };
        let mut bytes =
            vec![0; usize::try_from(records.size()).map_err(|_| Halt::Refused("its records are too long"))?];
        records.read_at(&mut bytes, 0)?;
        if bytes.len() < MAGIC.len() {
            return Ok(None);
        }
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(Halt::Refused("levels.log was written in another format"));
        }
        let mut log = Self {
            levels,
            records,
            places: Vec::new(),
            end: 0,
            records_end: MAGIC.len() as u64,
            chain: crc32fast::hash(&MAGIC),
        };
        let mut found: Vec<Record> = Vec::new();
        while let Some((record, chain, length)) = next_record(&bytes[log.records_end as usize..], log.chain)? {
            let before = found.last().map_or((0, 0), |before| (before.depth + 1, before.states));
            let is_next = (record.depth, record.at, record.states) == (before.0, log.end, before.1 + record.new);
            if !is_next {
                return Err(Halt::Refused("a record of levels.log does not fit the one before it"));
            }
            // Where the power failed, a record may be there whose level is not.
            if record.at.saturating_add(record.bytes) > log.levels.size() {
                break;
            }
            log.places.push((record.at, record.bytes, record.keys));
            log.end = record.at + record.bytes;
            log.records_end += length;
            log.chain = chain;
            found.push(record);
        }
        if found.is_empty() {
            return Ok(None);
        }
        // What was written behind the last record belongs to a level that was not completed.
        log.levels.truncate(log.end)?;
        log.records.truncate(log.records_end)?;
        Ok(Some((log, found)))
    }

    /// How many levels there are.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// A level.
    pub fn level(&self, depth: usize) -> Flow<Run> {
        let (at, bytes, keys) = self.places[depth];
        let run = Run::open(Arc::clone(&self.levels) as Arc<dyn birk_runs::Source>, at, bytes)?;
        if (run.label(), run.keys()) != (depth as u64, keys) {
            return Err(Halt::Failed(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "levels.run does not hold the levels that were written",
            )));
        }
        Ok(run)
    }

    /// Begins the next level.
    pub fn begin(&self, words: usize, sizes: &Sizes) -> Flow<Writer<Appender>> {
        let out = Appender::new(Arc::clone(&self.levels), self.end, sizes.io);
        Ok(Writer::new(out, words, self.places.len() as u64)?)
    }

    /// Ends it, and adds its record, in which only the place is missing.
    pub fn commit(&mut self, writer: Writer<Appender>, mut record: Record) -> Flow<Run> {
        let level = finish(writer, Arc::clone(&self.levels), self.end)?;
        (record.depth, record.at) = (self.places.len() as u32, self.end);
        (record.bytes, record.keys) = (level.bytes(), level.keys());
        let bytes = postcard::to_stdvec(&record).map_err(|error| Halt::Failed(std::io::Error::other(error)))?;
        let chain = checksum(self.chain, &bytes);
        let mut framed = (bytes.len() as u32).to_le_bytes().to_vec();
        framed.extend_from_slice(&chain.to_le_bytes());
        framed.extend_from_slice(&bytes);
        // First the level, then the record that says that it is there.
        self.levels.sync()?;
        self.records.write_at(&framed, self.records_end)?;
        self.records.sync()?;
        self.places.push((self.end, level.bytes(), level.keys()));
        self.end += level.bytes();
        self.records_end += framed.len() as u64;
        self.chain = chain;
        Ok(level)
    }
}

fn checksum(chain: u32, bytes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&chain.to_le_bytes());
    sum.update(&(bytes.len() as u32).to_le_bytes());
    sum.update(bytes);
    sum.finalize()
}

/// The next record, its checksum and its bytes; none where it was not written to its end.
fn next_record(bytes: &[u8], chain: u32) -> Flow<Option<(Record, u32, u64)>> {
    // Zeros are what a file holds that had grown when the power failed.
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    let Some((frame, rest)) = bytes.split_at_checked(FRAME) else { return Ok(None) };
    let number = |at: usize| u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let (length, sum) = (number(0) as usize, number(4));
    if length > LONGEST {
        return Err(Halt::Refused("a record of levels.log is too long"));
    }
    let Some(payload) = rest.get(..length) else { return Ok(None) };
    if checksum(chain, payload) != sum {
        return Err(Halt::Refused("a record of levels.log does not match its checksum"));
    }
    match postcard::take_from_bytes(payload) {
        Ok((record, [])) => Ok(Some((record, sum, (FRAME + length) as u64))),
        _ => Err(Halt::Refused("a record of levels.log holds what no search writes")),
    }
}
