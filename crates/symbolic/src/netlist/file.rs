//! What a file says of a circuit: only gates that something depends on are in it.

use birk_aiger::{File, Form};

use super::Netlist;
use super::gates::{Node, Wire};

impl Netlist {
    /// Its file.
    pub fn aiger(&self, form: Form) -> Vec<u8> {
        let of = |named: &[(String, Wire)]| named.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let latches = self.latches.iter().map(|latch| latch.name.clone()).collect();
        let names = vec![('i', of(&self.inputs)), ('l', latches), ('b', of(&self.bads)), ('c', of(&self.constraints))];
        let comment = format!("{}, written by Birk", self.system);
        File { names, comment, ..self.numbered() }.bytes(form)
    }

    /// Its inputs, latches and gates by numbers.
    fn numbered(&self) -> File {
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
        let mut variables: Vec<Option<u32>> = vec![None; nodes.len()];
        let literal = |variables: &[Option<u32>], wire: Wire| {
            variables[wire.0 as usize / 2].map_or(0, |variable| variable * 2) + (wire.0 & 1)
        };
        let sources = self.inputs.iter().map(|(_, wire)| *wire).chain(self.latches.iter().map(|latch| latch.output));
        let mut last = 0;
        for wire in sources {
            last += 1;
            variables[wire.0 as usize / 2] = Some(last);
        }
        let mut gates = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            if let (Node::And(a, b), true) = (node, is_needed[number]) {
                last += 1;
                variables[number] = Some(last);
                let (a, b) = (literal(&variables, *a), literal(&variables, *b));
                gates.push((a.max(b), a.min(b)));
            }
        }
        let literals = |named: &[(String, Wire)]| named.iter().map(|(_, wire)| literal(&variables, *wire)).collect();
        File {
            inputs: self.inputs.len() as u32,
            latches: self.latches.iter().map(|latch| (literal(&variables, latch.next), latch.reset)).collect(),
            bads: literals(&self.bads),
            constraints: literals(&self.constraints),
            gates,
            ..File::default()
        }
    }
}
