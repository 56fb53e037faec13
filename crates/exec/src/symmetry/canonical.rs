//! The representative of a state: the least of its images, in an order that is cheap to find the least in.
//!
//! Where no array that is indexed by names holds names, and no element has two names as indices, everything that a state says of
//! a name is a key: the elements that it indexes, and which variables and sets hold it. Names with equal keys are interchangeable,
//! so that sorting the names of each group by their keys gives one and the same state for all images. In a ring the names keep
//! their order: of all rotations of the keys the least is taken.

use std::sync::atomic::{AtomicBool, Ordering};

use super::action::{Action, Held, Moved, Permutation, inverse};
use super::refine::Refinement;
use super::ring;

/// Where an element is.
#[derive(Clone, Copy, Debug)]
struct Spot {
    word: u32,
    shift: u32,
}

impl Spot {
    #[inline]
    fn get(self, state: &[u32], mask: u32) -> u32 {
        state[self.word as usize] >> self.shift & mask
    }

    #[inline]
    fn set(self, state: &mut [u32], mask: u32, value: u32) {
        let word = &mut state[self.word as usize];
        *word = *word & !(mask << self.shift) | value << self.shift;
    }
}

/// An element for each name of a group.
#[derive(Clone, Debug)]
struct Field {
    mask: u32,
    /// Its first bit in the key.
    bit: u32,
    /// By the position of the name.
    spots: Vec<Spot>,
}

/// A variable that holds a name.
#[derive(Clone, Debug)]
struct Holder {
    spot: Spot,
    mask: u32,
    bit: u32,
    /// For each stored value, the position of the name of this group, or `NOBODY`.
    positions: Vec<u8>,
    /// The first value that has one: what is stored may range over all numbers of 32 bits.
    first: u32,
    /// For each position, what is stored.
    stored: Vec<u32>,
    live: Option<(Spot, u32, Vec<bool>)>,
}

const NOBODY: u8 = u8::MAX;

impl Holder {
    /// The position of the name that it holds in a state; `NOBODY` where it holds another value.
    #[inline]
    fn position(&self, state: &[u32]) -> u8 {
        let value = self.spot.get(state, self.mask).wrapping_sub(self.first);
        self.positions.get(value as usize).copied().unwrap_or(NOBODY)
    }
}

/// A set of names.
#[derive(Clone, Debug)]
struct Members {
    spot: Spot,
    bit: u32,
    /// By the position of the name, its bit in the set.
    members: Vec<u32>,
    live: Option<(Spot, u32, Vec<bool>)>,
}

/// What is known of the names of a group.
#[derive(Clone, Debug, Default)]
struct Group {
    size: usize,
    is_ring: bool,
    fields: Vec<Field>,
    holders: Vec<Holder>,
    sets: Vec<Members>,
    /// Of a key.
    bits: u32,
}

/// Finds representatives.
#[derive(Debug)]
pub(super) struct Canonical {
    pub(super) action: Action,
    groups: Vec<Group>,
    /// What keys do not say, if there is such.
    refinement: Option<Refinement>,
    /// Whether all states of an orbit had the same representative so far.
    is_exact: AtomicBool,
}

/// A key of as many bits as are needed.
trait Key: Copy + Ord + Default {
    fn put(&mut self, value: u32, bit: u32);
    fn take(self, mask: u32, bit: u32) -> u32;
}

impl Key for u64 {
    #[inline]
    fn put(&mut self, value: u32, bit: u32) {
        *self |= u64::from(value) << bit;
    }

    #[inline]
    fn take(self, mask: u32, bit: u32) -> u32 {
        (self >> bit) as u32 & mask
    }
}

impl Key for u128 {
    #[inline]
    fn put(&mut self, value: u32, bit: u32) {
        *self |= u128::from(value) << bit;
    }

    #[inline]
    fn take(self, mask: u32, bit: u32) -> u32 {
        (self >> bit) as u32 & mask
    }
}

impl Canonical {
    pub(super) fn new(action: Action) -> Self {
        let group = |(names, &is_ring): (&Vec<u32>, &bool)| Group { size: names.len(), is_ring, ..Group::default() };
        let mut groups: Vec<Group> = action.groups.iter().zip(&action.rings).map(group).collect();
        let is_simple = action.variables.iter().all(|variable| {
            (0..variable.slot.len).all(|element| {
                let names = variable.names_of(element).count();
                names == 0 || names == 1 && matches!(variable.held, Held::Number)
            })
        });
        if is_simple {
            action.variables.iter().for_each(|variable| fill(&mut groups, variable, &action));
        }
        let is_short = groups.iter().all(|group| group.bits <= 128);
        let refinement = (!is_simple || !is_short).then(|| Refinement::new(&action));
        Self { action, groups, refinement, is_exact: AtomicBool::new(true) }
    }

