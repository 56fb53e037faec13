//! What a model says of itself: the verdicts, lengths and counts that a check should find.

use crate::ids::Span;

/// What is expected of a model with some values of its constants. Properties that it does not name hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Values of constants, as they are written.
    pub constants: Vec<(String, String)>,
    /// What is expected.
    pub clauses: Vec<Clause>,
    /// Where it stands.
    pub span: Span,
}

/// A part of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Everything holds that is not named, or this property does.
    Holds(Option<String>),
    /// This property is violated, with a trace of so many steps.
    Violated(String, Option<u64>),
    /// A state of this property is reached, in so many steps.
    Reached(String, Option<u64>),
    /// So many states are reachable.
    States(u64),
    /// So many transitions lead from them.
    Transitions(u64),
    /// So far is the farthest of them from an initial state.
    Depth(u64),
}

impl Expectation {
    /// The comments `// expect -D N=2: violated safe in 3; 4 states, 5 transitions, depth 3` of a model whose language has no
    /// declaration for this; where one cannot be read, its place.
    pub fn in_comments(text: &str) -> Result<Vec<Self>, Span> {
        let mut found = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let span = Span { file: 0, start: start as u32, end: (start + line.trim_end().len()) as u32 };
            start += line.len();
            if let Some(rest) =
                line.trim().strip_prefix("// expect").filter(|rest| rest.starts_with(':') || rest.starts_with(" -D "))
            {
                found.push(read(rest, span).ok_or(span)?);
            }
        }
        Ok(found)
    }
}

fn read(line: &str, span: Span) -> Option<Expectation> {
    let (options, rest) = line.split_once(':')?;
    let mut constants = Vec::new();
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        let (name, value) = Some(word).filter(|word| *word == "-D").and(words.next())?.split_once('=')?;
        constants.push((name.to_owned(), value.to_owned()));
    }
    let clauses: Option<Vec<Clause>> = rest.split([';', ',']).map(|clause| read_clause(clause.trim())).collect();
    Some(Expectation { constants, clauses: clauses?, span })
}

fn read_clause(text: &str) -> Option<Clause> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| word.parse().ok();
    Some(match words[..] {
        ["holds"] => Clause::Holds(None),
        ["holds", name] => Clause::Holds(Some(name.to_owned())),
        ["violated", name] => Clause::Violated(name.to_owned(), None),
        ["violated", name, "in", steps] => Clause::Violated(name.to_owned(), Some(number(steps)?)),
        ["reached", name] => Clause::Reached(name.to_owned(), None),
        ["reached", name, "in", steps] => Clause::Reached(name.to_owned(), Some(number(steps)?)),
        [states, "states"] => Clause::States(number(states)?),
        [transitions, "transitions"] => Clause::Transitions(number(transitions)?),
        ["depth", depth] => Clause::Depth(number(depth)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read() {
        let text =
            "// expect -D N=2 -D M=3: violated safe in 3; reached far; 4 states, 5 transitions, depth 3\nsystem\n";
        let found = Expectation::in_comments(text).expect("clear");
        let constants = [("N", "2"), ("M", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let clauses = vec![
            Clause::Violated("safe".to_owned(), Some(3)),
            Clause::Reached("far".to_owned(), None),
            Clause::States(4),
            Clause::Transitions(5),
            Clause::Depth(3),
        ];
        let span = Span { file: 0, start: 0, end: text.find('\n').expect("two lines") as u32 };
        assert_eq!(found, [Expectation { constants: constants.to_vec(), clauses, span }]);
        let prose = "// expected: a\n// expect the worst: b\n// expect: holds";
        assert_eq!(Expectation::in_comments(prose).map(|found| found.len()), Ok(1));
    }

    #[test]
    fn unclear_comments_are_refused() {
        for text in ["// expect: maybe", "// expect -D N: holds", "// expect -D N=2 holds", "// expect: depth x"] {
            assert!(Expectation::in_comments(text).is_err(), "{text}");
        }
    }
}
