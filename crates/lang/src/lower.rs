//! Steps: each transformation of each copy of a thread becomes one transition.
//!
//! What can go wrong becomes a `Check` in front of the operation that would go wrong. A guard with hazards is
//! enabled where it is true or where evaluating it goes wrong; the checks come first, so that the latter is a fault.

use birk_ir::{Expr, FaultKind, LocationId, Op, Place, Span, Thread, ThreadId, ThreadKind, Transition, VarId};

use crate::ast::{self, ActionKind, Jump, Mark};
use crate::context::{Context, Symbol};
use crate::diagnostic::Diagnostic;
use crate::expression::{Elaborator, Receiver, count};
use crate::types::{Hazard, Ty, Value};

/// A choice may have this many values.
const MAX_CHOICE: i64 = 1 << 16;

/// The threads and transitions of a system.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) kinds: Vec<ThreadKind>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) transitions: Vec<Transition>,
}

/// Lowers all threads.
pub(crate) fn lower(cx: &mut Context<'_>) -> Steps {
    let mut steps = Steps::default();
    for kind in 0..cx.threads.len() {
        let (thread, copies) = (cx.threads[kind].ast, cx.threads[kind].copies);
        steps.kinds.push(ThreadKind {
            name: thread.name.text.clone(),
            span: thread.name.span,
            locations: thread.locations.iter().map(location).collect(),
            counter: cx.threads[kind].counter,
            copies,
            indexed: thread.copies.is_some(),
            fair: false,
        });
        if copies == 0 {
            // No copy runs, but its text is checked all the same.
            lower_copy(cx, &mut Steps::default(), kind, 0);
        }
        for copy in 0..copies {
            lower_copy(cx, &mut steps, kind, copy);
        }
    }
    steps
}

fn location(location: &ast::Location) -> birk_ir::Location {
    let has = |mark| location.marks.iter().any(|(m, _)| *m == mark);
    birk_ir::Location {
        name: location.name.text.clone(),
        span: location.name.span,
        end: has(Mark::End),
        accept: has(Mark::Accept),
        progress: has(Mark::Progress),
    }
}

fn lower_copy(cx: &mut Context<'_>, steps: &mut Steps, kind: usize, copy: u32) {
    let thread = cx.threads[kind].ast;
    let id = ThreadId::new(steps.threads.len());
    let mut at = Vec::new();
    for (l, location) in thread.locations.iter().enumerate() {
        let start = steps.transitions.len() as u32;
        for (ordinal, transformation) in location.transformations.iter().enumerate() {
            let mut step = Step { elaborator: Elaborator::new(cx, Some((kind, copy))), ops: Vec::new(), kind, copy };
            let (guard, target) = step.transformation(transformation, l);
            let Step { elaborator, ops, .. } = step;
            let locals = elaborator.locals;
            cx.note_writes(&ops);
            steps.transitions.push(Transition {
                thread: id,
                location: LocationId::new(l),
                ordinal: ordinal as u32,
                target,
                span: transformation.span,
                guard_span: transformation.guard.as_ref().map(|g| g.span),
                guard,
                ops,
                locals,
                fair: false,
            });
        }
        at.push((start, steps.transitions.len() as u32));
    }
    let name = match thread.copies {
        Some(_) => format!("{}[{copy}]", thread.name.text),
        None => thread.name.text.clone(),
    };
    steps.threads.push(Thread { name, kind, copy, at });
}

/// One transformation of one copy on its way to a transition.
struct Step<'c, 'a> {
    elaborator: Elaborator<'c, 'a>,
    ops: Vec<Op>,
    kind: usize,
    copy: u32,
}

