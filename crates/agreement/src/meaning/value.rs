//! What an expression means in a state: its value, or what goes wrong in computing it.

use std::collections::BTreeSet;

use birk_ir::FaultKind;
use birk_lang::ast::{self, BinaryOp, Domain, Expr, ExprKind, Quantifier, UnaryOp};

use crate::meaning::code::{Frame, Scope};
use crate::meaning::shape::{Channel, Shape, Value};
use crate::meaning::{Meaning, Variable};

type Valued = Result<Value, FaultKind>;

/// A state, with the names that are visible in it at one place.
pub(crate) struct Scene<'s> {
    pub(crate) meaning: &'s Meaning<'s>,
    pub(crate) state: &'s [i64],
    /// The copy of a thread whose parameters and locals are visible.
    own: Option<(usize, i64)>,
    /// The calls and rounds around this place.
    scope: Scope<'s>,
    /// Nothing else can move.
    timeout: bool,
    /// Quantified names and parameters of functions, innermost last.
    pub(crate) bound: Vec<(&'s str, Value)>,
}

/// A part of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'s> {
    pub(crate) shape: &'s Shape,
    /// Where its numbers begin in a state.
    pub(crate) offset: usize,
    /// Which of several channels it is.
    pub(crate) ordinal: i64,
    /// It is the value of a key: where the keys of its map are, and which of them this is.
    pub(crate) key: Option<(usize, i64)>,
}

impl<'s> Spot<'s> {
    pub(crate) fn new(shape: &'s Shape, offset: usize) -> Self {
        Self { shape, offset, ordinal: 0, key: None }
    }
}

