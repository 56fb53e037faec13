//! What a random system declares beyond the core: a set type, a symmetric type, records, rows, a wide array, channels; and what
//! there is to know about its sequences and maps.

use birk_ir::Span;
use birk_lang::ast::{Alias, BinaryOp, ChannelMarks, Expr, Item, Type, TypeKind};

use crate::programs::wholes::{Message, Records, Whole};
use crate::programs::world::{Kind, Scalar, Var, World};
use crate::random::{Draw as _, Random};
use crate::tree::{alias, binary, constants, name, named, number, set, ty, variables};

/// Which of these there are.
#[derive(Debug, Default)]
pub(crate) struct Data {
    /// The numbers that can be members of the set type `Some`.
    pub(crate) set: Option<(i64, i64)>,
    /// The last value of the symmetric type `Id`.
    pub(crate) names: Option<i64>,
    /// The records.
    pub(crate) records: Option<Records>,
    /// Variables that are more than single values.
    pub(crate) wholes: Vec<Whole>,
    pub(crate) channels: Vec<Channel>,
    /// Where there are some, there are also broadcasts.
    pub(crate) collections: Option<Collections>,
}

/// Sequences and maps.
#[derive(Debug, Default)]
pub(crate) struct Collections {
    pub(crate) types: Vec<Collection>,
    /// The globals of these types.
    pub(crate) holders: Vec<Holder>,
    /// The number of the type that the channel `d0` carries.
    pub(crate) carried: Option<usize>,
    /// The records `bag0` and `bag1` have one of them in them.
    pub(crate) bags: bool,
}

/// The type of a sequence or a map.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    /// The position among the types.
    pub(crate) number: usize,
    pub(crate) holds: Holds,
    pub(crate) element: Message,
    pub(crate) written: Type,
}

/// What such a type is.
#[derive(Clone, Debug)]
pub(crate) enum Holds {
    /// A sequence of at most so many elements.
    Sequence(i64),
    /// A map with keys of this type.
    Map(Scalar),
}

/// A variable of such a type, or the part of a variable that stands behind indices and a field.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    /// The number of its type.
    pub(crate) of: usize,
    pub(crate) name: String,
    /// Lengths of the array it is an element of.
    pub(crate) shape: Vec<i64>,
    pub(crate) field: Option<&'static str>,
}

/// A channel, or several.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: String,
    pub(crate) message: Message,
    pub(crate) capacity: i64,
    /// Lengths of the array that it is an element of.
    pub(crate) shape: Vec<i64>,
}

/// How far the elements of the wide array that are used are apart: a larger constant makes the array wider, and nothing else.
pub const SPREAD: &str = "SPREAD";
/// So many elements of it are used.
const USED: i64 = 3;
/// The most numbers that a set ranges over.
const MOST_MEMBERS: i64 = 31;

