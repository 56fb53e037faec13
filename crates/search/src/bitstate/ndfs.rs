//! A space for nested search in which visited states are known by bits: one bit array for those that were seen, one for the
//! red ones. The path is kept in full, and a state is cyan only if it is there.

use std::ops::ControlFlow;

use birk_engine::{HyperLogLog, Model, Successors};
use birk_ir::Coverage;

use super::coverage;
use super::path_states::PathStates;
use crate::expand::{expand, note_fired};
use crate::liveness::{Colour, Space};
use crate::store::bloom::{Filter, key_of};
use crate::store::hash::hash;

/// The space. Its nodes are numbers of states that are kept.
pub(super) struct BitSpace<'m> {
    model: &'m dyn Model,
    seen: Filter,
    red: Filter,
    kept: PathStates,
    cyan: Cyan,
    batch: Successors,
    /// The state that is expanded.
    state: Vec<u32>,
    sketch: HyperLogLog,
    fired: Vec<bool>,
}

impl<'m> BitSpace<'m> {
    /// Of a model, with two empty bit arrays of the same seed and size.
    pub(super) fn new(model: &'m dyn Model, seen: Filter, red: Filter) -> Self {
        Self {
            model,
            seen,
            red,
            kept: PathStates::new(model.words()),
            cyan: Cyan { slots: vec![0; 64], len: 0 },
            batch: Successors::in_parts(model.words()),
            state: Vec::new(),
            sketch: HyperLogLog::default(),
            fired: vec![false; model.transitions()],
        }
    }

    fn see(&mut self, node: usize) {
        self.seen.insert(self.kept.spot(node));
        self.sketch.note(key_of(self.kept.state(node)));
    }

    /// Keeps all states of the batch.
    fn keep(&mut self, out: &mut Vec<usize>) {
        for i in 0..self.batch.len() {
            let state = self.batch.state(i);
            out.push(self.kept.push(state, self.seen.spot(key_of(state))));
        }
    }
}

impl Space for BitSpace<'_> {
    type Node = usize;

    fn initial(&mut self) -> Option<Vec<usize>> {
        self.model.initial(&mut self.batch);
        let mut nodes = Vec::new();
        self.keep(&mut nodes);
        Some(nodes)
    }

    fn successors(
        &mut self,
        node: usize,
        _soon: impl Iterator<Item = usize>,
        mut may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<usize>,
    ) -> Option<()> {
        self.state.clear();
        self.state.extend_from_slice(self.kept.state(node));
        self.batch.clear();
        expand(self.model, &self.state, &mut self.batch);
        if self.batch.has_rest() {
            // The batch, the states that are kept of it, and the nodes here and on a path.
            let here = self.bytes();
            let goes_on = |bytes: u64| match may_go_on(here + bytes * 4) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            self.batch.append_rest(self.model, &self.state, goes_on).continue_value()?;
        }
        note_fired(&self.batch, 0, &mut self.fired);
        out.clear();
        self.keep(out);
        Some(())
    }

    fn is_accepting(&self, node: usize) -> bool {
        self.model.evaluate(self.kept.state(node), false).contains(0)
    }

    fn colour(&self, node: usize) -> Colour {
        let spot = self.kept.spot(node);
        match self.seen.contains(spot) {
            false => Colour::White,
            true if self.cyan.contains(node, &self.kept) => Colour::Cyan,
            true if self.red.contains(spot) => Colour::Red,
            true => Colour::Blue,
        }
    }

    fn paint(&mut self, node: usize, colour: Colour) {
        let was_cyan = colour != Colour::Cyan && self.cyan.pop_if(node, &self.kept);
        match colour {
            Colour::Cyan => {
                self.see(node);
                self.cyan.push(node, &self.kept);
            }
            Colour::Blue if !was_cyan => self.see(node),
            Colour::Red => self.red.insert(self.kept.spot(node)),
            Colour::White | Colour::Blue => {}
        }
    }

    fn key(&self, node: usize) -> u64 {
        hash(self.kept.state(node), 0)
    }

    fn state(&self, node: usize) -> Vec<u32> {
        self.kept.state(node).to_vec()
    }

    fn mark(&self) -> usize {
        self.kept.len()
    }

    fn release(&mut self, mark: usize) {
        self.kept.truncate(mark);
    }

    fn bytes(&self) -> u64 {
        self.seen.bytes() + self.red.bytes() + self.kept.bytes() + self.cyan.slots.len() as u64 * 4
    }

    fn coverage(&mut self) -> Coverage {
        coverage(&mut [&mut self.seen, &mut self.red])
    }

    fn end(self) -> (Vec<bool>, u64, Option<HyperLogLog>) {
        (self.fired, self.batch.cut, Some(self.sketch))
    }
}

/// The nodes of the path, by their states. What was added last is taken out first, so that a free slot always ends a
/// search.
#[derive(Debug)]
struct Cyan {
    /// Nodes plus one; 0 is free.
    slots: Vec<u32>,
    len: usize,
}

impl Cyan {
    /// The slot with the first node for which this holds, or the free one behind all that might.
    fn find(&self, node: usize, kept: &PathStates, is_wanted: impl Fn(usize) -> bool) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let mut place = kept.spot(node).home() & mask;
        loop {
            match self.slots[place] {
                0 => return (place, false),
                other if is_wanted(other as usize - 1) => return (place, true),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn contains(&self, node: usize, kept: &PathStates) -> bool {
        self.find(node, kept, |other| kept.state(other) == kept.state(node)).1
    }

    fn push(&mut self, node: usize, kept: &PathStates) {
        if self.len * 2 >= self.slots.len() {
            let mut nodes: Vec<u32> = self.slots.iter().copied().filter(|&slot| slot != 0).collect();
            // In the order of the path, which is that of the numbers.
            nodes.sort_unstable();
            self.slots = vec![0; self.slots.len() * 2];
            nodes.into_iter().for_each(|slot| self.put(slot as usize - 1, kept));
        }
        self.put(node, kept);
        self.len += 1;
    }

    fn put(&mut self, node: usize, kept: &PathStates) {
        let (place, _) = self.find(node, kept, |_| false);
        self.slots[place] = u32::try_from(node + 1).expect("a path of four thousand million states is too long");
    }

    /// Takes a node out; whether it was there.
    fn pop_if(&mut self, node: usize, kept: &PathStates) -> bool {
        let (place, found) = self.find(node, kept, |other| other == node);
        if found {
            self.slots[place] = 0;
            self.len -= 1;
        }
        found
    }
}
