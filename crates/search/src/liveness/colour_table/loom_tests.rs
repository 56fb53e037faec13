//! Every interleaving of threads that mark the same states, examined by loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p birk-search --lib`.

use loom::sync::Arc;

use super::*;

/// Two threads mark two states that lie side by side, in opposite order, each with a mark of its own and a common one.
#[test]
fn no_mark_is_lost_whatever_the_interleaving() {
    loom::model(|| {
        let marks = Arc::new(ColourTable::new(2, 3, 1).expect("memory"));
        let other = Arc::clone(&marks);
        let thread = loom::thread::spawn(move || {
            let first = other.change(6, 0, 0b011) & 1 == 0;
            let second = other.change(7, 0, 0b011) & 1 == 0;
            other.change(6, 0b010, 0);
            [first, second]
        });
        let second = marks.change(7, 0, 0b101) & 1 == 0;
        let first = marks.change(6, 0, 0b101) & 1 == 0;
        let others = thread.join().expect("no panic");
        assert_eq!([first ^ others[0], second ^ others[1]], [true; 2], "one of them was the first");
        assert_eq!([marks.of(6), marks.of(7)], [0b101, 0b111]);
    });
}
