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

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use birk_exec::{Model, Successors};
use birk_ir::{Coverage, Stop};

use super::ids::{Marks, SharedIds};
use super::lasso::Lasso;
use super::path::Path;
use super::{Chase, ended};
use crate::border::Survey;
use crate::job::{Hunt, Observer, Progress, Stats};

const BLUE: u8 = 1;
const RED: u8 = 2;
/// The observer is asked, and counts are shared, after so many expansions.
const PATIENCE: u64 = 128;

/// What all workers share.
struct Shared<'a> {
    model: &'a dyn Model,
    weak: bool,
    ids: SharedIds,
    marks: Marks,
    stop: AtomicBool,
    found: Mutex<Option<Lasso>>,
    transitions: AtomicU64,
    revisits: AtomicU64,
    path_bytes: AtomicU64,
    running: AtomicUsize,
}

/// What one worker counted.
#[derive(Default)]
struct Count {
    max_depth: u32,
    cut: u64,
    fired: Vec<bool>,
    /// Where it was stopped: what waited beside its path, and by which number.
    waiting: Vec<(u32, Vec<u32>)>,
    /// The states on its path.
    entered: Vec<u32>,
}

/// Searches with several workers.
pub(super) fn hunt(model: &dyn Model, chase: &Chase, observer: &mut dyn Observer) -> Hunt {
    let shared = Shared {
        model,
        weak: chase.weak,
        ids: SharedIds::new(model.words()),
        marks: Marks::default(),
        stop: AtomicBool::new(false),
        found: Mutex::new(None),
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
                scope.spawn(move || Worker::new(shared, seed).run())
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
        states: shared.ids.len(),
        transitions: shared.transitions.load(Ordering::Relaxed),
        revisits: shared.revisits.load(Ordering::Relaxed),
        store_bytes: shared.ids.bytes() + shared.ids.len(),
        ..Stats::default()
    };
    let mut fired = vec![false; model.transitions()];
    let (mut waiting, mut entered) = (BTreeMap::new(), HashSet::new());
    for count in counts {
        waiting.extend(count.waiting);
        entered.extend(count.entered);
        stats.max_depth = stats.max_depth.max(count.max_depth);
        stats.cut += count.cut;
        fired.iter_mut().zip(count.fired).for_each(|(all, own)| *all |= own);
    }
    let (coverage, stopped) = match (&lasso, stopped) {
        (Some(_), _) => (Coverage::Sampled(stats.states), Stop::Goal),
        (None, Some(stop)) => (Coverage::Sampled(stats.states), stop),
        (None, None) => (Coverage::Complete, Stop::Exhausted),
    };
    if !matches!(stopped, Stop::Exhausted | Stop::Goal) {
        waiting.retain(|&number, _| !shared.marks.has(number, BLUE) && !entered.contains(&number));
        let mut survey = Survey::new(model, waiting.len() as u64);
        waiting.values().for_each(|state| survey.wait(state));
        stats.border = survey.border();
    }
    Hunt { fired, ..ended(lasso.as_ref(), coverage, stopped, stats, model) }
}

impl Shared<'_> {
    fn ask(&self, chase: &Chase, observer: &mut dyn Observer) -> Option<Stop> {
        let bytes = self.ids.bytes() + self.ids.len() + self.path_bytes.load(Ordering::Relaxed);
        let progress = Progress {
            states: self.ids.len(),
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

/// A set of numbers, as bits.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn remove(&mut self, number: u32) {
        self.0[number as usize / 64] &= !(1 << (number % 64));
    }
}

struct Worker<'a, 's> {
    shared: &'a Shared<'s>,
    cyan: Bits,
    path: Path<u32>,
    red_path: Path<u32>,
    /// `R`, in order, and as a set.
    region: Vec<(u32, bool)>,
    in_region: HashSet<u32>,
    batch: Successors,
    order: Vec<usize>,
    random: u64,
    /// Not yet shared: steps, expansions of the red search.
    counted: (u64, u64),
    expansions: u64,
    bytes: u64,
    count: Count,
}

