//! `birk lsp` as an editor sees it: messages over standard input and output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::binary::{BIRK, command};

fn message(value: &Value) -> String {
    let text = value.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// The next message of the server.
fn heard(output: &mut BufReader<ChildStdout>) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).expect("the server speaks");
        match line.trim().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().expect("a length"),
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).expect("the whole message");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn an_editor_is_served() {
    let mut server = command(BIRK);
    server.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().expect("the command can be run");
    let mut input = server.stdin.take().expect("it listens");
    let mut output = BufReader::new(server.stdout.take().expect("it speaks"));
    let mut say = |value: Value| input.write_all(message(&value).as_bytes()).expect("it listens");
    say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
    assert!(heard(&mut output)["result"]["capabilities"].is_object());
    say(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let document =
        json!({"uri": "file:///model.bir", "languageId": "bir", "version": 1, "text": "system S { x := 1; }"});
    say(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
    let published = loop {
        let message = heard(&mut output);
        if message["method"] == "textDocument/publishDiagnostics" {
            break message;
        }
    };
    assert!(published["params"]["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{published}");
    say(json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    while heard(&mut output)["id"] != 2 {}
    say(json!({"jsonrpc": "2.0", "method": "exit"}));
    assert!(server.wait().expect("it ends").success());
}
