//! The visited set: a lock-free table of quotient slots, exact for keys of up to 64 bits.
//!
//! A bucket is a cache line of sixteen 4-byte slots where remainders are short enough, otherwise of eight 8-byte slots.
//! A key lives in its home bucket or one of fifteen others at a stride that its remainder gives; nothing is ever removed,
//! so a free slot proves that a key is absent, and one compare-and-swap there is the whole insertion. Growing streams
//! through the old table in order; it needs the table to itself, everything else is shared.
//!
//! Lockless tables of whole cache lines for model checking: Laarman, van de Pol and Weber, "Boosting multi-core reachability
//! performance with shared hash tables", FMCAD 2010. Quotients in such a table: van der Vegt and Laarman, "A parallel compact
//! hash table", MEMICS 2011; theirs needs locks, because it keeps runs of keys in order, and this one does not.
//! Beside a key, two bits have its depth modulo 3, which `bfs/trace.rs` needs.

pub(crate) mod geometry;
pub(crate) mod slot;

use std::ops::Range;

use geometry::{Division, Mixer};
use slot::{DEPTH, Look, REACH, REMAINDER_AT, Slot};

use crate::crew;
use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU32, AtomicU64};

/// Bytes of a bucket.
const LINE: u64 = 64;
/// Tables smaller than the first grow fourfold, smaller than the second twofold, larger ones by a quarter.
const SMALL: u64 = 1 << 20;
const LARGE: u64 = 24 << 20;
/// A table is rebuilt when it is fuller than this, in hundredths.
const FULL: u64 = 85;
/// Old buckets that one worker streams through before it gives their memory back.
const STRIDE: u64 = 1 << 15;
/// Keys that are inserted before those among them whose home is full.
const LATE: usize = 32;

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// It was not in the table, and now is.
    New,
    /// It was there.
    Known,
    /// It is not in the table, and there is no room for it: the table must grow.
    NoRoom,
}

/// A place in the table and what is known of the key there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its slot: stable until the table grows.
    pub(crate) slot: u64,
    /// Its depth modulo 3.
    pub(crate) depth: u32,
}

/// Keys with their depth modulo 3.
#[derive(Debug)]
pub(crate) struct Table {
    mixer: Mixer,
    division: Division,
    slots: Slots,
    /// Hashes and depths for which there was no room when the table was last rebuilt, and no memory for a larger one. All
    /// buckets on their way are full.
    homeless: Vec<(u64, u32)>,
}

#[derive(Debug)]
enum Slots {
    Narrow(Region<AtomicU32>),
    Wide(Region<AtomicU64>),
}

/// Runs the same generic code on either width.
macro_rules! with_slots {
    ($table:expr, $slots:ident => $body:expr) => {
        match &$table.slots {
            Slots::Narrow($slots) => $body,
            Slots::Wide($slots) => $body,
        }
    };
}

impl Table {
    /// A small table for keys of this many bits.
    pub(crate) fn new(bits: u32) -> Self {
        Self::with_bytes(bits, 1 << 14).expect("a few kilobytes can be had")
    }

    /// A table of about this size; `None` when the system has no memory to give.
    pub(crate) fn with_bytes(bits: u32, bytes: u64) -> Option<Self> {
        let mixer = Mixer::new(bits);
        let division = Division::new(mixer, (bytes / LINE).max(2));
        let lines = division.buckets() as usize;
        let narrow = is_narrow(bits, bytes);
        assert!(narrow || division.largest_remainder() < AtomicU64::REMAINDERS, "64 bits suffice for 2^8 buckets");
        let slots = if narrow {
            Slots::Narrow(Region::new(lines * AtomicU32::PER_BUCKET)?)
        } else {
            Slots::Wide(Region::new(lines * AtomicU64::PER_BUCKET)?)
        };
        Some(Self { mixer, division, slots, homeless: Vec::new() })
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.division.buckets() * LINE
    }

    /// Slots there are; those of keys without room come last.
    pub(crate) fn slots(&self) -> u64 {
        with_slots!(self, slots => slots.len() as u64) + self.homeless.len() as u64
    }

    /// How many keys it should hold at most.
    pub(crate) fn capacity(&self) -> u64 {
        self.slots() * FULL / 100
    }

