//! `birk refine`: models that refine others, the first step of those that do not, and what it refuses.

use serde_json::{Value, json};

use crate::binary::{self, birk, folder};

const COMMIT: &str = "refine models/refinement/two_phase_commit.bir models/refinement/atomic_commit.bir";
const RAFT: &str = "refine models/refinement/raft_election.bir models/refinement/one_leader.bir";

fn write(folder: &std::path::Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

/// A counter up to `most`, by steps of these guards and actions.
fn counter(name: &str, items: &str, steps: &str) -> String {
    format!("system {name} {{ {items} active thread T() {{ loc go: {steps} }} }}")
}

#[test]
fn models_that_refine_their_specifications() {
    for (command, pairs, mapped) in [(COMMIT, 100, "outcome"), (RAFT, 4565, "leaders")] {
        let report = birk(&format!("{command} --format json")).exits(0).quietly().json();
        assert_eq!((&report["verdict"], &report["coverage"]["grade"]), (&"holds".into(), &"A".into()));
        assert_eq!((&report["stats"]["pairs"], &report["counterexample"]), (&pairs.into(), &Value::Null));
        assert_eq!(report["specification"]["mapped"], json!([mapped]));
    }
    birk(COMMIT).exits(0).quietly().prints("refined: ").prints("hidden: decision");
    // With more of both.
    birk(&format!("{COMMIT} -D N=4")).exits(0);
    birk(&format!("{RAFT} -D T=3 -D N=2 --threads 2")).exits(0);
}

#[test]
fn the_first_bad_step_of_two_phase_commit() {
    let report = birk(&format!("{COMMIT} -D BUG=1 --format json")).exits(1).quietly().json();
    assert_eq!(report["verdict"], "violated");
    let found = &report["counterexample"];
    assert_eq!((&found["kind"], &found["length"]), (&"step".into(), &6.into()));
    let steps = found["steps"].as_array().expect("a list");
    let who: Vec<&str> = steps.iter().filter_map(|step| step["thread"].as_str()).collect();
    let [r0, r1, r2] = ["ResourceManager[0]", "ResourceManager[1]", "ResourceManager[2]"];
    assert_eq!(who, [r0, r1, "Manager", "Manager", r0, r2]);
    for step in &steps[..4] {
        assert_eq!(step["specification"], json!([]), "it stutters");
    }
    let beside = steps[4]["specification"].as_array().expect("a list");
    let beside: Vec<(&Value, &Value)> = beside.iter().map(|step| (&step["thread"], &step["internal"])).collect();
    assert_eq!(beside, [(&"Decision".into(), &true.into()), (&"Participant[0]".into(), &false.into())]);
    assert_eq!(steps[4]["observed"], json!({"outcome[0]": "committed", "outcome[1]": "open", "outcome[2]": "open"}));
    assert_eq!(steps[5]["specification"], Value::Null);
    assert_eq!(steps[5]["observed"], json!({"outcome[0]": "committed", "outcome[1]": "open", "outcome[2]": "aborted"}));
    let instead = json!([
        {"outcome[0]": "committed", "outcome[1]": "open", "outcome[2]": "committed"},
        {"outcome[0]": "committed", "outcome[1]": "committed", "outcome[2]": "open"},
    ]);
    assert_eq!(found["instead"], instead);
    let text = birk(&format!("{COMMIT} -D BUG=1")).exits(1).quietly();
    text.prints("step 6 is not a step of AtomicCommit").prints("no such step").prints("outcome[1]: open → committed");
    let replay = found["replay"].as_str().expect("a text");
    birk(&format!("replay models/refinement/two_phase_commit.bir -D BUG=1 {replay}")).exits(0);
}

#[test]
fn the_first_bad_step_of_raft() {
    let report = birk(&format!("{RAFT} -D BUG=1 -D T=1 --format json")).exits(1).quietly().json();
    let found = &report["counterexample"];
    assert_eq!((&found["kind"], &found["length"], &found["instead"]), (&"step".into(), &7.into(), &json!([])));
    let observed = |step: usize| &found["steps"][step]["observed"]["leaders[1]"];
    assert_eq!([observed(2), observed(3), observed(5), observed(6)], ["{}", "{0}", "{0}", "{0, 1}"]);
    let line = found["steps"][6]["line"].as_u64().expect("a line") as usize;
    let text =
        std::fs::read_to_string(binary::root().join("models/refinement/raft_election.bir")).expect("it is there");
    assert!(text.lines().skip(line - 1).take(4).any(|line| line.contains("leaders[term] := leaders[term] + {me}")));
}

#[test]
fn hidden_steps_and_stuttering() {
    let folder = folder("refine_hidden");
    // The specification decides in secret how far it will count.
    let spec = "byte shown; byte most;";
    let spec = counter(
        "Spec",
        spec,
        "when most == 0 do { most := choose(1, 3); } goto go; when shown < most do { shown := shown + 1; } goto go;",
    );
    let spec = write(&folder, "spec.bir", &spec);
    let own = |most: u32| {
        let items = "byte x; byte idle; refines Spec { shown = x; }";
        let steps =
            format!("when x < {most} do {{ x := x + 1; }} goto go; when idle < 3 do {{ idle := idle + 1; }} goto go;");
        write(&folder, &format!("own{most}.bir"), &counter("Own", items, &steps))
    };
    birk(&format!("refine {} {spec}", own(3))).exits(0).prints("every step is a step of Spec");
    let report = birk(&format!("refine {} {spec} --format json", own(4))).exits(1).json();
    assert_eq!((&report["counterexample"]["length"], &report["counterexample"]["instead"]), (&4.into(), &json!([])));
    // The other way round there is no mapping of the step that decides.
    let back = "byte shown; byte most; refines Own { x = shown; idle = most; }";
    let back = counter("Spec", back, "when most == 0 do { most := choose(1, 3); } goto go;");
    let back = write(&folder, "back.bir", &back);
    let report = birk(&format!("refine {back} {} --format json", own(3))).exits(1).json();
    assert_eq!(report["counterexample"]["length"], 1);
}

#[test]
fn what_it_begins_with_must_be_the_same() {
    let folder = folder("refine_initial");
    let spec = write(&folder, "spec.bir", &counter("Spec", "byte a := 1;", "when a < 9 do { a := a + 1; } goto go;"));
    let own = "byte x; refines Spec { a = x; }";
    let own = write(&folder, "own.bir", &counter("Own", own, "when x < 9 do { x := x + 1; } goto go;"));
    let report = birk(&format!("refine {own} {spec} --format json")).exits(1).quietly().json();
    let found = &report["counterexample"];
    assert_eq!((&found["kind"], &found["length"], &found["start"]), (&"initial".into(), &0.into(), &json!({"a": "0"})));
    assert_eq!(found["instead"], json!([{"a": "1"}]));
    birk(&format!("refine {own} {spec}")).exits(1).prints("it does not begin as Spec").prints("Spec begins with:");
}

#[test]
fn a_value_that_the_variable_cannot_have_is_no_step() {
    let folder = folder("refine_range");
    let spec = counter(
        "Spec",
        "int (0, 2) a; int (0, 9) b;",
        "when a < 2 && b < 2 do { a := a + 1; } goto go; when a > 1 do { b := 1; } goto go;",
    );
    let spec = write(&folder, "spec.bir", &spec);
    let steps = "when x < 9 do { x := x + 1; } goto go;";
    let outside = write(&folder, "a.bir", &counter("Own", "byte x; refines Spec { a = x; }", steps));
    let answer = birk(&format!("refine {outside} {spec}")).exits(1).quietly();
    answer.prints("step 3 is not a step of Spec").prints("`a` would be 3, which it cannot be");
    let divided = write(&folder, "b.bir", &counter("Own", "byte x; refines Spec { b = 6 / (2 - x) - 3; }", steps));
    let report = birk(&format!("refine {divided} {spec} --format json")).exits(1).quietly().json();
    let unmapped = &report["counterexample"]["unmapped"]["b"];
    assert_eq!(report["counterexample"]["length"], 1, "3 is no value of `b` that it could have now: {report:#}");
    assert_eq!(unmapped, &Value::Null);
    let divided =
        write(&folder, "c.bir", &counter("Own", "byte x; refines Spec { b = x == 2 ? 1 / (x - 2) : 0; }", steps));
    birk(&format!("refine {divided} {spec}")).exits(1).prints("step 2").prints("`b` has no value: ");
}

#[test]
fn steps_that_fail() {
    let folder = folder("refine_faults");
    let steps = "when x < 9 do { x := x + 1; assert x < 3; } goto go;";
    let own = write(&folder, "own.bir", &counter("Own", "byte x; refines Spec { a = x; }", steps));
    let all = write(&folder, "all.bir", &counter("Spec", "byte a;", "when a < 9 do { a := a + 1; } goto go;"));
    let answer = birk(&format!("refine {own} {all}")).exits(1).quietly();
    answer.prints("step 3 is a runtime error, so it is not a step of Spec").prints("runtime error: ");
    let report = birk(&format!("refine {own} {all} --format json")).exits(1).json();
    assert_eq!((&report["counterexample"]["kind"], &report["counterexample"]["length"]), (&"fault".into(), &3.into()));
    // Where the specification fails, it has no step.
    let fails = write(
        &folder,
        "fails.bir",
        &counter("Spec", "byte a;", "when a < 9 do { a := a + 1; assert a < 2; } goto go;"),
    );
    let report = birk(&format!("refine {own} {fails} --format json")).exits(1).json();
    assert_eq!((&report["counterexample"]["kind"], &report["counterexample"]["length"]), (&"step".into(), &2.into()));
    // And `assume` prunes on both sides.
    let pruned = write(
        &folder,
        "pruned.bir",
        &counter("Spec", "byte a;", "when a < 9 do { a := a + 1; assume a < 2; } goto go;"),
    );
    let own = write(
        &folder,
        "own2.bir",
        &counter("Own", "byte x; refines Spec { a = x; }", "when x < 9 do { x := x + 1; assume x < 2; } goto go;"),
    );
    birk(&format!("refine {own} {pruned}")).exits(0);
    let own = write(
        &folder,
        "own3.bir",
        &counter("Own", "byte x; refines Spec { a = x; }", "when x < 9 do { x := x + 1; assume x < 3; } goto go;"),
    );
    birk(&format!("refine {own} {pruned}")).exits(1);
}

#[test]
fn limits_leave_it_open() {
    let report = birk(&format!("{RAFT} --max-depth 3 --format json")).exits(3).quietly().json();
    assert_eq!(
        (&report["verdict"], &report["coverage"]),
        (&"inconclusive".into(), &json!({"kind": "depth", "depth": 3, "grade": "B"}))
    );
    birk(&format!("{RAFT} --max-states 100")).exits(3).prints("inconclusive: ").prints("the state limit was reached");
    // A bad step beyond the limit is not known, and one within it is.
    birk(&format!("{COMMIT} -D BUG=1 --max-depth 5")).exits(3);
    birk(&format!("{COMMIT} -D BUG=1 --max-depth 6")).exits(1);
}

/// A specification with very many hidden states: neither its sets nor the time to compute them turn into an answer.
#[test]
fn sets_that_are_too_large_leave_it_open() {
    let folder = folder("refine_large");
    let hidden: String = (0..8).map(|i| format!("when h[{i}] < 9 do {{ h[{i}] := h[{i}] + 1; }} goto go; ")).collect();
    let spec =
        counter("Spec", "byte a; int (0, 9)[8] h;", &format!("when a < 3 do {{ a := a + 1; }} goto go; {hidden}"));
    let spec = write(&folder, "spec.bir", &spec);
    let own = counter("Own", "byte x; refines Spec { a = x; }", "when x < 3 do { x := x + 1; } goto go;");
    let own = write(&folder, "own.bir", &own);
    let report = birk(&format!("refine {own} {spec} --memory 100M --format json")).exits(3).quietly().json();
    assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &"memory".into()));
    let began = std::time::Instant::now();
    let report = birk(&format!("refine {own} {spec} --time 500ms --format json")).exits(3).quietly().json();
    assert_eq!((&report["coverage"]["kind"], &report["stopped_by"]), (&"partial".into(), &"time".into()));
    assert!(began.elapsed().as_secs() < 30, "it ends soon after its time");
}

