//! Why a formula is true or false of a run that repeats: which of its parts decide, and where.
//!
//! Every line is found by evaluating the parts of the formula at the positions of the run; nothing of the automaton that a
//! search has used is looked at.

use birk_ir::{Formula, Program};

use super::Replayed;
use crate::interpreter::Interpreter;

/// Longer explanations are cut.
const MAX_LINES: usize = 40;

/// What a part of a formula is at a position of a run, and what decides that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because<'f> {
    /// How deep it lies in the explanation.
    pub depth: usize,
    /// The part.
    pub formula: &'f Formula,
    /// The position: so many steps were taken before it.
    pub at: usize,
    /// Whether it is true there.
    pub holds: bool,
    /// What decides it.
    pub by: Decided,
}

/// What decides a part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// The state, or its own parts at the same position.
    Here,
    /// What its part is at one position, now or later.
    At(usize),
    /// What its part is at every position from there on, the cycle included.
    Forever,
}

impl Replayed {
    /// Why a formula is true or false at the beginning of the run, from the whole to its parts.
    pub fn because<'f>(&self, program: &Program, formula: &'f Formula) -> Vec<Because<'f>> {
        let model = Interpreter::new(program, &[]);
        let mut search = Search { run: self, model, lines: Vec::new() };
        search.note(formula, 0, 0);
        search.lines
    }
}

struct Search<'r, 'p, 'f> {
    run: &'r Replayed,
    model: Interpreter<'p>,
    lines: Vec<Because<'f>>,
}

impl<'f> Search<'_, '_, 'f> {
    fn values(&self, formula: &Formula) -> Vec<bool> {
        self.run.values(&self.model, formula)
    }

    /// The positions from one on, each once: the rest of the stem, and the whole cycle.
    fn from(&self, at: usize) -> Vec<usize> {
        let mut seen = vec![false; self.run.positions()];
        let mut found = Vec::new();
        let mut here = at;
        while !std::mem::replace(&mut seen[here], true) {
            found.push(here);
            here = self.run.next(here);
        }
        found
    }

    fn note(&mut self, formula: &'f Formula, at: usize, depth: usize) {
        if self.lines.len() >= MAX_LINES {
            return;
        }
        let holds = self.values(formula)[at];
        let mut say = |by| self.lines.push(Because { depth, formula, at, holds, by });
        let deeper = depth + 1;
        match formula {
            Formula::Atom(_) => say(Decided::Here),
            // A negation says the opposite of its part: one line is enough.
            Formula::Not(inner) if matches!(**inner, Formula::Atom(_)) => say(Decided::Here),
            Formula::Not(inner) => {
                say(Decided::Here);
                self.note(inner, at, deeper);
            }
            Formula::And(parts) | Formula::Or(parts) => {
                say(Decided::Here);
                let is_and = matches!(formula, Formula::And(_));
                let values = [self.values(&parts.0)[at], self.values(&parts.1)[at]];
                // One part decides that `and` is false, and that `or` is true; otherwise both do.
                match (is_and == holds, values[0] == holds) {
                    (true, _) => {
                        self.note(&parts.0, at, deeper);
                        self.note(&parts.1, at, deeper);
                    }
                    (false, true) => self.note(&parts.0, at, deeper),
                    (false, false) => self.note(&parts.1, at, deeper),
                }
            }
            Formula::Next(inner) => {
                let next = self.run.next(at);
                say(Decided::At(next));
                self.note(inner, next, deeper);
            }
            Formula::Always(inner) | Formula::Eventually(inner) => {
                let values = self.values(inner);
                let is_always = matches!(formula, Formula::Always(_));
                // The first position that refutes `always`, or fulfils `eventually`.
                self.found_or_forever(formula, at, depth, inner, |here| values[here] != is_always);
            }
            Formula::Until(parts) | Formula::WeakUntil(parts) => {
                let (left, right) = (self.values(&parts.0), self.values(&parts.1));
                let end = self.from(at).into_iter().find(|&here| right[here] || !left[here]);
                self.until(formula, at, depth, (&parts.0, &parts.1), end.map(|here| (here, right[here])));
            }
            Formula::Release(parts) => {
                let (left, right) = (self.values(&parts.0), self.values(&parts.1));
                let end = self.from(at).into_iter().find(|&here| left[here] || !right[here]);
                match end {
                    None => self.forever(formula, at, depth, &parts.1),
                    Some(here) if !right[here] => self.at(formula, (at, here), depth, &parts.1),
                    Some(here) => self.at(formula, (at, here), depth, &parts.0),
                }
            }
        }
    }

    /// Decided by one position of a part, if there is one, otherwise by all.
    fn found_or_forever(
        &mut self,
        formula: &'f Formula,
        at: usize,
        depth: usize,
        part: &'f Formula,
        decides: impl Fn(usize) -> bool,
    ) {
        match self.from(at).into_iter().find(|&here| decides(here)) {
            Some(here) => self.at(formula, (at, here), depth, part),
            None => self.forever(formula, at, depth, part),
        }
    }

    /// `end` is where the first part is false or the second is true, and whether the second is.
    fn until(
        &mut self,
        formula: &'f Formula,
        at: usize,
        depth: usize,
        (left, right): (&'f Formula, &'f Formula),
        end: Option<(usize, bool)>,
    ) {
        match end {
            Some((here, true)) => self.at(formula, (at, here), depth, right),
            // Neither is true here: the first is false too early.
            Some((here, false)) => {
                self.at(formula, (at, here), depth, left);
                self.note(right, here, depth + 1);
            }
            None if matches!(formula, Formula::WeakUntil(_)) => self.forever(formula, at, depth, left),
            None => self.forever(formula, at, depth, right),
        }
    }

    fn at(&mut self, formula: &'f Formula, (at, here): (usize, usize), depth: usize, part: &'f Formula) {
        let holds = self.values(formula)[at];
        self.lines.push(Because { depth, formula, at, holds, by: Decided::At(here) });
        self.note(part, here, depth + 1);
    }

    /// The part is the same from there on. If it is more than a condition of a state, the first position of the cycle shows why.
    fn forever(&mut self, formula: &'f Formula, at: usize, depth: usize, part: &'f Formula) {
        let holds = self.values(formula)[at];
        self.lines.push(Because { depth, formula, at, holds, by: Decided::Forever });
        if !is_of_state(part) {
            let in_cycle = self.run.loop_start.unwrap_or(at).min(self.run.positions() - 1).max(at);
            self.note(part, in_cycle, depth + 1);
        }
    }
}

/// Whether one state decides it.
pub fn is_of_state(formula: &Formula) -> bool {
    match formula {
        Formula::Atom(_) => true,
        Formula::Not(inner) => is_of_state(inner),
        Formula::And(parts) | Formula::Or(parts) => is_of_state(&parts.0) && is_of_state(&parts.1),
        _ => false,
    }
}