/// What a path such as `T[i].a[j]` stands for, from left to right.
pub(crate) enum Thing<'s> {
    Value(Value),
    Variable(Spot<'s>),
    Thread(usize, Option<i64>),
    Block(&'s str),
    Enum(&'s [ast::Name]),
}

impl<'s> Scene<'s> {
    pub(crate) fn new(meaning: &'s Meaning<'_>, state: &'s [i64], own: Option<(usize, i64)>) -> Self {
        Self { meaning, state, own, scope: None, timeout: false, bound: Vec::new() }
    }

    /// The same, inside of calls and rounds.
    pub(crate) fn inside(mut self, scope: &Scope<'s>) -> Self {
        self.scope.clone_from(scope);
        self
    }

    /// The same, where it is known whether anything else can move.
    pub(crate) fn late(self, timeout: bool) -> Self {
        Self { timeout, ..self }
    }

    /// Booleans are 0 and 1, enumerators their position.
    pub(crate) fn number(&mut self, expr: &'s Expr) -> Result<i64, FaultKind> {
        Ok(self.value(expr)?.number())
    }

    /// A condition.
    pub(crate) fn holds(&mut self, expr: &'s Expr) -> Result<bool, FaultKind> {
        Ok(self.number(expr)? != 0)
    }

    pub(crate) fn value(&mut self, expr: &'s Expr) -> Valued {
        match &expr.kind {
            ExprKind::Int(value) => Ok(Value::Number(*value)),
            ExprKind::Bool(value) => Ok(Value::Number(i64::from(*value))),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => match self.path(expr, false)? {
                Thing::Value(value) => Ok(value),
                Thing::Variable(spot) => Ok(self.read(spot)),
                Thing::Thread(..) | Thing::Block(_) | Thing::Enum(_) => unreachable!("the types are right"),
            },
            ExprKind::At(thread, location) => self.is_at(thread, &location.text),
            ExprKind::Call(name, args) => self.call(&name.text, args),
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(Value::Number(1 - self.number(operand)?)),
            ExprKind::Unary(UnaryOp::Neg, operand) => fit(-self.number(operand)?),
            ExprKind::Unary(..) | ExprKind::Modal(..) | ExprKind::Fixpoint(..) => {
                unreachable!("formulas are not values")
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Conditional(condition, yes, no) => {
                if self.holds(condition)? {
                    self.value(yes)
                } else {
                    self.value(no)
                }
            }
            ExprKind::Quantifier(kind, name, domain, body) => self.quantifier(*kind, &name.text, domain, body),
            ExprKind::Let(name, value, body) => {
                let value = self.value(value)?;
                self.with(&name.text, value, body)
            }
            ExprKind::Set(members) => {
                members.iter().map(|member| self.value(member)).collect::<Result<_, _>>().map(Value::Braces)
            }
            ExprKind::Choose(_) => unreachable!("initial values are chosen elsewhere"),
            ExprKind::Error => unreachable!("a system without errors is evaluated"),
        }
    }

    pub(crate) fn read(&self, spot: Spot<'_>) -> Value {
        spot.shape.read(&self.state[spot.offset..spot.offset + spot.shape.len()])
    }

    /// The value of a body in which a name is bound.
    fn with(&mut self, name: &'s str, value: Value, body: &'s Expr) -> Valued {
        self.bound.push((name, value));
        let body = self.value(body);
        self.bound.pop();
        body
    }

    /// Every value is examined: what goes wrong for one of them goes wrong.
    fn quantifier(&mut self, kind: Quantifier, name: &'s str, domain: &'s Domain, body: &'s Expr) -> Valued {
        let mut total = i64::from(kind == Quantifier::All);
        for value in self.domain(domain)? {
            let body = self.with(name, value, body)?.number();
            match kind {
                Quantifier::All => total &= body,
                Quantifier::Any => total |= body,
                Quantifier::Count | Quantifier::Sum => total += body,
            }
        }
        fit(total)
    }

    fn domain(&mut self, domain: &'s Domain) -> Result<Vec<Value>, FaultKind> {
        let numbers = |lo: i64, hi: i64| (lo..=hi).map(Value::Number).collect();
        match domain {
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                Ok(numbers(lo, hi))
            }
            Domain::Members(expr) => {
                if let Some(last) = self.meaning.symmetric(expr) {
                    return Ok(numbers(0, last));
                }
                match self.value(expr)? {
                    Value::Whole(elements) | Value::Sequence(_, elements) => Ok(elements),
                    Value::Map(_, values) => Ok(values.into_keys().map(Value::Number).collect()),
                    set => Ok(set.members().0.into_iter().map(Value::Number).collect()),
                }
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &'s Expr, right: &'s Expr) -> Valued {
        let truth = |value: bool| Ok(Value::Number(i64::from(value)));
        let a = match self.value(left)? {
            Value::Number(a) => a,
            other => {
                let right = self.value(right)?;
                return of_several(op, other, right);
            }
        };
        match op {
            BinaryOp::And if a == 0 => return truth(false),
            BinaryOp::Or if a != 0 => return truth(true),
            BinaryOp::Implies if a == 0 => return truth(true),
            _ => {}
        }
        let b = match self.value(right)? {
            Value::Number(b) => b,
            Value::Sequence(_, elements) => return truth(elements.contains(&Value::Number(a))),
            Value::Map(_, values) => return truth(values.contains_key(&a)),
            set => return truth(set.members().0.contains(&a)),
        };
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => truth(b != 0),
            BinaryOp::Add => fit(a + b),
            BinaryOp::Sub => fit(a - b),
            BinaryOp::Mul => fit(a * b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => Err(FaultKind::DivisionByZero),
            // Rust's integers round towards zero, too, and its remainder has the sign of the dividend.
            BinaryOp::Div => fit(a / b),
            BinaryOp::Rem => fit(a % b),
            BinaryOp::Eq => truth(a == b),
            BinaryOp::Ne => truth(a != b),
            BinaryOp::Lt => truth(a < b),
            BinaryOp::Le => truth(a <= b),
            BinaryOp::Gt => truth(a > b),
            BinaryOp::Ge => truth(a >= b),
            BinaryOp::In => unreachable!("the types are right"),
            BinaryOp::Iff | BinaryOp::Until | BinaryOp::WeakUntil | BinaryOp::Release => {
                unreachable!("formulas are not values")
            }
        }
    }

    fn call(&mut self, name: &str, args: &'s [Expr]) -> Valued {
        if let Some(function) = self.meaning.functions.get(name) {
            return self.function(function, args);
        }
        if let Some(fields) = self.meaning.records.get(name) {
            let fields = self.meaning.fields(fields);
            let mut all = Vec::new();
            for ((_, shape), arg) in fields.iter().zip(args) {
                all.extend(shape.take(self.value(arg)?)?.singles());
            }
            return Ok(Value::Whole(all));
        }
        self.built_in(name, args)
    }

    /// Arguments are passed, and the result returned, with the types of the declaration.
    fn function(&mut self, function: &'s ast::Function, args: &'s [Expr]) -> Valued {
        let mut bound = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            let value = self.value(arg)?;
            bound.push((param.name.text.as_str(), self.meaning.shape_of(&param.ty).take(value)?));
        }
        let mut inside = Scene { bound, ..Scene::new(self.meaning, self.state, None) };
        let value = inside.value(&function.body)?;
        self.meaning.shape_of(&function.result).take(value)
    }

    fn is_at(&mut self, thread: &'s Expr, location: &str) -> Valued {
        let Thing::Thread(kind, copy) = self.path(thread, false)? else { unreachable!("the types are right") };
        let kind = &self.meaning.kinds[kind];
        let place = kind.code.labels[location];
        let copy = in_bounds(copy.unwrap_or(0), kind.copies)?;
        Ok(Value::Number(i64::from(place.is_some_and(|place| self.state[kind.counter + copy] == place as i64))))
    }

    /// The part of a variable that is assigned.
    pub(crate) fn target(&mut self, place: &'s Expr) -> Result<Spot<'s>, FaultKind> {
        match self.path(place, true)? {
            Thing::Variable(spot) => Ok(spot),
            _ => unreachable!("only variables are assigned"),
        }
    }

    /// The part of a variable that is looked at.
    pub(crate) fn variable(&mut self, expr: &'s Expr) -> Result<Spot<'s>, FaultKind> {
        match self.path(expr, false)? {
            Thing::Variable(spot) => Ok(spot),
            _ => unreachable!("the types are right"),
        }
    }

    /// A channel.
    pub(crate) fn channel(&mut self, expr: &'s Expr) -> Result<(Spot<'s>, &'s Channel), FaultKind> {
        let spot = self.variable(expr)?;
        match spot.shape {
            Shape::Channel(channel) => Ok((spot, channel)),
            _ => unreachable!("the types are right"),
        }
    }

    /// The numbers of the oldest message of a channel.
    pub(crate) fn oldest(&self, spot: Spot<'_>, channel: &Channel) -> Option<&'s [i64]> {
        let messages = self.state[spot.offset + spot.shape.len() - 1];
        (messages > 0).then(|| &self.state[spot.offset..spot.offset + channel.element.len()])
    }

    /// Whether a value is that of an expression.
    pub(crate) fn equals(&mut self, value: &Value, expr: &'s Expr) -> Result<bool, FaultKind> {
        let wanted = self.value(expr)?;
        Ok(match value {
            Value::Number(number) => *number == wanted.number(),
            other => of_several(BinaryOp::Eq, other.clone(), wanted)?.number() != 0,
        })
    }

    /// What is only looked at in a map must be there; a key that is written need not.
    pub(crate) fn path(&mut self, expr: &'s Expr, is_written: bool) -> Result<Thing<'s>, FaultKind> {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, is_written),
            ExprKind::Member(base, name) => {
                if let Some(last) = self.meaning.symmetric(base) {
                    assert_eq!(name.text, "nobody", "a symmetric type has no other member");
                    return Ok(Thing::Value(Value::Number(last + 1)));
                }
                let base = self.path(base, false)?;
                self.member(&base, &name.text)
            }
            ExprKind::Index(base, at) => {
                let base = self.path(base, false)?;
                let at = self.number(at)?;
                match base {
                    Thing::Thread(kind, None) => Ok(Thing::Thread(kind, Some(at))),
                    Thing::Variable(spot) => self.element(spot, at, is_written).map(Thing::Variable),
                    _ => unreachable!("the types are right"),
                }
            }
            ExprKind::Call(name, args) if self.is_end(&name.text) => {
                self.end(&name.text, &args[0]).map(Thing::Variable)
            }
            // What stands for a parameter of a procedure may be any expression.
            _ => Ok(Thing::Value(self.value(expr)?)),
        }
    }

    /// Inner names hide outer ones.
    fn name(&mut self, name: &'s str, is_written: bool) -> Result<Thing<'s>, FaultKind> {
        if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            return Ok(Thing::Value(value.clone()));
        }
        let mut scope = self.scope.clone();
        let mut in_procedure = false;
        while let Some(frame) = scope {
            match &*frame {
                Frame::Round(own, value, _) if *own == name => return Ok(Thing::Value(Value::Number(*value))),
                Frame::Round(_, _, outer) => scope = outer.clone(),
                Frame::Call(procedure, args, outer) => {
                    // A parameter stands for its argument, as it is where the call stands.
                    let position = procedure.params.iter().position(|param| param.name.text == name);
                    if let Some(position) = position {
                        let around = Scene::new(self.meaning, self.state, self.own).inside(outer);
                        return around.late(self.timeout).path(&args[position], is_written);
                    }
                    in_procedure = true;
                    break;
                }
            }
        }
        if let Some((kind, copy)) = self.own.filter(|_| !in_procedure) {
            let declared = &self.meaning.kinds[kind];
            if declared.index_param == Some(name) || declared.locals.contains_key(name) {
                return self.member(&Thing::Thread(kind, Some(copy)), name);
            }
        }
        let meaning = self.meaning;
        if let Some(variable) = meaning.globals.get(name) {
            return Ok(Thing::Variable(whole(variable, 0)));
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
        if name == "timeout" {
            return Ok(Thing::Value(Value::Number(i64::from(self.timeout))));
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
                Ok(Thing::Value(Value::Number(position.expect("a declared enumerator") as i64)))
            }
            Thing::Thread(kind, copy) => {
                let kind = &meaning.kinds[*kind];
                let copy = in_bounds(copy.unwrap_or(0), kind.copies)?;
                if kind.index_param == Some(name) {
                    return Ok(Thing::Value(Value::Number(copy as i64)));
                }
                Ok(Thing::Variable(whole(&kind.locals[name], copy)))
            }
            Thing::Variable(Spot { shape: Shape::Record(fields), offset, .. }) => {
                let mut offset = *offset;
                for (field, shape) in fields {
                    if field == name {
                        return Ok(Thing::Variable(Spot::new(shape, offset)));
                    }
                    offset += shape.len();
                }
                unreachable!("the types are right")
            }
            Thing::Value(_) | Thing::Variable(..) => unreachable!("values have no members"),
        }
    }
}

/// All of a variable, or of one copy of it.
fn whole(variable: &Variable, copy: usize) -> Spot<'_> {
    let shape = &variable.shape;
    Spot::new(shape, variable.offset + copy * shape.len())
}

/// An operator on sets, or the comparison of what has several values.
fn of_several(op: BinaryOp, left: Value, right: Value) -> Valued {
    let truth = |value: bool| Ok(Value::Number(i64::from(value)));
    if let (BinaryOp::In, Value::Sequence(of, elements)) = (op, &right) {
        return truth(elements.contains(&of.element.take(left)?));
    }
    // What stands in braces has the type of the other side.
    let (left, right) = match left.shape().or(right.shape()) {
        Some(shape) => (shape.take(left)?, shape.take(right)?),
        None => (left, right),
    };
    let (a, b, range) = match (left, right) {
        (a @ (Value::Set(..) | Value::Braces(_)), b) => {
            let ((a, own), (b, their)) = (a.members(), b.members());
            (a, b, own.or(their))
        }
        (a, b) => return truth((a.singles() == b.singles()) == (op == BinaryOp::Eq)),
    };
    // A set in braces becomes a set of the same numbers as the other side.
    if let Some((lo, hi)) = range
        && a.iter().chain(&b).any(|member| *member < lo || hi < *member)
    {
        return Err(FaultKind::Range);
    }
    let set = |members: BTreeSet<i64>| Ok(Value::Set(members, range));
    match op {
        BinaryOp::Add => set(&a | &b),
        BinaryOp::Sub => set(&a - &b),
        BinaryOp::Mul => set(&a & &b),
        BinaryOp::Le => truth(a.is_subset(&b)),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        _ => unreachable!("the types are right"),
    }
}

/// Arithmetic has 32 bits.
fn fit(value: i64) -> Valued {
    i32::try_from(value).map(|value| Value::Number(i64::from(value))).map_err(|_| FaultKind::Overflow)
}

pub(crate) fn in_bounds(at: i64, length: i64) -> Result<usize, FaultKind> {
    if 0 <= at && at < length { Ok(at as usize) } else { Err(FaultKind::Index) }
}
