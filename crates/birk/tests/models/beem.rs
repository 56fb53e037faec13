//! Instances of the benchmark set BEEM, rebuilt from the published algorithms with the granularity of its models: states,
//! transitions, levels of breadth-first search, the widest of them, and deadlocks are those that BEEM's statistics give.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use birk_engine::{Hunt, Job, Limits, Model as _, Successors};
use birk_ir::{Coverage, Program};
use birk_jit::Staged;
use birk_search::engine;

use crate::hunt_in;

/// Instance, model, constants; states, transitions, levels, the widest level, states without a step.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)], u64, u64, usize, u64, usize);

const TABLE: [Row; 21] = [
    ("anderson.2", "anderson", &[], 1459, 3705, 46, 93, 0),
    ("anderson.4", "anderson", &[("N", "4")], 29641, 97516, 81, 1392, 0),
    ("at.1", "at", &[], 39354, 108438, 38, 2124, 0),
    ("at.2", "at", &[("K2", "3")], 49443, 146940, 48, 2493, 0),
    ("bakery.1", "bakery", &[], 1506, 2697, 101, 22, 4),
    ("bakery.2", "bakery", &[("MAX", "6"), ("ERROR", "true")], 1146, 2085, 71, 23, 4),
    ("bakery.3", "bakery", &[("N", "3"), ("MAX", "4")], 32919, 85061, 117, 775, 51),
    ("elevator2.1", "elevator2", &[], 1728, 4768, 34, 92, 0),
    ("fischer.1", "fischer", &[], 634, 1395, 18, 70, 0),
    ("lamport.1", "lamport", &[], 29242, 77286, 57, 1228, 0),
    ("lamport.2", "lamport", &[("ERROR", "1")], 110920, 303058, 81, 3151, 24),
    ("lamport.3", "lamport", &[("ERROR", "2")], 38067, 102747, 71, 1719, 36),
    ("mcs.1", "mcs", &[], 7963, 21503, 49, 388, 0),
    ("mcs.2", "mcs", &[("ERROR", "true")], 1408, 3222, 22, 141, 12),
    ("peterson.1", "peterson", &[], 12498, 33369, 54, 506, 0),
    ("peterson.2", "peterson", &[("ERROR", "true")], 124704, 399138, 52, 8268, 0),
    ("phils.1", "phils", &[], 80, 212, 10, 16, 1),
    ("phils.2", "phils_room", &[], 581, 2350, 13, 105, 0),
    ("phils.3", "phils_left", &[], 729, 2916, 17, 114, 0),
    ("szymanski.1", "szymanski", &[], 20264, 56701, 72, 801, 0),
    ("szymanski.2", "szymanski", &[("ERROR", "true")], 31875, 88521, 72, 1374, 0),
];

fn load(model: &str, constants: &[(&str, &str)]) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/beem/{model}.bir"));
    let text = fs::read_to_string(path).expect("the model is there");
    let constants: Vec<(String, String)> =
        constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    birk_lang::load(&text, &constants).program.expect("the model has no errors")
}

fn hunt(program: &Program, name: &str) -> Hunt {
    let job = Job { keep_going: true, ..Job::new(0, Limits::NONE) };
    let engine = engine(name).expect("it is in the table");
    let hunt = hunt_in(engine, &Staged::new(program, &[]), &job);
    assert_eq!(hunt.coverage, Coverage::Complete, "{name}");
    hunt
}

/// States without a step, by a walk that shares nothing with the engines.
fn stuck(program: &Program) -> usize {
    let model = Staged::new(program, &[]);
    let mut batch = Successors::new(model.words());
    let mut seen = HashSet::from([program.initial_state()]);
    let mut todo = vec![program.initial_state()];
    let mut stuck = 0;
    while let Some(state) = todo.pop() {
        batch.clear();
        model.successors(&state, &mut batch);
        stuck += usize::from(batch.is_empty());
        for i in 0..batch.len() {
            if seen.insert(batch.state(i).to_vec()) {
                todo.push(batch.state(i).to_vec());
            }
        }
    }
    stuck
}

fn compare(rows: &[Row]) {
    for &(instance, model, constants, states, transitions, levels, widest, deadlocks) in rows {
        let program = load(model, constants);
        let by_levels = hunt(&program, "bfs").stats;
        assert_eq!((by_levels.states, by_levels.transitions), (states, transitions), "{instance}");
        let found = (by_levels.levels.len(), by_levels.levels.iter().max().copied());
        assert_eq!(found, (levels, Some(widest)), "{instance}");
        assert_eq!(by_levels.levels.iter().sum::<u64>(), states, "{instance}");
        assert_eq!(stuck(&program), deadlocks, "{instance}: deadlocks");
        let by_bounds = hunt(&program, "depth").stats;
        assert_eq!((by_bounds.states, by_bounds.transitions), (states, transitions), "{instance} bound by bound");
        for (bound, within) in by_bounds.bounded().expect("it goes by bounds").bounds.clone() {
            let expected: u64 = by_levels.levels.iter().take(bound as usize + 1).sum();
            assert_eq!(within, expected, "{instance} within {bound}");
        }
    }
}

#[test]
fn counts_are_those_of_beem_1() {
    compare(&TABLE[..10]);
}

#[test]
fn counts_are_those_of_beem_2() {
    compare(&TABLE[10..]);
}
