//! Every interleaving of threads that give numbers to the same states, examined by loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p birk-search --lib`.

use loom::sync::Arc;

use super::super::cells::Cells;
use super::*;

/// The number of a state with this hash; the thread gives the numbers from `next` on.
fn number(slots: &Slots, rows: &Cells, hash: u64, state: u32, next: &mut u32) -> u32 {
    let is_same = |number: u32| rows.row(number)[0].load(Ordering::Relaxed) == state;
    let new = || {
        rows.row(*next)[0].store(state, Ordering::Relaxed);
        Some(*next)
    };
    let (number, is_new) = slots.number(hash, is_same, new).expect("there is room");
    *next += u32::from(is_new);
    number
}

/// Two threads give numbers to the same two states, in opposite order, whose hashes are the same.
#[test]
fn a_state_has_one_number_whatever_the_interleaving() {
    loom::model(|| {
        let (slots, rows) = (Slots::new(2).expect("memory"), Cells::new(1));
        assert!(rows.reserve(0), "memory");
        let shared = Arc::new((slots, rows));
        let other = Arc::clone(&shared);
        let thread = loom::thread::spawn(move || {
            let mut next = 0;
            let first = number(&other.0, &other.1, 1 << 40, 7, &mut next);
            let second = number(&other.0, &other.1, 1 << 40, 8, &mut next);
            (first, second)
        });
        let mut next = 2;
        let second = number(&shared.0, &shared.1, 1 << 40, 8, &mut next);
        let first = number(&shared.0, &shared.1, 1 << 40, 7, &mut next);
        assert_eq!(thread.join().expect("no panic"), (first, second));
        assert_ne!(first, second);
    });
}
