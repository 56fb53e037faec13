//! Expressions: total, without side effects. Guards, properties and estimates are all this.
//!
//! Values are 64-bit integers; booleans are 0 and 1. What can go wrong in the source language
//! (overflow, division by zero, a bad index) is tested by a `Check` before the value is used, so every
//! operator here has a value for every operand: division by zero gives 0, reading outside an
//! array gives 0, arithmetic wraps at 64 bits (operands of checked programs never get there).

use crate::ids::{LocalId, VarId};

/// A total expression over one state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A literal.
    Const(i64),
    /// A scalar variable.
    Var(VarId),
    /// An element of an array variable.
    Element(VarId, Box<Expr>),
    /// A value bound by `Let`, `Fold`, or by the transition.
    Local(LocalId),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands; `And` and `Or` evaluate the second only when needed.
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// Condition, then, else: only the chosen branch is evaluated.
    If(Box<(Expr, Expr, Expr)>),
    /// The value brought into `lo..=hi` modulo its size.
    Wrap(Box<Expr>, i64, i64),
    /// `body` for each value of `local` in `lo..=hi`, combined.
    Fold {
        /// How the bodies are combined.
        op: FoldOp,
        /// The bound value.
        local: LocalId,
        /// Lower bound, upper bound (inclusive), body.
        parts: Box<(Expr, Expr, Expr)>,
    },
    /// `value` evaluated once, then `body`.
    Let {
        /// The bound value.
        local: LocalId,
        /// Value, body.
        parts: Box<(Expr, Expr)>,
    },
    /// No step is possible here: known when a state is evaluated, and meaningful only in goals.
    Stuck,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Logical negation.
    Not,
    /// Arithmetic negation.
    Neg,
    /// How many bits are set: the size of a set.
    Ones,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, rounded towards zero; 0 when the divisor is 0.
    Div,
    /// Remainder with the sign of the dividend; 0 when the divisor is 0.
    Rem,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Conjunction, left first.
    And,
    /// Disjunction, left first.
    Or,
    /// Bits in both: intersection of sets.
    BitAnd,
    /// Bits in either: union of sets.
    BitOr,
    /// Bits moved up; 0 when the distance is not in 0..63.
    Shl,
    /// Bits moved down, zeros from above; 0 when the distance is not in 0..63.
    Shr,
}

/// How a `Fold` combines its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldOp {
    /// True when every body is.
    All,
    /// True when some body is.
    Any,
    /// How many bodies are true.
    Count,
    /// The sum of the bodies.
    Sum,
}

impl Expr {
    /// The constant true.
    pub const TRUE: Expr = Expr::Const(1);
    /// The constant false.
    pub const FALSE: Expr = Expr::Const(0);

