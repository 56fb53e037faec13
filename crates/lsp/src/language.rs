//! What the server must know of a language, and of the files beside a text.

use std::path::Path;

use birk_ir::{Diagnostic, Reader};

/// A language that the server knows.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// What it is called. The names in a text are resolved if this is [`BIR`].
    pub name: &'static str,
    /// The extensions of its files.
    pub extensions: &'static [&'static str],
    /// Reads a model.
    pub load: Reader,
    /// Formats a model, if there is a formatter.
    pub format: Option<Formatter>,
}

/// The name of the language whose names are resolved.
pub const BIR: &str = "BIR";

/// Formats the text of a model, or says what is wrong with it.
pub type Formatter = fn(&str) -> Result<String, Vec<Diagnostic>>;

/// Reads a file that no editor has open, or says why it cannot be read.
pub type ReadFile<'r> = &'r dyn Fn(&Path) -> Result<String, String>;
