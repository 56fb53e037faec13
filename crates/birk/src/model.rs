//! The one place where a model is put together: a program, interpreted at first and compiled when its search goes on, and the
//! layers that searches ask for.

use birk_engine::{Model, Observer};
use birk_exec::automaton::Buchi;
use birk_exec::heuristic::REFINE;
use birk_exec::reduction::Oracle;
use birk_exec::{Directed, Fairness, Heuristic, Product, Reduced, Syntactic};
use birk_ir::{Goal, Program};
use birk_jit::Staged;

use crate::watch::Watch;

/// A program that is searched for some goals.
pub(crate) struct Layers<'p> {
    program: &'p Program,
    goals: &'p [Goal],
    staged: Staged<'p>,
}

impl<'p> Layers<'p> {
    pub(crate) fn new(program: &'p Program, goals: &'p [Goal]) -> Self {
        Self { program, goals, staged: Staged::new(program, goals) }
    }

    /// The program alone.
    pub(crate) fn plain(&self) -> &dyn Model {
        &self.staged
    }

    /// With only the steps of a stubborn set in each state; an error says why that cannot be.
    pub(crate) fn reduced(&self, observer: &mut dyn Observer, memory: u64) -> Result<Reduced<'_>, String> {
        let model = |oracle: &mut dyn Oracle| Reduced::new(self.program, &self.staged, self.goals, oracle);
        birk_symbolic::with_solver(self.program, observer, memory, |solver| match solver {
            Some(solver) => model(solver),
            None => model(&mut Syntactic),
        })
    }

    /// A model of the program with heuristic estimates of how far each goal is.
    pub(crate) fn directed<'l>(
        &'l self,
        model: &'l dyn Model,
        options: &birk_engine::Options,
    ) -> Directed<'l, dyn Model + 'l> {
        Directed::new(model, heuristics(self.program, self.goals, REFINE.number(options)))
    }

    /// With an automaton that watches it, whose propositions are the goals.
    pub(crate) fn product(&self, automaton: &Buchi, fairness: Option<&Fairness>) -> Product<'_> {
        Product::new(&self.staged, automaton.clone(), fairness.cloned())
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
pub fn compiled<'p>(program: &'p Program, goals: &'p [Goal]) -> impl Model + 'p {
    Staged::new(program, goals)
}

/// How far each goal is, at least, by a heuristic that is refined so many times, or as seems best.
pub fn heuristics<'p>(program: &'p Program, goals: &[Goal], refine: Option<u64>) -> Vec<Heuristic<'p>> {
    let heuristic = |goal: &Goal| match refine {
        Some(rounds) => Heuristic::new(program, goal, rounds as u32),
        None => Heuristic::deepened(program, goal),
    };
    goals.iter().map(heuristic).collect()
}
