//! The types of variables, and what variables of a type hold: single values in a row, each with its name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use birk_ir::FaultKind;
use birk_lang::ast::ChannelMarks;

/// The range of a type, and what happens outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) wraps: bool,
    /// What a variable holds that has no initial value.
    pub(crate) default: i64,
}

impl Range {
    pub(crate) const INT: Range = Range { lo: i32::MIN as i64, hi: i32::MAX as i64, wraps: false, default: 0 };

    /// What becomes of a value that is stored or passed with this type.
    fn take(self, value: i64) -> Result<i64, FaultKind> {
        let size = self.hi - self.lo + 1;
        match value {
            _ if self.lo <= value && value <= self.hi => Ok(value),
            _ if self.wraps => Ok(self.lo + (value - self.lo).rem_euclid(size)),
            _ => Err(FaultKind::Range),
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Booleans are 0 and 1, enumerators their position.
    Number(Range),
    /// The numbers that can be members.
    Set(i64, i64),
    /// Fields with their names.
    Record(Vec<(String, Shape)>),
    /// So many elements.
    Array(i64, Box<Shape>),
    /// A channel.
    Channel(Box<Channel>),
    /// A sequence.
    Sequence(Rc<Sequence>),
    /// A map.
    Map(Rc<Map>),
}

/// A channel: its messages, the oldest first, and behind them how many there are. A rendezvous holds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub(crate) element: Shape,
    pub(crate) capacity: i64,
    pub(crate) marks: ChannelMarks,
}

/// A sequence: its elements, defaults behind the last of them, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub(crate) element: Shape,
    pub(crate) capacity: i64,
    /// The type of the number of its elements.
    length: Shape,
}

impl Sequence {
    pub(crate) fn new(element: Shape, capacity: i64) -> Self {
        let length = Shape::Number(Range { lo: 0, hi: capacity, wraps: false, default: 0 });
        Self { element, capacity, length }
    }
}

/// A map: a value for each number that can be a key, the default where it is none, and the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) value: Shape,
    /// The type of the set of its keys.
    keys: Shape,
}

impl Map {
    pub(crate) fn new(lo: i64, hi: i64, value: Shape) -> Self {
        Self { lo, hi, value, keys: Shape::Set(lo, hi) }
    }
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i64),
    /// The members, and the numbers that can be members where that is known.
    Set(BTreeSet<i64>, Option<(i64, i64)>),
    /// A record or an array: all its single values.
    Whole(Vec<Value>),
    /// Its elements.
    Sequence(Rc<Sequence>, Vec<Value>),
    /// The values of its keys.
    Map(Rc<Map>, BTreeMap<i64, Value>),
    /// What stands in braces: what it is decided by what it becomes.
    Braces(Vec<Value>),
}

impl Value {
    /// Of an expression whose type is right.
    pub(crate) fn number(&self) -> i64 {
        match self {
            Value::Number(number) => *number,
            _ => unreachable!("the types are right"),
        }
    }

    /// The single values.
    pub(crate) fn singles(self) -> Vec<Value> {
        match self {
            Value::Whole(values) => values,
            Value::Sequence(of, mut elements) => {
                let length = elements.len();
                elements.resize(of.capacity as usize, of.element.default());
                let singles = elements.into_iter().flat_map(Value::singles);
                singles.chain([Value::Number(length as i64)]).collect()
            }
            Value::Map(of, mut values) => {
                let keys = Value::Set(values.keys().copied().collect(), Some((of.lo, of.hi)));
                let value = |key: i64| values.remove(&key).unwrap_or_else(|| of.value.default());
                let singles: Vec<Value> = (of.lo..=of.hi).map(value).flat_map(Value::singles).collect();
                singles.into_iter().chain([keys]).collect()
            }
            Value::Braces(_) => unreachable!("it has become something else"),
            single @ (Value::Number(_) | Value::Set(..)) => vec![single],
        }
    }

