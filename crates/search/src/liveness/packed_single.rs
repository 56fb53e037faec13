//! The space of one core where states are small: the colour of a state lies beside its key, in one word.

use birk_engine::{HyperLogLog, Model};

use super::colour_table::ColourTable;
use super::ndfs::{Colour, Space};
use super::packed::{Expansion, PackedStates};

/// Bits of a colour.
const COLOUR: u32 = 2;
/// Places in the first table, as a power of two.
const FIRST: u32 = 10;

/// The space. Its nodes are keys.
pub(super) struct PackedSingle<'m> {
    small: PackedStates<'m>,
    room: Expansion,
    marks: ColourTable,
    /// States that are in the table.
    held: u64,
}

impl<'m> PackedSingle<'m> {
    /// Of a model, if its states are small enough.
    pub(super) fn new(model: &'m dyn Model) -> Option<Self> {
        let small = PackedStates::new(model, COLOUR)?;
        Some(Self { room: small.expansion(), marks: ColourTable::new(FIRST, COLOUR, small.places)?, small, held: 0 })
    }
}

impl Space for PackedSingle<'_> {
    type Node = u64;

    fn initial(&mut self) -> Option<Vec<u64>> {
        Some(self.small.initial(&mut self.room))
    }

    #[inline]
    fn successors(
        &mut self,
        node: u64,
        _soon: impl Iterator<Item = u64>,
        mut may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<u64>,
    ) -> Option<()> {
        let Self { small, room, marks, .. } = self;
        small.expand(node, room, |key| marks.prefetch(key), |bytes| may_go_on(marks.bytes() + bytes), out)?;
        if !out.is_empty() {
            self.room.take();
        }
        // The state becomes cyan next, and takes room.
        let has_room = self.held < self.marks.capacity() || may_go_on(self.marks.bytes() * 2) && self.marks.double();
        has_room.then_some(())
    }

    #[inline]
    fn again(&mut self, node: u64, mut may_go_on: impl FnMut(u64) -> bool, out: &mut Vec<u64>) -> Option<()> {
        let Self { small, room, marks, .. } = self;
        let cut = room.batch.cut;
        let done = small.expand(node, room, |key| marks.prefetch(key), |bytes| may_go_on(marks.bytes() + bytes), out);
        room.batch.cut = cut;
        done
    }

    #[inline]
    fn prefetch(&self, node: u64) {
        self.marks.prefetch(node);
    }

    #[inline]
    fn prefetch_paint(&self, node: u64) {
        self.marks.prefetch(node);
    }

    #[inline]
    fn is_accepting(&self, node: u64) -> bool {
        self.small.is_accepting(node)
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
        let before = self.marks.change(node, (1 << COLOUR) - 1, colour as u64);
        self.held += u64::from(before == 0);
    }

    fn key(&self, node: u64) -> u64 {
        node
    }

    fn state(&self, node: u64) -> Vec<u32> {
        self.small.state(node)
    }

    fn bytes(&self) -> u64 {
        self.marks.bytes()
    }

    fn end(self) -> (Vec<bool>, u64, Option<HyperLogLog>) {
        (self.room.fired, self.room.batch.cut, None)
    }
}
