//! Every view of a state shows the same values. They are decoded here a second time, straight from the variables, their
//! places and the channels of the program, for the models of the corpus and one that has everything in it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_exec::replay::replay_ordinals;
use birk_ir::{Program, ThreadId, ThreadRole, ValueKind, VarId, VarRole};
use serde_json::{Value, json};

use crate::binary::{BIRK, birk, command, folder, root, run};
use crate::server::Server;

/// So many steps of each model are shown.
const STEPS: usize = 12;

/// Names and values, as ITF has them.
type Values = BTreeMap<String, Value>;

const EVERYTHING: &str = "system Everything {
  enum Kind { Request, Reply }
  record Point { byte[2] at; boolean far; }
  record Message { Kind kind; Point[2] ends; set of 1 .. 3 marks; }
  channel of Message [2] to_server;
  lossy channel of byte [2] [3][2] links;
  channel of byte [0] meet;
  Point[2] corners;
  Message last;
  set of 2 .. 4 seen;
  int (-3, 3) low := -2;
  active thread Client() {
    Message own;
    own.kind := Kind.Reply;
    own.ends[1].at[0] := 7;
    own.marks := {1, 3};
    send to_server (own);
    send links[2][1] (9);
    start Worker(3);
    send meet (4);
    corners[1].far := true;
  }
  active thread Server() {
    byte got;
    receive to_server (?last);
    seen := {2, 4};
    receive meet (?got);
  }
  [2] thread Worker(byte job) { Point here; here.at[1] := job; low := 1; }
}
";

/// The models to be shown, by name, loaded.
fn models(folder: &Path) -> Vec<(String, Program)> {
    fs::write(folder.join("everything.bir"), EVERYTHING).expect("writable");
    let corpus = fs::read_dir(root().join("models")).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = corpus.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "bir"));
    assert!(paths.len() > 80, "the corpus is there");
    paths.sort();
    paths.push(folder.join("everything.bir"));
    let load = |path: PathBuf| {
        let program = birk::load_file(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.display().to_string(), program)
    };
    paths.into_iter().map(load).collect()
}

// The second decoding.

/// `link[].kind[]` at `[1, 2]` is `link[1].kind[2]`; indices without a place come last.
fn named(name: &str, indices: &[u32]) -> String {
    let mut indices = indices.iter();
    let mut parts = name.split("[]");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += &format!("[{}]{part}", indices.next().expect("an index for each place"));
    }
    indices.for_each(|index| out += &format!("[{index}]"));
    out
}

/// The indices of an element.
fn indices(shape: &[u32], mut element: u32) -> Vec<u32> {
    let mut found: Vec<u32> = shape.iter().rev().map(|length| (element % length, element /= length).0).collect();
    found.reverse();
    found
}

fn scalar(kind: &ValueKind, value: i64) -> Value {
    match kind {
        ValueKind::Boolean => json!(value == 1),
        ValueKind::Integer => json!(value),
        ValueKind::Names(names) => json!(names[value as usize]),
        ValueKind::Set(first) => {
            json!({"#set": (0..40).filter(|bit| value & (1 << bit) != 0).map(|bit| first + bit).collect::<Vec<_>>()})
        }
    }
}

/// Puts a value where `.ends[1].far` leads.
fn put(place: &mut Value, path: &str, value: Value) {
    let Some(first) = path.chars().next() else {
        *place = value;
        return;
    };
    let end = path[1..].find(['.', '[']).map_or(path.len(), |at| at + 1);
    let (part, rest) = path.split_at(end);
    if first == '.' {
        return put(&mut place[&part[1..]], rest, value);
    }
    let index: usize = part.trim_matches(['[', ']']).parse().expect("an index");
    if place.is_null() {
        *place = json!([]);
    }
    let elements = place.as_array_mut().expect("an array");
    elements.resize(elements.len().max(index + 1), Value::Null);
    put(&mut elements[index], rest, value);
}

