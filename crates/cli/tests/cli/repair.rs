//! Repairs through the real binary: what is named, and that no claim is false.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{BIRK, birk, command, folder, root, run};

/// Between the look and the step of one thread, the other looks.
const RACE: &str = "system Race {
  boolean locked;
  active [2] thread Process() {
    while (true) {
      await !locked;
      locked := true;
      critical: skip;
      locked := false;
    }
  }
  invariant exclusion: !(Process[0]@critical && Process[1]@critical);
}";

fn repaired(folder: &Path, options: &[&str]) -> Value {
    let mut all = command(BIRK);
    all.args(["repair", "m.bir", "--format", "json", "--progress", "off"]).args(options).current_dir(folder);
    run(&mut all).json()
}

/// The text with a change of the report.
fn changed(text: &str, repair: &Value) -> String {
    let number = |field: &str| repair[field].as_u64().expect("a number") as usize;
    let word = |field: &str| repair[field].as_str().expect("a text");
    let start: usize = text.split_inclusive('\n').take(number("line") - 1).map(str::len).sum();
    let line = &text[start..];
    let at = start + line.char_indices().nth(number("column") - 1).expect("it is in the line").0;
    assert!(text[at..].starts_with(word("from")), "{repair}");
    [&text[..at], word("to"), &text[at + word("from").len()..]].concat()
}

#[test]
fn a_race_is_repaired_by_one_step() {
    let folder = folder("repair_race");
    fs::write(folder.join("m.bir"), RACE).expect("writable");
    let report = repaired(&folder, &[]);
    assert_eq!((&report["verdict"], &report["violated"]), (&"violated".into(), &serde_json::json!(["exclusion"])));
    let repairs = report["repairs"].as_array().expect("a list");
    let atomic = repairs.iter().find(|repair| repair["kind"] == "atomic").expect("one step instead of two");
    assert_eq!(atomic["to"], "atomic { await !locked; locked := true; }");
    assert_eq!(
        (&atomic["line"], &atomic["complete"], &atomic["unused_transitions"]),
        (&5.into(), &true.into(), &0.into())
    );
    let text = run(command(BIRK).args(["repair", "m.bir", "--progress", "off"]).current_dir(&folder)).exits(1);
    assert!(text.out.contains("violated: m.bir (Race): `exclusion`"), "{}", text.out);
    assert!(text.out.contains("     5 |       await !locked;"), "{}", text.out);
    assert!(
        text.out.contains("as `atomic { await !locked; locked := true; }`: none in any reachable state"),
        "{}",
        text.out
    );
}

/// The second thread does not give the turn back.
const FORGOTTEN: &str = "system Forgotten {
  int (0, 2) turn;
  active thread First() {
    while (true) {
      await turn == 0;
      first: turn := 1;
    }
  }
  active thread Second() {
    while (true) {
      await turn == 1;
      turn := 2;
      second: skip; // <b>not done & left</b>
    }
  }
  ltl again: [] <> First@first;
}";

#[test]
fn a_statement_that_is_missing_is_added() {
    let folder = folder("repair_forgotten");
    fs::write(folder.join("m.bir"), FORGOTTEN).expect("writable");
    let report = repaired(&folder, &[]);
    assert_eq!((&report["verdict"], &report["violated"]), (&"violated".into(), &serde_json::json!(["deadlock"])));
    let repairs = report["repairs"].as_array().expect("a list");
    let added =
        repairs.iter().find(|repair| repair["kind"] == "addition" && repair["line"] == 13).expect("it is found");
    assert_eq!((&added["from"], &added["complete"]), (&"".into(), &true.into()));
    assert!(added["to"].as_str().expect("a text").contains("turn := 0"), "{added}");
    // What there are most of is not named before what changes a word.
    let is_addition = |repair: &&Value| repair["kind"] == "addition";
    let first = repairs.iter().position(|repair| is_addition(&repair)).expect("there is one");
    assert!(repairs[first..].iter().all(|repair| is_addition(&repair)), "{report:#}");
    let text = run(command(BIRK).args(["repair", "m.bir", "--progress", "off"]).current_dir(&folder)).exits(1);
    assert!(text.out.contains("| with `turn := 0` before `skip`: none in any reachable state"), "{}", text.out);
    assert!(text.out.contains("| with `turn := 0` after `second: skip`: none in any reachable state"), "{}", text.out);
}

#[test]
fn a_page_shows_each_change_in_the_text_around_it() {
    let folder = folder("repair_page");
    fs::write(folder.join("m.bir"), FORGOTTEN).expect("writable");
    run(command(BIRK).args(["repair", "m.bir", "--report", "page.html"]).current_dir(&folder)).exits(1);
    let page = fs::read_to_string(folder.join("page.html")).expect("it is written");
    for part in [
        "<strong class=\"verdict violated\">violated</strong> <span class=\"mono\">m.bir</span>: <code>deadlock</code>",
        "<p>No violation is found after one of these changes",
        "<h2>Line 13</h2>",
        "<div class=\"never\"><span class=\"n\">13</span>−     second: skip; // &lt;b&gt;not done &amp; left&lt;/b&gt;</div>",
        "<div class=\"ran\"><span class=\"n\">13</span>+     second: skip; turn := 0; // ",
        "<div><span class=\"n\">12</span>      turn := 2;</div>",
        "<pre class=\"scroll\">birk check m.bir --report trace.html</pre>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<b>"), "{page}");
    // What holds has a page, too.
    fs::write(folder.join("m.bir"), FORGOTTEN.replace("second: skip;", "second: turn := 0;")).expect("writable");
    run(command(BIRK).args(["repair", "m.bir", "--report", "page.html"]).current_dir(&folder)).exits(0);
    let page = fs::read_to_string(folder.join("page.html")).expect("it is written");
    assert!(
        page.contains("there is nothing to repair") && !page.contains("Tried:") && !page.contains("trace.html"),
        "{page}"
    );
}

