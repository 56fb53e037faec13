//! Reading the format: Büchi and generalized Büchi acceptance (or none), on states or on edges, one initial state at a
//! time, labels on edges or on states. What else the format can say is refused with its line.

use std::collections::HashMap;
use std::ops::Range;

use super::super::buchi::Buchi;
use super::super::graph::{Edge, Graph};
use super::super::label::{Label, Labels};
use super::super::{MAX_PROPOSITIONS, OfFile, refuse_depth};

/// Larger files are refused.
const MAX_STATES: usize = 100_000;

/// Reads an automaton; an error says what was expected, and where.
pub fn read(text: &str) -> Result<OfFile, String> {
    refuse_depth(text)?;
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens, next: 0, header: Header::default(), labels: Labels::default() };
    reader.header()?;
    let automaton = reader.body()?;
    Ok(OfFile { automaton, places: reader.header.places })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A header's name, with its colon left out.
    Header(String),
    Word(String),
    /// What is quoted, and where.
    Text(String, Range<usize>),
    Number(usize),
    Alias(String),
    Symbol(char),
    Body,
    End,
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut length = first.len_utf8();
        if first == '\n' {
            line += 1;
        } else if first.is_whitespace() {
        } else if rest.starts_with("/*") {
            length = rest.find("*/").ok_or(format!("line {line}: this comment is never closed"))? + 2;
            line += rest[..length].matches('\n').count();
        } else if first == '"' {
            let mut content = String::new();
            let mut chars = rest.char_indices().skip(1);
            loop {
                match chars.next() {
                    None => return Err(format!("line {line}: this quote is never closed")),
                    Some((_, '\\')) => content.extend(chars.next().map(|(_, c)| c)),
                    Some((end, '"')) => {
                        length = end + 1;
                        break;
                    }
                    Some((_, c)) => content.push(c),
                }
            }
            tokens.push((line, Token::Text(content, at + 1..at + length - 1)));
        } else if let Some(word) = ["--BODY--", "--END--", "--ABORT--"].iter().find(|word| rest.starts_with(**word)) {
            length = word.len();
            match *word {
                "--BODY--" => tokens.push((line, Token::Body)),
                "--END--" => tokens.push((line, Token::End)),
                _ => return Err(format!("line {line}: the automaton was aborted")),
            }
        } else if first.is_ascii_digit() {
            length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| format!("line {line}: this number is too large"))?;
            tokens.push((line, Token::Number(number)));
        } else if first.is_alphabetic() || first == '_' || first == '@' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            length += rest[length..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - length);
            let word = rest[..length].to_owned();
            if first == '@' {
                tokens.push((line, Token::Alias(word)));
            } else if rest[length..].starts_with(':') {
                length += 1;
                tokens.push((line, Token::Header(word)));
            } else {
                tokens.push((line, Token::Word(word)));
            }
        } else {
            tokens.push((line, Token::Symbol(first)));
        }
        at += length;
    }
    Ok(tokens)
}

#[derive(Default)]
struct Header {
    states: usize,
    initial: Vec<usize>,
    names: Option<Vec<String>>,
    places: Vec<Range<usize>>,
    marks: Option<u32>,
    aliases: HashMap<String, Label>,
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    next: usize,
    header: Header,
    labels: Labels,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn take(&mut self) -> Option<Token> {
        self.next += 1;
        self.tokens.get(self.next - 1).map(|(_, token)| token.clone())
    }

    fn error<T>(&self, reason: &str) -> Result<T, String> {
        let at = self.next.saturating_sub(1).min(self.tokens.len().saturating_sub(1));
        Err(format!("line {}: {reason}", self.tokens.get(at).map_or(1, |(line, _)| *line)))
    }

    fn number(&mut self) -> Result<usize, String> {
        match self.take() {
            Some(Token::Number(number)) => Ok(number),
            _ => self.error("expected a number"),
        }
    }

    fn symbol(&mut self, wanted: char) -> Result<(), String> {
        match self.take() {
            Some(Token::Symbol(found)) if found == wanted => Ok(()),
            _ => self.error(&format!("expected `{wanted}`")),
        }
    }

