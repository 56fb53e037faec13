//! Automata in the Hanoi Omega-Automata format, version 1 (Babiak et al., CAV 2015).

mod read;

use std::fmt::Write as _;

use super::buchi::{Buchi, Strength};
use super::label::Label;

pub use read::read;

/// The automaton as text.
pub fn write(automaton: &Buchi, name: &str) -> String {
    let mut labels = automaton.labels().clone();
    let mut out = String::from("HOA: v1\n");
    let _ = writeln!(out, "name: \"{}\"", escape(name));
    let _ = writeln!(out, "tool: \"birk\" \"{}\"", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, "States: {}", automaton.len());
    for state in automaton.initial() {
        let _ = writeln!(out, "Start: {state}");
    }
    let names: String = automaton.names().iter().map(|name| format!(" \"{}\"", escape(name))).collect();
    let _ = writeln!(out, "AP: {}{names}", automaton.names().len());
    out.push_str("acc-name: Buchi\nAcceptance: 1 Inf(0)\n");
    let strength = match automaton.strength() {
        Strength::Terminal => " terminal",
        Strength::Weak => " weak",
        Strength::General => "",
    };
    let _ = writeln!(out, "properties: trans-labels explicit-labels state-acc{strength}\n--BODY--");
    for state in 0..automaton.len() {
        let mark = if automaton.is_accepting(state) { " {0}" } else { "" };
        let _ = writeln!(out, "State: {state}{mark}");
        for edge in automaton.edges(state) {
            let text = if edge.label == Label::TRUE {
                "t".to_owned()
            } else {
                let ways = labels.cubes(edge.label).into_iter().map(|cube| {
                    let all = (0..64).filter(|bit| (cube.positive | cube.negative) >> bit & 1 == 1);
                    let parts = all.map(|bit| format!("{}{bit}", if cube.negative >> bit & 1 == 1 { "!" } else { "" }));
                    parts.collect::<Vec<_>>().join("&")
                });
                ways.collect::<Vec<_>>().join(" | ")
            };
            let _ = writeln!(out, "[{text}] {}", edge.target);
        }
    }
    out.push_str("--END--\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
