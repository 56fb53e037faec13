//! Every interleaving of insertions that collide, examined by loom: `RUSTFLAGS="--cfg loom" cargo test -p birk-search`.

use loom::sync::Arc;

use super::*;

/// Two threads insert the same two keys in opposite order into one bucket.
#[test]
fn a_key_is_new_once_whatever_the_interleaving() {
    loom::model(|| {
        let table = Arc::new(Table::with_bytes(4, 2 * LINE).expect("memory"));
        let other = Arc::clone(&table);
        let thread = loom::thread::spawn(move || {
            let first = other.reach(other.hash(1), 0);
            let second = other.reach(other.hash(2), 0);
            [first, second]
        });
        let second = table.reach(table.hash(2), 0);
        let first = table.reach(table.hash(1), 0);
        let theirs = thread.join().expect("no panic");
        let new = |mine, theirs| [mine, theirs].iter().filter(|&&reached| reached == Reached::New).count();
        assert_eq!(new(first, theirs[0]), 1);
        assert_eq!(new(second, theirs[1]), 1);
        assert!(table.find(table.hash(1)).is_some() && table.find(table.hash(2)).is_some());
    });
}
