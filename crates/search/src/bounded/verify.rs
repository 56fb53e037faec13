//! What was read of a search is computed again: each state is expanded once, from the initial states on.
//!
//! The proof of the search (see `bounded`) rests on an invariant: a state that was explored has successors which were visited,
//! and whose thresholds are at most one more than its own. That holds for every state by itself, so it can be examined. Then
//! whatever is within the bound will be visited, whoever wrote the file; and if each state is met, there is none that cannot be
//! reached. A state behind the bound counts as if it were explored there. States that were on the stack, and such as a thread
//! explored deeper just when another left them, are explored again: they count by the depth at which they will be met, from the
//! frontier on.
//!
//! That is as much work as a search without any detours. So it ends after many states, and what remains is believed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicU64;

use birk_engine::{Observer, Successors};

use super::checkpoint::Written;
use super::restore::{Failed, PATIENCE, Result, tell};
use super::search::Search;
use super::shared::{Seen, Shared};
use super::thresholds::{OPEN, UNSEEN, WAITING};
use crate::expand::expand;
use crate::store::codec::Codec;

/// So many states are expanded.
const MOST: u64 = 1 << 20;

const MISSING: Failed = Failed::Refused("a state is missing");
const MISCOUNTED: Failed = Failed::Refused("its counts are not those of its states");

/// A walk through the states.
struct Walk<'a, 'm, C: Codec> {
    shared: &'a Shared<'m, C>,
    seen: &'a Seen<C>,
    parent: C::Parent,
    state: Vec<u32>,
    batch: Successors,
    /// The places of the keys that were met, as bits, and how many there are.
    met: Vec<u64>,
    count: u64,
    /// Those that were not expanded yet.
    keys: Vec<u64>,
    packed: Vec<u32>,
    /// The frontier that is explored: its keys, in order, and the packed states of those that were met.
    pending: &'a [u64],
    roots: Vec<u32>,
    /// What explored states ask of states that were on the stack.
    asked: Vec<(u64, u32)>,
    states: u64,
    transitions: u64,
    /// The transitions of explored states, and those of all.
    fired: Vec<bool>,
    fireable: Vec<bool>,
}

impl<'a, 'm, C: Codec> Walk<'a, 'm, C> {
    /// Begins at the initial states.
    fn new(shared: &'a Shared<'m, C>, seen: &'a Seen<C>, pending: &'a [u64]) -> Result<Self> {
        let (words, transitions) = (shared.model.words(), shared.model.transitions());
        let mut walk = Self {
            shared,
            seen,
            parent: seen.codec.parent(),
            state: vec![0; words],
            batch: Successors::new(words),
            met: vec![0; seen.thresholds.places().div_ceil(64)],
            count: 0,
            keys: Vec::new(),
            packed: Vec::new(),
            pending,
            roots: Vec::new(),
            asked: Vec::new(),
            states: 0,
            transitions: 0,
            fired: vec![false; transitions],
            fireable: vec![false; transitions],
        };
        for i in 0..shared.initial.len() {
            let (_, value) = walk.meet(shared.initial.state(i)).ok_or(MISSING)?;
            if explored_at(value, shared.to) > 1 {
                return Err(MISSING);
            }
        }
        Ok(walk)
    }

