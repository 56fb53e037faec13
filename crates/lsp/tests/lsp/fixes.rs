//! How many of the models with errors are repaired by the fixes that are offered.

use std::path::PathBuf;

use lsp_types::TextEdit;
use serde_json::json;

use crate::client::{Client, applied, files_below, load, models, offset_of, uri_of};

/// Fixes may uncover further errors; more rounds than this are not made.
const ROUNDS: i32 = 5;

/// The messages of the errors of a text.
fn errors(path: &std::path::Path, text: &str) -> Vec<String> {
    let found = load(path, text).diagnostics;
    found.iter().filter(|found| !found.is_warning()).map(|found| format!("{}: {}", found.code, found.message)).collect()
}

/// The models that are rejected.
fn rejected() -> Vec<(String, PathBuf, String)> {
    let mut found = Vec::new();
    for path in files_below(&models().join("rejected")) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        if !errors(&path, &text).is_empty() {
            let name = path.file_name().and_then(|name| name.to_str()).expect("it has a name").to_owned();
            found.push((name, path, text));
        }
    }
    found
}

/// What becomes of a text if the edits of each round are applied, and after how many rounds nothing is offered any more.
fn repaired(
    client: &mut Client,
    uri: &str,
    text: &str,
    edits: impl Fn(&mut Client, &str, &str) -> Option<Vec<TextEdit>>,
) -> (String, i32) {
    let mut text = text.to_owned();
    client.open(uri, &text);
    let mut rounds = 0;
    while rounds < ROUNDS {
        let Some(edits) = edits(client, uri, &text) else { break };
        rounds += 1;
        text = applied(&text, &edits);
        client.change(uri, rounds, &json!([{ "text": text }]));
    }
    client.close(uri);
    (text, rounds)
}

/// The edits of all fixes that a person is offered, as far as they do not touch each other.
fn clicked(client: &mut Client, uri: &str, text: &str) -> Option<Vec<TextEdit>> {
    let mut edits: Vec<((usize, usize), TextEdit)> = Vec::new();
    for (title, own) in client.fixes(uri) {
        let says = |word: &str| title.starts_with(word) && title.len() > word.len() + 2;
        let is_long = title.contains(' ') && !title.starts_with(|c: char| c.is_lowercase());
        assert!(["Insert", "Remove", "Replace"].into_iter().any(says) || is_long, "{uri}: {title}");
        assert!(!title.contains('\n'), "{uri}: {title}");
        for edit in own {
            // Both ends are in the text, or this panics.
            let place = (offset_of(text, edit.range.start), offset_of(text, edit.range.end));
            assert!(place.0 <= place.1, "{uri}: {title}");
            edits.push((place, edit));
        }
    }
    edits.sort_by_key(|(place, _)| *place);
    let mut end = None;
    edits.retain(|(place, _)| {
        let is_free = end.is_none_or(|end| place.0 > end);
        end = if is_free { Some(place.1) } else { end };
        is_free
    });
    Some(edits.into_iter().map(|(_, edit)| edit).collect()).filter(|edits: &Vec<TextEdit>| !edits.is_empty())
}

#[test]
fn sure_fixes_repair_what_they_promise() {
    let mut client = Client::start();
    let (mut offered, mut whole) = (0, 0);
    let models = rejected();
    for (name, path, text) in &models {
        let (now, rounds) = repaired(&mut client, &uri_of(path), text, |client, uri, _| client.all_fixes(uri));
        let (before, after) = (errors(path, text).len(), errors(path, &now).len());
        assert!(after <= before, "{name}: the fixes made it worse, {before} to {after}\n{now}");
        offered += usize::from(rounds > 0);
        whole += usize::from(after == 0);
    }
    assert_eq!((models.len(), offered, whole), (111, 23, 12));
    client.stop();
}

#[test]
fn most_rejected_models_are_repaired_by_the_fixes_that_are_offered() {
    let mut client = Client::start();
    let (mut whole, mut left) = (0, Vec::new());
    let models = rejected();
    for (name, path, text) in &models {
        let (now, rounds) = repaired(&mut client, &uri_of(path), text, clicked);
        let errors = errors(path, &now);
        match errors.is_empty() {
            true => whole += 1,
            false => left.push(format!("{name}, {rounds} rounds: {}", errors.join("; "))),
        }
    }
    assert_eq!((models.len(), whole), (111, 89), "not repaired:\n{}", left.join("\n"));
    client.stop();
}
