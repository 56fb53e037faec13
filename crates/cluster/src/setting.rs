//! How workers exchange keys: the sizes of blocks, what may be under way, and what is compressed.

use birk_engine::{EngineOption, Job, Kind, Value};

/// Which blocks of states are compressed.
pub const COMPRESS: EngineOption = EngineOption {
    name: "compress",
    kind: Kind::Word(&["auto", "always", "never"]),
    default: Some(Value::Word("auto")),
    help: "compress states that are sent: where a link is slower than the search (auto), always, or never",
    excludes: &[],
    keeps_shortest: true,
};

/// Which blocks of keys are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compress {
    /// Those for a link whose credit has run out.
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// How workers exchange keys.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Keys of a block.
    pub block: usize,
    /// Blocks that may be under way from one worker to another.
    pub window: u32,
    /// Bytes of keys that a worker remembers to have sent or received, at most; none if keys are one word.
    pub recent: u64,
    /// Which blocks are compressed.
    pub compress: Compress,
    /// For tests: blocks within the process are turned into bytes and back, as between processes.
    pub serialises: bool,
    /// For tests: blocks of different senders come in an order that this decides.
    pub reorders: Option<u64>,
}

impl Default for Setting {
    fn default() -> Self {
        Self { block: 4096, window: 16, recent: 16 << 20, compress: Compress::Auto, serialises: false, reorders: None }
    }
}

impl Setting {
    /// As a job says.
    pub(crate) fn of(job: &Job) -> Self {
        let compress = match COMPRESS.word(&job.options) {
            Some("always") => Compress::Always,
            Some("never") => Compress::Never,
            _ => Compress::Auto,
        };
        Self { compress, ..Self::default() }
    }
}
