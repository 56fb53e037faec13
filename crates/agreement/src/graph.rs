//! Graphs given edge by edge, as models.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;

use birk_engine::{GoalSet, Model, Successors};
use birk_exec::Random;
use birk_ir::{Field, Trace, TransitionId};

/// A graph as a model. The steps of a node are numbered, as transitions and as choices.
#[derive(Debug, Default)]
pub struct Graph {
    /// The nodes in which runs begin.
    pub initial: Vec<usize>,
    /// The successors of each node, in order.
    pub edges: Vec<Vec<usize>>,
    /// The goals of each node, as a set of bits; what is missing has none.
    pub labels: Vec<u64>,
    /// The goal of having no successor.
    pub stuck: Option<usize>,
    /// Not states, but results of failing checks.
    pub faults: BTreeSet<usize>,
    /// The heuristic estimate of each node; what is missing has 0.
    pub estimates: Vec<u32>,
    /// Words of a state beside its node, which depend on it.
    pub more_words: usize,
    /// How many bits of the node, and of each other word, can be other than 0; all, unless it is said.
    pub bits: Option<(u32, u32)>,
    /// It is searched for cycles, and then nobody says which states are stuck.
    pub has_cycles: bool,
    /// Which nodes were evaluated, each as often as it was.
    pub evaluated: Mutex<Vec<usize>>,
}

impl Graph {
    /// The graph with these initial nodes and edges.
    pub fn new(initial: &[usize], edges: &[&[usize]]) -> Self {
        let edges = edges.iter().map(|successors| successors.to_vec()).collect();
        Self { initial: initial.to_vec(), edges, ..Self::default() }
    }

    /// A graph whose goal is to have no successor. The number of its nodes decides how many words and bits its states have, so
    /// that every way to store them is met.
    pub fn with_ends(initial: &[usize], edges: Vec<Vec<usize>>) -> Self {
        let (more_words, bits) = [(1, Some((20, 3))), (1, None), (3, None)][edges.len() % 3];
        Self { initial: initial.to_vec(), edges, stuck: Some(0), more_words, bits, ..Self::default() }
    }

    /// A small one of these.
    pub fn drawn(random: &mut Random) -> Self {
        let most = [5, 12, 30][random.below(3)];
        let nodes = 1 + random.below(most);
        let initial: Vec<usize> = (0..=random.below(4)).map(|_| random.below(nodes)).collect();
        let mut graph = Self::with_ends(&initial, vec![Vec::new(); nodes]);
        for _ in 0..nodes + random.below(2 * nodes) {
            let from = random.below(nodes);
            graph.edges[from].push(random.below(nodes));
        }
        graph
    }

    /// Makes sure that there is such a node.
    pub fn add_node(&mut self, node: usize) {
        let len = self.edges.len().max(node + 1);
        self.edges.resize(len, Vec::new());
        self.labels.resize(len, 0);
    }

    /// Adds an edge, and its nodes.
    pub fn add_edge(&mut self, from: usize, to: usize) {
        self.add_node(from.max(to));
        self.edges[from].push(to);
    }

    /// The state of a node, which is its last word. The first is always the same, the others depend on the node, more or less.
    pub fn state(&self, node: usize) -> Vec<u32> {
        let mask = self.bits.map_or(!0, |(_, bits)| (1 << bits) - 1);
        let word = |i: usize| match i {
            0 => 7,
            _ if i.is_multiple_of(3) => (node as u32).wrapping_mul(0x9e37_79b9) >> (i % 30) & 5,
            _ => node as u32,
        };
        (0..self.more_words).map(|i| word(i) & mask).chain([node as u32]).collect()
    }

    /// The node of a state.
    pub fn node(&self, state: &[u32]) -> usize {
        state[self.more_words] as usize
    }

    /// How many goals there are.
    pub fn goals(&self) -> usize {
        let labelled = 64 - self.labels.iter().fold(0, |all, label| all | label).leading_zeros() as usize;
        labelled.max(self.stuck.map_or(0, |goal| goal + 1))
    }

    /// Whether a goal is true in a node.
    pub fn is_goal(&self, node: usize, goal: usize) -> bool {
        let label = self.labels.get(node).copied().unwrap_or(0);
        label >> goal & 1 == 1 || (self.stuck == Some(goal) && self.edges[node].is_empty())
    }

    /// The nodes of a trace, if it is a path.
    pub fn walk(&self, trace: &Trace) -> Option<Vec<usize>> {
        let mut nodes = vec![*self.initial.get(trace.initial as usize)?];
        for step in &trace.steps {
            nodes.push(*self.edges[nodes[nodes.len() - 1]].get(step.choice as usize)?);
        }
        Some(nodes)
    }

    /// The distance of each node from the initial ones.
    pub fn distances(&self) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.edges.len()];
        let mut queue: VecDeque<(usize, u32)> = self.initial.iter().map(|&node| (node, 0)).collect();
        while let Some((node, distance)) = queue.pop_front() {
            if distances[node].is_none() {
                distances[node] = Some(distance);
                queue.extend(self.edges[node].iter().map(|&to| (to, distance + 1)));
            }
        }
        distances
    }

    /// What can be reached without leaving a set.
    pub fn reachable(&self, within: &dyn Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = self.initial.iter().copied().filter(|&node| within(node)).collect();
        let mut seen: BTreeSet<usize> = waiting.iter().copied().collect();
        while let Some(node) = waiting.pop() {
            let new = self.edges[node].iter().filter(|&&to| within(to));
            waiting.extend(new.filter(|&&to| seen.insert(to)));
        }
        seen
    }

    /// Which nodes were evaluated since this was asked last.
    pub fn take_evaluated(&self) -> Vec<usize> {
        std::mem::take(&mut self.evaluated.lock().expect("nobody fails while holding it"))
    }
}

impl Model for Graph {
    fn words(&self) -> usize {
        self.more_words + 1
    }

    fn fields(&self) -> Vec<Field> {
        let (node, other) = self.bits.unwrap_or((32, 32));
        let bits = |word| if word == self.more_words { node } else { other };
        (0..self.words()).map(|word| Field { word: word as u32, shift: 0, bits: bits(word) }).collect()
    }

    fn initial(&self, out: &mut Successors) {
        self.initial.iter().for_each(|&node| out.push(TransitionId(0), 0, &self.state(node)));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (i, &to) in self.edges[self.node(state)].iter().enumerate() {
            out.push(TransitionId::new(i), i as u32, &self.state(to));
        }
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        let node = self.node(state);
        assert_eq!(state, self.state(node), "a state is what it was");
        assert!(self.has_cycles || stuck == self.edges[node].is_empty(), "stuck is to have no successor");
        self.evaluated.lock().expect("nobody fails while holding it").push(node);
        let mut goals = GoalSet(self.labels.get(node).copied().unwrap_or(0));
        if let Some(goal) = self.stuck.filter(|_| stuck) {
            goals.insert(goal);
        }
        goals
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.faults.contains(&self.node(state))
    }

    fn estimate(&self, state: &[u32], _room: &mut Vec<u32>) -> u32 {
        self.estimates.get(self.node(state)).copied().unwrap_or(0)
    }

    fn transitions(&self) -> usize {
        self.edges.iter().map(Vec::len).max().unwrap_or(0)
    }
}
