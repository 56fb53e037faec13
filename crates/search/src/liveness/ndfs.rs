//! Nested depth-first search for accepting cycles (Courcoubetis, Vardi, Wolper and Yannakakis 1992), after Schwoon and
//! Esparza, "A note on on-the-fly verification algorithms", TACAS 2005.
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
//! expanded is evaluated then, which is as good and needs no place on the stack. In a weak automaton any cycle through an
//! accepting state will do, so there is no red search at all; and a state that is not accepting is on no such cycle, so
//! it is blue at once and stays so.

use std::ops::ControlFlow;

use birk_engine::{Cutoff, EngineStats, Hunt, HyperLogLog, Model, Observer, Progress, Stats};
use birk_ir::{Coverage, Stop};

use super::cycle_search::{CycleSearch, ended};
use super::lasso::Lasso;
use super::path::Path;
use crate::cutoff::Sample;

/// The observer is asked after so many expansions.
const PATIENCE: u64 = 256;

/// How far the search is with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Not seen.
    White,
    /// On the path.
    Cyan,
    /// Done; no cycle was found through it.
    Blue,
    /// Done, and on no accepting cycle.
    Red,
}

/// What is searched: gives successors, and remembers colours. White, blue and red may be mistaken for a later one of
/// these (then something may be missed); cyan is exact, so that what is reported is a cycle.
pub(crate) trait Space {
    /// A state, as the space knows it.
    type Node: Copy;

    /// The initial states; `None` when there is no memory for them.
    fn initial(&mut self) -> Option<Vec<Self::Node>>;

    /// Replaces what is in the list by the successors of a state; `None` when there is no memory for them. Those that come
    /// `soon` will be asked for, too. Where there are very many, it is asked whether to go on, given the bytes of the space
    /// with them; `None` where not.
    fn successors(
        &mut self,
        node: Self::Node,
        soon: impl Iterator<Item = Self::Node>,
        may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<Self::Node>,
    ) -> Option<()>;

    /// The same for a state that was expanded before.
    fn again(&mut self, node: Self::Node, may_go_on: impl FnMut(u64) -> bool, out: &mut Vec<Self::Node>) -> Option<()> {
        self.successors(node, std::iter::empty(), may_go_on, out)
    }

    /// A state that was just examined will be asked for soon.
    fn prefetch(&self, _node: Self::Node) {}

    /// A state of the path will be painted soon.
    fn prefetch_paint(&self, _node: Self::Node) {}

    /// Whether a cycle through a state counts.
    fn is_accepting(&self, node: Self::Node) -> bool;

    /// The colour of a state.
    fn colour(&self, node: Self::Node) -> Colour;

    /// Gives it another colour: a white one becomes cyan or, in a weak automaton, blue. Nodes that become cyan cease to be so
    /// in the opposite order.
    fn paint(&mut self, node: Self::Node, colour: Colour);

    /// Equal for nodes of equal states.
    fn key(&self, node: Self::Node) -> u64;

    /// The state in full.
    fn state(&self, node: Self::Node) -> Vec<u32>;

    /// How much is kept for the nodes of the path.
    fn mark(&self) -> usize {
        0
    }

    /// Forgets the nodes that were made since it was marked.
    fn release(&mut self, _mark: usize) {}

    /// Bytes it occupies.
    fn bytes(&self) -> u64;

    /// What a search that was not ended before has covered.
    fn coverage(&mut self) -> Coverage {
        Coverage::Complete
    }

    /// For each transition whether it was taken, outcomes that an `assume` cut, and what was seen, to be counted together
    /// with other searches.
    fn end(self) -> (Vec<bool>, u64, Option<HyperLogLog>);
}

