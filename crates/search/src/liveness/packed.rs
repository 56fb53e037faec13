//! States that are small enough to be their own keys, of a model or of a product: how they are expanded.
//!
//! Nothing is kept of a state but what is in its key; its steps are computed again whenever a search comes by. That is
//! faster than to look for them, unless many states of the product share a state of the model.
//! The codec is always the direct one, because a key must leave room for a place of the product and for colours in its word.

use std::ops::ControlFlow;

use birk_engine::{Model, Monitor, Successors};

use crate::expand::expand;
use crate::store::codec::direct::Direct;

/// In place of the key of what a failing check leads to: no run goes on there. Marks leave no room for such a key.
const NOWHERE: u64 = u64::MAX;
/// Where more states of the product can share a state of the model, its steps had better be kept.
const FEW: u32 = 4;

/// How states become keys: a state of the model, and below it the place of what runs along with it.
pub(super) struct PackedStates<'m> {
    /// What is expanded: what the product watches, or, where there is none, the model itself.
    model: &'m dyn Model,
    product: Option<&'m dyn Monitor>,
    codec: Direct,
    /// Bits of a place.
    pub(super) places: u32,
    transitions: usize,
}

/// What one thread needs to expand states.
pub(super) struct Expansion {
    pub(super) batch: Successors,
    /// Keys of the batch.
    keys: Vec<u64>,
    /// The state that is expanded.
    state: Vec<u32>,
    /// For each transition, whether it was ever taken.
    pub(super) fired: Vec<bool>,
}

impl<'m> PackedStates<'m> {
    /// Of a model whose states leave room for so many marks beside their keys, and of which few of the product share one.
    pub(super) fn new(model: &'m dyn Model, marks: u32) -> Option<Self> {
        let watched = model.watched();
        let below = watched.map_or(model, |watched| watched.model);
        let product = watched.map(|watched| watched.monitor);
        let number = product.map_or(1, <dyn Monitor>::places).max(1);
        let places = number.next_power_of_two().ilog2();
        let most = u64::BITS.checked_sub(marks + places).filter(|_| number <= FEW)?;
        let codec = Direct::new(below, most)?;
        Some(Self { model: below, product, codec, places, transitions: model.transitions() })
    }

    /// For one thread.
    pub(super) fn expansion(&self) -> Expansion {
        let words = self.model.words();
        Expansion {
            batch: Successors::in_parts(words),
            keys: Vec::new(),
            state: vec![0; words],
            fired: vec![false; self.transitions],
        }
    }

    /// The initial states.
    pub(super) fn initial(&self, room: &mut Expansion) -> Vec<u64> {
        room.batch.clear();
        self.model.initial(&mut room.batch);
        self.find_keys(room, |_| ());
        room.keys.retain(|&key| key != NOWHERE);
        let Some(product) = self.product else { return room.keys.clone() };
        let nodes = |&key: &u64| product.initial_places().map(move |place| key | u64::from(place));
        room.keys.iter().flat_map(nodes).collect()
    }

    /// Replaces what is in the list by the successors of a state, in the order of the product. They will lie near the
    /// keys that are prefetched. Where there are very many, it is asked whether to go on, given their bytes.
    #[inline]
    pub(super) fn expand(
        &self,
        node: u64,
        room: &mut Expansion,
        prefetch: impl Fn(u64),
        mut may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<u64>,
    ) -> Option<()> {
        self.codec.unpack(node >> self.places, &mut room.state);
        room.batch.clear();
        let expanded = expand(self.model, &room.state, &mut room.batch);
        if room.batch.has_rest() {
            // The batch, its keys, and the nodes here and on a path.
            let goes_on =
                |bytes: u64| if may_go_on(bytes * 3) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            room.batch.append_rest(self.model, &room.state, goes_on).continue_value()?;
        }
        if let (true, Some(product)) = (expanded.is_stuck, self.product) {
            room.batch.push(product.stutter(), 0, &room.state);
        }
        self.find_keys(room, prefetch);
        out.clear();
        let Some(product) = self.product else {
            out.extend(room.keys.iter().filter(|&&key| key != NOWHERE));
            return Some(());
        };
        let letter = expanded.goals(self.model, &room.state).0;
        let met = |step: usize| product.met(room.batch.step(step).transition.index());
        let to = |step: usize, place: u32| {
            if room.keys[step] != NOWHERE {
                out.push(room.keys[step] | u64::from(place));
            }
        };
        let enabled = product.enabled(room.batch.len(), met);
        product.follow(self.place(node), letter, (room.batch.len(), enabled), met, to);
        Some(())
    }

    fn find_keys(&self, room: &mut Expansion, prefetch: impl Fn(u64)) {
        room.keys.clear();
        self.codec.pack_all(&room.batch, 0, &mut room.keys);
        for (i, key) in room.keys.iter_mut().enumerate() {
            if self.model.is_fault(room.batch.state(i)) {
                *key = NOWHERE;
            } else {
                *key <<= self.places;
                prefetch(*key);
            }
        }
    }

    /// Whether a cycle through a state counts.
    #[inline]
    pub(super) fn is_accepting(&self, node: u64) -> bool {
        match self.product {
            Some(product) => product.is_accepting(self.place(node)),
            None => self.model.evaluate(&self.state(node), false).contains(0),
        }
    }

    /// A state in full.
    pub(super) fn state(&self, node: u64) -> Vec<u32> {
        let mut state = vec![0; self.model.words()];
        self.codec.unpack(node >> self.places, &mut state);
        state.extend(self.product.map(|_| self.place(node)));
        state
    }

    #[inline]
    fn place(&self, node: u64) -> u32 {
        (node & ((1 << self.places) - 1)) as u32
    }
}

impl Expansion {
    /// The steps of the state that was expanded are taken, if there are any in the product.
    #[inline]
    pub(super) fn take(&mut self) {
        for (step, &key) in self.batch.steps(0).iter().zip(&self.keys) {
            self.fired[step.transition.index()] |= key != NOWHERE;
        }
    }
}
