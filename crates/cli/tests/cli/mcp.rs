//! `birk mcp`, as a coding assistant uses it: models are checked, repaired by what the answers say, and checked again; whatever is asked,
//! the server goes on.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{BIRK, command, root};

/// An answer has at most so many bytes, unless more was asked for.
const MOST: usize = 2_100;

/// An assistant.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start() -> Self {
        let mut server = command(BIRK);
        server.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().expect("birk can be started");
        let (to, from) = (server.stdin.take(), server.stdout.take().expect("it has an output"));
        let mut client = Self { server, to, from: BufReader::new(from), next: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = client.ask("initialize", &hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "birk");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    fn say(&mut self, line: &str) {
        let to = self.to.as_mut().expect("it is open");
        writeln!(to, "{line}").and_then(|()| to.flush()).expect("the server listens");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the server answers");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["jsonrpc"], "2.0");
        answer
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.hear();
        assert_eq!(answer["id"], id);
        answer
    }

    /// Calls a tool: its result.
    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let is_long = arguments["long"] == true || ["language", "format"].contains(&name);
        let answer = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(is_long || text.len() <= MOST, "{} bytes: {text}", text.len());
        if let Some(data) = result.get("structuredContent") {
            assert_eq!(serde_json::from_str::<Value>(text).ok().as_ref(), Some(data));
        }
        result.clone()
    }

    fn check(&mut self, text: &str) -> Value {
        self.call("check", &json!({ "text": text }))["structuredContent"].clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.server.wait();
    }
}

fn model(name: &str) -> String {
    fs::read_to_string(root().join("models").join(name)).expect("the model is there")
}

/// Applies the fixes of some errors, the last one first.
fn repaired(text: &str, errors: &Value) -> String {
    let place = |fix: &Value, name: &str| fix[name].as_u64().expect("a place") as usize;
    let mut fixes: Vec<&Value> =
        errors.as_array().expect("a list").iter().filter_map(|error| error.get("fix")).collect();
    fixes.sort_by_key(|fix| std::cmp::Reverse(place(fix, "start")));
    let mut text = text.to_owned();
    for fix in fixes {
        text.replace_range(place(fix, "start")..place(fix, "end"), fix["replacement"].as_str().expect("a text"));
    }
    text
}

/// Three models with errors are repaired by nothing but the fixes in the answers.
#[test]
fn broken_models_are_repaired_by_what_the_answers_say() {
    let mut client = Client::start();
    for name in ["near_miss_name", "missing_semicolon", "chained_comparison"] {
        let mut text = model(&format!("rejected/{name}.bir"));
        let mut rounds = 0;
        let answer = loop {
            let answer = client.check(&text);
            if answer["verdict"].is_string() {
                break answer;
            }
            rounds += 1;
            assert!(rounds < 5, "{name} is not repaired: {answer}");
            text = repaired(&text, &answer["errors"]);
        };
        assert!(rounds > 0 && answer["properties"].as_array().is_some_and(|list| !list.is_empty()), "{name}: {answer}");
    }
}

