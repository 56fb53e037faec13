//! When a transition is enabled, as a tree of atoms over the state before it, and what such a tree says of a state.

use std::collections::{BTreeMap, HashMap};

use birk_ir::{BinaryOp, Expr, LocalId, Op, Program, Slot, Transition, UnaryOp, VarId};

use super::footprint::{Element, element_of, read};
use crate::interpreter::Interpreter;
use crate::rewrite::Rewriter;

/// A condition of more nodes is opaque.
const MOST_NODES: usize = 2_000;

/// A condition without `not`: that is in the atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    /// By its number.
    Atom(usize),
    All(Vec<Tree>),
    Any(Vec<Tree>),
    /// Of a transition that has an outcome: what decides that cannot be told apart.
    Opaque,
}

impl Tree {
    fn constant(value: bool) -> Tree {
        if value { Tree::All(Vec::new()) } else { Tree::Any(Vec::new()) }
    }

    /// Calls `hear` with each atom, and with nothing where it is opaque.
    pub(super) fn each_leaf(&self, hear: &mut dyn FnMut(Option<usize>)) {
        match self {
            Tree::Atom(atom) => hear(Some(*atom)),
            Tree::Opaque => hear(None),
            Tree::All(parts) | Tree::Any(parts) => parts.iter().for_each(|part| part.each_leaf(hear)),
        }
    }
}

/// Conditions that are asked in states, each once.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    pub(super) conditions: Vec<Expr>,
    numbers: HashMap<Expr, usize>,
}

impl Atoms {
    /// When a transition has an outcome, of which this is known where it is enabled; the result of a failing check is one.
    pub(super) fn enabled(
        &mut self,
        program: &Program,
        transition: &Transition,
        known: &BTreeMap<Element, i64>,
    ) -> Tree {
        let values = known.iter().map(|(&element, &value)| read(program, element).equals(value));
        let mut parts: Vec<Tree> = values.map(|value| self.tree(&value, true)).collect();
        let mut past = Past { known: known.clone(), ..Past::default() };
        parts.push(match past.lift(&transition.guard) {
            Some(guard) => self.tree(&guard, true),
            None => Tree::Opaque,
        });
        parts.push(self.outcome(&transition.ops, &mut past));
        all(parts)
    }

    /// When the rest of a transition has an outcome.
    fn outcome(&mut self, ops: &[Op], past: &mut Past) -> Tree {
        // Nothing prevents it.
        if !ops.iter().any(|op| matches!(op, Op::Assume(_) | Op::Require(_) | Op::Choose(..))) {
            return Tree::constant(true);
        }
        let (first, rest) = ops.split_first().expect("one of them prevents it");
        let lifted = match first {
            Op::Assign(place, value) => past.assign(place.variable, place.index.as_ref(), value),
            Op::Let(local, value) => past.bind(*local, value),
            Op::Check(condition, _) | Op::Assume(condition) | Op::Require(condition) => {
                let Some(condition) = past.lift(condition) else { return Tree::Opaque };
                let rest = self.outcome(rest, past);
                return match first {
                    Op::Check(..) => any(vec![self.tree(&condition, false), rest]),
                    _ => all(vec![self.tree(&condition, true), rest]),
                };
            }
            Op::Choose(..) => None,
        };
        if lifted.is_some() { self.outcome(rest, past) } else { Tree::Opaque }
    }

    /// A goal in states that have a step and in which no check failed; `None` if it is too large.
    pub(super) fn goal(&mut self, goal: &Expr) -> Option<Tree> {
        let mut leaf = |leaf: &Expr| (*leaf == Expr::Stuck).then_some(Expr::FALSE);
        let goal = Rewriter { leaf: &mut leaf, budget: MOST_NODES }.rewrite(goal)?;
        Some(self.tree(&goal, true))
    }

    /// A condition in which nothing is bound, or its negation.
    fn tree(&mut self, condition: &Expr, is_true: bool) -> Tree {
        match condition {
            Expr::Const(value) => Tree::constant((*value != 0) == is_true),
            Expr::Unary(UnaryOp::Not, inner) => self.tree(inner, !is_true),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), parts) => {
                let parts = vec![self.tree(&parts.0, is_true), self.tree(&parts.1, is_true)];
                if (*op == BinaryOp::And) == is_true { all(parts) } else { any(parts) }
            }
            Expr::If(parts) => {
                let (condition, yes, no) = &**parts;
                let yes = all(vec![self.tree(condition, true), self.tree(yes, is_true)]);
                let no = all(vec![self.tree(condition, false), self.tree(no, is_true)]);
                any(vec![yes, no])
            }
            atom => Tree::Atom(self.number(if is_true { atom.clone() } else { negated(atom) })),
        }
    }

    fn number(&mut self, condition: Expr) -> usize {
        let next = self.conditions.len();
        let number = *self.numbers.entry(condition.clone()).or_insert(next);
        if number == next {
            self.conditions.push(condition);
        }
        number
    }
}

