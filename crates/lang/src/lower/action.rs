//! What a step does: assignments, choices, assertions, starting and ending threads.

use birk_ir::{Expr, FaultKind, Op, Place, Span, VarId};

use super::Step;
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::sema::context::Symbol;
use crate::sema::declarations::MAX_MEMBERS;
use crate::sema::expression::{Receiver, count};
use crate::sema::place::Indexed;
use crate::sema::types::{Hazard, Ty, Value};
use crate::syntax::ast::{self, ActionKind};

/// A choice may have this many values.
const MAX_CHOICE: i64 = 1 << 16;

impl Step<'_, '_> {
    pub(super) fn action(&mut self, action: &ast::Action) {
        match &action.kind {
            ActionKind::Skip => {}
            ActionKind::Assign(place, expr) => {
                let Some(target) = self.elaborator.target(place) else {
                    self.elaborator.value(expr);
                    return;
                };
                if target.is_whole() {
                    let what = format!("`{}`", self.elaborator.cx.source(place.span));
                    if let Some(values) = self.elaborator.parts(expr, &target.ty(), &what) {
                        self.assign_whole(target, values, [place.span, expr.span, action.span]);
                    }
                    return;
                }
                let value = self.elaborator.value_as(expr, target.scalar.ty);
                let target = self.elaborator.target_of(target);
                self.assign(target, value, [place.span, expr.span, action.span]);
            }
            ActionKind::ChooseMember(place, set) => self.choose_member(place, set, action.span),
            ActionKind::Send(channel, values) => self.send(channel, values, action.span),
            ActionKind::Broadcast(channels, values, except) => {
                self.broadcast(channels, values, except.as_ref(), action.span);
            }
            ActionKind::Receive(channel, patterns, condition) => {
                self.receive(channel, patterns, condition.as_ref(), action.span);
            }
            ActionKind::Choose(place, lo, hi) => self.choose(place, lo, hi, action.span),
            ActionKind::Assert(condition, message) => {
                let value = self.elaborator.condition(condition, "an assertion");
                self.check(value.hazards);
                let fault = self.elaborator.cx.fault(FaultKind::Assertion, condition.span, |cx| match message {
                    Some(message) => message.clone(),
                    None => format!("assertion `{}` failed", cx.source(condition.span)),
                });
                if value.expr != Expr::TRUE {
                    self.elaborator.facts.assume(&value.expr);
                    self.push(Op::Check(value.expr, fault));
                }
            }
            ActionKind::Assume(condition) => {
                let value = self.elaborator.condition(condition, "an assumption");
                self.check(value.hazards);
                self.elaborator.facts.assume(&value.expr);
                self.push(Op::Assume(value.expr));
            }
            ActionKind::Start(name, args) => self.start(name, args, action.span),
            // Control has made edges of these.
            ActionKind::Await(_)
            | ActionKind::Call(..)
            | ActionKind::If(..)
            | ActionKind::While(..)
            | ActionKind::For(..)
            | ActionKind::Either(_)
            | ActionKind::Atomic(_)
            | ActionKind::Break
            | ActionKind::Return
            | ActionKind::Goto(_) => unreachable!("not an action of one step"),
        }
    }

    /// Assigns all parts of a record or array. The place is found first, and all values are computed before the first is
    /// written.
    pub(crate) fn assign_whole(&mut self, target: Indexed, values: Vec<Value>, spans: [Span; 3]) {
        let Some(target) = self.steady_place(target) else { return };
        let values = self.hold(values);
        if let Some(added) = target.added.as_ref().and_then(|added| self.elaborator.with_key(added)) {
            self.add_key(added);
        }
        for (part, value) in self.elaborator.spread(&target, spans[0]).into_iter().zip(values) {
            let part = self.elaborator.target_of(part);
            self.assign(part, value, spans);
        }
    }