impl Step<'_, '_> {
    fn transformation(&mut self, t: &ast::Transformation, from: usize) -> (Expr, Option<LocationId>) {
        let guard = match &t.guard {
            None => Expr::TRUE,
            Some(guard) => {
                let value = self.elaborator.condition(guard, "a guard");
                let goes_wrong = value.hazards.iter().map(|h| h.when.clone()).collect();
                self.check(value.hazards);
                self.elaborator.facts.assume(&value.expr);
                Expr::any(goes_wrong).or(value.expr)
            }
        };
        for action in &t.actions {
            self.action(action);
        }
        let target = match &t.jump {
            Some(Jump::Goto(name)) => self.goto(name, from),
            Some(Jump::Return(_)) => {
                self.end();
                None
            }
            None => None,
        };
        (guard, target)
    }

    fn check(&mut self, hazards: Vec<Hazard>) {
        for hazard in hazards {
            if hazard.when != Expr::FALSE {
                let holds = hazard.when.negate();
                self.elaborator.facts.assume(&holds);
                self.ops.push(Op::Check(holds, hazard.fault));
            }
        }
    }

    fn action(&mut self, action: &ast::Action) {
        match &action.kind {
            ActionKind::Skip => {}
            ActionKind::Assign(place, expr) => {
                let target = self.elaborator.target(place);
                let value = self.elaborator.value(expr);
                self.assign(target, value, [place.span, expr.span, action.span]);
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
                    self.ops.push(Op::Check(value.expr, fault));
                }
            }
            ActionKind::Assume(condition) => {
                let value = self.elaborator.condition(condition, "an assumption");
                self.check(value.hazards);
                self.elaborator.facts.assume(&value.expr);
                self.ops.push(Op::Assume(value.expr));
            }
            ActionKind::Start(name, args) => self.start(name, args, action.span),
        }
    }

    /// The spans are those of the place, of the value, and of the whole action.
    fn assign(&mut self, target: Option<crate::path::Target>, mut value: Value, [place, at, whole]: [Span; 3]) {
        let Some(target) = target else { return };
        self.check(target.hazards);
        self.check(std::mem::take(&mut value.hazards));
        if !value.is_within(target.scalar.lo, target.scalar.hi) && value.expr.size() > 1 && value.ty != Ty::Error {
            let local = self.elaborator.fresh();
            self.ops.push(Op::Let(local, std::mem::replace(&mut value.expr, Expr::Local(local))));
        }
        let name = format!("`{}`", self.elaborator.cx.source(place));
        let declared = Some(self.elaborator.cx.variables[target.place.variable.index()].span);
        let receiver = Receiver { what: &name, value: at, whole, declared };
        let mut value = self.elaborator.convert(value, &target.scalar, &receiver);
        if value.ty == Ty::Error {
            return;
        }
        self.check(std::mem::take(&mut value.hazards));
        self.elaborator.facts.write(target.place.variable, target.element, value.lo, value.hi);
        self.ops.push(Op::Assign(target.place, value.expr));
    }

    fn choose(&mut self, place: &ast::Expr, lo: &ast::Expr, hi: &ast::Expr, span: Span) {
        let target = self.elaborator.target(place);
        let mut from = self.elaborator.integer(lo, "a bound of `choose`");
        let mut to = self.elaborator.integer(hi, "a bound of `choose`");
        if from.ty == Ty::Error || to.ty == Ty::Error {
            return;
        }
        if let Some(other) = target.as_ref().map(|t| t.scalar.ty).filter(|ty| !matches!(ty, Ty::Int | Ty::Error)) {
            let cx = &mut self.elaborator.cx;
            let message = format!("`{}` is {}, but `choose` gives `int`", cx.source(place.span), cx.type_name(other));
            let help = "write one transformation for each of the values";
            return cx.report(Diagnostic::new("E0022", span, message, "this gives `int`").help(help));
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
            self.elaborator.cx.report(diagnostic.help(help));
            return;
        }
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
        self.ops.push(Op::Choose(local, from.expr, to.expr));
        let expr = Expr::Local(local);
        let chosen = Value { expr, ty: Ty::Int, lo: from.lo, hi: to.hi, hazards: Vec::new(), fixed: false };
        self.assign(target, chosen, [place.span, span, span]);
    }

    /// Takes the first copy that is not running.
    fn start(&mut self, name: &ast::Name, args: &[ast::Expr], span: Span) {
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
            self.elaborator.cx.report(
                Diagnostic::new("E0027", span, message, "wrong number of arguments")
                    .related(thread.name.span, "declared here"),
            );
            return;
        }
        let params: Vec<_> = declaration.locals[..declaration.params].to_vec();
        let mut converted = Vec::new();
        for ((value, param), arg) in values.into_iter().zip(&params).zip(args) {
            let what = format!("the argument `{}`", param.name);
            let (at, declared) = (arg.span, Some(param.span));
            let receiver = Receiver { what: &what, value: at, whole: at, declared };
            let mut value = self.elaborator.convert(value, &param.ty.scalar, &receiver);
            self.check(std::mem::take(&mut value.hazards));
            converted.push((param.id, value.expr));
        }
        let idle = thread.locations.len() as i64;
        let is_free = |copy: u32| Expr::element(counter, Expr::Const(i64::from(copy))).equals(idle);
        let fault = self.elaborator.cx.fault(FaultKind::Start, span, |_| match copies {
            1 => format!("`{}` is already running", name.text),
            _ => format!("all {copies} copies of `{}` are already running", name.text),
        });
        self.ops.push(Op::Check(Expr::any((0..copies).map(is_free).collect()), fault));
        let slot = if copies == 1 {
            Expr::Const(0)
        } else {
            let last = Expr::Const(i64::from(copies) - 1);
            let first = (0..copies.saturating_sub(1))
                .rev()
                .fold(last, |rest, copy| Expr::choose(is_free(copy), Expr::Const(i64::from(copy)), rest));
            let local = self.elaborator.fresh();
            self.ops.push(Op::Let(local, first));
            Expr::Local(local)
        };
        for (variable, value) in converted {
            self.write(variable, slot.clone(), value);
        }
        self.write(counter, slot, Expr::Const(0));
    }

    fn write(&mut self, variable: VarId, index: Expr, value: Expr) {
        let (lo, hi) = {
            let declared = &self.elaborator.cx.variables[variable.index()];
            (declared.lo, declared.hi)
        };
        let element = index.as_const().and_then(|i| u32::try_from(i).ok());
        let (lo, hi) = value.as_const().map_or((lo, hi), |constant| (constant, constant));
        self.elaborator.facts.write(variable, element, lo, hi);
        self.ops.push(Op::Assign(Place { variable, index: Some(index) }, value));
    }

    fn goto(&mut self, name: &ast::Name, from: usize) -> Option<LocationId> {
        let thread = self.elaborator.cx.threads[self.kind].ast;
        let Some(target) = thread.locations.iter().position(|l| l.name.text == name.text) else {
            self.elaborator.unknown_location(thread, name);
            return None;
        };
        if target != from {
            let counter = self.elaborator.cx.threads[self.kind].counter;
            self.write(counter, Expr::Const(i64::from(self.copy)), Expr::Const(target as i64));
        }
        Some(LocationId::new(target))
    }

    /// `return`: locals and parameters go back to where they began, so that ended threads are all alike.
    fn end(&mut self) {
        let declaration = &self.elaborator.cx.threads[self.kind];
        let (counter, idle) = (declaration.counter, declaration.ast.locations.len() as i64);
        let ids: Vec<(VarId, bool)> =
            declaration.locals.iter().enumerate().map(|(i, l)| (l.id, i < declaration.params)).collect();
        for (id, is_param) in ids {
            let variable = &self.elaborator.cx.variables[id.index()];
            let own: u32 = variable.shape[1..].iter().product();
            let (lo, hi, first) = (variable.lo, variable.hi, variable.initial.first().copied().unwrap_or(0));
            let rest = match is_param {
                true if (lo..=hi).contains(&0) => 0,
                true => lo,
                false => first,
            };
            for element in self.copy * own..(self.copy + 1) * own {
                self.write(id, Expr::Const(i64::from(element)), Expr::Const(rest));
            }
        }
        self.write(counter, Expr::Const(i64::from(self.copy)), Expr::Const(idle));
    }
}