/// Everything in the last of these states; those before it are its history, if that is known.
fn decoded(program: &Program, states: &[Vec<u32>], is_trace: bool) -> Values {
    let mut found = Values::new();
    let state = states.last().expect("a state");
    let get = |id: VarId, element: u32| program.layout.slot(id).get(state, element);
    let parts: Vec<VarId> = program.channels.iter().flat_map(|channel| channel.contents.clone()).collect();
    for id in (0..program.variables.len()).map(VarId::new).filter(|id| !parts.contains(id)) {
        let variable = program.variable(id);
        for element in 0..variable.len() {
            let at = indices(&variable.shape, element);
            let value = scalar(&variable.values, get(id, element));
            match variable.role {
                VarRole::Global => _ = found.insert(named(&variable.name, &at), value),
                VarRole::Local(kind) => {
                    let kind = &program.kinds[kind];
                    let thread = program
                        .threads
                        .iter()
                        .find(|thread| program.kinds[thread.kind].name == kind.name && thread.copy == at[0]);
                    let own = &variable.name[kind.name.len()..];
                    found.insert(format!("{}{}", thread.expect("it exists").name, named(own, &at[1..])), value);
                }
                VarRole::Counter(_) | VarRole::Length | VarRole::Fault => {}
            }
        }
    }
    for id in (0..program.threads.len()).map(ThreadId::new) {
        let thread = program.thread(id);
        if program.kinds[thread.kind].role == ThreadRole::Channel {
            continue;
        }
        let is_running = |state: &Vec<u32>| program.location_of(id, state).is_some();
        let here = match program.location_of(id, state) {
            Some(location) => program.kind_of(id).locations[location.index()].name.as_str(),
            None if is_running(&program.initial_state()) => "terminated",
            None if !is_trace => "not running",
            None if states.iter().any(is_running) => "terminated",
            None => "not started",
        };
        found.insert(format!("{}@", thread.name), here.into());
    }
    for channel in &program.channels {
        let length = program.variable(channel.length);
        for copy in 0..length.len() {
            let mut messages = Vec::new();
            for place in 0..get(channel.length, copy) as u32 {
                let mut message = Value::Null;
                for &id in &channel.contents {
                    let part = program.variable(id);
                    let before = length.shape.len() + 1;
                    let places = &part.shape[..before];
                    let own = part.len() / places.iter().product::<u32>();
                    let first = (copy * length.hi as u32 + place) * own;
                    for element in first..first + own {
                        let at = indices(&part.shape, element);
                        let path = named(&part.name, &at);
                        let start = named(&channel.name, &at[..before]).len();
                        put(&mut message, &path[start..], scalar(&part.values, get(id, element)));
                    }
                }
                messages.push(message);
            }
            found.insert(named(&channel.name, &indices(&length.shape, copy)), Value::Array(messages));
        }
    }
    found
}

/// As people read it.
fn text(value: &Value) -> String {
    let listed = |values: Vec<String>| values.join(", ");
    match value {
        Value::Object(set) if set.contains_key("#set") => {
            format!("{{{}}}", listed(set["#set"].as_array().expect("a list").iter().map(text).collect()))
        }
        Value::Object(fields) => format!("({})", listed(fields.values().map(text).collect())),
        Value::Array(values) => format!("[{}]", listed(values.iter().map(text).collect())),
        Value::String(name) => name.clone(),
        value => value.to_string(),
    }
}

/// The values by name of a tree as the reports have it: `expected` says where it ends.
fn flat(name: &str, value: &Value, expected: &Values, found: &mut Values) {
    match value {
        Value::Array(elements) if !expected.contains_key(name) => {
            for (index, element) in elements.iter().enumerate() {
                flat(&format!("{name}[{index}]"), element, expected, found);
            }
        }
        Value::Object(fields) if !expected.contains_key(name) => {
            for (field, value) in fields {
                flat(&format!("{name}.{field}"), value, expected, found);
            }
        }
        _ => assert!(found.insert(name.to_owned(), value.clone()).is_none(), "{name} is there twice"),
    }
}

