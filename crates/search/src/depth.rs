//! Depth-first search to depth bounds that grow, with thresholds.
//!
//! A bound is searched depth-first from the frontier of the bound before it; the states met at the bound are the next
//! frontier. A state may first be met on a detour, too deep to see all that is within the bound from it. So it has a
//! *threshold*: it is explored again when it is met at a depth below that, and not otherwise. While a state is on the
//! stack its threshold is the depth it is explored at. Afterwards it is what its successors ask for: one less than the
//! largest of their thresholds, where a state of the frontier asks for the bound; a state from which nothing leads to the
//! frontier is never explored again.
//!
//! When a bound is completed the states visited are exactly those within it, and the frontier is exactly those at it.
//! Why: thresholds only fall, so for each explored state and each of its successors either the successor's threshold is at
//! most one more, or the successor was left to the frontier; by induction on the distance nothing is missed. States before
//! the frontier are never entered again, for all later depths are above their thresholds. Each exploration of a state
//! lowers its threshold, so the search ends.
//!
//! States of the frontier have no threshold until they are explored: with one, the next bound would not start at them.

use std::ops::ControlFlow;

use birk_exec::{GoalSet, Model, Successors};
use birk_ir::{Coverage, Outcome, StateId, Stop};

use crate::border::{Border, Survey};
use crate::exact::ExactStore;
use crate::job::{Hunt, Job, Observer, Progress, Stats};
use crate::store::Store;
use crate::trace;

/// Steps from one bound to the next, unless told otherwise. On graphs of seven shapes with 20,000 states, successors were
/// computed 1.1 to 2.8 times for each state with 10, 1.1 to 8.6 times with 20, 1.0 to 26 times with 50, and twice with 1.
pub const INCREMENT: u32 = 10;

/// Instead of a threshold: not visited yet.
const UNSEEN: u32 = u32::MAX;
/// Instead of a threshold: visited at the bound, and waiting in the next frontier.
const WAITING: u32 = u32::MAX - 1;
/// The observer hears of the search every so many computations of successors.
const PATIENCE: u64 = 64;

/// Searches bound by bound until the frontier is empty, a limit is met, or a goal is found at which the search ends.
pub fn depth_bounded(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> Hunt {
    with_frontier(model, job, observer).0
}

/// The same, with the states at the last bound that was completed.
pub fn with_frontier(model: &dyn Model, job: &Job, observer: &mut dyn Observer) -> (Hunt, Vec<Vec<u32>>) {
    let words = model.words();
    let mut search = Search {
        model,
        job,
        observer,
        store: ExactStore::new(words),
        thresholds: Vec::new(),
        frontier: Vec::new(),
        out: Vec::new(),
        stack: Vec::new(),
        children: Vec::new(),
        batch: Successors::new(words),
        state: vec![0; words],
        found: vec![None; job.goals],
        covered: None,
        root_depth: 0,
        roots_left: 0,
        entering: None,
        computed: 0,
        stats: Stats::default(),
        fired: vec![false; model.transitions()],
    };
    let stopped = match search.run() {
        ControlFlow::Break(stop) => stop,
        ControlFlow::Continue(Ending::Closed) => Stop::Exhausted,
        ControlFlow::Continue(Ending::Open) => Stop::Depth,
    };
    search.finish(stopped)
}

/// A state on the stack; its depth is that of the root and its position.
struct Frame {
    state: u32,
    /// Where its children begin among those of the stack, and which is next.
    children: usize,
    next: usize,
    /// One more than its threshold, as its children so far ask for.
    asked: u32,
}

/// Whether the last frontier has successors beyond it.
enum Ending {
    Closed,
    Open,
}

struct Search<'a> {
    model: &'a dyn Model,
    job: &'a Job,
    observer: &'a mut dyn Observer,
    store: ExactStore,
    /// One more than each state's threshold (0: never explore again), or one of the marks above.
    thresholds: Vec<u32>,
    frontier: Vec<u32>,
    /// The next frontier in the order of its discovery; what is no longer `WAITING` was reached on a shorter path.
    out: Vec<u32>,
    stack: Vec<Frame>,
    /// The successors of the states on the stack.
    children: Vec<u32>,
    batch: Successors,
    state: Vec<u32>,
    /// The first state found for each goal.
    found: Vec<Option<StateId>>,
    /// The last bound that was completed.
    covered: Option<u32>,
    /// Depth of the frontier that is being explored.
    root_depth: u32,
    /// How many of its states were not begun with.
    roots_left: usize,
    /// The state whose successors are computed, until it is on the stack.
    entering: Option<u32>,
    /// How often successors were computed.
    computed: u64,
    stats: Stats,
    fired: Vec<bool>,
}