    /// Gives a map a key whose value is written next.
    fn add_key(&mut self, (keys, with_key): (Place, Expr)) {
        let hi = self.elaborator.cx.variables[keys.variable.index()].hi;
        let element = match &keys.index {
            None => Some(0),
            Some(index) => index.as_const().and_then(|i| u32::try_from(i).ok()),
        };
        self.elaborator.facts.write(keys.variable, element, 0, hi);
        self.push(Op::Assign(keys, with_key));
    }

    /// A place with indices that later writes do not change, and that are known to be right.
    pub(super) fn steady_place(&mut self, mut target: Indexed) -> Option<Indexed> {
        let (_, hazards) = self.elaborator.flatten(target.clone())?;
        self.check(hazards);
        let indices = target.indices.iter().map(|(value, _)| Value { hazards: Vec::new(), ..value.clone() }).collect();
        for (((index, _), held), &length) in target.indices.iter_mut().zip(self.hold(indices)).zip(&target.shape) {
            *index = Value { lo: held.lo.max(0), hi: held.hi.min(i64::from(length) - 1), fixed: false, ..held };
        }
        Some(target)
    }

    /// Values that later writes do not change.
    pub(crate) fn hold(&mut self, values: Vec<Value>) -> Vec<Value> {
        let mut held = Vec::new();
        for mut value in values {
            self.check(std::mem::take(&mut value.hazards));
            if value.expr.as_const().is_none() {
                let local = self.elaborator.fresh();
                self.push(Op::Let(local, std::mem::replace(&mut value.expr, Expr::Local(local))));
            }
            held.push(value);
        }
        held
    }

    /// `place := choose(set)`: one outcome for each member.
    pub(super) fn choose_member(&mut self, place: &ast::Expr, set: &ast::Expr, span: Span) {
        let Some(target) = self.elaborator.target(place) else { return };
        let Some(mut target) = self.elaborator.target_of(target) else { return };
        self.check(std::mem::take(&mut target.hazards));
        let target = Some(target);
        let local = self.elaborator.fresh();
        let member = Value { expr: Expr::Local(local), fixed: false, ..Value::constant(0, Ty::Int) };
        if let Some((ty, last)) = self.elaborator.symmetric(set) {
            self.push(Op::Choose(local, Expr::Const(0), Expr::Const(last)));
            let chosen = Value { ty, lo: 0, hi: last, ..member };
            return self.assign(target, chosen, [place.span, span, span]);
        }
        let Some(mut value) = self.set_to_choose_from(set, &target) else { return };
        let Ty::Set(lo, hi, of) = value.ty else {
            if value.ty != Ty::Error {
                let message = format!("`{}` is not a set", self.elaborator.cx.source(set.span));
                let help = "choose from a set, or from a range: `choose(lo, hi)`";
                self.elaborator.cx.report(Diagnostic::new("E0022", set.span, message, "expected a set").help(help));
            }
            return;
        };
        self.check(std::mem::take(&mut value.hazards));
        let fault = self
            .elaborator
            .cx
            .fault(FaultKind::EmptyChoice, span, |cx| format!("`{}` has no value to choose", cx.source(span)));
        self.check(vec![Hazard { when: value.expr.clone().equals(0), fault }]);
        self.push(Op::Choose(local, Expr::Const(lo), Expr::Const(hi)));
        let chosen = Value { ty: Ty::of_members(of), lo, hi, ..member };
        self.push(Op::Require(crate::sema::aggregate::has(&chosen, value.expr, lo, hi)));
        self.assign(target, chosen, [place.span, span, span]);
    }

