//! What a job may say of a highway search.

use birk_engine::{EngineOption, Job, Kind, Value};

/// States of a level that are followed; `auto` leaves it to who repeats the search.
pub const WIDTH: EngineOption = EngineOption {
    name: "width",
    kind: Kind::NumberOr(1, u32::MAX as u64, "auto"),
    default: Some(Value::Number(10_000)),
    help: "follow at most this many states of each level, drawn at random; auto doubles it from slice to slice",
    excludes: &[],
    keeps_shortest: true,
};

/// From where on a level is not filled up.
pub const DEGRADE_DEPTH: EngineOption = EngineOption {
    name: "degrade-depth",
    kind: Kind::Number(1, u32::MAX as u64),
    default: None,
    help: "from this depth on, stop widening: keep only successors that a lane needs to continue [default: never]",
    excludes: &[],
    keeps_shortest: true,
};

/// How many slices.
pub const RUNS: EngineOption = EngineOption {
    name: "runs",
    kind: Kind::Number(1, 1_000_000_000),
    default: None,
    help: "visit this many slices, each with the next seed, until one has a violation [default: 1]",
    excludes: &[("rate", "both say how many slices are visited")],
    keeps_shortest: true,
};

/// Their number by what they are to rule out.
pub const CONFIDENCE: EngineOption = EngineOption {
    name: "confidence",
    kind: Kind::Share,
    default: Some(Value::Share(0.99)),
    help: "statistical confidence that fewer than --rate of all slices have a violation",
    excludes: &[],
    keeps_shortest: true,
};

/// The share of slices with a violation.
pub const RATE: EngineOption = EngineOption {
    name: "rate",
    kind: Kind::Share,
    default: Some(Value::Share(0.01)),
    help: "the share of slices with a violation that --confidence is about",
    excludes: &[],
    keeps_shortest: true,
};

/// How a highway search is done.
#[derive(Clone, Copy, Debug)]
pub struct Highway {
    /// The most lanes: states of one depth that are followed; at least 1.
    pub width: usize,
    /// From this depth on, at least 1, a lane is followed only as long as it has met no visited state.
    pub degrade_depth: Option<u32>,
    /// Decides what is drawn: the same seed gives the same slice.
    pub seed: u64,
    /// Not drawn: the states that seem nearest to a goal are followed, and the seed decides only among equals.
    pub is_beam: bool,
}

impl Highway {
    /// As a job says.
    pub fn of(job: &Job) -> Self {
        let width = WIDTH.number(&job.options).map_or(1, |lanes| lanes as usize);
        let degrade_depth = DEGRADE_DEPTH.number(&job.options).map(|depth| depth as u32);
        Self { width, degrade_depth, seed: job.seed, is_beam: false }
    }

    /// Beam search: the same levels, of which those states are followed whose estimates are smallest. A lane may end.
    pub fn beam(width: usize, seed: u64) -> Self {
        Self { width, degrade_depth: None, seed, is_beam: true }
    }
}
