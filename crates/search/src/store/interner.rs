//! Numbers for short vectors: equal vectors have equal numbers, and a number gives its vector back. Lock-free.
//!
//! The vectors lie side by side in the order of their numbers; an open-addressing table of numbers finds them. A thread
//! takes a number, writes the vector, and publishes the number by one compare-and-swap; if another was faster with the
//! same vector, its own number stays unused. Growing needs the interner to itself, and keeps the numbers.

use std::io::{self, ErrorKind, Read, Write};

use crate::store::encoding::{get, put};
use crate::store::hash::hash_pairs;
use crate::store::memory::{Region, prefetch};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Cells that are copied before the memory of the old ones is given back.
const COPIED: usize = 1 << 19;
/// Numbers there is room for at first; loom, which looks at every access, has time for few.
const FIRST: u32 = if cfg!(loom) { 4 } else { 256 };
/// Places of the table for each number there is room for.
const PLACES: usize = 2;

/// Vectors of equal length with their numbers, from 0 on.
#[derive(Debug)]
pub(crate) struct Interner {
    /// Length of a vector, in pairs of words.
    pairs: usize,
    /// A power of two.
    room: u32,
    vectors: Region<AtomicU64>,
    /// Numbers given out, some of them perhaps beyond what there is room for.
    taken: AtomicU32,
    /// A number plus 1, or 0.
    table: Region<AtomicU32>,
}

impl Interner {
    /// For vectors of this many pairs of words.
    pub(crate) fn new(pairs: usize) -> Self {
        let vectors = Region::new(FIRST as usize * pairs).expect("a few kilobytes can be had");
        let table = Region::new(FIRST as usize * PLACES).expect("a few kilobytes can be had");
        Self { pairs, room: FIRST, vectors, taken: AtomicU32::new(0), table }
    }

    /// How many numbers there is room for: all are below it.
    pub(crate) fn room(&self) -> u32 {
        self.room
    }

    /// Bytes it occupies.
    pub(crate) fn bytes(&self) -> u64 {
        self.vectors.len() as u64 * 8 + self.table.len() as u64 * 4
    }

