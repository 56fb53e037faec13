//! `birk graph`: the state graph, or the threads' automata, as pictures and in the formats of other tools.

#[cfg(feature = "native")]
mod circuit;
pub(crate) mod document;
mod drawn;
mod threads;

use std::collections::HashMap;
use std::fmt::Write as _;

use birk::search::highway::{DEGRADE_DEPTH, Highway, Slice, WIDTH};
use birk_engine::{Job, Limits, Model, Patient, Successors, Value};
use birk_exec::{Interpreter, Replayed};
use birk_ir::{FaultId, Program, TransitionId, View};

use crate::cli::{GraphArgs, GraphFormat};
use crate::load::load;
use crate::numbers::count;
use crate::terminal::print;
use crate::{Exit, Failure, say};

/// Larger pictures are of no use to anybody.
const MAX_DRAWN: usize = 400;
/// On a slide, more states than this cannot be read.
const MAX_SLIDE: usize = 60;

/// A state graph: states in breadth-first order, from which state each was met first, and edges.
struct Graph {
    /// So many at the beginning are initial states.
    initial: usize,
    states: Vec<Vec<u32>>,
    parents: Vec<Option<usize>>,
    edges: Vec<(usize, TransitionId, usize)>,
}

/// Runs the command.
pub(crate) fn run(args: &GraphArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    if let Some(name) = &args.threads {
        return threads::run(args, &source, &program, name);
    }
    #[cfg(feature = "native")]
    if let GraphFormat::Aiger | GraphFormat::Aag = args.format {
        return circuit::run(args, &program);
    }
    let slice = slice(&program, args)?;
    let Some(graph) = build(&program, args.max_states, slice.as_ref()) else {
        let what = if slice.is_some() { "slice" } else { "model" };
        return Err(Failure::usage(format!(
            "the {what} has more than {} states, more than a picture shows; raise --max-states, or lower a constant with -D",
            args.max_states
        )));
    };
    print(&match args.format {
        GraphFormat::Dot => dot(&program, &graph),
        GraphFormat::Aut if graph.initial > 1 => {
            let states = count(graph.initial as u64, "initial state");
            return Err(Failure::usage(format!(
                "aut files have one initial state, and the model has {states}; use dot, json or svg"
            )));
        }
        GraphFormat::Aut => aut(&program, &graph),
        GraphFormat::Json => document::graph_text(&program, &graph),
        GraphFormat::Svg => svg(&program, &graph)?,
        #[cfg(feature = "native")]
        GraphFormat::Aiger | GraphFormat::Aag => unreachable!("a circuit is written without its state graph"),
    })
}

/// The part that is drawn, if not everything.
fn slice(program: &Program, args: &GraphArgs) -> Result<Option<Slice>, Failure> {
    if args.search != "highway" {
        let given = [("width", args.width.is_some()), ("degrade-depth", args.degrade_depth.is_some())];
        return match given.into_iter().chain([("seed", args.seed.is_some())]).find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(Failure::usage(format!("--{name} is about slices; leave it out, or use --search highway")))
            }
            None => Ok(None),
        };
    }
    // One state more than are drawn shows that there are too many.
    let limits = Limits { states: args.max_states, ..Limits::NONE };
    let mut job = Job { keep_going: true, seed: args.seed.unwrap_or(0), ..Job::new(0, limits) };
    let said = [(&WIDTH, args.width), (&DEGRADE_DEPTH, args.degrade_depth)];
    for (option, value) in said.into_iter().filter_map(|(option, value)| Some((option, value?))) {
        job.options.set(option, Value::Number(u64::from(value)));
    }
    Ok(Some(Highway::of(&job).slice(&Interpreter::new(program, &[]), &job, &mut Patient).1))
}

fn build(program: &Program, max_states: u64, slice: Option<&Slice>) -> Option<Graph> {
    let whole = Interpreter::new(program, &[]);
    let sliced = slice.map(|slice| slice.of(&whole));
    let model: &dyn Model = sliced.as_ref().map_or(&whole, |sliced| sliced);
    let mut batch = Successors::new(model.words());
    let states = program.initial_states();
    let mut numbers: HashMap<Vec<u32>, usize> = states.iter().cloned().zip(0..).collect();
    let mut graph = Graph { initial: states.len(), parents: vec![None; states.len()], states, edges: Vec::new() };
    let mut next = 0;
    while next < graph.states.len() {
        batch.clear();
        model.successors(&graph.states[next], &mut batch);
        for i in 0..batch.len() {
            let number = *numbers.entry(batch.state(i).to_vec()).or_insert_with(|| {
                graph.states.push(batch.state(i).to_vec());
                graph.parents.push(Some(next));
                graph.states.len() - 1
            });
            graph.edges.push((next, batch.step(i).transition, number));
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
    let view = program.view();
    for (number, state) in graph.states.iter().enumerate() {
        let lines = lines(&view, state);
        let style = match (program.is_faulty(state), number) {
            (true, _) => ", color=red",
            (false, number) if number < graph.initial => ", style=bold",
            _ => "",
        };
        let _ = writeln!(out, "  {number} [label=\"{}\\l\"{style}];", escape(&lines.join("\\l")));
    }
    for (from, transition, to) in &graph.edges {
        let _ = writeln!(out, "  {from} -> {to} [label=\"{}\"];", escape(&program.transition_text(*transition)));
    }
    out.push_str("}\n");
    out
}

/// A line for each value of a state.
fn lines(view: &View<'_>, state: &[u32]) -> Vec<String> {
    view.show(state).leaves().into_iter().map(|(name, value)| format!("{name} = {value}")).collect()
}

/// A picture, unless it would be too large; if it is too large for a slide, that is said.
fn svg(program: &Program, graph: &Graph) -> Result<String, Failure> {
    const SMALLER: &str = "lower a constant with -D, draw a slice of it (--search highway --width N), or look at a part of it with \
                           `birk explore`";
    let states = graph.states.len();
    if states > MAX_DRAWN {
        return Err(Failure::usage(format!(
            "{states} states are more than a picture of {MAX_DRAWN} shows; let Graphviz draw it (--format dot), {SMALLER}"
        )));
    }
    if states > MAX_SLIDE {
        say(&format!(
            "birk: {states} states are more than {MAX_SLIDE}, the most that can be read on a slide; {SMALLER}"
        ));
    }
    Ok(drawn::sheet_of(program, graph))
}

/// The names of the properties that a state violates, or reaches.
fn decided<'p>(program: &'p Program, state: &[u32], reached: bool) -> Vec<&'p str> {
    let end = Replayed {
        initial: 0,
        states: vec![state.to_vec()],
        steps: Vec::new(),
        ordinals: Vec::new(),
        // Which check failed is not asked here, only that one did.
        fault: program.is_faulty(state).then_some(FaultId(0)),
        loop_start: None,
        refused: None,
    };
    let asked = program.properties.iter().filter(|property| property.wants_goal() == reached);
    asked.filter(|property| end.confirm(program, property).is_ok()).map(|property| property.name.as_str()).collect()
}

fn aut(program: &Program, graph: &Graph) -> String {
    let mut out = format!("des (0, {}, {})\n", graph.edges.len(), graph.states.len());
    for (from, transition, to) in &graph.edges {
        let _ = writeln!(out, "({from}, \"{}\", {to})", escape(&program.transition_text(*transition)));
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('"', "\\\"")
}

/// `35 states, 75 steps`
fn extent(graph: &Graph) -> String {
    format!("{}, {}", count(graph.states.len() as u64, "state"), count(graph.edges.len() as u64, "step"))
}
