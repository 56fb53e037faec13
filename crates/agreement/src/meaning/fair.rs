//! CTL about fair runs on the graph of the tree, where what is marked `fair` is known by where it is written. Nothing is
//! shared with lowering, automata, products or fixpoints.

use std::collections::{BTreeMap, HashMap};

use birk_ir::{Branching, Expr, Program, Span, Steps, VarRole};

use crate::meaning::{Kind, Meaning, Outcome, State};
use crate::random::{Draw as _, Random};

/// A formula about some fair run; what is said of all is the negation.
#[derive(Clone, Debug)]
pub enum Ctl {
    /// A condition, by its number.
    Atom(usize),
    /// It is not so.
    Not(Box<Ctl>),
    /// Both are so.
    And(Box<[Ctl; 2]>),
    /// So in the next state.
    Next(Box<Ctl>),
    /// So in every state.
    Always(Box<Ctl>),
    /// The second is so at some time, and until then the first.
    Until(Box<[Ctl; 2]>),
}

impl Ctl {
    /// The negation.
    pub fn negated(self) -> Self {
        Ctl::Not(Box::new(self))
    }

    /// `E [true U p]`
    pub fn possible(self) -> Self {
        let anything = Ctl::And(Box::new([Ctl::Atom(0), Ctl::Atom(0).negated()])).negated();
        Ctl::Until(Box::new([anything, self]))
    }

    /// A random formula.
    pub fn drawn(random: &mut Random, atoms: usize, depth: usize) -> Self {
        let next = |random: &mut Random| Ctl::drawn(random, atoms, depth - 1);
        let boxed = |random: &mut Random| Box::new(next(random));
        match if depth == 0 { 0 } else { random.weighted(&[10, 25, 15, 20, 20, 10]) } {
            0 => Ctl::Atom(random.below(atoms)),
            1 => Ctl::Not(boxed(random)),
            2 => Ctl::And(Box::new([next(random), next(random)])),
            3 => Ctl::Next(boxed(random)),
            4 => Ctl::Always(boxed(random)),
            _ => Ctl::Until(Box::new([next(random), next(random)])),
        }
    }

    /// The formula, or its negation, in positive form.
    pub fn branching(&self, positive: bool, atoms: &[Expr], fixpoints: &mut u32) -> Branching {
        let step = |body: Branching| match positive {
            true => Branching::Some(Steps::OrStay, Box::new(body)),
            false => Branching::Every(Steps::OrStay, Box::new(body)),
        };
        let and = |a: Branching, b: Branching| if positive { a.and(b) } else { a.or(b) };
        let or = |a: Branching, b: Branching| if positive { a.or(b) } else { a.and(b) };
        let fixpoint = |is_least, number, body| match is_least == positive {
            true => Branching::Least(number, Box::new(body)),
            false => Branching::Greatest(number, Box::new(body)),
        };
        let mut fresh = || {
            *fixpoints += 1;
            *fixpoints - 1
        };
        match self {
            Ctl::Atom(at) => Branching::Atom(if positive { atoms[*at].clone() } else { atoms[*at].clone().negate() }),
            Ctl::Not(inner) => inner.branching(!positive, atoms, fixpoints),
            Ctl::And(two) => {
                let [a, b] = [0, 1].map(|at| two[at].branching(positive, atoms, fixpoints));
                and(a, b)
            }
            Ctl::Next(inner) => step(inner.branching(positive, atoms, fixpoints)),
            Ctl::Always(inner) => {
                let number = fresh();
                let p = inner.branching(positive, atoms, fixpoints);
                fixpoint(false, number, and(p, step(Branching::Variable(number))))
            }
            Ctl::Until(two) => {
                let number = fresh();
                let [p, q] = [0, 1].map(|at| two[at].branching(positive, atoms, fixpoints));
                fixpoint(true, number, or(q, and(p, step(Branching::Variable(number)))))
            }
        }
    }
}

/// The graph of a tree.
pub struct Graph {
    states: Vec<State>,
    /// So many states at the beginning are initial.
    pub initial: usize,
    /// The steps of each state: where they lead, and which conditions of fairness they meet.
    steps: Vec<Vec<(usize, u64)>>,
    /// The conditions that could be met in each state.
    enabled: Vec<u64>,
    /// Some check fails.
    pub goes_wrong: bool,
    /// Some outcome is cut.
    pub is_cut: bool,
}

