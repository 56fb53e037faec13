//! Places of fixes that only the text itself tells: a statement up to its `;`, the range in a declaration.

use birk_ir::Span;
pub(crate) use birk_ir::edit::{before, behind, fresh, removal};

/// Two parts of a text with everything between them.
fn between(text: &str, start: usize, end: usize, file: u32) -> Option<Span> {
    (start <= end && end <= text.len()).then(|| Span { file, ..Span::new(start, end) })
}

/// From a place to the `;` that ends its statement.
pub(crate) fn statement(text: &str, span: Span) -> Option<Span> {
    let rest = &text[span.end as usize..];
    let end = rest.find([';', '{', '}'])?;
    let is_whole = rest[end..].starts_with(';') && !rest[..end].contains("//");
    between(text, span.start as usize, span.end as usize + end + 1, span.file).filter(|_| is_whole)
}

/// The statement that assigns to a place.
pub(crate) fn assignment(text: &str, place: Span) -> Option<Span> {
    let before = text[..place.start as usize].trim_end();
    let is_first = before.ends_with(['{', '}', ';', ':']);
    let is_assigned = text[place.end as usize..].trim_start().starts_with(":=");
    statement(text, place).filter(|_| is_first && is_assigned)
}

/// The end of the place to which a value is assigned.
pub(crate) fn target_of(text: &str, value: Span) -> Option<Span> {
    let end = text[..value.start as usize].trim_end().strip_suffix(":=")?.trim_end().len();
    between(text, end, end, value.file)
}

/// ` := value` with which a declaration ends.
pub(crate) fn initial(text: &str, value: Span) -> Option<Span> {
    between(text, target_of(text, value)?.start as usize, value.end as usize, value.file)
}

/// The last parameter of several with the comma before it, up to the brace behind the parameters.
pub(crate) fn last_parameter(text: &str, ty: Span, name: Span) -> Option<Span> {
    let start = text[..ty.start as usize].trim_end().strip_suffix(',')?.trim_end().len();
    let rest = text[name.end as usize..].trim_start().strip_prefix(')')?.trim_start().strip_prefix('{')?;
    between(text, start, text.len() - rest.len(), name.file)
}

/// An index with its brackets.
pub(crate) fn index(text: &str, index: Span) -> Option<Span> {
    let start = text[..index.start as usize].trim_end().strip_suffix('[')?.len();
    let rest = text[index.end as usize..].trim_start().strip_prefix(']')?;
    between(text, start, text.len() - rest.len(), index.file)
}

/// The arguments of a call behind the first ones, with the comma before them.
pub(crate) fn surplus(text: &str, args: &[Span], wanted: usize) -> Option<Span> {
    let (first, last) = (args.get(wanted)?, args.last()?);
    let before = text[..first.start as usize].trim_end();
    let start = match before.strip_suffix(',') {
        Some(before) => before.trim_end().len(),
        None => before.ends_with('(').then_some(before.len())?,
    };
    let is_closed = text[last.end as usize..].trim_start().starts_with(')');
    between(text, start, last.end as usize, first.file).filter(|_| is_closed)
}

/// Where one more argument of a call belongs.
pub(crate) fn last_argument(text: &str, name: Span, last: Option<Span>) -> Option<Span> {
    let end = match last {
        Some(last) => last.end as usize,
        None => text.len() - text[name.end as usize..].trim_start().strip_prefix('(')?.len(),
    };
    between(text, end, end, name.file).filter(|_| text[end..].trim_start().starts_with(')'))
}

/// A name with the sign behind it, such as `:`, and the blanks up to what follows.
pub(crate) fn with_sign(text: &str, name: Span, sign: char) -> Option<Span> {
    let rest = text[name.end as usize..].trim_start().strip_prefix(sign)?.trim_start_matches([' ', '\t']);
    between(text, name.start as usize, text.len() - rest.len(), name.file)
}

/// The `atomic` that a statement is the whole body of, and that statement.
pub(crate) fn atomic(text: &str, body: Span) -> Option<(Span, String)> {
    let start = text[..body.start as usize].trim_end().strip_suffix('{')?.trim_end().strip_suffix("atomic")?.len();
    let rest = text[body.end as usize..].trim_start().strip_prefix('}')?;
    Some((between(text, start, text.len() - rest.len(), body.file)?, text[body.range()].to_owned()))
}

/// Whether an `atomic` begins with two statements.
pub(crate) fn are_atomic(text: &str, first: Span, second: Span) -> bool {
    if first.file != second.file {
        return false;
    }
    let before = text[..first.start as usize].trim_end().strip_suffix('{').map(str::trim_end);
    let between = text.get(first.end as usize..second.start as usize).map(str::trim);
    before.is_some_and(|before| before.ends_with("atomic")) && matches!(between, Some("" | ";"))
}

/// Where the first statement of a loop belongs: behind the brace that opens it, or behind its label.
pub(crate) fn body(text: &str, span: Span) -> Option<Span> {
    let end = match text[span.range()].find('{') {
        Some(brace) => span.start as usize + brace + 1,
        None => text.len() - text[span.end as usize..].trim_start().strip_prefix(':')?.len(),
    };
    between(text, end, end, span.file)
}

/// A type `int (lo, hi)` with room for a value: that at the place, before the name at the place, or before the name to
/// which the value at the place is assigned.
pub(crate) fn widened(text: &str, place: Span, value: i64) -> Option<(Span, String)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let own = text.get(place.range())?;
    let before = match (own.starts_with("int"), target_of(text, place)) {
        (true, _) => &text[..place.end as usize],
        (false, Some(target)) => text[..target.start as usize].trim_end_matches(is_letter).trim_end(),
        (false, None) => text[..place.start as usize].trim_end(),
    };
    let open = before.rfind('(')?;
    let (low, high) = before[open + 1..].strip_suffix(')')?.split_once(',')?;
    let head = before[..open].trim_end();
    let word = ["int wrap", "int"].into_iter().find(|word| head.ends_with(word))?;
    let start = head.len() - word.len();
    let (low, high) = (low.trim(), high.trim());
    // A bound that is not a number is written for a reason.
    let is_above = low.parse::<i64>().is_ok_and(|low| value >= low);
    let written = match (is_above, high.parse::<i64>()) {
        (true, Ok(_)) => format!("{word} ({low}, {value})"),
        (false, _) if low.parse::<i64>().is_ok() => format!("{word} ({value}, {high})"),
        _ => return None,
    };
    Some((between(text, start, before.len(), place.file)?, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_widened_where_it_is_written() {
        let text = "int (0, 3) x := 4; x := -1; int (0, N) y := 7; byte z := 300;";
        let place = |part: &str| {
            let start = text.find(part).expect("it is a part");
            Span::new(start, start + 1)
        };
        let range = Span::new(0, 10);
        assert_eq!(widened(text, place("4;"), 4), Some((range, "int (0, 4)".into())));
        assert_eq!(widened(text, place("x :="), -1), Some((range, "int (-1, 3)".into())));
        assert_eq!(widened(text, place("7;"), 7), None);
        assert_eq!(widened(text, place("300"), 300), None);
    }
}
