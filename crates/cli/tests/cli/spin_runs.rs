//! SPIN decides the same formulas in the same way, with and without weak fairness, on twins of the models.
//!
//! A line is a twin, the formula for Birk, and the formula for SPIN where it is written in another way.

use std::fs;
use std::process::Command;

use birk_agreement::tools;

use crate::binary::{BIRK, command, folder, root, run};

const PAIRS: &[(&str, &str, &str)] = &[
    ("peterson2", "[] <> wants[0]", ""),
    ("peterson2", "[] (wants[0] -> <> !wants[0])", ""),
    ("dekker", "[] <> wants[0]", ""),
    ("dekker", "[] (wants[0] -> <> (turn == 1))", ""),
    ("token_ring", "[] <> (token == 3)", ""),
    ("token_ring", "[] (pending[2] -> <> !pending[2])", ""),
    ("philosophers_ring", "[] (taken[0] -> <> !taken[0])", ""),
    ("philosophers_ring", "<> taken[0]", ""),
    ("philosophers_swapped", "[] <> taken[1]", ""),
    ("philosophers_swapped", "[] (taken[1] -> <> !taken[1])", ""),
    ("readers_writers", "[] <> (nw == 1)", ""),
    ("readers_writers", "(nr == 0) U (nw == 1 || nr == 1)", ""),
    ("traffic_light", "[] <> (light[1] == Colour.green)", "[] <> (light[1] == 2)"),
    ("semaphore", "[] <> (free > 0)", ""),
    ("ticket_lock", "[] <> (called == 2)", ""),
    ("szymanski", "[] (flag[0] == 1 -> <> (flag[0] == 4))", "[] ((flag[0] == 1) -> <> (flag[0] == 4))"),
    ("alternating_bit", "[] <> data_sent", ""),
    ("alternating_bit", "<> [] !ack_sent", ""),
    ("bounded_buffer", "[] <> (used < 3)", ""),
    ("elevator", "[] (called[3] -> <> !called[3])", ""),
    ("barrier", "[] <> sense && [] <> !sense", ""),
    ("hyman", "[] (wants[0] -> <> !wants[0])", ""),
    ("sleeping_barber", "[] (called -> <> seated)", ""),
    ("idle_server", "<> answered[0]", ""),
    ("idle_server", "[] (customer != 4 -> <> (customer == 4))", "[] ((customer != 4) -> <> (customer == 4))"),
];

/// What a tool says: whether the formula holds, and how many states the product has.
type Says = (bool, u64);

fn spin(twin: &str, formula: &str) -> [Says; 2] {
    let name: String = formula.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let folder = folder(&format!("runs_{twin}_{name}"));
    let text = fs::read_to_string(root().join(format!("crates/cli/tests/spin/{twin}.pml"))).expect("the twin is there");
    fs::write(folder.join("m.pml"), format!("{text}\nltl asked {{ {formula} }}\n")).expect("writable");
    let go = |program: &str, arguments: &[&str]| {
        let answer = run(Command::new(program).args(arguments).current_dir(&folder));
        assert_eq!(answer.code, Some(0), "{twin} {formula}: {program}: {}{}", answer.out, answer.err);
        answer.out
    };
    go("spin", &["-a", "m.pml"]);
    go("gcc", &["-O0", "-w", "-DNOREDUCE", "-DNFAIR=3", "-o", "pan", "pan.c"]);
    let says = [&["-a", "-E", "-m1000000"][..], &["-a", "-f", "-E", "-m1000000"]].map(|options| {
        let out = go("./pan", options);
        let errors = out.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let stored = out.lines().find_map(|line| line.split_once(" states, stored"));
        let states = stored.and_then(|(number, _)| number.trim().parse().ok()).expect("a number of states");
        (errors == Some("0"), states)
    });
    let _ = fs::remove_dir_all(folder);
    says
}

fn ours(twin: &str, formula: &str) -> [Says; 2] {
    let text = fs::read_to_string(root().join(format!("crates/cli/tests/spin/{twin}.pml"))).expect("the twin is there");
    let header = text.lines().next().and_then(|line| line.strip_prefix("/* twin of ")?.strip_suffix(" */"));
    let mut words = header.expect("a header").split_whitespace();
    let model = words.next().expect("a model");
    let defines: Vec<&str> = words.collect();
    let name: String = formula.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let folder = folder(&format!("asked_{twin}_{name}"));
    let text = fs::read_to_string(root().join("models").join(model)).expect("the model is there");
    let (body, _) = text.rsplit_once('}').expect("a system ends");
    fs::write(folder.join(model), format!("{body}\n  ltl asked: {formula};\n}}\n")).expect("writable");
    ["none", "weak"].map(|fairness| {
        let answers: Vec<(serde_json::Value, bool)> = ["1", "2"]
            .iter()
            .map(|threads| {
                let mut check = command(BIRK);
                check.current_dir(&folder).args(["check", model, "--property", "asked", "--format", "json"]);
                let answer = run(check.args(["--fairness", fairness, "--threads", threads]).args(&defines));
                assert!(matches!(answer.code, Some(0 | 1)), "{twin} {formula}: {}{}", answer.out, answer.err);
                let report = answer.json();
                let holds = report["verdict"] == "holds";
                (report, holds)
            })
            .collect();
        assert_eq!(answers[0].1, answers[1].1, "{twin} {formula}: one core and two");
        (answers[0].1, answers[0].0["properties"][0]["product"]["states"].as_u64().expect("a number"))
    })
}

fn compare(share: usize) {
    if !tools::are_installed(&["spin", "gcc"]) {
        return;
    }
    let mut verdicts = Vec::new();
    for &(twin, formula, for_spin) in PAIRS.iter().skip(share).step_by(2) {
        let theirs = spin(twin, if for_spin.is_empty() { formula } else { for_spin });
        let ours = ours(twin, formula);
        assert_eq!(ours.map(|says| says.0), theirs.map(|says| says.0), "{twin}: {formula} (none, weak)");
        // SPIN's automaton of such a formula is the same as ours.
        if formula.starts_with("[] (") && formula.contains("-> <>") && ours[0].0 {
            assert_eq!(ours[0].1, theirs[0].1, "{twin}: {formula}: states of the product");
        }
        verdicts.push(ours.map(|says| says.0));
    }
    for kind in [[false, false], [false, true], [true, true]] {
        assert!(verdicts.contains(&kind), "no pair answers {kind:?}: {verdicts:?}");
    }
}

#[test]
fn verdicts_are_those_of_spin_1() {
    compare(0);
}

#[test]
fn verdicts_are_those_of_spin_2() {
    compare(1);
}
