//! The grammar and the reserved words of the book, held against the lexer, the parser and every model there is.
//!
//! The grammar is read from its page and recognises token lists, with all ambiguities: each model that loads must be a
//! sentence of it, and each of its alternatives must be needed by some model.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use birk_lang::lexer::{TokenKind, tokenize};

/// A part of the grammar; numbers are places in its list of parts.
#[derive(Clone, Debug)]
enum Part {
    Word(String),
    Kind(TokenKind),
    Rule(String),
    /// One behind the other.
    Pair(usize, usize),
    Either(Vec<usize>),
    Repeated(usize),
    Nothing,
}

#[derive(Default)]
struct Grammar {
    parts: Vec<Part>,
    rules: HashMap<String, usize>,
}

/// The text of a page of the book.
fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/language").join(name);
    fs::read_to_string(path).expect("the page is there")
}

impl Grammar {
    /// Of the book.
    fn read() -> Self {
        let page = page("grammar.md");
        let text = page.split("```text").nth(1).and_then(|rest| rest.split("```").next()).expect("a grammar");
        let spaced = text.replace('\n', " \n ");
        let words: Vec<&str> = spaced.split([' ', '\n']).filter(|word| !word.is_empty()).collect();
        let starts: Vec<usize> = (0..words.len()).filter(|&at| words.get(at + 1) == Some(&":=")).collect();
        let mut grammar = Self::default();
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(words.len());
            let mut rest = &words[start + 2..end];
            let body = grammar.alternatives(&mut rest);
            assert!(rest.is_empty(), "`{}` is not closed: {rest:?}", words[start]);
            grammar.rules.insert(words[start].to_owned(), body);
        }
        grammar
    }

    fn add(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    fn alternatives(&mut self, words: &mut &[&str]) -> usize {
        let mut all = vec![self.sequence(words)];
        while words.first() == Some(&"|") {
            *words = &words[1..];
            all.push(self.sequence(words));
        }
        if all.len() == 1 { all[0] } else { self.add(Part::Either(all)) }
    }

    fn sequence(&mut self, words: &mut &[&str]) -> usize {
        let mut list = Vec::new();
        while let Some(&word) = words.first().filter(|word| **word != "|" && !word.starts_with(')')) {
            *words = &words[1..];
            let (mut part, times) = if word == "(" {
                let inner = self.alternatives(words);
                let close = words.first().expect("a parenthesis is closed");
                *words = &words[1..];
                (inner, close.trim_start_matches(')'))
            } else {
                let is_quoted = word.starts_with('\'');
                let end = if is_quoted {
                    word.rfind('\'').map_or(0, |at| at + 1)
                } else {
                    word.trim_end_matches(['*', '+', '?']).len()
                };
                (self.single(&word[..end]), &word[end..])
            };
            part = match times {
                "" => part,
                "?" => {
                    let nothing = self.add(Part::Nothing);
                    self.add(Part::Either(vec![part, nothing]))
                }
                "*" => self.add(Part::Repeated(part)),
                "+" => {
                    let more = self.add(Part::Repeated(part));
                    self.add(Part::Pair(part, more))
                }
                other => panic!("`{other}` behind `{word}`"),
            };
            list.push(part);
        }
        let mut whole = self.add(Part::Nothing);
        for part in list.into_iter().rev() {
            whole = self.add(Part::Pair(part, whole));
        }
        whole
    }

    fn single(&mut self, word: &str) -> usize {
        let part = match (word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')), word) {
            (Some(word), _) => Part::Word(word.to_owned()),
            (None, "NAME") => Part::Kind(TokenKind::Name),
            (None, "NUMBER") => Part::Kind(TokenKind::Number),
            (None, "TEXT") => Part::Kind(TokenKind::Text),
            (None, rule) => Part::Rule(rule.to_owned()),
        };
        self.add(part)
    }

    /// The words in quotes.
    fn words(&self) -> BTreeSet<&str> {
        self.parts
            .iter()
            .filter_map(|part| if let Part::Word(word) = part { Some(word.as_str()) } else { None })
            .collect()
    }
}

/// Reads one list of tokens.
struct Reader<'a> {
    grammar: &'a Grammar,
    tokens: Vec<(TokenKind, &'a str)>,
    /// Where a part that begins somewhere can end.
    known: HashMap<(usize, usize), Vec<usize>>,
    /// The farthest token that fitted.
    farthest: usize,
}

