//! Justice and fairness: a property is violated where an execution without an end satisfies it.

use birk_exec::Random;
use birk_ir::Verdict;

use crate::random::{circuit, rounds};
use crate::{answers, program, report};

#[test]
fn justice_is_what_happens_again_and_again() {
    let (mut found, mut absent) = (0, 0);
    for seed in 0..rounds(150) {
        let mut random = Random::new(seed + 1_000_000);
        let mut circuit = circuit(&mut random);
        let variables = circuit.variables();
        circuit.outputs.clear();
        let mut signal = || 2 + random.below(variables as usize * 2) as u32;
        circuit.justice = vec![vec![signal(), signal()], vec![signal()], Vec::new()];
        circuit.fairness = if seed % 3 == 0 { vec![signal()] } else { Vec::new() };
        let program = program("random.aag", &circuit.ascii());
        let answers = answers(&report(&program, "bfs", None));
        for (number, is_just) in circuit.is_just().into_iter().enumerate() {
            let (name, verdict, _) = &answers[circuit.bads.len() + number];
            let expected = if is_just { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(*verdict, expected, "seed {seed}, {name}\n{}", circuit.ascii());
            *if is_just { &mut found } else { &mut absent } += 1;
        }
    }
    assert!(found > 40 && absent > 40, "{found} found, {absent} not");
}
