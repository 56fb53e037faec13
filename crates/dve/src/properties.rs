//! What a system says about itself: deadlock and runtime errors as always, an invariant for each assertion, and the property
//! process as a claim.

use birk_ir::{Claim, ClaimState, Diagnostic, Expr as Total, FaultId, Property, PropertyKind};

use crate::ast::Expr;
use crate::context::Context;
use crate::expression;

/// The properties, and when their evaluation goes wrong.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) properties: Vec<Property>,
    pub(crate) faults: Vec<(Total, FaultId)>,
}

/// All properties, the two that every system has first.
pub(crate) fn lower(cx: &mut Context<'_>) -> Asked {
    let mut asked = Asked::default();
    for (name, kind) in [("deadlock", PropertyKind::Deadlock), ("fault", PropertyKind::Fault)] {
        asked.properties.push(Property { name: name.into(), kind, span: None });
    }
    for process in cx.system_processes() {
        assertions(cx, process, &mut asked);
    }
    if let Some(process) = cx.property {
        let claim = claim(cx, process, &mut asked);
        let name = &cx.system.processes[process].name;
        let kind = PropertyKind::Claim(claim);
        asked.properties.push(Property { name: name.text.clone(), kind, span: Some(name.span) });
    }
    asked
}

/// Conditions over one state that stand elsewhere; where one cannot be evaluated it is not true.
pub(crate) fn conditions(cx: &mut Context<'_>, written: &[Expr]) -> Vec<Total> {
    let mut conditions = Vec::new();
    for expr in written {
        let value = expression::value(cx, None, expr).truth();
        let wrong = Total::any(value.hazards.into_iter().map(|hazard| hazard.when).collect());
        conditions.push(wrong.negate().and(value.expr));
    }
    conditions
}

/// `assert q: x < 2` is an invariant called `P.q`: where the process is in `q`, the condition holds.
fn assertions(cx: &mut Context<'_>, process: usize, asked: &mut Asked) {
    let declared = &cx.system.processes[process];
    let Some(counter) = cx.processes[process].counter else { return };
    for name in &declared.accepting {
        cx.state(process, name);
    }
    for (state, condition) in &declared.assertions {
        let value = expression::value(cx, Some(process), condition).truth();
        let Some(number) = cx.state(process, state) else { continue };
        let is_there = Total::element(counter, Total::Const(0)).equals(number as i64);
        for hazard in value.hazards {
            asked.faults.push((is_there.clone().and(hazard.when), hazard.fault));
        }
        let plain = format!("{}.{}", declared.name.text, state.text);
        let numbered = (2..).map(|number| format!("{plain}.{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let is_free = |name: &String| asked.properties.iter().all(|other| other.name != *name);
        let name = names.find(is_free).unwrap_or_default();
        let kind = PropertyKind::Invariant(is_there.negate().or(value.expr));
        asked.properties.push(Property { name, kind, span: Some(state.span.to(condition.span)) });
    }
}

/// The property process: a Büchi automaton over conditions on the system.
fn claim(cx: &mut Context<'_>, process: usize, asked: &mut Asked) -> Claim {
    let declared = &cx.system.processes[process];
    let state =
        |name: &crate::ast::Name| ClaimState { name: name.text.clone(), is_accepting: false, moves: Vec::new() };
    let mut states: Vec<ClaimState> = declared.states.iter().map(state).collect();
    for name in &declared.accepting {
        if let Some(number) = cx.state(process, name) {
            states[number].is_accepting = true;
        }
    }
    let extra = declared.committed.first().map(|name| (name.span, "a property has no committed states"));
    let extra = extra.or(declared.assertions.first().map(|(name, _)| (name.span, "a property has no assertions")));
    if let Some((span, message)) = extra {
        let help = "a property only watches the system: states, `accept`, and transitions with guards";
        cx.report(Diagnostic::new("E1009", span, message, "in the property").help(help));
    }
    for transition in &declared.transitions {
        let acts = transition.sync.as_ref().map(|sync| sync.span);
        if let Some(span) = acts.or(transition.effects.first().map(|effect| effect.span)) {
            let message = "a property only watches the system, and takes no part in it";
            let help = "its transitions have guards only";
            cx.report(Diagnostic::new("E1009", span, message, "not possible in a property").help(help));
        }
        let (from, to) = (cx.state(process, &transition.from), cx.state(process, &transition.to));
        let mut condition = Total::TRUE;
        if let Some(guard) = &transition.guard {
            let value = expression::value(cx, Some(process), guard).truth();
            asked.faults.extend(value.hazards.into_iter().map(|hazard| (hazard.when, hazard.fault)));
            condition = value.expr;
        }
        if let (Some(from), Some(to)) = (from, to) {
            states[from].moves.push((condition, to));
        }
    }
    Claim { states, initial: cx.processes[process].initial }
}
