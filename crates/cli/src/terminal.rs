//! Text as a terminal may have it: colours, and characters that command a terminal or reorder what it shows, written out.
//!
//! The escapes are those of JSON, so that reports for programs, which are printed too, stay exact.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anstyle::{AnsiColor, Style};
use birk_ir::Verdict;

use crate::cli::Color;
use crate::{Exit, Failure};

/// How text is set off: by colour, or not at all.
#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn with(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(crate) fn verdict(self, verdict: Verdict, text: &str) -> String {
        let color = match verdict {
            Verdict::Holds => AnsiColor::Green,
            Verdict::Violated => AnsiColor::Red,
            Verdict::Inconclusive => AnsiColor::Yellow,
        };
        self.with(color.on_default().bold(), text)
    }
}

/// The text with every character that a terminal would obey written out, for example `\u001b`. Ends of lines and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, |_| 0)
}

/// The same of a text in which Birk itself has set colours: those stay.
pub(crate) fn visible_in_color(text: &str) -> Cow<'_, str> {
    written_out(text, color_length)
}

fn written_out(text: &str, kept: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with("\r\n") { 2 } else { kept(rest) };
        if length > 0 {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let character = rest.chars().next().expect("one was found");
        let _ = write!(out, "\\u{:04x}", u32::from(character));
        rest = &rest[character.len_utf8()..];
    }
    Cow::Owned(out + rest)
}

/// Whether a terminal does something else with a character than showing it where it stands.
pub(crate) fn is_obeyed(character: char) -> bool {
    let reorders = matches!(character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    reorders || character.is_control() && !matches!(character, '\n' | '\t')
}

/// How long the sequence is that sets a colour at the beginning of a text; 0 if there is none.
pub(crate) fn color_length(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\x1b[") else { return 0 };
    let length = codes.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(codes.len());
    if codes[length..].starts_with('m') { "\x1b[".len() + length + 1 } else { 0 }
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

/// How wide the terminal is, if there is one.
pub(crate) fn columns() -> Option<usize> {
    #[cfg(feature = "native")]
    return ratatui::crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    #[cfg(not(feature = "native"))]
    None
}

/// Writes to standard output; a reader that went away is not an error.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    write(visible(text).as_bytes())
}

/// Writes bytes as they are to standard output: a file in a format that is not text.
#[cfg(feature = "native")]
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<Exit, Failure> {
    write(bytes)
}

/// The same of a text for people, in which colours may be set.
pub(crate) fn print_for_people(text: &str, color: bool) -> Result<Exit, Failure> {
    write(if color { visible_in_color(text) } else { visible(text) }.as_bytes())
}

fn write(bytes: &[u8]) -> Result<Exit, Failure> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write to standard output", &error))
        }
        _ => Ok(Exit::Success),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(visible("\x1b[2J\x07\u{9b}31m\u{202e}\x7f\0"), "\\u001b[2J\\u0007\\u009b31m\\u202e\\u007f\\u0000");
        assert_eq!(visible("a\rb\r\n"), "a\\u000db\r\n");
        for control in (0..0xa0).filter_map(char::from_u32).filter(|c| c.is_control() && !"\n\t".contains(*c)) {
            assert_eq!(visible(&control.to_string()), format!("\\u{:04x}", u32::from(control)));
        }
        let plain = "é → ∀\tß\n\u{1f332}";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn of_commands_only_colours_stay() {
        let colors = "\x1b[1;31mred\x1b[0m \x1b[38;5;9mred\x1b[m";
        assert_eq!(visible_in_color(colors), colors);
        assert_eq!(visible_in_color("\x1b[2J\x1b[1\x1b]0;m\u{9b}1m"), "\\u001b[2J\\u001b[1\\u001b]0;m\\u009b1m");
        assert_eq!(visible(colors).matches("\\u001b").count(), 4);
    }

    #[test]
    fn json_stays_exact() {
        let text = "\x1b[1m\u{9b}\u{202e}\u{7f}\r\n\t\"\\";
        let written = serde_json::to_string_pretty(&[text]).expect("it is text");
        let shown = visible(&written);
        assert!(!shown.contains(is_obeyed), "{shown:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("it is JSON"), [text]);
    }
}
