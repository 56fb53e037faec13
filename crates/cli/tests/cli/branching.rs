//! Properties about the branching of runs, as users meet them.

use std::fs;

use serde_json::Value;

use crate::binary::{Answer, BIRK, command, folder, root, run};

fn check(model: &str, options: &str) -> Answer {
    run(command(BIRK).current_dir(root()).args(["check", model]).args(options.split_whitespace()))
}

fn property<'r>(report: &'r Value, name: &str) -> &'r Value {
    let properties = report["properties"].as_array().expect("a list");
    properties.iter().find(|property| property["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn verdicts(report: &Value) -> Vec<(String, String)> {
    let properties = report["properties"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    properties.iter().map(|property| (text(&property["name"]), text(&property["verdict"]))).collect()
}

#[test]
fn a_way_back_is_found_or_missed() {
    let report = check("models/reset.bir", "--format json").exits(0).quietly().json();
    assert_eq!(property(&report, "reset")["kind"], "ctl");
    assert_eq!(property(&report, "reset_again")["kind"], "mu");
    assert_eq!(property(&report, "reset")["trace"], Value::Null);
    assert_eq!(report["coverage"]["kind"], "complete");
    let shown = check("models/reset.bir", "-D REPAIRED=false --keep-going").exits(1).quietly();
    shown
        .prints("ctl `reset` violated by 4 steps, then 1 step forever:")
        .prints("ctl `can_serve` witnessed by 3 steps:");
    let report = check("models/reset.bir", "-D REPAIRED=false --property reset --format json").exits(1).json();
    assert_eq!((&report["traces"][0]["shows"], &report["traces"][0]["loop"]), (&"whole".into(), &4.into()));
    assert_eq!(report["stats"]["states"], 5);
}

#[test]
fn a_run_that_is_only_a_part_says_so() {
    // With a choice in the trap, no single run shows that there is no way back.
    let text = fs::read_to_string(root().join("models/reset.bir")).expect("the model is there");
    let text = text.replace(
        "do { } goto jammed;\n      when",
        "do { coins := 1; } goto jammed;\n      do { coins := 2; } goto jammed;\n      when",
    );
    let folder = folder("branching_part");
    fs::write(folder.join("m.bir"), text).expect("writable");
    let answer = run(command(BIRK).current_dir(&folder).args(["check", "m.bir", "-D", "REPAIRED=false"]));
    answer.exits(1).prints("this path shows only a part of it");
    let options = ["check", "m.bir", "-D", "REPAIRED=false", "--format", "json"];
    let report = run(command(BIRK).current_dir(&folder).args(options)).json();
    assert_eq!(report["traces"][0]["shows"], "part");
}

#[test]
fn runs_are_saved_and_replayed() {
    let folder = folder("branching_replay");
    let model = root().join("models/branching_lock.bir");
    let here = |words: &[&str]| run(command(BIRK).current_dir(&folder).args(words));
    let model = model.to_str().expect("a path");
    for name in ["served", "again_on_all"] {
        let report =
            here(&["check", model, "--property", name, "--format", "json", "--trace", "run.json"]).exits(1).json();
        let walked = report["traces"][0]["replay"].as_str().expect("a text");
        for trace in [walked, "run.json"] {
            here(&["replay", model, trace]).exits(0).prints("forever:").prints(&format!("`{name}`"));
        }
    }
    here(&["check", model, "--property", "overtakes", "--trace", "run.json"]).exits(0);
    here(&["replay", model, "run.json"]).exits(0).prints("decides `overtakes`");
}

#[test]
fn a_part_of_the_graph_decides_only_what_it_shows() {
    // Two steps from the start: `overtakes` is shown, nothing is refuted, and the rest is not known.
    let report = check("models/branching_lock.bir", "--max-depth 2 --keep-going --format json").exits(3).json();
    for (name, verdict) in verdicts(&report) {
        let wanted = if ["overtakes", "fault"].contains(&name.as_str()) { "holds" } else { "inconclusive" };
        assert_eq!(verdict, wanted, "{name}");
    }
    let reason = property(&report, "can_be_served")["reason"].as_str().expect("a reason");
    assert_eq!(reason, "it needs all states, and some were not explored");
    assert_eq!(property(&report, "exclusion")["reason"], Value::Null);
    assert_eq!(report["coverage"]["kind"], "depth");
    // Refuted in a part, it is refuted.
    let options = "--max-states 7 --property served --format json";
    let report = check("models/branching_lock.bir", options).json();
    assert_ne!(property(&report, "served")["verdict"], "holds");
    let first = check("models/branching_lock.bir", "--max-depth 2 --property overtakes").exits(0);
    first.prints("every witness asked for was found");
}

#[test]
fn a_slice_decides_only_what_it_shows() {
    let (mut shown, mut refuted, mut open) = (0, 0, 0);
    for seed in 0..12 {
        let options = format!("--search highway --width 1 --seed {seed} --keep-going --format json");
        let report = check("models/branching_lock.bir", &options).json();
        let is_complete = report["coverage"]["kind"] == "complete";
        for (name, verdict) in verdicts(&report) {
            match (name.as_str(), verdict.as_str()) {
                ("overtakes" | "alone" | "again_on_some", "holds") => shown += 1,
                ("served" | "again_on_all", "violated") => refuted += 1,
                ("fault", "holds") => {}
                (_, "inconclusive") => open += 1,
                _ => assert!(is_complete, "seed {seed}: {name} {verdict} in a slice"),
            }
        }
    }
    assert!(shown > 0 && refuted > 0 && open > 0, "{shown} shown, {refuted} refuted, {open} open");
    let complete = check("models/branching_lock.bir", "--search highway --width 100 --keep-going --format json").json();
    assert_eq!(property(&complete, "can_be_served")["verdict"], "holds");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (options, reason) in [
        ("--fairness weak", "--fairness is about executions, and the `mu` property `goes_on` is about steps"),
        (
            "--fairness weak --property served --search highway",
            "with --fairness weak, `served` needs all steps of every state",
        ),
        ("--fairness weak --property deadlock", "--fairness applies to temporal properties, and none is checked"),
        ("--store compact", "`ctl` properties such as `exclusion` need exact states"),
        ("--store bitstate --search dfs", "`ctl` properties such as `exclusion` need exact states"),
    ] {
        check("models/branching_lock.bir", options).exits(2).says(reason);
    }
    check("models/branching_lock.bir", "--store compact --property deadlock").exits(0);
}

#[test]
fn sets_of_states_say_what_the_graph_says() {
    let graph = check("models/branching_lock.bir", "--keep-going --format json").exits(1).json();
    for engine in ["bdd", "bdd-chain", "bdd-astar"] {
        let options = format!("--search {engine} --keep-going --format json");
        let report = check("models/branching_lock.bir", &options).exits(1).quietly().json();
        assert_eq!(verdicts(&report), verdicts(&graph), "{engine}");
        assert_eq!(report["stats"]["states"], 8);
        let lengths = |report: &Value| -> Vec<Value> {
            report["traces"].as_array().expect("a list").iter().map(|trace| trace["length"].clone()).collect()
        };
        assert_eq!(lengths(&report), lengths(&graph), "{engine}");
        let first = check("models/branching_lock.bir", &format!("--search {engine} --format json")).exits(1).json();
        let reason = property(&first, "again_on_all")["reason"].as_str().expect("a reason");
        assert_eq!(reason, "the search stopped at a violation");
    }
    // A part of the states decides what it shows: here also by steps back into it from its last states.
    let options = "--search bdd --max-depth 2 --keep-going --format json";
    let report = check("models/branching_lock.bir", options).exits(1).json();
    for (name, verdict) in verdicts(&report) {
        let wanted = match name.as_str() {
            "fault" | "overtakes" | "alone" | "again_on_some" => "holds",
            "again_on_all" => "violated",
            _ => "inconclusive",
        };
        assert_eq!(verdict, wanted, "{name}");
    }
    let reason = property(&report, "can_be_served")["reason"].as_str().expect("a reason");
    assert_eq!(reason, "it needs all states, and some were not explored");
    assert_eq!(property(&report, "exclusion")["reason"], Value::Null);
}

#[test]
fn fairness_leaves_out_runs_that_pass_somebody_over() {
    let folder = folder("branching_fair");
    let text = "system Turns { boolean asked;
        active thread Caller() { loc calling: do { asked := true; } goto calling; }
        active thread Server() { loc serving: when asked do { asked := false; } goto serving; }
        ctl served: AG (asked -> AF !asked); ctl ignored: EF EG asked; ctl asks: AG EF asked; ctl rests: EG !asked;
        ltl served_in_runs: [] (asked -> <> !asked); }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    for engine in ["bfs", "bdd", "bdd-chain"] {
        for (fairness, wanted) in [
            ("none", ["violated", "holds", "holds", "violated", "violated"]),
            ("weak", ["holds", "violated", "holds", "violated", "holds"]),
        ] {
            let words = ["check", "m.bir", "--search", engine, "--fairness", fairness, "--keep-going"];
            let report = run(command(BIRK).current_dir(&folder).args(words).args(["--format", "json"])).json();
            let found: Vec<String> = verdicts(&report).into_iter().skip(2).map(|(_, verdict)| verdict).collect();
            assert_eq!(found, wanted, "{engine} {fairness}");
            assert_eq!(property(&report, "served")["fairness"], fairness);
        }
    }
    // A lock that favours nobody starves one process fairly: the run that is shown moves both.
    let report = check("models/branching_lock.bir", "--property served --fairness weak --format json").exits(1).json();
    assert_eq!(report["traces"][0]["shows"], "whole");
    let text = check("models/branching_lock.bir", "--property served --fairness weak --search bdd").exits(1);
    text.prints("repeatedly enabled but never scheduled");
}

/// The philosophers of the corpus with formulas: more of them than any graph of all states has room for.
fn philosophers(folder: &std::path::Path) {
    let text = fs::read_to_string(root().join("models/philosophers_swapped.bir")).expect("the model is there");
    let (body, _) = text.rsplit_once('}').expect("a system ends");
    let formulas = "  ctl can_eat: AG EF Philosopher[0]@eating;
        ctl eats: AG (Philosopher[0]@hungry -> AF Philosopher[0]@eating);
        mu again: nu X. mu Y. Philosopher[0]@eating && <-> X || <-> Y;\n}\n";
    fs::write(folder.join("m.bir"), body.to_owned() + formulas).expect("writable");
}

