//! A model's file: its text, its lines, and loading it.

use std::io::IsTerminal as _;
use std::ops::Range;
use std::path::Path;

use birk_ir::{Expr, Program, Span};
use birk_lang::Conditions;

use crate::cli::{Color, ModelArgs};
use crate::{Exit, Failure, diagnostics};

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
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Failure::io(&format!("read {shown}"), &error))?;
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

    /// The text of a span on one line.
    pub(crate) fn slice(&self, span: Span) -> String {
        self.file(span).text.get(span.range()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }
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
    let mut resolve = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
    birk_lang::load_with(text, &args.define, &mut resolve, conditions)
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
