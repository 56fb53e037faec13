//! The visited set: runs that have no key in common, few and of very different sizes.

use std::sync::Arc;

use birk_engine::Observer;
use birk_runs::{Cursor, Merge, Run, Stream, Writer, due};

use super::shared::Shared;
use super::slices::Merging;
use crate::levels::candidates::finish;
use crate::levels::limits::{Flow, Halt};
use crate::levels::vault::Appender;

/// So many runs of an earlier search are merged at once.
const MOST_AT_ONCE: usize = 32;

/// The visited set.
#[derive(Default)]
pub(super) struct History {
    /// From the oldest to the newest.
    runs: Vec<Run>,
    /// Bytes of those that are in memory, for each run.
    in_memory: Vec<u64>,
    /// How often runs were merged.
    pub(super) merges: u64,
}

impl History {
    /// How many keys there are.
    pub(super) fn keys(&self) -> u64 {
        self.runs.iter().map(Run::keys).sum()
    }

    /// Bytes in memory.
    pub(super) fn memory(&self) -> u64 {
        self.runs.iter().map(Run::memory).chain(self.in_memory.iter().copied()).sum()
    }

    /// The runs.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Adds a level, and merges runs where there are too many.
    pub(super) fn add(&mut self, level: Run, shared: &Shared<'_>, observer: &mut dyn Observer) -> Flow<()> {
        let words = level.words();
        self.runs.push(level);
        self.in_memory.push(0);
        let keys: Vec<u64> = self.runs.iter().map(Run::keys).collect();
        let Some(range) = due(&keys) else { return Ok(()) };
        let before = self.keys();
        let parts = &self.runs[range.clone()];
        let bytes: u64 = parts.iter().map(Run::bytes).sum();
        let (merged, held) = if bytes <= shared.sizes.small_run as u64 {
            let run = merge_in_memory(parts, words)?;
            let held = run.bytes();
            (run, held)
        } else {
            (merge(parts, shared, observer)?, 0)
        };
        self.runs.splice(range.clone(), [merged]);
        self.in_memory.splice(range, [held]);
        self.merges += 1;
        assert_eq!(self.keys(), before, "runs of the visited set have no key in common, and lose none");
        Ok(())
    }

    /// The levels of an earlier search: all of them are read, and become one run.
    pub(super) fn rebuild(
        &mut self,
        mut levels: Vec<Run>,
        shared: &Shared<'_>,
        observer: &mut dyn Observer,
    ) -> Flow<()> {
        let keys: u64 = levels.iter().map(Run::keys).sum();
        loop {
            let parts = levels.chunks(MOST_AT_ONCE);
            let merged = parts.map(|part| merge(part, shared, observer)).collect::<Flow<Vec<Run>>>()?;
            levels = merged;
            if levels.len() <= 1 {
                break;
            }
        }
        self.in_memory = vec![0; levels.len()];
        self.runs = levels;
        if self.keys() != keys {
            return Err(Halt::Refused("two of its levels have a state in common"));
        }
        Ok(())
    }
}

/// Merges runs into one in a new file.
fn merge(runs: &[Run], shared: &Shared<'_>, observer: &mut dyn Observer) -> Flow<Run> {
    let file = shared.vault.scratch()?;
    let writer = Writer::new(Appender::new(Arc::clone(&file), 0, shared.sizes.io), shared.keys.words(), 0)?;
    let merging = Merging { runs: runs.iter().collect(), lists: Vec::new(), without: &[], hear: &|_| () };
    let (writer, taken) = merging.merge_into(writer, shared, observer)?;
    if taken != runs.iter().map(Run::keys).sum::<u64>() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "a run has other keys").into());
    }
    finish(writer, file, 0)
}

/// Merges small runs.
fn merge_in_memory(runs: &[Run], words: usize) -> Flow<Run> {
    let streams = runs.iter().map(|run| Stream::Run(Cursor::new(run.clone(), 0))).collect();
    let mut merge = Merge::new(streams, words);
    let mut writer = Writer::new(Vec::new(), words, 0)?;
    let mut batch = Vec::new();
    while merge.next(&mut batch)? {
        writer.push(&batch)?;
    }
    let (mut bytes, length) = writer.finish()?;
    bytes.shrink_to_fit();
    Ok(Run::open(Arc::new(bytes), 0, length)?)
}
