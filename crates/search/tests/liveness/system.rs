//! A small random system: a graph whose steps belong to threads and whose states have letters, and an automaton.

use std::collections::BTreeMap;

use birk_engine::{GoalSet, Model, Successors};
use birk_exec::automaton::Buchi;
use birk_exec::automaton::label::{Label, Labels};
use birk_exec::{Fairness, Product, Random};
use birk_ir::{Trace, TransitionId};

#[derive(Debug)]
pub(crate) struct System {
    pub(crate) initial: Vec<usize>,
    /// For each state, its steps: thread and target.
    pub(crate) steps: Vec<Vec<(usize, usize)>>,
    pub(crate) letters: Vec<u64>,
    pub(crate) threads: usize,
    pub(crate) watchers: usize,
    pub(crate) first: Vec<usize>,
    pub(crate) accepting: Vec<bool>,
    /// From, which letters (a set of the four), to.
    pub(crate) moves: Vec<(usize, u8, usize)>,
    /// A state has a second word, and is then too large to be its own key.
    pub(crate) wide: bool,
}

impl System {
    pub(crate) fn random(random: &mut Random, initial: usize) -> Self {
        let count = 2 + random.below(8);
        let threads = 1 + random.below(3);
        let mut steps = vec![Vec::new(); count];
        for _ in 0..count + random.below(count) {
            let (from, step) = (random.below(count), (random.below(threads), random.below(count)));
            if !steps[from].contains(&step) {
                steps[from].push(step);
            }
        }
        let watchers = 1 + random.below(3);
        let mut moves = Vec::new();
        for _ in 0..watchers + random.below(2 * watchers) {
            let letters = [15, 15, 5, 10, 3, 12, 8, 7][random.below(8)];
            moves.push((random.below(watchers), letters, random.below(watchers)));
        }
        Self {
            initial: (0..initial).map(|_| random.below(count)).collect(),
            steps,
            letters: (0..count).map(|_| random.below(4) as u64).collect(),
            threads,
            watchers,
            first: (0..1 + random.below(2)).map(|_| random.below(watchers)).collect(),
            accepting: (0..watchers).map(|_| random.below(3) == 0).collect(),
            moves,
            wide: random.below(2) == 0,
        }
    }

    /// A state as a model has it.
    fn state(&self, number: usize) -> Vec<u32> {
        let number = number as u32;
        if self.wide { vec![number, !number] } else { vec![number] }
    }

    fn automaton(&self) -> Buchi {
        let mut labels = Labels::default();
        let (p, q) = (labels.proposition(0), labels.proposition(1));
        let mut moves = Vec::new();
        for &(from, letters, to) in &self.moves {
            let mut label = Label::FALSE;
            for letter in (0..4).filter(|letter| letters >> letter & 1 == 1) {
                let (not_p, not_q) = (labels.not(p), labels.not(q));
                let a = if letter & 1 == 1 { p } else { not_p };
                let b = if letter & 2 == 2 { q } else { not_q };
                let both = labels.and(a, b);
                label = labels.or(label, both);
            }
            moves.push((from, label, to));
        }
        Buchi::exactly(labels, vec!["p".into(), "q".into()], self.first.clone(), &self.accepting, &moves)
    }

    fn fairness(&self) -> Fairness {
        let names = (0..self.threads).map(|thread| format!("T{thread}")).collect();
        Fairness { met_by: (0..self.threads).map(|thread| 1 << thread).collect(), names }
    }

