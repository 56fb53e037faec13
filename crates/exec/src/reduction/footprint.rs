//! What a transition reads and writes, element by element: the elements that an index can reach follow from its interval, and
//! from what is known of variables where the transition is enabled.

use std::collections::BTreeMap;

use birk_ir::interval::{self, Interval, Scope};
use birk_ir::{BinaryOp, Expr, LocalId, Op, Program, Transition, VarId};

use super::specialise::equality;
use crate::rewrite::Rewriter;

/// An expression that grows beyond this when it is folded stays as it is.
const MOST_NODES: usize = 4_000;

/// An element of a variable.
pub(super) type Element = (VarId, u32);

/// Elements of one variable that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    pub(super) variable: VarId,
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Range {
    pub(super) fn is_one(&self) -> bool {
        self.first == self.last
    }

    pub(super) fn element(&self) -> Element {
        (self.variable, self.first)
    }

    fn meets(&self, other: &Range) -> bool {
        self.variable == other.variable && self.first <= other.last && other.first <= self.last
    }
}

/// Whether two lists of elements have one in common.
pub(super) fn meet(a: &[Range], b: &[Range]) -> bool {
    a.iter().any(|range| b.iter().any(|other| range.meets(other)))
}

/// What a transition reads and writes, and what is known before and after it.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    pub(super) reads: Vec<Range>,
    /// All but the flag of failing checks, which ends a run: it is told apart by `can_fail`.
    pub(super) writes: Vec<Range>,
    pub(super) can_fail: bool,
    /// Values that elements have where it is enabled.
    pub(super) before: BTreeMap<Element, i64>,
    /// Values that elements have when it has been taken, those of `before` that it keeps included.
    pub(super) after: BTreeMap<Element, i64>,
}

impl Footprint {
    pub(super) fn new(program: &Program, transition: &Transition) -> Self {
        let mut walk = Walk::new(program, transition);
        let before = walk.known.clone();
        let (mut reads, mut writes, mut can_fail) = (Vec::new(), Vec::new(), false);
        // What is known is read, too: the guard says it.
        reads.extend(before.keys().map(|&(variable, element)| Range { variable, first: element, last: element }));
        walk.reads(&transition.guard, &mut reads);
        for op in &transition.ops {
            walk.expressions(op).into_iter().for_each(|expr| walk.reads(expr, &mut reads));
            if let Op::Assign(place, _) = op {
                writes.extend(walk.range(place.variable, place.index.as_ref()));
            }
            if let Op::Check(condition, _) = op {
                can_fail |= !matches!(walk.fold(condition), Expr::Const(1..));
            }
            walk.take(op);
        }
        for list in [&mut reads, &mut writes] {
            list.sort_unstable();
            list.dedup();
        }
        Self { reads, writes, can_fail, before, after: walk.known }
    }

    /// Whether two transitions are never enabled together.
    pub(super) fn excludes(&self, other: &Footprint) -> bool {
        self.before.iter().any(|(element, value)| other.before.get(element).is_some_and(|other| other != value))
    }

    /// Whether neither touches what the other writes.
    pub(super) fn is_apart_from(&self, other: &Footprint) -> bool {
        let touches = |a: &Footprint, b: &Footprint| meet(&a.writes, &b.reads) || meet(&a.writes, &b.writes);
        !touches(self, other) && !touches(other, self)
    }
}

/// The elements that a transition may write.
pub(super) fn writes(program: &Program, transition: &Transition) -> Vec<Range> {
    Footprint::new(program, transition).writes
}

/// Where the thread of a transition is.
pub(super) fn counter(program: &Program, transition: &Transition) -> Expr {
    let thread = program.thread(transition.thread);
    Expr::element(program.kinds[thread.kind].counter, Expr::Const(thread.copy.into()))
}

/// That the thread of a transition is at its location.
pub(super) fn located(program: &Program, transition: &Transition) -> Expr {
    counter(program, transition).equals(transition.location.index() as i64)
}

