//! What each value of a program is: a number, or a name of which only equality is known.
//!
//! The rules are those under which swapping two names in a state and in the constants of an expression swaps them in its value:
//! names may be compared for equality, stored, used as indices, be members of sets, and range over all of a set that both names
//! are in or neither. A name plus a constant, modulo the number of names, makes its class a *ring*, in which only all names together
//! may be renamed, each to the next. Whatever else is done with a value makes its class one of numbers.

use std::collections::{BTreeSet, HashMap};

use birk_ir::interval::{self, Interval};
use birk_ir::{BinaryOp, Expr, FoldOp, LocalId, Op, Place, Program, Transition, TransitionId, UnaryOp, VarId, VarRole};

use super::classes::{Class, Classes, Site};
use super::patterns::{all_of, offset, split};
use super::proof::Checks;
use super::temporary::Temporaries;
use super::text::{Term, tag};

/// Names of values that an expression binds begin here; those of a step begin at 0.
const INNER: i64 = 1 << 32;

/// The classes of a program, and its steps and goals as terms.
pub(super) struct Typing<'p> {
    program: &'p Program,
    pub(super) classes: Classes,
    /// For each variable, the class of its values.
    pub(super) values: Vec<Class>,
    /// For each variable, the classes of its indices.
    pub(super) indices: Vec<Vec<Class>>,
    /// Sets of values that both of two names are in, or neither.
    pub(super) ranges: Vec<(Class, i64, i64, Site)>,
    /// Classes that are indices or members of something, or are ranged over: those of names.
    pub(super) candidates: Vec<Class>,
    /// Values of which is asked whether they are 0: numbers or sets.
    zeros: Vec<(Class, Site)>,
    pub(super) temporaries: Temporaries,
    checks: Checks,
    pub(super) steps: Vec<Term>,
    pub(super) goals: Vec<Term>,
    site: Site,
    scope: HashMap<LocalId, Bound>,
    /// Values that are at most so large at this point of a step.
    bounds: Vec<(Expr, i64)>,
    bound: i64,
    depth: i64,
}

/// A value that was bound.
#[derive(Clone, Copy, Debug)]
struct Bound {
    name: i64,
    class: Class,
    interval: Interval,
    /// It is something plus a constant: the class is that of this something.
    sum: Option<Sum>,
}

/// What was added to a value, and between what that lies.
#[derive(Clone, Copy, Debug)]
struct Sum {
    by: i64,
    interval: Interval,
}

struct Bounds<'t> {
    program: &'t Program,
    scope: &'t HashMap<LocalId, Bound>,
}

impl interval::Scope for Bounds<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn variable(&self, variable: VarId) -> Interval {
        let variable = self.program.variable(variable);
        (variable.lo, variable.hi)
    }

    fn local(&self, local: LocalId) -> Interval {
        self.scope.get(&local).map_or(interval::ANY, |bound| bound.interval)
    }
}

impl<'p> Typing<'p> {
    /// The classes of a program and of these goals.
    pub(super) fn new(program: &'p Program, goals: &[&Expr], checks: Checks) -> Self {
        let mut classes = Classes::default();
        let values = program.variables.iter().map(|_| classes.fresh()).collect();
        let indices = program.variables.iter().map(|v| v.shape.iter().map(|_| classes.fresh()).collect()).collect();
        let mut typing = Self {
            program,
            classes,
            values,
            indices,
            ranges: Vec::new(),
            candidates: Vec::new(),
            zeros: Vec::new(),
            temporaries: Temporaries::new(program, goals, checks.live),
            checks,
            steps: Vec::new(),
            goals: Vec::new(),
            site: Site::Declaration,
            scope: HashMap::new(),
            bounds: Vec::new(),
            bound: 0,
            depth: 0,
        };
        typing.declarations();
        for (id, transition) in program.transitions.iter().enumerate() {
            typing.site = Site::Transition(TransitionId::new(id));
            let step = typing.step(transition);
            typing.steps.push(step);
        }
        for (position, goal) in goals.iter().enumerate() {
            typing.site = Site::Goal(position);
            typing.scope.clear();
            typing.bounds.clear();
            let goal = typing.truth(goal);
            typing.goals.push(goal);
        }
        typing.number_instances();
        typing.settle();
        typing
    }

