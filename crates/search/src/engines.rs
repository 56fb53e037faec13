//! The table of engines: it feeds the command line, the docs and the tests.

use birk_exec::Model;

use crate::exact::ExactStore;
use crate::explore::explore;
use crate::frontier::{Queue, Stack};
use crate::job::{Hunt, Job, Observer};

/// A way to search.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// As written after `--search`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// When to use it, in one line.
    pub when: &'static str,
    /// It visits every reachable state, given enough time and memory.
    pub complete: bool,
    /// The trace it shows is a shortest one.
    pub shortest: bool,
    /// What it keeps in memory.
    pub memory: &'static str,
    /// The search itself.
    pub hunt: fn(&dyn Model, &Job, &mut dyn Observer) -> Hunt,
}

/// All engines, the default first.
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "bfs",
        summary: "breadth-first: level by level, shortest traces",
        when: "the default; a time or memory limit leaves every state up to some depth covered",
        complete: true,
        shortest: true,
        memory: "every state once, and its parent",
        hunt: |model, job, observer| explore(model, job, ExactStore::new(model.words()), Queue::default(), observer),
    },
    Engine {
        name: "dfs",
        summary: "depth-first: follows one run to its end before the next",
        when: "deep bugs in large models, when a long trace will do",
        complete: true,
        shortest: false,
        memory: "every state once, and its parent",
        hunt: |model, job, observer| explore(model, job, ExactStore::new(model.words()), Stack::default(), observer),
    },
];

/// The engine of this name.
pub fn engine(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.name == name)
}