    /// Whether the next vector may find no room.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.room
    }

    /// Doubles the room. False when the system has no memory to give, or there are no more numbers.
    pub(crate) fn grow(&mut self) -> bool {
        if self.room == 1 << 31 {
            return false;
        }
        let Some(vectors) = Region::<AtomicU64>::new(self.vectors.len() * 2) else { return false };
        let Some(table) = Region::new(self.table.len() * 2) else { return false };
        for from in (0..self.vectors.len()).step_by(COPIED) {
            let copied = from..self.vectors.len().min(from + COPIED);
            for (new, old) in vectors[copied.clone()].iter().zip(&self.vectors[copied.clone()]) {
                new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            self.vectors.release(copied);
        }
        self.vectors = vectors;
        self.taken.store(self.taken.load(Ordering::Relaxed).min(self.room), Ordering::Relaxed);
        self.room *= 2;
        let old = std::mem::replace(&mut self.table, table);
        // Only published numbers: those that stayed unused have vectors that others stand for.
        for number in old.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|&number| number != 0) {
            let vector = self.cells(number - 1).iter().map(|cell| cell.load(Ordering::Relaxed));
            let mut place = self.place(vector);
            while self.table[place].load(Ordering::Relaxed) != 0 {
                place = (place + 1) & (self.table.len() - 1);
            }
            self.table[place].store(number, Ordering::Relaxed);
        }
        true
    }

    /// Writes all vectors in the order of their numbers, each with whether its number stands for it: where two threads
    /// were at the same vector, one of their numbers stays unused, and that may be the smaller one.
    pub(crate) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let taken = self.len();
        put(out, &taken)?;
        let (mut vector, mut bytes) = (vec![0; self.pairs * 2], vec![0; self.pairs * 8 + 1]);
        for number in 0..taken {
            self.vector(number, &mut vector);
            bytes[0] = u8::from(self.search(&vector) == Ok(number));
            for (cell, bytes) in self.cells(number).iter().zip(bytes[1..].as_chunks_mut().0) {
                *bytes = cell.load(Ordering::Relaxed).to_le_bytes();
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    /// How many numbers were given out.
    pub(crate) fn len(&self) -> u32 {
        self.taken.load(Ordering::Relaxed).min(self.room)
    }

    /// Reads what `save` wrote into an interner that is new and may have `most` bytes.
    pub(crate) fn load(&mut self, input: &mut dyn Read, most: u64) -> io::Result<()> {
        let (mut vector, mut bytes) = (vec![0; self.pairs * 2], vec![0; self.pairs * 8 + 1]);
        let taken: u32 = get(input)?;
        for number in 0..taken {
            // As they come: how many there will be is not believed.
            if number == self.room && (self.bytes() * 2 > most || !self.grow()) {
                return Err(ErrorKind::OutOfMemory.into());
            }
            self.taken = AtomicU32::new(number + 1);
            input.read_exact(&mut bytes)?;
            for (cell, &bytes) in self.cells(number).iter().zip(bytes[1..].as_chunks().0) {
                cell.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
            }
            self.vector(number, &mut vector);
            match (bytes[0], self.search(&vector)) {
                (0, _) => {}
                (1, Err(place)) => self.table[place].store(number + 1, Ordering::Relaxed),
                _ => return Err(ErrorKind::InvalidData.into()),
            }
        }
        Ok(())
    }

    /// Asks for the vector with this number, to have it when it is needed.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch(&self.vectors[number as usize * self.pairs]);
    }

    /// Writes the vector with this number.
    #[inline]
    pub(crate) fn vector(&self, number: u32, out: &mut [u32]) {
        for (cell, pair) in self.cells(number).iter().zip(out.chunks_exact_mut(2)) {
            let value = cell.load(Ordering::Relaxed);
            (pair[0], pair[1]) = (value as u32, (value >> 32) as u32);
        }
    }

    #[inline]
    fn cells(&self, number: u32) -> &[AtomicU64] {
        let start = number as usize * self.pairs;
        &self.vectors[start..start + self.pairs]
    }

    #[inline]
    fn place(&self, vector: impl Iterator<Item = u64>) -> usize {
        hash_pairs(vector) as usize & (self.table.len() - 1)
    }

    #[inline]
    fn is(&self, number: u32, vector: &[u32]) -> bool {
        let mut different = 0;
        for (cell, pair) in self.cells(number).iter().zip(pairs(vector)) {
            different |= cell.load(Ordering::Relaxed) ^ pair;
        }
        different == 0
    }

    /// The number of a vector, if it has one.
    #[inline]
    pub(crate) fn find(&self, vector: &[u32]) -> Option<u32> {
        self.search(vector).ok()
    }

    /// The number of a vector, a new one if it has none; `None` when there is no room for it.
    #[inline]
    pub(crate) fn intern(&self, vector: &[u32]) -> Option<u32> {
        self.search(vector).map_or_else(|place| self.add(vector, place), Some)
    }

    /// The number of a vector, or the free place where it ends.
    #[inline]
    fn search(&self, vector: &[u32]) -> Result<u32, usize> {
        let mut place = self.place(pairs(vector));
        loop {
            match self.table[place].load(Ordering::Acquire) {
                0 => return Err(place),
                number if self.is(number - 1, vector) => return Ok(number - 1),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    #[cold]
    fn add(&self, vector: &[u32], mut place: usize) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        if number >= self.room {
            return None;
        }
        for (cell, pair) in self.cells(number).iter().zip(pairs(vector)) {
            cell.store(pair, Ordering::Relaxed);
        }
        loop {
            match self.table[place].compare_exchange(0, number + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(other) if self.is(other - 1, vector) => return Some(other - 1),
                Err(_) => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }
}

#[inline]
fn pairs(vector: &[u32]) -> impl Iterator<Item = u64> {
    vector.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads at the same vector take a number each; who comes first to the table may have the larger one.
    #[test]
    fn a_number_that_stayed_unused_does_not_come_back() {
        let interner = Interner::new(1);
        assert_eq!(interner.intern(&[5, 6]), Some(0));
        let unused = interner.taken.fetch_add(1, Ordering::Relaxed);
        interner.cells(unused)[0].store(pairs(&[7, 8]).next().unwrap(), Ordering::Relaxed);
        assert_eq!(interner.intern(&[7, 8]), Some(2));
        let mut saved = Vec::new();
        interner.save(&mut saved).unwrap();
        let mut loaded = Interner::new(1);
        loaded.load(&mut saved.as_slice(), u64::MAX).unwrap();
        assert_eq!((loaded.find(&[5, 6]), loaded.find(&[7, 8])), (Some(0), Some(2)));
        assert_eq!(loaded.intern(&[9, 9]), Some(3));
    }

    #[test]
    fn numbers_are_stable_through_growth() {
        for pairs in [1, 3] {
            let mut interner = Interner::new(pairs);
            let vector =
                |i: u32| -> Vec<u32> { (0..2 * pairs as u32).map(|k| i.wrapping_mul(k + 3) ^ k << 20).collect() };
            let mut numbers = Vec::new();
            for i in 0..20_000 {
                let number = loop {
                    match interner.intern(&vector(i)) {
                        Some(number) => break number,
                        None => assert!(interner.grow()),
                    }
                };
                numbers.push(number);
            }
            let mut out = vec![0; 2 * pairs];
            for (i, &number) in numbers.iter().enumerate() {
                interner.vector(number, &mut out);
                assert_eq!(out, vector(i as u32));
                assert_eq!(interner.find(&out), Some(number));
                assert_eq!(interner.intern(&out), Some(number));
            }
            assert_eq!(interner.find(&vec![7; 2 * pairs]), None);
            let mut bytes = Vec::new();
            interner.save(&mut bytes).expect("memory takes everything");
            let mut again = Interner::new(pairs);
            again.load(&mut bytes.as_slice(), u64::MAX).expect("what was written");
            assert!(numbers.iter().enumerate().all(|(i, &number)| again.find(&vector(i as u32)) == Some(number)));
            assert!(Interner::new(pairs).load(&mut &bytes[..bytes.len() - 1], u64::MAX).is_err());
            assert!(Interner::new(pairs).load(&mut bytes.as_slice(), 1 << 14).is_err());
        }
    }

    #[test]
    fn threads_agree_on_numbers() {
        let mut interner = Interner::new(1);
        while interner.room() < 100_000 {
            assert!(interner.grow());
        }
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let interner = &interner;
            let number = move |i: u32| interner.intern(&[i % 5000 * 77, i % 5000]).expect("room");
            let workers: Vec<_> = (0..8).map(|_| scope.spawn(move || (0..10_000).map(number).collect())).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        assert!(all.windows(2).all(|two| two[0] == two[1]));
    }
}

#[cfg(loom)]
#[cfg(test)]
mod loom_tests {
    use loom::sync::Arc;

    use super::*;

    /// Two threads intern the same vectors in opposite order, and read back what the numbers stand for.
    #[test]
    fn equal_vectors_have_equal_numbers_whatever_the_interleaving() {
        loom::model(|| {
            let interner = Arc::new(Interner::new(1));
            let other = Arc::clone(&interner);
            let number = |interner: &Interner, vector: [u32; 2]| {
                let number = interner.intern(&vector).expect("room");
                let mut back = [0; 2];
                interner.vector(number, &mut back);
                assert_eq!(back, vector);
                number
            };
            let thread = loom::thread::spawn(move || [[7, 1], [7, 2]].map(|vector| number(&other, vector)));
            let second = number(&interner, [7, 2]);
            let first = number(&interner, [7, 1]);
            assert_eq!(thread.join().expect("no panic"), [first, second]);
            assert_ne!(first, second);
        });
    }
}
