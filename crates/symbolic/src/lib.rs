//! Engines that search sets of states as decision diagrams, or runs as clauses, so that models with more states than any
//! memory holds can be searched. The only crate that knows OxiDD and CaDiCaL.
//!
//! They need the `Program` itself, not only a `Model`: diagrams and clauses are made of its expressions.
#![forbid(unsafe_code)]

mod attempt;
mod bdd;
mod bitvector;
mod cancellable;
mod expression;
mod sat;
mod trace;

use birk_engine::{Engine, MuCalculusSearch, Search};
use birk_exec::heuristic::REFINE;

use crate::bdd::{astar, bfs, chaining, mucalculus, search};

/// One stack for walks down the diagrams, and one of OxiDD's own.
const STACKS: u64 = 2 * cancellable::STACK as u64;

/// All states are needed for a formula, so that there is nothing to be directed to.
const BY_CHAINING: MuCalculusSearch =
    |program, formulas, job, observer| mucalculus::decide(chaining::explore, program, formulas, job, observer);

/// The engines on decision diagrams and on clauses.
pub const ENGINES: &[Engine] = &[
    Engine {
        summary: "breadth-first on sets of states: each level is one decision diagram",
        when: "more states than fit in memory, of a regular kind: circuits, rings, many like threads",
        memory: "one diagram for each level, of whatever size",
        complete: true,
        shortest: true,
        covers_by_depth: true,
        address_space: STACKS,
        mu_calculus: Some(|program, formulas, job, observer| {
            mucalculus::decide(bfs::explore, program, formulas, job, observer)
        }),
        ..Engine::new(
            "bdd",
            Search::Program(|program, goals, job, observer| search::hunt(bfs::explore, program, goals, job, observer)),
        )
    },
    Engine {
        summary: "sets of states without levels: each transition at once on all that was reached so far",
        when: "as bdd, to prove that nothing goes wrong: much faster where many things happen side by side",
        memory: "one diagram of all states; for a trace one for each level up to it",
        complete: true,
        shortest: true,
        address_space: STACKS,
        mu_calculus: Some(BY_CHAINING),
        ..Engine::new(
            "bdd-chain",
            Search::Program(|program, goals, job, observer| {
                search::hunt(chaining::explore, program, goals, job, observer)
            }),
        )
    },
    Engine {
        summary: "directed search on sets of states: those that seem nearest to a violation first; shortest traces",
        when: "as bdd, where a violation of one property is expected; name that property, so that the estimate is its own",
        memory: "diagrams for each depth: of what waits there, and of what was looked at",
        complete: true,
        shortest: true,
        address_space: STACKS,
        options: &[REFINE],
        mu_calculus: Some(BY_CHAINING),
        ..Engine::new(
            "bdd-astar",
            Search::Program(|program, goals, job, observer| {
                search::hunt(astar::explore, program, goals, job, observer)
            }),
        )
    },
    Engine {
        summary: "bounded model checking: is there a run of 0, 1, 2, … steps to a violation? asked of a SAT solver",
        when: "a violation within some tens of steps of a model with very many states; invariants that induction proves",
        memory: "clauses for every step, and what the solver learns",
        shortest: true,
        covers_by_depth: true,
        ..Engine::new("bmc", Search::Program(sat::hunt))
    },
];
