//! What is asked, and how: what every question knows.

use std::sync::{Mutex, OnceLock};

use birk_engine::{Engine, GoalSet, Job};
use birk_exec::{Fairness, Replayed, Reset, replay};
use birk_ir::{Goal, Program, Property, PropertyKind, Trace};
use birk_search::bitstate::BitState;

use super::certified::Certificate;
use crate::certificate::OfRuns;
use crate::error::Error;
use crate::model::{Layers, Native};
use crate::options::{self, Options, Reduce, Store, Symmetry};
use crate::properties::replay_failure;
use crate::watch::Watch;

/// What is asked, and how.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    /// The program as it was written; the one that is searched may reset dead variables.
    pub(super) written: &'a Program,
    pub(super) reset: Option<&'a Reset>,
    pub(super) options: &'a Options,
    pub(super) engine: &'a Engine,
    pub(super) properties: &'a [&'a Property],
    pub(super) fairness: Option<Fairness>,
    /// The native code that all questions share.
    pub(super) native: &'a Native,
    /// The certificate of what was proved, or why there is none, where one was asked for.
    pub(super) certificate: OnceLock<Certificate>,
    /// What was proved of runs, where certificates were asked for.
    pub(super) of_runs: Mutex<Vec<OfRuns>>,
}

impl<'a> Context<'a> {
    /// A trace walked again, as a run of the program as it was written.
    pub(super) fn replay(&self, property: &Property, trace: &Trace) -> Result<Replayed, Error> {
        let run = match self.reset {
            None => replay(self.written, trace),
            Some(reset) => reset.original(self.written, trace),
        };
        run.map_err(|error| replay_failure(property, &error))
    }

    /// The program, searched for some goals.
    pub(super) fn layers(&self, goals: &[Goal]) -> Layers<'a> {
        Layers::sharing(self.native, self.program, goals)
    }

    /// A search for so many goals, as the options say.
    pub(super) fn job(&self, goals: usize) -> Job {
        self.options.job(goals, self.engine)
    }

    /// Which of some properties end a search when their goal is found: violations do.
    pub(super) fn stop_at<'p>(&self, properties: impl Iterator<Item = &'p Property>) -> GoalSet {
        let mut stop_at = GoalSet::default();
        for (goal, property) in properties.enumerate().take(GoalSet::CAPACITY) {
            if !self.options.keep_going && !property.wants_goal() {
                stop_at.insert(goal);
            }
        }
        stop_at
    }

    /// Whether properties are searched for with a partial-order reduction; where one was asked for in vain, a note
    /// says why.
    pub(super) fn reduces(&self, watch: &mut dyn Watch) -> bool {
        if self.options.reduce != Reduce::Auto {
            return false;
        }
        let why_not = match self.options {
            options if options.keep_going => "--keep-going counts all states",
            options if options.is_saved => "a search with --checkpoint visits all states",
            _ => return true,
        };
        self.note_unreduced(why_not, watch);
        false
    }

    /// Says why a search was not reduced that was to be.
    pub(super) fn note_unreduced(&self, reason: &str, watch: &mut dyn Watch) {
        watch.note(&format!("the search was not reduced: {reason}"));
    }

    /// Whether the order of steps that commute does not matter to a property of executions; a note says why it does.
    pub(super) fn reduces_runs(&self, property: &Property, watch: &mut dyn Watch) -> bool {
        let why_not = match &property.kind {
            _ if self.fairness.is_some() => "--fairness asks who could have moved in every state",
            PropertyKind::Ltl(formula) if formula.has_next() => "`X` counts steps",
            PropertyKind::Ltl(_) => return true,
            _ => "an automaton may count steps",
        };
        watch.note(&format!("the search for `{}` was not reduced: {why_not}", property.name));
        false
    }

    /// Whether properties of states are searched for up to symmetry; where that was asked for in vain, a note says why.
    pub(super) fn is_symmetric(&self, watch: &mut dyn Watch) -> bool {
        if self.options.symmetry == Symmetry::Off {
            return false;
        }
        let why_not = match self.options {
            options if options.keep_going => "--keep-going counts all states",
            options if options.is_saved => "a search with --checkpoint visits all states",
            _ if self.engine.directed => "heuristic estimates tell interchangeable threads apart",
            _ => return true,
        };
        watch.note(&format!("symmetry was not used: {why_not}"));
        false
    }

    /// The bit array of a search with bitstate hashing, where that is asked for.
    pub(super) fn bitstate(&self) -> Option<BitState> {
        /// Bytes, unless something is said.
        const USUAL: u64 = 256 << 20;
        let options = self.options;
        (options.store == Store::Bitstate).then(|| BitState {
            bytes: options.memory.asked.unwrap_or(USUAL.min(options.memory.search)).max(64) / 2,
            expected: options.max_states,
            swarm: options.swarm,
            seed: options.seed,
        })
    }

    /// Why an engine that takes its memory at once cannot be used.
    pub(super) fn refused(&self, reason: &str) -> Error {
        Error::refused(format!("--search {} cannot be used here: {reason}", self.engine.name))
    }
}

/// Whether an execution decides a property as these options ask it. It says no where that takes a search to know: for automata, and for
/// formulas about branching under fairness.
pub fn decides(program: &Program, options: &Options, property: &Property, run: &Replayed) -> bool {
    let is_fair = || match (options.fairness, fairness(program, options)) {
        (crate::Fairness::None, _) => true,
        (_, Err(_) | Ok(None)) => false,
        (crate::Fairness::Weak, Ok(Some(fairness))) => run.is_fair(program, &fairness).is_ok(),
        (crate::Fairness::Strong, Ok(Some(fairness))) => run.is_strongly_fair(program, &fairness).is_ok(),
    };
    run.confirm(program, property).is_ok()
        && match property.kind {
            PropertyKind::Automaton | PropertyKind::Claim(_) => false,
            PropertyKind::Ltl(_) => is_fair(),
            PropertyKind::Ctl(_) | PropertyKind::Mu(_) => options.fairness == crate::Fairness::None,
            _ => true,
        }
}

/// The fairness that was asked for.
pub(super) fn fairness(program: &Program, options: &Options) -> Result<Option<Fairness>, Error> {
    match options.fairness {
        options::Fairness::None => Ok(None),
        // The conditions are the same; what differs is when they have to be met.
        options::Fairness::Weak | options::Fairness::Strong => {
            Fairness::weak(program).map(Some).map_err(Error::Refused)
        }
    }
}
