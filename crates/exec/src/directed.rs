//! A model with a sense of direction: each state has an estimate of how far the nearest goal is, at least.

use birk_ir::Field;

use birk_engine::{GoalSet, Model, NEVER, Successors};

use crate::heuristic::Heuristic;

/// A model and the estimates of its goals.
#[derive(Debug)]
pub struct Directed<'m, M: Model + ?Sized> {
    model: &'m M,
    estimates: Vec<Heuristic<'m>>,
}

impl<'m, M: Model + ?Sized> Directed<'m, M> {
    /// The estimates are those of the model's goals, all of them.
    pub fn new(model: &'m M, estimates: Vec<Heuristic<'m>>) -> Self {
        Self { model, estimates }
    }
}

impl<M: Model + ?Sized> Model for Directed<'_, M> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.model.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.model.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        self.model.successors(state, out);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.model.evaluate(state, stuck)
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.model.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(state)
    }

    fn estimate(&self, state: &[u32], room: &mut Vec<u32>) -> u32 {
        // What follows a failing check is evaluated as it is: no step leads on from there.
        if self.model.is_fault(state) {
            return 0;
        }
        self.estimates.iter().map(|estimate| estimate.steps(state, room)).min().unwrap_or(NEVER)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }
}