    /// Comes to a state; `None` if it was not visited.
    fn meet(&mut self, state: &[u32]) -> Option<(u64, u32)> {
        let key = self.seen.codec.known_key(state, &mut self.parent)?;
        let place = self.seen.thresholds.place(key)?;
        let (word, bit) = (&mut self.met[place / 64], 1 << (place % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.count += 1;
            self.keys.push(key);
            self.seen.codec.push_packed(key, state, &mut self.packed);
        }
        Some((key, self.seen.thresholds.get(key)))
    }

    /// Expands the state that was met last, and looks at the invariant there; false when there is none.
    fn expand(&mut self) -> Result<bool> {
        let Some(key) = self.keys.pop() else { return Ok(false) };
        let (model, value) = (self.shared.model, self.seen.thresholds.get(key));
        let packed = self.packed.split_off(self.packed.len() - self.seen.codec.packed_words());
        self.seen.codec.open(&packed, &mut self.parent, &mut self.state);
        let mut batch = std::mem::replace(&mut self.batch, Successors::new(0));
        batch.clear();
        expand(model, &self.state, &mut batch);
        self.states += u64::from(!model.is_fault(&self.state));
        self.transitions += batch.len() as u64;
        let is_root = value == self.shared.from + 1 && self.pending.binary_search(&key).is_ok();
        let is_explored = !is_root && value < OPEN;
        for step in batch.steps(0) {
            self.fireable[step.transition.index()] = true;
            self.fired[step.transition.index()] |= is_explored;
        }
        if is_root {
            self.roots.extend_from_slice(&packed);
        }
        for i in (0..batch.len()).filter(|_| value != WAITING) {
            match self.meet(batch.state(i)) {
                _ if !is_explored => {}
                None => return Err(MISSING),
                // On the stack, or taken over late and deeper by another thread while its first one left it.
                Some((next, known)) if explored_at(known, self.shared.to) > value + 1 => {
                    self.asked.push((next, value + 1));
                }
                Some(_) => {}
            }
        }
        self.batch = batch;
        Ok(true)
    }

    /// Whether what was counted is what was met.
    fn is_counted(&self, written: &Written) -> bool {
        let cut = self.shared.initial.cut + self.batch.cut;
        let counted = (written.states, written.transitions, written.counts.cut);
        // Of steps from the frontier, some were taken and some not.
        let mut fired = written.counts.fired.iter().zip(self.fired.iter().zip(&self.fireable));
        self.count == self.seen.thresholds.len()
            && counted == (self.states, self.transitions, cut)
            && fired.all(|(written, (fired, fireable))| (fired..=fireable).contains(&written))
    }

    /// Whether states that were on the stack will be met as early as explored states ask for, when the search goes on: level by
    /// level from the frontier, through what it will explore again.
    fn are_met_in_time(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let (shared, codec, thresholds) = (self.shared, &self.seen.codec, &self.seen.thresholds);
        let mut depths: HashMap<u64, u32> = HashMap::new();
        let words = codec.packed_words();
        let Self { state, batch, parent, roots, .. } = self;
        let mut here = std::mem::take(roots);
        for depth in shared.from + 1..shared.to {
            let mut next = Vec::new();
            for (number, packed) in here.chunks(words).enumerate() {
                if (number as u64).is_multiple_of(PATIENCE) {
                    tell(observer, self.count, self.seen.bytes())?;
                }
                codec.open(packed, parent, state);
                batch.clear();
                shared.model.successors(state, batch);
                for i in 0..batch.len() {
                    let key = codec.known_key(batch.state(i), parent);
                    let Some(key) = key.filter(|&key| (depth + 2..UNSEEN).contains(&thresholds.get(key))) else {
                        continue;
                    };
                    if let Entry::Vacant(entry) = depths.entry(key) {
                        entry.insert(depth);
                        codec.push_packed(key, batch.state(i), &mut next);
                    }
                }
            }
            here = next;
        }
        Ok(self.asked.iter().all(|(key, most)| depths.get(key).is_some_and(|depth| depth < most)))
    }
}

impl<C: Codec> Search<'_, C> {
    /// Looks whether what was read can be, given the keys of the frontier that is explored, in order; and takes over what was
    /// counted.
    pub(super) fn verify(&mut self, pending: &[u64], written: Written, observer: &mut dyn Observer) -> Result<()> {
        if !self.walk(pending, &written, observer)? {
            self.count_again(&written, observer)?;
        }
        self.shared.states = AtomicU64::new(written.states);
        self.shared.transitions = AtomicU64::new(written.transitions);
        self.workers[0].counts = written.counts;
        Ok(())
    }

    /// Walks through the states; false when there are too many.
    fn walk(&self, pending: &[u64], written: &Written, observer: &mut dyn Observer) -> Result<bool> {
        let seen = self.shared.seen.read().expect("no worker panics with it");
        let mut walk = Walk::new(&self.shared, &seen, pending)?;
        // With their keys, a quarter of the memory that is left.
        let most_packed = self.shared.job.limits.memory.saturating_sub(seen.bytes()) / 32;
        let mut expanded = 0;
        while walk.expand()? {
            if expanded == MOST || walk.packed.len() as u64 > most_packed {
                return Ok(false);
            }
            if expanded % PATIENCE == 0 {
                tell(observer, expanded, seen.bytes())?;
            }
            expanded += 1;
        }
        if !walk.is_counted(written) {
            return Err(MISCOUNTED);
        }
        if !walk.asked.is_empty() && !walk.are_met_in_time(observer)? {
            return Err(MISSING);
        }
        Ok(true)
    }

    /// Counts the states by themselves, where the keys tell what they are.
    fn count_again(&mut self, written: &Written, observer: &mut dyn Observer) -> Result<()> {
        let (model, seen) = (self.shared.model, self.shared.seen.get_mut().expect("no worker panics with it"));
        if seen.codec.omission(0).is_some() {
            return Ok(());
        }
        let (mut parent, mut state, mut packed) = (seen.codec.parent(), vec![0; model.words()], Vec::new());
        let (mut states, mut looked) = (0, 0u64);
        seen.thresholds.for_each(|key, _| {
            packed.clear();
            seen.codec.push_packed(key, &state, &mut packed);
            seen.codec.open(&packed, &mut parent, &mut state);
            if !model.is_state(&state) || seen.codec.known_key(&state, &mut parent) != Some(key) {
                return Err(Failed::Refused("what it says of a state is impossible"));
            }
            states += u64::from(!model.is_fault(&state));
            looked += 1;
            if looked.is_multiple_of(PATIENCE) { tell(observer, looked, seen.bytes()) } else { Ok(()) }
        })?;
        if states == written.states { Ok(()) } else { Err(MISCOUNTED) }
    }
}

/// One more than a state's threshold; what waits behind the bound will be explored there.
fn explored_at(value: u32, bound: u32) -> u32 {
    if value == WAITING { bound + 1 } else { value }
}
