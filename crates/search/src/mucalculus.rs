//! What can happen from a state on: formulas of the modal mu-calculus, decided on the explicit graph.
//!
//! `Graph` is what a search found, with its edges in both directions. `Equations` is a formula, cut into blocks of
//! fixpoints that can be computed together; `solve` computes them, `witness` reads a run off what was computed.

mod graph;
mod moves;
mod solve;
mod states;
mod witness;

use std::ops::ControlFlow;

use birk_engine::{Model, Observer};
use birk_ir::{Branching, Expr, Stop, Trace};

use birk_exec::equations::Equations;
use moves::Moves;
use solve::Solver;

pub use graph::{Graph, Needs};

/// What is known of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Whether it is true in every initial state, and a witness, as far as one path can be one.
    Known(bool, Trace),
    /// The graph is only a part, in which such a formula means nothing.
    Open,
}

/// Decides a formula; the propositions are those of the graph, in which the model evaluates them once.
pub fn decide(
    formula: &Branching,
    propositions: &[Expr],
    graph: &mut Graph,
    model: &dyn Model,
    observer: &mut dyn Observer,
) -> ControlFlow<Stop, Truth> {
    if !graph.is_complete() && !formula.is_existential() && !formula.is_universal() {
        return ControlFlow::Continue(Truth::Open);
    }
    graph.evaluate(model, observer)?;
    let graph = &*graph;
    let equations = Equations::new(formula, propositions, graph.transitions());
    let moves = Moves::new(graph, &equations.steps);
    let mut solver = Solver::new(&equations, &moves, observer);
    solver.compute(0)?;
    let false_in = graph.initial().iter().copied().find(|&state| !solver.value(0, state));
    let is_true = false_in.is_none();
    let is_sure = graph.is_complete() || if is_true { formula.is_existential() } else { formula.is_universal() };
    if !is_sure {
        return ControlFlow::Continue(Truth::Open);
    }
    let from = false_in.unwrap_or_else(|| graph.initial()[0]);
    let run = witness::walk(&mut solver, from, is_true)?;
    ControlFlow::Continue(Truth::Known(is_true, run.trace(graph, model)))
}

/// Bytes that deciding a formula takes for each state, besides the graph.
pub fn bytes_per_state(formula: &Branching, propositions: &[Expr]) -> u64 {
    Equations::new(formula, propositions, 0).bytes_per_state()
}
