//! The choice of a stubborn set in a state (Valmari 1990), by the state alone.
//!
//! First the closure of each seed: an enabled member brings what does not accord with it, a disabled one the cheapest set of
//! transitions without which it stays disabled, and each goal such a set, too. Then members are deleted as long as the rest is
//! stubborn (Valmari's deletion algorithm): from the smallest closure, and from the set of all transitions.
//!
//! This is done in every state, so sets are words on the stack, and code is made for each length of them.

use std::cell::Cell;
use std::sync::Arc;

use super::condition::Tree;
use super::memo::Memo;
use super::relations::{Aim, Relations};
use super::sets::{Set, bits};

/// What an enabled member more costs, in disabled ones.
const ENABLED: u32 = 256;

/// No atom supports a transition, as far as is known.
const NONE: u32 = u32::MAX;

/// What a choice begins with and ends with, used again in the next state.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The transitions that have an outcome.
    pub(super) enabled: Vec<u64>,
    /// Which atoms are true, of those that were evaluated.
    pub(super) atoms: Vec<u64>,
    pub(super) evaluated: Vec<u64>,
    /// The set that was chosen.
    pub(super) chosen: Vec<u64>,
    support: Vec<u32>,
    /// What was chosen before, and by whom.
    memo: Memo,
    of: Option<(Arc<dyn Choose>, Beginning)>,
}

impl Room {
    /// Chooses where all atoms are evaluated: as before, if the same are true and the same transitions enabled.
    pub(super) fn choose_again(&mut self, chooser: &Arc<dyn Choose>, beginning: Beginning) -> bool {
        let is_same = |(other, way): &(Arc<dyn Choose>, Beginning)| Arc::ptr_eq(other, chooser) && *way == beginning;
        if !self.of.as_ref().is_some_and(is_same) {
            self.of = Some((Arc::clone(chooser), beginning));
            self.memo.reset(self.enabled.len() + self.atoms.len(), self.chosen.len());
        }
        if let Some((chosen, is_reduced)) = self.memo.find([&self.enabled, &self.atoms]) {
            self.chosen.copy_from_slice(chosen);
            return is_reduced;
        }
        let is_reduced = chooser.choose(beginning, &|_| unreachable!("all atoms are evaluated"), self);
        self.memo.note([&self.enabled, &self.atoms], &self.chosen, is_reduced);
        is_reduced
    }

    /// Ready for a state of a program with these relations.
    pub(super) fn clear(&mut self, relations: &Relations) {
        self.enabled.clear();
        self.enabled.resize(relations.words, 0);
        self.chosen.resize(relations.words, 0);
        let words = relations.atoms.len().div_ceil(64);
        self.atoms.resize(words, 0);
        self.evaluated.clear();
        self.evaluated.resize(words, 0);
    }
}

/// Where members are deleted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// From the smallest closure.
    Closure,
    /// From the set of all transitions.
    All,
    /// From both, and the smaller set is taken.
    Both,
}

/// Chooses stubborn sets.
pub(super) trait Choose: std::fmt::Debug + Send + Sync {
    /// Chooses a set for a state in which atoms have these values; whether it has fewer than all enabled transitions.
    fn choose(&self, beginning: Beginning, is_true: &dyn Fn(usize) -> bool, room: &mut Room) -> bool;
}

/// How sets are chosen for a program with these relations and some of their goals.
pub(super) fn chooser(relations: &Relations, goals: &[Aim]) -> Arc<dyn Choose> {
    match relations.words {
        0 | 1 => Arc::new(Tables::<1>::new(relations, goals)),
        2 => Arc::new(Tables::<2>::new(relations, goals)),
        3 | 4 => Arc::new(Tables::<4>::new(relations, goals)),
        5..=8 => Arc::new(Tables::<8>::new(relations, goals)),
        9..=16 => Arc::new(Tables::<16>::new(relations, goals)),
        _ => Arc::new(Tables::<64>::new(relations, goals)),
    }
}

