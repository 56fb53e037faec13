//! Conditions that somebody types while looking at a model, read by the language itself.
//!
//! The condition is put behind the system's last item as a property of its own, so that every name and every type
//! means what it means in the model. Properties change nothing else of a program.

use birk_ir::{Expr, Program, PropertyKind};
use birk_lang::lexer::{TokenKind, tokenize};

use crate::cli::ModelArgs;
use crate::source::{Source, load_text};

/// The name that the condition gets.
const NAME: &str = "birk_asks";

/// Reads a condition over one state of a model.
pub(crate) fn condition(args: &ModelArgs, source: &Source, program: &Program, text: &str) -> Result<Expr, String> {
    if text.trim().is_empty() {
        return Err("a condition is missing, for example `x == 2 && !done`".into());
    }
    let end = end_of_system(&source.text).ok_or("the model has no end")?;
    let (head, tail) = source.text.split_at(end);
    let start = head.len() + format!("\nreachable {NAME}: ").len();
    let loaded = load_text(args, &format!("{head}\nreachable {NAME}: {text}\n;{tail}"));
    let wrong = loaded.diagnostics.iter().find(|diagnostic| !diagnostic.is_warning());
    if let Some(wrong) = wrong {
        let at = (wrong.span.start as usize).saturating_sub(start);
        let place = text.get(..at).map_or(0, |before| before.chars().count()) + 1;
        let help = wrong.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        return Err(format!("column {place}: {}{help}", wrong.message));
    }
    let asked = loaded.program.as_ref().and_then(|asked| asked.properties.iter().find(|p| p.name == NAME));
    match asked.map(|property| &property.kind) {
        Some(PropertyKind::Reachable(expr)) if loaded.program.as_ref().is_some_and(|p| is_same(p, program)) => {
            Ok(expr.clone())
        }
        _ => Err("this is not one condition".into()),
    }
}

/// Whether a state of the one is a state of the other, and one property was added.
fn is_same(a: &Program, b: &Program) -> bool {
    a.layout == b.layout && a.variables.len() == b.variables.len() && a.properties.len() == b.properties.len() + 1
}

/// Where the system's closing brace is.
fn end_of_system(text: &str) -> Option<usize> {
    let (tokens, _) = tokenize(text);
    let last = tokens.iter().rev().find(|token| token.kind == TokenKind::CloseBrace)?;
    Some(last.span.start as usize)
}
