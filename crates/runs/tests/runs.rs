//! Runs against sets of the standard library.

use std::collections::BTreeSet;
use std::sync::Arc;

use birk_runs::{Blocks, Cursor, Merge, Run, Sorted, Stream, Writer, sort_unique};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// A word of a key: they lie near each other and far apart.
    fn word(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(50),
            1 => self.below(1 << 20),
            2 => self.below(30) << 40,
            _ => self.next(),
        }
    }

    /// A set of up to so many keys of some words.
    fn keys(&mut self, words: usize, most: u64) -> BTreeSet<Vec<u64>> {
        let (count, is_alike) = (self.below(most), self.below(2) == 0);
        let key = |random: &mut Self| -> Vec<u64> {
            (0..words)
                .map(|word| if is_alike && word == 0 && words > 1 { random.below(4) } else { random.word() })
                .collect()
        };
        (0..count).map(|_| key(self)).collect()
    }
}

fn flat(keys: &BTreeSet<Vec<u64>>) -> Vec<u64> {
    keys.iter().flatten().copied().collect()
}

fn bytes(keys: &[u64], words: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), words, 7).expect("memory is written to");
    // In pieces, as they come.
    keys.chunks(words * 100 + words).for_each(|piece| writer.push(piece).expect("memory is written to"));
    assert_eq!(writer.keys(), (keys.len() / words) as u64);
    let (out, length) = writer.finish().expect("memory is written to");
    assert_eq!(out.len() as u64, length);
    out
}

fn run(keys: &[u64], words: usize) -> Run {
    // Not at the beginning of what it is in.
    let mut file = vec![1, 2, 3];
    file.extend(bytes(keys, words));
    let length = file.len() as u64 - 3;
    let run = Run::open(Arc::new(file), 3, length).expect("it is whole");
    assert_eq!((run.words(), run.keys(), run.label()), (words, (keys.len() / words) as u64, 7));
    run
}

fn all(run: &Run) -> Vec<u64> {
    let mut cursor = Cursor::new(run.clone(), 500);
    let mut keys = Vec::new();
    while cursor.refill().expect("it is whole") {
        keys.extend_from_slice(cursor.head());
        cursor.consume(cursor.head().len());
    }
    keys
}

fn check(words: usize, sets: &[BTreeSet<Vec<u64>>], list: &BTreeSet<Vec<u64>>, piece: usize) {
    let runs: Vec<Run> = sets.iter().map(|keys| run(&flat(keys), words)).collect();
    for (run, keys) in runs.iter().zip(sets) {
        assert_eq!(all(run), flat(keys));
    }
    let list_keys = flat(list);
    let mut streams: Vec<Stream<'_>> = runs.iter().map(|run| Stream::Run(Cursor::new(run.clone(), 1 << 12))).collect();
    streams.push(Stream::List(&list_keys));
    let mut merge = Merge::new(streams, words);
    let (mut batch, mut merged) = (Vec::new(), Vec::new());
    while merge.next(&mut batch).expect("runs are whole") {
        merged.extend_from_slice(&batch);
    }
    let union: BTreeSet<Vec<u64>> = sets.iter().chain([list]).flatten().cloned().collect();
    assert_eq!(merged, flat(&union));
    assert_eq!(merge.taken() as usize, sets.iter().chain([list]).map(BTreeSet::len).sum::<usize>());
    check_slices(words, &runs, &list_keys, &flat(&union));
    let mut cursors: Vec<Cursor> = runs.iter().map(|run| Cursor::new(run.clone(), 300)).collect();
    let mut left = Vec::new();
    for piece in list_keys.chunks(piece * words) {
        let mut piece = piece.to_vec();
        for cursor in &mut cursors {
            cursor.subtract(&mut piece).expect("runs are whole");
        }
        left.extend(piece);
    }
    let difference: BTreeSet<Vec<u64>> =
        list.iter().filter(|key| sets.iter().all(|set| !set.contains(*key))).cloned().collect();
    assert_eq!(left, flat(&difference));
}

