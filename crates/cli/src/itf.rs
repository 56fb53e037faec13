//! Traces as ITF JSON files (the Informal Trace Format of Apalache and Quint), written and read back.
//!
//! Every variable is a field of each state; arrays and channels are lists, records are objects. The steps stand in `#meta` of the
//! file, but reading does not trust them: each step must lead to the state that follows it.

use std::path::Path;

use birk_exec::replay::{replay_ordinals, replay_states};
use birk_exec::{ReplayError, Replayed};
use birk_ir::text::{NOT_RUNNING, NOT_STARTED, TERMINATED};
use birk_ir::{Program, Property, ShownState, ShownValue, Whereabouts};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::report::json::{Forms, value};
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
    let view = program.view();
    let mut history = view.history();
    let states: Vec<Value> = run.states[..run.positions()]
        .iter()
        .enumerate()
        .map(|(index, state)| {
            let mut value = state_value(history.show(state));
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
        "vars": names(program),
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
    let view = program.view();
    let fits = |at: usize, state: &[u32]| {
        let given = file.states.get(at).unwrap_or(&file.states[loop_start.unwrap_or(0)]);
        let is_state = |value: &Map<String, Value>| value.keys().any(|key| !key.starts_with('#'));
        // A fault ends a run, even where its values are those of a state that goes on.
        let may_stand = at == length || !program.is_faulty(state);
        given.as_object().is_some_and(is_state)
            && may_stand
            && variables(view.show(state)).iter().all(|(name, value)| is_same(&given[*name], value))
    };
    let wanted = names(program);
    let complete = |value: &Value| wanted.iter().all(|name| value.get(name).is_some());
    if let Some(step) = file.states.iter().position(|state| !complete(state)) {
        let reason = "a variable of the model is missing in this state of the trace".into();
        return Err(ReplayError { step: step.saturating_sub(1), reason });
    }
    let run = match &file.ordinals {
        Some(ordinals) if ordinals.len() == length => {
            let first = program.initial_states().iter().position(|state| fits(0, state)).unwrap_or(0);
            replay_ordinals(program, first as u32, ordinals, loop_start)?
        }
        _ => Replayed { loop_start, ..replay_states(program, length, fits)? },
    };
    match (0..=length).find(|&at| !fits(at, &run.states[at])) {
        Some(at) => Err(ReplayError { step: at.saturating_sub(1), reason: "the trace shows another state".into() }),
        None => Ok(run),
    }
}

/// Whether a file shows this value. Numbers may be written as ITF's big integers, and sets in any order.
fn is_same(given: &Value, value: &ShownValue<'_>) -> bool {
    match value {
        ShownValue::Boolean(value) => given == value,
        ShownValue::Number(number) => given == number || given["#bigint"].as_str() == Some(&number.to_string()),
        ShownValue::Name(name) => given == name,
        ShownValue::Set(members) => given["#set"].as_array().is_some_and(|given| {
            let is_given = |member: &i64| given.iter().any(|given| is_same(given, &ShownValue::Number(*member)));
            given.len() == members.len() && members.iter().all(is_given)
        }),
        ShownValue::Map(pairs) => given["#map"].as_array().is_some_and(|given| {
            let is_given = |(key, value): &(i64, ShownValue<'_>)| {
                given.iter().any(|pair| is_same(&pair[0], &ShownValue::Number(*key)) && is_same(&pair[1], value))
            };
            given.len() == pairs.len() && pairs.iter().all(is_given)
        }),
        ShownValue::Record(fields) => fields.iter().all(|(name, value)| is_same(&given[*name], value)),
        ShownValue::Array(values) | ShownValue::Queue(values) | ShownValue::Sequence(values) => {
            given.as_array().is_some_and(|given| {
                given.len() == values.len() && given.iter().zip(values).all(|(given, value)| is_same(given, value))
            })
        }
        ShownValue::Location(Whereabouts::At(location)) => given == location,
        // Which of them is right is a matter of what came before.
        ShownValue::Location(_) => [TERMINATED, NOT_STARTED, NOT_RUNNING].iter().any(|word| given == word),
    }
}

/// The variables of a state with their names in a file: those of several instances of a thread are lists.
fn variables<'p>(state: ShownState<'p>) -> Vec<(&'p str, ShownValue<'p>)> {
    let mut found: Vec<(&str, ShownValue<'_>)> = Vec::new();
    for variable in state.variables {
        match found.last_mut() {
            Some((name, ShownValue::Array(all))) if variable.is_instance && *name == variable.declared => {
                all.push(variable.value);
            }
            _ if variable.is_instance => found.push((variable.declared, ShownValue::Array(vec![variable.value]))),
            _ => found.push((variable.declared, variable.value)),
        }
    }
    found
}

/// The names of the variables in a file.
fn names(program: &Program) -> Vec<&str> {
    variables(program.show(&program.initial_state())).into_iter().map(|(name, _)| name).collect()
}

fn state_value(state: ShownState<'_>) -> Map<String, Value> {
    let forms = Forms {
        set: |members| json!({"#set": members}),
        map: |pairs| json!({"#map": pairs.into_iter().map(|(key, value)| json!([key, value])).collect::<Vec<_>>()}),
    };
    variables(state).into_iter().map(|(name, shown)| (name.to_owned(), value(&shown, &forms))).collect()
}
