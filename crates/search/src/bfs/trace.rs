//! Shortest traces without parent pointers: a second search through the levels that the first one left behind.
//!
//! The table knows each state's depth modulo 3 (Cooperman and Finkelstein, "New methods for using Cayley graphs in
//! interconnection networks", 1992). Going again level by level from the initial states, a successor that has
//! the next depth modulo 3 and was not yet met in this search is of the next level, because anything nearer was met
//! before. The levels are kept with the position of each state's parent; when they take too much memory, every second
//! one is dropped, its parents replaced by theirs, and the gaps are closed by the same search from one kept ancestor to
//! the next. So the second search costs at most one more pass, and any amount of memory will do.

use birk_engine::{Model, Successors};
use birk_ir::Trace;

use crate::bfs::visited::Visited;
use crate::store::codec::{Codec, NO_KEY};
use crate::store::table::Entry;

/// The levels may always take this much.
const LEAST: u64 = 1 << 20;
/// Successors that are looked up together, so that their cache lines come together.
const GROUP: usize = 64;
/// States after which it is asked whether to go on.
const PATIENCE: usize = 256;
/// When it was told to end, it goes on until successors have had so many words, a few of which stand for the time to compute
/// one: a trace that is nearly known is not given up.
const MOST_WORDS: usize = 1 << 22;
const FEW_WORDS: usize = 16;

/// A state that a trace should lead to.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) depth: u32,
    pub(crate) state: Vec<u32>,
}

/// A shortest trace to each target, in a search that may have forgotten states on the way. `None` only where states were lost to
/// hashing, or where it is told not to go on.
pub(crate) fn retrace<C: Codec>(
    (model, forgets): (&dyn Model, bool),
    visited: &Visited<C>,
    targets: &[Target],
    memory: u64,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Vec<Option<Trace>> {
    if targets.is_empty() {
        return Vec::new();
    }
    let budget = memory.saturating_sub(visited.bytes()).max(LEAST);
    let mut search = Retrace {
        model,
        visited,
        met: vec![0; visited.slots().div_ceil(64) as usize],
        batch: Successors::in_parts(model.words()),
        ancestors: Vec::new(),
        keys: Vec::new(),
        hashes: Vec::new(),
        parent: visited.codec.parent(),
        state: vec![0; model.words()],
        budget,
        may_go_on,
        left: None,
        forgets,
    };
    let mut initial = Successors::new(model.words());
    model.initial(&mut initial);
    let starts: Vec<Vec<u32>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
    let chains = search.chains(&starts, 0, targets);
    let path = |chain: Option<Vec<Target>>| search.close(&chain?).and_then(|path| trace(model, &initial, &path));
    chains.into_iter().map(path).collect()
}

struct Retrace<'a, C: Codec> {
    model: &'a dyn Model,
    visited: &'a Visited<C>,
    /// One bit for each slot of the table.
    met: Vec<u64>,
    /// Successors of some states, the ancestor of each, and their keys and hashes.
    batch: Successors,
    ancestors: Vec<u32>,
    keys: Vec<u64>,
    hashes: Vec<u64>,
    parent: C::Parent,
    state: Vec<u32>,
    budget: u64,
    may_go_on: &'a mut dyn FnMut() -> bool,
    /// Words that successors may still have, since it was told to end.
    left: Option<usize>,
    /// What the table does not have was reached, and forgotten.
    forgets: bool,
}

/// States of one level, each with the position of an ancestor in the kept level before it.
#[derive(Debug, Default)]
struct Kept {
    depth: u32,
    packed: Vec<u32>,
    ancestors: Vec<u32>,
}

