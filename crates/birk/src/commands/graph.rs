//! `birk graph`: the state graph in the formats of other tools.

use std::collections::HashMap;
use std::fmt::Write as _;

use birk_exec::{Interpreter, Model, Successors};
use birk_ir::Program;

use crate::cli::{GraphArgs, GraphFormat};
use crate::commands::print;
use crate::source::load;
use crate::{Exit, Failure};

/// A state graph: states in breadth-first order, and edges with the transition's name.
struct Graph {
    states: Vec<Vec<u32>>,
    edges: Vec<(usize, String, usize)>,
}

/// Runs the command.
pub(crate) fn run(args: &GraphArgs) -> Result<Exit, Failure> {
    let (_, program) = load(&args.model)?;
    let Some(graph) = build(&program, args.max_states) else {
        return Err(Failure::usage(format!(
            "the model has more than {} states, more than a picture shows; raise --max-states, or lower a constant with -D",
            args.max_states
        )));
    };
    print(&match args.format {
        GraphFormat::Dot => dot(&program, &graph),
        GraphFormat::Aut => aut(&graph),
    })
}

fn build(program: &Program, max_states: u64) -> Option<Graph> {
    let model = Interpreter::new(program, &[]);
    let mut batch = Successors::new(model.words());
    let mut graph = Graph { states: vec![program.initial_state()], edges: Vec::new() };
    let mut numbers = HashMap::from([(program.initial_state(), 0)]);
    let mut next = 0;
    while next < graph.states.len() {
        batch.clear();
        model.successors(&graph.states[next], &mut batch);
        for i in 0..batch.len() {
            let number = *numbers.entry(batch.state(i).to_vec()).or_insert_with(|| {
                graph.states.push(batch.state(i).to_vec());
                graph.states.len() - 1
            });
            graph.edges.push((next, program.transition_text(batch.step(i).transition), number));
        }
        if graph.states.len() as u64 > max_states {
            return None;
        }
        next += 1;
    }
    Some(graph)
}

fn dot(program: &Program, graph: &Graph) -> String {
    let mut out = format!("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", program.system);
    for (number, state) in graph.states.iter().enumerate() {
        let values = program.state_text(state);
        let lines: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let style = match (program.is_faulty(state), number) {
            (true, _) => ", color=red",
            (false, 0) => ", style=bold",
            _ => "",
        };
        let _ = writeln!(out, "  {number} [label=\"{}\\l\"{style}];", escape(&lines.join("\\l")));
    }
    for (from, label, to) in &graph.edges {
        let _ = writeln!(out, "  {from} -> {to} [label=\"{}\"];", escape(label));
    }
    out.push_str("}\n");
    out
}

fn aut(graph: &Graph) -> String {
    let mut out = format!("des (0, {}, {})\n", graph.edges.len(), graph.states.len());
    for (from, label, to) in &graph.edges {
        let _ = writeln!(out, "({from}, \"{}\", {to})", escape(label));
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('"', "\\\"")
}