    /// The class of the numbers of a thread's instances.
    pub(super) fn instances(&self, kind: usize) -> Class {
        self.indices[self.program.kinds[kind].counter.index()][0]
    }

    fn declarations(&mut self) {
        for (v, variable) in self.program.variables.iter().enumerate() {
            if let VarRole::Counter(kind) | VarRole::Local(kind) = variable.role {
                let instances = self.instances(kind);
                self.classes.join(self.indices[v][0], instances);
            }
            if matches!(variable.role, VarRole::Counter(_) | VarRole::Fault | VarRole::Length) {
                self.classes.make_number(self.values[v], Site::Declaration);
            }
            for (&class, &length) in self.indices[v].iter().zip(&variable.shape) {
                self.ranges.push((class, 0, i64::from(length) - 1, Site::Declaration));
            }
        }
    }

    fn step(&mut self, transition: &Transition) -> Term {
        self.scope.clear();
        self.bound = 0;
        self.bounds.clear();
        let mut parts = vec![self.truth(&transition.guard)];
        self.require(&transition.guard);
        for (at, op) in transition.ops.iter().enumerate() {
            if !self.temporaries.is_reset(self.site, at) {
                let part = self.op(op);
                parts.push(part);
            }
        }
        Term::ordered([tag::STEP, 0], parts)
    }

    fn op(&mut self, op: &Op) -> Term {
        match op {
            Op::Assign(place, value) => self.assign(place, value),
            Op::Let(local, value) if matches!(offset(value), (base, by) if by != 0 && base.as_const().is_none()) => {
                // It is a number, unless it is only used modulo the length of a ring.
                let ((base, by), interval) = (offset(value), self.interval(value));
                let sum = Some(Sum { by, interval: self.interval(base) });
                let (base, class) = self.expr(base);
                let name = self.bind(*local, Bound { name: 0, class, interval, sum });
                Term::ordered([tag::BIND, name], vec![Term::ordered([tag::SUM, by], vec![base])])
            }
            Op::Let(local, value) => {
                let interval = self.interval(value);
                let (value, class) = self.expr(value);
                let name = self.bind(*local, Bound { name: 0, class, interval, sum: None });
                Term::ordered([tag::BIND, name], vec![value])
            }
            Op::Choose(local, lo, hi) => {
                let (class, bounds, interval) = self.range(lo, hi);
                let name = self.bind(*local, Bound { name: 0, class, interval, sum: None });
                Term::ordered([tag::CHOOSE, name], vec![bounds])
            }
            Op::Check(condition, _) => self.required(tag::CHECK, condition),
            Op::Assume(condition) => self.required(tag::ASSUME, condition),
            Op::Require(condition) => self.required(tag::REQUIRE, condition),
        }
    }

    /// A condition without which the step ends.
    fn required(&mut self, tag: i64, condition: &Expr) -> Term {
        let term = Term::ordered([tag, 0], vec![self.truth(condition)]);
        self.require(condition);
        term
    }

    fn assign(&mut self, place: &Place, value: &Expr) -> Term {
        let interval = self.interval(value);
        let (value, class) = self.expr(value);
        self.classes.join(self.values[place.variable.index()], class);
        let index = match &place.index {
            None => Term::ordered([tag::VARIABLE, i64::from(place.variable.0)], Vec::new()),
            Some(index) => self.index(place.variable, index).0,
        };
        self.forget(place.variable);
        let written = match &place.index {
            None => Some(Expr::Var(place.variable)),
            Some(index) => index.as_const().map(|_| Expr::Element(place.variable, Box::new(index.clone()))),
        };
        if let Some(written) = written.filter(|_| interval.0 >= 0) {
            self.bounds.push((written, interval.1));
        }
        Term::ordered([tag::ASSIGN, 0], vec![index, value])
    }

