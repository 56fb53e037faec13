//! Slices through the real binary: formulas in them, many of them, and as graphs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::binary::{BIRK, birk, command, folder, folder_with, run};

/// The report without what time and machine decide.
fn timeless(options: &str) -> Value {
    let mut report = birk(&format!("check {options} --format json")).json();
    for field in ["seconds", "states_per_second", "peak_memory_bytes", "store_bytes_per_state"] {
        report["stats"][field] = Value::Null;
    }
    for property in report["properties"].as_array_mut().expect("a list") {
        if property.get("product").is_some() {
            property["product"]["seconds"] = Value::Null;
        }
    }
    for line in ["threads", "reproduce", "continue"] {
        report[line] = Value::Null;
    }
    report
}

#[test]
fn formulas_are_decided_in_slices() {
    let narrow = "models/german_liveness.bir --search highway --width 2";
    let report = timeless(&format!("{narrow} --runs 200"));
    assert_eq!((report["verdict"].as_str(), report["engine"].as_str()), (Some("violated"), Some("highway")));
    let found = &report["slices"]["found_in"];
    assert_eq!(found["number"], report["slices"]["done"], "the first with a violation is the last");
    // The slice alone has the same run.
    let alone = timeless(&format!("{narrow} --seed {}", found["seed"]));
    // A target may have been reached in an earlier one.
    let served = |report: &Value| -> Vec<Value> {
        let traces = report["traces"].as_array().expect("a list").iter();
        traces.filter(|trace| trace["property"] == "served").cloned().collect()
    };
    assert_eq!((served(&alone).len(), served(&alone)), (1, served(&report)));
    assert!(alone["stats"]["states"].as_u64() <= report["stats"]["states"].as_u64());
    // A slice that is everything decides as the whole model does.
    let whole = birk("check models/german_liveness.bir --format json --keep-going").json();
    let wide = birk("check models/german_liveness.bir --search highway --format json --keep-going").json();
    assert_eq!((&wide["verdict"], &wide["coverage"]["kind"]), (&whole["verdict"], &"complete".into()));
    let verdicts = |report: &Value| -> Vec<Value> {
        report["properties"].as_array().expect("a list").iter().map(|p| p["verdict"].clone()).collect()
    };
    assert_eq!(verdicts(&wide), verdicts(&whole));
}

#[test]
fn branching_is_decided_in_every_slice() {
    let text = "system S { int (0, 8) x; active thread T() { loc a: do { x := choose(1, 8); } goto b; \
                loc b: do { } goto b; } ctl never: AG (x != 5); }";
    let folder = folder("slices_branching");
    fs::write(folder.join("eight.bir"), text).expect("writable");
    let check = |options: &str| {
        let words = format!("check eight.bir --property never --search highway --width 1 --format json {options}");
        run(command(BIRK).current_dir(&folder).args(words.split_whitespace())).json()
    };
    let mut late = 0;
    for seed in (0..400).step_by(100) {
        let report = check(&format!("--runs 100 --seed {seed}"));
        assert_eq!(report["verdict"], "violated", "seed {seed}");
        let (slices, found) = (&report["slices"], &report["slices"]["found_in"]);
        assert_eq!(found["number"], slices["done"], "the first with a violation is the last");
        assert_eq!(slices["visits"].as_u64(), slices["done"].as_u64().map(|slices| 2 * slices));
        // The slice alone has the same run, and the slices before it have none.
        assert_eq!(check(&format!("--seed {}", found["seed"]))["traces"], report["traces"]);
        let before = found["number"].as_u64().expect("a number") - 1;
        if before > 1 {
            let fruitless = check(&format!("--runs {before} --seed {seed}"));
            assert_eq!((&fruitless["verdict"], &fruitless["slices"]["done"]), (&"inconclusive".into(), &before.into()));
            assert!(fruitless["slices"]["ruled_out"]["rate"].as_f64().is_some_and(|rate| rate > 0.0));
            late += 1;
        }
    }
    assert!(late > 1, "one of the first two slices always has it");
}

