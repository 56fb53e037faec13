//! A model's file: its text and its lines.

use std::fs::File;
use std::io::{Error, Read as _};
use std::path::Path;

use birk_ir::Span;

use crate::Failure;
use crate::numbers::bytes;

/// The longest text that is read: generated models have some millions of bytes.
pub(crate) const MAX_TEXT: u64 = 64 << 20;
/// The longest trace that is read.
pub(crate) const MAX_TRACE: u64 = 1 << 30;

/// A file that was read, and those that it imports.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    line_starts: Vec<usize>,
    /// By the number in their spans, from 1.
    pub(crate) imported: Vec<Source>,
}

fn is_bir(path: &Path) -> bool {
    birk::front_end(path).name == birk::FRONT_ENDS[0].name
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
        let text = birk::front_end(path).encoding.text(bytes);
        let text = text.map_err(|at| Failure::usage(format!("{shown} is not UTF-8 text (byte {at})")))?;
        Ok(Self::new(shown, text))
    }

    pub(crate) fn new(path: String, text: String) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { path, text, line_starts, imported: Vec::new() }
    }

    /// Whether it is a model in BIR: views that read its words know no other language.
    pub(crate) fn is_bir(&self) -> bool {
        is_bir(Path::new(&self.path))
    }

    /// Whether it is a model in Promela: its steps are known by their statements, not by where they lead.
    pub(crate) fn is_promela(&self) -> bool {
        birk::front_end(Path::new(&self.path)).name == "Promela"
    }

    /// Whether a variable is one of the model's: SPIN's number of processes is, where the model reads it.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let is_read = || std::iter::once(self).chain(&self.imported).any(|file| file.text.contains(name));
        !(self.is_promela() && name == "_nr_pr") || is_read()
    }

    /// `sema!p`, `m == 0; m = 1`: the statements of a step, at most so many letters of them.
    pub(crate) fn statements(&self, transition: &birk_ir::Transition, most: usize) -> String {
        let parts = match &transition.parts[..] {
            [] => std::slice::from_ref(&transition.span),
            parts => parts,
        };
        let text = parts.iter().map(|part| self.slice(*part)).collect::<Vec<_>>().join("; ");
        match text.chars().count() > most {
            true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
            false => text,
        }
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
        self.file(span).place(span.start)
    }

    /// Line and column behind the last letter of a span, from 1.
    pub(crate) fn end(&self, span: Span) -> (usize, usize) {
        self.file(span).place(span.end)
    }

    /// Line and column of a byte of this file.
    fn place(&self, at: u32) -> (usize, usize) {
        let at = (at as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= at);
        let column = self.text[self.line_starts[line - 1]..at].chars().count() + 1;
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
pub(crate) fn contents(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
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
