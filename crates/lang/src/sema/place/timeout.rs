//! `timeout`: where it may be asked, and how to say elsewhere what was probably meant.

use birk_ir::Span;

use super::Resolved;
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::sema::expression::{Elaborator, TIMEOUT, Timeout};
use crate::sema::types::{Ty, Value};

impl Elaborator<'_, '_> {
    /// `timeout`: nothing else can move.
    pub(super) fn timeout(&mut self, span: Span) -> Resolved {
        let (message, label, help) = match self.timeout {
            Timeout::Is(value) => {
                self.asks_timeout = true;
                let value = Value { fixed: false, ..Value::constant(i64::from(value), Ty::Boolean) };
                return Resolved::Value(value);
            }
            _ if self.elsewhere(TIMEOUT).is_some() => {
                self.unknown_name(TIMEOUT, span);
                return Resolved::Error;
            }
            Timeout::Below => (
                "`timeout` inside another operator",
                "only `&&` and `||` may join it",
                "write `timeout && …`; what need not wait for it is an alternative of its own",
            ),
            Timeout::Test => (
                "`timeout` in the test of an `if` or `while`",
                "never true: the test itself can move",
                "wait for it instead: `either { await timeout; … } or { … }`",
            ),
            Timeout::Outside if self.thread.is_none() => (
                "`timeout` outside a guard",
                "only allowed in `await` and `when`",
                "a state in which nothing can move is what `deadlock` finds, which is always checked",
            ),
            Timeout::Outside => (
                "`timeout` outside a guard",
                "only allowed in `await` and `when`",
                "wait for it before: `await timeout;`",
            ),
        };
        let diagnostic = Diagnostic::new("E0057", span, message, label).help(help);
        let edit = self.cx.text(span).and_then(|text| match self.timeout {
            Timeout::Below => without(text, span),
            Timeout::Test => as_alternatives(text, span),
            _ if self.thread.is_none() => whole_property(text, span),
            _ => waited_for(text, span),
        });
        self.cx.report(match edit {
            Some((place, text)) => diagnostic.propose(place, text),
            None => diagnostic,
        });
        Resolved::Error
    }
}

/// ` && !timeout` with which a condition ends, and nothing in its place.
fn without(text: &str, span: Span) -> Option<(Span, String)> {
    let before = text[..span.start as usize].trim_end().strip_suffix('!')?.trim_end().strip_suffix("&&")?;
    let is_last = text[span.end as usize..].trim_start().starts_with(';');
    is_last.then(|| (Span { start: before.trim_end().len() as u32, ..span }, String::new()))
}

/// A loop while nothing waits: each time around, either it is over or its body goes on.
fn as_alternatives(text: &str, span: Span) -> Option<(Span, String)> {
    let before = text[..span.start as usize].trim_end().strip_suffix('!')?.trim_end().strip_suffix('(')?;
    let start = before.trim_end().strip_suffix("while")?.len();
    let rest = text[span.end as usize..].trim_start().strip_prefix(')')?.trim_start().strip_prefix('{')?;
    let mut depth = 1usize;
    let length = rest.find(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let body = &rest[..length];
    // A brace of a comment or a string ends nothing.
    let is_plain = !["//", "/*", "\""].iter().any(|sign| body.contains(sign));
    let end = text.len() - rest.len() + length + 1;
    let place = Span { file: span.file, ..Span::new(start, end) };
    is_plain.then(|| (place, format!("while (true) {{ either {{ await timeout; break; }} or {{{body}}} }}")))
}

/// The whole of a property that says nothing but `!timeout`, and nothing in its place.
fn whole_property(text: &str, span: Span) -> Option<(Span, String)> {
    let before = text[..span.start as usize].trim_end().strip_suffix('!')?.trim_end().strip_suffix(':')?;
    let name = before.trim_end().trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let start = name.trim_end().strip_suffix("invariant")?.len();
    let whole = edit::statement(text, Span { start: start as u32, ..span })?;
    let says_more = !text[span.end as usize..].trim_start().starts_with(';');
    (!says_more).then(|| (edit::removal(text, whole), String::new()))
}

/// `late := timeout;` as two statements: one waits, one sets.
fn waited_for(text: &str, span: Span) -> Option<(Span, String)> {
    let end = edit::target_of(text, span)?.start as usize;
    let start = text[..end].rfind(['{', '}', ';', '\n']).map_or(0, |at| at + 1);
    let start = start + text[start..end].len() - text[start..end].trim_start().len();
    let whole = edit::assignment(text, Span { file: span.file, ..Span::new(start, end) })?;
    let is_all = text[span.end as usize..whole.end as usize].trim() == ";";
    is_all.then(|| (whole, format!("await timeout; {} := true;", &text[start..end])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text by the edit for its `timeout`.
    fn edited(fix: fn(&str, Span) -> Option<(Span, String)>, text: &str) -> Option<String> {
        let start = text.find("timeout").expect("it is there");
        let (place, new) = fix(text, Span::new(start, start + "timeout".len()))?;
        Some(format!("{}{new}{}", &text[..place.start as usize], &text[place.end as usize..]))
    }

    #[test]
    fn what_is_said_with_timeout_is_said_where_it_may_be_asked() {
        let text = "{ late := timeout; x := 1; }";
        assert_eq!(edited(waited_for, text).as_deref(), Some("{ await timeout; late := true; x := 1; }"));
        assert_eq!(edited(waited_for, "{ late := timeout || b; }"), None);
        let text = "while (!timeout) { if (b) { x := 1; } } y := 1;";
        let loops = "while (true) { either { await timeout; break; } or { if (b) { x := 1; } } } y := 1;";
        assert_eq!(edited(as_alternatives, text).as_deref(), Some(loops));
        assert_eq!(edited(as_alternatives, "while (!timeout) { /* } */ x := 1; }"), None);
        assert_eq!(edited(as_alternatives, "while (timeout) { x := 1; }"), None);
        assert_eq!(edited(without, "await x > 1 && !timeout;").as_deref(), Some("await x > 1;"));
        assert_eq!(edited(without, "await x > 1 && !timeout && b;"), None);
        assert_eq!(edited(whole_property, "  invariant i: !timeout;\n}").as_deref(), Some("}"));
        assert_eq!(edited(whole_property, "  invariant i: !timeout || b;\n}"), None);
    }
}
