//! CNDFS: several nested searches that share what they know, after Evangelista, Laarman, Petrucci and van de Pol,
//! "Improved multi-core nested depth-first search", ATVA 2012.
//!
//! ```text
//! blue(s): cyan += s
//!     for t in successors(s), in an order of its own: if t not in cyan and not blue(t): blue(t)
//!     blue(s) = true
//!     if s accepting:
//!         R = {}; red(s)
//!         wait until red(x) for every accepting x in R, x != s
//!         red(x) = true for every x in R
//!     cyan -= s
//! red(s): R += s
//!     for t in successors(s): if t in cyan: report; if t not in R and not red(t): red(t)
//! ```
//!
//! `cyan` and `R` belong to one worker, `blue` and `red` to all. Early detection is added: a cyan successor closes a
//! cycle at once if it or `s` is accepting.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use birk_exec::Model;
use birk_ir::{Coverage, Stop};

use super::graph::{Graph, Hand, Node};
use super::lasso::Lasso;
use super::path::Path;
use super::{Chase, STEPS, ended};
use crate::border::Survey;
use crate::job::{Hunt, Observer, Progress, Stats};
use crate::table::prefetch;

const BLUE: u32 = 1;
const RED: u32 = 2;
/// The observer is asked, and counts are shared, after so many expansions.
const PATIENCE: u64 = 128;

/// What all workers share.
struct Shared<'a> {
    graph: Graph<'a>,
    weak: bool,
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
    running: AtomicUsize,
}

/// What one worker counted.
struct Count {
    max_depth: u32,
    cut: u64,
    fired: Vec<bool>,
    /// Where it was stopped: what waited beside its path, and what was on it.
    waiting: Vec<Node>,
    entered: Vec<Node>,
}

/// Searches with several workers.
pub(super) fn hunt(model: &dyn Model, chase: &Chase, observer: &mut dyn Observer) -> Hunt {
    let shared = Shared {
        graph: Graph::new(model, chase.threads, chase.limits.memory / STEPS),
        weak: chase.weak,
        stop: AtomicBool::new(false),
        is_full: AtomicBool::new(false),
        found: Mutex::new(None),
        blue: AtomicU64::new(0),
        on_paths: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        revisits: AtomicU64::new(0),
        path_bytes: AtomicU64::new(0),
        running: AtomicUsize::new(chase.threads),
    };
    let mut stopped = None;
    let counts: Vec<Count> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..chase.threads)
            .map(|number| {
                let (shared, seed) = (&shared, chase.seed.wrapping_add(number as u64));
                scope.spawn(move || Worker::new(shared, number, seed).run())
            })
            .collect();
        // Workers may be done within microseconds, or in an hour: wait a little longer each time.
        let mut pause = Duration::from_micros(50);
        while shared.running.load(Ordering::Acquire) > 0 {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
            if let Some(stop) = shared.ask(chase, observer) {
                stopped.get_or_insert(stop);
                shared.stop.store(true, Ordering::Release);
            }
        }
        workers.into_iter().map(|worker| worker.join().expect("a worker does not fail")).collect()
    });
    let lasso = shared.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut stats = Stats {
        states: shared.states(),
        transitions: shared.transitions.load(Ordering::Relaxed),
        revisits: shared.revisits.load(Ordering::Relaxed),
        store_bytes: shared.graph.bytes(),
        ..Stats::default()
    };
    let mut fired = vec![false; model.transitions()];
    let (mut waiting, mut entered) = (BTreeSet::new(), BTreeSet::new());
    for count in counts {
        waiting.extend(count.waiting);
        entered.extend(count.entered);
        stats.max_depth = stats.max_depth.max(count.max_depth);
        stats.cut += count.cut;
        fired.iter_mut().zip(count.fired).for_each(|(all, own)| *all |= own);
    }
    if shared.is_full.load(Ordering::Acquire) {
        stopped.get_or_insert(Stop::Memory);
    }
    let (coverage, stopped) = match (&lasso, stopped) {
        (Some(_), _) => (Coverage::Sampled(stats.states), Stop::Goal),
        (None, Some(stop)) => (Coverage::Sampled(stats.states), stop),
        (None, None) => (Coverage::Complete, Stop::Exhausted),
    };
    if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
        waiting.retain(|node| !shared.has(*node, BLUE) && !entered.contains(node));
        let mut survey = Survey::new(model, waiting.len() as u64);
        waiting.iter().for_each(|&node| survey.wait(&shared.graph.state(node)));
        stats.border = survey.border();
    }
    Hunt { fired, ..ended(lasso.as_ref(), coverage, stopped, stats, model) }
}

