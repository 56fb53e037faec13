//! One worker of a bound: takes chunks of the frontier and explores what lies behind each of their states.
//!
//! Several workers share the thresholds, which only fall. Whatever a worker reads is an upper bound of what will be there
//! in the end, so what it concludes for a state's predecessors is one too, and of two conclusions the smaller holds: the
//! invariant of the search, and with it what is visited, does not depend on how the work is divided.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use birk_engine::{Cutoff, GoalSet, Model, Relief, Successors};
use birk_ir::Stop;
use serde::{Deserialize, Serialize};

use super::options::Waiting;
use super::shared::Turn;
use super::thresholds::{OPEN, UNSEEN, WAITING};
use super::trace_tree::{Form, Help, Reader, Writer};
use super::walk::Walk;
use crate::crew::Leaving;
use crate::expand::{Expanded, expand, note_fired};
use crate::store::codec::Codec;
use crate::store::codec::memo::{Changes, changes};

/// The observer hears of the search every so many computations of successors.
const PATIENCE: u64 = 64;

/// Of the states on the stack of a search that is ended, so many are kept to look at.
const MOST_BEGUN: usize = 1000;

/// A state on the stack; its depth is that of the frontier and its position.
#[derive(Debug)]
struct Frame {
    key: u64,
    /// Where its children begin among those of the stack, and their deltas, and which child is next.
    children: usize,
    deltas: usize,
    next: usize,
    /// One more than its threshold, as its children so far ask for.
    asked: u32,
}

/// A successor of a state on the stack, and where its delta is, unless it needs none.
#[derive(Clone, Copy, Debug)]
struct Child {
    key: u64,
    from: usize,
    to: usize,
}

/// A worker's own things, kept from bound to bound.
#[derive(Debug)]
pub(crate) struct Worker<C: Codec> {
    walk: Walk,
    batch: Successors,
    parent: C::Parent,
    keys: Vec<u64>,
    packed: Vec<u32>,
    scratch: Vec<u32>,
    /// The state of the frontier that it went to last.
    root: Vec<u32>,
    delta: Changes,
    stack: Vec<Frame>,
    children: Vec<Child>,
    deltas: Changes,
    writer: Writer,
    computed: u64,
    /// States that were being explored, or were not begun with, when the search was ended.
    pub(crate) begun: Vec<Vec<u32>>,
    pub(crate) counts: Counts,
}

/// What a worker counted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Counts {
    pub(crate) fired: Vec<bool>,
    pub(crate) revisits: u64,
    pub(crate) cut: u64,
    pub(crate) max_depth: u32,
    pub(crate) peak_frontier: u64,
    /// States of frontiers that were gone to.
    pub(crate) replays: u64,
    /// The steps taken back and taken again for that.
    pub(crate) replayed: u64,
}

impl Counts {
    /// What two workers counted together.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.fired.iter_mut().zip(&other.fired).for_each(|(all, one)| *all |= one);
        self.revisits += other.revisits;
        self.cut += other.cut;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.peak_frontier = self.peak_frontier.max(other.peak_frontier);
        self.replays += other.replays;
        self.replayed += other.replayed;
    }
}

impl<C: Codec> Worker<C> {
    pub(crate) fn new(model: &dyn Model, codec: &C) -> Self {
        Self {
            walk: Walk::new(model.words()),
            batch: Successors::in_parts(model.words()),
            parent: codec.parent(),
            keys: Vec::new(),
            packed: Vec::new(),
            scratch: vec![0; model.words()],
            root: vec![0; model.words()],
            delta: Changes::new(),
            stack: Vec::new(),
            children: Vec::new(),
            deltas: Changes::new(),
            writer: Writer::new(Waiting::Tree, 0, &Form::default()),
            computed: 0,
            begun: Vec::new(),
            counts: Counts { fired: vec![false; model.transitions()], ..Counts::default() },
        }
    }

    /// Bytes of what it keeps beside what is shared.
    fn bytes(&self) -> u64 {
        (self.deltas.capacity() * 8 + self.children.capacity() * size_of::<Child>()) as u64 + self.walk.bytes()
    }

