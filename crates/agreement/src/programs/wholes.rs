//! Values made of several single ones: records, records in records, arrays of records, rows.
//!
//! How random systems declare them, name them, put them together, and send them.

use birk_ir::Span;
use birk_lang::ast::{BinaryOp, Expr, Item, Record, Type, TypeKind};

use crate::programs::expressions::Place;
use crate::programs::world::{Scalar, Var, World};
use crate::random::{Draw as _, Random};
use crate::tree::{alias, binary, call, index, member, name, named, ty, variables};

/// The type of such a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// `Rec`: single values, or arrays of them.
    Record,
    /// `Outer`: a `Rec`, or an array of them, and a single value.
    Outer,
    /// An array of `Rec`.
    Records,
    /// `Row`: an array of single values.
    Row,
}

/// A variable of such a type, or the part of a variable that stands behind indices and a field.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) group: Group,
    pub(crate) name: String,
    /// Lengths of the arrays it is an element of.
    pub(crate) shape: Vec<i64>,
    pub(crate) field: Option<&'static str>,
}

/// What a channel carries, or a part of that.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Single(Scalar),
    Whole(Group),
}

/// The record types.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    /// The fields of `Rec`.
    pub(crate) fields: Vec<Var>,
    /// How many elements arrays of it have.
    length: i64,
    /// What is in an `Outer` beside its single value, and that.
    outer: Option<(Group, Var)>,
}

impl Records {
    /// Whether `Rec` can be written by its fields.
    fn is_flat(&self) -> bool {
        self.fields.iter().all(|field| field.shape.is_empty())
    }
}

impl World {
    pub(crate) fn group_type(&self, group: Group, dimensions: Vec<Expr>) -> Type {
        let text = match group {
            Group::Record | Group::Records => "Rec",
            Group::Outer => "Outer",
            Group::Row => "Row",
        };
        ty(TypeKind::Named(name(text)), dimensions)
    }

    /// The single values that a variable of such a type, or an array of them, is made of.
    pub(crate) fn parts_of(&self, group: Group, text: &str, shape: &[i64]) -> Vec<Var> {
        let records = self.data.records.as_ref().expect("there is a record");
        let part = |field: &Var, before: &[(usize, String)], shape: &[i64]| Var {
            name: text.to_owned(),
            fields: before.iter().cloned().chain([(shape.len(), field.name.clone())]).collect(),
            shape: shape.iter().chain(&field.shape).copied().collect(),
            ..field.clone()
        };
        let of_records = |before: &[(usize, String)], shape: &[i64]| -> Vec<Var> {
            records.fields.iter().map(|field| part(field, before, shape)).collect()
        };
        let several = [shape, &[records.length]].concat();
        match (group, &records.outer) {
            (Group::Record, _) => of_records(&[], shape),
            (Group::Records, _) => of_records(&[], &several),
            (Group::Outer, Some((inner, key))) => {
                let before = [(shape.len(), "r".to_owned())];
                let inside = if *inner == Group::Records { &several[..] } else { shape };
                let mut all = of_records(&before, inside);
                all.push(part(key, &[], shape));
                all
            }
            (Group::Outer, None) | (Group::Row, _) => unreachable!("not a record"),
        }
    }

    /// A global of such a type: its single values can be read and written, and it as a whole.
    fn declare_whole(&mut self, group: Group, text: &str, random: &mut Random) {
        let length = self.data.records.as_ref().map_or(1, |records| records.length);
        let dimensions = match group {
            Group::Records => vec![self.written_number(length, random)],
            _ => Vec::new(),
        };
        let declared = variables(self.group_type(group, dimensions), vec![(name(text), None)]);
        self.items.push(Item::Variables(declared));
        self.globals.extend(self.parts_of(group, text, &[]));
        self.data.wholes.extend(self.wholes_of(group, text));
    }

    /// A variable as a whole, and what is in it that is one again.
    pub(crate) fn wholes_of(&self, group: Group, text: &str) -> Vec<Whole> {
        let records = self.data.records.as_ref().expect("there is a record");
        let whole = |group, shape: &[i64], field| Whole { group, name: text.to_owned(), shape: shape.to_vec(), field };
        let mut all = vec![whole(group, &[], None)];
        match (group, &records.outer) {
            (Group::Records, _) => all.push(whole(Group::Record, &[records.length], None)),
            (Group::Outer, Some((inner, _))) => all.push(whole(*inner, &[], Some("r"))),
            _ => {}
        }
        all
    }

