//! A model that is written as a circuit and read back has the verdicts of the model, and its shortest traces.

use std::path::{Path, PathBuf};

use birk::{Form, Netlist};
use birk_exec::goal_of;
use birk_ir::{Goal, Op, Outcome, Program, Verdict};

use crate::{answers, report};

/// Larger models are left out, unless the environment gives another number (`BIRK_SETS`).
const MOST_STATES: u64 = 120;

/// Circuits with more inputs are left out.
const MOST_INPUTS: usize = 10;

/// A model with six initial states: not every pattern of bits is one.
const SEVERAL: &str = "
system Several {
  int (0, 5) x := choose({1, 3, 5});
  boolean up := choose({false, true});
  active thread Counter() {
  loc here:
    when x > 0 && !up do { x := x - 1; } goto here;
    when x < 5 && up do { x := x + 1; } goto here;
  }
  invariant small: x < 5 || !up;
  invariant odd: x != 4 || up;
  reachable zero: x == 0;
}
";

/// How many inputs a cycle chooses.
fn choices(circuit: &Program) -> usize {
    circuit.transitions[0].ops.iter().filter(|op| matches!(op, Op::Choose(..))).count()
}

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut found = Vec::new();
    for folder in [root.clone(), root.join("cookbook"), root.join("dve"), root.join("promela")] {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        found.extend(entries.map(|entry| entry.expect("readable").path()).filter(|path| path.extension().is_some()));
    }
    found.sort();
    found
}

/// The goals of a program, by the names of the properties.
fn goals(program: &Program) -> Vec<(String, birk_ir::Expr)> {
    let goal = |property: &birk_ir::Property| {
        let Goal::State(goal) = goal_of(program, property)?;
        Some((property.name.clone(), goal))
    };
    program.properties.iter().filter_map(goal).collect()
}

/// Verdicts and lengths of shortest traces of the properties of states of a model; nothing of a large one.
fn of_model(program: &Program, most: u64) -> Option<Vec<(String, Option<usize>)>> {
    let options =
        birk::Options { engine: "bfs".into(), keep_going: true, max_states: Some(most), ..birk::Options::default() };
    let report = birk::check(program, &options, &mut birk::Patient).ok()?;
    if report.hunt.stopped != birk_ir::Stop::Exhausted {
        return None;
    }
    let found = answers(&report).into_iter().zip(&report.answers);
    let of = |((name, verdict, steps), answer): ((String, Verdict, Option<usize>), &birk::Answer)| {
        let is_reached = (verdict == Verdict::Violated) != answer.property.wants_goal();
        (name, is_reached.then_some(steps).flatten())
    };
    Some(found.filter(|(_, answer)| answer.property.is_of_states()).map(of).collect())
}

#[test]
fn what_is_exported_has_the_verdicts_and_depths_of_the_model() {
    let most = std::env::var("BIRK_SETS").map_or(MOST_STATES, |number| number.parse().expect("a number"));
    let (mut tried, mut several) = (0, 0);
    let several_starts = (PathBuf::from("several.bir"), birk::load_text("several.bir", SEVERAL));
    let of_corpus = models().into_iter().map(|path| (path.clone(), birk::load_file(&path)));
    for (path, program) in of_corpus.chain([several_starts]) {
        let Ok(program) = program else { continue };
        let Some(expected) = of_model(&program, most) else { continue };
        let Ok(netlist) = Netlist::new(&program, &goals(&program)) else { continue };
        let bytes = netlist.aiger(Form::Binary);
        let text = birk::Encoding::Bytes.text(bytes).expect("all bytes are characters");
        let circuit = crate::program("exported.aig", &text);
        let ascii = String::from_utf8(netlist.aiger(Form::Ascii)).expect("it is text");
        assert_eq!(crate::program("exported.aag", &ascii).transitions.len(), circuit.transitions.len());
        // An explicit search takes one combination of inputs after the other.
        if choices(&circuit) > MOST_INPUTS {
            continue;
        }
        // A cycle more for the bad itself, and one for latches without a reset value.
        let more = 1 + usize::from(!program.choices.is_empty());
        several += usize::from(!program.choices.is_empty());
        let report = report(&circuit, "bfs", None);
        assert!(!report.hunt.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Inconclusive)));
        for ((name, length), (_, verdict, steps)) in expected.iter().zip(answers(&report)) {
            let wanted = length.map_or(Verdict::Holds, |_| Verdict::Violated);
            let context = format!("{}, {name}: {verdict:?} {steps:?}, {length:?} in the model", path.display());
            assert_eq!((verdict, steps), (wanted, length.map(|length| length + more)), "{context}");
        }
        tried += 1;
    }
    assert!(tried > 20 && several > 0, "{tried} models, {several} with several initial states");
}
