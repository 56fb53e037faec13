//! Native code against the interpreter: state by state, and as whole searches with every store, on 1, 2 and 8 threads.
//!
//! Every search must say what the reference says, and all of one engine the same, traces included where they are shortest.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{ThreadId, current, yield_now};

use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Model, Patient, Storage, Successors};
use birk_exec::Interpreter;
use birk_ir::{Coverage, Field, Outcome, Step, TransitionId};
use birk_jit::{Compiled, Staged};
use birk_search::{ENGINES, engine};

use crate::mutants::{all_noticed, mutant};
use birk_agreement::case::{Case, cases};
use birk_agreement::check::{Checked, Subject, check, same};
use birk_agreement::hunt;

/// Threads of an engine that scales.
const THREADS: [usize; 3] = [1, 2, 8];
/// So few states that also the levels of small programs are shared.
pub(crate) const GRAIN: usize = 2;

/// What was really tried: none of these may be 0.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) states: u64,
    pub(crate) searches: u64,
    /// Searches in which more than one thread expanded states.
    pub(crate) shared: u64,
    /// Searches in which states could have been lost to hashing.
    pub(crate) hashed: u64,
    /// Searches that began interpreted and went on compiled.
    pub(crate) staged: u64,
}

/// Everything that must be the same whoever computes successors, wherever they are stored, and by how many threads.
pub(crate) fn agreed(case: &Case, depth: u32, tried: &mut Tried) -> Checked {
    let interpreter = Interpreter::new(&case.program, &case.goals);
    let native = Compiled::new(&case.program, &case.goals)?;
    tried.states += state_by_state(&interpreter, &native).map_err(|why| format!("native code: {why}"))?;
    for engine in ENGINES {
        let mut expected: Option<Vec<Hunt>> = None;
        for (by, model) in [("interpreted", &interpreter as &dyn Model), ("native", &native)] {
            for (threads, storage) in kinds(engine) {
                let hunts = hunts(case, model, engine, Kind { threads, storage, depth }, tried);
                let name = || format!("{}, {by}, {threads} threads, {storage:?}", engine.name);
                let hunts = hunts.map_err(|why| format!("{}: {why}", name()))?;
                match &expected {
                    None => expected = Some(hunts),
                    // Where the trace need not be shortest, it may depend on who was first.
                    Some(_) if threads > 1 && !engine.shortest => {}
                    Some(expected) => same_hunts(&hunts, expected).map_err(|why| format!("{}: {why}", name()))?,
                }
            }
        }
        let expected = expected.expect("every engine searched");
        staged(case, engine, &expected[0], tried).map_err(|why| format!("{}, staged: {why}", engine.name))?;
    }
    Ok(())
}

/// Walks through all states with one model, and compares what both say of each.
fn state_by_state(oracle: &dyn Model, native: &dyn Model) -> Result<u64, String> {
    let (mut expected, mut found) = (Successors::new(oracle.words()), Successors::new(native.words()));
    oracle.initial(&mut expected);
    native.initial(&mut found);
    same_batches(&found, &expected, &[])?;
    let mut seen: HashSet<Vec<u32>> = (0..expected.len()).map(|i| expected.state(i).to_vec()).collect();
    let mut queue: VecDeque<Vec<u32>> = seen.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        expected.clear();
        found.clear();
        oracle.successors(&state, &mut expected);
        native.successors(&state, &mut found);
        same_batches(&found, &expected, &state)?;
        same("a failing check", &native.is_fault(&state), &oracle.is_fault(&state))?;
        for stuck in [false, true] {
            let goals = native.evaluate(&state, stuck);
            same(&format!("goals of {state:x?}"), &goals, &oracle.evaluate(&state, stuck))?;
        }
        for i in 0..expected.len() {
            if seen.insert(expected.state(i).to_vec()) {
                queue.push_back(expected.state(i).to_vec());
            }
        }
    }
    Ok(seen.len() as u64)
}

fn same_batches(found: &Successors, expected: &Successors, of: &[u32]) -> Checked {
    same(&format!("successors of {of:x?}"), &found.len(), &expected.len())?;
    same(&format!("cut outcomes of {of:x?}"), &found.cut, &expected.cut)?;
    for i in 0..expected.len() {
        same(&format!("step {i} of {of:x?}"), &found.step(i), &expected.step(i))?;
        same(&format!("successor {i} of {of:x?}"), &found.state(i), &expected.state(i))?;
    }
    Ok(())
}

/// How one search differs from another.
#[derive(Clone, Copy)]
struct Kind {
    threads: usize,
    storage: Storage,
    /// A depth limit to be tried.
    depth: u32,
}

