//! Small changes of a model's text: of one operator, number or name, or of the order of two statements.
//!
//! The languages that Birk reads have their operators in common, so that words and signs are enough to know. What is not a model after
//! a change is refused by the front end.

use std::collections::BTreeSet;
use std::ops::Range;

use birk_ir::{Program, Span, ThreadId};

/// Of all signs that are longer than a letter, none is taken for two.
const SIGNS: &[&str] = &[
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", ":=", "->", "<>", "++", "--", "::", "..", "!!", "??", "//", "/*",
    "*/",
];
const COMPARISONS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];
/// What may stand in the place of what.
const EXCHANGED: &[(&str, &str)] =
    &[("+", "-"), ("-", "+"), ("&&", "||"), ("||", "&&"), ("true", "false"), ("false", "true")];
/// No name is replaced by one of more than so many others.
const MAX_NAMES: usize = 40;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What is replaced, in bytes of the text.
    pub at: Range<usize>,
    /// By what.
    pub with: String,
    /// What it is.
    pub kind: Kind,
}

/// What a change is; those that say most about what is wrong come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Another operator, or the opposite truth value.
    Operator,
    /// Another number.
    Number,
    /// Two statements become one step.
    Atomic,
    /// Two statements change places.
    Order,
    /// Another name.
    Name,
    /// A statement is left out.
    Removal,
    /// A statement is added.
    Addition,
}

impl Change {
    /// The text with the change.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.at.start], &self.with, &text[self.at.end..]].concat()
    }
}

/// All changes of the behaviour of threads: neither of what is declared nor of what is asked.
pub fn changes(text: &str, program: &Program) -> Vec<Change> {
    let mut all = Vec::new();
    for kind in 0..program.kinds.len() {
        let spans = own_spans(text, program, |thread| program.threads[thread.index()].kind == kind);
        let (Some(start), Some(end)) = (spans.iter().map(|span| span.0).min(), spans.iter().map(|span| span.1).max())
        else {
            continue;
        };
        let words = without_claims(text, words(text, start..end));
        all.extend(of_words(text, &words, &declared(program)));
        all.extend(of_statements(text, &spans));
    }
    all.sort_by_key(|change| (change.at.start, change.at.end, change.kind));
    all.dedup();
    all
}

/// What the steps of some threads execute, in bytes of the text.
pub(super) fn own_spans(text: &str, program: &Program, is_own: impl Fn(ThreadId) -> bool) -> BTreeSet<(usize, usize)> {
    let own = program.transitions.iter().filter(|transition| is_own(transition.thread));
    own.flat_map(|transition| transition.parts.iter().chain([&transition.span]).chain(&transition.guard_span))
        .filter(|span| is_in(text, span))
        .map(|span| (span.start as usize, span.end as usize))
        .collect()
}

fn is_in(text: &str, span: &Span) -> bool {
    span.file == 0 && span.start < span.end && text.get(span.start as usize..span.end as usize).is_some()
}

/// The words and signs of a part of a text, without comments and strings.
fn words(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), part.start);
    while at < part.end {
        let rest = &text[at..];
        let letter = bytes[at];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if letter == b'"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if letter.is_ascii_alphanumeric() || letter == b'_' {
            let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            found.push(at..at + length);
            length
        } else if letter.is_ascii() {
            let length = if SIGNS.iter().any(|sign| rest.starts_with(sign)) { 2 } else { 1 };
            if !letter.is_ascii_whitespace() {
                found.push(at..at + length);
            }
            length
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += length;
    }
    found
}

/// Without what is asserted or assumed: a claim that is weaker repairs nothing.
fn without_claims(text: &str, words: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut is_claim = false;
    let mut kept = Vec::new();
    for word in words {
        is_claim = match &text[word.clone()] {
            "assert" | "assume" => true,
            ";" | "{" | "}" => false,
            _ => is_claim,
        };
        if !is_claim {
            kept.push(word);
        }
    }
    kept
}

