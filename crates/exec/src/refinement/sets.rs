//! Sets of specification states, each with a number: those that are possible after what was observed so far.
//!
//! This is the subset construction (Rabin and Scott, "Finite automata and their decision problems", 1959), on the fly: the letters
//! are the observations that an implementation makes, a step that keeps the observation is an empty word. States, observations
//! and sets are numbered in the order in which they are met, and keep their numbers.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use birk_engine::{Model, Successors};
use birk_ir::Program;

use super::mapping::{Lens, Observation};

/// The set without a state.
pub(super) const EMPTY: u32 = 0;
/// It is asked after so many states whether to go on.
const PATIENCE: usize = 64;
/// Bytes of an entry of a table beyond its contents.
const ENTRY: usize = 64;

/// The specification, and what is known of its states.
pub(super) struct Sets<'m> {
    pub(super) model: &'m dyn Model,
    pub(super) program: &'m Program,
    pub(super) lens: Lens<'m>,
}

/// What is numbered.
#[derive(Debug)]
struct Numbered<T: ?Sized> {
    numbers: HashMap<Arc<T>, u32>,
    all: Vec<Arc<T>>,
}

impl<T: ?Sized + Eq + Hash> Numbered<T> {
    fn new() -> Self {
        Self { numbers: HashMap::new(), all: Vec::new() }
    }

    fn number(&mut self, one: &T) -> (u32, bool)
    where
        Arc<T>: for<'a> From<&'a T>,
    {
        if let Some(&number) = self.numbers.get(one) {
            return (number, false);
        }
        let (one, number) = (Arc::<T>::from(one), self.all.len() as u32);
        self.all.push(Arc::clone(&one));
        self.numbers.insert(one, number);
        (number, true)
    }
}

/// What is known so far.
#[derive(Debug)]
pub(super) struct Known {
    states: Numbered<[u32]>,
    observations: Numbered<[i64]>,
    /// By state: its observation.
    of: Vec<u32>,
    /// By state: its successors, once they were asked for.
    next: Vec<Option<Arc<[u32]>>>,
    sets: Numbered<[u32]>,
    /// Where each observation leads from each set.
    moves: HashMap<(u32, u32), u32>,
    /// How many states were expanded.
    pub(super) expanded: u64,
    /// Bytes of all of it, about.
    pub(super) bytes: u64,
}

/// Whether a computation may go on, given the bytes in use.
pub(super) type MayGoOn<'f> = &'f dyn Fn(u64) -> bool;

/// It was told not to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl Known {
    pub(super) fn new() -> Self {
        let mut sets: Numbered<[u32]> = Numbered::new();
        sets.number(&[]);
        Self {
            states: Numbered::new(),
            observations: Numbered::new(),
            of: Vec::new(),
            next: Vec::new(),
            sets,
            moves: HashMap::new(),
            expanded: 0,
            bytes: 0,
        }
    }

    /// How many sets there are, without the empty one.
    pub(super) fn sets(&self) -> u64 {
        self.sets.all.len() as u64 - 1
    }

    /// What can be observed of the states of a set; nothing of the empty one.
    pub(super) fn observation(&self, set: u32) -> Option<&[i64]> {
        let first = *self.sets.all[set as usize].first()?;
        Some(&self.observations.all[self.of[first as usize] as usize])
    }

    /// Where an observation leads from a set, if that is known.
    pub(super) fn moved(&self, set: u32, observation: &[i64]) -> Option<u32> {
        let letter = self.observations.numbers.get(observation)?;
        self.moves.get(&(set, *letter)).copied()
    }

    fn add(&mut self, sets: &Sets<'_>, state: &[u32]) -> u32 {
        let (number, is_new) = self.states.number(state);
        if is_new {
            let observation: Observation = sets.lens.of_specification(sets.program, state);
            let (observation, is_first) = self.observations.number(&observation);
            self.of.push(observation);
            self.next.push(None);
            let letters = if is_first { sets.lens.mapping.observed.len() * 8 + ENTRY } else { 0 };
            self.bytes += (state.len() * 4 + ENTRY + letters) as u64;
        }
        number
    }

    /// The successors of a state; a step that fails a check is no step.
    fn successors(&mut self, sets: &Sets<'_>, state: u32, batch: &mut Successors) -> Arc<[u32]> {
        if let Some(next) = &self.next[state as usize] {
            return Arc::clone(next);
        }
        batch.clear();
        let from = Arc::clone(&self.states.all[state as usize]);
        sets.model.successors(&from, batch);
        let mut next = Vec::new();
        for at in 0..batch.len() {
            if !sets.model.is_fault(batch.state(at)) {
                next.push(self.add(sets, batch.state(at)));
            }
        }
        next.sort_unstable();
        next.dedup();
        let next: Arc<[u32]> = next.into();
        self.expanded += 1;
        self.bytes += (next.len() * 4 + 16) as u64;
        self.next[state as usize] = Some(Arc::clone(&next));
        next
    }

    /// Where an observation leads from a set of states with another one: to all successors that have it, in one step, and to what
    /// internal steps lead to from there. What is observed first leads from the empty set to the initial states.
    pub(super) fn advance(
        &mut self,
        sets: &Sets<'_>,
        set: u32,
        observation: &[i64],
        may_go_on: MayGoOn<'_>,
    ) -> Result<u32, Stopped> {
        if let Some(known) = self.moved(set, observation) {
            return Ok(known);
        }
        let mut batch = Successors::new(sets.model.words());
        let mut next: Vec<u32> = Vec::new();
        if set == EMPTY {
            sets.model.initial(&mut batch);
            next.extend((0..batch.len()).map(|at| self.add(sets, batch.state(at))));
        }
        for (done, &state) in Arc::clone(&self.sets.all[set as usize]).iter().enumerate() {
            if done % PATIENCE == 0 && !may_go_on(self.bytes) {
                return Err(Stopped);
            }
            next.extend(&*self.successors(sets, state, &mut batch));
        }
        next.retain(|&state| *self.observations.all[self.of[state as usize] as usize] == *observation);
        let to = self.closed(sets, next, may_go_on)?;
        let (letter, is_new) = self.observations.number(observation);
        self.moves.insert((set, letter), to);
        self.bytes += (ENTRY + if is_new { observation.len() * 8 + ENTRY } else { 0 }) as u64;
        Ok(to)
    }

    /// The number of a set with all that internal steps lead to.
    fn closed(&mut self, sets: &Sets<'_>, mut states: Vec<u32>, may_go_on: MayGoOn<'_>) -> Result<u32, Stopped> {
        states.sort_unstable();
        states.dedup();
        let mut seen: std::collections::HashSet<u32> = states.iter().copied().collect();
        let mut batch = Successors::new(sets.model.words());
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            if at % PATIENCE == 0 && !may_go_on(self.bytes + states.len() as u64 * 16) {
                return Err(Stopped);
            }
            for &next in &*self.successors(sets, state, &mut batch) {
                if self.of[next as usize] == self.of[state as usize] && seen.insert(next) {
                    states.push(next);
                }
            }
            at += 1;
        }
        states.sort_unstable();
        let (number, is_new) = self.sets.number(&states);
        if is_new {
            self.bytes += (states.len() * 4 + ENTRY) as u64;
        }
        Ok(number)
    }
}
