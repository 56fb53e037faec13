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
            let reached = loop {
                match table.reach(table.hash(key), depth) {
                    Reached::NoRoom => grow(&mut table, bits, 1 + i % 3),
                    reached => break reached,
                }
            };
            assert_eq!(reached == Reached::New, !known.contains_key(&key), "{bits} bits, key {key}");
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
            while table.reach(table.hash(key << 20), 1) == Reached::NoRoom {
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
        held += u64::from(table.reach(table.hash(key.wrapping_mul(12345) & ((1 << 38) - 1)), 0) == Reached::New);
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
                    (0..200_000).filter(|&i| table.reach(table.hash(key(i)), 0) == Reached::New).count() as u64
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });
    assert_eq!(new, 200_000);
}
