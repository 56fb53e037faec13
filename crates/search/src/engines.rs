//! The table of explicit-state engines: it feeds the command line, the docs and the tests.

use birk_engine::{Engine, EngineOption, Kind, Search};
use birk_exec::heuristic::REFINE;

use crate::astar::{WEIGHT, astar};
use crate::bfs::breadth_first;
use crate::bounded::{FRONTIER, INCREMENT, depth_bounded, without_thresholds};
use crate::dfs::explore;
use crate::disk::{MAX_DISK, disk_search};
use crate::frontier::Stack;
use crate::highway::{CONFIDENCE, DEGRADE_DEPTH, Highway, RATE, RUNS, WIDTH};
use crate::liveness::CycleSearch;
use crate::store::exact::ExactStore;

/// States of a level that a directed search follows.
pub const BEAM: EngineOption = EngineOption {
    name: "beam",
    kind: Kind::Number(1, u32::MAX as u64),
    default: None,
    help: "expand only the N states of each level with the best heuristic estimates [default: all]",
    excludes: &[("weight", "a beam compares states of one depth only")],
    keeps_shortest: false,
};

/// All explicit-state engines, the default first.
pub const ENGINES: &[Engine] = &[
    Engine {
        summary: "breadth-first: level by level, shortest traces",
        when: "most models: the default; when a limit ends it, every state up to some depth is covered",
        memory: "every state once, in a few bytes; a trace costs a second search",
        complete: true,
        shortest: true,
        scales: true,
        compacts: true,
        covers_by_depth: true,
        resumes: true,
        saves_levels: true,
        certifies: true,
        ..Engine::new("bfs", Search::Model(breadth_first))
    },
    Engine {
        summary: "depth-first: follows one path to its end before the next",
        when: "deep bugs in large models, when a long trace will do",
        memory: "every state once, and its parent",
        complete: true,
        bitstate: true,
        certifies: true,
        ..Engine::new(
            "dfs",
            Search::Model(|model, job, observer| {
                explore(model, job, ExactStore::new(model.words()), Stack::default(), observer)
            }),
        )
    },
    Engine {
        summary: "depth-first with a growing depth bound: reaches deep, and covers every state up to the bound",
        when: "deep models with large states, when the search may run out of budget and traces need not be shortest",
        memory: "a key and a threshold for every state; the frontier as states or as traces",
        complete: true,
        scales: true,
        compacts: true,
        covers_by_depth: true,
        resumes: true,
        options: &[INCREMENT, FRONTIER],
        liveness: Some(|product, weak, job, observer| CycleSearch::of(weak, job).hunt_by_bounds(product, observer)),
        certifies: true,
        ..Engine::new("depth", Search::Model(depth_bounded))
    },
    Engine {
        summary: "as depth, but explores a state again whenever it is reached at a smaller depth than before",
        when: "measuring what the thresholds of depth save; not for everyday use",
        memory: "as depth",
        complete: true,
        scales: true,
        compacts: true,
        covers_by_depth: true,
        resumes: true,
        options: &[INCREMENT, FRONTIER],
        certifies: true,
        ..Engine::new("depth-naive", Search::Model(without_thresholds))
    },
    Engine {
        summary: "breadth-first on disk: as bfs, with levels and visited states in files",
        when: "models that do not fit in memory, and long searches: every level is a checkpoint",
        memory: "successors of a level, as many as fit; every state once in a file, and about as much again",
        complete: true,
        shortest: true,
        scales: true,
        covers_by_depth: true,
        resumes: true,
        saves_levels: true,
        on_disk: true,
        options: &[MAX_DISK],
        certifies: true,
        ..Engine::new("disk", Search::Model(disk_search))
    },
    Engine {
        summary: "breadth-bounded: expands at most --width states of each level, drawn at random",
        when: "deep bugs in models too large for the other engines; repeat it with other seeds",
        memory: "every visited state once, in a few bytes, and its parent",
        scales: true,
        compacts: true,
        slices: true,
        options: &[WIDTH, DEGRADE_DEPTH, RUNS, CONFIDENCE, RATE],
        ..Engine::new("highway", Search::Model(|model, job, observer| Highway::of(job).hunt(model, job, observer)))
    },
    Engine {
        summary: "directed (A*): expands the states with the best heuristic estimate first; shortest traces",
        when: "an expected violation of one property; select it with --property, so that the heuristic is its own",
        memory: "every state once, with its parent, its depth and its estimate",
        complete: true,
        shortest: true,
        directed: true,
        options: &[REFINE, WEIGHT, BEAM],
        certifies: true,
        ..Engine::new(
            "astar",
            Search::Model(|model, job, observer| match BEAM.number(&job.options) {
                Some(width) => Highway::beam(width as usize, job.seed).hunt(model, job, observer),
                None => astar(model, job, observer),
            }),
        )
    },
];

/// The engine of this name.
pub fn engine(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.name == name)
}
