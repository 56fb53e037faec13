//! Progress, time and Ctrl-C: the observer of every search.

mod levels;
mod outside;
mod samples;

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use birk::process_memory::{self, Memory};
use birk::{Answer, Phase, ShownTrace, Watch};
use birk_engine::{Observer, Outside, Peers, Progress, Relief};
use birk_ir::Stop;

use crate::checkpoint::Checkpoint;
use crate::cli::ProgressMode;
use crate::numbers::{bytes, clock, grouped, rounded};
use crate::place::Place;
use crate::settled::Settled;
use crate::terminal::{columns, is_watched};
use crate::{Failure, say};
use levels::{Left, Levels};
use samples::Samples;
pub(crate) use samples::{Course, Sample};

/// On a terminal the line is drawn anew this often.
const REDRAW: Duration = Duration::from_millis(200);
/// An object is written this often, the first sooner; a page shows it at once.
const OBJECT: Duration = if cfg!(feature = "native") { Duration::from_secs(1) } else { REDRAW };
/// Elsewhere, a line is written this often.
const LINE: Duration = Duration::from_secs(10);

/// Watches a search for the user.
#[derive(Debug)]
pub(crate) struct Watcher {
    started: Instant,
    deadline: Option<Instant>,
    pulse: Arc<Pulse>,
    style: Style,
    period: Duration,
    next: Instant,
    last: (Instant, u64),
    drawn: bool,
    samples: Option<Samples>,
    /// What is decided now, where several searches decide.
    phase: Option<String>,
    /// Several engines search at once: their counts are no curve and no levels.
    is_hunt: bool,
    /// What was decided before that.
    searched: Option<String>,
    /// Where the engine goes level by level.
    levels: Option<Levels>,
    settled: Arc<Settled>,
    keeper: Option<Checkpoint>,
    /// Where the files of a search go that another process keeps; the folder for those that are not kept; why one could not be written
    /// or read.
    shared: Option<Place>,
    folder: Option<PathBuf>,
    failure: Option<String>,
    gauge: Option<Gauge>,
    together: Together,
}

/// Processes that search together with this one.
#[derive(Clone, Default)]
struct Together(Option<Arc<dyn Peers>>);

impl std::fmt::Debug for Together {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Together").field(&self.0.as_ref().map(|peers| peers.rank())).finish()
    }
}

/// What another thread can see of a search while that computes.
#[derive(Debug)]
pub(crate) struct Pulse {
    started: Instant,
    deadline: Option<Instant>,
    interrupted: AtomicBool,
    /// The search was told to end, and has not yet ended.
    is_told: AtomicBool,
    /// No search is going on, or one that may take its time to save what it knows.
    is_at_rest: AtomicBool,
    /// No search is going on any more, and somebody reports; and all was reported.
    is_claimed: AtomicBool,
    is_over: AtomicBool,
    /// How many threads wait for an object store, where the search is kept in one.
    waiting: OnceLock<Arc<AtomicU32>>,
    last: Mutex<Progress>,
}

impl Pulse {
    /// Why the search should end.
    pub(crate) fn stop(&self) -> Option<Stop> {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match self.interrupted.load(Ordering::Relaxed) {
            true => Some(Stop::Interrupt),
            false => is_late().then_some(Stop::Time),
        }
    }

    /// Whether one is going on that must end soon, and whether it has heard of that. A store has a deadline of its own.
    pub(crate) fn is_told(&self) -> Option<bool> {
        let is_waiting = self.waiting.get().is_some_and(|waiting| waiting.load(Ordering::Relaxed) > 0);
        let is_waited_for =
            is_waiting || self.is_at_rest.load(Ordering::Relaxed) || self.is_claimed.load(Ordering::Relaxed);
        (!is_waited_for).then(|| self.is_told.load(Ordering::Relaxed))
    }