#[test]
fn what_cannot_be_checked_is_refused_with_the_next_step() {
    let spec = "models/refinement/atomic_commit.bir";
    birk(&format!("refine models/peterson2.bir {spec}")).exits(2).says("has no `refines` block: say what");
    birk(&format!("refine models/dve/ring.dve {spec}")).exits(2).says("has no `refines` block");
    birk(&format!("refine models/refinement/two_phase_commit.bir {spec} -D M=4")).exits(2).says("`M`");
    birk(&format!("refine models/refinement/two_phase_commit.bir {spec} -D N=4")).exits(0);
    let folder = folder("refine_refused");
    let spec_text = "enum E { red, green } byte a; boolean b; E e; byte[2] v; set of 0 .. 3 s;";
    let steps = "when a < 9 && b do { own := a; a := own + 1; b := !b; e := E.green; v[0] := 1; s := {1}; } goto go;";
    let spec_text = counter("Spec", spec_text, steps).replace("T() {", "T() { byte own;");
    let spec_path = write(&folder, "spec.bir", &spec_text);
    for (mapped, message, help) in [
        ("aa = x;", "`Spec` has no global variable `aa`", "did you mean `a`?"),
        ("colour = x;", "`Spec` has no global variable `colour`", "there are `a`, `b`, `e`, `v` and `s`"),
        ("own = x;", "`Spec` has no global variable `own`", "variables of threads are hidden"),
        ("a = x > 1;", "`a` of `Spec` is an integer, and a boolean is mapped to it", "write `(… ? 1 : 0)`"),
        ("b = x;", "`b` of `Spec` is a boolean, and an integer is mapped to it", "compare it"),
        ("e = x;", "`e` of `Spec` is an enumerator, and an integer is mapped to it", "`red` and `green`"),
        ("e = F.blue;", "`e` of `Spec` is an enumerator, and an enumerator is mapped to it", "none in common"),
        ("s = x;", "`s` of `Spec` is a set, and an integer is mapped to it", "map a set to it"),
        ("v = x;", "`v` of `Spec` is an array [2]", "`v[i : 0 .. 1] = …;`"),
        ("a[0] = x;", "`a` of `Spec` is a single value", "write `a = …;`"),
        ("v[i : 0 .. 2] = x;", "`v` of `Spec` has no element 2", "its indices are 0 .. 1"),
    ] {
        let items = format!("enum F {{ blue }} byte x; F f; refines Spec {{ {mapped} }}");
        let own =
            write(&folder, "own.bir", &counter("Own", &items, "when x < 9 do { x := x + 1; f := F.blue; } goto go;"));
        birk(&format!("refine {own} {spec_path}")).exits(2).says("error[E0059]").says(message).says(help);
        // Nobody else minds.
        birk(&format!("check {own}")).exits(1).prints("deadlock");
    }
}

