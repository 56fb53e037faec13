//! What is wrong with a text: the place, the reason, and the next step; and the codes that `birk explain` describes.

use std::cmp::Reverse;

use crate::ids::Span;

/// One message about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `E0012` or `W0003`; explained by `birk explain`.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// The place.
    pub span: Span,
    /// What to say at the place.
    pub label: String,
    /// Other places that explain it.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
    /// An edit that does it.
    pub fix: Option<Fix>,
}

/// An edit: what to write in place of a part of the text. An empty span is a place to insert at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
    /// It is sure to be meant; otherwise it is a proposal, which a person has to look at.
    pub is_sure: bool,
}

impl Fix {
    /// An edit that is sure to be meant.
    pub fn new(span: Span, replacement: impl Into<String>) -> Self {
        Self { span, replacement: replacement.into(), is_sure: true }
    }

    /// An edit that may be meant.
    pub fn proposed(span: Span, replacement: impl Into<String>) -> Self {
        Self { is_sure: false, ..Self::new(span, replacement) }
    }
}

impl Diagnostic {
    /// A message with its place and the label there.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: label.into(), related: Vec::new(), help: None, fix: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the edit that the next step describes.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix::new(span, replacement));
        self
    }

    /// Adds an edit that the next step describes, and that may be meant.
    #[must_use]
    pub fn propose(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix::proposed(span, replacement));
        self
    }

    /// Adds what was probably meant at its place.
    #[must_use]
    pub fn meant(self, meant: &str) -> Self {
        let span = self.span;
        self.help(format!("did you mean `{meant}`?")).fix(span, meant)
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Whether the file can still be used.
    pub fn is_warning(&self) -> bool {
        self.code.starts_with('W')
    }
}

/// A code and its explanation.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `E0012`
    pub code: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// Why it is an error or a warning, and what to do.
    pub explanation: &'static str,
    /// A system that provokes it. Options of the command line stand in its first line, after `// birk check`.
    pub example: &'static str,
    /// The same, fixed.
    pub fix: &'static str,
}

/// Names as a message lists them: `a`, `b` and `c`; a long list is cut.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let mut quoted: Vec<String> =
        names.into_iter().filter(|name| !name.is_empty()).map(|name| format!("`{name}`")).collect();
    if quoted.len() > MOST {
        quoted.truncate(MOST);
        return format!("{}, …", quoted.join(", "));
    }
    match quoted.pop() {
        Some(last) if !quoted.is_empty() => format!("{} and {last}", quoted.join(", ")),
        Some(only) => only,
        None => String::new(),
    }
}

/// The candidate nearest to a misspelt name, if one is near enough to be meant. Of equally near ones that with
/// the same length comes first, then that with the same begin, then the first in the alphabet.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = length.div_ceil(3);
    let rank = |candidate: &'a str| {
        let other = candidate.chars().count();
        if length.abs_diff(other) > limit {
            return None;
        }
        let distance = distance(name, candidate, limit);
        let common = name.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
        // Names without a common letter are not alike, however short they are.
        let is_near = distance <= limit && distance < length.max(other);
        is_near.then_some((distance, length.abs_diff(other), Reverse(common), candidate))
    };
    candidates.into_iter().filter_map(rank).min().map(|(.., candidate)| candidate)
}

/// Where no name is near enough to be meant: the one that begins or ends like a name, with three letters or more and at least two
/// fifths of it; the longest such part first. It may be meant, no more.
pub fn resembling<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let same = |(a, b): &(char, char)| a.eq_ignore_ascii_case(b);
    let rank = |candidate: &'a str| {
        let begin = name.chars().zip(candidate.chars()).take_while(same).count();
        let end = name.chars().rev().zip(candidate.chars().rev()).take_while(same).count();
        let common = begin.max(end);
        (common >= 3 && 5 * common >= 2 * name.chars().count()).then_some((Reverse(common), candidate))
    };
    candidates.into_iter().filter_map(rank).min().map(|(_, candidate)| candidate)
}

/// Edits between two names (a swap of neighbours counts as one); anything above `limit` is `limit + 1`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        assert_eq!(nearest("loc2", ["loc1", "done"]), Some("loc1"));
        assert_eq!(nearest("coutner", ["counter", "count"]), Some("counter"));
        assert_eq!(nearest("x", ["philosopher"]), None);
        assert_eq!(nearest("x", ["y", "x1"]), Some("x1"));
        assert_eq!(nearest("x", ["y", "z"]), None);
    }

    #[test]
    fn of_equally_near_names_the_most_alike_is_offered() {
        assert_eq!(nearest("loc2", ["loc1", "loc0"]), Some("loc0"));
        assert_eq!(nearest("fork2", ["fork", "fork1"]), Some("fork1"));
        assert_eq!(nearest("turns", ["burns", "turnd"]), Some("turnd"));
        assert_eq!(nearest("Red", ["rod", "red"]), Some("red"));
    }

    #[test]
    fn a_name_that_begins_or_ends_alike_may_be_meant() {
        assert_eq!(resembling("writing", ["idle", "reading"]), Some("reading"));
        assert_eq!(resembling("waits_long", ["waits", "long"]), Some("waits"));
        assert_eq!(resembling("done", ["on", "gone"]), Some("gone"));
        assert_eq!(resembling("critical_section_left", ["critic", "left"]), None);
        assert_eq!(resembling("in", ["in_use", "in"]), None);
    }

    #[test]
    fn names_are_listed() {
        assert_eq!(list([]), "");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(list(["x"; 9]), format!("{}…", "`x`, ".repeat(8)));
    }
}
