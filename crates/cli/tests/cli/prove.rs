//! `birk prove`: what is inductive, what breaks the rest, and what it refuses.

use crate::binary::{birk, folder};

const MODEL: &str = "models/peterson_proved.bir";

#[test]
fn all_that_is_needed_is_proved_and_certified() {
    let path = folder("prove_all").join("all.cert");
    let answer = birk(&format!("prove {MODEL} --certificate {} --format json", path.display())).exits(0).quietly();
    let report = answer.json();
    assert_eq!(report["verdict"], "proved");
    let verdicts: Vec<_> = report["invariants"].as_array().expect("a list").iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["inductive", "inductive", "inductive"]);
    birk(&format!("certify {MODEL} {}", path.display())).exits(0).prints("certified: invariant `exclusion` holds");
    // Another program with the same properties, in which one of them can be broken.
    let text = std::fs::read_to_string(&path).expect("it was written");
    assert!(text.contains("\nall properties are a part of each invariant\n"), "{text}");
}

#[test]
fn a_step_is_shown_that_breaks_what_is_not_inductive() {
    let report = birk(&format!("prove {MODEL} --with exclusion --format json")).exits(3).quietly().json();
    assert_eq!((&report["verdict"], &report["invariants"][0]["verdict"]), (&"unproved".into(), &"broken".into()));
    let by = &report["invariants"][0]["broken_by"];
    assert_eq!((&by["assumed"], &by["line"]), (&serde_json::json!(["exclusion"]), &14.into()));
    // All that it takes is named, and nothing else.
    let turn = by["before"]["turn"].as_str().expect("a value");
    let inside = if turn == "0" { ["waiting", "critical"] } else { ["critical", "waiting"] };
    let part =
        [format!("turn == {turn}"), format!("Process[0]@ == {}", inside[0]), format!("Process[1]@ == {}", inside[1])];
    assert_eq!(by["part"], serde_json::json!(part));
    assert_eq!((&by["after"]["Process[0]@"], &by["after"]["Process[1]@"]), (&"critical".into(), &"critical".into()));
}

#[test]
fn what_is_proved_never_rests_on_what_is_not() {
    let model = folder("prove_rests").join("m.bir");
    // `even` is kept only where `never` is true, and that is not so initially.
    let text = "system M { int (0, 9) x; boolean odd := true; active thread T() { loc go:
        when x < 6 do { x := x + 2; } goto go; when odd do { x := 7; } goto go; }
        invariant never: !odd; invariant even: x % 2 == 0; invariant low: x < 8; }";
    std::fs::write(&model, text).expect("it can be written");
    let report = birk(&format!("prove {} --format json", model.display())).exits(1).json();
    let verdict = |at: usize| report["invariants"][at]["verdict"].as_str().expect("a word");
    assert_eq!((verdict(0), verdict(1), verdict(2)), ("violated", "broken", "inductive"));
    assert_eq!(report["invariants"][1]["broken_by"]["assumed"], serde_json::json!(["even", "low"]));
    birk(&format!("check {} --property low", model.display())).exits(0);
    birk(&format!("check {} --property even", model.display())).exits(1);
}

#[test]
fn ic3_adds_what_is_missing_or_finds_a_violation() {
    let path = folder("prove_strengthen").join("all.cert");
    let check = format!("prove {MODEL} --with exclusion --with flags --strengthen --certificate {}", path.display());
    let report = birk(&format!("{check} --format json")).exits(0).quietly().json();
    let invariants = &report["invariants"];
    assert_eq!((&invariants[0]["verdict"], &invariants[1]["verdict"]), (&"proved".into(), &"inductive".into()));
    let clauses = invariants[0]["clauses"].as_array().expect("a list");
    assert!(!clauses.is_empty() && clauses.len() < 7, "{clauses:?}");
    birk(&format!("certify {MODEL} {}", path.display())).exits(0).prints("certified: invariant `exclusion` holds");
    let report = birk("prove models/peterson_reordered.bir --strengthen --format json").exits(1).json();
    assert_eq!(report["invariants"][0]["verdict"], "violated");
    birk("check models/peterson_reordered.bir").exits(1);
}

/// Time runs out while IC3 works: what was inductive before stays proved, and nothing else is.
#[test]
fn what_is_inductive_stays_proved_when_the_time_is_up() {
    let model = folder("prove_time").join("m.bir");
    let text = std::fs::read_to_string("../../benches/models/numbers.bir").expect("it is there");
    let text = text.replacen("invariant", "invariant small: forall (i : 0 .. 0) i == 0;\n  invariant", 1);
    std::fs::write(&model, text).expect("it can be written");
    let report = birk(&format!("prove {} --strengthen --time 1s --format json", model.display())).exits(3).json();
    assert_eq!((&report["verdict"], &report["stopped_by"]), (&"unproved".into(), &"time".into()), "{report:#}");
    assert_eq!(report["invariants"][0]["verdict"], "inductive", "{report:#}");
}

#[test]
fn what_cannot_be_proved_is_refused_with_the_next_step() {
    birk(&format!("prove {MODEL} --with exclusio")).exits(2).says("did you mean `exclusion`?");
    birk(&format!("prove {MODEL} --with deadlock")).exits(2).says("only invariants and `fault` can be inductive");
    let bare = folder("prove_bare").join("m.bir");
    std::fs::write(&bare, "system M { byte b; active thread T() { loc l: when b < 9 do { b := b + 1; } goto l; } }")
        .expect("it can be written");
    birk(&format!("prove {}", bare.display())).exits(2).says("the model has no invariants; add one");
    birk(&format!("prove {} --with fault", bare.display())).exits(0).prints("inductive: `fault`");
}