/// Sets are mapped by their members, enumerators by their names.
#[test]
fn values_of_other_types_are_translated() {
    let folder = folder("refine_values");
    let spec = "enum E { green, red } E e; set of 0 .. 5 s;";
    let spec = counter(
        "Spec",
        spec,
        "when e == E.green do { e := E.red; s := {3}; } goto go; when e == E.red do { e := E.green; s := {}; } goto go;",
    );
    let spec = write(&folder, "spec.bir", &spec);
    let own = "enum Own { red, amber, green } Own c := Own.green; set of 2 .. 4 t; refines Spec { e = c; s = t; }";
    let steps = "when c == Own.green do { c := Own.red; t := {3}; } goto go; when c == Own.red do { c := Own.green; t := {}; } goto go;";
    let good = write(&folder, "good.bir", &counter("Good", own, steps));
    birk(&format!("refine {good} {spec}")).exits(0);
    let bad = write(&folder, "bad.bir", &counter("Bad", own, &steps.replace("c := Own.red", "c := Own.amber")));
    birk(&format!("refine {bad} {spec}")).exits(1).prints("`e` would be amber, which it cannot be");
    let bad = write(&folder, "bad2.bir", &counter("Bad", own, &steps.replace("t := {3}", "t := {4}")));
    birk(&format!("refine {bad} {spec}")).exits(1).prints("s: {} → {4}");
}
