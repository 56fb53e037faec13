//! The graph of a model as far as a search for cycles has come: each state is kept once, in full, under a number, with
//! the colours of all states of the product that it is part of, and with its steps once they were computed.
//!
//! So a state of the model is expanded once, however many states of the automaton, copies and searches come by, and its
//! propositions are evaluated once. Looking for numbers waits for memory most of the time; therefore some states that will
//! be needed soon are expanded together. Any number of threads share a graph without a lock, except to make its table
//! larger.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use birk_engine::{Model, Monitor, Successors};

use super::cells::Cells;
use super::slots::Slots;
use crate::expand::expand;
use crate::store::hash::hash;
use crate::store::memory::prefetch;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Cells of a page of steps (fewer for loom, which makes all of them anew for every interleaving). States with more steps are expanded each time.
const PAGE: u32 = if cfg!(loom) { 1 << 3 } else { 1 << 10 };
/// Numbers that a thread takes at once.
const NUMBERS: u32 = if cfg!(loom) { 2 } else { 64 };
/// States that are expanded together, at most.
const TOGETHER: usize = 8;
/// Places in the first table, as a power of two.
const FIRST: u32 = if cfg!(loom) { 3 } else { 8 };
/// In place of the state that a failing check leads to: no run goes on there.
const NOWHERE: u32 = u32::MAX;
/// Beside the number of steps: they were taken, not only computed.
const TAKEN: u32 = 1 << 31;
/// Places whose colours fit a cell.
const COLOURS: usize = 16;

/// A state of the product: the number of a model state, and a place of what runs along with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) number: u32,
    pub(super) place: u32,
}

impl Node {
    /// Both in one.
    pub(super) fn key(self) -> u64 {
        u64::from(self.number) | u64::from(self.place) << 32
    }
}

/// The graph.
pub(super) struct Graph<'m> {
    /// What is expanded: what the product watches, or, where there is none, the model itself.
    model: &'m dyn Model,
    product: Option<&'m dyn Monitor>,
    words: usize,
    /// Cells for one set of colours of a state.
    set: usize,
    /// Cells for all of them: one set that all threads see and, where there are several, one for each.
    colours: usize,
    /// A row for each number: where its steps are (0 if nowhere), colours, the state.
    rows: Cells,
    /// Pages of steps: for each state their number, its letter, the numbers of the states they lead to, and their
    /// transitions, several to a cell.
    pages: Cells,
    /// Cells before the numbers: one, and those of a letter.
    head: usize,
    /// Bits of a transition.
    bits: usize,
    numbers: AtomicU64,
    pages_taken: AtomicU64,
    /// No more pages are taken.
    most_pages: u64,
    /// Each thread looks at the table through a window of its own; who makes it larger takes all of them.
    windows: Vec<Window>,
}

/// A cache line of its own, so that threads do not disturb each other.
#[repr(align(64))]
struct Window(Mutex<Arc<Slots>>);

/// What a thread has in hand.
pub(super) struct Hand {
    window: usize,
    /// The states that are expanded together, their steps, hashes and numbers of where these lead.
    members: Vec<Member>,
    batch: Successors,
    hashes: Vec<u64>,
    targets: Vec<u32>,
    state: Vec<u32>,
    /// The steps of a state, as in a page.
    steps: Vec<u32>,
    /// Numbers that nobody else gives.
    next: u32,
    end: u32,
    /// Where the next steps go in a page of its own.
    page: u32,
    page_end: u32,
    /// For each transition, whether it was ever taken.
    pub(super) fired: Vec<bool>,
}

/// A state that is expanded.
struct Member {
    number: u32,
    letter: u64,
    /// Where its steps end in the batch; they begin where those of the one before end.
    end: usize,
}

impl Hand {
    /// Outcomes that an `assume` cut.
    pub(super) fn cut(&self) -> u64 {
        self.batch.cut
    }
}

