//! The figures of "Model Checking: Theory and Practice" and their relatives: the numbers that every engine must find.
//!
//! They come from an independent explorer, most of them confirmed by SPIN; `data/sumton_shortest.json` is its list of
//! the shortest ways to each sum.

use std::fs;
use std::path::Path;

use birk_engine::{Engine, GoalSet, Hunt, Job, Limits, Model as _, Successors};
use birk_exec::replay::{replay, replay_ordinals};
use birk_exec::{Interpreter, Replayed, goal_of, reference};
use birk_ir::{Coverage, Goal, Outcome, Program, Stop, ThreadId};
use birk_search::{ENGINES, engine};

use crate::hunt_in;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    fs::read_to_string(path).expect("the model is there")
}

fn program(text: &str, constants: &[(&str, u64)]) -> Program {
    let constants: Vec<_> = constants.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let loaded = birk_lang::load(text, &constants);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn load(name: &str, constants: &[(&str, u64)]) -> Program {
    program(&text(name), constants)
}

fn bfs() -> &'static Engine {
    engine("bfs").expect("there is breadth-first search")
}

fn goals(program: &Program) -> Vec<Goal> {
    program.properties.iter().filter_map(|property| goal_of(program, property)).collect()
}

/// A search for everything, or for the first violation.
fn hunt(program: &Program, engine: &Engine, keep_going: bool, limits: Limits) -> Hunt {
    let goals = goals(program);
    let mut stop_at = GoalSet::default();
    let ends = |goal: &usize| !keep_going && !program.properties[*goal].wants_goal();
    (0..goals.len()).filter(ends).for_each(|goal| stop_at.insert(goal));
    let job = Job { stop_at, keep_going, ..Job::new(goals.len(), limits) };
    hunt_in(engine, &Interpreter::new(program, &goals), &job)
}

/// Every engine that is complete finds these states and transitions; the first also this depth. Returns its levels.
#[track_caller]
fn totals(program: &Program, states: u64, transitions: u64, depth: u32) -> Vec<u64> {
    let mut levels = Vec::new();
    for engine in ENGINES.iter().filter(|engine| engine.complete) {
        let hunt = hunt(program, engine, true, Limits::NONE);
        assert_eq!((&hunt.coverage, hunt.stopped), (&Coverage::Complete, Stop::Exhausted), "{}", engine.name);
        assert_eq!((hunt.stats.states, hunt.stats.transitions), (states, transitions), "{}", engine.name);
        if engine.shortest {
            assert_eq!(hunt.stats.max_depth, depth, "{}", engine.name);
            levels = hunt.stats.levels;
        }
    }
    assert_eq!(levels.iter().sum::<u64>(), states);
    levels
}

/// The shortest run that breaks a property, walked again; `None` where it holds.
fn violation(program: &Program, name: &str) -> Option<Replayed> {
    let hunt = hunt(program, bfs(), false, Limits::NONE);
    let at = program.properties.iter().position(|property| property.name == name).expect("the property is there");
    let Outcome::Found(trace) = &hunt.outcomes[at] else {
        assert_eq!(hunt.outcomes[at], Outcome::Absent, "undecided");
        return None;
    };
    let run = replay(program, trace).expect("the trace replays");
    run.confirm(program, &program.properties[at]).expect("it shows what it claims");
    Some(run)
}

fn length(program: &Program, name: &str) -> Option<usize> {
    violation(program, name).map(|run| run.steps.len())
}

/// How many states break a property, by the reference checker.
fn broken_states(program: &Program, name: &str) -> u64 {
    let answer = reference::explore(program, &goals(program), 100_000).expect("it is small");
    let at = program.properties.iter().position(|property| property.name == name).expect("the property is there");
    answer.satisfying[at]
}

/// A run as thread and location of each step: `1:0 0:2`.
fn steps(program: &Program, run: &Replayed) -> String {
    let step = |at: usize| {
        let transition = program.transition(run.steps[at].transition);
        format!("{}:{}", transition.thread, transition.location)
    };
    (0..run.steps.len()).map(step).collect::<Vec<_>>().join(" ")
}

/// Walks a run written in that way.
fn walk(program: &Program, steps: &str) -> Replayed {
    let model = Interpreter::new(program, &[]);
    let mut state = program.initial_state();
    let mut ordinals = Vec::new();
    for step in steps.split(' ') {
        let (thread, location) = step.split_once(':').expect("thread and location");
        let thread = ThreadId(thread.parse().expect("a number"));
        let at = program.location_of(thread, &state).map(|location| location.to_string());
        assert_eq!(at.as_deref(), Some(location), "{step} in {steps}");
        let mut batch = Successors::new(model.words());
        model.successors(&state, &mut batch);
        let mut by_thread = (0..batch.len()).filter(|&i| program.transition(batch.step(i).transition).thread == thread);
        let ordinal = by_thread.next().unwrap_or_else(|| panic!("{step} is not enabled in {steps}"));
        state = batch.state(ordinal).to_vec();
        ordinals.push(ordinal as u32);
    }
    replay_ordinals(program, 0, &ordinals, None).expect("it was just walked")
}

#[test]
fn figure_1_1_two_philosophers() {
    let program = load("philosophers2.bir", &[]);
    assert_eq!(program.layout.bits(), 6, "of 64 states");
    assert_eq!(totals(&program, 10, 14, 4), [1, 2, 3, 2, 2]);
    let run = violation(&program, "deadlock").expect("a deadlock");
    assert_eq!(steps(&program, &run), "0:0 1:0");
    assert_eq!(broken_states(&program, "deadlock"), 1);
}

