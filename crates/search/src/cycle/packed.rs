//! The space of one core where states are small: a state is its own key, and its colour lies beside it in one word.
//!
//! Nothing else is kept of a state; its steps are computed again whenever a search comes by. That is faster than to look
//! for them, unless many states of the product share a state of the model.

use birk_exec::{Model, Product, Successors};

use super::marks::Marks;
use super::nested::{Colour, Space};
use crate::bits::Sketch;
use crate::codec::direct::Direct;

/// Bits of a colour.
const COLOUR: u32 = 2;
/// Places in the first table, as a power of two.
const FIRST: u32 = 10;
/// In place of the key of what a failing check leads to: no run goes on there. Marks leave no room for such a key.
const NOWHERE: u64 = u64::MAX;
/// Where more states of the product can share a state of the model, its steps had better be kept.
const FEW: u32 = 4;

/// The space. Its nodes are keys: a state of the model, and below it the place of what runs along with it.
pub(super) struct Packed<'m> {
    /// What is expanded: what the product watches, or, where there is none, the model itself.
    model: &'m dyn Model,
    product: Option<&'m Product<'m>>,
    codec: Direct,
    /// Bits of a place.
    places: u32,
    marks: Marks,
    /// States that are in the table.
    held: u64,
    budget: u64,
    batch: Successors,
    /// Keys of the batch.
    keys: Vec<u64>,
    /// The state that is expanded.
    state: Vec<u32>,
    fired: Vec<bool>,
}

impl<'m> Packed<'m> {
    /// Of a model, if its states are small enough and few of the product share one of the model. The table may have this
    /// many bytes.
    pub(super) fn new(model: &'m dyn Model, budget: u64) -> Option<Self> {
        let product = model.as_product();
        let below = product.map_or(model, Product::model);
        let places = product.map_or(1, Product::places).max(1);
        let bits = places.next_power_of_two().ilog2();
        let codec = Direct::new(below, u64::BITS - COLOUR - bits)?;
        (places <= FEW).then_some(())?;
        Some(Self {
            model: below,
            product,
            codec,
            places: bits,
            marks: Marks::new(FIRST, COLOUR, bits)?,
            held: 0,
            budget,
            batch: Successors::new(below.words()),
            keys: Vec::new(),
            state: vec![0; below.words()],
            fired: vec![false; model.transitions()],
        })
    }

    /// The keys of the batch, whose words in the table are asked for.
    fn find_keys(&mut self) {
        self.keys.clear();
        self.codec.pack_all(&self.batch, 0, &mut self.keys);
        for (i, key) in self.keys.iter_mut().enumerate() {
            if self.model.is_fault(self.batch.state(i)) {
                *key = NOWHERE;
            } else {
                *key <<= self.places;
                self.marks.announce(*key);
            }
        }
    }

    #[inline]
    fn place(&self, node: u64) -> u32 {
        (node & ((1 << self.places) - 1)) as u32
    }

    fn expand(&mut self, node: u64, out: &mut Vec<u64>) {
        self.codec.unpack(node >> self.places, &mut self.state);
        self.batch.clear();
        let cut = self.batch.cut;
        self.model.successors(&self.state, &mut self.batch);
        let stuck = self.batch.is_empty() && self.batch.cut == cut;
        if let (true, Some(product)) = (stuck, self.product) {
            self.batch.push(product.stutter(), 0, &self.state);
        }
        self.find_keys();
        out.clear();
        let Some(product) = self.product else {
            out.extend(self.keys.iter().filter(|&&key| key != NOWHERE));
            return;
        };
        let letter = self.model.judge(&self.state, stuck).0;
        let met = |step: usize| product.met(self.batch.step(step).transition.index());
        let to = |step: usize, place: u32| {
            if self.keys[step] != NOWHERE {
                out.push(self.keys[step] | u64::from(place));
            }
        };
        product.follow(self.place(node), letter, self.batch.len(), met, to);
    }
}

impl Space for Packed<'_> {
    type Node = u64;

    fn initial(&mut self) -> Option<Vec<u64>> {
        self.model.initial(&mut self.batch);
        self.find_keys();
        self.keys.retain(|&key| key != NOWHERE);
        let Some(product) = self.product else { return Some(self.keys.clone()) };
        let nodes = |&key: &u64| product.initial_places().map(move |place| key | u64::from(place));
        Some(self.keys.iter().flat_map(nodes).collect())
    }

    #[inline]
    fn successors(&mut self, node: u64, _soon: impl Iterator<Item = u64>, out: &mut Vec<u64>) -> Option<()> {
        self.expand(node, out);
        if !out.is_empty() {
            for (step, &key) in self.batch.steps(0).iter().zip(&self.keys) {
                self.fired[step.transition.index()] |= key != NOWHERE;
            }
        }
        // The state becomes cyan next, and takes room.
        let has_room =
            self.held < self.marks.capacity() || self.marks.bytes() * 2 <= self.budget && self.marks.double();
        has_room.then_some(())
    }

    #[inline]
    fn again(&mut self, node: u64, out: &mut Vec<u64>) -> Option<()> {
        let cut = self.batch.cut;
        self.expand(node, out);
        self.batch.cut = cut;
        Some(())
    }

    #[inline]
    fn announce(&self, node: u64) {
        self.marks.announce(node);
    }

    #[inline]
    fn announce_paint(&self, node: u64) {
        self.marks.announce(node);
    }

    #[inline]
    fn is_accepting(&self, node: u64) -> bool {
        match self.product {
            Some(product) => product.is_accepting(self.place(node)),
            None => self.model.judge(&self.state(node), false).contains(0),
        }
    }

    #[inline]
    fn colour(&self, node: u64) -> Colour {
        match self.marks.of(node) {
            0 => Colour::White,
            1 => Colour::Cyan,
            2 => Colour::Blue,
            _ => Colour::Red,
        }
    }

    #[inline]
    fn paint(&mut self, node: u64, colour: Colour) {
        let before = self.marks.change(node, 3, colour as u64);
        self.held += u64::from(before == 0);
    }

    fn order(&self, a: u64, b: u64) -> std::cmp::Ordering {
        a.cmp(&b)
    }

    fn state(&self, node: u64) -> Vec<u32> {
        let mut state = vec![0; self.model.words()];
        self.codec.unpack(node >> self.places, &mut state);
        state.extend(self.product.map(|_| self.place(node)));
        state
    }

    fn bytes(&self) -> u64 {
        self.marks.bytes()
    }

    fn end(self) -> (Vec<bool>, u64, Option<Sketch>) {
        (self.fired, self.batch.cut, None)
    }
}