    /// A set, or the members of one as they are written, whose type is that of the variable.
    fn set_to_choose_from(&mut self, set: &ast::Expr, target: &Option<crate::sema::place::Target>) -> Option<Value> {
        let (ast::ExprKind::Set(members), Some(target)) = (&set.kind, target) else {
            return Some(self.elaborator.value(set));
        };
        let of = match target.scalar.ty {
            Ty::Symmetric(index) => Some(index),
            _ => None,
        };
        let (mut lo, mut hi) = (i64::MAX, i64::MIN);
        for member in members {
            let value = self.elaborator.value(member);
            if value.ty == Ty::Error {
                return None;
            }
            (lo, hi) = (lo.min(value.lo), hi.max(value.hi));
        }
        if members.is_empty() || hi - lo >= MAX_MEMBERS {
            (lo, hi) = (target.scalar.lo, target.scalar.hi);
        }
        if hi - lo >= MAX_MEMBERS {
            let message = format!("these members can be more than {MAX_MEMBERS} different values");
            let help = "write each as an alternative: `either { x := …; } or { x := …; }`";
            self.elaborator
                .cx
                .report(Diagnostic::new("E0022", set.span, message, "too far apart for a set").help(help));
            return None;
        }
        Some(self.elaborator.value_as(set, Ty::Set(lo, hi, of)))
    }

    /// The spans are those of the place, of the value, and of the whole action.
    pub(crate) fn assign(
        &mut self,
        target: Option<crate::sema::place::Target>,
        mut value: Value,
        [place, at, whole]: [Span; 3],
    ) {
        let Some(mut target) = target else { return };
        self.check(std::mem::take(&mut target.hazards));
        self.check(std::mem::take(&mut value.hazards));
        if !value.is_within(target.scalar.lo, target.scalar.hi) && value.expr.size() > 1 && value.ty != Ty::Error {
            let local = self.elaborator.fresh();
            self.push(Op::Let(local, std::mem::replace(&mut value.expr, Expr::Local(local))));
        }
        // Most values need no message about their conversion.
        if value.ty != target.scalar.ty || !value.is_within(target.scalar.lo, target.scalar.hi) {
            let name = format!("`{}`", self.elaborator.cx.source(place));
            let declared = Some(self.elaborator.cx.variables[target.place.variable.index()].span);
            let receiver = Receiver { what: &name, value: at, whole, declared };
            value = self.elaborator.convert(value, &target.scalar, &receiver);
        }
        if value.ty == Ty::Error {
            return;
        }
        self.check(std::mem::take(&mut value.hazards));
        if let Some(added) = target.added {
            // Neither the place nor the value sees the new key.
            target.place.index = target.place.index.map(|index| self.held(index));
            value.expr = self.held(value.expr);
            self.add_key(added);
        }
        self.elaborator.facts.write(target.place.variable, target.element, value.lo, value.hi);
        self.push(Op::Assign(target.place, value.expr));
    }

    /// What an expression is before later writes.
    fn held(&mut self, expr: Expr) -> Expr {
        if expr.as_const().is_some() {
            return expr;
        }
        let local = self.elaborator.fresh();
        self.push(Op::Let(local, expr));
        Expr::Local(local)
    }

