//! From a file to a program: the table of front ends, by the extensions of file names.

use std::path::Path;

use birk_ir::{Expr, Program};
use birk_lang::Conditions;
use birk_lang::diagnostic::Diagnostic;

use crate::error::Error;

/// A language.
#[derive(Clone, Copy, Debug)]
pub struct FrontEnd {
    /// What it is called.
    pub name: &'static str,
    /// The extension of its files.
    pub extension: &'static str,
    /// Reads a model.
    pub load: Reader,
}

/// Reads a model: its text, values for its constants, the texts of other files by their paths relative to it, and conditions
/// about it that stand elsewhere.
pub type Reader = fn(&str, &[(String, String)], birk_lang::import::Resolve<'_>, Conditions) -> birk_lang::Loaded;

/// All languages; the first is that of files with another extension, too.
pub const FRONT_ENDS: &[FrontEnd] = &[FrontEnd { name: "BIR", extension: "bir", load: birk_lang::load_with }];

/// A model that was read.
#[derive(Debug)]
pub struct Loaded {
    /// The program, unless there are errors.
    pub program: Option<Program>,
    /// Errors and warnings in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The imported files, name and text, by the number in the spans; the model itself, without a name, is the first.
    pub files: Vec<(String, String)>,
    /// The conditions that were asked for, unless there are errors.
    pub conditions: Vec<Expr>,
}

/// Reads the text of a model with the front end for its path; `resolve` gives the texts of the files that it imports.
pub fn load(
    path: &Path,
    text: &str,
    constants: &[(String, String)],
    resolve: birk_lang::import::Resolve<'_>,
    conditions: Conditions,
) -> Loaded {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let front_end = FRONT_ENDS.iter().find(|front_end| front_end.extension == extension).unwrap_or(&FRONT_ENDS[0]);
    let birk_lang::Loaded { program, diagnostics, files, conditions } =
        (front_end.load)(text, constants, resolve, conditions);
    Loaded { program, diagnostics, files, conditions }
}

/// Reads a model from a file, and what it imports from files beside it; errors are given as lines.
pub fn load_file(path: impl AsRef<Path>) -> Result<Program, Error> {
    let path = path.as_ref();
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let text = read(path).map_err(|error| Error::Refused(format!("cannot read {}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_model(path, &text, &mut |name| read(&folder.join(name)))
}

/// Reads a model that imports nothing but the standard library; errors are given as lines.
pub fn load_text(path: impl AsRef<Path>, text: &str) -> Result<Program, Error> {
    let none = &mut |_: &str| Err("there is no such file in the standard library".to_owned());
    read_model(path.as_ref(), text, none)
}

fn read_model(path: &Path, text: &str, resolve: birk_lang::import::Resolve<'_>) -> Result<Program, Error> {
    let loaded = load(path, text, &[], resolve, Conditions::default());
    loaded.program.ok_or_else(|| {
        let line = |diagnostic: &Diagnostic| {
            let before = text.get(..diagnostic.span.start as usize).unwrap_or(text);
            format!("{}:{}: {}", path.display(), before.matches('\n').count() + 1, diagnostic.message)
        };
        Error::Model(loaded.diagnostics.iter().filter(|diagnostic| !diagnostic.is_warning()).map(line).collect())
    })
}
