//! Options of engines: each is declared once, in the row of the engines that have it. The command line, configuration,
//! refusals and documentation are made of the declaration.

use std::num::{IntErrorKind, ParseIntError};

/// The declaration of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOption {
    /// As written after two dashes.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What is taken when nothing is said; none where the engine then does without.
    pub default: Option<Value>,
    /// One line for the help.
    pub help: &'static str,
    /// What cannot be said together with it, and why not.
    pub excludes: &'static [(&'static str, &'static str)],
    /// Traces are shortest with every value, if the engine's are.
    pub keeps_shortest: bool,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from this to that.
    Number(u64, u64),
    /// The same, or one word.
    NumberOr(u64, u64, &'static str),
    /// A number above 0 and below 1.
    Share,
    /// A number of bytes, with a unit.
    Size,
    /// One of some words.
    Word(&'static [&'static str]),
}

/// What is said for an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Number(u64),
    /// A number between 0 and 1.
    Share(f64),
    /// One of the words of the declaration.
    Word(&'static str),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Share(share) => share.fmt(f),
            Value::Word(word) => f.write_str(word),
        }
    }
}

impl Kind {
    /// Reads a value; the reason if it is none.
    pub fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Kind::NumberOr(_, _, word) if text == word => Ok(Value::Word(word)),
            Kind::Number(least, most) | Kind::NumberOr(least, most, _) => {
                // Underscores may group the digits.
                let number: u64 =
                    text.replace('_', "").parse().map_err(|error: ParseIntError| match (error.kind(), self) {
                        (IntErrorKind::PosOverflow, _) => "this number is too large".to_owned(),
                        (_, Kind::NumberOr(_, _, word)) => format!("write a whole number, or {word}"),
                        _ => "write a whole number, for example 1_000_000".to_owned(),
                    })?;
                match number {
                    _ if number < least => Err(format!("must be at least {least}")),
                    _ if number > most => Err("this number is too large".to_owned()),
                    _ => Ok(Value::Number(number)),
                }
            }
            Kind::Share => match text.parse::<f64>() {
                Ok(share) if share > 0.0 && share < 1.0 => Ok(Value::Share(share)),
                _ => Err("write a number between 0 and 1, for example 0.01".into()),
            },
            Kind::Size => read_size(text).map(Value::Number),
            Kind::Word(words) => match words.iter().find(|word| **word == text) {
                Some(word) => Ok(Value::Word(word)),
                None => Err(format!("`{text}` is none of {}", words.join(", "))),
            },
        }
    }

    /// What stands for a value in a help text.
    pub fn placeholder(self) -> String {
        match self {
            Kind::Number(..) => "N".into(),
            Kind::NumberOr(_, _, word) => format!("N|{word}"),
            Kind::Share => "P".into(),
            Kind::Size => "SIZE".into(),
            Kind::Word(words) => words.join("|"),
        }
    }
}

/// Reads a number of bytes: `512M`, `4G`.
pub fn read_size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim().to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        "T" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("unknown unit `{unit}`: use K, M, G or T")),
    };
    let number: f64 = number.parse().map_err(|_| "write a number and a unit, for example 4G".to_owned())?;
    if number * factor < 1.0 { Err("must be more than nothing".into()) } else { Ok((number * factor) as u64) }
}

impl EngineOption {
    /// What was said, or else the default.
    pub fn value(&self, options: &Options) -> Option<Value> {
        options.get(self.name).or(self.default)
    }

    /// The number that was said or is the default; none where a word was said.
    pub fn number(&self, options: &Options) -> Option<u64> {
        if let Some(Value::Number(number)) = self.value(options) { Some(number) } else { None }
    }

    /// The share that was said or is the default.
    pub fn share(&self, options: &Options) -> Option<f64> {
        if let Some(Value::Share(share)) = self.value(options) { Some(share) } else { None }
    }

    /// The word that was said or is the default; none where a number was said.
    pub fn word(&self, options: &Options) -> Option<&'static str> {
        if let Some(Value::Word(word)) = self.value(options) { Some(word) } else { None }
    }
}

/// What was said for options, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Vec<(&'static str, Value)>);

impl Options {
    /// The same with this said, too.
    #[must_use]
    pub fn with(mut self, option: &EngineOption, value: Value) -> Self {
        self.set(option, value);
        self
    }

    /// Says this; what was said for the option before is forgotten.
    pub fn set(&mut self, option: &EngineOption, value: Value) {
        self.0.retain(|(name, _)| *name != option.name);
        self.0.push((option.name, value));
    }

    /// What was said, not the default.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// All that was said.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: EngineOption = EngineOption {
        name: "width",
        kind: Kind::NumberOr(1, 100, "auto"),
        default: Some(Value::Number(7)),
        help: "states of a level",
        excludes: &[],
        keeps_shortest: true,
    };

    #[test]
    fn what_is_said_wins_over_the_default() {
        let said = Options::default().with(&WIDTH, Value::Number(9));
        assert_eq!((WIDTH.number(&Options::default()), WIDTH.number(&said)), (Some(7), Some(9)));
        let again = said.with(&WIDTH, Value::Word("auto"));
        assert_eq!((WIDTH.number(&again), WIDTH.word(&again), again.iter().count()), (None, Some("auto"), 1));
    }

    #[test]
    fn values_are_read_by_their_kind() {
        assert_eq!(["1", "100", "auto"].map(|text| WIDTH.kind.read(text).is_ok()), [true; 3]);
        assert_eq!(["0", "101", "-1", "", "all"].map(|text| WIDTH.kind.read(text).is_ok()), [false; 5]);
        assert_eq!(Kind::Share.read("0.5"), Ok(Value::Share(0.5)));
        assert!(["0", "1", "2", "x", "NaN"].iter().all(|text| Kind::Share.read(text).is_err()));
        assert_eq!(Kind::Word(&["tree", "states"]).read("tree"), Ok(Value::Word("tree")));
        assert_eq!(Kind::Word(&["tree", "states"]).read("bush"), Err("`bush` is none of tree, states".into()));
    }
}
