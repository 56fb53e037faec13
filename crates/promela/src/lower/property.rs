//! Formulas and never claims.

use std::collections::HashMap;

use birk_ir::{Claim, ClaimState, Expr, FaultId, Formula, Property, PropertyKind};

use super::value::Lowering;
use crate::flow::{Flow, Node, Scope};
use crate::sema::World;
use crate::syntax::ast::{self, ExprKind, Model};

/// A formula has at most so many parts.
const MAX_PARTS: usize = 2000;

/// Everything that is asked of a model.
pub(crate) struct Asked {
    pub(crate) properties: Vec<Property>,
    pub(crate) faults: Vec<(Expr, FaultId)>,
}

impl Asked {
    fn condition(&mut self, world: &mut World, expr: &ast::Expr, scope: &Scope) -> Expr {
        let mut lowering = Lowering::new(world, None, scope);
        lowering.is_property = true;
        let value = lowering.value(expr);
        let wrong = Expr::any(value.hazards.iter().map(|hazard| hazard.when.clone()).collect());
        self.faults.extend(value.hazards.iter().map(|hazard| (hazard.when.clone(), hazard.fault)));
        wrong.negate().and(value.truth())
    }

    fn formula(&mut self, world: &mut World, expr: &ast::Expr, parts: &mut usize) -> Formula {
        *parts += 1;
        if *parts > MAX_PARTS {
            if *parts == MAX_PARTS + 1 {
                world.error("E2024", expr.span, "this formula is too long", "more than 2000 parts");
            }
            return Formula::Atom(Expr::TRUE);
        }
        let not = |f: Formula| Formula::Not(Box::new(f));
        match &expr.kind {
            _ if !is_temporal(expr) => Formula::Atom(self.condition(world, expr, &Scope::default())),
            ExprKind::Unary("!", inner) => not(self.formula(world, inner, parts)),
            ExprKind::Temporal(sign, inner) => {
                let inner = Box::new(self.formula(world, inner, parts));
                match *sign {
                    "[]" => Formula::Always(inner),
                    "<>" => Formula::Eventually(inner),
                    _ => Formula::Next(inner),
                }
            }
            // In a formula SPIN reads `&` as `&&`.
            ExprKind::Binary(sign @ ("&&" | "||" | "&" | "|"), both) => {
                let both = Box::new((self.formula(world, &both.0, parts), self.formula(world, &both.1, parts)));
                if sign.starts_with('&') { Formula::And(both) } else { Formula::Or(both) }
            }
            ExprKind::Between(sign, both) => {
                let (a, b) = (self.formula(world, &both.0, parts), self.formula(world, &both.1, parts));
                match *sign {
                    "U" => Formula::Until(Box::new((a, b))),
                    "V" => Formula::Release(Box::new((a, b))),
                    "W" => Formula::WeakUntil(Box::new((a, b))),
                    "->" => Formula::Or(Box::new((not(a), b))),
                    _ => {
                        let both = Formula::And(Box::new((a.clone(), b.clone())));
                        Formula::Or(Box::new((both, Formula::And(Box::new((not(a), not(b)))))))
                    }
                }
            }
            _ => {
                let message = "a formula cannot stand here";
                world.error("E2024", expr.span, message, "put parentheses around the comparison");
                Formula::Atom(Expr::TRUE)
            }
        }
    }

