//! The grammars for editors cannot drift: their lists of words and signs are the lexer's, the TextMate grammar cuts every
//! model as the lexer does, and the tree-sitter grammar parses every model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use birk_agreement::tools;
use birk_lang::lexer::{Token, TokenKind, tokenize};
use regex::Regex;
use serde_json::Value;

use crate::binary::BIRK;

/// Signs that are only there to be reported: BIR has `&&` and `||`.
const HALVES: [&str; 2] = ["&", "|"];
/// Operators of formulas that are single letters. TextMate leaves them names: most often they are.
const LETTERS: [&str; 6] = ["X", "G", "F", "U", "W", "R"];
/// Letters as operators and as names, side by side.
const LETTERS_AS_BOTH: &str = "system Letters {
  boolean G, F, p;
  active thread T() { loc a: do { p := !p; G := F; } goto a; }
  ltl letters: G F (p) && X F p -> (G U F) && (p W G) && (F R !G);
}
";
/// Functions and values that the language has: names like others, and no words of the grammar.
const BUILT_IN: [&str; 2] = ["support.function.bir", "support.constant.bir"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file of BIR in the repository that is cut without an error.
fn models() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("models"), root().join("crates/lang/std")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of models") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bir") {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 100, "there are many models: {}", found.len());
    found
}

fn written(kinds: &[TokenKind]) -> BTreeSet<String> {
    kinds.iter().map(|kind| kind.text().expect("it is always written the same").to_owned()).collect()
}

/// One pattern of the TextMate grammar.
struct Rule {
    scope: String,
    begin: Regex,
    /// Where it ends, if it may span lines.
    end: Option<Regex>,
}

fn regex(rule: &Value, key: &str) -> Option<Regex> {
    let text = rule.get(key)?.as_str()?;
    Some(Regex::new(text).unwrap_or_else(|error| panic!("{error}")))
}

fn textmate() -> Value {
    serde_json::from_str(&read("editors/textmate/bir.tmLanguage.json")).expect("the TextMate grammar is JSON")
}

/// The patterns in the order in which they are tried.
fn rules(grammar: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    for included in grammar["patterns"].as_array().expect("patterns") {
        let name = included["include"].as_str().and_then(|name| name.strip_prefix('#')).expect("an inclusion");
        for rule in grammar["repository"][name]["patterns"].as_array().unwrap_or_else(|| panic!("no `{name}`")) {
            let scope = rule["name"].as_str().expect("a scope").to_owned();
            let begin = regex(rule, "match").or_else(|| regex(rule, "begin")).expect("a rule matches something");
            rules.push(Rule { scope, begin, end: regex(rule, "end") });
        }
    }
    rules
}

/// The pieces that an editor colours: begin, end and scope. It goes line by line, as editors do, and takes the leftmost
/// match, of several the first rule's.
fn coloured<'r>(rules: &'r [Rule], text: &str) -> Vec<(usize, usize, &'r str)> {
    let mut pieces = Vec::new();
    let mut open: Option<(usize, &Rule)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let mut at = 0;
        loop {
            if let Some((from, rule)) = open {
                let closing = rule.end.as_ref().and_then(|closing| closing.find_at(line, at));
                let Some(found) = closing else { break };
                pieces.push((from, start + found.end(), rule.scope.as_str()));
                (at, open) = (found.end(), None);
            }
            let matches = rules.iter().filter_map(|rule| Some((rule.begin.find_at(line, at)?, rule)));
            let Some((found, rule)) = matches.min_by_key(|(found, _)| found.start()) else { break };
            assert!(!found.is_empty(), "`{}` matches nothing", rule.begin);
            match rule.end {
                Some(_) => open = Some((start + found.start(), rule)),
                None => pieces.push((start + found.start(), start + found.end(), rule.scope.as_str())),
            }
            at = found.end();
        }
        start = end;
    }
    pieces
}