/// What a limit leaves open is not called prevented: after some changes there are too many states to say whether the goal is reached.
#[test]
fn what_was_not_decided_is_not_repaired() {
    let folder = folder("repair_open");
    let text = "system Large { int (0, 3) turn;
  active [12] thread Counter() { int wrap (0, 3) x; await turn == 1; while (true) { x := x + 1; } }
  reachable goal: turn == 3; }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let report = repaired(&folder, &["--property", "goal"]);
    assert_eq!((&report["verdict"], &report["tried"]), (&"violated".into(), &report["changes"]));
    assert_eq!(report["repairs"], serde_json::json!([]), "{report:#}");
    fs::write(folder.join("m.bir"), text.replace("== 1", "== 0")).expect("writable");
    let open = run(command(BIRK)
        .args(["check", "m.bir", "--property", "goal", "--max-states", "200000"])
        .current_dir(&folder));
    open.exits(3);
}

#[test]
fn what_holds_needs_no_repair() {
    birk("repair models/bakery.bir").exits(0).prints("there is nothing to repair");
    let folder = folder("repair_none");
    fs::write(
        folder.join("m.bir"),
        "system S { int (0, 9) x; active thread A() { x := 9; assert x < 5; } invariant small: x < 5; }",
    )
    .expect("writable");
    let all = repaired(&folder, &["--property", "fault"]);
    assert!(
        all["repairs"].as_array().expect("a list").iter().all(|repair| repair["column"].as_u64() < Some(58)),
        "{all:#}"
    );
}

/// Every change that is named is made, and another engine searches the model that results.
#[test]
fn no_violation_is_left_after_a_repair() {
    let mut tried = 0;
    for (model, options) in [
        ("models/anderson_lock.bir", "-D BUG=1"),
        ("models/philosophers2.bir", ""),
        ("models/cookbook/lease_lock.bir", "-D BUG=1"),
        ("models/lost_wakeup.bir", ""),
        ("models/cookbook/retry.bir", "-D BUG=1"),
        ("models/peterson_reordered.bir", ""),
    ] {
        let folder = folder(&format!("repair_{}", model.replace(['/', '.'], "_")));
        let text = fs::read_to_string(root().join(model)).expect("readable");
        fs::write(folder.join("m.bir"), &text).expect("writable");
        let options: Vec<&str> = options.split_whitespace().collect();
        let report = repaired(&folder, &options);
        assert_eq!(report["verdict"], "violated", "{model}");
        for repair in report["repairs"].as_array().expect("a list").iter().take(12) {
            fs::write(folder.join("m.bir"), changed(&text, repair)).expect("writable");
            let mut check = command(BIRK);
            check.args(["check", "m.bir"]).args(&options).current_dir(&folder);
            match repair["complete"].as_bool() {
                Some(true) => run(check.args(["--search", "dfs"])).exits(0),
                _ => run(check.args(["--search", "bfs", "--max-depth", &repair["depth"].to_string()])).exits(3),
            };
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Models that hold are broken in one place each: that line is among the first three.
#[test]
fn the_line_that_was_broken_is_named() {
    for (model, from, to) in [
        ("models/bakery.bir", "other >= me)", "other > me)"),
        ("models/bakery.bir", "number[other] == 0 ||", "number[other] == 1 ||"),
        ("models/peterson2.bir", "turn == me", "turn != me"),
        ("models/peterson2.bir", "turn := 1 - me", "turn := me"),
        ("models/ticket_lock.bir", "called == mine", "called != mine"),
        ("models/token_ring.bir", "&&", "||"),
        ("models/alternating_bit.bir", "data_bit == bit do {", "data_bit != bit do {"),
    ] {
        let text = fs::read_to_string(root().join(model)).expect("readable");
        let at = text.find(from).unwrap_or_else(|| panic!("{model} has {from}"));
        let line = text[..at].matches('\n').count() + 1;
        let folder = folder("repair_named");
        fs::write(folder.join("m.bir"), text.replacen(from, to, 1)).expect("writable");
        let report = repaired(&folder, &[]);
        assert_eq!(report["verdict"], "violated", "{model}: {to}");
        let mut named: Vec<u64> = Vec::new();
        for repair in report["repairs"].as_array().expect("a list") {
            let line = repair["line"].as_u64().expect("a number");
            if !named.contains(&line) {
                named.push(line);
            }
        }
        assert!(named.iter().take(3).any(|&named| named == line as u64), "{model}: {from}: line {line} of {named:?}");
    }
}
