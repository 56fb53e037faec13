//! A state as people are shown it: every variable as it was declared, records and arrays as such, channels as queues with the
//! oldest message first, threads at their locations. Every view of a state is made of this.

use std::fmt;
use std::sync::Arc;

use crate::ids::VarId;
use crate::program::{Program, ThreadRole, ValueKind, VarRole, Variable};
use crate::text::{KEYS, LENGTH, NOT_RUNNING, NOT_STARTED, TERMINATED, indexed};

/// The values of all variables, in the order of their declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownState<'p> {
    /// Those of a thread once for each of its instances.
    pub variables: Vec<ShownVariable<'p>>,
}

/// A variable with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownVariable<'p> {
    /// `x`, `fork`, `Reader[0].count`, or `Reader[0]@` for the location of a thread.
    pub name: Arc<str>,
    /// The name without the instance: `Reader.count`.
    pub declared: &'p str,
    /// Whether it is one of several, one for each instance of a thread.
    pub is_instance: bool,
    /// Its value.
    pub value: ShownValue<'p>,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownValue<'p> {
    /// `true` or `false`.
    Boolean(bool),
    /// A number.
    Number(i64),
    /// An enumerator.
    Name(&'p str),
    /// The members of a set, in ascending order.
    Set(Vec<i64>),
    /// Fields with their values.
    Record(Vec<(&'p str, ShownValue<'p>)>),
    /// The elements of an array.
    Array(Vec<ShownValue<'p>>),
    /// The messages in a channel, the oldest first.
    Queue(Vec<ShownValue<'p>>),
    /// The elements of a sequence.
    Sequence(Vec<ShownValue<'p>>),
    /// The keys of a map with their values, in ascending order.
    Map(Vec<(i64, ShownValue<'p>)>),
    /// Where a thread is.
    Location(Whereabouts<'p>),
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts<'p> {
    /// At a location.
    At(&'p str),
    /// It ran before.
    Terminated,
    /// It did not run before.
    NotStarted,
    /// One of these two: the state alone does not tell.
    NotRunning,
}

/// A part of a state that differs in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'s, 'p> {
    /// As in [`ShownState::leaves`].
    pub name: String,
    /// Its value in the first state.
    pub before: &'s ShownValue<'p>,
    /// Its value in the second.
    pub after: &'s ShownValue<'p>,
}

/// How the states of a program are shown.
#[derive(Clone, Debug)]
pub struct View<'p> {
    program: &'p Program,
    entries: Vec<Entry<'p>>,
}

/// States of one execution, in order: what ran before has terminated.
#[derive(Clone, Debug)]
pub struct History<'v, 'p> {
    view: &'v View<'p>,
    has_run: Vec<bool>,
}

/// A variable; those of threads once for each instance, which is the first index of what they are made of.
#[derive(Clone, Debug)]
struct Entry<'p> {
    name: Arc<str>,
    declared: &'p str,
    is_instance: bool,
    instance: u32,
    form: Arc<Form<'p>>,
}

/// What a variable is made of. All values below an array have its index in common.
#[derive(Clone, Debug)]
enum Form<'p> {
    Value(VarId),
    Location(VarId),
    Record(Vec<(&'p str, Form<'p>)>),
    Array(u32, Box<Form<'p>>),
    /// The number of messages, and what they are made of.
    Queue(VarId, Box<Form<'p>>),
    /// The number of elements, and what they are made of.
    Sequence(VarId, Box<Form<'p>>),
    /// The keys, how many there can be, and what values are made of.
    Map(VarId, u32, Box<Form<'p>>),
}

/// A step from a variable to one of its values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'p> {
    Index(u32),
    Field(&'p str),
    /// How many elements a sequence has.
    Length,
    /// Which keys a map has.
    Keys,
}

impl ValueKind {
    /// A value, decoded.
    pub fn shown(&self, value: i64) -> ShownValue<'_> {
        match self {
            ValueKind::Boolean => ShownValue::Boolean(value != 0),
            ValueKind::Integer => ShownValue::Number(value),
            ValueKind::Names(names) => {
                let name = usize::try_from(value).ok().and_then(|i| names.get(i));
                name.map_or(ShownValue::Number(value), |name| ShownValue::Name(name))
            }
            ValueKind::Set(first) => {
                ShownValue::Set((0..64).filter(|bit| value >> bit & 1 == 1).map(|bit| first + bit).collect())
            }
        }
    }
}

impl Program {
    /// How its states are shown.
    pub fn view(&self) -> View<'_> {
        let mut entries = Vec::new();
        let ids: Vec<VarId> = (0..self.variables.len()).map(VarId::new).filter(|&id| self.is_shown(id)).collect();
        for ids in ids.chunk_by(|&a, &b| self.declared_name(a) == self.declared_name(b)) {
            let (declared, form) = (self.declared_name(ids[0]), Arc::new(self.form(ids)));
            let (VarRole::Counter(kind) | VarRole::Local(kind)) = self.variable(ids[0]).role else {
                entries.push(Entry { name: declared.into(), declared, is_instance: false, instance: 0, form });
                continue;
            };
            let kind = &self.kinds[kind];
            for instance in 0..kind.copies {
                let index = if kind.indexed { format!("[{instance}]") } else { String::new() };
                let name = format!("{}{index}{}", kind.name, &declared[kind.name.len()..]).into();
                entries.push(Entry { name, declared, is_instance: kind.indexed, instance, form: form.clone() });
            }
        }
        View { program: self, entries }
    }

    /// A state without what came before it.
    pub fn show(&self, state: &[u32]) -> ShownState<'_> {
        self.view().show(state)
    }

    /// The name of the smallest part of a shown state that an element of a variable belongs to: `x`, `fork[2]`,
    /// `Reader[0].count`; for what a channel, sequence or map is made of all of it, `c` or `inbox[1]`.
    pub fn shown_name(&self, variable: VarId, element: u32) -> String {
        if let Some(channel) =
            self.channels.iter().find(|channel| channel.length == variable || channel.contents.contains(&variable))
        {
            let length = self.variable(channel.length);
            let own = self.variable(variable).len() / length.len().max(1);
            return indexed(channel.name.clone(), &length.shape, element / own.max(1));
        }
        match self.collection_of(variable) {
            Some(collection) => {
                let own = self.variable(variable).len() / self.variable(collection).len().max(1);
                let name = self.element_name(collection, element / own.max(1));
                name.strip_suffix(')')
                    .and_then(|name| name.split_once('('))
                    .map_or(name.clone(), |(_, of)| of.to_owned())
            }
            None => self.element_name(variable, element),
        }
    }

    /// The length or the keys of the outermost sequence or map that a variable is a part of.
    fn collection_of(&self, variable: VarId) -> Option<VarId> {
        let (declared, parts) = (self.declared_name(variable), self.parts(variable));
        let around = |id: &VarId| {
            let own = self.parts(*id);
            let is_one = matches!(own.last(), Some(Part::Length | Part::Keys));
            is_one && (own == parts || parts.starts_with(&own[..own.len() - 1]))
        };
        let all = (0..self.variables.len()).map(VarId::new).filter(|&id| self.declared_name(id) == declared);
        all.filter(around).min_by_key(|&id| self.parts(id).len())
    }

    /// Neither what only Birk needs nor what is always the same: a rendezvous, and what a channel does by itself.
    fn is_shown(&self, id: VarId) -> bool {
        let variable = self.variable(id);
        match variable.role {
            VarRole::Fault => false,
            VarRole::Counter(kind) => self.kinds[kind].role == ThreadRole::Thread,
            _ => !variable.is_rendezvous(),
        }
    }

    /// The name in the declaration that a variable is a part of; of a thread's variables with the thread's name before it.
    fn declared_name(&self, id: VarId) -> &str {
        if let Some(channel) = self.channels.iter().find(|c| c.length == id || c.contents.contains(&id)) {
            return &channel.name;
        }
        let variable = self.variable(id);
        let own = match variable.role {
            VarRole::Local(kind) => self.kinds[kind].name.len() + 1,
            VarRole::Counter(kind) => self.kinds[kind].name.len(),
            _ => 0,
        };
        let end = variable.name[own..].find(['[', '.', '#']).map_or(variable.name.len(), |at| own + at);
        &variable.name[..end]
    }

    fn form(&self, declared: &[VarId]) -> Form<'_> {
        let parts = |id: VarId| (self.parts(id), id);
        if let Some(channel) = self.channels.iter().find(|channel| channel.length == declared[declared.len() - 1]) {
            let shape = &self.variable(channel.length).shape;
            let contents: Vec<_> = channel.contents.iter().copied().map(parts).collect();
            let queue = Form::Queue(channel.length, Box::new(form_of(&contents, shape.len() + 1)));
            return shape.iter().rev().fold(queue, |form, &length| Form::Array(length, Box::new(form)));
        }
        match self.variable(declared[0]).role {
            VarRole::Counter(_) => Form::Location(declared[0]),
            _ => form_of(&declared.iter().copied().map(parts).collect::<Vec<_>>(), 0),
        }
    }

    /// What leads to the values of a variable; the instances of its thread are not among it.
    fn parts(&self, id: VarId) -> Vec<Part<'_>> {
        let variable = self.variable(id);
        let instances = usize::from(matches!(variable.role, VarRole::Local(_)));
        let mut lengths = variable.shape[instances..].iter().copied();
        let mut rest = &variable.name[self.declared_name(id).len()..];
        let mut parts = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("[]") {
                parts.extend(lengths.next().map(Part::Index));
                rest = after;
            } else if rest == LENGTH || rest == KEYS {
                parts.extend(lengths.by_ref().map(Part::Index));
                parts.push(if rest == LENGTH { Part::Length } else { Part::Keys });
                return parts;
            } else {
                let end = rest[1..].find(['[', '.', '#']).map_or(rest.len(), |at| at + 1);
                parts.push(Part::Field(&rest[1..end]));
                rest = &rest[end..];
            }
        }
        parts.extend(lengths.map(Part::Index));
        parts
    }
}

/// What variables are made of that have the first parts in common. The length of a sequence and the keys of a map are behind
/// what they hold.
fn form_of<'p>(variables: &[(Vec<Part<'p>>, VarId)], depth: usize) -> Form<'p> {
    if let [held @ .., (parts, id)] = variables
        && let Some(mark @ (Part::Length | Part::Keys)) = parts.get(depth)
    {
        let inside = Box::new(form_of(held, depth + 1));
        return match (mark, held[0].0.get(depth)) {
            (Part::Keys, Some(&Part::Index(keys))) => Form::Map(*id, keys, inside),
            _ => Form::Sequence(*id, inside),
        };
    }
    match variables[0].0.get(depth) {
        None | Some(Part::Length | Part::Keys) => Form::Value(variables[0].1),
        Some(&Part::Index(length)) => Form::Array(length, Box::new(form_of(variables, depth + 1))),
        Some(Part::Field(_)) => {
            let fields =
                variables.chunk_by(|a, b| a.0[depth] == b.0[depth]).filter_map(|group| match group[0].0[depth] {
                    Part::Field(name) => Some((name, form_of(group, depth + 1))),
                    _ => None,
                });
            Form::Record(fields.collect())
        }
    }
}

