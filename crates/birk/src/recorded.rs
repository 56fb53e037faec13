//! A layer that remembers every state that a search evaluates, for a certificate. It knows nothing of the engine, which stores its
//! states as it likes.

use std::sync::{Mutex, PoisonError};

use birk_certify::Keys;
use birk_engine::{GoalSet, Model, Successors};
use birk_ir::{Field, Program};

use crate::certificate::values;

/// So many lists, so that threads seldom wait for each other.
const LISTS: usize = 64;

/// A model of a program whose evaluated states are remembered.
pub(crate) struct Recorded<'m> {
    model: &'m dyn Model,
    program: &'m Program,
    keys: Keys,
    lists: Vec<Mutex<Vec<u8>>>,
}

impl<'m> Recorded<'m> {
    pub(crate) fn new(program: &'m Program, model: &'m dyn Model) -> Self {
        Self { model, program, keys: Keys::new(program), lists: (0..LISTS).map(|_| Mutex::default()).collect() }
    }

    /// The keys of all states, side by side, in no order.
    pub(crate) fn into_keys(self) -> Vec<u8> {
        let lists = self.lists.into_iter().map(|list| list.into_inner().unwrap_or_else(PoisonError::into_inner));
        lists
            .reduce(|mut all, list| {
                all.extend_from_slice(&list);
                all
            })
            .unwrap_or_default()
    }
}

impl Model for Recorded<'_> {
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
        let hash = state.iter().fold(0u32, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1));
        let mut list = self.lists[hash as usize >> 16 & (LISTS - 1)].lock().unwrap_or_else(PoisonError::into_inner);
        let is_state = self.keys.pack(values(self.program, state), &mut list);
        assert!(is_state, "a search visits states of the program");
        drop(list);
        self.model.evaluate(state, stuck)
    }

    fn is_state(&self, words: &[u32]) -> bool {
        self.model.is_state(words)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(state)
    }

    fn estimate(&self, state: &[u32], room: &mut Vec<u32>) -> u32 {
        self.model.estimate(state, room)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        self.model.written(transition)
    }
}
