//! A circuit as a file in AIGER 1.9: inputs, then latches, then gates are numbered, and only gates that something depends on are
//! written.

use std::fmt::Display;
use std::io::Write as _;

use super::Netlist;
use super::gates::{Node, Wire};

/// How a file in AIGER is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `aag`.
    Ascii,
    /// `aig`.
    Binary,
}

/// The numbers of what is written.
struct Numbering {
    /// By node.
    variables: Vec<Option<u32>>,
    /// Each with the larger literal first.
    gates: Vec<(u32, u32)>,
}

impl Numbering {
    fn literal(&self, wire: Wire) -> u32 {
        self.variables[wire.0 as usize / 2].map_or(0, |variable| variable * 2) + (wire.0 & 1)
    }
}

fn line(out: &mut Vec<u8>, what: impl Display) {
    writeln!(out, "{what}").expect("memory takes what is written");
}

impl Netlist {
    /// Its file.
    pub fn aiger(&self, form: Form) -> Vec<u8> {
        let numbering = self.numbering();
        let (inputs, latches) = (self.inputs.len(), self.latches.len());
        let variables = inputs + latches + numbering.gates.len();
        let magic = if form == Form::Binary { "aig" } else { "aag" };
        let mut out = Vec::new();
        let mut header =
            format!("{magic} {variables} {inputs} {latches} 0 {} {}", numbering.gates.len(), self.bads.len());
        if !self.constraints.is_empty() {
            header += &format!(" {}", self.constraints.len());
        }
        line(&mut out, header);
        if form == Form::Ascii {
            self.inputs.iter().for_each(|(_, wire)| line(&mut out, numbering.literal(*wire)));
        }
        for latch in &self.latches {
            let own = numbering.literal(latch.output);
            let first = if form == Form::Ascii { format!("{own} ") } else { String::new() };
            let reset = match latch.reset {
                Some(false) => String::new(),
                Some(true) => " 1".into(),
                None => format!(" {own}"),
            };
            line(&mut out, format!("{first}{}{reset}", numbering.literal(latch.next)));
        }
        for (_, wire) in self.bads.iter().chain(&self.constraints) {
            line(&mut out, numbering.literal(*wire));
        }
        for (number, &(a, b)) in numbering.gates.iter().enumerate() {
            let own = 2 * (inputs + latches + number + 1) as u32;
            match form {
                Form::Ascii => line(&mut out, format!("{own} {a} {b}")),
                Form::Binary => [own - a, a - b].into_iter().for_each(|difference| seven_bits(&mut out, difference)),
            }
        }
        self.names(&mut out);
        out
    }

    fn names(&self, out: &mut Vec<u8>) {
        let of = |named: &[(String, Wire)]| named.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let latches = self.latches.iter().map(|latch| latch.name.clone()).collect();
        let kinds = [('i', of(&self.inputs)), ('l', latches), ('b', of(&self.bads)), ('c', of(&self.constraints))];
        for (kind, names) in kinds {
            names.iter().enumerate().for_each(|(number, name)| line(out, format!("{kind}{number} {name}")));
        }
        line(out, format!("c\n{}, written by Birk", self.system));
    }

    fn numbering(&self) -> Numbering {
        let nodes = self.gates.nodes();
        let mut is_needed = vec![false; nodes.len()];
        let outputs = self.bads.iter().chain(&self.constraints).map(|(_, wire)| *wire);
        let need = |wire: Wire, is_needed: &mut Vec<bool>| is_needed[wire.0 as usize / 2] = true;
        outputs.chain(self.latches.iter().map(|latch| latch.next)).for_each(|wire| need(wire, &mut is_needed));
        for (number, node) in nodes.iter().enumerate().rev() {
            if let (Node::And(a, b), true) = (node, is_needed[number]) {
                need(*a, &mut is_needed);
                need(*b, &mut is_needed);
            }
        }
        let mut numbering = Numbering { variables: vec![None; nodes.len()], gates: Vec::new() };
        let sources = self.inputs.iter().map(|(_, wire)| *wire).chain(self.latches.iter().map(|latch| latch.output));
        let mut last = 0;
        for wire in sources {
            last += 1;
            numbering.variables[wire.0 as usize / 2] = Some(last);
        }
        for (number, node) in nodes.iter().enumerate() {
            if let (Node::And(a, b), true) = (node, is_needed[number]) {
                last += 1;
                numbering.variables[number] = Some(last);
                let (a, b) = (numbering.literal(*a), numbering.literal(*b));
                numbering.gates.push((a.max(b), a.min(b)));
            }
        }
        numbering
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