    /// Gives what is bound the next name.
    fn bind(&mut self, local: LocalId, bound: Bound) -> i64 {
        let name = self.bound;
        self.bound += 1;
        self.scope.insert(local, Bound { name, ..bound });
        name
    }

    /// All values between two bounds: their class, the bounds as a term, and between what they lie.
    fn range(&mut self, lo: &Expr, hi: &Expr) -> (Class, Term, Interval) {
        let interval = (self.interval(lo).0, self.interval(hi).1);
        let class = self.classes.fresh();
        match (lo, hi) {
            (Expr::Const(lo), Expr::Const(hi)) => self.ranges.push((class, *lo, *hi, self.site)),
            _ => _ = self.classes.make_number(class, self.site),
        }
        let bounds = vec![self.number(lo), self.number(hi)];
        (class, Term::ordered([tag::BOUNDS, 0], bounds), interval)
    }

    fn interval(&self, expr: &Expr) -> Interval {
        let (lo, hi) = interval::of(expr, &Bounds { program: self.program, scope: &self.scope });
        let known = self.bounds.iter().filter(|(bounded, _)| bounded == expr).map(|(_, most)| *most);
        (lo, known.fold(hi, i64::min))
    }

    /// A number.
    fn number(&mut self, expr: &Expr) -> Term {
        let (term, class) = self.expr(expr);
        if self.checks.numbers {
            self.classes.make_number(class, self.site);
        }
        term
    }

    /// Something of which is asked whether it is 0.
    fn truth(&mut self, expr: &Expr) -> Term {
        let (term, class) = self.expr(expr);
        self.zeros.push((class, self.site));
        term
    }

    fn is_number(&mut self, term: Term) -> (Term, Class) {
        (term, self.classes.number(self.site))
    }

    fn expr(&mut self, expr: &Expr) -> (Term, Class) {
        match expr {
            Expr::Const(value) => {
                let class = self.classes.fresh();
                (Term::Const(*value, class), class)
            }
            Expr::Var(variable) => self.read(*variable, None),
            Expr::Element(variable, index) => self.read(*variable, Some(index)),
            Expr::Local(local) => {
                let (term, class) = self.local(*local);
                if self.scope[local].sum.is_some() {
                    self.classes.make_number(class, self.site);
                }
                (term, class)
            }
            Expr::Unary(UnaryOp::Neg, operand) => {
                let operand = self.number(operand);
                self.is_number(Term::ordered([tag::UNARY, 0], vec![operand]))
            }
            // The size of a set does not depend on who is in it.
            Expr::Unary(op, operand) => {
                let operand = self.truth(operand);
                self.is_number(Term::ordered([tag::UNARY, 1 + i64::from(*op == UnaryOp::Ones)], vec![operand]))
            }
            Expr::Binary(op, parts) => self.binary(*op, &parts.0, &parts.1),
            Expr::If(parts) => {
                let condition = self.truth(&parts.0);
                let ((yes, class), (no, other)) = (self.expr(&parts.1), self.expr(&parts.2));
                self.classes.join(class, other);
                (Term::ordered([tag::IF, 0], vec![condition, yes, no]), class)
            }
            Expr::Wrap(value, 0, hi) if self.steps_in(value, hi + 1).is_some() => self.later(value, hi + 1),
            Expr::Wrap(value, lo, hi) => {
                let parts = vec![self.number(value), self.number(&Expr::Const(*lo)), self.number(&Expr::Const(*hi))];
                self.is_number(Term::ordered([tag::WRAP, 0], parts))
            }
            Expr::Fold { op, local, parts } => {
                let (class, bounds, interval) = self.range(&parts.0, &parts.1);
                let body = self.within(*local, class, interval, |typing| match op {
                    FoldOp::Sum => (typing.number(&parts.2), 0),
                    _ => (typing.truth(&parts.2), 0),
                });
                self.is_number(Term::ordered([tag::FOLD, *op as i64], vec![bounds, body.0]))
            }
            Expr::Let { local, parts } => {
                let interval = self.interval(&parts.0);
                let (value, class) = self.expr(&parts.0);
                let (body, result) = self.within(*local, class, interval, |typing| typing.expr(&parts.1));
                (Term::ordered([tag::LET, 0], vec![value, body]), result)
            }
            Expr::Stuck => self.is_number(Term::ordered([tag::STUCK, 0], Vec::new())),
        }
    }