    /// The hash of a key, which the other functions ask for.
    #[inline]
    pub(crate) fn hash(&self, key: u64) -> u64 {
        self.mixer.mix(key)
    }

    /// Appends the hashes of keys, and asks for their cache lines, to have them when they are needed.
    #[inline]
    pub(crate) fn prefetch(&self, keys: &[u64], hashes: &mut Vec<u64>) {
        let (mixer, division) = (self.mixer, self.division);
        with_slots!(self, slots => hashes.extend(keys.iter().map(|&key| {
            let hash = mixer.mix(key);
            prefetch(&bucket(slots, division.bucket(hash))[0]);
            hash
        })));
    }

    /// The hash of one key, its cache line asked for.
    #[inline]
    pub(crate) fn prefetch_one(&self, key: u64) -> u64 {
        let hash = self.hash(key);
        with_slots!(self, slots => prefetch(&bucket(slots, self.division.bucket(hash))[0]));
        hash
    }

    /// Inserts the key of this hash, unless it is there.
    #[inline]
    pub(crate) fn find_or_insert(&self, hash: u64, depth: u32) -> Insertion {
        let inserted =
            with_slots!(self, slots => find_or_insert(slots, self.division, hash, u64::from(depth % 3), false));
        self.unless_homeless(hash, inserted)
    }

    /// Inserts the keys of these hashes, unless they are there, and tells what became of each. With `alone` nobody else
    /// writes to the table meanwhile.
    #[inline]
    pub(crate) fn find_or_insert_all(
        &self,
        hashes: &[u64],
        depth: u32,
        alone: bool,
        mut told: impl FnMut(usize, Insertion),
    ) {
        let depth = u64::from(depth % 3);
        if self.homeless.is_empty() {
            return with_slots!(self, slots => find_or_insert_all(slots, self.division, hashes, depth, alone, told));
        }
        let told = |at: usize, inserted| told(at, self.unless_homeless(hashes[at], inserted));
        with_slots!(self, slots => find_or_insert_all(slots, self.division, hashes, depth, alone, told));
    }

    /// What became of a key, when it may be one without room.
    #[inline]
    fn unless_homeless(&self, hash: u64, inserted: Insertion) -> Insertion {
        if inserted == Insertion::NoRoom && self.homeless(hash).is_some() { Insertion::Known } else { inserted }
    }

    /// Where the key of this hash is among those without room.
    #[inline]
    fn homeless(&self, hash: u64) -> Option<usize> {
        self.homeless.iter().position(|&(other, _)| other == hash)
    }

    /// Where the key of this hash is.
    pub(crate) fn find(&self, hash: u64) -> Option<Entry> {
        if let Some((slot, value)) = with_slots!(self, slots => find(slots, self.division, hash)) {
            return Some(Entry { slot: slot as u64, depth: (value & DEPTH) as u32 });
        }
        let at = self.homeless(hash)?;
        Some(Entry { slot: self.slots() - 1 - at as u64, depth: self.homeless[at].1 })
    }

    /// Appends for each of these hashes whether its key is there.
    #[inline]
    pub(crate) fn have(&self, hashes: &[u64], out: &mut Vec<bool>) {
        let division = self.division;
        let has = |found: Option<(usize, u64)>, hash| found.is_some() || self.homeless(hash).is_some();
        with_slots!(self, slots => out.extend(hashes.iter().map(|&hash| has(find(slots, division, hash), hash))));
    }

    /// The size of a table for keys of this many bits, at most this many bytes, that leaves room for more than the keys
    /// held now; `None` when there is none.
    pub(crate) fn larger(&self, bits: u32, held: u64, most: u64) -> Option<u64> {
        let keys = match self.bytes() {
            ..SMALL => held * 4,
            SMALL..LARGE => held * 2,
            _ => held + held / 4,
        };
        let narrow = (keys * 4 * 100 / FULL / LINE + 4) * LINE;
        let size = if is_narrow(bits, narrow) { narrow } else { narrow * 2 }.min(most) / LINE * LINE;
        let slots = size / if size >= 2 * LINE && is_narrow(bits, size) { 4 } else { 8 };
        (slots * FULL / 100 > held + held / 64).then_some(size)
    }