    pub(crate) fn product(&self, fair: bool) -> Product<'_> {
        Product::new(self, self.automaton(), fair.then(|| self.fairness()))
    }

    /// The product for a search that looks after fairness itself.
    pub(crate) fn product_without_copies(&self) -> Product<'_> {
        Product::without_copies(self, self.automaton(), self.fairness())
    }

    pub(crate) fn is_enabled(&self, state: usize, thread: usize) -> bool {
        self.steps[state].iter().any(|&(other, _)| other == thread)
    }

    /// The product, node by node; `stutter` says whether a state stays where it is.
    pub(crate) fn explicit_with(&self, fair: bool, stutter: &dyn Fn(usize, bool) -> bool) -> Explicit {
        let watchers = self.watchers;
        let mut explicit = Explicit::default();
        for &state in &self.initial {
            explicit.initial.extend(self.first.iter().map(|first| state * watchers + first));
        }
        explicit.threads = if fair { self.threads } else { 0 };
        let mut waiting = explicit.initial.clone();
        while let Some(node) = waiting.pop() {
            if explicit.edges.contains_key(&node) {
                continue;
            }
            let (state, watcher) = (node / watchers, node % watchers);
            let mut targets: Vec<usize> = Vec::new();
            for &(from, letters, to) in &self.moves {
                if from == watcher && letters >> self.letters[state] & 1 == 1 && !targets.contains(&to) {
                    targets.push(to);
                }
            }
            let mut edges = Vec::new();
            for &(thread, target) in &self.steps[state] {
                edges.extend(targets.iter().map(|to| (Some(thread), target * watchers + to)));
            }
            if stutter(state, edges.is_empty()) {
                let stays = if targets.is_empty() { vec![watcher] } else { targets };
                edges.extend(stays.iter().map(|to| (None, state * watchers + to)));
            }
            waiting.extend(edges.iter().map(|&(_, target)| target));
            explicit.edges.insert(node, edges);
            if self.accepting[watcher] {
                explicit.accepting.push(node);
            }
            let enabled = (0..self.threads).filter(|&thread| self.is_enabled(state, thread));
            explicit.enabled.insert(node, enabled.collect());
        }
        explicit
    }

    /// The product as it is meant: only a state without any step of the graph stays where it is.
    pub(crate) fn explicit(&self, fair: bool) -> Explicit {
        let mut explicit = self.explicit_with(fair, &|state, _| self.steps[state].is_empty());
        // Where the automaton has no move, staying is no move either.
        let watchers = self.watchers;
        for (&node, edges) in &mut explicit.edges {
            let (state, watcher) = (node / watchers, node % watchers);
            let moves = self.moves.iter().any(|m| m.0 == watcher && m.1 >> self.letters[state] & 1 == 1);
            if !moves {
                edges.clear();
            }
        }
        explicit
    }

    /// Whether a run of the graph is one, repeats, is accepted by the automaton, and is fair.
    pub(crate) fn confirm(&self, trace: &Trace, fair: bool) -> Result<(), String> {
        let mut states = vec![self.initial[trace.initial as usize]];
        for step in &trace.steps {
            let here = states[states.len() - 1];
            let &(_, target) = self.steps[here].get(step.choice as usize).ok_or("no such step")?;
            states.push(target);
        }
        let start = trace.loop_start.ok_or("it has no loop")?;
        let last = states[states.len() - 1];
        let stays = start == trace.steps.len();
        if stays && !self.steps[last].is_empty() || !stays && states[start] != last {
            return Err("the loop does not close".into());
        }
        if !stays {
            states.pop();
        }
        let length = states.len();
        let next = |at: usize| if at + 1 < length { at + 1 } else { start.min(length - 1) };
        let mut word = Explicit::default();
        word.initial.extend(self.first.iter().copied());
        for node in 0..length * self.watchers {
            let (at, watcher) = (node / self.watchers, node % self.watchers);
            let moves = self.moves.iter().filter(|m| m.0 == watcher && m.1 >> self.letters[states[at]] & 1 == 1);
            word.edges.insert(node, moves.map(|m| (None, next(at) * self.watchers + m.2)).collect());
            word.enabled.insert(node, Vec::new());
            if self.accepting[watcher] {
                word.accepting.push(node);
            }
        }
        if !word.has_cycle() {
            return Err("the automaton does not accept it".into());
        }
        let period = start.min(length - 1)..length;
        let starved = (0..self.threads).find(|&thread| {
            let moves = period.clone().any(|at| {
                trace.steps.get(at).is_some_and(|step| self.steps[states[at]][step.choice as usize].0 == thread)
            });
            !moves && period.clone().all(|at| self.is_enabled(states[at], thread))
        });
        match starved {
            Some(thread) if fair => Err(format!("thread {thread} is starved")),
            _ => Ok(()),
        }
    }
}

/// A step's transition is its thread, its choice the position among the steps of the state.
impl Model for System {
    fn words(&self) -> usize {
        1 + usize::from(self.wide)
    }

