//! Warnings: what is allowed but probably not meant.

use std::collections::{HashMap, HashSet};

use birk_ir::{Expr, Op, Property, PropertyKind, Span, VarId};

use crate::diagnostic::Diagnostic;
use crate::lower::Steps;
use crate::lower::control::{FrameKind, Scope};
use crate::sema::context::{Context, Symbol};
use crate::sema::types::Ty;
use crate::syntax::ast;

/// Adds the warnings of a system without errors.
pub(crate) fn lint(cx: &mut Context<'_>, system: &ast::System, steps: &Steps, lowered: &[Property]) {
    variables(cx);
    properties(cx, system, lowered);
    guards(cx, steps);
    marks(cx, steps);
    for kind in 0..cx.threads.len() {
        locations(cx, kind);
    }
    if !steps.threads.iter().any(|t| cx.threads[t.kind].ast.active) {
        let help = "declare a thread `active` to run it from the start";
        cx.report(
            Diagnostic::new("W0007", system.name.span, "no thread runs from the start", "nothing happens").help(help),
        );
    }
}

fn variables(cx: &mut Context<'_>) {
    let table = |ids: &[VarId]| {
        let mut seen = vec![false; cx.variables.len()];
        ids.iter().for_each(|id| seen[id.index()] = true);
        seen
    };
    let (read, written) = (table(&cx.read), table(&cx.written));
    let locals = cx.threads.iter().flat_map(|t| t.locals[t.params..].iter());
    let mut found = Vec::new();
    for declared in cx.globals.iter().chain(locals) {
        let name = &declared.name;
        if matches!(declared.ty.scalar.ty, Ty::Channel(index) if cx.channels[index].capacity == 0) {
            continue;
        }
        let any = |seen: &[bool]| declared.leaves.iter().any(|id| seen[id.index()]);
        let (code, message, label) = match (any(&read), any(&written)) {
            (false, false) => ("W0002", format!("`{name}` is never used"), "neither read nor written"),
            (false, true) => ("W0002", format!("`{name}` is never read"), "written, but it decides nothing"),
            (true, false) => ("W0003", format!("`{name}` is never written"), "it keeps its initial value"),
            (true, true) => continue,
        };
        // What is chosen initially is meant to stay.
        if code == "W0003" && cx.choices.iter().any(|choice| declared.leaves.contains(&choice.variable)) {
            continue;
        }
        let mut diagnostic = Diagnostic::new(code, declared.span, message, label);
        if code == "W0003" && declared.ty.shape.is_empty() && declared.leaves.len() == 1 {
            let initial = cx.variables[declared.id.index()].initial.first().copied().unwrap_or(0);
            let value = match declared.ty.scalar.ty {
                Ty::Boolean => (initial != 0).to_string(),
                Ty::Enum(index) => format!("{}.{}", cx.enums[index].name, cx.enums[index].variants[initial as usize]),
                _ => initial.to_string(),
            };
            diagnostic = diagnostic.help(format!("make it a constant: `const {name} = {value};`"));
        } else if code == "W0002" {
            diagnostic = diagnostic.help("remove it");
        }
        found.push(diagnostic);
    }
    cx.diagnostics.extend(found);
}

/// Properties that say nothing about the threads.
fn properties(cx: &mut Context<'_>, system: &ast::System, lowered: &[Property]) {
    let written = system.items.iter().filter_map(|item| match item {
        ast::Item::Property(property) => Some(property),
        _ => None,
    });
    for (property, lowered) in written.zip(lowered.iter().filter(|property| property.span.is_some())) {
        if is_switch(cx, &property.body, &None) {
            continue;
        }
        let (holds, label) = match lowered.kind {
            PropertyKind::Invariant(Expr::Const(1)) => ("holds", "true in every state"),
            PropertyKind::Reachable(Expr::Const(0)) => ("fails", "false in every state"),
            _ => continue,
        };
        let message = format!("`{}` {holds} whatever the threads do", property.name.text);
        cx.report(Diagnostic::new("W0006", property.body.span, message, label));
    }
}

/// Whether a condition depends on what its user sets: a named constant, an argument, a round of a `for`.
pub(crate) fn is_switch(cx: &Context<'_>, condition: &ast::Expr, scope: &Scope<'_>) -> bool {
    condition.names().iter().any(|name| {
        let is_constant = matches!(cx.symbols.get(name), Some((Symbol::Constant(_) | Symbol::Block(_), _)));
        is_constant || is_given(scope, name)
    })
}

