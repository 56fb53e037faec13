//! Random edits of models: the server never ends, and its text is always that of the editor.
//!
//! The editor keeps its text in UTF-16 units, as many editors do, and shares no code with the server. `BIRK_EDITS` says
//! how many edits are made.

use lsp_types::Position;
use serde_json::{Value, json};

use crate::client::{Client, assert_same, files_below, load, models, uri_of};

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    /// Splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// The text of an editor.
struct Buffer {
    units: Vec<u16>,
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf16(&self.units).expect("pairs are never cut")
    }

    /// A place that is neither inside of a pair of units nor of a line end.
    fn place(&self, random: &mut Random, near: Option<usize>) -> usize {
        let limit = self.units.len() + 1;
        let mut at = match near {
            Some(near) => (near + random.below(12)).min(limit - 1),
            None => random.below(limit),
        };
        let is_low = |unit: Option<&u16>| unit.is_some_and(|unit| (0xdc00..0xe000).contains(unit));
        let is_split = |at: usize| {
            at > 0 && self.units[at - 1] == 13 && self.units.get(at) == Some(&10) || is_low(self.units.get(at))
        };
        while is_split(at) {
            at -= 1;
        }
        at
    }

    fn position(&self, at: usize) -> Position {
        let (mut line, mut start) = (0, 0);
        for index in 0..at {
            let is_end = match self.units[index] {
                10 => true,
                13 => self.units.get(index + 1) != Some(&10),
                _ => false,
            };
            if is_end {
                (line, start) = (line + 1, index + 1);
            }
        }
        Position::new(line, (at - start) as u32)
    }

    /// Makes a random edit, and tells how it is described.
    fn edit(&mut self, random: &mut Random, pieces: &[String]) -> Value {
        let from = self.place(random, None);
        let to = if random.below(3) == 0 { from } else { self.place(random, Some(from)) };
        let (from, to) = (from.min(to), from.max(to));
        let new = if random.below(4) == 0 { "" } else { &pieces[random.below(pieces.len())] };
        let range = json!({ "start": self.position(from), "end": self.position(to) });
        self.units.splice(from..to, new.encode_utf16());
        json!({ "range": range, "text": new })
    }
}

const PIECES: &[&str] = &[
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ":=",
    "=",
    "==",
    ".",
    "@",
    ",",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "ä",
    "😀",
    "𝄞x",
    "e\u{301}",
    "\u{feff}",
    "x",
    "0",
    "1",
    "42",
    "99999999999",
    "true",
    "goto ",
    "when ",
    "do { }",
    "loc l:",
    "thread T() { }",
    "int ",
    "forall (i : 0 .. 3) ",
    "import \"std/mutex.bir\";",
    "import \"nothing.bir\";",
    "let x = 1 in ",
    "x.y",
    "T@",
    "T[0].",
    "mu X. ",
    "<->",
    "#define X 1\n",
    "proctype P() { skip }",
    "process P { state s; init s; }",
];

#[test]
fn after_any_edits_the_diagnostics_are_those_of_the_text() {
    let edits: usize = std::env::var("BIRK_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let mut random = Random(20_261_117);
    let small = |path: &std::path::PathBuf| std::fs::metadata(path).is_ok_and(|about| about.len() < 4000);
    let files: Vec<_> = files_below(&models()).into_iter().filter(small).collect();
    let mut client = Client::start();
    let mut made = 0;
    while made < edits {
        let path = &files[random.below(files.len())];
        let text = std::fs::read_to_string(path).expect("it can be read");
        let mut pieces: Vec<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
        pieces.extend(text.split_inclusive(char::is_whitespace).map(str::to_owned));
        let mut buffer = Buffer { units: text.encode_utf16().collect() };
        let uri = uri_of(path);
        client.open(&uri, &text);
        for version in 1..=10 {
            let count = 1 + random.below(3);
            let changes: Vec<Value> = (0..count).map(|_| buffer.edit(&mut random, &pieces)).collect();
            made += count;
            client.change(&uri, version, &json!(changes));
            let place = buffer.position(buffer.place(&mut random, None));
            ask_everything(&mut client, &uri, place);
            // Sometimes the next change comes at once, and this version is never checked.
            if version == 10 || random.below(3) > 0 {
                let sent = client.diagnostics(&uri, version);
                let text = buffer.text();
                assert_same(&text, &sent, &load(path, &text), &format!("{uri} version {version}: {changes:?}"));
            }
        }
        client.close(&uri);
    }
    client.stop();
    println!("{made} edits");
}

/// Whatever is asked about a broken text is answered.
fn ask_everything(client: &mut Client, uri: &str, place: Position) {
    for method in ["hover", "definition", "documentHighlight", "completion"] {
        client.at(&format!("textDocument/{method}"), uri, place).expect("it is answered");
    }
    for method in ["documentSymbol", "semanticTokens/full", "codeLens"] {
        client.of(&format!("textDocument/{method}"), uri).expect("it is answered");
    }
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": place });
    let document = json!({ "uri": uri });
    let context = json!({ "diagnostics": [], "includeDeclaration": true });
    for method in ["codeAction", "inlayHint"] {
        let params = json!({ "textDocument": document, "range": range, "context": context });
        client.ask(&format!("textDocument/{method}"), params).expect("it is answered");
    }
    let params = json!({ "textDocument": document, "position": place, "context": context });
    client.ask("textDocument/references", params).expect("it is answered");
    // A refusal is an answer, too.
    let params = json!({ "textDocument": document, "position": place, "newName": "renamed" });
    _ = client.ask("textDocument/rename", params);
    let params = json!({ "textDocument": document, "options": { "tabSize": 2, "insertSpaces": true } });
    client.ask("textDocument/formatting", params).expect("it is answered");
}
