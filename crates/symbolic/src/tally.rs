//! How many steps can be taken from the states of a set, and by which transitions: in one walk down its diagram, as
//! `ladder` takes them.
//!
//! An outcome looks at no bit above its first one, so it is counted in the parts that begin there. A part stands for as
//! many states as the bits above it leave open: the half of both sides together, at each bit that decides.

use std::collections::BTreeMap;

use crate::diagram::{Attempt, Count, Diagrams, Known, Set};
use crate::encoding::Encoding;
use crate::relation::{Outcomes, Relation};
use crate::value::Algebra;

/// What was counted.
pub(crate) struct Tally {
    pub(crate) steps: Count,
    /// Outcomes that an `assume` cuts.
    pub(crate) cut: Count,
    /// By transition: whether it has a step.
    pub(crate) fired: Vec<bool>,
}

/// Counts what can happen in these states; `faulty` is where a check has failed, and nothing happens.
pub(crate) fn tally(encoding: &Encoding<'_>, relation: &Relation, faulty: &Set, states: &Set) -> Attempt<Tally> {
    let mut fired = vec![false; encoding.program.transitions.len()];
    let pieces = relation.pieces.iter().map(|piece| (Some(piece.transition.index()), &piece.outcomes));
    let steps = Walk::new(encoding, faulty, pieces)?.count(states, &mut fired)?;
    let cuts = relation.cuts.iter().map(|outcomes| (None, outcomes));
    let cut = Walk::new(encoding, faulty, cuts)?.count(states, &mut fired)?;
    Ok(Tally { steps, cut, fired })
}

/// One of the outcomes that begin at the same bit: its transition, where it happens, and the bits of choices.
type Counted = (Option<usize>, Set, u32);

struct Walk<'e> {
    diagrams: &'e Diagrams,
    sound: Set,
    rungs: Vec<(u32, Vec<Counted>)>,
    /// Bits of a state.
    bits: u32,
    /// The most bits of choices that an outcome has: all are counted as if they had so many.
    most: u32,
    known: Known<(usize, Set), Count>,
}

impl<'e> Walk<'e> {
    fn new<'o>(
        encoding: &'e Encoding<'_>,
        faulty: &Set,
        outcomes: impl Iterator<Item = (Option<usize>, &'o Outcomes)>,
    ) -> Attempt<Self> {
        let diagrams = &encoding.diagrams;
        let sound = diagrams.not(faulty)?;
        let (mut rungs, mut most) = (BTreeMap::new(), 0);
        for (transition, outcomes) in outcomes {
            let set = diagrams.restrict(&outcomes.set, &sound)?;
            most = most.max(outcomes.choice_bits);
            let rung = rungs.entry(diagrams.top(&set)).or_insert_with(Vec::new);
            rung.push((transition, set, outcomes.choice_bits));
        }
        let rungs = rungs.into_iter().collect();
        Ok(Self { diagrams, sound, rungs, bits: encoding.bits, most, known: Known::default() })
    }

    fn count(mut self, states: &Set, fired: &mut [bool]) -> Attempt<Count> {
        let sound = self.diagrams.restrict(states, &self.sound)?;
        let count = self.part(0, &sound, fired)?;
        // Without the flag every state counts twice: with it and without it.
        Ok(if self.sound == self.diagrams.yes { count } else { count >> 1u32 })
    }

    /// Outcomes on a rung and below it, from the states of a part.
    fn part(&mut self, rung: usize, part: &Set, fired: &mut [bool]) -> Attempt<Count> {
        let diagrams = self.diagrams;
        if rung == self.rungs.len() || *part == diagrams.no {
            return Ok(Count::from(0u32));
        }
        let key = (rung, part.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let count;
        if let Some((_, yes, no)) = diagrams.above(part, self.rungs[rung].0) {
            count = (self.part(rung, &yes, fired)? + self.part(rung, &no, fired)?) >> 1u32;
        } else {
            let mut sum = self.part(rung + 1, part, fired)?;
            for (transition, set, choice_bits) in &self.rungs[rung].1 {
                let here = diagrams.and(part, set)?;
                if here != diagrams.no {
                    transition.iter().for_each(|&transition| fired[transition] = true);
                    sum = sum + (diagrams.count(&here, self.bits + self.most)? >> (self.most - choice_bits));
                }
            }
            count = sum;
        }
        if self.known.len() >= diagrams.most_known() {
            self.known = Known::default();
        }
        self.known.insert(key, count.clone());
        Ok(count)
    }
}
