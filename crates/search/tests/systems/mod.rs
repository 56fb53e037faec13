//! Random systems for the tests of highway search.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeSet;
use std::sync::Mutex;

use birk_exec::{GoalSet, Model, Random, Successors};
use birk_ir::{Field, TransitionId};

/// A graph as a model. Its goal is to have no successor, or, where some states are accepting, to be one of them.
#[derive(Default)]
pub(crate) struct System {
    pub(crate) initial: Vec<usize>,
    pub(crate) edges: Vec<Vec<usize>>,
    pub(crate) accepting: Option<BTreeSet<usize>>,
    pub(crate) judged: Mutex<BTreeSet<usize>>,
}

impl System {
    pub(crate) fn new(initial: &[usize], edges: &[&[usize]]) -> Self {
        let edges = edges.iter().map(|successors| successors.to_vec()).collect();
        Self { initial: initial.to_vec(), edges, ..Self::default() }
    }

    pub(crate) fn drawn(random: &mut Random) -> Self {
        let most = [5, 12, 30][random.below(3)];
        let nodes = 1 + random.below(most);
        let mut system = Self { edges: vec![Vec::new(); nodes], ..Self::default() };
        for _ in 0..=random.below(4) {
            system.initial.push(random.below(nodes));
        }
        for _ in 0..nodes + random.below(2 * nodes) {
            let from = random.below(nodes);
            system.edges[from].push(random.below(nodes));
        }
        system
    }

    /// What can be reached without leaving a set.
    pub(crate) fn reachable(&self, within: &dyn Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = self.initial.iter().copied().filter(|&node| within(node)).collect();
        let mut seen: BTreeSet<usize> = waiting.iter().copied().collect();
        while let Some(node) = waiting.pop() {
            let new = self.edges[node].iter().filter(|&&to| within(to));
            waiting.extend(new.filter(|&&to| seen.insert(to)));
        }
        seen
    }
}

impl System {
    /// States have more words or bits than they need where the number of states is not a multiple of 3, so that every way to
    /// store them is met.
    pub(crate) fn state(&self, node: usize) -> Vec<u32> {
        let mut state = vec![7, node as u32];
        state.resize(self.words(), node as u32);
        state
    }
}

impl Model for System {
    fn words(&self) -> usize {
        if self.edges.len() % 3 == 2 { 4 } else { 2 }
    }

    fn fields(&self) -> Vec<Field> {
        let bits = |word| if self.edges.len().is_multiple_of(3) { [3, 20][word as usize] } else { 32 };
        (0..self.words() as u32).map(|word| Field { word, shift: 0, bits: bits(word) }).collect()
    }

    fn initial(&self, out: &mut Successors) {
        self.initial.iter().for_each(|&node| out.push(TransitionId(0), 0, &self.state(node)));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (i, &to) in self.edges[state[1] as usize].iter().enumerate() {
            out.push(TransitionId(0), i as u32, &self.state(to));
        }
    }

    fn judge(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.judged.lock().unwrap().insert(state[1] as usize);
        let node = state[1] as usize;
        GoalSet(u64::from(self.accepting.as_ref().map_or(stuck, |accepting| accepting.contains(&node))))
    }

    fn transitions(&self) -> usize {
        1
    }
}