/// Two go through every second slice of the keys; what they make is one run.
fn check_slices(words: usize, runs: &[Run], list: &[u64], union: &[u64]) {
    let mut borders: Vec<u64> = union.chunks(words).step_by(1 + union.len() / words / 7).map(|key| key[0]).collect();
    borders.extend(runs.iter().flat_map(Run::firsts).step_by(2));
    borders.sort_unstable();
    borders.dedup();
    let slices = borders.len() + 1;
    let mut parts: Vec<Blocks> = (0..slices).map(|_| Blocks::new(words)).collect();
    let mut taken = 0;
    for worker in 0..2 {
        let mut streams: Vec<Stream<'_>> =
            runs.iter().map(|run| Stream::Run(Cursor::new(run.clone(), 1 << 12))).collect();
        streams.push(Stream::List(list));
        let mut merge = Merge::new(streams, words);
        for slice in (worker..slices).step_by(2) {
            let from = slice.checked_sub(1).map_or(0, |before| borders[before]);
            merge.narrow(from, borders.get(slice).copied()).expect("runs are whole");
            let mut batch = Vec::new();
            while merge.next(&mut batch).expect("runs are whole") {
                parts[slice].push(&batch);
            }
        }
        taken += merge.taken();
    }
    assert_eq!(taken, runs.iter().map(Run::keys).sum::<u64>() + (list.len() / words) as u64);
    let mut writer = Writer::new(Vec::new(), words, 7).expect("memory is written to");
    parts.iter_mut().for_each(|part| writer.append(part).expect("memory is written to"));
    assert_eq!(writer.keys(), (union.len() / words) as u64);
    let (bytes, length) = writer.finish().expect("memory is written to");
    assert_eq!(all(&Run::open(Arc::new(bytes), 0, length).expect("it is whole")), union);
}

#[test]
fn runs_are_sets() {
    let mut random = Random(1);
    for case in 0..60 {
        let words = if case % 2 == 0 { 1 } else { 2 + random.below(10) as usize };
        let sets: Vec<_> = (0..random.below(5)).map(|_| random.keys(words, 3000)).collect();
        let mut list = random.keys(words, 3000);
        list.extend(sets.iter().flatten().step_by(3).cloned());
        if random.below(2) == 0 {
            list = list.into_iter().step_by(97).collect();
        }
        check(words, &sets, &list, 1 + random.below(900) as usize);
    }
}

#[test]
fn sorting_leaves_each_key_once() {
    let mut random = Random(2);
    for case in 0..60 {
        let words = 1 + case % 11;
        let mut list: Vec<u64> = (0..random.below(900) as usize * words)
            .map(|_| if random.below(2) == 0 { random.below(9) } else { random.next() })
            .collect();
        let set: BTreeSet<Vec<u64>> = list.chunks(words).map(<[u64]>::to_vec).collect();
        assert_eq!(sort_unique(&mut list, words, &mut || true), Sorted::Whole);
        assert_eq!(list, flat(&set));
    }
}

/// Lists longer than the cache, whose keys differ in few bits, in all, or at both ends only.
#[test]
fn long_lists_are_sorted() {
    let mut state = 1u64;
    for mask in [u64::MAX, 0xff, 0xff00_0000_0000_00ff, 0x0000_00ff_ffff_0000, 0] {
        let mut list: Vec<u64> = (0..300_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.rotate_left(29) & mask
            })
            .collect();
        let set: BTreeSet<u64> = list.iter().copied().collect();
        assert_eq!(sort_unique(&mut list, 1, &mut || true), Sorted::Whole);
        assert!(list.iter().eq(&set), "{mask:x}");
    }
    let mut list: Vec<u64> = (0..300_000).rev().collect();
    assert_eq!(sort_unique(&mut list, 1, &mut || false), Sorted::Ended);
}

/// Whatever byte is changed, wherever a run is cut off: it is refused when it is opened, or when the keys there are read.
#[test]
fn damage_is_refused() {
    for words in [1, 2] {
        let keys: Vec<u64> = (0..4000).map(|i| i * 37).collect();
        let whole = bytes(&keys, words);
        let read = |bytes: Vec<u8>| -> std::io::Result<u64> {
            let length = bytes.len() as u64;
            let mut cursor = Cursor::new(Run::open(Arc::new(bytes), 0, length)?, 1 << 16);
            let mut count = 0;
            while cursor.refill()? {
                count += cursor.head().len() as u64;
                cursor.consume(cursor.head().len());
            }
            Ok(count)
        };
        assert_eq!(read(whole.clone()).expect("it is whole"), 4000);
        for place in 0..whole.len() {
            let mut bent = whole.clone();
            bent[place] ^= 1 << (place % 8);
            assert!(read(bent).is_err(), "byte {place}");
            assert!(read(whole[..place].to_vec()).is_err(), "cut off at {place}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(read(longer).is_err());
    }
}

#[test]
#[should_panic(expected = "the keys of a run ascend")]
fn keys_out_of_order_are_not_written() {
    bytes(&[3, 2], 1);
}
