//! Interval analysis (Cousot and Cousot 1977): between which bounds the values of expressions and variables lie.
//!
//! `of` is the analysis of one expression, given the bounds of what it reads: engines know these from the types of variables,
//! from the bits in which they are stored, or from `reachable`, which finds the bounds of every variable in all states that
//! can be reached. Bounds hold for expressions as they are defined, with 64 bits that wrap.

use std::collections::BTreeMap;

use crate::expr::{BinaryOp, Expr, FoldOp, UnaryOp};
use crate::ids::{LocalId, VarId};
use crate::program::{Op, Place, Program, Transition};

/// The smallest and the largest value.
pub type Interval = (i64, i64);

/// Nothing is known.
pub const ANY: Interval = (i64::MIN, i64::MAX);
const TRUTH: Interval = (0, 1);

/// Rounds of `reachable` after which a variable that still grows is widened to its type.
const MOST_ROUNDS: usize = 64;

/// Where the bounds of what an expression reads come from.
pub trait Scope {
    /// The program that the expression is about.
    fn program(&self) -> &Program;
    /// The values of a variable: of any of its elements, if it is an array.
    fn variable(&self, variable: VarId) -> Interval;
    /// A value that was bound outside of the expression.
    fn local(&self, local: LocalId) -> Interval;
}

/// The bounds of an expression.
pub fn of(expr: &Expr, scope: &impl Scope) -> Interval {
    Analysis { scope, bound: Vec::new() }.of(expr)
}

struct Analysis<'s, S> {
    scope: &'s S,
    /// What the expression binds itself, the innermost last.
    bound: Vec<(LocalId, Interval)>,
}

impl<S: Scope> Analysis<'_, S> {
    fn of(&mut self, expr: &Expr) -> Interval {
        match expr {
            Expr::Const(value) => (*value, *value),
            Expr::Var(variable) => self.element(*variable, (0, 0)),
            Expr::Element(variable, index) => {
                let index = self.of(index);
                self.element(*variable, index)
            }
            Expr::Local(local) => match self.bound.iter().rev().find(|(bound, _)| bound == local) {
                Some(&(_, interval)) => interval,
                None => self.scope.local(*local),
            },
            Expr::Unary(op, operand) => unary(*op, self.of(operand)),
            Expr::Binary(op, parts) => binary(*op, self.of(&parts.0), self.of(&parts.1)),
            Expr::If(parts) => match self.of(&parts.0) {
                (0, 0) => self.of(&parts.2),
                (lo, hi) if lo > 0 || hi < 0 => self.of(&parts.1),
                _ => hull(self.of(&parts.1), self.of(&parts.2)),
            },
            Expr::Wrap(value, lo, hi) => match self.of(value) {
                value if *lo <= value.0 && value.1 <= *hi => value,
                (least, most) if least == most => as_interval(crate::expr::wrap(least, *lo, *hi)),
                _ => (*lo, *hi),
            },
            Expr::Fold { op, local, parts } => self.fold(*op, *local, parts),
            Expr::Let { local, parts } => {
                let value = self.of(&parts.0);
                self.with(*local, value, &parts.1)
            }
            Expr::Stuck => TRUTH,
        }
    }

    /// An element of a variable; reading outside it gives 0.
    fn element(&self, variable: VarId, index: Interval) -> Interval {
        let len = i64::from(self.scope.program().variable(variable).len());
        if index.1 < 0 || len <= index.0 {
            return (0, 0);
        }
        let interval = self.scope.variable(variable);
        if 0 <= index.0 && index.1 < len { interval } else { hull(interval, (0, 0)) }
    }

    fn fold(&mut self, op: FoldOp, local: LocalId, parts: &(Expr, Expr, Expr)) -> Interval {
        let (lo, hi) = (self.of(&parts.0).0, self.of(&parts.1).1);
        if lo > hi {
            return as_interval(i64::from(op == FoldOp::All));
        }
        let times = i128::from(hi) - i128::from(lo) + 1;
        match op {
            FoldOp::All | FoldOp::Any => TRUTH,
            FoldOp::Count => fitting(0, times),
            FoldOp::Sum => {
                let body = self.with(local, (lo, hi), &parts.2);
                fitting((times * i128::from(body.0)).min(0), (times * i128::from(body.1)).max(0))
            }
        }
    }

    /// The bounds of a part of the expression in which a value is bound.
    fn with(&mut self, local: LocalId, value: Interval, part: &Expr) -> Interval {
        self.bound.push((local, value));
        let interval = self.of(part);
        self.bound.pop();
        interval
    }
}

