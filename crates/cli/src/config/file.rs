//! The file `birk.toml`: options by their long names, and tables of them in `[profile.NAME]`.
//!
//! All that is wrong with it is shown at once, each at its place.

use std::path::Path;

use birk::Engines;
use birk_ir::Span;
use birk_ir::diagnostic::nearest;
use clap::Arg;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Layer, TYPED_ONLY, is_repeatable, key_of, objection, search_options};
use crate::cli::{Color, grammar};
use crate::source::Source;
use crate::terminal::uses_color;
use crate::{Failure, diagnostics, say_in_color};

/// What is wrong, and where.
struct Invalid {
    place: Span,
    title: String,
    label: String,
    help: Option<String>,
}

/// Reads a file: the profile's settings where one is chosen, then those for everyone.
pub(super) fn read(path: &Path, profile: Option<&str>, color: Color, engines: &Engines) -> Result<Vec<Layer>, Failure> {
    let source = Source::read(path)?;
    let mut errors = Vec::new();
    let (base, mut profiles) = parse(&source.text, engines, &mut errors);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.place);
        let color = uses_color(color, &std::io::stderr());
        for Invalid { place, title, label, help } in &errors {
            let shown = diagnostics::error(&source, title, (*place, label), help.as_deref(), color);
            say_in_color(&format!("{shown}\n"));
        }
        let plural = if errors.len() == 1 { "" } else { "s" };
        return Err(Failure::usage(format!("{} has {} error{plural}", source.path, errors.len())));
    }
    let Some(wanted) = profile else { return Ok(vec![base]) };
    match profiles.iter().position(|(name, _)| name == wanted) {
        Some(at) => Ok(vec![profiles.swap_remove(at).1, base]),
        None => {
            let names: Vec<&str> = profiles.iter().map(|(name, _)| name.as_str()).collect();
            let help = match nearest(wanted, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if names.is_empty() => "it has no [profile.NAME]".into(),
                None => format!("there are {}", names.join(", ")),
            };
            Err(Failure::usage(format!("there is no profile `{wanted}` in {}; {help}", source.path)))
        }
    }
}

/// The settings for everyone, and those of each profile.
fn parse(text: &str, engines: &Engines, errors: &mut Vec<Invalid>) -> (Layer, Vec<(String, Layer)>) {
    let document = match DeTable::parse(text) {
        Ok(document) => document.into_inner(),
        Err(error) => {
            let range = error.span().unwrap_or_default();
            let (place, label) = (Span::new(range.start, range.end), error.message().to_owned());
            errors.push(Invalid { place, title: "this is not TOML".into(), label, help: None });
            DeTable::new()
        }
    };
    let base = settings(&document, &["profile"], engines, errors);
    let mut profiles = Vec::new();
    match document.get("profile").map(|found| (found, found.get_ref())) {
        None => {}
        Some((_, DeValue::Table(found))) => {
            for (name, value) in found {
                match value.get_ref() {
                    DeValue::Table(table) => {
                        profiles.push((name.get_ref().to_string(), settings(table, &[], engines, errors)));
                    }
                    _ => errors.push(not_a_profile(span_of(name))),
                }
            }
        }
        Some((found, _)) => errors.push(not_a_profile(span_of(found))),
    }
    (base, profiles)
}

/// The settings of a table, except for keys that mean something else there.
fn settings(table: &DeTable<'_>, others: &[&str], engines: &Engines, errors: &mut Vec<Invalid>) -> Layer {
    let options = search_options(&grammar(engines));
    let mut layer = Layer::new();
    for (key, value) in table.iter().filter(|(key, _)| !others.contains(&key.get_ref().as_ref())) {
        let name = key.get_ref().as_ref();
        let Some(option) = options.iter().find(|option| key_of(option) == name) else {
            errors.push(unknown_key(name, span_of(key), &options));
            continue;
        };
        let mut values = Vec::new();
        match value.get_ref() {
            DeValue::Array(items) if is_repeatable(option) => {
                items.iter().for_each(|item| gather((name, ""), item, engines, &mut values, errors));
            }
            _ => gather((name, ""), value, engines, &mut values, errors),
        }
        layer.push((name.to_owned(), values));
    }
    layer
}

/// A value as a command line has it; constants stand in tables. Each is checked at its own place.
fn gather(
    (key, constant): (&str, &str),
    value: &Spanned<DeValue<'_>>,
    engines: &Engines,
    values: &mut Vec<String>,
    errors: &mut Vec<Invalid>,
) {
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.to_string(),
            Err(_) => number.as_str().to_owned(),
        },
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Table(constants) if key == "define" => {
            for (name, value) in constants {
                let dot = if constant.is_empty() { "" } else { "." };
                let name = format!("{constant}{dot}{}", name.get_ref());
                gather((key, &name), value, engines, values, errors);
            }
            return;
        }
        DeValue::Array(_) | DeValue::Table(_) | DeValue::Datetime(_) => {
            let title = format!("`{key}` takes strings, numbers, true or false");
            errors.push(Invalid { place: span_of(value), title, label: "something else".into(), help: None });
            return;
        }
    };
    let text = if constant.is_empty() { text } else { format!("{constant}={text}") };
    match objection(key, &text, engines) {
        Some((label, help)) => {
            let title = format!("`{key}` cannot be `{text}`");
            errors.push(Invalid { place: span_of(value), title, label, help });
        }
        None => values.push(text),
    }
}

fn unknown_key(name: &str, place: Span, options: &[Arg]) -> Invalid {
    if TYPED_ONLY.contains(&name) {
        let title = format!("`{name}` belongs on the command line");
        return Invalid { place, title, label: "only for one invocation".into(), help: None };
    }
    let keys: Vec<&str> = options.iter().map(key_of).collect();
    let help = match nearest(name, keys.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}, and [profile.NAME]", keys.join(", ")),
    };
    let title = format!("there is no option `{name}`");
    Invalid { place, title, label: "unknown key".into(), help: Some(help) }
}

fn not_a_profile(place: Span) -> Invalid {
    let help = Some("write a table: [profile.NAME], then its options".into());
    Invalid { place, title: "a profile must be a table of options".into(), label: "not a table".into(), help }
}

fn span_of<T>(spanned: &Spanned<T>) -> Span {
    Span::new(spanned.span().start, spanned.span().end)
}
