//! Types, and values on their way from the tree to the program.
//!
//! A value carries the interval it must lie in, and its hazards: what can go wrong in computing it, each as a condition.
//! Intervals remove the hazards that cannot happen; facts learnt from guards make the intervals small.

use std::collections::BTreeMap;

use birk_ir::text::{KEYS, LENGTH};
use birk_ir::{BinaryOp, Expr, FaultId, Span, UnaryOp, VarId};

/// What a variable of a symmetric type `or nobody` holds besides its values.
pub(crate) const NOBODY: &str = "nobody";
pub(crate) const INT_MIN: i64 = i32::MIN as i64;
pub(crate) const INT_MAX: i64 = i32::MAX as i64;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Boolean,
    Int,
    /// Position in the table of enumerations.
    Enum(usize),
    /// A set of numbers between these two, or of the values of a symmetric type; its value has a bit for each.
    Set(i64, i64, Option<usize>),
    /// Position in the table of types: only equality, assignment and indexing.
    Symmetric(usize),
    /// Position in the table of records; not a single value.
    Record(usize),
    /// Position in the table of sequences and maps; not a single value.
    Collection(usize),
    /// Position in the table of channels; not a value at all.
    Channel(usize),
    /// Already reported; compatible with everything.
    Error,
}

impl Ty {
    /// The type of the members of a set over numbers, or over a symmetric type.
    pub(crate) fn of_members(of: Option<usize>) -> Ty {
        of.map_or(Ty::Int, Ty::Symmetric)
    }
}

/// The type of one element of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) ty: Ty,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) wrap: bool,
}

impl Scalar {
    pub(crate) const BOOLEAN: Scalar = Scalar { ty: Ty::Boolean, lo: 0, hi: 1, wrap: false };
    pub(crate) const BYTE: Scalar = Scalar { ty: Ty::Int, lo: 0, hi: 255, wrap: true };
    pub(crate) const INT: Scalar = Scalar { ty: Ty::Int, lo: INT_MIN, hi: INT_MAX, wrap: false };
    pub(crate) const ERROR: Scalar = Scalar { ty: Ty::Error, ..Self::INT };
}

/// A scalar type or an array of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) scalar: Scalar,
    pub(crate) shape: Vec<u32>,
    /// For each dimension, the symmetric type whose values are its indices, if it has one.
    pub(crate) by: Vec<Option<usize>>,
}

impl Type {
    /// Of what has no type that makes sense, which was reported.
    pub(crate) const ERROR: Type = Type::of(Scalar::ERROR);

    /// The type of a single value.
    pub(crate) const fn of(scalar: Scalar) -> Self {
        Self { scalar, shape: Vec::new(), by: Vec::new() }
    }

    /// Whether values of one can become values of the other.
    pub(crate) fn is_like(&self, other: &Type) -> bool {
        self.scalar.ty == other.scalar.ty && self.shape == other.shape && self.by == other.by
    }
}

/// A sequence or map type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    Sequence {
        element: Type,
        capacity: u32,
    },
    /// The keys are the numbers of a range, or the values of a symmetric type.
    Map {
        lo: i64,
        hi: i64,
        of: Option<usize>,
        value: Type,
    },
}

impl Collection {
    /// The type of what it holds.
    pub(crate) fn held(&self) -> &Type {
        match self {
            Collection::Sequence { element, .. } => element,
            Collection::Map { value, .. } => value,
        }
    }

    /// How many places it has, and the symmetric type that numbers them.
    pub(crate) fn places(&self) -> (u32, Option<usize>) {
        match *self {
            Collection::Sequence { capacity, .. } => (capacity, None),
            Collection::Map { lo, hi, of, .. } => ((hi - lo + 1) as u32, of),
        }
    }

    /// The array of what it holds.
    pub(crate) fn array(&self) -> Type {
        let (places, by) = self.places();
        let mut array = self.held().clone();
        array.shape.insert(0, places);
        array.by.insert(0, by);
        array
    }

