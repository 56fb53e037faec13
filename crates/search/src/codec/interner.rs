//! Numbers for pairs of words: equal pairs have equal numbers, and a number gives its pair back. Lock-free.
//!
//! The pairs lie in blocks of doubling size that never move; an open-addressing table of numbers finds them. A thread
//! takes a number, writes the pair, and publishes the number by one compare-and-swap; if another was faster with the same
//! pair, its own number stays unused.

use crate::memory::Region;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Pairs in the first block, as a power of two.
const FIRST: u32 = 8;

/// Pairs with their numbers, from 0 on.
#[derive(Debug)]
pub(crate) struct Interner {
    blocks: Vec<Region<AtomicU64>>,
    /// Numbers given out, some of them perhaps beyond what there is room for.
    taken: AtomicU32,
    /// A number plus 1, or 0.
    table: Region<AtomicU32>,
}

impl Interner {
    pub(crate) fn new() -> Self {
        let table = Region::new(2 << FIRST).expect("a few kilobytes can be had");
        let block = Region::new(1 << FIRST).expect("a few kilobytes can be had");
        Self { blocks: vec![block], taken: AtomicU32::new(0), table }
    }

    /// How many numbers are in use.
    pub(crate) fn len(&self) -> u32 {
        self.taken.load(Ordering::Relaxed).min(self.room())
    }

    /// How many numbers there is room for.
    pub(crate) fn room(&self) -> u32 {
        ((1u64 << (self.blocks.len() as u32 - 1 + FIRST)).min(u64::from(u32::MAX) - 1)) as u32
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.room()) * 8 + self.table.len() as u64 * 4
    }

    /// Whether the next pair may find no room.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.room()
    }

    /// Doubles the room. False when the system has no memory to give.
    pub(crate) fn grow(&mut self) -> bool {
        let len = self.len();
        let Some(block) = Region::new(self.room() as usize) else { return false };
        let Some(table) = Region::new(self.table.len() * 2) else { return false };
        self.blocks.push(block);
        let old = std::mem::replace(&mut self.table, table);
        // Only published numbers: those that stayed unused have pairs that others stand for.
        for number in old.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|&number| number != 0) {
            let mut place = self.place(self.pair(number - 1));
            while self.table[place].load(Ordering::Relaxed) != 0 {
                place = (place + 1) & (self.table.len() - 1);
            }
            self.table[place].store(number, Ordering::Relaxed);
        }
        self.taken.store(len, Ordering::Relaxed);
        true
    }

    /// The pair with this number.
    #[inline]
    pub(crate) fn pair(&self, number: u32) -> u64 {
        self.cell(number).load(Ordering::Relaxed)
    }

    #[inline]
    fn cell(&self, number: u32) -> &AtomicU64 {
        // Block 0 holds the numbers below 2^FIRST, block b those from 2^(FIRST + b - 1) on.
        let block = (32 - (number >> FIRST).leading_zeros()) as usize;
        let start = if block == 0 { 0 } else { 1 << (FIRST + block as u32 - 1) };
        &self.blocks[block][(number - start) as usize]
    }

    #[inline]
    fn place(&self, pair: u64) -> usize {
        let product = u128::from(pair ^ 0xd6e8_feb8_6659_fd93) * 0x9e37_79b9_7f4a_7c15;
        (product as u64 ^ (product >> 64) as u64) as usize & (self.table.len() - 1)
    }

    /// The number of a pair, if it has one.
    #[inline]
    pub(crate) fn find(&self, pair: u64) -> Option<u32> {
        let mut place = self.place(pair);
        loop {
            match self.table[place].load(Ordering::Acquire) {
                0 => return None,
                number if self.pair(number - 1) == pair => return Some(number - 1),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    /// The number of a pair, a new one if it has none; `None` when there is no room for it.
    #[inline]
    pub(crate) fn intern(&self, pair: u64) -> Option<u32> {
        let mut place = self.place(pair);
        loop {
            match self.table[place].load(Ordering::Acquire) {
                0 => return self.add(pair, place),
                number if self.pair(number - 1) == pair => return Some(number - 1),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    #[cold]
    fn add(&self, pair: u64, mut place: usize) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if number >= self.room() {
            return None;
        }
        self.cell(number).store(pair, Ordering::Relaxed);
        loop {
            match self.table[place].compare_exchange(0, number + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(other) if self.pair(other - 1) == pair => return Some(other - 1),
                Err(_) => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_through_growth() {
        let mut interner = Interner::new();
        let pair = |i: u64| i.wrapping_mul(0x1_0001_0001) ^ i << 40;
        let mut numbers = Vec::new();
        for i in 0..20_000 {
            let number = loop {
                match interner.intern(pair(i)) {
                    Some(number) => break number,
                    None => assert!(interner.grow()),
                }
            };
            numbers.push(number);
        }
        for (i, &number) in numbers.iter().enumerate() {
            assert_eq!(interner.pair(number), pair(i as u64));
            assert_eq!(interner.find(pair(i as u64)), Some(number));
            assert_eq!(interner.intern(pair(i as u64)), Some(number));
        }
        assert_eq!(interner.find(7), None);
        assert_eq!(interner.len(), 20_000);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let mut interner = Interner::new();
        while interner.room() < 100_000 {
            assert!(interner.grow());
        }
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let interner = &interner;
            let number = move |i: u64| interner.intern(i % 5000 * 77).expect("room");
            let workers: Vec<_> =
                (0..8).map(|_| scope.spawn(move || (0..10_000).map(|i| number(i)).collect())).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        assert!(all.windows(2).all(|two| two[0] == two[1]));
    }
}
