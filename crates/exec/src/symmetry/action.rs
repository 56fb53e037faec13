//! What a permutation of names does to a state: elements of arrays that are indexed by names change places, variables that hold
//! names hold others, and so do sets of names.

use birk_ir::{Op, Program, Slot, VarId, VarRole};

use super::classes::Class;
use super::proof::{Checks, Names};
use super::typing::Typing;

/// For each group of names and each position in it, the position that its name goes to.
pub(super) type Permutation = Vec<Vec<u8>>;

/// A name: its group, and its position there.
pub(super) type Name = (u8, u8);

/// How states are moved.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// The names of each group, in order.
    pub(super) groups: Vec<Vec<u32>>,
    /// For each group, whether its names are permuted only by rotation.
    pub(super) rings: Vec<bool>,
    /// Variables that a permutation can change.
    pub(super) variables: Vec<Moved>,
}

/// A variable that a permutation can change.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) variable: VarId,
    pub(super) slot: Slot,
    /// The dimensions that are indexed by names: how many elements lie between two indices, the length, and the name of each.
    pub(super) axes: Vec<(u32, u32, Vec<Option<Name>>)>,
    pub(super) held: Held,
    /// Where it holds names, if it does not everywhere: the counters of its threads, and for each location whether it does.
    pub(super) live: Option<(Slot, Vec<bool>)>,
}

/// What a variable holds.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Something that no permutation changes.
    Number,
    /// A name, by its value; other values are no names.
    Name(Vec<Option<Name>>),
    /// A set of names, by their bits.
    Set(Vec<Option<Name>>),
}

impl Action {
    /// How these names are permuted.
    pub(super) fn new(program: &Program, typing: &Typing<'_>, found: &[Names], checks: Checks) -> Self {
        let table = |class: Class| -> Vec<Option<Name>> {
            let mut table = Vec::new();
            for (group, names) in
                found.iter().enumerate().filter(|(_, names)| names.class == typing.classes.find(class))
            {
                for (position, &name) in names.names.iter().enumerate() {
                    table.resize(table.len().max(name as usize + 1), None);
                    table[name as usize] = Some((group as u8, position as u8));
                }
            }
            table
        };
        let mut variables = Vec::new();
        for (v, variable) in program.variables.iter().enumerate() {
            let class = typing.values[v];
            let held = match typing.classes.members(class) {
                _ if typing.classes.is_number(class).is_some() || !checks.values => Held::Number,
                Some(members) => Held::Set(table(members)),
                None => Held::Name(table(class)),
            };
            let held = match held {
                Held::Name(table) | Held::Set(table) if table.is_empty() => Held::Number,
                held => held,
            };
            let mut axes = Vec::new();
            for (dimension, &length) in variable.shape.iter().enumerate() {
                let names = table(typing.indices[v][dimension]);
                if !names.is_empty() {
                    axes.push((variable.shape[dimension + 1..].iter().product(), length, names));
                }
            }
            let live = match (variable.role, typing.temporaries.live(VarId::new(v))) {
                (VarRole::Local(kind), Some(live)) => {
                    Some((*program.layout.slot(program.kinds[kind].counter), live.to_vec()))
                }
                _ => None,
            };
            let is_moved = !axes.is_empty() || !matches!(held, Held::Number);
            if is_moved && !(matches!(held, Held::Number) && is_constant(program, VarId::new(v))) {
                variables.push(Moved {
                    variable: VarId::new(v),
                    slot: *program.layout.slot(VarId::new(v)),
                    axes,
                    held,
                    live,
                });
            }
        }
        let groups = found.iter().map(|names| names.names.clone()).collect();
        Self { groups, rings: found.iter().map(|names| names.is_ring).collect(), variables }
    }

    /// Whether the names of a group occur in states.
    pub(super) fn is_used(&self, group: usize) -> bool {
        let is_it = |name: &Option<Name>| name.is_some_and(|name| usize::from(name.0) == group);
        self.variables.iter().any(|variable| {
            let (Held::Name(names) | Held::Set(names)) = &variable.held else {
                return variable.axes.iter().any(|axis| axis.2.iter().any(is_it));
            };
            names.iter().any(is_it) || variable.axes.iter().any(|axis| axis.2.iter().any(is_it))
        })
    }

