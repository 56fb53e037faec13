//! What a report says besides its verdict: which parts of the model were never met, and how to repeat the search or go on.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Command;

use crate::binary::{Answer, BIRK, birk, command, folder, run};

fn folder_with(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("m.bir"), text).expect("writable");
    folder
}

fn check(folder: &PathBuf, options: &[&str]) -> Answer {
    run(command(BIRK).current_dir(folder).args(["check", "m.bir"]).args(options))
}

/// The rest of a line of a report.
fn line<'a>(answer: &'a Answer, title: &str) -> Option<&'a str> {
    answer.out.lines().find_map(|line| line.trim_start().strip_prefix(title)).map(str::trim)
}

const BRANCHES: &str = "system Store {
  boolean to_store;
  int (0, 3) n;
  active[3] thread Storage() {
    while true {
      atomic {
        await n < 3;
        either { await to_store; n := 0; }
        or { n := n + 1; }
      }
    }
  }
  active[2] thread Other() {
    loc serving:
      when to_store do { n := 0; } goto serving;
      when n == 3 do { n := 2; } goto serving;
  }
  active[3] thread Number() {
    loc first: when n == 1 && to_store do { } goto first;
  }
}
";

#[test]
fn what_was_not_enabled_is_named_as_it_is_written() {
    let answer = check(&folder_with("statement_written", BRANCHES), &["--keep-going"]).exits(0);
    let untaken = line(&answer, "not enabled").expect("the line is there");
    assert_eq!(
        untaken,
        "Storage.line 6 (1 of 2 ways) `n < 3`, Other.serving (line 15) `to_store`, \
         Number.first (line 19) `n == 1 && to_store`"
    );
}

#[test]
fn instances_are_listed_where_they_differ() {
    let text = "system Some { int (0, 2) turn;
      active [3] thread T(int me) { loc a: when turn == me && me != 1 do { turn := 1; } goto a; } }";
    let answer = check(&folder_with("statement_some", text), &["--keep-going", "--deadlock", "off"]).exits(0);
    assert_eq!(line(&answer, "not enabled"), Some("T[1,2].a (line 2) `turn == me && me != 1`"));
}

#[test]
fn a_line_to_continue_leads_somewhere() {
    // Nothing is left to be found out.
    for model in ["philosophers2.bir", "german_liveness.bir"] {
        let done = birk(&format!("check models/{model} --keep-going")).exits(1);
        assert!(done.out.contains("covered: A") && line(&done, "continue:").is_none(), "{}", done.out);
    }
    let decided = birk("check models/german_liveness.bir --property served").exits(1);
    assert_eq!(line(&decided, "continue:"), None, "a formula is not checked further");
    let one = birk("check models/philosophers2.bir --property deadlock").exits(1);
    assert_eq!(line(&one, "continue:"), None, "the only property is decided");
    let open = birk("check models/philosophers2.bir").exits(1);
    assert!(line(&open, "continue:").is_some_and(|line| line.ends_with(" --keep-going")), "{}", open.out);
}

#[test]
fn a_line_to_continue_keeps_the_units() {
    for (option, more) in [
        ("--time 0.1s", "--time 0.2s"),
        ("--time 100ms", "--time 200ms"),
        ("--memory 0.5M", "--memory 1M"),
        ("--max-states 1_500", "--max-states 3_000"),
        ("--max-states 700", "--max-states 1400"),
    ] {
        let answer = birk(&format!("check models/counters_mod8.bir -D K=9 --search bfs {option}")).exits(3);
        assert!(line(&answer, "continue:").is_some_and(|line| line.contains(more)), "{option}: {}", answer.out);
    }
}

#[test]
fn an_interrupted_search_cannot_be_continued() {
    let mut search = command(BIRK);
    search.args(["check", "models/counters_mod8.bir", "-D", "K=9", "--progress", "json"]);
    let mut process = search.spawn().expect("birk can be run");
    // It searches when it tells so.
    let mut progress = BufReader::new(process.stderr.take().expect("a pipe"));
    progress.read_line(&mut String::new()).expect("progress can be read");
    let sent = Command::new("kill").args(["-INT", &process.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let output = process.wait_with_output().expect("it ends");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let answer = Answer { code: output.status.code(), out, err: String::new() }.exits(130).prints("interrupted");
    assert!(line(&answer, "reproduce:").is_some() && line(&answer, "continue:").is_none(), "{}", answer.out);
}

#[test]
fn an_engine_that_did_not_search_is_not_named() {
    let text =
        "system Live { boolean on; active thread S() { loc l: do { on := !on; } goto l; } ltl at_last: <> [] on; }";
    let folder = folder_with("statement_engine", text);
    let answer = check(&folder, &["--property", "at_last"]).exits(1).prints(" s with ndfs");
    assert_eq!(line(&answer, "reproduce:"), Some("birk check m.bir --property at_last --seed 0"));
    let answer = check(&folder, &["--property", "at_last", "--search", "depth"]).exits(1).prints(" s with depth");
    assert_eq!(line(&answer, "reproduce:"), Some("birk check m.bir --property at_last --search depth --seed 0"));
    let answer = check(&folder, &[]).exits(1).prints(" s with bfs");
    assert_eq!(line(&answer, "reproduce:"), Some("birk check m.bir --search bfs --seed 0"));
}
