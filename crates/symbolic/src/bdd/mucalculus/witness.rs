//! A witness: a path that shows why a formula is true, as far as one path can: the walk of the explicit side, along sets.
//!
//! A least fixpoint is entered with the rings of states that it needed 1, 2, … rounds for, and goes on within the ring
//! before that of the state it is in; so nothing is put off forever. What a part means is then asked of single states, and
//! the steps are those of the interpreter.

use std::collections::BTreeMap;

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_exec::equations::{Kind, Meant};
use birk_ir::{Step, Trace};

use super::Evaluation;
use crate::attempt::Attempt;
use crate::bdd::diagram::Set;

/// A run that has not come back after so many steps is cut off there.
const MOST_STEPS: usize = 10_000;

struct Walk<'w, 's, 'a> {
    evaluation: &'w mut Evaluation<'s, 'a>,
    model: Interpreter<'a>,
    state: Vec<u32>,
    trace: Trace,
    /// The fixpoints that may be come back to: fixpoint, state, position in the run.
    open: Vec<(u32, Vec<u32>, usize)>,
    /// Of least fixpoints: what they were after each round, given the fixpoints on which they depend.
    rings: BTreeMap<u32, (Vec<Set>, Vec<Set>)>,
}

/// Explains that the formula is true in a state.
pub(super) fn walk(evaluation: &mut Evaluation<'_, '_>, from: Vec<u32>) -> Attempt<Trace> {
    evaluation.goes_on = false;
    let model = Interpreter::new(evaluation.search.encoding.program, &[]);
    let trace = Trace::default();
    let mut walk = Walk { evaluation, model, state: from, trace, open: Vec::new(), rings: BTreeMap::new() };
    let mut at = Some(0);
    while let Some(part) = at.filter(|_| walk.trace.steps.len() <= MOST_STEPS) {
        let part = walk.evaluation.equations.computed_for(part);
        at = walk.next(part)?;
    }
    Ok(walk.trace)
}