    /// A part of an expression in which a value is bound; its name says only how deep that is.
    fn within(
        &mut self,
        local: LocalId,
        class: Class,
        interval: Interval,
        part: impl FnOnce(&mut Self) -> (Term, Class),
    ) -> (Term, Class) {
        let bound = Bound { name: INNER + self.depth, class, interval, sum: None };
        let before = self.scope.insert(local, bound);
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        match before {
            Some(before) => self.scope.insert(local, before),
            None => self.scope.remove(&local),
        };
        result
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> (Term, Class) {
        let head = [tag::BINARY, op as i64];
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let operands = [self.truth(left), self.truth(right)];
                self.is_number(Term::joined(head, operands))
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let ((left, class), (right, other)) = (self.expr(left), self.expr(right));
                self.classes.join(class, other);
                self.is_number(Term::unordered(head, vec![left, right]))
            }
            BinaryOp::Gt => self.binary(BinaryOp::Lt, right, left),
            BinaryOp::Ge => self.binary(BinaryOp::Le, right, left),
            BinaryOp::Add | BinaryOp::Mul => {
                let operands = [self.number(left), self.number(right)];
                self.is_number(Term::joined(head, operands))
            }
            BinaryOp::BitAnd => self.intersection(left, right),
            BinaryOp::Rem if self.steps_in(left, right.as_const().unwrap_or(0)).is_some_and(|by| by >= 0) => {
                self.later(left, right.as_const().unwrap_or(0))
            }
            BinaryOp::BitOr => {
                let ((left, class), (right, other)) = (self.expr(left), self.expr(right));
                self.classes.join(class, other);
                self.zeros.push((class, self.site));
                (Term::joined(head, [left, right]), class)
            }
            _ => {
                let operands = vec![self.number(left), self.number(right)];
                self.is_number(Term::ordered(head, operands))
            }
        }
    }

    /// How much is added to a value of a ring of this length, if that is what this does.
    fn steps_in(&self, expr: &Expr, length: i64) -> Option<i64> {
        let (value, by) = offset(expr);
        let (interval, more) = match value {
            Expr::Const(_) => return None,
            Expr::Local(local) => self.scope[local].sum.map_or((self.interval(value), 0), |sum| (sum.interval, sum.by)),
            value => (self.interval(value), 0),
        };
        (length > 1 && 0 <= interval.0 && interval.1 < length).then_some(by.saturating_add(more))
    }

    /// The value that comes so many later in a ring of this length.
    fn later(&mut self, expr: &Expr, length: i64) -> (Term, Class) {
        let by = self.steps_in(expr, length).unwrap_or(0).rem_euclid(length);
        let (term, class) = match offset(expr).0 {
            Expr::Local(local) => self.local(*local),
            value => self.expr(value),
        };
        self.classes.make_ring(class, length, self.site);
        let length = Term::Const(length, self.classes.number(self.site));
        (Term::ordered([tag::LATER, by], vec![term, length]), class)
    }

    /// A value that was bound; its class, or that of what was added to.
    fn local(&self, local: LocalId) -> (Term, Class) {
        let bound = self.scope[&local];
        (Term::ordered([tag::LOCAL, bound.name], Vec::new()), bound.class)
    }

    /// `&`: whether something is a member, a set of one member, or what two sets have in common.
    fn intersection(&mut self, left: &Expr, right: &Expr) -> (Term, Class) {
        if let (Expr::Binary(BinaryOp::Shr, parts), Expr::Const(1)) = (left, right) {
            let ((set, class), (member, members)) = (self.expr(&parts.0), self.expr(&parts.1));
            let sets = self.classes.sets_of(members);
            self.classes.join(class, sets);
            return self.is_number(Term::ordered([tag::HAS, 0], vec![set, member]));
        }
        if let (Expr::Binary(BinaryOp::Shl, parts), Some(bits)) = (left, right.as_const().and_then(all_of))
            && parts.0 == Expr::Const(1)
        {
            let (member, members) = self.expr(&parts.1);
            self.ranges.push((members, 0, bits - 1, self.site));
            return (Term::ordered([tag::SINGLE, bits], vec![member]), self.classes.sets_of(members));
        }
        let ((left, class), (right, other)) = (self.operand(left), self.operand(right));
        self.classes.join(class, other);
        self.zeros.push((class, self.site));
        (Term::joined([tag::BINARY, BinaryOp::BitAnd as i64], [left, right]), class)
    }

    /// An operand of `&`, which may be all that are not in a set.
    fn operand(&mut self, expr: &Expr) -> (Term, Class) {
        if let Expr::Binary(BinaryOp::Sub, parts) = expr
            && let Some(bits) = parts.0.as_const().and_then(all_of)
            && self.is_within(&parts.1, (1 << bits) - 1)
        {
            let (set, class) = self.expr(&parts.1);
            // If these are sets, then both of two members can be in the result, or neither.
            let members = self.classes.fresh();
            self.ranges.push((members, 0, bits - 1, self.site));
            let sets = self.classes.sets_of(members);
            self.classes.join(class, sets);
            return (Term::ordered([tag::OTHERS, bits], vec![set]), class);
        }
        self.expr(expr)
    }

    /// Whether a value lies between 0 and this, by its type or by what the step required before.
    fn is_within(&self, expr: &Expr, hi: i64) -> bool {
        let interval = self.interval(expr);
        0 <= interval.0 && interval.1 <= hi
    }

    /// What is true from here on in a step: some values are at most so large.
    fn require(&mut self, condition: &Expr) {
        let Expr::Binary(op, parts) = condition else { return };
        match (op, &parts.0, &parts.1) {
            (BinaryOp::And, left, right) => {
                self.require(left);
                self.require(right);
            }
            (BinaryOp::Lt, value, Expr::Const(bound)) | (BinaryOp::Gt, Expr::Const(bound), value) => {
                self.bounds.push((value.clone(), bound - 1));
            }
            (BinaryOp::Le, value, Expr::Const(bound)) | (BinaryOp::Ge, Expr::Const(bound), value) => {
                self.bounds.push((value.clone(), *bound));
            }
            _ => {}
        }
    }

    /// What is known of values that read a variable is no longer known once it is written.
    fn forget(&mut self, written: VarId) {
        self.bounds.retain(|(value, _)| {
            let mut is_read = false;
            value.walk(&mut |part| {
                is_read |= matches!(part, Expr::Var(variable) | Expr::Element(variable, _) if *variable == written);
            });
            !is_read
        });
    }

    /// The value of a variable.
    fn read(&mut self, variable: VarId, index: Option<&Expr>) -> (Term, Class) {
        let class = self.values[variable.index()];
        match index {
            None => (Term::ordered([tag::VARIABLE, i64::from(variable.0)], Vec::new()), class),
            Some(index) => {
                let (term, is_inside) = self.index(variable, index);
                if !is_inside {
                    // What is outside is 0, which is a number or a set without members.
                    self.zeros.push((class, self.site));
                }
                (term, class)
            }
        }
    }

    /// An element of an array, and whether the index is never outside.
    fn index(&mut self, variable: VarId, index: &Expr) -> (Term, bool) {
        let shape = &self.program.variable(variable).shape;
        let last = |length: u32| i64::from(length) - 1;
        let (parts, is_inside) = match &shape[..] {
            &[length] => (Some(vec![index.clone()]), self.is_within(index, last(length))),
            shape => {
                let parts = split(index, shape, &|expr, hi| self.is_within(expr, hi))
                    .filter(|parts| parts.iter().zip(shape).all(|(part, &length)| self.is_within(part, last(length))));
                let is_inside = parts.is_some();
                (parts, is_inside)
            }
        };
        let Some(parts) = parts else {
            for class in self.indices[variable.index()].clone() {
                self.classes.make_number(class, self.site);
            }
            return (Term::ordered([tag::FLAT, i64::from(variable.0)], vec![self.number(index)]), false);
        };
        let mut terms = Vec::new();
        for (part, class) in parts.iter().zip(self.indices[variable.index()].clone()) {
            let (term, other) = self.expr(part);
            self.classes.join(class, other);
            terms.push(term);
        }
        (Term::ordered([tag::VARIABLE, i64::from(variable.0)], terms), is_inside)
    }

    /// A constant that is in each instance of a thread the number of that instance is of the class of these numbers.
    fn number_instances(&mut self) {
        type Alike = Vec<(i64, Vec<(i64, Class)>)>;
        let mut groups: HashMap<(usize, u32, u32, Vec<i64>), Alike> = HashMap::new();
        for (transition, step) in self.program.transitions.iter().zip(&self.steps) {
            let thread = self.program.thread(transition.thread);
            if self.program.kinds[thread.kind].copies > 1 {
                let (mut outline, mut constants) = (Vec::new(), Vec::new());
                step.outline(&mut outline, &mut constants);
                let key = (thread.kind, transition.location.0, transition.ordinal, outline);
                groups.entry(key).or_default().push((i64::from(thread.copy), constants));
            }
        }
        let mut groups: Vec<_> = groups.into_iter().filter(|(_, alike)| alike.len() > 1).collect();
        groups.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for ((kind, ..), alike) in groups {
            let instances = self.instances(kind);
            for at in 0..alike[0].1.len() {
                if alike.iter().all(|(copy, constants)| constants[at].0 == *copy) {
                    alike.iter().for_each(|(_, constants)| self.classes.join(constants[at].1, instances));
                } else if alike.iter().all(|(copy, constants)| *copy < 63 && constants[at].0 == 1 << copy)
                    && alike.iter().all(|(_, constants)| self.classes.is_number(constants[at].1).is_none())
                {
                    let sets = self.classes.sets_of(instances);
                    alike.iter().for_each(|(_, constants)| self.classes.join(constants[at].1, sets));
                }
            }
        }
    }

    /// Numbers are found until there are no more.
    fn settle(&mut self) {
        let mut direct: BTreeSet<Class> = self.ranges.iter().map(|&(class, ..)| self.classes.find(class)).collect();
        for (v, variable) in self.program.variables.iter().enumerate() {
            let class = self.values[v];
            let bits = all_of(variable.hi).filter(|_| variable.lo == 0);
            match (self.classes.members(class), bits) {
                (None, _) => self.ranges.push((class, variable.lo, variable.hi, Site::Declaration)),
                (Some(members), Some(bits)) => {
                    self.ranges.push((members, 0, bits - 1, Site::Declaration));
                    direct.insert(members);
                }
                (Some(_), None) => _ = self.classes.make_number(class, Site::Declaration),
            }
        }
        loop {
            let mut is_changed = false;
            for (class, site) in self.zeros.clone() {
                is_changed |= self.classes.members(class).is_none() && self.classes.make_number(class, site);
            }
            for class in 0..self.classes.len() {
                let Some(members) = self.classes.members(class) else { continue };
                // A set is neither an index nor a member.
                let is_mixed = direct.contains(&self.classes.find(class)) || self.classes.members(members).is_some();
                let site = self.classes.is_number(class).or(self.classes.is_number(members));
                if let Some(site) = site.or(is_mixed.then_some(Site::Declaration)) {
                    is_changed |= self.classes.make_number(class, site) | self.classes.make_number(members, site);
                }
            }
            if !is_changed {
                break;
            }
        }
        self.candidates = direct.into_iter().collect();
    }
}
