//! A program step by step: a frame has the bits of one state, and clauses lead from each frame to the next.
//!
//! A step has a bit for each way in which a transition can end; exactly one of them is set. That one decides the
//! new value of what it writes, and what nobody writes who is set stays as it is.

use std::collections::BTreeMap;

use birk_ir::{Expr, Op, Program, Transition, VarId};

use super::circuit::{Circuit, Literal, Rule};
use crate::diagram::{Attempt, Broken};
use crate::expression::{Ground, Scene};
use crate::ranges::Range;
use crate::value::{Algebra, Arithmetic, Number, width};

/// A choice that decides whether a step is possible is made among at most so many values.
const MOST_CHOICES: i128 = 1 << 10;

type Value = Number<Literal>;
type Element = (VarId, u32);

/// The bits of one state.
pub(crate) struct Frame<'c, 'o, 'p> {
    circuit: &'c Circuit<'o>,
    program: &'p Program,
    ranges: &'c [Range],
    values: Vec<Vec<Value>>,
}

impl<'o> Ground for Frame<'_, 'o, '_> {
    type Algebra = Circuit<'o>;

    fn algebra(&self) -> &Circuit<'o> {
        self.circuit
    }

    fn program(&self) -> &Program {
        self.program
    }

    fn value(&self, variable: VarId, element: u32) -> &Value {
        &self.values[variable.index()][element as usize]
    }
}

/// One way in which a step can end.
struct End {
    /// Where it can.
    path: Literal,
    written: BTreeMap<Element, Value>,
}

impl<'c, 'o, 'p> Frame<'c, 'o, 'p> {
    /// The initial state.
    pub(crate) fn initial(circuit: &'c Circuit<'o>, program: &'p Program, ranges: &'c [Range]) -> Self {
        let is_kept = circuit.keeps(Rule::Initial);
        let value = |first: i64, range: Range| if is_kept { circuit.literal(first) } else { free(circuit, range) };
        let variables = program.variables.iter().zip(ranges);
        let values = variables.map(|(variable, &range)| variable.initial.iter().map(|&v| value(v, range)).collect());
        Self { circuit, program, ranges, values: values.collect() }
    }

    /// Any state whose variables are within their bounds.
    pub(crate) fn any(circuit: &'c Circuit<'o>, program: &'p Program, ranges: &'c [Range]) -> Attempt<Self> {
        let mut values = Vec::new();
        for (variable, &(lo, hi)) in program.variables.iter().zip(ranges) {
            let elements: Vec<Value> = (0..variable.len()).map(|_| free(circuit, (lo, hi))).collect();
            for value in &elements {
                // Compared as if nothing were known of it.
                let any = Value { lo: i64::MIN, hi: i64::MAX, ..value.clone() };
                circuit.require(&[circuit.less(&any, &circuit.literal(lo))?.negated()]);
                circuit.require(&[circuit.less(&circuit.literal(hi), &any)?.negated()]);
            }
            values.push(elements);
        }
        Ok(Self { circuit, program, ranges, values })
    }

    /// The state after a step; that there is one is required.
    pub(crate) fn next(&self) -> Attempt<Self> {
        let mut ends = Vec::new();
        for transition in &self.program.transitions {
            self.ends(transition, &mut ends)?;
            self.circuit.look()?;
        }
        let taken: Vec<Literal> = ends.iter().map(|_| self.circuit.free()).collect();
        self.exactly_one(&taken);
        let mut writers: BTreeMap<Element, Vec<(Literal, &Value)>> = BTreeMap::new();
        for (end, &taken) in ends.iter().zip(&taken) {
            self.circuit.require(&[taken.negated(), end.path]);
            for (&element, value) in &end.written {
                writers.entry(element).or_default().push((taken, value));
            }
        }
        let mut values = self.values.clone();
        for ((variable, element), writers) in writers {
            let next = free(self.circuit, self.ranges[variable.index()]);
            self.written(self.value(variable, element), &next, &writers);
            values[variable.index()][element as usize] = next;
        }
        Ok(Self { values, ..*self })
    }

