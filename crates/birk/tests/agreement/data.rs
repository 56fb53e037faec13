//! What a random system declares beyond the core: a set type, a symmetric type, a record, arrays of one type, channels.

use birk_ir::Span;
use birk_lang::ast::{Alias, ChannelMarks, Expr, Item, Record, Type, TypeKind};

use crate::random::Random;
use crate::tree::{alias, index, name, named, number, set, ty, variables};
use crate::world::{Kind, Scalar, Var, World};

/// Which of these there are.
#[derive(Debug, Default)]
pub(crate) struct Data {
    /// The numbers that can be members of the set type `Some`.
    pub(crate) set: Option<(i64, i64)>,
    /// The last value of the symmetric type `Id`.
    pub(crate) names: Option<i64>,
    /// The fields of the record `Rec`, each a single value or an array.
    pub(crate) record: Option<Vec<Var>>,
    /// Records, by how they are written.
    pub(crate) records: Vec<Expr>,
    /// Arrays of one type.
    pub(crate) arrays: Vec<Expr>,
    pub(crate) channels: Vec<Channel>,
}

/// A channel, or several.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: String,
    /// Of single values, or else of records.
    pub(crate) scalar: Option<Scalar>,
    pub(crate) capacity: i64,
    pub(crate) several: Option<i64>,
}

impl World {
    /// Types that variables can have.
    pub(crate) fn declare_names(&mut self, random: &mut Random) {
        if random.chance(45) {
            let lo = *random.pick(&[0, 0, -1, 2]);
            let hi = lo + random.between(0, 2);
            let [low, high] = [lo, hi].map(|bound| Box::new(self.written_number(bound, random)));
            self.items.push(alias("Some", ty(TypeKind::Set(low, high), Vec::new())));
            self.data.set = Some((lo, hi));
        }
        if random.chance(30) {
            let last = random.between(1, 2);
            let bounds = [0, last].map(|bound| Box::new(self.written_number(bound, random)));
            let [low, high] = bounds;
            let target = ty(TypeKind::Range(false, low, high), Vec::new());
            self.items.push(Item::Alias(Alias { symmetric: true, name: name("Id"), target, span: Span::default() }));
            self.data.names = Some(last);
        }
    }

    pub(crate) fn set_scalar(&self) -> Scalar {
        let (lo, hi) = self.data.set.expect("there is a set type");
        let written = ty(TypeKind::Named(name("Some")), Vec::new());
        Scalar { kind: Kind::Set, lo: 0, hi: (1 << (hi - lo + 1)) - 1, wraps: false, written }
    }

    /// A parameter of the symmetric type.
    pub(crate) fn parameter_of_names(&self) -> Var {
        let written = ty(TypeKind::Named(name("Id")), Vec::new());
        let hi = self.data.names.expect("there is a symmetric type");
        let scalar = Scalar { kind: Kind::Name, lo: 0, hi, wraps: false, written: written.clone() };
        let name = String::new();
        Var { name, scalar, shape: Vec::new(), field: None, written, initial: None, by_place: false }
    }

    /// A set of literals.
    pub(crate) fn fixed_set(&self, random: &mut Random) -> Expr {
        let (lo, hi) = self.data.set.expect("there is a set type");
        let members = (lo..=hi).filter(|_| random.chance(40)).collect::<Vec<_>>();
        set(members.into_iter().map(|member| self.written_number(member, random)).collect())
    }

    pub(crate) fn record_type(&self, dimensions: Vec<Expr>) -> Type {
        ty(TypeKind::Named(name("Rec")), dimensions)
    }

    /// The variables that a record, or an array of records, is made of.
    pub(crate) fn parts_of_record(&self, text: &str, shape: &[i64]) -> Vec<Var> {
        let fields = self.data.record.as_ref().expect("there is a record");
        let part = |field: &Var| Var {
            name: text.to_owned(),
            shape: shape.iter().chain(&field.shape).copied().collect(),
            field: Some((shape.len(), field.name.clone())),
            ..field.clone()
        };
        fields.iter().map(part).collect()
    }

    fn small_scalar(&self, random: &mut Random) -> Scalar {
        loop {
            let scalar = self.scalar(random);
            if scalar.hi - scalar.lo <= 7 && !matches!(scalar.written.kind, TypeKind::Int | TypeKind::Byte) {
                return scalar;
            }
        }
    }

