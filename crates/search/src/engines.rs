//! The table of engines: it feeds the command line, the docs and the tests.

use birk_exec::Model;

use crate::astar::astar;
use crate::breadth::breadth_first;
use crate::codec::direct::Direct;
use crate::codec::fingerprint::Fingerprint;
use crate::codec::pair::Pair;
use crate::codec::tree::Tree;
use crate::depth::{depth_bounded, without_thresholds};
use crate::exact::ExactStore;
use crate::explore::explore;
use crate::frontier::Stack;
use crate::highway::Highway;
use crate::job::{Hunt, Job, Observer, Storage};

/// The search of an engine that needs no more than a `Model`.
pub type ExplicitHunt = fn(&dyn Model, &Job, &mut dyn Observer) -> Hunt;

/// A way to search.
#[derive(Clone, Copy, Debug)]
pub struct Engine<H = ExplicitHunt> {
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
    /// It uses as many threads as it is given, and every kind of storage; otherwise one thread and exact storage.
    pub scales: bool,
    /// When a budget ends it, every state up to some depth was looked at.
    pub covers_by_depth: bool,
    /// It visits slices of a model, drawn at random; formulas are decided in them.
    pub slices: bool,
    /// The options of the command line that mean something to it, and not to every engine.
    pub options: &'static [&'static str],
    /// What it keeps in memory.
    pub memory: &'static str,
    /// The search itself.
    pub hunt: H,
}

/// All engines, the default first.
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "bfs",
        summary: "breadth-first: level by level, shortest traces",
        when: "the default; a time or memory limit leaves every state up to some depth covered",
        complete: true,
        shortest: true,
        scales: true,
        covers_by_depth: true,
        slices: false,
        options: &[],
        memory: "every state once, in a few bytes; a trace costs a second search",
        hunt: breadth,
    },
    Engine {
        name: "dfs",
        summary: "depth-first: follows one run to its end before the next",
        when: "deep bugs in large models, when a long trace will do",
        complete: true,
        shortest: false,
        scales: false,
        covers_by_depth: false,
        slices: false,
        options: &[],
        memory: "every state once, and its parent",
        hunt: |model, job, observer| explore(model, job, ExactStore::new(model.words()), Stack::default(), observer),
    },
    Engine {
        name: "depth",
        summary: "depth-first to a bound that grows: deep, and yet everything up to some depth",
        when: "deep models of large states, when a budget may end the search and a trace need not be shortest",
        complete: true,
        shortest: false,
        scales: true,
        covers_by_depth: true,
        slices: false,
        options: &["increment", "frontier"],
        memory: "a key and a threshold for every state; of those at the bound, states or traces",
        hunt: depth_bounded,
    },
    Engine {
        name: "depth-naive",
        summary: "as depth, but a state is explored again wherever it is met at a smaller depth than before",
        when: "to see what the thresholds of depth save; not for daily use",
        complete: true,
        shortest: false,
        scales: true,
        covers_by_depth: true,
        slices: false,
        options: &["increment", "frontier"],
        memory: "as depth",
        hunt: without_thresholds,
    },
    Engine {
        name: "highway",
        summary: "breadth-first with a bound: of each level only --width states, drawn at random, are followed",
        when: "deep bugs in models too large to search; again with other seeds",
        complete: false,
        shortest: false,
        scales: true,
        covers_by_depth: false,
        slices: true,
        options: &["width", "degrade-depth", "runs", "confidence", "rate"],
        memory: "every visited state once, in a few bytes, and its parent",
        hunt: |model, job, observer| Highway::of(&job.limits).hunt(model, job, observer),
    },
    Engine {
        name: "astar",
        summary: "directed: follows the states that seem nearest to a violation; shortest traces",
        when: "a violation of one property is expected; name that property, so that the estimate is its own",
        complete: true,
        shortest: true,
        scales: false,
        covers_by_depth: false,
        slices: false,
        options: &["refine", "weight", "beam"],
        memory: "every state once, its parent, its depth and its estimate",
        hunt: |model, job, observer| match job.limits.beam {
            Some(width) => Highway::beam(width, &job.limits).hunt(model, job, observer),
            None => astar(model, job, observer),
        },
    },
];

/// Breadth-first with the store that suits the states.
fn breadth(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    if let Some(direct) = Direct::new(model, Direct::SMALL_STATE) {
        return breadth_first(model, job, direct, observer);
    }
    match job.limits.storage {
        Storage::Compact => breadth_first(model, job, Fingerprint::new(model.words()), observer),
        Storage::Exact => match Pair::new(model) {
            Some(pair) => breadth_first(model, job, pair, observer),
            None => breadth_first(model, job, Tree::new(model, &job.limits), observer),
        },
    }
}

impl<H> Engine<H> {
    /// The same with another search: for tables of engines of several kinds.
    pub fn with<G>(self, hunt: G) -> Engine<G> {
        let Self { name, summary, when, complete, shortest, scales, covers_by_depth, slices, options, memory, .. } =
            self;
        Engine { name, summary, when, complete, shortest, scales, covers_by_depth, slices, options, memory, hunt }
    }
}

/// The engine of this name.
pub fn engine(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.name == name)
}
