//! A search that does not answer: the command goes on without it.
//!
//! Engines are asked between two states whether to go on. What they compute in between can take longer than anybody waits:
//! one quantifier may range over thousands of millions of values. So another thread looks whether an engine has heard that
//! the time is up, or that the user wants an end. If it has not, that thread reports what was decided before, and ends the
//! process; nothing that the engine may still find is used.

use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use birk::search::forecast::Forecast;
use birk::{Answer, Reduce, Symmetry, SymmetryFigures};
use birk_engine::{Hunt, Stats};
use birk_ir::{Coverage, Outcome, Stop};

use super::present::{Asked, present};
use crate::progress::{Course, Pulse};
use crate::settled::Settled;
use crate::{Failure, say};

/// An engine has so much time to ask whether to go on,
const GRACE: Duration = Duration::from_millis(200);
/// and, when it was told to end, so much to do that: another of its threads may be computing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often that is examined.
const PERIOD: Duration = Duration::from_millis(20);

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
        coverage: Coverage::Partial(last.states),
        stopped: stop,
        stats: Stats { states: last.states, transitions: last.transitions, max_depth: last.depth, ..Stats::default() },
        // Which steps it took is not known, and so nothing is said of those that it did not.
        fired: Vec::new(),
    };
    let mut answers: Vec<Answer> = asked.properties.iter().map(Answer::open).collect();
    answers.iter_mut().for_each(|answer| answer.coverage = Some(hunt.coverage.clone()));
    let mut traces = Vec::new();
    for (position, answer, trace) in settled.take() {
        let trace = trace.map(|trace| {
            traces.push(trace);
            traces.len() - 1
        });
        answers[position] = Answer { trace, ..answer };
    }
    let engine = *asked.options.engine().expect("the command line offers only engines of the table");
    let found = birk::Report {
        answers,
        traces,
        hunt,
        forecast: Forecast::default(),
        assumed: None,
        slices: None,
        joint: None,
        certificate: asked.options.certificate.then(|| Err("the search is not complete".to_owned())),
        is_reduced: asked.options.reduce == Reduce::Auto,
        dead: Vec::new(),
        symmetry: (asked.options.symmetry == Symmetry::Auto)
            .then(|| SymmetryFigures { is_used: true, ..SymmetryFigures::default() }),
        engine,
        threads: asked.options.threads_of(&engine),
        is_shortest: false,
    };
    let report = asked.report(&found, pulse.elapsed().as_secs_f64());
    let exit = present(&report, &Course::default()).unwrap_or_else(|failure: Failure| {
        say(&format!("birk: {}", failure.message));
        failure.exit
    });
    std::process::exit(exit as i32);
}