impl<'a, 's> Worker<'a, 's> {
    fn new(shared: &'a Shared<'s>, seed: u64) -> Self {
        let words = shared.model.words();
        Self {
            shared,
            cyan: Bits::default(),
            path: Path::new(words),
            red_path: Path::new(words),
            region: Vec::new(),
            in_region: HashSet::new(),
            batch: Successors::new(words),
            order: Vec::new(),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) | 1,
            counted: (0, 0),
            expansions: 0,
            bytes: 0,
            count: Count { fired: vec![false; shared.model.transitions()], ..Count::default() },
        }
    }

    fn run(mut self) -> Count {
        let mut initial = Successors::new(self.shared.model.words());
        self.shared.model.initial(&mut initial);
        for i in 0..initial.len() {
            let number = self.shared.ids.number(initial.state(i));
            if self.shared.marks.has(number, BLUE) {
                continue;
            }
            let root = self.path.root(initial.state(i), number);
            if self.blue(root).is_break() {
                break;
            }
        }
        let waiting = self.path.waiting(|_, _| true);
        self.count.waiting = waiting.into_iter().map(|state| (self.shared.ids.number(state), state.to_vec())).collect();
        self.count.entered = self.path.keys().collect();
        self.share();
        self.count.cut = self.batch.cut;
        self.shared.running.fetch_sub(1, Ordering::Release);
        self.count
    }

    fn blue(&mut self, root: usize) -> ControlFlow<()> {
        self.enter(root)?;
        while let Some(&frame) = self.path.top() {
            if let Some(place) = self.path.next() {
                let number = self.path.key(place);
                if !self.shared.marks.has(number, BLUE) && !self.cyan.contains(number) {
                    self.enter(place)?;
                }
                continue;
            }
            let number = self.path.key(frame.own);
            self.shared.marks.set(number, BLUE);
            if frame.accepting && !self.shared.weak {
                self.red(frame.own)?;
                self.await_others(number)?;
                self.region.iter().for_each(|&(member, _)| self.shared.marks.set(member, RED));
            }
            self.cyan.remove(number);
            self.path.ascend();
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, place: usize) -> ControlFlow<()> {
        let number = self.path.key(place);
        self.cyan.insert(number);
        let accepting = self.is_accepting(self.path.state(place));
        self.expand(false, place)?;
        self.path.descend(place, accepting);
        self.count.max_depth = self.count.max_depth.max(self.path.len() as u32 - 1);
        let batch = std::mem::replace(&mut self.batch, Successors::new(0));
        self.counted.0 += batch.len() as u64;
        for &i in &self.order {
            let state = batch.state(i);
            self.count.fired[batch.step(i).transition.index()] = true;
            let number = self.shared.ids.number(state);
            if self.cyan.contains(number) {
                let counts = accepting || !self.shared.weak && self.is_accepting(state);
                if counts {
                    return self.shared.report(Lasso::close(self.path.trail(), Vec::new(), state));
                }
            } else if !self.shared.marks.has(number, BLUE) {
                self.path.offer(state, number);
            }
        }
        self.batch = batch;
        ControlFlow::Continue(())
    }

    /// Collects in `region` what can be reached and is not red, and looks for a way back to the path.
    fn red(&mut self, seed: usize) -> ControlFlow<()> {
        self.region.clear();
        self.in_region.clear();
        let state = self.path.state(seed).to_vec();
        let root = self.red_path.root(&state, self.path.key(seed));
        self.enter_red(root)?;
        while self.red_path.top().is_some() {
            let Some(place) = self.red_path.next() else {
                self.red_path.ascend();
                continue;
            };
            let number = self.red_path.key(place);
            if !self.in_region.contains(&number) && !self.shared.marks.has(number, RED) {
                self.enter_red(place)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn enter_red(&mut self, place: usize) -> ControlFlow<()> {
        let number = self.red_path.key(place);
        self.in_region.insert(number);
        self.region.push((number, self.is_accepting(self.red_path.state(place))));
        self.counted.1 += 1;
        self.expand(true, place)?;
        self.red_path.descend(place, false);
        let batch = std::mem::replace(&mut self.batch, Successors::new(0));
        for &i in &self.order {
            let state = batch.state(i);
            let number = self.shared.ids.number(state);
            if self.cyan.contains(number) {
                return self.shared.report(Lasso::close(self.path.trail(), self.red_path.trail(), state));
            }
            if !self.in_region.contains(&number) && !self.shared.marks.has(number, RED) {
                self.red_path.offer(state, number);
            }
        }
        self.batch = batch;
        ControlFlow::Continue(())
    }

    /// Other workers may still be inside the region: their accepting states must be red before ours is.
    fn await_others(&self, seed: u32) -> ControlFlow<()> {
        for &(number, accepting) in &self.region {
            while accepting && number != seed && !self.shared.marks.has(number, RED) {
                if self.shared.stop.load(Ordering::Acquire) {
                    return ControlFlow::Break(());
                }
                std::thread::yield_now();
            }
        }
        ControlFlow::Continue(())
    }

    /// The successors into `batch`, and an order of this worker's own for them.
    fn expand(&mut self, red: bool, place: usize) -> ControlFlow<()> {
        if self.shared.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        self.expansions += 1;
        if self.expansions.is_multiple_of(PATIENCE) {
            self.share();
        }
        let state = if red { self.red_path.state(place) } else { self.path.state(place) };
        self.batch.clear();
        self.shared.model.successors(state, &mut self.batch);
        self.order.clear();
        self.order.extend(0..self.batch.len());
        for i in (1..self.order.len()).rev() {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.order.swap(i, (self.random >> 11) as usize % (i + 1));
        }
        ControlFlow::Continue(())
    }

    fn is_accepting(&self, state: &[u32]) -> bool {
        self.shared.model.judge(state, false).contains(0)
    }

    fn share(&mut self) {
        let (steps, revisits) = std::mem::take(&mut self.counted);
        self.shared.transitions.fetch_add(steps, Ordering::Relaxed);
        self.shared.revisits.fetch_add(revisits, Ordering::Relaxed);
        let bytes = self.path.bytes() + self.red_path.bytes() + self.cyan.0.len() as u64 * 8;
        self.shared.path_bytes.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        self.bytes = bytes;
    }
}
