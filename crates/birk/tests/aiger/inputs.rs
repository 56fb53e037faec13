//! Cycles with many inputs: a step is made from what a solver chose, not looked for among all outcomes.

use birk_ir::Verdict;

use crate::circuit::Circuit;
use crate::{program, report};

/// The bad is true in the cycle behind that in which all inputs were true.
fn all_set(inputs: u32) -> Circuit {
    let mut circuit = Circuit { inputs, latches: vec![(0, Some(false))], ..Circuit::default() };
    let mut all = 2;
    for input in 2..=inputs {
        circuit.gates.push((all.max(input * 2), all.min(input * 2)));
        all = circuit.variables() * 2;
    }
    circuit.latches[0].0 = all;
    circuit.bads = vec![(inputs + 1) * 2];
    circuit
}

#[test]
fn a_step_of_few_inputs_has_a_trace() {
    let program = program("few.aag", &all_set(12).ascii());
    for engine in ["ic3", "bmc"] {
        let report = report(&program, engine, None);
        let answer = &report.answers[0];
        assert_eq!((answer.verdict, answer.untraced), (Verdict::Violated, None), "{engine}");
        let steps = answer.trace.map(|trace| report.traces[trace].run.steps.len());
        assert_eq!(steps, Some(2), "{engine}");
    }
}

#[test]
fn a_step_of_many_inputs_has_a_length() {
    let program = program("many.aag", &all_set(40).ascii());
    for engine in ["ic3", "bmc"] {
        let report = report(&program, engine, None);
        let answer = &report.answers[0];
        assert_eq!((answer.verdict, answer.untraced), (Verdict::Violated, Some(2)), "{engine}");
        assert_eq!((answer.trace, report.traces.len()), (None, 0), "{engine}");
    }
}

/// Of two latches, one is set where all inputs were true, and the other where they were not.
#[test]
fn what_many_inputs_cannot_do_is_proved() {
    let all = all_set(40);
    let mut circuit = Circuit { inputs: 40, ..Circuit::default() };
    // A latch more in front of the gates.
    let moved = |literal: u32| literal + if literal >= 42 * 2 { 2 } else { 0 };
    circuit.gates = all.gates.iter().map(|&(a, b)| (moved(a), moved(b))).collect();
    let next = moved(all.latches[0].0);
    circuit.latches = vec![(next, Some(false)), (next ^ 1, Some(false))];
    circuit.gates.push((84, 82));
    circuit.bads = vec![circuit.variables() * 2];
    let report = report(&program("both.aag", &circuit.ascii()), "ic3", None);
    assert_eq!(report.answers[0].verdict, Verdict::Holds);
}