/// Whether a token of this kind may have this scope.
fn fits(kind: TokenKind, scope: &str) -> bool {
    let reserved = ["storage.type.bir", "constant.language.bir", "keyword.declaration.bir", "keyword.control.bir"];
    let words = ["storage.modifier.bir", "support.type.bir", "keyword.control.word.bir", "keyword.operator.word.bir"];
    match kind {
        TokenKind::LineComment => scope == "comment.line.double-slash.bir",
        TokenKind::BlockComment => scope == "comment.block.bir",
        TokenKind::Number => scope == "constant.numeric.bir",
        TokenKind::Text => scope == "string.quoted.double.bir",
        TokenKind::Name => scope == "variable.other.bir" || BUILT_IN.contains(&scope) || words.contains(&scope),
        kind if kind.is_keyword() => reserved.contains(&scope) || scope == "keyword.operator.quantifier.bir",
        _ => scope == "keyword.operator.bir" || scope == "punctuation.bir",
    }
}

#[test]
fn textmate_colours_every_model_as_the_lexer_cuts_it() {
    let grammar = textmate();
    let rules = rules(&grammar);
    let mut examined = 0;
    for (path, text) in models() {
        let (tokens, errors) = tokenize(&text);
        if !errors.is_empty() {
            continue;
        }
        let mut pieces = coloured(&rules, &text).into_iter();
        for Token { kind, span } in tokens.into_iter().filter(|token| token.kind != TokenKind::Whitespace) {
            let (start, end) = (span.range().start, span.range().end);
            // A line ends in `\n` or in `\r\n`, and a comment before it.
            let token = text[start..end].trim_end_matches('\r');
            let piece = pieces.next().map(|(from, to, scope)| (text[from..to].trim_end_matches(['\r', '\n']), scope));
            let (coloured, scope) = piece.unwrap_or_else(|| panic!("{}: `{token}` has no colour", path.display()));
            assert_eq!(coloured, token, "{}: cut otherwise, as {scope}", path.display());
            assert!(fits(kind, scope), "{}: `{token}` is {kind:?}, and coloured as {scope}", path.display());
            examined += 1;
        }
        assert_eq!(pieces.next(), None, "{}: something is coloured behind the last token", path.display());
    }
    assert!(examined > 20_000, "the models have many tokens: {examined}");
}

/// The words in the patterns `\b(?:a|b)\b` of a part of the TextMate grammar, with their scopes.
fn words_of(grammar: &Value, part: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for rule in grammar["repository"][part]["patterns"].as_array().expect("patterns") {
        let scope = rule["name"].as_str().expect("a scope");
        let list = rule["match"].as_str().and_then(|text| text.strip_prefix("\\b(?:")?.strip_suffix(")\\b"));
        for word in list.expect("a list of words").split('|') {
            words.push((word.to_owned(), scope.to_owned()));
        }
    }
    words
}

/// The literals of the tree-sitter grammar: words and signs.
fn literals() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = read("editors/tree-sitter/grammar.js");
    let rules = text.split_once("rules: {").expect("the grammar has rules").1;
    // Comments and the names of fields are no tokens.
    let tokens = Regex::new(r"field\('[a-z]+'|token\(.*\)|'([^']+)'").expect("a regular expression");
    let found = tokens.captures_iter(rules).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    found.partition(|literal| literal.starts_with(|first: char| first.is_ascii_alphabetic()))
}

fn difference(one: &BTreeSet<String>, other: &BTreeSet<String>) -> Vec<String> {
    one.symmetric_difference(other).cloned().collect()
}