/// The names of variables and constants, as they are written.
fn declared(program: &Program) -> Vec<&str> {
    let variables = program.variables.iter().map(|variable| variable.name.rsplit('.').next().unwrap_or_default());
    let constants = program.constants.iter().map(|(name, _)| name.as_str());
    let is_written = |name: &&str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let mut names: Vec<&str> = variables.chain(constants).filter(is_written).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Changes of one word or sign.
fn of_words(text: &str, words: &[Range<usize>], declared: &[&str]) -> Vec<Change> {
    let is_name = |word: &str| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    let mut names: Vec<&str> = Vec::new();
    for word in words.iter().map(|word| &text[word.clone()]).filter(|word| is_name(word)) {
        if !names.contains(&word) && !birk_ir::RESERVED.contains(&word) {
            names.push(word);
        }
    }
    let others: Vec<&str> = declared.iter().copied().filter(|name| !names.contains(name)).collect();
    let mut all = Vec::new();
    for (place, at) in words.iter().enumerate() {
        let word = &text[at.clone()];
        let mut add = |with: &str, kind| all.push(Change { at: at.clone(), with: with.to_owned(), kind });
        if COMPARISONS.contains(&word) {
            COMPARISONS.iter().filter(|other| **other != word).for_each(|other| add(other, Kind::Operator));
        }
        EXCHANGED.iter().filter(|(from, _)| *from == word).for_each(|(_, to)| add(to, Kind::Operator));
        if word == "!" {
            add("", Kind::Operator);
        }
        if let Ok(number) = word.parse::<i64>() {
            add(&(number + 1).to_string(), Kind::Number);
            if number > 0 {
                add(&(number - 1).to_string(), Kind::Number);
            }
        }
        if names.contains(&word) {
            // A condition is negated where it stands alone.
            let before = place.checked_sub(1).map_or("", |place| &text[words[place].clone()]);
            if ["(", "&&", "||", "when"].contains(&before) {
                add(&format!("!{word}"), Kind::Operator);
            }
            names
                .iter()
                .chain(&others)
                .filter(|other| **other != word)
                .take(MAX_NAMES)
                .for_each(|other| add(other, Kind::Name));
        }
    }
    all
}

/// The statements that are no part of another one, and contain none.
pub(super) fn statements(text: &str, spans: &BTreeSet<(usize, usize)>) -> Vec<(usize, usize)> {
    let simple: Vec<(usize, usize)> = spans.iter().copied().filter(|&(from, to)| is_simple(&text[from..to])).collect();
    let is_part = |&(from, to): &(usize, usize)| {
        simple.iter().any(|&other| other != (from, to) && other.0 <= from && to <= other.1)
    };
    simple.iter().copied().filter(|span| !is_part(span)).collect()
}

/// Changes of whole statements: they are left out, change places, or become one step.
fn of_statements(text: &str, spans: &BTreeSet<(usize, usize)>) -> Vec<Change> {
    let statements = statements(text, spans);
    let bare = |(from, to): (usize, usize)| text[from..to].trim_end_matches(';').trim();
    let mut all = Vec::new();
    for &(from, to) in &statements {
        let end = if text[from..to].ends_with(';') { ";" } else { "" };
        all.push(Change { at: from..to, with: format!("skip{end}"), kind: Kind::Removal });
    }
    for pair in statements.windows(2) {
        let (one, other) = (pair[0], pair[1]);
        if one.1 > other.0 || !text[one.1..other.0].trim().trim_matches(';').is_empty() {
            continue;
        }
        let end = if text[other.0..other.1].ends_with(';') { ";" } else { "" };
        let (first, second) = (bare(one), bare(other));
        all.push(Change { at: one.0..other.1, with: format!("{second}; {first}{end}"), kind: Kind::Order });
        // A block needs no semicolon behind it.
        let whole = one.0..other.1 + usize::from(text[other.1..].starts_with(';'));
        all.push(Change { at: whole, with: format!("atomic {{ {first}; {second}; }}"), kind: Kind::Atomic });
    }
    all
}

/// Whether it is one statement, not one that contains others, and no claim.
pub(super) fn is_simple(statement: &str) -> bool {
    !statement.starts_with("assert")
        && !statement.starts_with("assume")
        && !statement.contains(['{', '}', '\n'])
        && !statement.trim_end_matches(';').contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let loaded = birk_lang::load(text, &[]);
        let program = loaded.program.expect("a model");
        changes(text, &program).iter().map(|change| change.apply(text)).collect()
    }

    const TEXT: &str = "system S { const MAX = 3; int (0, 9) x; // x < 4
  active thread A() { while (x < MAX) { x := x + 1; /* x < 5 */ assert x < 7, \"x < 8\"; } }
  invariant small: x < 6; }";

    #[test]
    fn only_the_behaviour_of_threads_is_changed() {
        let all = of(TEXT);
        for kept in ["x < 4", "x < 5", "x < 6", "x < 7", "x < 8", "const MAX = 3;", "int (0, 9) x;"] {
            assert!(all.iter().all(|text| text.contains(kept)), "{kept}");
        }
        for made in ["(x <= MAX)", "(x == MAX)", "x := x - 1;", "x := x + 2;", "x := x + 0;", "x := MAX + 1;", "skip;"]
        {
            assert!(all.iter().any(|text| text.contains(made)), "{made}");
        }
    }

    #[test]
    fn statements_change_places_and_become_one_step() {
        let all = of("system S { int (0, 9) x, y; active thread A() { x := 1; y := 2; } }");
        assert!(all.iter().any(|text| text.contains("{ y := 2; x := 1; }")), "{all:#?}");
        assert!(all.iter().any(|text| text.contains("{ atomic { x := 1; y := 2; } }")), "{all:#?}");
    }

    #[test]
    fn each_change_is_made_once() {
        let mut all = of(TEXT);
        let number = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), number);
    }
}
