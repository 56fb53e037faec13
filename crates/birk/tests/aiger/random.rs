//! Random circuits: every engine agrees with brute force, and both forms of a file give the same program.

use birk_exec::Random;
use birk_ir::{Program, Verdict};

use crate::circuit::Circuit;
use crate::{answers, program, report};

/// So many circuits, unless the environment gives another number (`BIRK_AGREEMENT`).
pub(crate) fn rounds(usually: u64) -> u64 {
    std::env::var("BIRK_AGREEMENT").map_or(usually, |number| number.parse().expect("a number"))
}

/// A literal of a variable that is there already.
fn literal(random: &mut Random, variables: u32) -> u32 {
    random.below(variables as usize * 2 + 2) as u32
}

/// A literal that is hardly ever constant.
fn signal(random: &mut Random, variables: u32) -> u32 {
    2 + random.below(variables as usize * 2) as u32
}

/// A circuit; with constraints in a third of the cases, with latches without a reset value in another.
pub(crate) fn circuit(random: &mut Random) -> Circuit {
    let mut circuit = Circuit { inputs: random.below(4) as u32, ..Circuit::default() };
    let latches = 1 + random.below(6) as u32;
    let is_open = random.below(3) == 0;
    for number in circuit.inputs + latches + 1..circuit.inputs + latches + 3 + random.below(24) as u32 {
        let recent = |random: &mut Random| match random.below(3) {
            0 => literal(random, number - 1),
            _ => signal(random, (number - 1).min(8)) + (number - 1).saturating_sub(8) * 2,
        };
        let (a, b) = (recent(random), recent(random));
        circuit.gates.push((a.max(b), a.min(b)));
    }
    let variables = circuit.inputs + latches + circuit.gates.len() as u32;
    for _ in 0..latches {
        let reset = match random.below(4) {
            0 if is_open => None,
            1 => Some(true),
            _ => Some(false),
        };
        circuit.latches.push((literal(random, variables), reset));
    }
    // A conjunction is true more seldom: then it takes longer to be reached.
    let rare = |random: &mut Random, circuit: &mut Circuit| {
        let (a, b) = (signal(random, circuit.variables()), signal(random, circuit.variables()));
        circuit.gates.push((a.max(b), a.min(b)));
        circuit.variables() * 2
    };
    let bads = 1 + random.below(3);
    let bads: Vec<u32> = (0..bads).map(|_| rare(random, &mut circuit)).collect();
    if random.below(4) == 0 {
        circuit.outputs = bads;
    } else {
        circuit.bads = bads;
    }
    if !circuit.bads.is_empty() && random.below(3) == 0 {
        for _ in 0..1 + random.below(2) {
            // A disjunction leaves something over.
            let constraint = rare(random, &mut circuit) ^ 1;
            circuit.constraints.push(constraint);
        }
    }
    circuit
}

/// Whatever a program is but for places in the text.
pub(crate) fn placeless(program: &Program) -> String {
    let transitions: Vec<_> = program.transitions.iter().map(|t| (&t.guard, &t.ops, t.location, t.target)).collect();
    let variables: Vec<_> = program.variables.iter().map(|v| (&v.name, v.lo, v.hi, &v.initial)).collect();
    let properties: Vec<_> = program.properties.iter().map(|p| (&p.name, format!("{:?}", p.kind))).collect();
    format!("{transitions:?} {variables:?} {properties:?} {:?}", program.threads)
}

#[test]
fn engines_agree_with_brute_force() {
    let (mut reached, mut absent, mut longest) = (0, 0, 0);
    for seed in 0..rounds(150) {
        let circuit = circuit(&mut Random::new(seed));
        let text = circuit.ascii();
        let program = program("random.aag", &text);
        assert_eq!(
            placeless(&program),
            placeless(&crate::program("random.aig", &circuit.binary())),
            "seed {seed}\n{text}"
        );
        // Latches without a reset value are chosen in a step of their own.
        let power = usize::from(circuit.latches.iter().any(|(_, reset)| reset.is_none()));
        let expected: Vec<_> = circuit.distances().into_iter().map(|far| far.map(|far| far + power)).collect();
        for engine in ["bfs", "dfs", "ic3", "bdd", "bmc"] {
            let max_depth = (engine == "bmc").then_some(70);
            for ((name, verdict, steps), &expected) in
                answers(&report(&program, engine, max_depth)).iter().zip(&expected)
            {
                let context = format!("seed {seed}, {engine}, {name}: {verdict:?} {steps:?} {expected:?}\n{text}");
                match expected {
                    Some(far) if ["dfs", "ic3"].contains(&engine) => {
                        assert!(*verdict == Verdict::Violated && *steps >= Some(far), "{context}");
                    }
                    Some(far) => assert_eq!((*verdict, *steps), (Verdict::Violated, Some(far)), "{context}"),
                    None if engine == "bmc" => assert_ne!(*verdict, Verdict::Violated, "{context}"),
                    None => assert_eq!(*verdict, Verdict::Holds, "{context}"),
                }
            }
        }
        reached += expected.iter().flatten().count();
        absent += expected.iter().filter(|far| far.is_none()).count();
        longest = longest.max(expected.iter().flatten().copied().max().unwrap_or(0));
    }
    assert!(reached > 60 && absent > 40 && longest > 3, "{reached} reached, {absent} not, at most {longest} steps");
}