fn flattened(state: &Value, expected: &Values) -> Values {
    let mut found = Values::new();
    for (name, value) in state.as_object().expect("an object").iter().filter(|(name, _)| *name != "#meta") {
        flat(name, value, expected, &mut found);
    }
    found
}

/// Sets as the JSON report has them.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(set) if set.contains_key("#set") => set["#set"].clone(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        Value::Array(values) => values.iter().map(plain).collect(),
        value => value.clone(),
    }
}

/// A trace of a model: its replay line, its states, and what is in them.
struct Walk {
    steps: String,
    threads: Vec<String>,
    values: Vec<Values>,
}

impl Walk {
    fn new(program: &Program, steps: &str) -> Self {
        let (initial, ordinals) = steps.split_once(':').expect("which initial state");
        let ordinals = ordinals.split([',', '(', ')']).filter(|part| !part.is_empty());
        let ordinals: Vec<u32> = ordinals.map(|part| part.parse().expect("a number")).collect();
        let initial = initial.parse().expect("a number");
        let run = replay_ordinals(program, initial, &ordinals, None).expect("it is a trace");
        let values = (1..=run.states.len()).map(|n| decoded(program, &run.states[..n], true)).collect();
        let thread = |step: &birk_ir::Step| program.thread(program.transition(step.transition).thread).name.clone();
        Self { steps: steps.to_owned(), threads: run.steps.iter().map(thread).collect(), values }
    }

    /// What a step changed, except the location of its own thread.
    fn changes(&self, at: usize) -> Vec<(&String, &Value, &Value)> {
        let own = format!("{}@", self.threads[at]);
        let both = self.values[at].iter().zip(&self.values[at + 1]);
        let changed = both.filter(|((name, before), (_, after))| before != after && **name != own);
        changed.map(|((name, before), (_, after))| (name, before, after)).collect()
    }
}

/// A walk at random through a model, with the JSON report and the ITF file of it.
fn walk(folder: &Path, model: &str, program: &Program) -> (Walk, Value, PathBuf) {
    let file = folder.join("walk.itf.json");
    let _ = fs::remove_file(&file);
    let mut simulate = command(BIRK);
    simulate.args(["simulate", model, "--runs", "1", "--seed", "3", "--format", "json", "--trace"]).arg(&file);
    let answer = run(simulate.args(["--steps", &STEPS.to_string()]));
    assert!(matches!(answer.code, Some(0 | 1)), "{model}: {}", answer.err);
    let trace = answer.json()["traces"][0].clone();
    (Walk::new(program, trace["replay"].as_str().expect("a line")), trace, file)
}

#[test]
fn in_json_and_itf() {
    let folder = folder("shown_json");
    for (model, program) in models(&folder) {
        let (walk, trace, file) = walk(&folder, &model, &program);
        let itf: Value = serde_json::from_str(&fs::read_to_string(&file).expect("written")).expect("JSON");
        for (at, values) in walk.values.iter().enumerate() {
            let expected: Values = values.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
            assert_eq!(flattened(&trace["states"][at], &expected), expected, "{model}: state {at}");
            // An instance of a thread is an element of a list.
            let in_file = |name: &String| match name.find(['.', '@', '[']) {
                Some(at) if program.threads.iter().any(|thread| name.starts_with(&thread.name)) => {
                    let index = name[at..].find(']').filter(|_| name[at..].starts_with('[')).map(|end| at + end + 1);
                    let index = index.map_or(at, |end| end);
                    let end = name[index + 1..].find(['.', '[']).map_or(name.len(), |at| index + 1 + at);
                    format!("{}{}{}{}", &name[..at], &name[index..end], &name[at..index], &name[end..])
                }
                _ => name.clone(),
            };
            let expected: Values = values.iter().map(|(name, value)| (in_file(name), value.clone())).collect();
            assert_eq!(flattened(&itf["states"][at], &expected), expected, "{model}: state {at} of the file");
        }
        for at in 0..walk.threads.len() {
            let expected: Values =
                walk.changes(at).iter().map(|(name, _, now)| ((*name).clone(), plain(now))).collect();
            let changes = trace["steps"][at]["changes"].as_object().expect("an object");
            assert_eq!(changes.clone().into_iter().collect::<Values>(), expected, "{model}: step {}", at + 1);
        }
        // What was written is read, with the steps or by the states alone.
        let mut bare = itf.clone();
        bare["#meta"] = Value::Null;
        for given in [&itf, &bare] {
            fs::write(&file, given.to_string()).expect("writable");
            let answer = run(command(BIRK).args(["replay", &model]).arg(&file));
            answer.exits(0).prints("the trace fits the model");
        }
    }
}