    /// The type of what says which places count.
    pub(crate) fn counted(&self) -> Scalar {
        match *self {
            Collection::Sequence { capacity, .. } => {
                Scalar { ty: Ty::Int, lo: 0, hi: i64::from(capacity), wrap: false }
            }
            Collection::Map { lo, hi, of, .. } => {
                Scalar { ty: Ty::Set(lo, hi, of), lo: 0, hi: full(lo, hi), wrap: false }
            }
        }
    }

    /// What the name of the variable ends with that says so.
    pub(crate) fn mark(&self) -> &'static str {
        match self {
            Collection::Sequence { .. } => LENGTH,
            Collection::Map { .. } => KEYS,
        }
    }
}

/// All bits of a set over a range.
pub(crate) fn full(lo: i64, hi: i64) -> i64 {
    (1 << (hi - lo + 1)) - 1
}

/// Something that goes wrong where the condition is true.
#[derive(Clone, Debug)]
pub(crate) struct Hazard {
    pub(crate) when: Expr,
    pub(crate) fault: FaultId,
}

/// An expression with its type, its interval and its hazards.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) expr: Expr,
    pub(crate) ty: Ty,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) hazards: Vec<Hazard>,
    /// Made of literals and constants only: what is wrong with it is an error now, not a fault later.
    pub(crate) fixed: bool,
}

impl Value {
    pub(crate) fn constant(value: i64, ty: Ty) -> Self {
        Self { expr: Expr::Const(value), ty, lo: value, hi: value, hazards: Vec::new(), fixed: true }
    }

    pub(crate) fn error() -> Self {
        Self { ty: Ty::Error, lo: INT_MIN, hi: INT_MAX, fixed: false, ..Self::constant(0, Ty::Error) }
    }

    pub(crate) fn boolean(expr: Expr) -> Self {
        let (lo, hi) = expr.as_const().map_or((0, 1), |value| (value, value));
        Self { expr, ty: Ty::Boolean, lo, hi, hazards: Vec::new(), fixed: false }
    }

    /// Folds to a constant when the interval leaves only one value.
    pub(crate) fn settled(mut self) -> Self {
        if self.lo == self.hi && self.ty != Ty::Error {
            self.expr = Expr::Const(self.lo);
        }
        self
    }

    /// How many parts it has, with those of its hazards.
    pub(crate) fn size(&self) -> usize {
        self.expr.size() + self.hazards.iter().map(|hazard| hazard.when.size()).sum::<usize>()
    }

    pub(crate) fn is_within(&self, lo: i64, hi: i64) -> bool {
        lo <= self.lo && self.hi <= hi
    }
}

/// True where `expr` is outside `lo..=hi`, leaving out the side its interval excludes.
pub(crate) fn outside(value: &Value, lo: i64, hi: i64) -> Expr {
    let below = if value.lo < lo { compare(BinaryOp::Lt, &value.expr, lo) } else { Expr::FALSE };
    let above = if value.hi > hi { compare(BinaryOp::Gt, &value.expr, hi) } else { Expr::FALSE };
    below.or(above)
}

fn compare(op: BinaryOp, expr: &Expr, with: i64) -> Expr {
    Expr::binary(op, expr.clone(), Expr::Const(with))
}

/// A comparison that the intervals decide.
pub(crate) fn decided(op: BinaryOp, a: &Value, b: &Value) -> Option<bool> {
    match op {
        BinaryOp::Lt if a.hi < b.lo => Some(true),
        BinaryOp::Lt if a.lo >= b.hi => Some(false),
        BinaryOp::Le if a.hi <= b.lo => Some(true),
        BinaryOp::Le if a.lo > b.hi => Some(false),
        BinaryOp::Gt | BinaryOp::Ge => decided(if op == BinaryOp::Gt { BinaryOp::Lt } else { BinaryOp::Le }, b, a),
        BinaryOp::Eq if a.hi < b.lo || b.hi < a.lo => Some(false),
        BinaryOp::Eq if a.lo == a.hi && b.lo == b.hi => Some(a.lo == b.lo),
        BinaryOp::Ne => decided(BinaryOp::Eq, a, b).map(|equal| !equal),
        _ => None,
    }
}