    /// Moves every key to a table of another size, by this many workers; `rekey` says what becomes of keys that change.
    /// False when the system has no memory to give; the table is then as it was.
    pub(crate) fn rebuild(&mut self, bits: u32, bytes: u64, workers: usize, rekey: Option<&Rekey<'_>>) -> bool {
        self.rebuild_in(&mut Self::with_bytes, bits, bytes, workers, rekey)
    }

    fn rebuild_in(
        &mut self,
        new: &mut dyn FnMut(u32, u64) -> Option<Table>,
        bits: u32,
        bytes: u64,
        workers: usize,
        rekey: Option<&Rekey<'_>>,
    ) -> bool {
        assert!(rekey.is_some() || bits == self.mixer.bits(), "keys of another width are other keys");
        let Some(empty) = new(bits, bytes) else { return false };
        let old = std::mem::replace(self, empty);
        self.homeless = old.pour(self, workers, rekey);
        // A run of full buckets: never seen below nine tenths, and then a little more room helps. Without memory for that they
        // are remembered beside the table: the old one is gone.
        if !self.homeless.is_empty() {
            let _ = self.rebuild_in(new, bits, self.bytes() / 8 * 9, workers, None);
        }
        true
    }

    /// Moves all keys to `new`, giving memory back on the way; what found no room there is returned.
    fn pour(&self, new: &Table, workers: usize, rekey: Option<&Rekey<'_>>) -> Vec<(u64, u32)> {
        let lines = self.division.buckets();
        let share = lines.div_ceil(workers.max(1) as u64).next_multiple_of(STRIDE);
        let moved = |hash: u64| rekey.map_or(hash, |rekey| new.mixer.mix(rekey(self.mixer.unmix(hash))));
        let pour = |worker: u64| {
            let end = ((worker + 1) * share).min(lines);
            let mut homeless = Vec::new();
            for from in (worker * share..end).step_by(STRIDE as usize) {
                let to = (from + STRIDE).min(end);
                with_slots!(new, slots => self.each(from..to, |hash, depth| {
                    let hash = moved(hash);
                    if !put(slots, new.division, hash, u64::from(depth), workers <= 1) {
                        homeless.push((hash, depth));
                    }
                }));
                with_slots!(self, slots => release(slots, from..to));
            }
            homeless
        };
        let mut homeless = std::thread::scope(|scope| {
            let pour = &pour;
            let start = |worker| crew::start(scope, "table", worker, move || pour(worker as u64));
            let others: Vec<_> = (1..workers).map(start).collect();
            let mut homeless = pour(0);
            others.into_iter().for_each(|other| homeless.extend(crew::join(other)));
            homeless
        });
        for &(hash, depth) in &self.homeless {
            if new.find_or_insert(moved(hash), depth) == Insertion::NoRoom {
                homeless.push((moved(hash), depth));
            }
        }
        homeless
    }

    /// Every key.
    pub(crate) fn each_key(&self, mut found: impl FnMut(u64)) {
        self.homeless.iter().for_each(|&(hash, _)| found(self.mixer.unmix(hash)));
        self.each(0..self.division.buckets(), |hash, _| found(self.mixer.unmix(hash)));
    }

    /// Whether keys of this many bits would need only narrow slots in a table for as many.
    pub(crate) fn would_be_narrow(&self, bits: u32) -> bool {
        is_narrow(bits, self.slots() * 4)
    }

    /// Every hash and depth in some buckets.
    fn each(&self, buckets: Range<u64>, mut found: impl FnMut(u64, u32)) {
        with_slots!(self, slots => each(slots, self.division, buckets, &mut found));
    }
}

/// The new key for an old one.
pub(crate) type Rekey<'a> = dyn Fn(u64) -> u64 + Sync + 'a;

/// Whether keys of this many bits fit narrow slots in a table of this many bytes.
fn is_narrow(bits: u32, bytes: u64) -> bool {
    Division::new(Mixer::new(bits), (bytes / LINE).max(2)).largest_remainder() < AtomicU32::REMAINDERS
}

#[inline]
fn find_or_insert<S: Slot>(slots: &[S], division: Division, hash: u64, depth: u64, alone: bool) -> Insertion {
    let home = division.bucket(hash);
    let remainder = division.remainder(hash, home);
    for displacement in 0..REACH {
        let bucket = bucket(slots, division.displaced(home, remainder, displacement));
        if let Some(inserted) = enter(bucket, slot::value(remainder, displacement), depth, alone) {
            return inserted;
        }
    }
    Insertion::NoRoom
}

