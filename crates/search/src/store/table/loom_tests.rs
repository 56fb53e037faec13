//! Every interleaving of insertions that collide, examined by loom:
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p birk-search --lib loom`.

use loom::sync::Arc;

use super::*;
use crate::store::memory::Cell;

/// Two threads insert the same two keys in opposite order: each key is new exactly once, and both are found.
fn inserted_once<S: Slot + 'static>() {
    loom::model(|| {
        let mixer = Mixer::new(4);
        let division = Division::new(mixer, 2);
        let slots: Arc<Vec<S>> = Arc::new((0..2 * S::PER_BUCKET).map(|_| S::default()).collect());
        let insert = move |slots: &[S], key| find_or_insert(slots, division, mixer.mix(key), 0, false);
        let other = Arc::clone(&slots);
        let thread = loom::thread::spawn(move || [1, 2].map(|key| insert(&other, key)));
        let second = insert(&slots, 2);
        let first = insert(&slots, 1);
        let theirs = thread.join().expect("no panic");
        let new = |mine, theirs| [mine, theirs].iter().filter(|&&inserted| inserted == Insertion::New).count();
        assert_eq!(new(first, theirs[0]), 1);
        assert_eq!(new(second, theirs[1]), 1);
        assert!([1, 2].iter().all(|&key| find(&slots, division, mixer.mix(key)).is_some()));
    });
}

#[test]
fn a_key_is_new_once_in_narrow_slots() {
    inserted_once::<AtomicU32>();
}

#[test]
fn a_key_is_new_once_in_wide_slots() {
    inserted_once::<AtomicU64>();
}

/// A slot that is written without a look at what is there now.
#[derive(Default)]
struct Hasty(AtomicU64);

impl Cell for Hasty {}

impl Slot for Hasty {
    const PER_BUCKET: usize = 8;
    const REMAINDERS: u64 = AtomicU64::REMAINDERS;

    fn get(&self) -> u64 {
        self.0.get()
    }

    fn set(&self, value: u64) {
        self.0.set(value);
    }

    fn claim(&self, value: u64) -> Result<(), u64> {
        match self.0.get() {
            0 => {
                self.0.store(value, crate::sync::Ordering::Relaxed);
                Ok(())
            }
            there => Err(there),
        }
    }
}

#[test]
#[should_panic(expected = "left: 2")]
fn a_claim_in_two_steps_is_noticed() {
    inserted_once::<Hasty>();
}

/// A slot that is given up to whoever was faster, as if the key had been written.
#[derive(Default)]
struct Careless(AtomicU64);

impl Cell for Careless {}

impl Slot for Careless {
    const PER_BUCKET: usize = 8;
    const REMAINDERS: u64 = AtomicU64::REMAINDERS;

    fn get(&self) -> u64 {
        self.0.get()
    }

    fn set(&self, value: u64) {
        self.0.set(value);
    }

    fn claim(&self, value: u64) -> Result<(), u64> {
        self.0.claim(value).or(Ok(()))
    }
}

#[test]
#[should_panic(expected = "left: 2")]
fn a_lost_claim_that_is_not_examined_is_noticed() {
    inserted_once::<Careless>();
}
