//! The watches of a hunt: one that ends the first search when its share is used up, and one for each turn.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use birk_engine::{Observer, Outside, Progress};
use birk_ir::{Program, Stop};

use super::Portfolio;
use super::standing::Beacon;
use crate::error::Error;
use crate::model::Native;
use crate::options::Options;
use crate::report::{Answer, ShownTrace};
use crate::watch::{Phase, Watch};

/// The first search is interrupted by hunts: after this time, or after a tenth of what is given, and each time it has gone on for
/// twice as long.
const FIRST_HUNT: Duration = Duration::from_millis(100);
/// The first hunts take this part of the time so far, because nobody knows how long the search will take,
const EARLY: u32 = 2;
/// as long as it took where it has hardly begun because the model is large, until it took so long.
const BEGUN: u64 = 1 << 12;
const KNOWN: Duration = Duration::from_millis(250);
/// The others take as long as the search went on if it cannot finish, and otherwise this part of the time so far, so that all
/// together take a tenth.
const PART: u32 = 20;
/// It cannot finish where it expects so many times the states that it has time and memory for.
const HOPELESS: f64 = 8.0;
/// What is shorter is not worth the interruption.
const WORTH: Duration = Duration::from_millis(20);

/// Lets the first search have half of the time; all of it where its levels become smaller, so that it may well finish. Now and then
/// it waits while others hunt; what they find ends it.
pub(super) struct Share<'a, 'w> {
    program: &'a Program,
    options: &'a Options,
    /// The code that all of them run.
    native: &'a Arc<Native>,
    watch: &'w mut dyn Watch,
    began: Instant,
    until: Option<Instant>,
    /// How many states there were at which depth.
    levels: Levels,
    /// Since when the search goes on, and how long it waited for others.
    since: Instant,
    waited: Duration,
    /// When others hunt next, and who.
    next: Instant,
    portfolio: Option<Portfolio<'a>>,
    failure: Option<Error>,
    /// What is searched now has its own way with the time.
    is_left_alone: bool,
    /// What is searched now is states, level by level.
    is_of_states: bool,
    /// When it ends, because a violation was found.
    ends: Option<Instant>,
    pub(super) is_used_up: bool,
}

impl<'a, 'w> Share<'a, 'w> {
    pub(super) fn new(
        program: &'a Program,
        options: &'a Options,
        native: &'a Arc<Native>,
        watch: &'w mut dyn Watch,
        began: Instant,
    ) -> Self {
        let time = watch.deadline().map(|deadline| deadline.saturating_duration_since(began));
        let next = began + time.map_or(FIRST_HUNT, |time| FIRST_HUNT.min(time / 10));
        Self {
            program,
            options,
            native,
            watch,
            began,
            until: time.map(|time| began + time / 2),
            levels: Levels::default(),
            since: began,
            waited: Duration::ZERO,
            next,
            portfolio: None,
            failure: None,
            is_left_alone: false,
            is_of_states: true,
            ends: None,
            is_used_up: false,
        }
    }

    /// What the others know.
    pub(super) fn end(self) -> Result<Option<Portfolio<'a>>, Error> {
        self.failure.map_or(Ok(self.portfolio), Err)
    }

    /// How long others hunt now.
    fn hunt_length(&self, progress: &Progress, now: Instant) -> Duration {
        if now - self.began < KNOWN {
            return (now - self.began) / if progress.states < BEGUN { 1 } else { EARLY };
        }
        let (so_far, own) = (now - self.began, now - self.began - self.waited);
        let per_second = progress.states as f64 / own.as_secs_f64();
        let left = self.watch.deadline().map(|deadline| deadline.saturating_duration_since(now).as_secs_f64());
        let by_time = left.map_or(f64::INFINITY, |left| per_second * left);
        let by_memory = self.options.memory.search as f64 / progress.bytes.max(1) as f64 * progress.states as f64;
        if self.levels.expected() > HOPELESS * by_memory.min(progress.states as f64 + by_time) {
            return now - self.since;
        }
        so_far / PART
    }

    /// Lets others hunt while the search waits; whether they found a violation with which it may end.
    fn interrupt(&mut self, progress: &Progress, now: Instant) -> Result<bool, Error> {
        let length = self.hunt_length(progress, now);
        self.next = now + (now - self.began);
        if length < WORTH {
            return Ok(false);
        }
        let portfolio = match &mut self.portfolio {
            Some(portfolio) => portfolio,
            none => none.insert(Portfolio::new(self.program, self.options, self.native, self.began)?),
        };
        portfolio.depth = if self.is_of_states { self.levels.depth() } else { portfolio.depth };
        portfolio.hunt(now + length, self.options.memory.search / 8, now - self.began < KNOWN, self.watch)?;
        self.watch.hunting("");
        self.since = Instant::now();
        self.waited += self.since - now;
        self.next = self.since + (now - self.began);
        let Some(violation) = portfolio.violation() else { return Ok(false) };
        // The search goes on for as long as it took to find a violation, because it may find a much shorter trace.
        self.ends = Some(self.began + 2 * (self.since - self.began));
        Ok(!portfolio.is_long(violation))
    }

    /// Whether the search is to end, because there is a violation or because the hunt has failed.
    fn is_over(&mut self, progress: &Progress, now: Instant) -> ControlFlow<Stop> {
        // Where the search needs its memory itself, nobody else does.
        let is_due = self.ends.is_none() && now >= self.next && progress.bytes < self.options.memory.search / 2;
        match if is_due { self.interrupt(progress, now) } else { Ok(self.ends.is_some_and(|ends| now >= ends)) } {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => {
                self.is_used_up = true;
                // Not as at a goal of its own: nothing else need be asked, either.
                ControlFlow::Break(Stop::Interrupt)
            }
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(Stop::Interrupt)
            }
        }
    }
}

