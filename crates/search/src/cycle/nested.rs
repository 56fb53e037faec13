//! Nested depth-first search for accepting cycles, after Schwoon and Esparza, "A note on on-the-fly verification
//! algorithms", TACAS 2005.
//!
//! ```text
//! blue(s): colour(s) = cyan; all_red = true
//!     for t in successors(s):
//!         if cyan(t) and (s or t accepting): report
//!         if white(t): blue(t)
//!         if not red(t): all_red = false
//!     if all_red: colour(s) = red
//!     else if s accepting: red(s); colour(s) = red
//!     else: colour(s) = blue
//! red(s): for t in successors(s):
//!     if cyan(t): report
//!     if blue(t): colour(t) = red; red(t)
//! ```
//!
//! What differs: the stacks are explicit; every initial state is begun with; what was no longer white when `s` was
//! expanded is judged then, which is as good and needs no place on the stack. In a weak automaton any cycle through an
//! accepting state will do, so there is no red search at all.

use std::ops::ControlFlow;

use birk_exec::{Model, Successors};
use birk_ir::{Coverage, Stop};

use super::lasso::Lasso;
use super::path::Path;
use super::{Chase, ended};
use crate::bits::Sketch;
use crate::border::{Border, Survey};
use crate::job::{Hunt, Observer, Progress, Stats};

/// The observer is asked after so many expansions.
const PATIENCE: u64 = 256;

/// How far the search is with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Not seen.
    White,
    /// On the path.
    Cyan,
    /// Done; no cycle was found through it.
    Blue,
    /// Done, and on no accepting cycle.
    Red,
}

/// What remembers the colours. White, blue and red may be mistaken for a later one of these (then something may be
/// missed); cyan is exact, so that what is reported is a cycle.
pub trait Painted {
    /// Finds the colour of a state.
    type Key: Copy;

    /// The key of a state.
    fn key(&mut self, state: &[u32]) -> Self::Key;

    /// The keys of all states of a batch; better than one by one.
    fn keys(&mut self, batch: &Successors, keys: &mut Vec<Self::Key>) {
        keys.clear();
        keys.extend((0..batch.len()).map(|i| self.key(batch.state(i))));
    }

    /// The colour of a state.
    fn colour(&self, key: Self::Key, state: &[u32]) -> Colour;

    /// Gives it another colour.
    fn paint(&mut self, key: Self::Key, state: &[u32], colour: Colour);

    /// Bytes it occupies.
    fn bytes(&self) -> u64;

    /// What a search that was not ended before has covered.
    fn coverage(&self) -> Coverage {
        Coverage::Complete
    }

    /// What was seen, to be counted together with other searches.
    fn sketch(self) -> Option<Sketch>
    where
        Self: Sized,
    {
        None
    }
}

/// The search, with whatever remembers the colours.
pub fn hunt_with<P: Painted>(model: &dyn Model, painted: P, chase: &Chase, observer: &mut dyn Observer) -> Hunt {
    let words = model.words();
    let mut search = Search {
        model,
        painted,
        chase,
        path: Path::new(words),
        red_path: Path::new(words),
        batch: Successors::new(words),
        keys: Vec::new(),
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
        observer,
        order: chase.seed,
    };
    let end = search.run();
    search.stats.cut = search.batch.cut;
    search.stats.store_bytes = search.painted.bytes();
    let (lasso, coverage, stopped) = match end {
        ControlFlow::Break(End::Found(lasso)) => (Some(lasso), Coverage::Sampled(search.stats.states), Stop::Goal),
        ControlFlow::Break(End::Stopped(stop)) => (None, Coverage::Sampled(search.stats.states), stop),
        ControlFlow::Continue(()) => (None, search.painted.coverage(), Stop::Exhausted),
    };
    if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
        search.stats.border = search.waiting();
    }
    let fired = std::mem::take(&mut search.fired);
    search.stats.union = search.painted.sketch();
    Hunt { fired, ..ended(lasso.as_ref(), coverage, stopped, search.stats, model) }
}

/// Why a search ended before everything was seen.
pub(super) enum End {
    Found(Lasso),
    Stopped(Stop),
}

struct Search<'a, P: Painted> {
    model: &'a dyn Model,
    painted: P,
    chase: &'a Chase,
    path: Path<P::Key>,
    red_path: Path<P::Key>,
    batch: Successors,
    /// The keys of the batch.
    keys: Vec<P::Key>,
    stats: Stats,
    fired: Vec<bool>,
    observer: &'a mut dyn Observer,
    order: u64,
}