    /// The value when it is a constant.
    pub fn as_const(&self) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// `left op right`, folded where both or the decisive one are constant.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        match (op, left.as_const(), right.as_const()) {
            (_, Some(a), Some(b)) => Expr::Const(op.apply(a, b)),
            (BinaryOp::And, Some(0), _) => Expr::FALSE,
            (BinaryOp::And, Some(_), _) => right,
            (BinaryOp::And, _, Some(1)) => left,
            (BinaryOp::Or, Some(0), _) => right,
            (BinaryOp::Or, Some(_), _) => Expr::TRUE,
            (BinaryOp::Or, _, Some(0)) => left,
            (BinaryOp::Add | BinaryOp::BitOr, Some(0), _) => right,
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitOr, _, Some(0)) => left,
            (BinaryOp::Mul, Some(1), _) => right,
            (BinaryOp::Mul, _, Some(1)) => left,
            _ => Expr::Binary(op, Box::new((left, right))),
        }
    }

    /// Logical negation, folded.
    pub fn negate(self) -> Expr {
        match self {
            Expr::Const(value) => Expr::Const(i64::from(value == 0)),
            Expr::Unary(UnaryOp::Not, inner) => *inner,
            other => Expr::Unary(UnaryOp::Not, Box::new(other)),
        }
    }

    /// Conjunction, folded.
    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::And, self, other)
    }

    /// Disjunction, folded.
    pub fn or(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::Or, self, other)
    }

    /// Conjunction of all, as a balanced tree.
    pub fn all(parts: Vec<Expr>) -> Expr {
        balanced(parts, Expr::TRUE, Expr::and)
    }

    /// Disjunction of all, as a balanced tree.
    pub fn any(parts: Vec<Expr>) -> Expr {
        balanced(parts, Expr::FALSE, Expr::or)
    }

    /// Equality with a constant, folded.
    pub fn equals(self, value: i64) -> Expr {
        Expr::binary(BinaryOp::Eq, self, Expr::Const(value))
    }

    /// `if condition then yes else no`, folded.
    pub fn choose(condition: Expr, yes: Expr, no: Expr) -> Expr {
        match condition.as_const() {
            Some(0) => no,
            Some(_) => yes,
            None => Expr::If(Box::new((condition, yes, no))),
        }
    }

    /// An element of an array; a constant index stays visible for footprints.
    pub fn element(variable: VarId, index: Expr) -> Expr {
        Expr::Element(variable, Box::new(index))
    }

    /// Calls `visit` on this expression and every sub-expression.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Local(_) | Expr::Stuck => {}
            Expr::Element(_, a) | Expr::Unary(_, a) | Expr::Wrap(a, _, _) => a.walk(visit),
            Expr::Binary(_, parts) | Expr::Let { parts, .. } => {
                parts.0.walk(visit);
                parts.1.walk(visit);
            }
            Expr::If(parts) | Expr::Fold { parts, .. } => {
                parts.0.walk(visit);
                parts.1.walk(visit);
                parts.2.walk(visit);
            }
        }
    }

    /// How many nodes it has.
    pub fn size(&self) -> usize {
        let mut nodes = 0;
        self.walk(&mut |_| nodes += 1);
        nodes
    }
}

/// Combines neighbours until one is left, so that thousands of parts do not nest thousands deep.
fn balanced(mut parts: Vec<Expr>, none: Expr, combine: fn(Expr, Expr) -> Expr) -> Expr {
    while parts.len() > 1 {
        let mut halves = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halves.push(match rest.next() {
                Some(right) => combine(left, right),
                None => left,
            });
        }
        parts = halves;
    }
    parts.pop().unwrap_or(none)
}

impl BinaryOp {
    /// The value of the operator: the one place that defines it.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if b == 0 => 0,
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Rem if b == 0 => 0,
            BinaryOp::Rem => a.wrapping_rem(b),
            BinaryOp::Eq => i64::from(a == b),
            BinaryOp::Ne => i64::from(a != b),
            BinaryOp::Lt => i64::from(a < b),
            BinaryOp::Le => i64::from(a <= b),
            BinaryOp::Gt => i64::from(a > b),
            BinaryOp::Ge => i64::from(a >= b),
            BinaryOp::And => i64::from(a != 0 && b != 0),
            BinaryOp::Or => i64::from(a != 0 || b != 0),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::Shl => {
                if (0..64).contains(&b) {
                    a << b
                } else {
                    0
                }
            }
            BinaryOp::Shr => {
                if (0..64).contains(&b) {
                    ((a as u64) >> b) as i64
                } else {
                    0
                }
            }
        }
    }
}

impl UnaryOp {
    /// The value of the operator: the one place that defines it.
    pub fn apply(self, a: i64) -> i64 {
        match self {
            UnaryOp::Not => i64::from(a == 0),
            UnaryOp::Neg => a.wrapping_neg(),
            UnaryOp::Ones => i64::from(a.count_ones()),
        }
    }
}

/// The value of `Wrap`: `value` brought into `lo..=hi` modulo the size of the range.
pub fn wrap(value: i64, lo: i64, hi: i64) -> i64 {
    lo + value.wrapping_sub(lo).rem_euclid(hi - lo + 1)
}