/// The relations, with sets of `W` words.
#[derive(Debug)]
struct Tables<const W: usize> {
    /// For each transition, those that it brings where it is enabled.
    dependent: Vec<Set<W>>,
    /// For each transition, those that bring it where they are enabled.
    demanding: Vec<Set<W>>,
    /// For each transition, those that it may help to enable.
    helped: Vec<Set<W>>,
    /// For each transition, those that may give it an outcome where that cannot be told apart.
    opaque: Vec<Set<W>>,
    /// For each atom, those that may make it true.
    enabling: Vec<Set<W>>,
    /// For each transition, when it is enabled.
    guards: Vec<Guard>,
    /// When each goal is reached by a state that is not stuck.
    goals: Vec<Tree>,
    wants_key: bool,
    visible: Set<W>,
    all: Set<W>,
}

/// A conjunction: of atoms, and of what else can be told apart.
#[derive(Debug, Default)]
struct Guard {
    atoms: Box<[u32]>,
    others: Box<[Tree]>,
}

impl Guard {
    fn new(tree: &Tree) -> Self {
        let parts = match tree {
            Tree::All(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let atom = |part: &Tree| if let Tree::Atom(atom) = part { Some(*atom as u32) } else { None };
        let is_other = |part: &&Tree| !matches!(part, Tree::Atom(_) | Tree::Opaque);
        Self {
            atoms: parts.iter().filter_map(atom).collect(),
            others: parts.iter().filter(is_other).cloned().collect(),
        }
    }
}

impl<const W: usize> Tables<W> {
    fn new(relations: &Relations, goals: &[Aim]) -> Self {
        let of = |set: &[u64]| Set::from_words(set);
        let each = |of: &dyn Fn(usize) -> Set<W>| (0..relations.transitions).map(of).collect();
        let mut all = Set::default();
        (0..relations.transitions).for_each(|transition| all.insert(transition));
        Self {
            dependent: each(&|transition| of(relations.dependent(transition))),
            demanding: each(&|transition| of(relations.demanding(transition))),
            helped: each(&|transition| of(relations.helped(transition))),
            opaque: each(&|transition| of(relations.opaque(transition))),
            enabling: (0..relations.atoms.len()).map(|atom| of(relations.enabling(atom))).collect(),
            guards: relations.enabled.iter().map(Guard::new).collect(),
            goals: goals.iter().map(|goal| goal.tree.clone()).collect(),
            wants_key: relations.wants_key || goals.iter().any(|goal| goal.may_be_stuck),
            visible: of(&relations.visible),
            all,
        }
    }
}

impl<const W: usize> Choose for Tables<W> {
    fn choose(&self, beginning: Beginning, is_true: &dyn Fn(usize) -> bool, room: &mut Room) -> bool {
        room.support.clear();
        room.support.resize(self.guards.len(), NONE);
        let enabled = Set::from_words(&room.enabled);
        // What is not seen comes first: else it might be put off for ever (I).
        let keys = match (enabled - self.visible).is_empty() {
            true => enabled,
            false => enabled - self.visible,
        };
        let mut choice = Choice {
            tables: self,
            enabled,
            keys,
            is_true,
            atoms: Cell::from_mut(&mut room.atoms[..]).as_slice_of_cells(),
            evaluated: Cell::from_mut(&mut room.evaluated[..]).as_slice_of_cells(),
            set: Set::default(),
            pending: Set::default(),
            support: &mut room.support,
        };
        let chosen = choice.choose(beginning);
        let is_reduced = chosen.is_some();
        let chosen = chosen.unwrap_or(self.all);
        room.chosen.iter_mut().zip(chosen.words()).for_each(|(to, from)| *to = *from);
        is_reduced
    }
}

/// The choice in one state.
struct Choice<'a, const W: usize> {
    tables: &'a Tables<W>,
    enabled: Set<W>,
    /// Enabled ones of which one must be in the set, where a key is wanted.
    keys: Set<W>,
    /// Whether an atom is true, and which are, of those that were evaluated.
    is_true: &'a dyn Fn(usize) -> bool,
    atoms: &'a [Cell<u64>],
    evaluated: &'a [Cell<u64>],
    /// The set that grows or shrinks.
    set: Set<W>,
    /// Members whose consequences are not yet in it, or that are to leave it.
    pending: Set<W>,
    /// For each disabled transition, an atom that is false and whose enabling transitions were all in the set when it was
    /// looked at last: as long as they are, nothing else need be asked (as with watched literals in SAT solvers).
    support: &'a mut [u32],
}

impl<const W: usize> Choice<'_, W> {
    /// A stubborn set, if it has fewer than all enabled transitions.
    fn choose(&mut self, beginning: Beginning) -> Option<Set<W>> {
        let all = self.enabled.count();
        let least = u32::from(self.tables.wants_key);
        let (mut fewest, mut best) = (all, None);
        if beginning == Beginning::All {
            // It is not looked for.
        } else if self.tables.wants_key {
            for seed in self.keys.members() {
                if let Some(number) = self.closure(Some(seed), fewest) {
                    (fewest, best) = (number, Some(self.set));
                    if fewest <= least {
                        return best;
                    }
                }
            }
        } else if let Some(number) = self.closure(None, fewest) {
            // Without a key the goals alone are closed.
            (fewest, best) = (number, Some(self.set));
        }
        if let Some(closed) = best {
            let smaller = self.delete(closed);
            (fewest, best) = ((smaller & self.enabled).count(), Some(smaller));
        }
        // Another beginning may lead further: everything is stubborn.
        if fewest > least && beginning != Beginning::Closure {
            let other = self.delete(self.tables.all);
            if (other & self.enabled).count() < fewest {
                best = Some(other);
            }
        }
        best
    }

