//! Formulas, fairness, marks, automata of files and bit-state hashing, as users meet them.

use std::fs;

use serde_json::Value;

use crate::binary::{Answer, BIRK, birk, command, folder, root, run};

/// Peterson's algorithm with marks and formulas.
fn peterson(folder_name: &str) -> std::path::PathBuf {
    let text = fs::read_to_string(root().join("models/peterson2.bir")).expect("the model is there");
    let (body, _) = text.rsplit_once('}').expect("a system ends");
    let text = body.replace("loc critical:", "loc critical: progress").replace("loc idle:", "loc idle: accept")
        + "  ltl response: [] (Process[0]@waiting -> <> Process[0]@critical);\n\
           ltl comes_in: [] <> Process[0]@critical;\n\
           ltl first: !Process[0]@critical W wants[0];\n\
           ltl possible: <> Process[0]@critical;\n}\n";
    let folder = folder(folder_name);
    fs::write(folder.join("p.bir"), text).expect("writable");
    folder
}

fn check(folder: &std::path::Path, options: &str) -> Answer {
    run(command(BIRK).current_dir(folder).args(["check", "p.bir"]).args(options.split_whitespace()))
}

fn verdict(report: &Value, name: &str) -> String {
    let properties = report["properties"].as_array().expect("a list");
    let property = properties.iter().find(|property| property["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    property["verdict"].as_str().expect("a word").to_owned()
}

#[test]
fn response_needs_fairness_in_petersons_algorithm() {
    let folder = peterson("runs_fairness");
    for threads in ["1", "2"] {
        let without = check(&folder, &format!("--format json --keep-going --threads {threads}")).exits(1).json();
        let verdicts = ["response", "comes_in", "first", "possible"].map(|name| verdict(&without, name));
        assert_eq!(verdicts, ["holds", "violated", "holds", "violated"]);
        let fair = check(&folder, &format!("--format json --fairness weak --threads {threads}")).exits(0).json();
        let verdicts = ["response", "comes_in", "first", "possible"].map(|name| verdict(&fair, name));
        assert_eq!(verdicts, ["holds"; 4]);
        let formula = &fair["properties"][3];
        assert_eq!((&formula["fairness"], &formula["automaton"]["strength"]), (&"weak".into(), &"weak".into()));
    }
    let shown = check(&folder, "--property comes_in").exits(1).quietly();
    shown.prints("ltl `comes_in` violated by").prints("forever:").prints("continuously enabled but never scheduled");
}

#[test]
fn runs_that_repeat_are_saved_and_replayed() {
    let folder = peterson("runs_replay");
    let report = check(&folder, "--property comes_in --format json --trace lasso.json").exits(1).json();
    let trace = &report["traces"][0];
    let (start, length) = (trace["loop"].as_u64().expect("a loop"), trace["length"].as_u64().expect("a length"));
    let states = trace["states"].as_array().expect("a list");
    assert!(start < length && states[start as usize] == states[length as usize], "{trace:#}");
    let replay = trace["replay"].as_str().expect("a text");
    let walk = |trace: &str| run(command(BIRK).current_dir(&folder).args(["replay", "p.bir", trace]));
    let repeats = format!("which repeats its last {} step", length - start);
    walk(replay).exits(0).prints("forever:").prints(&repeats).prints("decides `comes_in`");
    // The file shows each state of the loop once, and where the last one leads.
    let file: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("lasso.json")).expect("written")).expect("JSON");
    assert_eq!((file["loop"].as_u64(), file["states"].as_array().map(Vec::len)), (Some(start), Some(length as usize)));
    walk("lasso.json").exits(0).prints("decides `comes_in`");
    // By its states alone, as other tools write them.
    let mut bare = file.clone();
    bare["#meta"].as_object_mut().expect("an object").remove("replay");
    fs::write(folder.join("bare.json"), bare.to_string()).expect("writable");
    walk("bare.json").exits(0).prints("decides `comes_in`");
    // A loop that does not close is refused.
    let other = if start == 0 { length - 1 } else { 0 };
    let mut bent = bare;
    bent["loop"] = other.into();
    fs::write(folder.join("bent.json"), bent.to_string()).expect("writable");
    walk("bent.json").exits(2).says("the trace does not fit the model");
    let unclosed = replay.replace(')', ",0)");
    walk(&unclosed).exits(2).says("the trace does not fit the model");
    walk("0:0()").exits(2).says("the execution stutters in a state that has enabled steps");
}

#[test]
fn a_run_that_ends_stays_in_its_last_state() {
    let folder = folder("runs_end");
    let text = "system S { int (0, 3) x; active thread T() { loc l: when x < 3 do { x := x + 1; } goto l; } \
                ltl three: <> (x == 3); ltl stays: <> [] (x == 3); ltl again: [] <> (x == 0); }";
    fs::write(folder.join("p.bir"), text).expect("writable");
    let report = check(&folder, "--deadlock off --keep-going --format json").exits(1).json();
    assert_eq!(["three", "stays", "again"].map(|name| verdict(&report, name)), ["holds", "holds", "violated"]);
    assert_eq!(report["traces"][0]["replay"], "0:0,0,0()");
    check(&folder, "--deadlock off --property again").exits(1).prints("stutters forever: no step is possible");
    let walk = run(command(BIRK).current_dir(&folder).args(["replay", "p.bir", "0:0,0,0()"])).exits(0);
    walk.prints("which stutters forever in its last state, decides `again`");
}

