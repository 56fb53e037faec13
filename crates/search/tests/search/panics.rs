//! A panic in any thread of any engine ends the search soon, with that panic, and says which thread it was.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use birk_agreement::hunt;
use birk_engine::{GoalSet, Job, Limits, Model, Options, Patient, Storage, Successors, Value};
use birk_ir::{Field, TransitionId};
use birk_search::ENGINES;
use birk_search::bounded::INCREMENT;
use birk_search::highway::{Highway, Ran, Swarm, WIDTH};
use birk_search::liveness::CycleSearch;

/// The panic comes from this many computations of successors on.
const HEALTHY: u64 = 30_000;
/// After the panic there may be so many more, by all threads together.
const MORE: u64 = 100_000;
const MESSAGE: &str = "the model fails";

/// A model with more states than anybody has time for, which fails after a while in one kind of thread.
struct Failing {
    words: usize,
    computed: AtomicU64,
    /// How many had been computed when it first failed.
    failed_at: AtomicU64,
    caller: ThreadId,
    /// It fails in the thread that calls the engine, otherwise in one that the engine started.
    fails_caller: bool,
}

impl Model for Failing {
    fn words(&self) -> usize {
        self.words
    }

    fn fields(&self) -> Vec<Field> {
        let bits = if self.words == 2 { 22 } else { 32 };
        (0..self.words as u32).map(|word| Field { word, shift: 0, bits }).collect()
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &vec![1; self.words]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let computed = self.computed.fetch_add(1, Ordering::Relaxed);
        let is_caller = std::thread::current().id() == self.caller;
        if computed >= HEALTHY && is_caller == self.fails_caller {
            self.failed_at.fetch_min(computed, Ordering::Relaxed);
            panic!("{MESSAGE}");
        }
        for step in 1..4 {
            let mut next = state.to_vec();
            let number = (u64::from(state[0]) << 22 | u64::from(state[1])) * 3 + step;
            next[0] = (number >> 22) as u32 & 0x3f_ffff;
            next[1] = number as u32 & 0x3f_ffff;
            let rest = next[0] ^ next[1];
            next[2..].fill(rest);
            out.push(TransitionId(0), step as u32, &next);
        }
    }

    fn evaluate(&self, _: &[u32], _: bool) -> GoalSet {
        GoalSet(0)
    }

    fn transitions(&self) -> usize {
        1
    }
}

type Hunt = Arc<dyn Fn(&Failing, Job) + Send + Sync>;

/// Each engine, with whether the calling thread, and whether threads of its own, compute successors.
fn hunts() -> Vec<(String, Hunt, bool, bool)> {
    let mut hunts: Vec<(String, Hunt, bool, bool)> = Vec::new();
    for engine in ENGINES {
        for storage in [Storage::Exact, Storage::Compact] {
            let hunt = move |model: &Failing, job: Job| {
                hunt::of_model(engine, model, &Job { storage, ..job }, &mut Patient);
            };
            hunts.push((format!("{} {storage:?}", engine.name), Arc::new(hunt), true, engine.scales));
        }
    }
    for (weak, by_bounds) in [(false, false), (true, false), (false, true)] {
        let hunt = move |model: &Failing, job: Job| {
            let cycle_search = CycleSearch::of(weak, &job);
            if by_bounds {
                cycle_search.hunt_by_bounds(model, &mut Patient)
            } else {
                cycle_search.hunt(model, &mut Patient)
            };
        };
        hunts.push((format!("cycles, weak {weak}, by bounds {by_bounds}"), Arc::new(hunt), by_bounds, true));
    }
    let runs = |model: &Failing, job: Job| {
        let runs = Swarm { first: Highway::of(&job), count: 1000, doubles: false };
        runs.hunt(job.limits, &mut Patient, &|highway, limits, observer| {
            let job = Job { limits, ..job.clone() };
            let hunt = highway.hunt(model, &job, observer);
            Ran { result: (), states: hunt.stats.states, is_last: false }
        });
    };
    hunts.push(("runs".into(), Arc::new(runs), false, true));
    hunts
}

/// Swarm a hunt that will panic: with what, and after how many more computations of successors. `None` if it hangs.
fn panic_of(hunt: Hunt, words: usize, threads: usize, fails_caller: bool) -> Option<(String, u64)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let caller = std::thread::current().id();
        let (computed, failed_at) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let model = Failing { words, computed, failed_at, caller, fails_caller };
        let limits = Limits { threads, grain: 1, memory: 1 << 30, ..Limits::NONE };
        let options = Options::default().with(&INCREMENT, Value::Number(5)).with(&WIDTH, Value::Number(3000));
        let job = Job { stop_at: GoalSet(1), seed: 1, options, ..Job::new(1, limits) };
        let panic = catch_unwind(AssertUnwindSafe(|| hunt(&model, job))).expect_err("the model fails");
        let message = panic.downcast_ref::<&str>().map(|message| message.to_string());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let _ = sender.send((message, model.computed.into_inner() - model.failed_at.into_inner()));
    });
    receiver.recv_timeout(Duration::from_secs(20)).ok()
}

/// The first hunt that does not end as it should.
fn offence(names: &Mutex<Vec<String>>) -> Option<String> {
    for (name, hunt, calls, starts) in hunts() {
        for (threads, fails_caller) in [(1, true), (2, false), (8, false), (2, true), (8, true)] {
            if threads > 1 && !if fails_caller { calls } else { starts } {
                continue;
            }
            for words in [2, 6] {
                names.lock().unwrap().clear();
                let ended = panic_of(Arc::clone(&hunt), words, threads, fails_caller);
                let names = names.lock().unwrap();
                let is_named = fails_caller || names.iter().all(|name| name.contains(" worker "));
                match &ended {
                    Some((message, more)) if message == MESSAGE && *more < MORE && is_named && !names.is_empty() => {}
                    _ => return Some(format!("{name}, {threads} threads, {words} words: {ended:?}, by {names:?}")),
                }
            }
        }
    }
    None
}

#[test]
fn a_panic_in_a_worker_ends_the_search() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&names);
    std::panic::set_hook(Box::new(move |_| {
        heard.lock().unwrap().push(std::thread::current().name().unwrap_or_default().to_owned());
    }));
    let offence = offence(&names);
    let _ = std::panic::take_hook();
    assert_eq!(offence, None);
}