    /// Makes the set the closure of a seed and of the goals, if fewer enabled transitions than this are in it.
    fn closure(&mut self, seed: Option<usize>, fewer_than: u32) -> Option<u32> {
        (self.set, self.pending) = (Set::default(), Set::default());
        let tables = self.tables;
        let mut number = 0;
        if let Some(seed) = seed {
            self.set.insert(seed);
            self.pending.insert(seed);
            number = 1;
        }
        for goal in &tables.goals {
            if !self.is_true(goal) {
                number += self.need(goal, None);
            }
        }
        while number < fewer_than {
            // Enabled ones first: what they bring makes other choices cheaper.
            number += if let Some(next) = (self.pending & self.enabled).first() {
                self.pending.remove(next);
                self.add(&tables.dependent[next])
            } else if let Some(next) = self.pending.first() {
                self.pending.remove(next);
                self.need_one(next)
            } else {
                return Some(number);
            };
        }
        None
    }

    /// Adds transitions to the set; how many of the new ones are enabled.
    #[inline]
    fn add(&mut self, more: &Set<W>) -> u32 {
        let new = *more - self.set;
        self.set |= new;
        self.pending |= new;
        (new & self.enabled).count()
    }

    /// Adds transitions without which a disabled one stays disabled.
    #[inline]
    fn need_one(&mut self, transition: usize) -> u32 {
        let tables = self.tables;
        let guard = &tables.guards[transition];
        let (mut least, mut cheapest) = (u32::MAX, None);
        for &atom in &guard.atoms {
            if !self.is_atom_true(atom as usize) {
                let cost = self.cost_of(&tables.enabling[atom as usize]);
                if cost == 0 {
                    return 0;
                }
                if cost < least {
                    (least, cheapest) = (cost, Some(atom as usize));
                }
            }
        }
        let mut other = None;
        for tree in &guard.others {
            if !self.is_true(tree) {
                let cost = self.cost(tree);
                if cost < least {
                    (least, other) = (cost, Some(tree));
                }
            }
        }
        match (other, cheapest) {
            (Some(tree), _) => self.need(tree, Some(transition)),
            (None, Some(atom)) => self.add(&tables.enabling[atom]),
            // If all that can be told is true, what cannot be told is false.
            (None, None) => self.add(&tables.opaque[transition]),
        }
    }

