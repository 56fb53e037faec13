//! Where a search was cut: the states that it reached and did not follow further, and the steps that it did not take.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use birk_engine::{Cutoff, Model, Successors};

use crate::store::hash::permute;

/// Of the states that wait when a search is ended early, so many are examined, spread evenly over them.
const MOST: u64 = 10_000;
/// So many different things are kept in a sample.
const SAMPLE: usize = 1 << 14;
/// They are examined until their successors have had so many words, a few of which stand for the time to compute one, and one
/// for each condition of a step.
const MOST_WORDS: usize = 1 << 22;
const FEW_WORDS: usize = 16;

/// Looks at states that wait.
pub(crate) struct Survey<'m> {
    model: &'m dyn Model,
    batch: Successors,
    cutoff: Cutoff,
    /// One in so many is examined.
    stride: u64,
    /// Words of successors that may still be examined.
    left: usize,
}

impl<'m> Survey<'m> {
    /// Of about this many states.
    pub(crate) fn new(model: &'m dyn Model, about: u64) -> Self {
        let cutoff = Cutoff::new(model.transitions());
        let stride = about.div_ceil(MOST).max(1);
        Self { model, batch: Successors::in_parts(model.words()), cutoff, stride, left: MOST_WORDS }
    }

    /// Counts a state that waits; whether it is one of those to look at.
    pub(crate) fn counts(&mut self) -> bool {
        self.cutoff.states += 1;
        (self.cutoff.states - 1).is_multiple_of(self.stride) && self.left > 0
    }

    /// Looks at the state that was counted.
    pub(crate) fn look(&mut self, state: &[u32]) {
        self.look_beyond(state, &mut [], |_| false);
    }

    /// The same, where steps were followed: those to known states were taken.
    pub(crate) fn look_beyond(&mut self, state: &[u32], fired: &mut [bool], mut is_known: impl FnMut(&[u32]) -> bool) {
        let Self { model, batch, cutoff, left, .. } = self;
        *left = left.saturating_sub(model.transitions());
        // How many steps in a row by one transition are open: they count when all steps of the state were seen.
        let mut open: Vec<(usize, u64)> = Vec::new();
        let flow = batch.each_part(*model, state, |part| {
            for i in 0..part.len() {
                let transition = part.step(i).transition.index();
                match (is_known(part.state(i)), open.last_mut()) {
                    (true, _) => fired[transition] = true,
                    (false, Some((last, steps))) if *last == transition => *steps += 1,
                    (false, _) => open.push((transition, 1)),
                }
            }
            *left = left.saturating_sub(part.len() * (part.words() + FEW_WORDS));
            if *left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if flow.is_continue() {
            cutoff.examined += 1;
            open.iter().for_each(|&(transition, steps)| cutoff.open[transition] += steps);
        }
    }

    /// Both, for a state that is at hand.
    pub(crate) fn wait(&mut self, state: &[u32]) {
        if self.counts() {
            self.look(state);
        }
    }

    /// What was seen.
    pub(crate) fn cutoff(self) -> Cutoff {
        self.cutoff
    }
}

/// Things of which many are equal, each of them once; when there are too many, a share of them that their hashes decide
/// (Flajolet: "On adaptive sampling", 1990), which takes no more time than to come by all of them.
#[derive(Debug)]
pub(crate) struct Sample<T> {
    /// Those whose hashes end in so many zeros.
    zeros: u32,
    kept: BTreeMap<u64, T>,
}

impl<T> Sample<T> {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self { zeros: 0, kept: BTreeMap::new() }
    }

    /// Adds a thing; equal things have equal keys.
    #[inline]
    pub(crate) fn add(&mut self, key: u64, thing: T) {
        // No two keys have the same hash.
        self.add_hashed(permute(key), thing);
    }

    #[inline]
    fn add_hashed(&mut self, hash: u64, thing: T) {
        if hash.trailing_zeros() >= self.zeros {
            self.kept.insert(hash, thing);
            if self.kept.len() > SAMPLE {
                self.zeros += 1;
                self.kept.retain(|hash, _| hash.trailing_zeros() >= self.zeros);
            }
        }
    }

    /// Both together.
    pub(crate) fn join(&mut self, other: Self) {
        self.zeros = self.zeros.max(other.zeros);
        self.kept.retain(|hash, _| hash.trailing_zeros() >= self.zeros);
        other.kept.into_iter().for_each(|(hash, thing)| self.add_hashed(hash, thing));
    }

    /// Surveys those that are states which wait.
    pub(crate) fn survey(
        mut self,
        model: &dyn Model,
        waits: impl Fn(&T) -> bool,
        state: impl Fn(&T) -> Vec<u32>,
    ) -> Cutoff {
        self.kept.retain(|_, thing| waits(thing));
        let mut survey = Survey::new(model, self.kept.len() as u64);
        for thing in self.kept.values() {
            if survey.counts() {
                survey.look(&state(thing));
            }
        }
        let cutoff = survey.cutoff();
        Cutoff { states: cutoff.states << self.zeros, is_estimate: self.zeros > 0, ..cutoff }
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_what_differs() {
        let sample = |from: u64, to: u64| {
            let mut sample = Sample::new();
            (0..3).flat_map(|_| from..to).for_each(|key| sample.add(key * 64, key));
            sample
        };
        let counted = |sample: &Sample<u64>| (sample.kept.len() as u64) << sample.zeros;
        let mut few = sample(0, 12_000);
        few.join(sample(10_000, 15_000));
        assert_eq!((counted(&few), few.zeros), (15_000, 0), "exact");
        let mut many = sample(0, 1_000_000);
        many.join(sample(500_000, 4_000_000));
        let (count, kept) = (counted(&many), many.kept.len());
        assert!((3_900_000..4_100_000).contains(&count) && (SAMPLE / 2..=SAMPLE).contains(&kept), "{count}, {kept}");
        assert!(many.kept.iter().all(|(_, key)| *key < 4_000_000));
    }
}