    pub(crate) fn declare_records(&mut self, random: &mut Random) {
        let mut fields = Vec::new();
        for text in &["f", "g", "h"][..random.weighted(&[0, 20, 60, 20])] {
            let scalar = self.small_scalar(random);
            let shape = if random.chance(15) { vec![random.between(1, 2)] } else { Vec::new() };
            let dimensions = shape.iter().map(|&length| self.written_number(length, random)).collect();
            let written = ty(scalar.written.kind.clone(), dimensions);
            fields.push(Var { name: (*text).to_owned(), scalar, shape, written, ..self.nothing() });
        }
        self.declare_record_type("Rec", fields.iter().map(|field| (field.written.clone(), &field.name[..])));
        let length = random.between(1, 2);
        let several = random.chance(40);
        let outer = random.chance(40).then(|| {
            let inner = if several && random.chance(40) { Group::Records } else { Group::Record };
            let scalar = self.small_scalar(random);
            (inner, Var { name: "k".to_owned(), written: scalar.written.clone(), scalar, ..self.nothing() })
        });
        self.data.records = Some(Records { fields, length, outer: outer.clone() });
        if let Some((inner, key)) = outer {
            let dimensions = match inner {
                Group::Records => vec![self.written_number(length, random)],
                _ => Vec::new(),
            };
            let inside = (self.group_type(inner, dimensions), "r");
            self.declare_record_type("Outer", [inside, (key.written.clone(), "k")].into_iter());
        }
        ["r0", "r1"].iter().for_each(|text| self.declare_whole(Group::Record, text, random));
        if several {
            let count = 1 + random.below(2);
            ["rs", "qs"][..count].iter().for_each(|text| self.declare_whole(Group::Records, text, random));
        }
        if self.data.records.as_ref().is_some_and(|records| records.outer.is_some()) {
            let count = 1 + random.below(2);
            ["o0", "o1"][..count].iter().for_each(|text| self.declare_whole(Group::Outer, text, random));
        }
    }

    pub(crate) fn declare_record_type<'a>(&mut self, text: &str, fields: impl Iterator<Item = (Type, &'a str)>) {
        let fields = fields.map(|(ty, field)| variables(ty, vec![(name(field), None)])).collect();
        self.items.push(Item::Record(Record { name: name(text), fields, span: Span::default() }));
    }

    /// Rows: two of them, and sometimes an array of rows.
    pub(crate) fn declare_rows(&mut self, random: &mut Random) {
        let scalar = self.small_scalar(random);
        let length = random.between(1, 2);
        let dimension = self.written_number(length, random);
        self.items.push(alias("Row", ty(scalar.written.kind.clone(), vec![dimension])));
        let grid = random.chance(40);
        for text in ["a0", "a1", "grid"].into_iter().take(if grid { 3 } else { 2 }) {
            let before = if text == "grid" { vec![2] } else { Vec::new() };
            let dimensions = before.iter().map(|&length| self.written_number(length, random)).collect();
            let written = self.group_type(Group::Row, dimensions);
            self.items.push(Item::Variables(variables(written.clone(), vec![(name(text), None)])));
            let shape = [&before[..], &[length]].concat();
            self.globals.push(Var { name: text.to_owned(), scalar: scalar.clone(), shape, written, ..self.nothing() });
            self.data.wholes.push(Whole { group: Group::Row, name: text.to_owned(), shape: before, field: None });
        }
    }

    /// What a channel may carry.
    pub(crate) fn message(&self, random: &mut Random) -> Message {
        let mut groups: Vec<Group> = Vec::new();
        if let Some(records) = &self.data.records {
            groups.push(Group::Record);
            groups.extend(records.outer.as_ref().map(|_| Group::Outer));
        }
        if self.data.wholes.iter().any(|whole| whole.group == Group::Row) {
            groups.push(Group::Row);
        }
        match !groups.is_empty() && random.chance(50) {
            true => Message::Whole(*random.pick(&groups)),
            false => Message::Single(self.small_scalar(random)),
        }
    }

    /// What stands in the parentheses of `send` and `receive`: the whole message, or field by field.
    pub(crate) fn parts_of_message(&self, message: &Message, random: &mut Random) -> Option<Vec<Message>> {
        let Message::Whole(group) = message else { return Some(vec![message.clone()]) };
        let fields = match (&self.data.records, group) {
            (Some(records), Group::Record) if records.is_flat() => {
                Some(records.fields.iter().map(|field| Message::Single(field.scalar.clone())).collect::<Vec<_>>())
            }
            (Some(Records { outer: Some((inner, key)), .. }), Group::Outer) => {
                Some(vec![Message::Whole(*inner), Message::Single(key.scalar.clone())])
            }
            _ => None,
        };
        // Of a single field, one value is that field.
        let is_single = |records: &Records| *group == Group::Record && records.fields.len() == 1;
        match self.data.records.as_ref().is_some_and(is_single) {
            true => fields,
            false if random.chance(60) => Some(fields.unwrap_or_else(|| vec![message.clone()])),
            false => Some(vec![message.clone()]),
        }
    }
}

