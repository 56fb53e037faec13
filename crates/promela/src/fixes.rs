//! Edits for what is wrong with a model, found in its text when everything is known.

mod statements;

use birk_ir::diagnostic::{Diagnostic, Fix};
use birk_ir::{Span, edit};

/// After so many messages nobody wants more.
const MOST: usize = 50;

/// Adds to the messages about a text the edits that a person may welcome.
pub(crate) fn add(diagnostics: &mut [Diagnostic], text: &str) {
    for diagnostic in diagnostics.iter_mut().take(MOST) {
        let is_known = diagnostic.span.file == 0 && diagnostic.fix.is_none();
        let is_in_text = text.get(diagnostic.span.range()).is_some();
        if !is_known || !is_in_text || diagnostic.help.as_ref().is_some_and(|help| help.contains("in the expansion")) {
            continue;
        }
        if let Some((help, fix)) = fix(diagnostic, text) {
            diagnostic.help = diagnostic.help.take().filter(|_| help.is_empty()).or(Some(help));
            diagnostic.fix = Some(fix);
        }
    }
}

/// What to do about a message, and the edit that does it.
fn fix(diagnostic: &Diagnostic, text: &str) -> Option<(String, Fix)> {
    let span = diagnostic.span;
    let (before, own, after) = (&text[..span.start as usize], &text[span.range()], &text[span.end as usize..]);
    let proposed = |help: String, span: Span, text: String| Some((help, Fix::proposed(span, text)));
    let written = |text: String| proposed(format!("write `{text}`"), span, text);
    match (diagnostic.code, &*diagnostic.label) {
        ("E2002", _) => {
            let whole = declaration(text, span)?;
            let is_same = text[..whole.start as usize].contains(&text[whole.range()]);
            let other = edit::fresh(text, own);
            match is_same {
                true => proposed("remove it".into(), edit::removal(text, whole), String::new()),
                false => proposed(format!("give it another name, such as `{other}`"), span, other),
            }
        }
        ("E2003", _) => {
            let whole = declaration(text, span)?;
            let body = before.rfind("proctype").and_then(|at| Some(at + before[at..].find('{')? + 1))?;
            let removed = edit::removal(text, whole);
            let between = text.get(body..removed.start as usize)?;
            let moved = format!(" {}{between}", &text[whole.range()]);
            proposed("declare it first".into(), Span::new(body, removed.end as usize), moved)
        }
        ("E2004", "neither") => {
            let start = before.trim_end().strip_suffix("in")?.len();
            let range = format!(": 0 .. {own} - 1");
            let help = format!("count up to it: `for (x {range})`");
            proposed(help, Span::new(start, span.end as usize), range)
        }
        ("E2005", _) if own == "break" => written("skip".into()),
        ("E2008" | "E2036", _) => {
            let start = before.rfind("d_step")?;
            let inside = &before[start..];
            let is_inside = inside.matches('{').count() > inside.matches('}').count();
            let place = Span::new(start, start + "d_step".len());
            proposed("make it `atomic`".into(), place, "atomic".into()).filter(|_| is_inside)
        }
        ("E2007", "not a label") => {
            let body = before.rfind("proctype").and_then(|at| Some(at + before[at..].find('{')?))?;
            let mut depth = 0usize;
            let end = body
                + text[body..].find(|c: char| {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                })?;
            let inside = text[..end].trim_end();
            let sign = if inside.ends_with(';') { "" } else { ";" };
            let label = format!("{own}: skip");
            let help = format!("put the label at the end of the process: `{label}`");
            proposed(help, Span::new(inside.len(), inside.len()), format!("{sign} {label}"))
        }
        ("E2009", "not constant") => {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let is_byte = words.windows(2).any(|pair| pair == ["byte", own]);
            let help = "write the most that it can be, `255`, or `#define` it".to_owned();
            let is_length = before.trim_end().ends_with('[') && after.trim_start().starts_with(']');
            proposed(help, span, "255".into()).filter(|_| is_byte && is_length)
        }
        ("E2010", "no `#endif` for it") => {
            let end = text.trim_end().len();
            proposed("write `#endif` where it ends".into(), Span::new(end, end), "\n#endif".into())
        }
        ("E2020", "not found") if diagnostic.message.ends_with("is not declared") => {
            let is_channel = ["!", "?"].iter().any(|sign| after.trim_start().starts_with(sign));
            let is_compared = after.trim_start().starts_with("!=");
            let declaration = format!("int {own};");
            let help = format!("declare it: `{declaration}`");
            proposed(help, Span::new(0, 0), declaration + "\n").filter(|_| !is_channel || is_compared)
        }
        ("E2021", "an index is missing") => {
            proposed(format!("name one element, such as `{own}[0]`"), edit::behind(span), "[0]".into())
        }
        ("E2022", "here") if diagnostic.message.ends_with("is not a channel") => {
            let (place, declaration) = as_channel(text, own)?;
            proposed(format!("make it a channel: `{declaration}`"), place, declaration)
        }
        ("E2024", label) if label.starts_with("put parentheses") => {
            let mut value = own;
            while let Some(rest) = ["<>", "[]", "!", "X "].iter().find_map(|sign| value.strip_prefix(sign)) {
                value = rest.trim_start();
            }
            let sign = own[..own.len() - value.len()].trim_end();
            let space = if sign.is_empty() { "" } else { " " };
            let text = format!("{sign}{space}({value})");
            Some((format!("write `{text}`"), Fix::new(span, text)))
        }
        ("E2026", _) => match own.split_once('=') {
            Some((left, right)) if !right.contains('=') && !left.ends_with(['!', '<', '>']) => {
                written(format!("{left}=={right}"))
            }
            _ => None,
        },
        ("E2032", _) if own == "priority" => {
            let rest = after.trim_start();
            let number = rest.find(|c: char| !c.is_ascii_digit()).filter(|length| *length > 0)?;
            let end = text.len() - rest.len() + number;
            let whole = Span::new(span.start as usize, end);
            proposed(String::new(), edit::removal(text, whole), String::new())
        }
        _ => statements::fix(diagnostic, text).map(|(help, place, text)| (help, Fix::proposed(place, text))),
    }
}

