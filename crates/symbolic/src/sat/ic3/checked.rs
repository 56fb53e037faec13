//! A proof again, by other solvers than those that found it, and what of it is needed.

use std::collections::BTreeSet;

use birk_ir::Expr;
use birk_ir::interval::Interval;

use super::{Cube, Initial, Search, bits, literal};
use crate::attempt::Attempt;
use crate::sat::circuit::{Circuit, Literal};
use crate::sat::unrolling::Frame;

/// Invariants of more cubes are left as they are.
const MOST_CUBES: usize = 300;
/// Of an invariant of more cubes, those that seem to be needed are not asked about one by one.
const FEW_CUBES: usize = 64;

impl Search<'_, '_, '_> {
    /// Whether no step leads from outside of these cubes into one of them, and all goals are inside: asked of other solvers than
    /// those that found it. The initial states are outside.
    pub(super) fn is_invariant(&self, goal: &Expr, cubes: &[Cube], ranges: &[Interval]) -> Attempt<bool> {
        let free = bits(self.program, ranges);
        let literals = |frame: &Frame<'_, '_, '_>| -> Vec<Literal> {
            free.iter().map(|&(variable, element, at)| frame.bit(variable, element, at)).collect()
        };
        let outside = |circuit: &Circuit<'_>, bits: &[Literal]| {
            for cube in cubes {
                circuit.require(&cube.iter().map(|&bit| literal(bits, bit).negated()).collect::<Vec<_>>());
            }
        };
        let (step, here) = (Circuit::new(self.watch), Circuit::new(self.watch));
        let state = Frame::any(&here, self.program, ranges)?;
        outside(&here, &literals(&state));
        state.exclude(self.excluded)?;
        let is_goal = state.goal(goal)?;
        if here.solve(&[is_goal], None)? != Some(false) {
            return Ok(false);
        }
        let now = Frame::any(&step, self.program, ranges)?;
        outside(&step, &literals(&now));
        now.exclude(self.excluded)?;
        let then = literals(&now.next()?);
        for cube in cubes {
            let inside: Vec<Literal> = cube.iter().map(|&bit| literal(&then, bit)).collect();
            if step.solve(&inside, None)? != Some(false) {
                return Ok(false);
            }
        }
        let first = Initial::new(self.program, &free);
        Ok(!cubes.iter().any(|cube| first.is_in(cube)))
    }

    /// Those of the cubes of an invariant that are needed for it: to exclude the goal, and then what is needed to keep each of them.
    /// Of many cubes that takes too long to be worthwhile.
    pub(super) fn needed(&self, goal: &Expr, cubes: &[Cube], ranges: &[Interval]) -> Attempt<Vec<Cube>> {
        if cubes.len() > MOST_CUBES {
            return Ok(cubes.to_vec());
        }
        let free = bits(self.program, ranges);
        let circuit = Circuit::new(self.watch);
        let now = Frame::any(&circuit, self.program, ranges)?;
        now.exclude(self.excluded)?;
        let literals = |frame: &Frame<'_, '_, '_>| -> Vec<Literal> {
            free.iter().map(|&(variable, element, at)| frame.bit(variable, element, at)).collect()
        };
        let before = literals(&now);
        let counts: Vec<Literal> = cubes.iter().map(|_| circuit.free()).collect();
        for (cube, count) in cubes.iter().zip(&counts) {
            let outside = cube.iter().map(|&bit| literal(&before, bit).negated());
            circuit.require(&[count.negated()].into_iter().chain(outside).collect::<Vec<_>>());
        }
        let mut needed = BTreeSet::new();
        // Which of these cubes are enough, if they are.
        let enough = |of: &BTreeSet<usize>, assumed: &[Literal]| -> Attempt<Option<BTreeSet<usize>>> {
            let counting: Vec<Literal> = of.iter().map(|&cube| counts[cube]).chain(assumed.iter().copied()).collect();
            let is_enough = circuit.solve(&counting, None)? == Some(false);
            Ok(is_enough.then(|| of.iter().copied().filter(|&cube| circuit.failed(counts[cube])).collect()))
        };
        // What is needed besides, in the order of the cubes.
        let mut ask = |assumed: &[Literal]| -> Attempt<Vec<usize>> {
            if enough(&needed, assumed)?.is_some() {
                return Ok(Vec::new());
            }
            let all = (0..cubes.len()).collect();
            let found = enough(&all, assumed)?.expect("a proof is one");
            let mut new: BTreeSet<usize> = found.difference(&needed).copied().collect();
            for cube in found.difference(&needed).filter(|_| cubes.len() <= FEW_CUBES) {
                if new.remove(cube) {
                    match enough(&needed.union(&new).copied().collect(), assumed)? {
                        Some(fewer) => new.retain(|cube| fewer.contains(cube)),
                        None => _ = new.insert(*cube),
                    }
                }
            }
            needed.extend(&new);
            Ok(new.into_iter().collect())
        };
        let mut new = ask(&[now.goal(goal)?])?;
        let then = literals(&now.next()?);
        while let Some(cube) = new.pop() {
            let inside: Vec<Literal> = cubes[cube].iter().map(|&bit| literal(&then, bit)).collect();
            new.extend(ask(&inside)?);
        }
        Ok(needed.into_iter().map(|cube| cubes[cube].clone()).collect())
    }
}
