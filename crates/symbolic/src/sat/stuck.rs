//! Where no step is possible, as clauses.
//!
//! Where choices decide whether a step has an outcome, "none" speaks of all their values, and clauses can only ask for some. So a step
//! that is possible must have such values, but one may be taken for impossible until a solution does so although there are values;
//! these are then ruled in for all frames. (After Janota, Klieber, Marques-Silva and Clarke, "Solving QBF with
//! Counterexample Guided Refinement", 2012.)

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use birk_ir::{Op, Transition};

use super::circuit::{Literal, Rule};
use super::unrolling::{Frame, Value};
use crate::attempt::Attempt;
use crate::bitvector::{Algebra, Arithmetic};
use crate::ends::{Choosing as _, assign, is_within, name};
use crate::expression::Scene;

/// Values that give transitions an outcome in some state, by the number of the transition; shared by all frames of an unrolling.
pub(crate) type Known = Rc<RefCell<BTreeMap<usize, BTreeSet<Vec<i64>>>>>;

/// What a frame says about being stuck.
#[derive(Default)]
pub(crate) struct Stuck {
    said: OnceCell<Said>,
}

struct Said {
    stuck: Literal,
    /// Transitions for which choices decide, and whether they are possible.
    unsure: Vec<(usize, Literal)>,
}

/// How values are chosen.
enum Choices<'v> {
    Any,
    These(std::slice::Iter<'v, i64>),
}

impl<'c, 'o, 'p> Frame<'c, 'o, 'p> {
    /// Where no step is possible, taken or cut.
    pub(super) fn stuck(&self) -> Attempt<Literal> {
        if let Some(said) = self.stuck.said.get() {
            return Ok(said.stuck);
        }
        let (mut possible, mut unsure) = (Vec::new(), Vec::new());
        for (number, transition) in self.program.transitions.iter().enumerate() {
            let (path, mut scene) = self.enabled(transition)?;
            if path == *self.circuit.no() {
                continue;
            }
            let goes_on = self.goes_on(&transition.ops, &mut scene, &mut Choices::Any)?;
            let here = self.circuit.and(&path, &goes_on)?;
            if !depends_on_choices(transition) {
                possible.push(here);
                continue;
            }
            let is_possible = self.circuit.free();
            self.circuit.require(&[is_possible.negated(), here]);
            possible.push(is_possible);
            unsure.push((number, is_possible));
        }
        let stuck = self.circuit.any(possible)?.negated();
        for &(number, possible) in &unsure {
            let known = self.known.borrow().get(&number).cloned().unwrap_or_default();
            known.iter().try_for_each(|values| self.rule_in(number, values, possible))?;
        }
        let said = self.stuck.said.get_or_init(|| Said { stuck, unsure });
        Ok(said.stuck)
    }

    /// The state of the solution that was found last, if that takes it for stuck, and there might be a step.
    pub(crate) fn claim(&self) -> Option<Vec<Vec<i64>>> {
        let said = self.stuck.said.get().filter(|said| !said.unsure.is_empty() && self.circuit.keeps(Rule::Stuck))?;
        self.circuit.value(said.stuck).then(|| self.numbers())
    }

    /// Whether there is a step in that state; if so, this is not overlooked again.
    pub(crate) fn refute(&self, state: &[Vec<i64>]) -> Attempt<bool> {
        let said = self.stuck.said.get().expect("it was claimed");
        let frame = self.with_numbers(state);
        let mut is_refuted = false;
        for &(number, possible) in &said.unsure {
            let transition = &self.program.transitions[number];
            let (path, mut scene) = frame.enabled(transition)?;
            let mut values = Vec::new();
            if path == *self.circuit.no() || !frame.has_values(&transition.ops, &mut scene, &mut values)? {
                continue;
            }
            self.rule_in(number, &values, possible)?;
            self.known.borrow_mut().entry(number).or_default().insert(values);
            is_refuted = true;
        }
        Ok(is_refuted)
    }

