//! The initial states of a program, as far as the bits of a proof can tell.

use std::collections::BTreeMap;

use birk_ir::Program;

use super::{Bit, Cube, literal};
use crate::bitvector::Algebra as _;
use crate::sat::circuit::{Circuit, Literal};
use crate::sat::unrolling::one_of;

/// Bits that are the same in all initial states, and the values of the elements that are not.
pub(super) struct Initial {
    /// By bit, unless initial states differ in it.
    fixed: Vec<Option<bool>>,
    /// The bits of each element with a choice, least first, and its values.
    chosen: Vec<(Vec<usize>, Vec<i64>)>,
}

impl Initial {
    /// Of the program, given which bit of which variable each bit of a state is.
    pub(super) fn new(program: &Program, free: &[Bit]) -> Self {
        let (mut fixed, mut elements) = (vec![None; free.len()], BTreeMap::<_, Vec<usize>>::new());
        for (bit, &(variable, element, at)) in free.iter().enumerate() {
            match program.initial_values(variable, element) {
                [value] => fixed[bit] = Some(value >> at & 1 == 1),
                _ => elements.entry((variable, element)).or_default().push(bit),
            }
        }
        let values = |(variable, element)| program.initial_values(variable, element).to_vec();
        let chosen = elements.into_iter().map(|(element, bits)| (bits, values(element))).collect();
        Self { fixed, chosen }
    }

    /// The bits that are the same in all.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (usize, bool)> {
        self.fixed.iter().enumerate().filter_map(|(bit, is_set)| Some((bit, (*is_set)?)))
    }

    fn differs(&self, (bit, is_set): (usize, bool)) -> bool {
        self.fixed[bit] == Some(!is_set)
    }

    /// Whether a cube includes an initial state.
    pub(super) fn is_in(&self, cube: &Cube) -> bool {
        !cube.iter().any(|&bit| self.differs(bit)) && self.chosen.iter().all(|one| can_be(one, cube))
    }

    /// Conditions of a cube without initial states that exclude all of them: one bit, or those of one element.
    pub(super) fn apart(&self, cube: &Cube) -> Cube {
        if let Some(&bit) = cube.iter().find(|&&bit| self.differs(bit)) {
            return vec![bit];
        }
        let (bits, _) =
            self.chosen.iter().find(|one| !can_be(one, cube)).expect("the cube does not include an initial state");
        cube.iter().copied().filter(|(bit, _)| bits.contains(bit)).collect()
    }

    /// A literal that makes those bits of a state that differ between initial states the bits of one.
    pub(super) fn begins(&self, circuit: &Circuit<'_>, state: &[Literal]) -> Literal {
        if self.chosen.is_empty() {
            return *circuit.yes();
        }
        let begins = circuit.free();
        for (bits, values) in &self.chosen {
            let bits: Vec<Literal> = bits.iter().map(|&bit| literal(state, (bit, true))).collect();
            one_of(circuit, values, &bits, begins);
        }
        begins
    }
}

/// Whether an element has one of its values where a cube is true.
fn can_be((bits, values): &(Vec<usize>, Vec<i64>), cube: &Cube) -> bool {
    let fits = |value: i64| (0..).zip(bits).all(|(at, &bit)| !cube.contains(&(bit, value >> at & 1 == 0)));
    values.iter().any(|&value| fits(value))
}
