//! Guided simulation line by line: what a script can do, and what it is told.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::binary::{self, Answer, BIRK, birk, command, folder};

/// Walks through a model by a script.
fn walk(arguments: &str, script: &str) -> Answer {
    let mut command: Command = command(BIRK);
    let command = command.args(["simulate", "--guided"]).args(arguments.split_whitespace());
    let mut child = command.stdin(Stdio::piped()).spawn().expect("birk can be run");
    let mut input = child.stdin.take().expect("it listens");
    // It may leave before it has read everything.
    let _ = input.write_all(script.as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn two_philosophers_reach_their_deadlock_in_two_picks() {
    let walked = walk("models/philosophers2.bir", "1\n2\n").exits(0).quietly();
    let last = walked.out.split("> 2\n").last().expect("the answer to the second pick");
    assert!(walked.out.contains("> 1\nstep 1: Philosopher1.loc0 → loc1"), "{}", walked.out);
    assert!(last.starts_with("step 2: Philosopher2.loc0 → loc1"), "{last}");
    assert!(last.contains("violated: deadlock: no step is possible"), "{last}");
}

#[test]
fn everything_can_be_said() {
    let script = "1\n2\nwhy\nwhy 2\nstate\nhistory\nproperties\nback\nforward\nundo\njump 0\nrestart\n\
                  until fork1 && fork2 && Philosopher2@loc2 # a comment\neval fork1\nrandom 3\nrestart\nhelp\nquit\nnot read\n";
    let walked = walk("models/philosophers2.bir", script).exits(0).quietly();
    insta::assert_snapshot!("everything", walked.out);
    // Short forms do the same.
    let short = script.replace("back", "b").replace("forward", "f").replace("undo", "u").replace("jump", "g");
    let short = short.replace("why", "w").replace("history", "h").replace("until", "c").replace("random", "r");
    let answers =
        |text: &str| text.lines().filter(|line| !line.starts_with("> ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(answers(&walk("models/philosophers2.bir", &short).out), answers(&walked.out));
}

#[test]
fn a_script_that_cannot_be_followed_is_an_error() {
    let refused = |script: &str, reason: &str| {
        walk("models/philosophers2.bir", script).exits(2).says(reason);
    };
    refused("1\n7\n", "line 2 of the script: there is no such step");
    refused("1\n1\n2\n", "line 3 of the script: Philosopher2.loc0 → loc1 is not enabled");
    refused("0\n", "steps are counted from 1");
    refused("dance\n", "`dance` is not a command; `help` lists them");
    refused("back\n", "this is the start");
    refused("forward\n", "this is the last step");
    refused("jump\n", "`` is not a number");
    refused("until\n", "a condition is missing");
    refused("until fork3\n", "cannot find a value named `fork3`; did you mean `fork1`?");
    refused("until fork1 +\n", "column ");
    refused("until fork1; reachable x: fork2\n", "column 6: expected an operator, found `;`");
    refused("until fork1 && Philosopher1@loc0 && !fork2 && Philosopher2@loc0\n", "no other state that can be reached");
    refused("save\n", "a file name is missing");
    refused("save nowhere/walk.json\n", "cannot write nowhere/walk.json");
    refused("why 9\n", "there is no such step");
}

#[test]
fn a_counterexample_is_opened() {
    let folder = folder("guided_trace");
    let file = folder.join("forks.itf.json").display().to_string();
    birk(&format!("check models/philosophers2.bir --trace {file}")).exits(1);
    let walked = walk(&format!("models/philosophers2.bir --trace {file}"), "jump 2\n").exits(0).quietly();
    walked.prints("step 0 of 2: (start)").prints("step 2: Philosopher2.loc0 → loc1").prints("violated: deadlock");
    // What a walk saves is a trace like others.
    let saved = folder.join("walk.itf.json").display().to_string();
    walk("models/sum_to_n.bir -D N=5", &format!("until x == 5\n1\nsave {saved}\n")).exits(0).prints("violated: fault");
    birk(&format!("replay models/sum_to_n.bir -D N=5 {saved}")).exits(0).prints("after 10 steps, decides `fault`");
    walk(&format!("models/sum_to_n.bir --trace {file}"), "").exits(2).says("the trace does not fit the model");
    walk("models/sum_to_n.bir --trace nowhere.json", "").exits(4).says("cannot read nowhere.json");
}

#[test]
fn options_that_a_walk_cannot_follow_are_refused() {
    for option in ["--format json", "--runs 3", "--steps 5", "--time 5s"] {
        walk(&format!("models/philosophers2.bir {option}"), "").exits(2).says("cannot be used with");
    }
    walk("models/philosophers2.bir --property forks", "").exits(2).says("there is no property `forks`");
}

#[test]
fn only_what_was_asked_for_is_watched() {
    let shown = |options: &str| walk(&format!("models/philosophers2.bir {options}"), "1\n2\nproperties\n").exits(0).out;
    assert!(shown("").contains("violated: deadlock"));
    assert!(!shown("--deadlock off").contains("deadlock"));
    assert!(!shown("--property fault").contains("deadlock"));
    // What a file says about searches does not stand in the way of a walk.
    let folder = binary::folder_with("guided_settings", "philosophers2.bir");
    std::fs::write(folder.join("birk.toml"), "time = \"10m\"\nformat = \"json\"\ndeadlock = \"off\"\n")
        .expect("writable");
    let mut command = command(BIRK);
    let walked = binary::run(command.current_dir(&folder).args(["simulate", "--guided", "philosophers2.bir"]));
    assert!(!walked.exits(0).out.contains("deadlock"));
}

#[test]
fn one_of_several_initial_states_is_chosen() {
    let folder = folder("guided_initial");
    let text = "system S { const N = 2; int (0, 9)[N] a := choose({2, 5}); active thread T() { a[0] := a[0] + 1; } }";
    std::fs::write(folder.join("s.bir"), text).expect("writable");
    let model = folder.join("s.bir").display().to_string();
    let walked = walk(
        &model,
        "initial\nrestart 2\n1\nsave T\nrestart\n"
            .replace("T\n", &format!("{}\n", folder.join("t.itf.json").display()))
            .as_str(),
    )
    .exits(0)
    .quietly();
    assert!(walked.out.contains("    2  a[0]=5 a[1]=2\n"), "{}", walked.out);
    assert!(walked.out.contains("initial state 2, the last is 3; `initial` lists them"), "{}", walked.out);
    assert!(walked.out.contains("a[0]: 5 → 6"), "{}", walked.out);
    // What was saved is a run of the model.
    let saved = folder.join("t.itf.json").display().to_string();
    binary::run(command(BIRK).args(["replay", &model, &saved])).exits(0);
    walk(&model, "restart 4\n").exits(2).says("the initial states are 0 to 3");
    assert!(walk("models/philosophers2.bir", "initial\n").out.contains("there is one initial state"));
}
