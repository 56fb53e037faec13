//! Numbers for values of 32 bits: equal values have equal numbers, from 0 on. Lock-free.
//!
//! One word holds a value and its number plus one, and one compare-and-swap publishes both, so a look-up touches a single
//! cache line. Growing needs the numbers to themselves, and keeps them.

use crate::store::hash::hash_value;
use crate::store::memory::Region;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Places at first; a power of two. At most half of them are taken.
const FIRST: usize = 1 << 10;

/// Values with their numbers.
#[derive(Debug)]
pub(crate) struct Numbers {
    places: Region<AtomicU64>,
    /// Numbers given out, some of them perhaps beyond what there is room for.
    taken: AtomicU32,
}

impl Numbers {
    /// No values yet.
    pub(crate) fn new() -> Self {
        Self { places: Region::new(FIRST).expect("a few kilobytes can be had"), taken: AtomicU32::new(0) }
    }

    /// How many numbers there is room for: all are below it.
    pub(crate) fn room(&self) -> u32 {
        (self.places.len() / 2) as u32
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.places.len() as u64 * 8
    }

    /// Whether the next value may find no room.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.room()
    }

    /// Doubles the room. False when the system has no memory to give, or there are no more numbers.
    pub(crate) fn grow(&mut self) -> bool {
        if self.places.len() == 1 << 31 {
            return false;
        }
        let Some(places) = Region::<AtomicU64>::new(self.places.len() * 2) else { return false };
        self.taken.store(self.taken.load(Ordering::Relaxed).min(self.room()), Ordering::Relaxed);
        let old = std::mem::replace(&mut self.places, places);
        for entry in old.iter().map(|place| place.load(Ordering::Relaxed)).filter(|&entry| entry != 0) {
            let mut place = self.place((entry >> 32) as u32);
            while self.places[place].load(Ordering::Relaxed) != 0 {
                place = (place + 1) & (self.places.len() - 1);
            }
            self.places[place].store(entry, Ordering::Relaxed);
        }
        true
    }

    #[inline]
    fn place(&self, value: u32) -> usize {
        hash_value(value) as usize & (self.places.len() - 1)
    }

    /// The number of a value, if it has one.
    #[inline]
    pub(crate) fn find(&self, value: u32) -> Option<u32> {
        self.search(value).ok()
    }

    /// The number of a value, a new one if it has none; `None` when there is no room for it.
    #[inline]
    pub(crate) fn number(&self, value: u32) -> Option<u32> {
        self.search(value).map_or_else(|place| self.add(value, place), Some)
    }

    /// The number of a value, or the free place where it ends.
    #[inline]
    fn search(&self, value: u32) -> Result<u32, usize> {
        let mut place = self.place(value);
        loop {
            match self.places[place].load(Ordering::Relaxed) {
                0 => return Err(place),
                entry if (entry >> 32) as u32 == value => return Ok(entry as u32 - 1),
                _ => place = (place + 1) & (self.places.len() - 1),
            }
        }
    }

    #[cold]
    fn add(&self, value: u32, mut place: usize) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if number >= self.room() {
            return None;
        }
        let entry = u64::from(value) << 32 | u64::from(number + 1);
        loop {
            match self.places[place].compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(number),
                // Another thread was faster with the same value: the number stays unused.
                Err(other) if (other >> 32) as u32 == value => return Some(other as u32 - 1),
                Err(_) => place = (place + 1) & (self.places.len() - 1),
            }
        }
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_through_growth() {
        let mut numbers = Numbers::new();
        let value = |i: u32| i.wrapping_mul(0x9e37_79b1);
        let mut given = Vec::new();
        for i in 0..20_000 {
            let number = loop {
                match numbers.number(value(i)) {
                    Some(number) => break number,
                    None => assert!(numbers.grow()),
                }
            };
            assert!(number < numbers.room());
            given.push(number);
        }
        for (i, &number) in given.iter().enumerate() {
            assert_eq!(numbers.find(value(i as u32)), Some(number));
        }
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 20_000, "no number is given twice");
        assert_eq!(numbers.find(value(20_000)), None);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let mut numbers = Numbers::new();
        while numbers.room() < 100_000 {
            assert!(numbers.grow());
        }
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let numbers = &numbers;
            let number = move |i: u32| numbers.number(i % 5000 * 77).expect("room");
            let workers: Vec<_> = (0..8).map(|_| scope.spawn(move || (0..10_000).map(number).collect())).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        assert!(all.windows(2).all(|two| two[0] == two[1]));
    }
}