#[test]
fn in_texts_and_charts() {
    let folder = folder("shown_text");
    for (model, program) in models(&folder) {
        let (walk, ..) = walk(&folder, &model, &program);
        let table = run(command(BIRK).args(["replay", &model, &walk.steps])).exits(0).out;
        let rows: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
        let chart = run(command(BIRK).args(["replay", &model, &walk.steps, "--format", "mermaid"])).exits(0).out;
        let notes: Vec<&str> = chart.lines().filter_map(|line| line.trim().strip_prefix("Note over ")).collect();
        assert_eq!((rows.len(), notes.len()), (walk.threads.len() + 1, walk.threads.len() + 1), "{model}:\n{table}");
        for at in 0..walk.threads.len() {
            let changes = walk.changes(at);
            let said = |(name, old, new): &(&String, &Value, &Value)| format!("{name}: {} → {}", text(old), text(new));
            let mut expected: Vec<String> = changes.iter().map(said).collect();
            // What is a part of another comes after it.
            expected.sort_by_key(|text| std::cmp::Reverse(text.len()));
            let mut row = rows[at + 1].to_owned();
            for change in &expected {
                assert!(row.contains(change), "{model}: `{change}` is not in {row}");
                row = row.replacen(change, "", 1);
            }
            assert_eq!(row.matches('→').count(), 1, "{model}: more than {expected:?} in {row}");

            let others = changes.iter().filter(|(name, ..)| !name.ends_with('@'));
            let mut expected: Vec<String> = others.map(|(name, _, new)| format!("{name} = {}", text(new))).collect();
            let mut drawn: Vec<&str> = notes[at].split("<br/>").skip(1).collect();
            expected.sort_unstable();
            drawn.sort_unstable();
            assert_eq!(drawn, expected, "{model}: step {}", at + 1);
        }
    }
}

#[test]
fn in_guided_simulation() {
    let folder = folder("shown_guided");
    for (model, program) in models(&folder) {
        let (walk, _, file) = walk(&folder, &model, &program);
        let script: String = (0..walk.values.len()).map(|at| format!("jump {at}\nstate\n")).collect();
        let mut guided = command(BIRK);
        guided.args(["simulate", "--guided", &model, "--trace"]).arg(&file).stdin(Stdio::piped());
        let mut child = guided.spawn().expect("birk can be run");
        child.stdin.take().expect("it listens").write_all(script.as_bytes()).expect("it hears");
        let out = String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("UTF-8");
        let answers: Vec<&str> = out.split("> state\n").skip(1).collect();
        assert_eq!(answers.len(), walk.values.len(), "{model}");
        for (at, answer) in answers.iter().enumerate() {
            let lines = answer.lines().take_while(|line| !line.starts_with("> "));
            let shown: BTreeMap<String, String> = lines
                .map(|line| {
                    let (name, value) = line[2..].split_once(" = ").expect("a value");
                    let mark = if line.starts_with('*') { "* " } else { "" };
                    (name.trim().to_owned(), format!("{mark}{value}"))
                })
                .collect();
            let before = &walk.values[at.saturating_sub(1)];
            let expected = walk.values[at].iter().map(|(name, value)| {
                let text = match &before[name] == value {
                    true => text(value),
                    false => format!("* {}  (was {})", text(value), text(&before[name])),
                };
                (name.clone(), text)
            });
            assert_eq!(shown, expected.collect(), "{model}: state {at}");
        }
    }
}

