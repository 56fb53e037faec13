//! The models of the repository, as the library sees them: every engine finds what their headers, the literature and other tools
//! say.

mod beem;
mod corpus;
mod figures;
mod forecast;
mod highway;
mod logics;
mod reduced_formulas;
mod reduction;
mod sets;
mod symmetry;
mod traps;
mod twins;

use birk_engine::{Engine, Hunt, Job, Model, Patient, Search};
use birk_exec::{Directed, Heuristic, Interpreter};
use birk_ir::{Goal, Program};

/// Searches a program with an engine of any kind, interpreted.
fn hunt_with(engine: &Engine, program: &Program, goals: &[Goal], job: &Job) -> Hunt {
    match engine.search {
        Search::Model(search) if engine.directed => {
            let heuristics = goals.iter().map(|goal| Heuristic::deepened(program, goal)).collect();
            let model = Interpreter::new(program, goals);
            search(&Directed::new(&model, heuristics), job, &mut Patient)
        }
        Search::Model(_) => hunt_in(engine, &Interpreter::new(program, goals), job),
        Search::Program(search) => search(program, goals, job, &mut Patient).expect("it can be encoded"),
    }
}

/// Searches a model with an engine that takes one.
fn hunt_in(engine: &Engine, model: &dyn Model, job: &Job) -> Hunt {
    let Search::Model(search) = engine.search else { panic!("{} takes a program", engine.name) };
    search(model, job, &mut Patient)
}
