//! The visited set of depth-bounded search: keys with one more than their thresholds, which only fall. Lock-free.
//!
//! Linear probing; a key's place grows with its hash whatever the size, so that growing streams through the old memory,
//! which goes back to the system on the way, into the new in the same order. Growing needs the table to itself.

use crate::store::hash::hash_key;
use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Instead of a threshold: not visited.
pub(crate) const UNSEEN: u32 = u32::MAX;
/// Instead of a threshold: visited at the bound, and waiting in the next frontier.
pub(crate) const WAITING: u32 = u32::MAX - 1;
/// Instead of a threshold: visited, but the search was stopped while exploring it.
pub(crate) const OPEN: u32 = u32::MAX - 2;

/// Places of an empty table.
const SMALLEST: usize = 1 << 10;
/// Places that a table of keys and values gets for each three keys it should hold.
const PLACES: usize = 4;
/// Smaller tables are doubled, larger ones grow by a half.
const LARGE: u64 = 64 << 20;
/// Places that are moved before their memory is given back, which happens in blocks of so many.
const STRIDE: usize = 1 << 17;
const BLOCK: usize = 1 << 20;
/// Bytes of a table that are in use beside the new one while it is moved.
const MOVING: u64 = BLOCK as u64 * PLACE;
/// Bytes of a place.
const PLACE: u64 = 12;

/// Thresholds by key.
#[derive(Debug)]
pub(crate) struct Thresholds {
    /// A key plus 1; 0 is free.
    keys: Region<AtomicU64>,
    /// One more than the threshold, every bit inverted: what was never written is `UNSEEN`.
    values: Region<AtomicU32>,
    held: AtomicU64,
    /// Places that were examined.
    #[cfg(test)]
    probes: AtomicU64,
}