impl<P: Painted> Search<'_, P> {
    fn run(&mut self) -> ControlFlow<End> {
        let mut initial = Successors::new(self.model.words());
        self.model.initial(&mut initial);
        for i in 0..initial.len() {
            let state = initial.state(i);
            let key = self.painted.key(state);
            if self.painted.colour(key, state) == Colour::White {
                let root = self.path.root(state, key);
                self.blue(root)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn blue(&mut self, root: usize) -> ControlFlow<End> {
        self.enter(root)?;
        while let Some(&frame) = self.path.top() {
            if let Some(place) = self.path.next() {
                match self.painted.colour(self.path.key(place), self.path.state(place)) {
                    Colour::White => self.enter(place)?,
                    Colour::Red => {}
                    Colour::Cyan | Colour::Blue => self.note_not_red(),
                }
                continue;
            }
            let is_red = if frame.all_red {
                true
            } else if frame.accepting && !self.chase.weak {
                self.red(frame.own)?;
                true
            } else {
                false
            };
            self.paint(frame.own, if is_red { Colour::Red } else { Colour::Blue });
            self.path.ascend();
            if !is_red {
                self.note_not_red();
            }
        }
        ControlFlow::Continue(())
    }

    /// A white state becomes cyan, and its successors are offered.
    fn enter(&mut self, place: usize) -> ControlFlow<End> {
        self.paint(place, Colour::Cyan);
        self.stats.states += 1;
        self.ask()?;
        let accepting = self.is_accepting(self.path.state(place));
        self.model.successors(self.path.state(place), &mut self.batch);
        self.stats.transitions += self.batch.len() as u64;
        self.path.descend(place, accepting);
        self.stats.max_depth = self.stats.max_depth.max(self.path.len() as u32 - 1);
        let batch = std::mem::replace(&mut self.batch, Successors::new(0));
        self.painted.keys(&batch, &mut self.keys);
        for i in self.in_order(batch.len()) {
            let (state, key) = (batch.state(i), self.keys[i]);
            self.fired[batch.step(i).transition.index()] = true;
            match self.painted.colour(key, state) {
                Colour::White => self.path.offer(state, key),
                Colour::Cyan => {
                    let counts = if self.chase.weak { accepting } else { accepting || self.is_accepting(state) };
                    if counts {
                        let found = Lasso::close(self.path.trail(), Vec::new(), state);
                        self.batch = batch;
                        return ControlFlow::Break(End::Found(found));
                    }
                    self.note_not_red();
                }
                Colour::Blue => self.note_not_red(),
                Colour::Red => {}
            }
        }
        self.batch = batch;
        self.batch.clear();
        ControlFlow::Continue(())
    }

    /// Looks for a way from an accepting state back to the path.
    fn red(&mut self, seed: usize) -> ControlFlow<End> {
        let state = self.path.state(seed).to_vec();
        let root = self.red_path.root(&state, self.path.key(seed));
        self.enter_red(root)?;
        while self.red_path.top().is_some() {
            let Some(place) = self.red_path.next() else {
                self.red_path.ascend();
                continue;
            };
            let key = self.red_path.key(place);
            if self.painted.colour(key, self.red_path.state(place)) == Colour::Blue {
                self.painted.paint(key, self.red_path.state(place), Colour::Red);
                self.enter_red(place)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_red(&mut self, place: usize) -> ControlFlow<End> {
        self.stats.revisits += 1;
        self.ask()?;
        let mut batch = std::mem::replace(&mut self.batch, Successors::new(0));
        self.model.successors(self.red_path.state(place), &mut batch);
        self.red_path.descend(place, false);
        self.painted.keys(&batch, &mut self.keys);
        for i in self.in_order(batch.len()) {
            let (state, key) = (batch.state(i), self.keys[i]);
            match self.painted.colour(key, state) {
                Colour::Cyan => {
                    let found = Lasso::close(self.path.trail(), self.red_path.trail(), state);
                    self.batch = batch;
                    return ControlFlow::Break(End::Found(found));
                }
                Colour::Blue => self.red_path.offer(state, key),
                Colour::White | Colour::Red => {}
            }
        }
        self.batch = batch;
        self.batch.clear();
        ControlFlow::Continue(())
    }

    fn paint(&mut self, place: usize, colour: Colour) {
        self.painted.paint(self.path.key(place), self.path.state(place), colour);
    }

    /// What waits beside the path when the search is ended early.
    fn waiting(&self) -> Border {
        let is_white = |key, state: &[u32]| self.painted.colour(key, state) == Colour::White;
        let waiting = self.path.waiting(is_white);
        let mut survey = Survey::new(self.model, waiting.len() as u64);
        waiting.iter().for_each(|state| survey.wait(state));
        survey.border()
    }

    fn note_not_red(&mut self) {
        if let Some(frame) = self.path.top_mut() {
            frame.all_red = false;
        }
    }

    fn is_accepting(&self, state: &[u32]) -> bool {
        self.model.judge(state, false).contains(0)
    }

    /// The positions of a batch: in the model's order with seed 0, else from another one on.
    fn in_order(&mut self, len: usize) -> impl Iterator<Item = usize> + use<P> {
        let start = match self.order {
            0 => 0,
            _ => {
                self.order = self.order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.order >> 33) as usize % len.max(1)
            }
        };
        (0..len).map(move |i| if start + i < len { start + i } else { start + i - len })
    }

    /// Asks, now and then, whether to go on.
    fn ask(&mut self) -> ControlFlow<End> {
        if !(self.stats.states + self.stats.revisits).is_multiple_of(PATIENCE) {
            return ControlFlow::Continue(());
        }
        let bytes = self.painted.bytes() + self.path.bytes() + self.red_path.bytes();
        let progress = Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: self.path.len() as u32,
            frontier: self.path.len() as u64,
            bytes,
        };
        let limits = &self.chase.limits;
        let stop = match self.observer.progress(&progress) {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) if bytes > limits.memory => Stop::Memory,
            ControlFlow::Continue(()) if self.stats.states > limits.states => Stop::States,
            ControlFlow::Continue(()) => return ControlFlow::Continue(()),
        };
        ControlFlow::Break(End::Stopped(stop))
    }
}
