//! A model's file: its text, its lines, and loading it.

use std::fs::File;
use std::io::{Error, IsTerminal as _, Read as _};
use std::ops::Range;
use std::path::Path;

use birk_ir::{Expr, Program, Span};
use birk_lang::Conditions;

use crate::cli::{Color, ModelArgs};
use crate::progress::bytes;
use crate::{Exit, Failure, diagnostics};

/// The longest text that is read: generated models have some millions of bytes.
const MAX_TEXT: u64 = 64 << 20;
/// The longest trace that is read.
pub(crate) const MAX_TRACE: u64 = 1 << 30;

/// A file that was read, and those that it imports.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    line_starts: Vec<usize>,
    /// By the number in their spans, from 1.
    imported: Vec<Source>,
}

impl Source {
    /// Reads a model, an automaton or a configuration.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::read_up_to(path, MAX_TEXT)
    }

    /// Reads a file that has at most so many bytes.
    pub(crate) fn read_up_to(path: &Path, most: u64) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let bytes = contents(path, most).map_err(|error| Failure::io(&format!("read {shown}"), &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            Failure::usage(format!("{shown} is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()))
        })?;
        Ok(Self::new(shown, text))
    }

    pub(crate) fn new(path: String, text: String) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { path, text, line_starts, imported: Vec::new() }
    }

    /// The file that a span belongs to.
    pub(crate) fn file(&self, span: Span) -> &Source {
        (span.file as usize).checked_sub(1).and_then(|index| self.imported.get(index)).unwrap_or(self)
    }

    /// The text, and those that it imports.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.imported.iter().map(|file| file.text.as_str()))
    }

    /// Line and column of the beginning of a span, from 1.
    pub(crate) fn position(&self, span: Span) -> (usize, usize) {
        let file = self.file(span);
        let at = (span.start as usize).min(file.text.len());
        let line = file.line_starts.partition_point(|&start| start <= at);
        let column = file.text[file.line_starts[line - 1]..at].chars().count() + 1;
        (line, column)
    }

    /// The lines of this file from one place to another: the first's number, and where they lie.
    pub(crate) fn lines(&self, from: u32, to: u32) -> (usize, std::ops::Range<usize>) {
        let line = |at: u32| self.line_starts.partition_point(|&start| start <= at as usize);
        let end = self.line_starts.get(line(to)).copied().unwrap_or(self.text.len());
        (line(from), self.line_starts[line(from) - 1]..end)
    }

    /// The text of a span on one line.
    pub(crate) fn slice(&self, span: Span) -> String {
        self.file(span).text.get(span.range()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The contents of a regular file: devices and pipes may have no end, or never begin.
fn contents(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(Error::other("it is not a regular file; save its contents in a file, and name that"));
    }
    let mut contents = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut contents)?;
    if contents.len() as u64 > most {
        let most = bytes(most).replace(".0 ", " ");
        return Err(Error::other(format!("it is larger than {most}, the most that is read")));
    }
    Ok(contents)
}

/// The text of a file that another one names.
fn imported(path: &Path) -> Result<String, String> {
    let bytes = contents(path, MAX_TEXT).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Reads a model; its diagnostics go to standard error.
pub(crate) fn load(args: &ModelArgs) -> Result<(Source, Program), Failure> {
    let mut source = Source::read(&args.model)?;
    let loaded = load_with(args, &source.text, Conditions::default());
    source.imported = loaded.files.into_iter().skip(1).map(|(path, text)| Source::new(path, text)).collect();
    diagnostics::print(&source, &loaded.diagnostics, uses_color(args.color, &std::io::stderr()));
    match loaded.program {
        Some(program) => Ok((source, program)),
        None => Err(Failure { exit: Exit::Usage, message: String::new() }),
    }
}

/// Reads the conditions that another file has about a model; what is wrong with them goes to standard error.
pub(crate) fn load_conditions(
    args: &ModelArgs,
    source: &Source,
    file: &Source,
    places: Vec<Range<usize>>,
) -> Result<Vec<Expr>, Failure> {
    let file_of = (file.path.clone(), file.text.clone());
    let mut loaded = load_with(args, &source.text, Conditions { file: file_of, places });
    let of_file = loaded.files.len() as u32 - 1;
    loaded.diagnostics.retain(|diagnostic| !diagnostic.is_warning());
    if loaded.diagnostics.is_empty() {
        return Ok(loaded.conditions);
    }
    for diagnostic in loaded.diagnostics.iter_mut().filter(|diagnostic| diagnostic.span.file == of_file) {
        diagnostic.related.retain(|(span, _)| span.file == of_file);
        diagnostic.span.file = 0;
        diagnostic.related.iter_mut().for_each(|(span, _)| span.file = 0);
    }
    diagnostics::print(file, &loaded.diagnostics, uses_color(args.color, &std::io::stderr()));
    Err(Failure { exit: Exit::Usage, message: String::new() })
}

/// Reads the text of a model, and conditions about it; what it imports is looked for beside the model.
pub(crate) fn load_with(args: &ModelArgs, text: &str, conditions: Conditions) -> birk_lang::Loaded {
    let folder = args.model.parent().unwrap_or(Path::new("")).to_owned();
    birk_lang::load_with(text, &args.define, &mut |path| imported(&folder.join(path)), conditions)
}

/// Whether to colour what goes to a stream.
pub(crate) fn uses_color(color: Color, stream: &impl std::io::IsTerminal) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Whether somebody watches standard error.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}
