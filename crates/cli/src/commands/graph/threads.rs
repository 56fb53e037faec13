//! `birk graph --threads`: the automaton of each thread.

use std::fmt::Write as _;

use birk_ir::Program;

use crate::automata::{Automaton, automata};
use crate::cli::{GraphArgs, GraphFormat};
use crate::commands::graph::document::threads_text;
use crate::commands::graph::escape;
use crate::picture::{Picture, sheet};
use crate::source::Source;
use crate::terminal::print;
use crate::{Exit, Failure};

/// Prints the automata of the threads with this name; without a name, of all.
pub(super) fn run(args: &GraphArgs, source: &Source, program: &Program, name: &str) -> Result<Exit, Failure> {
    let slices = [("search", args.search == "highway"), ("width", args.width.is_some())];
    let slices =
        slices.into_iter().chain([("degrade-depth", args.degrade_depth.is_some()), ("seed", args.seed.is_some())]);
    if let Some((option, _)) = slices.into_iter().find(|(_, is_given)| *is_given) {
        let reason =
            format!("--{option} is about the state graph, and --threads draws the threads; leave out one of them");
        return Err(Failure::usage(reason));
    }
    let mut found = automata(source, program);
    let names: Vec<String> = found.iter().map(|automaton| automaton.name.clone()).collect();
    if !name.is_empty() {
        found.retain(|automaton| is_called(automaton, program, name));
    }
    if found.is_empty() {
        let reason = if name.is_empty() { "the model has no thread".into() } else { unknown(name, &names) };
        return Err(Failure::usage(reason));
    }
    print(&match args.format {
        GraphFormat::Dot => dot(program, &found),
        GraphFormat::Json => threads_text(source, program, &found),
        GraphFormat::Svg => {
            let pictures: Vec<Picture> = found.iter().map(|automaton| automaton.picture(program, None)).collect();
            sheet(&program.system, &pictures)
        }
        GraphFormat::Aut => {
            let reason = "Aldebaran files have no guards and no actions; use dot, json or svg with --threads";
            return Err(Failure::usage(reason));
        }
        #[cfg(feature = "native")]
        GraphFormat::Aiger | GraphFormat::Aag => {
            let reason = "a circuit is made of all threads together; leave out --threads, or use dot, json or svg";
            return Err(Failure::usage(reason));
        }
    })
}

/// By the name in the declaration, or by that of an instance.
fn is_called(automaton: &Automaton, program: &Program, name: &str) -> bool {
    automaton.name == name || automaton.instances.iter().any(|&id| program.thread(id).name == name)
}

fn unknown(name: &str, names: &[String]) -> String {
    format!("there is no thread `{name}`; the model has {}", names.join(", "))
}

fn dot(program: &Program, automata: &[Automaton]) -> String {
    let mut out = format!("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", program.system);
    for (number, automaton) in automata.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label=\"{}\";", automaton.name);
        for (location, place) in automaton.locations.iter().enumerate() {
            let style = if location == automaton.initial { ", style=bold" } else { "" };
            let lines = std::iter::once(place.name.as_str()).chain(place.labels.iter().copied());
            let label = lines.collect::<Vec<_>>().join("\\n");
            let _ = writeln!(out, "    t{number}_{location} [label=\"{}\"{style}];", escape(&label));
        }
        for edge in &automaton.edges {
            let guard = edge.guard.iter().map(|guard| format!("[{guard}]"));
            let label = guard.chain(edge.actions.iter().cloned()).collect::<Vec<_>>().join("\\n");
            let _ =
                writeln!(out, "    t{number}_{} -> t{number}_{} [label=\"{}\"];", edge.from, edge.to, escape(&label));
        }
        out.push_str("  }\n");
    }
    out + "}\n"
}
