//! Names in BIR: declarations, uses, other names, hovers and completions, with their scopes.

use lsp_types::TextEdit;
use serde_json::{Value, json};

use crate::client::{Client, applied, load, offset_of, position_of};

const URI: &str = "file:///t.bir";

/// A text in which places are marked by `^` and a digit before a name; the marks are taken out.
struct Text {
    text: String,
    marks: Vec<(char, usize)>,
}

impl Text {
    fn of(marked: &str) -> Self {
        let (mut text, mut marks) = (String::new(), Vec::new());
        let mut rest = marked.chars();
        while let Some(character) = rest.next() {
            match character {
                '^' => marks.push((rest.next().expect("a digit follows"), text.len())),
                character => text.push(character),
            }
        }
        Self { text, marks }
    }

    fn place(&self, mark: char) -> lsp_types::Position {
        let (_, at) = self.marks.iter().find(|(own, _)| *own == mark).expect("the mark is in the text");
        position_of(&self.text, *at)
    }

    fn open(&self) -> Client {
        let client = Client::start();
        client.open(URI, &self.text);
        client
    }

    /// The marks at the places of ranges.
    fn marks_of(&self, ranges: &Value, key: &str) -> String {
        let place = |range: &Value| -> lsp_types::Position {
            serde_json::from_value(range[key]["start"].clone()).expect("a range has a begin")
        };
        let mark = |range: &Value| {
            let at = offset_of(&self.text, place(range));
            self.marks.iter().find(|(_, own)| *own == at).map_or('?', |(mark, _)| *mark)
        };
        ranges.as_array().into_iter().flatten().map(mark).collect()
    }
}

/// Everything that has a name, and the same name several times.
const SHADOWS: &str = "\
system Shadows {
  const ^1x = 2;
  const Block { ^2y = ^3x + 1; }
  enum Colour { ^4x, green }
  record Pair { int (0, 9) ^5x; Colour c; }
  Pair[3] pairs;
  int (0, 9) ^6g;
  function f(int (0, 9) ^7x): int = ^8x + Block.^9y;
  procedure p(int ^ax) { ^bx := ^cg; }
  active [2] thread T(int me) {
    int (0, 9) ^dx;
    int (0, 9) ^zown;
    while (true) {
      ^ex := ^fx + f(1) - 4;
      p(^hx);
      for (^ix : 0 .. 1) { g := ^jx; }
      for (i : 0 .. 1) { g := sum (k : 0 .. 1) ^Aown; }
      g := sum (^kx : 0 .. 1) ^lx;
      g := (let ^mx = 1 in ^nx) + ^ox;
      pairs[me].^px := 1;
      pairs[0].c := Colour.^qx;
      ^rx: skip;
    }
  }
  invariant ^sx: forall (i : 0 .. 1) T[i].^tx >= 0 && ^ux == 2 && !(T[0]@^vx && T[1]@^wx);
  expect holds ^yx;
}
";

#[test]
fn a_name_leads_to_its_innermost_declaration() {
    let text = Text::of(SHADOWS);
    let mut client = text.open();
    let pairs = [
        ("31u", '1'), // the constant
        ("9", '2'),   // behind the dot of a block
        ("8", '7'),   // the parameter of a function
        ("b", 'a'),   // the parameter of a procedure
        ("efhot", 'd'),
        ("c", '6'),
        ("A", 'z'), // through two scopes
        ("j", 'i'),
        ("l", 'k'),
        ("n", 'm'),
        ("p", '5'),
        ("q", '4'),
        ("vw", 'r'),
        ("y", 's'),
    ];
    for (uses, declared) in pairs {
        for mark in uses.chars() {
            let found = client.at("textDocument/definition", URI, text.place(mark)).expect("it is answered");
            assert_eq!(text.marks_of(&json!([found]), "range"), declared.to_string(), "{mark}");
        }
    }
    client.stop();
}

