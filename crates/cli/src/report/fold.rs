//! Text that fits a terminal: long lines are folded between words, below the column in which they began.

use std::borrow::Cow;
use std::io::IsTerminal as _;

use crate::terminal::{color_length, columns as terminal_columns};

/// Narrower terminals are treated as if they had so many columns.
const NARROWEST: usize = 40;

/// How a report for people looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) color: bool,
    /// The columns of the terminal; nothing is folded where there is none.
    pub(crate) width: Option<usize>,
}

impl Look {
    /// Of what goes to standard output: as wide as the terminal, or as the variable `COLUMNS` says where there is none.
    pub(crate) fn of_output(color: bool) -> Self {
        let told = || std::env::var("COLUMNS").ok()?.parse().ok();
        let width = if std::io::stdout().is_terminal() { terminal_columns() } else { told() };
        Self { color, width: width.filter(|columns| *columns > 0).map(|columns| columns.max(NARROWEST)) }
    }

    /// The text with its long lines folded.
    pub(crate) fn folded(self, text: &str) -> Cow<'_, str> {
        let Some(width) = self.width.filter(|&width| text.lines().any(|line| columns(line) > width)) else {
            return Cow::Borrowed(text);
        };
        let fold = |line: &str| match columns(line) > width && !is_excerpt(line) {
            true if is_command(line) => command(line, width),
            true => sentence(line, width),
            false => line.to_owned(),
        };
        Cow::Owned(text.lines().map(|line| fold(line) + "\n").collect())
    }
}

/// How many columns a line takes: colours take none.
pub(crate) fn columns(line: &str) -> usize {
    let mut rest = line;
    let mut columns = 0;
    while let Some(first) = rest.chars().next() {
        let length = color_length(rest);
        columns += usize::from(length == 0);
        rest = &rest[length.max(first.len_utf8() * usize::from(length == 0))..];
    }
    columns
}

/// The words of a text in lines of at most so many columns; a word that is longer has a line of its own.
pub(crate) fn words(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if !line.is_empty() && columns(line) + 1 + columns(word) > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A line of text or of a table: what does not fit goes on below the beginning of its last column.
fn sentence(line: &str, width: usize) -> String {
    let hang = hanging(line, width);
    let (mut out, mut rest, mut used) = (String::new(), line, 0);
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[gap..].split(' ').next().unwrap_or_default();
        let length = columns(word);
        if used > hang && used + gap + length > width {
            out = out.trim_end().to_owned() + "\n" + &" ".repeat(hang);
            used = hang + length;
        } else {
            out.push_str(&rest[..gap]);
            used += gap + length;
        }
        out.push_str(word);
        rest = &rest[gap + word.len()..];
    }
    out
}

/// Where a folded line goes on: below its last column, or a little to the right of its beginning.
fn hanging(line: &str, width: usize) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let plain: Vec<char> = plain(line).chars().collect();
    let is_column = |at: &usize| plain[*at] != ' ' && plain[at - 1] == ' ' && plain[at - 2] == ' ';
    let last = (indent + 2..plain.len().min(width * 2 / 3)).rev().find(is_column);
    last.filter(|_| indent > 0).unwrap_or(indent + 2)
}

/// A command can be copied as it stands: its lines end with a backslash. An option stays with its value.
fn command(line: &str, width: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_quoted = false;
    for part in line.split(' ') {
        let is_option = |word: &String| word.starts_with('-') && !word.contains(' ');
        let is_value = words.last().is_some_and(is_option) && !part.starts_with('-');
        match words.last_mut() {
            Some(last) if is_quoted || is_value => {
                last.push(' ');
                last.push_str(part);
            }
            _ => words.push(part.to_owned()),
        }
        is_quoted ^= part.matches('\'').count() % 2 == 1;
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(last) if columns(last) + 1 + columns(&word) + 2 <= width => {
                last.push(' ');
                last.push_str(&word);
            }
            Some(_) => lines.push(format!("    {word}")),
            None => lines.push(word),
        }
    }
    lines.join(" \\\n")
}

fn is_command(line: &str) -> bool {
    let plain = plain(line);
    ["reproduce: ", "continue: "].iter().any(|label| plain.starts_with(label))
}

/// A line of an excerpt of the source, which has a frame at its left.
fn is_excerpt(line: &str) -> bool {
    let plain = plain(line);
    let text = plain.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    text.starts_with('|') || text.starts_with("-->") || text.starts_with(":::")
}

fn plain(line: &str) -> String {
    let (mut rest, mut out) = (line, String::new());
    while let Some(first) = rest.chars().next() {
        let length = color_length(rest);
        if length == 0 {
            out.push(first);
        }
        rest = &rest[if length == 0 { first.len_utf8() } else { length }..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str, width: usize) -> String {
        Look { color: true, width: Some(width) }.folded(text).into_owned()
    }

    #[test]
    fn lines_are_folded_between_words() {
        let text = "covered: D, partial: 5 states, with no claim about others; the search stopped at what it found\n";
        let expected =
            "covered: D, partial: 5 states, with no claim about others;\n  the search stopped at what it found\n";
        assert_eq!(folded(text, 60), expected);
        assert_eq!(Look { color: false, width: None }.folded(text), text, "nothing is folded in a file");
        for width in 40..100 {
            assert!(folded(text, width).lines().all(|line| columns(line) <= width), "{width}");
            assert_eq!(folded(text, width).split_whitespace().collect::<String>(), text.replace([' ', '\n'], ""));
        }
    }

    #[test]
    fn tables_go_on_in_their_last_column() {
        let text = "  violated     -  asks  ltl        product: 5 states, automaton: 1 state\n";
        let expected = "  violated     -  asks  ltl        product: 5 states,\n\
                        \x20                                  automaton: 1 state\n";
        assert_eq!(folded(text, 60), expected);
        let colored = text.replace("violated", "\x1b[31mviolated\x1b[0m");
        assert_eq!(plain(&folded(&colored, 60)), expected, "colours take no room");
    }

    #[test]
    fn commands_stay_commands() {
        let text = "reproduce: birk check models/sum_to_n.bir -D 'A=1 2 3 4 5 6 7 8 9' --search bfs --seed 0\n";
        let expected =
            "reproduce: birk check models/sum_to_n.bir \\\n    -D 'A=1 2 3 4 5 6 7 8 9' --search bfs --seed 0\n";
        assert_eq!(folded(text, 60), expected);
    }

    #[test]
    fn excerpts_and_long_words_stay_whole() {
        let excerpt =
            format!("12 |   invariant short: {};\n   |   ^^^ {}\n", "x == 1 && ".repeat(9), "x = 1, ".repeat(12));
        assert_eq!(folded(&excerpt, 60), excerpt);
        let word = format!("  replay: 0:{}\n", "1,".repeat(60));
        assert_eq!(folded(&word, 60).lines().count(), 2, "it begins on a line of its own and is not broken");
        assert_eq!(words("a bb ccc", 4), ["a bb", "ccc"]);
    }
}
