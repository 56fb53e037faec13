//! Counters as a model: any number of states, keys of any size, and goals at known depths.

use birk_engine::{GoalSet, Model, Successors};
use birk_ir::{Field, TransitionId};

/// Counters that go round, all of them at once in one step too; goals are some values of their sum. States have as many bits as it
/// is told.
#[derive(Debug)]
pub struct Counters {
    count: usize,
    modulus: u32,
    /// Bits between the counters.
    spread: u32,
    goals: Vec<u32>,
}

impl Counters {
    /// So many counters, each up to a modulus, and so many bits from one to the next.
    pub fn new(count: usize, modulus: u32, spread: u32) -> Self {
        let most = count as u32 * (modulus - 1);
        Self { count, modulus, spread, goals: vec![most / 3, most, most + 1] }
    }
}

impl Model for Counters {
    fn words(&self) -> usize {
        self.count
    }

    fn fields(&self) -> Vec<Field> {
        (0..self.count as u32).map(|word| Field { word, shift: self.spread, bits: 4 }).collect()
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &vec![0; self.count]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let mut next = state.to_vec();
        let after = |value: u32| (((value >> self.spread) + 1) % self.modulus) << self.spread;
        for counter in 0..self.count {
            next[counter] = after(state[counter]);
            out.push(TransitionId(counter as u32), 0, &next);
            next[counter] = state[counter];
        }
        let ready = state.iter().all(|&value| value >> self.spread == 1);
        if ready {
            let all: Vec<u32> = state.iter().map(|&value| after(value)).collect();
            out.push(TransitionId(self.count as u32), 0, &all);
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        let sum: u32 = state.iter().map(|value| value >> self.spread).sum();
        let mut goals = GoalSet::default();
        self.goals.iter().enumerate().filter(|(_, goal)| **goal == sum).for_each(|(goal, _)| goals.insert(goal));
        goals
    }

    fn is_state(&self, words: &[u32]) -> bool {
        words.iter().all(|value| value & ((1 << self.spread) - 1) == 0 && value >> self.spread < self.modulus)
    }

    fn transitions(&self) -> usize {
        self.count + 1
    }
}
