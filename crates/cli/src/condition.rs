//! Conditions that somebody types while looking at a model, read by the language itself: every name and every type means
//! what it means in a property of the model.

use birk_ir::{Conditions, Expr, Program};

use crate::cli::ModelArgs;
use crate::load::load_with;
use crate::source::Source;

/// Reads a condition over one state of a model.
pub(crate) fn condition(args: &ModelArgs, source: &Source, program: &Program, text: &str) -> Result<Expr, String> {
    if text.trim().is_empty() {
        return Err("a condition is missing, for example `x == 2 && !done`".into());
    }
    let file = ("the condition".to_owned(), text.to_owned());
    let whole = std::iter::once(0..text.len()).collect();
    let mut loaded = load_with(args, &source.text, Conditions { file, places: whole });
    if let Some(wrong) = loaded.diagnostics.iter().find(|diagnostic| !diagnostic.is_warning()) {
        let place = text.get(..wrong.span.start as usize).map_or(0, |before| before.chars().count()) + 1;
        let help = wrong.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        return Err(format!("column {place}: {}{help}", wrong.message));
    }
    // What the model imports may have been changed since it was read.
    let is_same = loaded.program.is_some_and(|read| read.layout == program.layout);
    loaded.conditions.pop().filter(|_| is_same).ok_or_else(|| "the files of the model have changed".to_owned())
}