/// What is known of variables at one point of a step: tighter bounds than their types give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    bounds: BTreeMap<(VarId, u32), (i64, i64)>,
}

impl Facts {
    /// The known bounds of an element within `lo..=hi`.
    pub(crate) fn bounds(&self, variable: VarId, element: u32, lo: i64, hi: i64) -> (i64, i64) {
        match self.bounds.get(&(variable, element)) {
            // Contradicting facts mean that this point is never reached: anything is right there.
            Some(&(l, h)) if l.max(lo) <= h.min(hi) => (l.max(lo), h.min(hi)),
            _ => (lo, hi),
        }
    }

    /// After a write: only the new value's bounds are known.
    pub(crate) fn write(&mut self, variable: VarId, element: Option<u32>, lo: i64, hi: i64) {
        match element {
            Some(element) => _ = self.bounds.insert((variable, element), (lo, hi)),
            None => {
                let mut others = self.bounds.split_off(&(variable, 0));
                self.bounds.append(&mut others.split_off(&(VarId::new(variable.index() + 1), 0)));
            }
        }
    }

    /// Learns from a condition that is true here.
    pub(crate) fn assume(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(BinaryOp::And, parts) => {
                self.assume(&parts.0);
                self.assume(&parts.1);
            }
            Expr::Unary(UnaryOp::Not, inner) => self.deny(inner),
            Expr::Binary(op, parts) => self.compare(*op, &parts.0, &parts.1),
            other => self.compare(BinaryOp::Ge, other, &Expr::Const(1)),
        }
    }

    /// Learns from a condition that is false here.
    fn deny(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(BinaryOp::Or, parts) => {
                self.deny(&parts.0);
                self.deny(&parts.1);
            }
            Expr::Unary(UnaryOp::Not, inner) => self.assume(inner),
            Expr::Binary(op, parts) => {
                if let Some(opposite) = opposite(*op) {
                    self.compare(opposite, &parts.0, &parts.1);
                }
            }
            other => self.compare(BinaryOp::Eq, other, &Expr::Const(0)),
        }
    }

    fn compare(&mut self, op: BinaryOp, a: &Expr, b: &Expr) {
        if let (Some((variable, element)), Some(value)) = (element_of(a), b.as_const()) {
            self.narrow(op, variable, element, value);
        } else if let (Some((variable, element)), Some(value)) = (element_of(b), a.as_const()) {
            self.narrow(mirrored(op), variable, element, value);
        }
    }

    fn narrow(&mut self, op: BinaryOp, variable: VarId, element: u32, value: i64) {
        let (lo, hi) = self.bounds(variable, element, i64::MIN, i64::MAX);
        let (lo, hi) = match op {
            BinaryOp::Lt => (lo, hi.min(value - 1)),
            BinaryOp::Le => (lo, hi.min(value)),
            BinaryOp::Gt => (lo.max(value + 1), hi),
            BinaryOp::Ge => (lo.max(value), hi),
            BinaryOp::Eq => (value, value),
            _ => return,
        };
        self.write(variable, Some(element), lo, hi);
    }
}

fn element_of(expr: &Expr) -> Option<(VarId, u32)> {
    match expr {
        Expr::Var(variable) => Some((*variable, 0)),
        Expr::Element(variable, index) => Some((*variable, u32::try_from(index.as_const()?).ok()?)),
        _ => None,
    }
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Eq => BinaryOp::Ne,
        _ => return None,
    })
}

/// A declared variable, global or local to a thread.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The first of its variables.
    pub(crate) id: VarId,
    /// What it is made of: one variable, or one for each part of a record or channel.
    pub(crate) leaves: Vec<VarId>,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// One single-valued part of a type: what follows the name, all lengths, and the type of an element.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) suffix: String,
    pub(crate) shape: Vec<u32>,
    pub(crate) by: Vec<Option<usize>>,
    pub(crate) scalar: Scalar,
}
