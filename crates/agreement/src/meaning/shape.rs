//! The types of variables, and what variables of a type hold: single values in a row, each with its name.

use std::collections::BTreeSet;

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
#[derive(Clone, Debug)]
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
}

/// A channel: its messages, the oldest first, and behind them how many there are. A rendezvous holds nothing.
#[derive(Clone, Debug)]
pub struct Channel {
    pub(crate) element: Shape,
    pub(crate) capacity: i64,
    pub(crate) marks: ChannelMarks,
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i64),
    /// The members, and the numbers that can be members where that is known.
    Set(BTreeSet<i64>, Option<(i64, i64)>),
    /// A record or an array: all its single values.
    Whole(Vec<Value>),
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
            single => vec![single],
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
        }
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
        }
    }

    /// The types of the single values.
    fn single_types<'s>(&'s self, all: &mut Vec<&'s Shape>) {
        match self {
            Shape::Number(_) | Shape::Set(..) => all.push(self),
            Shape::Record(fields) => fields.iter().for_each(|(_, field)| field.single_types(all)),
            Shape::Array(length, element) => (0..*length).for_each(|_| element.single_types(all)),
            Shape::Channel(_) => unreachable!("channels are not values"),
        }
    }

    /// What becomes of a value that is stored or passed with this type.
    pub(crate) fn take(&self, value: Value) -> Result<Value, FaultKind> {
        match (self, value) {
            (Shape::Number(range), Value::Number(number)) => range.take(number).map(Value::Number),
            (Shape::Set(lo, hi), Value::Set(members, _)) => {
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
            _ => {
                let mut types = Vec::new();
                self.single_types(&mut types);
                Value::Whole(types.iter().zip(numbers).map(|(ty, &number)| ty.read(&[number])).collect())
            }
        }
    }
}