    /// One of these bits is set.
    fn exactly_one(&self, bits: &[Literal]) {
        self.circuit.require(bits);
        let mut before = *self.circuit.no();
        for &bit in bits {
            let up_to = self.circuit.free();
            self.circuit.require(&[bit.negated(), up_to]);
            self.circuit.require(&[before.negated(), up_to]);
            if self.circuit.keeps(Rule::One) {
                self.circuit.require(&[bit.negated(), before.negated()]);
            }
            before = up_to;
        }
    }

    /// An element has the value that the one who is set among its writers gives it, or else that which it had.
    fn written(&self, now: &Value, next: &Value, writers: &[(Literal, &Value)]) {
        let set: Vec<Literal> = writers.iter().map(|(taken, _)| *taken).collect();
        for (at, &bit) in next.bits.iter().enumerate() {
            if bit == *self.circuit.yes() || bit == *self.circuit.no() {
                continue;
            }
            for (taken, value) in writers {
                self.circuit.require_same(*taken, bit, *value.bit(at));
            }
            if self.circuit.keeps(Rule::Frame) {
                self.circuit.require(&[&[bit, now.bit(at).negated()], &set[..]].concat());
                self.circuit.require(&[&[bit.negated(), *now.bit(at)], &set[..]].concat());
            }
        }
    }

