//! What a front end is given, and what it answers: a program, or all diagnostics at once.
//!
//! A language is a crate that knows this one only. Its reader is a row of the table of front ends in `birk::load`.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::expectation::Expectation;
use crate::expr::Expr;
use crate::ids::Span;
use crate::program::Program;
use crate::refinement::Refinement;

/// Reads a model: its text, values for its constants, the texts of other files by their paths relative to it, and conditions
/// about it that stand elsewhere.
pub type Reader = fn(&str, &[(String, String)], Resolve<'_>, Conditions) -> Loaded;

/// Where the text of another file comes from: its path as written, or why it cannot be read.
pub type Resolve<'r> = &'r mut dyn FnMut(&str) -> Result<String, String>;

/// Writes a correct model in BIR: its text, values for its constants, and the texts of other files.
pub type Translator = fn(&str, &[(String, String)], Resolve<'_>) -> Translated;

/// The reserved words of BIR: what is called so elsewhere gets another name in a translation.
pub const RESERVED: &[&str] = &[
    "system",
    "const",
    "typealias",
    "enum",
    "boolean",
    "byte",
    "int",
    "function",
    "active",
    "thread",
    "loc",
    "when",
    "do",
    "goto",
    "return",
    "choose",
    "assert",
    "assume",
    "start",
    "skip",
    "invariant",
    "reachable",
    "ltl",
    "true",
    "false",
    "forall",
    "exists",
];

/// A model in BIR, or what BIR cannot say of it.
pub type Translated = Result<String, Unsayable>;

/// Something in a model that BIR cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsayable {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub message: String,
}

/// What became of a file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The program, unless there are errors.
    pub program: Option<Program>,
    /// Errors and warnings in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read, name and text, by the number in the spans; the model itself, without a name, is the first.
    pub files: Vec<(String, String)>,
    /// The conditions that were asked for, unless there are errors.
    pub conditions: Vec<Expr>,
    /// What the model says should be found of it.
    pub expectations: Vec<Expectation>,
    /// The specification that it refines, if it names one and there are no errors.
    pub refinement: Option<Refinement>,
}

/// Conditions over one state of a system that stand in another text. If there are any, that text is the last of the files.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// The name of the text, and the text.
    pub file: (String, String),
    /// Where in it each condition stands.
    pub places: Vec<Range<usize>>,
}