impl Place<'_> {
    /// Some variable of such a type that can be written here, or a part of one.
    pub(crate) fn whole(&mut self, group: Group) -> Option<Expr> {
        let own = self.own.map(|own| &self.world.threads[own].wholes[..]).unwrap_or_default();
        let given = self.procedure.map(|procedure| &procedure.wholes[..]).unwrap_or_default();
        let all = self.world.data.wholes.iter().chain(own).chain(given);
        let fitting: Vec<&Whole> = all.filter(|whole| whole.group == group).collect();
        if fitting.is_empty() {
            return None;
        }
        let whole = (*self.random.pick(&fitting)).clone();
        let indices: Vec<Expr> = whole.shape.iter().map(|&length| self.index_of(length, 1)).collect();
        let element = indices.into_iter().fold(named(&whole.name), index);
        Some(whole.field.map_or(element.clone(), |field| member(element, field)))
    }

    /// The groups of which there are variables here.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let has = |group: &Group| self.world.data.wholes.iter().any(|whole| whole.group == *group);
        [Group::Record, Group::Outer, Group::Records, Group::Row].into_iter().filter(has).collect()
    }

    /// A value of such a type: a variable, also one of another thread, or one that is put together.
    pub(crate) fn whole_value(&mut self, group: Group, depth: usize) -> Option<Expr> {
        if self.random.chance(45)
            && let Some(made) = self.put_together(group, depth)
        {
            return Some(made);
        }
        if self.random.chance(15)
            && let Some(foreign) = self.foreign_whole(group)
        {
            return Some(foreign);
        }
        self.whole(group)
    }

    fn foreign_whole(&mut self, group: Group) -> Option<Expr> {
        let is_so = |whole: &&Whole| whole.group == group && whole.shape.is_empty() && whole.field.is_none();
        let owners = self.world.threads.iter().filter(|thread| thread.copies > 0);
        let all: Vec<_> =
            owners.flat_map(|thread| thread.wholes.iter().filter(is_so).map(move |w| (thread, w))).collect();
        if all.is_empty() {
            return None;
        }
        let (thread, whole) = *self.random.pick(&all);
        let copy = self.plain_copy_of(thread);
        Some(member(copy, &whole.name))
    }

    /// `Rec(a, b)`, `Outer(Rec(a, b), c)`; arrays have no such form.
    fn put_together(&mut self, group: Group, depth: usize) -> Option<Expr> {
        let records = self.world.data.records.clone()?;
        match (group, &records.outer) {
            (Group::Record, _) if records.is_flat() => {
                let args = records.fields.iter().map(|field| self.received_value(&field.scalar, depth)).collect();
                Some(call("Rec", args))
            }
            (Group::Outer, Some((inner, key))) => {
                let inside = self.whole_value(*inner, depth)?;
                let key = self.received_value(&key.scalar, depth);
                Some(call("Outer", vec![inside, key]))
            }
            _ => None,
        }
    }

    /// Whole values compared.
    pub(crate) fn whole_comparison(&mut self, depth: usize) -> Option<Expr> {
        let groups = self.groups();
        if groups.is_empty() {
            return None;
        }
        let group = *self.random.pick(&groups);
        let left = self.whole(group)?;
        let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
        let right = if depth > 0 { self.whole_value(group, depth - 1)? } else { self.whole(group)? };
        Some(binary(op, left, right))
    }
}
