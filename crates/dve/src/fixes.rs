//! Edits for what is wrong with a system, found in its text when everything is known.

use birk_ir::diagnostic::Diagnostic;
use birk_ir::{Span, edit};

use crate::context::{MAX_CAPACITY, MAX_ELEMENTS};

/// After so many messages nobody wants more.
const MOST: usize = 50;

/// What to do, where, and what to write there.
type Edit = (&'static str, Span, String);

/// Adds to the messages about a text the edits that a person may welcome.
pub(crate) fn add(diagnostics: &mut [Diagnostic], text: &str) {
    for diagnostic in diagnostics.iter_mut().take(MOST) {
        let is_known = diagnostic.span.file == 0 && diagnostic.fix.is_none();
        if !is_known || text.get(diagnostic.span.range()).is_none() {
            continue;
        }
        if let Some((help, place, replacement)) = fix(diagnostic, text) {
            // What the message already advises says more than the edit.
            let told = diagnostic.help.take().or_else(|| Some(help.to_owned()).filter(|help| !help.is_empty()));
            *diagnostic = Diagnostic { help: told, ..diagnostic.clone() }.propose(place, replacement);
        }
    }
}

fn fix(diagnostic: &Diagnostic, text: &str) -> Option<Edit> {
    let span = diagnostic.span;
    let without = |place: Span| ("leave it out", edit::removal(text, place), String::new());
    match (diagnostic.code, &*diagnostic.label) {
        ("E1006", "not a length") => Some(("", span, bounded(diagnostic, 1, MAX_ELEMENTS as i64)?)),
        ("E1006", "not a capacity") => Some(("", span, bounded(diagnostic, 0, MAX_CAPACITY)?)),
        ("E1006", "not constant") => declared_constant(text, span).or_else(|| unset(text, span)),
        ("E1009", "the property") => Some(without(clause(text, span, "guard")?)),
        ("E1009", "in the property") if diagnostic.message.ends_with("committed states") => {
            Some(without(clause(text, span, "commit")?))
        }
        ("E1009", "not possible in a property") => {
            Some(without(clause(text, span, "sync").or_else(|| clause(text, span, "effect"))?))
        }
        ("E1009", "declared here") => moved_out(text, span),
        _ => None,
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bound that is nearest to the number of the message.
fn bounded(diagnostic: &Diagnostic, least: i64, most: i64) -> Option<String> {
    let number = diagnostic.message.split(' ').find_map(|word| word.parse::<i64>().ok())?;
    Some(number.clamp(least, most).to_string())
}

/// A clause of a transition or a process, such as `guard …;`, if the place is where it begins.
fn clause(text: &str, span: Span, word: &str) -> Option<Span> {
    let start = text[..span.start as usize].trim_end().strip_suffix(word)?.len();
    let rest = &text[span.end as usize..];
    let end = rest.find([';', '{', '}', '&', '|', ','])?;
    // An effect may have several parts; all of them are as impossible.
    let end = if word == "effect" { rest.find([';', '{', '}'])? } else { end };
    let is_whole = rest[end..].starts_with(';') && !rest[..end].contains("//");
    is_whole.then(|| Span::new(start, span.end as usize + end + 1))
}

/// Words with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_letter)?;
        at = start + text[start..].find(|c| !is_letter(c)).unwrap_or(text.len() - start);
        Some((start, &text[start..at]))
    })
}

/// A variable with one value that nothing assigns to is a constant, and can be declared as one.
fn declared_constant(text: &str, span: Span) -> Option<Edit> {
    let name = &text[span.range()];
    let after = |at: usize| text[at + name.len()..].trim_start();
    let is_assigned = |at: usize| after(at).starts_with('=') && !after(at).starts_with("==");
    let mut uses = words(text).filter(|(_, word)| *word == name).map(|(at, _)| at);
    let first = uses.next()?;
    let head = text[..first].trim_end();
    let ty = ["byte", "int"].into_iter().find(|ty| head.ends_with(ty))?;
    let start = head.len() - ty.len();
    let is_alone = matches!(text[..start].trim_end().chars().next_back(), None | Some(';' | '}'));
    let value = after(first).strip_prefix('=')?;
    let has_one_value = value[..value.find(';')?].chars().all(|c| is_letter(c) || c == ' ');
    let is_constant = uses.all(|at| !is_assigned(at) && !text[..at].trim_end().ends_with(['?', ',', '{']));
    (is_alone && has_one_value && is_constant)
        .then(|| ("declare it as a constant", Span::new(start, start), "const ".into()))
}