/// The value of an element.
pub(super) fn read(program: &Program, (variable, element): Element) -> Expr {
    match program.variable(variable).shape.is_empty() {
        true => Expr::Var(variable),
        false => Expr::element(variable, Expr::Const(element.into())),
    }
}

/// The element that an expression reads, and nothing else.
pub(super) fn element_of(read: &Expr) -> Option<Element> {
    match read {
        Expr::Var(variable) => Some((*variable, 0)),
        Expr::Element(variable, index) => Some((*variable, u32::try_from(index.as_const()?).ok()?)),
        _ => None,
    }
}

/// The value of an element, where that is known.
pub(super) fn value_in(known: &BTreeMap<Element, i64>, read: &Expr) -> Option<Expr> {
    element_of(read).and_then(|element| known.get(&element)).map(|&value| Expr::Const(value))
}

/// The operations of a transition one after the other, with what is known of elements and bound values.
#[derive(Clone)]
pub(super) struct Walk<'p> {
    program: &'p Program,
    known: BTreeMap<Element, i64>,
    locals: BTreeMap<LocalId, Interval>,
    /// What the values of locals were made of.
    sources: BTreeMap<LocalId, Vec<Range>>,
    written: Vec<Range>,
}

impl<'p> Walk<'p> {
    /// Where the transition is enabled.
    pub(super) fn new(program: &'p Program, transition: &Transition) -> Self {
        let mut walk = Self::anywhere(program);
        walk.know(&located(program, transition));
        walk.know(&transition.guard);
        walk
    }

    /// In any state.
    pub(super) fn anywhere(program: &'p Program) -> Self {
        let (known, locals, sources) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { program, known, locals, sources, written: Vec::new() }
    }

    /// A condition is true here.
    fn know(&mut self, condition: &Expr) {
        if let Expr::Binary(BinaryOp::And, parts) = condition {
            self.know(&parts.0);
            self.know(&parts.1);
        } else if let Some((element, value)) = equality(self.program, condition) {
            self.known.insert(element, value);
        }
    }

    /// An expression with what is known put in.
    pub(super) fn fold(&self, expr: &Expr) -> Expr {
        let mut leaf = |leaf: &Expr| match leaf {
            Expr::Local(local) => match self.locals.get(local) {
                Some(&(lo, hi)) if lo == hi => Some(Expr::Const(lo)),
                _ => None,
            },
            read => value_in(&self.known, read),
        };
        let folded = Rewriter { leaf: &mut leaf, budget: MOST_NODES }.rewrite(expr);
        folded.unwrap_or_else(|| expr.clone())
    }