#[test]
fn threads_change_nothing() {
    for options in [
        "models/german_liveness.bir --search highway --width 1 --runs 40",
        "models/german_liveness.bir --search highway --width 1 --runs 12 --keep-going --seed 5",
        "models/cabp.bir -D M=4 --search highway --width auto --max-states 700",
        "models/abp.bir --search highway --width 1 --confidence 0.9 --rate 0.2 --keep-going",
        "models/branching_lock.bir --search highway --width 1 --runs 9 --keep-going",
    ] {
        let one = timeless(&format!("{options} --threads 1"));
        for threads in [2, 3] {
            assert_eq!(timeless(&format!("{options} --threads {threads}")), one, "{options}");
        }
    }
}

/// What a slice leaves out could still have been done: a run that never does it is not fair.
#[test]
fn fairness_is_asked_of_the_whole_model() {
    let folder = folder_with("fair_slices", "abp.bir");
    let text = "system Spinning {
        int (0, 1) x; boolean done;
        active thread Spin() { loc l: do { x := 1 - x; } goto l; }
        active thread Once() { loc l: do { done := true; } return; }
        ltl ends: <> done;
        }";
    fs::write(folder.join("spinning.bir"), text).expect("writable");
    let check = |seed: u32, options: &str| {
        let words = format!("check spinning.bir --search highway --width 1 --seed {seed} --format json {options}");
        run(command(BIRK).current_dir(&folder).args(words.split_whitespace()))
    };
    let mut unfair = 0;
    for seed in 0..16 {
        unfair += u32::from(check(seed, "").code == Some(1));
        let fair = check(seed, "--fairness weak");
        assert!(fair.code == Some(0) || fair.code == Some(3), "seed {seed}: {}{}", fair.out, fair.err);
    }
    assert!(unfair > 1, "only {unfair} of 16 slices have an unfair run");
}

#[test]
fn many_slices_and_what_they_mean() {
    let checked = |options: &str| birk(&format!("check models/cabp.bir -D M=4 --search highway {options}"));
    checked("--width 2 --confidence 0.9 --rate 0.1").exits(3).prints("slices: 22 of width 2\n").prints(
        "confidence: 0.9 that fewer than 9.94 % of such slices have a violation; this is about slices of this width, drawn \
         in this way, and is not a probability that the model is correct",
    );
    let report = checked("--width 2 --runs 6 --format json").json();
    let states = report["stats"]["states"].as_u64().expect("a number");
    let largest = (0..6).map(|seed| checked(&format!("--width 2 --seed {seed} --format json")).json());
    let sizes: Vec<u64> = largest.map(|report| report["stats"]["states"].as_u64().expect("a number")).collect();
    let (most, all) = (*sizes.iter().max().expect("six"), sizes.iter().sum::<u64>());
    assert!(most <= states && states < all && states <= 1060, "{most} {states} {all}");
    // Wider and wider, until everything was visited.
    checked("--width auto").exits(0).prints("holds: ").prints(", the last of width ");
    checked("--width auto --runs 3").exits(3).prints("slices: 3, the last of width 4\n");
    checked("--width 3 --runs 1000 --max-states 2000").exits(3).prints(" of 1,000 of width 3\n");
}

#[test]
fn a_slice_is_drawn() {
    let edges = |options: &str| -> BTreeSet<String> {
        let text = birk(&format!("graph models/cabp.bir --format aut {options}")).exits(0).out;
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let (whole, wide) = (edges(""), edges("--search highway"));
    assert_eq!(whole, wide);
    let narrow = birk("graph models/cabp.bir --format aut --search highway --width 2 --seed 4").exits(0).out;
    assert_eq!(narrow, birk("graph models/cabp.bir --format aut --search highway --width 2 --seed 4").out);
    let header = narrow.lines().next().expect("a header").to_owned();
    let states = birk("check models/cabp.bir --search highway --width 2 --seed 4 --keep-going --format json").json();
    assert!(header.ends_with(&format!(", {})", states["stats"]["states"])), "{header}");
    birk("graph models/cabp.bir --search highway --width 2").exits(0).prints("digraph");
    birk("graph models/cabp.bir --width 2").exits(2).says("--width is about slices");
    birk("graph models/cabp.bir --search highway --max-states 9").exits(2).says("the slice has more than 9 states");
}
