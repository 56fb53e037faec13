//! Distributed breadth-first search, as one worker takes part in it (Stern and Dill, "Parallelizing the Murphi verifier", 1997, with
//! levels): a hash says which worker owns a state, successors travel to their owners in blocks, and a level is expanded when it is
//! complete everywhere. [`Worker::search`] is the loop.

mod begin;
mod exchange;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use birk_engine::{GoalSet, Observer, Progress, Successors};
use birk_ir::Stop;
use birk_runs::sort_unique;
use birk_search::levels::file::{LevelFile, Place};
use birk_search::levels::limits::{Flow, Halt, told};
use birk_search::partition::{Full, Partition, partition};

use crate::block::{Block, Kind};
use crate::coordinator::Coordinator;
use crate::fabric::Fabric;
use crate::manifest::Restored;
use crate::owner::{hash, owner, owner_by};
use crate::protocol::{Decision, Exchanged, Over, Predecessors, Report, bits, read, written};
use crate::recent::Recent;
use crate::shared::Shared;

/// States that are expanded before blocks are received.
const CHUNK: usize = 128;
/// Keys that are looked for together among the recent ones.
const GROUP: usize = 64;
/// Keys of its own that a worker collects before it looks them up.
const OWN: usize = 512;
/// How long a worker without work waits before it looks around.
const PATIENCE: Duration = Duration::from_millis(20);

/// All workers are called back: one has panicked.
#[derive(Debug)]
pub(crate) struct CalledBack;

pub(crate) type Turn<T> = Result<T, CalledBack>;

/// One worker. It has a visited set of the states that it owns. It expands those of the level, collects their successors in a block for
/// each owner, and sends a block when it is full; what it receives, it adds to its visited set, and what is new there is its part of the
/// next level.
///
/// 1. *Gather.* When the fabric says that nothing more arrives at a level, the worker sorts its part, writes it to its level file, and
///    reports to the first worker, which checks that no key was lost, and decides. No worker expands a state before that.
/// 2. *Expand.* Goals are evaluated as in `bfs`. A block costs one credit for its receiver, who returns credit when it has taken
///    blocks; a worker without credit expands nothing, but it always receives. So nobody waits in a circle, and what waits anywhere is
///    bounded by the credit. (`models/level_exchange.bir` is this protocol.)
/// 3. *Advance.* When its part is expanded and all blocks are sent, the worker goes on to the next level.
///
/// A level is complete before the next is opened, so a state that is not in the visited set of its owner when its key arrives has the
/// depth of the level that is being gathered: depths, counts and verdicts do not depend on the number of workers, nor on the order in
/// which blocks arrive. A limit or an interrupt at one worker makes all of them cease to expand; the level is then not evaluated, and
/// the coverage says so.
pub(crate) struct Worker<'a, 'o, F: Fabric> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) fabric: F,
    observer: Option<&'o mut dyn Observer>,
    /// The first worker decides.
    coordinator: Option<Coordinator<'a>>,
    decision: Option<Decision>,
    visited: Box<dyn Partition>,
    /// Its parts of the levels, from the one on with which it has begun; those before are in the files of others.
    pub(crate) file: Option<LevelFile>,
    pub(crate) restored: Option<Box<Restored>>,
    /// The level that is gathered, expanded or decided on, and the one at which keys arrive.
    level: u32,
    arriving: u32,
    /// Its states that this worker owns, sorted, and those of the next level as they come.
    here: Vec<u64>,
    next: Vec<u64>,
    /// How many of the next level are no results of failing checks.
    next_states: u64,
    /// Keys on their way to their owners, and which step of which state each comes from, where that is asked about.
    out: Vec<Vec<u64>>,
    out_steps: Vec<Vec<Step>>,
    asked: Vec<VecDeque<Step>>,
    recent: Recent,
    /// Blocks that may be sent to each worker, and blocks taken from each for which no credit was returned.
    credit: Vec<i64>,
    owed: Vec<u64>,
    /// How many blocks are compressed yet for each worker for whose credit this one has waited; what it has sent to all.
    short: Vec<u32>,
    exchanged: Exchanged,
    sent: Vec<u64>,
    received: Vec<u64>,
    goals: GoalSet,
    found: Vec<Option<Vec<u32>>>,
    fired: Vec<bool>,
    transitions: u64,
    /// Beyond the depth limit: whether a state has an open step, and open steps of each transition.
    is_open: Vec<bool>,
    open: Vec<u64>,
    waiting: u64,
    halted: Option<Stop>,
    is_ceasing: bool,
    batch: Successors,
    packed: Vec<u64>,
    hashes: Vec<u64>,
    state: Vec<u32>,
    /// What the first worker hears of traces, and what all hear from it.
    pub(crate) predecessors: Vec<Option<Predecessors>>,
    pub(crate) path: Option<Predecessors>,
}

