//! What a system says should be found of it: the properties and constants that it names are there.

use birk_ir::{Clause, Expectation, Property};

use crate::ast::{self, ClauseKind, Item, Name};
use crate::diagnostic::{Diagnostic, nearest};
use crate::sema::context::Context;

/// The expectations of a system.
pub(crate) fn lower(cx: &mut Context<'_>, system: &ast::System, properties: &[Property]) -> Vec<Expectation> {
    let written = system.items.iter().filter_map(|item| match item {
        Item::Expectation(expectation) => Some(expectation),
        _ => None,
    });
    let mut found = Vec::new();
    for expectation in written {
        for name in expectation.clauses.iter().filter_map(|clause| clause.property.as_ref()) {
            let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
            is_there(cx, name, "property", &names);
        }
        for (name, _) in &expectation.constants {
            // As with `-D`, a constant of a block need not be named with its block.
            let full = cx.constants.iter().map(|constant| constant.full_name.clone());
            let mut names: Vec<String> = full.collect();
            if names.iter().any(|full| full.rsplit_once('.').is_some_and(|(_, short)| short == name.text)) {
                names.push(name.text.clone());
            }
            is_there(cx, name, "constant", &names.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let constants = expectation.constants.iter().map(|(name, value)| (name.text.clone(), value.clone()));
        let clauses = expectation.clauses.iter().filter_map(clause);
        found.push(Expectation { constants: constants.collect(), clauses: clauses.collect(), span: expectation.span });
    }
    found
}

fn clause(clause: &ast::Clause) -> Option<Clause> {
    let property = clause.property.as_ref().map(|name| name.text.clone());
    Some(match clause.kind {
        ClauseKind::Holds => Clause::Holds(property),
        ClauseKind::Violated => Clause::Violated(property?, clause.number),
        ClauseKind::Reached => Clause::Reached(property?, clause.number),
        ClauseKind::States => Clause::States(clause.number?),
        ClauseKind::Transitions => Clause::Transitions(clause.number?),
        ClauseKind::Depth => Clause::Depth(clause.number?),
    })
}

fn is_there(cx: &mut Context<'_>, name: &Name, what: &str, names: &[&str]) {
    if name.text.is_empty() || names.contains(&name.text.as_str()) {
        return;
    }
    let message = format!("there is no {what} `{}`", name.text);
    let mut diagnostic = Diagnostic::new("E0056", name.span, message, format!("no {what} has this name"));
    diagnostic = match nearest(&name.text, names.iter().copied()) {
        Some(meant) => diagnostic.meant(meant),
        None if names.is_empty() => diagnostic.help(format!("this system has no {what}")),
        None => diagnostic.help(format!("there are {}", names.join(", "))),
    };
    cx.report(diagnostic);
}
