//! Where a search was cut: the states that it reached and did not follow further, and the steps that it did not take.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use birk_exec::{Model, Successors};
use birk_ir::Stop;

/// Of the states that wait when a search is ended early, so many are looked at, spread evenly over them.
const MOST: u64 = 10_000;
/// So many different things are kept in a sample.
const SAMPLE: usize = 1 << 14;
/// They are looked at until their successors have had so many words, a few of which stand for the time to compute one, and one
/// for each condition of a step.
const MOST_WORDS: usize = 1 << 22;
const FEW_WORDS: usize = 16;

/// The edge of what was searched. Empty after a complete search, and where a search ended at what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Border {
    /// States (and results of failing checks) that were reached, and of which not all steps were taken.
    pub states: u64,
    /// That is an estimate, within about a hundredth: there were too many to tell apart.
    pub is_estimate: bool,
    /// How many of them were looked at, to see what can happen there.
    pub looked_at: u64,
    /// For each transition, how many steps by it lead from those that were looked at to where the search did not go.
    /// No step from a state that waited was taken; of a state at the depth limit, those to unknown states were not.
    pub open: Vec<u64>,
}

impl Border {
    /// Nothing is cut, in a model with this many transitions.
    pub(crate) fn new(transitions: usize) -> Self {
        Self { open: vec![0; transitions], ..Self::default() }
    }

    /// Both together.
    pub(crate) fn join(&mut self, other: &Border) {
        self.states += other.states;
        self.is_estimate |= other.is_estimate;
        self.looked_at += other.looked_at;
        self.open.resize(self.open.len().max(other.open.len()), 0);
        self.open.iter_mut().zip(&other.open).for_each(|(open, more)| *open += more);
    }

    /// The steps of a batch from one on, all from one state at the edge: each is open, or was taken. Whether one is open.
    pub(crate) fn edge(
        &mut self,
        batch: &Successors,
        from: usize,
        fired: &mut [bool],
        mut is_known: impl FnMut(&[u32]) -> bool,
    ) -> bool {
        let mut is_open = false;
        for i in from..batch.len() {
            let transition = batch.step(i).transition.index();
            match is_known(batch.state(i)) {
                true => fired[transition] = true,
                false => {
                    self.open[transition] += 1;
                    is_open = true;
                }
            }
        }
        is_open
    }

    /// Counts a state at the edge if one of its steps is open.
    #[inline]
    pub(crate) fn count(&mut self, is_open: bool) {
        self.states += u64::from(is_open);
        self.looked_at += u64::from(is_open);
    }

    /// Both, for all steps of a state.
    pub(crate) fn edge_of(
        &mut self,
        (model, batch, state): (&dyn Model, &mut Successors, &[u32]),
        fired: &mut [bool],
        mut is_known: impl FnMut(&[u32]) -> bool,
    ) {
        let mut is_open = false;
        let _ = batch.each_part(model, state, |part| {
            is_open |= self.edge(part, 0, fired, &mut is_known);
            ControlFlow::<()>::Continue(())
        });
        self.count(is_open);
    }

    /// Whether a step leads to where the search did not go.
    pub(crate) fn is_open(&self) -> bool {
        self.states > 0
    }

    /// Why a search ended that has this border.
    pub(crate) fn ends(&self, flow: ControlFlow<Stop>) -> Stop {
        match flow {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) if self.is_open() => Stop::Depth,
            ControlFlow::Continue(()) => Stop::Exhausted,
        }
    }
}

/// Looks at states that wait.
pub(crate) struct Survey<'m> {
    model: &'m dyn Model,
    batch: Successors,
    border: Border,
    /// One in so many is looked at.
    stride: u64,
    /// Words of successors that may still be looked at.
    left: usize,
}

impl<'m> Survey<'m> {
    /// Of about this many states.
    pub(crate) fn new(model: &'m dyn Model, about: u64) -> Self {
        let border = Border::new(model.transitions());
        let stride = about.div_ceil(MOST).max(1);
        Self { model, batch: Successors::in_parts(model.words()), border, stride, left: MOST_WORDS }
    }

    /// Counts a state that waits; whether it is one of those to look at.
    pub(crate) fn counts(&mut self) -> bool {
        self.border.states += 1;
        (self.border.states - 1).is_multiple_of(self.stride) && self.left > 0
    }

    /// Looks at the state that was counted.
    pub(crate) fn look(&mut self, state: &[u32]) {
        self.look_beyond(state, &mut [], |_| false);
    }

    /// The same, where steps were followed: those to known states were taken.
    pub(crate) fn look_beyond(&mut self, state: &[u32], fired: &mut [bool], mut is_known: impl FnMut(&[u32]) -> bool) {
        let Self { model, batch, border, left, .. } = self;
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
            border.looked_at += 1;
            open.iter().for_each(|&(transition, steps)| border.open[transition] += steps);
        }
    }

    /// Both, for a state that is at hand.
    pub(crate) fn wait(&mut self, state: &[u32]) {
        if self.counts() {
            self.look(state);
        }
    }

    /// What was seen.
    pub(crate) fn border(self) -> Border {
        self.border
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
        let hash = (key ^ key >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.add_hashed(hash ^ hash >> 32, thing);
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
    ) -> Border {
        self.kept.retain(|_, thing| waits(thing));
        let mut survey = Survey::new(model, self.kept.len() as u64);
        for thing in self.kept.values() {
            if survey.counts() {
                survey.look(&state(thing));
            }
        }
        let border = survey.border();
        Border { states: border.states << self.zeros, is_estimate: self.zeros > 0, ..border }
    }
}

#[cfg(all(test, not(loom)))]
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
