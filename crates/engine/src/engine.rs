//! A row of the table of engines: it feeds the command line, the documentation and the tests.

use birk_ir::{Branching, Goal, Program};

use crate::job::Job;
use crate::model::Model;
use crate::observer::Observer;
use crate::option::EngineOption;
use crate::stats::Hunt;

/// A way to search.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// As written after `--search`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// When to use it, in one line.
    pub when: &'static str,
    /// What it keeps in memory, in one line.
    pub memory: &'static str,
    /// It visits every reachable state, given enough time and memory.
    pub complete: bool,
    /// The trace it shows is a shortest one.
    pub shortest: bool,
    /// It uses as many threads as it is given, otherwise one.
    pub scales: bool,
    /// It can store states by fingerprints, otherwise exactly.
    pub compacts: bool,
    /// When it runs out of budget, every state up to some depth was explored.
    pub covers_by_depth: bool,
    /// It hands over to other engines where it cannot finish.
    pub portfolio: bool,
    /// It visits slices of a model, drawn at random, in which all properties are checked.
    pub slices: bool,
    /// It asks the model for heuristic estimates.
    pub directed: bool,
    /// It can be saved to a checkpoint, and continued.
    pub resumes: bool,
    /// What it saves are levels, in files that grow at their ends: such a search can be kept in an object store.
    pub saves_levels: bool,
    /// It keeps its states in files.
    pub on_disk: bool,
    /// Processes on several machines search together: it decides properties of states only, all of them in one search.
    pub distributed: bool,
    /// What it proves, it can write down as a certificate.
    pub certifies: bool,
    /// It proves properties of runs by a bound on how often a run is accepted by the automaton of their violations.
    pub counts_runs: bool,
    /// It can do with bitstate hashing.
    pub bitstate: bool,
    /// Address space that it needs beside its memory, of which it occupies little.
    pub address_space: u64,
    /// The options that mean something to it, and not to every engine.
    pub options: &'static [EngineOption],
    /// The search for states.
    pub search: Search,
    /// The search for accepting cycles, where it has one of its own.
    pub liveness: Option<LivenessSearch>,
    /// How it decides formulas of the mu-calculus, where it has a way of its own.
    pub mu_calculus: Option<MuCalculusSearch>,
}

/// What an engine searches.
#[derive(Clone, Copy, Debug)]
pub enum Search {
    /// The states of a model, one by one.
    Model(ModelSearch),
    /// The program itself.
    Program(ProgramSearch),
}

/// Hunts goals among the states of a model.
pub type ModelSearch = fn(&dyn Model, &Job, &mut dyn Observer) -> Hunt;

/// Searches a program for goals; what cannot be encoded is refused with the reason.
pub type ProgramSearch = fn(&Program, &[Goal], &Job, &mut dyn Observer) -> Result<Hunt, String>;

/// Searches a product for a cycle through a state in which goal 0 is true; `weak`: no cycle has accepting states and others.
pub type LivenessSearch = fn(product: &dyn Model, weak: bool, &Job, &mut dyn Observer) -> Hunt;

/// Decides formulas; each that is true is found, with a witness as far as one path can be one. What cannot be encoded is
/// refused with the reason.
pub type MuCalculusSearch = fn(&Program, &[Branching], &Job, &mut dyn Observer) -> Result<Hunt, String>;

impl Engine {
    /// A row that promises nothing, to be written `Engine { name: …, search: …, ..Engine::new(…) }`.
    pub const fn new(name: &'static str, search: Search) -> Self {
        Self {
            name,
            summary: "",
            when: "",
            memory: "",
            complete: false,
            shortest: false,
            scales: false,
            compacts: false,
            covers_by_depth: false,
            portfolio: false,
            slices: false,
            directed: false,
            resumes: false,
            saves_levels: false,
            on_disk: false,
            distributed: false,
            certifies: false,
            counts_runs: false,
            bitstate: false,
            address_space: 0,
            options: &[],
            search,
            liveness: None,
            mu_calculus: None,
        }
    }
}
