//! Native code against the interpreter, state by state, on the whole corpus.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::PathBuf;

use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, goal_of};
use birk_ir::{Goal, Program};
use birk_jit::Compiled;

/// States examined in each model.
const STATES: usize = 3000;

fn goals(program: &Program) -> Vec<Goal> {
    program.properties.iter().filter_map(|property| goal_of(program, property)).collect()
}

/// Walks the state space breadth-first with the interpreter and compares what both models say of every state.
fn compare(name: &str, program: &Program) -> usize {
    let goals = goals(program);
    let oracle = Interpreter::new(program, &goals);
    let native = Compiled::new(program, &goals).expect("this machine can compile");
    let written: Vec<Vec<u32>> = (0..oracle.transitions()).map(|t| oracle.written(t).expect("known")).collect();
    let (mut expected, mut found) = (Successors::new(oracle.words()), Successors::new(native.words()));
    let mut queue = VecDeque::from([program.initial_state()]);
    let mut seen = HashSet::from([program.initial_state()]);
    let mut compared = 0;
    while let Some(state) = queue.pop_front() {
        expected.clear();
        found.clear();
        oracle.successors(&state, &mut expected);
        native.successors(&state, &mut found);
        let here = || format!("{name}: {:?}", program.state_text(&state));
        assert_eq!(found.len(), expected.len(), "number of successors of {}", here());
        assert_eq!(found.cut, expected.cut, "cut outcomes of {}", here());
        for i in 0..expected.len() {
            assert_eq!(found.step(i), expected.step(i), "step {i} of {}", here());
            let written = &written[expected.step(i).transition.index()];
            let kept = |word: usize| written.contains(&(word as u32)) || expected.state(i)[word] == state[word];
            assert!((0..state.len()).all(kept), "step {i} of {} writes only what it says", here());
            if found.state(i) != expected.state(i) {
                let by = program.transition_text(expected.step(i).transition);
                let texts = (program.state_text(found.state(i)), program.state_text(expected.state(i)));
                panic!("successor {i} by {by} of {}: {} instead of {}", here(), show(&texts.0), show(&texts.1));
            }
        }
        for stuck in [false, true] {
            assert_eq!(native.evaluate(&state, stuck), oracle.evaluate(&state, stuck), "goals of {}", here());
        }
        compared += 1;
        for i in 0..expected.len() {
            if seen.len() < STATES && seen.insert(expected.state(i).to_vec()) {
                queue.push_back(expected.state(i).to_vec());
            }
        }
    }
    assert_eq!(native.assumed(), oracle.assumed(), "{name}: transitions that assumptions cut");
    compared
}

fn show(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value} ")).collect()
}

fn load(text: &str) -> Program {
    let loaded = birk_lang::load(text, &[]);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

#[test]
fn native_code_agrees_with_the_interpreter_on_the_corpus() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut compared = 0;
    for entry in fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "bir") {
            let text = fs::read_to_string(&path).expect("readable");
            compared += compare(&path.display().to_string(), &load(&text));
        }
    }
    assert!(compared > 10_000, "only {compared} states were compared");
}

/// Arrays over several words with indices known only at run time, read after being written, before and after a choice.
const ARRAYS: &str = "
system Arrays {
  typealias Digit int (-2, 4);
  Digit[29] wide := 1;
  byte[3] narrow;
  int (0, 28) i := 3;
  int (0, 28) j;
  boolean[40] flags;
  int (0, 1) tail;
  active thread Writer() {
    loc a:
      do { wide[i] := wide[(i + 1) % 29] + 1; wide[7] := -2; j := wide[i] + 2; i := (i + 5) % 29; } goto b;
      when wide[j] > 3 do { wide[j] := 0; flags[i + j - j] := !flags[i]; } goto a;
    loc b:
      do { flags[j] := true; i := choose(0, 3); wide[i] := choose(-2, 2); narrow[i % 3] := narrow[i % 3] + 100; tail := 1 - tail; } goto a;
      when exists (k : 0 .. 28) wide[k] == 4 do { narrow[j % 3] := wide[j] / (i - 2); } goto b;
      when forall (k : 0 .. i) wide[k] <= 1 || flags[k] do { j := i; narrow[0] := narrow[1] * 3; assume narrow[0] != 44; } goto a;
  }
  invariant small: forall (k : 0 .. 28) wide[k] < 4 => flags[k] || i != j;
}";

#[test]
fn native_code_agrees_with_the_interpreter_on_arrays() {
    let program = load(ARRAYS);
    assert!(compare("arrays", &program) >= 1000);
}

#[test]
fn a_state_of_many_words_is_copied_whole() {
    let text = "system Large {
      byte[3000] a; int (0, 2999) i; byte b;
      active thread T() {
        loc l:
          do { a[i] := a[i] + 7; i := (i * 7 + 13) % 3000; b := b + 1; } goto m;
        loc m:
          when b < 200 do { a[2999] := b; a[i] := a[2999] + 1; b := choose(0, 40); } goto l;
      }
    }";
    assert!(compare("large", &load(text)) >= 1000);
}

#[test]
fn every_value_of_a_choice_starts_from_the_same_state() {
    // Elements are written at places known only then, and read again: before, between and behind the choices.
    let text = "system Choices {
      byte[9] a; int (0, 8) i; int (0, 8) j; byte b;
      active thread T() {
        loc l:
          do { a[i] := b; j := choose(1, 3); a[j] := a[i] + 1; i := a[j] % 9; a[i] := 2; } goto m;
          do { a[i] := 1; b := a[0]; i := choose(0, 2); a[i] := a[i] + a[j]; j := choose(3, 5); a[j] := a[i]; b := a[j] + a[1]; } goto m;
        loc m:
          do { i := choose(0, 1); a[i] := 7; j := a[i] - 7; j := choose(0, 1); b := a[j]; a[j] := a[j] / 2; b := b + a[j]; } goto l;
      }
    }";
    assert!(compare("choices", &load(text)) >= 1000);
}
