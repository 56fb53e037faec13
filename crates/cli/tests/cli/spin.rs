//! SPIN as an oracle: each twin in `tests/spin` is a Promela model with the same states as a model of ours.
//!
//! A twin's first line names the model and its constants, the second the number of states. SPIN stores the states it
//! reaches without reduction; Birk explores on after violations, as SPIN is told to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use birk_agreement::tools;

use crate::binary::{birk, folder, run};

struct Twin {
    path: PathBuf,
    /// Our model and its constants.
    model: String,
    /// As its header says.
    states: u64,
}

#[test]
fn spin_stores_as_many_states_as_birk_reaches() {
    if !tools::are_installed(&["spin", "gcc"]) {
        return;
    }
    let twins = twins();
    assert!(twins.len() >= 10, "only {} twins", twins.len());
    let (left, right) = twins.split_at(twins.len() / 2);
    let differing: Vec<String> = std::thread::scope(|scope| {
        let halves = [left, right].map(|half| scope.spawn(|| half.iter().filter_map(difference).collect::<Vec<_>>()));
        halves.into_iter().flat_map(|half| half.join().expect("no panic")).collect()
    });
    assert!(differing.is_empty(), "{} of {} differ:\n{}", differing.len(), twins.len(), differing.join("\n"));
    println!("{} twins agree", twins.len());
}

fn twins() -> Vec<Twin> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spin");
    let paths = fs::read_dir(folder).expect("the twins are there").map(|entry| entry.expect("readable").path());
    let mut twins: Vec<Twin> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "pml")).map(twin).collect();
    twins.sort_by(|a, b| a.path.cmp(&b.path));
    twins
}

fn twin(path: PathBuf) -> Twin {
    let text = fs::read_to_string(&path).expect("readable");
    let header = |line: &str, start: &str| {
        let rest = line.strip_prefix(start).and_then(|rest| rest.strip_suffix(" */"));
        rest.unwrap_or_else(|| panic!("{}: `{start}… */` expected: {line}", path.display())).to_owned()
    };
    let mut lines = text.lines();
    let model = header(lines.next().unwrap_or_default(), "/* twin of ");
    let states = header(lines.next().unwrap_or_default(), "/* spin states ");
    Twin { model, states: states.parse().expect("a number"), path }
}

/// What differs, if anything does.
fn difference(twin: &Twin) -> Option<String> {
    let answer = birk(&format!("check models/{} --keep-going --format json", twin.model));
    let ours = answer.json()["stats"]["states"].as_u64();
    let theirs = stored(twin);
    let same = ours == Some(twin.states) && theirs == Ok(twin.states);
    (!same).then(|| format!("{}: SPIN {theirs:?}, Birk {ours:?}, its header {}", twin.model, twin.states))
}

/// How many states SPIN stores.
fn stored(twin: &Twin) -> Result<u64, String> {
    let name = twin.path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = folder(&format!("spin_{name}"));
    let twin = twin.path.display().to_string();
    // The verifier runs for milliseconds: optimising it would take longer than it saves.
    let steps: [(&str, &[&str]); 3] = [
        ("spin", &["-a", &twin]),
        ("gcc", &["-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]),
        ("./pan", &["-E", "-c0", "-A", "-m1000000"]),
    ];
    let mut last = String::new();
    for (program, arguments) in steps {
        let answer = run(Command::new(program).args(arguments).current_dir(&folder));
        if answer.code != Some(0) {
            return Err(format!("{program} failed: {}{}", answer.out, answer.err));
        }
        last = answer.out;
    }
    let line = last.lines().find_map(|line| line.trim().strip_suffix(" states, stored"));
    let states = line.and_then(|number| number.parse().ok()).ok_or_else(|| format!("no count in: {last}"));
    let _ = fs::remove_dir_all(folder);
    states
}
