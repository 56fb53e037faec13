//! Statements that may be missing: those that the same thread has elsewhere, and assignments to what it writes, of other values.

use std::collections::BTreeSet;

use birk_ir::{Program, ThreadId, ValueKind, Variable};

use super::changes::{Change, Kind, is_simple, own_spans, statements};

/// Values of an enumeration that are tried.
const MAX_VALUES: usize = 6;
/// Statements of a thread that are put into other places.
const MAX_STATEMENTS: usize = 40;

/// All statements put into all places of the same thread, before a statement or at the end of a block.
pub fn additions(text: &str, program: &Program) -> Vec<Change> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for kind in 0..program.kinds.len() {
        let spans = own_spans(text, program, |thread: ThreadId| program.threads[thread.index()].kind == kind);
        // The processes of a proctype have one text.
        if !seen.insert(spans.clone()) {
            continue;
        }
        let places = statements(text, &spans);
        let known = missing(text, program, &places);
        for &(from, to) in &places {
            let own = bare(&text[from..to]);
            let (sign, is_last) = (separator(text, from), is_last(text, to));
            for statement in &known {
                if *statement != own {
                    let with = format!("{statement}{sign} ");
                    all.push(Change { at: from..from, with, kind: Kind::Addition });
                }
                if is_last {
                    let ends = text[from..to].ends_with(';');
                    let with = if ends { format!(" {statement};") } else { format!("{sign} {statement}") };
                    all.push(Change { at: to..to, with, kind: Kind::Addition });
                }
            }
        }
    }
    all
}

/// What stands between two statements: in effects of DVE a comma.
fn separator(text: &str, from: usize) -> char {
    let before = text[..from].trim_end();
    if before.ends_with("effect") || before.ends_with(',') { ',' } else { ';' }
}

/// Whether nothing but comments stands between a statement and the end of its block.
fn is_last(text: &str, to: usize) -> bool {
    let mut rest = text[to..].trim_start().trim_start_matches(';').trim_start();
    while let Some(end) = comment(rest) {
        rest = rest[end..].trim_start();
    }
    let is_word = |word: &str| {
        let behind = rest.strip_prefix(word).map(|rest| rest.chars().next());
        behind.is_some_and(|next| !next.is_some_and(|next| next.is_alphanumeric() || next == '_'))
    };
    rest.starts_with('}') || rest.starts_with("::") || is_word("fi") || is_word("od")
}

/// The length of the comment with which a text begins.
fn comment(text: &str) -> Option<usize> {
    match text.get(..2) {
        Some("//") => Some(text.find('\n').unwrap_or(text.len())),
        Some("/*") => Some(text.find("*/").map_or(text.len(), |end| end + 2)),
        _ => None,
    }
}

fn bare(statement: &str) -> String {
    statement.trim_end_matches(';').trim().to_owned()
}

/// What a thread may lack: its own statements first, then other values for what it assigns.
fn missing(text: &str, program: &Program, places: &[(usize, usize)]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    let mut add = |statement: String| {
        let is_new = !known.contains(&statement);
        if is_new && is_simple(&statement) && statement != "skip" && known.len() < MAX_STATEMENTS {
            known.push(statement);
        }
    };
    places.iter().for_each(|&(from, to)| add(bare(&text[from..to])));
    for &(from, to) in places {
        for other in others(&bare(&text[from..to]), program) {
            add(other);
        }
    }
    known
}

/// The same assignment of other values; none if it is no assignment.
fn others(statement: &str, program: &Program) -> Vec<String> {
    let assigned = statement.split_once(":=").map(|(place, _)| (place, ":="));
    let is_place =
        |place: &str| !place.ends_with(['<', '>', '!', '=', ':']) && !place.contains(['(', '!', '?', '<', '>']);
    let plain = || statement.split_once('=').filter(|(place, value)| is_place(place) && !value.starts_with('='));
    let Some((place, sign)) = assigned.or_else(|| plain().map(|(place, _)| (place, "="))) else { return Vec::new() };
    let place = place.trim();
    let base: String = place.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    let is_it = |variable: &&Variable| variable.name.rsplit('.').next() == Some(&base);
    let Some(variable) = program.variables.iter().find(is_it) else { return Vec::new() };
    let values: Vec<String> = match &variable.values {
        ValueKind::Boolean => vec!["true".to_owned(), "false".to_owned()],
        ValueKind::Integer => {
            let first = variable.initial.first().copied().unwrap_or(0);
            vec![format!("{place} + 1"), format!("{place} - 1"), first.to_string()]
        }
        ValueKind::Names(names) => names.iter().take(MAX_VALUES).cloned().collect(),
        ValueKind::Set(_) => Vec::new(),
    };
    values.into_iter().map(|value| format!("{place} {sign} {value}")).filter(|other| other != statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let program = birk_lang::load(text, &[]).program.expect("a model");
        additions(text, &program).iter().map(|change| change.apply(text)).collect()
    }

    #[test]
    fn statements_and_other_values_are_put_into_each_place() {
        let all = of("system S { boolean b; int (0, 9) x; active thread A() { x := 1; b := true; } }");
        for made in ["{ b := true; x := 1; b := true; }", "x := 1; b := false; b := true;", "b := true; x := 1; }"] {
            assert!(all.iter().any(|text| text.contains(made)), "{made}: {all:#?}");
        }
        assert!(all.iter().any(|text| text.contains("x := x - 1; b := true;")), "{all:#?}");
    }

    #[test]
    fn the_end_of_a_block_is_behind_its_last_statement() {
        for last in ["x; }", "x ; // }\n}", "x; /* y */ }", "x; // y\n // z\n }", "x :: y", "x fi", "x; od; y"] {
            assert!(is_last(last, 1), "{last}");
        }
        for other in ["x; y }", "x; // }\n y", "x", "x; fits }", "x; /* }"] {
            assert!(!is_last(other, 1), "{other}");
        }
        let all = of("system S { boolean b; active thread A() { b := true; /* left */ } }");
        assert!(all.iter().any(|text| text.contains("{ b := true; b := false; /* left */ }")), "{all:#?}");
    }

    #[test]
    fn statements_of_all_languages_are_added() {
        let promela = "byte x; active proctype P() { do :: x < 3 -> x = 1 :: else -> break od }";
        let dve = "byte x; process P { state a; init a; trans a -> a { guard x < 3; effect x = 1; }; } system async;";
        for (name, text, made) in [("m.pml", promela, "x = 1; x = 0 ::"), ("m.dve", dve, "effect x = 1, x = 0;")] {
            let program = crate::load_text(std::path::Path::new(name), text).expect("a model");
            let all: Vec<String> = additions(text, &program).iter().map(|change| change.apply(text)).collect();
            let is_model = |text: &&String| crate::load_text(std::path::Path::new(name), text).is_ok();
            assert!(all.iter().filter(is_model).any(|text| text.contains(made)), "{made}: {all:#?}");
        }
    }

    #[test]
    fn what_is_not_assigned_is_not_taken_for_a_place() {
        let program = birk_lang::load("system S { int (0, 9) x; active thread A() { x := 1; } }", &[]).program;
        let program = program.expect("a model");
        for statement in ["await x == 1", "await x <= 1", "c!x", "skip"] {
            assert_eq!(others(statement, &program), Vec::<String>::new(), "{statement}");
        }
        assert_eq!(others("x = 1", &program), ["x = x + 1", "x = x - 1", "x = 0"]);
    }
}
