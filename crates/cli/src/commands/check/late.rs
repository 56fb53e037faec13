//! A search that does not answer: the command goes on without it.
//!
//! Engines are asked between two states whether to go on. What they compute in between can take longer than anybody waits:
//! one quantifier may range over thousands of millions of values. So another thread looks whether an engine has heard that
//! the time is up, or that the user wants an end. If it has not, that thread reports what was decided before, and ends the
//! process; nothing that the engine may still find is used.

use std::sync::Mutex;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use birk_exec::Replayed;
use birk_ir::{Coverage, Outcome, Stop, Verdict};
use birk_search::profile::Profile;
use birk_search::{Hunt, Stats};

use super::{Asked, present};
use crate::progress::Pulse;
use crate::report::{Answer, Report, ShownTrace};
use crate::{Failure, limits, say};

/// An engine has so much time to ask whether to go on,
const GRACE: Duration = Duration::from_millis(200);
/// and, when it was told to end, so much to do that: another of its threads may be computing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often that is looked at.
const PERIOD: Duration = Duration::from_millis(20);

/// What was decided so far.
#[derive(Default)]
pub(super) struct Settled(Mutex<Vec<Decided>>);

/// The answer to the property at a position.
struct Decided {
    index: usize,
    verdict: Verdict,
    coverage: Option<Coverage>,
    run: Option<Replayed>,
    untraced: Option<u32>,
}

impl Settled {
    /// Notes an answer.
    pub(super) fn note(&self, index: usize, answer: &Answer<'_>, traces: &[ShownTrace<'_>]) {
        let run = answer.trace.map(|trace| traces[trace].run.clone());
        let mut all = self.0.lock().expect("nobody panics with it");
        all.retain(|other| other.index != index);
        let (verdict, coverage, untraced) = (answer.verdict, answer.coverage.clone(), answer.untraced);
        all.push(Decided { index, verdict, coverage, run, untraced });
    }
}

/// Acts while another thread looks whether searches answer.
pub(super) fn watched<T>(asked: &Asked<'_>, settled: &Settled, pulse: &Pulse, act: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            if let Some(stop) = silence(pulse) {
                report(asked, settled, pulse, stop);
            }
        });
        // Also when a search panics, so that nobody waits for the one that watches.
        let _over = Over(pulse, watch.thread());
        act()
    })
}

/// Tells the thread that watches that all is over.
struct Over<'a>(&'a Pulse, &'a Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.end();
        self.1.unpark();
    }
}

/// Waits until a search does not answer, or until all is over.
fn silence(pulse: &Pulse) -> Option<Stop> {
    let mut since = None;
    while !pulse.is_over() {
        match (pulse.stop(), pulse.is_told()) {
            (Some(stop), Some(is_told)) => {
                let waited = since.get_or_insert_with(Instant::now).elapsed();
                if waited >= if is_told { PATIENCE } else { GRACE } {
                    return pulse.claim().then_some(stop);
                }
            }
            _ => since = None,
        }
        thread::park_timeout(PERIOD);
    }
    None
}

/// Reports what was decided before the search that does not answer, and ends the process.
fn report(asked: &Asked<'_>, settled: &Settled, pulse: &Pulse, stop: Stop) {
    let last = pulse.last();
    let hunt = Hunt {
        outcomes: vec![Outcome::Inconclusive; asked.properties.len()],
        coverage: Coverage::Sampled(last.states),
        stopped: stop,
        stats: Stats { states: last.states, transitions: last.transitions, max_depth: last.depth, ..Stats::default() },
        // Which steps it took is not known, and so nothing is said of those that it did not.
        fired: Vec::new(),
    };
    let mut answers: Vec<Answer<'_>> = asked.properties.iter().map(|property| Answer::open(property)).collect();
    answers.iter_mut().for_each(|answer| answer.coverage = Some(hunt.coverage.clone()));
    let mut traces = Vec::new();
    for decided in settled.0.lock().expect("nobody panics with it").drain(..) {
        let Decided { index, verdict, coverage, run, untraced } = decided;
        (answers[index].verdict, answers[index].coverage) = (verdict, coverage);
        answers[index].untraced = untraced;
        if let Some(run) = run {
            answers[index].trace = Some(traces.len());
            traces.push(ShownTrace { property: asked.properties[index], run });
        }
    }
    let report = Report {
        source: asked.source,
        program: asked.program,
        args: asked.args,
        engine: asked.engine,
        verdict: answers.iter().map(|answer| answer.verdict).max().unwrap_or(Verdict::Inconclusive),
        answers,
        traces,
        hunt: &hunt,
        profile: Profile::default(),
        assumed: None,
        slices: None,
        threads: asked.limits.threads,
        seconds: pulse.elapsed().as_secs_f64(),
        peak_memory: limits::peak_memory(),
    };
    let exit = present(&report, &[]).unwrap_or_else(|failure: Failure| {
        say(&format!("birk: {}", failure.message));
        failure.exit
    });
    std::process::exit(exit as i32);
}
