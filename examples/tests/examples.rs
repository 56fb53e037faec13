//! The examples do what they say.

use std::process::{Command, Output};

/// Runs an example in the root of the repository.
fn run(example: &str, arguments: &str) -> (Option<i32>, String, String) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let Output { status, stdout, stderr } = Command::new(example)
        .current_dir(root)
        .args(arguments.split_whitespace())
        .output()
        .expect("the example was built");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_file_is_checked() {
    let (code, out, err) = run(env!("CARGO_BIN_EXE_check_file"), "models/philosophers2.bir");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("deadlock: violated, shown by a trace of 2 steps"), "{out}");
}

#[test]
fn a_model_in_rust_is_searched() {
    let (code, out, _) = run(env!("CARGO_BIN_EXE_rust_model"), "");
    assert_eq!(code, Some(0));
    assert!(out.starts_with("bfs: 7 crossings\n  with the goat\n  with nobody\n"), "{out}");
    assert!(out.ends_with("[]<> home: holds\n<> crossed: violated\n"), "{out}");
}

const OWN: &str = env!("CARGO_BIN_EXE_own_engine");

#[test]
fn an_engine_of_ones_own_finds_what_there_is() {
    let (code, out, _) = run(OWN, "check models/philosophers2.bir --search walk --walks 100");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("`deadlock`"), "{out}");
    // What was not found is not known to be absent.
    let (code, out, _) = run(OWN, "check models/peterson2.bir --search walk --walks=5");
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("covered: D, partial"), "{out}");
}

#[test]
fn its_option_is_known_wherever_options_are() {
    let (_, help, _) = run(OWN, "check --help");
    assert!(help.contains("--walks <N>"), "{help}");
    assert!(help.contains("With --search walk: begin this many random walks [default: 1000]"), "{help}");
    let (code, _, err) = run(OWN, "check models/peterson2.bir --walks 5");
    assert_eq!(code, Some(2));
    assert!(err.contains("--walks does not apply to --search auto; leave it out, or use --search walk"), "{err}");
    let (code, _, err) = run(OWN, "check models/peterson2.bir --search walk --walks 0");
    assert_eq!(code, Some(2));
    assert!(err.contains("must be at least 1"), "{err}");
    let (_, engines, _) = run(OWN, "engines");
    assert!(engines.contains("walk\n  random walks from the initial state"), "{engines}");
    assert!(engines.contains("--walks <N>"), "{engines}");
}