    /// The permutation that changes nothing.
    pub(super) fn identity(&self) -> Permutation {
        self.groups.iter().map(|names| (0..names.len() as u8).collect()).collect()
    }

    /// The rotation of one group that brings each name to the place so many before its own.
    pub(super) fn turned(&self, group: usize, by: usize) -> Vec<u8> {
        let many = self.groups[group].len();
        (0..many).map(|position| ((position + many - by) % many) as u8).collect()
    }

    /// The image of a state.
    pub(super) fn image(&self, permutation: &Permutation, state: &[u32]) -> Vec<u32> {
        let mut image = state.to_vec();
        for variable in &self.variables {
            for element in 0..variable.slot.len {
                let value = variable.slot.get(state, element);
                let value =
                    if variable.is_live(state, element) { self.value(permutation, variable, value) } else { value };
                variable.slot.set(&mut image, self.element(permutation, variable, element), value);
            }
        }
        image
    }

    fn name(&self, permutation: &Permutation, (group, position): Name) -> u32 {
        let group = usize::from(group);
        self.groups[group][usize::from(permutation[group][usize::from(position)])]
    }

    /// Where an element goes.
    pub(super) fn element(&self, permutation: &Permutation, variable: &Moved, element: u32) -> u32 {
        let mut image = element;
        for (stride, length, names) in &variable.axes {
            let index = element / stride % length;
            if let Some(Some(name)) = names.get(index as usize) {
                image = image - index * stride + self.name(permutation, *name) * stride;
            }
        }
        image
    }

    pub(super) fn value(&self, permutation: &Permutation, variable: &Moved, value: i64) -> i64 {
        match &variable.held {
            Held::Number => value,
            Held::Name(names) => {
                match usize::try_from(value).ok().and_then(|value| names.get(value).copied().flatten()) {
                    Some(name) => i64::from(self.name(permutation, name)),
                    None => value,
                }
            }
            Held::Set(names) => {
                let mut image = 0;
                for bit in (0..63).filter(|bit| value >> bit & 1 == 1) {
                    let to = names.get(bit).copied().flatten().map(|name| self.name(permutation, name));
                    image |= 1 << to.unwrap_or(bit as u32);
                }
                image
            }
        }
    }
}

impl Moved {
    /// Whether an element holds names in this state.
    pub(super) fn is_live(&self, state: &[u32], element: u32) -> bool {
        let Some((counter, live)) = &self.live else { return true };
        live.get(counter.get(state, element) as usize) == Some(&true)
    }

    /// The names that index an element.
    pub(super) fn names_of(&self, element: u32) -> impl Iterator<Item = Name> {
        self.axes.iter().filter_map(move |(stride, length, names)| {
            names.get((element / stride % length) as usize).copied().flatten()
        })
    }
}

/// Whether all elements have one and the same value forever.
fn is_constant(program: &Program, variable: VarId) -> bool {
    let is_written = |op: &Op| matches!(op, Op::Assign(place, _) if place.variable == variable);
    let initial = &program.variable(variable).initial;
    initial.iter().all(|value| *value == initial[0])
        && program.choices.iter().all(|choice| choice.variable != variable)
        && !program.transitions.iter().any(|transition| transition.ops.iter().any(is_written))
}

/// First one permutation, then another.
pub(super) fn composed(first: &Permutation, then: &Permutation) -> Permutation {
    let group = |(first, then): (&Vec<u8>, &Vec<u8>)| first.iter().map(|&to| then[usize::from(to)]).collect();
    first.iter().zip(then).map(group).collect()
}

/// The permutation that undoes one.
pub(super) fn inverse(permutation: &Permutation) -> Permutation {
    let mut inverse = permutation.clone();
    for (group, to) in permutation.iter().enumerate() {
        to.iter().enumerate().for_each(|(from, &to)| inverse[group][usize::from(to)] = from as u8);
    }
    inverse
}
