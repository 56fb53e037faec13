//! Never claims, as `spin -f` writes them: states are labels in the text, those that begin with `accept` are accepting.
//!
//! A guard is made of propositions with `!`, `&&`, `||` and parentheses. A proposition is a condition of the model, which is
//! not looked into: whatever stands between these, such as `n + 1 == 2` or `(a + b) * 2 > c`.

use std::collections::HashMap;
use std::ops::Range;

use super::OfFile;
use super::buchi::Buchi;
use super::label::{Label, Labels};

/// Reads a never claim. An error says what was expected, and where.
pub fn read(text: &str) -> Result<OfFile, String> {
    super::refuse_depth(text)?;
    let mut reader = Reader { text, tokens: tokens(text), ..Reader::default() };
    let automaton = reader.claim()?;
    Ok(OfFile { automaton, places: reader.places })
}

/// Where words and symbols stand, with their lines; comments are left out.
fn tokens(text: &str) -> Vec<(usize, Range<usize>)> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let symbol = ["::", "->", "&&", "||", "==", "!="].iter().find(|symbol| rest.starts_with(**symbol));
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if is_word(first) {
            rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
        } else {
            symbol.map_or(first.len_utf8(), |symbol| symbol.len())
        };
        if !first.is_whitespace() && !rest.starts_with("/*") {
            tokens.push((line, at..at + length));
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    tokens: Vec<(usize, Range<usize>)>,
    next: usize,
    labels: Labels,
    names: Vec<String>,
    /// Where each proposition stands first.
    places: Vec<Range<usize>>,
}

impl<'t> Reader<'t> {
    fn token(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |(_, place)| &self.text[place.clone()])
    }

    fn peek(&self) -> &'t str {
        self.token(self.next)
    }

    fn take(&mut self) -> &'t str {
        self.next += 1;
        self.token(self.next - 1)
    }

    fn expected<T>(&self, wanted: &str) -> Result<T, String> {
        let line = self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |(line, _)| *line);
        Err(format!("line {line}: expected {wanted}, found `{}`", self.peek()))
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        if self.peek() != wanted {
            return self.expected(&format!("`{wanted}`"));
        }
        self.next += 1;
        Ok(())
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
            while self.token(self.next + 1) == ":" {
                let name = self.take();
                self.expect(":")?;
                accepting[state] |= name.starts_with("accept");
                numbers.insert(name.to_owned(), state);
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
            return Ok((label, self.take().to_owned()));
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

    /// A part of a guard that `&&` and `||` join. A negation and a parenthesis are the guard's own if nothing but a part follows:
    /// in `(a + b) > 2` and `!a == b` they belong to the proposition.
    fn single(&mut self) -> Result<Label, String> {
        let stands_alone = self.behind_operand(self.next).is_none_or(|end| self.ends_part(end));
        match self.peek() {
            "!" if stands_alone => {
                self.take();
                let label = self.single()?;
                Ok(self.labels.not(label))
            }
            "(" if stands_alone => {
                self.take();
                let label = self.either()?;
                self.expect(")")?;
                Ok(label)
            }
            _ => self.proposition(),
        }
    }

    fn proposition(&mut self) -> Result<Label, String> {
        let first = self.next;
        while !self.ends_part(self.next) {
            self.next = match self.token(self.next) {
                "(" | "[" | "{" => match self.closing(self.next) {
                    Some(closing) => closing + 1,
                    None => return self.expected("what is closed again"),
                },
                _ => self.next + 1,
            };
        }
        if first == self.next {
            return self.expected("a proposition, `!` or `(`");
        }
        let words = |range: Range<usize>| range.map(|at| self.token(at)).collect::<Vec<_>>().join(" ");
        let name = words(first..self.next);
        match name.as_str() {
            "1" | "true" => return Ok(Label::TRUE),
            "0" | "false" => return Ok(Label::FALSE),
            _ => {}
        }
        let number = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.places.push(self.tokens[first].1.start..self.tokens[self.next - 1].1.end);
            self.names.push(name);
            self.names.len() - 1
        });
        if number >= super::MAX_PROPOSITIONS {
            return Err(format!("more than {} propositions", super::MAX_PROPOSITIONS));
        }
        Ok(self.labels.proposition(number))
    }

    /// Whether a part of a guard ends before a token.
    fn ends_part(&self, at: usize) -> bool {
        match self.token(at) {
            "&&" | "||" | "->" | ")" | "]" | "}" | "::" | ";" | "" => true,
            // A model may have variables with these names.
            "od" | "fi" => matches!(self.token(at + 1), ";" | "}" | ""),
            _ => false,
        }
    }

    /// Behind a name with its indices, arguments and members, or behind parentheses, and the negations before it.
    fn behind_operand(&self, mut at: usize) -> Option<usize> {
        while self.token(at) == "!" {
            at += 1;
        }
        if self.token(at) == "(" {
            return Some(self.closing(at)? + 1);
        }
        at += 1;
        loop {
            at = match self.token(at) {
                "(" | "[" => self.closing(at)? + 1,
                "." | "@" => at + 2,
                _ => return Some(at),
            };
        }
    }

    /// The bracket that closes another one.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.token(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }
}
