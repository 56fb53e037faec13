//! What an expression means in a state: its value, or what goes wrong in computing it.

use birk_ir::FaultKind;
use birk_lang::ast::{self, BinaryOp, Domain, Expr, ExprKind, Quantifier, UnaryOp};

use crate::meaning::{Meaning, Range, Variable};

type Valued = Result<i64, FaultKind>;

/// A state, with the names that are visible in it at one place.
pub(crate) struct Scene<'s> {
    meaning: &'s Meaning<'s>,
    state: &'s [i64],
    /// The copy of a thread whose parameters and locals are visible.
    own: Option<(usize, i64)>,
    /// Quantified names and parameters of functions, innermost last.
    bound: Vec<(&'s str, i64)>,
}

/// What a path such as `T[i].a[j]` stands for, from left to right.
enum Thing<'s> {
    Value(i64),
    /// A variable, the element reached so far, and how many indices were given.
    Variable(&'s Variable, usize, usize),
    Thread(usize, Option<i64>),
    Block(&'s str),
    Enum(&'s [ast::Name]),
}

impl<'s> Scene<'s> {
    pub(crate) fn new(meaning: &'s Meaning<'_>, state: &'s [i64], own: Option<(usize, i64)>) -> Self {
        Self { meaning, state, own, bound: Vec::new() }
    }

    /// Booleans are 0 and 1, enumerators their position.
    pub(crate) fn value(&mut self, expr: &'s Expr) -> Valued {
        match &expr.kind {
            ExprKind::Int(value) => Ok(*value),
            ExprKind::Bool(value) => Ok(i64::from(*value)),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => match self.path(expr)? {
                Thing::Value(value) => Ok(value),
                Thing::Variable(_, element, _) => Ok(self.state[element]),
                Thing::Thread(..) | Thing::Block(_) | Thing::Enum(_) => unreachable!("the types are right"),
            },
            ExprKind::At(thread, location) => self.is_at(thread, &location.text),
            ExprKind::Call(name, args) => self.call(&name.text, args),
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(1 - self.value(operand)?),
            ExprKind::Unary(UnaryOp::Neg, operand) => fit(-self.value(operand)?),
            ExprKind::Unary(..) => unreachable!("formulas are not values"),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Conditional(condition, yes, no) => {
                if self.value(condition)? != 0 {
                    self.value(yes)
                } else {
                    self.value(no)
                }
            }
            ExprKind::Quantifier(kind, name, domain, body) => {
                let Domain::Range(lo, hi) = &**domain else { unreachable!("only ranges are generated") };
                let (lo, hi) = (self.value(lo)?, self.value(hi)?);
                let mut result = i64::from(*kind == Quantifier::All);
                // Every value is looked at: what goes wrong for one of them goes wrong.
                for value in lo..=hi {
                    self.bound.push((&name.text, value));
                    let body = self.value(body);
                    self.bound.pop();
                    let body = body?;
                    match kind {
                        Quantifier::All => result &= i64::from(body != 0),
                        Quantifier::Any => result |= i64::from(body != 0),
                        Quantifier::Count => result += i64::from(body != 0),
                        Quantifier::Sum => result += body,
                    }
                }
                Ok(result)
            }
            ExprKind::Let(..) | ExprKind::Set(_) => unreachable!("not generated"),
            ExprKind::Error => unreachable!("a system without errors is evaluated"),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &'s Expr, right: &'s Expr) -> Valued {
        let a = self.value(left)?;
        match op {
            BinaryOp::And if a == 0 => return Ok(0),
            BinaryOp::Or if a != 0 => return Ok(1),
            BinaryOp::Implies if a == 0 => return Ok(1),
            _ => {}
        }
        let b = self.value(right)?;
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => Ok(b),
            BinaryOp::Add => fit(a + b),
            BinaryOp::Sub => fit(a - b),
            BinaryOp::Mul => fit(a * b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => Err(FaultKind::DivisionByZero),
            // Rust's integers round towards zero, too, and its remainder has the sign of the dividend.
            BinaryOp::Div => fit(a / b),
            BinaryOp::Rem => fit(a % b),
            BinaryOp::Eq => Ok(i64::from(a == b)),
            BinaryOp::Ne => Ok(i64::from(a != b)),
            BinaryOp::Lt => Ok(i64::from(a < b)),
            BinaryOp::Le => Ok(i64::from(a <= b)),
            BinaryOp::Gt => Ok(i64::from(a > b)),
            BinaryOp::Ge => Ok(i64::from(a >= b)),
            BinaryOp::In => unreachable!("not generated"),
            BinaryOp::Iff | BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release => {
                unreachable!("formulas are not values")
            }
        }
    }

    /// Arguments are passed, and the result returned, with the types of the declaration.
    fn call(&mut self, name: &str, args: &'s [Expr]) -> Valued {
        let function = self.meaning.functions[name];
        let mut bound = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            let value = self.value(arg)?;
            bound.push((param.name.text.as_str(), self.meaning.type_of(&param.ty).0.take(value)?));
        }
        let mut inside = Scene { bound, ..Scene::new(self.meaning, self.state, None) };
        let value = inside.value(&function.body)?;
        self.meaning.type_of(&function.result).0.take(value)
    }

    fn is_at(&mut self, thread: &'s Expr, location: &str) -> Valued {
        let Thing::Thread(kind, copy) = self.path(thread)? else { unreachable!("the types are right") };
        let kind = &self.meaning.kinds[kind];
        let position = kind.tree.locations.iter().position(|l| l.name.text == location).expect("a declared location");
        let copy = in_bounds(copy.unwrap_or(0), kind.copies)?;
        Ok(i64::from(self.state[kind.counter + copy] == position as i64))
    }

    /// The element an assignment writes, and the range of what it can hold.
    pub(crate) fn element(&mut self, place: &'s Expr) -> Result<(usize, Range), FaultKind> {
        match self.path(place)? {
            Thing::Variable(variable, element, _) => Ok((element, variable.range)),
            _ => unreachable!("only variables are assigned"),
        }
    }

    fn path(&mut self, expr: &'s Expr) -> Result<Thing<'s>, FaultKind> {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Member(base, name) => {
                let base = self.path(base)?;
                self.member(&base, &name.text)
            }
            ExprKind::Index(base, at) => {
                let base = self.path(base)?;
                let at = self.value(at)?;
                match base {
                    Thing::Thread(kind, None) => Ok(Thing::Thread(kind, Some(at))),
                    Thing::Variable(variable, element, given) => {
                        let at = in_bounds(at, variable.shape[given])?;
                        let below: i64 = variable.shape[given + 1..].iter().product();
                        Ok(Thing::Variable(variable, element + at * below as usize, given + 1))
                    }
                    _ => unreachable!("the types are right"),
                }
            }
            _ => unreachable!("only paths are followed"),
        }
    }

    /// Inner names hide outer ones.
    fn name(&mut self, name: &'s str) -> Result<Thing<'s>, FaultKind> {
        if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            return Ok(Thing::Value(*value));
        }
        if let Some((kind, copy)) = self.own {
            let kind = &self.meaning.kinds[kind];
            if kind.index_param == Some(name) || kind.locals.contains_key(name) {
                return self.member(&Thing::Thread(self.own.map_or(0, |own| own.0), Some(copy)), name);
            }
        }
        let meaning = self.meaning;
        if let Some(variable) = meaning.globals.get(name) {
            return Ok(Thing::Variable(variable, variable.offset, 0));
        }
        if let Some(expr) = meaning.constants.get(name) {
            return Ok(Thing::Value(Scene::new(meaning, &[], None).value(expr)?));
        }
        if let Some(variants) = meaning.enums.get(name) {
            return Ok(Thing::Enum(variants));
        }
        if let Some(kind) = meaning.kinds.iter().position(|kind| kind.tree.name.text == name) {
            return Ok(Thing::Thread(kind, None));
        }
        let block = meaning.blocks.iter().find(|block| **block == name).expect("a declared name");
        Ok(Thing::Block(block))
    }

    fn member(&mut self, base: &Thing<'s>, name: &str) -> Result<Thing<'s>, FaultKind> {
        let meaning = self.meaning;
        match base {
            Thing::Block(block) => {
                let expr = meaning.constants[&format!("{block}.{name}")];
                Ok(Thing::Value(Scene::new(meaning, &[], None).value(expr)?))
            }
            Thing::Enum(variants) => {
                let position = variants.iter().position(|variant| variant.text == name);
                Ok(Thing::Value(position.expect("a declared enumerator") as i64))
            }
            Thing::Thread(kind, copy) => {
                let kind = &meaning.kinds[*kind];
                let copy = in_bounds(copy.unwrap_or(0), kind.copies)?;
                if kind.index_param == Some(name) {
                    return Ok(Thing::Value(copy as i64));
                }
                let local = &kind.locals[name];
                Ok(Thing::Variable(local, local.offset + copy * local.len(), 0))
            }
            Thing::Value(_) | Thing::Variable(..) => unreachable!("values have no members"),
        }
    }
}

/// Arithmetic has 32 bits.
fn fit(value: i64) -> Valued {
    i32::try_from(value).map(i64::from).map_err(|_| FaultKind::Overflow)
}

fn in_bounds(at: i64, length: i64) -> Result<usize, FaultKind> {
    if 0 <= at && at < length { Ok(at as usize) } else { Err(FaultKind::Index) }
}
