//! What is wrong with a file: the place, the reason, and the next step.

use std::cmp::Reverse;
use std::collections::HashSet;

use birk_ir::Span;

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
}

impl Diagnostic {
    /// A message with its place and the label there.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: label.into(), related: Vec::new(), help: None }
    }

    /// Adds the next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
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

/// Errors after which the parser goes on with what was surely meant: nothing is a consequence of them.
const MENDED: [&str; 5] = ["E0003", "E0005", "E0007", "E0008", "E0011"];

/// Errors that may shift where things begin and end.
const SHIFTING: [&str; 4] = ["E0002", "E0006", "E0010", "E0014"];

/// Errors that say that a name is not declared; their span is the name.
const UNKNOWN: [&str; 4] = ["E0020", "E0023", "E0026", "E0035"];

/// Errors about the course of a thread, part of which may have got lost.
const COURSE: [&str; 3] = ["E0026", "E0046", "E0049"];

/// Removes from `found` what may be a mere consequence of syntax errors: what is said about their lines and about the
/// names on them, and, if a declaration may have got lost, all unknown names. `steps` are the spans of the parts of
/// the system that declare nothing.
pub(crate) fn remove_consequences(texts: &[&str], syntax: &[Diagnostic], steps: &[Span], found: &mut Vec<Diagnostic>) {
    let is_unsure = |d: &&Diagnostic| !d.is_warning() && !MENDED.contains(&d.code);
    let source = |span: Span| texts.get(span.file as usize).and_then(|text| text.get(span.range())).unwrap_or_default();
    let line_of = |d: &Diagnostic| {
        let (text, rest) = (texts[d.span.file as usize], d.span.end as usize);
        let first = text[..d.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
        let line = Span::new(first, text[rest..].find('\n').map_or(text.len(), |at| rest + at));
        Span { file: d.span.file, ..line }
    };
    let mut lines: Vec<Span> = syntax.iter().filter(is_unsure).map(line_of).collect();
    lines.dedup();
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let words: HashSet<&str> = lines.iter().flat_map(|line| source(*line).split(|c| !is_letter(c))).collect();
    let holds = |outer: &Span, d: &Diagnostic| {
        outer.file == d.span.file && outer.start <= d.span.start && d.span.end <= outer.end
    };
    let is_in_step = |d: &Diagnostic| steps.iter().any(|step| holds(step, d));
    // A parenthesis shifts nothing beyond its own statement.
    let is_shifting =
        |d: &Diagnostic| SHIFTING.contains(&d.code) && !matches!(d.message.as_str(), "missing `)`" | "missing `]`");
    let may_lack_names = syntax.iter().filter(is_unsure).any(|d| is_shifting(d) || !is_in_step(d));
    found.retain(|d| {
        let touches = |span: Span| {
            lines.iter().any(|line| span.file == line.file && span.start <= line.end && span.end >= line.start)
        };
        let is_near = touches(d.span) || d.related.iter().any(|(span, _)| touches(*span));
        let is_lost = may_lack_names && (UNKNOWN.contains(&d.code) || d.code == "E0027")
            || !lines.is_empty() && COURSE.contains(&d.code);
        !is_near && !is_lost && !words.contains(source(d.span))
    });
}

/// Says of a name that is missing altogether only once that it is.
pub(crate) fn remove_repetitions(found: &mut Vec<Diagnostic>) {
    let mut missing = HashSet::new();
    found.retain(|d| {
        let is_misspelt = d.help.as_ref().is_some_and(|help| help.starts_with("did you mean"));
        is_misspelt || !UNKNOWN.contains(&d.code) || missing.insert(d.message.clone())
    });
}

/// Names as a message lists them: `a`, `b` and `c`; a long list is cut.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
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
    fn names_are_listed() {
        assert_eq!(list([]), "");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(list(["x"; 9]), format!("{}…", "`x`, ".repeat(8)));
    }

    #[test]
    fn consequences_of_syntax_errors_are_removed() {
        let text = "int x; E a b;\nx a; F f;\nq := ;\ny := z;";
        let at = |code, start, end| Diagnostic::new(code, Span::new(start, end), "", "");
        let all = [at("E0022", 14, 15), at("E0023", 19, 20), at("E0022", 24, 25), at("E0020", 36, 37)];
        let left = |syntax: &[Diagnostic], steps: &[Span]| {
            let mut found = all.to_vec();
            remove_consequences(&[text], syntax, steps, &mut found);
            found
        };
        assert_eq!(left(&[], &[]), all);
        assert_eq!(left(&[at("E0005", 13, 14)], &[]), all);
        assert_eq!(left(&[at("E0004", 11, 12)], &[]), [at("E0022", 24, 25)]);
        let others = [at("E0022", 14, 15), at("E0023", 19, 20), at("E0020", 36, 37)];
        assert_eq!(left(&[at("E0004", 29, 30)], &[Span::new(24, 38)]), others);
        assert_eq!(left(&[at("E0006", 29, 30)], &[Span::new(24, 38)]), [at("E0022", 14, 15)]);
    }
}