    fn header(&mut self) -> Result<(), String> {
        match (self.take(), self.take()) {
            (Some(Token::Header(name)), Some(Token::Word(version))) if name == "HOA" && version == "v1" => {}
            _ => return Err("not an automaton in the format HOA: it must begin with `HOA: v1`".into()),
        }
        loop {
            let name = match self.take() {
                Some(Token::Body) => return Ok(()),
                Some(Token::Header(name)) => name,
                _ => return self.error("expected a header or --BODY--"),
            };
            match name.as_str() {
                "States" => {
                    self.header.states = self.number()?;
                    if self.header.states > MAX_STATES {
                        return self.error(&format!("more than {MAX_STATES} states"));
                    }
                }
                "Start" => {
                    let state = self.number()?;
                    self.header.initial.push(state);
                    if self.peek() == Some(&Token::Symbol('&')) {
                        return self.error("alternating automata are not supported");
                    }
                }
                "AP" => {
                    let count = self.number()?;
                    let (mut names, mut places) = (Vec::new(), Vec::new());
                    while let Some(Token::Text(name, place)) = self.peek() {
                        names.push(name.clone());
                        places.push(place.clone());
                        self.next += 1;
                    }
                    if names.len() != count || count > MAX_PROPOSITIONS {
                        return self.error(&format!("{count} propositions were announced, {} named", names.len()));
                    }
                    (self.header.names, self.header.places) = (Some(names), places);
                }
                "Acceptance" => self.acceptance()?,
                "Alias" => {
                    let Some(Token::Alias(name)) = self.take() else { return self.error("expected an alias") };
                    let label = self.either()?;
                    self.header.aliases.insert(name, label);
                }
                // A header that begins with a capital may change the meaning of all the rest.
                _ if name.starts_with(|c: char| c.is_uppercase()) => {
                    return self.error(&format!("the header `{name}:` is not supported"));
                }
                _ => {
                    while !matches!(self.peek(), None | Some(Token::Header(_) | Token::Body)) {
                        self.next += 1;
                    }
                }
            }
        }
    }

    /// `n Inf(0)&…&Inf(n-1)`, or `0 t`.
    fn acceptance(&mut self) -> Result<(), String> {
        let count = self.number()?;
        if count > 63 {
            return self.error("more than 63 acceptance sets");
        }
        let refusal = "only Büchi and generalized Büchi acceptance is supported: Inf(0)&Inf(1)&…";
        let mut seen = 0u64;
        loop {
            match self.take() {
                Some(Token::Word(word)) if word == "t" => {}
                Some(Token::Word(word)) if word == "Inf" => {
                    self.symbol('(')?;
                    let mark = self.number()?;
                    self.symbol(')')?;
                    if mark >= count {
                        return self.error("there is no such acceptance set");
                    }
                    seen |= 1 << mark;
                }
                Some(Token::Symbol('(' | ')')) => continue,
                _ => return self.error(refusal),
            }
            while self.peek() == Some(&Token::Symbol(')')) {
                self.next += 1;
            }
            match self.peek() {
                Some(Token::Symbol('&')) => self.next += 1,
                Some(Token::Header(_) | Token::Body) => break,
                _ => {
                    self.next += 1;
                    return self.error(refusal);
                }
            }
        }
        if seen != (1 << count) - 1 {
            return self.error("some acceptance sets are not used in the condition");
        }
        self.header.marks = Some(count as u32);
        Ok(())
    }

    fn body(&mut self) -> Result<Buchi, String> {
        let names = self.header.names.clone().unwrap_or_default();
        let Some(marks) = self.header.marks else { return Err("the header `Acceptance:` is missing".into()) };
        let mut graph = Graph { marks, initial: self.header.initial.clone(), ..Graph::default() };
        graph.edges.resize(self.header.states, Vec::new());
        while let Some(Token::Header(name)) = self.peek() {
            if name != "State" {
                self.next += 1;
                return self.error("expected `State:`");
            }
            self.next += 1;
            self.state(&mut graph, names.len())?;
        }
        if self.take() != Some(Token::End) {
            return self.error("expected `State:` or --END--");
        }
        let count = graph.edges.len();
        let missing = |state: &&usize| **state >= count;
        let targets = graph.edges.iter().flatten().map(|edge| &edge.target);
        if let Some(state) = targets.chain(&graph.initial).find(missing) {
            return Err(format!("there is no state {state}"));
        }
        graph.labels = std::mem::take(&mut self.labels);
        Ok(Buchi::from_graph(graph, names))
    }

