//! The part of the state graph around a run, expanded where somebody asks, and no further than the work allows.

use std::collections::HashMap;
use std::rc::Rc;

use birk_engine::{Model as _, Successors};
use birk_ir::{Goal, Program, Step};

use crate::interpreter::Interpreter;

/// Words of a state that cost as much as one step.
const WORDS: u64 = 16;

/// The work that was allowed is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfWork;

/// States by number, and the nodes of those that were expanded.
pub(super) struct Graph<'p> {
    pub(super) program: &'p Program,
    model: Interpreter<'p>,
    batch: Successors,
    left: u64,
    states: Vec<Rc<[u32]>>,
    numbers: HashMap<Rc<[u32]>, usize>,
    nodes: Vec<Option<Rc<Node>>>,
}

/// A state with its steps.
pub(super) struct Node {
    pub(super) is_goal: bool,
    /// It has no step because `assume` prunes all of them: no execution goes through it.
    pub(super) is_pruned: bool,
    pub(super) is_fault: bool,
    pub(super) steps: Vec<(Step, usize)>,
}

impl<'p> Graph<'p> {
    pub(super) fn new(program: &'p Program, goal: &Goal) -> Self {
        let model = Interpreter::new(program, std::slice::from_ref(goal));
        let batch = Successors::in_parts(model.words());
        let (states, numbers, nodes) = (Vec::new(), HashMap::new(), Vec::new());
        Self { program, model, batch, left: 0, states, numbers, nodes }
    }

    /// Allows so much more work.
    pub(super) fn give(&mut self, work: u64) {
        self.left += work;
    }

    /// Does so much work, if it is allowed.
    pub(super) fn pay(&mut self, work: u64) -> Result<(), OutOfWork> {
        let left = self.left.checked_sub(work);
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(OutOfWork)
    }

    /// The number of a state.
    pub(super) fn number(&mut self, state: &[u32]) -> usize {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        let state: Rc<[u32]> = state.into();
        self.numbers.insert(Rc::clone(&state), self.states.len());
        self.states.push(state);
        self.nodes.push(None);
        self.states.len() - 1
    }

    pub(super) fn state(&self, number: usize) -> &[u32] {
        &self.states[number]
    }

    /// The steps of a state.
    pub(super) fn node(&mut self, number: usize) -> Result<Rc<Node>, OutOfWork> {
        self.pay(1)?;
        if let Some(node) = &self.nodes[number] {
            return Ok(Rc::clone(node));
        }
        let state = Rc::clone(&self.states[number]);
        let is_fault = self.model.is_fault(&state);
        self.batch.clear();
        let cut = self.batch.cut;
        if !is_fault {
            self.model.successors(&state, &mut self.batch);
        }
        // So many that nobody would read on.
        if self.batch.take_rest().is_some() {
            return Err(OutOfWork);
        }
        self.pay((1 + self.batch.len() as u64) * (1 + state.len() as u64 / WORDS))?;
        let is_stuck = !is_fault && self.batch.is_stuck_since(0, cut);
        let is_goal = self.model.evaluate(&state, is_stuck).contains(0);
        let is_pruned = self.batch.is_empty() && !is_stuck && !is_fault;
        let batch = std::mem::replace(&mut self.batch, Successors::in_parts(self.model.words()));
        let steps = (0..batch.len()).map(|at| (batch.step(at), self.number(batch.state(at)))).collect();
        self.batch = batch;
        let node = Rc::new(Node { is_goal, is_pruned, is_fault, steps });
        self.nodes[number] = Some(Rc::clone(&node));
        Ok(node)
    }
}
