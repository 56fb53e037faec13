//! The conversation itself: begin and end, edits, cancelled requests, imports, texts in every language.

use lsp_types::Position;
use serde_json::{Value, json};

use crate::client::{self, Client, applied, assert_same, load, models, uri_of};

const BROKEN: &str = "system S { int x := true; }";

#[test]
fn a_conversation_begins_and_ends() {
    let client = Client::start();
    client.stop();
    let end = Client::start().break_off(Some("exit"));
    assert_eq!(end.expect_err("it was not shut down").to_string(), "the editor said `exit` without `shutdown`");
    assert_eq!(Client::start().break_off(None).expect_err("nobody is there").to_string(), "the editor is gone");
}

#[test]
fn after_shutdown_nothing_is_answered() {
    let mut client = Client::start();
    client.ask("shutdown", Value::Null).expect("it is answered");
    let refused = client.of("textDocument/documentSymbol", "file:///x.bir");
    assert_eq!(refused, Err("the server is shut down".to_owned()));
    client.break_off(Some("exit")).expect("it was shut down");
}

#[test]
fn what_is_not_understood_is_refused_and_what_is_not_open_is_null() {
    let mut client = Client::start();
    let unknown = client.ask("textDocument/teleport", json!({})).expect_err("there is none");
    assert_eq!(unknown, "there is no method `textDocument/teleport`");
    assert!(client.ask("textDocument/hover", json!({ "position": 3 })).is_err());
    client.tell("textDocument/didOpen", json!({ "nonsense": true }));
    client.tell("$/setTrace", json!({ "value": "off" }));
    let place = Position::new(0, 0);
    assert_eq!(client.at("textDocument/hover", "file:///nowhere.bir", place), Ok(Value::Null));
    assert!(client.ask("workspace/executeCommand", json!({ "command": "birk.check" })).is_err());
    client.stop();
}

#[test]
fn changes_in_units_of_utf_16_are_applied() {
    let mut client = Client::start();
    let uri = "file:///t.bir";
    client.open(uri, "// 😀𝄞ä\r\nsystem S { int x; }");
    assert_eq!(client.diagnostics(uri, 0).len(), 2, "nothing uses `x`, and no thread runs");
    let insert = |line: u32, from: u32, to: u32, text: &str| {
        let range = json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
        json!({ "range": range, "text": text })
    };
    // Behind the first character outside the BMP, which is two units; then in the second line.
    client.change(uri, 1, &json!([insert(0, 5, 7, "é"), insert(1, 11, 14, "boolean")]));
    let text = "// 😀éä\r\nsystem S { boolean x; }";
    let sent = client.diagnostics(uri, 1);
    assert_same(text, &sent, &load("/t.bir".as_ref(), text), "changed");
    client.change(uri, 2, &json!([insert(1, 9, 99, "😀")]));
    let text = "// 😀éä\r\nsystem S 😀";
    let sent = client.diagnostics(uri, 2);
    assert_same(text, &sent, &load("/t.bir".as_ref(), text), "cut");
    client.change(uri, 3, &json!([{ "text": BROKEN }]));
    let sent = client.diagnostics(uri, 3);
    assert_same(BROKEN, &sent, &load("/t.bir".as_ref(), BROKEN), "replaced");
    client.close(uri);
    client.stop();
}

