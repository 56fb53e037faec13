//! The choice of a stubborn set in a state (Valmari 1990), by the state alone.
//!
//! First the closure of each seed: an enabled member brings what does not accord with it, a disabled one the cheapest set of
//! transitions without which it stays disabled, and each goal such a set, too. Then members are deleted as long as the rest is
//! stubborn (Valmari's deletion algorithm): from the smallest closure, and from the set of all transitions.

use super::condition::Tree;
use super::relations::Relations;
use super::sets::{bits, count, is_in, is_within, members, members_of, set};
use crate::interpreter::Interpreter;

/// What an enabled member more costs, in disabled ones.
const ENABLED: u32 = 256;

/// Sets that are used again in the next state.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The transitions that have an outcome.
    pub(super) enabled: Vec<u64>,
    /// The set that was chosen.
    pub(super) chosen: Vec<u64>,
    set: Vec<u64>,
    best: Vec<u64>,
    /// Members whose consequences are not yet in the set.
    pending: Vec<u64>,
    /// Atoms that were evaluated, and their values.
    known: Vec<u64>,
    values: Vec<u64>,
    /// Seeds, or members that may be deleted.
    candidates: Vec<usize>,
    removed: Vec<usize>,
    /// For each disabled transition, an atom that is false and whose enabling transitions were all in the set when it was
    /// looked at last: as long as they are, nothing else need be asked (as with watched literals in SAT solvers).
    support: Vec<u32>,
}

/// No atom supports a transition, as far as is known.
const NONE: u32 = u32::MAX;

impl Room {
    /// Ready for a state of a program with these relations.
    pub(super) fn clear(&mut self, relations: &Relations) {
        for set in [&mut self.enabled, &mut self.chosen, &mut self.set, &mut self.best, &mut self.pending] {
            set.clear();
            set.resize(relations.words, 0);
        }
        self.known.clear();
        self.known.resize(relations.tests.len().div_ceil(64), 0);
        self.values.resize(self.known.len(), 0);
        self.support.clear();
        self.support.resize(relations.transitions, NONE);
    }
}

/// The choice in one state.
pub(super) struct Choice<'a> {
    pub(super) relations: &'a Relations,
    pub(super) interpreter: &'a Interpreter<'a>,
    pub(super) state: &'a [u32],
    pub(super) room: &'a mut Room,
}

