//! What an engine is asked.

use std::ops::ControlFlow;

use birk_ir::Stop;

use crate::model::GoalSet;
use crate::option::Options;

/// A search to do. Passed, never global.
#[derive(Clone, Debug)]
pub struct Job {
    /// How many goals the model evaluates.
    pub goals: usize,
    /// The goals at which the search ends as soon as one is found.
    pub stop_at: GoalSet,
    /// Explore on although every goal was found.
    pub keep_going: bool,
    /// What it may use.
    pub limits: Limits,
    /// How states are stored, for engines that leave the choice.
    pub storage: Storage,
    /// What is absent is also excluded by an inductive invariant, where the engine can find one.
    pub wants_invariant: bool,
    /// Decides what is drawn at random.
    pub seed: u64,
    /// What was chosen among the engine's own options.
    pub options: Options,
}

impl Job {
    /// A search for so many goals, which ends when all are found, within these limits; all else as usual.
    pub fn new(goals: usize, limits: Limits) -> Self {
        Self {
            goals,
            stop_at: GoalSet::default(),
            keep_going: false,
            limits,
            storage: Storage::Exact,
            wants_invariant: false,
            seed: 0,
            options: Options::default(),
        }
    }

    /// Records where the goals were found that are new; ends the search at those it was told to end at.
    pub fn record<T>(
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
}

impl Limits {
    /// No limit but the machine's, on one thread.
    pub const NONE: Limits = Limits { memory: u64::MAX, depth: u32::MAX, states: u64::MAX, threads: 1, grain: 1 << 10 };

    /// Bytes that may be counted. The rest, a twelfth or some megabytes, is left for what is not: what the allocator keeps,
    /// and what is there twice while a table moves.
    pub fn counted_memory(&self) -> u64 {
        self.memory - (self.memory / 12).max((self.memory / 5).min(8 << 20))
    }
}

/// How states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// So that no two are ever confused.
    #[default]
    Exact,
    /// By hash compaction, 64 bits a state: a state whose hash another has is lost, and the coverage says how likely that is.
    Compact,
}