    /// How it stood when it asked last.
    pub(crate) fn last(&self) -> Progress {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever calls this first may report.
    pub(crate) fn claim(&self) -> bool {
        !self.is_claimed.swap(true, Ordering::AcqRel)
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// All was reported.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// Looks at the memory of the process while a search counts its own.
#[derive(Clone, Copy, Debug)]
struct Gauge {
    limit: Memory,
    looked: Option<Instant>,
    /// What the process occupied beyond what the search counted and what it had before.
    overhead: u64,
}

impl Gauge {
    /// A look costs some microseconds.
    const PERIOD: Duration = Duration::from_millis(5);

    /// Whether the process occupies too much.
    fn look(&mut self, now: Instant, counted: u64) -> bool {
        if self.looked.is_some_and(|looked| now.duration_since(looked) < Self::PERIOD) {
            return false;
        }
        self.looked = Some(now);
        let Some(resident) = process_memory::resident_memory() else { return false };
        self.overhead = resident.saturating_sub(counted.saturating_add(self.limit.rest));
        resident > self.limit.search.saturating_add(self.limit.rest)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Off,
    Terminal,
    Lines,
    Json,
}

/// Takes over Ctrl-C.
#[cfg(feature = "native")]
fn listen(pulse: Arc<Pulse>) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        if pulse.interrupted.swap(true, Ordering::Relaxed) {
            std::process::exit(crate::Exit::Interrupted as i32);
        }
    })
    .map_err(|error| Failure::internal(format!("cannot listen for Ctrl-C: {error}")))
}

impl Watcher {
    /// Starts the clock, and takes over Ctrl-C: the first ends the search, the second the process.
    pub(crate) fn start(mode: ProgressMode, time: Option<Duration>) -> Result<Self, Failure> {
        let now = Instant::now();
        let deadline = time.and_then(|time| now.checked_add(time));
        let pulse = Arc::new(Pulse {
            started: now,
            deadline,
            interrupted: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            is_at_rest: AtomicBool::new(false),
            is_claimed: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            waiting: OnceLock::new(),
            last: Mutex::default(),
        });
        #[cfg(feature = "native")]
        listen(Arc::clone(&pulse))?;
        let style = match mode {
            ProgressMode::Off => Style::Off,
            ProgressMode::Json => Style::Json,
            ProgressMode::Auto if is_watched() => Style::Terminal,
            ProgressMode::Auto => Style::Lines,
        };
        let (first, period) = match style {
            Style::Terminal => (REDRAW, REDRAW),
            Style::Json => (REDRAW, OBJECT),
            Style::Lines | Style::Off => (LINE, LINE),
        };
        Ok(Self {
            started: now,
            deadline,
            pulse,
            style,
            period,
            next: now + first,
            last: (now, 0),
            drawn: false,
            samples: None,
            phase: None,
            is_hunt: false,
            searched: None,
            levels: None,
            settled: Arc::default(),
            keeper: None,
            shared: None,
            folder: None,
            failure: None,
            gauge: None,
            together: Together::default(),
        })
    }

    /// Ends the search when the process occupies more than this.
    pub(crate) fn limit_memory(&mut self, limit: Memory) {
        self.gauge = process_memory::resident_memory().map(|_| Gauge { limit, looked: None, overhead: 0 });
    }

    /// Estimates from now on how long a search takes that goes level by level, up to a depth.
    pub(crate) fn foresee(&mut self, limit: Option<u32>) {
        self.levels = Some(Levels::new(limit));
    }

    /// Remembers from now on how the search goes.
    pub(crate) fn remember(&mut self) {
        self.samples = Some(Samples::default());
    }

    /// Keeps the search from now on.
    pub(crate) fn keep(&mut self, keeper: Checkpoint) {
        self.wait_for(keeper.place());
        self.keeper = Some(keeper);
    }

    /// The search will not begin after all.
    pub(crate) fn abandon(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            keeper.abandon();
        }
    }

    /// Puts the files of a search there that another process keeps.
    pub(crate) fn share(&mut self, place: Place) {
        self.wait_for(&place);
        self.shared = Some(place);
    }

    fn wait_for(&self, place: &Place) {
        if let Some(waiting) = place.waiting() {
            let _ = self.pulse.waiting.set(waiting);
        }
    }

    /// What keeps the search.
    pub(crate) fn keeper(&self) -> Option<&Checkpoint> {
        self.keeper.as_ref()
    }

    /// Puts files that are not kept into this folder.
    pub(crate) fn use_folder(&mut self, folder: PathBuf) {
        self.folder = Some(folder);
    }

    /// Searches together with other processes.
    #[cfg(feature = "cluster")]
    pub(crate) fn search_with(&mut self, peers: Arc<dyn Peers>) {
        self.together = Together(Some(peers));
    }

    /// Why a file could not be written or read.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What was remembered.
    pub(crate) fn course(&self) -> Course<'_> {
        match &self.samples {
            Some(Samples { kept, phases, .. }) => Course { samples: kept, phases },
            None => Course::default(),
        }
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What was decided so far.
    pub(crate) fn settled(&self) -> Arc<Settled> {
        Arc::clone(&self.settled)
    }