impl Thresholds {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Self::of(SMALLEST).expect("a few kilobytes can be had")
    }

    /// An empty table with room for this many keys, which may come in any order: in a table that is too small, and grows as they
    /// come, keys in the order of another table's places would all be neighbours. `None` if it would have more than `most`
    /// bytes, or the system has no memory to give.
    pub(crate) fn with_room_for(keys: u64, most: u64) -> Option<Self> {
        let places = (keys / 3).checked_add(1)?.checked_mul(PLACES as u64)?.max(SMALLEST as u64);
        let is_affordable = places.checked_mul(PLACE).is_some_and(|bytes| bytes <= most);
        is_affordable.then(|| Self::of(places as usize)).flatten()
    }

    fn of(places: usize) -> Option<Self> {
        Some(Self {
            keys: Region::new(places)?,
            values: Region::new(places)?,
            held: AtomicU64::new(0),
            #[cfg(test)]
            probes: AtomicU64::new(0),
        })
    }

    /// Places there are.
    pub(crate) fn places(&self) -> usize {
        self.keys.len()
    }

    /// The place of a key, until the table grows.
    pub(crate) fn place(&self, key: u64) -> Option<usize> {
        self.find(key).ok()
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.keys.len() as u64 * PLACE
    }

    /// How many keys it holds.
    pub(crate) fn len(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    fn capacity(&self) -> u64 {
        self.keys.len() as u64 / PLACES as u64 * 3
    }

    /// Whether the next key may find no room.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.capacity()
    }

    fn home(&self, key: u64) -> usize {
        ((u128::from(hash_key(key)) * self.keys.len() as u128) >> 64) as usize
    }

    /// Asks for the cache line of a key, to have it when it is needed.
    pub(crate) fn prefetch(&self, key: u64) {
        prefetch(&self.keys[self.home(key)]);
    }

    /// Where a key is, or the free place where it belongs.
    fn find(&self, key: u64) -> Result<usize, usize> {
        let mut place = self.home(key);
        loop {
            #[cfg(test)]
            self.probes.fetch_add(1, Ordering::Relaxed);
            match self.keys[place].load(Ordering::Acquire) {
                0 => return Err(place),
                held if held == key + 1 => return Ok(place),
                _ => place = if place + 1 == self.keys.len() { 0 } else { place + 1 },
            }
        }
    }

    /// One more than a key's threshold, or one of the marks.
    pub(crate) fn get(&self, key: u64) -> u32 {
        self.find(key).map_or(UNSEEN, |place| !self.values[place].load(Ordering::Relaxed))
    }

    /// Lowers what a key has to a value, unless it is as low already, and returns what it was; `None` when the key is
    /// new and there is no room for it. Of several threads that find it unseen, one is told so.
    pub(crate) fn lower(&self, key: u64, value: u32) -> Option<u32> {
        let place = match self.find(key) {
            Ok(place) => place,
            Err(_) if self.is_full() => return None,
            Err(free) => self.claim(key, free),
        };
        Some(!self.values[place].fetch_max(!value, Ordering::Relaxed))
    }

    #[cold]
    fn claim(&self, key: u64, mut place: usize) -> usize {
        loop {
            match self.keys[place].compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.held.fetch_add(1, Ordering::Relaxed);
                    return place;
                }
                Err(other) if other == key + 1 => return place,
                Err(_) => place = if place + 1 == self.keys.len() { 0 } else { place + 1 },
            }
        }
    }

    /// Replaces one value of a key by another, if it still has it.
    pub(crate) fn exchange(&self, key: u64, from: u32, to: u32) {
        if let Ok(place) = self.find(key) {
            let _ = self.values[place].compare_exchange(!from, !to, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Makes room for more keys with at most this many bytes; false when it cannot.
    pub(crate) fn grow(&mut self, most: u64) -> bool {
        let places = self.keys.len();
        let wanted = if self.bytes() < LARGE { places * 2 } else { places + places / 2 };
        let moving = self.bytes().min(MOVING);
        let wanted = wanted.min((most.saturating_sub(moving) / PLACE) as usize);
        if wanted < places + places / 16 {
            return false;
        }
        let Some(new) = Self::of(wanted) else { return false };
        let mut from = 0;
        while from < places {
            let to = (from + STRIDE).min(places);
            self.each(from, to, |key, value| {
                new.lower(key, value).expect("the new table is larger");
            });
            let block = from / BLOCK * BLOCK;
            self.keys.release(block..to);
            self.values.release(block..to);
            from = to;
        }
        *self = new;
        true
    }

    fn each(&self, from: usize, to: usize, mut found: impl FnMut(u64, u32)) {
        for place in from..to {
            let key = self.keys[place].load(Ordering::Relaxed);
            if key != 0 {
                found(key - 1, !self.values[place].load(Ordering::Relaxed));
            }
        }
    }

    /// Every key with its value, in some order, until one is refused.
    pub(crate) fn for_each<E>(&self, mut found: impl FnMut(u64, u32) -> Result<(), E>) -> Result<(), E> {
        let mut result = Ok(());
        self.each(0, self.keys.len(), |key, value| {
            if result.is_ok() {
                result = found(key, value);
            }
        });
        result
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use birk_exec::Random;

    use super::*;

    #[test]
    fn thresholds_fall_and_survive_growth() {
        let mut table = Thresholds::new();
        let mut truth: HashMap<u64, u32> = HashMap::new();
        let mut random = Random::new(7);
        for _ in 0..200_000 {
            let drawn = random.below(usize::MAX) as u64;
            let (key, value) = (drawn >> 44 << 44 | drawn >> 50, (drawn >> 20 & 0xff) as u32);
            let key = key & (u64::MAX - 1);
            let old = loop {
                match table.lower(key, value) {
                    Some(old) => break old,
                    None => assert!(table.grow(u64::MAX)),
                }
            };
            let expected = truth.entry(key).or_insert(UNSEEN);
            assert_eq!(old, *expected);
            *expected = value.min(old);
        }
        assert_eq!(table.len(), truth.len() as u64);
        assert!(truth.iter().all(|(&key, &value)| table.get(key) == value));
        let mut count = 0;
        let all = table.for_each(|key, value| {
            count += 1;
            if truth[&key] == value { Ok(()) } else { Err(key) }
        });
        assert_eq!(all, Ok(()));
        assert_eq!(count, truth.len());
        assert_eq!(table.get(u64::MAX - 1), UNSEEN);
    }

    /// Keys in the order of another table's places, as they are read from a file.
    #[test]
    fn a_table_is_copied_in_linear_time() {
        let mut table = Thresholds::new();
        let keys = 200_000u64;
        for key in 0..keys {
            while table.lower(key * 77, 1).is_none() {
                assert!(table.grow(u64::MAX));
            }
        }
        assert!(Thresholds::with_room_for(keys, keys * PLACE).is_none(), "some places stay free");
        let copy = Thresholds::with_room_for(keys, u64::MAX).expect("a few megabytes can be had");
        let copied = table.for_each(|key, value| copy.lower(key, value).map(|_| ()).ok_or(key));
        assert_eq!((copied, copy.len()), (Ok(()), keys));
        let probes = copy.probes.load(Ordering::Relaxed);
        assert!(probes < 8 * keys, "{probes} places were examined for {keys} keys");
    }

    #[test]
    fn a_table_does_not_grow_beyond_its_budget() {
        let mut table = Thresholds::new();
        for key in 0..SMALLEST as u64 / 4 * 3 {
            assert_eq!(table.lower(key, 1), Some(UNSEEN));
        }
        assert_eq!((table.lower(u64::MAX - 1, 1), table.lower(5, 0)), (None, Some(1)));
        assert!(!table.grow(table.bytes()));
        assert!(!table.grow(table.bytes() * 5 / 4), "both exist while it is moved");
        assert!(table.grow(table.bytes() * 9 / 4) && table.bytes() < SMALLEST as u64 * 16);
        assert_eq!((table.get(5), table.get(6)), (0, 1));
    }

    #[test]
    fn one_thread_is_told_that_a_key_is_new() {
        let mut table = Thresholds::new();
        while table.capacity() < 20_000 {
            assert!(table.grow(u64::MAX));
        }
        let new: usize = std::thread::scope(|scope| {
            let table = &table;
            let run = move |worker: u64| {
                (0..10_000u64).filter(|i| table.lower(i * 77, (worker + i % 5) as u32) == Some(UNSEEN)).count()
            };
            let workers: Vec<_> = (0..4).map(|worker| scope.spawn(move || run(worker))).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
        });
        assert_eq!((new, table.len()), (10_000, 10_000));
        assert!((0..10_000).all(|i| table.get(i * 77) == (i % 5) as u32));
    }
}
