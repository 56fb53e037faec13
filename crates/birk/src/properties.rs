//! Which properties are checked, and what is searched for them.

use birk_engine::GoalSet;
use birk_exec::automaton::{Buchi, automaton_of_claim, violations_of};
use birk_exec::{ReplayError, goal_of};
use birk_ir::diagnostic::nearest;
use birk_ir::{Expr, Goal, Program, Property, PropertyKind};

use crate::error::Error;
use crate::options::Automaton;

/// The properties of these names, or all; whether a deadlock is a violation is said apart.
pub fn selected<'p>(program: &'p Program, names: &[String], deadlock: bool) -> Result<Vec<&'p Property>, Error> {
    if !deadlock && names.iter().any(|name| name == "deadlock") {
        return Err(Error::refused("--property deadlock and --deadlock off contradict each other; leave one out"));
    }
    for name in names {
        if !program.properties.iter().any(|property| property.name == *name) {
            let names: Vec<&str> = program.properties.iter().map(|p| p.name.as_str()).collect();
            let help = match nearest(name, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(Error::refused(format!("there is no property `{name}`; {help}")));
        }
    }
    let asked = |property: &&Property| match property.kind {
        PropertyKind::Deadlock if !deadlock => false,
        // What labels mean is checked when it is asked for: many models have labels for other reasons.
        PropertyKind::Ltl(_) if property.span.is_none() => names.contains(&property.name),
        _ => names.is_empty() || names.contains(&property.name),
    };
    Ok(program.properties.iter().filter(asked).collect())
}

/// The goals of the properties that have one, each with its property's position.
pub fn goals_of(program: &Program, properties: &[&Property]) -> Result<Vec<(usize, Goal)>, Error> {
    let goals = properties.iter().enumerate().filter_map(|(i, property)| Some((i, goal_of(program, property)?)));
    let goals: Vec<(usize, Goal)> = goals.collect();
    if goals.len() > GoalSet::CAPACITY {
        return Err(Error::refused(format!(
            "{} properties are more than the {} of one search; select some with --property",
            goals.len(),
            GoalSet::CAPACITY
        )));
    }
    Ok(goals)
}

/// A trace that an engine found does not replay: a bug in Birk.
pub fn replay_failure(property: &Property, error: &ReplayError) -> Error {
    Error::Internal(format!("the trace for `{}` does not replay: {error}", property.name))
}

/// The automaton of the runs that violate a property, and what its propositions mean; a reason if it cannot be had.
pub(crate) fn automaton_of_violations(
    property: &Property,
    file: Option<&Automaton>,
) -> Result<(Buchi, Vec<Expr>), String> {
    match (&property.kind, file) {
        (PropertyKind::Ltl(formula), _) => violations_of(formula).map_err(|error| error.to_string()),
        (PropertyKind::Claim(claim), _) => automaton_of_claim(claim).map_err(|error| error.to_string()),
        (_, Some(file)) => Ok((file.automaton.clone(), file.propositions.clone())),
        _ => Err("it is not about executions".into()),
    }
}
