//! A slice as a model: the visited states, and every step of the model between them.
//!
//! A slice is laid over the model or over a product with it, not under the product: so whether a state is stuck, and which
//! steps were possible in it, is asked of the whole model, and neither a deadlock nor fairness is invented by what was left
//! out. A step that leaves the slice counts as cut.

use birk_engine::{GoalSet, Hunt, Model, Observer, Successors};
use birk_ir::{Coverage, Field, Outcome, StateId};

use crate::liveness::CycleSearch;
use crate::store::Store;
use crate::store::exact::ExactStore;

/// The states that a highway search visited.
#[derive(Debug)]
pub struct Slice {
    words: usize,
    states: ExactStore,
    is_complete: bool,
}

impl Slice {
    pub(super) fn new(words: usize, states: ExactStore, is_complete: bool) -> Self {
        Self { words, states, is_complete }
    }

    /// These states, whatever they are: what is found in them is real if an initial one is among them.
    pub fn of_states(words: usize, states: &[Vec<u32>]) -> Self {
        let mut store = ExactStore::new(words);
        for state in states {
            let has_room = store.reserve(1, u64::MAX);
            assert!(has_room, "fewer than four thousand million states fit into memory");
            store.find_or_insert(state, None);
        }
        Self::new(words, store, false)
    }

    /// How many states it has, the results of failing checks included.
    pub fn len(&self) -> u64 {
        self.states.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is the whole model.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether a state is in it.
    pub fn contains(&self, state: &[u32]) -> bool {
        self.states.contains(state)
    }

    /// Its states, in the order in which they were visited.
    pub fn states(&self) -> impl Iterator<Item = Vec<u32>> {
        (0..self.len()).map(|number| {
            let mut state = vec![0; self.words];
            self.states.load(StateId(number), &mut state);
            state
        })
    }

    /// The slice as a model: of the model that was searched, or of a product with it, whose states begin with its.
    pub fn of<'m>(&'m self, model: &'m dyn Model) -> Sliced<'m> {
        Sliced { model, slice: self }
    }

    /// Hunts for an accepting cycle of a product that stays in the slice. What is found is real; that nothing is found
    /// means something only if the slice is complete.
    pub fn find_cycle(&self, product: &dyn Model, cycle_search: &CycleSearch, observer: &mut dyn Observer) -> Hunt {
        let mut cycle_search = *cycle_search;
        cycle_search.limits.depth = u32::MAX;
        let mut hunt = cycle_search.hunt(&self.of(product), observer);
        if !self.is_complete && hunt.coverage == Coverage::Complete {
            hunt.coverage = Coverage::Partial(hunt.stats.states);
        }
        match &mut hunt.outcomes[0] {
            Outcome::Found(trace) => trace.initial = self.initial_of(product, trace.initial),
            outcome if !self.is_complete => *outcome = Outcome::Inconclusive,
            _ => {}
        }
        hunt
    }

    /// The place among all initial states of one of those in the slice.
    fn initial_of(&self, product: &dyn Model, place: u32) -> u32 {
        let mut all = Successors::new(product.words());
        product.initial(&mut all);
        let mut inside = (0..all.len()).filter(|&i| self.contains(&all.state(i)[..self.words]));
        inside.nth(place as usize).expect("a run of the slice begins in it") as u32
    }
}

/// A model without what lies outside a slice.
#[derive(Clone, Copy)]
pub struct Sliced<'m> {
    model: &'m dyn Model,
    slice: &'m Slice,
}

impl std::fmt::Debug for Sliced<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sliced({} states)", self.slice.len())
    }
}

impl Sliced<'_> {
    /// Copies what lies inside; the rest is cut.
    fn keep(&self, from: &Successors, out: &mut Successors) {
        for i in 0..from.len() {
            if self.slice.contains(&from.state(i)[..self.slice.words]) {
                let step = from.step(i);
                out.push(step.transition, step.choice, from.state(i));
            } else {
                out.cut += 1;
            }
        }
    }
}

impl Model for Sliced<'_> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.model.fields()
    }

    fn initial(&self, out: &mut Successors) {
        let mut all = Successors::new(self.words());
        self.model.initial(&mut all);
        self.keep(&all, out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (mut below, _) = out.begin_below(self.words(), state);
        let cut = below.cut;
        self.model.successors(state, &mut below);
        out.cut += below.cut - cut;
        self.keep(&below, out);
        out.end_below(below, state, Vec::new);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.model.evaluate(state, stuck)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.model.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }
}
