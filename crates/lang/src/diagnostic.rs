//! Which messages about a file are consequences of others. Their type is [`birk_ir::Diagnostic`].

use std::collections::HashSet;

use birk_ir::Span;

pub(crate) use birk_ir::diagnostic::list;
pub use birk_ir::diagnostic::{Diagnostic, Fix, nearest, resembling};

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

#[cfg(test)]
mod tests {
    use super::*;

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