    /// What another thread can see of it.
    pub(crate) fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.pulse)
    }

    /// All searches are over, and what was drawn is removed. Who finds that another thread reports already waits for the end.
    pub(crate) fn conclude(&mut self) {
        self.clear();
        while !self.pulse.claim() {
            std::thread::park();
        }
    }

    /// Removes what was drawn.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            draw("");
        }
    }

    fn show(&mut self, now: Instant, progress: &Progress) {
        let seconds = now.duration_since(self.last.0).as_secs_f64().max(1e-9);
        let rate = progress.states.saturating_sub(self.last.1) as f64 / seconds;
        self.last = (now, progress.states);
        let elapsed = now.duration_since(self.started);
        match self.style {
            Style::Off => {}
            Style::Terminal => {
                draw(&self.whole_line(elapsed, progress, rate, rounded));
                self.drawn = true;
            }
            Style::Lines => say(&format!("birk: {}", self.whole_line(elapsed, progress, rate, grouped))),
            Style::Json => {
                let mut object = serde_json::json!({
                    "seconds": elapsed.as_secs_f64(), "states": progress.states, "transitions": progress.transitions,
                    "depth": progress.depth, "frontier": progress.frontier, "states_per_second": rate.round(),
                    "memory_bytes": progress.bytes,
                });
                if let Some((nodes, iterations)) = progress.bdd {
                    object["nodes"] = nodes.into();
                    object["iterations"] = iterations.into();
                }
                if let Some((read, written)) = progress.disk {
                    object["read_bytes"] = read.into();
                    object["written_bytes"] = written.into();
                }
                if let Some(phase) = &self.phase {
                    object["phase"] = phase.as_str().into();
                }
                if let Some(Left { depth, seconds }) = self.left(elapsed, progress) {
                    object["left"] = serde_json::json!({"depth": depth, "seconds": seconds});
                }
                say(&object.to_string());
            }
        }
    }

    fn left(&self, elapsed: Duration, progress: &Progress) -> Option<Left> {
        self.levels.as_ref().filter(|_| !self.is_hunt)?.left(elapsed.as_secs_f64(), progress)
    }

    /// What is decided, how it stands, and how long it will take to a depth.
    fn whole_line(&self, elapsed: Duration, progress: &Progress, rate: f64, number: fn(u64) -> String) -> String {
        let phase = self.phase.as_ref().map(|phase| format!("{phase}: ")).unwrap_or_default();
        let left = self.left(elapsed, progress).map(|left| format!(", {}", left_text(left))).unwrap_or_default();
        format!("{phase}{}{left}", self.line(elapsed, progress, rate, number))
    }

    fn line(&self, elapsed: Duration, progress: &Progress, rate: f64, number: fn(u64) -> String) -> String {
        let budget = self.deadline.map(|deadline| format!(" of {}", clock(deadline.duration_since(self.started))));
        if let Some((nodes, iterations)) = progress.bdd {
            let more = if progress.states == u64::MAX { "more than " } else { "" };
            return format!(
                "{more}{} states after {iterations} iterations, {} nodes, {}, {}{}",
                number(progress.states),
                number(nodes),
                bytes(progress.bytes),
                clock(elapsed),
                budget.unwrap_or_default(),
            );
        }
        // Bounded model checking looks at runs, and counts no states.
        if progress.states == 0 {
            let (depth, budget) = (progress.depth, budget.unwrap_or_default());
            return format!("executions of {depth} steps, {}, {}{budget}", bytes(progress.bytes), clock(elapsed));
        }
        let disk = progress.disk.map(|(read, written)| format!(", {} read, {} written", bytes(read), bytes(written)));
        format!(
            "{} states, depth {}, frontier {}, {}/s, {}{}, {}{}",
            number(progress.states),
            progress.depth,
            number(progress.frontier),
            number(rate as u64),
            bytes(progress.bytes),
            disk.unwrap_or_default(),
            clock(elapsed),
            budget.unwrap_or_default(),
        )
    }
}

/// `depth 12 in about 8 s`, `depth 14 in 20 s to 45 s`
fn left_text(Left { depth, seconds: (least, most) }: Left) -> String {
    let [least, most] = [least, most].map(|seconds| clock(Duration::from_secs_f64(seconds.max(1.0))));
    if least == most { format!("depth {depth} in about {most}") } else { format!("depth {depth} in {least} to {most}") }
}

/// As many of the parts of a line, with commas between them, as a terminal shows; the first in any case.
fn fitting(line: &str, columns: usize) -> &str {
    let ends = line.match_indices(", ").map(|(at, _)| at).chain([line.len()]);
    let end = ends.filter(|&end| line[..end].chars().count() < columns).last();
    &line[..end.or_else(|| line.find(", ")).unwrap_or(line.len())]
}