#[test]
fn in_the_explorer() {
    let folder = folder("shown_explorer");
    for (model, program) in models(&folder) {
        let server = Server::of(&model);
        let start = server.ask("start?");
        let names = start["names"].as_array().expect("names");
        let check = |node: &Value, state: Vec<u32>| {
            let values = node["values"].as_array().expect("values");
            assert_eq!(names.len(), values.len(), "{model}");
            let text_of = |value: &Value| value.as_str().expect("a text").to_owned();
            let shown: BTreeMap<String, String> = names.iter().map(text_of).zip(values.iter().map(text_of)).collect();
            let expected = decoded(&program, &[state], false);
            assert_eq!(shown, expected.iter().map(|(name, value)| (name.clone(), text(value))).collect(), "{model}");
        };
        let roots = start["nodes"].as_array().expect("a list");
        let initial = program.initial_states();
        assert_eq!(roots.len(), initial.len().min(50), "{model}");
        roots.iter().zip(&initial).for_each(|(node, state)| check(node, state.clone()));
        let interpreter = Interpreter::new(&program, &[]);
        let mut states: HashMap<u64, Vec<u32>> = (0..).zip(initial).take(roots.len()).collect();
        for number in 0..20 {
            let Some(state) = states.get(&number) else { break };
            let mut batch = Successors::new(interpreter.words());
            interpreter.successors(state, &mut batch);
            let expanded = server.ask(&format!("expand?node={number}&"));
            for (i, node) in expanded["nodes"].as_array().into_iter().flatten().enumerate() {
                check(node, batch.state(i).to_vec());
                states.insert(node["id"].as_u64().expect("a number"), batch.state(i).to_vec());
            }
        }
    }
}

#[test]
fn in_graphs() {
    let folder = folder("shown_graph");
    let mut drawn = 0;
    for (model, program) in models(&folder) {
        let answer = run(command(BIRK).args(["graph", &model, "--max-states", "400"]));
        if answer.code == Some(2) {
            continue;
        }
        drawn += 1;
        let labels = answer.out.lines().filter(|line| line.contains("[label=") && !line.contains("->"));
        let labels: Vec<&str> = labels.filter_map(|line| line.split('"').nth(1)).collect();
        let interpreter = Interpreter::new(&program, &[]);
        let mut states = program.initial_states();
        let mut known: HashMap<Vec<u32>, ()> = states.iter().map(|state| (state.clone(), ())).collect();
        let mut batch = Successors::new(interpreter.words());
        let mut at = 0;
        while at < states.len() {
            batch.clear();
            interpreter.successors(&states[at], &mut batch);
            for i in 0..batch.len() {
                if known.insert(batch.state(i).to_vec(), ()).is_none() {
                    states.push(batch.state(i).to_vec());
                }
            }
            at += 1;
        }
        assert_eq!(labels.len(), states.len(), "{model}");
        for (label, state) in labels.iter().zip(states) {
            let mut lines: Vec<&str> = label.split("\\l").filter(|line| !line.is_empty()).collect();
            let expected = decoded(&program, &[state], false);
            let mut expected: Vec<String> =
                expected.iter().map(|(name, value)| format!("{name} = {}", text(value))).collect();
            lines.sort_unstable();
            expected.sort_unstable();
            assert_eq!(lines, expected, "{model}");
        }
    }
    assert!(drawn > 20, "only {drawn} models are small");
}

