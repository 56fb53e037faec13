//! CNDFS: several nested searches that share what they know, after Evangelista, Laarman, Petrucci and van de Pol,
//! "Improved multi-core nested depth-first search", ATVA 2012.
//!
//! ```text
//! blue(s): cyan += s
//!     for t in successors(s), in an order of its own: if t not in cyan and not blue(t): blue(t)
//!     blue(s) = true
//!     if red(t) for every t in successors(s): red(s) = true
//!     else if s accepting:
//!         R = {}; red(s)
//!         wait until red(x) for every accepting x in R, x != s
//!         red(x) = true for every x in R
//!     cyan -= s
//! red(s): R += s
//!     for t in successors(s): if t in cyan: report; if t not in R and not red(t): red(t)
//! ```
//!
//! `cyan` and `R` belong to one worker, `blue` and `red` to all. Added are early detection (a cyan successor closes a cycle
//! at once if it or `s` is accepting) and the rule for states whose successors are all red, which is that of the nested
//! search: on a cycle it never makes the first state red, and so the proof stands. Each successor is evaluated when `s` is
//! done with it. In its own order a worker takes last what others are on.
//!
//! In a weak automaton there is no red search, and a state that is not accepting is on no cycle that counts: it is blue as
//! soon as a worker comes by, and no other does. Who is done then gets a part of another's path.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use birk_engine::{Hunt, Model, Observer, Progress, Stats};
use birk_ir::{Coverage, Stop};

use super::colour_store::{ColourStore, Mark};
use super::cycle_search::{CycleSearch, STEPS, ended};
use super::graph_shared::GraphShared;
use super::lasso::Lasso;
use super::packed_shared::PackedShared;
use super::path::Path;
use super::work_sharing::WorkSharing;
use crate::crew::{self, Leaving};
use crate::cutoff::Sample;

/// The observer is asked, and counts are shared, after so many expansions.
const PATIENCE: u64 = 128;
/// States beside the part of a path that is given away.
const SHARED: usize = 64;

/// Searches with several workers.
pub(super) fn hunt(model: &dyn Model, cycle_search: &CycleSearch, observer: &mut dyn Observer) -> Hunt {
    match PackedShared::new(model, cycle_search.threads) {
        Some(store) => hunt_on(&store, model, cycle_search, observer),
        None => hunt_on(
            &GraphShared::new(model, cycle_search.threads, cycle_search.limits.memory / STEPS),
            model,
            cycle_search,
            observer,
        ),
    }
}

/// What all workers share.
struct Shared<'g, G, N> {
    store: &'g G,
    weak: bool,
    memory: u64,
    stop: AtomicBool,
    /// The system had no memory to give.
    is_full: AtomicBool,
    found: Mutex<Option<Lasso>>,
    /// States that are blue, and states on the paths.
    blue: AtomicU64,
    on_paths: AtomicU64,
    transitions: AtomicU64,
    revisits: AtomicU64,
    path_bytes: AtomicU64,
    work_sharing: WorkSharing<Path<N>>,
}

/// What one worker counted.
struct Count<N> {
    max_depth: u32,
    cut: u64,
    fired: Vec<bool>,
    /// What waited beside its path where it was stopped.
    waiting: Sample<N>,
}

