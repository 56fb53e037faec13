//! What the machine has, and what this process has used.

use std::fs;

/// Memory a search may use unless told otherwise: four fifths of what is free.
pub(crate) fn default_memory() -> u64 {
    field("/proc/meminfo", "MemAvailable:").map_or(u64::MAX, |free| free / 5 * 4)
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
