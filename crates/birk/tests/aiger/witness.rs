//! Witness circuits: brute force over all states and inputs finds that they are about the circuit, and inductive.

use birk::certificate::of_circuit;
use birk::{Form, Report};
use birk_exec::Random;
use birk_ir::{Program, Verdict};

use crate::circuit::{Circuit, is_set};
use crate::random::{circuit, placeless, rounds};
use crate::{program, report};

/// The witness of a circuit, if all its bads are excluded.
fn witness(text: &str, program: &Program, report: &Report) -> Option<Circuit> {
    let written = |form| of_circuit(text, program, report, form);
    if report.answers.iter().any(|answer| answer.verdict != Verdict::Holds) {
        assert!(written(Form::Ascii).is_err(), "nothing is proved");
        return None;
    }
    let ascii = String::from_utf8(written(Form::Ascii).expect("all bads are excluded")).expect("it is a text");
    let binary: String = written(Form::Binary).expect("all bads are excluded").into_iter().map(char::from).collect();
    let [one, other] =
        [("witness.aag", &ascii), ("witness.aig", &binary)].map(|(name, text)| placeless(&crate::program(name, text)));
    assert_eq!(one, other);
    Some(Circuit::of_ascii(&ascii))
}

/// Which of the conditions a witness does not meet.
fn flaws(circuit: &Circuit, witness: &Circuit) -> Vec<&'static str> {
    assert_eq!((circuit.inputs, witness.bads.len()), (witness.inputs, 1));
    let resets = |circuit: &Circuit| circuit.latches.iter().map(|(_, reset)| *reset).collect::<Vec<_>>();
    let mut flaws = Vec::new();
    let mut must = |condition: bool, flaw| {
        if !condition && !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    };
    must(resets(circuit) == resets(witness), "reset");
    let bads = if circuit.bads.is_empty() { &circuit.outputs } else { &circuit.bads };
    let initial = witness.initial();
    let is_kept = |circuit: &Circuit, values: &[bool]| circuit.constraints.iter().all(|one| is_set(values, *one));
    for state in 0..1 << circuit.latches.len() {
        for inputs in 0..1 << circuit.inputs {
            let (values, of_witness) = (circuit.values(state, inputs), witness.values(state, inputs));
            let is_safe = !is_set(&of_witness, witness.bads[0]);
            must(circuit.next(&values) == witness.next(&of_witness), "transition");
            must(is_kept(circuit, &values) == is_kept(witness, &of_witness), "constraint");
            if !is_kept(witness, &of_witness) {
                continue;
            }
            must(!is_safe || !bads.iter().any(|bad| is_set(&values, *bad)), "safety");
            must(is_safe || !initial.contains(&state), "base");
            let next = witness.next(&of_witness);
            let is_safe_then = |inputs| {
                let then = witness.values(next, inputs);
                !is_kept(witness, &then) || !is_set(&then, witness.bads[0])
            };
            must(!is_safe || (0..1 << witness.inputs).all(is_safe_then), "step");
        }
    }
    flaws
}

#[test]
fn witnesses_are_inductive() {
    let (mut found, mut open, mut bent) = (0, 0, 0);
    for seed in 0..rounds(200) {
        let circuit = circuit(&mut Random::new(seed));
        let text = circuit.ascii();
        let program = program("random.aag", &text);
        let Some(mut witness) = witness(&text, &program, &report(&program, "ic3", None)) else { continue };
        assert_eq!(flaws(&circuit, &witness), [""; 0], "seed {seed}\n{text}\n{}", witness.ascii());
        found += 1;
        open += usize::from(witness.latches.iter().any(|(_, reset)| reset.is_none()));
        // The gate that is the witness, with one of its inputs turned round.
        if let Some((a, _)) = witness.gates.last_mut().filter(|_| witness.bads[0] > 1) {
            *a ^= 1;
            bent += usize::from(!flaws(&circuit, &witness).is_empty());
        }
    }
    assert!(found > 30 && open > 5 && bent > 10, "{found} witnesses, {open} of latches without a reset, {bent} bent");
}

#[test]
fn what_is_not_proved_has_no_witness() {
    let shift = "aag 3 1 2 0 0 1\n2\n4 2\n6 4\n6\n";
    let shifts = program("shift.aag", shift);
    assert!(of_circuit(shift, &shifts, &report(&shifts, "ic3", None), Form::Ascii).is_err(), "the bad is reached");
    let stuck = "aag 1 0 1 0 0 1\n2 2\n2\n";
    let stays = program("stuck.aag", stuck);
    let reason = of_circuit(stuck, &stays, &report(&stays, "bfs", None), Form::Ascii).expect_err("no invariant");
    assert!(reason.contains("--search ic3"), "{reason}");
    let just = "aag 1 0 1 0 0 1 0 1 0\n2 2\n2\n1\n2\n";
    let justice = program("just.aag", just);
    let report = crate::report_of(&justice, "ic3", None, |property| property.name == "b0");
    assert!(of_circuit(just, &justice, &report, Form::Ascii).is_err(), "a justice property is not asked for");
}