/// An initial value that cannot be computed: without it, a variable is 0.
fn unset(text: &str, span: Span) -> Option<Edit> {
    let before = text[..span.start as usize].trim_end().strip_suffix('=')?.trim_end();
    let declaration = &before[before.rfind([';', '}', '{']).map_or(0, |at| at + 1)..];
    let is_whole = text[span.end as usize..].trim_start().starts_with([';', ',']);
    let can_be_unset = !words(declaration).any(|(_, word)| word == "const");
    let place = Span::new(before.len(), span.end as usize);
    (is_whole && can_be_unset).then_some(("leave it out: what has no initial value is 0", place, String::new()))
}

/// A variable of the property as one of the system: before the process.
fn moved_out(text: &str, span: Span) -> Option<Edit> {
    let start = words(&text[..span.start as usize]).filter(|(_, word)| *word == "process").last()?.0;
    let before = &text[..span.start as usize];
    let begin = before.rfind([';', '{'])? + 1;
    let begin = begin + before[begin..].len() - before[begin..].trim_start().len();
    let end = span.end as usize + text[span.end as usize..].find(';')? + 1;
    let declaration = text.get(begin..end).filter(|written| !written.contains(['{', ',']))?;
    let removed = edit::removal(text, Span::new(begin, end));
    let moved = format!("{declaration}\n{}", text.get(start..removed.start as usize)?);
    let is_free = words(&text[..start]).all(|(_, word)| word != &text[span.range()]);
    is_free.then(|| ("declare it as a variable of the system", Span::new(start, removed.end as usize), moved))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text by the edit for the last place of a part of it.
    fn edited(fix: fn(&str, Span) -> Option<Edit>, text: &str, part: &str) -> Option<String> {
        let start = text.rfind(part).expect("it is a part");
        let (_, place, new) = fix(text, Span::new(start, start + part.len()))?;
        Some(format!("{}{new}{}", &text[..place.start as usize], &text[place.end as usize..]))
    }

    #[test]
    fn only_what_nothing_assigns_to_becomes_a_constant() {
        let constant = |text: &str| edited(declared_constant, text, "m");
        assert_eq!(constant("byte m = 2;\nbyte a[m];").as_deref(), Some("const byte m = 2;\nbyte a[m];"));
        assert_eq!(constant("byte m = 2; P { effect m = 3; } byte a[m];"), None);
        assert_eq!(constant("byte m = 2; P { sync c?m; } byte a[m];"), None);
        assert_eq!(constant("byte m; byte a[m];"), None, "it has no value");
        assert_eq!(constant("byte k, m = 2; byte a[m];"), None);
    }

    #[test]
    fn a_variable_needs_no_initial_value() {
        assert_eq!(edited(unset, "byte z = N / 0;", "N / 0").as_deref(), Some("byte z;"));
        assert_eq!(edited(unset, "const byte z = N / 0;", "N / 0"), None);
    }

    #[test]
    fn a_variable_moves_before_its_process() {
        let text = "process never {\nbyte count;\nstate a;\n}";
        let moved = "byte count;\nprocess never {\nstate a;\n}";
        assert_eq!(edited(moved_out, text, "count").as_deref(), Some(moved));
        assert_eq!(edited(moved_out, &format!("byte count;\n{text}"), "count"), None, "there is one already");
    }

    #[test]
    fn a_clause_is_removed_as_a_whole() {
        let without = |text: &str, part: &str, word: &str| {
            let start = text.find(part).expect("it is a part");
            let place = clause(text, Span::new(start, start + part.len()), word)?;
            Some(format!("{}{}", &text[..place.start as usize], &text[place.end as usize..]))
        };
        assert_eq!(without("{ guard p.a; sync c!; }", "p.a", "guard").as_deref(), Some("{  sync c!; }"));
        assert_eq!(without("{ guard p.a && x; }", "p.a", "guard"), None);
        assert_eq!(without("{ effect x = 1, y = 2; }", "x = 1", "effect").as_deref(), Some("{  }"));
        assert_eq!(without("commit a, b;", "a", "commit"), None);
    }
}
