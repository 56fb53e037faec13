//! Automata as pictures for Graphviz.

use std::fmt::Write as _;

use super::buchi::Buchi;
use super::label::Label;

/// The automaton as text.
pub fn write(automaton: &Buchi, title: &str) -> String {
    let mut labels = automaton.labels().clone();
    let mut out = format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=circle];\n", escape(title));
    for state in 0..automaton.len() {
        let shape = if automaton.is_accepting(state) { " [shape=doublecircle]" } else { "" };
        let _ = writeln!(out, "  {state}{shape};");
    }
    for (number, state) in automaton.initial().iter().enumerate() {
        let _ = writeln!(out, "  start{number} [shape=point];\n  start{number} -> {state};");
    }
    for state in 0..automaton.len() {
        for edge in automaton.edges(state) {
            let text = if edge.label == Label::TRUE {
                "true".to_owned()
            } else {
                let name = |number: usize| automaton.names()[number].clone();
                let cubes = labels.cubes(edge.label);
                let ways = cubes.iter().map(|cube| {
                    let all = (0..64).filter(|bit| (cube.positive | cube.negative) >> bit & 1 == 1);
                    let parts = all.map(|bit| {
                        let not = if cube.negative >> bit & 1 == 1 { "!" } else { "" };
                        format!("{not}{}", name(bit))
                    });
                    parts.collect::<Vec<_>>().join(" && ")
                });
                ways.collect::<Vec<_>>().join(" || ")
            };
            let _ = writeln!(out, "  {state} -> {} [label=\"{}\"];", edge.target, escape(&text));
        }
    }
    out.push_str("}\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