#[test]
fn of_many_changes_in_a_row_only_few_are_checked() {
    // All messages are in the queue before the server begins to read it.
    let (own, other) = lsp_server::Connection::memory();
    let tell = |method: &str, params: Value| {
        let message = lsp_server::Notification { method: method.to_owned(), params };
        own.sender.send(lsp_server::Message::Notification(message)).expect("it is kept");
    };
    let hello = json!({ "capabilities": {} });
    let ask = |id: i32, method: &str, params: Value| {
        let request = lsp_server::Request { id: id.into(), method: method.to_owned(), params };
        own.sender.send(lsp_server::Message::Request(request)).expect("it is kept");
    };
    ask(1, "initialize", hello);
    tell("initialized", json!({}));
    let uri = "file:///t.bir";
    let document = json!({ "uri": uri, "languageId": "bir", "version": 0, "text": BROKEN });
    tell("textDocument/didOpen", json!({ "textDocument": document }));
    for version in 1..=100 {
        let document = json!({ "uri": uri, "version": version });
        tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": BROKEN }] }));
    }
    ask(2, "textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    ask(3, "textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    tell("$/cancelRequest", json!({ "id": 2 }));
    let server = std::thread::spawn(move || {
        let read = |_: &std::path::Path| Err("no files".to_owned());
        birk_lsp::serve(&client::LANGUAGES, &read, other)
    });
    let mut versions = Vec::new();
    let mut codes = Vec::new();
    while versions.is_empty() {
        match own.receiver.recv().expect("it answers") {
            lsp_server::Message::Notification(message) => versions.push(message.params["version"].clone()),
            lsp_server::Message::Response(response) => {
                codes.push((response.id, response.response_result.err().map(|error| error.code)));
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(versions, [100], "only the last version was checked");
    let canceled = lsp_server::ErrorCode::RequestCanceled as i32;
    assert_eq!(codes, [(1.into(), None), (2.into(), Some(canceled)), (3.into(), None)]);
    drop(own);
    assert!(server.join().expect("it does not panic").is_err());
}

#[test]
fn every_language_has_its_diagnostics() {
    let mut client = Client::start();
    for name in ["rejected/chained_comparison.bir", "rejected/dve_brace.dve"] {
        let path = models().join(name);
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let uri = uri_of(&path);
        client.open(&uri, &text);
        let sent = client.diagnostics(&uri, 0);
        assert!(!sent.is_empty(), "{name}");
        assert_same(&text, &sent, &load(&path, &text), name);
        client.close(&uri);
    }
    // By what the editor calls it, where there is no extension; in BIR otherwise.
    let text = "active proctype P() { x = 1 }";
    let document = json!({ "uri": "untitled:one", "languageId": "promela", "version": 0, "text": text });
    client.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let sent = client.diagnostics("untitled:one", 0);
    assert_same(text, &sent, &load("/t.pml".as_ref(), text), "promela");
    client.open("untitled:two", BROKEN);
    let sent = client.diagnostics("untitled:two", 0);
    assert_same(BROKEN, &sent, &load("/t.bir".as_ref(), BROKEN), "bir");
    client.stop();
}

#[test]
fn imports_are_read_beside_the_text_and_from_open_texts() {
    let folder = std::env::temp_dir().join(format!("birk-lsp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (library, system) = (folder.join("lib.bir"), folder.join("main.bir"));
    let stored = "library L {\n  const N = 3;\n}\n";
    std::fs::write(&library, stored).expect("a file can be written");
    let text = "import \"lib.bir\";\nsystem S {\n  int (0, N) x;\n  \
                active thread T() { while (true) { await x == 0; x := N; x := 0; } }\n}\n";
    let mut client = Client::start();
    let (uri, library_uri) = (uri_of(&system), uri_of(&library));
    client.open(&uri, text);
    assert_eq!(client.diagnostics(&uri, 0), []);
    let place = client.at("textDocument/definition", &uri, Position::new(2, 10)).expect("it is answered");
    assert_eq!((&place["uri"], &place["range"]["start"]), (&json!(library_uri), &json!({ "line": 1, "character": 8 })));
    let file = client.at("textDocument/definition", &uri, Position::new(0, 12)).expect("it is answered");
    assert_eq!((&file["uri"], &file["range"]["start"]["line"]), (&json!(library_uri), &json!(0)));
    let refused = json!({ "textDocument": { "uri": uri }, "position": Position::new(2, 10), "newName": "M" });
    let refused = client.ask("textDocument/rename", refused).expect_err("it is declared elsewhere");
    assert_eq!(refused, "`N` is declared in `lib.bir`: rename it there");
    // The editor's own text of the library counts, and a change of it reaches the system.
    client.open(&library_uri, &stored.replace('N', "M"));
    let sent = client.next_diagnostics(|found| found.uri.as_str() == uri && !found.diagnostics.is_empty());
    assert!(sent.diagnostics[0].message.contains("`N`"), "{sent:?}");
    let edit = json!([{ "text": stored.replace("3", "true +") }]);
    client.change(&library_uri, 1, &edit);
    let sent = client.next_diagnostics(|found| {
        found.uri.as_str() == uri && found.diagnostics.iter().any(|found| found.message.starts_with("in `lib.bir`"))
    });
    let inside = sent.diagnostics.iter().find(|found| found.message.starts_with("in `lib.bir`")).expect("it is there");
    assert_eq!(inside.range.start, Position::new(0, 7), "shown where the library is imported");
    let related = inside.related_information.as_ref().expect("the true place");
    assert_eq!(related[0].location.uri.as_str(), library_uri);
    client.close(&library_uri);
    let sent = client.next_diagnostics(|found| found.uri.as_str() == uri && found.diagnostics.is_empty());
    assert_eq!(sent.version, Some(0));
    client.stop();
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn a_fix_is_an_edit() {
    let mut client = Client::start();
    let uri = "file:///t.bir";
    let text = "system S {\n  boolean b;\n  active thread T() { while (true) { b := 1; b := fasle; } }\n}\n";
    client.open(uri, text);
    let sent = client.diagnostics(uri, 0);
    assert_eq!(sent.len(), 2, "{sent:?}");
    let range = sent[0].range;
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", params).expect("it is answered");
    assert_eq!(actions.as_array().map(Vec::len), Some(2), "the fix for this place, and all of them: {actions}");
    assert_eq!(actions[0]["title"], "Replace `1` by `true`");
    assert_eq!((&actions[0]["kind"], &actions[0]["isPreferred"]), (&json!("quickfix"), &json!(true)));
    assert_eq!(actions[0]["diagnostics"], json!([sent[0]]));
    let edits: Vec<lsp_types::TextEdit> =
        serde_json::from_value(actions[0]["edit"]["changes"][uri].clone()).expect("they are edits");
    assert_eq!(applied(text, &edits), text.replace("b := 1", "b := true"));
    let all = client.all_fixes(uri).expect("there are fixes");
    assert_eq!(applied(text, &all), text.replace("b := 1", "b := true").replace("fasle", "false"));
    client.stop();
}
