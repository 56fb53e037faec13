//! `--reduce auto`: the same answers from fewer states, and no word about states that were not visited.

use std::path::PathBuf;

use crate::binary::{self, birk, folder};

#[test]
fn a_reduced_search_says_what_it_can_claim() {
    let full = birk("check models/peers/phil.bir -D N=9 --property deadlock").exits(0).prints("19,683 states");
    assert!(full.out.contains("A, exhaustive: every reachable state"), "{}", full.out);
    let reduced = birk("check models/peers/phil.bir -D N=9 --property deadlock --reduce auto").exits(0);
    assert!(reduced.out.contains("A, complete by reduction: a violation would have been met; 196 states visited"));
    for claim in ["every reachable state", "never", "unexplored", "next:"] {
        assert!(!reduced.out.contains(claim), "`{claim}` in\n{}", reduced.out);
    }
    let json =
        birk("check models/peers/phil.bir -D N=9 --property deadlock --reduce auto --format json").exits(0).json();
    assert_eq!((&json["coverage"]["reduced"], &json["unreached"]), (&true.into(), &serde_json::Value::Null));
}

/// The trace is one of the model as it is written, as short as without a reduction.
#[test]
fn engines_find_a_trace_that_is_as_short() {
    for search in ["bfs", "depth", "astar"] {
        let check = format!("check models/philosophers_ring.bir -D N=12 --search {search} --reduce auto");
        let covered = birk(&check).exits(1).prints("`deadlock` (12 steps").out;
        assert!(covered.contains("by reduction") || covered.contains("by a reduced search"), "{covered}");
    }
    for search in ["--search dfs", "--search dfs --store bitstate"] {
        let check = format!("check models/philosophers_ring.bir -D N=12 {search} --reduce auto");
        birk(&check).exits(1).prints("`deadlock` (").prints("visited by a reduced search");
    }
}

/// To prepare a reduction takes longer than a small search.
#[test]
fn a_search_that_is_soon_over_is_not_reduced() {
    let whole = birk("check models/peers/phil.bir -D N=5 --property deadlock --reduce auto").exits(0);
    let whole = whole.prints("A, exhaustive: every reachable state").prints("243 states");
    assert!(!whole.err.contains("not reduced"), "{}", whole.err);
    let found = birk("check models/philosophers_ring.bir --search bfs --reduce auto").exits(1);
    let found = found.prints("`deadlock` (5 steps, shortest)").prints("complete to depth 5");
    assert!(!found.out.contains("reduction"), "{}", found.out);
}

/// What is not reduced is searched once, and told once.
#[test]
fn a_note_is_told_once() {
    let file = folder("told-once").join("timeout.pml");
    std::fs::write(&file, "byte x; active proctype P() { do :: x < 9 -> x++ :: timeout -> break od }")
        .expect("it is written");
    let answer = birk(&format!("check {} --property deadlock --reduce auto", file.display())).exits(0);
    for note in ["the search was not reduced", "the model was interpreted"] {
        assert!(answer.err.matches(note).count() <= 1, "{}", answer.err);
    }
    answer.says("the search was not reduced: `timeout`");
}

#[test]
fn where_nothing_is_reduced_a_note_says_why() {
    let whole = |answer: binary::Answer| answer.prints("every reachable state");
    let peterson = "check models/peers/peterson.bir -D N=4 --property deadlock --reduce auto";
    whole(birk(peterson).exits(0)).says("not reduced: nearly all steps depend on each other");
    whole(birk(&format!("{peterson} --keep-going")).exits(0)).says("not reduced: --keep-going counts all states");
}

#[test]
fn dead_variables_are_reset() {
    for (model, full, reduced) in [
        ("anderson", "1,459", "741"),
        ("bakery", "1,506", "1,227"),
        ("lamport", "29,242", "6,727"),
        ("mcs", "7,963", "1,229"),
        ("peterson", "12,498", "2,376"),
        ("szymanski", "20,264", "18,181"),
    ] {
        let check = format!("check models/beem/{model}.bir --deadlock off");
        birk(&check).exits(0).prints(&format!("in every reachable state ({full} states)"));
        let reduced = format!("in every reachable state, up to dead variables ({reduced} states)");
        birk(&format!("{check} --reduce dead")).exits(0).prints(&reduced).prints("up to the values of dead variables");
    }
    birk("check models/cookbook/locks.bir --reduce dead").prints("5,684 states");
    let json = birk("check models/beem/lamport.bir --reduce dead --format json").exits(0).json();
    assert_eq!(json["coverage"]["dead"], serde_json::json!(["Process.j"]));
    // Diagrams, and cycles, on the same program.
    birk("check models/beem/lamport.bir --reduce dead --search bdd").exits(0).prints("6,727 states");
    let refused = birk("check models/beem/lamport.bir --reduce dead --certificate c.bir").exits(2);
    refused.says("--certificate needs all states, or an invariant: --reduce dead merges some");
    let counted = birk("check models/beem/lamport.bir --reduce dead --keep-going").exits(0).prints("29,242 states");
    counted.says("dead variables were not reset: --keep-going counts all states");
}

