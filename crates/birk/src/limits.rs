//! What the machine has, and what this process has used.

use std::fs::{self, File};
use std::io::{ErrorKind, Result};
use std::path::Path;

/// How much memory may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// By a search.
    pub(crate) search: u64,
    /// By the rest of the process: what it occupies before the search.
    pub(crate) rest: u64,
}

impl Memory {
    /// As asked for, otherwise four fifths of what is free. What the process occupies already is taken from it, but never
    /// more than a quarter: with less than some 40 MB the limit is the search's alone.
    pub(crate) fn new(asked: Option<u64>) -> Self {
        let free = || field("/proc/meminfo", "MemAvailable:").map_or(u64::MAX, |free| free / 5 * 4);
        let limit = asked.unwrap_or_else(free);
        let rest = resident_memory().unwrap_or(0);
        Self { search: limit.saturating_sub(rest).max(limit / 4 * 3), rest }
    }
}

/// A new file in a folder that nobody else sees: it has no name any more, and is gone with the process, whatever ends it.
pub(crate) fn unnamed_file(folder: &Path) -> Result<File> {
    for number in 0.. {
        let path = folder.join(format!("birk-{}-{number}.waiting", std::process::id()));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return fs::remove_file(&path).map(|()| file),
        }
    }
    unreachable!("some number is free")
}

/// The memory this process occupies now, where the system tells.
pub(crate) fn resident_memory() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// The most memory this process has occupied, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// A field in kibibytes of a file of the proc file system, in bytes.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
