//! An engine of your own, in one file and one row: random walks. The command with this engine beside all others; its option
//! appears in `--help`, in configuration files, and in what other engines refuse.
//!
//! `cargo run -p birk-examples --bin own_engine -- check models/philosophers2.bir --search walk --walks 100`
#![forbid(unsafe_code)]

use std::ops::ControlFlow;
use std::process::ExitCode;

use birk_engine::ir::{Coverage, Outcome, Stop, Trace};
use birk_engine::{Engine, EngineOption, Hunt, Job, Kind, Model, Observer, Progress, Search, Stats, Successors, Value};

/// How many walks.
const WALKS: EngineOption = EngineOption {
    name: "walks",
    kind: Kind::Number(1, 1_000_000_000),
    default: Some(Value::Number(1000)),
    help: "begin this many random walks",
    excludes: &[],
    keeps_shortest: true,
};

const WALK: Engine = Engine {
    summary: "random walks from the initial state, of at most a thousand steps each",
    when: "to see what a model does before it is searched",
    memory: "one state",
    options: &[WALKS],
    ..Engine::new("walk", Search::Model(walk))
};

/// The most steps of a walk.
const STEPS: u32 = 1000;

/// Walks until all goals are found, the observer says stop, or enough walks were taken. Nothing is known to be absent.
fn walk(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    let mut found = vec![None; job.goals];
    let mut stats = Stats::default();
    let mut fired = vec![false; model.transitions()];
    let mut random = job.seed | 1;
    let mut flow = ControlFlow::Continue(());
    for _ in 0..WALKS.number(&job.options).unwrap_or(1) {
        flow = one(model, job, &mut random, (&mut found, &mut stats, &mut fired));
        if flow.is_continue() {
            let Stats { states, transitions, .. } = stats;
            flow = observer.progress(&Progress { states, transitions, ..Progress::default() });
        }
        if flow.is_break() {
            break;
        }
    }
    Hunt {
        outcomes: found.into_iter().map(|trace| trace.map_or(Outcome::Inconclusive, Outcome::Found)).collect(),
        coverage: Coverage::Partial(stats.states),
        stopped: flow.break_value().unwrap_or(Stop::Exhausted),
        stats,
        fired,
    }
}

/// One walk; ends the search at a goal that ends it.
fn one(
    model: &dyn Model,
    job: &Job,
    random: &mut u64,
    (found, stats, fired): (&mut [Option<Trace>], &mut Stats, &mut [bool]),
) -> ControlFlow<Stop> {
    let mut batch = Successors::new(model.words());
    let mut trace = Trace::default();
    model.initial(&mut batch);
    let mut place = 0;
    while !batch.is_empty() {
        let state = batch.state(place).to_vec();
        stats.states += 1;
        let cut = batch.cut;
        batch.clear();
        if !model.is_fault(&state) {
            model.successors(&state, &mut batch);
        }
        let stuck = batch.is_stuck_since(0, cut);
        job.record(model.evaluate(&state, stuck), found, || trace.clone())?;
        if batch.is_empty() || trace.steps.len() as u32 == STEPS.min(job.limits.depth) {
            break;
        }
        // A linear congruential generator; its upper bits are good enough for a walk.
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        place = (*random >> 33) as usize % batch.len();
        fired[batch.step(place).transition.index()] = true;
        stats.transitions += 1;
        trace.steps.push(batch.step(place));
        stats.max_depth = stats.max_depth.max(trace.steps.len() as u32);
    }
    ControlFlow::Continue(())
}

fn main() -> ExitCode {
    birk_cli::main_with(birk::Engines::default().with(WALK))
}
