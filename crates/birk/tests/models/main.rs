//! The models of the repository, as the library sees them: every engine finds what their headers, the literature and other tools
//! say.

mod beem;
mod corpus;
mod dve;
mod figures;
mod forecast;
mod highway;
mod logics;
mod reduced_formulas;
mod reduction;
mod sets;
mod symmetry;
mod timeouts;
mod traps;
mod twins;

use std::fs;
use std::path::Path;

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

/// A model of the repository with some of its constants replaced.
fn load(name: &str, constants: &[(&str, &str)]) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    program(&fs::read_to_string(path).expect("the model is there"), constants)
}

/// A model by its text.
fn program(text: &str, constants: &[(&str, &str)]) -> Program {
    let constants: Vec<_> = constants.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let loaded = birk_lang::load(text, &constants);
    loaded.program.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}
