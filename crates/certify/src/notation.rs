//! How a certificate writes invariants down: names of variables and values as the model has them, and back.
//!
//! ```text
//! always turn in 0..1
//! never P[0]@ == critical && P[1]@ in {waiting, critical} && n matches ?1?0
//! ```
//!
//! `matches` is about the lowest bits of a number in two's complement, the highest of them first.

use std::collections::HashMap;

use birk_ir::interval::Interval;
use birk_ir::{Program, ValueKind, VarId};

use crate::Refusal;
use crate::file::unfit;

/// A condition on an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// It has one of these values.
    OneOf(Vec<i64>),
    /// These bits are set or not.
    Bits(Vec<(u32, bool)>),
}

impl Condition {
    /// Whether a value is as it says.
    pub(crate) fn is_true(&self, value: i64) -> bool {
        match self {
            Condition::OneOf(values) => values.contains(&value),
            Condition::Bits(bits) => bits.iter().all(|&(bit, is_set)| (value >> bit & 1 == 1) == is_set),
        }
    }
}

/// Which element of which variable.
pub type Element = (VarId, u32);
/// Conditions that no state satisfies together.
pub(crate) type Cube = Vec<(Element, Condition)>;

/// An invariant, as it is read.
pub(crate) struct Clauses<'t> {
    /// The bounds of each variable.
    pub(crate) bounds: Vec<Interval>,
    /// Each with its line.
    pub(crate) cubes: Vec<(Cube, &'t str)>,
}

/// The names of a program.
#[derive(Debug)]
pub struct Names<'p> {
    program: &'p Program,
    /// Each element of each variable.
    pub elements: HashMap<String, Element>,
    /// Each variable.
    pub variables: HashMap<String, VarId>,
}

impl<'p> Names<'p> {
    /// Of a program.
    pub fn new(program: &'p Program) -> Self {
        let (mut elements, mut variables) = (HashMap::new(), HashMap::new());
        for (number, variable) in program.variables.iter().enumerate() {
            let id = VarId::new(number);
            add(&mut variables, &variable.title(), id, id);
            for element in 0..variable.initial.len() as u32 {
                add(&mut elements, &program.element_name(id, element), id, (id, element));
            }
        }
        Self { program, elements, variables }
    }

    /// The value that a text stands for: a number, or a name that only one value has.
    pub fn value(&self, variable: VarId, text: &str) -> Option<i64> {
        match &self.program.variable(variable).values {
            _ if text.parse::<i64>().is_ok() => text.parse().ok(),
            ValueKind::Boolean => ["false", "true"].iter().position(|word| *word == text).map(|at| at as i64),
            ValueKind::Names(names) if !text.contains([',', '&', '}']) => {
                let mut meant = (0..).zip(names).filter(|(_, name)| *name == text).map(|(value, _)| value);
                meant.next().filter(|_| meant.next().is_none())
            }
            _ => None,
        }
    }

    /// Reads the lines of an invariant.
    pub(crate) fn read<'t>(&self, lines: impl IntoIterator<Item = &'t str>) -> Result<Clauses<'t>, Refusal> {
        let bounds = self.program.variables.iter().map(|variable| (variable.lo, variable.hi)).collect();
        let mut clauses = Clauses { bounds, cubes: Vec::new() };
        for line in lines {
            let is_read = match line.split_once(' ') {
                Some(("always", text)) => self.bound(text).map(|(of, bounds)| clauses.bounds[of.index()] = bounds),
                Some(("never", cube)) => {
                    let cube = cube.split(" && ").map(|condition| self.read_condition(condition));
                    cube.collect::<Option<Cube>>().map(|cube| clauses.cubes.push((cube, line)))
                }
                _ => None,
            };
            if is_read.is_none() {
                return unfit(&format!("its line `{line}` cannot be read"));
            }
        }
        Ok(clauses)
    }

    fn bound(&self, text: &str) -> Option<(VarId, Interval)> {
        let (name, bounds) = text.split_once(" in ")?;
        let (lo, hi) = bounds.split_once("..")?;
        Some((*self.variables.get(name)?, (lo.parse().ok()?, hi.parse().ok()?)))
    }

    fn read_condition(&self, text: &str) -> Option<(Element, Condition)> {
        let (name, rest) = text.split_once(' ')?;
        let element = *self.elements.get(name)?;
        let (word, rest) = rest.split_once(' ')?;
        let condition = match word {
            "==" => Condition::OneOf(vec![self.value(element.0, rest)?]),
            "in" => {
                let values = rest.strip_prefix('{')?.strip_suffix('}')?.split(", ");
                Condition::OneOf(values.map(|value| self.value(element.0, value)).collect::<Option<_>>()?)
            }
            "matches" if (1..=64).contains(&rest.len()) => {
                let digits = (0..).zip(rest.chars().rev()).filter(|(_, digit)| *digit != '?');
                let bit = |(bit, digit): (u32, char)| Some((bit, digit.to_digit(2)? == 1));
                Condition::Bits(digits.map(bit).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some((element, condition))
    }
}

/// Adds a name, or, where another has it, one with the number of the variable.
fn add<T>(names: &mut HashMap<String, T>, name: &str, variable: VarId, of: T) {
    let name = name.replace(' ', "_");
    let name = if names.contains_key(&name) { format!("{name}#{variable}") } else { name };
    names.insert(name, of);
}

/// A state in words.
pub(crate) fn state(program: &Program, state: &[i64]) -> String {
    let mut values = state.iter();
    let mut shown = Vec::new();
    for (number, variable) in program.variables.iter().enumerate() {
        for (element, &value) in (0..variable.initial.len() as u32).zip(&mut values) {
            let name = program.element_name(VarId::new(number), element);
            shown.push(format!("{name} = {}", variable.value_text(value)));
        }
    }
    format!("({})", shown.join(", "))
}
