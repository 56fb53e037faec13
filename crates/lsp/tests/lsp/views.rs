//! What an editor draws beside and around a BIR text: its outline, its colours, and what can be checked.

use lsp_types::TextEdit;
use serde_json::{Value, json};

use crate::client::{Client, applied};

const URI: &str = "file:///t.bir";
const TEXT: &str = "\
/* 😀 two
   lines */ system Views {
  const B { N = 2; }
  enum Colour { red, green }
  record Pair { int (0, 9) a; Colour c; }
  Pair[B.N] pairs, others;
  function half(int n): int = n / 2;
  procedure step(int n) { n := half(n); }
  active thread T() {
    int (0, 9) own;
    loc here:
      when own < B.N do { own := own + 1; } goto there;
    loc there: end
      do { step(own); } goto here;
  }
  invariant safe: T.own <= 9;
  ltl lively: [] <> T@here;
}
";

fn opened() -> Client {
    let client = Client::start();
    client.open(URI, TEXT);
    client
}

/// An outline as indented lines.
fn drawn(nodes: &Value, depth: usize, lines: &mut Vec<String>) {
    for node in nodes.as_array().into_iter().flatten() {
        let detail = node["detail"].as_str().map_or(String::new(), |detail| format!(": {detail}"));
        lines.push(format!("{}{}{detail}", "  ".repeat(depth), node["name"].as_str().unwrap_or_default()));
        drawn(&node["children"], depth + 1, lines);
    }
}

#[test]
fn the_outline_has_every_declaration() {
    let mut client = opened();
    let outline = client.of("textDocument/documentSymbol", URI).expect("it is answered");
    let mut lines = Vec::new();
    drawn(&outline, 0, &mut lines);
    let expected = "\
Views
  B
    N: 2
  Colour
    red
    green
  Pair
    a: int (0, 9)
    c: Colour
  pairs: Pair[B.N]
  others: Pair[B.N]
  half: int
  step
  T
    own: int (0, 9)
    here
    there
  safe: invariant
  lively: ltl";
    assert_eq!(lines.join("\n"), expected);
    client.stop();
}

#[test]
fn lenses_ask_for_checks() {
    let mut client = opened();
    let lenses = client.of("textDocument/codeLens", URI).expect("it is answered");
    let shown = |lens: &Value| {
        let command = &lens["command"];
        assert_eq!(command["command"], "birk.check");
        (lens["range"]["start"]["line"].clone(), command["title"].clone(), command["arguments"].clone())
    };
    let lenses: Vec<_> = lenses.as_array().expect("a list").iter().map(shown).collect();
    let expected = [
        (json!(1), json!("check"), json!([URI, null])),
        (json!(15), json!("check safe"), json!([URI, "safe"])),
        (json!(16), json!("check lively"), json!([URI, "lively"])),
    ];
    assert_eq!(lenses, expected);
    client.open("file:///lib.bir", "library L { const N = 1; }");
    assert_eq!(client.of("textDocument/codeLens", "file:///lib.bir"), Ok(Value::Null), "nothing to check");
    client.stop();
}

#[test]
fn colours_tell_what_a_name_stands_for() {
    let mut client = Client::start();
    let hello = client.ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(hello, Ok(Value::Null), "it is not open");
    client.open(URI, TEXT);
    let tokens = client.of("textDocument/semanticTokens/full", URI).expect("it is answered");
    let data: Vec<usize> = serde_json::from_value(tokens["data"].clone()).expect("numbers");
    let types = [
        "keyword",
        "comment",
        "string",
        "number",
        "operator",
        "namespace",
        "type",
        "enum",
        "enumMember",
        "struct",
        "property",
        "variable",
        "parameter",
        "function",
        "class",
    ];
    let lines: Vec<Vec<u16>> = TEXT.lines().map(|line| line.encode_utf16().collect()).collect();
    let (mut line, mut column) = (0, 0);
    let mut found = Vec::new();
    for token in data.chunks(5) {
        (line, column) = if token[0] == 0 { (line, column + token[1]) } else { (line + token[0], token[1]) };
        let text = String::from_utf16(&lines[line][column..column + token[2]]).expect("no character is cut");
        found.push((text, types[token[3]], token[4]));
    }
    let has = |text: &str, kind: &str, modifiers: usize| {
        let is_there = found.iter().any(|own| *own == (text.to_owned(), kind, modifiers));
        assert!(is_there, "{text} {kind} {modifiers}: {found:?}");
    };
    has("/* 😀 two", "comment", 0);
    has("   lines */", "comment", 0);
    has("system", "keyword", 0);
    has("record", "keyword", 0);
    has("Views", "namespace", 1);
    has("N", "variable", 3);
    has("N", "variable", 2);
    has("Colour", "enum", 0);
    has("red", "enumMember", 1);
    has("Pair", "struct", 0);
    has("a", "property", 1);
    has("n", "parameter", 0);
    has("step", "function", 0);
    has("T", "class", 0);
    has("here", "property", 0);
    has("end", "keyword", 0);
    has("9", "number", 0);
    has(":=", "operator", 0);
    client.stop();
}

#[test]
fn a_text_is_formatted_by_one_small_edit() {
    let mut client = Client::start();
    let text = TEXT.replace("own := own + 1", "own:=own+1").replace('\n', "\r\n");
    client.open(URI, &text);
    let params = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = client.ask("textDocument/formatting", params).expect("it is answered");
    let edits: Vec<TextEdit> = serde_json::from_value(edits).expect("they are edits");
    assert_eq!(applied(&text, &edits), birk_lang::fmt::format(&text).expect("it is correct"));
    let text = birk_lang::fmt::format(TEXT).expect("it is correct");
    client.change(URI, 1, &json!([{ "text": text.replace("own := own + 1", "own:=own+1") }]));
    let params = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = client.ask("textDocument/formatting", params.clone()).expect("it is answered");
    let edits: Vec<TextEdit> = serde_json::from_value(edits).expect("they are edits");
    assert_eq!((edits.len(), edits[0].new_text.lines().count()), (1, 1), "only the line that changes: {edits:?}");
    client.change(URI, 2, &json!([{ "text": text }]));
    assert_eq!(client.ask("textDocument/formatting", params), Ok(json!([])), "nothing to do");
    client.stop();
}