    /// Where the thread is at the transition's location, its guard is true, and no check has failed.
    fn enabled<'f>(&'f self, transition: &Transition) -> Attempt<(Literal, Scene<'f, Self>)> {
        let thread = self.program.thread(transition.thread);
        let counter = Expr::element(self.program.kinds[thread.kind].counter, Expr::Const(i64::from(thread.copy)));
        let here = counter.equals(transition.location.index() as i64);
        let faulty = self.program.fault.map_or(Expr::FALSE, Expr::Var);
        let mut scene = Scene::new(self);
        let at = scene.truth(&here.and(faulty.negate()))?;
        // Elsewhere the guard needs no gates.
        if at == *self.circuit.no() {
            return Ok((at, scene));
        }
        let guard = scene.truth(&transition.guard)?;
        Ok((self.circuit.and(&at, &guard)?, scene))
    }

    /// The ways in which a transition can end: in a state, or in one of its checks.
    fn ends(&self, transition: &Transition, ends: &mut Vec<End>) -> Attempt<()> {
        let (circuit, no) = (self.circuit, *self.circuit.no());
        let (mut path, mut scene) = self.enabled(transition)?;
        for op in &transition.ops {
            if path == no {
                return Ok(());
            }
            match op {
                Op::Assign(place, value) => {
                    let (value, index) = (scene.value(value)?, scene.index(place)?);
                    scene.assign(place, &index, &value)?;
                }
                Op::Let(local, value) => {
                    let value = scene.value(value)?;
                    scene.bind(*local, value);
                }
                Op::Check(condition, _) => {
                    let condition = scene.truth(condition)?;
                    let failing = circuit.minus(&path, &condition)?;
                    if failing != no {
                        let flag = self.program.fault.expect("a program with checks has a fault flag");
                        let mut written = scene.written.clone();
                        written.insert((flag, 0), circuit.literal(1));
                        ends.push(End { path: failing, written });
                    }
                    path = circuit.and(&path, &condition)?;
                }
                Op::Assume(condition) | Op::Require(condition) => {
                    path = circuit.and(&path, &scene.truth(condition)?)?;
                }
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                    if lo.lo > hi.hi {
                        return Ok(());
                    }
                    let chosen = free(circuit, (lo.lo, hi.hi));
                    let any = Value { lo: i64::MIN, hi: i64::MAX, ..chosen.clone() };
                    path = circuit.minus(&path, &circuit.less(&any, &lo)?)?;
                    path = circuit.minus(&path, &circuit.less(&hi, &any)?)?;
                    scene.bind(*local, chosen);
                }
            }
        }
        if path != no {
            ends.push(End { path, written: scene.written });
        }
        Ok(())
    }

    /// Where a goal is satisfied.
    pub(crate) fn goal(&self, goal: &Expr) -> Attempt<Literal> {
        let mut asks_stuck = false;
        goal.walk(&mut |e| asks_stuck |= *e == Expr::Stuck);
        let stuck = if asks_stuck { self.stuck()? } else { *self.circuit.no() };
        Scene::with_stuck(self, &stuck).truth(goal)
    }

    /// Where no step is possible, taken or cut.
    fn stuck(&self) -> Attempt<Literal> {
        let mut possible = Vec::new();
        for transition in &self.program.transitions {
            let (path, mut scene) = self.enabled(transition)?;
            if path != *self.circuit.no() {
                possible.push(self.circuit.and(&path, &self.goes_on(&transition.ops, &mut scene)?)?);
            }
        }
        Ok(self.circuit.any(possible)?.negated())
    }

    /// Where operations have an outcome, for one of the values that they may choose.
    fn goes_on(&self, ops: &[Op], scene: &mut Scene<'_, Self>) -> Attempt<Literal> {
        let circuit = self.circuit;
        if !ops.iter().any(|op| matches!(op, Op::Require(_))) {
            return Ok(*circuit.yes());
        }
        let Some((op, rest)) = ops.split_first() else { return Ok(*circuit.yes()) };
        match op {
            Op::Assign(place, value) => {
                let (value, index) = (scene.value(value)?, scene.index(place)?);
                scene.assign(place, &index, &value)?;
                self.goes_on(rest, scene)
            }
            Op::Let(local, value) => {
                let value = scene.value(value)?;
                scene.bind(*local, value);
                self.goes_on(rest, scene)
            }
            // A check that fails is an outcome, and what is cut is no deadlock.
            Op::Check(condition, _) | Op::Assume(condition) => {
                let condition = scene.truth(condition)?;
                circuit.or(&condition.negated(), &self.goes_on(rest, scene)?)
            }
            Op::Require(condition) => {
                let condition = scene.truth(condition)?;
                circuit.and(&condition, &self.goes_on(rest, scene)?)
            }
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (scene.value(lo)?, scene.value(hi)?);
                if i128::from(hi.hi) - i128::from(lo.lo) >= MOST_CHOICES {
                    return Err(Broken::Refused(format!(
                        "whether a step is possible depends on a choice among {} to {}, which are more than \
                         {MOST_CHOICES} values; choose from a smaller range, or use `--deadlock off`",
                        lo.lo, hi.hi
                    )));
                }
                let mut ways = Vec::new();
                for value in lo.lo..=hi.hi {
                    let value = circuit.literal(value);
                    let beyond = circuit.or(&circuit.less(&value, &lo)?, &circuit.less(&hi, &value)?)?;
                    let mut scene = scene.clone();
                    scene.bind(*local, value);
                    ways.push(circuit.minus(&self.goes_on(rest, &mut scene)?, &beyond)?);
                }
                circuit.any(ways)
            }
        }
    }

    /// It is another state than this one, from now on.
    pub(crate) fn require_other(&self, other: &Self) -> Attempt<()> {
        let mut differs = Vec::new();
        for (a, b) in self.values.iter().flatten().zip(other.values.iter().flatten()) {
            for at in 0..a.bits.len().max(b.bits.len()) {
                differs.push(self.circuit.xor(a.bit(at), b.bit(at))?);
            }
        }
        self.circuit.require(&differs);
        Ok(())
    }

    /// The state in the solution that was found last.
    pub(crate) fn state(&self) -> Vec<u32> {
        let mut state = vec![0; self.program.layout.words()];
        for (id, elements) in self.values.iter().enumerate() {
            let slot = self.program.layout.slot(VarId::new(id));
            for (element, value) in elements.iter().enumerate() {
                let bits = (0..64).map(|at| i64::from(self.circuit.value(*value.bit(at))) << at);
                slot.set(&mut state, element as u32, bits.fold(0, |all, bit| all | bit));
            }
        }
        state
    }
}

/// A number between these that may be any, or some beyond them of as many bits.
fn free(circuit: &Circuit<'_>, (lo, hi): Range) -> Value {
    if lo == hi {
        return circuit.literal(lo);
    }
    let mut bits: Vec<Literal> = (1..width(lo, hi)).map(|_| circuit.free()).collect();
    bits.push(match (lo, hi) {
        (0.., _) => *circuit.no(),
        (_, ..0) => *circuit.yes(),
        _ => circuit.free(),
    });
    Value { bits, lo, hi }
}