/// Names in the types and statements that hold others.
const HELD: &str = "\
system Held {
  const ^1N = 2;
  typealias ^2Id int (0, ^aN - 1);
  record ^3Entry { int (0, 9) ^4term; }
  sequence of ^bEntry [^cN] log;
  map of ^dId to ^eEntry held;
  map of 0 .. ^fN to byte other;
  channel of Id [1][^gN] ^5wire;
  active [N] thread T(Id ^6me) {
    log := append(log, Entry(^hN));
    held[^ime] := last(log);
    log[0].^jterm := head(log).^kterm + held[me].^lterm;
    broadcast ^mwire (^nme) except ^ome;
  }
}
";

#[test]
fn names_in_sequences_maps_and_broadcasts_are_resolved() {
    let text = Text::of(HELD);
    let mut client = text.open();
    for (uses, declared) in [("acfgh", '1'), ("d", '2'), ("be", '3'), ("jkl", '4'), ("m", '5'), ("ino", '6')] {
        for mark in uses.chars() {
            let found = client.at("textDocument/definition", URI, text.place(mark)).expect("it is answered");
            assert_eq!(text.marks_of(&json!([found]), "range"), declared.to_string(), "{mark}");
        }
    }
    client.stop();
}

#[test]
fn all_uses_are_found_and_writes_are_told_from_reads() {
    let text = Text::of(SHADOWS);
    let mut client = text.open();
    let uses = |client: &mut Client, mark: char, with: bool| {
        let params = json!({
            "textDocument": { "uri": URI },
            "position": text.place(mark),
            "context": { "includeDeclaration": with },
        });
        let found = client.ask("textDocument/references", params).expect("it is answered");
        text.marks_of(&found, "range")
    };
    assert_eq!(uses(&mut client, 'f', true), "defhot");
    assert_eq!(uses(&mut client, 'd', false), "efhot");
    assert_eq!(uses(&mut client, '1', true), "13u");
    assert_eq!(uses(&mut client, 'v', true), "rvw");
    let found = client.at("textDocument/documentHighlight", URI, text.place('d')).expect("it is answered");
    assert_eq!(text.marks_of(&found, "range"), "defhot");
    let kinds: Vec<&Value> = found.as_array().expect("a list").iter().map(|found| &found["kind"]).collect();
    assert_eq!(kinds, [3, 3, 2, 2, 2, 2], "3 is a write, 2 a read");
    client.stop();
}

#[test]
fn a_new_name_is_written_wherever_the_old_one_is_meant() {
    let text = Text::of(SHADOWS);
    let mut client = text.open();
    let before = load("/t.bir".as_ref(), &text.text).program.expect("it is correct");
    for (mark, _) in &text.marks {
        let params = json!({ "textDocument": { "uri": URI }, "position": text.place(*mark), "newName": "renamed" });
        let edit = client.ask("textDocument/rename", params).unwrap_or_else(|why| panic!("{mark}: {why}"));
        let edits: Vec<TextEdit> = serde_json::from_value(edit["changes"][URI].clone()).expect("they are edits");
        let renamed = applied(&text.text, &edits);
        let loaded = load("/t.bir".as_ref(), &renamed);
        let after = loaded.program.unwrap_or_else(|| panic!("{mark}: {:?}\n{renamed}", loaded.diagnostics));
        assert_eq!(after.transitions.len(), before.transitions.len(), "{mark}");
        assert_eq!(after.variables.len(), before.variables.len(), "{mark}");
    }
    client.stop();
}

