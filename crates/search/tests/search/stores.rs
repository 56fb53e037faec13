//! The engines against the simple loop with the simple store: same counts, levels, lengths, whatever store and threads.

use birk_agreement::hunt;
use birk_engine::{GoalSet, Hunt, Job, Limits, Model, Patient, Storage, Successors};
use birk_ir::{Coverage, Field, Outcome, Stop, TransitionId};
use birk_search::ENGINES;
use birk_search::dfs::explore;
use birk_search::frontier::Queue;
use birk_search::store::exact::ExactStore;

/// Words that count up, each pushed by its neighbour, in some number of bits each; the last can be reset.
struct Wheels {
    words: usize,
    bits: u32,
    modulus: u32,
    /// A state is bad when its words add up to this.
    bad: u32,
}

impl Model for Wheels {
    fn words(&self) -> usize {
        self.words
    }

    fn fields(&self) -> Vec<Field> {
        (0..self.words as u32).map(|word| Field { word, shift: 0, bits: self.bits }).collect()
    }

    fn initial(&self, out: &mut Successors) {
        for start in 0..3 {
            let mut state = vec![0; self.words];
            state[0] = start % self.modulus;
            out.push(TransitionId(0), 0, &state);
        }
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for word in 0..self.words {
            let mut next = state.to_vec();
            let push = state[(word + 1) % self.words] % 3;
            next[word] = (next[word] + 1 + push) % self.modulus;
            out.push(TransitionId(word as u32), 0, &next);
        }
        if state[self.words - 1] == self.modulus - 1 {
            let mut next = state.to_vec();
            next[self.words - 1] = 0;
            next[0] = u32::MAX >> (32 - self.bits);
            next[0] %= self.modulus;
            out.push(TransitionId(self.words as u32), 0, &next);
        }
    }

    fn evaluate(&self, state: &[u32], _: bool) -> GoalSet {
        let mut goals = GoalSet::default();
        if state.iter().sum::<u32>() == self.bad {
            goals.insert(0);
        }
        if state.iter().all(|&word| word == self.modulus - 1) {
            goals.insert(1);
        }
        goals
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        state[0] == 1 && state[self.words - 1] == 2
    }

    fn transitions(&self) -> usize {
        self.words + 1
    }
}

const MODELS: [Wheels; 6] = [
    Wheels { words: 1, bits: 9, modulus: 500, bad: 77 },
    Wheels { words: 2, bits: 10, modulus: 300, bad: 211 },
    Wheels { words: 2, bits: 32, modulus: 300, bad: 211 },
    Wheels { words: 5, bits: 32, modulus: 9, bad: 17 },
    Wheels { words: 9, bits: 5, modulus: 3, bad: 14 },
    Wheels { words: 23, bits: 32, modulus: 2, bad: 3 },
];

fn job(limits: Limits, stop_at: u64) -> Job {
    Job { stop_at: GoalSet(stop_at), keep_going: stop_at == 0, ..Job::new(2, limits) }
}

fn breadth(model: &Wheels, job: &Job) -> Hunt {
    hunt::of_model(&ENGINES[0], model, job, &mut Patient)
}

fn simple(model: &Wheels, job: &Job) -> Hunt {
    explore(model, job, ExactStore::new(model.words), Queue::default(), &mut Patient)
}

/// Walks a trace and gives its last state.
fn walk(model: &Wheels, outcome: &Outcome) -> Option<(usize, Vec<u32>)> {
    let Outcome::Found(trace) = outcome else { return None };
    let mut batch = Successors::new(model.words);
    model.initial(&mut batch);
    let mut state = batch.state(trace.initial as usize).to_vec();
    for step in &trace.steps {
        batch.clear();
        model.successors(&state, &mut batch);
        let taken = (0..batch.len()).find(|&i| batch.step(i) == *step).expect("a step of the model");
        state = batch.state(taken).to_vec();
    }
    Some((trace.steps.len(), state))
}

fn variants(depth: u32) -> Vec<Job> {
    let mut all = Vec::new();
    for threads in [1, 2, 8] {
        for storage in [Storage::Exact, Storage::Compact] {
            all.push(Job { storage, ..job(Limits { threads, depth, ..Limits::NONE }, 0) });
        }
    }
    all
}

#[test]
fn every_store_and_number_of_threads_finds_the_same() {
    for model in &MODELS {
        for job in variants(if model.words < 23 { u32::MAX } else { 5 }) {
            let (expected, found) = (simple(model, &job), breadth(model, &job));
            let here = format!("{} words of {} bits, {job:?}", model.words, model.bits);
            assert_eq!(found.stats.states, expected.stats.states, "{here}");
            assert_eq!(found.stats.transitions, expected.stats.transitions, "{here}");
            assert_eq!(found.stats.levels, expected.stats.levels, "{here}");
            assert_eq!(found.stats.max_depth, expected.stats.max_depth, "{here}");
            assert_eq!(found.stopped, expected.stopped, "{here}");
            assert_eq!(found.fired, expected.fired, "{here}");
            for (goal, (found, expected)) in found.outcomes.iter().zip(&expected.outcomes).enumerate() {
                let (found, expected) = (walk(model, found), walk(model, expected));
                assert_eq!(found.as_ref().map(|f| f.0), expected.map(|e| e.0), "{here}: goal {goal}");
                assert!(found.is_none_or(|f| model.evaluate(&f.1, false).contains(goal)), "{here}: goal {goal}");
            }
        }
    }
}

#[test]
fn a_search_that_ends_at_a_goal_counts_the_same_with_any_threads() {
    for model in &MODELS {
        let hunts: Vec<Hunt> =
            [1, 2, 8].map(|threads| breadth(model, &job(Limits { threads, ..Limits::NONE }, 1))).into_iter().collect();
        assert_eq!(hunts[0].stopped, Stop::Goal);
        let expected = walk(model, &simple(model, &job(Limits::NONE, 1)).outcomes[0]).expect("a trace").0;
        for hunt in &hunts {
            assert_eq!(walk(model, &hunt.outcomes[0]).expect("a trace").0, expected);
            assert_eq!(hunt.outcomes, hunts[0].outcomes);
            assert_eq!(hunt.coverage, Coverage::Depth(expected as u32));
            assert_eq!(
                (hunt.stats.states, hunt.stats.transitions),
                (hunts[0].stats.states, hunts[0].stats.transitions)
            );
        }
    }
}

#[test]
fn the_memory_limit_holds_and_the_coverage_is_truthful() {
    let model = &Wheels { words: 2, bits: 32, modulus: 3000, bad: 0 };
    for memory in [1 << 20, 5 << 20, 12 << 20] {
        for storage in [Storage::Exact, Storage::Compact] {
            let job = |limits| Job { storage, ..job(limits, 0) };
            let hunt = breadth(model, &job(Limits { memory, ..Limits::NONE }));
            assert_eq!(hunt.stopped, Stop::Memory);
            assert!(hunt.stats.store_bytes <= memory + memory / 20, "{} of {memory}", hunt.stats.store_bytes);
            assert!(hunt.stats.store_bytes >= memory / 3, "{} of {memory}", hunt.stats.store_bytes);
            let (Coverage::Depth(depth) | Coverage::Hashed { depth: Some(depth), .. }) = hunt.coverage else {
                panic!("{:?}", hunt.coverage);
            };
            let bounded = breadth(model, &job(Limits { depth, ..Limits::NONE }));
            let within: u64 = bounded.stats.levels.iter().sum();
            assert!(hunt.stats.states >= within, "{} states, {within} within depth {depth}", hunt.stats.states);
        }
    }
}
