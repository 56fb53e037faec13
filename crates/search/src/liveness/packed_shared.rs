//! The colour store of several cores where states are small: all marks of all workers lie beside the key of a state, in one
//! word of a table that they share.
//!
//! A worker reads and writes the table under a lock for readers that it keeps in hand. Only who makes the table larger
//! takes it for writing; it asks the others to let go, which they do between two expansions.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use birk_engine::Model;

use super::colour_store::{ColourStore, Mark};
use super::colour_table::ColourTable;
use super::packed::{Expansion, PackedStates};

/// Places in the first table, as a power of two.
const FIRST: u32 = 14;
/// States that a worker takes room for at once.
const ROOM: u64 = 64;

/// Marks that all workers see.
const BLUE: u64 = 1;
const RED: u64 = 2;
/// Where the marks `Cyan` of all workers are.
const CYAN: u64 = 0x5555_5555_5555_5554;

/// The ground. Its nodes are keys.
pub(super) struct PackedShared<'m> {
    small: PackedStates<'m>,
    marks: RwLock<ColourTable>,
    /// How many wait to make the table larger.
    writers: AtomicU32,
    /// States for which there is room, in the table or in somebody's hand.
    taken: AtomicU64,
    /// Bytes of the table.
    bytes: AtomicU64,
}

/// What one worker has in hand.
pub(super) struct Hand<'g> {
    worker: u32,
    /// Nobody makes the table larger while this is held.
    marks: Option<RwLockReadGuard<'g, ColourTable>>,
    room: Expansion,
    /// States that may be put into the table.
    free: u64,
}

impl<'m> PackedShared<'m> {
    /// Of a model, if its states are small enough for the marks of so many workers.
    pub(super) fn new(model: &'m dyn Model, workers: usize) -> Option<Self> {
        let count = 2 + 2 * u32::try_from(workers).ok()?;
        let small = PackedStates::new(model, count)?;
        let marks = ColourTable::new(FIRST, count, small.places)?;
        let bytes = AtomicU64::new(marks.bytes());
        let (writers, taken) = (AtomicU32::new(0), AtomicU64::new(0));
        Some(Self { small, marks: RwLock::new(marks), writers, taken, bytes })
    }

    fn read(&self) -> RwLockReadGuard<'_, ColourTable> {
        self.marks.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for more states in hand; false when there is no memory for them.
    #[cold]
    fn take_room<'g>(&'g self, hand: &mut Hand<'g>, budget: u64) -> bool {
        let needed = self.taken.fetch_add(ROOM, Ordering::Relaxed) + ROOM;
        while hand.marks().capacity() < needed {
            hand.marks = None;
            self.writers.fetch_add(1, Ordering::Relaxed);
            let mut marks = self.marks.write().unwrap_or_else(PoisonError::into_inner);
            self.writers.fetch_sub(1, Ordering::Relaxed);
            // Another worker may have been here.
            let has_room = marks.capacity() >= needed || marks.bytes() * 2 <= budget && marks.double();
            self.bytes.store(marks.bytes(), Ordering::Relaxed);
            drop(marks);
            hand.marks = Some(self.read());
            if !has_room {
                return false;
            }
        }
        hand.free += ROOM;
        true
    }
}

impl Hand<'_> {
    #[inline]
    fn marks(&self) -> &ColourTable {
        self.marks.as_ref().expect("it is let go only between two expansions")
    }

    #[inline]
    fn bit(&self, mark: Mark) -> u64 {
        match mark {
            Mark::Blue => BLUE,
            Mark::Red => RED,
            Mark::Cyan => 4 << (2 * self.worker),
            Mark::Region => 8 << (2 * self.worker),
        }
    }
}

impl ColourStore for PackedShared<'_> {
    type Node = u64;
    type Hand<'g>
        = Hand<'g>
    where
        Self: 'g;

    fn hand(&self, worker: usize) -> Hand<'_> {
        Hand { worker: worker as u32, marks: Some(self.read()), room: self.small.expansion(), free: 0 }
    }

    fn initial(&self, hand: &mut Hand<'_>) -> Option<Vec<u64>> {
        Some(self.small.initial(&mut hand.room))
    }

    #[inline]
    fn prepare<'g>(&'g self, hand: &mut Hand<'g>, budget: impl Fn() -> u64) -> Option<()> {
        self.pause(hand);
        (hand.free > 0 || self.take_room(hand, budget())).then_some(())
    }

    #[inline]
    fn successors<'g>(
        &'g self,
        hand: &mut Hand<'g>,
        node: u64,
        is_first: bool,
        _soon: impl Iterator<Item = u64>,
        may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<u64>,
    ) -> Option<()> {
        let cut = hand.room.batch.cut;
        let marks = hand.marks.as_ref().expect("it is let go only between two expansions");
        self.small.expand(node, &mut hand.room, |key| marks.prefetch(key), may_go_on, out)?;
        if !is_first {
            hand.room.batch.cut = cut;
        } else if !out.is_empty() {
            hand.room.take();
        }
        Some(())
    }

    /// Lets go of the table for a moment if somebody waits for it.
    #[inline]
    fn pause<'g>(&'g self, hand: &mut Hand<'g>) {
        if self.writers.load(Ordering::Relaxed) > 0 {
            hand.marks = None;
            hand.marks = Some(self.read());
        }
    }

    #[inline]
    fn prefetch(&self, hand: &Hand<'_>, node: u64) {
        hand.marks().prefetch(node);
    }

    #[inline]
    fn prefetch_mark(&self, hand: &Hand<'_>, node: u64) {
        hand.marks().prefetch(node);
    }

    #[inline]
    fn has(&self, hand: &Hand<'_>, node: u64, mark: Mark) -> bool {
        hand.marks().of(node) & hand.bit(mark) != 0
    }

    #[inline]
    fn set(&self, hand: &mut Hand<'_>, node: u64, mark: Mark) -> bool {
        let bit = hand.bit(mark);
        let before = hand.marks().change(node, 0, bit);
        hand.free -= u64::from(before == 0);
        before & bit == 0
    }

    #[inline]
    fn leave(&self, hand: &mut Hand<'_>, node: u64, is_red: bool) -> bool {
        let before = hand.marks().change(node, hand.bit(Mark::Cyan), if is_red { BLUE | RED } else { BLUE });
        before & BLUE == 0
    }

    #[inline]
    fn is_elsewhere(&self, hand: &Hand<'_>, node: u64) -> bool {
        let marks = hand.marks().of(node);
        marks & BLUE == 0 && marks & CYAN & !hand.bit(Mark::Cyan) != 0
    }

    #[inline]
    fn leave_region(&self, hand: &mut Hand<'_>, node: u64) {
        hand.marks().change(node, hand.bit(Mark::Region), 0);
    }

    #[inline]
    fn is_accepting(&self, node: u64) -> bool {
        self.small.is_accepting(node)
    }

    fn key(&self, node: u64) -> u64 {
        node
    }

    fn state(&self, node: u64) -> Vec<u32> {
        self.small.state(node)
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn end(hand: Hand<'_>) -> (u64, Vec<bool>) {
        (hand.room.batch.cut, hand.room.fired)
    }
}