/// Whether a name stands for an argument or a round.
fn is_given(scope: &Scope<'_>, name: &str) -> bool {
    let Some(frame) = scope else { return false };
    let is_own = match frame.kind {
        FrameKind::Call(procedure, _) => procedure.params.iter().any(|param| param.name.text == name),
        FrameKind::Round(own, _) => own.text == name,
    };
    is_own || is_given(&frame.outer, name)
}

/// Guards that are the same constant in every copy.
fn guards(cx: &mut Context<'_>, steps: &Steps) {
    let mut values: HashMap<birk_ir::Span, (birk_ir::Span, Option<bool>)> = HashMap::new();
    for transition in &steps.transitions {
        let Some(guard) = transition.guard_span else { continue };
        // What is required later in the step is not a guard.
        if transition.ops.iter().any(|op| matches!(op, Op::Require(_))) || steps.switches.contains(&transition.span) {
            continue;
        }
        let value = match transition.guard {
            Expr::Const(value) => Some(value != 0),
            _ => None,
        };
        let entry = values.entry(transition.span).or_insert((guard, value));
        if entry.1 != value {
            entry.1 = None;
        }
    }
    let mut constant: Vec<_> = values.into_values().filter_map(|(span, value)| Some((span, value?))).collect();
    constant.sort_unstable();
    for (span, value) in constant {
        cx.report(if value {
            Diagnostic::new("W0004", span, "this guard is always true", "true in every state").help("leave it out")
        } else {
            Diagnostic::new("W0005", span, "this guarded command can never fire", "false in every state")
        });
    }
}

/// Marks `fair` on what is not a step: nobody would notice that they promise nothing.
fn marks(cx: &mut Context<'_>, steps: &Steps) {
    fn collect(body: &[ast::Action], marks: &mut Vec<Span>) {
        for statement in body {
            marks.extend(statement.fair.then_some(statement.span));
            match &statement.kind {
                ast::ActionKind::If(branches, otherwise) => {
                    branches.iter().for_each(|(_, branch)| collect(branch, marks));
                    otherwise.iter().for_each(|branch| collect(branch, marks));
                }
                ast::ActionKind::While(_, body) | ast::ActionKind::For(.., body) | ast::ActionKind::Atomic(body) => {
                    collect(body, marks);
                }
                ast::ActionKind::Either(branches) => branches.iter().for_each(|branch| collect(branch, marks)),
                _ => {}
            }
        }
    }
    let mut marks = Vec::new();
    for thread in cx.threads.iter().filter(|thread| thread.copies > 0) {
        for step in thread.ast.locations.iter().flat_map(|location| &location.transformations) {
            marks.extend(step.fair.then_some(step.span));
            collect(&step.actions, &mut marks);
        }
        collect(&thread.ast.body, &mut marks);
        for block in thread.ast.crashes.iter().flat_map(|crashes| [&crashes.crash, &crashes.restart]) {
            collect(block.as_deref().unwrap_or_default(), &mut marks);
        }
    }
    cx.procedures.iter().for_each(|procedure| collect(&procedure.body, &mut marks));
    let effective: HashSet<Span> = steps.transitions.iter().filter_map(|transition| transition.fair).collect();
    // What a library declares fair is not for its user to change.
    for span in marks.into_iter().filter(|mark| mark.file == 0 && !effective.contains(mark)) {
        let help = "declare a whole guarded command `fair`, or a statement that is a step of its own; a rendezvous is a \
                    step of the thread that sends";
        cx.report(Diagnostic::new("W0008", span, "`fair` has no effect here", "not a step of its own").help(help));
    }
}

/// Locations to which no chain of steps leads.
fn locations(cx: &mut Context<'_>, kind: usize) {
    let control = std::rc::Rc::clone(&cx.threads[kind].control);
    let mut next = vec![Vec::new(); control.spots.len()];
    for edge in &control.edges {
        next[edge.from].extend(edge.to);
    }
    let mut reached = vec![false; control.spots.len()];
    let mut work = vec![0];
    while let Some(spot) = work.pop() {
        if spot < reached.len() && !std::mem::replace(&mut reached[spot], true) {
            work.append(&mut next[spot]);
        }
    }
    for (spot, _) in control.spots.iter().zip(reached).filter(|(spot, reached)| !reached && spot.named) {
        if spot.alternative {
            let message = format!("the label `{}` names no location", spot.name);
            let label = "no thread is ever here: it is before the `either`";
            let help = "put the label before the `either`, or on a later statement of the alternative";
            cx.report(Diagnostic::new("W0001", spot.span, message, label).help(help));
            continue;
        }
        let message = format!("the location `{}` is unreachable", spot.name);
        let label = format!("no steps lead here from `{}`", control.spots[0].name);
        cx.report(Diagnostic::new("W0001", spot.span, message, label));
    }
}