/// Threads and stores that an engine can be asked for.
fn kinds(engine: &Engine) -> Vec<(usize, Storage)> {
    if !engine.scales {
        return vec![(1, Storage::Exact)];
    }
    if !engine.shortest {
        // Its threads wait for each other in milliseconds, which is long for programs of this size.
        return vec![(1, Storage::Exact), (1, Storage::Compact), (2, Storage::Exact), (8, Storage::Compact)];
    }
    if !engine.compacts {
        return THREADS.map(|threads| (threads, Storage::Exact)).to_vec();
    }
    let of_threads = |threads| [Storage::Exact, Storage::Compact].map(|storage| (threads, storage));
    THREADS.into_iter().flat_map(of_threads).collect()
}

/// Holds an engine against the reference, and gives all that it answered.
fn hunts(case: &Case, model: &dyn Model, engine: &Engine, kind: Kind, tried: &mut Tried) -> Result<Vec<Hunt>, String> {
    let Kind { threads, storage, depth } = kind;
    let all = RefCell::new(Vec::new());
    let tried = RefCell::new(tried);
    let hunt = |job: &Job| {
        let job = Job { limits: Limits { threads, grain: GRAIN, ..job.limits }, storage, ..job.clone() };
        let shared = Shared { inner: model, threads: Mutex::default(), yielded: AtomicU32::default() };
        let model: &dyn Model = if threads == 1 { model } else { &shared };
        let hunt = hunt::of_model(engine, model, &job, &mut Patient);
        let mut tried = tried.borrow_mut();
        tried.searches += 1;
        tried.shared += u64::from(shared.threads.lock().expect("no thread panics with it").len() > 1);
        tried.hashed += u64::from(matches!(hunt.coverage, Coverage::Hashed { .. }));
        let hunt = if storage == Storage::Compact { but_for_collisions(hunt) } else { hunt };
        all.borrow_mut().push(hunt.clone());
        hunt
    };
    check(case, &Subject { shortest: engine.shortest, hunt: &hunt }, depth)?;
    Ok(all.into_inner())
}

/// A search with fingerprints as if none of them collided: so few states have no two with the same one.
fn but_for_collisions(mut hunt: Hunt) -> Hunt {
    if let Coverage::Hashed { depth, omission_probability, .. } = hunt.coverage {
        assert!(omission_probability < 1e-9, "{omission_probability} is too much for a few thousand states");
        hunt.coverage = depth.map_or(Coverage::Complete, Coverage::Depth);
        if depth.is_none() {
            let open = hunt.outcomes.iter_mut().filter(|outcome| **outcome == Outcome::Inconclusive);
            open.for_each(|outcome| *outcome = Outcome::Absent);
        }
    }
    hunt
}

pub(crate) fn same_hunts(found: &[Hunt], expected: &[Hunt]) -> Checked {
    same("searches", &found.len(), &expected.len())?;
    for (found, expected) in found.iter().zip(expected) {
        same("outcomes", &found.outcomes, &expected.outcomes)?;
        same("coverage", &found.coverage, &expected.coverage)?;
        same("stop", &found.stopped, &expected.stopped)?;
        same("fired", &found.fired, &expected.fired)?;
        let counts = |hunt: &Hunt| {
            let stats = &hunt.stats;
            (stats.states, stats.transitions, stats.max_depth, stats.revisits, stats.cut, stats.levels.clone())
        };
        same("counts", &counts(found), &counts(expected))?;
    }
    Ok(())
}

/// A search that is compiled on its way: of the first search only, as compiling costs more than searching.
fn staged(case: &Case, engine: &Engine, expected: &Hunt, tried: &mut Tried) -> Checked {
    let threads = if engine.scales && engine.shortest { 2 } else { 1 };
    let model = Staged::with_patience(&case.program, &case.goals, (case.answer.states / 2) as u32);
    let limits = Limits { threads, grain: GRAIN, ..Limits::NONE };
    let job = Job { keep_going: true, ..Job::new(case.goals.len(), limits) };
    let shared = Shared { inner: &model, threads: Mutex::default(), yielded: AtomicU32::default() };
    let hunt = hunt::of_model(engine, &shared, &job, &mut Patient);
    same("refusal", &model.refusal(), &None)?;
    tried.staged += u64::from(model.is_native());
    same_hunts(&[hunt], std::slice::from_ref(expected))
}

/// A model that lets other threads run: one would else have expanded a small level before the next had started.
struct Shared<'m> {
    inner: &'m dyn Model,
    /// Who expanded states.
    threads: Mutex<HashSet<ThreadId>>,
    /// How often one has waited for the others.
    yielded: AtomicU32,
}

/// So often it waits for them.
const PATIENCE: u32 = 100;

impl Model for Shared<'_> {
    fn words(&self) -> usize {
        self.inner.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.inner.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.inner.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let mut threads = self.threads.lock().expect("no thread panics with it");
        threads.insert(current().id());
        // Until a second one comes, if one comes soon: who yields may wait for long where others want the processor.
        let is_alone = threads.len() == 1;
        drop(threads);
        if is_alone && self.yielded.fetch_add(1, Ordering::Relaxed) < PATIENCE {
            yield_now();
        }
        self.inner.successors(state, out);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.inner.evaluate(state, stuck)
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.inner.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.inner.transitions()
    }
}

