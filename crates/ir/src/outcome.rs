//! What a search answers: traces, outcomes, coverage, verdicts.

use crate::ids::TransitionId;

/// A run, as the steps that were taken; its states are recomputed by whoever looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Which initial state it starts in.
    pub initial: u32,
    /// The steps.
    pub steps: Vec<Step>,
    /// The step from which the rest repeats forever, in a lasso.
    pub loop_start: Option<usize>,
}

/// One step of a run. Compiled code writes it, so its layout is fixed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The transition.
    pub transition: TransitionId,
    /// Which of its outcomes, in the order in which the model gives them (0 unless it chooses).
    pub choice: u32,
}

/// What became of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was reached.
    Found(Trace),
    /// It was reached, in so many steps, and no fewer if the engine finds shortest traces; by which is not known, because the search
    /// was ended before, or because a step has more outcomes than a trace can number.
    Untraced(u32),
    /// The search was complete, and it was not reached.
    Absent,
    /// The search ended before it could tell; its coverage says what was explored.
    Inconclusive,
}

/// What a search explored. "Don't know" never becomes "holds".
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Every reachable state.
    Complete,
    /// Every state that can be reached in at most this many steps.
    Depth(u32),
    /// As `Complete` or `Depth`, except for states lost to hash collisions.
    Hashed {
        /// The depth, where it was bounded.
        depth: Option<u32>,
        /// A bound on the probability that any state was lost.
        omission_probability: f64,
        /// How many states that could have been explored were probably lost.
        expected_omissions: f64,
    },
    /// This many states, with no claim about the others.
    Partial(u64),
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing was left to explore.
    Exhausted,
    /// A goal was found at which the search was told to end.
    Goal,
    /// The time was up.
    Time,
    /// The memory was used up.
    Memory,
    /// The room for files was used up.
    Disk,
    /// States at the depth limit were not expanded.
    Depth,
    /// The limit on the number of states was reached.
    States,
    /// The user interrupted.
    Interrupt,
}

impl Stop {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Stop::Exhausted => "exhausted",
            Stop::Goal => "violation",
            Stop::Time => "time",
            Stop::Memory => "memory",
            Stop::Disk => "disk",
            Stop::Depth => "depth",
            Stop::States => "states",
            Stop::Interrupt => "interrupt",
        }
    }
}

/// The answer to a property. Made only by `Property::verdict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Yes.
    Holds,
    /// Not known.
    Inconclusive,
    /// No.
    Violated,
}

impl Verdict {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Violated => "violated",
        }
    }
}
