//! Running a command and asking the system what it cost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a command said and cost.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) output: String,
    /// What it said on standard error.
    pub(crate) errors: String,
    /// Processor seconds of all threads, those of the system included.
    pub(crate) cpu: f64,
    /// Seconds on the clock.
    pub(crate) wall: f64,
    pub(crate) success: bool,
}

/// Runs a command to its end.
pub(crate) fn run(program: impl AsRef<Path>, arguments: &[&str], folder: &Path) -> Ran {
    let (before, started) = (children_cpu(), Instant::now());
    let output = Command::new(program.as_ref())
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display()));
    let wall = started.elapsed().as_secs_f64();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (output, errors, success) = (text(&output.stdout), text(&output.stderr), output.status.success());
    Ran { output, errors, cpu: children_cpu() - before, wall, success }
}

/// A field of `/proc/self/stat` in seconds; the system counts in hundredths.
fn stat(field: usize) -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().nth(field - 3).and_then(|word| word.parse().ok()).unwrap_or(0.0) / 100.0
}

/// Processor seconds of all commands that ended.
fn children_cpu() -> f64 {
    stat(16) + stat(17)
}

/// Processor seconds of this process.
pub(crate) fn own_cpu() -> f64 {
    stat(14) + stat(15)
}

/// The first number of this name in a JSON text.
pub(crate) fn json_number(text: &str, name: &str) -> Option<f64> {
    let rest = text.split_once(&format!("\"{name}\":"))?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !".eE+-".contains(c)).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