    pub(super) fn choose(&mut self, place: &ast::Expr, lo: &ast::Expr, hi: &ast::Expr, span: Span) {
        let Some(target) = self.elaborator.target(place) else { return };
        if target.is_whole() {
            self.elaborator.element(target, place.span);
            return;
        }
        let target = self.elaborator.target_of(target);
        let mut from = self.elaborator.integer(lo, "a bound of `choose`");
        let mut to = self.elaborator.integer(hi, "a bound of `choose`");
        if from.ty == Ty::Error || to.ty == Ty::Error {
            return;
        }
        if let Some(other) = target.as_ref().map(|t| t.scalar.ty).filter(|ty| !matches!(ty, Ty::Int | Ty::Error)) {
            let cx = &mut self.elaborator.cx;
            let message = format!("`{}` is {}, but `choose` gives `int`", cx.source(place.span), cx.type_name(other));
            let diagnostic = Diagnostic::new("E0022", span, message, "this gives `int`");
            let name = cx.source(place.span);
            let each = format!("either {{ {name} := false; }} or {{ {name} := true; }}");
            let whole = cx.text(span).and_then(|text| edit::assignment(text, place.span));
            return cx.report(match whole.filter(|_| other == Ty::Boolean && (from.lo, to.hi) == (0, 1)) {
                Some(whole) => diagnostic.help(format!("write `{each}`")).propose(whole, each),
                None => diagnostic.help("write one guarded command for each value"),
            });
        }
        let bounds = lo.span.to(hi.span);
        if to.hi - from.lo >= MAX_CHOICE {
            let message = format!("a choice among up to {} values", to.hi - from.lo + 1);
            let help = format!("at most {MAX_CHOICE} are possible; bound the variables in it by their types");
            self.elaborator.cx.report(Diagnostic::new("E0039", bounds, message, "too many").help(help));
            return;
        }
        if from.fixed && to.fixed && from.lo > to.hi {
            let message = format!("a choice from the empty range {}..{}", from.lo, to.hi);
            let diagnostic = Diagnostic::new("E0032", bounds, message, "no value to choose");
            let help = format!("the lower bound comes first: `choose({}, {})`", to.hi, from.lo);
            let (low, high) = (self.elaborator.cx.source(hi.span), self.elaborator.cx.source(lo.span));
            self.elaborator.cx.report(diagnostic.help(help).propose(bounds, format!("{low}, {high}")));
            return;
        }
        // The place is found first, as in an assignment.
        let Some(mut target) = target else { return };
        self.check(std::mem::take(&mut target.hazards));
        self.check(std::mem::take(&mut from.hazards));
        self.check(std::mem::take(&mut to.hazards));
        if from.hi > to.lo {
            let fault = self
                .elaborator
                .cx
                .fault(FaultKind::EmptyChoice, span, |cx| format!("`{}` has no value to choose", cx.source(span)));
            let some = Expr::binary(birk_ir::BinaryOp::Le, from.expr.clone(), to.expr.clone());
            self.check(vec![Hazard { when: some.negate(), fault }]);
        }
        let local = self.elaborator.fresh();
        self.push(Op::Choose(local, from.expr, to.expr));
        let expr = Expr::Local(local);
        let chosen = Value { expr, ty: Ty::Int, lo: from.lo, hi: to.hi, hazards: Vec::new(), fixed: false };
        self.assign(Some(target), chosen, [place.span, span, span]);
    }

    /// Takes the first copy that is not running.
    pub(super) fn start(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) {
        let values: Vec<Value> = args.iter().map(|arg| self.elaborator.value(arg)).collect();
        let Some(&(Symbol::Thread(kind), _)) = self.elaborator.cx.symbols.get(name.text.as_str()) else {
            let cx = &mut self.elaborator.cx;
            if cx.symbols.contains_key(name.text.as_str()) {
                let diagnostic = cx.misused(&name.text, name.span, "a thread");
                return cx.diagnostics.extend(diagnostic);
            }
            let names: Vec<&str> = cx.threads.iter().map(|t| t.ast.name.text.as_str()).collect();
            return cx.unknown("a thread", name, &names);
        };
        let declaration = &self.elaborator.cx.threads[kind];
        let (copies, counter, thread) = (declaration.copies, declaration.counter, declaration.ast);
        if args.len() != thread.params.len() {
            let message =
                format!("`{}` takes {}, not {}", name.text, count(thread.params.len(), "argument"), args.len());
            let diagnostic = Diagnostic::new("E0027", span, message, "wrong number of arguments");
            let diagnostic = diagnostic.related(thread.name.span, "declared here");
            let diagnostic = self.elaborator.cx.with_arguments(diagnostic, name.span, &thread.params, args);
            self.elaborator.cx.report(diagnostic);
            return;
        }
        let params: Vec<_> = declaration.locals[..declaration.params].to_vec();
        let idle = declaration.control.spots.len() as i64;
        let mut converted = Vec::new();
        for ((value, param), arg) in values.into_iter().zip(&params).zip(args) {
            let what = format!("the argument `{}`", param.name);
            let (at, declared) = (arg.span, Some(param.span));
            let receiver = Receiver { what: &what, value: at, whole: at, declared };
            let value = self.elaborator.convert(value, &param.ty.scalar, &receiver);
            converted.push(value);
        }
        // All arguments are computed before the first parameter is written.
        let converted: Vec<(VarId, Expr)> =
            params.iter().map(|param| param.id).zip(self.hold(converted).into_iter().map(|value| value.expr)).collect();
        let is_free = |copy: u32| Expr::element(counter, Expr::Const(i64::from(copy))).equals(idle);
        let fault = self.elaborator.cx.fault(FaultKind::Start, span, |_| match copies {
            1 => format!("`{}` is already running", name.text),
            _ => format!("all {copies} instances of `{}` are already running", name.text),
        });
        self.push(Op::Check(Expr::any((0..copies).map(is_free).collect()), fault));
        let slot = if copies == 1 {
            Expr::Const(0)
        } else {
            let last = Expr::Const(i64::from(copies) - 1);
            let first = (0..copies.saturating_sub(1))
                .rev()
                .fold(last, |rest, copy| Expr::choose(is_free(copy), Expr::Const(i64::from(copy)), rest));
            let local = self.elaborator.fresh();
            self.push(Op::Let(local, first));
            Expr::Local(local)
        };
        for (variable, value) in converted {
            self.write(variable, slot.clone(), value);
        }
        self.write(counter, slot, Expr::Const(0));
    }

