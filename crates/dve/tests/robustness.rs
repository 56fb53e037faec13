//! Whatever the text, the front end answers: no panic, no hang, places inside the text. Texts are the models of the repository
//! with random changes, from fixed seeds, so that a failure can be repeated.

use std::fs;
use std::path::Path;

use birk_engine::{Model as _, Successors};
use birk_exec::{Interpreter, Random};
use birk_ir::{Conditions, Loaded};

/// How many changed texts are tried of each model.
const ROUNDS: u64 = 400;

const WORDS: &[&str] = &[
    "process",
    "state",
    "init",
    "accept",
    "commit",
    "assert",
    "trans",
    "guard",
    "sync",
    "effect",
    "system",
    "async",
    "property",
    "channel",
    "const",
    "byte",
    "int",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "->",
    "=>",
    "=",
    "==",
    "!",
    "?",
    "-1",
    "0",
    "99999999999",
    "65536",
    "/",
    "%",
    "<<",
    ">>",
    "~",
    "^",
    "not",
    "imply",
    "P.q",
    "P->x",
    "/*",
    "*/",
    "//",
    "é",
    "\\",
    "\"",
];

fn load(text: &str) -> Loaded {
    birk_dve::load(text, &[], &mut |_| Err("DVE knows no other files".into()), Conditions::default())
}

/// Sends a text through the front end, and takes some steps of what comes out.
fn try_text(text: &str) -> bool {
    let loaded = load(text);
    for diagnostic in &loaded.diagnostics {
        let spans = diagnostic.related.iter().map(|(span, _)| *span).chain([diagnostic.span]);
        assert!(spans.into_iter().all(|span| text.get(span.range()).is_some()), "{diagnostic:?}\n{text}");
        assert!(birk_dve::codes::CODES.iter().any(|code| code.code == diagnostic.code), "{diagnostic:?}");
    }
    let has_errors = loaded.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning());
    assert_eq!(loaded.program.is_none(), has_errors, "{:#?}\n{text}", loaded.diagnostics);
    let Some(program) = loaded.program else { return false };
    let model = Interpreter::new(&program, &[]);
    let mut batch = Successors::new(model.words());
    let mut state = program.initial_state();
    for step in 0..20 {
        batch.clear();
        model.successors(&state, &mut batch);
        if batch.is_empty() {
            break;
        }
        state = batch.state(step % batch.len()).to_vec();
        assert!(program.is_state(&state), "a step leads to a state\n{text}");
    }
    true
}

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/dve");
    let paths = fs::read_dir(folder).expect("the models are there").map(|entry| entry.expect("readable").path());
    let mut texts: Vec<String> = paths.map(|path| fs::read_to_string(path).expect("a text")).collect();
    texts.sort();
    texts.extend(birk_dve::codes::CODES.iter().map(|code| code.example.to_owned()));
    texts
}

/// Somewhere between two characters.
fn place(random: &mut Random, text: &str) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn change(random: &mut Random, text: &mut String) {
    let at = place(random, text);
    let rest = text.len() - at;
    let mut end = at + random.below(12.min(rest) + 1);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    match random.below(4) {
        0 => text.replace_range(at..end, ""),
        1 => text.insert_str(at, WORDS[random.below(WORDS.len())]),
        2 => text.replace_range(at..end, WORDS[random.below(WORDS.len())]),
        _ => {
            let copy = text[at..end].to_owned();
            let to = place(random, text);
            text.insert_str(to, &copy);
        }
    }
}

#[test]
fn changed_models_are_read_or_refused() {
    let rounds = std::env::var("BIRK_ROUNDS").map_or(ROUNDS, |number| number.parse().expect("a number of rounds"));
    let (mut read, mut refused) = (0, 0);
    for (number, model) in models().iter().enumerate() {
        for round in 0..rounds {
            let mut random = Random::new(round * 1000 + number as u64);
            let mut text = model.clone();
            for _ in 0..1 + random.below(3) {
                change(&mut random, &mut text);
            }
            *if try_text(&text) { &mut read } else { &mut refused } += 1;
        }
    }
    assert!(read > 100 && refused > 1000, "{read} were read, {refused} refused");
}

#[test]
fn extreme_texts_are_refused() {
    let process = |body: &str| format!("byte x; process P {{ state q; init q; {body} }} system async;");
    let nested = |open: &str, close: &str| {
        let (open, close) = (open.repeat(50_000), close.repeat(50_000));
        process(&format!("trans q -> q {{ guard {open}1{close}; }};"))
    };
    for text in [nested("(", ")"), nested("-", ""), nested("x[", "]"), nested("1 + ", ""), nested("not ", "")] {
        assert!(!try_text(&text), "it is nested too deep");
    }
    for text in ["", "\0", "system", "process", "/*", "byte", "channel {", "process P { trans", "system async property"]
    {
        assert!(!try_text(text), "{text}");
    }
    assert!(!try_text(&"byte a[1000000]; ".repeat(50)), "a state is not that large");
    assert!(!try_text(&process("byte x[999999999999];")));
    assert!(!try_text(&"}".repeat(100_000)));
    assert!(!try_text(&"process P { state q; init q; ".repeat(10_000)));
}