impl<'m> Graph<'m> {
    /// Nothing is known yet; so many threads will look, and steps are kept in at most this many bytes.
    pub(super) fn new(model: &'m dyn Model, threads: usize, step_bytes: u64) -> Self {
        let watched = model.watched();
        let below = watched.map_or(model, |watched| watched.model);
        let product = watched.map(|watched| watched.monitor);
        let places = product.map_or(1, <dyn Monitor>::places).max(1) as usize;
        let fits = |bits: &usize| model.transitions() <= 1 << bits;
        let bits = [8, 16].into_iter().find(fits).unwrap_or(32);
        let slots = Arc::new(Slots::new(FIRST).expect("a few kilobytes can be had"));
        let (words, set) = (below.words(), places.div_ceil(COLOURS));
        let colours = set * if threads > 1 { 1 + threads } else { 1 };
        Self {
            model: below,
            product,
            words,
            set,
            colours,
            rows: Cells::new(1 + colours + words),
            pages: Cells::new(PAGE as usize),
            head: 1 + product.map_or(0, Monitor::propositions).div_ceil(32),
            bits,
            numbers: AtomicU64::new(0),
            pages_taken: AtomicU64::new(0),
            most_pages: (step_bytes / u64::from(PAGE * 4)).min(u64::from(u32::MAX / PAGE)),
            windows: (0..threads.max(1)).map(|_| Window(Mutex::new(Arc::clone(&slots)))).collect(),
        }
    }

    /// For the thread of this number.
    pub(super) fn hand(&self, thread: usize) -> Hand {
        let transitions = self.model.transitions() + usize::from(self.product.is_some());
        Hand {
            window: thread,
            members: Vec::new(),
            batch: Successors::in_parts(self.words),
            hashes: Vec::new(),
            targets: Vec::new(),
            state: vec![0; self.words],
            steps: Vec::new(),
            next: 0,
            end: 0,
            page: 0,
            page_end: 0,
            fired: vec![false; transitions],
        }
    }

    /// Bytes it occupies.
    pub(super) fn bytes(&self) -> u64 {
        self.window(0).bytes()
            + self.rows.bytes(self.numbers.load(Ordering::Relaxed))
            + self.pages.bytes(self.pages_taken.load(Ordering::Relaxed))
    }

    /// The initial states; `None` when the system has no memory to give.
    pub(super) fn initial(&self, hand: &mut Hand) -> Option<Vec<Node>> {
        hand.batch.clear();
        self.model.initial(&mut hand.batch);
        self.find_or_insert(hand, |_| true)?;
        let nodes = |&number: &u32| {
            let places: Vec<u32> = self.product.map_or(vec![0], |product| product.initial_places().collect());
            places.into_iter().map(move |place| Node { number, place })
        };
        Some(hand.targets.iter().filter(|&&number| number != NOWHERE).flat_map(nodes).collect())
    }

    /// The successors of a state, in the order of the product; `None` when the system has no memory to give. Those that
    /// come `soon` will be asked for, too. Where there are very many, or the table must grow, it is asked whether to go on,
    /// given the bytes that this needs beside those that the graph has.
    #[inline]
    pub(super) fn successors(
        &self,
        hand: &mut Hand,
        node: Node,
        soon: impl Iterator<Item = Node>,
        may_go_on: impl FnMut(u64) -> bool,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        out.clear();
        match self.row(node.number)[0].load(Ordering::Acquire) {
            0 => self.expand(hand, node.number, soon, may_go_on)?,
            at => self.recall(hand, at - 1),
        }
        let (count, steps) = ((hand.steps[0] & !TAKEN) as usize, &hand.steps[self.head..]);
        let targets = &steps[..count];
        targets.iter().filter(|&&number| number != NOWHERE).for_each(|&number| prefetch(&self.row(number)[0]));
        let mut to = |step: usize, place: u32| {
            if targets[step] != NOWHERE {
                out.push(Node { number: targets[step], place });
            }
        };
        match self.product {
            None => (0..count).for_each(|step| to(step, 0)),
            Some(product) => {
                let letter = hand.steps[1..self.head].iter().rev().fold(0, |all, &half| all << 32 | u64::from(half));
                let met = |step: usize| product.met(self.transition(&steps[count..], step));
                let enabled = product.enabled(count, met);
                product.follow(node.place, letter, (count, enabled), met, to);
            }
        }
        if hand.steps[0] & TAKEN == 0 && !out.is_empty() {
            self.take(hand, node.number);
        }
        Some(())
    }

