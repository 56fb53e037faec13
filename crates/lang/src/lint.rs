//! Warnings: what is allowed but probably not meant.

use std::collections::HashMap;

use birk_ir::{Expr, Property, PropertyKind, VarId};

use crate::ast::{self, Jump};
use crate::context::Context;
use crate::diagnostic::Diagnostic;
use crate::lower::Steps;
use crate::types::Ty;

/// Adds the warnings of a system without errors.
pub(crate) fn lint(cx: &mut Context<'_>, system: &ast::System, steps: &Steps, lowered: &[Property]) {
    variables(cx);
    properties(cx, system, lowered);
    guards(cx, steps);
    for thread in cx.threads.iter().map(|t| t.ast).collect::<Vec<_>>() {
        locations(cx, thread);
    }
    if !steps.threads.iter().any(|t| cx.threads[t.kind].ast.active) {
        let help = "mark a thread `active` to let it run from the start";
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
        let (code, message, label) = match (read[declared.id.index()], written[declared.id.index()]) {
            (false, false) => ("W0002", format!("`{name}` is never used"), "neither read nor written"),
            (false, true) => ("W0002", format!("`{name}` is never read"), "written, but it decides nothing"),
            (true, false) => ("W0003", format!("`{name}` is never written"), "it keeps its initial value"),
            (true, true) => continue,
        };
        let mut diagnostic = Diagnostic::new(code, declared.span, message, label);
        if code == "W0003" && declared.ty.shape.is_empty() {
            let initial = cx.variables[declared.id.index()].initial.first().copied().unwrap_or(0);
            let value = match declared.ty.scalar.ty {
                Ty::Boolean => (initial != 0).to_string(),
                Ty::Enum(index) => format!("{}.{}", cx.enums[index].name, cx.enums[index].variants[initial as usize]),
                Ty::Int | Ty::Error => initial.to_string(),
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
        let (holds, label) = match lowered.kind {
            PropertyKind::Invariant(Expr::Const(1)) => ("holds", "true in every state"),
            PropertyKind::Reachable(Expr::Const(0)) => ("fails", "false in every state"),
            _ => continue,
        };
        let message = format!("`{}` {holds} whatever the threads do", property.name.text);
        cx.report(Diagnostic::new("W0006", property.body.span, message, label));
    }
}

/// Guards that are the same constant in every copy.
fn guards(cx: &mut Context<'_>, steps: &Steps) {
    let mut values: HashMap<birk_ir::Span, (birk_ir::Span, Option<bool>)> = HashMap::new();
    for transition in &steps.transitions {
        let Some(guard) = transition.guard_span else { continue };
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
            Diagnostic::new("W0005", span, "this transformation can never fire", "false in every state")
        });
    }
}

/// Locations to which no chain of jumps leads.
fn locations(cx: &mut Context<'_>, thread: &ast::Thread) {
    let position: HashMap<&str, usize> =
        thread.locations.iter().enumerate().rev().map(|(i, l)| (l.name.text.as_str(), i)).collect();
    let mut reached = vec![false; thread.locations.len()];
    let mut work = vec![0];
    while let Some(location) = work.pop() {
        if location >= reached.len() || std::mem::replace(&mut reached[location], true) {
            continue;
        }
        for transformation in &thread.locations[location].transformations {
            if let Some(Jump::Goto(name)) = &transformation.jump {
                work.extend(position.get(name.text.as_str()));
            }
        }
    }
    for (location, _) in thread.locations.iter().zip(reached).filter(|(_, reached)| !reached) {
        let message = format!("the location `{}` is unreachable", location.name.text);
        let label = format!("no jumps lead here from `{}`", thread.locations[0].name.text);
        cx.report(Diagnostic::new("W0001", location.name.span, message, label));
    }
}
