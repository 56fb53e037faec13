//! A text that an editor has open, and the edits to it.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use lsp_types::{TextDocumentContentChangeEvent, TextEdit, Uri};

use crate::check::{Checked, Facts};
use crate::position::Lines;
use crate::tree::Tree;

/// An open text.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    /// Where it is stored, if it is.
    pub(crate) path: Option<PathBuf>,
    /// Its language, by its number in the table.
    pub(crate) language: usize,
    pub(crate) version: i32,
    pub(crate) text: String,
    pub(crate) lines: Lines,
    /// What the front end says of this text, once it was asked.
    pub(crate) checked: Option<Rc<Checked>>,
    /// What is known of the variables of the latest text without errors.
    pub(crate) facts: Facts,
    /// The tree of this text, once somebody asked.
    pub(crate) tree: Option<Rc<Tree>>,
    /// The files that the front end read for the latest text.
    pub(crate) imports: Vec<PathBuf>,
}

impl Document {
    pub(crate) fn new(uri: Uri, language: usize, version: i32, text: String) -> Self {
        let path = crate::uri::path_of(&uri).map(|path| crate::uri::plain(&path));
        let lines = Lines::of(&text);
        let (facts, imports) = (Facts::default(), Vec::new());
        Self { uri, path, language, version, text, lines, checked: None, facts, tree: None, imports }
    }

    /// Applies edits in their order; each is about the text that the one before it left.
    pub(crate) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change.range {
                None => self.text = change.text,
                Some(range) => {
                    let start = self.lines.offset(&self.text, range.start);
                    let end = self.lines.offset(&self.text, range.end);
                    self.text.replace_range(start.min(end)..start.max(end), &change.text);
                }
            }
            self.lines = Lines::of(&self.text);
        }
        self.version = version;
        self.forget();
    }

    /// What was found of the text, or of a file that it imports, is no longer true.
    pub(crate) fn forget(&mut self) {
        self.checked = None;
        self.tree = None;
    }

    /// The place of a range of bytes.
    pub(crate) fn range(&self, range: Range<usize>) -> lsp_types::Range {
        self.lines.range(&self.text, range)
    }

    /// The edits that make another text of this one: one edit, of the part in which they differ.
    pub(crate) fn edits_to(&self, text: &str) -> Vec<TextEdit> {
        if *text == self.text {
            return Vec::new();
        }
        let same = |(a, b): &(char, char)| a == b;
        let before = self.text.chars().zip(text.chars()).take_while(same).map(|(a, _)| a.len_utf8()).sum::<usize>();
        // A line end of two characters is never cut.
        let before = self.text[..before].rfind('\n').map_or(0, |end| end + 1);
        let (old, new) = (&self.text[before..], &text[before..]);
        let pairs = old.chars().rev().zip(new.chars().rev());
        let after = pairs.take_while(same).map(|(a, _)| a.len_utf8()).sum::<usize>();
        let after = old[old.len() - after..].find('\n').map_or(0, |end| after - end - 1);
        let range = self.range(before..self.text.len() - after);
        vec![TextEdit::new(range, new[..new.len() - after].to_owned())]
    }
}