/// The search of a space, which is that of the model.
pub(crate) fn hunt_in<S: Space>(
    space: S,
    model: &dyn Model,
    cycle_search: &CycleSearch,
    observer: &mut dyn Observer,
) -> Hunt {
    let mut search = Search {
        space,
        cycle_search,
        path: Path::new(),
        red_path: Path::new(),
        batch: Vec::new(),
        stats: Stats::default(),
        observer,
        order: cycle_search.seed,
    };
    let end = search.run();
    let mut stats = std::mem::take(&mut search.stats);
    stats.store_bytes = search.space.bytes();
    let (lasso, coverage, stopped) = match end {
        ControlFlow::Break(End::Found(lasso)) => (Some(lasso), Coverage::Partial(stats.states), Stop::Goal),
        ControlFlow::Break(End::Stopped(stop)) => (None, Coverage::Partial(stats.states), stop),
        ControlFlow::Continue(()) => (None, search.space.coverage(), Stop::Exhausted),
    };
    if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
        stats.cutoff = search.waiting(model);
    }
    let (fired, cut, visited) = search.space.end();
    stats.cut = cut;
    stats.engine = visited.map_or(EngineStats::None, EngineStats::Sampled);
    Hunt { fired, ..ended(lasso.as_ref(), coverage, stopped, stats, model) }
}

/// Why a search ended before everything was seen.
enum End {
    Found(Lasso),
    Stopped(Stop),
}

const NO_MEMORY: ControlFlow<End> = ControlFlow::Break(End::Stopped(Stop::Memory));

struct Search<'a, S: Space> {
    space: S,
    cycle_search: &'a CycleSearch,
    path: Path<S::Node>,
    red_path: Path<S::Node>,
    /// The successors of the state that was expanded last.
    batch: Vec<S::Node>,
    stats: Stats,
    observer: &'a mut dyn Observer,
    order: u64,
}

