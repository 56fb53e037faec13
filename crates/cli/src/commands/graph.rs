//! `birk graph`: the state graph in the formats of other tools.

use std::collections::HashMap;
use std::fmt::Write as _;

use birk::search::highway::{DEGRADE_DEPTH, Highway, Slice, WIDTH};
use birk_engine::{Job, Limits, Model, Patient, Successors, Value};
use birk_exec::{Interpreter, Replayed};
use birk_ir::{FaultId, Program, View};

use crate::cli::{GraphArgs, GraphFormat};
use crate::load::load;
use crate::report::html;
use crate::terminal::print;
use crate::{Exit, Failure, graph_layout};

/// Larger pictures are of no use to anybody.
const MAX_DRAWN: usize = 400;

/// A state graph: states in breadth-first order, and edges with the transition's name.
struct Graph {
    states: Vec<Vec<u32>>,
    edges: Vec<(usize, String, usize)>,
}

/// Runs the command.
pub(crate) fn run(args: &GraphArgs) -> Result<Exit, Failure> {
    let (_, program) = load(&args.model)?;
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
        GraphFormat::Aut => aut(&graph),
        GraphFormat::Svg if graph.states.len() > MAX_DRAWN => {
            return Err(Failure::usage(format!(
                "{} states are more than a picture of {MAX_DRAWN} shows; let Graphviz draw it (--format dot), look at a \
                 part of it with `birk explore`, or lower a constant with -D",
                graph.states.len()
            )));
        }
        GraphFormat::Svg => svg(&program, &graph),
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
    let view = program.view();
    for (number, state) in graph.states.iter().enumerate() {
        let lines = lines(&view, state);
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

/// A line for each value of a state.
fn lines(view: &View<'_>, state: &[u32]) -> Vec<String> {
    view.show(state).leaves().into_iter().map(|(name, value)| format!("{name} = {value}")).collect()
}

/// A picture: states in layers by their distance from the initial one.
fn svg(program: &Program, graph: &Graph) -> String {
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|(from, _, to)| (*from, *to)).collect();
    let view = program.view();
    let texts: Vec<Vec<String>> = graph.states.iter().map(|state| lines(&view, state)).collect();
    let widest = texts.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let rows = texts.iter().map(Vec::len).max().unwrap_or(0);
    let size @ (wide, high) = (widest as f64 * 7.3 + 16.0, rows as f64 * 15.0 + 12.0);
    let places: Vec<(f64, f64)> = graph_layout::places(graph.states.len(), &edges)
        .into_iter()
        .map(|(layer, x)| (12.0 + x * (wide + 28.0), 12.0 + layer as f64 * (high + 56.0)))
        .collect();
    let right = places.iter().map(|place| place.0).fold(0.0, f64::max) + wide + 60.0;
    let bottom = places.iter().map(|place| place.1).fold(0.0, f64::max) + high + 12.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{right:.0}\" height=\"{bottom:.0}\" \
         font-family=\"monospace\" font-size=\"12\">\n<title>{}</title>\n<defs><marker id=\"tip\" markerWidth=\"8\" \
         markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        html::escape(&program.system)
    );
    let labels = draw_edges(graph, &places, size, &mut out);
    draw_states(program, graph, &texts, (&places, size), &mut out);
    out + &labels + "</svg>\n"
}

/// Draws the edges; returns the labels, which go on top of everything.
fn draw_edges(graph: &Graph, places: &[(f64, f64)], (wide, high): (f64, f64), out: &mut String) -> String {
    let mut labels = String::new();
    for (from, label, to) in &graph.edges {
        let ((ax, ay), (bx, by)) = (places[*from], places[*to]);
        let (side, other) = (ax + wide, bx + wide);
        let path = if from == to {
            format!("M{side:.1} {:.1}c34 -6 34 22 0 16", ay + high / 2.0 - 8.0)
        } else if by > ay {
            let (x1, y1, x2) = (ax + wide / 2.0, ay + high, bx + wide / 2.0);
            format!("M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {by:.1}", y1 + 30.0, by - 30.0)
        } else {
            let (y1, y2) = (ay + high / 2.0, by + high / 2.0);
            format!("M{side:.1} {y1:.1}C{:.1} {y1:.1} {:.1} {y2:.1} {other:.1} {y2:.1}", side + 40.0, other + 40.0)
        };
        let _ = writeln!(
            out,
            "<path class=\"edge\" d=\"{path}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#tip)\"><title>{}</title></path>",
            html::escape(label)
        );
        if by > ay {
            let (x, y) = ((ax + bx + wide) / 2.0, f64::midpoint(ay + high, by) + 4.0);
            let label = html::escape(label);
            labels +=
                &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"10\" text-anchor=\"middle\">{label}</text>\n");
        }
    }
    labels
}

/// Draws the boxes of the states with their values.
fn draw_states(
    program: &Program,
    graph: &Graph,
    texts: &[Vec<String>],
    (places, (wide, high)): (&[(f64, f64)], (f64, f64)),
    out: &mut String,
) {
    for (number, ((x, y), lines)) in places.iter().zip(texts).enumerate() {
        let violated = violated(program, &graph.states[number]);
        let (color, width) = match (violated.is_empty(), number) {
            (false, _) => ("#b42318", 3),
            (true, 0) => ("black", 3),
            _ => ("black", 1),
        };
        let title = if violated.is_empty() { String::new() } else { format!("<title>violates {violated}</title>") };
        let _ = writeln!(
            out,
            "<g class=\"state\">{title}<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"6\" \
             fill=\"#f8f8f8\" stroke=\"{color}\" stroke-width=\"{width}\"/>"
        );
        for (row, line) in lines.iter().enumerate() {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 8.0,
                y + 18.0 + 15.0 * row as f64,
                html::escape(line)
            );
        }
        out.push_str("</g>\n");
    }
}

/// The names of the properties that a state violates.
fn violated(program: &Program, state: &[u32]) -> String {
    let end = Replayed {
        states: vec![state.to_vec()],
        steps: Vec::new(),
        ordinals: Vec::new(),
        // Which check failed is not asked here, only that one did.
        fault: program.is_faulty(state).then_some(FaultId(0)),
        loop_start: None,
        refused: None,
    };
    let bad = program.properties.iter().filter(|property| !property.wants_goal());
    let bad =
        bad.filter(|property| end.confirm(program, property).is_ok()).map(|property| html::escape(&property.name));
    bad.collect::<Vec<_>>().join(", ")
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
