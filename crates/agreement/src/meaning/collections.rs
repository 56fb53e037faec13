//! What the functions of the language give, and the elements of arrays, sequences and maps.

use birk_ir::FaultKind;
use birk_lang::ast::Expr;

use crate::meaning::shape::{Shape, Value};
use crate::meaning::value::{Scene, Spot, Thing, in_bounds};

impl<'s> Scene<'s> {
    /// A function that no model declares.
    pub(crate) fn built_in(&mut self, name: &str, args: &'s [Expr]) -> Result<Value, FaultKind> {
        match name {
            "size" => Ok(Value::Number(match self.value(&args[0])? {
                Value::Map(_, values) => values.len() as i64,
                set => set.members().0.len() as i64,
            })),
            "keys" => match self.value(&args[0])? {
                Value::Map(of, values) => Ok(Value::Set(values.into_keys().collect(), Some((of.lo, of.hi)))),
                _ => unreachable!("the types are right"),
            },
            "append" => {
                let (sequence, element) = (self.value(&args[0])?, self.value(&args[1])?);
                append(sequence, element)
            }
            "tail" => {
                let sequence = self.value(&args[0])?;
                tail(sequence)
            }
            "remove" => {
                let (map, key) = (self.value(&args[0])?, self.number(&args[1])?);
                remove(map, key)
            }
            "head" | "last" => self.end(name, &args[0]).map(|spot| self.read(spot)),
            "peek" => {
                let (spot, channel) = self.channel(&args[0])?;
                self.oldest(spot, channel).map(|numbers| channel.element.read(numbers)).ok_or(FaultKind::Index)
            }
            _ => {
                let (count, capacity) = self.filling(&args[0])?;
                Ok(Value::Number(match name {
                    "len" => count,
                    "full" => i64::from(count == capacity),
                    "empty" => i64::from(count == 0),
                    _ => unreachable!("`{name}` is not declared"),
                }))
            }
        }
    }

    /// How many messages or elements there are, and how many there can be.
    fn filling(&mut self, expr: &'s Expr) -> Result<(i64, i64), FaultKind> {
        let value = match self.path(expr, false)? {
            Thing::Variable(spot) => match spot.shape {
                Shape::Channel(channel) => return Ok((self.filled(spot), channel.capacity)),
                _ => self.read(spot),
            },
            Thing::Value(value) => value,
            _ => unreachable!("the types are right"),
        };
        match value {
            Value::Sequence(of, elements) => Ok((elements.len() as i64, of.capacity)),
            _ => unreachable!("the types are right"),
        }
    }

    /// The number behind all others: how many messages or elements there are, or which keys.
    fn filled(&self, spot: Spot<'_>) -> i64 {
        self.state[spot.offset + spot.shape.len() - 1]
    }

    /// Whether a name is that of the function for the first or the last element of a sequence.
    pub(crate) fn is_end(&self, name: &str) -> bool {
        ["head", "last"].contains(&name) && !self.meaning.functions.contains_key(name)
    }

    /// The first or the last element of a sequence.
    pub(crate) fn end(&mut self, name: &str, sequence: &'s Expr) -> Result<Spot<'s>, FaultKind> {
        let spot = self.variable(sequence)?;
        let at = if name == "head" { 0 } else { self.filled(spot) - 1 };
        self.element(spot, at, false)
    }

    /// An element of an array or a sequence, or the value of a key. It is there, unless it is the value that is written.
    pub(crate) fn element(&self, spot: Spot<'s>, at: i64, is_written: bool) -> Result<Spot<'s>, FaultKind> {
        match spot.shape {
            Shape::Array(length, element) => {
                let at = in_bounds(at, *length)?;
                let ordinal = spot.ordinal * length + at as i64;
                Ok(Spot { ordinal, ..Spot::new(element, spot.offset + at * element.len()) })
            }
            Shape::Sequence(of) => {
                let at = in_bounds(at, self.filled(spot))?;
                Ok(Spot::new(&of.element, spot.offset + at * of.element.len()))
            }
            Shape::Map(of) => {
                let at = in_bounds(at - of.lo, of.hi - of.lo + 1)?;
                if !is_written && self.filled(spot) >> at & 1 == 0 {
                    return Err(FaultKind::Index);
                }
                let keys = spot.offset + spot.shape.len() - 1;
                Ok(Spot { key: Some((keys, 1 << at)), ..Spot::new(&of.value, spot.offset + at * of.value.len()) })
            }
            _ => unreachable!("the types are right"),
        }
    }
}

/// A sequence with one more element behind its last.
fn append(sequence: Value, element: Value) -> Result<Value, FaultKind> {
    match sequence {
        Value::Sequence(of, mut elements) => {
            elements.push(of.element.take(element)?);
            if elements.len() as i64 > of.capacity { Err(FaultKind::Range) } else { Ok(Value::Sequence(of, elements)) }
        }
        Value::Braces(mut elements) => {
            elements.push(element);
            Ok(Value::Braces(elements))
        }
        _ => unreachable!("the types are right"),
    }
}

/// A sequence without its first element.
fn tail(sequence: Value) -> Result<Value, FaultKind> {
    match sequence {
        Value::Sequence(_, elements) | Value::Braces(elements) if elements.is_empty() => Err(FaultKind::Index),
        Value::Sequence(of, elements) => Ok(Value::Sequence(of, elements[1..].to_vec())),
        Value::Braces(elements) => Ok(Value::Braces(elements[1..].to_vec())),
        _ => unreachable!("the types are right"),
    }
}

/// A map without a key, which it may lack already.
fn remove(map: Value, key: i64) -> Result<Value, FaultKind> {
    let Value::Map(of, mut values) = map else { unreachable!("the types are right") };
    if key < of.lo || of.hi < key {
        return Err(FaultKind::Range);
    }
    values.remove(&key);
    Ok(Value::Map(of, values))
}
