//! Fixpoints, computed on the graph.
//!
//! A block of least fixpoints begins with nothing true; what becomes true is told to what is made of it, until nothing
//! changes: every edge is examined once for each modality, so that formulas that do not alternate, CTL among them, take
//! linear time (Arnold and Crubillé 1988; Cleaveland, Klein and Steffen 1992). A block of greatest ones begins with
//! everything true, and what becomes false is told. A block of the other kind within a block is computed from its own
//! beginning, each time with more of the outer one, until that does not change any more (Emerson and Lei 1986).

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use birk_ir::Stop;

use super::graph::Graph;
use super::moves::Moves;
use super::states::StateSet;
use birk_engine::Observer;
use birk_exec::equations::{Equations, Kind};

/// After so many facts the observer is asked.
const BATCH: u64 = 1 << 14;

/// When each fact of a block was found, by part and state; `NEVER` where there is none.
pub(super) type Order = BTreeMap<u32, Vec<u32>>;
pub(super) const NEVER: u32 = u32::MAX;

/// The values of the parts of a formula in the states of a graph.
pub(super) struct Solver<'a> {
    pub(super) equations: &'a Equations,
    pub(super) graph: &'a Graph,
    pub(super) moves: &'a Moves<'a>,
    observer: &'a mut dyn Observer,
    /// By part; atoms have none of their own.
    values: Vec<StateSet>,
    is_computed: Vec<bool>,
    facts: u64,
}

/// A block while it is computed.
struct Work<'w> {
    first: u32,
    /// What is told: that something became true, or false.
    fact: bool,
    waiting: VecDeque<(u32, u32)>,
    /// For each modality that needs all its steps: how many are left.
    left: BTreeMap<u32, Vec<u32>>,
    order: Option<&'w mut Order>,
    clock: u32,
}

impl<'a> Solver<'a> {
    pub(super) fn new(equations: &'a Equations, moves: &'a Moves<'a>, observer: &'a mut dyn Observer) -> Self {
        let parts = equations.parts.len();
        Self {
            equations,
            graph: moves.graph,
            moves,
            observer,
            values: vec![StateSet::default(); parts],
            is_computed: vec![false; parts],
            facts: 0,
        }
    }

    /// The value of a part that was computed.
    pub(super) fn value(&self, part: u32, state: u32) -> bool {
        match self.equations.parts[part as usize].kind {
            Kind::Atom(index, is_negated) => self.graph.proposition(index).contains(state) != is_negated,
            _ => self.values[part as usize].contains(state),
        }
    }

    /// A set of states, and whether a part has a value in those that are in it, or in the others.
    fn with_value(&self, part: u32, value: bool) -> (StateSet, bool) {
        match self.equations.parts[part as usize].kind {
            Kind::Atom(index, is_negated) => (self.graph.proposition(index).clone(), value != is_negated),
            _ => (self.values[part as usize].clone(), value),
        }
    }

    /// Puts another value in place of that of a fixpoint.
    pub(super) fn suppose(&mut self, fixpoint: u32, value: StateSet) {
        self.values[fixpoint as usize] = value;
    }

    /// Computes a closed part, and what it is made of.
    pub(super) fn compute(&mut self, part: u32) -> ControlFlow<Stop> {
        if std::mem::replace(&mut self.is_computed[part as usize], true) {
            return ControlFlow::Continue(());
        }
        let equations = self.equations;
        let of = &equations.parts[part as usize];
        if let Some(twin) = of.twin {
            self.compute(twin)?;
            self.values[part as usize] = self.values[twin as usize].clone();
            return ControlFlow::Continue(());
        }
        let steps = match of.kind {
            Kind::Atom(..) => return ControlFlow::Continue(()),
            Kind::Fixpoint { .. } => return self.solve(part, None),
            Kind::And | Kind::Or => None,
            Kind::Some(steps) | Kind::Every(steps) => Some(steps),
        };
        for &child in &of.children {
            self.compute(child)?;
        }
        let mut set = StateSet::new(self.graph.len(), false);
        for state in 0..self.graph.len() {
            if u64::from(state).is_multiple_of(BATCH) {
                self.ask()?;
            }
            let value = match steps {
                None if of.kind == Kind::And => of.children.iter().all(|&child| self.value(child, state)),
                None => of.children.iter().any(|&child| self.value(child, state)),
                Some(steps) => {
                    let mut ends = self.moves.successors(steps, state);
                    match of.kind {
                        Kind::Some(_) => ends.any(|end| self.value(of.children[0], end)),
                        _ => ends.all(|end| self.value(of.children[0], end)),
                    }
                }
            };
            set.put(state, value);
        }
        self.values[part as usize] = set;
        ControlFlow::Continue(())
    }