#[test]
fn a_new_name_that_would_change_the_model_is_refused() {
    let text = Text::of(SHADOWS);
    let mut client = text.open();
    let mut refusal = |mark: char, new: &str| {
        let params = json!({ "textDocument": { "uri": URI }, "position": text.place(mark), "newName": new });
        client.ask("textDocument/rename", params).expect_err("it is refused")
    };
    assert_eq!(refusal('1', "goto"), "`goto` is a reserved word");
    assert_eq!(refusal('1', "g"), "there is a variable called `g` already");
    assert_eq!(refusal('d', "me"), "there is a parameter called `me` already");
    assert_eq!(refusal('4', "green"), "there is a value of an enumeration called `green` already");
    assert!(refusal('1', "two words").starts_with("`two words` is no name"));
    assert!(refusal('1', "größe").starts_with("`größe` is no name"));
    assert!(refusal('1', "").starts_with("`` is no name"));
    // The variable of the thread would hide the one of the system, and be hidden by a quantifier.
    assert_eq!(refusal('d', "g"), "`g` would mean something else at one of the uses of `x`");
    assert_eq!(refusal('1', "i"), "`i` would mean something else at one of the uses of `x`");
    let nothing = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 2 }, "newName": "a" });
    let refused = client.ask("textDocument/rename", nothing).expect_err("a keyword has no name");
    assert_eq!(refused, "there is no name here that is declared");
    let place = client.at("textDocument/prepareRename", URI, text.place('d')).expect("it is answered");
    assert_eq!(place["placeholder"], "x");
    client.stop();
}

const HOVERED: &str = "\
import \"std/mutex.bir\";
^0system Hovered {
  // How many there are.
  const ^1N = 2 + 1;
  enum Colour { red, green }
  record Pair { int (0, 9) a; Colour ^2c; }
  // The light.
  Colour ^3light := Colour.^4red;
  int (0, 9)[^5N] ^6numbers;
  Pair ^7pair;
  channel of byte [2] ^8queue;
  boolean m;
  function ^9double(int (0, 9) n): int = n * 2;
  active [N] ^athread T(int me) {
    int (0, 20) ^bown;
    loc start_here:
      ^cwhen !m do { ^dlock(m); own := double(^eme); numbers[0] := 1; } goto start_here;
      when ^flen(queue) == 0 && light == Colour.green && pair.a == 0 && pair.c == Colour.red do { own := 0; }
        goto start_here;
  }
  ltl live: [] ^g<> (m ^hU m);
}
";