impl<'p> View<'p> {
    /// A state without what came before it.
    pub fn show(&self, state: &[u32]) -> ShownState<'p> {
        let variables = self.entries.iter().map(|entry| ShownVariable {
            name: entry.name.clone(),
            declared: entry.declared,
            is_instance: entry.is_instance,
            value: value(self.program, &entry.form, state, entry.instance),
        });
        ShownState { variables: variables.collect() }
    }

    /// The beginning of an execution.
    pub fn history(&self) -> History<'_, 'p> {
        History { view: self, has_run: vec![false; self.entries.len()] }
    }
}

impl<'p> History<'_, 'p> {
    /// The next state of the execution.
    pub fn show(&mut self, state: &[u32]) -> ShownState<'p> {
        self.pass(state);
        let mut shown = self.view.show(state);
        for (variable, has_run) in shown.variables.iter_mut().zip(&self.has_run) {
            if let ShownValue::Location(whereabouts @ Whereabouts::NotRunning) = &mut variable.value {
                *whereabouts = if *has_run { Whereabouts::Terminated } else { Whereabouts::NotStarted };
            }
        }
        shown
    }

    /// Passes a state of the execution that need not be shown.
    pub fn pass(&mut self, state: &[u32]) {
        for (entry, has_run) in self.view.entries.iter().zip(&mut self.has_run) {
            if let Form::Location(_) = *entry.form {
                let here = value(self.view.program, &entry.form, state, entry.instance);
                *has_run |= matches!(here, ShownValue::Location(Whereabouts::At(_)));
            }
        }
    }
}

