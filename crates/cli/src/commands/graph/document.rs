//! Graphs and automata for programs. The types here are their schema (`birk schema`); the manual describes every field.

use std::collections::BTreeMap;

use birk_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;

use crate::automata::{Automaton, Edge, Place};
use crate::commands::graph::{Graph, decided};
use crate::report::json::{Fields, constants};
use crate::source::Source;

/// What `birk graph --format json` writes.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphReport {
    schema: u32,
    system: String,
    constants: Fields,
    /// So many states, from 0 on, are initial.
    initial: usize,
    /// In breadth-first order.
    states: Vec<StateReport>,
    edges: Vec<StepReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct StateReport {
    #[schemars(with = "BTreeMap<String, String>")]
    values: Fields,
    /// Properties that are violated here.
    violated: Vec<String>,
    /// Properties of which this is a witness.
    reached: Vec<String>,
}

/// A step between two states, given by their numbers.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct StepReport {
    from: usize,
    to: usize,
    thread: String,
    transition: String,
}

/// What `birk graph --threads --format json` writes.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreadsReport {
    schema: u32,
    system: String,
    threads: Vec<ThreadReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct ThreadReport {
    name: String,
    instances: Vec<String>,
    /// Position among the locations.
    initial: usize,
    locations: Vec<LocationReport>,
    edges: Vec<EdgeReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct LocationReport {
    name: String,
    /// `end`, `accept`, `progress`
    labels: Vec<&'static str>,
}

/// A guarded command between two locations, given by their positions.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct EdgeReport {
    from: usize,
    to: usize,
    guard: Option<String>,
    actions: Vec<String>,
    file: String,
    line: usize,
    /// Of each instance at least one; where it receives at a rendezvous, those of the senders.
    transitions: Vec<String>,
}

/// The state graph as text, with a line feed at its end.
pub(super) fn graph_text(program: &Program, graph: &Graph) -> String {
    let view = program.view();
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let state = |state: &Vec<u32>| {
        let shown = view.show(state);
        let values = shown.leaves().into_iter().map(|(name, value)| (name, value.to_string().into()));
        StateReport {
            values: values.collect(),
            violated: names(decided(program, state, false)),
            reached: names(decided(program, state, true)),
        }
    };
    let step = |&(from, id, to): &(usize, birk_ir::TransitionId, usize)| {
        let thread = program.thread(program.transition(id).thread).name.clone();
        StepReport { from, to, thread, transition: program.transition_text(id) }
    };
    text(&GraphReport {
        schema: 1,
        system: program.system.clone(),
        constants: constants(program),
        initial: graph.initial,
        states: graph.states.iter().map(state).collect(),
        edges: graph.edges.iter().map(step).collect(),
    })
}

/// Automata as text, with a line feed at its end.
pub(super) fn threads_text(source: &Source, program: &Program, automata: &[Automaton]) -> String {
    let location = |place: &Place| LocationReport { name: place.name.clone(), labels: place.labels.clone() };
    let edge = |edge: &Edge| EdgeReport {
        from: edge.from,
        to: edge.to,
        guard: edge.guard.clone(),
        actions: edge.actions.clone(),
        file: source.file(edge.span).path.clone(),
        line: source.position(edge.span).0,
        transitions: edge.transitions.iter().map(|&id| program.transition_text(id)).collect(),
    };
    let thread = |automaton: &Automaton| ThreadReport {
        name: automaton.name.clone(),
        instances: automaton.instances.iter().map(|&id| program.thread(id).name.clone()).collect(),
        initial: automaton.initial,
        locations: automaton.locations.iter().map(location).collect(),
        edges: automaton.edges.iter().map(edge).collect(),
    };
    text(&ThreadsReport { schema: 1, system: program.system.clone(), threads: automata.iter().map(thread).collect() })
}

fn text(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("the document has only string keys") + "\n"
}
