//! Edits of whole statements: what Promela says in place of what is not supported.

use birk_ir::Span;
use birk_ir::diagnostic::Diagnostic;

/// What to do about a message, where, and what to write there.
pub(super) fn fix(diagnostic: &Diagnostic, text: &str) -> Option<(String, Span, String)> {
    let span = diagnostic.span;
    let (help, edit) = match (diagnostic.code, &*diagnostic.label) {
        ("E2006", "here") => ("put both into one `else`", one_else(text, span)),
        ("E2023", "in an expression") => ("start the process by a statement of its own", alone(text, span)),
        ("E2033", _) => ("keep the index within the array", kept_within(text, span)),
        ("E2035", _) => ("write it in Promela", assignments(text, span)),
        ("E2038", _) => ("let any letter be typed", any_letter(text, span)),
        _ => return None,
    };
    let (place, text) = edit?;
    let is_short = !text.contains('\n') && text.len() <= 60;
    Some((if is_short { format!("{help}: `{}`", text.trim()) } else { help.into() }, place, text))
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words and signs with their places, without comments and strings: where there are some, nothing is proposed.
fn words(text: &str) -> Option<Vec<(usize, &str)>> {
    if ["/*", "//", "\"", "'"].iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let mut found: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            _ if is_letter(first) => rest.find(|c| !is_letter(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") || rest.starts_with("->") => 2,
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() {
            found.push((at, &rest[..length]));
        }
        at += length;
    }
    Some(found)
}

/// The last two options of a selection, both `else`, as one: it chooses between what they do.
fn one_else(text: &str, span: Span) -> Option<(Span, String)> {
    let start = span.start as usize;
    let rest = &text[start..];
    let mut depth = 0usize;
    let mut marks = Vec::new();
    let mut end = None;
    for (at, word) in words(rest)? {
        match word {
            "if" | "do" => depth += 1,
            "fi" | "od" => depth = depth.checked_sub(1)?,
            "::" if depth == 1 => marks.push(at),
            _ => {}
        }
        if depth == 0 {
            end = Some(at);
            break;
        }
    }
    let end = end?;
    let body = |from: usize, to: usize| {
        let option = rest[from + 2..to].trim().strip_prefix("else")?.trim_start();
        Some(option.strip_prefix("->").or(option.strip_prefix(';')).unwrap_or(option).trim().trim_end_matches(';'))
    };
    let [.., first, second] = marks[..] else { return None };
    let (one, other) = (body(first, second)?, body(second, end)?);
    let is_third = marks[..marks.len() - 2].iter().any(|&at| rest[at + 2..].trim_start().starts_with("else"));
    let place = Span::new(start + first, start + end);
    let blank = &rest[rest[..end].trim_end().len()..end];
    (!is_third && !one.is_empty() && !other.is_empty())
        .then(|| (place, format!(":: else -> if :: {one} :: {other} fi{blank}")))
}

/// A statement that asks of nothing but whether a process can be started, as the start alone.
fn alone(text: &str, span: Span) -> Option<(Span, String)> {
    let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
    let start = before.rfind(['{', '}', ';', ':', '>']).map_or(0, |at| at + 1);
    let end = span.end as usize + after.find([';', '}', ':', '\n']).or(after.find("->"))?;
    let says_more = |part: &str| part.contains(|c: char| c.is_alphabetic() || c == '=' || c == '_');
    let (left, right) = (&text[start..span.start as usize], &text[span.end as usize..end]);
    if says_more(left) || says_more(&right.replace("==", "")) {
        return None;
    }
    let start = start + left.len() - left.trim_start().len();
    let end = end - (right.len() - right.trim_end().len());
    Some((Span::new(start, end), text[span.range()].to_owned()))
}

/// The only index of a condition, a number that is never negative, as the rest of its division by the length.
fn kept_within(text: &str, span: Span) -> Option<(Span, String)> {
    let own = &text[span.range()];
    let open = own.find('[')?;
    let (array, index) = (own[..open].trim_end().rsplit(|c| !is_letter(c)).next()?, &own[open + 1..]);
    let index = &index[..index.find(']')?];
    let declared = words(text)?;
    let is_only = own.matches('[').count() == 1 && !own.contains(['/', '%']) && index.chars().all(is_letter);
    let mut names = declared.windows(4);
    let length = names.find(|found| found[0].1 == array && found[1].1 == "[" && found[3].1 == "]")?[2].1;
    let length = length.parse::<u32>().ok().filter(|length| *length > 0)?;
    let is_byte = declared.windows(2).any(|pair| ["byte", "unsigned"].contains(&pair[0].1) && pair[1].1 == index);
    let place = Span::new(span.start as usize + open + 1, span.start as usize + open + 1 + index.len());
    (is_only && is_byte).then(|| (place, format!("{index} % {length}")))
}

/// Embedded C that does nothing but assign to variables of the model, as statements of Promela in one step.
fn assignments(text: &str, span: Span) -> Option<(Span, String)> {
    let rest = text[span.end as usize..].trim_start().strip_prefix('{')?;
    let length = rest.find('}')?;
    let mut statements = Vec::new();
    for statement in rest[..length].split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        let (left, right) = statement.split_once('=')?;
        let is_plain = |part: &str| {
            !part.trim().is_empty()
                && part.chars().all(|c| is_letter(c) || " .+-*%[]".contains(c))
                && !part.contains("++")
        };
        let name = left.trim_end().strip_prefix("now.")?;
        let right = right.replace("now.", "");
        if !is_plain(name) || name.contains([' ', '+', '-', '*', '%']) || !is_plain(&right) || right.contains('.') {
            return None;
        }
        statements.push(format!("{name} = {}", right.trim()));
    }
    let place = Span::new(span.start as usize, text.len() - rest.len() + length + 1);
    match &statements[..] {
        [] => None,
        [one] => Some((place, one.clone())),
        several => Some((place, format!("d_step {{ {} }}", several.join("; ")))),
    }
}

/// Reading a letter, as the choice of one.
fn any_letter(text: &str, span: Span) -> Option<(Span, String)> {
    let rest = text[span.end as usize..].trim_start().strip_prefix('?')?.trim_start();
    let length = rest.find(|c| !is_letter(c)).filter(|length| *length > 0)?;
    let is_alone = rest[length..].trim_start().starts_with([';', '}', '-', ':']);
    let place = Span::new(span.start as usize, text.len() - rest.len() + length);
    is_alone.then(|| (place, format!("select ({} : 0 .. 255)", &rest[..length])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text by the edit for a part of it.
    fn edited(fix: fn(&str, Span) -> Option<(Span, String)>, text: &str, part: &str) -> Option<String> {
        let start = text.find(part).expect("it is a part");
        let (place, new) = fix(text, Span::new(start, start + part.len()))?;
        Some(format!("{}{new}{}", &text[..place.start as usize], &text[place.end as usize..]))
    }

    #[test]
    fn two_else_become_one() {
        let text = "if :: x -> y = 1 :: else -> y = 2; z = 1 :: else -> do :: break od fi; y = 3";
        let one = "if :: x -> y = 1 :: else -> if :: y = 2; z = 1 :: do :: break od fi fi; y = 3";
        assert_eq!(edited(one_else, text, "if").as_deref(), Some(one));
        // What stands between them would have to be moved.
        assert_eq!(edited(one_else, "if :: else -> a :: x -> b :: else -> c fi", "if"), None);
        assert_eq!(edited(one_else, "if :: else -> a :: else -> b :: else -> c fi", "if"), None);
        assert_eq!(edited(one_else, "if :: else -> a /* fi */ :: else -> b fi", "if"), None);
    }

    #[test]
    fn a_run_stands_alone_where_nothing_else_is_asked() {
        let alone = |text: &str| edited(alone, text, "run Q(1)");
        assert_eq!(alone("init { (run Q(1)) + 1 > 0 }").as_deref(), Some("init { run Q(1) }"));
        assert_eq!(alone("init { x = 1; run Q(1) > 0; skip }").as_deref(), Some("init { x = 1; run Q(1); skip }"));
        assert_eq!(alone("init { x = 2 + run Q(1); skip }"), None);
        assert_eq!(alone("init { (run Q(1)) > x; skip }"), None);
    }

    #[test]
    fn an_index_stays_within_its_array() {
        let kept = |text: &str| edited(kept_within, text, "(a[x] == 0)");
        let text = "byte x, a[2]; active proctype P() provided (a[x] == 0) { skip }";
        assert_eq!(
            kept(&text.replace("byte x, a[2]", "byte a[2]; byte x")).map(|text| text.contains("a[x % 2]")),
            Some(true)
        );
        assert_eq!(kept(&text.replace("byte x, a[2]", "int x; byte a[2]")), None, "it may be negative");
    }

    #[test]
    fn assignments_in_c_become_those_of_promela() {
        let of = |text: &str| edited(assignments, text, "c_code");
        assert_eq!(of("c_code { now.x = 1; }; y").as_deref(), Some("x = 1; y"));
        assert_eq!(of("c_code { now.x = now.y + 1; now.y = 0; }").as_deref(), Some("d_step { x = y + 1; y = 0 }"));
        for other in ["printf(\"x\");", "now.x++;", "x = 1;", "now.x = f(now.y);", "now.p->x = 1;", "now.x += 1;", ""] {
            assert_eq!(of(&format!("c_code {{ {other} }}")), None, "{other}");
        }
    }

    #[test]
    fn any_letter_is_typed() {
        let typed = |text: &str| edited(any_letter, text, "STDIN");
        assert_eq!(typed("STDIN?c; x").as_deref(), Some("select (c : 0 .. 255); x"));
        assert_eq!(typed("STDIN?c, d"), None);
    }
}
