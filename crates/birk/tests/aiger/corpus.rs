//! The circuits of `models/aiger`, with each engine that decides all states.

use std::path::Path;

use birk_ir::Verdict;

use crate::circuit::Circuit;
use crate::{answers, report, report_of};

/// File, and for each property its verdict and the steps of a shortest trace.
type Expected = (&'static str, &'static [(&'static str, Option<usize>)]);

/// Counted by hand: a trace has as many steps as the circuit has cycles, that of the bad included, and one more where latches
/// without a reset value are chosen first.
const CIRCUITS: &[Expected] = &[
    ("counter.aag", &[("overflow", Some(16)), ("reset_fails", None)]),
    ("arbiter_token.aag", &[("two_granted", None)]),
    ("arbiter_priority.aag", &[("two_granted", None)]),
    ("fifo.aag", &[("wrong_bit", None), ("beyond_four", None)]),
    // Five bits are written, the first of which is marked, and it is read in the sixth cycle.
    ("fifo_broken.aag", &[("wrong_bit", Some(7)), ("beyond_four", None)]),
    // Constraints exclude the first and the last.
    ("handshake.aag", &[("gives_up", None), ("late", Some(8)), ("done_without_request", None)]),
    ("shift.aig", &[("all_set", Some(9))]),
];

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/aiger").join(name)
}

#[test]
fn circuits_have_the_verdicts_and_depths_that_are_expected() {
    for (name, expected) in CIRCUITS {
        let program = birk::load_file(path(name)).expect("the circuit is there");
        for engine in ["bfs", "bdd", "ic3", "bmc"] {
            let max_depth = (engine == "bmc").then_some(20);
            let found = answers(&report_of(&program, engine, max_depth, birk_ir::Property::is_of_states));
            assert_eq!(found.len(), expected.len(), "{name}, {engine}");
            for ((property, verdict, steps), (wanted, length)) in found.iter().zip(*expected) {
                assert_eq!(property, wanted, "{name}, {engine}");
                let context = format!("{name}, {engine}, {property}: {verdict:?} {steps:?}");
                match length {
                    Some(length) if engine == "ic3" => {
                        assert!(*verdict == Verdict::Violated && *steps >= Some(*length), "{context}");
                    }
                    Some(length) => assert_eq!((*verdict, *steps), (Verdict::Violated, Some(*length)), "{context}"),
                    None if engine == "bmc" => assert_ne!(*verdict, Verdict::Violated, "{context}"),
                    None => assert_eq!(*verdict, Verdict::Holds, "{context}"),
                }
            }
        }
    }
}

/// What is expected above is also what brute force says.
#[test]
fn brute_force_says_the_same() {
    for (name, expected) in CIRCUITS.iter().filter(|(name, _)| name.ends_with(".aag")) {
        let circuit = Circuit::of_ascii(&std::fs::read_to_string(path(name)).expect("the circuit is there"));
        let power = usize::from(circuit.latches.iter().any(|(_, reset)| reset.is_none()));
        let found: Vec<_> = circuit.distances().into_iter().map(|far| far.map(|far| far + power)).collect();
        assert_eq!(found, expected.iter().map(|(_, length)| *length).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn who_has_the_token_does_not_starve() {
    for (name, verdict) in [("arbiter_token.aag", Verdict::Holds), ("arbiter_priority.aag", Verdict::Violated)] {
        let program = birk::load_file(path(name)).expect("the circuit is there");
        let found = answers(&report(&program, "bfs", None));
        assert_eq!(found[1].0, "starves");
        assert_eq!(found[1].1, verdict, "{name}");
        let circuit = Circuit::of_ascii(&std::fs::read_to_string(path(name)).expect("the circuit is there"));
        assert_eq!(circuit.is_just(), [verdict == Verdict::Violated], "{name}");
    }
}

/// What the script writes is what is there.
#[test]
fn the_script_writes_the_circuits() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/generate/clocked.py");
    let output = std::process::Command::new("python3").arg(script).arg("--check").output();
    // Without Python there is nothing to compare.
    let Ok(output) = output else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