impl Choice<'_> {
    /// Chooses a stubborn set; whether it has fewer than all enabled transitions.
    pub(super) fn choose(&mut self) -> bool {
        let all = count(&self.room.enabled);
        let least = u32::from(self.relations.wants_stuck);
        let mut fewest = all;
        self.room.candidates.clear();
        if self.relations.wants_stuck {
            self.room.candidates.extend(members(&self.room.enabled));
        }
        // Without a key the goals alone are closed.
        for seed in 0..self.room.candidates.len().max(1) {
            if let Some(number) = self.closure(self.room.candidates.get(seed).copied(), fewest) {
                fewest = number;
                std::mem::swap(&mut self.room.set, &mut self.room.chosen);
                if fewest <= least {
                    return true;
                }
            }
        }
        if fewest < all {
            fewest = self.delete();
        }
        // Another beginning may lead further: everything is stubborn.
        if fewest > least {
            self.room.best.copy_from_slice(&self.room.chosen);
            (0..self.relations.transitions).for_each(|transition| set(&mut self.room.chosen, transition));
            let number = self.delete();
            if number >= fewest {
                self.room.chosen.copy_from_slice(&self.room.best);
            }
            fewest = fewest.min(number);
        }
        fewest < all
    }

    /// The closure of a seed and of the goals, if fewer enabled transitions than this are in it.
    fn closure(&mut self, seed: Option<usize>, fewer_than: u32) -> Option<u32> {
        self.room.set.fill(0);
        self.room.pending.fill(0);
        let relations = self.relations;
        let mut number = 0;
        if let Some(seed) = seed {
            set(&mut self.room.set, seed);
            set(&mut self.room.pending, seed);
            number = 1;
        }
        for goal in &relations.goals {
            if !self.is_true(goal) {
                number += self.need(goal, None);
            }
        }
        while number < fewer_than {
            // Enabled ones first: what they bring makes other choices cheaper.
            let enabled = members_of(&self.room.pending, &self.room.enabled).next();
            let Some(next) = enabled.or_else(|| members(&self.room.pending).next()) else {
                return Some(number);
            };
            self.room.pending[next / 64] &= !(1 << (next % 64));
            number += match enabled {
                Some(_) => self.add(relations.dependent(next)),
                None => self.need(&relations.enabled[next], Some(next)),
            };
        }
        None
    }

    /// Adds transitions to the set; how many of the new ones are enabled.
    #[inline]
    fn add(&mut self, more: &[u64]) -> u32 {
        let room = &mut *self.room;
        let mut number = 0;
        for (at, &more) in more.iter().enumerate() {
            let new = more & !room.set[at];
            room.set[at] |= new;
            room.pending[at] |= new;
            number += (new & room.enabled[at]).count_ones();
        }
        number
    }

    /// Adds transitions without which a condition stays false: that of a transition, or that of a goal.
    fn need(&mut self, tree: &Tree, of: Option<usize>) -> u32 {
        let relations = self.relations;
        match tree {
            Tree::Atom(atom) => self.add(relations.enabling(*atom)),
            Tree::Opaque => self.add(relations.opaque(of.expect("only transitions are opaque"))),
            Tree::Any(parts) => parts.iter().map(|part| self.need(part, of)).sum(),
            Tree::All(parts) => {
                let mut cheapest: Option<(u32, &Tree)> = None;
                for part in parts.iter().filter(|part| !matches!(part, Tree::Opaque)) {
                    if !self.is_true(part) {
                        let cost = self.cost(part);
                        if cheapest.is_none_or(|(least, _)| cost < least) {
                            cheapest = Some((cost, part));
                        }
                    }
                }
                // If all that can be told is true, what cannot be told is false.
                self.need(cheapest.map_or(&Tree::Opaque, |(_, part)| part), of)
            }
        }
    }

    /// What the set grows by, enabled ones counting more.
    fn cost(&mut self, tree: &Tree) -> u32 {
        match tree {
            Tree::Atom(atom) => {
                let (mut cost, room) = (0, &*self.room);
                for (at, &more) in self.relations.enabling(*atom).iter().enumerate() {
                    let new = more & !room.set[at];
                    let enabled = (new & room.enabled[at]).count_ones();
                    cost += enabled * ENABLED + new.count_ones() - enabled;
                }
                cost
            }
            Tree::Opaque => u32::MAX,
            Tree::Any(parts) => parts.iter().fold(0, |sum: u32, part| sum.saturating_add(self.cost(part))),
            Tree::All(parts) => {
                let mut least = u32::MAX;
                for part in parts {
                    if !self.is_true(part) {
                        least = least.min(self.cost(part));
                    }
                }
                least
            }
        }
    }

    /// Whether a condition is true in the state; what cannot be told is not.
    fn is_true(&mut self, tree: &Tree) -> bool {
        match tree {
            Tree::Atom(atom) => {
                let (word, bit) = (atom / 64, 1 << (atom % 64));
                if self.room.known[word] & bit == 0 {
                    self.room.known[word] |= bit;
                    match self.relations.tests[*atom].is_true(self.interpreter, self.state) {
                        true => self.room.values[word] |= bit,
                        false => self.room.values[word] &= !bit,
                    }
                }
                self.room.values[word] & bit != 0
            }
            Tree::Opaque => false,
            Tree::All(parts) => parts.iter().all(|part| self.is_true(part)),
            Tree::Any(parts) => parts.iter().any(|part| self.is_true(part)),
        }
    }

    /// Deletes members one after the other while the rest is stubborn; how many enabled ones are left.
    fn delete(&mut self) -> u32 {
        let mut candidates = std::mem::take(&mut self.room.candidates);
        candidates.clear();
        candidates.extend(members_of(&self.room.chosen, &self.room.enabled));
        for &member in &candidates {
            self.room.set.copy_from_slice(&self.room.chosen);
            if is_in(&self.room.chosen, member) && self.can_do_without(member) {
                std::mem::swap(&mut self.room.set, &mut self.room.chosen);
            }
        }
        self.room.candidates = candidates;
        self.room.chosen.iter().zip(&self.room.enabled).map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// Takes a member out of the set, and all that lacks it then; whether what is left is stubborn.
    fn can_do_without(&mut self, member: usize) -> bool {
        let relations = self.relations;
        self.room.removed.clear();
        self.room.removed.push(member);
        while let Some(member) = self.room.removed.pop() {
            if !is_in(&self.room.set, member) {
                continue;
            }
            self.room.set[member / 64] &= !(1 << (member % 64));
            for at in 0..relations.words {
                let room = &mut *self.room;
                let lacking = relations.dependent(member)[at] & room.set[at] & room.enabled[at];
                room.removed.extend(bits(lacking).map(|bit| at * 64 + bit));
                let mut disabled = room.set[at] & !room.enabled[at] & relations.helped(member)[at];
                while disabled != 0 {
                    let other = at * 64 + disabled.trailing_zeros() as usize;
                    disabled &= disabled - 1;
                    if self.has_lost(other, member) {
                        self.room.removed.push(other);
                    }
                }
            }
            let has_key = self.room.set.iter().zip(&self.room.enabled).any(|(a, b)| a & b != 0);
            if relations.wants_stuck && !has_key {
                return false;
            }
        }
        relations.goals.iter().all(|goal| self.is_true(goal) || self.is_supported(goal, None))
    }

    /// Whether a disabled transition has no support any more, now that a member is gone.
    #[inline]
    fn has_lost(&mut self, other: usize, member: usize) -> bool {
        let support = self.room.support[other];
        if support != NONE && !is_in(self.relations.enabling(support as usize), member) {
            return false;
        }
        let relations = self.relations;
        let tree = &relations.enabled[other];
        if let Tree::All(parts) = tree {
            for part in parts {
                if let Tree::Atom(atom) = part
                    && is_within(relations.enabling(*atom), &self.room.set)
                    && !self.is_true(part)
                {
                    self.room.support[other] = *atom as u32;
                    return false;
                }
            }
        }
        // What else supports it is asked each time.
        self.room.support[other] = NONE;
        !self.is_supported(tree, Some(other))
    }

    /// Whether some set of transitions without which a condition stays false is in the set.
    fn is_supported(&mut self, tree: &Tree, of: Option<usize>) -> bool {
        let relations = self.relations;
        match tree {
            Tree::Atom(atom) => is_within(relations.enabling(*atom), &self.room.set),
            Tree::Opaque => is_within(relations.opaque(of.expect("only transitions are opaque")), &self.room.set),
            Tree::Any(parts) => parts.iter().all(|part| self.is_supported(part, of)),
            Tree::All(parts) => {
                let mut can_tell = false;
                for part in parts.iter().filter(|part| !matches!(part, Tree::Opaque)) {
                    if !self.is_true(part) {
                        can_tell = true;
                        if self.is_supported(part, of) {
                            return true;
                        }
                    }
                }
                !can_tell && self.is_supported(&Tree::Opaque, of)
            }
        }
    }
}
