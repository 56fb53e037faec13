//! Certificates are written here; `birk-certify` reads and checks them, and knows what is in them.

use std::collections::{BTreeMap, HashMap};

use birk_aiger::Form;
use birk_certify::{Element, INVARIANTS, Keys, Names, STATES, TOGETHER, seal};
use birk_ir::interval::Interval;
use birk_ir::{BitIs, Invariant, Program, Property, VarId, Verdict};

use crate::report::{Answer, Report};
pub use runs::{Bound, Checked, OfRuns, check, joined};

mod runs;

/// As many values of a variable are listed at most; otherwise, its bits are.
const MOST_VALUES: usize = 6;
/// Variables with more values are not tried.
const MOST_TRIED: i64 = 1 << 12;

/// A certificate by states whose keys lie side by side, in any order, some perhaps twice.
pub fn of_states(program: &Program, properties: &[&Property], keys: &[u8]) -> Vec<u8> {
    let mut sorted: Vec<&[u8]> = keys.chunks_exact(Keys::new(program).bytes()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut body = format!("states {}\n", sorted.len()).into_bytes();
    let mut before: &[u8] = &[];
    for key in sorted {
        let shared = key.iter().zip(before).take(usize::from(u8::MAX)).take_while(|(a, b)| a == b).count();
        body.push(shared as u8);
        body.extend_from_slice(&key[shared..]);
        before = key;
    }
    seal(STATES, program, properties, &body)
}

/// The values of a state, in the order in which they make up its key.
pub fn values<'s>(program: &'s Program, state: &'s [u32]) -> impl Iterator<Item = i64> + 's {
    program.variables.iter().enumerate().flat_map(move |(number, variable)| {
        let slot = program.layout.slot(VarId::new(number));
        (0..variable.len()).map(move |element| slot.get(state, element))
    })
}

/// A certificate by an inductive invariant for each property.
pub fn of_invariants(program: &Program, proved: &[(&Property, &Invariant)]) -> Vec<u8> {
    let writer = Writer::new(program);
    let section = |(property, invariant): &(&Property, &Invariant)| {
        format!("invariant of {}\n{}", property.name, writer.lines(invariant))
    };
    let body: String = proved.iter().map(section).collect();
    let properties: Vec<&Property> = proved.iter().map(|(property, _)| *property).collect();
    seal(INVARIANTS, program, &properties, body.as_bytes())
}

/// A certificate by properties that are inductive together with an invariant.
pub fn of_properties(program: &Program, properties: &[&Property], invariant: &Invariant) -> Vec<u8> {
    let lines = Writer::new(program).lines(invariant);
    let section = |property: &&Property| format!("invariant of {}\n{lines}", property.name);
    let body: String = [format!("{TOGETHER}\n")].into_iter().chain(properties.iter().map(section)).collect();
    seal(INVARIANTS, program, properties, body.as_bytes())
}

/// A circuit's own text again with what proves that none of its bads is reached: a certificate as the hardware model checking
/// competition takes them. Or why there is none: it is about all bads, each with an invariant.
pub fn of_circuit(text: &str, program: &Program, report: &Report, form: Form) -> Result<Vec<u8>, String> {
    if let Some(Err(reason)) = &report.certificate {
        return Err(reason.clone());
    }
    let holds = |answer: &Answer| answer.verdict == Verdict::Holds;
    let invariants: Option<Vec<&Invariant>> = report.hunt.stats.invariants().iter().map(Option::as_ref).collect();
    let is_of_all = report.answers.len() == program.properties.len() && report.answers.iter().all(holds);
    match invariants {
        Some(found) if is_of_all && found.len() == report.answers.len() => birk_aiger::witness(text, &found, form),
        _ => Err("a witness circuit is about all bads, by an invariant for each, as --search ic3 finds them".into()),
    }
}

/// An invariant in words: a line for each bound and each clause.
pub fn of_invariant(program: &Program, invariant: &Invariant) -> Vec<String> {
    Writer::new(program).lines(invariant).lines().map(str::to_owned).collect()
}

/// Some bits of a state in words: which values these elements have.
pub fn of_part(program: &Program, part: &[BitIs], bounds: &[Interval]) -> Vec<String> {
    Writer::new(program).conditions(part, bounds)
}

/// Writes invariants in the words of a program.
struct Writer<'p> {
    program: &'p Program,
    names: Names<'p>,
    elements: HashMap<Element, String>,
    variables: HashMap<VarId, String>,
}

impl<'p> Writer<'p> {
    fn new(program: &'p Program) -> Self {
        let names = Names::new(program);
        let elements = names.elements.iter().map(|(name, &of)| (of, name.clone())).collect();
        let variables = names.variables.iter().map(|(name, &of)| (of, name.clone())).collect();
        Self { program, names, elements, variables }
    }

    fn lines(&self, invariant: &Invariant) -> String {
        let mut lines = String::new();
        for (number, (variable, &(lo, hi))) in self.program.variables.iter().zip(&invariant.bounds).enumerate() {
            if (lo, hi) != (variable.lo, variable.hi) {
                lines += &format!("always {} in {lo}..{hi}\n", self.variables[&VarId::new(number)]);
            }
        }
        for cube in &invariant.excluded {
            lines += &format!("never {}\n", self.conditions(cube, &invariant.bounds).join(" && "));
        }
        lines
    }

    /// A condition for each element that some bits are about.
    fn conditions(&self, bits: &[BitIs], bounds: &[Interval]) -> Vec<String> {
        let mut elements: BTreeMap<Element, BTreeMap<u32, bool>> = BTreeMap::new();
        for is in bits {
            elements.entry((is.variable, is.element)).or_default().insert(is.bit, is.is_set);
        }
        let condition = |(of, bits): (&Element, &BTreeMap<u32, bool>)| {
            format!("{} {}", self.elements[of], self.condition(of.0, bits, bounds[of.0.index()]))
        };
        elements.iter().map(condition).collect()
    }

    /// The bits of an element: as values, where there are few.
    fn condition(&self, variable: VarId, bits: &BTreeMap<u32, bool>, (lo, hi): Interval) -> String {
        if hi - lo < MOST_TRIED {
            let is_meant = |value: &i64| bits.iter().all(|(bit, is_set)| (value >> bit & 1 == 1) == *is_set);
            let values: Vec<String> = (lo..=hi).filter(is_meant).map(|value| self.value(variable, value)).collect();
            match &values[..] {
                [one] => return format!("== {one}"),
                [_, ..] if values.len() <= MOST_VALUES => return format!("in {{{}}}", values.join(", ")),
                _ => {}
            }
        }
        let digit = |bit: u32| bits.get(&bit).map_or('?', |is_set| if *is_set { '1' } else { '0' });
        let highest = bits.keys().next_back().copied().unwrap_or(0);
        format!("matches {}", (0..=highest).rev().map(digit).collect::<String>())
    }

    /// A value by its name, where that can be read again.
    fn value(&self, variable: VarId, value: i64) -> String {
        let name = self.program.variable(variable).value_text(value);
        if self.names.value(variable, &name) == Some(value) { name } else { value.to_string() }
    }
}
