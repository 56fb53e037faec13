//! How many steps can be taken from the states of a set, and by which transitions: in one walk down its diagram, level by
//! level as in `saturation`.
//!
//! An outcome looks at no bit above its first one, so it is counted in the parts that begin there. A part stands for as
//! many states as the bits above it leave open: the half of both sides together, at each bit that decides.

use std::collections::BTreeMap;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Count, Diagrams, Known, Set};
use crate::bdd::encoding::Encoding;
use crate::bdd::relation::{Outcomes, Relation};
use crate::bitvector::Algebra;

/// What was counted.
pub(crate) struct StepCount {
    pub(crate) steps: Count,
    /// Outcomes that an `assume` cuts.
    pub(crate) cut: Count,
    /// By transition: whether it has a step.
    pub(crate) fired: Vec<bool>,
}

/// Counts what can happen in these states; `faulty` is where a check has failed, and nothing happens.
pub(crate) fn count_steps(
    encoding: &Encoding<'_>,
    relation: &Relation,
    faulty: &Set,
    states: &Set,
) -> Attempt<StepCount> {
    let mut fired = vec![false; encoding.program.transitions.len()];
    let events = relation.events.iter().map(|event| (Some(event.transition.index()), &event.outcomes));
    let steps = Counter::new(encoding, faulty, events)?.count(states, &mut fired)?;
    let cuts = relation.cuts.iter().map(|outcomes| (None, outcomes));
    let cut = Counter::new(encoding, faulty, cuts)?.count(states, &mut fired)?;
    Ok(StepCount { steps, cut, fired })
}

/// One of the outcomes that begin at the same bit: its transition, where it happens, and the bits of choices.
type Counted = (Option<usize>, Set, u32);

struct Counter<'e> {
    diagrams: &'e Diagrams,
    sound: Set,
    levels: Vec<(u32, Vec<Counted>)>,
    /// Bits of a state.
    bits: u32,
    /// The most bits of choices that an outcome has: all are counted as if they had so many.
    most: u32,
    known: Known<(usize, Set), Count>,
}

impl<'e> Counter<'e> {
    fn new<'o>(
        encoding: &'e Encoding<'_>,
        faulty: &Set,
        outcomes: impl Iterator<Item = (Option<usize>, &'o Outcomes)>,
    ) -> Attempt<Self> {
        let diagrams = &encoding.diagrams;
        let sound = diagrams.not(faulty)?;
        let (mut levels, mut most) = (BTreeMap::new(), 0);
        for (transition, outcomes) in outcomes {
            let set = diagrams.restrict(&outcomes.set, &sound)?;
            most = most.max(outcomes.choice_bits);
            let level = levels.entry(diagrams.top(&set)).or_insert_with(Vec::new);
            level.push((transition, set, outcomes.choice_bits));
        }
        let levels = levels.into_iter().collect();
        Ok(Self { diagrams, sound, levels, bits: encoding.bits, most, known: Known::default() })
    }

    fn count(mut self, states: &Set, fired: &mut [bool]) -> Attempt<Count> {
        let sound = self.diagrams.restrict(states, &self.sound)?;
        let count = self.part(0, &sound, fired)?;
        // Without the flag every state counts twice: with it and without it.
        Ok(if self.sound == self.diagrams.yes { count } else { count >> 1u32 })
    }

    /// Outcomes on a level and below it, from the states of a part.
    fn part(&mut self, level: usize, part: &Set, fired: &mut [bool]) -> Attempt<Count> {
        let diagrams = self.diagrams;
        if level == self.levels.len() || *part == diagrams.no {
            return Ok(Count::from(0u32));
        }
        let key = (level, part.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let count;
        if let Some((_, yes, no)) = diagrams.above(part, self.levels[level].0) {
            count = (self.part(level, &yes, fired)? + self.part(level, &no, fired)?) >> 1u32;
        } else {
            let mut sum = self.part(level + 1, part, fired)?;
            for (transition, set, choice_bits) in &self.levels[level].1 {
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