impl Graph {
    /// All states that can be reached, with their steps.
    pub fn of(meaning: &Meaning<'_>) -> Self {
        let marked = meaning.kinds.iter().any(|kind| kind.tree.fair);
        let mut conditions: BTreeMap<(usize, i64, Option<Span>), u64> = BTreeMap::new();
        let mut graph = Graph {
            states: meaning.initial_states(),
            initial: meaning.initial_states().len(),
            steps: Vec::new(),
            enabled: Vec::new(),
            goes_wrong: false,
            is_cut: false,
        };
        let mut known: HashMap<State, usize> = graph.states.iter().cloned().zip(0..).collect();
        while let Some(state) = graph.states.get(graph.steps.len()).cloned() {
            let (mut edges, mut enabled, mut is_stuck) = (Vec::new(), 0, true);
            for step in meaning.steps(&state) {
                let mut bit = |mark| {
                    let bits = conditions.len();
                    *conditions.entry((step.kind, step.copy, mark)).or_insert(1 << bits)
                };
                let mut met = step.fair.map_or(0, |span| bit(Some(span)));
                // What a channel does by itself is nobody's turn.
                let is_owed = |kind: &Kind<'_>| (!marked || kind.tree.fair) && !step.crash;
                if meaning.kinds.get(step.kind).is_some_and(is_owed) {
                    met |= bit(None);
                }
                for outcome in &step.outcomes {
                    is_stuck = false;
                    enabled |= if *outcome == Outcome::Cut { 0 } else { met };
                    graph.is_cut |= *outcome == Outcome::Cut;
                    graph.goes_wrong |= matches!(outcome, Outcome::Fault(_));
                    let Outcome::State(next) = outcome else { continue };
                    let target = *known.entry(next.clone()).or_insert_with(|| {
                        graph.states.push(next.clone());
                        graph.states.len() - 1
                    });
                    edges.push((target, met));
                }
            }
            if is_stuck {
                edges.push((graph.steps.len(), 0));
            }
            graph.steps.push(edges);
            graph.enabled.push(enabled);
        }
        graph
    }

    /// Where a formula is true, given where its atoms are.
    pub fn truth(&self, formula: &Ctl, atoms: &[Vec<bool>]) -> Vec<bool> {
        let of = |formula: &Ctl| self.truth(formula, atoms);
        let fair = || self.always(&vec![true; self.states.len()]);
        let both = |a: Vec<bool>, b: Vec<bool>| -> Vec<bool> { a.into_iter().zip(b).map(|(a, b)| a && b).collect() };
        match formula {
            Ctl::Atom(at) => atoms[*at].clone(),
            Ctl::Not(inner) => of(inner).into_iter().map(|value| !value).collect(),
            Ctl::And(two) => both(of(&two[0]), of(&two[1])),
            Ctl::Next(inner) => {
                let end = both(of(inner), fair());
                self.steps.iter().map(|steps| steps.iter().any(|&(next, _)| end[next])).collect()
            }
            Ctl::Always(inner) => self.always(&of(inner)),
            Ctl::Until(two) => self.reaching(&of(&two[0]), both(of(&two[1]), fair())),
        }
    }

    /// From where some of these states can be reached through others.
    fn reaching(&self, through: &[bool], mut reached: Vec<bool>) -> Vec<bool> {
        loop {
            let mut changed = false;
            for state in (0..self.states.len()).filter(|&state| through[state]) {
                if !reached[state] && self.steps[state].iter().any(|&(next, _)| reached[next]) {
                    reached[state] = true;
                    changed = true;
                }
            }
            if !changed {
                return reached;
            }
        }
    }

    /// From where a fair run stays within some states: it ends up in a part of them that is strongly connected, and in
    /// which each condition is met by a step, or cannot be met somewhere.
    fn always(&self, within: &[bool]) -> Vec<bool> {
        let behind: Vec<Vec<bool>> = (0..self.states.len()).map(|state| self.behind(state, within)).collect();
        let mut fair = vec![false; self.states.len()];
        for state in (0..self.states.len()).filter(|&state| within[state] && behind[state][state]) {
            let is_here = |other: usize| behind[state][other] && behind[other][state];
            let here = (0..self.states.len()).filter(|&other| is_here(other));
            let met = here.fold(0, |all, other| {
                let taken = self.steps[other].iter().filter(|&&(next, _)| is_here(next));
                taken.fold(all | !self.enabled[other], |all, &(_, met)| all | met)
            });
            fair[state] = met == u64::MAX;
        }
        self.reaching(within, fair)
    }

    /// What can be reached from a state by at least one step, within some states.
    fn behind(&self, state: usize, within: &[bool]) -> Vec<bool> {
        let mut seen = vec![false; self.states.len()];
        let mut waiting = if within[state] { vec![state] } else { Vec::new() };
        while let Some(state) = waiting.pop() {
            for &(next, _) in &self.steps[state] {
                if within[next] && !std::mem::replace(&mut seen[next], true) {
                    waiting.push(next);
                }
            }
        }
        seen
    }

    /// Conditions that are true in some states and false in others, for the program and by state.
    pub fn atoms(&self, meaning: &Meaning<'_>, program: &Program, random: &mut Random) -> Vec<(Expr, Vec<bool>)> {
        let mut atoms = Vec::new();
        for (variable, element) in program.visible_elements() {
            let declared = program.variable(variable);
            let name = program.element_name(variable, element);
            let Some(at) = meaning.names.iter().position(|own| *own == name) else { continue };
            let value = self.states[random.below(self.states.len())][at];
            let is_true: Vec<bool> = self.states.iter().map(|state| state[at] == value).collect();
            if !matches!(declared.role, VarRole::Counter(_)) && is_true.contains(&false) {
                let single = declared.shape.is_empty();
                let read =
                    if single { Expr::Var(variable) } else { Expr::element(variable, Expr::Const(element.into())) };
                atoms.push((read.equals(value), is_true));
            }
        }
        while atoms.len() > 3 {
            atoms.remove(random.below(atoms.len()));
        }
        atoms
    }
}
