//! How the engines of a table are asked, whatever they search.

use std::ops::ControlFlow;

use birk_engine::{Engine, Hunt, Job, Model, Observer, Progress, Search};
use birk_ir::{Goal, Program, Stop};

/// A search of a model, by an engine that takes its states one by one.
pub fn of_model(engine: &Engine, model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    let Search::Model(search) = engine.search else { panic!("{} searches no model", engine.name) };
    search(model, job, observer)
}

/// A search of a program, by an engine that encodes it; what it cannot encode it refuses.
pub fn of_program(
    engine: &Engine,
    program: &Program,
    goals: &[Goal],
    job: &Job,
    observer: &mut dyn Observer,
) -> Result<Hunt, String> {
    let Search::Program(search) = engine.search else { panic!("{} searches no program", engine.name) };
    search(program, goals, job, observer)
}

/// Ends a search when it was asked so many times.
#[derive(Debug)]
pub struct Ends(pub u32);

impl Observer for Ends {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    }
}
