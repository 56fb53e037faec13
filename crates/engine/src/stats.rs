//! What an engine answers.

use birk_ir::{Coverage, Invariant, Outcome, Stop};

use crate::cutoff::Cutoff;
use crate::hyperloglog::HyperLogLog;
use crate::observer::Relief;

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// One for each goal.
    pub outcomes: Vec<Outcome>,
    /// What was explored.
    pub coverage: Coverage,
    /// Why it ended.
    pub stopped: Stop,
    /// What was counted.
    pub stats: Stats,
    /// For each transition, whether it was ever taken. A step from the depth limit to a state that is not known was not.
    pub fired: Vec<bool>,
}

/// What a search counted.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Distinct states reached; the results of failing checks are not states.
    pub states: u64,
    /// How many of them were forgotten, because a single step leads on; one that is reached again counts again.
    pub transient: u64,
    /// Steps taken from them, those into failing checks included.
    pub transitions: u64,
    /// Depth of the deepest state reached; where states were forgotten, it may have been reached before.
    pub max_depth: u32,
    /// Expansions of a state beyond its first.
    pub revisits: u64,
    /// Branches pruned by `assume`.
    pub cut: u64,
    /// Largest frontier.
    pub peak_frontier: u64,
    /// Bytes of the store at the end, unused capacity included.
    pub store_bytes: u64,
    /// For engines that go level by level: states found at each depth.
    pub levels: Vec<u64>,
    /// No lasso of the product has fewer steps than the one that was found.
    pub is_shortest_lasso: bool,
    /// Where it was cut off.
    pub cutoff: Cutoff,
    /// What only this kind of engine counts.
    pub engine: EngineStats,
}

impl Stats {
    /// The figures of a search with a depth bound.
    pub fn bounded(&self) -> Option<&BoundedStats> {
        if let EngineStats::Bounded(stats) = &self.engine { Some(stats) } else { None }
    }

    /// The figures of a search on decision diagrams.
    pub fn bdd(&self) -> Option<&BddStats> {
        if let EngineStats::Bdd(stats) = &self.engine { Some(stats) } else { None }
    }

    /// The figures of bounded model checking.
    pub fn sat(&self) -> Option<&SatStats> {
        if let EngineStats::Sat(stats) = &self.engine { Some(stats) } else { None }
    }

    /// For each goal the inductive invariant that excludes it, where there is one.
    pub fn invariants(&self) -> &[Option<Invariant>] {
        match &self.engine {
            EngineStats::Bdd(stats) => &stats.invariants,
            EngineStats::Sat(stats) => &stats.invariants,
            _ => &[],
        }
    }

    /// The figures of a search on disk.
    pub fn disk(&self) -> Option<DiskStats> {
        if let EngineStats::Disk(stats) = self.engine { Some(stats) } else { None }
    }

    /// The figures of a search whose workers send each other states.
    pub fn exchange(&self) -> Option<ExchangeStats> {
        if let EngineStats::Exchange(stats) = self.engine { Some(stats) } else { None }
    }

    /// Which states a search visited that may be one of many, roughly.
    pub fn visited(&self) -> Option<&HyperLogLog> {
        if let EngineStats::Sampled(visited) = &self.engine { Some(visited) } else { None }
    }
}

/// What one kind of engine counts, and no other.
#[derive(Clone, Debug, Default)]
pub enum EngineStats {
    /// Nothing.
    #[default]
    None,
    /// A depth bound that grows.
    Bounded(BoundedStats),
    /// A slice: which states were visited, roughly.
    Sampled(HyperLogLog),
    /// Decision diagrams.
    Bdd(Box<BddStats>),
    /// States outside of memory.
    Disk(DiskStats),
    /// Workers that send each other states.
    Exchange(ExchangeStats),
    /// A SAT solver, which counts neither states nor steps.
    Sat(SatStats),
}

/// What a search counts whose depth bound grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundedStats {
    /// States within each bound that was completed.
    pub bounds: Vec<(u32, u64)>,
    /// What its frontier cost, where it has one.
    pub frontier: Option<FrontierStats>,
    /// What was done when memory was short, and how many states had been reached then.
    pub relief: Vec<(Relief, u64)>,
}

/// What a frontier behind a depth bound cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontierStats {
    /// How its states were kept: the value of the option.
    pub kind: &'static str,
    /// States of the largest one.
    pub states: u64,
    /// Bytes of the largest one.
    pub bytes: u64,
    /// The most bytes of one before states that were reached on shorter paths after all were dropped.
    pub peak_bytes: u64,
    /// How often a state of a frontier was gone to.
    pub replays: u64,
    /// Steps that were taken back and taken again for that.
    pub replayed: u64,
}

/// What a search counts that keeps its states outside of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// The most bytes of all files at once.
    pub peak_bytes: u64,
    /// Bytes of the level files: every state once.
    pub level_bytes: u64,
    /// How often the buffer of successors was full, and was sorted and written.
    pub spills: u64,
    /// How often runs of visited states were merged.
    pub merges: u64,
}

/// What a search counts whose workers send each other states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeStats {
    /// Blocks of states that a worker has sent to another.
    pub blocks: u64,
    /// How many of them were compressed.
    pub compressed_blocks: u64,
    /// The bytes of all blocks.
    pub bytes: u64,
}

/// What bounded model checking counts: it looks at paths, not at states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SatStats {
    /// Variables of the clauses.
    pub variables: u64,
    /// Clauses that were given to the solver.
    pub clauses: u64,
    /// How many steps the last inductive proof took, where there was one.
    pub proved_at: Option<u32>,
    /// For each goal the inductive invariant that excludes it, where one was found.
    pub invariants: Vec<Option<Invariant>>,
}

impl SatStats {
    /// How many clauses the largest inductive invariant has, where there is one.
    pub fn largest_invariant(&self) -> Option<u64> {
        self.invariants.iter().flatten().map(|invariant| invariant.excluded.len() as u64).max()
    }
}

/// What a search on decision diagrams counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BddStats {
    /// Distinct states reached, in decimal digits.
    pub states: String,
    /// Steps taken from them, in decimal digits; not known when the memory was used up before they were counted.
    pub transitions: Option<String>,
    /// Depth of the deepest state; not known when the states were not reached level by level.
    pub depth: Option<u32>,
    /// How often an image was computed.
    pub iterations: u32,
    /// The most nodes in use at once.
    pub peak_nodes: u64,
    /// For each goal the inductive invariant that excludes it, where one was wanted and is not too large.
    pub invariants: Vec<Option<Invariant>>,
}