    pub(crate) fn write(&mut self, variable: VarId, index: Expr, value: Expr) {
        let (lo, hi) = {
            let declared = &self.elaborator.cx.variables[variable.index()];
            (declared.lo, declared.hi)
        };
        let element = index.as_const().and_then(|i| u32::try_from(i).ok());
        let (lo, hi) = value.as_const().map_or((lo, hi), |constant| (constant, constant));
        self.elaborator.facts.write(variable, element, lo, hi);
        self.push(Op::Assign(Place { variable, index: Some(index) }, value));
    }

    /// `return`: locals and parameters are reset, so that ended threads are all alike.
    pub(super) fn end(&mut self) {
        let declaration = &self.elaborator.cx.threads[self.kind];
        let (counter, idle) = (declaration.counter, declaration.control.spots.len() as i64);
        self.reset(|_| true);
        self.write(counter, Expr::Const(i64::from(self.copy)), Expr::Const(idle));
    }

    /// A crash: locals that are not durable are reset.
    pub(super) fn lose(&mut self) {
        let declaration = &self.elaborator.cx.threads[self.kind];
        let (params, durable) = (declaration.params, declaration.durable.clone());
        self.reset(|position| position >= params && !durable.contains(&position));
    }

    /// Gives some of the locals and parameters their initial values.
    fn reset(&mut self, is_lost: impl Fn(usize) -> bool) {
        let declaration = &self.elaborator.cx.threads[self.kind];
        let locals = declaration.locals.iter().enumerate().filter(|(i, _)| is_lost(*i));
        let ids: Vec<(VarId, bool)> =
            locals.flat_map(|(i, l)| l.leaves.iter().map(move |&id| (id, i < declaration.params))).collect();
        for (id, is_param) in ids {
            let variable = &self.elaborator.cx.variables[id.index()];
            let own: u32 = variable.shape[1..].iter().product();
            let (lo, hi, initial) = (variable.lo, variable.hi, variable.initial.clone());
            for element in self.copy * own..(self.copy + 1) * own {
                let rest = match is_param {
                    true if (lo..=hi).contains(&0) => 0,
                    true => lo,
                    // A thread without instances has none.
                    false => initial.get(element as usize).copied().unwrap_or(0),
                };
                self.write(id, Expr::Const(i64::from(element)), Expr::Const(rest));
            }
        }
    }
}
