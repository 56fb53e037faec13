//! `timeout` in BIR: the models that use it are as they say, for states and for infinite executions, and every engine that does
//! not know it refuses them.

use std::fs;
use std::path::Path;

use birk::{Conditions, Fairness, Options, Patient, check, differences, load};
use birk_ir::Clause;

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timeout");
    fs::read_to_string(folder.join(name)).expect("the model is there")
}

const MODELS: [&str; 2] = ["retransmission.bir", "token_loss.bir"];

#[test]
fn models_with_timeout_are_as_they_say() {
    for name in MODELS {
        let text = text(name);
        let read = |constants: &[(String, String)]| {
            load(name.as_ref(), &text, constants, &mut |_| Err("no files".into()), Conditions::default())
        };
        let expected = read(&[]).expectations;
        assert!(expected.len() >= 2, "{name}: it says what is expected, with and without its bug");
        for expected in expected {
            let program = read(&expected.constants).program.expect("it is correct");
            for engine in ["bfs", "dfs", "disk", "auto"] {
                let mut expected = expected.clone();
                if engine == "dfs" {
                    // It goes deeper, and its traces need not be shortest.
                    expected.clauses.retain(|clause| !matches!(clause, Clause::Depth(_)));
                    for clause in &mut expected.clauses {
                        if let Clause::Violated(_, steps) | Clause::Reached(_, steps) = clause {
                            *steps = None;
                        }
                    }
                }
                let options = Options { engine: engine.into(), ..Options::default() };
                let found = differences(&program, &expected, &options, &mut Patient).expect("it can be checked");
                assert_eq!(found, [] as [String; 0], "{name} {:?} with {engine}", expected.constants);
            }
        }
    }
}

#[test]
fn who_does_not_know_timeout_refuses() {
    for name in MODELS {
        let program = crate::load(&format!("timeout/{name}"), &[]);
        for engine in ["bdd", "bdd-chain", "bdd-astar", "bmc", "ic3"] {
            let options = Options { engine: engine.into(), properties: vec!["deadlock".into()], ..Options::default() };
            let refused = check(&program, &options, &mut Patient).expect_err("it is refused").to_string();
            assert!(refused.contains("`timeout` asks whether any other step is possible"), "{engine}: {refused}");
        }
    }
}

/// The step that waits for it is taken again and again: nobody else is passed over by it.
#[test]
fn fairness_and_formulas_know_it() {
    let program = crate::load("timeout/token_loss.bir", &[]);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let options = Options { engine: "bfs".into(), fairness, ..Options::default() };
        let report = check(&program, &options, &mut Patient).expect("it can be checked");
        let wrong: Vec<&str> = report
            .answers
            .iter()
            .filter(|answer| answer.verdict != birk::ir::Verdict::Holds)
            .map(|answer| answer.property.name.as_str())
            .collect();
        assert_eq!(wrong, [] as [&str; 0], "{fairness:?}");
    }
}
