//! What an assistant is told: little enough to be read at once, with the places and the edits that it needs.

use serde_json::{Map, Value, json};

use super::tools::Ran;

/// Bytes of an answer, unless the whole is asked for.
const MOST: usize = 2_000;
/// Steps of a trace, from its beginning and from its end: as many as fit.
const STEPS: [usize; 4] = [8, 4, 2, 1];
/// Characters of a line.
const WIDTH: usize = 160;
/// Lines of what a trace shows, and diagnostics.
const LINES: usize = 12;

/// The answer of a tool.
pub(super) struct Answer {
    text: String,
    /// The same as data: everything, and what is told unless the whole is asked for.
    data: Option<[Value; 2]>,
    is_error: bool,
    is_whole: bool,
}

impl Answer {
    pub(super) fn text(text: String) -> Self {
        Self { text, data: None, is_error: false, is_whole: false }
    }

    /// Something is wrong with what was asked: with the model, mostly.
    pub(super) fn error(text: String) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    fn data(whole: Value, short: Value, is_error: bool) -> Self {
        Self { text: String::new(), data: Some([whole, short]), is_error, is_whole: false }
    }

    /// Not cut in any case.
    pub(super) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// As the protocol has it.
    pub(super) fn result(self, is_long: bool) -> Value {
        let is_whole = is_long || self.is_whole;
        let mut result = Map::new();
        let text = match self.data {
            None if is_whole => self.text,
            None => cut(&self.text),
            Some([whole, short]) => {
                let data = if is_whole { whole } else { short };
                let text = data.to_string();
                result.insert("structuredContent".into(), data);
                text
            }
        };
        result.insert("content".into(), json!([{ "type": "text", "text": text }]));
        result.insert("isError".into(), self.is_error.into());
        result.into()
    }
}

/// The beginning of a text, in whole lines.
fn cut(text: &str) -> String {
    if text.len() <= MOST {
        return text.to_owned();
    }
    let mut kept = String::new();
    for line in text.lines() {
        if kept.len() + line.len() + 1 > MOST {
            break;
        }
        kept += line;
        kept.push('\n');
    }
    format!("{kept}… {} bytes more; ask with \"long\": true", text.len() - kept.len())
}

/// What a check has found.
pub(super) fn of_check(ran: &Ran) -> Answer {
    let Ok(report) = serde_json::from_str::<Value>(&ran.out) else { return of_errors(ran) };
    // With so many steps at each end, or with all of them.
    let told = |steps: Option<usize>| {
        let is_short = steps.is_some();
        let mut told = Map::new();
        told.insert("verdict".into(), report["verdict"].clone());
        let property = |one: &Value| {
            let length = one["trace"].as_u64().map(|trace| report["traces"][trace as usize]["length"].clone());
            let line = &one["source"]["line"];
            json!({
                "name": one["name"], "line": line, "verdict": one["verdict"], "grade": one["grade"], "steps": length,
            })
        };
        told.insert("properties".into(), report["properties"].as_array().into_iter().flatten().map(property).collect());
        told.insert("coverage".into(), report["coverage"].clone());
        told.insert("stopped_by".into(), report["stopped_by"].clone());
        told.insert("states".into(), report["stats"]["states"].clone());
        let is_bad = |one: &&Value| one["verdict"] == "violated";
        let of = |one: &Value| one["trace"].as_u64().map(|trace| &report["traces"][trace as usize]);
        if let Some(trace) = report["properties"].as_array().into_iter().flatten().find(is_bad).and_then(of) {
            told.insert("counterexample".into(), counterexample(trace, steps));
        }
        let (diagnostics, notes) = spoken(&ran.err, is_short);
        for (name, list) in [("warnings", diagnostics), ("notes", notes)] {
            if !list.is_empty() {
                told.insert(name.into(), list.into());
            }
        }
        Value::from(told)
    };
    let is_fit = |value: &Value| value.to_string().len() <= MOST;
    let mut short =
        STEPS.into_iter().map(|steps| told(Some(steps))).find(is_fit).unwrap_or_else(|| told(Some(STEPS[3])));
    if let Some(told) = short.as_object_mut() {
        for name in ["notes", "warnings", "properties"] {
            if !is_fit(&Value::from(told.clone())) {
                told.remove(name);
                told.insert("left_out".into(), "ask with \"long\": true".into());
            }
        }
    }
    let whole = told(None);
    Answer::data(whole, short, !matches!(ran.code, Some(0 | 1 | 3)))
}

