//! What an engine is asked, what it tells while it works, and what it answers.

use std::io::{Read, Seek, Write};
use std::ops::ControlFlow;

use birk_exec::GoalSet;
use birk_ir::{Coverage, Outcome, Stop};

use crate::border::Border;
use crate::depth::INCREMENT;
use crate::highway::Highway;

/// A search to do. Passed, never global.
#[derive(Clone, Debug)]
pub struct Job {
    /// How many goals the model judges by.
    pub goals: usize,
    /// The goals at which the search ends as soon as one is found.
    pub stop_at: GoalSet,
    /// Explore on although every goal was found.
    pub keep_going: bool,
    /// What it may use.
    pub limits: Limits,
}

impl Job {
    /// Records where the goals were found that are new; ends the search at those it was told to end at.
    pub(crate) fn record<T>(
        &self,
        goals: GoalSet,
        found: &mut [Option<T>],
        mut place: impl FnMut() -> T,
    ) -> ControlFlow<Stop> {
        if goals.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.goals) {
            if found[goal].is_none() {
                found[goal] = Some(place());
                ends |= self.stop_at.contains(goal);
            }
        }
        let is_all = !self.keep_going && found.iter().all(Option::is_some);
        if ends || is_all { ControlFlow::Break(Stop::Goal) } else { ControlFlow::Continue(()) }
    }
}

/// What a search may use and how far it goes; time is the observer's affair.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes for states, table and frontier.
    pub memory: u64,
    /// Steps from the initial state.
    pub depth: u32,
    /// States.
    pub states: u64,
    /// Threads, at least 1; what is found does not depend on them.
    pub threads: usize,
    /// States that a thread takes from a level at once; levels of fewer than eight times as many are not shared,
    /// nor the states at a depth bound if they are fewer.
    pub grain: usize,
    /// How states are remembered.
    pub storage: Storage,
    /// Steps from one depth bound to the next, for the engine that raises it.
    pub increment: u32,
    /// How that engine keeps what waits behind a bound; it chooses if it is not told.
    pub waiting: Option<Waiting>,
    /// States of one level that are followed, for the engine that bounds them.
    pub width: usize,
    /// The depth from which on that engine follows only what would end otherwise.
    pub degrade_depth: Option<u32>,
    /// How much estimates count against steps taken, at least 1, for the engine that is directed by them.
    pub weight: u32,
    /// States of one level that are followed, those with the best estimates, for the engine that is directed by them.
    pub beam: Option<usize>,
    /// How often an estimate is refined, for the engine that makes its own; it chooses if it is not told.
    pub refine: Option<u32>,
    /// Decides what is drawn at random.
    pub seed: u64,
}

/// How the states that wait behind a depth bound are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Each as it is.
    States,
    /// Each as the steps that lead to it from an initial state, which are taken again.
    Traces,
    /// As traces that share their beginnings; only where they part, steps are taken again.
    Tree,
}

impl Waiting {
    /// The word on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Waiting::States => "states",
            Waiting::Traces => "traces",
            Waiting::Tree => "tree",
        }
    }
}

/// What a search does to need less memory when that is short, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// What waits behind a bound is kept as a tree of traces instead of as states.
    Tree,
    /// It waits outside of memory.
    Disk,
    /// One thread goes on alone.
    Thread,
}

impl Relief {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Relief::Tree => "tree",
            Relief::Disk => "disk",
            Relief::Thread => "thread",
        }
    }
}

/// A place outside of memory for what a search needs only later.
pub trait Scratch: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Scratch for T {}

/// How states are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// So that no two are ever confused.
    #[default]
    Exact,
    /// By fingerprints of 64 bits: a state whose fingerprint another has is lost, and the coverage says how likely.
    Compact,
}

impl Limits {
    /// Bytes that may be counted. The rest, a twelfth or some megabytes, is left for what is not: what the allocator keeps,
    /// and what is there twice while a table moves.
    pub(crate) fn counted_memory(&self) -> u64 {
        self.memory - (self.memory / 12).max((self.memory / 5).min(8 << 20))
    }

    /// No limit but the machine's, on one thread, exactly.
    pub const NONE: Limits = Limits {
        memory: u64::MAX,
        depth: u32::MAX,
        states: u64::MAX,
        threads: 1,
        grain: 1 << 10,
        storage: Storage::Exact,
        increment: INCREMENT,
        waiting: None,
        width: Highway::USUAL_WIDTH,
        degrade_depth: None,
        weight: 1,
        beam: None,
        refine: None,
        seed: 0,
    };
}

