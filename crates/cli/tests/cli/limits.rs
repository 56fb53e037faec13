//! Every limit of the command line with every engine, and the limits that the system sets: the real binary says only what is so,
//! and never breaks down.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::binary::{Answer, BIRK, birk, command, folder, run, timed, timely};

/// Small values of every limit.
const LIMITS: &[&str] = &[
    "--max-states 1",
    "--max-states 3",
    "--max-depth 0",
    "--max-depth 2",
    "--memory 1M",
    "--memory 16M",
    "--time 1ms",
    "--time 60ms",
];

/// The names of all engines.
fn engines() -> impl Iterator<Item = &'static str> {
    let names: Vec<&'static str> = birk::Engines::default().iter().map(|engine| engine.name).collect();
    names.into_iter()
}

/// The verdict of each property in a report.
fn verdicts(report: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let rows = report["properties"].as_array().expect("a list");
    rows.iter().map(|row| (text(&row["name"]), text(&row["verdict"]))).collect()
}

/// Everything that must be so at the end of a search, whatever ended it.
fn honest(what: &str, answer: &Answer, truth: &BTreeMap<String, String>) {
    assert!(matches!(answer.code, Some(0 | 1 | 3)), "{what}: {:?}\n{}{}", answer.code, answer.out, answer.err);
    let report = answer.json();
    let is_open = |verdict: &str| verdict == "inconclusive";
    for (name, verdict) in verdicts(&report) {
        assert!(is_open(&verdict) || truth[&name] == verdict, "{what}: `{name}` is {}, not {verdict}", truth[&name]);
        let row = report["properties"].as_array().expect("a list").iter().find(|row| row["name"] == name.as_str());
        let grade = &row.expect("it is there")["grade"];
        assert!(!is_open(&verdict) || grade != "A", "{what}: `{name}` is open, with grade A");
    }
    let is_complete = report["coverage"]["kind"] == "complete";
    assert!(!is_complete || report["stopped_by"] != "states", "{what}: complete, and ended by a limit");
}

/// A model, with every engine, limit, and with or without going on behind violations, against what `bfs` says without limits.
fn each_limit(model: &str) {
    let report = birk(&format!("check {model} --keep-going --progress off --format json")).json();
    let is_temporal = |row: &Value| ["ltl", "ctl", "mu"].contains(&row["kind"].as_str().unwrap_or_default());
    let model_is_temporal = report["properties"].as_array().expect("a list").iter().any(is_temporal);
    let truth = verdicts(&report);
    assert!(!truth.values().any(|verdict| verdict == "inconclusive"), "{truth:?}");
    for engine in engines() {
        for limit in LIMITS {
            for more in ["", "--keep-going"] {
                let what = format!("check {model} --search {engine} {limit} {more}");
                if engine == "cluster" && model_is_temporal {
                    birk(&what).exits(2).says("decides properties of states only");
                    continue;
                }
                // Runs that go round in circles have no end: the depth is limited, too.
                let bound = if engine == "bmc" && !limit.contains("depth") { "--max-depth 3" } else { "" };
                honest(&what, &birk(&format!("{what} {bound} --progress off --format json")), &truth);
            }
        }
    }
}

/// A model of this text.
fn written(name: &str, text: &str) -> String {
    let path = folder(name).join("model.bir");
    fs::write(&path, text).expect("it can be written");
    path.to_str().expect("a readable path").to_owned()
}

/// The first step leaves the range of a number; there is one state.
#[test]
fn every_limit_with_a_fault_beside_the_only_state() {
    let text = "system M { int (0, 3) k; active thread T() { loc a: do { k := k - 1; } goto a; } }";
    each_limit(&written("limits_fault", text));
}

#[test]
fn every_limit_with_formulas_about_branching() {
    each_limit("models/reset.bir -D REPAIRED=false");
}

#[test]
fn every_limit_with_formulas_about_branching_and_a_lock() {
    each_limit("models/branching_lock.bir");
}

#[test]
fn every_limit_with_a_deadlock() {
    each_limit("models/philosophers2.bir");
}

#[test]
fn every_limit_with_a_formula_about_runs() {
    let text = "system M { int (0, 5) k; active thread T() { loc a: when k < 5 do { k := k + 1; } goto a;
        when k > 2 do { k := k - 1; } goto a; } invariant small: k < 4; reachable five: k == 5;
        ltl again: [] <> (k == 5); ctl back: AG EF (k == 3); }";
    each_limit(&written("limits_runs", text));
}

/// What was wrong once: a fault in the first step, and one state that may be reached.
#[test]
fn a_limit_that_is_met_is_not_taken_for_completion() {
    let text = "system M { int (0, 3) k; active thread T() { loc a: do { k := k - 1; } goto a; } }";
    let model = written("limits_complete", text);
    for engine in ["bfs", "bdd", "bdd-chain", "bdd-astar"] {
        let answer = birk(&format!("check {model} --search {engine} --max-states 1 --keep-going"));
        answer.exits(1).prints("`fault` (1 step");
    }
}

/// Millions of gates for one invariant, and a deadline in the middle of them.
#[test]
fn time_ends_a_search_while_it_encodes() {
    let text = "system M { int (0, 999) x; int (0, 999) y; active thread T() { loc a: do { x := y; y := x; } goto a; }
        invariant far: forall (i : 1 .. 2000) forall (j : 1 .. 2000) x * i != y * j + 1 || x > 7; }";
    let model = written("limits_encoding", text);
    for engine in ["bdd", "bdd-chain", "bdd-astar", "bmc"] {
        let line = format!("check {model} --search {engine} --property far --time 1s --progress off");
        let answer = timely(|| timed(1000..4000, || birk(&line)));
        answer.exits(3).prints("; the time limit was reached");
    }
}

/// Runs `birk` with limits that the shell sets.
#[cfg(target_os = "linux")]
fn limited(limits: &str, arguments: &str) -> Answer {
    run(command("sh").args(["-c", &format!("{limits}; exec {BIRK} {arguments}")]))
}

/// The memory that is taken without being told is what the address space has room for.
#[test]
#[cfg(target_os = "linux")]
fn an_address_space_that_is_limited_is_not_exceeded() {
    for kib in [4_000_000, 3_000_000] {
        for engine in ["bfs", "bdd", "bdd-chain", "bmc"] {
            for memory in ["", "--memory 64G"] {
                let arguments = format!("check models/peterson2.bir --search {engine} {memory} --progress off");
                limited(&format!("ulimit -v {kib}"), &arguments)
                    .exits(0)
                    .quietly()
                    .prints("holds: models/peterson2.bir");
            }
        }
    }
    // Too little for the stacks of diagrams is said before they are made.
    let answer = limited("ulimit -v 600000", "check models/peterson2.bir --search bdd");
    answer.exits(2).says("--search bdd cannot be used here: it needs ").says(" MB are allowed (ulimit -v)");
    let answer = limited("ulimit -v 600000", "check models/reset.bir --search bdd-chain --property reset");
    answer.exits(2).says("--search bdd-chain cannot be used here: it needs ");
    limited("ulimit -v 600000", "check models/peterson2.bir --search bmc").exits(0);
}

/// The stack is not the one that the shell allows.
#[test]
#[cfg(target_os = "linux")]
fn a_stack_that_is_limited_is_enough() {
    for engine in engines() {
        let arguments = format!("check models/peterson2.bir --search {engine} --progress off");
        let answer = limited("ulimit -s 64", &arguments);
        assert!(matches!(answer.code, Some(0 | 3)), "{engine}: {:?}\n{}{}", answer.code, answer.out, answer.err);
    }
}