/// A step at the depth limit: the place of its state in the level, and its transition.
#[derive(Clone, Copy)]
struct Step {
    place: u32,
    transition: u32,
}

impl<'a, 'o, F: Fabric> Worker<'a, 'o, F> {
    pub(crate) fn new(shared: &'a Shared<'a>, fabric: F, observer: Option<&'o mut dyn Observer>) -> Self {
        let (index, workers) = (fabric.index(), fabric.workers());
        let (model, job) = (shared.model, shared.job);
        Self {
            coordinator: (index == 0).then(|| Coordinator::new(job, workers, model.transitions())),
            decision: None,
            visited: partition(model, job),
            file: None,
            restored: None,
            level: 0,
            arriving: 0,
            here: Vec::new(),
            next: Vec::new(),
            next_states: 0,
            out: vec![Vec::new(); workers],
            out_steps: vec![Vec::new(); workers],
            asked: vec![VecDeque::new(); workers],
            recent: Recent::new(shared.keys.words(), shared.setting.recent.min(shared.memory / 32)),
            credit: vec![i64::from(shared.setting.window); workers],
            owed: vec![0; workers],
            short: vec![0; workers],
            exchanged: Exchanged::default(),
            sent: vec![0; workers],
            received: vec![0; workers],
            goals: GoalSet::default(),
            found: vec![None; job.goals],
            fired: vec![false; model.transitions()],
            transitions: 0,
            is_open: Vec::new(),
            open: vec![0; model.transitions()],
            waiting: 0,
            halted: None,
            is_ceasing: false,
            batch: Successors::in_parts(model.words()),
            packed: Vec::new(),
            hashes: Vec::new(),
            state: vec![0; model.words()],
            predecessors: vec![None; workers],
            path: None,
            shared,
            fabric,
            observer,
        }
    }

    /// Searches level by level, together with all others, until it is decided that the search is over.
    pub(crate) fn search(&mut self) -> Turn<Over> {
        self.introduce();
        loop {
            match self.decided()? {
                Decision::Over(over) => return Ok(*over),
                Decision::Begin { start, restored } => self.begin(start, restored)?,
                Decision::Go { goals } => {
                    self.goals = GoalSet(goals);
                    self.tell_level();
                    self.expand()?;
                    self.level += 1;
                    self.fabric.advance();
                }
            }
            while !self.fabric.is_complete(self.level) {
                self.turn(PATIENCE)?;
            }
            self.report();
        }
    }

    // ---- Gather

    /// Adds keys of states that this worker owns; those that are new are of the level that is being gathered.
    fn add(&mut self, keys: &[u64]) {
        let (shared, next) = (self.shared, &mut self.next);
        let words = shared.keys.words();
        debug_assert!(keys.chunks_exact(words).all(|key| owner(key, self.fabric.workers()) == self.fabric.index()));
        let before = next.len();
        let lists = (self.here.capacity() + next.capacity()) as u64 * 8 + self.recent.bytes();
        let budget = shared.memory.saturating_sub(lists + shared.vault.memory());
        let inserted = self.visited.insert(keys, self.arriving, budget, next);
        for key in next[before..].chunks_exact(words) {
            shared.keys.unpack(key, &mut self.state);
            self.next_states += u64::from(!shared.model.is_fault(&self.state));
        }
        if inserted == Err(Full) {
            self.halt(Stop::Memory);
        }
    }