impl Shared<'_> {
    /// Exact when nobody is on a path; otherwise some may be counted more than once.
    fn states(&self) -> u64 {
        self.blue.load(Ordering::Relaxed) + self.on_paths.load(Ordering::Relaxed)
    }

    /// Whether a mark was set; what its setter wrote before is seen.
    fn has(&self, node: Node, mark: u32) -> bool {
        let (cell, shift) = self.graph.colour(node);
        cell.load(Ordering::Acquire) >> shift & mark != 0
    }

    /// Sets a mark; whether it was not set before.
    fn set(&self, node: Node, mark: u32) -> bool {
        let (cell, shift) = self.graph.colour(node);
        cell.fetch_or(mark << shift, Ordering::AcqRel) >> shift & mark == 0
    }

    fn ask(&self, chase: &Chase, observer: &mut dyn Observer) -> Option<Stop> {
        let bytes = self.graph.bytes() + self.path_bytes.load(Ordering::Relaxed);
        let progress = Progress {
            states: self.states(),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: 0,
            frontier: 0,
            bytes,
        };
        match observer.progress(&progress) {
            ControlFlow::Break(stop) => Some(stop),
            _ if bytes > chase.limits.memory => Some(Stop::Memory),
            _ if progress.states > chase.limits.states => Some(Stop::States),
            _ => None,
        }
    }

    fn report(&self, lasso: Lasso) -> ControlFlow<()> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lasso);
        self.stop.store(true, Ordering::Release);
        ControlFlow::Break(())
    }
}

/// A set of nodes, as bits.
struct Nodes {
    places: usize,
    bits: Vec<u64>,
}

impl Nodes {
    fn at(&self, node: Node) -> (usize, u32) {
        let place = node.number as usize * self.places + node.place as usize;
        (place / 64, (place % 64) as u32)
    }