/// Hears how the search goes, and may end it.
pub trait Observer {
    /// Called often (at least every few hundred expansions): must be cheap when there is nothing to say.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop>;

    /// Called before it by engines on decision diagrams: the nodes in use, and how often the steps were applied to a set.
    fn diagrams(&mut self, _nodes: u64, _iterations: u32) {}

    /// What an earlier search has written, to go on from there.
    fn resume(&mut self) -> Option<Box<dyn Read>> {
        None
    }

    /// What an earlier search is said to have written cannot be taken up, for this reason; the search ends.
    fn refuse(&mut self, _reason: &str) {}

    /// The search could be taken up again from here: a bound was completed, or, the last time, a limit ends it. `save` writes
    /// what is needed.
    fn checkpoint(&mut self, _save: &mut Save<'_>, _is_last: bool) {}

    /// Bytes that are in use beyond those which a search counts: buffers, code, what the allocator keeps. Where nobody
    /// knows better, a twelfth.
    fn overhead(&mut self, counted: u64) -> u64 {
        counted / 12
    }

    /// Memory is short: a place outside of it, if there is one.
    fn scratch(&mut self) -> Option<Box<dyn Scratch>> {
        None
    }

    /// Memory was short, and something was done about it, when this many states had been reached.
    fn relieved(&mut self, _relief: Relief, _states: u64) {}
}

/// Writes a search down.
pub type Save<'a> = dyn FnMut(&mut dyn Write) -> std::io::Result<()> + 'a;

/// Lets a search run to its end.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Observer for Patient {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// How a search stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Distinct states reached.
    pub states: u64,
    /// Steps taken from the expanded ones.
    pub transitions: u64,
    /// Depth of the state expanded last.
    pub depth: u32,
    /// States waiting to be expanded.
    pub frontier: u64,
    /// Bytes of states, table and frontier.
    pub bytes: u64,
}

/// What a search counted.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Distinct states reached; the results of failing checks are not states.
    pub states: u64,
    /// Steps taken from them, those into failing checks included.
    pub transitions: u64,
    /// Depth of the deepest state reached.
    pub max_depth: u32,
    /// Expansions of a state beyond its first.
    pub revisits: u64,
    /// Outcomes cut by `assume`.
    pub cut: u64,
    /// Most states waiting at once.
    pub peak_frontier: u64,
    /// Bytes of the store at the end, unused capacity included.
    pub store_bytes: u64,
    /// For engines that go level by level: states found at each depth.
    pub levels: Vec<u64>,
    /// For the engine that goes bound by bound: states within each bound that was completed.
    pub bounds: Vec<(u32, u64)>,
    /// For the engine with a depth bound that grows: what its frontier cost.
    pub frontier: Option<FrontierStats>,
    /// What was done when memory was short, and how many states had been reached then.
    pub relief: Vec<(Relief, u64)>,
    /// Where it was cut.
    pub border: Border,
    /// For searches that are repeated: which states were seen, roughly.
    pub union: Option<crate::bits::Sketch>,
    /// For bounded model checking, which counts neither states nor steps.
    pub unrolled: Option<Unrolled>,
    /// For engines on decision diagrams: the same without the limits of 64 bits, and what only they have.
    pub diagrams: Option<Box<Diagrams>>,
}

/// What bounded model checking counted: it looks at runs, not at states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrolled {
    /// Variables of the clauses.
    pub variables: u64,
    /// Clauses that were given to the solver.
    pub clauses: u64,
    /// How many steps the last inductive proof took, where there was one.
    pub proved_at: Option<u32>,
}

/// What a search on decision diagrams counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagrams {
    /// Distinct states reached, in decimal digits.
    pub states: String,
    /// Steps taken from them, in decimal digits; not known when the memory was used up before they were counted.
    pub transitions: Option<String>,
    /// Depth of the deepest state; not known when the states were not reached level by level.
    pub depth: Option<u32>,
    /// How often the steps were applied to a set.
    pub iterations: u32,
    /// The most nodes in use at once.
    pub peak_nodes: u64,
}

/// What a frontier behind a depth bound cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontierStats {
    /// How its states were kept.
    pub waiting: Waiting,
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

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// One for each goal.
    pub outcomes: Vec<Outcome>,
    /// What was looked at.
    pub coverage: Coverage,
    /// Why it ended.
    pub stopped: Stop,
    /// What was counted.
    pub stats: Stats,
    /// For each transition, whether it was ever taken. A step from the depth limit to a state that is not known was not.
    pub fired: Vec<bool>,
}
