//! Edits of a text: what to remove so that no blank is left behind, and a name that is not used yet.

use crate::ids::Span;

/// What has to be removed with a part of the text so that no blank is left behind: those before it, or its whole line.
pub fn removal(text: &str, span: Span) -> Span {
    let blank = [' ', '\t'];
    let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
    let (kept, rest) = (before.trim_end_matches(blank), after.trim_start_matches(blank));
    let begins_line = kept.is_empty() || kept.ends_with('\n');
    let (start, end) = match rest.strip_prefix('\n') {
        Some(next) if begins_line => (kept.len(), text.len() - next.len()),
        // The rest of the line keeps its indentation.
        _ if begins_line => (before.len(), text.len() - rest.len()),
        _ => (kept.len(), span.end as usize),
    };
    Span { file: span.file, ..Span::new(start, end) }
}

/// A name like another one that does not occur in the text: the same with the next number.
pub fn fresh(text: &str, name: &str) -> String {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let first = name[base.len()..].parse::<u32>().map_or(2, |number| number.saturating_add(1));
    let is_used = |name: &String| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let mut names = (first..).map(|number| format!("{base}{number}"));
    names.find(|name| !is_used(name)).unwrap_or_else(|| format!("{name}_"))
}

/// The place just before a part of the text.
pub fn before(span: Span) -> Span {
    Span { end: span.start, ..span }
}

/// The place just behind a part of the text.
pub fn behind(span: Span) -> Span {
    Span { start: span.end, ..span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, part: &str) -> String {
        let start = text.find(part).expect("it is a part");
        let span = removal(text, Span::new(start, start + part.len()));
        format!("{}{}", &text[..span.start as usize], &text[span.end as usize..])
    }

    #[test]
    fn what_is_removed_leaves_no_blank_behind() {
        assert_eq!(without("do { a; b; }", "b;"), "do { a; }");
        assert_eq!(without("do { a; b; }", "a;"), "do { b; }");
        assert_eq!(without("a;\n  b;\n  c;\n", "b;"), "a;\n  c;\n");
        assert_eq!(without("a;\n  b; c;\n", "b;"), "a;\n  c;\n");
        assert_eq!(without("b;\nc;\n", "b;"), "c;\n");
        assert_eq!(without("x[0] := 1;", "[0]"), "x := 1;");
        assert_eq!(without("b;", "b;"), "");
    }

    #[test]
    fn a_new_name_is_like_the_old_one() {
        assert_eq!(fresh("x := loc0", "x"), "x2");
        assert_eq!(fresh("loc0 loc1 loc12", "loc0"), "loc2");
    }
}
