//! Refinement: whether every behaviour of an implementation is a behaviour of a specification, as far as the mapped variables show.
//!
//! A state of this layer is a state of the implementation and the set of all specification states that are possible after
//! the same observations, as the number of a set. The mapping is that of Abadi and Lamport, "The existence of refinement mappings",
//! 1991. They hide variables by giving the implementation auxiliary ones; here the specification's hidden variables are
//! quantified away by the subset construction, so that none are needed. A step that leaves the observation as it is leaves the set as
//! it is (it stutters). The goal is a state with the empty set: the implementation has done what the specification cannot do.

mod beside;
mod mapping;
mod sets;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use birk_engine::{GoalSet, Model, Successors};
use birk_ir::{Field, Mapping, Program};

pub use beside::{Beside, Mismatch, confirm};
pub use mapping::{Lens, Observation, Unmappable};
use sets::{EMPTY, Known, Sets};

use crate::interpreter::Interpreter;

/// The goal that no step of the specification fits.
pub const UNMATCHED: usize = 0;
/// The goal that a step of the implementation fails a check.
pub const FAULT: usize = 1;

/// An implementation with the sets of specification states that its runs leave possible.
pub struct Refining<'m> {
    model: &'m dyn Model,
    evaluator: Interpreter<'m>,
    lens: Lens<'m>,
    sets: Sets<'m>,
    known: RwLock<Known>,
    /// The most bytes of all sets.
    most: u64,
    /// Bytes in use, for those who do not wait for the table.
    bytes: AtomicU64,
    /// Some set was not computed: what lies behind it was not searched.
    is_cut: AtomicBool,
    may_go_on: &'m (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for Refining<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Refining({})", self.lens.mapping.name)
    }
}

/// A program, and a model of it.
pub type Side<'m> = (&'m Program, &'m dyn Model);

/// What is known of the specification at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecificationFigures {
    /// States of it that were expanded.
    pub states: u64,
    /// Different sets of them.
    pub sets: u64,
    /// Bytes of both, about.
    pub bytes: u64,
}

impl<'m> Refining<'m> {
    /// An implementation and a specification. Sets may take so many bytes, and are computed while `may_go_on` says so.
    pub fn new(
        implementation: Side<'m>,
        specification: Side<'m>,
        mapping: &'m Mapping,
        most: u64,
        may_go_on: &'m (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self {
            model: implementation.1,
            evaluator: Interpreter::new(implementation.0, &[]),
            lens: Lens::new(mapping),
            sets: Sets { model: specification.1, program: specification.0, lens: Lens::new(mapping) },
            known: RwLock::new(Known::new()),
            most,
            bytes: AtomicU64::new(0),
            is_cut: AtomicBool::new(false),
            may_go_on,
        }
    }

    /// Bytes of the sets, about.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether a set was not computed, because of its size or because it was told not to go on.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// What is known of the specification.
    pub fn figures(&self) -> SpecificationFigures {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        SpecificationFigures { states: known.expanded, sets: known.sets(), bytes: known.bytes }
    }

    /// The set after a step from a set to a state, the empty one before an initial state; nothing where it was told not to go on.
    fn after(&self, set: u32, state: &[u32], room: &mut Vec<i64>) -> Option<u32> {
        let Some(observation) = self.lens.of_implementation(&self.evaluator, state, room) else {
            return Some(EMPTY);
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.observation(set) == Some(&observation) {
            return Some(set);
        }
        let moved = known.moved(set, &observation);
        drop(known);
        moved.or_else(|| self.compute(set, &observation))
    }

    #[cold]
    fn compute(&self, set: u32, observation: &[i64]) -> Option<u32> {
        if self.is_cut() {
            return None;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let may_go_on = |bytes: u64| bytes <= self.most && (self.may_go_on)();
        let number = known.advance(&self.sets, set, observation, &may_go_on);
        self.bytes.store(known.bytes, Ordering::Relaxed);
        if number.is_err() {
            self.is_cut.store(true, Ordering::Relaxed);
        }
        number.ok()
    }
}

impl Model for Refining<'_> {
    fn words(&self) -> usize {
        self.model.words() + 1
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.model.fields();
        fields.push(Field { word: self.model.words() as u32, shift: 0, bits: 32 });
        fields
    }

    fn initial(&self, out: &mut Successors) {
        let words = self.model.words();
        let mut below = Successors::new(words);
        self.model.initial(&mut below);
        let mut state = vec![0; words + 1];
        for at in 0..below.len() {
            let set = self.after(EMPTY, below.state(at), &mut Vec::new());
            let Some(set) = set else { continue };
            state[..words].copy_from_slice(below.state(at));
            state[words] = set;
            let step = below.step(at);
            out.push(step.transition, step.choice, &state);
        }
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let words = self.model.words();
        let (inner, set) = (&state[..words], state[words]);
        if set == EMPTY {
            return;
        }
        let (mut below, _) = out.begin_below(words, state);
        let cut = below.cut;
        self.model.successors(inner, &mut below);
        out.cut += below.cut - cut;
        let mut room = out.take_room::<Vec<i64>>();
        for at in 0..below.len() {
            let target = below.state(at);
            // What a failing check leaves is no state to be observed.
            let next = if self.model.is_fault(target) { Some(set) } else { self.after(set, target, &mut room) };
            let Some(next) = next else { continue };
            let (states, steps) = out.room(1);
            states[..words].copy_from_slice(target);
            states[words] = next;
            steps[0] = below.step(at);
            out.advance(1);
        }
        out.give_room(room);
        out.end_below(below, state, Vec::new);
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        let mut goals = GoalSet::default();
        let words = self.model.words();
        if self.model.is_fault(&state[..words]) {
            goals.insert(FAULT);
        } else if state[words] == EMPTY {
            goals.insert(UNMATCHED);
        }
        goals
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(&state[..self.model.words()])
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }

    fn written(&self, transition: usize) -> Option<Vec<u32>> {
        let mut words = self.model.written(transition)?;
        words.push(self.model.words() as u32);
        Some(words)
    }
}