#[test]
fn in_the_report_page() {
    let folder = folder("shown_page");
    let file = folder.join("out.html");
    let mut shown = 0;
    for (model, program) in models(&folder) {
        let mut check = command(BIRK);
        check.args(["check", &model, "--max-states", "3000", "--format", "json", "--report"]).arg(&file);
        let report = run(&mut check).json();
        let page = fs::read_to_string(&file).expect("it was written");
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let data: Value = serde_json::from_str(data.expect("the page has its data")).expect("it is JSON");
        let word = |number: &Value| data["words"][number.as_u64().expect("a number") as usize].clone();
        for (index, trace) in data["traces"].as_array().expect("a list").iter().enumerate() {
            let option =
                page.split(&format!("<option value=\"{index}\">")).nth(1).and_then(|rest| rest.split(" (").next());
            let reported = report["traces"].as_array().into_iter().flatten();
            let reported = reported.clone().find(|trace| trace["property"].as_str() == option).expect("it is reported");
            let walk = Walk::new(&program, reported["replay"].as_str().expect("a line"));
            let names = data["names"].as_array().expect("names").iter().map(|name| name.as_str().expect("a text"));
            let names: Vec<String> = names.map(str::to_owned).collect();
            let initial = trace["initial"].as_array().expect("a list").iter().map(&word);
            let mut now: Vec<String> = initial.map(|text| text.as_str().expect("a text").to_owned()).collect();
            for (at, values) in walk.values.iter().enumerate() {
                if at > 0 {
                    for change in trace["steps"][at - 1]["c"].as_array().expect("a list").chunks(2) {
                        now[change[0].as_u64().expect("a number") as usize] = text(&word(&change[1]));
                    }
                }
                let shown: BTreeMap<&String, &String> = names.iter().zip(&now).collect();
                let expected: BTreeMap<&String, String> =
                    values.iter().map(|(name, value)| (name, text(value))).collect();
                let expected: BTreeMap<&String, &String> =
                    expected.iter().map(|(name, value)| (*name, value)).collect();
                assert_eq!(shown, expected, "{model}: state {at}");
            }
            shown += 1;
        }
    }
    assert!(shown > 20, "only {shown} traces");
}

/// What the views showed before they had one way to show a state.
#[test]
fn an_empty_channel_is_empty_everywhere() {
    let folder = folder("shown_empty");
    fs::write(folder.join("everything.bir"), EVERYTHING).expect("writable");
    let model = folder.join("everything.bir").display().to_string();
    let report = birk(&format!("simulate {model} --runs 1 --steps 1 --seed 3 --format json")).json();
    let start = &report["traces"][0]["states"][0];
    assert_eq!(start["to_server"], json!([]));
    assert_eq!(start["links"], json!([[[], []], [[], []], [[], []]]));
    assert_eq!(start["corners"], json!([{"at": [0, 0], "far": false}, {"at": [0, 0], "far": false}]));
    assert_eq!((&start["seen"], &start["Worker[1]@"]), (&json!([]), &"not started".into()));
    let names: Vec<&String> = start.as_object().expect("an object").keys().collect();
    let expected = "to_server links corners last seen low Client@ Client.own Server@ Server.got Worker[0]@ Worker[1]@ \
                    Worker[0].job Worker[1].job Worker[0].here Worker[1].here";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    for view in [
        birk(&format!("graph {model} --max-states 100000")).out,
        birk(&format!("replay {model} 0:")).out,
        birk(&format!("simulate {model} --runs 1 --steps 9 --format json")).out,
    ] {
        assert!(!view.contains("len(") && !view.contains("(not running)") && !view.contains("to_server[0]"), "{view}");
    }
}