/// The declaration of a name, with its `;`.
fn declaration(text: &str, name: Span) -> Option<Span> {
    let before = &text[..name.start as usize];
    let start = before.rfind([';', '{', '}', '>', '\n']).map_or(0, |at| at + 1);
    let start = start + before[start..].len() - before[start..].trim_start().len();
    let rest = &text[name.end as usize..];
    let end = name.end as usize + rest.find([';', '\n']).filter(|at| rest[*at..].starts_with(';'))? + 1;
    Some(Span::new(start, end))
}

/// The declaration of a variable that is only used to send and receive, as that of a channel.
fn as_channel(text: &str, name: &str) -> Option<(Span, String)> {
    let types = ["bit", "bool", "byte", "short", "int", "mtype"];
    let (ty, start) = types.into_iter().find_map(|ty| Some((ty, text.find(&format!("{ty} {name};"))?)))?;
    let end = start + ty.len() + 1 + name.len() + 1;
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let is_message = |part: &str| {
        let mut uses = part.match_indices(name).map(|(at, _)| (&part[..at], &part[at + name.len()..]));
        uses.all(|(before, after)| {
            let is_part = before.ends_with(is_letter) || after.starts_with(is_letter);
            let after = after.trim_start();
            is_part || after.starts_with(['!', '?']) && !after.starts_with("!=")
        })
    };
    let is_channel = is_message(&text[..start]) && is_message(&text[end..]);
    is_channel.then(|| (Span::new(start, end), format!("chan {name} = [1] of {{ {ty} }};")))
}
