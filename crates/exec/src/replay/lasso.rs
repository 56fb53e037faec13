//! Runs that repeat: whether the loop closes, what a formula says of the run, who is kept waiting.
//!
//! A formula is evaluated on the states of the run, one part after the other; no automaton that a search has used is
//! looked at.

use birk_ir::{Formula, Program, ThreadId};

use super::{ReplayError, Replayed, is_stuck, possible};
use crate::automaton::Buchi;
use crate::interpreter::Interpreter;
use crate::product::Fairness;

/// How often a thread that does not move in the loop could have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// In every state of the loop.
    Always,
    /// In some states of the loop.
    Sometimes,
    /// In none.
    Never,
}

impl Replayed {
    /// How many different positions the run has: each has one successor, the last one goes back.
    pub fn positions(&self) -> usize {
        match self.loop_start {
            Some(start) if start < self.steps.len() => self.steps.len(),
            _ => self.states.len(),
        }
    }

    pub(super) fn next(&self, at: usize) -> usize {
        let last = self.positions() - 1;
        if at < last { at + 1 } else { self.loop_start.unwrap_or(last).min(last) }
    }

    /// Whether the run goes on forever: its last state is the one it goes back to, or one without any step.
    pub fn closes(&self, program: &Program) -> Result<(), ReplayError> {
        let misfit =
            |reason: &str| Err(ReplayError { step: self.steps.len().saturating_sub(1), reason: reason.into() });
        match self.loop_start {
            None => misfit("the trace has no loop"),
            Some(start) if start > self.steps.len() => misfit("the loop begins after the end"),
            Some(start) if start == self.steps.len() => {
                let stuck = is_stuck(&Interpreter::new(program, &[]), self.last()) && !program.is_faulty(self.last());
                if stuck { Ok(()) } else { misfit("the execution stutters in a state that has enabled steps") }
            }
            Some(start) if self.states[start] == self.last() => Ok(()),
            Some(_) => misfit("the last state is not the one that the loop returns to"),
        }
    }

    /// What the formula says of the run, at its beginning.
    pub fn satisfies(&self, program: &Program, formula: &Formula) -> bool {
        self.values(&Interpreter::new(program, &[]), formula)[0]
    }