    fn initial(&self, out: &mut Successors) {
        self.initial.iter().for_each(|&state| out.push(TransitionId(0), 0, &self.state(state)));
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        assert_eq!(state, self.state(state[0] as usize), "a state comes back as it was given");
        for (at, &(thread, target)) in self.steps[state[0] as usize].iter().enumerate() {
            out.push(TransitionId::new(thread), at as u32, &self.state(target));
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        GoalSet(self.letters[state[0] as usize])
    }

    fn transitions(&self) -> usize {
        self.threads
    }
}

/// A graph with accepting nodes; an edge may belong to a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explicit {
    pub(crate) initial: Vec<usize>,
    pub(crate) edges: BTreeMap<usize, Vec<(Option<usize>, usize)>>,
    pub(crate) accepting: Vec<usize>,
    /// Which threads can move in each node.
    pub(crate) enabled: BTreeMap<usize, Vec<usize>>,
    /// How many of them are treated fairly.
    pub(crate) threads: usize,
}

impl Explicit {
    /// What can be reached in one step or more.
    pub(crate) fn reach(&self, from: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting = vec![from];
        while let Some(node) = waiting.pop() {
            for &(_, target) in self.edges.get(&node).into_iter().flatten() {
                if !found.contains(&target) {
                    found.push(target);
                    waiting.push(target);
                }
            }
        }
        found
    }

    /// Whether a component that can be reached has an accepting node, and for each fair thread a step of it or a node in
    /// which it cannot move.
    pub(crate) fn has_cycle(&self) -> bool {
        let reach: BTreeMap<usize, Vec<usize>> = self.edges.keys().map(|&node| (node, self.reach(node))).collect();
        let starts = |node: &usize| self.initial.iter().any(|i| i == node || reach[i].contains(node));
        self.accepting.iter().filter(|&node| reach.contains_key(node) && starts(node)).any(|node| {
            let component: Vec<usize> =
                reach[node].iter().copied().filter(|other| reach[other].contains(node)).collect();
            let met = |thread: usize| {
                component.iter().any(|member| {
                    let moves = self.edges[member].iter().any(|e| e.0 == Some(thread) && component.contains(&e.1));
                    moves || !self.enabled[member].contains(&thread)
                })
            };
            !component.is_empty() && (0..self.threads).all(met)
        })
    }

    /// The part within some steps; under fairness, steps of the construction with copies.
    pub(crate) fn within(&self, depth: u32) -> Explicit {
        let flagged = self.with_copies();
        let mut inside: Vec<usize> = flagged.initial.clone();
        let mut level = inside.clone();
        for _ in 0..depth {
            let edges = level.iter().flat_map(|node| &flagged.edges[node]);
            let mut next: Vec<usize> = edges.map(|&(_, target)| target).filter(|t| !inside.contains(t)).collect();
            next.sort_unstable();
            next.dedup();
            inside.extend(&next);
            level = next;
        }
        let mut part = flagged;
        part.edges.retain(|node, _| inside.contains(node));
        part.edges.values_mut().for_each(|edges| edges.retain(|(_, target)| inside.contains(target)));
        part.accepting.retain(|node| inside.contains(node));
        part
    }

    /// The flag construction, said again: one copy for each fair thread and one that waits for acceptance.
    fn with_copies(&self) -> Explicit {
        let copies = self.threads + 1;
        let mut flagged = Explicit { initial: self.initial.iter().map(|n| n * copies).collect(), ..Self::default() };
        for (&node, edges) in &self.edges {
            for copy in 0..copies {
                let mut targets = Vec::new();
                for &(thread, target) in edges {
                    let mut next = copy;
                    if next == 0 && self.accepting.contains(&node) {
                        next = 1;
                    }
                    while (1..copies).contains(&next)
                        && (thread == Some(next - 1) || !self.enabled[&node].contains(&(next - 1)))
                    {
                        next += 1;
                    }
                    targets.push((thread, target * copies + next % copies));
                }
                flagged.edges.insert(node * copies + copy, targets);
                flagged.enabled.insert(node * copies + copy, Vec::new());
            }
            if self.accepting.contains(&node) {
                flagged.accepting.push(node * copies);
            }
        }
        flagged
    }

    /// Nodes and edges that can be reached.
    pub(crate) fn size(&self) -> (u64, u64) {
        let mut nodes = self.initial.clone();
        self.initial.iter().for_each(|&node| nodes.extend(self.reach(node)));
        nodes.sort_unstable();
        nodes.dedup();
        (nodes.len() as u64, nodes.iter().map(|node| self.edges[node].len() as u64).sum())
    }
}