    /// Adds transitions without which a condition stays false: that of a transition, or that of a goal.
    fn need(&mut self, tree: &Tree, of: Option<usize>) -> u32 {
        let tables = self.tables;
        match tree {
            Tree::Atom(atom) => self.add(&tables.enabling[*atom]),
            Tree::Opaque => self.add(&tables.opaque[of.expect("only transitions are opaque")]),
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
    #[inline]
    fn cost_of(&self, more: &Set<W>) -> u32 {
        let new = *more - self.set;
        (new & self.enabled).count() * (ENABLED - 1) + new.count()
    }

    /// What the set grows by at least if a condition is to become true.
    fn cost(&self, tree: &Tree) -> u32 {
        match tree {
            Tree::Atom(atom) => self.cost_of(&self.tables.enabling[*atom]),
            Tree::Opaque => u32::MAX,
            Tree::Any(parts) => parts.iter().fold(0, |sum: u32, part| sum.saturating_add(self.cost(part))),
            Tree::All(parts) => {
                let costs = parts.iter().filter(|part| !self.is_true(part)).map(|part| self.cost(part));
                costs.min().unwrap_or(u32::MAX)
            }
        }
    }

    #[inline]
    fn is_atom_true(&self, atom: usize) -> bool {
        let (word, bit) = (atom / 64, 1 << (atom % 64));
        if self.evaluated[word].get() & bit == 0 {
            self.evaluate(atom);
        }
        self.atoms[word].get() & bit != 0
    }

    #[cold]
    fn evaluate(&self, atom: usize) {
        let (word, bit) = (atom / 64, 1 << (atom % 64));
        self.evaluated[word].set(self.evaluated[word].get() | bit);
        let others = self.atoms[word].get() & !bit;
        self.atoms[word].set(if (self.is_true)(atom) { others | bit } else { others });
    }

    /// Whether a condition is true in the state; what cannot be told is not.
    fn is_true(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Atom(atom) => self.is_atom_true(*atom),
            Tree::Opaque => false,
            Tree::All(parts) => parts.iter().all(|part| self.is_true(part)),
            Tree::Any(parts) => parts.iter().any(|part| self.is_true(part)),
        }
    }

    /// Deletes members of a stubborn set one after the other while the rest is stubborn.
    fn delete(&mut self, mut chosen: Set<W>) -> Set<W> {
        for member in (chosen & self.enabled).members() {
            if chosen.contains(member) {
                self.set = chosen;
                if self.can_do_without(member) {
                    chosen = self.set;
                }
            }
        }
        chosen
    }

    /// Takes a member out of the set, and all that lacks it then; whether what is left is stubborn.
    fn can_do_without(&mut self, member: usize) -> bool {
        let tables = self.tables;
        self.pending = Set::default();
        self.pending.insert(member);
        self.set.remove(member);
        loop {
            // Enabled ones first: if the last of them goes, the rest need not be looked at.
            let next = (self.pending & self.enabled).first().or_else(|| self.pending.first());
            let Some(next) = next else { break };
            self.pending.remove(next);
            let lacking = tables.demanding[next] & self.set & self.enabled;
            self.set = self.set - lacking;
            self.pending |= lacking;
            if tables.wants_key && (self.set & self.keys).is_empty() {
                return false;
            }
            let helped = (self.set & tables.helped[next]) - self.enabled;
            for (at, word) in helped.words().iter().enumerate() {
                for bit in bits(*word) {
                    let other = at * 64 + bit;
                    if self.has_lost(other, next) {
                        self.set.remove(other);
                        self.pending.insert(other);
                    }
                }
            }
        }
        tables.goals.iter().all(|goal| self.is_true(goal) || self.is_supported(goal, None))
    }

    /// Whether a disabled transition has no support any more, now that a member is gone.
    #[inline]
    fn has_lost(&mut self, other: usize, member: usize) -> bool {
        let tables = self.tables;
        let support = self.support[other];
        if support != NONE && !tables.enabling[support as usize].contains(member) {
            return false;
        }
        let guard = &tables.guards[other];
        let mut can_tell = false;
        for &atom in &guard.atoms {
            if !self.is_atom_true(atom as usize) {
                can_tell = true;
                if tables.enabling[atom as usize].is_within(&self.set) {
                    self.support[other] = atom;
                    return false;
                }
            }
        }
        // What else supports it is asked each time.
        self.support[other] = NONE;
        for tree in &guard.others {
            if !self.is_true(tree) {
                can_tell = true;
                if self.is_supported(tree, Some(other)) {
                    return false;
                }
            }
        }
        can_tell || !tables.opaque[other].is_within(&self.set)
    }

    /// Whether some set of transitions without which a condition stays false is in the set.
    fn is_supported(&self, tree: &Tree, of: Option<usize>) -> bool {
        match tree {
            Tree::Atom(atom) => self.tables.enabling[*atom].is_within(&self.set),
            Tree::Opaque => self.tables.opaque[of.expect("only transitions are opaque")].is_within(&self.set),
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