    /// Whether all states of an orbit had the same representative so far.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact.load(Ordering::Relaxed)
    }

    /// Whether keys say everything: then representatives are exact whatever the state.
    pub(super) fn is_by_keys(&self) -> bool {
        self.refinement.is_none()
    }

    /// Replaces a state by its representative; `moved` hears of each group that is permuted: the position that each name was at.
    #[inline]
    pub(super) fn replace(&self, state: &mut [u32], moved: &mut impl FnMut(usize, &[u8])) {
        if let Some(refinement) = &self.refinement {
            return self.refine(refinement, state, moved);
        }
        for (number, group) in self.groups.iter().enumerate() {
            match (group.bits, group.size) {
                (0, _) => {}
                (..=64, ..=8) => group.sort::<u64, 8>(number, state, moved),
                (..=64, ..=16) => group.sort::<u64, 16>(number, state, moved),
                (..=64, _) => group.sort::<u64, 64>(number, state, moved),
                (_, ..=16) => group.sort::<u128, 16>(number, state, moved),
                _ => group.sort::<u128, 64>(number, state, moved),
            }
        }
    }

    #[cold]
    fn refine(&self, refinement: &Refinement, state: &mut [u32], moved: &mut impl FnMut(usize, &[u8])) {
        let (permutation, is_exact) = match self.action.rings.contains(&true) {
            true => ring::permutation(&self.action, state),
            false => refinement.permutation(&self.action, state),
        };
        if !is_exact {
            self.is_exact.store(false, Ordering::Relaxed);
        }
        let image = self.action.image(&permutation, state);
        state.copy_from_slice(&image);
        for (number, to) in inverse(&permutation).iter().enumerate() {
            moved(number, to);
        }
    }

    /// Replaces a state by its representative, and says by which permutation.
    pub(super) fn permutation(&self, state: &mut [u32]) -> Permutation {
        let mut permutation = self.action.identity();
        self.replace(state, &mut |group, before| {
            before.iter().enumerate().for_each(|(to, &from)| permutation[group][usize::from(from)] = to as u8);
        });
        permutation
    }
}

/// Adds what a variable says of names.
fn fill(groups: &mut [Group], variable: &Moved, action: &Action) {
    let slot = &variable.slot;
    if slot.bits == 0 {
        return;
    }
    let spot = |slot: &birk_ir::Slot, element: u32| {
        let (word, shift) = slot.position(element);
        Spot { word: word as u32, shift }
    };
    for element in 0..slot.len {
        let live = variable.live.as_ref().map(|(counter, live)| (spot(counter, element), counter.mask(), live.clone()));
        match (&variable.held, variable.names_of(element).next()) {
            (Held::Number, None) => {}
            (_, Some((group, 0))) => {
                // One element stands for those of all names.
                let (number, group) = (group, &mut groups[usize::from(group)]);
                let mut spots = Vec::new();
                for position in 0..group.size as u8 {
                    let mut swapped = action.identity();
                    swapped[usize::from(number)].swap(0, usize::from(position));
                    spots.push(spot(slot, action.element(&swapped, variable, element)));
                }
                group.fields.push(Field { mask: slot.mask(), bit: group.bits, spots });
                group.bits += slot.bits;
            }
            (_, Some(_)) => {}
            (Held::Name(names), None) => {
                for (number, group) in groups.iter_mut().enumerate() {
                    let of = |name: &Option<(u8, u8)>| name.filter(|name| usize::from(name.0) == number);
                    let is_stored = |value: i64| (0..=i64::from(slot.mask())).contains(&(value - slot.lo));
                    let values: Vec<(i64, u8)> = (0..)
                        .zip(names)
                        .filter_map(|(value, name)| Some((value, of(name)?.1)))
                        .filter(|&(value, _)| is_stored(value))
                        .collect();
                    if values.is_empty() {
                        continue;
                    }
                    // They ascend.
                    let (least, most) = (values[0].0, values[values.len() - 1].0);
                    let first = (least - slot.lo) as u32;
                    let mut positions = vec![NOBODY; (most - least) as usize + 1];
                    let mut stored = vec![0; group.size];
                    for (value, position) in values {
                        stored[usize::from(position)] = (value - slot.lo) as u32;
                        positions[(value - least) as usize] = position;
                    }
                    let live = live.clone();
                    let holder = Holder {
                        spot: spot(slot, element),
                        mask: slot.mask(),
                        bit: group.bits,
                        positions,
                        first,
                        stored,
                        live,
                    };
                    group.holders.push(holder);
                    group.bits += 1;
                }
            }
            (Held::Set(names), None) => {
                for (number, group) in groups.iter_mut().enumerate() {
                    let of = |(bit, name): (u32, &Option<(u8, u8)>)| {
                        name.filter(|name| usize::from(name.0) == number).map(|name| (name.1, bit))
                    };
                    let mut members: Vec<(u8, u32)> = (0..slot.bits).zip(names).filter_map(of).collect();
                    if members.is_empty() {
                        continue;
                    }
                    members.sort_unstable();
                    let members = members.into_iter().map(|(_, bit)| bit).collect();
                    group.sets.push(Members {
                        spot: spot(slot, element),
                        bit: group.bits,
                        members,
                        live: live.clone(),
                    });
                    group.bits += 1;
                }
            }
        }
    }
}