fn hunt_on<G: ColourStore>(
    store: &G,
    model: &dyn Model,
    cycle_search: &CycleSearch,
    observer: &mut dyn Observer,
) -> Hunt {
    let shared = Shared {
        store,
        weak: cycle_search.weak,
        memory: cycle_search.limits.memory,
        stop: AtomicBool::new(false),
        is_full: AtomicBool::new(false),
        found: Mutex::new(None),
        blue: AtomicU64::new(0),
        on_paths: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        revisits: AtomicU64::new(0),
        path_bytes: AtomicU64::new(0),
        work_sharing: WorkSharing::new(cycle_search.threads),
    };
    let mut stopped = None;
    let counts: Vec<Count<G::Node>> = std::thread::scope(|scope| {
        let _leaving = Leaving(|panics| shared.call_back_if(panics));
        let start = |number: usize| {
            let (shared, seed) = (&shared, cycle_search.seed.wrapping_add(number as u64));
            crew::start(scope, "cndfs", number, move || {
                let _leaving = Leaving(|panics| shared.call_back_if(panics));
                Worker::new(shared, number, seed).run()
            })
        };
        let workers: Vec<_> = (0..cycle_search.threads).map(start).collect();
        // Workers may be done within microseconds, or in an hour: wait a little longer each time.
        let mut pause = Duration::from_micros(50);
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
            if let Some(stop) = shared.ask(cycle_search, observer) {
                stopped.get_or_insert(stop);
                shared.stop.store(true, Ordering::Release);
            }
        }
        workers.into_iter().map(crew::join).collect()
    });
    let lasso = shared.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut stats = Stats {
        states: shared.states(),
        transitions: shared.transitions.load(Ordering::Relaxed),
        revisits: shared.revisits.load(Ordering::Relaxed),
        store_bytes: store.bytes(),
        ..Stats::default()
    };
    let mut fired = vec![false; model.transitions()];
    let mut waiting = Sample::new();
    for count in counts {
        waiting.join(count.waiting);
        stats.max_depth = stats.max_depth.max(count.max_depth);
        stats.cut += count.cut;
        fired.iter_mut().zip(count.fired).for_each(|(all, own)| *all |= own);
    }
    if shared.is_full.load(Ordering::Acquire) {
        stopped.get_or_insert(Stop::Memory);
    }
    let (coverage, stopped) = match (&lasso, stopped) {
        (Some(_), _) => (Coverage::Partial(stats.states), Stop::Goal),
        (None, Some(stop)) => (Coverage::Partial(stats.states), stop),
        (None, None) => (Coverage::Complete, Stop::Exhausted),
    };
    if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
        // What somebody is done with, or had on his path, does not wait.
        let hands: Vec<_> = (0..cycle_search.threads).map(|worker| store.hand(worker)).collect();
        let was_met = |hand: &G::Hand<'_>, node| store.has(hand, node, Mark::Blue) || store.has(hand, node, Mark::Cyan);
        let waits = |&node: &G::Node| !hands.iter().any(|hand| was_met(hand, node));
        stats.cutoff = waiting.survey(model, waits, |&node| store.state(node));
    }
    Hunt { fired, ..ended(lasso.as_ref(), coverage, stopped, stats, model) }
}

impl<G: ColourStore> Shared<'_, G, G::Node> {
    /// Exact when nobody is on a path; otherwise some may be counted more than once.
    fn states(&self) -> u64 {
        self.blue.load(Ordering::Relaxed) + self.on_paths.load(Ordering::Relaxed)
    }

    fn ask(&self, cycle_search: &CycleSearch, observer: &mut dyn Observer) -> Option<Stop> {
        let bytes = self.store.bytes() + self.path_bytes.load(Ordering::Relaxed);
        let progress = Progress {
            states: self.states(),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: 0,
            frontier: 0,
            bytes,
            ..Progress::default()
        };
        match observer.progress(&progress) {
            ControlFlow::Break(stop) => Some(stop),
            _ if bytes > cycle_search.limits.memory => Some(Stop::Memory),
            _ if progress.states > cycle_search.limits.states => Some(Stop::States),
            _ => None,
        }
    }

    fn call_back_if(&self, panics: bool) {
        self.stop.fetch_or(panics, Ordering::Release);
    }

    fn report(&self, lasso: Lasso) -> ControlFlow<()> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lasso);
        self.stop.store(true, Ordering::Release);
        ControlFlow::Break(())
    }
}