/// In a trace, who did not run yet and who does not run any more are told apart.
#[test]
fn a_thread_that_is_not_running_has_terminated_or_was_not_started() {
    let folder = folder("shown_threads");
    let text = "system S { boolean again; active thread Boss() { start Worker(); await !Worker@busy; again := true; }
        thread Worker() { loc busy: do { skip; } return; } invariant p: !again; }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let model = folder.join("s.bir").display().to_string();
    let report = birk(&format!("check {model} --format json")).exits(1).json();
    let states = report["traces"][0]["states"].as_array().expect("a list").iter();
    let places: Vec<(&str, &str)> = states
        .map(|state| (state["Boss@"].as_str().expect("a text"), state["Worker@"].as_str().expect("a text")))
        .collect();
    let [(_, first), .., (boss, last)] = places[..] else { panic!("{places:?}") };
    assert_eq!((first, boss, last), ("not started", "terminated", "terminated"), "{places:?}");
    assert!(places.iter().any(|(_, worker)| *worker == "busy"), "{places:?}");
    let graph = birk(&format!("graph {model}")).exits(0).out;
    assert!(graph.contains("Worker@ = not running") && graph.contains("Boss@ = terminated"), "{graph}");
    let shown = birk(&format!("show {model}")).exits(0).out;
    assert!(shown.contains("Worker@[1]: {busy, not running}") && shown.contains(" -> terminated"), "{shown}");
}

/// On a terminal, or where a program says how wide its window is, no line is wider, and no word is broken.
#[test]
fn reports_fit_the_width() {
    let models = [
        "models/german.bir --property all_share",
        "models/german_liveness.bir",
        "models/raft_election.bir",
        "models/philosophers2.bir",
        "models/sum_to_n.bir",
        "models/sliding_window.bir --max-depth 12",
        "models/counters_mod8.bir -D K=8 --max-depth 9",
    ];
    for model in models {
        let report = |width: Option<&str>| {
            let mut check = command(BIRK);
            check.arg("check").args(model.split(' ')).args(["--progress", "off"]);
            width.map(|width| check.env("COLUMNS", width));
            run(&mut check).out
        };
        let whole = report(None);
        for width in [80, 60] {
            let folded = report(Some(&width.to_string()));
            for line in folded.lines().filter(|line| line.trim_start().contains(' ')) {
                let is_word = line.split_whitespace().any(|word| word.chars().count() > width / 2);
                assert!(line.chars().count() <= width || is_word, "{model} at {width}: {line}\n{folded}");
            }
            // Nothing is lost, whatever the times are.
            let words = |text: &str| {
                let words = text.split_whitespace().filter(|word| *word != "\\");
                words
                    .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                    .map(str::to_owned)
                    .collect::<HashSet<_>>()
            };
            let missing: Vec<String> = words(&whole).difference(&words(&folded)).cloned().collect();
            assert!(missing.is_empty(), "{model} at {width}: {missing:?}\n{folded}");
        }
    }
}

/// Of a long trace, both ends are shown, with the number of steps between them and the way to see all.
#[test]
fn the_middle_of_a_long_trace_is_left_out() {
    let folder = folder("shown_long");
    let text = "system Long { int (0, 300) x; active thread T() { loc l: do { x := x + 1; } goto l; } invariant low: x < 300; }";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let check = |options: &[&str]| run(command(BIRK).current_dir(&folder).args(["check", "m.bir"]).args(options));
    let answer = check(&["--trace", "t.json"]).exits(1);
    let gap = "  … 240 steps hidden, 21 to 260; --trace FILE saves all, and birk replay shows them\n";
    let answer = answer.prints(gap).prints("\n   20  T").prints("\n  261  T").prints("x: 299 → 300");
    assert!(!answer.out.contains("\n   21  T") && !answer.out.contains("\n  260  T"), "{}", answer.out);
    assert!(answer.out.contains("replay: too long to show; --trace FILE saves it"), "{}", answer.out);
    let whole = run(command(BIRK).current_dir(&folder).args(["replay", "m.bir", "t.json"])).exits(0);
    assert!((1..=300).all(|step| whole.out.contains(&format!("x: {} → {step} ", step - 1))), "{}", whole.out);
    let circle =
        text.replace("x := x + 1", "x := (x + 1) % 300").replace("invariant low: x < 300", "ltl never: <> (x == 300)");
    fs::write(folder.join("m.bir"), circle).expect("writable");
    check(&["--property", "never"]).exits(1).prints("… 240 steps hidden, 21 to 260;").prints("  forever:\n    1  T");
}
