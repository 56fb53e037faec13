//! The threads in the report: each as its automaton, with what the search took. Where there is a trace, the page lights where the
//! threads are and what the step took.

use std::fmt::Write as _;

use birk_ir::{Coverage, TransitionId};
use serde_json::json;

use crate::automata::{Automaton, Now, automata};
use crate::escape::escape;
use crate::numbers::count;
use crate::picture::TIP;
use crate::report::Report;
use crate::report::html::embedded;

/// Larger automata are not drawn: nobody could read them, and the page would become large.
const MAX_LOCATIONS: usize = 200;
const MAX_EDGES: usize = 600;
/// Of larger programs no automaton is made.
const MAX_TRANSITIONS: usize = 20_000;

/// All automata as a part of the page, and a sentence that says what their looks mean.
pub(super) struct Threads {
    pub(super) pictures: String,
    pub(super) legend: String,
}

/// The automata of the threads; `None` where there is nothing to draw.
pub(super) fn threads(report: &Report<'_>) -> Option<Threads> {
    let program = report.program;
    if program.transitions.len() > MAX_TRANSITIONS {
        return None;
    }
    let found = automata(report.source, program);
    if found.is_empty() {
        return None;
    }
    let mut pictures = format!("<svg class=\"picture\" width=\"0\" height=\"0\" aria-hidden=\"true\">{TIP}</svg>\n");
    for automaton in &found {
        pictures += &one(report, automaton);
    }
    Some(Threads { pictures, legend: legend(report) })
}

fn one(report: &Report<'_>, automaton: &Automaton) -> String {
    let (program, name) = (report.program, escape(&automaton.name));
    if automaton.locations.len() > MAX_LOCATIONS || automaton.edges.len() > MAX_EDGES {
        let locations = count(automaton.locations.len() as u64, "location");
        let edges = count(automaton.edges.len() as u64, "transition");
        return format!(
            "<p><strong class=\"mono\">{name}</strong> has {locations} and {edges}, too many to draw here; \
             <code>birk graph --threads={name} --format svg</code> draws it.</p>\n"
        );
    }
    // Engines that search for traces do not record what they took.
    let taken = |id: TransitionId| report.hunt.fired.get(id.index()).is_none_or(|fired| *fired).into();
    let nowhere = |_| None;
    let at: Option<&dyn Fn(_) -> _> = if report.traces.is_empty() { None } else { Some(&nowhere) };
    let now = Now { taken: &taken, is_counted: false, at, is_enabled: &|_| false };
    let instances: Vec<_> = automaton
        .instances
        .iter()
        .map(|&id| {
            let thread = program.thread(id);
            json!([format!("{}@", thread.name), thread.copy])
        })
        .collect();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<div class=\"automaton\" role=\"img\" aria-label=\"automaton of {name}\" data-instances=\"{}\">\n{}</div>",
        escape(&embedded(&json!(instances))),
        automaton.picture(program, Some(&now)).inline()
    );
    out
}

fn legend(report: &Report<'_>) -> String {
    let lit = match report.traces.is_empty() {
        true => "",
        false => "blue: where the threads are after the step, and what it took; ",
    };
    let never = match (report.hunt.fired.is_empty(), &report.hunt.coverage) {
        (true, _) => "which transitions were taken is not known",
        (false, Coverage::Complete) => "dotted: cannot be taken, the search was complete",
        (false, _) => "dotted: not taken by the search so far",
    };
    format!("{lit}{never}")
}