struct Worker<'a, 'g, G: ColourStore> {
    shared: &'a Shared<'g, G, G::Node>,
    store: &'g G,
    number: usize,
    hand: G::Hand<'g>,
    path: Path<G::Node>,
    red_path: Path<G::Node>,
    /// `R`, in order.
    region: Vec<G::Node>,
    batch: Vec<G::Node>,
    /// Those of the batch that others are on.
    later: Vec<G::Node>,
    random: u64,
    /// Not yet shared: blue states, steps, expansions of the red search.
    counted: [u64; 3],
    expansions: u64,
    /// Shared: the length of the path, and bytes.
    told: [u64; 2],
    /// So many frames of the path have nothing beside them that nobody was at.
    bare: usize,
    /// When a part of the path was given away last.
    gave: u64,
    max_depth: u32,
}

impl<'a, 'g, G: ColourStore> Worker<'a, 'g, G> {
    fn new(shared: &'a Shared<'g, G, G::Node>, number: usize, seed: u64) -> Self {
        Self {
            shared,
            store: shared.store,
            number,
            hand: shared.store.hand(number),
            path: Path::new(),
            red_path: Path::new(),
            region: Vec::new(),
            batch: Vec::new(),
            later: Vec::new(),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) | 1,
            counted: [0; 3],
            expansions: 0,
            told: [0; 2],
            bare: 0,
            gave: 0,
            max_depth: 0,
        }
    }

    fn run(mut self) -> Count<G::Node> {
        let ended = self.search();
        self.share();
        // Those who did not come to an end are still on their paths.
        if ended.is_continue() {
            assert_eq!(self.told[0], 0, "a path that was searched is empty");
        }
        let (cut, fired) = G::end(self.hand);
        let mut waiting = Sample::new();
        self.path.waiting().for_each(|node| waiting.add(self.store.key(node), node));
        Count { max_depth: self.max_depth, cut, waiting, fired }
    }

    fn has(&self, node: G::Node, mark: Mark) -> bool {
        self.store.has(&self.hand, node, mark)
    }

    fn set(&mut self, node: G::Node, mark: Mark) -> bool {
        self.store.set(&mut self.hand, node, mark)
    }

    fn search(&mut self) -> ControlFlow<()> {
        let Some(initial) = self.store.initial(&mut self.hand) else { return self.give_up() };
        for i in 0..initial.len() {
            if !self.has(initial[i], Mark::Blue) && self.blue(initial[i]).is_break() {
                initial[i + 1..].iter().for_each(|&node| self.path.offer(node));
                return ControlFlow::Break(());
            }
        }
        while self.shared.weak && self.is_given()? {
            self.walk()?;
        }
        ControlFlow::Continue(())
    }

    fn blue(&mut self, root: G::Node) -> ControlFlow<()> {
        self.enter(root)?;
        self.walk()
    }

    /// Goes on until the path is empty.
    fn walk(&mut self) -> ControlFlow<()> {
        while let Some(&frame) = self.path.top() {
            if let Some(node) = self.path.next() {
                if self.has(node, Mark::Blue) {
                    self.note(node);
                } else if self.has(node, Mark::Cyan) {
                    self.note_not_red();
                } else {
                    self.enter(node)?;
                }
                continue;
            }
            if self.is_passed(frame.accepting) {
                self.path.ascend();
                self.bare = self.bare.min(self.path.len());
                continue;
            }
            let is_red = frame.all_red && !self.shared.weak;
            if frame.accepting && !is_red && !self.shared.weak {
                self.counted[0] += u64::from(self.set(frame.node, Mark::Blue));
                self.red(frame.node)?;
                self.await_others(frame.node)?;
                for i in 0..self.region.len() {
                    self.set(self.region[i], Mark::Red);
                }
            }
            self.counted[0] += u64::from(self.store.leave(&mut self.hand, frame.node, is_red));
            self.path.ascend();
            if let Some(below) = self.path.top() {
                self.store.prefetch_mark(&self.hand, below.node);
            }
            if !is_red && !frame.accepting {
                self.note_not_red();
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether it is enough that some worker comes by.
    fn is_passed(&self, accepting: bool) -> bool {
        self.shared.weak && !accepting
    }

    fn prepare(&mut self) -> ControlFlow<()> {
        let shared = self.shared;
        let budget = || shared.memory.saturating_sub(shared.path_bytes.load(Ordering::Relaxed));
        match self.store.prepare(&mut self.hand, budget) {
            Some(()) => ControlFlow::Continue(()),
            None => self.give_up(),
        }
    }

    /// Waits for a part of another worker's path; false when nobody has any.
    fn is_given(&mut self) -> ControlFlow<(), bool> {
        let shared = self.shared;
        shared.work_sharing.wait();
        while !shared.work_sharing.is_over() {
            if shared.stop.load(Ordering::Acquire) {
                return ControlFlow::Break(());
            }
            if let Some(path) = shared.work_sharing.take() {
                (self.path, self.bare) = (path, 0);
                return ControlFlow::Continue(true);
            }
            self.store.pause(&mut self.hand);
            std::thread::yield_now();
        }
        ControlFlow::Continue(false)
    }

    /// Gives a copy of a part of the path to somebody who waits. Whoever comes first to a state beside it takes it.
    fn give(&mut self) {
        self.gave = self.expansions;
        let (store, hand) = (self.store, &self.hand);
        let part = self.path.lower(&mut self.bare, SHARED, |node| !store.has(hand, node, Mark::Blue));
        if let Some(part) = part {
            self.shared.work_sharing.give(part);
        }
    }

    /// A blue successor of the last state on the path may be red or not.
    fn note(&mut self, node: G::Node) {
        if !self.shared.weak && !self.has(node, Mark::Red) {
            self.note_not_red();
        }
    }

    fn note_not_red(&mut self) {
        if let Some(frame) = self.path.top_mut() {
            frame.all_red = false;
        }
    }

    fn enter(&mut self, node: G::Node) -> ControlFlow<()> {
        if self.is_over() || self.prepare().is_break() {
            self.path.offer(node);
            return ControlFlow::Break(());
        }
        let accepting = self.store.is_accepting(node);
        if self.is_passed(accepting) {
            if !self.set(node, Mark::Blue) {
                return ControlFlow::Continue(());
            }
            self.counted[0] += 1;
        }
        if self.expand(node, true).is_break() {
            self.path.offer(node);
            return ControlFlow::Break(());
        }
        if !self.is_passed(accepting) {
            self.set(node, Mark::Cyan);
        }
        self.path.descend(node, accepting, 0);
        self.max_depth = self.max_depth.max(self.path.len() as u32 - 1);
        self.counted[1] += self.batch.len() as u64;
        for i in 0..self.batch.len() {
            let node = self.batch[i];
            // What another worker is done with may be on this one's path. Where there is a red search, it will see that.
            if !self.shared.weak && self.has(node, Mark::Blue) {
                self.note(node);
                continue;
            }
            if self.has(node, Mark::Cyan) {
                if accepting || !self.shared.weak && self.store.is_accepting(node) {
                    return self.found(node);
                }
                self.note_not_red();
            } else if self.store.is_elsewhere(&self.hand, node) {
                self.later.push(node);
            } else if !self.shared.weak || !self.has(node, Mark::Blue) {
                self.store.prefetch(&self.hand, node);
                self.path.offer(node);
            }
        }
        while let Some(node) = self.later.pop() {
            self.path.offer(node);
        }
        ControlFlow::Continue(())
    }

    /// Collects in `region` what can be reached and is not red, and looks for a way back to the path.
    fn red(&mut self, seed: G::Node) -> ControlFlow<()> {
        while let Some(member) = self.region.pop() {
            self.store.leave_region(&mut self.hand, member);
        }
        self.enter_red(seed)?;
        while self.red_path.top().is_some() {
            match self.red_path.next() {
                None => _ = self.red_path.ascend(),
                Some(node) => {
                    if !self.has(node, Mark::Region) && !self.has(node, Mark::Red) {
                        self.enter_red(node)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_red(&mut self, node: G::Node) -> ControlFlow<()> {
        if self.is_over() {
            return ControlFlow::Break(());
        }
        self.prepare()?;
        self.expand(node, false)?;
        self.set(node, Mark::Region);
        self.region.push(node);
        self.counted[2] += 1;
        self.red_path.descend(node, false, 0);
        for i in 0..self.batch.len() {
            let node = self.batch[i];
            if self.has(node, Mark::Cyan) {
                return self.found(node);
            }
            if !self.has(node, Mark::Region) && !self.has(node, Mark::Red) {
                self.red_path.offer(node);
            }
        }
        ControlFlow::Continue(())
    }

    /// Other workers may still be inside the region: their accepting states must be red before ours is.
    fn await_others(&mut self, seed: G::Node) -> ControlFlow<()> {
        for i in 0..self.region.len() {
            let member = self.region[i];
            if member == seed || !self.store.is_accepting(member) {
                continue;
            }
            while !self.has(member, Mark::Red) {
                if self.shared.stop.load(Ordering::Acquire) {
                    return ControlFlow::Break(());
                }
                self.store.pause(&mut self.hand);
                std::thread::yield_now();
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether somebody said so. Tells, now and then, how this worker gets on.
    fn is_over(&mut self) -> bool {
        self.expansions += 1;
        if self.expansions.is_multiple_of(PATIENCE) {
            self.share();
        }
        if self.shared.weak && self.shared.work_sharing.is_wanted() && self.expansions > self.gave + PATIENCE {
            self.give();
        }
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// The successors into `batch`, in an order of this worker's own: the first one takes that of the model, the second
    /// its reverse, so that they meet late.
    fn expand(&mut self, node: G::Node, is_first: bool) -> ControlFlow<()> {
        let Self { shared, store, path, .. } = self;
        let beside = || store.bytes() + shared.path_bytes.load(Ordering::Relaxed);
        let may_go_on = |bytes: u64| !shared.stop.load(Ordering::Relaxed) && beside() + bytes <= shared.memory;
        if store.successors(&mut self.hand, node, is_first, path.soon(), may_go_on, &mut self.batch).is_none() {
            return match shared.stop.load(Ordering::Acquire) {
                true => ControlFlow::Break(()),
                false => self.give_up(),
            };
        }
        match self.number {
            0 => {}
            1 => self.batch.reverse(),
            _ => self.shuffle(),
        }
        ControlFlow::Continue(())
    }

    fn shuffle(&mut self) {
        for i in (1..self.batch.len()).rev() {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            // The upper half of a product is a fair share of the numbers up to i.
            let other = ((self.random >> 32) * (i as u64 + 1)) >> 32;
            self.batch.swap(i, other as usize);
        }
    }

    /// A state of the path closes a cycle.
    fn found(&self, closes: G::Node) -> ControlFlow<()> {
        let states = |path: &Path<G::Node>| path.nodes().map(|node| self.store.state(node)).collect();
        let closes = self.store.state(closes);
        self.shared.report(Lasso::close(states(&self.path), states(&self.red_path), &closes))
    }

    fn give_up(&self) -> ControlFlow<()> {
        self.shared.is_full.store(true, Ordering::Release);
        self.shared.stop.store(true, Ordering::Release);
        ControlFlow::Break(())
    }

    fn share(&mut self) {
        let shared = self.shared;
        let counts = [&shared.blue, &shared.transitions, &shared.revisits];
        for (count, own) in counts.into_iter().zip(&mut self.counted) {
            count.fetch_add(std::mem::take(own), Ordering::Relaxed);
        }
        let own = (self.region.capacity() * size_of::<G::Node>()) as u64;
        let bytes = self.path.bytes() + self.red_path.bytes() + own;
        // In a weak automaton most states of the path are blue.
        let told = [if self.shared.weak { 0 } else { self.path.len() as u64 }, bytes];
        for ((count, old), new) in [&shared.on_paths, &shared.path_bytes].into_iter().zip(self.told).zip(told) {
            count.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
        }
        self.told = told;
    }
}
