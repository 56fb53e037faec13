//! The watches of a hunt: one that ends the first search when its share is used up, and one for each turn.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use birk_engine::{Observer, Outside, Progress};
use birk_ir::{Program, Stop};

use super::Portfolio;
use crate::error::Error;
use crate::options::Options;
use crate::report::{Answer, ShownTrace};
use crate::watch::{Phase, Watch};

/// The first search is interrupted by short hunts: after this time, or after a tenth of what is given, and each time it has gone on
/// for twice as long.
const FIRST_HUNT: Duration = Duration::from_secs(2);
/// Such a hunt takes this part of the time so far, so that all together take a tenth; but at least so long.
const PART: u32 = 20;
const LEAST: Duration = Duration::from_millis(100);

/// Lets the first search have half of the time; all of it where its levels become smaller, so that it may well finish. Now and then
/// it waits while others hunt; what they find ends it.
pub(super) struct Share<'a, 'w> {
    program: &'a Program,
    options: &'a Options,
    watch: &'w mut dyn Watch,
    began: Instant,
    until: Option<Instant>,
    /// The levels so far: where the last one begins, and how large those before it were.
    depth: u32,
    begun: u64,
    sizes: (u64, u64),
    /// When others hunt next, and who.
    next: Instant,
    portfolio: Option<Portfolio<'a>>,
    failure: Option<Error>,
    /// What is searched now has its own way with the time.
    is_left_alone: bool,
    /// When a violation was found whose trace may not be the best.
    found: Option<Instant>,
    pub(super) is_used_up: bool,
}

impl<'a, 'w> Share<'a, 'w> {
    pub(super) fn new(program: &'a Program, options: &'a Options, watch: &'w mut dyn Watch, began: Instant) -> Self {
        let time = watch.deadline().map(|deadline| deadline.saturating_duration_since(began));
        let next = began + time.map_or(FIRST_HUNT, |time| FIRST_HUNT.min(time / 10));
        Self {
            program,
            options,
            watch,
            began,
            until: time.map(|time| began + time / 2),
            depth: 0,
            begun: 0,
            sizes: (0, 0),
            next,
            portfolio: None,
            failure: None,
            is_left_alone: false,
            found: None,
            is_used_up: false,
        }
    }

    /// What the others know.
    pub(super) fn end(self) -> Result<Option<Portfolio<'a>>, Error> {
        self.failure.map_or(Ok(self.portfolio), Err)
    }

    fn note_levels(&mut self, progress: &Progress) {
        if progress.depth > self.depth {
            self.sizes = (self.sizes.1, progress.states.saturating_sub(self.begun));
            (self.depth, self.begun) = (progress.depth, progress.states);
        }
    }

    fn is_shrinking(&self) -> bool {
        self.sizes.1 < self.sizes.0
    }

    /// Lets others hunt while the search waits; whether they found a violation.
    fn interrupt(&mut self, now: Instant) -> Result<bool, Error> {
        let so_far = now - self.began;
        self.next = now + so_far;
        let portfolio = match &mut self.portfolio {
            Some(portfolio) => portfolio,
            none => none.insert(Portfolio::new(self.program, self.options)?),
        };
        portfolio.hunt(now + LEAST.max(so_far / PART), self.options.memory.search / 8, self.watch)?;
        self.watch.hunting("");
        let Some(steps) = portfolio.violation() else { return Ok(false) };
        // The search goes on for as long as it took if it may find a much shorter trace.
        let is_short = steps <= super::SHORT.max(2 * self.depth as usize);
        let found = *self.found.get_or_insert(now);
        Ok(is_short || now - found >= found - self.began)
    }
}

impl Observer for Share<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.note_levels(progress);
        self.watch.progress(progress)?;
        if self.is_left_alone {
            return ControlFlow::Continue(());
        }
        let now = Instant::now();
        // Where the search needs its memory itself, nobody else does.
        if now >= self.next && progress.bytes < self.options.memory.search / 2 {
            match self.interrupt(now) {
                Ok(false) => {}
                Ok(true) => {
                    self.is_used_up = true;
                    return ControlFlow::Break(Stop::Goal);
                }
                Err(error) => {
                    self.failure = Some(error);
                    return ControlFlow::Break(Stop::Interrupt);
                }
            }
        }
        if self.until.is_some_and(|until| now >= until) && !self.is_shrinking() {
            self.is_used_up = true;
            return ControlFlow::Break(Stop::Time);
        }
        ControlFlow::Continue(())
    }

    fn overhead(&mut self, counted: u64) -> u64 {
        self.watch.overhead(counted)
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        self.watch.outside()
    }
}

impl Watch for Share<'_, '_> {
    fn begin(&mut self, phase: &Phase<'_>) {
        (self.depth, self.begun, self.sizes) = (0, 0, (0, 0));
        // Formulas about branching divide the time between exploring and deciding.
        let is_branching = self.program.properties.iter().any(|property| property.branching().is_some());
        self.is_left_alone = !phase.is_of_states && is_branching;
        self.watch.begin(phase);
    }

    fn end(&mut self) {
        self.watch.end();
    }

    fn decided(&mut self, position: usize, answer: &Answer, trace: Option<&ShownTrace>) {
        self.watch.decided(position, answer, trace);
    }

    fn note(&mut self, text: &str) {
        self.watch.note(text);
    }

    fn deadline(&self) -> Option<Instant> {
        self.watch.deadline()
    }
}

/// What a turn and the one who gave it see of each other.
#[derive(Default)]
pub(super) struct Beacon {
    is_ended: AtomicBool,
    last: Mutex<Progress>,
}

impl Beacon {
    pub(super) fn begin(&self) {
        self.is_ended.store(false, Ordering::Relaxed);
        *self.last.lock().expect("nobody panics with it") = Progress::default();
    }

    /// The turn is to end.
    pub(super) fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    /// How the turn stood when it said so last.
    pub(super) fn seen(&self) -> Progress {
        *self.last.lock().expect("nobody panics with it")
    }
}

/// Watches one turn. What it notes of itself is not for the user: who hunts is told, not why somebody cannot.
pub(super) struct Turn<'a> {
    beacon: &'a Beacon,
    until: Instant,
    told: Instant,
}

impl<'a> Turn<'a> {
    /// How often it says how it stands.
    const PERIOD: Duration = Duration::from_millis(10);

    pub(super) fn new(beacon: &'a Beacon, until: Instant) -> Self {
        Self { beacon, until, told: Instant::now() }
    }
}

impl Observer for Turn<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        if self.beacon.is_ended.load(Ordering::Relaxed) {
            return ControlFlow::Break(Stop::Interrupt);
        }
        let now = Instant::now();
        if now >= self.until {
            return ControlFlow::Break(Stop::Time);
        }
        if now.duration_since(self.told) >= Self::PERIOD {
            self.told = now;
            *self.beacon.last.lock().expect("nobody panics with it") = *progress;
        }
        ControlFlow::Continue(())
    }
}

impl Watch for Turn<'_> {
    fn deadline(&self) -> Option<Instant> {
        Some(self.until)
    }
}