/// The steps and what they show; the middle of a long one is left out.
fn counterexample(trace: &Value, most: Option<usize>) -> Value {
    let line = |(number, step): (usize, &Value)| {
        let changes =
            step["changes"].as_object().into_iter().flatten().map(|(name, value)| format!("{name} = {value}"));
        let changes: Vec<String> = changes.collect();
        let to = step["to"].as_str().unwrap_or("runtime error");
        let words = format!(
            "{}: {} → {to}",
            step["thread"].as_str().unwrap_or_default(),
            step["from"].as_str().unwrap_or_default()
        );
        format!(
            "{number} {words}, line {}{}{}",
            step["source"]["line"],
            if changes.is_empty() { "" } else { "; " },
            changes.join(", ")
        )
    };
    let mut steps: Vec<String> = (1..).zip(trace["steps"].as_array().into_iter().flatten()).map(line).collect();
    let mut why: Vec<Value> = trace["why"].as_array().cloned().unwrap_or_default();
    if let Some(most) = most {
        if steps.len() > 2 * most {
            let left = steps.len() - 2 * most;
            steps.splice(most..steps.len() - most, [format!("… {left} more steps; ask with \"long\": true")]);
        }
        steps.iter_mut().for_each(shorten);
        why = why.iter().filter_map(Value::as_str).take(LINES * most / STEPS[0] + 1).map(short_line).collect();
    }
    let mut shown = json!({ "property": trace["property"], "steps": steps, "why": why });
    if let (Some(start), Some(shown)) = (trace["loop"].as_u64(), shown.as_object_mut()) {
        shown.insert("repeats_from_step".into(), (start + 1).into());
    }
    shown
}

fn shorten(line: &mut String) {
    if let Some((end, _)) = line.char_indices().nth(WIDTH) {
        line.truncate(end);
        line.push('…');
    }
}

fn short_line(line: &str) -> Value {
    let mut line = line.to_owned();
    shorten(&mut line);
    line.into()
}

/// Errors of the model, or of what was asked.
fn of_errors(ran: &Ran) -> Answer {
    let told = |is_short: bool| {
        let (diagnostics, notes) = spoken(&ran.err, is_short);
        json!({ "verdict": null, "errors": diagnostics, "notes": notes })
    };
    Answer::data(told(false), told(true), true)
}

/// Diagnostics, each with its place and its fix, and other lines.
fn spoken(err: &str, is_short: bool) -> (Vec<Value>, Vec<Value>) {
    let (mut diagnostics, mut notes) = (Vec::new(), Vec::new());
    for line in err.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(found) if found.get("code").is_some() => diagnostics.push(diagnostic(&found)),
            _ => notes.push(line.into()),
        }
    }
    if is_short {
        diagnostics.truncate(LINES);
        while diagnostics.len() > 1 && Value::from(diagnostics.clone()).to_string().len() > MOST {
            diagnostics.pop();
        }
        notes.truncate(LINES);
    }
    (diagnostics, notes)
}

fn diagnostic(found: &Value) -> Value {
    let mut told = Map::new();
    for name in ["code", "severity", "message", "label", "help"] {
        if !found[name].is_null() {
            told.insert(name.into(), found[name].clone());
        }
    }
    told.insert("line".into(), found["place"]["line"].clone());
    told.insert("column".into(), found["place"]["column"].clone());
    if let Some(fix) = found["fix"].as_object() {
        let place = &fix["place"];
        let fix = json!({
            "start": place["start"], "end": place["end"], "replacement": fix["replacement"], "sure": fix["sure"],
        });
        told.insert("fix".into(), fix);
    }
    told.into()
}