#[test]
fn the_words_and_signs_are_the_lexers() {
    let grammar = textmate();
    let keywords = written(TokenKind::KEYWORDS);
    let reserved: BTreeSet<String> = words_of(&grammar, "keywords").into_iter().map(|(word, _)| word).collect();
    assert_eq!(difference(&reserved, &keywords), [] as [String; 0], "in one list only: TextMate's or the lexer's");
    let types = words_of(&grammar, "keywords").into_iter().filter(|(_, scope)| scope == "storage.type.bir");
    let types: Vec<String> = types.map(|(word, _)| word).collect();
    assert_eq!(types, ["boolean", "byte", "int"]);
    for sign in written(TokenKind::SYMBOLS) {
        let rules = rules(&grammar);
        let pieces = coloured(&rules, &sign);
        assert_eq!(pieces.len(), 1, "TextMate cuts `{sign}`: {pieces:?}");
        assert!(fits(TokenKind::Plus, pieces[0].2), "TextMate takes `{sign}` for {}", pieces[0].2);
    }
    let (words, signs) = literals();
    let wanted = written(TokenKind::SYMBOLS).into_iter().filter(|sign| !HALVES.contains(&sign.as_str())).collect();
    assert_eq!(difference(&signs, &wanted), [] as [String; 0], "in one list only: tree-sitter's or the lexer's");
    // Words that are names elsewhere: the two grammars know the same.
    let soft = words_of(&grammar, "words")
        .into_iter()
        .filter(|(_, scope)| !BUILT_IN.contains(&scope.as_str()))
        .map(|(word, _)| word);
    let letters = LETTERS.iter().map(|&letter| letter.to_owned());
    let all: BTreeSet<String> = soft.chain(letters).chain(keywords.iter().cloned()).collect();
    assert_eq!(difference(&words, &all), [] as [String; 0], "in one grammar only: tree-sitter's or TextMate's");
    for word in all.difference(&keywords) {
        assert!(TokenKind::keyword(word).is_none(), "`{word}` is reserved");
    }
}

#[test]
fn every_literal_of_the_tree_is_coloured() {
    let query = read("editors/tree-sitter/queries/highlights.scm");
    // What a predicate compares a name with is no literal.
    let query = Regex::new(r"\(#[^)]*\)").expect("a regular expression").replace_all(&query, "");
    let quoted = Regex::new("\"([^\"]+)\"").expect("a regular expression");
    let coloured: BTreeSet<String> = quoted.captures_iter(&query).map(|found| found[1].to_owned()).collect();
    let (words, signs) = literals();
    // These have nodes of their own.
    let nodes = ["true", "false", "end", "accept", "progress"].map(str::to_owned);
    let wanted = words.union(&signs).filter(|literal| !nodes.contains(literal)).cloned().collect();
    assert_eq!(difference(&coloured, &wanted), [] as [String; 0], "in one file only: the query or the grammar");
}

/// The parser of `tree-sitter` reads every model that Birk's parser reads.
#[test]
fn tree_sitter_parses_every_model() {
    if !tools::are_installed(&["tree-sitter"]) {
        return;
    }
    let sound = models().into_iter().filter(|(_, text)| birk_lang::parser::parse(text, 0).diagnostics.is_empty());
    let mut paths: Vec<PathBuf> = sound.map(|(path, _)| path).collect();
    assert!(paths.len() > 100, "most models are sound");
    let letters = Path::new(env!("CARGO_TARGET_TMPDIR")).join("letters.bir");
    std::fs::write(&letters, LETTERS_AS_BOTH).expect("a file for the test can be written");
    paths.push(letters);
    let output = Command::new("bash").arg(root().join("editors/tree-sitter/check")).args(&paths).output();
    let output = output.expect("bash runs the check");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Types, package, reports and the view in a browser; what it is built with is fetched once.
#[test]
fn the_extension_for_visual_studio_code_passes_its_tests() {
    if !tools::are_installed(&["npm", "node", "chromium|google-chrome"]) {
        return;
    }
    let folder = root().join("editors/vscode");
    let npm = |options: &[&str]| {
        let output = Command::new("npm").args(options).current_dir(&folder).env("BIRK", BIRK).output();
        let output = output.expect("npm can be run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm {options:?}: {said}");
    };
    let made = |file: &str| std::fs::metadata(folder.join(file)).and_then(|of| of.modified()).ok();
    if made("node_modules/.package-lock.json") < made("package-lock.json") {
        npm(&["ci", "--prefer-offline", "--no-audit", "--no-fund"]);
    }
    npm(&["test"]);
}
