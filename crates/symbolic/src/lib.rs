//! Symbolic engines, with sets of states as BDDs or traces as clauses, so that models with more states than any memory
//! holds can be searched. The only crate that knows OxiDD and CaDiCaL.
//!
//! They need the `Program` itself, not only a `Model`: diagrams and clauses are made of its expressions.
#![forbid(unsafe_code)]

mod attempt;
mod bdd;
mod bitvector;
mod cancellable;
mod ends;
mod expression;
mod netlist;
mod sat;
mod trace;

use birk_engine::{Engine, MuCalculusSearch, Search};
use birk_exec::heuristic::REFINE;

pub use netlist::Netlist;
pub use sat::{Breach, Gap, Induction, induction, strengthen, with_solver};

use crate::bdd::{astar, bfs, chaining, mucalculus, search};

/// One stack for walks down the diagrams, and one of OxiDD's own.
const STACKS: u64 = 2 * cancellable::STACK as u64;

/// All states are needed for a formula, so that there is nothing to be directed to.
const BY_CHAINING: MuCalculusSearch =
    |program, formulas, job, observer| mucalculus::decide(chaining::explore, program, formulas, job, observer);

/// The engines on decision diagrams and on clauses.
pub const ENGINES: &[Engine] = &[
    Engine {
        summary: "symbolic breadth-first search: each level is one BDD",
        when: "more states than fit in memory, in a regular model: circuits, rings, many similar threads",
        memory: "one BDD for each level, whose size is hard to predict",
        complete: true,
        shortest: true,
        covers_by_depth: true,
        certifies: true,
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
        summary: "symbolic search by saturation: applies each transition to all states reached so far, without levels",
        when: "what bdd is for, when no violation is expected: much faster where much is concurrent",
        memory: "one BDD of all states; for a trace, one for each level up to it",
        complete: true,
        shortest: true,
        certifies: true,
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
        summary: "symbolic A*: expands the states with the best heuristic estimate first; shortest traces",
        when: "what bdd is for, when a violation of one property is expected; select it with --property",
        memory: "BDDs for each depth: its frontier and its explored states",
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
        summary: "bounded model checking: asks a SAT solver for a violation in 0, 1, 2, … steps; proves by k-induction",
        when: "violations within some tens of steps in models with very many states; inductive invariants",
        memory: "clauses for each step, and those that the solver learns",
        shortest: true,
        covers_by_depth: true,
        ..Engine::new("bmc", Search::Program(sat::hunt))
    },
    Engine {
        summary: "IC3: proves by an inductive invariant that a SAT solver finds clause by clause, or finds a violation",
        when: "invariants of models with very many states, proved without visiting them",
        memory: "clauses of one step for each property, and those of the invariant",
        covers_by_depth: true,
        certifies: true,
        counts_runs: true,
        ..Engine::new("ic3", Search::Program(sat::ic3::hunt))
    },
];
