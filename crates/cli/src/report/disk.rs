//! What a JSON report says of the files of a search on disk.

use birk_engine::Stats;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskReport {
    read_bytes: u64,
    written_bytes: u64,
    peak_bytes: u64,
    level_bytes: u64,
    spills: u64,
    merges: u64,
}

impl DiskReport {
    /// Of a search that has files.
    pub(super) fn of(stats: &Stats) -> Option<Self> {
        let disk = stats.disk()?;
        Some(Self {
            read_bytes: disk.read,
            written_bytes: disk.written,
            peak_bytes: disk.peak_bytes,
            level_bytes: disk.level_bytes,
            spills: disk.spills,
            merges: disk.merges,
        })
    }
}