/// The bounds of a unary operator.
pub fn unary(op: UnaryOp, (lo, hi): Interval) -> Interval {
    if lo == hi {
        return as_interval(op.apply(lo));
    }
    match op {
        UnaryOp::Not => TRUTH,
        UnaryOp::Neg => fitting(-i128::from(hi), -i128::from(lo)),
        UnaryOp::Ones if lo >= 0 => (0, i64::from(i64::BITS - hi.leading_zeros())),
        UnaryOp::Ones => (0, i64::from(i64::BITS)),
    }
}

/// The bounds of a binary operator.
pub fn binary(op: BinaryOp, (a, b): Interval, (c, d): Interval) -> Interval {
    if a == b && c == d {
        return as_interval(op.apply(a, c));
    }
    let wide = |value: i64| i128::from(value);
    match op {
        BinaryOp::Add => fitting(wide(a) + wide(c), wide(b) + wide(d)),
        BinaryOp::Sub => fitting(wide(a) - wide(d), wide(b) - wide(c)),
        BinaryOp::Mul => corners([c, d].into_iter().flat_map(|y| [wide(a) * wide(y), wide(b) * wide(y)])),
        BinaryOp::Div => {
            // A quotient grows or falls from one of these divisors to the next.
            let divisors = [c, -1, 1, d].into_iter().filter(|y| *y != 0 && (c..=d).contains(y));
            let by_zero = (c..=d).contains(&0).then_some(0);
            corners(divisors.flat_map(|y| [wide(a) / wide(y), wide(b) / wide(y)]).chain(by_zero))
        }
        BinaryOp::Rem => {
            let most = (wide(c).abs().max(wide(d).abs()) - 1).max(0);
            fitting(wide(a).max(-most).min(0), wide(b).min(most).max(0))
        }
        // No bit is set that is not in both, so that one which is not negative bounds the result.
        BinaryOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
        BinaryOp::BitAnd if a >= 0 => (0, b),
        BinaryOp::BitAnd if c >= 0 => (0, d),
        BinaryOp::BitOr if a >= 0 && c >= 0 => {
            (a.max(c), u64::MAX.checked_shr((b | d).leading_zeros()).unwrap_or(0) as i64)
        }
        BinaryOp::Shr if a >= 0 => (0, b),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::Shl | BinaryOp::Shr => ANY,
        _ => TRUTH,
    }
}

fn as_interval(value: i64) -> Interval {
    (value, value)
}

/// From the smallest to the largest of some values, unless what is between them can wrap.
fn corners(values: impl Iterator<Item = i128>) -> Interval {
    let (lo, hi) = values.fold((i128::MAX, i128::MIN), |(lo, hi), value| (lo.min(value), hi.max(value)));
    fitting(lo, hi)
}

/// These bounds, unless what is between them can wrap.
fn fitting(lo: i128, hi: i128) -> Interval {
    match (i64::try_from(lo), i64::try_from(hi)) {
        (Ok(lo), Ok(hi)) => (lo, hi),
        _ => ANY,
    }
}

/// From the smaller to the larger bound.
pub fn hull(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The operations of a transition one after the other, with variables between the bounds of their types.
pub(crate) struct Declared<'p> {
    pub(crate) program: &'p Program,
    locals: BTreeMap<LocalId, Interval>,
}

impl<'p> Declared<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        Self { program, locals: BTreeMap::new() }
    }

    /// Goes beyond an operation; the bounds of the value that it binds.
    pub(crate) fn bind(&mut self, op: &Op) -> Option<Interval> {
        let (local, interval) = match op {
            Op::Let(local, value) => (*local, of(value, self)),
            Op::Choose(local, lo, hi) => (*local, (of(lo, self).0, of(hi, self).1)),
            Op::Assign(..) | Op::Check(..) | Op::Assume(_) | Op::Require(_) => return None,
        };
        self.locals.insert(local, interval);
        Some(interval)
    }
}

impl Scope for Declared<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn variable(&self, variable: VarId) -> Interval {
        let variable = self.program.variable(variable);
        (variable.lo, variable.hi)
    }

    fn local(&self, local: LocalId) -> Interval {
        self.locals.get(&local).copied().unwrap_or(ANY)
    }
}

