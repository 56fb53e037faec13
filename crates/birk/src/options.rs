//! How a model is to be checked. Nothing here knows a command line; refusals name the options as the command line does.

use birk_engine::{Engine, Job, Limits, Storage};
use birk_exec::automaton::{Buchi, OfFile, hoa, never};
use birk_ir::Expr;

use crate::engines::Engines;
use crate::error::Error;
use crate::process_memory::Memory;
use crate::report::Accept;

/// How a model is to be checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engines to choose from.
    pub engines: Engines,
    /// The name of the engine.
    pub engine: String,
    /// What was chosen among its own options.
    pub engine_options: birk_engine::Options,
    /// The names of the properties to check; all where there are none.
    pub properties: Vec<String>,
    /// A deadlock is a violation.
    pub deadlock: bool,
    /// No run may be one that this automaton accepts.
    pub automaton: Option<Automaton>,
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// Explore on after a violation.
    pub keep_going: bool,
    /// Whether steps that commute are taken in one order only.
    pub reduce: Reduce,
    /// Whether of states that differ only in the names of interchangeable threads one is visited.
    pub symmetry: Symmetry,
    /// How states are stored.
    pub store: Store,
    /// How often a search with bitstate hashing is repeated, each time with another hash function and another order.
    pub swarm: u32,
    /// Threads.
    pub threads: Threads,
    /// What the process may occupy.
    pub memory: Memory,
    /// The most steps from the initial state.
    pub max_depth: Option<u32>,
    /// The most states.
    pub max_states: Option<u64>,
    /// The seed of everything random.
    pub seed: u64,
    /// The width of the first slice where `--width auto` doubles it.
    pub first_width: usize,
    /// How much is enough, if there is no violation.
    pub accept: Accept,
    /// What is proved is written down as a certificate.
    pub certificate: bool,
    /// The search can be saved to a checkpoint.
    pub is_saved: bool,
    /// A folder was named for the files of the search.
    pub has_folder: bool,
    /// It is continued from a checkpoint: what it took before is not known, so nothing is forecast from it.
    pub is_continued: bool,
}

impl Default for Options {
    fn default() -> Self {
        let engines = Engines::default();
        Self {
            engine: engines.usual().name.to_owned(),
            engines,
            engine_options: birk_engine::Options::default(),
            properties: Vec::new(),
            deadlock: true,
            automaton: None,
            fairness: Fairness::None,
            keep_going: false,
            reduce: Reduce::Off,
            symmetry: Symmetry::Off,
            store: Store::Exact,
            swarm: 1,
            threads: Threads::Auto,
            memory: Memory::new(None),
            max_depth: None,
            max_states: None,
            seed: 0,
            first_width: 1,
            accept: Accept::Complete,
            certificate: false,
            is_saved: false,
            has_folder: false,
            is_continued: false,
        }
    }
}

impl Options {
    /// The engine.
    pub fn engine(&self) -> Result<&Engine, Error> {
        self.engines.get(&self.engine).ok_or_else(|| Error::refused(format!("there is no engine `{}`", self.engine)))
    }

    /// How many threads the engine searches states with.
    pub fn threads_of(&self, engine: &Engine) -> usize {
        match self.threads {
            Threads::Auto if !engine.scales => 1,
            threads => threads.for_states(),
        }
    }

    /// A search for so many goals.
    pub(crate) fn job(&self, goals: usize, engine: &Engine) -> Job {
        let limits = Limits {
            memory: self.memory.search,
            depth: self.max_depth.unwrap_or(u32::MAX),
            states: self.max_states.unwrap_or(u64::MAX),
            threads: self.threads_of(engine),
            ..Limits::NONE
        };
        let storage = if self.store == Store::Compact { Storage::Compact } else { Storage::Exact };
        Job {
            keep_going: self.keep_going,
            storage,
            seed: self.seed,
            options: self.engine_options.clone(),
            ..Job::new(goals, limits)
        }
    }
}

/// Whether a search is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// It visits all states.
    Off,
    /// Variables are reset to their initial values where they are dead.
    Dead,
    /// The same, and it takes a stubborn set of steps in each state, where that keeps the answers and the lengths of shortest traces.
    Auto,
}

/// Whether a search uses symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// It visits all states.
    Off,
    /// Of states that differ only in names it visits one, as far as the symmetry of program and properties is proved.
    Auto,
}

/// The automaton of a file, and what its propositions mean.
#[derive(Clone, Debug)]
pub struct Automaton {
    pub(crate) automaton: Buchi,
    pub(crate) propositions: Vec<Expr>,
}

impl Automaton {
    /// Reads an automaton in HOA, or a never claim of SPIN. What stands at these places of the text are conditions over a model,
    /// to be read by its front end; they become the propositions by [`Automaton::new`].
    pub fn read(text: &str) -> Result<OfFile, String> {
        if text.trim_start().starts_with("never") { never::read(text) } else { hoa::read(text) }
    }

    /// An automaton whose propositions mean this.
    pub fn new(automaton: Buchi, propositions: Vec<Expr>) -> Self {
        Self { automaton, propositions }
    }
}

/// Which runs count for temporal properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// All.
    None,
    /// Those in which no thread waits forever while it could go on.
    Weak,
    /// Those in which no thread waits forever that can go on again and again; for LTL and automata.
    Strong,
}

/// How states are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Exactly.
    Exact,
    /// By hash compaction, 64 bits a state.
    Compact,
    /// By bitstate hashing, a few bits a state.
    Bitstate,
}

/// How many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// As many as there are cores; one for LTL properties, so that the lasso that is shown is the same every time.
    Auto,
    /// So many.
    Number(usize),
}

impl Threads {
    /// How many search states; in a browser there is one.
    pub fn for_states(self) -> usize {
        match self {
            _ if cfg!(not(feature = "native")) => 1,
            Threads::Number(number) => number,
            Threads::Auto => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// How many search for accepting cycles.
    pub fn for_cycles(self) -> usize {
        match self {
            _ if cfg!(not(feature = "native")) => 1,
            Threads::Auto => 1,
            Threads::Number(number) => number,
        }
    }
}
