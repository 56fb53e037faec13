//! A witness circuit: the circuit that it is about, with one bad, which is true where the circuit has one, and wherever an invariant
//! says that it never is. That it is never true needs one step to be shown: from any state in which it is not, no step leads to one
//! in which it is. (Froleyks, Yu, Preiner, Biere and Heljanko, "Introducing Certificates to the Hardware Model Checking Competition",
//! CAV 2025.) Inputs and latches are those of the circuit, in its order.

use birk_ir::{BitIs, Invariant};

use crate::circuit::{Circuit, Definition, Literal};
use crate::file::{File, Form};
use crate::{program, reader};

/// The witness circuit of the text of a circuit, given the invariants that exclude all its bads, by what is excluded of the latches
/// and of the clock of its program; or why there is none.
pub fn witness(text: &str, invariants: &[&Invariant], form: Form) -> Result<Vec<u8>, String> {
    let circuit = reader::read(text).map_err(|_| "the circuit cannot be read".to_owned())?;
    if !circuit.justice.is_empty() || !circuit.fairness.is_empty() {
        return Err("a witness circuit says nothing of justice and fairness".into());
    }
    let latches = circuit.latches.iter().map(|latch| (0, latch.reset)).collect();
    let file = File { inputs: circuit.inputs.len() as u32, latches, ..File::default() };
    let mut writer = Writer { circuit: &circuit, file, literals: vec![None; circuit.definitions.len()] };
    for latch in 0..circuit.latches.len() {
        writer.file.latches[latch].0 = writer.literal(circuit.latches[latch].next);
    }
    writer.file.constraints = circuit.constraints.iter().map(|one| writer.literal(one.literal)).collect();
    let mut never: Vec<u32> = program::bads(&circuit).iter().map(|bad| writer.literal(bad.literal)).collect();
    never.extend(invariants.iter().flat_map(|invariant| writer.excluded(invariant)).collect::<Vec<_>>());
    never.sort_unstable();
    never.dedup();
    let none = never.iter().fold(1, |none, one| writer.and(none, one ^ 1));
    writer.file.bads = vec![none ^ 1];
    writer.file.comment = "WITNESS written by Birk".into();
    Ok(writer.file.bytes(form))
}

struct Writer<'c> {
    circuit: &'c Circuit,
    file: File,
    /// By variable of the circuit, what it is here.
    literals: Vec<Option<u32>>,
}

impl Writer<'_> {
    fn and(&mut self, a: u32, b: u32) -> u32 {
        match (a.max(b), a.min(b)) {
            (_, 0) => 0,
            (a, 1) => a,
            (a, b) if a == b => a,
            (a, b) if a == b ^ 1 => 0,
            gate => {
                let own = self.file.next_gate();
                self.file.gates.push(gate);
                own
            }
        }
    }

    /// What a literal of the circuit is here, after the gates that it depends on.
    fn literal(&mut self, literal: Literal) -> u32 {
        let mut open = vec![literal as usize / 2];
        while let Some(&variable) = open.last() {
            let of = |literal: u32| self.literals[literal as usize / 2].map(|here| here ^ (literal & 1));
            let here = match self.circuit.definitions[variable].0 {
                _ if self.literals[variable].is_some() => self.literals[variable],
                Definition::Nothing | Definition::False => Some(0),
                Definition::Input(input) => Some(2 * (input + 1)),
                Definition::Latch(latch) => Some(2 * (self.file.inputs + latch + 1)),
                Definition::And(left, right) => match (of(left), of(right)) {
                    (Some(left), Some(right)) => Some(self.and(left, right)),
                    (known, _) => {
                        open.push(if known.is_none() { left } else { right } as usize / 2);
                        None
                    }
                },
            };
            if here.is_some() {
                self.literals[variable] = here;
                open.pop();
            }
        }
        self.literals[literal as usize / 2].map_or(0, |here| here ^ (literal & 1))
    }

    /// What an invariant excludes where the clock runs. In the program of the circuit, latches are the first variables, and the clock
    /// is the next one, with 0 where it runs.
    fn excluded(&mut self, invariant: &Invariant) -> Vec<u32> {
        let clock = self.circuit.latches.len();
        let first = 2 * (self.file.inputs + 1);
        let latch = |number: usize, is_set: bool| first + 2 * number as u32 + u32::from(!is_set);
        let bounds = invariant.bounds.iter().take(clock).enumerate();
        let fixed = bounds.filter(|(_, (lo, hi))| lo == hi);
        let mut excluded: Vec<u32> = fixed.map(|(number, &(value, _))| latch(number, value == 0)).collect();
        let runs = |bits: &&Vec<BitIs>| !bits.iter().any(|is| is.variable.index() == clock && is.is_set);
        for bits in invariant.excluded.iter().filter(runs) {
            let of_latches = bits.iter().filter(|is| is.variable.index() < clock);
            let cube = of_latches.fold(1, |cube, is| self.and(cube, latch(is.variable.index(), is.is_set)));
            excluded.push(cube);
        }
        excluded
    }
}