    /// The steps in hand are taken, for the first time.
    #[cold]
    fn take(&self, hand: &mut Hand, number: u32) {
        let (count, steps) = (hand.steps[0] as usize, &hand.steps[self.head..]);
        for step in (0..count).filter(|&step| steps[step] != NOWHERE) {
            hand.fired[self.transition(&steps[count..], step)] = true;
        }
        let at = self.row(number)[0].load(Ordering::Relaxed);
        if at != 0 {
            self.page(at - 1)[0].store(hand.steps[0] | TAKEN, Ordering::Relaxed);
        }
    }

    /// The transition of a step.
    #[inline]
    fn transition(&self, cells: &[u32], step: usize) -> usize {
        let each = 32 / self.bits;
        let mask = u32::MAX >> (32 - self.bits);
        (cells[step / each] >> (step % each * self.bits) & mask) as usize
    }

    /// Asks for the steps of a state, if they are kept.
    #[inline]
    pub(super) fn prefetch(&self, node: Node) {
        let at = self.row(node.number)[0].load(Ordering::Acquire);
        if at != 0 {
            prefetch(&self.page(at - 1)[0]);
        }
    }

    /// Whether a cycle through a state counts.
    pub(super) fn is_accepting(&self, node: Node) -> bool {
        match self.product {
            Some(product) => product.is_accepting(node.place),
            None => self.model.evaluate(&self.state(node), false).contains(0),
        }
    }

    /// A state of the product in full.
    pub(super) fn state(&self, node: Node) -> Vec<u32> {
        let cells = &self.row(node.number)[1 + self.colours..];
        let mut state: Vec<u32> = cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        if self.product.is_some() {
            state.push(node.place);
        }
        state
    }

    /// Two bits for the colour of a state: the cell they are in, and how far they are shifted there.
    #[inline]
    pub(super) fn colour(&self, node: Node) -> (&AtomicU32, u32) {
        self.colour_in(node, 0)
    }

    /// The same for the colours that one of several threads has for itself.
    #[inline]
    pub(super) fn own_colour(&self, node: Node, thread: usize) -> (&AtomicU32, u32) {
        self.colour_in(node, self.set * (1 + thread))
    }

    #[inline]
    fn colour_in(&self, node: Node, set: usize) -> (&AtomicU32, u32) {
        let place = node.place as usize;
        (&self.row(node.number)[1 + set + place / COLOURS], (place % COLOURS) as u32 * 2)
    }

    #[inline]
    fn row(&self, number: u32) -> &[AtomicU32] {
        self.rows.row(number)
    }

    /// The steps at a position of the pages.
    fn recall(&self, hand: &mut Hand, at: u32) {
        let page = self.page(at);
        let count = (page[0].load(Ordering::Relaxed) & !TAKEN) as usize;
        let len = self.head + count + (count * self.bits).div_ceil(32);
        hand.steps.clear();
        hand.steps.extend(page[..len].iter().map(|cell| cell.load(Ordering::Relaxed)));
    }

    /// The cells of the pages from a position on.
    #[inline]
    fn page(&self, at: u32) -> &[AtomicU32] {
        &self.pages.row(at / PAGE)[(at % PAGE) as usize..]
    }