impl<'a> Reader<'a> {
    fn new(grammar: &'a Grammar, text: &'a str) -> Self {
        let (tokens, _) = tokenize(text);
        let tokens = tokens.into_iter().filter(|token| !token.kind.is_trivia());
        let tokens = tokens.map(|token| (token.kind, &text[token.span.range()])).collect();
        Self { grammar, tokens, known: HashMap::new(), farthest: 0 }
    }

    fn ends(&mut self, part: usize, from: usize) -> Vec<usize> {
        if let Some(ends) = self.known.get(&(part, from)) {
            return ends.clone();
        }
        let grammar = self.grammar;
        let mut ends = BTreeSet::new();
        match &grammar.parts[part] {
            Part::Nothing => _ = ends.insert(from),
            Part::Word(word) => ends.extend(self.tokens.get(from).filter(|(_, text)| text == word).map(|_| from + 1)),
            Part::Kind(kind) => ends.extend(self.tokens.get(from).filter(|(other, _)| other == kind).map(|_| from + 1)),
            Part::Rule(rule) => ends.extend(self.ends(grammar.rules[rule], from)),
            Part::Either(parts) => parts.iter().for_each(|&part| ends.extend(self.ends(part, from))),
            Part::Pair(first, second) => {
                for middle in self.ends(*first, from) {
                    ends.extend(self.ends(*second, middle));
                }
            }
            Part::Repeated(part) => {
                let mut open = vec![from];
                while let Some(at) = open.pop() {
                    if ends.insert(at) {
                        open.extend(self.ends(*part, at));
                    }
                }
            }
        }
        let ends: Vec<usize> = ends.into_iter().collect();
        self.farthest = self.farthest.max(ends.last().copied().unwrap_or(0));
        self.known.insert((part, from), ends.clone());
        ends
    }

    /// Whether the whole is a file.
    fn is_file(&mut self) -> bool {
        let file = self.grammar.rules["file"];
        self.ends(file, 0).contains(&self.tokens.len())
    }

    /// Adds the alternatives of one way to read a part between two places.
    fn add_used(&mut self, part: usize, from: usize, to: usize, used: &mut BTreeSet<usize>) {
        used.insert(part);
        let grammar = self.grammar;
        match &grammar.parts[part] {
            Part::Nothing | Part::Word(_) | Part::Kind(_) => {}
            Part::Rule(rule) => self.add_used(grammar.rules[rule], from, to, used),
            Part::Either(parts) => {
                for &part in parts {
                    // Every alternative that fits counts: which one is meant, types decide.
                    if self.ends(part, from).contains(&to) {
                        self.add_used(part, from, to, used);
                    }
                }
            }
            Part::Pair(first, second) => {
                let middles = self.ends(*first, from);
                let middle = middles.into_iter().find(|&middle| self.ends(*second, middle).contains(&to));
                let middle = middle.expect("it was read before");
                self.add_used(*first, from, middle, used);
                self.add_used(*second, middle, to, used);
            }
            Part::Repeated(one) => {
                let mut at = from;
                while at < to {
                    let nexts = self.ends(*one, at);
                    let next = nexts.into_iter().find(|&next| next > at && self.ends(part, next).contains(&to));
                    let next = next.expect("it was read before");
                    self.add_used(*one, at, next, used);
                    at = next;
                }
            }
        }
    }
}

/// Every model, library and example, with its name.
fn models() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> = ["models", "docs/src", "crates/lang/std"].map(|folder| root.join(folder)).to_vec();
    let mut found = vec![("the test's own".to_owned(), RARE.to_owned())];
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.ends_with("rejected") {
            open.extend(fs::read_dir(&path).expect("it can be listed").map(|entry| entry.expect("an entry").path()));
        }
        let name = path.display().to_string();
        if path.extension().is_some_and(|end| end == "bir") {
            found.push((name, fs::read_to_string(&path).expect("it can be read")));
        } else if path.extension().is_some_and(|end| end == "md") {
            let page = fs::read_to_string(&path).expect("it can be read");
            let blocks = page.split("\n```bir").skip(1).filter(|block| !block.starts_with(",fails"));
            found.extend(blocks.map(|block| {
                let (_, code) = block.split_once('\n').unwrap_or_default();
                (name.clone(), code.split("\n```").next().unwrap_or_default().to_owned())
            }));
        }
    }
    found
}

