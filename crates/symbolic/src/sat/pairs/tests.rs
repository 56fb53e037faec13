//! Programs by hand, and what must not be supposed of them.

use std::collections::HashSet;

use birk_engine::Patient;
use birk_ir::interval::reachable;

use super::*;
use crate::sat::ic3::tests::load;

/// The pairs of a program, as text; that no state which can be reached has one is made sure of by visiting all.
fn pairs(text: &str) -> HashSet<String> {
    let program = load(text);
    let mut patient = Patient;
    let watch = Watch::new(&mut patient, u64::MAX);
    let pairs = never_together(&program, &reachable(&program).variables, &watch).expect("nobody ends it");
    let interpreter = Interpreter::new(&program, &[]);
    let mut out = Successors::new(interpreter.words());
    interpreter.initial(&mut out);
    let mut open: Vec<Vec<u32>> = (0..out.len()).map(|at| out.state(at).to_vec()).collect();
    let mut seen: HashSet<Vec<u32>> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let is = |&(variable, element, value): &Atom| program.layout.slot(variable).get(&state, element) == value;
        let shown = pairs.iter().find(|[one, other]| is(one) && is(other));
        assert_eq!(shown, None, "{state:?}");
        out.clear();
        interpreter.successors(&state, &mut out);
        open.extend((0..out.len()).map(|at| out.state(at).to_vec()).filter(|state| seen.insert(state.clone())));
    }
    let name = |(variable, element, value): Atom| format!("{}[{element}]={value}", program.variable(variable).name);
    pairs.iter().map(|pair| pair.map(name).join(" ")).collect()
}

const LOCK: &str = "system Lock { boolean taken;
    active[2] thread T() {
        loc out: when !taken do { taken := true; } goto in;
        loc in: do { taken := false; } goto out;
    } }";

#[test]
fn what_excludes_each_other_is_found() {
    let found = pairs(LOCK);
    assert!(found.len() >= 3 && found.iter().any(|pair| pair.matches('@').count() == 2), "{found:?}");
    assert!(found.iter().any(|pair| pair.contains("taken[0]=0")), "{found:?}");
}

/// What the first states and random executions do not show is given up where a step leads to it.
#[test]
fn what_is_far_away_is_not_supposed() {
    let far = "system Far { int (0, 100000) at; boolean end;
        active thread T() { loc go: when at < 100000 do { at := at + 1; } goto go; when at == 100000 do { end := true; } goto done;
            loc done: do { } return; } }";
    let program = load(far);
    let mut patient = Patient;
    let watch = Watch::new(&mut patient, u64::MAX);
    let pairs = never_together(&program, &reachable(&program).variables, &watch).expect("nobody ends it");
    let end = program.variables.iter().position(|variable| variable.name == "end").expect("it is there");
    let is_end = |pair: &&Pair| pair[0] == pair[1] && pair[0] == (VarId::new(end), 0, 1);
    assert_eq!(pairs.iter().find(is_end), None, "{pairs:?}");
}

/// There are more initial states than are visited, and the last one alone has it.
#[test]
fn all_initial_states_are_shown() {
    let many =
        "system Many { int (0, 15) a := choose(0, 15); int (0, 15) b := choose(0, 15); int (0, 15) c := choose(0, 15);
        active thread T() { loc l: when a == 15 do { a := 15; } goto l; } }";
    assert_eq!(pairs(many), HashSet::new());
}

/// In a solver that questions share.
#[test]
fn what_one_question_knows_the_next_does_not() {
    let program = load(LOCK);
    let mut patient = Patient;
    let (watch, ranges) = (Watch::new(&mut patient, u64::MAX), reachable(&program).variables);
    let pairs = never_together(&program, &ranges, &watch).expect("nobody ends it");
    let circuit = Circuit::new(&watch);
    let frame = Frame::any(&circuit, &program, &ranges).expect("nobody ends it");
    let apart = frame.apart(&pairs).expect("nobody ends it");
    for pair in &pairs {
        let [one, other] = pair.map(|atom| frame.is(atom).expect("nobody ends it"));
        let answer = |assumed: &[Literal]| circuit.solve(assumed, None).expect("nobody ends it");
        assert_eq!((answer(&[one, other, apart]), answer(&[one, other])), (Some(false), Some(true)), "{pair:?}");
    }
}