    /// A never claim: its states are the places of its statements.
    fn claim(&mut self, world: &mut World, flow: &Flow) -> Claim {
        let states = flow.states();
        let number: HashMap<usize, usize> = states.iter().enumerate().map(|(n, state)| (*state, n)).collect();
        let mut found = Vec::new();
        // An endless claim ends where its assertion is violated.
        let mut is_ended = false;
        for &state in &states {
            let element = &flow.elements[state];
            let name = element.labels.first().map_or_else(|| format!("S{}", number[&state]), ToString::to_string);
            let mut moves: Vec<(Expr, usize)> = Vec::new();
            if matches!(element.node, Node::End) {
                // At its end the claim has matched, whatever comes.
                found.push(ClaimState { name, is_accepting: true, moves: vec![(Expr::TRUE, number[&state])] });
                continue;
            }
            for leaf in flow.leaves(state) {
                let inner = flow.elements[leaf.element].clone();
                let condition = match &inner.node {
                    Node::Wait(condition) => self.condition(world, condition, &inner.scope),
                    Node::Skip | Node::Print | Node::Goto(_) | Node::Dot | Node::Break => Expr::TRUE,
                    Node::Else => Expr::any(moves.iter().map(|(condition, _)| condition.clone()).collect()).negate(),
                    Node::Assert(condition) => {
                        // A claim that finds its assertion violated has matched.
                        let holds = self.condition(world, condition, &inner.scope);
                        let end = states.iter().position(|state| matches!(flow.elements[*state].node, Node::End));
                        is_ended |= end.is_none();
                        moves.push((holds.negate(), end.unwrap_or(states.len())));
                        Expr::TRUE
                    }
                    Node::End => continue,
                    _ => {
                        let message = "a never claim consists of conditions and jumps";
                        world.error("E2026", inner.span, message, "has an effect");
                        Expr::FALSE
                    }
                };
                moves.push((condition, number[&leaf.target]));
            }
            found.push(ClaimState { name, is_accepting: flow.marks[state][1], moves });
        }
        if is_ended {
            let moves = vec![(Expr::TRUE, states.len())];
            found.push(ClaimState { name: "violated".into(), is_accepting: true, moves });
        }
        Claim { states: found, initial: 0 }
    }
}

/// Whether an expression is about more than one state.
fn is_temporal(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Temporal(..) | ExprKind::Between("U" | "V" | "W", _) => true,
        ExprKind::Between(..) => true,
        ExprKind::Unary(_, inner) => is_temporal(inner),
        ExprKind::Binary(_, both) => is_temporal(&both.0) || is_temporal(&both.1),
        ExprKind::Cond(parts) => is_temporal(&parts.0) || is_temporal(&parts.1) || is_temporal(&parts.2),
        _ => false,
    }
}

/// The properties of a model: deadlocks, faults, its formulas and claims, and what its labels ask.
pub(crate) fn properties(world: &mut World, model: &Model, claims: &[Flow], marks: [Expr; 2]) -> Asked {
    let built_in = |name: &str, kind| Property { name: name.into(), kind, span: None };
    let first = vec![built_in("deadlock", PropertyKind::Deadlock), built_in("fault", PropertyKind::Fault)];
    let mut asked = Asked { properties: first, faults: Vec::new() };
    for (name, formula) in &model.formulas {
        let formula = asked.formula(world, formula, &mut 0);
        asked.add(world, name, PropertyKind::Ltl(formula));
    }
    for (claim, flow) in model.claims.iter().zip(claims) {
        let automaton = asked.claim(world, flow);
        asked.add(world, &claim.name, PropertyKind::Claim(automaton));
    }
    let [accept, progress] = marks;
    let again = Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(progress.clone())))));
    let no_more = Formula::Always(Box::new(Formula::Atom(accept.clone().negate())));
    for (name, marked, formula) in
        [("progress", progress, again), ("accept", accept, Formula::Eventually(Box::new(no_more)))]
    {
        if marked != Expr::FALSE && !asked.properties.iter().any(|property| property.name == name) {
            asked.properties.push(built_in(name, PropertyKind::Ltl(formula)));
        }
    }
    asked
}

impl Asked {
    fn add(&mut self, world: &mut World, name: &ast::Name, kind: PropertyKind) {
        if self.properties.iter().any(|property| *property.name == *name.text) {
            world.error("E2002", name.span, format!("there is a property `{}` already", name.text), "again");
        }
        self.properties.push(Property { name: name.text.to_string(), kind, span: Some(name.span) });
    }
}
