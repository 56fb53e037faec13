//! Bits of states, and conjunctions of them.

use birk_ir::interval::Interval;
use birk_ir::{Program, VarId};

use crate::bitvector::width;
use crate::sat::circuit::{Circuit, Literal};
use crate::sat::pairs::{Atom, Pair};

/// A bit of an element of a variable.
pub(super) type Bit = (VarId, u32, usize);
/// A conjunction of state bits: each by its number, and whether it is set.
pub(super) type Cube = Vec<(usize, bool)>;

/// The bits of a state that are not always the same.
pub(in crate::sat) fn bits(program: &Program, ranges: &[Interval]) -> Vec<Bit> {
    let mut bits = Vec::new();
    for (id, (variable, &(lo, hi))) in
        program.variables.iter().zip(ranges).enumerate().filter(|(_, (_, (lo, hi)))| lo < hi)
    {
        let width = width(lo, hi) - usize::from(lo >= 0 || hi < 0);
        for element in 0..variable.len() {
            bits.extend((0..width).map(|at| (VarId::new(id), element, at)));
        }
    }
    bits
}

/// The cubes of pairs of values.
pub(super) fn cubes(pairs: &[Pair], free: &[Bit]) -> Vec<Cube> {
    let cube = |pair: &Pair| {
        let is_of = |&(variable, element, _): &Atom, bit: &Bit| (variable, element) == (bit.0, bit.1);
        let value = |bit: &Bit| pair.iter().find(|atom| is_of(atom, bit)).map(|atom| atom.2 >> bit.2 & 1 == 1);
        free.iter().enumerate().filter_map(|(number, bit)| Some((number, value(bit)?))).collect()
    };
    pairs.iter().map(cube).collect()
}

pub(super) fn literal(bits: &[Literal], (bit, is_set): (usize, bool)) -> Literal {
    if is_set { bits[bit] } else { bits[bit].negated() }
}

/// The state in the solution that was found last, as far as anything depends on it.
pub(super) fn solution(circuit: &Circuit<'_>, bits: &[Literal]) -> Cube {
    let told = bits.iter().enumerate().filter(|(_, literal)| circuit.is_told(**literal));
    told.map(|(bit, &literal)| (bit, circuit.value(literal))).collect()
}
