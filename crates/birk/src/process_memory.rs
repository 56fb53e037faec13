//! What the machine has and the system allows, and what this process has used.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// How much memory may be used.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// By a search.
    pub search: u64,
    /// By the rest of the process: what it occupies before the search.
    pub rest: u64,
    /// What was asked for, if anything was.
    pub asked: Option<u64>,
}

impl Memory {
    /// As asked for, otherwise four fifths of what is free; never more than four fifths of the address space that the system
    /// allows. What the process occupies already is taken from it, but never more than a quarter: with less than some 40 MB the
    /// limit is the search's alone.
    pub fn new(asked: Option<u64>) -> Self {
        let free = || field("/proc/meminfo", "MemAvailable:").map_or(u64::MAX, |free| free / 5 * 4);
        let allowed = address_space().map_or(u64::MAX, |space| space / 5 * 4);
        let rest = resident_memory().unwrap_or(0);
        let limit = asked.unwrap_or_else(free).min(allowed.saturating_add(rest));
        Self { search: limit.saturating_sub(rest).max(limit / 4 * 3), rest, asked }
    }
}

/// The least memory with which an engine begins that takes all of it at once.
const LEAST: u64 = 8 << 20;

/// What an engine may use that takes its memory at once, and some address space beside it: no more than there is now. An error
/// is why it cannot begin.
pub fn at_once(memory: u64, beside: u64) -> Result<u64, String> {
    let memory = memory.min(Memory::new(None).search);
    let Some(space) = address_space().map(|space| space / 5 * 4) else { return Ok(memory) };
    match space.checked_sub(beside) {
        Some(left @ LEAST..) => Ok(memory.min(left)),
        _ => Err(format!(
            "it needs {} MB of address space, and {} MB are allowed (ulimit -v)",
            (beside + LEAST).div_ceil(1 << 20),
            space >> 20
        )),
    }
}

/// The address space that the process may still take, where the system limits it.
pub fn address_space() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(field("/proc/self/status", "VmSize:").unwrap_or(0)))
}

/// A new file in a folder that nobody else sees: it has no name any more, and is gone with the process, whatever ends it.
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
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
pub fn resident_memory() -> Option<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// The most memory this process has occupied, where the system tells.
pub fn peak_memory() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// A field in kibibytes of a file of the proc file system, in bytes.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
