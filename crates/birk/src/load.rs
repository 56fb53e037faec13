//! From a file to a program: the table of front ends, by the extensions of file names.

use std::path::Path;

use birk_ir::diagnostic::{Code, Diagnostic};
use birk_ir::{Conditions, Loaded, Program, Reader, Resolve, Translator};

use crate::error::Error;

/// A language.
#[derive(Clone, Copy, Debug)]
pub struct FrontEnd {
    /// What it is called.
    pub name: &'static str,
    /// The extensions of its files.
    pub extensions: &'static [&'static str],
    /// How the bytes of a file become its text.
    pub encoding: Encoding,
    /// Reads a model.
    pub load: Reader,
    /// What its diagnostics mean. The first digit of a code is the language: 0 for BIR, 1 for DVE, 2 for Promela, 3 for AIGER.
    pub codes: &'static [Code],
    /// Formats a model, if there is a formatter.
    pub format: Option<Formatter>,
    /// Writes a model in BIR, if it can.
    pub translate: Option<Translator>,
    /// Models declare what should be found of them.
    pub expects: bool,
}

/// How the bytes of a file become its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// They are text.
    Utf8,
    /// The same; but models of other tools are older than UTF-8, and what is in their comments does not matter: if it is none, there
    /// is a question mark for every byte that is not ASCII, so that all others keep their places.
    Ascii,
    /// They need not be text: there is a character for each, `U+0000` to `U+00FF`.
    Bytes,
}

impl Encoding {
    /// The text of a file; if there is none, how many bytes of it would be one.
    pub fn text(self, bytes: Vec<u8>) -> Result<String, usize> {
        let each = |bytes: Vec<u8>, character: fn(u8) -> char| bytes.into_iter().map(character).collect();
        if self == Self::Bytes {
            return Ok(each(bytes, char::from));
        }
        String::from_utf8(bytes).or_else(|error| match self {
            Self::Utf8 => Err(error.utf8_error().valid_up_to()),
            _ => Ok(each(error.into_bytes(), |byte| if byte.is_ascii() { char::from(byte) } else { '?' })),
        })
    }
}

/// Formats the text of a model, or says what is wrong with it.
pub type Formatter = fn(&str) -> Result<String, Vec<Diagnostic>>;

/// All languages; the first is that of files with another extension, too.
pub const FRONT_ENDS: &[FrontEnd] = &[
    FrontEnd {
        name: "BIR",
        extensions: &["bir"],
        encoding: Encoding::Utf8,
        load: birk_lang::load_with,
        codes: birk_lang::codes::CODES,
        format: Some(birk_lang::fmt::format),
        translate: None,
        expects: true,
    },
    FrontEnd {
        name: "DVE",
        extensions: &["dve"],
        encoding: Encoding::Ascii,
        load: birk_dve::load,
        codes: birk_dve::codes::CODES,
        format: None,
        translate: Some(birk_dve::translate),
        expects: false,
    },
    FrontEnd {
        name: "Promela",
        extensions: &["pml", "prom", "promela", "pm", "spin"],
        encoding: Encoding::Ascii,
        load: birk_promela::load,
        codes: birk_promela::codes::CODES,
        format: None,
        translate: Some(birk_promela::translate),
        expects: false,
    },
    FrontEnd {
        name: "AIGER",
        extensions: &["aig", "aag"],
        encoding: Encoding::Bytes,
        load: birk_aiger::load,
        codes: birk_aiger::codes::CODES,
        format: None,
        translate: None,
        expects: false,
    },
];

/// The language of a file, by its extension.
pub fn front_end(path: &Path) -> &'static FrontEnd {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    FRONT_ENDS.iter().find(|front_end| front_end.extensions.contains(&extension)).unwrap_or(&FRONT_ENDS[0])
}

/// The codes of all languages, in order.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    FRONT_ENDS.iter().flat_map(|front_end| front_end.codes)
}

/// The entry of a code, however its letter is written.
pub fn explain(code: &str) -> Option<&'static Code> {
    codes().find(|entry| entry.code.eq_ignore_ascii_case(code))
}

/// Reads the text of a model with the front end for its path; `resolve` gives the texts of the files that it imports.
pub fn load(
    path: &Path,
    text: &str,
    constants: &[(String, String)],
    resolve: Resolve<'_>,
    conditions: Conditions,
) -> Loaded {
    (front_end(path).load)(text, constants, resolve, conditions)
}

/// Reads a model from a file, and what it imports from files beside it; errors are given as lines.
pub fn load_file(path: impl AsRef<Path>) -> Result<Program, Error> {
    let path = path.as_ref();
    let read = |path: &Path| {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        front_end(path).encoding.text(bytes).map_err(|at| format!("it is not UTF-8 text (byte {at})"))
    };
    let text = read(path).map_err(|error| Error::Refused(format!("cannot read {}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read_model(path, &text, &mut |name| read(&folder.join(name)))
}

/// Reads a model that imports nothing but the standard library; errors are given as lines.
pub fn load_text(path: impl AsRef<Path>, text: &str) -> Result<Program, Error> {
    let none = &mut |_: &str| Err("there is no such file in the standard library".to_owned());
    read_model(path.as_ref(), text, none)
}

fn read_model(path: &Path, text: &str, resolve: Resolve<'_>) -> Result<Program, Error> {
    let loaded = load(path, text, &[], resolve, Conditions::default());
    loaded.program.ok_or_else(|| {
        let line = |diagnostic: &Diagnostic| {
            let before = text.get(..diagnostic.span.start as usize).unwrap_or(text);
            format!("{}:{}: {}", path.display(), before.matches('\n').count() + 1, diagnostic.message)
        };
        Error::Model(loaded.diagnostics.iter().filter(|diagnostic| !diagnostic.is_warning()).map(line).collect())
    })
}
