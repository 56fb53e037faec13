//! Progress, time and Ctrl-C: the observer of every search.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use birk_ir::Stop;
use birk_search::{Observer, Progress};

use crate::cli::ProgressMode;
use crate::source::is_watched;
use crate::{Exit, Failure};

/// On a terminal the line is drawn anew this often.
const REDRAW: Duration = Duration::from_millis(200);
/// Elsewhere, a line is written this often.
const LINE: Duration = Duration::from_secs(10);

/// Watches a search for the user.
#[derive(Debug)]
pub(crate) struct Watcher {
    started: Instant,
    deadline: Option<Instant>,
    interrupted: Arc<AtomicBool>,
    style: Style,
    period: Duration,
    next: Instant,
    last: (Instant, u64),
    drawn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Off,
    Terminal,
    Lines,
    Json,
}

impl Watcher {
    /// Starts the clock, and takes over Ctrl-C: the first ends the search, the second the process.
    pub(crate) fn start(mode: ProgressMode, time: Option<Duration>) -> Result<Self, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted as i32);
            }
        })
        .map_err(|error| Failure::internal(format!("cannot listen for Ctrl-C: {error}")))?;
        let style = match mode {
            ProgressMode::Off => Style::Off,
            ProgressMode::Json => Style::Json,
            ProgressMode::Auto if is_watched() => Style::Terminal,
            ProgressMode::Auto => Style::Lines,
        };
        let period = match style {
            Style::Terminal => REDRAW,
            Style::Json => Duration::from_secs(1),
            Style::Lines | Style::Off => LINE,
        };
        let now = Instant::now();
        Ok(Self {
            started: now,
            deadline: time.and_then(|time| now.checked_add(time)),
            interrupted,
            style,
            period,
            next: now + period,
            last: (now, 0),
            drawn: false,
        })
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Removes what was drawn.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            eprint!("\r\x1b[K");
            let _ = std::io::stderr().flush();
        }
    }

    fn show(&mut self, now: Instant, progress: &Progress) {
        let seconds = now.duration_since(self.last.0).as_secs_f64().max(1e-9);
        let rate = (progress.states - self.last.1) as f64 / seconds;
        self.last = (now, progress.states);
        let elapsed = now.duration_since(self.started).as_secs_f64();
        let line = format!(
            "{} states, depth {}, {} waiting, {}/s, {}, {elapsed:.0} s",
            grouped(progress.states),
            progress.depth,
            grouped(progress.frontier),
            grouped(rate as u64),
            bytes(progress.bytes),
        );
        match self.style {
            Style::Off => {}
            Style::Terminal => {
                eprint!("\r\x1b[K{line}");
                let _ = std::io::stderr().flush();
                self.drawn = true;
            }
            Style::Lines => eprintln!("birk: {line}"),
            Style::Json => eprintln!(
                "{}",
                serde_json::json!({
                    "seconds": elapsed, "states": progress.states, "transitions": progress.transitions,
                    "depth": progress.depth, "frontier": progress.frontier, "states_per_second": rate.round(),
                    "memory_bytes": progress.bytes,
                })
            ),
        }
    }
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        if self.interrupted.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Interrupt);
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return ControlFlow::Break(Stop::Time);
        }
        if now >= self.next {
            self.next = now + self.period;
            self.show(now, progress);
        }
        ControlFlow::Continue(())
    }
}

/// `1,234,567`
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.5 GiB`
pub(crate) fn bytes(number: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} bytes") } else { format!("{value:.1} {}", units[unit]) }
}