/// An element that may or may not be written is not dead.
#[test]
fn what_may_still_be_read_is_kept() {
    let text = "system S { int (0, 9) out := 0; active thread T() { int (0, 9)[2] a; int (0, 1) i := 0; \
        loc p: do { a[0] := 7; } goto q; loc q: do { i := choose(0, 1); } goto r; \
        loc r: do { a[i] := 1; } goto s; loc s: do { out := a[0]; } goto t; loc t: end when false do { } goto t; } \
        invariant small: out < 7; }";
    let file = model("kept", text);
    birk(&format!("check {}", file.display())).exits(1).prints("`small` (4 steps, shortest)");
    birk(&format!("check {} --reduce dead", file.display())).exits(1).prints("`small` (4 steps, shortest)");
}

/// What is shown is the model as it is written: a value that is dead stays where it is, and the loop closes one turn later.
#[test]
fn a_trace_shows_what_dead_variables_hold() {
    let text = "system S { int (0, 9) out := 0; active thread T() { int (0, 9) x := 5; \
        loc a: do { x := 7; } goto b; loc b: do { out := x; x := out; } goto c; \
        loc c: do { x := 1; } goto d; loc d: do { out := x; } goto c; } \
        invariant small: out < 7; ltl often: []<> (out == 2); }";
    let file = model("dead", text);
    let check =
        |property: &str| birk(&format!("check {} --property {property} --reduce dead", file.display())).exits(1);
    let json = birk(&format!("check {} --property small --reduce dead --format json", file.display())).exits(1).json();
    assert_eq!(json["coverage"]["dead"], serde_json::json!(["T.x"]));
    check("small").prints("2 steps, shortest").prints("out: 0 → 7");
    let shown = check("often");
    assert!(!shown.out.contains("x: 7 → 5") && !shown.out.contains("x: 1 → 5"), "{}", shown.out);
    let plain = birk(&format!("check {} --property often", file.display())).exits(1);
    assert!(plain.out.contains("x: 7 → 1") && shown.out.contains("x: 7 → 1"), "{}", shown.out);
}

/// A file with this text.
fn model(name: &str, text: &str) -> PathBuf {
    let path = folder(name).join("model.bir");
    std::fs::write(&path, text).expect("the file can be written");
    path
}

#[test]
fn steps_that_do_not_commute_are_shown_with_a_state() {
    let shown = birk("show models/peers/phil.bir -D N=3 --independence").exits(0);
    shown
        .prints("48 pairs of steps of different threads")
        .prints("45 commute: 36 touch nothing in common, 0 are never enabled together, 9 were proved to commute")
        .prints("Philosopher[0].thinking (line 15): when !fork[first(me)]")
        .prints("the first disables the second, if fork[1] = false");
    birk("show models/lamport_fast_mutex.bir --independence")
        .exits(0)
        .prints("the order decides where both lead, if y = 2 (2 pairs like this)");
    birk("show models/peers/phil.bir --independence --heuristic").exits(2).says("--heuristic");
    birk("show models/promela/retransmit.pml --independence")
        .exits(2)
        .says("it is not known which steps commute: `timeout` asks whether any other step is possible");
    // What fails depends on the order, and what chooses is not asked about.
    let text = "system S { int (0, 3) x := 3; \
        active thread Up() { loc a: do { x := x + 1; } goto b; loc b: end when false do { } goto b; } \
        active thread Down() { loc a: do { x := x - 1; } goto b; loc b: end when false do { } goto b; } }";
    let file = model("independence", text);
    birk(&format!("show {} --independence", file.display()))
        .exits(0)
        .prints("whether a check fails depends on the order, if x = ");
}

#[test]
fn a_formula_is_checked_in_a_reduced_model_unless_it_counts_steps() {
    let text = "system S { boolean x; boolean y; boolean z; \
        active thread A() { loc a: do { x := true; } goto b; loc b: end do { } goto b; } \
        active thread B() { loc a: do { y := true; } goto b; loc b: end do { } goto b; } \
        active thread C() { loc a: do { z := !z; } goto a; } \
        ltl later: [] (x => [] x); ltl next: X !x; }";
    let file = model("reduced_formulas", text);
    let check = |options: &str| birk(&format!("check {} --reduce auto {options}", file.display()));
    check("--property later").exits(0).prints("covered: A, complete by reduction");
    check("--property next").says("the search for `next` was not reduced: `X` counts steps");
    check("--property later --fairness weak").says("was not reduced: --fairness asks who could have moved");
}
