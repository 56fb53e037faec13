//! Which parts of a state belong together: an order of its elements in which neighbours are written by neighbouring
//! threads. Stores that split a state into parts split it along this order, so that few different parts occur.

use std::collections::HashMap;

use crate::expr::{BinaryOp, Expr};
use crate::ids::{LocalId, TransitionId, VarId};
use crate::program::{Op, Program, Transition};

/// Bits of one word that change together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The word.
    pub word: u32,
    /// The lowest bit.
    pub shift: u32,
    /// How many bits, 1 to 32.
    pub bits: u32,
}

/// The threads that write an element: how many, and the sum of their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Writers {
    count: u64,
    sum: u64,
}

impl Program {
    /// Every element of every variable that takes up bits, ordered by the middle of the threads that write it.
    pub fn fields(&self) -> Vec<Field> {
        let mut writers: Vec<Vec<Writers>> =
            self.variables.iter().map(|variable| vec![Writers::default(); variable.len() as usize]).collect();
        for transition in &self.transitions {
            for (variable, lo, hi) in written(self, transition) {
                let elements = &mut writers[variable.index()];
                let end = (hi.saturating_add(1).max(0) as usize).min(elements.len());
                for element in &mut elements[(lo.max(0) as usize).min(end)..end] {
                    element.count += 1;
                    element.sum += transition.thread.index() as u64;
                }
            }
        }
        let mut fields: Vec<(u64, Field)> = Vec::new();
        for (variable, elements) in writers.iter().enumerate() {
            let slot = self.layout.slot(VarId::new(variable));
            for (element, writers) in elements.iter().enumerate().filter(|_| slot.bits > 0) {
                let (word, shift) = slot.position(element as u32);
                let middle = (writers.sum * 1024).checked_div(writers.count).unwrap_or(u64::MAX);
                fields.push((middle, Field { word: word as u32, shift, bits: slot.bits }));
            }
        }
        fields.sort_by_key(|&(middle, _)| middle);
        fields.into_iter().map(|(_, field)| field).collect()
    }

    /// The words of a state that a transition can change, in order.
    pub fn written_words(&self, transition: TransitionId) -> Vec<u32> {
        let mut words = Vec::new();
        for (variable, lo, hi) in written(self, self.transition(transition)) {
            let slot = self.layout.slot(variable);
            let last = hi.min(i64::from(slot.len) - 1);
            words.extend((lo.max(0)..=last).filter(|_| slot.bits > 0).map(|e| slot.position(e as u32).0 as u32));
        }
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The most outcomes that a transition can have, cut ones included.
    pub fn most_outcomes(&self, transition: TransitionId) -> u64 {
        let (mut most, mut locals) = (1u64, HashMap::new());
        for op in &self.transition(transition).ops {
            match op {
                Op::Let(local, value) => _ = locals.insert(*local, range(self, value, &locals)),
                Op::Choose(local, lo, hi) => {
                    let (lo, hi) = (range(self, lo, &locals).0, range(self, hi, &locals).1);
                    most = most.saturating_mul((i128::from(hi) - i128::from(lo) + 1).clamp(0, 1 << 63) as u64);
                    locals.insert(*local, (lo, hi));
                }
                Op::Assign(..) | Op::Check(..) | Op::Assume(_) | Op::Require(_) => {}
            }
        }
        most
    }
}

/// The variables a transition writes, with the range of elements in each.
fn written(program: &Program, transition: &Transition) -> Vec<(VarId, i64, i64)> {
    let mut found = Vec::new();
    let mut locals = HashMap::new();
    for op in &transition.ops {
        match op {
            Op::Let(local, value) => {
                locals.insert(*local, range(program, value, &locals));
            }
            Op::Choose(local, lo, hi) => {
                let (lo, hi) = (range(program, lo, &locals).0, range(program, hi, &locals).1);
                locals.insert(*local, (lo, hi));
            }
            Op::Assign(place, _) => {
                let (lo, hi) = place.index.as_ref().map_or((0, 0), |index| range(program, index, &locals));
                found.push((place.variable, lo, hi));
            }
            Op::Check(..) => found.extend(program.fault.map(|fault| (fault, 0, 0))),
            Op::Assume(_) | Op::Require(_) => {}
        }
    }
    found
}

/// Bounds of a value from the types of the variables in it.
fn range(program: &Program, expr: &Expr, locals: &HashMap<LocalId, (i64, i64)>) -> (i64, i64) {
    const ANY: (i64, i64) = (i64::MIN, i64::MAX);
    let of = |expr: &Expr| range(program, expr, locals);
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Var(variable) | Expr::Element(variable, _) => {
            let variable = program.variable(*variable);
            // Reading outside an array gives 0.
            (variable.lo.min(0), variable.hi.max(0))
        }
        Expr::Local(local) => locals.get(local).copied().unwrap_or(ANY),
        Expr::Wrap(_, lo, hi) => (*lo, *hi),
        Expr::If(parts) => {
            let ((a, b), (c, d)) = (of(&parts.1), of(&parts.2));
            (a.min(c), b.max(d))
        }
        Expr::Binary(op, parts) => {
            let ((a, b), (c, d)) = (of(&parts.0), of(&parts.1));
            match op {
                BinaryOp::Add => (a.saturating_add(c), b.saturating_add(d)),
                BinaryOp::Sub => (a.saturating_sub(d), b.saturating_sub(c)),
                BinaryOp::Mul => {
                    let all = [a.saturating_mul(c), a.saturating_mul(d), b.saturating_mul(c), b.saturating_mul(d)];
                    (*all.iter().min().expect("four"), *all.iter().max().expect("four"))
                }
                BinaryOp::Rem if a >= 0 && c > 0 => (0, b.min(d - 1)),
                BinaryOp::Div if a >= 0 && c > 0 => (a / d, b / c),
                BinaryOp::Div | BinaryOp::Rem => ANY,
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::Shl | BinaryOp::Shr => ANY,
                _ => (0, 1),
            }
        }
        Expr::Let { local, parts } => {
            let mut locals = locals.clone();
            locals.insert(*local, of(&parts.0));
            range(program, &parts.1, &locals)
        }
        Expr::Unary(..) | Expr::Fold { .. } | Expr::Stuck => ANY,
    }
}
