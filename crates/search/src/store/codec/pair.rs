//! States of up to 64 bits: first whole, later as pairs of numbers, which is tree compression with one level.
//!
//! While the table is small, a key is the state itself, which is fast. When the table has become large, the bits are
//! gathered so that those that change together lie side by side, and cut in the middle; each half gets a number, and the
//! two numbers are the key, which is much shorter than the state where threads are nearly independent, so that slots of
//! half the size hold it. Gathering is linear, so it is a table look-up for each byte. Packed states are whole states always.

use birk_engine::{Model, Successors};

use super::direct::Direct;
use super::numbers::Numbers;
use super::{Codec, FIRST_WIDTH, Growth, NO_KEY, widened};
use crate::store::table::Table;

/// A table of whole states that would grow beyond this many bytes is worth making pairs. Tests have small tables.
const WORTH_PAIRS: u64 = if cfg!(debug_assertions) { 1 << 16 } else { 32 << 20 };

/// States whole or in pairs.
#[derive(Debug)]
pub(crate) struct Pair {
    whole: Direct,
    /// The gathered bits for each value of each byte of a whole state.
    gathered: Box<[[u64; 256]; 8]>,
    /// Bits of the lower half.
    middle: u32,
    halves: [Numbers; 2],
    form: Form,
    /// Before the last change of keys.
    before: Form,
    /// The table is not examined again before it has this many bytes.
    worth: u64,
}

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The state.
    Whole,
    /// Two numbers, with this many bits for each.
    Halves([u32; 2]),
}

impl Pair {
    /// For the states of a model; `None` when they have more than 64 bits.
    pub(crate) fn new(model: &dyn Model) -> Option<Self> {
        let whole = Direct::new(model, 64)?;
        let starts: Vec<u32> = whole.starts().collect();
        // Where each bit of a whole state goes.
        let mut places = [None; 64];
        let (mut total, mut ends) = (0, Vec::new());
        for field in model.fields() {
            for bit in 0..field.bits {
                places[(starts[field.word as usize] + field.shift + bit) as usize] = Some(total + bit);
            }
            total += field.bits;
            ends.push(total);
        }
        // Between two fields where that is possible, as near to the middle as possible.
        let fits = |&end: &u32| end <= 32 && total - end <= 32;
        let middle = ends.into_iter().filter(fits).min_by_key(|&end| end.abs_diff(total / 2)).unwrap_or(total / 2);
        let gather = |bits: u64| -> u64 {
            places.iter().enumerate().filter_map(|(at, &to)| Some((bits >> at & 1) << to?)).sum()
        };
        let table = |byte: usize| std::array::from_fn(|value| gather((value as u64) << (8 * byte)));
        Some(Self {
            whole,
            gathered: Box::new(std::array::from_fn(table)),
            middle,
            halves: [Numbers::new(), Numbers::new()],
            form: Form::Whole,
            before: Form::Whole,
            worth: WORTH_PAIRS,
        })
    }

    /// The two halves of a whole state.
    #[inline]
    fn cut(&self, whole: u64) -> [u32; 2] {
        let bytes = whole.to_le_bytes();
        let gathered = self.gathered.iter().zip(bytes).fold(0, |all, (table, byte)| all | table[usize::from(byte)]);
        [(gathered & ((1 << self.middle) - 1)) as u32, (gathered >> self.middle) as u32]
    }

    /// The key of two numbers, if they fit the widths.
    #[inline]
    fn pack(widths: [u32; 2], low: Option<u32>, high: Option<u32>) -> Option<u64> {
        let (low, high) = (u64::from(low?), u64::from(high?));
        (low >> widths[0] == 0 && high >> widths[1] == 0).then_some(low | high << widths[0])
    }

    #[inline]
    fn number(&self, widths: [u32; 2], whole: u64) -> Option<u64> {
        let [low, high] = self.cut(whole);
        Self::pack(widths, self.halves[0].number(low), self.halves[1].number(high))
    }

    fn find(&self, widths: [u32; 2], whole: u64) -> Option<u64> {
        let [low, high] = self.cut(whole);
        Self::pack(widths, self.halves[0].find(low), self.halves[1].find(high))
    }