    /// The initial states are the first frontier.
    pub(crate) fn begin(&mut self, turn: &mut Turn<'_, '_, C>) -> ControlFlow<()> {
        let shared = turn.shared;
        self.writer = Writer::new(shared.waiting(), 0, &shared.form);
        self.counts.cut = shared.initial.cut;
        let mut flow = ControlFlow::Continue(());
        for position in 0..shared.initial.len() {
            flow = self.begin_with(turn, position);
            if flow.is_break() {
                self.begun.extend((position..shared.initial.len()).map(|i| shared.initial.state(i).to_vec()));
                break;
            }
        }
        shared.give(self.writer.flush(), &shared.next);
        flow
    }

    fn begin_with(&mut self, turn: &mut Turn<'_, '_, C>, position: usize) -> ControlFlow<()> {
        self.walk.start(position as u32, turn.shared.initial.state(position));
        let key = loop {
            match turn.seen().codec.key(&self.walk.state, &mut self.parent) {
                Some(key) => break key,
                None => turn.make_room(self.bytes())?,
            }
        };
        if self.lower(turn, key, WAITING)? == UNSEEN { self.wait(turn, key, 0) } else { ControlFlow::Continue(()) }
    }

    /// Explores what lies behind the frontier until none of it is left or everybody is called back.
    pub(crate) fn run(&mut self, turn: &mut Turn<'_, '_, C>) {
        let shared = turn.shared;
        let busy = Leaving(|_| _ = shared.busy.fetch_sub(1, Ordering::AcqRel));
        self.writer = Writer::new(shared.waiting(), shared.to, &shared.form);
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue()
            && (turn.observer.is_some() || !shared.has(Relief::Thread))
            && let Some(chunk) = shared.take()
        {
            let mut roots = Reader::new(&chunk, &shared.form);
            while roots.advance() {
                // All of them have this threshold, but for those that were reached on shorter paths.
                if turn.seen().thresholds.get(roots.key) != shared.from + 1 {
                    continue;
                }
                flow = self.root(turn, &roots);
                if flow.is_break() {
                    self.put_back(turn, roots);
                    break;
                }
            }
        }
        shared.give(self.writer.flush(), &shared.next);
        if shared.has(Relief::Thread) && turn.observer.is_none() {
            self.shed();
        }
        drop(busy);
        // The others may be done within microseconds, or in an hour: wait a little longer each time.
        let mut pause = Duration::from_micros(20);
        while turn.observer.is_some() && shared.busy.load(Ordering::Acquire) > 0 && flow.is_continue() {
            turn.pause();
            flow = turn.look(shared.to, 0);
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }

    /// Frees what it needs only while it runs.
    fn shed(&mut self) {
        self.walk = Walk::new(self.walk.state.len());
        (self.stack, self.children, self.deltas) = (Vec::new(), Vec::new(), Changes::new());
    }

    /// Goes to a state of the frontier, and explores what lies behind it.
    fn root(&mut self, turn: &mut Turn<'_, '_, C>, root: &Reader<'_>) -> ControlFlow<()> {
        self.tick(turn)?;
        self.go(turn, root);
        let flow = self.explore(turn, root.key);
        if flow.is_break() {
            turn.shared.pending.fetch_add(1, Ordering::Relaxed);
        }
        let is_over = turn.shared.stop.get().is_some();
        let thresholds = &turn.seen().thresholds;
        // Those on the stack are not explored yet, although their thresholds say so. The root is taken up again anyway.
        while self.stack.len() > 1
            && let Some(frame) = self.stack.pop()
        {
            thresholds.exchange(frame.key, turn.shared.from + self.stack.len() as u32 + 1, OPEN);
            if is_over && self.stack.len() < MOST_BEGUN {
                self.begun.push(self.walk.state.clone());
            }
            self.walk.back();
        }
        self.stack.clear();
        self.children.clear();
        self.deltas.clear();
        flow
    }

    /// Goes to a state of the frontier: its own state where it was kept, otherwise by taking the steps of its trace.
    pub(crate) fn go(&mut self, turn: &Turn<'_, '_, C>, root: &Reader<'_>) {
        assert!(self.can_go(turn, root), "a trace leads to the state it was kept for: models are deterministic");
    }

    /// Whether what a state was written with, to get to it, can be that of a state of the model.
    pub(super) fn is_possible(&mut self, turn: &Turn<'_, '_, C>, root: &Reader<'_>) -> bool {
        let (shared, codec) = (turn.shared, &turn.seen().codec);
        let is_state = match root.help() {
            Help::None => true,
            Help::Anchor(_, state) => shared.model.is_state(state),
            Help::Packed(packed) => {
                codec.is_packed_state(packed) && {
                    codec.open(packed, &mut self.parent, &mut self.scratch);
                    shared.model.is_state(&self.scratch)
                }
            }
        };
        is_state && (root.trace[0] as usize) < shared.initial.len()
    }

    /// The same; whether it is there.
    pub(super) fn can_go(&mut self, turn: &Turn<'_, '_, C>, root: &Reader<'_>) -> bool {
        let (shared, codec) = (turn.shared, &turn.seen().codec);
        match root.help() {
            Help::Packed(packed) => {
                codec.open(packed, &mut self.parent, &mut self.walk.state);
                self.walk.jump(&root.trace);
            }
            help => {
                if shared.waiting == Waiting::Traces {
                    self.walk.start(root.trace[0], shared.initial.state(root.trace[0] as usize));
                }
                let anchor = if let Help::Anchor(length, state) = help { Some((length, state)) } else { None };
                if !self.walk.go(&root.trace, anchor, shared.model, &shared.initial, &mut self.batch) {
                    return false;
                }
            }
        }
        self.counts.replays += 1;
        self.counts.replayed += std::mem::take(&mut self.walk.replayed);
        self.open(codec, root.key);
        self.root.copy_from_slice(&self.walk.state);
        self.scratch == self.walk.state && codec.known_key(&self.walk.state, &mut self.parent) == Some(root.key)
    }

    /// What was not explored of a chunk waits again.
    fn put_back(&mut self, turn: &Turn<'_, '_, C>, mut roots: Reader<'_>) {
        let shared = turn.shared;
        let mut writer = Writer::new(shared.waiting(), shared.from, &shared.form);
        loop {
            shared.give(writer.push(&roots.trace, roots.key, roots.help()), &shared.here);
            if !roots.advance() {
                break;
            }
        }
        shared.give(writer.flush(), &shared.here);
    }

    /// Explores what is within the bound from the state that the worker is at.
    fn explore(&mut self, turn: &mut Turn<'_, '_, C>, root: u64) -> ControlFlow<()> {
        let bound = turn.shared.to;
        self.enter(turn, root, WAITING)?;
        while let Some(top) = self.stack.last_mut() {
            let Some(&child) = self.children.get(top.next) else {
                self.leave(turn);
                continue;
            };
            let position = (top.next - top.children) as u32;
            top.next += 1;
            if child.key == top.key {
                continue;
            }
            let depth = turn.shared.from + self.stack.len() as u32;
            let known = turn.seen().thresholds.get(child.key);
            if depth == bound {
                let is_new = known == UNSEEN && {
                    self.tick(turn)?;
                    self.lower(turn, child.key, WAITING)? == UNSEEN
                };
                self.ask(if known < OPEN { known.saturating_sub(1) } else { bound });
                if is_new {
                    self.walk.step(position, &self.deltas[child.from..child.to]);
                    let flow = self.wait(turn, child.key, depth);
                    self.walk.back();
                    flow?;
                }
                continue;
            }
            if known <= depth + 1 {
                self.ask(known.saturating_sub(1));
                continue;
            }
            self.tick(turn)?;
            let known = self.lower(turn, child.key, depth + 1)?;
            if known <= depth + 1 {
                self.ask(known.saturating_sub(1));
                continue;
            }
            self.walk.step(position, &self.deltas[child.from..child.to]);
            self.enter(turn, child.key, known)?;
        }
        ControlFlow::Continue(())
    }

    /// A child of the state on top wants it to be explored again below some depth.
    fn ask(&mut self, threshold: u32) {
        if let Some(top) = self.stack.last_mut() {
            top.asked = top.asked.max(threshold);
        }
    }

    /// Puts the state that the worker is at on the stack; before that, `known` was known of it.
    fn enter(&mut self, turn: &mut Turn<'_, '_, C>, key: u64, known: u32) -> ControlFlow<()> {
        let (children, deltas) = (self.children.len(), self.deltas.len());
        self.stack.push(Frame { key, children, deltas, next: children, asked: 0 });
        if known == WAITING {
            turn.shared.pending.fetch_sub(1, Ordering::Relaxed);
        }
        let expanded = self.expand(turn)?;
        if known == UNSEEN {
            self.visit(turn, turn.shared.from + self.stack.len() as u32 - 1, expanded)?;
        }
        note_fired(&self.batch, 0, &mut self.counts.fired);
        self.counts.revisits += u64::from(known < OPEN);
        self.line_up(turn, key)
    }

    /// All children of the state on top were examined: now its threshold is known.
    fn leave(&mut self, turn: &Turn<'_, '_, C>) {
        let Some(top) = self.stack.pop() else { return };
        self.children.truncate(top.children);
        self.deltas.truncate(top.deltas);
        if turn.shared.prunes {
            turn.seen().thresholds.lower(top.key, top.asked);
        }
        if !self.stack.is_empty() {
            self.walk.back();
            self.ask(top.asked.saturating_sub(1));
        }
    }

    /// Visits the state that the worker is at, and leaves it to the next frontier.
    fn wait(&mut self, turn: &mut Turn<'_, '_, C>, key: u64, depth: u32) -> ControlFlow<()> {
        let shared = turn.shared;
        self.packed.clear();
        self.writer.waiting = shared.waiting();
        let help = match self.writer.waiting {
            Waiting::States => {
                turn.seen().codec.push_packed(key, &self.walk.state, &mut self.packed);
                Help::Packed(&self.packed)
            }
            Waiting::Tree if depth > shared.from => Help::Anchor(shared.from as usize + 1, &self.root),
            _ => Help::None,
        };
        shared.give(self.writer.push(&self.walk.trace, key, help), &shared.next);
        turn.shared.pending.fetch_add(1, Ordering::Relaxed);
        self.counts.peak_frontier = self.counts.peak_frontier.max(turn.shared.pending());
        let expanded = self.expand(turn)?;
        self.visit(turn, depth, expanded)
    }

    /// Computes the successors of the state that the worker is at.
    fn expand(&mut self, turn: &mut Turn<'_, '_, C>) -> ControlFlow<(), Expanded> {
        self.batch.clear();
        let mut expanded = expand(turn.shared.model, &self.walk.state, &mut self.batch);
        if self.batch.has_rest() {
            let cut = self.batch.cut;
            self.expand_rest(turn)?;
            expanded.cut += self.batch.cut - cut;
        }
        ControlFlow::Continue(expanded)
    }

    /// Adds the rest of the successors of a state that has very many.
    #[cold]
    fn expand_rest(&mut self, turn: &mut Turn<'_, '_, C>) -> ControlFlow<()> {
        let (depth, beside) = (turn.shared.from + self.stack.len() as u32, self.bytes());
        let Self { batch, walk, .. } = self;
        batch.append_rest(turn.shared.model, &walk.state, |bytes| {
            turn.pause();
            // The batch, its keys, and the children with their deltas. A worker that is to leave does so between two states.
            if turn.look(depth, beside + bytes * 4).is_break() && turn.shared.stop.get().is_some() {
                turn.shared.is_torn.store(true, Ordering::Relaxed);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
    }

    /// Counts and evaluates a state whose successors were computed: only now is it known whether it is stuck.
    fn visit(&mut self, turn: &Turn<'_, '_, C>, depth: u32, expanded: Expanded) -> ControlFlow<()> {
        let shared = turn.shared;
        self.counts.cut += expanded.cut;
        shared.transitions.fetch_add(self.batch.len() as u64, Ordering::Relaxed);
        let mut states = 0;
        if !shared.model.is_fault(&self.walk.state) {
            states = shared.states.fetch_add(1, Ordering::Relaxed) + 1;
            self.counts.max_depth = self.counts.max_depth.max(depth);
        }
        let goals = expanded.goals(shared.model, &self.walk.state);
        if !goals.is_empty() {
            self.evaluate(turn, goals)?;
        }
        if states > shared.job.limits.states { turn.end(Stop::States) } else { ControlFlow::Continue(()) }
    }

    /// Records the goals that are new; ends the search at those it was told to end at.
    #[cold]
    fn evaluate(&mut self, turn: &Turn<'_, '_, C>, goals: GoalSet) -> ControlFlow<()> {
        let mut found = turn.shared.found.lock().expect("no worker panics with it");
        match turn.shared.job.record(goals, &mut found, || self.walk.trace.clone()) {
            ControlFlow::Break(stop) => turn.end(stop),
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        }
    }

    /// The successors in the batch become children of the state on top, which has this key.
    fn line_up(&mut self, turn: &mut Turn<'_, '_, C>, key: u64) -> ControlFlow<()> {
        self.open(&turn.seen().codec, key);
        loop {
            self.keys.clear();
            let codec = &turn.seen().codec;
            codec.prepare(&self.batch, 0, &mut self.parent);
            if codec.keys(&self.batch, 0, &mut self.parent, &mut self.keys) {
                break;
            }
            turn.make_room(self.bytes())?;
        }
        let depth = turn.shared.from + self.stack.len() as u32;
        let is_last = depth == turn.shared.to;
        let thresholds = &turn.seen().thresholds;
        self.keys.iter().for_each(|&key| thresholds.prefetch(key));
        for (i, &key) in self.keys.iter().enumerate() {
            let known = thresholds.get(key);
            let from = self.deltas.len();
            // Thresholds only fall: what need not be explored now need not be explored when its turn comes.
            if if is_last { known == UNSEEN } else { known > depth + 1 } {
                changes(self.batch.state(i), &self.walk.state, &mut self.delta);
                self.deltas.extend_from_slice(&self.delta);
            }
            self.children.push(Child { key, from, to: self.deltas.len() });
        }
        ControlFlow::Continue(())
    }

    /// Looks at the steps from the state that the worker is at, beyond which nothing was followed.
    pub(crate) fn edge(&mut self, turn: &Turn<'_, '_, C>, cutoff: &mut Cutoff) {
        let Self { walk, batch, parent, counts, .. } = self;
        let seen = turn.seen();
        cutoff.edge_of((turn.shared.model, batch, &walk.state), &mut counts.fired, |state| {
            let key = seen.codec.known_key(state, parent);
            key.is_some_and(|key| seen.thresholds.get(key) != UNSEEN)
        });
    }

    /// The state that the worker is at.
    pub(crate) fn state(&self) -> &[u32] {
        &self.walk.state
    }

    /// Prepares the codec for the successors of the state with this key, which the worker is at.
    fn open(&mut self, codec: &C, key: u64) {
        self.packed.clear();
        codec.push_packed(key, &self.walk.state, &mut self.packed);
        codec.open(&self.packed, &mut self.parent, &mut self.scratch);
    }

    fn lower(&mut self, turn: &mut Turn<'_, '_, C>, key: u64, value: u32) -> ControlFlow<(), u32> {
        loop {
            match turn.seen().thresholds.lower(key, value) {
                Some(known) => return ControlFlow::Continue(known),
                None => turn.make_room(self.bytes())?,
            }
        }
    }

    /// Before each computation of successors: lets others go on, and looks whether to go on.
    pub(crate) fn tick(&mut self, turn: &mut Turn<'_, '_, C>) -> ControlFlow<()> {
        turn.pause();
        if turn.shared.stop.get().is_some() {
            return ControlFlow::Break(());
        }
        self.computed += 1;
        if self.computed.is_multiple_of(PATIENCE) {
            turn.look(turn.shared.from + self.stack.len() as u32, self.bytes())?;
        }
        ControlFlow::Continue(())
    }
}
