//! Why a search with files ends early, and how it divides its memory.

use birk_engine::{Hunt, Job, Model, Observer, Stats};
use birk_ir::{Coverage, Outcome, Stop};

use super::vault::OverLimit;

/// No more memory than this is of use for each thread: its buffer is sorted in one piece.
const MOST_MEMORY: u64 = 4 << 30;
/// A thread needs about so much; with less memory there are fewer threads.
const LEAST_MEMORY: u64 = 48 << 10;
/// What is shared among threads has at least so many times the states that one takes at once: starting them would take longer.
pub const WORTH_SHARING: u64 = 8;
/// So many runs of successors are merged to one, so that not too many are read at once; among threads a few more.
const MOST_RUNS: usize = 16;
const LEAST_RUNS: usize = 4;

/// Why a search ends before its end.
#[derive(Debug)]
pub enum Halt {
    /// A limit was met.
    Stop(Stop),
    /// A file cannot be written or read, or is not as it was written.
    Failed(std::io::Error),
    /// What an earlier search has left cannot be used.
    Refused(&'static str),
}

/// What there is, or why the search ends.
pub type Flow<T> = Result<T, Halt>;

/// How memory is divided, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// How many threads there are.
    pub threads: usize,
    /// Of each thread: successors before they are sorted.
    pub buffer: usize,
    /// How many runs of them there may be.
    pub runs: usize,
    /// Of each thread: keys that came last.
    pub recent: usize,
    /// What is read or written at once.
    pub io: usize,
    /// What a thread has merged before it is written.
    pub part: usize,
    /// Smaller runs are in memory.
    pub small_run: usize,
}

impl Sizes {
    /// Of all memory that a search may count.
    pub fn new(job: &Job) -> Self {
        Self::of(job.limits.counted_memory(), job.limits.threads)
    }

    /// Of so much memory, for up to so many threads.
    pub fn of(memory: u64, threads: usize) -> Self {
        let threads = (threads as u64).min(memory / LEAST_MEMORY).max(1);
        let memory = memory.min(MOST_MEMORY.saturating_mul(threads)) as usize;
        let threads = threads as usize;
        Self {
            threads,
            buffer: memory / 10 * 6 / threads,
            runs: (2 * MOST_RUNS / threads).clamp(LEAST_RUNS, MOST_RUNS),
            recent: (memory / 32 / threads).min(512 << 10),
            io: (memory / 512).clamp(1 << 10, 256 << 10),
            part: (memory / 64 / threads).clamp(4 << 10, 1 << 20),
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

/// Nothing was searched.
pub fn nothing(model: &dyn Model, job: &Job, halt: Halt, observer: &mut dyn Observer) -> Hunt {
    let stopped = told(halt, observer);
    Hunt {
        outcomes: vec![Outcome::Inconclusive; job.goals],
        coverage: Coverage::Partial(0),
        stopped,
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
    }
}

/// Tells the observer what went wrong; why the search ends.
pub fn told(halt: Halt, observer: &mut dyn Observer) -> Stop {
    let outside = observer.outside();
    match halt {
        Halt::Stop(stop) => return stop,
        Halt::Failed(error) => outside.map(|outside| outside.fail(&error)),
        Halt::Refused(reason) => outside.map(|outside| outside.refuse(reason)),
    };
    Stop::Disk
}