    fn contains(&self, node: Node) -> bool {
        let (word, bit) = self.at(node);
        self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Asks for the place of a node, to have it when it is needed.
    fn announce(&self, node: Node) {
        if let Some(word) = self.bits.get(self.at(node).0) {
            prefetch(word);
        }
    }

    fn insert(&mut self, node: Node) {
        let (word, bit) = self.at(node);
        if self.bits.len() <= word {
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        self.bits[word] |= 1 << bit;
    }

    fn remove(&mut self, node: Node) {
        let (word, bit) = self.at(node);
        self.bits[word] &= !(1 << bit);
    }
}

struct Worker<'a, 's> {
    shared: &'a Shared<'s>,
    number: usize,
    hand: Hand,
    cyan: Nodes,
    path: Path<Node>,
    red_path: Path<Node>,
    /// `R`, in order, and as a set.
    region: Vec<Node>,
    in_region: Nodes,
    batch: Vec<Node>,
    random: u64,
    /// Not yet shared: blue states, steps, expansions of the red search.
    counted: [u64; 3],
    expansions: u64,
    /// Shared: the length of the path, and bytes.
    told: [u64; 2],
    max_depth: u32,
}

impl<'a, 's> Worker<'a, 's> {
    fn new(shared: &'a Shared<'s>, number: usize, seed: u64) -> Self {
        let nodes = || Nodes { places: shared.graph.places(), bits: Vec::new() };
        Self {
            shared,
            number,
            hand: shared.graph.hand(number),
            cyan: nodes(),
            path: Path::new(),
            red_path: Path::new(),
            region: Vec::new(),
            in_region: nodes(),
            batch: Vec::new(),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) | 1,
            counted: [0; 3],
            expansions: 0,
            told: [0; 2],
            max_depth: 0,
        }
    }

    fn run(mut self) -> Count {
        let ended = self.search();
        self.share();
        // Those who did not come to an end are still on their paths.
        if ended.is_continue() {
            assert_eq!(self.told[0], 0, "a path that was searched is empty");
        }
        self.shared.running.fetch_sub(1, Ordering::Release);
        Count {
            max_depth: self.max_depth,
            cut: self.hand.cut(),
            waiting: self.path.waiting().collect(),
            entered: self.path.nodes().collect(),
            fired: self.hand.fired,
        }
    }

    fn search(&mut self) -> ControlFlow<()> {
        let Some(initial) = self.shared.graph.initial(&mut self.hand) else { return self.give_up() };
        for i in 0..initial.len() {
            if !self.shared.has(initial[i], BLUE) && self.blue(initial[i]).is_break() {
                initial[i + 1..].iter().for_each(|&node| self.path.offer(node));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn blue(&mut self, root: Node) -> ControlFlow<()> {
        self.enter(root)?;
        while let Some(&frame) = self.path.top() {
            if let Some(node) = self.path.next() {
                if !self.shared.has(node, BLUE) && !self.cyan.contains(node) {
                    self.enter(node)?;
                }
                continue;
            }
            self.counted[0] += u64::from(self.shared.set(frame.node, BLUE));
            if frame.accepting && !self.shared.weak {
                self.red(frame.node)?;
                self.await_others(frame.node)?;
                for &member in &self.region {
                    self.shared.set(member, RED);
                }
            }
            self.cyan.remove(frame.node);
            self.path.ascend();
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, node: Node) -> ControlFlow<()> {
        if self.is_over() {
            self.path.offer(node);
            return ControlFlow::Break(());
        }
        self.cyan.insert(node);
        let accepting = self.shared.graph.is_accepting(node);
        self.path.descend(node, accepting, 0);
        self.max_depth = self.max_depth.max(self.path.len() as u32 - 1);
        self.expand(node, false)?;
        self.counted[1] += self.batch.len() as u64;
        for i in 0..self.batch.len() {
            let node = self.batch[i];
            // What another worker is done with may be on this one's path. Where there is a red search, it will see that.
            if !self.shared.weak && self.shared.has(node, BLUE) {
                continue;
            }
            if self.cyan.contains(node) {
                if accepting || !self.shared.weak && self.shared.graph.is_accepting(node) {
                    return self.found(node);
                }
            } else if !self.shared.weak || !self.shared.has(node, BLUE) {
                self.shared.graph.announce(node);
                self.path.offer(node);
            }
        }
        ControlFlow::Continue(())
    }

    /// Collects in `region` what can be reached and is not red, and looks for a way back to the path.
    fn red(&mut self, seed: Node) -> ControlFlow<()> {
        for &member in &self.region {
            self.in_region.remove(member);
        }
        self.region.clear();
        self.enter_red(seed)?;
        while self.red_path.top().is_some() {
            match self.red_path.next() {
                None => _ = self.red_path.ascend(),
                Some(node) => {
                    if !self.in_region.contains(node) && !self.shared.has(node, RED) {
                        self.enter_red(node)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_red(&mut self, node: Node) -> ControlFlow<()> {
        if self.is_over() {
            return ControlFlow::Break(());
        }
        self.in_region.insert(node);
        self.region.push(node);
        self.counted[2] += 1;
        self.red_path.descend(node, false, 0);
        self.expand(node, true)?;
        for i in 0..self.batch.len() {
            let node = self.batch[i];
            if self.cyan.contains(node) {
                return self.found(node);
            }
            if !self.in_region.contains(node) && !self.shared.has(node, RED) {
                self.red_path.offer(node);
            }
        }
        ControlFlow::Continue(())
    }

    /// Other workers may still be inside the region: their accepting states must be red before ours is.
    fn await_others(&self, seed: Node) -> ControlFlow<()> {
        for &member in self.region.iter().filter(|&&member| member != seed && self.shared.graph.is_accepting(member)) {
            while !self.shared.has(member, RED) {
                if self.shared.stop.load(Ordering::Acquire) {
                    return ControlFlow::Break(());
                }
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
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// The successors into `batch`, in an order of this worker's own: the first one takes that of the model, the second
    /// its reverse, so that they meet late.
    fn expand(&mut self, node: Node, red: bool) -> ControlFlow<()> {
        // The red search meets states that were expanded before.
        let soon = self.path.soon().take(if red { 0 } else { usize::MAX });
        if self.shared.graph.successors(&mut self.hand, node, soon, &mut self.batch).is_none() {
            return self.give_up();
        }
        self.batch.iter().for_each(|&node| self.cyan.announce(node));
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
    fn found(&self, closes: Node) -> ControlFlow<()> {
        let states = |path: &Path<Node>| path.nodes().map(|node| self.shared.graph.state(node)).collect();
        let closes = self.shared.graph.state(closes);
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
        let own = ((self.cyan.bits.len() + self.in_region.bits.len()) * 8 + self.region.capacity() * 8) as u64;
        let bytes = self.path.bytes() + self.red_path.bytes() + own;
        let told = [self.path.len() as u64, bytes];
        for ((count, old), new) in [&shared.on_paths, &shared.path_bytes].into_iter().zip(self.told).zip(told) {
            count.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
        }
        self.told = told;
    }
}