/// What a bug in the successors does to those of a state, and to the count of pruned branches.
type Bug = fn(&mut Vec<(Step, Vec<u32>)>, &mut u64);

/// Native code with a bug.
struct Bent<'m> {
    native: Compiled<'m>,
    successors: Bug,
    evaluate: fn(GoalSet, GoalSet) -> GoalSet,
}

impl Model for Bent<'_> {
    fn words(&self) -> usize {
        self.native.words()
    }

    fn initial(&self, out: &mut Successors) {
        self.native.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let before = out.len();
        self.native.successors(state, out);
        let mut new = (before..out.len()).map(|i| (out.step(i), out.state(i).to_vec())).collect();
        (self.successors)(&mut new, &mut out.cut);
        out.truncate(before);
        for (step, state) in new {
            out.push(step.transition, step.choice, &state);
        }
    }

    /// By the goals of the state as it is, and as if it were stuck.
    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        (self.evaluate)(self.native.evaluate(state, stuck), self.native.evaluate(state, true))
    }

    fn is_fault(&self, state: &[u32]) -> bool {
        self.native.is_fault(state)
    }

    fn transitions(&self) -> usize {
        self.native.transitions()
    }
}

fn bent(case: &Case, successors: Bug, evaluate: fn(GoalSet, GoalSet) -> GoalSet) -> Checked {
    let native = Compiled::new(&case.program, &case.goals)?;
    state_by_state(&Interpreter::new(&case.program, &case.goals), &Bent { native, successors, evaluate }).map(|_| ())
}

const RIGHT: Bug = |_, _| {};

#[test]
fn broken_native_code_is_noticed() {
    for case in cases(0..40) {
        bent(&case, RIGHT, |goals, _| goals).unwrap();
    }
    let bugs: [(&str, Bug); 7] = [
        ("a successor is missing", |new, _| new.truncate(new.len().saturating_sub(1))),
        ("a successor is there twice", |new, _| new.extend(new.last().cloned())),
        ("successors come in another order", |new, _| new.reverse()),
        ("a step has another choice", |new, _| new.iter_mut().for_each(|(step, _)| step.choice ^= 1)),
        ("a step has another transition", |new, _| {
            new.iter_mut().for_each(|(step, _)| step.transition = TransitionId(step.transition.0 ^ 1));
        }),
        ("a bit is wrong", |new, _| {
            new.iter_mut().filter_map(|(_, state)| state.last_mut()).for_each(|word| *word ^= 1);
        }),
        ("nothing is ever cut", |_, cut| *cut = 0),
    ];
    let mut mutants = Vec::new();
    for (name, bug) in bugs {
        mutants.push(mutant(name, move |case| bent(case, bug, |goals, _| goals)));
    }
    mutants.push(mutant("every state is stuck", |case| bent(case, RIGHT, |_, stuck| stuck)));
    mutants.push(mutant("one goal is never reached", |case| bent(case, RIGHT, |goals, _| GoalSet(goals.0 & !1))));
    all_noticed(&mutants);
}

/// Makes an answer another one.
type Change = fn(&mut Hunt);

#[test]
fn searches_that_differ_are_noticed() {
    let case = cases(0..40).into_iter().find(|case| case.answer.shortest.iter().flatten().any(|&length| length > 1));
    let case = case.expect("a goal is some steps away");
    let model = Interpreter::new(&case.program, &case.goals);
    let bfs = engine("bfs").expect("an engine");
    let kind = Kind { threads: 1, storage: Storage::Exact, depth: 1 };
    let right = hunts(&case, &model, bfs, kind, &mut Tried::default()).unwrap();
    same_hunts(&right, &right).unwrap();
    let changes: [(&str, Change); 7] = [
        ("states", |hunt| hunt.stats.states += 1),
        ("transitions", |hunt| hunt.stats.transitions += 1),
        ("cut", |hunt| hunt.stats.cut += 1),
        ("levels", |hunt| hunt.stats.levels.push(0)),
        ("fired", |hunt| hunt.fired.push(true)),
        ("coverage", |hunt| hunt.coverage = Coverage::Partial(1)),
        ("trace", |hunt| {
            let traces = hunt.outcomes.iter_mut().filter_map(|outcome| match outcome {
                Outcome::Found(trace) => Some(trace),
                Outcome::Absent | Outcome::Untraced(_) | Outcome::Inconclusive => None,
            });
            traces.for_each(|trace| trace.steps.iter_mut().for_each(|step| step.choice += 1));
        }),
    ];
    for (name, change) in changes {
        let mut wrong = right.clone();
        change(&mut wrong[0]);
        assert!(same_hunts(&wrong, &right).is_err(), "nobody notices other {name}");
    }
}
