//! A program step by step: a frame has the bits of one state, and clauses lead from each frame to the next.
//!
//! A step has a bit for each way in which a transition can end; exactly one of them is set. That one decides the
//! new value of what it writes, and what nobody writes who is set stays as it is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use birk_ir::interval::Interval;
use birk_ir::{Expr, Program, Transition, TransitionId, VarId, Variable};

use super::circuit::{Circuit, Literal, Rule};
use super::stuck::{Known, Stuck};
use crate::attempt::Attempt;
use crate::bitvector::{Algebra, Arithmetic, Number, width};
use crate::ends::{self, Choosing, Element};
use crate::expression::{Ground, Scene};
use crate::trace::Taken;

pub(super) type Value = Number<Literal>;
/// Some elements of a variable, one behind the other.
pub(super) type Elements = (VarId, Range<u32>);
/// One way in which a step can end.
pub(super) type End = ends::End<Literal>;

/// A way in which a step can end.
pub(super) struct Way {
    /// Whether it is the one that is taken.
    pub(super) is_taken: Literal,
    pub(super) transition: TransitionId,
    chosen: Vec<Value>,
}

/// The bits of one state.
pub(crate) struct Frame<'c, 'o, 'p> {
    pub(super) circuit: &'c Circuit<'o>,
    pub(super) program: &'p Program,
    ranges: &'c [Interval],
    values: Vec<Rc<Vec<Value>>>,
    pub(super) stuck: Stuck,
    pub(super) known: Known,
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

    fn look(&self) -> Attempt<()> {
        self.circuit.look()
    }
}

impl Choosing for Frame<'_, '_, '_> {
    fn any_between(&self, lo: &Value, hi: &Value) -> Option<Value> {
        (lo.lo <= hi.hi).then(|| free(self.circuit, (lo.lo, hi.hi)))
    }
}

/// Frames, one step apart.
pub(super) struct Unrolling<'s, 'o, 'p> {
    pub(super) circuit: &'s Circuit<'o>,
    pub(super) frames: Vec<Frame<'s, 'o, 'p>>,
    /// The ways in which the step from each frame but the last can end.
    ways: Vec<Vec<Way>>,
}

impl<'s, 'o, 'p> Unrolling<'s, 'o, 'p> {
    pub(super) fn new(circuit: &'s Circuit<'o>, first: Frame<'s, 'o, 'p>) -> Self {
        Self { circuit, frames: vec![first], ways: Vec::new() }
    }

    pub(super) fn last(&self) -> &Frame<'s, 'o, 'p> {
        self.frames.last().expect("there is a first frame")
    }

    pub(super) fn extend(&mut self) -> Attempt<()> {
        let (next, ways) = self.last().step()?;
        self.frames.push(next);
        self.ways.push(ways);
        Ok(())
    }

    /// The steps in the solution that was found last.
    pub(super) fn taken(&self) -> Vec<Taken> {
        self.ways.iter().map(|ways| taken(self.circuit, ways)).collect()
    }

    pub(super) fn states(&self) -> Vec<Vec<u32>> {
        self.frames.iter().map(Frame::state).collect()
    }
}

impl<'c, 'o, 'p> Frame<'c, 'o, 'p> {
    /// An initial state.
    pub(crate) fn initial(circuit: &'c Circuit<'o>, program: &'p Program, ranges: &'c [Interval]) -> Self {
        let is_kept = circuit.keeps(Rule::Initial);
        let value = |first: i64, range: Interval| if is_kept { circuit.literal(first) } else { free(circuit, range) };
        let variables = program.variables.iter().zip(ranges);
        let elements =
            |(variable, &range): (&Variable, &Interval)| variable.initial.iter().map(|&v| value(v, range)).collect();
        let mut values: Vec<Vec<Value>> = variables.map(elements).collect();
        for choice in program.choices.iter().filter(|_| is_kept) {
            let chosen = free(circuit, ranges[choice.variable.index()]);
            one_of(circuit, &choice.values, &chosen.bits, *circuit.yes());
            values[choice.variable.index()][choice.element as usize] = chosen;
        }
        let (stuck, known) = (Stuck::default(), Known::default());
        Self { circuit, program, ranges, values: values.into_iter().map(Rc::new).collect(), stuck, known }
    }

    /// Any state whose variables are within their bounds.
    pub(crate) fn any(circuit: &'c Circuit<'o>, program: &'p Program, ranges: &'c [Interval]) -> Attempt<Self> {
        let all = |(id, variable): (usize, &Variable)| (VarId::new(id), 0..variable.len());
        let all: Vec<Elements> = program.variables.iter().enumerate().map(all).collect();
        Self::any_of(circuit, program, ranges, least(circuit, program, ranges), &all)
    }