    /// The members of a set, and the numbers that can be members where that is known.
    pub(crate) fn members(self) -> (BTreeSet<i64>, Option<(i64, i64)>) {
        match self {
            Value::Set(members, range) => (members, range),
            Value::Braces(members) => (members.iter().map(Value::number).collect(), None),
            _ => unreachable!("the types are right"),
        }
    }

    /// The type of a sequence or a map.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match self {
            Value::Sequence(of, _) => Some(Shape::Sequence(of.clone())),
            Value::Map(of, _) => Some(Shape::Map(of.clone())),
            _ => None,
        }
    }
}

impl Shape {
    /// How many single values it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Shape::Number(_) | Shape::Set(..) => 1,
            Shape::Record(fields) => fields.iter().map(|(_, field)| field.len()).sum(),
            Shape::Array(length, element) => *length as usize * element.len(),
            Shape::Channel(channel) if channel.capacity == 0 => 0,
            Shape::Channel(channel) => channel.capacity as usize * channel.element.len() + 1,
            Shape::Sequence(of) => of.capacity as usize * of.element.len() + 1,
            Shape::Map(of) => (of.hi - of.lo + 1) as usize * of.value.len() + 1,
        }
    }

    /// The single values as numbers, as they are without an initial value.
    pub(crate) fn defaults(&self) -> Vec<i64> {
        match self {
            Shape::Number(range) => vec![range.default],
            Shape::Set(..) => vec![0],
            Shape::Record(fields) => fields.iter().flat_map(|(_, field)| field.defaults()).collect(),
            Shape::Array(length, element) => element.defaults().repeat(*length as usize),
            Shape::Channel(channel) if channel.capacity == 0 => Vec::new(),
            Shape::Channel(channel) => {
                let mut all = channel.element.defaults().repeat(channel.capacity as usize);
                all.push(0);
                all
            }
            Shape::Sequence(of) => [of.element.defaults().repeat(of.capacity as usize), vec![0]].concat(),
            Shape::Map(of) => [of.value.defaults().repeat((of.hi - of.lo + 1) as usize), vec![0]].concat(),
        }
    }

    /// The value of a variable without an initial one.
    fn default(&self) -> Value {
        self.read(&self.defaults())
    }

    /// The names of the single values.
    pub(crate) fn names(&self, name: &str, all: &mut Vec<String>) {
        match self {
            Shape::Number(_) | Shape::Set(..) => all.push(name.to_owned()),
            Shape::Record(fields) => {
                fields.iter().for_each(|(field, shape)| shape.names(&format!("{name}.{field}"), all));
            }
            Shape::Array(length, element) => {
                (0..*length).for_each(|at| element.names(&format!("{name}[{at}]"), all));
            }
            Shape::Channel(channel) if channel.capacity == 0 => {}
            Shape::Channel(channel) => {
                (0..channel.capacity).for_each(|at| channel.element.names(&format!("{name}[{at}]"), all));
                all.push(format!("len({name})"));
            }
            Shape::Sequence(of) => {
                (0..of.capacity).for_each(|at| of.element.names(&format!("{name}[{at}]"), all));
                all.push(format!("len({name})"));
            }
            Shape::Map(of) => {
                (0..=of.hi - of.lo).for_each(|at| of.value.names(&format!("{name}[{at}]"), all));
                all.push(format!("keys({name})"));
            }
        }
    }

    /// The types of the single values.
    fn single_types<'s>(&'s self, all: &mut Vec<&'s Shape>) {
        match self {
            Shape::Number(_) | Shape::Set(..) => all.push(self),
            Shape::Record(fields) => fields.iter().for_each(|(_, field)| field.single_types(all)),
            Shape::Array(length, element) => (0..*length).for_each(|_| element.single_types(all)),
            Shape::Sequence(of) => {
                (0..of.capacity).for_each(|_| of.element.single_types(all));
                all.push(&of.length);
            }
            Shape::Map(of) => {
                (of.lo..=of.hi).for_each(|_| of.value.single_types(all));
                all.push(&of.keys);
            }
            Shape::Channel(_) => unreachable!("channels are not values"),
        }
    }

    /// What becomes of a value that is stored or passed with this type.
    pub(crate) fn take(&self, value: Value) -> Result<Value, FaultKind> {
        match (self, value) {
            (Shape::Number(range), Value::Number(number)) => range.take(number).map(Value::Number),
            (Shape::Set(lo, hi), value @ (Value::Set(..) | Value::Braces(_))) => {
                let (members, _) = value.members();
                let fits = members.iter().all(|member| lo <= member && member <= hi);
                if fits { Ok(Value::Set(members, Some((*lo, *hi)))) } else { Err(FaultKind::Range) }
            }
            (_, Value::Whole(values)) => {
                let mut types = Vec::new();
                self.single_types(&mut types);
                assert_eq!(types.len(), values.len(), "the types are right");
                let taken = types.into_iter().zip(values).map(|(ty, value)| ty.take(value));
                taken.collect::<Result<_, _>>().map(Value::Whole)
            }
            (Shape::Sequence(of), Value::Braces(elements)) if elements.len() as i64 > of.capacity => {
                Err(FaultKind::Range)
            }
            (Shape::Sequence(of), Value::Braces(elements)) => {
                let taken = elements.into_iter().map(|element| of.element.take(element));
                taken.collect::<Result<_, _>>().map(|elements| Value::Sequence(of.clone(), elements))
            }
            (Shape::Array(_, element), Value::Braces(elements)) => {
                let taken = elements.into_iter().map(|value| element.take(value));
                let taken = taken.collect::<Result<Vec<Value>, _>>()?;
                Ok(Value::Whole(taken.into_iter().flat_map(Value::singles).collect()))
            }
            (Shape::Map(of), Value::Braces(_)) => Ok(Value::Map(of.clone(), BTreeMap::new())),
            // The other side has the same type.
            (Shape::Sequence(_), value @ Value::Sequence(..)) | (Shape::Map(_), value @ Value::Map(..)) => Ok(value),
            _ => unreachable!("the types are right"),
        }
    }

    /// The numbers in a state that stand for a value, which was taken.
    pub(crate) fn written(&self, value: Value) -> Vec<i64> {
        let mut types = Vec::new();
        self.single_types(&mut types);
        let number = |(ty, value): (&Shape, Value)| match (ty, value) {
            (_, Value::Number(number)) => number,
            (Shape::Set(lo, _), Value::Set(members, _)) => members.iter().map(|member| 1 << (member - lo)).sum(),
            _ => unreachable!("the types are right"),
        };
        types.into_iter().zip(value.singles()).map(number).collect()
    }

    /// The value that numbers in a state stand for.
    pub(crate) fn read(&self, numbers: &[i64]) -> Value {
        match self {
            Shape::Number(_) => Value::Number(numbers[0]),
            Shape::Set(lo, hi) => {
                let members = (*lo..=*hi).filter(|member| numbers[0] >> (member - lo) & 1 == 1);
                Value::Set(members.collect(), Some((*lo, *hi)))
            }
            Shape::Sequence(of) => {
                let length = *numbers.last().expect("the number of its elements") as usize;
                let elements = numbers.chunks(of.element.len()).take(length);
                Value::Sequence(of.clone(), elements.map(|numbers| of.element.read(numbers)).collect())
            }
            Shape::Map(of) => {
                let keys = *numbers.last().expect("the set of its keys");
                let values = (of.lo..=of.hi).zip(numbers.chunks(of.value.len()));
                let values = values.filter(|(key, _)| keys >> (key - of.lo) & 1 == 1);
                Value::Map(of.clone(), values.map(|(key, numbers)| (key, of.value.read(numbers))).collect())
            }
            _ => {
                let mut types = Vec::new();
                self.single_types(&mut types);
                Value::Whole(types.iter().zip(numbers).map(|(ty, &number)| ty.read(&[number])).collect())
            }
        }
    }
}