    /// Those of some keys of its own that neither came nor were made a moment ago.
    fn news<'k>(&mut self, keys: &'k [u64]) -> Cow<'k, [u64]> {
        if self.recent.is_empty() {
            return Cow::Borrowed(keys);
        }
        let (mut news, words) = (Vec::new(), self.shared.keys.words());
        for group in keys.chunks(GROUP * words) {
            self.hashes.clear();
            self.hashes.extend(group.chunks_exact(words).map(hash));
            self.recent.prefetch(&self.hashes);
            for (key, &hash) in group.chunks_exact(words).zip(&self.hashes) {
                if !self.recent.knows(hash, key) {
                    news.extend_from_slice(key);
                }
            }
        }
        Cow::Owned(news)
    }

    /// The level is complete here: sorts it, writes it to its file, and tells the first worker how it stands.
    fn report(&mut self) {
        self.here = std::mem::take(&mut self.next);
        let words = self.shared.keys.words();
        sort_unique(&mut self.here, words, &mut || true);
        let part = self.write_level().unwrap_or_else(|halt| {
            self.fail(halt);
            Place::default()
        });
        let report = Report {
            level: self.level,
            keys: (self.here.len() / words) as u64,
            states: std::mem::take(&mut self.next_states),
            sent: std::mem::replace(&mut self.sent, vec![0; self.fabric.workers()]),
            received: std::mem::replace(&mut self.received, vec![0; self.fabric.workers()]),
            transitions: self.transitions,
            cut: self.batch.cut,
            found: std::mem::replace(&mut self.found, vec![None; self.shared.job.goals]),
            fired: bits(&self.fired),
            waiting: self.waiting,
            edge: (self.is_open.iter().filter(|is_open| **is_open).count() as u64, self.open.clone()),
            bytes: self.visited.bytes() + self.recent.bytes() + (self.here.capacity() * 8) as u64,
            exchanged: self.exchanged,
            part,
            halted: self.halted.map(Into::into),
        };
        self.arriving = self.level + 1;
        self.fabric.send(Block::new(0, Kind::Report, written(&report)));
    }

    fn write_level(&mut self) -> Flow<Place> {
        // Where there is none, the reason was told.
        let Some(file) = &mut self.file else { return Ok(Place::default()) };
        let mut writer = file.begin(self.shared.keys.words(), &self.shared.sizes)?;
        writer.push(&self.here)?;
        let (_, place) = file.finish(writer)?;
        file.add(place);
        Ok(place)
    }

    /// Waits until it is decided how to go on.
    fn decided(&mut self) -> Turn<Decision> {
        loop {
            if let Some(decision) = self.decision.take() {
                return Ok(decision);
            }
            self.turn(PATIENCE)?;
        }
    }

    // ---- Expand

    /// Expands the states of the level, evaluates them, and sends their successors to their owners.
    fn expand(&mut self) -> Turn<()> {
        let words = self.shared.keys.words();
        let here = std::mem::take(&mut self.here);
        self.is_open = if self.is_at_limit() { vec![false; here.len() / words] } else { Vec::new() };
        for (number, chunk) in here.chunks(CHUNK * words).enumerate() {
            self.await_credit()?;
            if self.is_ceasing {
                self.waiting += ((here.len() - number * CHUNK * words) / words) as u64;
                break;
            }
            for (place, key) in (number * CHUNK..).zip(chunk.chunks_exact(words)) {
                self.expand_one(key, place)?;
            }
            self.turn(Duration::ZERO)?;
        }
        for to in 0..self.out.len() {
            self.send(to);
        }
        while self.asked.iter().any(|asked| !asked.is_empty()) {
            self.turn(PATIENCE)?;
        }
        Ok(())
    }

    /// Expands one state; very many successors come in parts, between which the worker waits for credit.
    fn expand_one(&mut self, key: &[u64], place: usize) -> Turn<()> {
        let Self { shared, batch, state, .. } = self;
        shared.keys.unpack(key, state);
        batch.clear();
        let cut = batch.cut;
        shared.model.successors(state, batch);
        let is_stuck = batch.is_stuck_since(0, cut);
        let goals = shared.model.evaluate(state, is_stuck);
        for goal in goals.iter().filter(|&goal| goal < shared.job.goals && !self.goals.contains(goal)) {
            let smallest = &mut self.found[goal];
            if smallest.as_ref().is_none_or(|other| *state < *other) {
                *smallest = Some(state.clone());
            }
        }
        self.route(key, place);
        while self.batch.has_rest() {
            self.await_credit()?;
            if self.is_ceasing {
                let _ = self.batch.take_rest();
                self.waiting += 1;
                break;
            }
            // Whatever has arrived meanwhile was unpacked to the same place.
            self.shared.keys.unpack(key, &mut self.state);
            self.batch.clear();
            self.shared.model.successors(&self.state, &mut self.batch);
            self.route(key, place);
        }
        Ok(())
    }

    /// Puts the successors of the batch, which are those of the state with this key, into the blocks of their owners.
    fn route(&mut self, key: &[u64], place: usize) {
        let (shared, workers, own) = (self.shared, self.fabric.workers(), self.fabric.index());
        let words = shared.keys.words();
        let is_at_limit = self.is_at_limit();
        self.transitions += self.batch.len() as u64;
        if !is_at_limit {
            self.batch.steps(0).iter().for_each(|step| self.fired[step.transition.index()] = true);
        }
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        shared.keys.pack_successors((key, &self.state), &self.batch, &mut packed);
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(packed.chunks_exact(words).map(hash));
        self.recent.prefetch(&hashes);
        for (at, (key, &hash)) in packed.chunks_exact(words).zip(&hashes).enumerate() {
            if !is_at_limit && self.recent.knows(hash, key) {
                continue;
            }
            let to = owner_by(hash, workers);
            self.out[to].extend_from_slice(key);
            if is_at_limit {
                let transition = self.batch.step(at).transition.index() as u32;
                self.out_steps[to].push(Step { place: place as u32, transition });
            }
            let most = if to == own { OWN } else { shared.setting.block };
            if self.out[to].len() >= most * words {
                self.send(to);
            }
        }
        (self.packed, self.hashes) = (packed, hashes);
    }

    // ---- At the depth limit

    /// Whether states of this level are evaluated, and their successors only looked up.
    fn is_at_limit(&self) -> bool {
        self.level >= self.shared.job.limits.depth
    }

    /// How many keys, and for each a bit that says whether it was visited.
    fn known(&mut self, keys: &[u64]) -> Vec<u64> {
        let mut known = Vec::new();
        self.visited.has(keys, &mut known);
        std::iter::once(known.len() as u64).chain(bits(&known)).collect()
    }

    /// Hears which of the keys that it asked about were visited: a step to another state is open.
    fn learn(&mut self, from: usize, known: &[u64]) {
        let (count, known) = known.split_first().expect("an answer has a length");
        for at in 0..*count as usize {
            let step = self.asked[from].pop_front().expect("there is an answer to what was asked");
            if crate::protocol::bit(known, at) {
                self.fired[step.transition as usize] = true;
            } else {
                self.open[step.transition as usize] += 1;
                self.is_open[step.place as usize] = true;
            }
        }
    }

    // ---- Receive

    /// Receives everything that has arrived, and lets blocks travel.
    pub(crate) fn turn(&mut self, patience: Duration) -> Turn<()> {
        while let Some((level, block)) = self.fabric.receive() {
            self.take(level, &block);
        }
        self.fabric.step(patience);
        self.ask();
        if self.shared.is_called_back() { Err(CalledBack) } else { Ok(()) }
    }

    fn take(&mut self, level: u32, block: &Block) {
        let from = block.from as usize;
        match block.kind {
            Kind::Keys => self.take_keys(level, from, &block.words),
            Kind::Packed => self.take_keys(level, from, &self.unpacked(block)),
            Kind::Ask => {
                let known = self.known(&block.words);
                self.fabric.send(Block::new(from, Kind::Known, known));
                self.return_credit(from);
            }
            Kind::Known => self.learn(from, &block.words),
            Kind::Credit => self.credit[from] += block.words[0] as i64,
            Kind::Report => {
                let coordinator = self.coordinator.as_mut().expect("reports are for the first worker");
                if let Some(decision) = coordinator.take(from, read(&block.words)) {
                    let decision = decision.unwrap_or_else(|halt| coordinator.over(self.shared.failed(halt)));
                    self.tell_all(Kind::Decision, &written(&decision));
                }
            }
            Kind::Decision => self.decision = Some(read(&block.words)),
            Kind::Cease => self.is_ceasing = true,
            Kind::Predecessors => self.take_predecessors(from, read(&block.words)),
            Kind::Path => self.path = Some(read(&block.words)),
            Kind::Empty => unreachable!("an empty block is not sent"),
        }
    }

    pub(crate) fn tell_all(&mut self, kind: Kind, words: &[u64]) {
        for to in 0..self.fabric.workers() {
            self.fabric.send(Block::new(to, kind, words.to_vec()));
        }
    }

    // ---- Limits

    /// A file cannot be written or read.
    fn fail(&mut self, halt: Halt) {
        let stop = self.shared.failed(halt);
        self.halt(stop);
    }

    /// This worker wants the search to end, for the first reason that there is: all cease to expand.
    fn halt(&mut self, stop: Stop) {
        if self.halted.replace(self.halted.unwrap_or(stop)).is_none() {
            self.is_ceasing = true;
            self.tell_all(Kind::Cease, &[]);
        }
    }

    /// Asks the observer whether to go on.
    fn ask(&mut self) {
        if let ControlFlow::Break(stop) = self.heard() {
            self.halt(stop);
        }
    }

    /// What the observer says, in the worker that has it.
    pub(crate) fn heard(&mut self) -> ControlFlow<Stop> {
        let lists = (self.here.capacity() + self.next.capacity()) as u64 * 8;
        let bytes = self.visited.bytes() + self.recent.bytes() + lists;
        let progress = Progress {
            states: self.visited.states() * self.fabric.workers() as u64,
            transitions: self.transitions * self.fabric.workers() as u64,
            depth: self.level,
            frontier: ((self.here.len() + self.next.len()) / self.shared.keys.words()) as u64,
            bytes,
            ..Progress::default()
        };
        // Before the first level is complete there is nothing to tell.
        match self.observer.as_deref_mut().filter(|_| self.arriving > 0) {
            Some(observer) => observer.progress(&progress),
            None => ControlFlow::Continue(()),
        }
    }

    /// Whoever connects the processes hears that a level is complete everywhere.
    fn tell_level(&mut self) {
        let outside = self.observer.as_deref_mut().and_then(|observer| observer.outside());
        if let Some(peers) = outside.and_then(|outside| outside.peers()) {
            peers.complete(self.level);
        }
    }

    /// Why a level file could not be written or read, told to whoever has the files.
    pub(crate) fn told(&mut self) {
        if let Some(observer) = self.observer.as_deref_mut()
            && let Some(halt) = self.shared.failure()
        {
            told(halt, observer);
        }
    }
}

impl From<CalledBack> for Halt {
    fn from(_: CalledBack) -> Self {
        Halt::Stop(Stop::Interrupt)
    }
}
