//! Specialisation: the same steps as more and simpler transitions, so that more of them commute.
//!
//! A choice among few values becomes a transition for each value. A transition that indexes an array by variables which only its
//! own thread writes becomes one for each value of these. Variables that others write are never told apart: a `send` to a channel
//! with two messages would be disabled by every `receive`, and nothing would commute any more.
//!
//! The derived program has the variables, the states and the steps of the original one, in the same order.

use birk_ir::{BinaryOp, Expr, LocalId, Op, Place, Program, ThreadId, Transition, TransitionId, VarId};

use super::footprint::{Range, Walk, element_of, read, writes};

/// A choice among more values stays one.
const MOST_CHOICES: i64 = 40;
/// A variable of more values is not split.
const MOST_VALUES: i64 = 16;
/// A transition becomes no more than this many.
const MOST_VARIANTS: usize = 200;
/// Elements of longer arrays are not told apart.
const LONGEST: usize = 1 << 12;

/// A derived program, and where its transitions come from.
#[derive(Clone, Debug)]
pub struct Specialised {
    /// The program that is searched.
    pub program: Program,
    /// For each of its transitions, that of the original program.
    pub origins: Vec<TransitionId>,
}

impl Specialised {
    /// The specialised form of a program.
    pub fn new(original: &Program) -> Self {
        let owners = Owners::new(original);
        let mut program = Program { transitions: Vec::new(), ..original.clone() };
        let mut origins = Vec::new();
        for (number, thread) in original.threads.iter().enumerate() {
            for (location, &(first, last)) in thread.at.iter().enumerate() {
                let start = program.transitions.len() as u32;
                for id in first..last {
                    let variants = variants(original, &owners, original.transition(TransitionId(id)));
                    origins.resize(origins.len() + variants.len(), TransitionId(id));
                    program.transitions.extend(variants);
                }
                program.threads[number].at[location] = (start, program.transitions.len() as u32);
            }
        }
        Self { program, origins }
    }
}

/// All variants of a transition, in the order of its outcomes.
fn variants(program: &Program, owners: &Owners, transition: &Transition) -> Vec<Transition> {
    let mut variants = vec![transition.clone()];
    while let Some(more) = split(program, &variants, |variant| chosen(program, variant)) {
        variants = more;
    }
    while let Some(more) = split(program, &variants, |variant| indexed(program, owners, variant)) {
        variants = more;
    }
    variants
}

/// Splits each variant that can be; `None` if there is none, or if there would be too many.
fn split(
    program: &Program,
    variants: &[Transition],
    by: impl Fn(&Transition) -> Option<Vec<Transition>>,
) -> Option<Vec<Transition>> {
    let mut is_split = false;
    let mut more = Vec::new();
    for variant in variants {
        match by(variant) {
            Some(parts) => {
                is_split = true;
                more.extend(parts.into_iter().filter(|part| Walk::new(program, part).fold(&part.guard) != Expr::FALSE));
            }
            None => more.push(variant.clone()),
        }
    }
    (is_split && more.len() <= MOST_VARIANTS).then_some(more)
}

/// One variant for each value of the first choice from constants.
fn chosen(program: &Program, transition: &Transition) -> Option<Vec<Transition>> {
    let mut walk = Walk::new(program, transition);
    for (at, op) in transition.ops.iter().enumerate() {
        if let Op::Choose(local, lo, hi) = op
            && let (Expr::Const(lo), Expr::Const(hi)) = (walk.fold(lo), walk.fold(hi))
            && (lo..lo + MOST_CHOICES).contains(&hi)
        {
            return Some((lo..=hi).map(|value| with_value(transition, at, *local, value)).collect());
        }
        walk.take(op);
    }
    None
}

fn with_value(transition: &Transition, at: usize, local: LocalId, value: i64) -> Transition {
    let mut variant = transition.clone();
    variant.ops[at] = Op::Let(local, Expr::Const(value));
    variant
}

/// One variant for each value of the first variable of the thread's own that an index reads.
fn indexed(program: &Program, owners: &Owners, transition: &Transition) -> Option<Vec<Transition>> {
    let mut walk = Walk::new(program, transition);
    let find = |walk: &Walk<'_>, expr: &Expr| {
        let mut found = None;
        walk.indices(expr, &mut |reads: &[Range]| {
            let is_own = |read: &Range| read.is_one() && owners.is_own(read.element(), transition.thread);
            if found.is_none() && reads.iter().all(is_own) {
                found = reads.iter().map(Range::element).find(|&element| {
                    let variable = program.variable(element.0);
                    variable.hi - variable.lo < MOST_VALUES && !walk.is_written(element)
                });
            }
        });
        found
    };
    let mut element = find(&walk, &transition.guard);
    for op in &transition.ops {
        // An element that is written is indexed as one that is read.
        let written = match op {
            Op::Assign(Place { variable, index: Some(index) }, _) => Some(Expr::element(*variable, index.clone())),
            _ => None,
        };
        let expressions = walk.expressions(op).into_iter().chain(&written);
        element = element.or_else(|| expressions.into_iter().find_map(|expr| find(&walk, expr)));
        walk.take(op);
    }
    let element = element?;
    let variable = program.variable(element.0);
    let read = read(program, element);
    let variant = |value: i64| Transition {
        guard: Expr::Binary(BinaryOp::And, Box::new((read.clone().equals(value), transition.guard.clone()))),
        ..transition.clone()
    };
    Some((variable.lo..=variable.hi).map(variant).collect())
}

/// Which thread alone writes each element.
struct Owners(Vec<Vec<Owner>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    One(ThreadId),
    Many,
}

impl Owners {
    fn new(program: &Program) -> Self {
        let elements = |variable: &birk_ir::Variable| match variable.len() as usize {
            len if len > LONGEST => Vec::new(),
            len => vec![Owner::Nobody; len],
        };
        let mut owners: Vec<Vec<Owner>> = program.variables.iter().map(elements).collect();
        for transition in &program.transitions {
            for range in writes(program, transition) {
                let elements = &mut owners[range.variable.index()];
                let end = (range.last as usize + 1).min(elements.len());
                for owner in &mut elements[(range.first as usize).min(end)..end] {
                    let is_new = matches!(*owner, Owner::Nobody) || *owner == Owner::One(transition.thread);
                    *owner = if is_new { Owner::One(transition.thread) } else { Owner::Many };
                }
            }
        }
        Self(owners)
    }

    fn is_own(&self, (variable, element): (VarId, u32), thread: ThreadId) -> bool {
        let owner = self.0[variable.index()].get(element as usize);
        matches!(owner, Some(Owner::Nobody)) || owner == Some(&Owner::One(thread))
    }
}

/// Whether a condition says that an element has a value: which, and what value.
pub(super) fn equality(program: &Program, condition: &Expr) -> Option<((VarId, u32), i64)> {
    match condition {
        Expr::Binary(BinaryOp::Eq, parts) => match (&parts.0, &parts.1) {
            (read, Expr::Const(value)) | (Expr::Const(value), read) => Some((element_of(read)?, *value)),
            _ => None,
        },
        Expr::Unary(birk_ir::UnaryOp::Not, inner) => truth(program, inner).map(|element| (element, 0)),
        read => truth(program, read).map(|element| (element, 1)),
    }
}

/// An element that is true or false.
fn truth(program: &Program, read: &Expr) -> Option<(VarId, u32)> {
    let element = element_of(read)?;
    let variable = program.variable(element.0);
    (variable.lo == 0 && variable.hi == 1).then_some(element)
}
