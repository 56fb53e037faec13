//! How those who hunt stand, and who is next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use birk_engine::{Progress, Value};
use birk_ir::Stop;
use birk_search::highway::WIDTH;

use super::members::Member;
use crate::options::Options;
use crate::report::{MemberFigures, Pace, Slices};

/// How a member of the portfolio stands.
pub(super) struct Standing {
    pub(super) member: &'static Member,
    pub(super) figures: MemberFigures,
    /// Turns that gained something.
    pub(super) gains: u32,
    pub(super) state: State,
    /// Its last turn: when it began, when it ends, and how it stands.
    pub(super) started: Instant,
    pub(super) until: Instant,
    pub(super) beacon: Arc<Beacon>,
    /// The memory of that turn; none when it is over.
    pub(super) memory: u64,
    /// How often a turn may be doubled that still ends by itself.
    pub(super) fits: u32,
    /// The last turn did not.
    pub(super) is_cut: bool,
}

impl Standing {
    pub(super) fn turns(&self) -> u32 {
        self.figures.turns
    }

    /// It goes on where an earlier run ended.
    pub(super) fn go_on(&mut self, pace: Pace) {
        (self.figures.pace, self.fits) = (pace, pace.doublings);
    }

    /// A turn is over; the next one is larger.
    pub(super) fn count_turn(&mut self, stopped: Stop) {
        let pace = &mut self.figures.pace;
        self.is_cut = matches!(stopped, Stop::Time | Stop::Interrupt | Stop::Memory);
        self.fits = match self.is_cut {
            true => self.fits.min(pace.doublings.saturating_sub(1)),
            false => self.fits.max(pace.doublings),
        };
        (pace.turns, pace.doublings) = (pace.turns + 1, pace.doublings + 1);
        self.figures.turns += 1;
    }

    /// The end: what goes on here begins with the largest turn that ended by itself, and with the width of the last slice that did.
    /// Turns for one property at a time begin anew: there may be fewer of these.
    pub(super) fn end(self) -> MemberFigures {
        let Pace { turns, width, .. } = self.figures.pace;
        let doublings = if self.member.one_by_one { 0 } else { self.fits };
        let width = if self.is_cut { (width / 2).max(1) } else { width };
        MemberFigures { pace: Pace { turns, doublings, width }, ..self.figures }
    }

    /// The next turn goes on with the width that this one came to; what was found is found again in the slice in which it was.
    pub(super) fn take_slices(&mut self, slices: &Slices, options: Options) {
        self.figures.pace.width = slices.width;
        if let Some((_, seed, width)) = slices.found_in {
            let mut slice = Options { seed, ..options };
            slice.engine_options.set(&WIDTH, Value::Number(width as u64));
            self.figures.words = self.member.words(&slice);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Waits,
    Runs,
    /// Its turn is over, but it has not heard it.
    Silent,
    /// It was refused, or a further turn would tell nothing new.
    Left,
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

    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// How the turn stands.
    pub(super) fn tell(&self, progress: &Progress) {
        *self.last.lock().expect("nobody panics with it") = *progress;
    }

    /// How the turn stood when it said so last.
    pub(super) fn seen(&self) -> Progress {
        *self.last.lock().expect("nobody panics with it")
    }
}

/// The one of these that UCB1 selects; those without a turn come first, in the order of the table.
pub(super) fn best<'s>(standing: impl Iterator<Item = (usize, &'s Standing)> + Clone) -> Option<usize> {
    let all: u32 = standing.clone().map(|(_, one)| one.turns()).sum();
    let value = |one: &Standing| match one.turns() {
        0 => f64::INFINITY,
        turns => f64::from(one.gains) / f64::from(turns) + (2.0 * f64::from(all).ln() / f64::from(turns)).sqrt(),
    };
    let mut best: Option<(f64, usize)> = None;
    for (member, one) in standing {
        if best.is_none_or(|(most, _)| value(one) > most) {
            best = Some((value(one), member));
        }
    }
    best.map(|(_, member)| member)
}