/// Where a step faults, the run ends there, and is not considered by a formula; `fault` reports it.
#[test]
fn a_fault_is_not_the_end_of_a_run() {
    let folder = folder("runs_fault");
    let text = "system S { int (0, 3) x; active thread T() { loc l: do { assert x < 2; x := x + 1; } goto l; } \
                ltl low: [] (x < 2); ltl high: <> (x == 3); }";
    fs::write(folder.join("p.bir"), text).expect("writable");
    let report = check(&folder, "--keep-going --format json").exits(1).json();
    assert_eq!(["fault", "low", "high"].map(|name| verdict(&report, name)), ["violated", "holds", "holds"]);
}

#[test]
fn germans_flaw_is_found_also_under_fairness() {
    for options in ["", "--fairness weak", "--fairness weak --threads 2", "--store bitstate --search dfs --memory 64M"]
    {
        let report = birk(&format!("check models/german_liveness.bir --format json {options}")).exits(1).json();
        assert_eq!(verdict(&report, "served"), "violated", "{options}");
        let trace = report["traces"].as_array().and_then(|traces| traces.iter().find(|t| t["property"] == "served"));
        let states = trace.expect("a trace")["states"].as_array().expect("a list");
        let start = trace.expect("a trace")["loop"].as_u64().expect("a loop") as usize;
        assert!(states[start..].iter().all(|state| state["waiting"] == true), "{options}: client 0 is not served");
    }
}

/// No deadlock, but a philosopher may wait forever for a fork that is often free: never long enough for weak fairness.
#[test]
fn a_philosopher_of_the_ring_can_be_starved() {
    let folder = folder("runs_ring");
    let text = fs::read_to_string(root().join("models/philosophers_swapped.bir")).expect("the model is there");
    let (body, _) = text.rsplit_once('}').expect("a system ends");
    let formulas = "  ltl eats: [] (Philosopher[1]@hungry -> <> Philosopher[1]@eating);\n\
                    ltl somebody_eats: [] <> (exists (i : 0 .. N - 1) Philosopher[i]@eating);\n}\n";
    fs::write(folder.join("p.bir"), format!("{body}{formulas}")).expect("writable");
    for fairness in ["none", "weak"] {
        let answer = check(&folder, &format!("--property eats --fairness {fairness}")).exits(1);
        answer.prints("Philosopher[1] stays at hungry, ");
        check(&folder, &format!("--property somebody_eats --fairness {fairness}")).exits(0);
    }
    check(&folder, "--property eats --fairness weak").prints("repeatedly enabled but never scheduled");
}

/// A target that was reached ends the search for states, not the check.
#[test]
fn formulas_are_checked_after_targets_were_reached() {
    let options = "check models/german_liveness.bir --property passed_over --property served --format json";
    let report = birk(options).exits(1).json();
    assert_eq!(["passed_over", "served"].map(|name| verdict(&report, name)), ["holds", "violated"]);
}

#[test]
fn marks_are_properties_when_asked_for() {
    let folder = peterson("runs_marks");
    assert!(
        check(&folder, "--keep-going --format json").exits(1).json()["properties"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|property| property["name"] != "progress" && property["name"] != "accept")
    );
    check(&folder, "--property progress").exits(0).prints("holds: p.bir (Peterson): for every execution");
    check(&folder, "--property accept").exits(1).prints("ltl `accept` violated by");
    birk("check models/peterson2.bir --property progress").exits(2).says("there is no property `progress`");
}

#[test]
fn fairness_is_to_those_who_are_marked() {
    let folder = folder("runs_marked");
    let text = |mark: &str| {
        format!(
            "system S {{ boolean a; boolean b; {mark} active thread A() {{ loc l: do {{ a := !a; }} goto l; }} \
             active thread B() {{ loc l: do {{ b := !b; }} goto l; }} \
             ltl a_moves: [] <> a; ltl b_moves: [] <> b; }}"
        )
    };
    for (mark, expected) in [("", ["holds", "holds"]), ("fair", ["holds", "violated"])] {
        fs::write(folder.join("p.bir"), text(mark)).expect("writable");
        let report = check(&folder, "--fairness weak --keep-going --format json").json();
        assert_eq!(["a_moves", "b_moves"].map(|name| verdict(&report, name)), expected, "{mark}");
    }
}