    /// What an operation evaluates.
    pub(super) fn expressions<'o>(&self, op: &'o Op) -> Vec<&'o Expr> {
        match op {
            Op::Assign(place, value) => place.index.iter().chain([value]).collect(),
            Op::Let(_, value) | Op::Check(value, _) | Op::Assume(value) | Op::Require(value) => vec![value],
            Op::Choose(_, lo, hi) => vec![lo, hi],
        }
    }

    /// Goes beyond an operation.
    pub(super) fn take(&mut self, op: &Op) {
        match op {
            Op::Assign(place, value) => {
                let value = self.fold(value).as_const();
                // A write outside of an array has no effect: an index that may be outside says nothing of the only element inside.
                let is_certain = place.index.as_ref().is_none_or(|index| self.fold(index).as_const().is_some());
                if let Some(range) = self.range(place.variable, place.index.as_ref()) {
                    self.known.retain(|element, _| {
                        !range.meets(&Range { variable: element.0, first: element.1, last: element.1 })
                    });
                    if let Some(value) = value.filter(|_| is_certain && range.is_one()) {
                        self.known.insert(range.element(), value);
                    }
                    self.written.push(range);
                }
            }
            Op::Let(local, value) => {
                let mut sources = Vec::new();
                self.index_reads(value, &mut sources);
                self.sources.insert(*local, sources);
                self.locals.insert(*local, interval::of(&self.fold(value), self));
            }
            Op::Choose(local, lo, hi) => {
                let bounds = (interval::of(&self.fold(lo), self).0, interval::of(&self.fold(hi), self).1);
                self.locals.insert(*local, bounds);
            }
            Op::Check(condition, _) | Op::Assume(condition) | Op::Require(condition) => self.know(condition),
        }
    }

    pub(super) fn is_written(&self, element: Element) -> bool {
        let element = Range { variable: element.0, first: element.1, last: element.1 };
        self.written.iter().any(|range| range.meets(&element))
    }

    /// The elements of a variable that an index reaches; `None` if there is none.
    pub(super) fn range(&self, variable: VarId, index: Option<&Expr>) -> Option<Range> {
        let len = i64::from(self.program.variable(variable).len());
        let (lo, hi) = index.map_or((0, 0), |index| interval::of(&self.fold(index), self));
        let (first, last) = (lo.max(0), hi.min(len - 1));
        (first <= last).then_some(Range { variable, first: first as u32, last: last as u32 })
    }

    /// Adds what an expression reads.
    pub(super) fn reads(&self, expr: &Expr, out: &mut Vec<Range>) {
        self.clone().visit(&self.fold(expr), &mut |walk, variable, index| out.extend(walk.range(variable, index)));
    }

    /// Hears what each index reads that is not a constant.
    pub(super) fn indices(&self, expr: &Expr, hear: &mut dyn FnMut(&[Range])) {
        self.clone().visit(&self.fold(expr), &mut |walk, _, index| {
            let mut reads = Vec::new();
            index.into_iter().for_each(|index| walk.index_reads(index, &mut reads));
            if !reads.is_empty() {
                hear(&reads);
            }
        });
    }

    /// Adds what an expression reads, by way of locals, too.
    fn index_reads(&self, expr: &Expr, out: &mut Vec<Range>) {
        let expr = self.fold(expr);
        self.reads(&expr, out);
        expr.walk(&mut |part| {
            if let Expr::Local(local) = part {
                out.extend(self.sources.get(local).into_iter().flatten());
            }
        });
    }

    /// Calls `hear` with each variable that is read, and its index.
    fn visit(&mut self, expr: &Expr, hear: &mut dyn FnMut(&Walk<'p>, VarId, Option<&Expr>)) {
        match expr {
            Expr::Const(_) | Expr::Local(_) | Expr::Stuck => {}
            Expr::Var(variable) => hear(self, *variable, None),
            Expr::Element(variable, index) => {
                hear(self, *variable, Some(index));
                self.visit(index, hear);
            }
            Expr::Unary(_, part) | Expr::Wrap(part, _, _) => self.visit(part, hear),
            Expr::Binary(_, parts) => {
                self.visit(&parts.0, hear);
                self.visit(&parts.1, hear);
            }
            Expr::If(parts) => [&parts.0, &parts.1, &parts.2].into_iter().for_each(|part| self.visit(part, hear)),
            Expr::Fold { local, parts, .. } => {
                self.visit(&parts.0, hear);
                self.visit(&parts.1, hear);
                let bounds = (interval::of(&parts.0, &*self).0, interval::of(&parts.1, &*self).1);
                self.within(*local, bounds, &parts.2, hear);
            }
            Expr::Let { local, parts } => {
                self.visit(&parts.0, hear);
                let value = interval::of(&parts.0, &*self);
                self.within(*local, value, &parts.1, hear);
            }
        }
    }

    fn within(
        &mut self,
        local: LocalId,
        value: Interval,
        part: &Expr,
        hear: &mut dyn FnMut(&Walk<'p>, VarId, Option<&Expr>),
    ) {
        let before = self.locals.insert(local, value);
        self.visit(part, hear);
        match before {
            Some(before) => self.locals.insert(local, before),
            None => self.locals.remove(&local),
        };
    }
}

impl Scope for Walk<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn variable(&self, variable: VarId) -> Interval {
        let variable = self.program.variable(variable);
        (variable.lo, variable.hi)
    }

    fn local(&self, local: LocalId) -> Interval {
        self.locals.get(&local).copied().unwrap_or(interval::ANY)
    }
}
