//! k-induction: a second solver looks at runs that begin anywhere.
//!
//! After Sheeran, Singh and Stålmarck, "Checking Safety Properties Using Induction and a SAT-Solver" (2000): if no run of k + 1
//! different states without the goal leads to it, and none of up to k steps from the start does, it cannot be reached. States
//! are required to differ only where a solution has two alike.

use super::bmc::{Answer, Search};
use super::circuit::{Literal, Rule};
use super::unrolling::Unrolling;
use crate::attempt::Attempt;

/// An attempt at an inductive proof is given up after so many conflicts, to be made again a step further.
const MOST_CONFLICTS: i32 = 20_000;

impl Search<'_, '_, '_> {
    /// Tries to prove that open goals cannot be reached, given that none is within this depth.
    pub(super) fn prove(&mut self, depth: u32) -> Attempt<()> {
        let open = self.open();
        // What is not proved soon is tried less often: it takes as long as the search itself.
        let is_time = depth < 8 || depth.is_multiple_of(8);
        let Some(step) = self.step.as_mut().filter(|_| is_time && !open.is_empty()) else { return Ok(()) };
        let steps = if self.watch.keeps(Rule::Base) { depth + 1 } else { depth + 2 };
        while step.frames.len() <= steps as usize {
            step.extend()?;
        }
        for goal in open {
            let mut assumed = vec![step.last().goal(self.goals[goal])?];
            for frame in step.frames.iter().rev().skip(1).filter(|_| self.watch.keeps(Rule::First)) {
                assumed.push(frame.goal(self.goals[goal])?.negated());
            }
            if step.has_no_solution(&assumed)? {
                self.answers[goal] = Answer::Proved;
                self.proved_at = Some(steps);
            }
        }
        Ok(())
    }
}

impl Unrolling<'_, '_, '_> {
    /// Whether no run of different states is a solution. Where that takes too long, it is not known.
    fn has_no_solution(&self, assumed: &[Literal]) -> Attempt<bool> {
        loop {
            match self.circuit.solve(assumed, Some(MOST_CONFLICTS))? {
                Some(false) => return Ok(true),
                None => return Ok(false),
                Some(true) => {}
            }
            let (states, claim) = (self.states(), self.last().claim());
            let mut has_twins = false;
            for (later, state) in states.iter().enumerate() {
                let Some(earlier) = states[..later].iter().position(|other| other == state) else { continue };
                self.frames[later].require_other(&self.frames[earlier])?;
                has_twins = true;
            }
            let is_refuted = claim.map_or(Ok(false), |state| self.last().refute(&state))?;
            if !is_refuted && (!has_twins || !self.circuit.keeps(Rule::Different)) {
                return Ok(false);
            }
        }
    }
}
