//! A circuit as a file in AIGER 1.9 is written: inputs, then latches, then gates are numbered.

use std::fmt::Display;
use std::io::Write as _;

/// How a file in AIGER is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `aag`.
    Ascii,
    /// `aig`.
    Binary,
}

/// What a file says. A literal is twice a number, and 1 where it is negated; 0 is false.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// How many inputs there are.
    pub inputs: u32,
    /// What each latch becomes, and what it begins with; either where there is none.
    pub latches: Vec<(u32, Option<bool>)>,
    /// What each gate is the conjunction of: two literals of smaller numbers, the larger one first.
    pub gates: Vec<(u32, u32)>,
    /// What is never to be true.
    pub bads: Vec<u32>,
    /// What an execution keeps true.
    pub constraints: Vec<u32>,
    /// The letter of a kind, and the names of the first of that kind.
    pub names: Vec<(char, Vec<String>)>,
    /// Lines behind it all.
    pub comment: String,
}

fn line(out: &mut Vec<u8>, what: impl Display) {
    writeln!(out, "{what}").expect("memory takes what is written");
}

impl File {
    /// The literal of the gate that comes next.
    pub(crate) fn next_gate(&self) -> u32 {
        2 * (self.inputs + self.latches.len() as u32 + self.gates.len() as u32 + 1)
    }

    /// Its bytes.
    pub fn bytes(&self, form: Form) -> Vec<u8> {
        let (latches, gates) = (self.latches.len(), self.gates.len());
        let (variables, magic) = (self.next_gate() / 2 - 1, if form == Form::Binary { "aig" } else { "aag" });
        let mut out = Vec::new();
        let mut header = format!("{magic} {variables} {} {latches} 0 {gates} {}", self.inputs, self.bads.len());
        if !self.constraints.is_empty() {
            header += &format!(" {}", self.constraints.len());
        }
        line(&mut out, header);
        if form == Form::Ascii {
            (1..=self.inputs).for_each(|input| line(&mut out, 2 * input));
        }
        for (number, (next, reset)) in (self.inputs + 1..).zip(&self.latches) {
            let own = 2 * number;
            let first = if form == Form::Ascii { format!("{own} ") } else { String::new() };
            let reset = match reset {
                Some(false) => String::new(),
                Some(true) => " 1".into(),
                None => format!(" {own}"),
            };
            line(&mut out, format!("{first}{next}{reset}"));
        }
        self.bads.iter().chain(&self.constraints).for_each(|literal| line(&mut out, literal));
        let first = self.inputs + latches as u32 + 1;
        for (number, &(a, b)) in (first..).zip(&self.gates) {
            let own = 2 * number;
            match form {
                Form::Ascii => line(&mut out, format!("{own} {a} {b}")),
                Form::Binary => [own - a, a - b].into_iter().for_each(|difference| seven_bits(&mut out, difference)),
            }
        }
        for (kind, names) in &self.names {
            names.iter().enumerate().for_each(|(number, name)| line(&mut out, format!("{kind}{number} {name}")));
        }
        line(&mut out, format!("c\n{}", self.comment));
        out
    }
}

/// A number in bytes of seven bits, the lowest first.
fn seven_bits(out: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