    /// Where these values give a transition an outcome, it is possible.
    fn rule_in(&self, number: usize, values: &[i64], possible: Literal) -> Attempt<()> {
        let transition = &self.program.transitions[number];
        let (path, mut scene) = self.enabled(transition)?;
        let goes_on = self.goes_on(&transition.ops, &mut scene, &mut Choices::These(values.iter()))?;
        self.circuit.require(&[path.negated(), goes_on.negated(), possible]);
        Ok(())
    }

    /// Where operations have an outcome, for some of the values that they may choose, or for these.
    fn goes_on(&self, ops: &[Op], scene: &mut Scene<'_, Self>, choices: &mut Choices<'_>) -> Attempt<Literal> {
        let circuit = self.circuit;
        let Some((op, rest)) = ops.split_first().filter(|_| has_requirement(ops)) else { return Ok(*circuit.yes()) };
        match op {
            Op::Assign(place, value) => {
                assign(scene, place, value)?;
                self.goes_on(rest, scene, choices)
            }
            Op::Let(local, value) => {
                name(scene, *local, value)?;
                self.goes_on(rest, scene, choices)
            }
            // A check that fails is an outcome, and what is cut is no deadlock.
            Op::Check(condition, _) | Op::Assume(condition) => {
                let condition = scene.truth(condition)?;
                circuit.or(&condition.negated(), &self.goes_on(rest, scene, choices)?)
            }
            Op::Require(condition) => {
                let condition = scene.truth(condition)?;
                circuit.and(&condition, &self.goes_on(rest, scene, choices)?)
            }
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                let chosen = match choices {
                    Choices::Any => self.any_between(&lo, &hi),
                    Choices::These(values) => values.next().map(|&value| circuit.literal(value)),
                };
                // Behind a check that fails nothing was chosen.
                let Some(chosen) = chosen else { return Ok(*circuit.no()) };
                let within = is_within(self.circuit, &chosen, &lo, &hi)?;
                scene.bind(*local, chosen);
                circuit.and(&within, &self.goes_on(rest, scene, choices)?)
            }
        }
    }

    /// Whether operations have an outcome where every variable is a number, and for which values.
    fn has_values(&self, ops: &[Op], scene: &mut Scene<'_, Self>, values: &mut Vec<i64>) -> Attempt<bool> {
        let Some((op, rest)) = ops.split_first().filter(|_| has_requirement(ops)) else { return Ok(true) };
        match op {
            Op::Assign(place, value) => assign(scene, place, value)?,
            Op::Let(local, value) => name(scene, *local, value)?,
            Op::Check(condition, _) | Op::Assume(condition) => {
                if scene.truth(condition)? == *self.circuit.no() {
                    return Ok(true);
                }
            }
            Op::Require(condition) => {
                if scene.truth(condition)? == *self.circuit.no() {
                    return Ok(false);
                }
            }
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                for value in self.number(&lo)..=self.number(&hi) {
                    self.circuit.look()?;
                    let mut scene = scene.clone();
                    scene.bind(*local, self.circuit.literal(value));
                    values.push(value);
                    if self.has_values(rest, &mut scene, values)? {
                        return Ok(true);
                    }
                    values.pop();
                }
                return Ok(false);
            }
        }
        self.has_values(rest, scene, values)
    }

    /// A value that is the same everywhere.
    fn number(&self, value: &Value) -> i64 {
        let bits = (0..64).map(|at| i64::from(value.bit(at) == self.circuit.yes()) << at);
        bits.fold(0, |all, bit| all | bit)
    }
}

/// Whether choices decide whether a transition has an outcome.
pub(crate) fn depends_on_choices(transition: &Transition) -> bool {
    let is_choice = |op: &Op| matches!(op, Op::Choose(..));
    transition.ops.iter().position(is_choice).is_some_and(|first| has_requirement(&transition.ops[first..]))
}

fn has_requirement(ops: &[Op]) -> bool {
    ops.iter().any(|op| matches!(op, Op::Require(_)))
}
