//! What the first worker writes down when a level is complete everywhere: what was counted and found so far, and where each worker's
//! part of the level is. A level without such an entry does not exist, so whatever ends a process, the search can be taken up with the
//! last level that has one, by any number of workers.
//!
//! Every run of a search writes to files of its own, so a stray process of an earlier run cannot interfere.

use birk_engine::{Job, Model};
use birk_runs::Run;
use birk_search::levels::file::Place;
use birk_search::levels::head::{as_refusal, verified};
use birk_search::levels::limits::{Flow, Halt};
use birk_search::levels::log::Record;
use birk_search::levels::records::{Magic, Records};
use birk_search::levels::vault::Vault;
use serde::{Deserialize, Serialize};

const MAGIC: Magic = *b"birkman\x01";
/// More workers are surely not intended.
const MOST_WORKERS: u64 = 1 << 20;

#[derive(Deserialize, Serialize)]
enum Entry {
    /// So many workers begin, or take up what is written before.
    Begin { workers: u64 },
    /// A level is complete: what is known, and where the parts are, in the order of the workers.
    Level { record: Record, parts: Vec<Place> },
}

/// The file with the levels of a worker, in a run of the search; runs count from 1.
pub(crate) fn file_name(start: u32, worker: usize) -> String {
    format!("{start}-{worker}-levels.run")
}

/// A level, in the files of those who searched it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Level {
    start: u32,
    parts: Vec<Place>,
    /// States of it, without the results of failing checks.
    pub(crate) states: u64,
}

impl Level {
    /// The part of one of those who searched it.
    pub(crate) fn part(&self, vault: &Vault, depth: usize, worker: usize) -> Flow<Run> {
        let file = vault.open(&file_name(self.start, worker))?.ok_or(MISSING)?;
        self.parts[worker].open(&file, depth).map_err(as_refusal)
    }

    /// How many have searched it.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }
}

/// What was known when the last level was complete, and none of its states was expanded; and all levels.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Restored {
    pub(crate) record: Record,
    pub(crate) levels: Vec<Level>,
}

/// The file with the entries.
pub(crate) struct Manifest {
    records: Records,
    /// How often workers have begun.
    pub(crate) start: u32,
}

impl Manifest {
    /// For a search that begins.
    pub(crate) fn create(vault: &Vault, workers: usize) -> Flow<Self> {
        let mut records = Records::create(vault, MAGIC)?;
        records.push(&Entry::Begin { workers: workers as u64 })?;
        Ok(Self { records, start: 1 })
    }

    /// Of a search that is taken up, with what was known of it if a level of it is complete.
    pub(crate) fn open(
        vault: &Vault,
        (model, job): (&dyn Model, &Job),
        workers: usize,
    ) -> Flow<(Self, Option<Restored>)> {
        let Some(mut records) = Records::open(vault, MAGIC)? else {
            return Ok((Self::create(vault, workers)?, None));
        };
        let (mut start, mut sizes) = (0, Vec::new());
        let mut restored: Option<Restored> = None;
        while let Some(entry) = records.read::<Entry>()? {
            match entry {
                Entry::Begin { workers } => {
                    start += 1;
                    sizes = file_sizes(vault, start, workers)?;
                }
                Entry::Level { record, parts } => {
                    if parts.len() != sizes.len() {
                        return Err(UNFIT);
                    }
                    let sizes = sizes.iter().copied().collect::<Option<Vec<u64>>>().ok_or(MISSING)?;
                    // Where the power failed, an entry may be there whose level is not.
                    if parts.iter().zip(&sizes).any(|(part, &size)| part.end() > size) {
                        records.put_back();
                        break;
                    }
                    let level = Level { start, parts, states: record.new };
                    restored = Some(with_level(restored, record, level)?);
                }
            }
        }
        if let Some(restored) = &restored {
            verified(&restored.record, model, job)?;
        }
        records.cut_off()?;
        records.push(&Entry::Begin { workers: workers as u64 })?;
        Ok((Self { records, start: start + 1 }, restored))
    }

    /// A level is complete, and all parts of it are written.
    pub(crate) fn commit(&mut self, record: Record, parts: Vec<Place>) -> Flow<()> {
        self.records.push(&Entry::Level { record, parts })
    }
}

const UNFIT: Halt = Halt::Refused("a record of levels.log does not fit the one before it");
const MISSING: Halt = Halt::Refused("a file with levels of a worker is missing");

/// What is known with one more level. Whoever takes a search up writes the level again that was complete.
fn with_level(restored: Option<Restored>, record: Record, level: Level) -> Flow<Restored> {
    let mut levels = restored.map_or_else(Vec::new, |restored| restored.levels);
    let depth = record.depth as usize;
    if levels.len() == depth + 1 && levels[depth].start < level.start {
        levels.pop();
    }
    let states: u64 = levels.iter().map(|level| level.states).sum();
    if levels.len() != depth || record.states != states + record.new {
        return Err(UNFIT);
    }
    levels.push(level);
    Ok(Restored { record, levels })
}

/// The sizes of the files of those who began, where they are there.
fn file_sizes(vault: &Vault, start: u32, workers: u64) -> Flow<Vec<Option<u64>>> {
    if workers > MOST_WORKERS {
        return Err(UNFIT);
    }
    (0..workers as usize).map(|worker| Ok(vault.open(&file_name(start, worker))?.map(|file| file.size()))).collect()
}
