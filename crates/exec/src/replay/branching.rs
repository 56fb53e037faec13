//! What a run shows of a formula about branching: the formula is evaluated on the states of the run, where a step that
//! leaves it may lead to anything. Fixpoints are computed by their definition, over and over; nothing is shared with
//! the evaluator whose answer this checks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use birk_ir::{Branching, Program, Steps, TransitionId};

use super::{Replayed, is_stuck, possible};
use crate::interpreter::Interpreter;
use birk_engine::{Model as _, Successors};

/// What the states of a run say of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Whatever lies beside the run, it is true, or it is false.
    Whole(bool),
    /// It depends on what lies beside the run.
    Part,
}

impl Replayed {
    /// What the run shows of a formula in its first state.
    pub fn shows(&self, program: &Program, formula: &Branching) -> Shows {
        assert_numbered(formula);
        let states = Known::of(self, program);
        let evaluate = |beside| {
            let mut evaluation = Evaluation { states: &states, beside, sets: BTreeMap::new(), given: BTreeMap::new() };
            evaluation.prepare(formula);
            evaluation.value(formula, 0)
        };
        match (evaluate(false), evaluate(true)) {
            (true, _) => Shows::Whole(true),
            (_, false) => Shows::Whole(false),
            _ => Shows::Part,
        }
    }
}

/// The different states of a run, the first one first.
struct Known<'p> {
    model: Interpreter<'p>,
    states: Vec<Vec<u32>>,
    /// The steps of each: where they lead, if that is a state of the run.
    steps: Vec<Vec<(TransitionId, Option<usize>)>>,
    /// All transitions that can be taken in it, also those that then go wrong.
    possible: Vec<Vec<TransitionId>>,
    stuck: Vec<bool>,
}

impl<'p> Known<'p> {
    fn of(run: &Replayed, program: &'p Program) -> Self {
        let model = Interpreter::new(program, &[]);
        let mut numbers: HashMap<&[u32], usize> = HashMap::new();
        let mut states = Vec::new();
        for state in run.states.iter().filter(|state| !program.is_faulty(state)) {
            numbers.entry(state).or_insert_with(|| {
                states.push(state.clone());
                states.len() - 1
            });
        }
        let mut batch = Successors::in_parts(model.words());
        let mut steps = Vec::new();
        for state in &states {
            let mut taken = Vec::new();
            let _ = batch.each_part(&model, state, |part| {
                let real = (0..part.len()).filter(|&i| !program.is_faulty(part.state(i)));
                taken.extend(real.map(|i| (part.step(i).transition, numbers.get(part.state(i)).copied())));
                // Of the many outcomes of one step, most lead to states that are not known.
                taken.dedup();
                ControlFlow::<()>::Continue(())
            });
            steps.push(taken);
        }
        let possible = states.iter().map(|state| possible(&model, state)).collect();
        let stuck = states.iter().map(|state| is_stuck(&model, state)).collect();
        Self { model, states, steps, possible, stuck }
    }
}

struct Evaluation<'k> {
    states: &'k Known<'k>,
    /// What is said of states beside the run.
    beside: bool,
    /// The fixpoints, by number, so far.
    sets: BTreeMap<u32, Vec<bool>>,
    /// Those around each on which it depends, as they were when it was computed.
    given: BTreeMap<u32, Vec<(u32, Vec<bool>)>>,
}

impl Evaluation<'_> {
    /// Computes the fixpoints that a formula is made of.
    fn prepare(&mut self, formula: &Branching) {
        match formula {
            Branching::Atom(_) | Branching::Variable(_) => {}
            Branching::And(parts) | Branching::Or(parts) => {
                self.prepare(&parts.0);
                self.prepare(&parts.1);
            }
            Branching::Some(_, body) | Branching::Every(_, body) => self.prepare(body),
            Branching::Least(number, body) | Branching::Greatest(number, body) => {
                // Nothing has changed for it if they have not: fixpoints side by side would otherwise be computed anew in
                // every round of each other.
                let is_same = |given: &Vec<(u32, Vec<bool>)>| given.iter().all(|(outer, set)| self.sets[outer] == *set);
                if !self.given.get(number).is_some_and(is_same) {
                    self.compute(*number, body, matches!(formula, Branching::Greatest(..)));
                    let given = free(formula).into_iter().map(|outer| (outer, self.sets[&outer].clone())).collect();
                    self.given.insert(*number, given);
                }
            }
        }
    }

    /// The last states of a run are examined first: mostly a state depends on the next one.
    fn compute(&mut self, number: u32, body: &Branching, begin: bool) {
        self.sets.insert(number, vec![begin; self.states.states.len()]);
        loop {
            self.prepare(body);
            let mut is_same = true;
            for state in (0..self.states.states.len()).rev() {
                let value = self.value(body, state);
                let set = self.sets.get_mut(&number).expect("it was put there");
                is_same &= std::mem::replace(&mut set[state], value) == value;
            }
            if is_same {
                return;
            }
        }
    }

    fn value(&self, formula: &Branching, state: usize) -> bool {
        match formula {
            Branching::Atom(expr) => self.states.model.value(expr, &self.states.states[state]) != 0,
            Branching::Variable(number) | Branching::Least(number, _) | Branching::Greatest(number, _) => {
                self.sets[number][state]
            }
            Branching::And(parts) => self.value(&parts.0, state) && self.value(&parts.1, state),
            Branching::Or(parts) => self.value(&parts.0, state) || self.value(&parts.1, state),
            Branching::Some(steps, body) => self.ends(steps, state).any(|end| self.value_at(body, end)),
            Branching::Every(steps, body) => self.ends(steps, state).all(|end| self.value_at(body, end)),
        }
    }

    fn value_at(&self, formula: &Branching, end: Option<usize>) -> bool {
        end.map_or(self.beside, |end| self.value(formula, end))
    }

    fn ends<'s>(&'s self, steps: &'s Steps, state: usize) -> impl Iterator<Item = Option<usize>> + 's {
        let stays = matches!(steps, Steps::OrStay | Steps::Fair(_)) && self.states.stuck[state];
        let is_meant = move |id: &TransitionId| match steps {
            Steps::All | Steps::OrStay => true,
            Steps::Of(ids) => ids.contains(id),
            Steps::Fair(ids) => ids.contains(id) || !self.states.possible[state].iter().any(|id| ids.contains(id)),
        };
        let taken = self.states.steps[state].iter().filter(move |(id, _)| is_meant(id)).map(|(_, end)| *end);
        taken.chain(stays.then_some(Some(state)))
    }
}

/// Fixpoints are known by their numbers here.
fn assert_numbered(formula: &Branching) {
    let mut known: BTreeMap<u32, &Branching> = BTreeMap::new();
    formula.walk(&mut |part| {
        if let Branching::Least(number, _) | Branching::Greatest(number, _) = part {
            assert_eq!(*known.entry(*number).or_insert(part), part, "two fixpoints have the number {number}");
        }
    });
}

/// The outer fixpoints whose variables occur in it.
fn free(formula: &Branching) -> BTreeSet<u32> {
    let (mut bound, mut used) = (BTreeSet::new(), BTreeSet::new());
    formula.walk(&mut |part| match part {
        Branching::Least(number, _) | Branching::Greatest(number, _) => _ = bound.insert(*number),
        Branching::Variable(number) => _ = used.insert(*number),
        _ => {}
    });
    &used - &bound
}
