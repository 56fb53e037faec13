//! Justice and fairness: what must not happen is an execution without an end in which all signals of a justice property, and all
//! fairness constraints, are true again and again.
//!
//! Such signals may look at inputs, so a variable for each says what it was in the last cycle. An execution that ends goes on in
//! LTL as if its last state were repeated; it must not count, so a variable changes with every cycle where one can end.

use birk_ir::{Expr, Formula, Op, VarId, Variable};

use super::{Signals, boolean, write};
use crate::circuit::Circuit;
use crate::graph::Edge;
use crate::names::Names;

/// The variables for justice and fairness.
pub(super) struct Watched {
    /// What each variable says of the last cycle.
    signals: Vec<(VarId, Edge)>,
    /// By justice property, which of them it asks for.
    of: Vec<Vec<VarId>>,
    /// Changes with every cycle.
    tick: Option<VarId>,
}

impl Watched {
    pub(super) fn new(circuit: &Circuit, of: &Signals, names: &mut Names, variables: &mut Vec<Variable>) -> Self {
        let mut watched = Self { signals: Vec::new(), of: Vec::new(), tick: None };
        for (number, (literals, justice)) in of.justice.iter().zip(&circuit.justice).enumerate() {
            let mut own = Vec::new();
            for &edge in literals.iter().chain(&of.fairness) {
                let known = watched.signals.iter().find(|(_, other)| *other == edge);
                let variable = known.map(|&(variable, _)| variable).unwrap_or_else(|| {
                    let name = names.name(Some(&format!("was_j{number}_{}", own.len())), 'j', number);
                    variables.push(boolean(name, false, justice.span));
                    VarId::new(variables.len() - 1)
                });
                if known.is_none() {
                    watched.signals.push((variable, edge));
                }
                own.push(variable);
            }
            watched.of.push(own);
        }
        if !watched.of.is_empty() && !of.constraints.is_empty() {
            variables.push(boolean(names.name(Some("tick"), 't', 0), false, circuit.header));
            watched.tick = Some(VarId::new(variables.len() - 1));
        }
        watched
    }

    pub(super) fn signals(&self) -> impl Iterator<Item = (VarId, Edge)> + '_ {
        self.signals.iter().copied()
    }

    pub(super) fn tick(&self) -> Option<Op> {
        self.tick.map(|tick| write(tick, Expr::Var(tick).negate()))
    }

    /// That a justice property is not satisfied; `can_leave` says that executions can come to a bad, and stay there.
    pub(super) fn violated(&self, number: usize, in_run: &Expr, can_leave: bool) -> Formula {
        let again =
            |condition: Expr| Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Atom(condition)))));
        let mut conditions: Vec<Expr> = self.of[number].iter().map(|&variable| Expr::Var(variable)).collect();
        conditions.extend(self.tick.into_iter().flat_map(|tick| [Expr::Var(tick), Expr::Var(tick).negate()]));
        if can_leave || conditions.is_empty() {
            conditions.push(in_run.clone());
        }
        let mut all = conditions.into_iter().map(again);
        let first = all.next().unwrap_or(Formula::Atom(Expr::TRUE));
        let all = all.fold(first, |all, one| Formula::And(Box::new((all, one))));
        Formula::Not(Box::new(all))
    }
}
