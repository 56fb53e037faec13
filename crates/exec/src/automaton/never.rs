//! Never claims, as `spin -f` writes them: states are labels in the text, those that begin with `accept` are accepting.

use std::collections::HashMap;

use super::buchi::Buchi;
use super::label::{Label, Labels};

/// Reads a never claim. An error says what was expected, and where.
pub fn read(text: &str) -> Result<Buchi, String> {
    super::refuse_depth(text)?;
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, next: 0, labels: Labels::default(), names: Vec::new() };
    reader.claim()
}

/// Words and symbols; comments are left out.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    let mut comment = false;
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        while !rest.is_empty() {
            if comment {
                let Some(end) = rest.find("*/") else { break };
                rest = &rest[end + 2..];
                comment = false;
                continue;
            }
            if rest.starts_with("/*") {
                comment = true;
                rest = &rest[2..];
                continue;
            }
            let is_word = |c: char| c.is_alphanumeric() || "_.@[]".contains(c);
            let first = rest.chars().next().unwrap_or(' ');
            let length = if first.is_whitespace() {
                rest = &rest[first.len_utf8()..];
                continue;
            } else if is_word(first) {
                rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
            } else {
                let symbol = ["::", "->", "&&", "||"].iter().find(|symbol| rest.starts_with(**symbol));
                symbol.map_or(first.len_utf8(), |symbol| symbol.len())
            };
            tokens.push((number + 1, rest[..length].to_owned()));
            rest = &rest[length..];
        }
    }
    tokens
}

struct Reader<'t> {
    tokens: &'t [(usize, String)],
    next: usize,
    labels: Labels,
    names: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", |(_, token)| token)
    }

    fn take(&mut self) -> String {
        self.next += 1;
        self.tokens.get(self.next - 1).map(|(_, token)| token.clone()).unwrap_or_default()
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.peek() == wanted {
            self.next += 1;
            return Ok(());
        }
        let line = self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |(line, _)| *line);
        Err(format!("line {line}: expected `{wanted}`, found `{}`", self.peek()))
    }

    fn claim(&mut self) -> Result<Buchi, String> {
        self.expect("never")?;
        if self.peek() != "{" {
            self.take();
        }
        self.expect("{")?;
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut accepting: Vec<bool> = Vec::new();
        let mut edges: Vec<(usize, Label, String)> = Vec::new();
        while self.peek() != "}" {
            // Several labels may stand before one state.
            let state = accepting.len();
            accepting.push(false);
            while self.tokens.get(self.next + 1).is_some_and(|(_, token)| token == ":") {
                let name = self.take();
                self.expect(":")?;
                accepting[state] |= name.starts_with("accept");
                numbers.insert(name, state);
            }
            match self.peek() {
                "skip" => {
                    self.take();
                    edges.push((state, Label::TRUE, String::new()));
                }
                "false" => _ = self.take(),
                opening @ ("do" | "if") => {
                    let closing = if opening == "do" { "od" } else { "fi" };
                    self.take();
                    while self.peek() == "::" {
                        let (label, target) = self.choice()?;
                        edges.push((state, label, target));
                    }
                    self.expect(closing)?;
                }
                _ => self.expect("do")?,
            }
            if self.peek() == ";" {
                self.take();
            }
        }
        self.assembled(&numbers, &accepting, &edges)
    }

    /// `:: (label) -> goto state`, or `:: atomic { (label) -> assert(…) }`, which ends the claim: a violation.
    fn choice(&mut self) -> Result<(Label, String), String> {
        self.expect("::")?;
        let is_atomic = self.peek() == "atomic";
        if is_atomic {
            self.take();
            self.expect("{")?;
        }
        let label = self.either()?;
        if label == Label::FALSE && self.peek() != "->" {
            return Ok((label, String::new()));
        }
        self.expect("->")?;
        if !is_atomic {
            self.expect("goto")?;
            return Ok((label, self.take()));
        }
        self.expect("assert")?;
        self.either()?;
        self.expect("}")?;
        Ok((label, "accept_all".to_owned()))
    }

    fn assembled(
        &mut self,
        numbers: &HashMap<String, usize>,
        accepting: &[bool],
        edges: &[(usize, Label, String)],
    ) -> Result<Buchi, String> {
        let mut numbered = Vec::new();
        for (from, label, target) in edges {
            let to = match numbers.get(target) {
                Some(&number) => number,
                None if target.is_empty() => *from,
                None => return Err(format!("there is no state `{target}`")),
            };
            numbered.push((*from, *label, to));
        }
        let (labels, names) = (std::mem::take(&mut self.labels), std::mem::take(&mut self.names));
        let initial = if accepting.is_empty() { Vec::new() } else { vec![0] };
        Ok(Buchi::exactly(labels, names, initial, accepting, &numbered))
    }

    fn either(&mut self) -> Result<Label, String> {
        let mut label = self.both()?;
        while self.peek() == "||" {
            self.take();
            let other = self.both()?;
            label = self.labels.or(label, other);
        }
        Ok(label)
    }

    fn both(&mut self) -> Result<Label, String> {
        let mut label = self.single()?;
        while self.peek() == "&&" {
            self.take();
            let other = self.single()?;
            label = self.labels.and(label, other);
        }
        Ok(label)
    }

    fn single(&mut self) -> Result<Label, String> {
        match self.take().as_str() {
            "!" => {
                let label = self.single()?;
                Ok(self.labels.not(label))
            }
            "(" => {
                let label = self.either()?;
                self.expect(")")?;
                Ok(label)
            }
            "1" | "true" => Ok(Label::TRUE),
            "0" | "false" => Ok(Label::FALSE),
            name if name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_') => {
                let number = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
                    self.names.push(name.to_owned());
                    self.names.len() - 1
                });
                if number >= super::MAX_PROPOSITIONS {
                    return Err(format!("more than {} propositions", super::MAX_PROPOSITIONS));
                }
                Ok(self.labels.proposition(number))
            }
            other => {
                let line = self.tokens.get(self.next - 1).map_or(0, |(line, _)| *line);
                Err(format!("line {line}: expected a proposition, `!` or `(`, found `{other}`"))
            }
        }
    }
}