impl Search<'_> {
    fn run(&mut self) -> ControlFlow<Stop, Ending> {
        let cutoff = self.job.limits.depth;
        self.begin()?;
        self.covered = Some(0);
        self.stats.bounds.push((0, self.stats.states));
        while self.root_depth < cutoff && !self.frontier.is_empty() {
            let bound = self.root_depth.saturating_add(self.job.limits.increment.max(1)).min(cutoff);
            // First all of them: whoever meets one of the others need not look behind it.
            for &root in &self.frontier {
                self.thresholds[root as usize] = self.root_depth + 1;
            }
            for root in 0..self.frontier.len() {
                self.roots_left = self.frontier.len() - root - 1;
                self.explore(self.frontier[root], bound)?;
            }
            self.out.retain(|&state| self.thresholds[state as usize] == WAITING);
            self.frontier = std::mem::take(&mut self.out);
            self.root_depth = bound;
            self.covered = Some(bound);
            self.stats.bounds.push((bound, self.stats.states));
        }
        self.roots_left = self.frontier.len();
        self.close()
    }

    /// The initial states are the first frontier.
    fn begin(&mut self) -> ControlFlow<Stop> {
        self.model.initial(&mut self.batch);
        self.stats.cut = self.batch.cut;
        self.number_batch(None)?;
        for initial in std::mem::take(&mut self.children) {
            if self.thresholds[initial as usize] == UNSEEN {
                self.wait(initial, 0)?;
            }
        }
        self.frontier = std::mem::take(&mut self.out);
        ControlFlow::Continue(())
    }

    /// Explores what is within the bound from a state of the frontier.
    fn explore(&mut self, root: u32, bound: u32) -> ControlFlow<Stop> {
        self.entering = Some(root);
        self.expand(root)?;
        self.push(root)?;
        while let Some(top) = self.stack.last_mut() {
            let Some(&child) = self.children.get(top.next) else {
                self.pop();
                continue;
            };
            top.next += 1;
            if child == top.state {
                continue;
            }
            let parent = top.state;
            let threshold = self.thresholds[child as usize];
            if threshold < WAITING && self.root_depth + self.stack.len() as u32 + 1 >= threshold {
                self.ask(threshold.saturating_sub(1));
                continue;
            }
            let depth = self.root_depth + self.stack.len() as u32;
            if depth == bound {
                self.ask(bound);
                if threshold == UNSEEN {
                    self.store.set_parent(child, parent);
                    self.wait(child, depth)?;
                }
                continue;
            }
            self.store.set_parent(child, parent);
            self.thresholds[child as usize] = depth + 1;
            self.entering = Some(child);
            match threshold {
                UNSEEN => self.visit(child, depth)?,
                WAITING => self.expand(child)?,
                _ => {
                    self.stats.revisits += 1;
                    self.expand(child)?;
                }
            }
            self.push(child)?;
        }
        ControlFlow::Continue(())
    }

    /// A child of the state on top wants it to be explored again below some depth.
    fn ask(&mut self, threshold: u32) {
        if let Some(top) = self.stack.last_mut() {
            top.asked = top.asked.max(threshold);
        }
    }

    /// Puts a state on the stack whose successors were computed.
    fn push(&mut self, state: u32) -> ControlFlow<Stop> {
        let children = self.children.len();
        self.number_batch(Some(state))?;
        for step in self.batch.steps(0) {
            self.fired[step.transition.index()] = true;
        }
        self.stack.push(Frame { state, children, next: children, asked: 0 });
        self.entering = None;
        ControlFlow::Continue(())
    }

    /// All children of the state on top were looked at: now its threshold is known.
    fn pop(&mut self) {
        let Some(top) = self.stack.pop() else { return };
        self.children.truncate(top.children);
        self.thresholds[top.state as usize] = top.asked;
        self.ask(top.asked.saturating_sub(1));
    }

    /// Visits a state at the bound, and leaves it to the next frontier.
    fn wait(&mut self, state: u32, depth: u32) -> ControlFlow<Stop> {
        self.thresholds[state as usize] = WAITING;
        self.out.push(state);
        self.visit(state, depth)
    }

    /// Computes a state's successors for the first time, and judges it: only now is it known whether it is stuck.
    fn visit(&mut self, state: u32, depth: u32) -> ControlFlow<Stop> {
        let cut = self.batch.cut;
        self.expand(state)?;
        let cut = self.batch.cut - cut;
        self.stats.cut += cut;
        self.stats.transitions += self.batch.len() as u64;
        self.stats.peak_frontier = self.stats.peak_frontier.max(self.waiting());
        if !self.model.is_fault(&self.state) {
            self.stats.states += 1;
            self.stats.max_depth = self.stats.max_depth.max(depth);
        }
        let goals = self.model.judge(&self.state, self.batch.is_empty() && cut == 0);
        if !goals.is_empty() {
            self.judge(goals, state)?;
        }
        let full = self.stats.states > self.job.limits.states;
        if full { ControlFlow::Break(Stop::States) } else { ControlFlow::Continue(()) }
    }

    /// Records the goals that are new; ends the search at those it was told to end at.
    fn judge(&mut self, goals: GoalSet, state: u32) -> ControlFlow<Stop> {
        let mut ends = false;
        for goal in goals.iter().filter(|&goal| goal < self.job.goals) {
            if self.found[goal].is_none() {
                self.found[goal] = Some(StateId(u64::from(state)));
                ends |= self.job.stop_at.contains(goal);
            }
        }
        let all = !self.job.keep_going && self.found.iter().all(Option::is_some);
        if ends || all { ControlFlow::Break(Stop::Goal) } else { ControlFlow::Continue(()) }
    }

    /// Computes a state's successors into the batch.
    fn expand(&mut self, state: u32) -> ControlFlow<Stop> {
        if self.computed.is_multiple_of(PATIENCE) && self.stats.states > 0 {
            self.observer.progress(&Progress {
                states: self.stats.states,
                transitions: self.stats.transitions,
                depth: self.root_depth + self.stack.len() as u32,
                frontier: self.waiting(),
                bytes: self.store.bytes() + self.bytes(),
            })?;
        }
        self.computed += 1;
        self.store.load(StateId(u64::from(state)), &mut self.state);
        self.batch.clear();
        self.model.successors(&self.state, &mut self.batch);
        ControlFlow::Continue(())
    }

    /// Appends the numbers of the states in the batch to the children; those of new states are given here.
    fn number_batch(&mut self, parent: Option<u32>) -> ControlFlow<Stop> {
        let budget = self.job.limits.counted_memory().saturating_sub(self.bytes());
        if !self.store.reserve(self.batch.len(), budget) {
            return ControlFlow::Break(Stop::Memory);
        }
        for i in 0..self.batch.len() {
            self.children.push(self.store.number(self.batch.state(i), parent));
        }
        self.thresholds.resize(self.store.len() as usize, UNSEEN);
        ControlFlow::Continue(())
    }

    /// The search is complete if no successor of the last frontier is new, although it lies beyond the bound.
    fn close(&mut self) -> ControlFlow<Stop, Ending> {
        let mut border = Border::new(self.model.transitions());
        for waiting in 0..self.frontier.len() {
            self.expand(self.frontier[waiting])?;
            border.edge(&self.batch, 0, &mut self.fired, |state| self.store.contains(state));
        }
        let is_open = border.is_open();
        self.stats.border = border;
        ControlFlow::Continue(if is_open { Ending::Open } else { Ending::Closed })
    }

    /// What waits when the search is ended early: the rest of the frontier, what was met at the next bound, and what was
    /// not visited yet.
    fn cut(&mut self) -> Border {
        let roots = &self.frontier[self.frontier.len() - self.roots_left..];
        let is_open = |&state: &u32| matches!(self.thresholds[state as usize], UNSEEN | WAITING);
        let open = (0..self.thresholds.len() as u32).filter(is_open);
        let mut waiting: Vec<u32> = roots.iter().copied().chain(self.entering).chain(open).collect();
        waiting.sort_unstable();
        waiting.dedup();
        let mut survey = Survey::new(self.model, waiting.len() as u64);
        for state in waiting {
            if survey.counts() {
                self.store.load(StateId(u64::from(state)), &mut self.state);
                survey.look(&self.state);
            }
        }
        survey.border()
    }

    fn waiting(&self) -> u64 {
        (self.frontier.len() + self.out.len()) as u64
    }

    /// Bytes of what is kept beside the store.
    fn bytes(&self) -> u64 {
        let numbers = [&self.thresholds, &self.frontier, &self.out, &self.children];
        let numbers: usize = numbers.iter().map(|numbers| numbers.capacity() * size_of::<u32>()).sum();
        (numbers + self.stack.capacity() * size_of::<Frame>()) as u64
    }

    fn finish(mut self, stopped: Stop) -> (Hunt, Vec<Vec<u32>>) {
        self.stats.store_bytes = self.store.bytes() + self.thresholds.capacity() as u64 * 4;
        if !matches!(stopped, Stop::Exhausted | Stop::Depth | Stop::Goal) {
            self.stats.border = self.cut();
        }
        let coverage = match (stopped, self.covered) {
            (Stop::Exhausted, _) => Coverage::Complete,
            (_, Some(bound)) => Coverage::Depth(bound),
            (_, None) => Coverage::Sampled(self.stats.states),
        };
        let absent = if coverage == Coverage::Complete { Outcome::Absent } else { Outcome::Inconclusive };
        let outcome = |id: &Option<StateId>| match *id {
            Some(id) => Outcome::Found(trace::rebuild(self.model, &self.store, id)),
            None => absent.clone(),
        };
        let outcomes = self.found.iter().map(outcome).collect();
        let state = |&number: &u32| {
            let mut state = vec![0; self.model.words()];
            self.store.load(StateId(u64::from(number)), &mut state);
            state
        };
        let frontier = self.frontier.iter().map(state).collect();
        (Hunt { outcomes, coverage, stopped, stats: self.stats, fired: self.fired }, frontier)
    }
}