/// Inserts a value into a bucket, unless it is there; `None` when the bucket is full of others.
#[inline]
fn enter<S: Slot>(bucket: &[S], value: u64, depth: u64, alone: bool) -> Option<Insertion> {
    loop {
        match S::look(bucket, value) {
            Look::Found(_) => return Some(Insertion::Known),
            Look::Full => return None,
            Look::Free(at) => {
                if take(&bucket[at], value | depth, alone) {
                    return Some(Insertion::New);
                }
                // Another thread was faster, perhaps with the same key: look again.
            }
        }
    }
}

/// Writes to a slot that was free; false when another thread was faster. A compare-and-swap waits for all that was read
/// and written before it: who is alone does not need it.
#[inline]
fn take<S: Slot>(slot: &S, value: u64, alone: bool) -> bool {
    if alone {
        slot.set(value);
        return true;
    }
    slot.claim(value).is_ok()
}

/// Those whose home is full come last, when the cache lines of the buckets after it have arrived.
#[inline]
fn find_or_insert_all<S: Slot>(
    slots: &[S],
    division: Division,
    hashes: &[u64],
    depth: u64,
    alone: bool,
    mut told: impl FnMut(usize, Insertion),
) {
    let mut late = [0; LATE];
    for (start, hashes) in (0..).step_by(LATE).zip(hashes.chunks(LATE)) {
        let mut count = 0;
        for (at, &hash) in hashes.iter().enumerate() {
            let home = division.bucket(hash);
            let remainder = division.remainder(hash, home);
            match enter(bucket(slots, home), slot::value(remainder, 0), depth, alone) {
                Some(inserted) => told(start + at, inserted),
                None => {
                    prefetch(&bucket(slots, division.displaced(home, remainder, 1))[0]);
                    late[count] = at;
                    count += 1;
                }
            }
        }
        for &at in &late[..count] {
            told(start + at, find_or_insert(slots, division, hashes[at], depth, alone));
        }
    }
}

/// Puts a hash that is not there into the first free slot on its way; false when there is none. With `alone` nobody else
/// writes to the buckets it may come to.
#[inline]
fn put<S: Slot>(slots: &[S], division: Division, hash: u64, depth: u64, alone: bool) -> bool {
    let home = division.bucket(hash);
    let remainder = division.remainder(hash, home);
    for displacement in 0..REACH {
        let bucket = bucket(slots, division.displaced(home, remainder, displacement));
        let value = slot::value(remainder, displacement) | depth;
        while let Some(at) = S::free(bucket) {
            if take(&bucket[at], value, alone) {
                return true;
            }
        }
    }
    false
}

#[inline]
fn find<S: Slot>(slots: &[S], division: Division, hash: u64) -> Option<(usize, u64)> {
    let home = division.bucket(hash);
    let remainder = division.remainder(hash, home);
    for displacement in 0..REACH {
        let number = division.displaced(home, remainder, displacement);
        match S::look(bucket(slots, number), slot::value(remainder, displacement)) {
            Look::Found(at) => {
                let slot = number as usize * S::PER_BUCKET + at;
                return Some((slot, slots[slot].get()));
            }
            Look::Free(_) => return None,
            Look::Full => {}
        }
    }
    None
}

#[inline]
fn bucket<S: Slot>(slots: &[S], number: u64) -> &[S] {
    let start = number as usize * S::PER_BUCKET;
    &slots[start..start + S::PER_BUCKET]
}

fn each<S: Slot>(slots: &[S], division: Division, buckets: Range<u64>, found: &mut impl FnMut(u64, u32)) {
    for number in buckets {
        for slot in bucket(slots, number) {
            let value = slot.get();
            if value == 0 {
                break;
            }
            let remainder = (value >> REMAINDER_AT) - 1;
            let home = division.home(number, remainder, value >> 2 & (REACH - 1));
            found(division.hash(home, remainder), (value & DEPTH) as u32);
        }
    }
}

fn release<S: Slot>(slots: &Region<S>, buckets: Range<u64>) {
    slots.release(buckets.start as usize * S::PER_BUCKET..buckets.end as usize * S::PER_BUCKET);
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