/// Decodes what is at an index of all the variables that a form is made of.
fn value<'p>(program: &'p Program, form: &Form<'p>, state: &[u32], index: u32) -> ShownValue<'p> {
    let number = |id: VarId| program.layout.slot(id).get(state, index);
    match form {
        Form::Value(id) => program.variable(*id).values.shown(number(*id)),
        Form::Location(id) => ShownValue::Location(whereabouts(program, program.variable(*id), number(*id), index)),
        Form::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| (*name, value(program, field, state, index)));
            ShownValue::Record(fields.collect())
        }
        Form::Array(length, element) => {
            let elements = (0..*length).map(|i| value(program, element, state, index * length + i));
            ShownValue::Array(elements.collect())
        }
        Form::Queue(length, message) => {
            let capacity = program.variable(*length).hi as u32;
            let messages = (0..number(*length) as u32).map(|i| value(program, message, state, index * capacity + i));
            ShownValue::Queue(messages.collect())
        }
        Form::Sequence(length, element) => {
            let capacity = program.variable(*length).hi as u32;
            let elements = (0..number(*length) as u32).map(|i| value(program, element, state, index * capacity + i));
            ShownValue::Sequence(elements.collect())
        }
        Form::Map(keys, most, held) => {
            let ValueKind::Set(first) = program.variable(*keys).values else { return ShownValue::Map(Vec::new()) };
            let present = (0..*most).filter(|key| number(*keys) >> key & 1 == 1);
            let pair = |key: u32| (first + i64::from(key), value(program, held, state, index * most + key));
            ShownValue::Map(present.map(pair).collect())
        }
    }
}