/// A counterexample tells what to repair: who waits for what, and at which line.
#[test]
fn a_counterexample_says_what_is_wrong() {
    let mut client = Client::start();
    let text = model("philosophers_ring.bir");
    let answer = client.call("check", &json!({ "text": text, "constants": { "N": 3 }, "search": "bfs" }));
    let found = &answer["structuredContent"];
    assert_eq!((&found["verdict"], &answer["isError"]), (&json!("violated"), &json!(false)));
    let shown = &found["counterexample"];
    assert_eq!(shown["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!(shown["steps"][0], "1 Philosopher[0]: thinking → hungry, line 17; taken[0] = true");
    assert!(shown["why"].to_string().contains("waits for `!taken[(index + 1) % N]` (taken[1] = true)"), "{shown}");
    let answer = client.call("check", &json!({ "text": model("philosophers_waiter.bir") }));
    assert_eq!(answer["structuredContent"]["coverage"]["grade"], "A", "{answer}");
    // A long one is cut in the middle, unless the whole is asked for.
    let text = "system T { int (0, 40) x; active thread P() { loc a: when x < 40 do { x := x + 1; } goto a; } invariant i: x < 30; }";
    for (is_long, steps) in [(false, 17), (true, 30)] {
        let arguments = json!({ "text": text, "long": is_long });
        let answer = client.call("check", &arguments);
        let found = answer["structuredContent"]["counterexample"]["steps"].as_array().map(Vec::len);
        assert_eq!(found, Some(steps), "{answer}");
    }
}

#[test]
fn every_tool_answers() {
    let mut client = Client::start();
    let list = client.ask("tools/list", &Value::Null);
    let names: Vec<&str> =
        list["result"]["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["check", "simulate", "show", "format", "explain", "language"]);
    let text = model("peterson2.bir");
    let says = |result: &Value, part: &str| {
        assert!(result["isError"] == false && result.to_string().contains(part), "`{part}` in {result}");
    };
    says(&client.call("simulate", &json!({ "text": text, "steps": 5, "seed": 3 })), "(start)");
    says(&client.call("show", &json!({ "text": text })), "state:");
    says(&client.call("explain", &json!({ "code": "E0020" })), "E0020");
    says(&client.call("language", &json!({})), "system");
    says(&client.call("format", &json!({ "text": "system  T { int x; }" })), "system T {");
    let path = root().join("models/promela/peterson.pml");
    let path = if path.exists() { path } else { root().join("models/peterson2.bir") };
    says(&client.call("check", &json!({ "path": path })), "verdict");
    // The page is the one of the book.
    let page = fs::read_to_string(root().join("docs/src/cheat-sheet.md")).expect("the page is there");
    assert_eq!(client.call("language", &json!({}))["content"][0]["text"], page);
}

/// What cannot be is refused with the reason, and the next question is answered.
#[test]
fn nothing_ends_the_server() {
    let mut client = Client::start();
    let mut refused = |params: &Value, reason: &str| {
        let answer = client.ask("tools/call", params);
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(reason)), "{reason}: {answer}");
    };
    refused(&json!({ "name": "chek" }), "no tool `chek`");
    refused(&json!({ "name": "check" }), "either `text` or `path`");
    refused(&json!({ "name": "check", "arguments": { "text": "", "report": "x.html" } }), "no argument `report`");
    refused(&json!({ "name": "check", "arguments": { "text": 3 } }), "`text` is a text");
    refused(&json!({ "name": "explain" }), "`code` is missing");
    let folder = root().join("models/cookbook");
    refused(&json!({ "name": "check", "arguments": { "path": folder } }), "is a folder; `path` is one model");
    let answer = client.call("check", &json!({ "text": "system T { int x; }", "search": "fast" }));
    assert!(answer["isError"] == true && answer.to_string().contains("fast"), "{answer}");
    assert_eq!(client.ask("resources/list", &Value::Null)["error"]["code"], -32601);
    client.say("{ no json");
    assert_eq!(client.hear()["error"]["code"], -32700);
    client.say("[1, 2]");
    assert_eq!(client.hear()["error"]["code"], -32600);
    assert_eq!(client.ask("ping", &Value::Null)["result"], json!({}));
}

/// A call that is cancelled ends, and has no answer; meanwhile the server says that it is there.
#[test]
fn a_call_can_be_cancelled() {
    let mut client = Client::start();
    let arguments = json!({ "path": root().join("models/counters_mod8.bir"), "constants": { "K": 12 }, "time": "1h" });
    let call = json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": { "name": "check", "arguments": arguments } });
    client.send(&call);
    let since = Instant::now();
    assert_eq!(client.ask("ping", &Value::Null)["result"], json!({}));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "long" } }));
    assert!(client.ask("tools/list", &Value::Null)["result"].is_object());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

/// However long the names, the values and the lists of a model are, an answer can be read at once.
#[test]
fn answers_stay_short() {
    let mut client = Client::start();
    let (name, many) = ("very_".repeat(20), 40);
    let variables: String = (0..many).map(|one| format!("byte {name}{one};\n")).collect();
    let actions: String = (0..many).map(|one| format!("{name}{one} := ({name}{one} + 1) % 200;\n")).collect();
    let goals: String = (0..many).map(|one| format!("invariant {name}i{one}: {name}{one} < 100;\n")).collect();
    let text = format!(
        "system T {{ {variables} active thread P() {{ loc a: when true do {{ {actions} }} goto a; }} {goals} }}"
    );
    // `call` looks at the length.
    let answer = client.check(&text);
    assert_eq!(answer["verdict"], "violated");
    assert!(answer["counterexample"]["steps"].as_array().is_some_and(|steps| steps.len() == 3), "{answer}");
    assert!(answer["left_out"].is_string(), "{answer}");
    let long = client.call("check", &json!({ "text": text, "long": true }));
    assert_eq!(long["structuredContent"]["properties"].as_array().map(Vec::len), Some(many + 2));
}