impl World {
    /// Types that variables can have.
    pub(crate) fn declare_names(&mut self, random: &mut Random) {
        if random.chance(45) {
            let lo = *random.pick(&[0, 0, -1, 2]);
            let widest = if random.chance(20) { MOST_MEMBERS - 1 } else { 2 };
            let hi = lo + random.between(0, widest).max(if widest > 2 { widest - 1 } else { 0 });
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
        Var { name, scalar, written, ..self.nothing() }
    }

    /// Numbers that can be members; of many, those at both ends.
    pub(crate) fn candidates(&self) -> Vec<i64> {
        let (lo, hi) = self.data.set.expect("there is a set type");
        if hi - lo > 3 { vec![lo, lo + 1, hi] } else { (lo..=hi).collect() }
    }

    /// A set of literals.
    pub(crate) fn fixed_set(&self, random: &mut Random) -> Expr {
        let members = self.candidates().into_iter().filter(|_| random.chance(40)).collect::<Vec<_>>();
        set(members.into_iter().map(|member| self.written_number(member, random)).collect())
    }

    pub(crate) fn small_scalar(&self, random: &mut Random) -> Scalar {
        loop {
            let scalar = self.scalar(random);
            if (scalar.kind == Kind::Set || scalar.is_small())
                && !matches!(scalar.written.kind, TypeKind::Int | TypeKind::Byte)
            {
                return scalar;
            }
        }
    }

    /// Variables of these types.
    pub(crate) fn declare_data(&mut self, random: &mut Random) {
        if self.data.set.is_some() {
            // Wherever a set is needed, there is one.
            let written = ty(TypeKind::Named(name("Some")), Vec::new());
            let initial = random.chance(40).then(|| self.fixed_set(random));
            self.items.push(Item::Variables(variables(written.clone(), vec![(name("s"), initial)])));
            let scalar = self.set_scalar();
            let name = "s".to_owned();
            self.globals.push(Var { name, scalar, written, ..self.nothing() });
        }
        if self.data.names.is_some() {
            let own = Var { name: "id".to_owned(), ..self.parameter_of_names() };
            self.items.push(Item::Variables(variables(own.written.clone(), vec![(name("id"), None)])));
            self.globals.push(own);
            if random.chance(40) {
                let who = Var { name: "who".to_owned(), ..self.parameter_of_names() };
                let written = ty(TypeKind::OrNobody(name("Id")), Vec::new());
                self.items.push(Item::Variables(variables(written.clone(), vec![(name("who"), None)])));
                let scalar = Scalar { written: written.clone(), hi: who.scalar.hi + 1, ..who.scalar };
                self.globals.push(Var { scalar, written, ..who });
            }
            if random.chance(50) {
                let written = ty(TypeKind::Boolean, vec![named("Id")]);
                self.items.push(Item::Variables(variables(written.clone(), vec![(name("of"), None)])));
                let shape = vec![self.data.names.map_or(1, |last| last + 1)];
                let boolean = Scalar { kind: Kind::Boolean, hi: 1, ..self.nothing().scalar };
                self.globals.push(Var { name: "of".to_owned(), scalar: boolean, shape, written, ..self.nothing() });
            }
        }
        if random.chance(45) {
            self.declare_records(random);
        }
        if random.chance(25) {
            self.declare_rows(random);
        }
        if random.chance(12) {
            self.declare_wide(random);
        }
        self.declare_channels(random);
    }

    /// `byte[2 * SPREAD + 1] w`, of which `w[i * SPREAD]` is used.
    fn declare_wide(&mut self, random: &mut Random) {
        self.items.push(constants(None, vec![(name(SPREAD), number(1))]));
        let last = binary(BinaryOp::Mul, number(USED - 1), named(SPREAD));
        let written = ty(TypeKind::Byte, vec![binary(BinaryOp::Add, last, number(1))]);
        self.items.push(Item::Variables(variables(written.clone(), vec![(name("w"), None)])));
        let hi = random.between(1, 2);
        let scalar = Scalar { kind: Kind::Integer, lo: 0, hi, wraps: true, written: ty(TypeKind::Byte, Vec::new()) };
        let wide = Var { name: "w".to_owned(), scalar, shape: vec![USED], spread: true, written, ..self.nothing() };
        self.globals.push(wide);
    }

    /// What a variable has beside its type.
    pub(crate) fn nothing(&self) -> Var {
        let written = ty(TypeKind::Boolean, Vec::new());
        let scalar = Scalar { kind: Kind::Boolean, lo: 0, hi: 0, wraps: false, written: written.clone() };
        Var {
            name: String::new(),
            scalar,
            shape: Vec::new(),
            fields: Vec::new(),
            spread: false,
            written,
            initial: None,
            by_place: false,
        }
    }

    fn declare_channels(&mut self, random: &mut Random) {
        for position in 0..random.weighted(&[35, 45, 20]) {
            let message = self.message(random);
            let capacity = random.weighted(&[45, 30, 20, 5]) as i64;
            let marked = capacity > 0;
            let marks = ChannelMarks {
                lossy: marked && random.chance(20),
                duplicating: marked && random.chance(15),
                reordering: marked && random.chance(15),
            };
            let shape = match random.weighted(&[55, 8, 27, 10]) {
                0 => Vec::new(),
                1 => vec![1],
                2 => vec![2],
                _ => vec![random.between(1, 2), 2],
            };
            let element = match &message {
                Message::Single(scalar) => scalar.written.clone(),
                Message::Whole(group) => self.group_type(*group, Vec::new()),
            };
            let room = Box::new(self.written_number(capacity, random));
            let dimensions = shape.iter().map(|&count| self.written_number(count, random)).collect();
            let written = ty(TypeKind::Channel(marks, Box::new(element), room), dimensions);
            let text = format!("c{position}");
            self.items.push(Item::Variables(variables(written, vec![(name(&text), None)])));
            self.data.channels.push(Channel { name: text, message, capacity, shape });
        }
    }
}
