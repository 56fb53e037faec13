//! Names that are words, and that nothing else has.

use std::collections::HashSet;

/// Names that were given away.
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Without these.
    pub(crate) fn without(taken: &[&str]) -> Self {
        Self(taken.iter().map(|&name| name.to_owned()).collect())
    }

    /// A name in the symbol table as a word, or else the letter of the kind and the number.
    pub(crate) fn name(&mut self, wanted: Option<&str>, kind: char, number: usize) -> String {
        let word = wanted.map(word).filter(|word| !word.is_empty());
        let mut name = word.unwrap_or_else(|| format!("{kind}{number}"));
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// `bus[3]` is `bus_3`: letters, digits and `_` stay, everything else separates.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts: Vec<&str> = name.split(|c| !is_plain(c)).filter(|part| !part.is_empty()).collect();
    let word = parts.join("_");
    if word.starts_with(|c: char| c.is_ascii_digit()) { format!("_{word}") } else { word }
}