    /// Variables of these types.
    pub(crate) fn declare_data(&mut self, random: &mut Random) {
        if self.data.set.is_some() {
            // Wherever a set is needed, there is one.
            let written = ty(TypeKind::Named(name("Some")), Vec::new());
            self.items.push(Item::Variables(variables(written.clone(), vec![(name("s"), None)])));
            let scalar = self.set_scalar();
            let name = "s".to_owned();
            self.globals.push(Var { name, scalar, written, ..self.nothing() });
        }
        if self.data.names.is_some() {
            let own = Var { name: "id".to_owned(), ..self.parameter_of_names() };
            self.items.push(Item::Variables(variables(own.written.clone(), vec![(name("id"), None)])));
            self.globals.push(own);
            if random.chance(50) {
                let written = ty(TypeKind::Boolean, vec![named("Id")]);
                self.items.push(Item::Variables(variables(written.clone(), vec![(name("of"), None)])));
                let shape = vec![self.data.names.map_or(1, |last| last + 1)];
                let boolean = Scalar { kind: Kind::Boolean, hi: 1, ..self.nothing().scalar };
                self.globals.push(Var { name: "of".to_owned(), scalar: boolean, shape, written, ..self.nothing() });
            }
        }
        if random.chance(40) {
            self.declare_record(random);
        }
        if random.chance(25) {
            let scalar = self.small_scalar(random);
            let length = random.between(1, 2);
            for text in ["a0", "a1"] {
                let written = ty(scalar.written.kind.clone(), vec![self.written_number(length, random)]);
                self.items.push(Item::Variables(variables(written.clone(), vec![(name(text), None)])));
                let (name, scalar) = (text.to_owned(), scalar.clone());
                self.globals.push(Var { name, scalar, shape: vec![length], written, ..self.nothing() });
                self.data.arrays.push(named(text));
            }
        }
        self.declare_channels(random);
    }

    /// What a variable has beside its type.
    fn nothing(&self) -> Var {
        let written = ty(TypeKind::Boolean, Vec::new());
        let scalar = Scalar { kind: Kind::Boolean, lo: 0, hi: 0, wraps: false, written: written.clone() };
        Var { name: String::new(), scalar, shape: Vec::new(), field: None, written, initial: None, by_place: false }
    }

    fn declare_record(&mut self, random: &mut Random) {
        let mut fields = Vec::new();
        for text in &["f", "g", "h"][..random.weighted(&[0, 20, 60, 20])] {
            let scalar = self.small_scalar(random);
            let shape = if random.chance(15) { vec![random.between(1, 2)] } else { Vec::new() };
            let dimensions = shape.iter().map(|&length| self.written_number(length, random)).collect();
            let written = ty(scalar.written.kind.clone(), dimensions);
            fields.push(Var { name: (*text).to_owned(), scalar, shape, written, ..self.nothing() });
        }
        let declared = fields.iter().map(|field| variables(field.written.clone(), vec![(name(&field.name), None)]));
        let record = Record { name: name("Rec"), fields: declared.collect(), span: Span::default() };
        self.items.push(Item::Record(record));
        self.data.record = Some(fields);
        for text in ["r0", "r1"] {
            self.items.push(Item::Variables(variables(self.record_type(Vec::new()), vec![(name(text), None)])));
            self.globals.extend(self.parts_of_record(text, &[]));
            self.data.records.push(named(text));
        }
        if random.chance(40) {
            let length = random.between(1, 2);
            let written = self.record_type(vec![self.written_number(length, random)]);
            self.items.push(Item::Variables(variables(written, vec![(name("rs"), None)])));
            self.globals.extend(self.parts_of_record("rs", &[length]));
            self.data.records.extend((0..length).map(|at| index(named("rs"), number(at))));
        }
    }

    fn declare_channels(&mut self, random: &mut Random) {
        for position in 0..random.weighted(&[45, 40, 15]) {
            let of_records = self.data.record.is_some() && random.chance(50);
            let scalar = (!of_records).then(|| self.small_scalar(random));
            let capacity = random.weighted(&[30, 40, 30]) as i64;
            let marked = capacity > 0;
            let marks = ChannelMarks {
                lossy: marked && random.chance(15),
                duplicating: marked && random.chance(15),
                reordering: marked && random.chance(15),
            };
            let several = random.chance(45).then(|| if random.chance(15) { 1 } else { 2 });
            let element = scalar.as_ref().map_or(self.record_type(Vec::new()), |scalar| scalar.written.clone());
            let room = Box::new(self.written_number(capacity, random));
            let dimensions = several.iter().map(|&count| self.written_number(count, random)).collect();
            let written = ty(TypeKind::Channel(marks, Box::new(element), room), dimensions);
            let text = format!("c{position}");
            self.items.push(Item::Variables(variables(written, vec![(name(&text), None)])));
            self.data.channels.push(Channel { name: text, scalar, capacity, several });
        }
    }
}