    /// Computes the steps of a state and of some that come soon, and keeps them while there is room. Those of the first
    /// are then in hand.
    fn expand(
        &self,
        hand: &mut Hand,
        number: u32,
        soon: impl Iterator<Item = Node>,
        mut may_go_on: impl FnMut(u64) -> bool,
    ) -> Option<()> {
        hand.batch.clear();
        hand.members.clear();
        self.compute(hand, number);
        if hand.batch.has_rest() {
            self.compute_rest(hand, &mut may_go_on)?;
        }
        if self.pages_taken.load(Ordering::Relaxed) < self.most_pages {
            for node in soon {
                let is_known = self.row(node.number)[0].load(Ordering::Relaxed) != 0;
                if !is_known && !hand.members.iter().any(|member| member.number == node.number) {
                    let cut = hand.batch.cut;
                    self.compute(hand, node.number);
                    if hand.batch.take_rest().is_some() {
                        // It comes alone, when it is asked for.
                        hand.members.pop();
                        hand.batch.truncate(hand.members.last().map_or(0, |member| member.end));
                        hand.batch.cut = cut;
                        break;
                    }
                    if hand.members.len() == TOGETHER {
                        break;
                    }
                }
            }
        }
        self.find_or_insert(hand, may_go_on)?;
        for i in (0..hand.members.len()).rev() {
            self.keep(hand, i);
        }
        Some(())
    }

    /// Adds a state to those that are expanded together.
    fn compute(&self, hand: &mut Hand, number: u32) {
        let cells = &self.row(number)[1 + self.colours..];
        hand.state.iter_mut().zip(cells).for_each(|(word, cell)| *word = cell.load(Ordering::Relaxed));
        let expanded = expand(self.model, &hand.state, &mut hand.batch);
        let letter = self.product.map_or(0, |_| expanded.goals(self.model, &hand.state).0);
        if let (true, Some(product)) = (expanded.is_stuck, self.product) {
            hand.batch.push(product.stutter(), 0, &hand.state);
        }
        hand.members.push(Member { number, letter, end: hand.batch.len() });
    }

