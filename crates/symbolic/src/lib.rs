//! Engines that search sets of states as decision diagrams, or runs as clauses, so that models with more states than any
//! memory holds can be searched. The only crate that knows OxiDD and CaDiCaL.
//!
//! They need the `Program` itself, not only a `Model`: diagrams and clauses are made of its expressions.
#![forbid(unsafe_code)]

mod apart;
mod astar;
mod backwards;
mod branching;
mod chain;
mod choices;
mod condition;
mod diagram;
mod encoding;
mod estimate;
mod expression;
mod ladder;
mod layers;
mod order;
mod pieces;
mod ranges;
mod relation;
mod sat;
mod search;
mod simpler;
mod tally;
#[cfg(test)]
mod testing;
mod trace;
mod value;

use birk_ir::{Branching, Goal, Program};
use birk_search::{Engine, Hunt, Job, Observer};

/// A search of a program by its text; what cannot be encoded is refused with the reason.
pub type SymbolicHunt = fn(&Program, &[Goal], &Job, &mut dyn Observer) -> Result<Hunt, String>;

/// Decides formulas about branching; each that is true is found, with a run that shows it as far as a run can.
pub type SymbolicDecision = fn(&Program, &[Branching], &Job, &mut dyn Observer) -> Result<Hunt, String>;

/// How the engine of this name decides formulas about branching on sets of states, if it does.
pub fn decision(engine: &str) -> Option<SymbolicDecision> {
    match engine {
        "bdd" => Some(|program, formulas, job, observer| {
            branching::decide(layers::explore, program, formulas, job, observer)
        }),
        // All states are needed, so there is nothing to be directed to.
        "bdd-chain" | "bdd-astar" => {
            Some(|program, formulas, job, observer| branching::decide(chain::explore, program, formulas, job, observer))
        }
        _ => None,
    }
}

/// Address space that the engine of this name needs beside its memory, of which it occupies little: one stack for its walks down
/// the diagrams, and one of OxiDD's own.
pub fn address_space(engine: &str) -> u64 {
    if decision(engine).is_some() { 2 * apart::STACK as u64 } else { 0 }
}

/// The engines on decision diagrams and on clauses.
pub const ENGINES: &[Engine<SymbolicHunt>] = &[
    Engine {
        name: "bdd",
        summary: "breadth-first on sets of states: each level is one decision diagram",
        when: "more states than fit in memory, of a regular kind: circuits, rings, many like threads",
        complete: true,
        shortest: true,
        scales: false,
        covers_by_depth: true,
        slices: false,
        options: &[],
        memory: "one diagram for each level, of whatever size",
        hunt: |program, goals, job, observer| search::hunt(layers::explore, program, goals, job, observer),
    },
    Engine {
        name: "bdd-chain",
        summary: "sets of states without levels: each transition at once on all that was reached so far",
        when: "as bdd, to prove that nothing goes wrong: much faster where many things happen side by side",
        complete: true,
        shortest: true,
        scales: false,
        covers_by_depth: false,
        slices: false,
        options: &[],
        memory: "one diagram of all states; for a trace one for each level up to it",
        hunt: |program, goals, job, observer| search::hunt(chain::explore, program, goals, job, observer),
    },
    Engine {
        name: "bdd-astar",
        summary: "directed search on sets of states: those that seem nearest to a violation first; shortest traces",
        when: "as bdd, where a violation of one property is expected; name that property, so that the estimate is its own",
        complete: true,
        shortest: true,
        scales: false,
        covers_by_depth: false,
        slices: false,
        options: &["refine"],
        memory: "diagrams for each depth: of what waits there, and of what was looked at",
        hunt: |program, goals, job, observer| search::hunt(astar::explore, program, goals, job, observer),
    },
    Engine {
        name: "bmc",
        summary: "bounded model checking: is there a run of 0, 1, 2, … steps to a violation? asked of a SAT solver",
        when: "a violation within some tens of steps of a model with very many states; invariants that induction proves",
        complete: false,
        shortest: true,
        scales: false,
        covers_by_depth: true,
        slices: false,
        options: &[],
        memory: "clauses for every step, and what the solver learns",
        hunt: sat::hunt,
    },
];
