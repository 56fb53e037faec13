//! Traces as ITF JSON files (the Informal Trace Format of Apalache and Quint), written and read back.
//!
//! Every variable is a field of each state; arrays are lists. The steps stand in `#meta` of the file, but reading
//! does not trust them: each step must lead to the state that follows it.

use std::path::Path;

use birk_exec::replay::{replay_ordinals, replay_states};
use birk_exec::{ReplayError, Replayed};
use birk_ir::{Program, Property, VarId, VarRole};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::report::json::element_value;
use crate::report::ordinals_text;
use crate::source::{MAX_TRACE, Source};

/// A trace file that was read.
struct TraceFile {
    states: Vec<Value>,
    ordinals: Option<Vec<u32>>,
    /// The state to which the last one leads back.
    back: Option<usize>,
}

/// A trace as the text of a file.
pub(crate) fn write(source: &Source, program: &Program, property: Option<&Property>, run: &Replayed) -> String {
    // The format has each state of a loop once; the last leads back to the first of them.
    let states: Vec<Value> = run.states[..run.positions()]
        .iter()
        .enumerate()
        .map(|(index, state)| {
            let mut value = state_value(program, state);
            let mut meta = json!({"index": index});
            if let Some(step) = index.checked_sub(1).map(|at| run.steps[at]) {
                meta["step"] = program.transition_text(step.transition).into();
            }
            value.insert("#meta".into(), meta);
            Value::Object(value)
        })
        .collect();
    let mut document = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": format!("Birk {}", env!("CARGO_PKG_VERSION")),
            "source": source.path,
            "property": property.map(|property| &property.name),
            "replay": ordinals_text(run),
        },
        "vars": visible(program).map(|(_, name)| name).collect::<Vec<_>>(),
        "states": states,
    });
    if let Some(start) = run.loop_start {
        document["loop"] = start.min(run.positions() - 1).into();
    }
    serde_json::to_string_pretty(&document).expect("a trace has only string keys") + "\n"
}

/// Reads a file and walks it.
pub(crate) fn open(program: &Program, path: &Path) -> Result<Replayed, Failure> {
    let file = Source::read_up_to(path, MAX_TRACE)?;
    let trace = read(&file.text).map_err(|reason| Failure::usage(format!("{}: {reason}", path.display())))?;
    walk(program, &trace).map_err(|error| Failure::usage(format!("the trace does not fit the model: {error}")))
}

/// Reads the text of a file.
fn read(text: &str) -> Result<TraceFile, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let states = document["states"].as_array().filter(|states| !states.is_empty());
    let states = states.ok_or("not an ITF trace: it has no `states`")?.clone();
    let back = match &document["loop"] {
        Value::Null => None,
        value => {
            let inside = value.as_u64().map(|back| back as usize).filter(|&back| back < states.len());
            Some(inside.ok_or("its `loop` is not the number of one of its states")?)
        }
    };
    let steps = document["#meta"]["replay"].as_str().and_then(|text| text.split_once(':'));
    let ordinals = steps.and_then(|(_, steps)| {
        steps
            .split([',', '(', ')'])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<u32>>>()
    });
    Ok(TraceFile { states, ordinals, back })
}

/// Walks a trace that was read: by its steps where they are given, otherwise by its states.
fn walk(program: &Program, file: &TraceFile) -> Result<Replayed, ReplayError> {
    let last = file.states.len() - 1;
    let Some(back) = file.back else { return walk_to(program, file, last, None) };
    // The step that closes the loop is not shown; a state without steps stays where it is.
    let closed = walk_to(program, file, last + 1, Some(back));
    let run = if back == last { closed.or_else(|_| walk_to(program, file, last, Some(last)))? } else { closed? };
    run.closes(program)?;
    Ok(run)
}

fn walk_to(
    program: &Program,
    file: &TraceFile,
    length: usize,
    loop_start: Option<usize>,
) -> Result<Replayed, ReplayError> {
    let fits = |at: usize, state: &[u32]| {
        let shown = file.states.get(at).unwrap_or(&file.states[loop_start.unwrap_or(0)]).as_object();
        let names = |value: &Map<String, Value>| value.keys().any(|key| !key.starts_with('#'));
        // A fault ends a run, even where its values are those of a state that goes on.
        let may_stand = at == length || !program.is_faulty(state);
        shown.is_some_and(|shown| {
            names(shown)
                && may_stand
                && state_value(program, state).iter().all(|(name, value)| is_same(&shown[name.as_str()], value))
        })
    };
    let complete = |value: &Value| visible(program).all(|(_, name)| value.get(&name).is_some());
    if let Some(step) = file.states.iter().position(|state| !complete(state)) {
        let reason = "a variable of the model is missing in this state of the trace".into();
        return Err(ReplayError { step: step.saturating_sub(1), reason });
    }
    let run = match &file.ordinals {
        Some(ordinals) if ordinals.len() == length => replay_ordinals(program, 0, ordinals, loop_start)?,
        _ => Replayed { loop_start, ..replay_states(program, length, fits)? },
    };
    match (0..=length).find(|&at| !fits(at, &run.states[at])) {
        Some(at) => Err(ReplayError { step: at.saturating_sub(1), reason: "the trace shows another state".into() }),
        None => Ok(run),
    }
}

/// Numbers may be written as ITF's big integers.
fn is_same(shown: &Value, value: &Value) -> bool {
    match (shown, value) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(big), Value::Number(number)) => {
            big.get("#bigint").and_then(Value::as_str) == Some(number.to_string().as_str())
        }
        _ => shown == value,
    }
}

/// The variables of a trace with their names.
fn visible(program: &Program) -> impl Iterator<Item = (VarId, String)> + '_ {
    let shown = program
        .variables
        .iter()
        .enumerate()
        .filter(|(_, variable)| variable.role != VarRole::Fault && !variable.is_rendezvous());
    shown.map(|(v, variable)| (VarId::new(v), variable.name.clone()))
}

fn state_value(program: &Program, state: &[u32]) -> Map<String, Value> {
    visible(program)
        .map(|(id, name)| {
            let mut next = 0;
            (name, nested(program, state, id, shape(program, id), &mut next))
        })
        .collect()
}

/// The dimensions of a variable; those of a thread that exists only once have none for its copies.
fn shape(program: &Program, id: VarId) -> &[u32] {
    let variable = program.variable(id);
    match variable.role {
        VarRole::Counter(kind) | VarRole::Local(kind) if !program.kinds[kind].indexed => &variable.shape[1..],
        _ => &variable.shape,
    }
}

fn nested(program: &Program, state: &[u32], id: VarId, shape: &[u32], next: &mut u32) -> Value {
    match shape.split_first() {
        None => {
            *next += 1;
            element_value(program, state, id, *next - 1)
        }
        Some((&length, rest)) => Value::Array((0..length).map(|_| nested(program, state, id, rest, next)).collect()),
    }
}
