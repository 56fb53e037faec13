//! The table against a set, through growth and changes of width, and by several threads.

use std::collections::HashMap;

use super::*;

/// Pseudo-random keys of some bits, with repetitions.
fn keys(bits: u32, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| {
        let x = (i / 2 * 3).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (i % 5);
        x & (u64::MAX >> (64 - bits))
    })
}

fn grow(table: &mut Table, bits: u32, workers: usize) {
    let bytes = table.larger(bits, table.capacity(), u64::MAX).expect("no limit");
    assert!(table.rebuild(bits, bytes, workers, None));
}

#[test]
fn it_is_a_set_with_depths() {
    for bits in [1, 5, 16, 26, 39, 48, 64] {
        let mut table = Table::new(bits);
        let mut known: HashMap<u64, u32> = HashMap::new();
        for (i, key) in keys(bits, 60_000).enumerate() {
            let depth = i as u32 % 7;
            let inserted = loop {
                match table.find_or_insert(table.hash(key), depth) {
                    Insertion::NoRoom => grow(&mut table, bits, 1 + i % 3),
                    inserted => break inserted,
                }
            };
            assert_eq!(inserted == Insertion::New, !known.contains_key(&key), "{bits} bits, key {key}");
            known.entry(key).or_insert(depth % 3);
            if known.len() as u64 > table.capacity() {
                grow(&mut table, bits, 1 + i % 3);
            }
        }
        for (&key, &depth) in &known {
            assert_eq!(table.find(table.hash(key)).map(|entry| entry.depth), Some(depth), "{bits} bits, key {key}");
        }
        let mut count = 0;
        table.each(0..table.division.buckets(), |hash, depth| {
            assert_eq!(known.get(&table.mixer.unmix(hash)), Some(&depth));
            count += 1;
        });
        assert_eq!(count, known.len());
    }
}

#[test]
fn narrow_slots_come_with_size_and_keys_can_change_their_width() {
    let mut table = Table::new(36);
    assert!(matches!(table.slots, Slots::Narrow(_)) == (table.division.largest_remainder() < AtomicU32::REMAINDERS));
    let mut wide = Table::new(40);
    assert!(matches!(wide.slots, Slots::Wide(_)));
    for key in 0..5000u64 {
        for table in [&mut table, &mut wide] {
            while table.find_or_insert(table.hash(key << 20), 1) == Insertion::NoRoom {
                let bits = table.mixer.bits();
                grow(table, bits, 1);
            }
        }
    }
    assert!(wide.rebuild(40, 1 << 21, 2, None));
    assert!(matches!(wide.slots, Slots::Narrow(_)));
    assert!(wide.rebuild(50, 1 << 22, 2, Some(&|key| key << 10 | 5)));
    for key in 0..5000u64 {
        assert!(wide.find(wide.hash(key << 30 | 5)).is_some() && table.find(table.hash(key << 20)).is_some());
        assert!(wide.find(wide.hash(key << 30)).is_none());
    }
}

#[test]
fn growing_by_a_quarter_keeps_a_large_table_full() {
    let mut table = Table::with_bytes(38, 64 << 20).expect("memory");
    let mut held = 0;
    for key in 0..16_000_000u64 {
        held +=
            u64::from(table.find_or_insert(table.hash(key.wrapping_mul(12345) & ((1 << 38) - 1)), 0) == Insertion::New);
        if held > table.capacity() {
            grow(&mut table, 38, 2);
        }
    }
    assert_eq!(held, 16_000_000);
    assert!(table.bytes() as f64 / held as f64 <= 6.0, "{} bytes for {held} keys", table.bytes());
}

#[test]
fn of_many_threads_exactly_one_hears_that_a_key_is_new() {
    let table = Table::with_bytes(30, 1 << 20).expect("memory");
    let new: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let table = &table;
                scope.spawn(move || {
                    let key = |i: u64| (i * 7 + worker) % 200_000;
                    (0..200_000).filter(|&i| table.find_or_insert(table.hash(key(i)), 0) == Insertion::New).count()
                        as u64
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });
    assert_eq!(new, 200_000);
}

/// A table that is moved into too little room needs a larger one; when there is no memory for that, nothing is lost.
#[test]
fn no_key_is_lost_when_there_is_no_memory_for_a_second_try() {
    for workers in [1, 3] {
        let mut table = Table::new(40);
        let keys: Vec<u64> = (0..60).map(|key| key * 7919 + 5).collect();
        keys.iter().for_each(|&key| assert_eq!(table.find_or_insert(table.hash(key), key as u32), Insertion::New));
        let mut tables = 0;
        let mut once = |bits, bytes| {
            tables += 1;
            (tables == 1).then(|| Table::with_bytes(bits, bytes)).flatten()
        };
        assert!(table.rebuild_in(&mut once, 42, 2 * LINE, workers, Some(&|key| key << 2 | 1)), "it was moved");
        assert_eq!(tables, 2);
        let mut slots = std::collections::HashSet::new();
        let mut check = |table: &Table| {
            slots.clear();
            for key in &keys {
                let hash = table.hash(key << 2 | 1);
                let entry = table.find(hash).expect("it was there");
                assert_eq!((entry.depth, table.find_or_insert(hash, 0)), (*key as u32 % 3, Insertion::Known));
                assert!(entry.slot < table.slots() && slots.insert(entry.slot), "a slot of its own");
            }
            let (mut found, mut all) = (Vec::new(), Vec::new());
            table.have(&keys.iter().map(|key| table.hash(key << 2 | 1)).collect::<Vec<_>>(), &mut found);
            table.each_key(|key| all.push(key >> 2));
            all.sort_unstable();
            assert!(found.iter().all(|&found| found) && all == keys);
        };
        check(&table);
        assert!(!table.homeless.is_empty());
        assert_eq!(table.find_or_insert(table.hash(2), 0), Insertion::NoRoom);
        assert!(table.rebuild(42, 1 << 12, workers, None));
        check(&table);
        assert!(table.homeless.is_empty() && table.find_or_insert(table.hash(2), 0) == Insertion::New);
    }
}