#[test]
fn rings_of_philosophers_deadlock() {
    let states = [35, 118, 392, 1297, 4286, 14158];
    let transitions = [75, 340, 1415, 5622, 21679, 81848];
    for (n, (states, transitions)) in (3..).zip(states.into_iter().zip(transitions)) {
        let program = load("philosophers_ring.bir", &[("N", n)]);
        let levels = totals(&program, states, transitions, 3 * n as u32 - 2);
        assert_eq!(length(&program, "deadlock"), Some(n as usize));
        if n == 5 {
            assert_eq!(levels, [1, 5, 15, 30, 45, 56, 60, 55, 45, 35, 20, 15, 5, 5]);
            assert_eq!(broken_states(&program, "deadlock"), 1);
        }
    }
}

#[test]
fn one_swapped_philosopher_is_enough() {
    let states = [7, 24, 79, 261, 862, 2847];
    let transitions = [8, 46, 208, 876, 3516, 13670];
    for (n, (states, transitions)) in (2..).zip(states.into_iter().zip(transitions)) {
        let program = load("philosophers_swapped.bir", &[("N", n)]);
        totals(&program, states, transitions, 3 * n as u32 - 3);
        assert_eq!(length(&program, "deadlock"), None);
    }
}

#[test]
fn figure_1_3_a_buffer_of_one_place() {
    let program = load("bounded_buffer_flag.bir", &[]);
    assert_eq!(totals(&program, 10, 12, 7), [1, 2, 1, 1, 1, 2, 1, 1]);
    assert_eq!(length(&program, "deadlock"), None);
}

#[test]
fn figure_1_4_readers_and_writers() {
    assert_eq!(totals(&load("readers_writers.bir", &[]), 11, 21, 4), [1, 3, 4, 2, 1]);
    let pairs = [(2, 1, 11), (2, 2, 13), (3, 1, 29), (3, 3, 33), (5, 5, 253), (8, 1, 6563)];
    for (readers, writers, states) in pairs {
        assert_eq!(3_u64.pow(readers) + 2 * writers, states);
        let constants = [("NUM_READERS", u64::from(readers)), ("NUM_WRITERS", writers)];
        for name in ["readers_writers.bir", "readers_writers_invariant.bir"] {
            let program = load(name, &constants);
            let found = hunt(&program, bfs(), true, Limits::NONE).stats.states;
            assert_eq!(found, states, "{name} with {readers} readers, {writers} writers");
        }
        assert_eq!(length(&load("readers_writers_invariant.bir", &constants), "exclusion"), None);
    }
}

#[test]
fn sum_to_n_in_a_byte() {
    let program = load("sum_to_n.bir", &[]);
    let levels = totals(&program, 15320, 38300, 171);
    assert_eq!(hunt(&load("sum_to_n.bir", &[("N", 1)]), bfs(), true, Limits::NONE).stats.states, 15320 - 4);

    let balls = [(0, 1), (5, 35), (10, 134), (20, 756), (50, 5701), (100, 11984), (150, 14906), (171, 15320)];
    for (depth, states) in balls {
        assert_eq!(levels.iter().take(depth as usize + 1).sum::<u64>(), states, "within {depth} steps");
        let bounded = hunt(&program, bfs(), true, Limits { depth, ..Limits::NONE });
        assert_eq!(bounded.stats.states, states, "within {depth} steps");
        let coverage = if depth < 171 { Coverage::Depth(depth) } else { Coverage::Complete };
        assert_eq!(bounded.coverage, coverage);
    }
}

#[test]
fn sum_to_n_in_fewer_bits() {
    for (bits, states) in [(2, 200), (3, 440), (4, 920)] {
        assert_eq!(60 * (1 << bits) - 40, states);
        let text = text("sum_to_n.bir").replace("  byte ", &format!("  int wrap (0, {}) ", (1 << bits) - 1));
        let stats = |n: u64| hunt(&program(&text, &[("N", n)]), bfs(), true, Limits::NONE).stats;
        assert_eq!(stats(2).states, states, "{bits} bits");
        assert_eq!(stats(1).states, states - 4, "{bits} bits");
    }
}

#[test]
fn sum_to_n_is_lost_for_every_n() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/data/sumton_shortest.json");
    let list = fs::read_to_string(path).expect("the list is there");
    let list: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list.len(), 256);
    let text = text("sum_to_n.bir");
    for n in 0..256 {
        let expected = list[&n.to_string()].as_u64().map(|steps| steps as usize);
        assert_eq!(length(&program(&text, &[("N", n)]), "fault"), expected, "N = {n}");
    }
    let longest = list.iter().max_by_key(|(_, steps)| steps.as_u64());
    assert_eq!(longest.map(|(n, steps)| (n.as_str(), steps.as_u64())), Some(("87", Some(160))));
}

#[test]
fn sum_to_n_by_hand() {
    let two = load("sum_to_n.bir", &[]);
    assert_eq!(steps(&two, &violation(&two, "fault").expect("a fault")), "1:0 1:1 1:2 0:0");
    let five = load("sum_to_n.bir", &[("N", 5)]);
    assert_eq!(length(&five, "fault"), Some(10));
    // One of the shortest runs, found by another explorer.
    let run = walk(&five, "1:0 1:1 2:0 2:1 1:2 1:0 2:2 1:1 1:2 0:0");
    let fault = five.properties.iter().find(|property| property.name == "fault").expect("built in");
    run.confirm(&five, fault).expect("it ends in the fault");
}
