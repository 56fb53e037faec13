//! Which parts of a state belong together: an order of its elements in which neighbours are written by neighbouring
//! threads. Stores that split a state into parts split it along this order, so that few different parts occur.

use crate::ids::{TransitionId, VarId};
use crate::interval::{self, Declared};
use crate::program::{Op, Program, Transition};

/// Bits of one word that change together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The word.
    pub word: u32,
    /// The lowest bit.
    pub shift: u32,
    /// How many bits, 1 to 32.
    pub bits: u32,
}

/// The threads that write an element: how many, and the sum of their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Writers {
    count: u64,
    sum: u64,
}

impl Program {
    /// Every element of every variable that takes up bits, ordered by the middle of the threads that write it.
    pub fn fields(&self) -> Vec<Field> {
        let mut writers: Vec<Vec<Writers>> =
            self.variables.iter().map(|variable| vec![Writers::default(); variable.len() as usize]).collect();
        for transition in &self.transitions {
            for (variable, lo, hi) in written(self, transition) {
                let elements = &mut writers[variable.index()];
                let end = (hi.saturating_add(1).max(0) as usize).min(elements.len());
                for element in &mut elements[(lo.max(0) as usize).min(end)..end] {
                    element.count += 1;
                    element.sum += transition.thread.index() as u64;
                }
            }
        }
        let mut fields: Vec<(u64, Field)> = Vec::new();
        for (variable, elements) in writers.iter().enumerate() {
            let slot = self.layout.slot(VarId::new(variable));
            for (element, writers) in elements.iter().enumerate().filter(|_| slot.bits > 0) {
                let (word, shift) = slot.position(element as u32);
                let middle = (writers.sum * 1024).checked_div(writers.count).unwrap_or(u64::MAX);
                fields.push((middle, Field { word: word as u32, shift, bits: slot.bits }));
            }
        }
        fields.sort_by_key(|&(middle, _)| middle);
        fields.into_iter().map(|(_, field)| field).collect()
    }

    /// The words of a state that a transition can change, in order.
    pub fn written_words(&self, transition: TransitionId) -> Vec<u32> {
        let mut words = Vec::new();
        for (variable, lo, hi) in written(self, self.transition(transition)) {
            let slot = self.layout.slot(variable);
            let last = hi.min(i64::from(slot.len) - 1);
            words.extend((lo.max(0)..=last).filter(|_| slot.bits > 0).map(|e| slot.position(e as u32).0 as u32));
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The most outcomes that a transition can have, cut ones included.
    pub fn most_outcomes(&self, transition: TransitionId) -> u64 {
        let (mut most, mut declared) = (1u64, Declared::new(self));
        for op in &self.transition(transition).ops {
            if let (Some((lo, hi)), Op::Choose(..)) = (declared.bind(op), op) {
                most = most.saturating_mul((i128::from(hi) - i128::from(lo) + 1).clamp(0, 1 << 63) as u64);
            }
        }
        most
    }
}

/// The variables a transition writes, with the range of elements in each.
fn written(program: &Program, transition: &Transition) -> Vec<(VarId, i64, i64)> {
    let mut found = Vec::new();
    let mut declared = Declared::new(program);
    for op in &transition.ops {
        match op {
            Op::Let(..) | Op::Choose(..) => _ = declared.bind(op),
            Op::Assign(place, _) => {
                let (lo, hi) = place.index.as_ref().map_or((0, 0), |index| interval::of(index, &declared));
                found.push((place.variable, lo, hi));
            }
            Op::Check(..) => found.extend(program.fault.map(|fault| (fault, 0, 0))),
            Op::Assume(_) | Op::Require(_) => {}
        }
    }
    found
}