#[test]
fn a_hover_says_what_a_name_is_and_what_values_it_has() {
    let text = Text::of(HOVERED);
    let mut client = text.open();
    let mut about = |mark: char| {
        let found = client.at("textDocument/hover", URI, text.place(mark)).expect("it is answered");
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(about('0'), "A model: its declarations, threads and properties.");
    assert_eq!(about('1'), "```bir\nconst N = 2 + 1\n```\n\n= 3\n\nconstant\n\nHow many there are.");
    assert_eq!(about('5'), about('1'));
    assert_eq!(about('2'), "```bir\nColour c\n```\n\nfield of `Pair`");
    assert_eq!(about('3'), "```bir\nColour light\n```\n\n`red` and `green`; 1 bit\n\nvariable\n\nThe light.");
    assert_eq!(about('4'), "```bir\nColour.red\n```\n\nvalue of `Colour`");
    assert_eq!(about('6'), "```bir\nint (0, 9)[N] numbers\n```\n\n0..9; 12 bits\n\nvariable");
    let pair =
        "```bir\nPair pair\n```\n\n5 bits in all:\n\n- `pair.a`: 0..9\n- `pair.c`: `red` and `green`\n\nvariable";
    assert_eq!(about('7'), pair);
    assert!(about('8').contains("18 bits in all:\n\n"), "{}", about('8'));
    assert_eq!(about('9'), "```bir\nfunction double(int (0, 9) n): int\n```\n\nfunction");
    assert!(about('a').starts_with("A sequence of steps"));
    assert_eq!(about('b'), "```bir\nint (0, 20) own\n```\n\n0..20; 15 bits\n\nvariable of `T`");
    assert!(about('c').starts_with("The guard"));
    let lock = about('d');
    assert!(
        lock.starts_with("```bir\nprocedure lock(boolean m)\n```\n\nprocedure, from `std/mutex.bir`\n\nWaits"),
        "{lock}"
    );
    assert_eq!(about('e'), "```bir\nint me\n```\n\nparameter of `T`");
    assert!(about('f').starts_with("`len(c)`"));
    assert_eq!(about('g'), "");
    assert!(about('h').starts_with("Until"));
    let lock = client.at("textDocument/definition", URI, text.place('d')).expect("it is answered");
    assert_eq!(lock, Value::Null, "the standard library is no file");
    client.stop();
}

#[test]
fn hints_give_bits_and_survive_an_error() {
    let text = Text::of(HOVERED);
    let mut client = text.open();
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let mut hints = || {
        let params = json!({ "textDocument": { "uri": URI }, "range": whole });
        let found = client.ask("textDocument/inlayHint", params).expect("it is answered");
        let label = |hint: &Value| hint["label"].as_str().expect("a text").to_owned();
        found.as_array().expect("a list").iter().map(label).collect::<Vec<_>>()
    };
    let sizes = [": 1 bit", ": 12 bits", ": 5 bits", ": 18 bits", ": 1 bit"];
    assert_eq!(hints(), sizes);
    let client_text = text.text.replace("own := 0", "own := ");
    client.change(URI, 1, &json!([{ "text": client_text }]));
    let mut hints = || {
        let params = json!({ "textDocument": { "uri": URI }, "range": whole });
        client.ask("textDocument/inlayHint", params).expect("it is answered").as_array().map_or(0, Vec::len)
    };
    assert_eq!(hints(), sizes.len());
    client.stop();
}

/// What can be written where the text is cut; the rest of it is kept behind.
fn completions(before: &str, after: &str) -> Vec<String> {
    let mut client = Client::start();
    client.open(URI, &format!("{before}{after}"));
    let found = client.at("textDocument/completion", URI, position_of(before, before.len())).expect("it is answered");
    client.stop();
    let label = |item: &Value| item["label"].as_str().expect("a text").to_owned();
    found.as_array().into_iter().flatten().map(label).collect()
}

#[test]
fn what_is_offered_depends_on_what_stands_before() {
    let head = "system S {\n  enum Colour { red, green }\n  record Pair { int a; Colour c; }\n  const B { M = 1; }\n  \
                Pair[2] pairs;\n  active [2] thread T(int me) {\n    int own;\n    loc one:\n      when ";
    let tail = " do { } goto one;\n    loc two:\n      do { } return;\n  }\n}\n";
    assert_eq!(completions(&format!("{head}Colour."), tail), ["red", "green"]);
    assert_eq!(completions(&format!("{head}Colour.gr"), tail), ["red", "green"], "the editor filters");
    assert_eq!(completions(&format!("{head}pairs[own + 1]."), tail), ["a", "c"]);
    assert_eq!(completions(&format!("{head}B."), tail), ["M"]);
    assert_eq!(completions(&format!("{head}T[0]."), tail), ["me", "own"]);
    assert_eq!(completions(&format!("{head}T[0]@"), tail), ["one", "two"]);
    assert_eq!(completions(&format!("{head}true do {{ }} goto "), ";\n  loc two: do { } return; } }"), ["one", "two"]);
    assert_eq!(completions(&format!("{head}nothing."), tail), [""; 0]);
    assert_eq!(completions("// a comment", "\nsystem S { }"), [""; 0]);
    let all = completions(head, tail);
    assert_eq!(all[..2], ["me", "own"], "what is nearest comes first");
    for name in ["Colour", "Pair", "B", "pairs", "T", "len", "append", "goto", "await", "AG"] {
        assert!(all.iter().any(|own| own == name), "{name}: {all:?}");
    }
    let bound = completions(&format!("{head}forall (i : 0 .. 1) "), tail);
    assert_eq!(bound.first().map(String::as_str), Some("i"));
    assert!(
        !completions("system S { active thread T() { int own; loc a: do { } return; } ", "}").contains(&"own".into())
    );
}