    /// What the formula says at each position. What must come is false unless shown, what may stay is true unless
    /// refuted: twice around the loop decides.
    pub(super) fn values(&self, model: &Interpreter<'_>, formula: &Formula) -> Vec<bool> {
        let count = self.positions();
        let around = |begin: bool, rule: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![begin; count];
            for _ in 0..2 {
                for at in (0..count).rev() {
                    values[at] = rule(at, values[self.next(at)]);
                }
            }
            values
        };
        let two = |parts: &(Formula, Formula)| (self.values(model, &parts.0), self.values(model, &parts.1));
        match formula {
            Formula::Atom(expr) => self.states[..count].iter().map(|state| model.value(expr, state) != 0).collect(),
            Formula::Not(inner) => self.values(model, inner).into_iter().map(|value| !value).collect(),
            Formula::And(parts) => {
                let (a, b) = two(parts);
                a.into_iter().zip(b).map(|(a, b)| a && b).collect()
            }
            Formula::Or(parts) => {
                let (a, b) = two(parts);
                a.into_iter().zip(b).map(|(a, b)| a || b).collect()
            }
            Formula::Next(inner) => {
                let inner = self.values(model, inner);
                (0..count).map(|at| inner[self.next(at)]).collect()
            }
            Formula::Always(inner) => {
                let inner = self.values(model, inner);
                around(true, &|at, next| inner[at] && next)
            }
            Formula::Eventually(inner) => {
                let inner = self.values(model, inner);
                around(false, &|at, next| inner[at] || next)
            }
            Formula::Until(parts) => {
                let (a, b) = two(parts);
                around(false, &|at, next| b[at] || a[at] && next)
            }
            Formula::WeakUntil(parts) => {
                let (a, b) = two(parts);
                around(true, &|at, next| b[at] || a[at] && next)
            }
            Formula::Release(parts) => {
                let (a, b) = two(parts);
                around(true, &|at, next| b[at] && (a[at] || next))
            }
        }
    }

    /// Whether the run is one that an automaton accepts, for a property that was given as one.
    pub fn is_accepted(&self, program: &Program, automaton: &Buchi, propositions: &[birk_ir::Expr]) -> bool {
        let model = Interpreter::new(program, &[]);
        let count = self.positions();
        let letter = |state: &[u32]| {
            let bits = propositions.iter().enumerate().map(|(i, p)| u64::from(model.value(p, state) != 0) << i);
            bits.sum::<u64>()
        };
        let letters: Vec<u64> = self.states[..count].iter().map(|state| letter(state)).collect();
        let reach = |from: Vec<usize>| {
            let mut seen = vec![false; automaton.len() * count];
            let mut waiting = from;
            while let Some(node) = waiting.pop() {
                let (state, at) = (node / count, node % count);
                for edge in automaton.edges(state) {
                    let target = edge.target * count + self.next(at);
                    if automaton.labels().is_true(edge.label, letters[at])
                        && !std::mem::replace(&mut seen[target], true)
                    {
                        waiting.push(target);
                    }
                }
            }
            seen
        };
        let initial: Vec<usize> = automaton.initial().iter().map(|state| state * count).collect();
        let mut reached = reach(initial.clone());
        initial.iter().for_each(|&node| reached[node] = true);
        let signs = (0..reached.len()).filter(|&node| reached[node] && automaton.is_accepting(node / count));
        signs.into_iter().any(|node| reach(vec![node])[node])
    }

    /// Whether nobody is passed over in the loop who could go on in all of its states.
    pub fn is_fair(&self, program: &Program, fairness: &Fairness) -> Result<(), ReplayError> {
        match self.passed_over(program, fairness) {
            None => Ok(()),
            Some(i) => {
                let reason = format!("{} is continuously enabled but never scheduled", fairness.names[i]);
                Err(ReplayError { step: self.steps.len().saturating_sub(1), reason })
            }
        }
    }

    /// Whether nobody is passed over in the loop who could go on in one of its states.
    pub fn is_strongly_fair(&self, program: &Program, fairness: &Fairness) -> Result<(), ReplayError> {
        let states = self.loop_states();
        let enabled = states.iter().fold(0, |all, state| all | self.enabled(program, fairness, state));
        let unmet = enabled & !self.met(fairness);
        match (0..fairness.names.len()).find(|&i| unmet >> i & 1 == 1) {
            None => Ok(()),
            Some(i) => {
                let reason = format!("{} is enabled again and again but never scheduled", fairness.names[i]);
                Err(ReplayError { step: self.steps.len().saturating_sub(1), reason })
            }
        }
    }

    /// The conditions that steps of the loop meet.
    fn met(&self, fairness: &Fairness) -> u64 {
        let taken = self.steps[self.loop_start.unwrap_or(0).min(self.steps.len())..].iter();
        taken.fold(0, |all, step| all | fairness.met_by[step.transition.index()])
    }

    /// The first condition of fairness that is not met in the loop, although it could be in all of its states.
    pub fn passed_over(&self, program: &Program, fairness: &Fairness) -> Option<usize> {
        let states = self.loop_states();
        let met = self.met(fairness);
        let always = states.iter().fold(u64::MAX, |all, state| all & self.enabled(program, fairness, state));
        (0..fairness.names.len()).find(|&i| (always & !met) >> i & 1 == 1)
    }

    fn enabled(&self, program: &Program, fairness: &Fairness, state: &[u32]) -> u64 {
        let taken = possible(&Interpreter::new(program, &[]), state);
        taken.iter().fold(0, |all, transition| all | fairness.met_by[transition.index()])
    }

    fn loop_states(&self) -> &[Vec<u32>] {
        &self.states[self.loop_start.unwrap_or(0).min(self.positions() - 1)..self.positions()]
    }

    /// The threads that do not move in the loop, and whether they could.
    pub fn idle_threads(&self, program: &Program) -> Vec<(ThreadId, Chance)> {
        let moved = |thread: ThreadId| {
            let period = &self.steps[self.loop_start.unwrap_or(0).min(self.steps.len())..];
            period.iter().any(|step| program.transition(step.transition).thread == thread)
        };
        let model = Interpreter::new(program, &[]);
        let able: Vec<Vec<ThreadId>> = self
            .loop_states()
            .iter()
            .map(|state| possible(&model, state).iter().map(|id| program.transition(*id).thread).collect())
            .collect();
        let idle = (0..program.threads.len()).map(ThreadId::new).filter(|&thread| !moved(thread));
        idle.map(|thread| {
            let chances = able.iter().filter(|able| able.contains(&thread)).count();
            let chance = match chances {
                0 => Chance::Never,
                all if all == able.len() => Chance::Always,
                _ => Chance::Sometimes,
            };
            (thread, chance)
        })
        .collect()
    }
}
