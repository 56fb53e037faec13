//! Guided simulation: the user picks each step, on a terminal screen or line by line.

#[cfg(feature = "native")]
mod draw;
pub(crate) mod prompt;
#[cfg(feature = "native")]
pub(crate) mod screen;
pub(crate) mod session;
#[cfg(all(test, feature = "native"))]
mod tests;

use std::path::Path;

use birk_ir::{Expr, Program};

use crate::cli::ModelArgs;
use crate::interactive::session::Session;
use crate::source::Source;
use crate::{condition, durable, itf};

/// What a walk belongs to: the model's file and how it was loaded.
pub(crate) struct Place<'a> {
    pub(crate) args: &'a ModelArgs,
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
}

impl Place<'_> {
    /// A condition that the user typed.
    pub(crate) fn condition(&self, text: &str) -> Result<Expr, String> {
        condition::condition(self.args, self.source, self.program, text)
    }

    /// Goes to the nearest state that satisfies a condition; says what happened.
    fn run_to(&self, session: &mut Session<'_>, text: &str) -> Result<String, String> {
        let condition = self.condition(text)?;
        if session.value(&condition) {
            return Ok(format!("`{}` is true here already", text.trim()));
        }
        let steps = session.run_to(&condition)?;
        Ok(format!("{} to `{}`, the shortest path", crate::numbers::count(steps as u64, "step"), text.trim()))
    }

    /// Saves the walk up to where it stands.
    fn save(&self, session: &Session<'_>, path: &str) -> Result<String, String> {
        let path = path.trim();
        if path.is_empty() {
            return Err("a file name is missing".into());
        }
        let text = itf::write(self.source, self.program, session.violated(), &session.run());
        durable::write(Path::new(path), text.as_bytes()).map_err(|error| format!("cannot write {path}: {error}"))?;
        Ok(format!("saved to {path}; `birk replay` and `--trace` read it"))
    }
}
