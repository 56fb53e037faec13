//! The report for programs: one JSON object, schema 1. The manual describes every field.

use birk_exec::Replayed;
use birk_exec::replay::Shows;
use birk_ir::{Coverage, Program, Property, PropertyKind, ThreadId, TransitionId, ValueKind, VarId, Verdict};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::{Fair, StoreKind};
use crate::commands::Slices;
use crate::report::statement::{Cut, Grade, Next};
use crate::report::{Report, ordinals_text};
use crate::source::Source;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    birk: &'static str,
    model: String,
    system: &'a str,
    constants: Map<String, Value>,
    engine: &'static str,
    store: &'static str,
    threads: usize,
    seed: u64,
    verdict: &'static str,
    coverage: Value,
    stopped_by: &'static str,
    properties: Vec<Value>,
    stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<Value>,
    unreached: Value,
    cut: Value,
    next: Value,
    traces: Vec<Value>,
    reproduce: String,
    #[serde(rename = "continue")]
    go_on: Option<String>,
}

#[derive(Serialize)]
struct Stats {
    states: Value,
    transitions: Value,
    max_depth: Option<u32>,
    revisits: u64,
    cut_by_assume: u64,
    seconds: f64,
    states_per_second: Option<f64>,
    peak_memory_bytes: Option<u64>,
    store_bytes_per_state: Option<f64>,
    state_bits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unrolled: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontier: Option<Value>,
}

/// A count as a number, or as text where 64 bits do not hold it.
fn whole(digits: &str) -> Value {
    digits.parse::<u64>().map_or_else(|_| digits.into(), Value::from)
}

/// The report as text, with a line feed at its end.
pub(crate) fn text(report: &Report<'_>) -> String {
    let stats = &report.hunt.stats;
    let (unreached, untaken) = (report.unreached(), report.untaken());
    let sets = stats.diagrams.as_ref();
    let states = sets.and_then(|sets| sets.states.parse().ok()).unwrap_or(stats.states as f64);
    let is_counted = stats.unrolled.is_none();
    let document = Document {
        schema: 1,
        birk: env!("CARGO_PKG_VERSION"),
        model: report.source.path.clone(),
        system: &report.program.system,
        constants: report.program.constants.iter().map(|(name, value)| (name.clone(), constant(value))).collect(),
        engine: report.searched_with(),
        store: match report.args.store {
            StoreKind::Exact => "exact",
            StoreKind::Compact => "compact",
            StoreKind::Bitstate => "bitstate",
        },
        threads: report.threads,
        seed: report.args.seed,
        verdict: report.verdict.word(),
        coverage: coverage(report),
        stopped_by: report.hunt.stopped.word(),
        properties: properties(report),
        stats: Stats {
            states: match sets {
                None => is_counted.then_some(stats.states).into(),
                Some(sets) => whole(&sets.states),
            },
            transitions: match sets {
                None => is_counted.then_some(stats.transitions).into(),
                Some(sets) => sets.transitions.as_deref().map_or(Value::Null, whole),
            },
            max_depth: report.depth(),
            revisits: stats.revisits,
            cut_by_assume: stats.cut,
            seconds: report.seconds,
            states_per_second: is_counted.then(|| (states / report.seconds.max(1e-9)).round()),
            peak_memory_bytes: report.peak_memory,
            store_bytes_per_state: is_counted.then(|| stats.store_bytes as f64 / states.max(1.0)),
            state_bits: report.program.layout.bits(),
            peak_nodes: sets.map(|sets| sets.peak_nodes),
            iterations: sets.map(|sets| sets.iterations),
            unrolled: stats.unrolled.map(|unrolled| {
                json!({
                    "clauses": unrolled.clauses, "variables": unrolled.variables, "induction": unrolled.proved_at,
                })
            }),
            frontier: stats.frontier.map(|frontier| {
                json!({
                    "kept_as": frontier.waiting.word(),
                    "most_states": frontier.states,
                    "bytes_per_state": frontier.bytes as f64 / frontier.states.max(1) as f64,
                    "peak_bytes": frontier.peak_bytes,
                    "replays": frontier.replays,
                    "steps_per_replay": frontier.replayed as f64 / frontier.replays.max(1) as f64,
                    "relief": relief(stats),
                })
            }),
        },
        slices: report.slices.map(slices),
        unreached: (is_counted && report.hunt.fired.len() == report.program.transitions.len()).then(|| json!({
            "transitions": unreached.transitions.iter().map(|&id| report.program.transition_text(id)).collect::<Vec<_>>(),
            "locations": unreached.locations,
            "not_enabled": untaken.not_enabled.iter().map(|&id| transition_value(report, id)).collect::<Vec<_>>(),
            "cut": untaken.cut.iter().map(|&id| report.program.transition_text(id)).collect::<Vec<_>>(),
            "assumed": untaken.assumed.iter().map(|&id| report.program.transition_text(id)).collect::<Vec<_>>(),
        })).into(),
        cut: cut(report),
        next: next(report),
        traces: report
            .traces
            .iter()
            .map(|trace| trace_value(report.source, report.program, Some(trace.property), &trace.run))
            .collect(),
        reproduce: report.reproduce(),
        go_on: report.go_on(),
    };
    serde_json::to_string_pretty(&document).expect("a report has only string keys") + "\n"
}