    fn state(&mut self, graph: &mut Graph, propositions: usize) -> Result<(), String> {
        let of_state = self.label()?;
        let state = self.number()?;
        if state >= MAX_STATES {
            return self.error(&format!("more than {MAX_STATES} states"));
        }
        if graph.edges.len() <= state {
            graph.edges.resize(state + 1, Vec::new());
        }
        if let Some(Token::Text(..)) = self.peek() {
            self.next += 1;
        }
        let marks = self.marks(graph.marks)?;
        let mut implicit = 0;
        while let Some(Token::Number(_) | Token::Symbol('[')) = self.peek() {
            let label = match (self.label()?, of_state) {
                (Some(label), _) | (None, Some(label)) => label,
                (None, None) => {
                    implicit += 1;
                    self.letter(implicit - 1, propositions)?
                }
            };
            let target = self.number()?;
            if self.peek() == Some(&Token::Symbol('&')) {
                return self.error("alternating automata are not supported");
            }
            let marks = marks | self.marks(graph.marks)?;
            graph.edges[state].push(Edge { label, marks, target });
        }
        Ok(())
    }

    /// The label of the edge at a position, where none is written: bit `i` is proposition `i`.
    fn letter(&mut self, number: usize, propositions: usize) -> Result<Label, String> {
        if propositions > 20 || number >> propositions != 0 {
            return self.error("an edge without a label, or one too many");
        }
        let mut label = Label::TRUE;
        for proposition in 0..propositions {
            let literal = self.labels.proposition(proposition);
            let literal = if number >> proposition & 1 == 1 { literal } else { self.labels.not(literal) };
            label = self.labels.and(label, literal);
        }
        Ok(label)
    }

    fn marks(&mut self, count: u32) -> Result<u64, String> {
        let mut marks = 0;
        if self.peek() != Some(&Token::Symbol('{')) {
            return Ok(0);
        }
        self.next += 1;
        while let Some(&Token::Number(mark)) = self.peek() {
            self.next += 1;
            if mark >= count as usize {
                return self.error("there is no such acceptance set");
            }
            marks |= 1 << mark;
        }
        self.symbol('}')?;
        Ok(marks)
    }

    fn label(&mut self) -> Result<Option<Label>, String> {
        if self.peek() != Some(&Token::Symbol('[')) {
            return Ok(None);
        }
        self.next += 1;
        let label = self.either()?;
        self.symbol(']')?;
        Ok(Some(label))
    }

    fn either(&mut self) -> Result<Label, String> {
        let mut label = self.both()?;
        while self.peek() == Some(&Token::Symbol('|')) {
            self.next += 1;
            let other = self.both()?;
            label = self.labels.or(label, other);
        }
        Ok(label)
    }

    fn both(&mut self) -> Result<Label, String> {
        let mut label = self.single()?;
        while self.peek() == Some(&Token::Symbol('&')) {
            self.next += 1;
            let other = self.single()?;
            label = self.labels.and(label, other);
        }
        Ok(label)
    }

    fn single(&mut self) -> Result<Label, String> {
        match self.take() {
            Some(Token::Symbol('!')) => {
                let label = self.single()?;
                Ok(self.labels.not(label))
            }
            Some(Token::Symbol('(')) => {
                let label = self.either()?;
                self.symbol(')')?;
                Ok(label)
            }
            Some(Token::Word(word)) if word == "t" => Ok(Label::TRUE),
            Some(Token::Word(word)) if word == "f" => Ok(Label::FALSE),
            Some(Token::Number(number)) => {
                let known = self.header.names.as_ref().is_some_and(|names| number < names.len());
                if known { Ok(self.labels.proposition(number)) } else { self.error("there is no such proposition") }
            }
            Some(Token::Alias(name)) => match self.header.aliases.get(&name) {
                Some(label) => Ok(*label),
                None => self.error(&format!("there is no alias {name}")),
            },
            _ => self.error("expected a label"),
        }
    }
}