/// How many states a search had visited when it came to its last depths.
#[derive(Default)]
struct Levels(Vec<(u32, u64)>);

impl Levels {
    /// So many sizes of levels are looked at.
    const LAST: usize = 8;

    fn note(&mut self, progress: &Progress) {
        if progress.depth > self.depth() {
            self.0.push((progress.depth, progress.states));
            self.0.drain(..self.0.len().saturating_sub(Self::LAST + 1));
        }
    }

    fn depth(&self) -> u32 {
        self.0.last().map_or(0, |(depth, _)| *depth)
    }

    /// The sizes of the last levels, and how many these were taken together.
    fn sizes(&self) -> impl Iterator<Item = (f64, f64)> {
        self.0.windows(2).map(|pair| {
            let levels = f64::from(pair[1].0 - pair[0].0);
            (pair[1].1.saturating_sub(pair[0].1) as f64 / levels, levels)
        })
    }

    /// By how much the logarithm of a level's size grew with each of the last levels, and how that changes from level to level.
    fn trend(&self) -> Option<(f64, f64)> {
        let sizes: Vec<(f64, f64)> = self.sizes().filter(|(size, _)| *size > 0.0).collect();
        let growth: Vec<(f64, f64)> = sizes.windows(2).map(|pair| ((pair[1].0 / pair[0].0).ln(), pair[1].1)).collect();
        let mean = |growth: &[(f64, f64)]| {
            let levels: f64 = growth.iter().map(|(_, levels)| levels).sum();
            (growth.iter().map(|(growth, _)| growth).sum::<f64>() / levels, levels)
        };
        let (early, late) = growth.split_at_checked(growth.len() / 2).filter(|(early, _)| !early.is_empty())?;
        let ((before, some), (now, more)) = (mean(early), mean(late));
        Some((now, 2.0 * (now - before) / (some + more)))
    }

    fn is_shrinking(&self) -> bool {
        self.trend().is_some_and(|(growth, _)| growth < 0.0)
    }

    /// How many states there will be, if levels go on as they did for as many levels as there were: their growth falls by the same
    /// each time, as where their sizes are distributed normally. None more than there are where too little is known.
    fn expected(&self) -> f64 {
        let states = self.0.last().map_or(0.0, |(_, states)| *states as f64);
        let (Some((mut growth, change)), Some((mut size, _))) = (self.trend(), self.sizes().last()) else {
            return states;
        };
        let mut sum = states;
        for _ in 0..self.depth() {
            growth += change.min(0.0);
            size *= growth.exp();
            sum += size;
        }
        sum
    }
}

impl Observer for Share<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        self.levels.note(progress);
        self.watch.progress(progress)?;
        if self.is_left_alone {
            return ControlFlow::Continue(());
        }
        let now = Instant::now();
        self.is_over(progress, now)?;
        if self.until.is_some_and(|until| now >= until) && !self.levels.is_shrinking() {
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
        self.levels = Levels::default();
        // Formulas about branching divide the time between exploring and deciding.
        let is_branching = self.program.properties.iter().any(|property| property.branching().is_some());
        self.is_of_states = phase.is_of_states;
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
        if self.beacon.is_ended() {
            return ControlFlow::Break(Stop::Interrupt);
        }
        let now = Instant::now();
        if now >= self.until {
            return ControlFlow::Break(Stop::Time);
        }
        if now.duration_since(self.told) >= Self::PERIOD {
            self.told = now;
            self.beacon.tell(progress);
        }
        ControlFlow::Continue(())
    }
}

impl Watch for Turn<'_> {
    fn deadline(&self) -> Option<Instant> {
        Some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a search with levels of these sizes, after so many of them.
    fn levels(sizes: impl Fn(f64) -> f64, count: u32) -> (Levels, f64) {
        let (mut levels, mut sum) = (Levels::default(), 0.0);
        for depth in 1..=count {
            levels.note(&Progress { depth, states: sum as u64, ..Progress::default() });
            sum += sizes(f64::from(depth));
        }
        (levels, sum)
    }

    #[test]
    fn what_rises_and_falls_is_expected_to_end() {
        let bell = |depth: f64| 100_000.0 * (-((depth - 30.0) / 10.0).powi(2)).exp();
        let all = levels(bell, 70).1;
        for depth in 18..60 {
            let expected = levels(bell, depth).0.expected();
            assert!((all / 3.0..all * 2.0).contains(&expected), "at {depth}: {expected} of {all}");
        }
        assert!(!levels(bell, 25).0.is_shrinking() && levels(bell, 40).0.is_shrinking());
    }

    #[test]
    fn what_only_grows_is_expected_to_go_on() {
        assert!(levels(|depth| 1.5f64.powf(depth), 20).0.expected() > 1e6);
        assert!(levels(|depth| 100.0 * depth, 50).0.expected() < 2e6);
        assert!((levels(|_| 1000.0, 50).0.expected() - 99_000.0).abs() < 1000.0);
    }

    #[test]
    fn where_little_is_known_nothing_is_expected() {
        assert!(levels(|_| 1000.0, 2).0.expected() <= 1000.0);
        assert!(levels(|_| 1000.0, 0).0.expected() == 0.0);
    }
}