    /// The same where only some elements may be anything; the others have these values, unless they may be anything already.
    pub(super) fn any_of(
        circuit: &'c Circuit<'o>,
        program: &'p Program,
        ranges: &'c [Interval],
        mut values: Vec<Rc<Vec<Value>>>,
        elements: &[Elements],
    ) -> Attempt<Self> {
        for (variable, elements) in elements {
            let (lo, hi) = ranges[variable.index()];
            let elements = elements.start as usize..elements.end as usize;
            let is_fixed =
                |value: &&mut Value| value.bits.iter().all(|bit| [circuit.yes(), circuit.no()].contains(&bit));
            let values = &mut Rc::make_mut(&mut values[variable.index()])[elements];
            for value in values.iter_mut().filter(is_fixed) {
                *value = free(circuit, (lo, hi));
                // Compared as if nothing were known of it.
                let any = Value { lo: i64::MIN, hi: i64::MAX, ..value.clone() };
                circuit.require(&[circuit.less(&any, &circuit.literal(lo))?.negated()]);
                circuit.require(&[circuit.less(&circuit.literal(hi), &any)?.negated()]);
            }
        }
        Ok(Self { circuit, program, ranges, values, stuck: Stuck::default(), known: Known::default() })
    }

    /// The state after a step; that there is one is required.
    pub(crate) fn next(&self) -> Attempt<Self> {
        Ok(self.step()?.0)
    }

    /// The ways in which steps can end.
    pub(super) fn all_ends(&self) -> Attempt<Vec<End>> {
        Ok(self.ends_of_transitions()?.into_iter().map(|(_, end)| end).collect())
    }

    /// The same, each with its transition.
    fn ends_of_transitions(&self) -> Attempt<Vec<(TransitionId, End)>> {
        let mut all = Vec::new();
        for (number, transition) in self.program.transitions.iter().enumerate() {
            let mut ends = Vec::new();
            ends::of(self, transition, &mut ends)?;
            all.extend(ends.into_iter().map(|end| (TransitionId::new(number), end)));
            self.circuit.look()?;
        }
        Ok(all)
    }

    /// The state after a step, which is required, and the ways in which that can end.
    pub(super) fn step(&self) -> Attempt<(Self, Vec<Way>)> {
        let ends = self.ends_of_transitions()?;
        let taken: Vec<Literal> = ends.iter().map(|_| self.circuit.free()).collect();
        self.exactly_one(&taken);
        let mut writers: BTreeMap<Element, Vec<(Literal, &Value)>> = BTreeMap::new();
        for ((_, end), &taken) in ends.iter().zip(&taken) {
            self.circuit.require(&[taken.negated(), end.path]);
            for (&element, value) in &end.written {
                writers.entry(element).or_default().push((taken, value));
            }
        }
        let mut values = self.values.clone();
        for ((variable, element), writers) in writers {
            let range = self.ranges[variable.index()];
            let next = match writers[..] {
                // No other step can be taken.
                [(_, value)] if ends.len() == 1 => within(self.circuit, range, value),
                _ => {
                    let next = free(self.circuit, range);
                    self.written(self.value(variable, element), &next, &writers);
                    next
                }
            };
            Rc::make_mut(&mut values[variable.index()])[element as usize] = next;
        }
        let next = self.with_values(values);
        let way = |(is_taken, (transition, end)): (_, (_, End))| Way { is_taken, transition, chosen: end.chosen };
        Ok((next, taken.into_iter().zip(ends).map(way).collect()))
    }

    /// The values of all elements.
    pub(super) fn values(&self) -> Vec<Rc<Vec<Value>>> {
        self.values.clone()
    }

    /// A bit of an element.
    pub(super) fn bit(&self, variable: VarId, element: u32, at: usize) -> Literal {
        *self.value(variable, element).bit(at)
    }

    fn with_values(&self, values: Vec<Rc<Vec<Value>>>) -> Self {
        Self { values, stuck: Stuck::default(), known: self.known.clone(), ..*self }
    }

    /// The state in which these elements have other values.
    pub(super) fn with_written(&self, written: &BTreeMap<Element, Value>) -> Self {
        let mut values = self.values.clone();
        for (&(variable, element), value) in written {
            Rc::make_mut(&mut values[variable.index()])[element as usize] = value.clone();
        }
        self.with_values(values)
    }