    /// Adds the rest of the successors of the only member, if that is agreed to.
    #[cold]
    fn compute_rest(&self, hand: &mut Hand, mut may_go_on: impl FnMut(u64) -> bool) -> Option<()> {
        let each = (1 + self.colours + self.words) * 4;
        let goes_on = |bytes: u64| {
            // A new row and its slot for each, hash, number and step, and the nodes here and on a path.
            let states = bytes / (self.words * 4 + 8) as u64;
            match may_go_on(bytes + states * (each as u64 + 48)) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        hand.batch.append_rest(self.model, &hand.state, goes_on).continue_value()?;
        hand.members[0].end = hand.batch.len();
        Some(())
    }

    /// Puts the steps of a member in order, and keeps them if there is room.
    fn keep(&self, hand: &mut Hand, member: usize) {
        let start = if member == 0 { 0 } else { hand.members[member - 1].end };
        let Member { number, letter, end } = hand.members[member];
        hand.steps.clear();
        hand.steps.push((end - start) as u32);
        hand.steps.extend([letter as u32, (letter >> 32) as u32].iter().take(self.head - 1));
        hand.steps.extend_from_slice(&hand.targets[start..end]);
        for cell in hand.batch.steps(start)[..end - start].chunks(32 / self.bits) {
            let joined = cell.iter().rev().fold(0, |all, step| all << self.bits | step.transition.index() as u64);
            hand.steps.push(joined as u32);
        }
        if let Some(at) = self.room(hand) {
            let page = self.page(at);
            page.iter().zip(&hand.steps).for_each(|(cell, &value)| cell.store(value, Ordering::Relaxed));
            // Who sees the position sees the steps. Another thread may have been here: its steps are the same.
            self.row(number)[0].store(at + 1, Ordering::Release);
        }
    }

    /// Room in a page for the steps in hand.
    fn room(&self, hand: &mut Hand) -> Option<u32> {
        let len = hand.steps.len() as u32;
        if hand.page + len > hand.page_end {
            if len > PAGE || self.pages_taken.load(Ordering::Relaxed) >= self.most_pages {
                return None;
            }
            let page = u32::try_from(self.pages_taken.fetch_add(1, Ordering::Relaxed)).ok()?;
            if u64::from(page) >= self.most_pages || !self.pages.reserve(page) {
                return None;
            }
            (hand.page, hand.page_end) = (page * PAGE, page * PAGE + PAGE);
        }
        hand.page += len;
        Some(hand.page - len)
    }

    /// Finds the numbers of all states of the batch, if it is agreed to make the table larger for them where it must be.
    fn find_or_insert(&self, hand: &mut Hand, mut may_go_on: impl FnMut(u64) -> bool) -> Option<()> {
        hand.targets.clear();
        hand.hashes.clear();
        hand.hashes.extend((0..hand.batch.len()).map(|i| hash(hand.batch.state(i), 0)));
        let mut next = 0;
        loop {
            let slots = self.window(hand.window);
            hand.hashes[next..].iter().for_each(|&hash| slots.prefetch(hash));
            for number in hand.hashes[next..].iter().filter_map(|&hash| slots.guess(hash)) {
                prefetch(&self.row(number)[0]);
            }
            while next < hand.batch.len() {
                let state = hand.batch.state(next);
                if self.model.is_fault(state) {
                    hand.targets.push(NOWHERE);
                    next += 1;
                    continue;
                }
                let is_same = |number: u32| {
                    let cells = &self.row(number)[1 + self.colours..];
                    cells.iter().zip(state).all(|(cell, word)| cell.load(Ordering::Relaxed) == *word)
                };
                let (first, end) = (&mut hand.next, &mut hand.end);
                let new = || {
                    let number = self.fresh(first, end, &slots)?;
                    let cells = &self.row(number)[1 + self.colours..];
                    cells.iter().zip(state).for_each(|(cell, &word)| cell.store(word, Ordering::Relaxed));
                    Some(number)
                };
                let Some((number, is_new)) = slots.number(hand.hashes[next], is_same, new) else { break };
                hand.next += u32::from(is_new);
                hand.targets.push(number);
                next += 1;
            }
            if next == hand.batch.len() {
                return Some(());
            }
            // A table that is twice as large has as many places more.
            let (capacity, bytes) = (slots.capacity(), slots.bytes());
            drop(slots);
            if u64::from(hand.next) < capacity || !may_go_on(bytes) || !self.grow(capacity) {
                return None;
            }
        }
    }

    /// A number that was not given yet and has a row; `None` when the table is full, or there is no memory.
    fn fresh(&self, next: &mut u32, end: &mut u32, slots: &Slots) -> Option<u32> {
        if next == end {
            let first = self.numbers.fetch_add(u64::from(NUMBERS), Ordering::Relaxed);
            let last = u32::try_from(first + u64::from(NUMBERS)).ok().filter(|&last| last < NOWHERE)?;
            (*next, *end) = (last - NUMBERS, last);
        }
        (u64::from(*next) < slots.capacity() && self.rows.reserve(*next)).then_some(*next)
    }

    /// Makes the table larger, unless another thread did; false when the system has no memory to give.
    fn grow(&self, capacity: u64) -> bool {
        let mut windows: Vec<_> = (0..self.windows.len()).map(|thread| self.window(thread)).collect();
        if windows[0].capacity() > capacity {
            return true;
        }
        let Some(larger) = windows[0].doubled() else { return false };
        let larger = Arc::new(larger);
        windows.iter_mut().for_each(|window| **window = Arc::clone(&larger));
        true
    }

    fn window(&self, thread: usize) -> MutexGuard<'_, Arc<Slots>> {
        self.windows[thread].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
