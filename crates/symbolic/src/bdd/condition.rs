//! Conditions that may ask whether a state is stuck.
//!
//! Where no transition is enabled is often a small set among the states that are reached, and a huge diagram over all
//! others: it says of every thread, wherever it might be and whatever its channels might hold, that it cannot go on. So
//! it is asked of the states at hand. Where each transition is enabled is known beforehand; of these, as many are
//! joined as stay small.

use birk_ir::Expr;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Diagrams, Set};
use crate::bdd::encoding::Encoding;
use crate::bdd::relation::Relation;
use crate::bitvector::Algebra;
use crate::expression::Scene;

/// Diagrams of transitions are joined if they have no more nodes than this together.
pub(crate) const FEW_NODES: usize = 1 << 12;

/// A condition, by what is true of stuck states and of others.
pub(crate) struct Condition {
    of_stuck: Set,
    of_others: Set,
}

impl Condition {
    pub(crate) fn new(encoding: &Encoding<'_>, condition: &Expr) -> Attempt<Self> {
        let given = |stuck: &Set| Scene::with_stuck(encoding, stuck).truth(condition);
        let (yes, no) = (&encoding.diagrams.yes, &encoding.diagrams.no);
        Ok(Self { of_stuck: given(yes)?, of_others: given(no)? })
    }

    /// Whether it asks.
    pub(crate) fn asks(&self) -> bool {
        self.of_stuck != self.of_others
    }

    /// Where it is true, if it does not ask.
    pub(crate) fn plain(&self) -> &Set {
        &self.of_others
    }

    /// Where it is true, if this is where states are stuck.
    pub(crate) fn given(&self, diagrams: &Diagrams, stuck: &Set) -> Attempt<Set> {
        diagrams.ite(stuck, &self.of_stuck, &self.of_others)
    }

    /// Where it may be true, if some bits are forgotten.
    pub(crate) fn without(&self, diagrams: &Diagrams, relation: &Relation, forgotten: &Set) -> Attempt<Set> {
        let plainly = diagrams.exists(&self.of_others, forgotten)?;
        if !self.asks() {
            return Ok(plainly);
        }
        let mut stuck = diagrams.exists(&self.of_stuck, forgotten)?;
        for enabled in &relation.enabled {
            // What is left out makes it true in more places, and that is right, too.
            if diagrams.size(&stuck) > FEW_NODES {
                break;
            }
            stuck = diagrams.and(&stuck, &diagrams.exists(&diagrams.not(enabled)?, forgotten)?)?;
        }
        diagrams.or(&plainly, &stuck)
    }

    /// Conditions that are false of one state; one of them would have to be true for this one to be.
    pub(crate) fn failing(&self, diagrams: &Diagrams, relation: &Relation, state: &Set) -> Attempt<Vec<Set>> {
        let mut failing = vec![self.of_others.clone()];
        if self.asks() && diagrams.and(state, &self.of_stuck)? == diagrams.no {
            failing.push(self.of_stuck.clone());
        } else if self.asks() {
            for enabled in &relation.enabled {
                if diagrams.and(state, enabled)? != diagrams.no {
                    failing.push(diagrams.not(enabled)?);
                }
            }
        }
        Ok(failing)
    }

    /// The states among these of which it is true.
    pub(crate) fn among(&self, diagrams: &Diagrams, relation: &Relation, states: &Set) -> Attempt<Set> {
        let plainly = diagrams.and(states, &self.of_others)?;
        if !self.asks() {
            return Ok(plainly);
        }
        // Only for these it makes a difference.
        let differ = diagrams.and(states, &diagrams.xor(&self.of_stuck, &self.of_others)?)?;
        let stuck = stuck_among(diagrams, relation, &differ)?;
        diagrams.xor(&plainly, &stuck)
    }
}

/// The states among these in which there is no step, taken or cut.
pub(crate) fn stuck_among(diagrams: &Diagrams, relation: &Relation, states: &Set) -> Attempt<Set> {
    let mut stuck = states.clone();
    for enabled in &relation.enabled {
        if stuck == diagrams.no {
            break;
        }
        stuck = diagrams.minus(&stuck, enabled)?;
    }
    Ok(stuck)
}

/// Neighbours joined, again and again, as long as they have no more nodes together than `most`.
pub(crate) fn joined(diagrams: &Diagrams, mut parts: Vec<Set>, most: usize) -> Attempt<Vec<Set>> {
    loop {
        let mut next: Vec<Set> = Vec::new();
        for pair in parts.chunks(2) {
            match pair {
                [a, b] if diagrams.size(a) + diagrams.size(b) <= most => next.push(diagrams.or(a, b)?),
                _ => next.extend_from_slice(pair),
            }
        }
        if next.len() == parts.len() {
            return Ok(next);
        }
        parts = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdd::testing;
    use birk_engine::{Model as _, Successors};
    use birk_exec::Interpreter;
    use birk_ir::Program;

    /// Whether explicit search finds no step in a state.
    fn is_stuck(program: &Program, state: &[u32]) -> bool {
        let model = Interpreter::new(program, &[]);
        let mut successors = Successors::new(model.words());
        model.successors(state, &mut successors);
        successors.is_empty() && successors.cut == 0
    }

    /// States that are stuck by the one account and not by the other, and those that are by both; `bend` changes what is enabled.
    fn compared(most: usize, bend: fn(&mut Vec<Set>)) -> (usize, usize) {
        let (mut wrong, mut right) = (0, 0);
        for model in testing::MODELS {
            testing::with(model, |encoding, relation, faulty, _| {
                let (diagrams, program) = (&encoding.diagrams, encoding.program);
                let sets = relation.events.iter().map(|event| event.possible(diagrams));
                let mut parts = sets.collect::<Attempt<Vec<Set>>>()?;
                if !relation.cuts.is_empty() {
                    return Ok(());
                }
                let all = parts.len();
                bend(&mut parts);
                relation.enabled = joined(diagrams, parts, most)?;
                match most {
                    0 => assert_eq!(relation.enabled.len(), all),
                    usize::MAX => assert_eq!(relation.enabled.len(), 1),
                    _ => {}
                }
                for state in testing::reachable(program, 300) {
                    let single = diagrams.minus(&encoding.single(&state)?, faulty)?;
                    if single == diagrams.no {
                        continue;
                    }
                    let by_diagrams = stuck_among(diagrams, relation, &single)? == single;
                    let asked = Condition::new(encoding, &Expr::Stuck.negate())?;
                    assert_eq!(asked.among(diagrams, relation, &single)? != single, by_diagrams);
                    match (is_stuck(program, &state), by_diagrams) {
                        (true, true) => right += 1,
                        (false, false) => {}
                        _ => wrong += 1,
                    }
                }
                Ok(())
            });
        }
        (wrong, right)
    }

    #[test]
    fn stuck_states_are_those_without_a_step_however_transitions_are_joined() {
        for most in [0, 40, usize::MAX] {
            let (wrong, right) = compared(most, |_| {});
            assert!(wrong == 0 && right > 0, "{wrong} wrong, {right} right with {most} nodes");
        }
        let (wrong, _) = compared(40, |parts| _ = parts.pop());
        assert!(wrong > 0, "a transition that is left out is noticed");
    }
}
