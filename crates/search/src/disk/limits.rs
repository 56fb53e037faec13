//! Why a search on disk ends early, and how it divides its memory.

use birk_engine::Job;
use birk_ir::Stop;

use super::vault::OverLimit;

/// No more memory than this is of use: the buffer is sorted in one piece.
const MOST_MEMORY: u64 = 4 << 30;

/// Why a search ends before its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// A limit was met.
    Stop(Stop),
    /// A file cannot be written or read, or is not as it was written.
    Failed(std::io::Error),
    /// What an earlier search has left cannot be used.
    Refused(&'static str),
}

pub(super) type Flow<T> = Result<T, Halt>;

/// How memory is divided, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Successors before they are sorted.
    pub(super) buffer: usize,
    /// Keys that came last.
    pub(super) recent: usize,
    /// What is read or written at once.
    pub(super) io: usize,
    /// Smaller runs are in memory.
    pub(super) small_run: usize,
}

impl Sizes {
    pub(super) fn new(job: &Job) -> Self {
        let memory = job.limits.counted_memory().min(MOST_MEMORY) as usize;
        Self {
            buffer: memory / 10 * 6,
            recent: (memory / 32).min(512 << 10),
            io: (memory / 512).clamp(1 << 10, 256 << 10),
            small_run: memory / 64,
        }
    }
}

impl From<std::io::Error> for Halt {
    fn from(error: std::io::Error) -> Self {
        match error.get_ref() {
            Some(inner) if inner.is::<OverLimit>() => Halt::Stop(Stop::Disk),
            _ => Halt::Failed(error),
        }
    }
}
