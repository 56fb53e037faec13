//! Threads: their copies, their counters, their parameters and variables.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use birk_ir::text::{NOT_RUNNING, TERMINATED};
use birk_ir::{Span, ValueKind, VarId, VarRole, Variable};

use super::initial::initial_values;
use super::types::{length_of, resolve_type, scalar_type};
use super::{add_leaves, duplicate, no_duplicates};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::sema::context::{Context, ThreadDecl};
use crate::sema::types::{Declared, Scalar, Ty, Type};
use crate::syntax::ast::{self, ActionKind, Item};

/// A thread may not have more copies.
const MAX_COPIES: i64 = 1000;

/// The threads that some step starts.
pub(super) fn started_names(system: &ast::System) -> Vec<&str> {
    fn visit<'s>(actions: &'s [ast::Action], names: &mut Vec<&'s str>) {
        for action in actions {
            match &action.kind {
                ActionKind::Start(name, _) => names.push(name.text.as_str()),
                ActionKind::If(branches, otherwise) => {
                    branches.iter().for_each(|(_, branch)| visit(branch, names));
                    visit(otherwise.as_deref().unwrap_or_default(), names);
                }
                ActionKind::While(_, body) | ActionKind::For(_, _, _, body) | ActionKind::Atomic(body) => {
                    visit(body, names);
                }
                ActionKind::Either(branches) => branches.iter().for_each(|branch| visit(branch, names)),
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    for item in &system.items {
        match item {
            Item::Thread(thread) => {
                visit(&thread.body, &mut names);
                for block in thread.crashes.iter().flat_map(|crashes| [&crashes.crash, &crashes.restart]) {
                    visit(block.as_deref().unwrap_or_default(), &mut names);
                }
                for transformation in thread.locations.iter().flat_map(|l| &l.transformations) {
                    visit(&transformation.actions, &mut names);
                }
            }
            Item::Procedure(procedure) => visit(&procedure.body, &mut names),
            _ => {}
        }
    }
    names
}

pub(super) fn declare_thread<'a>(cx: &mut Context<'a>, thread: &'a ast::Thread, started: bool) {
    let is_first = cx.symbols.get(thread.name.text.as_str()).is_some_and(|(_, span)| *span == thread.name.span);
    if !is_first {
        return;
    }
    let kind = cx.threads.len();
    let (copies, by) = copies_of(cx, thread);
    no_duplicates(cx, thread.locations.iter().map(|location| &location.name));
    let control = Rc::new(crate::lower::control::control(cx, thread));
    let counter = declare_counter(cx, thread, &control, kind, copies);
    let mut declaration = ThreadDecl {
        ast: thread,
        control,
        copies,
        started,
        counter,
        index_param: None,
        index_ty: Ty::Int,
        by,
        local_names: HashMap::new(),
        locals: Vec::new(),
        params: 0,
        durable: HashSet::new(),
    };
    declare_params(cx, &mut declaration, kind);
    for variables in &thread.variables {
        let ty = resolve_type(cx, &variables.ty);
        for (name, initial) in &variables.declarators {
            let values = match initial {
                Some(ast::Expr { kind: ast::ExprKind::Choose(_), span }) => one_value(cx, &ty, *span, &name.text),
                _ => initial_values(cx, &ty, initial.as_ref(), &name.text),
            };
            if variables.durable {
                declaration.durable.insert(declaration.locals.len());
            }
            declare_local(cx, &mut declaration, kind, name, &ty, &values);
        }
    }
    cx.threads.push(declaration);
}

/// Says that a local begins with one value.
fn one_value(cx: &mut Context<'_>, ty: &Type, span: Span, name: &str) -> Vec<i64> {
    let message = format!("`{name}` cannot begin with a choice");
    let label = "only variables of the system can";
    let help = format!("choose in the thread's first step: `{name} := {};`", cx.source(span));
    cx.report(Diagnostic::new("E0062", span, message, label).help(help));
    vec![cx.default_of(&ty.scalar)]
}

/// How many instances there are, and the symmetric type that numbers them, if one does.
pub(super) fn copies_of(cx: &mut Context<'_>, thread: &ast::Thread) -> (u32, Option<usize>) {
    let Some(expr) = &thread.copies else { return (1, None) };
    match length_of(cx, expr, "the number of instances") {
        Some((copies @ 0..=MAX_COPIES, by)) => (copies as u32, by),
        Some((copies, _)) => {
            let message = format!("a thread cannot have {copies} instances");
            let diagnostic = Diagnostic::new("E0038", expr.span, message, format!("must be in 0..{MAX_COPIES}"));
            cx.report(match copies > MAX_COPIES {
                true => diagnostic.propose(expr.span, MAX_COPIES.to_string()),
                false => diagnostic.propose(expr.span, "1"),
            });
            (1, None)
        }
        None => (1, None),
    }
}

pub(super) fn declare_counter(
    cx: &mut Context<'_>,
    thread: &ast::Thread,
    control: &crate::lower::control::Control<'_>,
    kind: usize,
    copies: u32,
) -> VarId {
    let can_stop = !thread.active || control.edges.iter().any(|edge| edge.to.is_none());
    let count = control.spots.len() as i64;
    let mut names: Vec<String> = control.spots.iter().map(|spot| spot.name.clone()).collect();
    // Whoever runs from the start has terminated when it does not run.
    names.push(if thread.active { TERMINATED } else { NOT_RUNNING }.into());
    cx.variables.push(Variable {
        name: format!("{}@", thread.name.text),
        role: VarRole::Counter(kind),
        lo: 0,
        hi: if can_stop { count } else { (count - 1).max(0) },
        shape: vec![copies],
        values: ValueKind::Names(names),
        initial: vec![if thread.active { 0 } else { count }; copies as usize],
        span: thread.name.span,
    });
    VarId::new(cx.variables.len() - 1)
}

/// The parameter of a thread that only runs from the start is a constant of each copy; others are variables.
pub(super) fn declare_params(cx: &mut Context<'_>, declaration: &mut ThreadDecl<'_>, kind: usize) {
    let thread = declaration.ast;
    for (position, param) in thread.params.iter().enumerate() {
        let mut scalar = scalar_type(cx, &param.ty);
        if param.name.text.is_empty() {
            scalar = Scalar::ERROR;
        }
        let last = i64::from(declaration.copies) - 1;
        if thread.active && position > 0 {
            let message = format!("the active thread `{}` has {} parameters", thread.name.text, thread.params.len());
            let help = "a thread that runs from the start has at most one, the number of the instance; \
                        make it a variable of the thread";
            let diagnostic = Diagnostic::new("E0037", param.name.span, message, "nothing gives it a value").help(help);
            let place =
                cx.text(param.name.span).and_then(|text| edit::last_parameter(text, param.ty.span, param.name.span));
            let variable = format!(") {{\n    {} {};", cx.source(param.ty.span), param.name.text);
            cx.report(match place {
                Some(place) => diagnostic.propose(place, variable),
                None => diagnostic,
            });
            scalar = Scalar::ERROR;
        } else if thread.active && !matches!(scalar.ty, Ty::Int | Ty::Symmetric(_) | Ty::Error) {
            let message = format!("the parameter `{}` of an active thread must be an integer", param.name.text);
            let diagnostic = Diagnostic::new("E0037", param.ty.span, message, "it is the number of the instance");
            cx.report(diagnostic.help("make it an `int`").propose(param.ty.span, "int"));
            scalar = Scalar::ERROR;
        } else if thread.active && scalar.ty != Ty::Error && (scalar.lo > 0 || scalar.hi < last) {
            let message = format!("`{}` cannot number {} instances", param.name.text, declaration.copies);
            let diagnostic = Diagnostic::new("E0030", param.ty.span, message, format!("must hold 0..{last}"));
            let wider = format!("int ({}, {})", scalar.lo.min(0), scalar.hi.max(last));
            cx.report(diagnostic.help(format!("widen the range: `{wider}`")).propose(param.ty.span, wider));
        }
        if thread.active && !declaration.started && scalar.ty != Ty::Error {
            declaration.index_param = Some(param.name.text.clone());
            declaration.index_ty = scalar.ty;
            if let Ty::Symmetric(name) = scalar.ty {
                declaration.by = declaration.by.or(Some(name));
            }
            continue;
        }
        let ty = Type::of(scalar);
        declare_local(cx, declaration, kind, &param.name, &ty, &[cx.default_of(&scalar)]);
        if thread.active
            && scalar.ty != Ty::Error
            && let Some(variable) = cx.variables.last_mut()
        {
            for (copy, value) in variable.initial.iter_mut().enumerate() {
                *value = (copy as i64).clamp(variable.lo, variable.hi);
            }
        }
    }
    declaration.params = declaration.locals.len();
}

pub(super) fn declare_local(
    cx: &mut Context<'_>,
    declaration: &mut ThreadDecl<'_>,
    kind: usize,
    name: &ast::Name,
    ty: &Type,
    initial: &[i64],
) {
    if let Some(&position) = declaration.local_names.get(&name.text) {
        let first = &mut declaration.locals[position];
        first.ty.scalar = Scalar::ERROR;
        return duplicate(cx, name, first.span);
    }
    if declaration.index_param.as_ref() == Some(&name.text) {
        return duplicate(cx, name, declaration.ast.params[0].name.span);
    }
    if matches!(ty.scalar.ty, Ty::Channel(_)) {
        let message = "a channel cannot belong to one thread";
        let diagnostic = Diagnostic::new("E0052", name.span, message, "declare it in the system");
        let declared = declaration.ast.variables.iter().find(|one| one.declarators.iter().any(|(own, _)| own == name));
        cx.report(match declared {
            Some(declared) => cx.moved_out(diagnostic, declaration.ast.span, declared.span),
            None => diagnostic,
        });
        return declare_local(cx, declaration, kind, name, &Type::ERROR, &[0]);
    }
    let full_name = format!("{}.{}", declaration.ast.name.text, name.text);
    let copies = [declaration.copies];
    let leaves = add_leaves(cx, &full_name, VarRole::Local(kind), ty, &copies, initial, name.span);
    let id = leaves.first().copied().unwrap_or(VarId(u32::MAX));
    declaration.local_names.insert(name.text.clone(), declaration.locals.len());
    declaration.locals.push(Declared { name: name.text.clone(), id, leaves, ty: ty.clone(), span: name.span });
}