/// Replaces the last line of the terminal; what is too long for it is left out, not wrapped.
fn draw(line: &str) {
    let columns = columns().unwrap_or(usize::MAX);
    let line = if columns == 0 { line } else { fitting(line, columns) };
    let mut terminal = std::io::stderr().lock();
    let _ = write!(terminal, "\r\x1b[K\x1b[?7l{line}\x1b[?7h");
    let _ = terminal.flush();
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        if let Some(stop) = self.pulse.stop() {
            self.pulse.is_told.store(true, Ordering::Relaxed);
            self.pulse.is_at_rest.fetch_or(self.keeper.is_some(), Ordering::Relaxed);
            return ControlFlow::Break(stop);
        }
        if let Some(relief) = progress.relief {
            self.relieved(relief, progress.states);
            return ControlFlow::Continue(());
        }
        let now = Instant::now();
        *self.pulse.last.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
        if self.gauge.as_mut().is_some_and(|gauge| gauge.look(now, progress.bytes)) {
            return ControlFlow::Break(Stop::Memory);
        }
        if let Some(samples) = self.samples.as_mut().filter(|_| !self.is_hunt) {
            samples.hear(Sample {
                search: 0,
                phase: 0,
                seconds: now.duration_since(self.started).as_secs_f64(),
                states: progress.states,
                transitions: progress.transitions,
                depth: progress.depth,
                frontier: progress.frontier,
            });
        }
        if let Some(levels) = self.levels.as_mut().filter(|_| !self.is_hunt) {
            levels.hear(now.duration_since(self.started).as_secs_f64(), progress);
        }
        if now >= self.next {
            self.next = now + self.period;
            self.show(now, progress);
        }
        ControlFlow::Continue(())
    }

    fn overhead(&mut self, counted: u64) -> u64 {
        let Some(gauge) = &mut self.gauge else { return counted / 12 };
        gauge.look(Instant::now(), counted);
        gauge.overhead
    }

    /// In a browser there is nothing outside of memory.
    fn outside(&mut self) -> Option<&mut dyn Outside> {
        if cfg!(feature = "native") { Some(self) } else { None }
    }
}

impl Watch for Watcher {
    fn begin(&mut self, phase: &Phase<'_>) {
        self.pulse.is_told.store(false, Ordering::Relaxed);
        self.pulse.is_at_rest.store(false, Ordering::Relaxed);
        if let Some(samples) = &mut self.samples {
            samples.search += u32::from(samples.states > 0);
            samples.states = 0;
            samples.phases.push(phase.name.to_owned());
        }
        if let Some(levels) = &mut self.levels {
            levels.restart(self.started.elapsed().as_secs_f64(), phase.is_of_states);
        }
        self.phase = (phase.of > 1).then(|| format!("{} ({} of {})", phase.name, phase.number, phase.of));
    }

    fn end(&mut self) {
        self.pulse.is_at_rest.store(true, Ordering::Relaxed);
    }

    fn decided(&mut self, position: usize, answer: &Answer, trace: Option<&ShownTrace>) {
        self.settled.note(position, answer, trace);
    }

    fn hunting(&mut self, members: &str) {
        self.pulse.is_told.store(false, Ordering::Relaxed);
        self.pulse.is_at_rest.store(false, Ordering::Relaxed);
        if !std::mem::replace(&mut self.is_hunt, !members.is_empty()) {
            self.searched = self.phase.take();
        }
        self.phase = match self.is_hunt {
            true => Some(format!("hunt by {members}")),
            false => self.searched.take(),
        };
    }

    fn note(&mut self, text: &str) {
        self.clear();
        say(&format!("note: {text}"));
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

impl Watcher {
    /// Memory was short, and something was done about it.
    fn relieved(&mut self, relief: Relief, states: u64) {
        if let Some(gauge) = &mut self.gauge {
            gauge.looked = None;
        }
        self.clear();
        match self.style {
            Style::Off => {}
            Style::Json => say(&serde_json::json!({"relief": relief.word(), "states": states}).to_string()),
            _ => say(&format!("note: memory is short: after {} states, {}", grouped(states), relieved(relief))),
        }
    }
}

/// What was done because memory was short.
pub(crate) fn relieved(relief: Relief) -> &'static str {
    match relief {
        Relief::Tree => "the frontier is stored as a tree",
        Relief::Disk => "the frontier is spilled to disk",
        Relief::Thread => "one thread continues alone",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_the_whole_search() {
        let mut samples = Samples::default();
        for states in 1..=100_000 {
            samples.hear(Sample { search: 0, phase: 0, seconds: 0.0, states, transitions: 0, depth: 0, frontier: 0 });
        }
        let gaps: Vec<u64> = samples.kept.windows(2).map(|pair| pair[1].states - pair[0].states).collect();
        assert!((256..Samples::MOST).contains(&samples.kept.len()), "{}", samples.kept.len());
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "they lie equally far apart");
    }

    #[test]
    fn times_read_like_a_clock() {
        let shown = [300, 12_000, 185_000, 7_400_000].map(|ms| clock(Duration::from_millis(ms)));
        assert_eq!(shown, ["0.3 s", "12 s", "3 m 05 s", "2 h 03 m"]);
    }
}
