//! The one place where a model is put together: a program, interpreted at first and compiled when its search goes on, and the
//! layers that searches ask for.

#[cfg(feature = "native")]
use std::sync::Arc;

use birk_engine::{Model, Observer, Patient};
use birk_exec::heuristic::REFINE;
use birk_exec::reduction::{Independence, Oracle, Preserve, Trial};
use birk_exec::{Directed, Heuristic, Reduced, Syntactic};
use birk_ir::{Goal, Program, TransitionId};
#[cfg(feature = "native")]
pub(crate) use birk_jit::Native;
#[cfg(feature = "native")]
use birk_jit::Staged;

#[cfg(not(feature = "native"))]
pub(crate) use crate::interpreted::Native;
#[cfg(not(feature = "native"))]
use crate::interpreted::{NeverCompiled as _, Staged};
use crate::watch::Watch;

/// A program that is searched for some goals.
pub(crate) struct Layers<'p> {
    program: &'p Program,
    goals: Box<[Goal]>,
    staged: Staged<'p>,
}

impl<'p> Layers<'p> {
    pub(crate) fn new(program: &'p Program, goals: &[Goal]) -> Self {
        Self { program, goals: goals.into(), staged: Staged::new(program, goals) }
    }

    /// The same, which shares native code with others of the program.
    pub(crate) fn sharing(native: &'p Native, program: &'p Program, goals: &[Goal]) -> Self {
        Self { program, goals: goals.into(), staged: Staged::sharing(native, program, goals) }
    }

    /// The program alone.
    pub(crate) fn plain(&self) -> &dyn Model {
        &self.staged
    }

    /// With only the steps of a stubborn set in each state, and what became of a trial; an error says why that cannot be. What is known
    /// of reachable states is looked for only where it may help. A search up to symmetry visits images of reachable states, of which
    /// it says nothing.
    pub(crate) fn reduced(
        &self,
        preserve: fn(&[Goal]) -> Preserve<'_>,
        is_symmetric: bool,
        memory: u64,
        observer: &mut dyn Observer,
    ) -> Result<(Reduced<'_>, Trial), String> {
        let tried = |oracle: &mut dyn Oracle| {
            let mut reduced = Reduced::new(self.program, &self.staged, preserve(&self.goals), oracle)?;
            let trial = reduced.trial();
            Ok((reduced, trial))
        };
        with_oracle(self.program, observer, memory, |oracle| match tried(oracle)? {
            (_, Trial::Worthwhile | Trial::Useless) if !is_symmetric && oracle.learn() => tried(oracle),
            tried => Ok(tried),
        })
    }

    /// The same reduction with its conditions as native code, where that pays and can be had.
    #[cfg(feature = "native")]
    pub(crate) fn natively<'l>(&self, reduced: Reduced<'l>, trial: Trial, watch: &mut dyn Watch) -> Reduced<'l> {
        if trial == Trial::Over {
            return reduced;
        }
        match birk_jit::Predicates::new(self.program, reduced.conditions()) {
            Ok(native) => reduced.with_conditions(Arc::new(native)),
            Err(reason) => {
                watch.note(&format!("the reduction was interpreted, because it could not be compiled: {reason}"));
                reduced
            }
        }
    }

    /// The same reduction: there is no native code.
    #[cfg(not(feature = "native"))]
    pub(crate) fn natively<'l>(&self, reduced: Reduced<'l>, _: Trial, _: &mut dyn Watch) -> Reduced<'l> {
        reduced
    }

    /// One of its goals alone.
    pub(crate) fn for_goal<'l>(&'l self, reduced: &Reduced<'l>, goal: usize) -> Reduced<'l> {
        reduced.for_goal(self.program, goal)
    }

    /// A model of the program with heuristic estimates of how far each goal is.
    pub(crate) fn directed<'l>(
        &'l self,
        model: &'l dyn Model,
        options: &birk_engine::Options,
    ) -> Directed<'l, dyn Model + 'l> {
        Directed::new(model, heuristics(self.program, &self.goals, REFINE.number(options)))
    }

    /// For each transition, whether an `assume` pruned one of its branches.
    pub(crate) fn assumed(&self) -> Vec<bool> {
        self.staged.assumed()
    }

    /// Says why the search did without native code, if it wanted some.
    pub(crate) fn note_refusal(&self, watch: &mut dyn Watch) {
        if let Some(reason) = self.staged.refusal() {
            watch.note(&format!("the model was interpreted, because it could not be compiled: {reason}"));
        }
    }
}

/// A program, interpreted at first and as native code when it goes on, which evaluates these goals.
pub fn compiled<'p>(program: &'p Program, goals: &[Goal]) -> impl Model + use<'p> {
    Staged::new(program, goals)
}

/// Calls `hear` with each pair of transitions of different threads, and with what is known of their order: what a reduction goes by.
pub fn independence(program: &Program, hear: impl FnMut(TransitionId, TransitionId, Independence)) {
    with_oracle(program, &mut Patient, u64::MAX, |oracle| {
        oracle.learn();
        birk_exec::reduction::independence(program, oracle, hear);
    });
}

/// Asks who knows best which steps commute: a solver, otherwise what they read and write.
fn with_oracle<T>(
    program: &Program,
    observer: &mut dyn Observer,
    memory: u64,
    ask: impl FnOnce(&mut dyn Oracle) -> T,
) -> T {
    #[cfg(feature = "native")]
    {
        birk_symbolic::with_solver(program, observer, memory, |solver| match solver {
            Some(solver) => ask(solver),
            None => ask(&mut Syntactic),
        })
    }
    #[cfg(not(feature = "native"))]
    {
        let _ = (program, observer, memory);
        ask(&mut Syntactic)
    }
}

/// How far each goal is, at least, by a heuristic that is refined so many times, or as seems best.
pub fn heuristics<'p>(program: &'p Program, goals: &[Goal], refine: Option<u64>) -> Vec<Heuristic<'p>> {
    let heuristic = |goal: &Goal| match refine {
        Some(rounds) => Heuristic::new(program, goal, rounds as u32),
        None => Heuristic::deepened(program, goal),
    };
    goals.iter().map(heuristic).collect()
}