fn properties(report: &Report<'_>) -> Vec<Value> {
    let value = |answer: &crate::report::Answer<'_>| {
        let mut value = json!({
            "name": answer.property.name,
            "kind": answer.property.word(),
            "verdict": answer.verdict.word(),
            "grade": answer.grade().map(Grade::letter),
            "trace": answer.trace,
        });
        if let Some(steps) = answer.untraced {
            value["untraced_steps"] = steps.into();
        }
        if let (Verdict::Inconclusive, Some(reason)) = (answer.verdict, &answer.reason) {
            value["reason"] = reason.as_str().into();
        }
        let is_ctl = matches!(answer.property.kind, PropertyKind::Ctl(_));
        if answer.watch.is_some() || (is_ctl && answer.reason.is_none()) {
            value["fairness"] = if report.args.fairness == Fair::Weak { "weak" } else { "none" }.into();
        }
        if let Some(watch) = &answer.watch {
            value["automaton"] = json!({"states": watch.automaton, "strength": watch.strength});
            value["product"] =
                json!({"states": watch.states, "transitions": watch.transitions, "seconds": watch.seconds});
        }
        value
    };
    report.answers.iter().map(value).collect()
}

/// What was done because memory was short.
fn relief(stats: &birk_search::Stats) -> Vec<Value> {
    stats.relief.iter().map(|(relief, states)| json!({"step": relief.word(), "states": states})).collect()
}

fn slices(slices: &Slices) -> Value {
    json!({
        "asked": slices.asked,
        "done": slices.done,
        "width": slices.width,
        "visits": slices.visits,
        "found_in": slices.found_in.map(|(number, seed, width)| json!({"number": number, "seed": seed, "width": width})),
        "ruled_out": slices.ruled_out.map(|(confidence, rate)| json!({"confidence": confidence, "rate": rate})),
    })
}

/// A constant's value, as JSON has it.
pub(crate) fn constant(text: &str) -> Value {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Into::into),
    }
}

/// A transition that was never enabled, with its condition.
fn transition_value(report: &Report<'_>, id: TransitionId) -> Value {
    let (line, column) = report.source.position(report.program.transition(id).span);
    json!({
        "transition": report.program.transition_text(id),
        "guard": report.guard_text(id),
        "source": {"line": line, "column": column},
    })
}

/// Where the search was cut.
fn cut(report: &Report<'_>) -> Value {
    let border = &report.hunt.stats.border;
    if border.states == 0 {
        return Value::Null;
    }
    let value = |cut: &Cut| {
        json!({
            "thread": report.program.thread(cut.thread).name,
            "location": report.program.location_text(cut.thread, Some(cut.location)),
            "steps": cut.steps,
        })
    };
    let at: Vec<Value> = report.cuts().iter().map(value).collect();
    json!({"states": border.states, "looked_at": border.looked_at, "estimated": border.is_estimate, "at": at})
}

