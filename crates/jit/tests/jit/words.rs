//! Native code on words that are no state of its program: it stays in its memory, and does what the interpreter does.
//!
//! The state lies before a page that nobody may read, and behind the room for successors lie canaries.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::PathBuf;

use birk_engine::{GoalSet, Model as _, Successors};
use birk_exec::{Interpreter, Random, goal_of};
use birk_ir::{Goal, Program};
use birk_jit::Compiled;

/// Tries for each model.
const TRIES: u64 = 400;
/// Bytes behind a state that nobody may read.
const FORBIDDEN: usize = 1 << 24;

/// A state that ends where memory ends. By system calls, because `memmap2` can make no part of a mapping inaccessible.
struct Edge {
    memory: *mut libc::c_void,
    bytes: usize,
    words: usize,
}

impl Edge {
    fn new(words: usize) -> Self {
        let page = 4096;
        let bytes = (words * 4).div_ceil(page) * page;
        // SAFETY: new memory, of which the end is made inaccessible.
        #[allow(unsafe_code, reason = "only the system can end memory at a certain place")]
        let memory = unsafe {
            let (read_write, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let memory = libc::mmap(std::ptr::null_mut(), bytes + FORBIDDEN, read_write, private, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED, "the system gives memory");
            assert_eq!(libc::mprotect(memory.byte_add(bytes), FORBIDDEN, libc::PROT_NONE), 0, "it can be closed");
            memory
        };
        Self { memory, bytes, words }
    }

    fn state(&mut self) -> &mut [u32] {
        // SAFETY: the words before the end of the accessible memory, which is all zeros or what was written to it.
        #[allow(unsafe_code, reason = "memory of the system becomes a slice")]
        unsafe {
            let first = self.memory.byte_add(self.bytes - self.words * 4).cast::<u32>();
            std::slice::from_raw_parts_mut(first, self.words)
        }
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nobody has a slice of it any more.
        #[allow(unsafe_code, reason = "the memory goes back to the system")]
        unsafe {
            libc::munmap(self.memory, self.bytes + FORBIDDEN);
        }
    }
}

/// What became of the tries.
#[derive(Debug, Default)]
struct Tried {
    /// Both did the same.
    same: u64,
    /// The interpreter stops where a value is assigned that its variable cannot have; native code only has to survive.
    survived: u64,
}

fn word_of(random: &mut Random) -> u32 {
    random.below(1 << 32) as u32
}

/// Words made from a state that can be reached: one word, some words, or all of them are drawn.
fn spoil(state: &mut [u32], random: &mut Random) {
    match random.below(3) {
        0 => state.iter_mut().for_each(|word| *word = word_of(random)),
        kind => {
            for _ in 0..kind {
                let word = random.below(state.len());
                state[word] ^= word_of(random) & word_of(random);
            }
        }
    }
}

/// Does something that may panic, which nobody needs to read about.
fn quietly(work: impl FnOnce()) {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    drop(catch_unwind(AssertUnwindSafe(work)));
    set_hook(hook);
}

fn try_all(name: &str, program: &Program, tried: &mut Tried) {
    let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(program, property)).collect();
    let (oracle, native) = (Interpreter::new(program, &goals), Compiled::new(program, &goals).expect("compiled"));
    let (mut expected, mut found) = (Successors::new(oracle.words()), Successors::new(native.words()));
    let (mut edge, mut random) = (Edge::new(oracle.words()), Random::new(7));
    let mut good = program.initial_state();
    for _ in 0..TRIES {
        let state = edge.state();
        state.copy_from_slice(&good);
        spoil(state, &mut random);
        let (mut steps, mut evaluated) = (None, None);
        quietly(|| {
            evaluated = Some([false, true].map(|stuck| oracle.evaluate(state, stuck)));
            expected.clear();
            oracle.successors(state, &mut expected);
            steps = Some(expected.len());
        });
        found.clear();
        let mut is_answered = false;
        // Threads with very many outcomes are interpreted, and stop where the interpreter does.
        quietly(|| {
            native.successors(state, &mut found);
            is_answered = true;
        });
        assert!(is_answered || steps.is_none(), "{name}: no successors of {state:x?}");
        let goals: [GoalSet; 2] = [false, true].map(|stuck| native.evaluate(state, stuck));
        assert!(evaluated.is_none_or(|evaluated| evaluated == goals), "{name}: goals of {state:x?}");
        match steps {
            Some(steps) => {
                assert_eq!(found.len(), steps, "{name}: number of successors of {state:x?}");
                assert_eq!(found.steps(0), expected.steps(0), "{name}: steps of {state:x?}");
                assert!(found.states(0) == expected.states(0), "{name}: successors of {state:x?}");
                tried.same += 1;
            }
            None => tried.survived += 1,
        }
        expected.clear();
        oracle.successors(&good, &mut expected);
        good = match expected.len() {
            0 => program.initial_state(),
            some => expected.state(random.below(some)).to_vec(),
        };
    }
}

fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

#[test]
fn any_words_keep_native_code_in_its_memory() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut tried = Tried::default();
    for entry in fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "bir") {
            let text = fs::read_to_string(&path).expect("readable");
            try_all(&path.display().to_string(), &load(&text), &mut tried);
        }
    }
    println!("{tried:?}");
    assert!(tried.same > 10_000 && tried.survived > 500, "not enough of both: {tried:?}");
}

#[test]
fn indices_that_only_their_bits_allow_stay_inside() {
    // Arrays at the end of the state, whose indices have bits for more; remainders and sums of such indices.
    let text = "system Beyond {
      int (0, 20) i; int (0, 20) j; int (-1, 1) k; int[21] a; int (0, 5)[9] small;
      int (0, 8) s;
      active thread T() {
        loc l:
          do { a[i] := a[j] + 1; } goto l;
          do { a[(i + j) % 21] := 1; } goto l;
          do { a[(i + 1) % 21] := a[20 - j]; } goto l;
          do { small[s] := 3; s := (s + small[s]) % 9; } goto l;
          when a[i] > a[j] do { i := j; a[i] := 5; j := i; } goto l;
          when a[i * (1 + k * k) % 21] == 0 do { i := (i * j) % 21; } goto l;
      }
      invariant low: a[i] + a[j] < 9 || small[s] == 2;
    }";
    let mut tried = Tried::default();
    try_all("beyond", &load(text), &mut tried);
    assert!(tried.same > 100, "{tried:?}");
}