impl Walk<'_, '_, '_> {
    /// What explains that a part is true in the state; the step to the next state may be taken.
    fn next(&mut self, part: u32) -> Attempt<Option<u32>> {
        let equations = self.evaluation.equations;
        let of = &equations.parts[part as usize];
        if of.is_closed && !of.is_modal {
            return Ok(None);
        }
        match of.kind {
            Kind::Atom(..) => Ok(None),
            Kind::Fixpoint { least } => self.unfold(part, least),
            Kind::Or => {
                let state = self.state.clone();
                for &child in &of.children {
                    if self.is_true(part, child, &state)? {
                        return Ok(Some(child));
                    }
                }
                unreachable!("one of the parts is true")
            }
            Kind::And => {
                // What comes back to a fixpoint goes on; otherwise anything that is about steps.
                let promise = |&child: &u32| match &equations.parts[child as usize] {
                    _ if child <= part => 3,
                    open if !open.is_closed => 2,
                    closed => u8::from(closed.is_modal),
                };
                let best = of.children.iter().copied().rev().max_by_key(promise);
                Ok(best.filter(|child| promise(child) > 0))
            }
            Kind::Some(_) | Kind::Every(_) => self.step(part),
        }
    }

    /// Goes into a fixpoint, unless the run has come back to it: then it repeats from there.
    fn unfold(&mut self, part: u32, least: bool) -> Attempt<Option<u32>> {
        let of = &self.evaluation.equations.parts[part as usize];
        self.open.retain(|&(other, ..)| !(part + 1..of.end).contains(&other));
        if least {
            self.descend(part)?;
            return Ok(Some(of.children[0]));
        }
        let here = self.trace.steps.len();
        let before = self.open.iter().find(|(other, state, _)| *other == part && *state == self.state);
        match before.map(|(.., position)| *position) {
            Some(position) => {
                let is_loop = position < here || self.is_stuck();
                self.trace.loop_start = is_loop.then_some(position);
                Ok(None)
            }
            None => {
                self.open.push((part, self.state.clone(), here));
                let value = self.evaluation.value(part)?;
                self.evaluation.fixpoints[part as usize] = value;
                Ok(Some(of.children[0]))
            }
        }
    }

    /// From here on a least fixpoint is what it was before it had the state in it.
    fn descend(&mut self, part: u32) -> Attempt<()> {
        let evaluation = &mut *self.evaluation;
        let depends = &evaluation.depends[part as usize];
        let given: Vec<Set> = depends.iter().map(|&outer| evaluation.fixpoints[outer as usize].clone()).collect();
        let nothing = vec![evaluation.bottom(true)];
        let (_, mut rings) =
            self.rings.remove(&part).filter(|(then, _)| *then == given).unwrap_or((given.clone(), nothing));
        let is_in =
            |evaluation: &Evaluation<'_, '_>, ring: &Set| evaluation.search.encoding.contains(ring, &self.state);
        while !is_in(evaluation, &rings[rings.len() - 1]) {
            evaluation.fixpoints[part as usize] = rings[rings.len() - 1].clone();
            rings.push(evaluation.child(part, 0)?);
            evaluation.rest()?;
            assert!(rings[rings.len() - 1] != rings[rings.len() - 2], "the state is in the fixpoint");
        }
        let round = rings.partition_point(|ring| !is_in(evaluation, ring));
        evaluation.fixpoints[part as usize] = rings[round - 1].clone();
        self.rings.insert(part, (given, rings));
        Ok(())
    }

    /// Takes a step, where one is enough, or where there is but one.
    fn step(&mut self, part: u32) -> Attempt<Option<u32>> {
        let of = &self.evaluation.equations.parts[part as usize];
        let child = of.children[0];
        let (Kind::Some(steps) | Kind::Every(steps)) = of.kind else { unreachable!("it is a modality") };
        if self.is_stuck() {
            // It stays where it is, or there is nothing to explain.
            let stays = self.evaluation.equations.steps[steps].includes_staying();
            return Ok(stays.then_some(child));
        }
        let ends = self.ends(steps, &self.state.clone());
        let taken = match of.kind {
            Kind::Every(_) => ends.first().filter(|(_, end)| ends.iter().all(|(_, other)| other == end)).cloned(),
            _ => {
                let mut fitting = Vec::new();
                for (step, end) in ends {
                    if self.is_true(part, child, &end)? {
                        fitting.push((step, end));
                    }
                }
                // A step that closes the run is as good as any.
                let closes = |end: &Vec<u32>| self.open.iter().any(|(other, state, _)| *other == child && state == end);
                let closing = fitting.iter().position(|(_, end)| closes(end));
                Some(fitting.swap_remove(closing.unwrap_or(0)))
            }
        };
        let Some((step, end)) = taken else { return Ok(None) };
        self.trace.steps.push(step);
        self.state = end;
        Ok(Some(child))
    }

    /// Whether a child of a part is true in a state, given the fixpoints around it.
    fn is_true(&mut self, part: u32, child: u32, state: &[u32]) -> Attempt<bool> {
        let equations = self.evaluation.equations;
        if child <= part {
            return Ok(self.evaluation.search.encoding.contains(&self.evaluation.fixpoints[child as usize], state));
        }
        let of = &equations.parts[child as usize];
        let (needs_all, steps) = match of.kind {
            Kind::Atom(index, is_negated) => {
                let truth = &self.evaluation.propositions[index];
                return Ok(self.evaluation.search.encoding.contains(truth, state) != is_negated);
            }
            Kind::Fixpoint { .. } => {
                let value = self.evaluation.value(child)?;
                return Ok(self.evaluation.search.encoding.contains(&value, state));
            }
            Kind::And | Kind::Or => (of.kind == Kind::And, None),
            Kind::Some(steps) => (false, Some(steps)),
            Kind::Every(steps) => (true, Some(steps)),
        };
        let asked: Vec<(u32, Vec<u32>)> = match steps {
            None => of.children.iter().map(|&part| (part, state.to_vec())).collect(),
            Some(steps) => {
                let mut ends: Vec<Vec<u32>> = self.ends(steps, state).into_iter().map(|(_, end)| end).collect();
                if self.evaluation.equations.steps[steps].includes_staying() && self.is_stuck_in(state) {
                    ends.push(state.to_vec());
                }
                ends.into_iter().map(|end| (of.children[0], end)).collect()
            }
        };
        for (part, state) in asked {
            if self.is_true(child, part, &state)? != needs_all {
                return Ok(!needs_all);
            }
        }
        Ok(needs_all)
    }

    /// Where the steps that are meant lead within what was reached.
    fn ends(&self, steps: usize, state: &[u32]) -> Vec<(Step, Vec<u32>)> {
        let meant = &self.evaluation.equations.steps[steps];
        let mut batch = Successors::new(self.model.words());
        self.model.successors(state, &mut batch);
        let reached = |end: &[u32]| self.evaluation.search.encoding.contains(&self.evaluation.reached, end);
        let is_promised = |i: usize| meant.includes(Some(batch.step(i).transition));
        let is_idle = matches!(meant, Meant::Fair(_)) && !(0..batch.len()).any(is_promised);
        let ends = (0..batch.len()).filter(|&i| is_idle || is_promised(i));
        let ends = ends.filter(|&i| !self.model.is_fault(batch.state(i)) && reached(batch.state(i)));
        ends.map(|i| (batch.step(i), batch.state(i).to_vec())).collect()
    }

    fn is_stuck(&self) -> bool {
        self.is_stuck_in(&self.state)
    }

    fn is_stuck_in(&self, state: &[u32]) -> bool {
        self.evaluation.search.encoding.contains(&self.evaluation.stuck, state)
    }
}
