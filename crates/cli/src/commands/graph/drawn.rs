//! The state graph as a picture: each box says where the threads are and what changed on the way to it, each edge which step it is.

use birk_ir::{Program, ShownState, ShownValue, TransitionId};

use crate::commands::graph::{Graph, decided, extent};
use crate::picture::{Arrow, Card, Line, Picture, sheet};

/// A box has at most so many lines of values, and a line so many characters.
const MAX_LINES: usize = 12;
const MAX_LINE: usize = 36;
/// With more threads than this, a box names only those that are elsewhere than at the start.
const MAX_THREADS: usize = 6;

/// The whole graph on one sheet.
pub(super) fn sheet_of(program: &Program, graph: &Graph) -> String {
    let view = program.view();
    let shown: Vec<ShownState<'_>> = graph.states.iter().map(|state| view.show(state)).collect();
    let card = |number: usize| {
        let before = graph.parents[number].map(|parent| &shown[parent]);
        card(program, &graph.states[number], &shown[number], (before, &shown[0]))
    };
    let constants: Vec<String> = program.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let constants = if constants.is_empty() { String::new() } else { format!(" ({})", constants.join(", ")) };
    let picture = Picture {
        caption: format!("{}{constants}: {}", program.system, extent(graph)),
        boxes: (0..graph.states.len()).map(card).collect(),
        edges: arrows(program, graph),
    };
    sheet(&program.system, &[picture])
}

/// Steps between the same states are one edge with several labels.
fn arrows(program: &Program, graph: &Graph) -> Vec<Arrow> {
    let mut arrows: Vec<Arrow> = Vec::new();
    // The edges of a state follow each other.
    for &(from, id, to) in &graph.edges {
        let here = arrows.iter().rposition(|arrow| arrow.from != from).map_or(0, |last| last + 1);
        let label = label(program, id);
        match arrows[here..].iter_mut().find(|arrow| arrow.to == to) {
            Some(arrow) => {
                let known = arrow.lines.chunks(2).any(|lines| lines == label);
                arrow.lines.extend(label.into_iter().filter(|_| !known));
            }
            None => arrows.push(Arrow { from, to, lines: label.into(), ..Arrow::default() }),
        }
    }
    arrows
}

/// Who takes a step, and where it begins.
fn label(program: &Program, id: TransitionId) -> [Line; 2] {
    let thread = &program.thread(program.transition(id).thread).name;
    let text = program.transition_text(id);
    let place = text.strip_prefix(&format!("{thread}.")).unwrap_or(&text);
    [Line::new(thread.as_str(), "").cut(MAX_LINE), Line::new(place, "soft").cut(MAX_LINE)]
}

fn card(
    program: &Program,
    state: &[u32],
    shown: &ShownState<'_>,
    (before, first): (Option<&ShownState<'_>>, &ShownState<'_>),
) -> Card {
    let [violated, reached] = [false, true].map(|reached| decided(program, state, reached));
    let leaves = shown.leaves();
    let hint = leaves.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("\n");
    let mut lines: Vec<Line> = violated.iter().map(|name| Line::new(format!("✗ {name}"), "bad")).collect();
    lines.extend(reached.iter().map(|name| Line::new(format!("✓ {name}"), "strong")));
    let changed: Vec<String> = match before {
        Some(before) => before.changes(shown).into_iter().map(|change| change.name).collect(),
        None => Vec::new(),
    };
    let has_changed = |name: &str| changed.iter().any(|other| other == name);
    let look = |name: &str| if has_changed(name) { "strong" } else { "soft" };
    let is_location = |value: &ShownValue<'_>| matches!(value, ShownValue::Location(_));
    let (places, values): (Vec<_>, Vec<_>) = leaves.iter().partition(|(_, value)| is_location(value));
    let moved = |name: &String, value: &ShownValue<'_>| {
        let start = first.leaves().into_iter().find(|(other, _)| other == name);
        start.is_none_or(|(_, start)| start != value)
    };
    let many = places.len() > MAX_THREADS;
    let told: Vec<_> = places.iter().filter(|(name, value)| !many || has_changed(name) || moved(name, value)).collect();
    lines.extend(told.iter().map(|(name, value)| Line::new(format!("{name}{value}"), look(name))));
    if told.len() < places.len() {
        let others = if told.is_empty() { "all threads" } else { "the others" };
        lines.push(Line::new(format!("{others} as at the start"), "soft"));
    }
    let kept = values.iter().filter(|(name, _)| before.is_none() || has_changed(name));
    lines.extend(kept.map(|(name, value)| Line::new(format!("{name} = {value}"), look(name))));
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES + 1;
        lines.truncate(MAX_LINES - 1);
        lines.push(Line::new(format!("… {more} more"), "soft"));
    }
    if lines.is_empty() {
        lines.push(Line::new("(no values)", "soft"));
    }
    let looks = [(!violated.is_empty(), "bad"), (!reached.is_empty(), "good"), (before.is_none(), "first")];
    Card {
        looks: looks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, look)| look).collect(),
        lines: lines.into_iter().map(|line| line.cut(MAX_LINE)).collect(),
        hint,
        data: String::new(),
    }
}