/// Whoever runs from the start and does not run any more has terminated.
fn whereabouts<'p>(program: &'p Program, counter: &'p Variable, value: i64, instance: u32) -> Whereabouts<'p> {
    let VarRole::Counter(kind) = counter.role else { return Whereabouts::NotRunning };
    let kind = &program.kinds[kind];
    match kind.locations.get(value as usize) {
        Some(location) => Whereabouts::At(&location.name),
        None if counter.initial[instance as usize] < kind.idle() => Whereabouts::Terminated,
        None => Whereabouts::NotRunning,
    }
}

impl<'p> ShownState<'p> {
    /// The smallest parts that have names: `x`, `fork[2]`, `link[0].kind`, `Reader[0].count`. A queue, a sequence, a
    /// map and a set are one part.
    pub fn leaves(&self) -> Vec<(String, &ShownValue<'p>)> {
        let mut found = Vec::new();
        for variable in &self.variables {
            variable.value.leaves(&variable.name, &mut found);
        }
        found
    }

    /// The smallest parts that have other values in another state of the same program.
    pub fn changes<'s>(&'s self, after: &'s Self) -> Vec<Change<'s, 'p>> {
        let mut found = Vec::new();
        for (before, after) in self.variables.iter().zip(&after.variables) {
            before.value.changes(&after.value, &before.name, &mut found);
        }
        found
    }
}

impl<'p> ShownValue<'p> {
    fn leaves<'s>(&'s self, name: &str, found: &mut Vec<(String, &'s Self)>) {
        match self {
            Self::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    element.leaves(&format!("{name}[{index}]"), found);
                }
            }
            Self::Record(fields) => {
                for (field, value) in fields {
                    value.leaves(&format!("{name}.{field}"), found);
                }
            }
            _ => found.push((name.to_owned(), self)),
        }
    }

    fn changes<'s>(&'s self, after: &'s Self, name: &str, found: &mut Vec<Change<'s, 'p>>) {
        match (self, after) {
            _ if self == after => {}
            (Self::Array(before), Self::Array(after)) => {
                for (index, (before, after)) in before.iter().zip(after).enumerate().filter(|(_, (a, b))| a != b) {
                    before.changes(after, &format!("{name}[{index}]"), found);
                }
            }
            (Self::Record(before), Self::Record(after)) => {
                for ((field, before), (_, after)) in before.iter().zip(after) {
                    before.changes(after, &format!("{name}.{field}"), found);
                }
            }
            _ => found.push(Change { name: name.to_owned(), before: self, after }),
        }
    }
}

impl fmt::Display for Whereabouts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::At(location) => location,
            Self::Terminated => TERMINATED,
            Self::NotStarted => NOT_STARTED,
            Self::NotRunning => NOT_RUNNING,
        })
    }
}

/// As BIR writes it: `3`, `{1, 3}`, `[(Data, 1), (Ack, 0)]`; a map as `{0: 1, 2: 5}`.
impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Name(name) => f.write_str(name),
            Self::Set(members) => listed(f, ["{", "}"], members),
            Self::Record(fields) => listed(f, ["(", ")"], fields.iter().map(|(_, value)| value)),
            Self::Array(values) | Self::Queue(values) | Self::Sequence(values) => listed(f, ["[", "]"], values),
            Self::Map(pairs) => listed(f, ["{", "}"], pairs.iter().map(|(key, value)| format!("{key}: {value}"))),
            Self::Location(whereabouts) => write!(f, "{whereabouts}"),
        }
    }
}

fn listed(
    f: &mut fmt::Formatter<'_>,
    [open, close]: [&str; 2],
    values: impl IntoIterator<Item = impl fmt::Display>,
) -> fmt::Result {
    f.write_str(open)?;
    for (index, value) in values.into_iter().enumerate() {
        write!(f, "{}{value}", if index > 0 { ", " } else { "" })?;
    }
    f.write_str(close)
}
