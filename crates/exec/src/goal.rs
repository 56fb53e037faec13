//! A property becomes a goal: what an engine hunts, without knowing whether finding it is good or bad news.

use birk_ir::{Expr, Goal, Program, Property, PropertyKind};

/// The goal of a property; `None` for what is about whole runs (see `automaton::violations_of`), or about
/// their branching (see `birk-search`).
///
/// The outcome of a failing check is evaluated only for `fault`: the step broke off in the middle, and its values are
/// not those of a state.
pub fn goal_of(program: &Program, property: &Property) -> Option<Goal> {
    let faulty = || program.fault.map_or(Expr::FALSE, Expr::Var);
    let bad = match &property.kind {
        PropertyKind::Deadlock => Expr::Stuck.and(faulty().negate()).and(program.valid_end.clone().negate()),
        PropertyKind::Fault => {
            let in_properties = program.property_faults.iter().map(|(condition, _)| condition.clone()).collect();
            faulty().or(Expr::any(in_properties))
        }
        PropertyKind::Invariant(holds) => faulty().negate().and(holds.clone().negate()),
        PropertyKind::Reachable(target) => faulty().negate().and(target.clone()),
        PropertyKind::Ltl(_)
        | PropertyKind::Ctl(_)
        | PropertyKind::Mu(_)
        | PropertyKind::Automaton
        | PropertyKind::Claim(_) => return None,
    };
    Some(Goal::State(bad))
}