/// The bounds of all variables and of all choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachable {
    /// By variable: the same for all elements of an array.
    pub variables: Vec<Interval>,
    /// By transition: for each value that it chooses, as far as it can come.
    pub choices: Vec<Vec<Interval>>,
}

/// Which values each variable can have: bounds from what is ever assigned to it, often much nearer than its type's.
///
/// Guards and checks are not examined, so every state that can be reached is within the bounds, also the result of
/// a failing check. What a step assigns and overwrites before it ends is in no state, and does not count. A variable
/// that still grows after some rounds gets the bounds of its type.
pub fn reachable(program: &Program) -> Reachable {
    let mut steps = Steps::new(program);
    for round in 0.. {
        let before = steps.variables.clone();
        program.transitions.iter().for_each(|transition| _ = steps.take(transition));
        let grown: Vec<usize> = (0..before.len()).filter(|&id| before[id] != steps.variables[id]).collect();
        if grown.is_empty() {
            break;
        }
        for id in grown.into_iter().filter(|_| round >= MOST_ROUNDS) {
            steps.variables[id] = (program.variables[id].lo, program.variables[id].hi);
        }
    }
    let choices = program.transitions.iter().map(|transition| steps.take(transition)).collect();
    Reachable { variables: steps.variables, choices }
}

struct Steps<'p> {
    program: &'p Program,
    variables: Vec<Interval>,
    /// What the step under way has written so far, by element; `None` is any element.
    written: BTreeMap<(VarId, Option<u32>), Interval>,
    /// What it has bound.
    locals: BTreeMap<LocalId, Interval>,
}

impl<'p> Steps<'p> {
    /// The bounds of the initial states.
    fn new(program: &'p Program) -> Self {
        let mut variables = Vec::new();
        for (id, variable) in program.variables.iter().enumerate() {
            let (least, most) = (variable.initial.iter().min(), variable.initial.iter().max());
            let is_flag = Some(VarId::new(id)) == program.fault;
            variables.push(match (least, most) {
                (Some(&least), Some(&most)) if !is_flag => (least, most),
                _ => (variable.lo, variable.hi),
            });
        }
        for choice in &program.choices {
            let bounds = &mut variables[choice.variable.index()];
            for &value in &choice.values {
                *bounds = (bounds.0.min(value), bounds.1.max(value));
            }
        }
        Self { program, variables, written: BTreeMap::new(), locals: BTreeMap::new() }
    }

    /// Widens what a transition leaves behind; the bounds of what it chooses.
    fn take(&mut self, transition: &Transition) -> Vec<Interval> {
        let mut choices = Vec::new();
        self.written.clear();
        self.locals.clear();
        for op in &transition.ops {
            match op {
                Op::Assign(place, value) => self.assign(place, of(value, self)),
                Op::Let(local, value) => _ = self.locals.insert(*local, of(value, self)),
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (of(lo, self).0, of(hi, self).1);
                    if lo > hi {
                        return choices;
                    }
                    self.locals.insert(*local, (lo, hi));
                    choices.push((lo, hi));
                }
                // It may end here.
                Op::Check(..) => self.leave(),
                Op::Assume(_) | Op::Require(_) => {}
            }
        }
        self.leave();
        choices
    }

    fn assign(&mut self, place: &Place, value: Interval) {
        let variable = self.program.variable(place.variable);
        // What is outside the type's bounds fails a check before it is assigned.
        let (lo, hi) = (value.0.max(variable.lo), value.1.min(variable.hi));
        let element = match &place.index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|index| u32::try_from(index).ok()),
        };
        if lo <= hi {
            let before = self.written.get(&(place.variable, element)).filter(|_| element.is_none());
            let now = before.map_or((lo, hi), |&before| hull(before, (lo, hi)));
            self.written.insert((place.variable, element), now);
        }
    }

    /// What is written so far is in a state.
    fn leave(&mut self) {
        for ((variable, _), &interval) in &self.written {
            let before = &mut self.variables[variable.index()];
            *before = hull(*before, interval);
        }
    }
}

impl Scope for Steps<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn variable(&self, variable: VarId) -> Interval {
        let written = self.written.range((variable, None)..=(variable, Some(u32::MAX)));
        written.fold(self.variables[variable.index()], |all, (_, &one)| hull(all, one))
    }

    fn local(&self, local: LocalId) -> Interval {
        self.locals[&local]
    }
}

#[cfg(test)]
mod tests;