/// What the next depth would cost.
fn next(report: &Report<'_>) -> Value {
    match report.next() {
        None => Value::Null,
        Some(Err(reason)) => json!({"reason": reason}),
        Some(Ok(Next { depth, states, seconds, memory })) => json!({
            "depth": depth, "states": states, "seconds": seconds, "memory_bytes": memory,
        }),
    }
}

fn coverage(report: &Report<'_>) -> Value {
    let mut value = match &report.hunt.coverage {
        Coverage::Complete => json!({"kind": "complete"}),
        Coverage::Depth(depth) => json!({"kind": "depth", "depth": depth}),
        Coverage::Hashed { depth, omission_probability, expected_omissions } => json!({
            "kind": "hashed", "depth": depth, "omission_probability": omission_probability,
            "expected_omissions": expected_omissions,
        }),
        Coverage::Sampled(states) => {
            // More than 64 bits hold: the diagrams know.
            let sets = report.hunt.stats.diagrams.as_ref().filter(|_| *states == u64::MAX);
            json!({"kind": "sampled", "states": sets.map_or(Value::from(*states), |sets| whole(&sets.states))})
        }
    };
    value["grade"] = report.grade().letter().into();
    value
}

/// A run with its steps and states.
pub(crate) fn trace_value(source: &Source, program: &Program, property: Option<&Property>, run: &Replayed) -> Value {
    let steps: Vec<Value> = (0..run.steps.len())
        .map(|at| {
            let transition = program.transition(run.steps[at].transition);
            let (line, column) = source.position(transition.span);
            let faults = at + 1 == run.steps.len() && program.is_faulty(run.last());
            let to = if faults { None } else { Some(location(program, transition.thread, &run.states[at + 1])) };
            let changes: Map<String, Value> = run
                .changes(program, at)
                .into_iter()
                .filter(|&(variable, element)| !is_location_of(program, transition.thread, variable, element))
                .map(|(variable, element)| {
                    let value = element_value(program, &run.states[at + 1], variable, element);
                    (program.element_name(variable, element), value)
                })
                .collect();
            json!({
                "thread": program.thread(transition.thread).name,
                "from": location(program, transition.thread, &run.states[at]),
                "to": to,
                "source": {"line": line, "column": column},
                "changes": changes,
            })
        })
        .collect();
    let mut value = json!({
        "property": property.map(|property| &property.name),
        "length": run.steps.len(),
        "loop": run.loop_start,
        "steps": steps,
        "states": run.states.iter().map(|state| state_value(program, state)).collect::<Vec<_>>(),
        "replay": ordinals_text(run),
    });
    if let Some(formula) = property.and_then(Property::branching) {
        let shows = run.shows(program, formula);
        value["shows"] = if shows == Shows::Part { "part" } else { "whole" }.into();
    }
    if let Some(fault) = run.fault.map(|id| &program.faults[id.index()]) {
        let (line, column) = source.position(fault.span);
        value["fault"] = json!({
            "kind": fault.kind.word(), "message": fault.message, "source": {"line": line, "column": column},
        });
    }
    value
}

/// Whether an element holds the location of this thread: its change is shown as `from` and `to`.
pub(crate) fn is_location_of(program: &Program, thread: ThreadId, variable: VarId, element: u32) -> bool {
    program.kind_of(thread).counter == variable && program.thread(thread).copy == element
}

fn location(program: &Program, thread: ThreadId, state: &[u32]) -> String {
    program.location_text(thread, program.location_of(thread, state)).to_owned()
}

fn state_value(program: &Program, state: &[u32]) -> Value {
    let values = program.visible_elements().map(|(variable, element)| {
        (program.element_name(variable, element), element_value(program, state, variable, element))
    });
    Value::Object(values.collect())
}

/// One value, as JSON has it.
pub(crate) fn element_value(program: &Program, state: &[u32], variable: VarId, element: u32) -> Value {
    let value = program.layout.slot(variable).get(state, element);
    match &program.variable(variable).values {
        ValueKind::Boolean => (value != 0).into(),
        ValueKind::Integer => value.into(),
        ValueKind::Names(_) | ValueKind::Set(_) => program.variable(variable).value_text(value).into(),
    }
}