impl<C: Codec> Retrace<'_, C> {
    /// For each target, ancestors of it from a start to itself, with gaps where levels were dropped.
    fn chains(&mut self, starts: &[Vec<u32>], depth: u32, targets: &[Target]) -> Vec<Option<Vec<Target>>> {
        self.met.fill(0);
        let mut chains = vec![None; targets.len()];
        let mut kept: Vec<Kept> = Vec::new();
        let mut spacing = 1;
        let mut now = Kept { depth, ..Kept::default() };
        for (position, start) in starts.iter().enumerate() {
            if let Some(key) = self.visited.codec.known_key(start, &mut self.parent) {
                let entry = self.visited.find(start, &mut self.parent);
                if entry.is_some() || self.forgets {
                    add(self.visited, &mut self.met, entry, (key, start, position as u32), &mut now);
                }
            }
        }
        let last = targets.iter().map(|target| target.depth).max().unwrap_or(depth);
        loop {
            self.catch(&now, &kept, targets, &mut chains);
            if now.depth >= last || now.packed.is_empty() || chains.iter().all(Option::is_some) {
                return chains;
            }
            let is_kept = (now.depth - depth).is_multiple_of(spacing);
            let Some(next) = self.step(&now, is_kept) else { return chains };
            if is_kept {
                kept.push(now);
            }
            now = next;
            let bytes = |level: &Kept| (level.packed.len() + level.ancestors.len()) as u64 * 4;
            while kept.len() > 2 && kept.iter().map(bytes).sum::<u64>() > self.budget {
                spacing *= 2;
                kept = thin(kept, |level| (level - depth).is_multiple_of(spacing), &mut now);
            }
        }
    }

    /// The next level, unless the search is over. Ancestors are positions in this one if it is kept, otherwise those of this
    /// one.
    fn step(&mut self, now: &Kept, is_kept: bool) -> Option<Kept> {
        let words = self.visited.codec.packed_words();
        let mut next = Kept { depth: now.depth + 1, ..Kept::default() };
        for (position, packed) in now.packed.chunks(words).enumerate() {
            if position.is_multiple_of(PATIENCE) && !self.goes_on() {
                return None;
            }
            let ancestor = if is_kept { position as u32 } else { now.ancestors[position] };
            self.visited.codec.open(packed, &mut self.parent, &mut self.state);
            loop {
                let from = self.batch.len();
                self.model.successors(&self.state, &mut self.batch);
                self.visited.codec.prepare(&self.batch, from, &mut self.parent);
                if let Some(left) = &mut self.left {
                    *left = left.saturating_sub((self.batch.len() - from) * (self.batch.words() + FEW_WORDS));
                }
                self.ancestors.resize(self.batch.len(), ancestor);
                if self.batch.len() >= GROUP {
                    self.meet(&mut next);
                }
                if !self.batch.has_rest() {
                    break;
                }
                if !self.goes_on() {
                    return None;
                }
                self.visited.codec.open(packed, &mut self.parent, &mut self.state);
            }
        }
        self.meet(&mut next);
        Some(next)
    }

    /// Asks whether to go on.
    fn goes_on(&mut self) -> bool {
        if self.left.is_none() && !(self.may_go_on)() {
            self.left = Some(MOST_WORDS);
        }
        self.left != Some(0)
    }

    /// Adds the states of the batch to their level.
    fn meet(&mut self, level: &mut Kept) {
        self.keys.clear();
        self.hashes.clear();
        let has_room = self.visited.codec.keys(&self.batch, 0, &mut self.parent, &mut self.keys);
        if !has_room {
            // Without a key it was not reached.
            for i in (0..self.batch.len()).rev().filter(|&i| self.keys[i] == NO_KEY).collect::<Vec<_>>() {
                self.batch.remove(i);
                self.keys.remove(i);
                self.ancestors.remove(i);
            }
        }
        self.visited.prefetch(&self.keys, &mut self.hashes);
        for i in 0..self.batch.len() {
            let entry = self.visited.entry(self.hashes[i]);
            // A state that was forgotten may have been remembered in a later level.
            if self.forgets || entry.is_some_and(|entry| entry.depth == level.depth % 3) {
                let state = self.batch.state(i);
                add(self.visited, &mut self.met, entry, (self.keys[i], state, self.ancestors[i]), level);
            }
        }
        self.batch.clear();
        self.ancestors.clear();
    }

    /// Looks for targets in a level, and notes their ancestors.
    fn catch(&mut self, now: &Kept, kept: &[Kept], targets: &[Target], chains: &mut [Option<Vec<Target>>]) {
        let words = self.visited.codec.packed_words();
        for (target, chain) in targets.iter().zip(chains).filter(|(target, _)| target.depth == now.depth) {
            let Some(key) = self.visited.codec.known_key(&target.state, &mut self.parent) else { continue };
            let mut wanted = Vec::new();
            self.visited.codec.push_packed(key, &target.state, &mut wanted);
            let Some(mut position) = now.packed.chunks(words).position(|packed| packed == wanted) else { continue };
            let mut ancestors = vec![target.clone()];
            let mut level = now;
            for before in kept.iter().rev() {
                position = level.ancestors[position] as usize;
                let packed = &before.packed[position * words..(position + 1) * words];
                self.visited.codec.open(packed, &mut self.parent, &mut self.state);
                ancestors.push(Target { depth: before.depth, state: self.state.clone() });
                level = before;
            }
            ancestors.reverse();
            *chain = Some(ancestors);
        }
    }

    /// The states of a path through all ancestors of a chain.
    fn close(&mut self, chain: &[Target]) -> Option<Vec<Vec<u32>>> {
        let mut path: Vec<Vec<u32>> = vec![chain[0].state.clone()];
        for two in chain.windows(2) {
            if two[1].depth - two[0].depth > 1 {
                let between = self.chains(std::slice::from_ref(&two[0].state), two[0].depth, &two[1..]);
                let between = self.close(&between.into_iter().next().flatten()?)?;
                path.extend(between.into_iter().skip(1));
            } else {
                path.push(two[1].state.clone());
            }
        }
        Some(path)
    }
}

