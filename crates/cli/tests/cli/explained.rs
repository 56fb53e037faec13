//! Which steps of a counterexample matter, through the real binary: text, JSON, page, and that what is claimed can be walked.

use std::fs;

use serde_json::{Value, json};

use crate::binary::{birk, folder, root};

fn explained(arguments: &str) -> Value {
    let report = birk(&format!("check {arguments} --format json")).json();
    report["traces"][0]["explanation"].clone()
}

#[test]
fn the_steps_that_decide_a_race_are_named() {
    birk("check models/broken_mutex.bir").exits(1).prints("· 1  Process[0]  looking → taking").prints(
        "  matters: steps 2, 5, 6; with these in their places, no violation within 6 steps:
    2  Process[0] taking → entering
    5  Process[1] critical → looking
    6  Process[1] critical → looking
    ·  does not matter: others would do, or it comes anyway
",
    );
    // A third process could always do the same: it does not move in the counterexample, so it is left alone.
    let third = explained("models/broken_mutex.bir -D N=3");
    let roles = json!(["replaceable", "matters", "replaceable", "replaceable", "matters", "matters"]);
    assert_eq!((&third["roles"], &third["within"]), (&roles, &6.into()), "{third:#}");
}

#[test]
fn what_cannot_be_avoided_is_told_from_what_can() {
    let counting = "system S { int (0, 9) x; active thread A() { x := 1; x := 2; } invariant small: x < 2; }";
    let model = folder("explained_doom").join("m.bir");
    fs::write(&model, counting).expect("writable");
    let text = birk(&format!("check {} --property small", model.display())).exits(1);
    assert!(text.out.contains("  unavoidable: every execution leads there, whatever is done\n"), "{}", text.out);
    assert!(!text.out.contains('·'), "{}", text.out);
    // The escape is an execution of the model.
    let deadlock = explained("models/lost_wakeup.bir");
    let replay = deadlock["escape"]["replay"].as_str().unwrap_or_else(|| panic!("there is an escape: {deadlock:#}"));
    let walked = birk(&format!("replay models/lost_wakeup.bir {replay}")).exits(0);
    assert!(!walked.out.contains("decides `deadlock`"), "{}", walked.out);
}

#[test]
fn what_is_superfluous_is_left_out() {
    let folder = folder("explained_superfluous");
    let text = "system S { int (0, 5) x, y; active thread A() { x := 1; x := 2; x := 3; }
      active thread B() { y := 1; y := 2; y := 3; } invariant small: y < 3; }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let model = folder.join("m.bir").display().to_string();
    let long = explained(&format!("{model} --search dfs --property small"));
    let roles = json!(["superfluous", "superfluous", "superfluous", "unavoidable", "unavoidable", "unavoidable"]);
    assert_eq!((&long["roles"], &long["shorter"]), (&roles, &"0:1,1,1".into()), "{long:#}");
    birk(&format!("replay {model} 0:1,1,1")).exits(0).prints("decides `small`");
}

#[test]
fn initial_values_matter_or_not() {
    let folder = folder("explained_initial");
    let text = "system S { int (0, 3) x := choose(0, 2); int (0, 1) y := choose(0, 1); active thread A() { x := x + 1; } invariant small: x < 3; }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let found = explained(&format!("{} --property small", folder.join("m.bir").display()));
    let value =
        |name: &str| found["initial"].as_array().expect("a list").iter().find(|one| one["name"] == name).cloned();
    assert_eq!(value("x").expect("x")["matters"], true, "{found:#}");
    assert_eq!(value("y").expect("y")["matters"], false, "{found:#}");
}

#[test]
fn more_steps_are_compared_on_demand() {
    let usual = explained("models/broken_mutex.bir");
    let more = explained("models/broken_mutex.bir --explain 12");
    let matters =
        |found: &Value| found["roles"].as_array().expect("a list").iter().filter(|role| **role == "matters").count();
    assert_eq!((&usual["within"], &more["within"]), (&6.into(), &12.into()));
    assert!(matters(&more) < matters(&usual), "{more:#}");
    // Witnesses are explained where that is asked for.
    let witness = "models/byte_wrap.bir --format json";
    let report = |options: &str| birk(&format!("check {witness} {options}")).json();
    let is_explained = |report: &Value| {
        report["traces"].as_array().expect("a list").iter().any(|trace| !trace["explanation"].is_null())
    };
    assert!(!is_explained(&report("")) && is_explained(&report("--explain 0")));
}

#[test]
fn the_page_has_the_roles_of_the_steps() {
    let folder = folder("explained_page");
    let page = folder.join("page.html");
    birk(&format!("check {} --report {}", root().join("models/broken_mutex.bir").display(), page.display())).exits(1);
    let page = fs::read_to_string(page).expect("readable");
    assert!(page.contains("\"role\":\"matters\"") && page.contains("\"role\":\"replaceable\""));
}