    /// Numbers the halves of all states in a table; false when that takes too much memory for pairs to be shorter.
    fn number_all(&mut self, table: &Table, budget: u64) -> bool {
        let most = (table.bytes() / 4).min(budget.saturating_sub(table.bytes()) / 4);
        let mut is_worth = true;
        table.each_key(|whole| {
            let values = self.cut(whole);
            for (half, value) in self.halves.iter_mut().zip(values) {
                while is_worth && half.number(value).is_none() {
                    is_worth = half.bytes() * 2 <= most && half.grow();
                }
            }
        });
        is_worth
    }

    /// Bits that the numbers of each half need, with what room it has.
    fn needed(&self) -> [u32; 2] {
        [0, 1].map(|half| self.halves[half].room().ilog2())
    }
}

impl Codec for Pair {
    type Parent = ();

    const GROWS: bool = true;

    fn parent(&self) {}

    fn bits(&self) -> u32 {
        match self.form {
            Form::Whole => self.whole.bits(),
            Form::Halves([low, high]) => low + high,
        }
    }

    fn packed_words(&self) -> usize {
        2
    }

    #[inline]
    fn open(&self, packed: &[u32], (): &mut (), state: &mut [u32]) {
        self.whole.open(packed, &mut (), state);
    }

    fn key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        let whole = self.whole.pack(state);
        match self.form {
            Form::Whole => Some(whole),
            Form::Halves(widths) => self.number(widths, whole),
        }
    }

    #[inline]
    fn keys(&self, batch: &Successors, from: usize, (): &mut (), keys: &mut Vec<u64>) -> bool {
        self.whole.pack_all(batch, from, keys);
        let mut has_room = true;
        if let Form::Halves(widths) = self.form {
            for key in &mut keys[from..] {
                *key = self.number(widths, *key).unwrap_or(NO_KEY);
                has_room &= *key != NO_KEY;
            }
        }
        has_room
    }

    fn known_key(&self, state: &[u32], (): &mut ()) -> Option<u64> {
        let whole = self.whole.pack(state);
        match self.form {
            Form::Whole => Some(whole),
            Form::Halves(widths) => self.find(widths, whole),
        }
    }

    #[inline]
    fn push_packed(&self, _: u64, state: &[u32], out: &mut Vec<u32>) {
        let whole = self.whole.pack(state);
        out.extend_from_slice(&[whole as u32, (whole >> 32) as u32]);
    }

    fn bytes(&self) -> u64 {
        self.halves.iter().map(Numbers::bytes).sum()
    }

    fn bytes_after_growth(&self) -> u64 {
        self.halves.iter().map(|half| half.bytes() * if half.is_full() { 2 } else { 1 }).sum()
    }

    fn grow(&mut self) -> Growth {
        let Form::Halves(widths) = self.form else { return Growth::Same };
        for half in &mut self.halves {
            if half.is_full() && !half.grow() {
                return Growth::Failed;
            }
        }
        self.before = self.form;
        self.form = Form::Halves(widened(widths, self.needed()));
        if self.form == self.before { Growth::Same } else { Growth::Rekeyed }
    }

    fn shorten(&mut self, table: &Table, budget: u64) -> bool {
        if self.form != Form::Whole || table.bytes() < self.worth {
            return false;
        }
        self.before = Form::Whole;
        if self.number_all(table, budget) {
            self.form = Form::Halves(widened([FIRST_WIDTH; 2], self.needed()));
        }
        let is_shorter = self.form != Form::Whole && table.would_be_narrow(self.bits());
        if !is_shorter {
            self.revert();
        }
        is_shorter
    }

    fn is_settled(&self) -> bool {
        self.form != Form::Whole
    }

    #[inline]
    fn rekey(&self, key: u64) -> u64 {
        match (self.before, self.form) {
            (Form::Whole, Form::Halves(widths)) => self.find(widths, key).expect("every half has its number"),
            (Form::Halves(before), Form::Halves(widths)) => super::rewidened(key, before, widths),
            (_, Form::Whole) => key,
        }
    }

    fn revert(&mut self) -> bool {
        self.form = self.before;
        if self.form == Form::Whole {
            self.halves = [Numbers::new(), Numbers::new()];
            self.worth *= 2;
        }
        self.form == Form::Whole
    }
}
