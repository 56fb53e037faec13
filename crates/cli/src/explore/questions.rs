//! The questions of the explorer's page, and their answers: whoever carries them, a browser's connection or standard input.

use std::io::{BufRead, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::automata::{Automaton, automata};
use crate::explore::graph::Explorer;
use crate::explore::search::{Found, search};
use crate::graph_layout::{self, Edge, Point, Route, Size};
use crate::interactive::Place;
use crate::picture::{self, COLOURS, TIP};
use crate::report::html::fill;

const PAGE: &str = include_str!("../../assets/explore.html");
const CSS: &str = include_str!("../../assets/explore.css");
const JS: &str = include_str!("../../assets/explore.js");
const CANVAS: &str = include_str!("../../assets/explore_canvas.js");

/// More boxes, or steps between them, are not drawn.
const MAX_BOXES: usize = 20_000;
const MAX_EDGES: usize = 100_000;

/// Who answers.
pub(crate) struct Questions<'a> {
    place: &'a Place<'a>,
    explorer: Mutex<Explorer<'a>>,
    automata: Vec<Automaton>,
}

impl<'a> Questions<'a> {
    pub(crate) fn new(place: &'a Place<'a>) -> Self {
        let explorer = Mutex::new(Explorer::new(place.program));
        Self { place, explorer, automata: automata(place.source, place.program) }
    }

    /// The answer to a question with these parameters, or why there is none.
    pub(crate) fn ask(
        &self,
        what: &str,
        parameter: impl Fn(&str) -> Option<String>,
        body: &Value,
    ) -> Result<Value, String> {
        let number = |name: &str| parameter(name).and_then(|text| text.parse::<usize>().ok());
        let node = number("node").ok_or("which state?");
        let explorer = || self.explorer.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            "start" => Ok(explorer().start(&self.place.source.path)),
            "expand" => explorer().expand(node?),
            "why" => explorer().why(node?, number("transition").ok_or("which transition?")?),
            "open" => explorer().open(&parameter("steps").unwrap_or_default()),
            "threads" => explorer().threads(&self.automata, node?),
            "search" => {
                let node = node?;
                let condition = self.place.condition(&parameter("condition").unwrap_or_default())?;
                let state = explorer().state(node)?;
                // Nobody else waits for a long search.
                let found = search(self.place.program, &state, &condition);
                results(&mut explorer(), node, &found)
            }
            "layout" => layout_of(body),
            _ => Err("there is no such question".into()),
        }
    }

    /// Answers questions until there are no more: `{"what": "expand", "node": 0}`, one a line. The page itself is one of them.
    pub(crate) fn answer_all(&self, questions: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
        for line in questions.lines() {
            let answer = match serde_json::from_str::<Value>(&line?) {
                Ok(question) if question["what"] == "page" => Ok(json!({ "page": page() })),
                Ok(question) => {
                    let parameter = |name: &str| match &question[name] {
                        Value::Null => None,
                        Value::String(text) => Some(text.clone()),
                        other => Some(other.to_string()),
                    };
                    self.ask(question["what"].as_str().unwrap_or_default(), parameter, &question["body"])
                }
                Err(error) => Err(format!("this is not a question: {error}")),
            };
            writeln!(answers, "{}", answer.unwrap_or_else(|reason| json!({ "error": reason })))?;
            answers.flush()?;
        }
        Ok(())
    }
}

/// The page with its style and its scripts.
pub(crate) fn page() -> String {
    let style = [("css", CSS), ("colours", COLOURS), ("drawing", picture::CSS)];
    fill(PAGE, &[&style[..], &[("tip", TIP), ("canvas", CANVAS), ("js", JS)]].concat())
}

/// The paths to what was found; an error says why there is nothing.
fn results(explorer: &mut Explorer<'_>, node: usize, found: &Found) -> Result<Value, String> {
    if found.ways.is_empty() {
        return Err(match found.is_everything {
            true => "no other state that can be reached from the selected one satisfies it".into(),
            false => format!("none of the nearest {} states satisfies it; there are more", found.states),
        });
    }
    let results: Result<Vec<_>, String> = found.ways.iter().map(|steps| explorer.result(node, steps)).collect();
    Ok(json!({"found": results?, "states": found.states, "isEverything": found.is_everything}))
}

/// `{"boxes": [[wide, high], …], "edges": [[from, to, label wide, label high], …]}` to where all of them lie.
fn layout_of(graph: &Value) -> Result<Value, String> {
    let boxes = graph["boxes"].as_array().ok_or("which boxes?")?;
    let edges = graph["edges"].as_array().ok_or("which edges?")?;
    if boxes.len() > MAX_BOXES || edges.len() > MAX_EDGES {
        return Err(format!(
            "{} boxes with {} steps are too many to draw: at most {MAX_BOXES} with {MAX_EDGES}; fold some, hide a thread, or \
             begin again",
            boxes.len(),
            edges.len()
        ));
    }
    // Nobody has a screen of a million pixels; what is not a number is nothing.
    let length = |value: &Value| value.as_f64().filter(|length| (0.0..1e6).contains(length)).unwrap_or(0.0);
    let size = |value: &Value, at: usize| Size { wide: length(&value[at]), high: length(&value[at + 1]) };
    let end = |value: &Value| value.as_u64().map_or(usize::MAX, |end| end as usize);
    let boxes: Vec<Size> = boxes.iter().map(|value| size(value, 0)).collect();
    let edge = |value: &Value| Edge { from: end(&value[0]), to: end(&value[1]), label: size(value, 2) };
    let edges: Vec<Edge> = edges.iter().map(edge).collect();
    let drawing = graph_layout::draw(&boxes, &edges);
    let tenth = |length: f64| (length * 10.0).round() / 10.0;
    let point = |point: &Point| json!([tenth(point.x), tenth(point.y)]);
    let route = |route: &Route| json!({"path": route.path, "label": route.label.as_ref().map(point)});
    Ok(json!({
        "size": [tenth(drawing.size.wide), tenth(drawing.size.high)],
        "boxes": drawing.boxes.iter().map(point).collect::<Vec<_>>(),
        "edges": drawing.edges.iter().map(route).collect::<Vec<_>>(),
    }))
}
