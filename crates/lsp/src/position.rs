//! Places in a text: bytes, as the front ends count them, and lines with UTF-16 units, as the protocol does.

use lsp_types::{Position, Range};

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// A line ends with a line feed, a carriage return, or both.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Self { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The bytes of a line without its end.
    fn line(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    /// The byte at a position. A column behind the end of its line is that end; one inside a character is its begin.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return text.len();
        }
        let range = self.line(text, line);
        let mut left = position.character as usize;
        for (at, character) in text[range.clone()].char_indices() {
            let units = character.len_utf16();
            if left < units {
                return range.start + at;
            }
            left -= units;
        }
        range.end
    }

    /// The position of a byte; one inside a character or behind the text counts as the nearest before it.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let units: usize = text[self.starts[line]..offset].chars().map(char::len_utf16).sum();
        Position::new(line as u32, units as u32)
    }

    /// The range between two bytes.
    pub(crate) fn range(&self, text: &str, range: std::ops::Range<usize>) -> Range {
        Range::new(self.position(text, range.start), self.position(text, range.end.max(range.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_again_and_units_are_those_of_utf_16() {
        let text = "a😀b\r\nä\rx\n\n𝄞𝄞";
        let lines = Lines::of(text);
        for (at, character) in text.char_indices() {
            let is_inside_line_end = character == '\n' && text[..at].ends_with('\r');
            if !is_inside_line_end {
                assert_eq!(lines.offset(text, lines.position(text, at)), at, "{character:?} at {at}");
            }
        }
        assert_eq!(lines.position(text, 5), Position::new(0, 3));
        assert_eq!(lines.position(text, text.len()), Position::new(4, 4));
        assert_eq!(lines.offset(text, Position::new(2, 0)), text.find('x').expect("it is there"));
    }

    #[test]
    fn places_that_do_not_exist_are_moved_to_one_that_does() {
        let text = "a😀b\ncd";
        let lines = Lines::of(text);
        assert_eq!(lines.offset(text, Position::new(0, 2)), 1, "inside of a pair of surrogates");
        assert_eq!(lines.offset(text, Position::new(0, 99)), 6, "behind the end of a line");
        assert_eq!(lines.offset(text, Position::new(9, 9)), text.len());
        assert_eq!(lines.position(text, 3), Position::new(0, 1), "inside of a character");
        assert_eq!(lines.position(text, 99), Position::new(1, 2));
    }
}
