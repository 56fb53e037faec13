//! What can be observed of a state, on both sides.

use birk_ir::{Mapping, Meaning, Observed, Program};

use crate::interpreter::{Interpreter, frame_of};

/// What can be observed of a state: the value of each mapped element, in the order of the mapping.
pub type Observation = Vec<i64>;

/// A mapping, ready to be evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Lens<'m> {
    /// The mapping.
    pub mapping: &'m Mapping,
    /// Room that its expressions need.
    frame: usize,
}

/// Why an element has no value of its variable in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmappable {
    /// Its expression cannot be evaluated, for this reason.
    Undefined(String),
    /// It has this value, which the variable never has.
    Outside(String),
}

impl<'m> Lens<'m> {
    /// Of a mapping.
    pub fn new(mapping: &'m Mapping) -> Self {
        let parts = |one: &'m Observed| one.hazards.iter().map(|(when, _)| when).chain([&one.value]);
        Self { mapping, frame: mapping.observed.iter().flat_map(parts).map(frame_of).max().unwrap_or(0) }
    }

    /// What can be observed of a state of the implementation; nothing where an element has no value of its variable.
    pub fn of_implementation(
        &self,
        model: &Interpreter<'_>,
        state: &[u32],
        room: &mut Vec<i64>,
    ) -> Option<Observation> {
        room.resize(room.len().max(self.frame), 0);
        self.mapping.observed.iter().map(|one| mapped(one, model, state, room).ok()).collect()
    }

    /// What can be observed of a state of the specification.
    pub fn of_specification(&self, specification: &Program, state: &[u32]) -> Observation {
        let value = |one: &Observed| specification.layout.slot(one.variable).get(state, one.element);
        self.mapping.observed.iter().map(value).collect()
    }

    /// The elements that have no value in a state of the implementation, and why.
    pub fn unmappable(&self, model: &Interpreter<'_>, state: &[u32]) -> Vec<(&'m Observed, Unmappable)> {
        let mut room = vec![0; self.frame];
        let mut why = |one: &'m Observed| Some((one, mapped(one, model, state, &mut room).err()?));
        self.mapping.observed.iter().filter_map(&mut why).collect()
    }
}

/// The value of an element in a state of the implementation.
fn mapped(one: &Observed, model: &Interpreter<'_>, state: &[u32], room: &mut [i64]) -> Result<i64, Unmappable> {
    for (when, reason) in &one.hazards {
        if model.value_in(when, state, room) != 0 {
            return Err(Unmappable::Undefined(reason.clone()));
        }
    }
    let value = model.value_in(&one.value, state, room);
    let meant = match &one.meaning {
        Meaning::Same => Some(value),
        Meaning::Named(names) => usize::try_from(value).ok().and_then(|value| *names.get(value)?),
        Meaning::Shifted(places) => shifted(value, *places),
    };
    let is_value = |meant: &i64| (one.range.0..=one.range.1).contains(meant);
    meant.filter(is_value).ok_or_else(|| Unmappable::Outside(one.values.text(value)))
}

/// A set whose bits are so many places higher, or lower; nothing where one is lost.
fn shifted(set: i64, places: i64) -> Option<i64> {
    let by = places.unsigned_abs().min(62) as u32;
    match places >= 0 {
        true => set.checked_mul(1 << by),
        false => (set.trailing_zeros() >= by).then_some(set >> by),
    }
}