/// Whether something that may not be live is.
#[inline]
fn is_live(live: &Option<(Spot, u32, Vec<bool>)>, state: &[u32]) -> bool {
    match live {
        None => true,
        Some((counter, mask, live)) => live.get(counter.get(state, *mask) as usize) == Some(&true),
    }
}

impl Group {
    /// Sorts the names by their keys, or turns them if they form a ring.
    #[inline]
    fn sort<K: Key, const N: usize>(&self, number: usize, state: &mut [u32], moved: &mut impl FnMut(usize, &[u8])) {
        let mut room = [K::default(); N];
        let keys = &mut room[..self.size];
        self.read(state, keys);
        let start = if self.is_ring { ring::least_start(keys) } else { 0 };
        if start == 0 && (self.is_ring || keys.is_sorted()) {
            return;
        }
        let mut order = [0u8; N];
        let order = &mut order[..self.size];
        order.iter_mut().enumerate().for_each(|(position, at)| *at = position as u8);
        if self.is_ring {
            keys.rotate_left(start);
            order.rotate_left(start);
        } else {
            sort_with(keys, order);
        }
        self.write(state, keys, order);
        moved(number, order);
    }

    #[inline]
    fn read<K: Key>(&self, state: &[u32], keys: &mut [K]) {
        for field in &self.fields {
            for (key, spot) in keys.iter_mut().zip(&field.spots) {
                key.put(spot.get(state, field.mask), field.bit);
            }
        }
        for holder in &self.holders {
            let position = holder.position(state);
            if position != NOBODY && is_live(&holder.live, state) {
                keys[usize::from(position)].put(1, holder.bit);
            }
        }
        for set in &self.sets {
            if is_live(&set.live, state) {
                let word = state[set.spot.word as usize] >> set.spot.shift;
                for (key, member) in keys.iter_mut().zip(&set.members) {
                    key.put(word >> member & 1, set.bit);
                }
            }
        }
    }

    /// Writes what the keys say; of two names that are at the same places nobody can tell which is which.
    #[inline]
    fn write<K: Key>(&self, state: &mut [u32], keys: &[K], order: &[u8]) {
        for holder in &self.holders {
            let position = holder.position(state);
            if position != NOBODY && is_live(&holder.live, state) {
                let to = order.iter().position(|&before| before == position).unwrap_or(0);
                holder.spot.set(state, holder.mask, holder.stored[to]);
            }
        }
        for set in &self.sets {
            if is_live(&set.live, state) {
                let word = &mut state[set.spot.word as usize];
                for (key, member) in keys.iter().zip(&set.members) {
                    let at = set.spot.shift + member;
                    *word = *word & !(1 << at) | key.take(1, set.bit) << at;
                }
            }
        }
        for field in &self.fields {
            for (key, spot) in keys.iter().zip(&field.spots) {
                spot.set(state, field.mask, key.take(field.mask, field.bit));
            }
        }
    }
}

/// Sorts the keys, few as they are, and names with them.
#[inline]
fn sort_with<K: Key>(keys: &mut [K], order: &mut [u8]) {
    for next in 1..keys.len() {
        let (key, at) = (keys[next], order[next]);
        let mut place = next;
        while place > 0 && keys[place - 1] > key {
            (keys[place], order[place]) = (keys[place - 1], order[place - 1]);
            place -= 1;
        }
        (keys[place], order[place]) = (key, at);
    }
}