#[test]
fn automata_of_files_are_properties() {
    let folder = peterson("runs_automaton");
    let automaton = |body: &str| {
        format!(
            "HOA: v1\nStart: 0\nAP: 1 \"Process[0]@critical\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n{body}--END--\n"
        )
    };
    fs::write(folder.join("never.hoa"), automaton("State: 0\n[t] 0\n[!0] 1\nState: 1 {0}\n[!0] 1\n")).expect("ok");
    let answer = check(&folder, "--automaton never.hoa --property automaton --format json").exits(1).json();
    assert_eq!(answer["properties"][0]["kind"], "automaton");
    check(&folder, "--automaton never.hoa --property automaton --fairness weak").exits(0);
    fs::write(
        folder.join("claim"),
        "never { T: do :: (1) -> goto T :: (!a) -> goto accept_S od;\naccept_S: do :: (!a) -> goto accept_S od }",
    )
    .expect("ok");
    check(&folder, "--automaton claim").exits(2).says("cannot find a value named `a`").says("claim:1:37");
    fs::write(folder.join("bad.hoa"), automaton("State: 0\n[5] 0\n")).expect("ok");
    check(&folder, "--automaton bad.hoa").exits(2).says("bad.hoa: line 8: there is no such proposition");
}

#[test]
fn automata_are_shown() {
    birk("automaton []<>p").exits(0).prints("HOA: v1\n").prints("AP: 1 \"p\"").prints("Acceptance: 1 Inf(0)");
    birk("automaton []<>p --format dot").exits(0).prints("digraph").prints("doublecircle");
    assert_eq!(
        birk("automaton []<>p --negate").out.replace("!([]<>p)", ""),
        birk("automaton <>[]!p").out.replace("<>[]!p", "")
    );
    birk("automaton []<>").exits(2).says("this is not a formula").says("the formula ends here");
}

#[test]
fn combinations_without_a_meaning_are_refused_with_a_reason() {
    let refused = |options: &str, reason: &str| _ = birk(&format!("check models/{options}")).exits(2).says(reason);
    refused("german_liveness.bir --fairness strong --search highway", "--fairness strong needs all steps");
    refused(
        "german_liveness.bir --fairness strong --search dfs --store bitstate",
        "--fairness strong needs exact states",
    );
    refused("peterson2.bir --fairness strong", "--fairness applies to temporal properties, and none is checked");
    refused("peterson2.bir --fairness weak", "--fairness applies to temporal properties, and none is checked");
    refused("peterson2.bir --swarm 3", "it needs --store bitstate");
    refused("peterson2.bir --store bitstate", "use --search dfs");
    refused("peterson2.bir --store bitstate --search dfs --threads 2", "leave --threads out");
    refused("german_liveness.bir --store bitstate --search dfs --max-depth 3", "use --store exact");
    refused("peterson2.bir --swarm 0", "must be at least 1");
    refused("german_liveness.bir --store compact", "use --store bitstate");
}

#[test]
fn a_depth_is_a_claim_about_formulas_too() {
    let folder = peterson("runs_depth");
    let report = check(&folder, "--property response --max-depth 3 --format json").exits(3).json();
    let says = "B, complete to depth 3: every state within 3 steps of the start; the depth limit was reached";
    let near = serde_json::json!({"kind": "depth", "depth": 3, "grade": "B", "statement": says});
    assert_eq!(report["coverage"], near);
    check(&folder, "--property response --max-depth 100").exits(0);
    check(&folder, "--property response --max-depth 3 --accept depth:3").exits(0);
    check(&folder, "--property comes_in --max-depth 5").exits(1);
    // A bound that grows comes to the same ends, and to the end of everything.
    let report =
        check(&folder, "--property response --max-depth 3 --search depth --increment 2 --format json").exits(3);
    assert_eq!(report.json()["coverage"], near);
    let whole = check(&folder, "--property response --search depth --increment 2 --format json").exits(0).json();
    let usual = check(&folder, "--property response --format json").exits(0).json();
    let properties = |report: &serde_json::Value| (report["coverage"].clone(), report["stats"]["states"].clone());
    assert_eq!(properties(&whole), properties(&usual));
    check(&folder, "--property comes_in --search depth").exits(1);
    let report =
        check(&folder, "--property response --max-states 9 --search depth --increment 1 --format json").exits(3);
    let coverage = &report.json()["coverage"];
    assert!(coverage["kind"] == "depth" && coverage["depth"].as_u64() < Some(9), "{coverage}");
}

#[test]
fn bits_find_and_never_claim_too_much() {
    let holds = birk("check models/peterson_filter.bir --store bitstate --search dfs --format json").exits(3).json();
    assert_eq!((&holds["store"], &holds["coverage"]["kind"]), (&"bitstate".into(), &"hashed".into()));
    assert!(holds["coverage"]["omission_probability"].as_f64().expect("a number") < 0.01);
    let exact = birk("check models/peterson_filter.bir --format json").exits(0).json();
    assert_eq!(holds["stats"]["states"], exact["stats"]["states"]);
    birk("check models/philosophers_ring.bir --store bitstate --search dfs").exits(1).prints("deadlock");
    let all = birk("check models/counters_mod8.bir -D K=5 --store bitstate --search dfs --swarm 2 --format json");
    let report = all.exits(3).json();
    let states = report["stats"]["states"].as_f64().expect("a number");
    assert!((states / 32_768.0 - 1.0).abs() < 0.06, "about 8^5 states, but {states}");
    birk("check models/peterson_filter.bir --store bitstate --search dfs --accept partial").exits(0);
}