impl<S: Space> Search<'_, S> {
    fn run(&mut self) -> ControlFlow<End> {
        let Some(initial) = self.space.initial() else { return NO_MEMORY };
        for i in 0..initial.len() {
            if self.space.colour(initial[i]) == Colour::White
                && let ControlFlow::Break(end) = self.blue(initial[i])
            {
                initial[i + 1..].iter().for_each(|&node| self.path.offer(node));
                return ControlFlow::Break(end);
            }
        }
        ControlFlow::Continue(())
    }

    fn blue(&mut self, root: S::Node) -> ControlFlow<End> {
        self.enter(root)?;
        while let Some(&frame) = self.path.top() {
            if let Some(node) = self.path.next() {
                match self.space.colour(node) {
                    Colour::White => self.enter(node)?,
                    Colour::Red => {}
                    Colour::Cyan | Colour::Blue => self.note_not_red(),
                }
                continue;
            }
            if self.is_passed(frame.accepting) {
                self.path.ascend();
                self.space.release(frame.mark);
                continue;
            }
            let is_red = if frame.all_red {
                true
            } else if frame.accepting && !self.cycle_search.weak {
                self.red(frame.node)?;
                true
            } else {
                false
            };
            self.space.paint(frame.node, if is_red { Colour::Red } else { Colour::Blue });
            self.path.ascend();
            if let Some(below) = self.path.top() {
                self.space.prefetch_paint(below.node);
            }
            self.space.release(frame.mark);
            if !is_red {
                self.note_not_red();
            }
        }
        ControlFlow::Continue(())
    }

    /// A white state becomes cyan, and its successors are offered.
    fn enter(&mut self, node: S::Node) -> ControlFlow<End> {
        if let ControlFlow::Break(end) = self.ask() {
            self.path.offer(node);
            return ControlFlow::Break(end);
        }
        let mark = self.space.mark();
        // What this asks the caches for arrives while the state is put on the path.
        let Self { space, path, red_path, batch, .. } = self;
        let mut watch =
            Watch { stop: Stop::Memory, stats: &self.stats, cycle_search: self.cycle_search, observer: self.observer };
        let may_go_on = |bytes| watch.may_go_on(path.len(), bytes + path.bytes() + red_path.bytes());
        if space.successors(node, path.soon(), may_go_on, batch).is_none() {
            self.path.offer(node);
            return ControlFlow::Break(End::Stopped(watch.stop));
        }
        let accepting = self.space.is_accepting(node);
        self.space.paint(node, if self.is_passed(accepting) { Colour::Blue } else { Colour::Cyan });
        self.stats.states += 1;
        self.path.descend(node, accepting, mark);
        self.stats.transitions += self.batch.len() as u64;
        self.stats.max_depth = self.stats.max_depth.max(self.path.len() as u32 - 1);
        for i in self.in_order() {
            let node = self.batch[i];
            match self.space.colour(node) {
                Colour::White => {
                    self.space.prefetch(node);
                    self.path.offer(node);
                }
                Colour::Cyan => {
                    if accepting || !self.cycle_search.weak && self.space.is_accepting(node) {
                        return self.found(node);
                    }
                    self.note_not_red();
                }
                Colour::Blue => self.note_not_red(),
                Colour::Red => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether it is enough to come by.
    fn is_passed(&self, accepting: bool) -> bool {
        self.cycle_search.weak && !accepting
    }

    /// Looks for a way from an accepting state back to the path.
    fn red(&mut self, seed: S::Node) -> ControlFlow<End> {
        self.enter_red(seed)?;
        while let Some(&frame) = self.red_path.top() {
            match self.red_path.next() {
                None => {
                    self.red_path.ascend();
                    self.space.release(frame.mark);
                }
                Some(node) => {
                    if self.space.colour(node) == Colour::Blue {
                        self.space.paint(node, Colour::Red);
                        self.enter_red(node)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_red(&mut self, node: S::Node) -> ControlFlow<End> {
        self.stats.revisits += 1;
        self.ask()?;
        self.red_path.descend(node, false, self.space.mark());
        let Self { space, path, red_path, batch, .. } = self;
        let mut watch =
            Watch { stop: Stop::Memory, stats: &self.stats, cycle_search: self.cycle_search, observer: self.observer };
        let may_go_on = |bytes| watch.may_go_on(path.len(), bytes + path.bytes() + red_path.bytes());
        if space.again(node, may_go_on, batch).is_none() {
            return ControlFlow::Break(End::Stopped(watch.stop));
        }
        for i in self.in_order() {
            let node = self.batch[i];
            match self.space.colour(node) {
                Colour::Cyan => return self.found(node),
                Colour::Blue => {
                    self.space.prefetch(node);
                    self.red_path.offer(node);
                }
                Colour::White | Colour::Red => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// A state of the path closes a cycle.
    fn found(&self, closes: S::Node) -> ControlFlow<End> {
        let states = |path: &Path<S::Node>| path.nodes().map(|node| self.space.state(node)).collect();
        let lasso = Lasso::close(states(&self.path), states(&self.red_path), &self.space.state(closes));
        ControlFlow::Break(End::Found(lasso))
    }

    /// What waits beside the path when the search is ended early: often millions, many of them more than once, and there is
    /// neither time nor memory left.
    fn waiting(&mut self, model: &dyn Model) -> Cutoff {
        let (space, mut waiting) = (&self.space, Sample::new());
        self.path.waiting().for_each(|node| waiting.add(space.key(node), node));
        waiting.survey(model, |&node| space.colour(node) == Colour::White, |&node| space.state(node))
    }

    fn note_not_red(&mut self) {
        if let Some(frame) = self.path.top_mut() {
            frame.all_red = false;
        }
    }

    /// The positions of the batch: in the model's order with seed 0, else from another one on.
    fn in_order(&mut self) -> impl Iterator<Item = usize> + use<S> {
        let len = self.batch.len();
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
        let bytes = self.space.bytes() + self.path.bytes() + self.red_path.bytes();
        let mut watch =
            Watch { stop: Stop::Memory, stats: &self.stats, cycle_search: self.cycle_search, observer: self.observer };
        match watch.may_go_on(self.path.len(), bytes) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(End::Stopped(watch.stop)),
        }
    }
}

/// Looks at the limits, and asks the observer.
struct Watch<'a> {
    /// Why not to go on.
    stop: Stop,
    stats: &'a Stats,
    cycle_search: &'a CycleSearch,
    observer: &'a mut dyn Observer,
}

impl Watch<'_> {
    fn may_go_on(&mut self, path: usize, bytes: u64) -> bool {
        let progress = Progress {
            states: self.stats.states,
            transitions: self.stats.transitions,
            depth: path as u32,
            frontier: path as u64,
            bytes,
            ..Progress::default()
        };
        let limits = &self.cycle_search.limits;
        self.stop = match self.observer.progress(&progress) {
            ControlFlow::Break(stop) => stop,
            ControlFlow::Continue(()) if bytes > limits.memory => Stop::Memory,
            ControlFlow::Continue(()) if self.stats.states > limits.states => Stop::States,
            ControlFlow::Continue(()) => return true,
        };
        false
    }
}
