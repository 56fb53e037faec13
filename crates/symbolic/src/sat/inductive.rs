//! Which of a person's own invariants are inductive, all together, and what breaks the others.
//!
//! All of them are assumed before a step, and each is asked for after it, for one way to end a step at a time. A solution is a
//! *counterexample to induction*: a step from a state in which all are true to one in which one is not; that state need not be
//! reachable. The one that is broken is given up, and the rest is asked again, until no step breaks any: what is left is the
//! largest inductive part (Flanagan and Leino, "Houdini, an Annotation Assistant for ESC/Java", 2001).

use birk_engine::Observer;
use birk_ir::interval::{Interval, reachable};
use birk_ir::{BitIs, Expr, Program, Step, Stop, VarId};

use super::circuit::{Circuit, Literal, Watch};
use super::ic3::bits;
use super::unrolling::{End, Frame};
use crate::attempt::{Attempt, Broken};
use crate::trace::through;

#[cfg(test)]
mod tests;

/// What was found out about some conditions.
#[derive(Clone, Debug)]
pub struct Induction {
    /// Of each condition that is not inductive with the others, why.
    pub gaps: Vec<Option<Gap>>,
    /// Bounds of each variable, which were assumed: every step keeps them.
    pub bounds: Vec<Interval>,
    /// How often the solver was asked.
    pub queries: u64,
    /// What ended it before its end: then a condition without a gap may have one.
    pub stopped: Option<Stop>,
}

/// Why a condition is not inductive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It is false initially.
    Initial,
    /// A step breaks it.
    Step(Box<Breach>),
}

/// A counterexample to induction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// A state in which what was assumed is true, and the one behind the step.
    pub states: [Vec<u32>; 2],
    /// The step.
    pub step: Step,
    /// The part of the first state that matters: from every state like that, the same step leads to where the condition is false.
    pub part: Vec<BitIs>,
    /// Which of the conditions were assumed.
    pub assumed: Vec<usize>,
}

/// Finds out which of some conditions are inductive; each is given by what it excludes.
pub fn induction(
    program: &Program,
    bad: &[&Expr],
    memory: u64,
    observer: &mut dyn Observer,
) -> Result<Induction, String> {
    if let Some(reason) = program.interpreted_only() {
        return Err(reason.to_owned());
    }
    let watch = Watch::new(observer, memory);
    let (first, circuit, bounds) = (Circuit::new(&watch), Circuit::new(&watch), reachable(program).variables);
    let mut search = Search { program, bad, gaps: vec![None; bad.len()], queries: 0 };
    let stopped = match search.run(&first, &circuit, &bounds) {
        Ok(()) => None,
        Err(Broken::Stopped(stop)) => Some(stop),
        Err(Broken::Refused(reason)) => return Err(reason),
        Err(Broken::Undecided(_)) => unreachable!("a frame never asks for the value of a bit"),
    };
    let Search { gaps, queries, .. } = search;
    Ok(Induction { gaps, bounds, queries, stopped })
}

struct Search<'p> {
    program: &'p Program,
    bad: &'p [&'p Expr],
    gaps: Vec<Option<Gap>>,
    queries: u64,
}

/// A state, and where a step may lead from it.
struct Around<'c, 'o, 'p> {
    now: Frame<'c, 'o, 'p>,
    ends: Vec<End>,
    /// Where each condition is false.
    bad: Vec<Literal>,
}

impl<'p> Search<'p> {
    fn run<'c, 'o>(&mut self, first: &'c Circuit<'o>, circuit: &'c Circuit<'o>, bounds: &'c [Interval]) -> Attempt<()> {
        let initial = Frame::initial(first, self.program, bounds);
        for (number, bad) in self.bad.iter().enumerate() {
            let is_bad = initial.goal(bad)?;
            if first.solve(&[is_bad], None)? == Some(true) {
                self.gaps[number] = Some(Gap::Initial);
            }
        }
        let now = Frame::any(circuit, self.program, bounds)?;
        let bad = self.bad.iter().map(|bad| now.goal(bad)).collect::<Attempt<_>>()?;
        let around = Around { ends: now.all_ends()?, now, bad };
        while self.give_up_one(&around, bounds)? {}
        Ok(())
    }

    /// Gives a condition up that a step breaks, if there is one.
    fn give_up_one(&mut self, around: &Around<'_, '_, 'p>, bounds: &[Interval]) -> Attempt<bool> {
        let kept: Vec<usize> = (0..self.bad.len()).filter(|&number| self.gaps[number].is_none()).collect();
        let assumed: Vec<Literal> = kept.iter().map(|&number| around.bad[number].negated()).collect();
        let circuit = around.now.circuit;
        for end in &around.ends {
            let then = around.now.with_written(&end.written);
            for &number in &kept {
                circuit.look()?;
                let is_bad = then.goal(self.bad[number])?;
                // A step that does not concern it cannot break it.
                if is_bad == around.bad[number] {
                    continue;
                }
                self.queries += 1;
                if circuit.solve(&[&assumed[..], &[end.path, is_bad]].concat(), None)? == Some(true) {
                    let states = [around.now.state(), then.state()];
                    let step = through(self.program, &states).steps[0];
                    let part = self.part(around, end, is_bad, bounds)?;
                    let breach = Breach { states, step, part, assumed: kept };
                    self.gaps[number] = Some(Gap::Step(Box::new(breach)));
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What of the state that was found is needed for the step to lead to where the condition is false: whole elements, or none of
    /// their bits.
    fn part(
        &mut self,
        around: &Around<'_, '_, 'p>,
        end: &End,
        is_bad: Literal,
        bounds: &[Interval],
    ) -> Attempt<Vec<BitIs>> {
        let circuit = around.now.circuit;
        let as_found = |bit: Literal| if circuit.value(bit) { bit } else { bit.negated() };
        let chosen: Vec<Literal> = end.chosen.iter().flat_map(|value| &value.bits).map(|&bit| as_found(bit)).collect();
        let mut part: Vec<(BitIs, Literal)> = Vec::new();
        for (variable, element, at) in bits(self.program, bounds) {
            let bit = around.now.bit(variable, element, at);
            let is_set = circuit.value(bit);
            part.push((BitIs { variable, element, bit: at as u32, is_set }, as_found(bit)));
        }
        let leads_elsewhere = circuit.free();
        circuit.require(&[leads_elsewhere.negated(), end.path.negated(), is_bad.negated()]);
        let mut is_enough = |part: &[(BitIs, Literal)]| -> Attempt<bool> {
            self.queries += 1;
            let bits = part.iter().map(|(_, bit)| *bit);
            let assumed: Vec<Literal> = bits.chain(chosen.iter().copied()).chain([leads_elsewhere]).collect();
            Ok(circuit.solve(&assumed, None)? == Some(false))
        };
        assert!(is_enough(&part)?, "where a step leads is decided by the state and what is chosen");
        part.retain(|(_, bit)| circuit.failed(*bit));
        let mut elements: Vec<(VarId, u32)> = part.iter().map(|(is, _)| (is.variable, is.element)).collect();
        elements.dedup();
        for element in elements {
            let fewer: Vec<_> = part.iter().filter(|(is, _)| (is.variable, is.element) != element).copied().collect();
            if is_enough(&fewer)? {
                part = fewer;
            }
        }
        circuit.require(&[leads_elsewhere.negated()]);
        Ok(part.into_iter().map(|(is, _)| is).collect())
    }
}