#[test]
fn formulas_are_decided_where_no_graph_has_room() {
    let folder = folder("branching_sets");
    philosophers(&folder);
    let here = |options: &str| {
        let words = ["check", "m.bir", "-D", "N=18", "--search", "bdd-chain", "--keep-going", "--format", "json"];
        let names = ["--property", "can_eat", "--property", "eats", "--property", "again"];
        run(command(BIRK).current_dir(&folder).args(words).args(names).args(options.split_whitespace()))
    };
    let report = here("--memory 200M").exits(1).json();
    let found: Vec<String> = verdicts(&report).into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(found, ["holds", "violated", "holds"]);
    // 7 for two, 24 for three; then each is three times the last and once that before it.
    assert_eq!(report["stats"]["states"], 1_452_302_782);
    assert_eq!(report["traces"][0]["shows"], "whole");
    assert!(report["traces"][0]["loop"].is_number() && report["traces"][1]["loop"].is_number());
    // Under fairness everybody moves, and one philosopher still starves: the fork is never free for long enough.
    let fair = |count: &str, engine: &str| {
        let words = ["check", "m.bir", "-D", count, "--search", engine, "--fairness", "weak", "--format", "json"];
        let report = run(command(BIRK).current_dir(&folder).args(words).args(["--property", "eats"])).exits(1).json();
        assert_eq!(report["traces"][0]["shows"], "whole", "{count} with {engine}");
    };
    fair("N=6", "bfs");
    fair("N=12", "bdd-chain");
    // Too little memory is told, and nothing is claimed.
    let report = here("--memory 2M").exits(3).json();
    assert_eq!(report["stopped_by"], "memory");
    assert!(verdicts(&report).iter().all(|(_, verdict)| verdict == "inconclusive"), "{report:#}");
}

#[test]
fn little_memory_is_not_exceeded_and_nothing_is_claimed() {
    let folder = folder("branching_memory");
    let text = fs::read_to_string(root().join("models/usb_stack.bir")).expect("the model is there");
    let (body, _) = text.rsplit_once('}').expect("a system ends");
    let text = body.to_owned() + "  ctl one: AG true;\n  ctl two: EF false;\n  ctl three: AG EF true;\n}\n";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let here = |memory: &str| {
        let words = ["check", "m.bir", "-D", "LOG=2", "--format", "json", "--memory", memory];
        let names = ["--property", "one", "--property", "two", "--property", "three", "--keep-going"];
        run(command(BIRK).current_dir(&folder).args(words).args(names))
    };
    let report = here("300K").exits(3).json();
    assert_eq!(report["stopped_by"], "memory");
    assert!(verdicts(&report).iter().all(|(_, verdict)| verdict == "inconclusive"), "{report:#}");
    let report = here("100M").exits(1).json();
    assert_eq!(report["stats"]["states"], 10_248);
    let verdicts: Vec<String> = verdicts(&report).into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, ["holds", "violated", "holds"]);
}