/// What no other model needs.
const RARE: &str = "system Rare {
  const Block { A = 1, B = 2; };
  enum Colour { red };
  record Pair { byte first, second; };
  duplicating reordering lossy channel of byte [1] c;
  map of 0 .. 1 to byte held;
  fair active thread T() { loc a: progress accept end fair when !(0 > 1) && 1 >= 0 => true do { goto a; } }
  function twice_half(int x): int = let y = x / 2 in y + y;
  active thread U() { l: end fair await true; }
  active thread V() crashes when true { durable byte kept; on crash { skip; } on restart { kept := 1; } skip; }
  ltl words: always eventually next (true until true) && G F true && (true weakuntil true release true <-> X true U false W true R true);
  ctl paths: A[true U true] && E[true W true] && AX EX AG EG AF EF true;
  mu steps: mu Y. [T] Y || <T@a> true;
  refines Spec { pairs[i : 0 .. 1].first = i; pairs[0].second = 1; }
  ltl chosen: forall (i : 0 .. 1) <> (i == 0 ? true : false) -> [] ! false;
}
";

#[test]
fn every_model_is_a_sentence_and_every_alternative_is_needed() {
    let grammar = Grammar::read();
    let mut used = BTreeSet::new();
    let mut read = 0;
    for (name, text) in models() {
        // Parts of models stand in the book, too.
        if birk_lang::fmt::format(&text).is_err() {
            assert!(name.ends_with(".md"), "{name} has a syntax error");
            continue;
        }
        let mut reader = Reader::new(&grammar, &text);
        let found = reader.is_file();
        let near: Vec<&str> =
            reader.tokens.iter().skip(reader.farthest.saturating_sub(5)).take(9).map(|t| t.1).collect();
        assert!(found, "{name} is not a sentence of the grammar near `{}`", near.join(" "));
        let (file, length) = (grammar.rules["file"], reader.tokens.len());
        reader.add_used(file, 0, length, &mut used);
        read += 1;
    }
    assert!(read > 100, "only {read} models were read");
    let choices =
        grammar.parts.iter().filter_map(|part| if let Part::Either(parts) = part { Some(parts) } else { None });
    let unused: Vec<&Part> =
        choices.flatten().filter(|part| !used.contains(part)).map(|part| &grammar.parts[*part]).collect();
    assert!(unused.is_empty(), "no model needs these alternatives: {unused:#?}");
    let named: BTreeSet<&str> = grammar
        .parts
        .iter()
        .filter_map(|part| if let Part::Rule(rule) = part { Some(rule.as_str()) } else { None })
        .collect();
    let defined: BTreeSet<&str> = grammar.rules.keys().map(String::as_str).filter(|rule| *rule != "file").collect();
    assert_eq!(named, defined, "rules that are named, and rules that are defined");
}

#[test]
fn reserved_words_are_those_of_the_lexer() {
    let page = page("structure.md");
    let list = page.split("These words are reserved and cannot be names:").nth(1).expect("the list is there");
    let quoted: Vec<&str> =
        list.lines().filter(|line| line.starts_with('>')).flat_map(|line| line.split('`')).collect();
    let listed: BTreeSet<&str> =
        quoted.into_iter().filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()) && !word.is_empty()).collect();
    let reserved: BTreeSet<&str> = TokenKind::KEYWORDS.iter().filter_map(|keyword| keyword.text()).collect();
    assert_eq!(listed, reserved);
    assert_eq!(birk_ir::RESERVED.iter().copied().collect::<BTreeSet<&str>>(), reserved, "what translators avoid");
    let grammar = Grammar::read();
    let missing: Vec<&&str> = reserved.iter().filter(|word| !grammar.words().contains(**word)).collect();
    assert!(missing.is_empty(), "reserved words that the grammar does not use: {missing:?}");
}

/// Words of the language that are not reserved: where the parser asks for one, the grammar has it.
#[test]
fn words_that_the_parser_knows_are_in_the_grammar() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/syntax/parser");
    let grammar = Grammar::read();
    let words = grammar.words();
    // Words of other languages, about which the parser says what to write instead.
    let foreign = ["not", "then"];
    let mut asked = 0;
    for entry in fs::read_dir(folder).expect("the parser is there") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("it can be read");
        for call in text.split("at_word(\"").skip(1).chain(text.split("is_word_ahead(").skip(1)) {
            let word = call
                .split('"')
                .find(|word| word.chars().all(|c| c.is_ascii_alphabetic() || c == '_') && !word.is_empty());
            let Some(word) = word.filter(|word| !foreign.contains(word)) else { continue };
            asked += 1;
            assert!(words.contains(word), "the parser knows `{word}`, and the grammar does not");
        }
    }
    assert!(asked > 20, "only {asked} words were found");
}