/// Adds a state with its key and its ancestor to a level, unless it was met. Whether one was met that was forgotten is not known.
fn add<C: Codec>(
    visited: &Visited<C>,
    met: &mut [u64],
    entry: Option<Entry>,
    (key, state, ancestor): (u64, &[u32], u32),
    level: &mut Kept,
) {
    if let Some(entry) = entry {
        let (at, bit) = ((entry.slot / 64) as usize, 1 << (entry.slot % 64));
        if met[at] & bit != 0 {
            return;
        }
        met[at] |= bit;
    }
    visited.codec.push_packed(key, state, &mut level.packed);
    level.ancestors.push(ancestor);
}

/// Keeps only some levels; those that stay get the ancestors of the ancestors they lose.
fn thin(kept: Vec<Kept>, stays: impl Fn(u32) -> bool, now: &mut Kept) -> Vec<Kept> {
    let mut thinned: Vec<Kept> = Vec::new();
    let mut dropped: Option<Kept> = None;
    for mut level in kept {
        if let Some(dropped) = dropped.take() {
            skip(&mut level, &dropped);
        }
        if stays(level.depth) {
            thinned.push(level);
        } else {
            dropped = Some(level);
        }
    }
    if let Some(dropped) = dropped {
        skip(now, &dropped);
    }
    thinned
}

fn skip(level: &mut Kept, dropped: &Kept) {
    for ancestor in &mut level.ancestors {
        *ancestor = dropped.ancestors[*ancestor as usize];
    }
}

/// The steps along a path of states.
pub fn trace(model: &dyn Model, initial: &Successors, path: &[Vec<u32>]) -> Option<Trace> {
    let first = (0..initial.len()).find(|&i| initial.state(i) == path[0])?;
    let mut trace = Trace { initial: first as u32, ..Trace::default() };
    let mut batch = Successors::in_parts(model.words());
    for two in path.windows(2) {
        let found = batch.find(model, &two[0], |_, state| state == two[1])?;
        trace.steps.push(batch.step(found));
    }
    Some(trace)
}