    /// Computes a block from its beginning, given what is around it; `order` hears when each fact was found.
    pub(super) fn solve(&mut self, first: u32, order: Option<&mut Order>) -> ControlFlow<Stop> {
        let equations = self.equations;
        let block = equations.block(first);
        let fact = block.least;
        let states = self.graph.len();
        let mut work = Work { first, fact, waiting: VecDeque::new(), left: BTreeMap::new(), order, clock: 0 };
        for &part in block.members.iter().chain(&block.inner) {
            self.values[part as usize] = StateSet::new(states, !fact);
            if let Some(order) = &mut work.order {
                order.insert(part, vec![NEVER; states as usize]);
            }
        }
        for &part in &block.members {
            let needs_all = match equations.parts[part as usize].kind {
                Kind::Every(steps) if fact => steps,
                Kind::Some(steps) if !fact => steps,
                _ => continue,
            };
            let left: Vec<u32> = (0..states).map(|state| self.moves.count(needs_all, state)).collect();
            for (state, _) in left.iter().enumerate().filter(|(_, left)| **left == 0) {
                self.found(&mut work, part, state as u32);
            }
            work.left.insert(part, left);
        }
        for &part in &block.given {
            if equations.parts[part as usize].is_closed {
                self.compute(part)?;
            }
        }
        for &part in &block.given {
            let (states, is_in) = self.with_value(part, fact);
            for state in states.iter(is_in) {
                self.tell(&mut work, part, state);
                self.count()?;
            }
        }
        loop {
            while let Some((part, state)) = work.waiting.pop_front() {
                self.tell(&mut work, part, state);
                self.count()?;
            }
            for &inner in &block.inner {
                let before = self.values[inner as usize].clone();
                self.solve(inner, None)?;
                work.clock = work.clock.saturating_add(1);
                let (states, is_in) = self.with_value(inner, fact);
                for state in states.iter(is_in) {
                    if before.contains(state) != fact {
                        work.note(inner, state);
                        self.tell(&mut work, inner, state);
                        self.count()?;
                    }
                }
            }
            if work.waiting.is_empty() {
                return ControlFlow::Continue(());
            }
        }
    }

    /// One more fact was told.
    fn count(&mut self) -> ControlFlow<Stop> {
        self.facts += 1;
        if self.facts.is_multiple_of(BATCH) { self.ask() } else { ControlFlow::Continue(()) }
    }

    fn ask(&mut self) -> ControlFlow<Stop> {
        self.observer.progress(self.graph.last())
    }

    /// A part of the block has its final value in a state.
    fn found(&mut self, work: &mut Work<'_>, part: u32, state: u32) {
        let values = &mut self.values[part as usize];
        if values.contains(state) != work.fact {
            values.put(state, work.fact);
            work.clock = work.clock.saturating_add(1);
            work.note(part, state);
            work.waiting.push_back((part, state));
        }
    }

    /// Tells what is made of a part, in this block, that it has its final value in a state.
    fn tell(&mut self, work: &mut Work<'_>, part: u32, state: u32) {
        let (equations, moves) = (self.equations, self.moves);
        for &parent in &equations.parts[part as usize].parents {
            let of = &equations.parts[parent as usize];
            if of.block != Some(work.first) {
                continue;
            }
            match of.kind {
                Kind::Fixpoint { .. } => self.found(work, parent, state),
                Kind::And | Kind::Or => {
                    let needs_all = (of.kind == Kind::And) == work.fact;
                    if !needs_all || of.children.iter().all(|&child| self.value(child, state) == work.fact) {
                        self.found(work, parent, state);
                    }
                }
                Kind::Some(steps) | Kind::Every(steps) => {
                    for start in moves.predecessors(steps, state) {
                        if work.is_enough(parent, start) {
                            self.found(work, parent, start);
                        }
                    }
                }
                Kind::Atom(..) => {}
            }
        }
    }
}

impl Work<'_> {
    /// Notes when a fact was found.
    fn note(&mut self, part: u32, state: u32) {
        let clock = self.clock;
        if let Some(order) = self.order.as_mut().and_then(|order| order.get_mut(&part)) {
            order[state as usize] = clock;
        }
    }

    /// Whether one more step of a modality decides it.
    fn is_enough(&mut self, part: u32, state: u32) -> bool {
        let Some(left) = self.left.get_mut(&part) else { return true };
        left[state as usize] -= 1;
        left[state as usize] == 0
    }
}
