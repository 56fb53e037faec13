//! `birk test` as a user runs it: expectations that are met, that are not, and that are about nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::binary::{self, birk, folder};

const LIFT: &str = "system Lift {
  const TOP = 3;

  int (0, TOP) floor;

  active thread Motor() {
    while (floor < TOP) { floor := floor + 1; }
  }

  reachable on_top: floor == TOP;
  invariant low: floor < 9;
  ltl rises: <> (floor == TOP);
  EXPECT
}
";

fn with_model(name: &str, file: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join(file), text).expect("the folder can be written to");
    folder
}

fn test(text: &str, options: &str) -> binary::Answer {
    let name: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let folder = with_model(&format!("expectations_{name}"), "lift.bir", &LIFT.replace("EXPECT", text));
    birk(&format!("test {} {options}", folder.display()))
}

#[test]
fn what_is_expected_is_found() {
    let met = test(
        "expect reached on_top in 6, holds low, 8 states, 7 transitions, depth 7;\n  expect (TOP = 2): reached on_top in 4;\n  expect holds;",
        "",
    );
    met.exits(0).quietly().prints("lift.bir: 3 expectations\n").prints("\n3 of 3 expectations met (1 model");
}

/// Each kind of difference is named, with its line and the command that shows it.
#[test]
fn every_difference_is_named() {
    let cases = [
        ("expect violated low;", "`low`: holds, expected violated"),
        ("expect violated low in 3;", "`low`: holds, expected violated in 3"),
        ("expect reached on_top in 5;", "`on_top`: reached in 6, expected reached in 5"),
        ("expect violated on_top;", "`on_top`: reached in 6, expected not reached"),
        ("expect violated rises;", "`rises`: holds, expected violated"),
        ("expect 9 states;", "states: 8, expected 9"),
        ("expect 9 transitions;", "transitions: 7, expected 9"),
        ("expect depth 9;", "depth: 7, expected 9"),
        ("expect (TOP = 10): holds;", "`low`: violated in 18, expected holds"),
    ];
    for (text, expected) in cases {
        let failed = test(text, "").exits(1).quietly();
        let failed =
            failed.prints("FAILED").prints(&format!("lift.bir:13: {expected}\n")).prints("to see it: birk check ");
        failed.prints("\n0 of 1 expectations met");
    }
}

#[test]
fn what_is_about_nothing_is_refused() {
    test("expect violated lov;", "")
        .exits(2)
        .says("error[E0056]: there is no property `lov`")
        .says("did you mean `low`?");
    test("expect (TPO = 1): holds;", "").exits(2).says("there is no constant `TPO`").says("did you mean `TOP`?");
    test("expect maybe;", "").exits(2).says("error[");
    test("expect holds on;", "").exits(2).says("there is no property `on`");
    test("expect 3 floors;", "").exits(2).says("error[E0004]: expected a verdict or a count");
    test("", "").exits(2).says("none with an expectation").says("`expect holds;`");
    let folder = with_model("expectations_unclear", "a.dve", "// expect: perhaps\nsystem async;");
    birk(&format!("test {}", folder.display())).exits(2).says("a.dve:1: this expectation cannot be read");
}

/// The report is what JUnit's readers expect.
#[test]
fn a_report_for_other_tools() {
    let report =
        test("expect (TOP = 2): holds;\n  expect violated low, 9 states;", "--format junit").exits(1).quietly().out;
    assert!(report.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"birk\" tests=\"2\" failures=\"1\""
    ));
    assert_eq!(report.matches("<testcase ").count(), 2);
    assert!(report.contains("name=\"line 13 -D TOP=2\""), "{report}");
    assert!(
        report.contains("<failure message=\"`low`: holds, expected violated; states: 8, expected 9\">"),
        "{report}"
    );
    assert!(report.ends_with("  </testsuite>\n</testsuites>\n"), "{report}");
}

/// All models of the repository are as they say, whatever their language.
#[test]
fn the_models_of_the_repository_are_as_they_say() {
    let folder = binary::root().join("models");
    let is_model = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "bir");
    let entries = fs::read_dir(&folder).expect("the models are there").map(|entry| entry.expect("readable").path());
    let folders = ["structured", "cookbook", "dve", "peers"].map(|name| folder.join(name));
    let paths: Vec<String> =
        entries.filter(is_model).chain(folders).map(|path| Path::new(&path).display().to_string()).collect();
    let tested = birk(&format!("test {}", paths.join(" "))).exits(0).quietly();
    let last = tested.out.lines().last().expect("a summary");
    let (met, of) = last.split_once(" of ").expect("two numbers");
    assert_eq!(Some(met), of.split(' ').next(), "{last}");
    assert!(met.parse::<u32>().expect("a number") > 300, "{last}");
}