    /// The values of all elements that may differ from another frame's, with those.
    pub(super) fn beside<'f>(&'f self, other: &'f Self) -> impl Iterator<Item = (&'f Value, &'f Value)> {
        let variables = self.values.iter().zip(&other.values).filter(|(a, b)| !Rc::ptr_eq(a, b));
        variables.flat_map(|(a, b)| a.iter().zip(b.iter()))
    }

    /// One state, by its numbers.
    pub(super) fn with_numbers(&self, numbers: &[Vec<i64>]) -> Self {
        let literal = |&number: &i64| self.circuit.literal(number);
        let literals = |numbers: &Vec<i64>| Rc::new(numbers.iter().map(literal).collect());
        self.with_values(numbers.iter().map(literals).collect())
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
    pub(super) fn enabled<'f>(&'f self, transition: &Transition) -> Attempt<(Literal, Scene<'f, Self>)> {
        ends::enabled(self, transition)
    }

    /// Where a goal is satisfied.
    pub(crate) fn goal(&self, goal: &Expr) -> Attempt<Literal> {
        let mut asks_stuck = false;
        goal.walk(&mut |e| asks_stuck |= *e == Expr::Stuck);
        let stuck = if asks_stuck { self.stuck()? } else { *self.circuit.no() };
        Scene::with_stuck(self, &stuck).truth(goal)
    }

    /// It satisfies none of these conditions, from now on.
    pub(super) fn exclude(&self, conditions: &[&Expr]) -> Attempt<()> {
        for condition in conditions {
            let is_so = self.goal(condition)?;
            self.circuit.require(&[is_so.negated()]);
        }
        Ok(())
    }

    /// It is another state than this one, from now on.
    pub(crate) fn require_other(&self, other: &Self) -> Attempt<()> {
        let mut differs = Vec::new();
        for (a, b) in self.beside(other) {
            for at in 0..a.bits.len().max(b.bits.len()) {
                differs.push(self.circuit.xor(a.bit(at), b.bit(at))?);
            }
        }
        self.circuit.require(&differs);
        Ok(())
    }

    /// The numbers of all variables in the solution that was found last.
    pub(super) fn numbers(&self) -> Vec<Vec<i64>> {
        let number = |value: &Value| number(self.circuit, value);
        self.values.iter().map(|elements| elements.iter().map(number).collect()).collect()
    }

    /// The state in the solution that was found last.
    pub(crate) fn state(&self) -> Vec<u32> {
        let mut state = vec![0; self.program.layout.words()];
        for (id, elements) in self.numbers().iter().enumerate() {
            let slot = self.program.layout.slot(VarId::new(id));
            for (element, &number) in elements.iter().enumerate() {
                slot.set(&mut state, element as u32, number);
            }
        }
        state
    }
}

/// The step that is taken in the solution that was found last.
fn taken(circuit: &Circuit<'_>, ways: &[Way]) -> Taken {
    let way = ways.iter().find(|way| circuit.value(way.is_taken)).expect("a step is taken");
    Taken { transition: way.transition, chosen: way.chosen.iter().map(|value| number(circuit, value)).collect() }
}

/// A number in the solution that was found last.
pub(super) fn number(circuit: &Circuit<'_>, value: &Value) -> i64 {
    let bits = (0..64).map(|at| i64::from(circuit.value(*value.bit(at))) << at);
    bits.fold(0, |all, bit| all | bit)
}

/// Requires, where a condition is true, that a number has one of these values, as far as its bits say.
pub(super) fn one_of(circuit: &Circuit<'_>, values: &[i64], bits: &[Literal], condition: Literal) {
    let mut clause = vec![condition.negated()];
    for &value in values {
        let is_it = circuit.free();
        for (at, &bit) in bits.iter().enumerate() {
            let is_set = value >> at & 1 == 1;
            circuit.require(&[is_it.negated(), if is_set { bit } else { bit.negated() }]);
        }
        clause.push(is_it);
    }
    circuit.require(&clause);
}

/// For every element the least value within its bounds: no bit of it is free.
pub(super) fn least(circuit: &Circuit<'_>, program: &Program, ranges: &[Interval]) -> Vec<Rc<Vec<Value>>> {
    let variables = program.variables.iter().zip(ranges);
    let of = |(variable, range): (&Variable, &Interval)| vec![circuit.literal(range.0); variable.len() as usize];
    variables.map(|variable| Rc::new(of(variable))).collect()
}

/// A number between these that may be any, or some beyond them of as many bits.
/// A value that is within some bounds, as it is where nothing but the bounds is known.
fn within(circuit: &Circuit<'_>, (lo, hi): Interval, value: &Value) -> Value {
    let any = free(circuit, (lo, hi));
    let is_constant = |bit: &Literal| bit == circuit.yes() || bit == circuit.no();
    let bits = any.bits.iter().enumerate().map(|(at, bit)| if is_constant(bit) { *bit } else { *value.bit(at) });
    Value { bits: bits.collect(), lo, hi }
}

fn free(circuit: &Circuit<'_>, (lo, hi): Interval) -> Value {
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
