//! Which bit of a diagram is which bit of a state.
//!
//! Each bit of a state has two: its value now and its value after a step, one directly after the other in the order.
//! Behind them all come bits for the values that a step chooses.

use std::cell::Cell;

use birk_ir::{Program, VarId};

use crate::diagram::{Attempt, Diagrams, Set};
use crate::expression::Ground;
use crate::order::order;
use crate::ranges::{Range, ranges};
use crate::value::{Arithmetic, Value};

/// The bits of a program's states.
pub(crate) struct Encoding<'p> {
    pub(crate) program: &'p Program,
    pub(crate) diagrams: Diagrams,
    /// By variable: the values it can have.
    ranges: Vec<Range>,
    /// By variable and element: the place of each bit, the lowest first.
    places: Vec<Vec<Vec<u32>>>,
    /// By variable and element: its value now.
    current: Vec<Vec<Value>>,
    /// Bits of a state.
    pub(crate) bits: u32,
    choices: Cell<u32>,
}

/// The bit of a diagram for the value now of a place.
pub(crate) fn now(place: u32) -> u32 {
    2 * place
}

/// The bit of a diagram for the value after a step.
pub(crate) fn after(place: u32) -> u32 {
    2 * place + 1
}

impl<'p> Encoding<'p> {
    /// Bits for every variable, and diagrams over them in this much memory.
    pub(crate) fn new(program: &'p Program, memory: u64) -> Attempt<Self> {
        let mut places: Vec<Vec<Vec<u32>>> =
            program.variables.iter().map(|variable| vec![Vec::new(); variable.len() as usize]).collect();
        let ranges = ranges(program);
        let wide = |variable: VarId| width(ranges[variable.index()]);
        for (id, elements) in places.iter_mut().enumerate() {
            elements.iter_mut().for_each(|places| places.resize(wide(VarId::new(id)) as usize, 0));
        }
        let order = order(program, wide);
        let bits = order.len() as u32;
        for (place, (variable, element, bit)) in (0..).zip(order) {
            places[variable.index()][element as usize][bit as usize] = place;
        }
        let diagrams = Diagrams::new(memory, 2 * bits);
        let mut current = Vec::new();
        for (id, elements) in places.iter().enumerate() {
            let value = |places: &Vec<u32>| read(&diagrams, ranges[id], places);
            current.push(elements.iter().map(value).collect::<Attempt<Vec<Value>>>()?);
        }
        Ok(Self { program, diagrams, ranges, places, current, bits, choices: Cell::new(0) })
    }

    /// Where the bits of an element are, the lowest first.
    pub(crate) fn places(&self, variable: VarId, element: u32) -> &[u32] {
        &self.places[variable.index()][element as usize]
    }

    /// The bits that an element has when this is its value.
    pub(crate) fn code(&self, variable: VarId, value: &Value) -> Attempt<Vec<Set>> {
        let range = self.ranges[variable.index()];
        let from_zero = self.diagrams.sub(value, &self.diagrams.literal(range.0))?;
        Ok((0..width(range) as usize).map(|at| from_zero.bit(at).clone()).collect())
    }

    /// The bit of a diagram for a chosen value: they are used again by every transition.
    pub(crate) fn choice(&self, number: u32) -> u32 {
        while self.choices.get() <= number {
            self.diagrams.add_bits(1);
            self.choices.set(self.choices.get() + 1);
        }
        2 * self.bits + number
    }

    /// The bits of a state, by place.
    pub(crate) fn bits_of(&self, state: &[u32]) -> Vec<bool> {
        let mut bits = vec![false; self.bits as usize];
        self.each_element(|variable, element, places| {
            let slot = self.program.layout.slot(variable);
            let code = slot.get(state, element) - self.ranges[variable.index()].0;
            for (at, &place) in places.iter().enumerate() {
                bits[place as usize] = code >> at & 1 == 1;
            }
        });
        bits
    }

    /// The state in which the diagrams' bits are these; those of values after a step are ignored.
    fn state_of(&self, picked: &[bool]) -> Vec<u32> {
        let mut state = vec![0; self.program.layout.words()];
        self.each_element(|variable, element, places| {
            let slot = self.program.layout.slot(variable);
            let code: i64 = places.iter().enumerate().map(|(at, &p)| i64::from(picked[now(p) as usize]) << at).sum();
            slot.set(&mut state, element, self.ranges[variable.index()].0 + code);
        });
        state
    }

    /// One state of a set.
    pub(crate) fn pick(&self, set: &Set) -> Option<Vec<u32>> {
        self.diagrams.pick(set).map(|picked| self.state_of(&picked))
    }

    fn each_element(&self, mut visit: impl FnMut(VarId, u32, &[u32])) {
        for (variable, elements) in self.places.iter().enumerate() {
            for (element, places) in elements.iter().enumerate() {
                visit(VarId::new(variable), element as u32, places);
            }
        }
    }

    /// The set of one state.
    pub(crate) fn single(&self, state: &[u32]) -> Attempt<Set> {
        let bits = self.bits_of(state);
        let literals: Vec<(u32, bool)> = bits.into_iter().enumerate().map(|(p, bit)| (now(p as u32), bit)).collect();
        self.diagrams.cube(&literals)
    }
}

impl Ground for Encoding<'_> {
    type Algebra = Diagrams;

    fn algebra(&self) -> &Diagrams {
        &self.diagrams
    }

    fn program(&self) -> &Program {
        self.program
    }

    /// Its value now.
    fn value(&self, variable: VarId, element: u32) -> &Value {
        &self.current[variable.index()][element as usize]
    }
}

/// Bits for the distances from the smallest value.
fn width((lo, hi): Range) -> u32 {
    64 - hi.abs_diff(lo).leading_zeros()
}

/// The number that these bits stand for: the distance from the variable's smallest value.
fn read(diagrams: &Diagrams, (lo, hi): Range, places: &[u32]) -> Attempt<Value> {
    let mut bits = places.iter().map(|&place| diagrams.bit(now(place))).collect::<Attempt<Vec<Set>>>()?;
    bits.push(diagrams.no.clone());
    let distance = diagrams.number(bits, (0, hi - lo));
    let value = diagrams.add(&distance, &diagrams.literal(lo))?;
    Ok(Value { lo: value.lo.max(lo), hi: value.hi.min(hi), ..value })
}
