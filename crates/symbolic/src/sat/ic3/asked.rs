//! The solvers that a proof asks: a state and a step from it, and a state and where each way to end a step would lead.

use birk_ir::interval::Interval;
use birk_ir::{Expr, Program};

use super::{Bit, Cube, Initial, literal};
use crate::attempt::Attempt;
use crate::bitvector::Algebra as _;
use crate::sat::circuit::{Circuit, Literal, Watch};
use crate::sat::unrolling::{self, End, Frame, Value};

/// The solvers that a proof asks, and what their literals mean.
pub(super) struct Asked<'o> {
    /// A state and a step from it.
    pub(super) step: Circuit<'o>,
    pub(super) now: Vec<Literal>,
    pub(super) then: Vec<Literal>,
    /// The ways in which a step can end.
    pub(super) taken: Vec<unrolling::Way>,
    /// A state, whether it is a goal, and where each way to end a step would lead.
    pub(super) here: Circuit<'o>,
    pub(super) state: Vec<Literal>,
    pub(super) goal: Literal,
    pub(super) ends: Vec<Way>,
    /// What makes a state an initial one where there is a choice, in both circuits.
    pub(super) begins: [Literal; 2],
    /// For each frame, what makes its clauses count, in both circuits.
    pub(super) counts: Vec<[Literal; 2]>,
    /// Variables of both before the first question: each question adds one that is of no use behind it.
    pub(super) least: u64,
}

/// A way in which a step can end.
pub(super) struct Way {
    pub(super) path: Literal,
    /// The bits of the state that it leads to.
    pub(super) then: Vec<Literal>,
    /// What was chosen.
    pub(super) chosen: Vec<Value>,
}

impl<'o> Asked<'o> {
    pub(super) fn new(
        (program, sought, excluded): (&Program, &Expr, &[&Expr]),
        ranges: &[Interval],
        free: &[Bit],
        initial: &Initial,
        watch: &'o Watch<'o>,
    ) -> Attempt<Self> {
        let (step, here) = (Circuit::new(watch), Circuit::new(watch));
        let literals = |frame: &Frame<'_, '_, '_>| -> Vec<Literal> {
            free.iter().map(|&(variable, element, at)| frame.bit(variable, element, at)).collect()
        };
        let (now, then, taken) = {
            let frame = Frame::any(&step, program, ranges)?;
            frame.exclude(excluded)?;
            let (next, taken) = frame.step()?;
            (literals(&frame), literals(&next), taken)
        };
        let (state, goal, ends) = {
            let state = Frame::any(&here, program, ranges)?;
            state.exclude(excluded)?;
            let way = |end: End| {
                let then = free.iter().map(|&(variable, element, at)| match end.written.get(&(variable, element)) {
                    Some(value) => *value.bit(at),
                    None => state.bit(variable, element, at),
                });
                Way { path: end.path, then: then.collect(), chosen: end.chosen }
            };
            let ends = state.all_ends()?.into_iter().map(way).collect();
            (literals(&state), state.goal(sought)?, ends)
        };
        let begins = [initial.begins(&step, &now), initial.begins(&here, &state)];
        let counts = vec![[*step.yes(), *here.yes()]];
        let mut asked = Self { step, now, then, taken, here, state, goal, ends, begins, counts, least: 0 };
        asked.least = asked.variables();
        Ok(asked)
    }

    pub(super) fn variables(&self) -> u64 {
        self.step.size().0 + self.here.size().0
    }

    pub(super) fn add_frame(&mut self) {
        self.counts.push([self.step.free(), self.here.free()]);
    }

    /// From now on a frame and those before it exclude a cube.
    pub(super) fn exclude(&self, cube: &Cube, frame: usize) {
        let of = |bits: &[Literal], count: Literal| -> Vec<Literal> {
            [count.negated()].into_iter().chain(cube.iter().map(|&bit| literal(bits, bit).negated())).collect()
        };
        let [in_step, in_here] = self.counts[frame];
        self.step.require(&of(&self.now, in_step));
        self.here.require(&of(&self.state, in_here));
    }
}