/// A conjunction, flat.
fn all(parts: Vec<Tree>) -> Tree {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Tree::All(inner) => flat.extend(inner),
            Tree::Any(inner) if inner.is_empty() => return Tree::constant(false),
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Tree::All(flat) }
}

/// A disjunction, flat.
fn any(parts: Vec<Tree>) -> Tree {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Tree::Any(inner) => flat.extend(inner),
            Tree::All(inner) if inner.is_empty() => return Tree::constant(true),
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Tree::Any(flat) }
}

fn negated(atom: &Expr) -> Expr {
    let Expr::Binary(op, parts) = atom else { return atom.clone().negate() };
    let op = match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return atom.clone().negate(),
    };
    Expr::Binary(op, parts.clone())
}

/// What a transition has done so far, in terms of the state before it.
#[derive(Default)]
struct Past {
    known: BTreeMap<Element, i64>,
    locals: HashMap<LocalId, Expr>,
    /// Variable, element, value, the oldest first.
    written: Vec<(VarId, Expr, Expr)>,
}

impl Past {
    /// An expression in terms of the state before; `None` if that is too large.
    fn lift(&self, expr: &Expr) -> Option<Expr> {
        let mut leaf = |leaf: &Expr| match leaf {
            Expr::Local(local) => self.locals.get(local).cloned(),
            Expr::Var(variable) => Some(self.read(*variable, &Expr::Const(0), leaf)),
            Expr::Element(variable, index) => Some(self.read(*variable, index, leaf)),
            _ => None,
        };
        let lifted = Rewriter { leaf: &mut leaf, budget: MOST_NODES }.rewrite(expr)?;
        let mut is_closed = true;
        lifted.walk(&mut |part| is_closed &= !matches!(part, Expr::Local(_)));
        (is_closed && lifted.size() <= MOST_NODES).then_some(lifted)
    }

    fn read(&self, variable: VarId, index: &Expr, before: &Expr) -> Expr {
        let known = element_of(before).and_then(|element| self.known.get(&element));
        let before = known.map_or_else(|| before.clone(), |&value| Expr::Const(value));
        let written = self.written.iter().filter(|(written, ..)| *written == variable);
        written.fold(before, |value, (_, at, new)| {
            let is_it = if at == index { Expr::TRUE } else { Expr::binary(BinaryOp::Eq, at.clone(), index.clone()) };
            Expr::choose(is_it, new.clone(), value)
        })
    }

    fn bind(&mut self, local: LocalId, value: &Expr) -> Option<()> {
        let value = self.lift(value)?;
        self.locals.insert(local, value);
        Some(())
    }

    fn assign(&mut self, variable: VarId, index: Option<&Expr>, value: &Expr) -> Option<()> {
        let value = self.lift(value)?;
        let index = index.map_or(Some(Expr::Const(0)), |index| self.lift(index))?;
        self.written.push((variable, index, value));
        Some(())
    }
}

/// How an atom is evaluated without native code.
#[derive(Debug)]
pub(super) enum Test {
    /// An element is compared with a constant.
    Compared { slot: Slot, element: u32, op: BinaryOp, value: i64 },
    /// Anything else.
    Any(Expr),
}

impl Test {
    pub(super) fn new(program: &Program, condition: &Expr) -> Self {
        let compared = |read: &Expr, op: BinaryOp, value: i64| {
            let (variable, element) = element_of(read)?;
            let slot = *program.layout.slot(variable);
            (element < slot.len).then_some(Test::Compared { slot, element, op, value })
        };
        let test = match condition {
            Expr::Binary(op, parts) => match (&parts.0, &parts.1) {
                (read, Expr::Const(value)) => compared(read, *op, *value),
                _ => None,
            },
            Expr::Unary(UnaryOp::Not, read) => compared(read, BinaryOp::Eq, 0),
            read => compared(read, BinaryOp::Ne, 0),
        };
        test.unwrap_or_else(|| Test::Any(condition.clone()))
    }

    #[inline]
    pub(super) fn is_true(&self, interpreter: &Interpreter<'_>, state: &[u32]) -> bool {
        match self {
            Test::Compared { slot, element, op, value } => op.apply(slot.get(state, *element), *value) != 0,
            Test::Any(condition) => interpreter.value(condition, state) != 0,
        }
    }
}
