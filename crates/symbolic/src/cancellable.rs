//! A search that can be cancelled although an operation on decision diagrams cannot be interrupted, and may take minutes.
//!
//! The search runs in a thread of its own. The caller's thread polls its progress and passes it on to the observer. When the
//! observer stops the search, the search has a moment to stop by itself. If it is in the middle of a long operation, it is
//! abandoned: it stops when it next polls, and the result that it last published is the answer.

use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use birk_engine::{Hunt, Observer, Progress};
use birk_ir::Stop;

/// Between two looks at what the search tells.
const TICK: Duration = Duration::from_millis(10);
/// Looks that a search has to end by itself.
const GRACE: u32 = 12;
/// Diagrams are walked down recursively, and may be thousands of bits deep. Only what is used is ever occupied.
pub(crate) const STACK: usize = 1 << 30;

/// What a search tells, and is told.
#[derive(Clone, Default)]
pub(crate) struct Line(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    progress: Progress,
    nodes: u64,
    iterations: u32,
    /// The answer if the search were left behind now; `None` before it has anything to say.
    so_far: Option<Hunt>,
    /// The observer has ended the search.
    stop: Option<Stop>,
}

impl Line {
    /// How it goes; the answer is why the search should end, if it should.
    pub(crate) fn look(&self, progress: &Progress, nodes: u64, iterations: u32) -> Option<Stop> {
        let mut told = self.told();
        (told.progress, told.nodes, told.iterations) = (*progress, nodes, iterations);
        told.stop
    }

    /// What is known by now.
    pub(crate) fn so_far(&self, hunt: Hunt) {
        self.told().so_far = Some(hunt);
    }

    /// Tells the observer, and hears its word.
    fn relay(&self, observer: &mut dyn Observer) -> ControlFlow<Stop> {
        let progress = {
            let told = self.told();
            Progress { bdd: Some((told.nodes, told.iterations)), ..told.progress }
        };
        observer.progress(&progress)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a search; `nothing` is the answer if it is left behind before it has told anything.
pub(crate) fn cancellable(
    nothing: Hunt,
    search: impl FnOnce(&Line) -> Result<Hunt, String> + Send + 'static,
    observer: &mut dyn Observer,
) -> Result<Hunt, String> {
    let line = Line::default();
    let (sender, receiver) = channel();
    let theirs = line.clone();
    // Nobody listens any more when it was left behind.
    let work = move || _ = sender.send(search(&theirs));
    let thread = thread::Builder::new().name("diagrams".into()).stack_size(STACK).spawn(work);
    let thread = thread.map_err(|error| format!("a thread for the diagrams cannot be started: {error}"))?;
    let mut left = None;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(answer) => {
                if left.is_none() {
                    // It has ended: whatever the observer says, this is the answer.
                    _ = line.relay(observer);
                }
                return answer;
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a search that ends has an answer"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        match left {
            None => {
                if let ControlFlow::Break(stop) = line.relay(observer) {
                    line.told().stop = Some(stop);
                    left = Some(GRACE);
                }
            }
            Some(0) => {
                let mut told = line.told();
                let stopped = told.stop.unwrap_or(Stop::Interrupt);
                return Ok(Hunt { stopped, ..told.so_far.take().unwrap_or(nothing) });
            }
            Some(ticks) => left = Some(ticks - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use birk_engine::Patient;
    use birk_engine::Stats;
    use birk_ir::Coverage;

    fn hunt(states: u64) -> Hunt {
        let stats = Stats { states, ..Stats::default() };
        Hunt {
            outcomes: Vec::new(),
            coverage: Coverage::Partial(0),
            stopped: Stop::Exhausted,
            stats,
            fired: Vec::new(),
        }
    }

    /// Ends the search when it hears of some states.
    struct Impatient(u64);

    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
            if progress.states >= self.0 { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn a_search_in_a_long_operation_is_left_behind_with_what_it_told() {
        let (release, wait) = channel::<()>();
        let search = move |line: &Line| {
            line.so_far(hunt(7));
            line.look(&Progress { states: 7, ..Progress::default() }, 0, 0);
            // An operation that ends only when the test has.
            _ = wait.recv();
            Ok(hunt(100))
        };
        let left = cancellable(hunt(0), search, &mut Impatient(7)).expect("it is not refused");
        assert_eq!((left.stats.states, left.stopped), (7, Stop::Time));
        drop(release);
    }

    #[test]
    fn a_search_that_tells_nothing_is_left_behind_with_nothing() {
        let (release, wait) = channel::<()>();
        let search = move |_: &Line| {
            _ = wait.recv();
            Ok(hunt(100))
        };
        let left = cancellable(hunt(3), search, &mut Impatient(0)).expect("it is not refused");
        assert_eq!((left.stats.states, left.stopped), (3, Stop::Time));
        drop(release);
    }

    #[test]
    fn a_search_that_looks_up_ends_by_itself() {
        let search = |line: &Line| {
            let progress = Progress { states: 7, ..Progress::default() };
            loop {
                if let Some(stopped) = line.look(&progress, 0, 0) {
                    return Ok(Hunt { stopped, ..hunt(100) });
                }
                thread::yield_now();
            }
        };
        let ended = cancellable(hunt(0), search, &mut Impatient(7)).expect("it is not refused");
        assert_eq!((ended.stats.states, ended.stopped), (100, Stop::Time));
    }

    #[test]
    fn an_answer_and_a_refusal_come_through() {
        assert_eq!(cancellable(hunt(0), |_| Ok(hunt(5)), &mut Impatient(0)).expect("an answer").stats.states, 5);
        assert_eq!(cancellable(hunt(0), |_| Err("no".into()), &mut Patient).expect_err("a refusal"), "no");
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_comes_through() {
        _ = cancellable(hunt(0), |_| panic!("a bug"), &mut Patient);
    }
}
