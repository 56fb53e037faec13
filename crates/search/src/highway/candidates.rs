//! What was noted of a level: the steps to new states, in the order in which a single worker would have noted them.
//!
//! Nothing is sorted. Equal states are found by a table of their tags; the states with the smallest tags are a subset drawn
//! uniformly, and the largest tag among them is found by selection. States stay in the order of their lanes, so that
//! neighbours in a level are alike, as they are in breadth-first search.

use std::mem;

use super::blocks::Blocks;
use crate::store::codec::NO_KEY;
use crate::store::memory::prefetch;

/// Candidates between asking for the slot of one and looking at it.
const CANDIDATES_AHEAD: usize = 16;

/// Room for candidates grows by at least so many.
const FEW_CANDIDATES: usize = 16;

/// A step of a lane to a state that was not visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) tag: u64,
    pub(super) key: u64,
    pub(super) lane: u32,
    /// Where the state lies among the noted ones.
    pub(super) at: u32,
}

/// What one worker noted of a level, or all of them.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) list: Vec<Candidate>,
    states: Blocks,
    /// Lanes that lead to new states only.
    pub(super) needy: Vec<u32>,
    /// Candidates that were not noted, because their tags were too large.
    pub(super) dropped: u64,
    /// Transitions that were not taken before, each with the tag of a state that it candidates.
    pub(super) untaken: Vec<(u64, u32)>,
    /// Where the candidates of lanes that follow each other begin, with the first lane.
    rows: Vec<(u32, usize)>,
}

impl Candidates {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.states.clear();
        self.needy.clear();
        self.untaken.clear();
        self.rows.clear();
        self.dropped = 0;
    }

    /// Forgets a level, and gives back what it did not need by far: a level before may have had many more candidates.
    pub(super) fn reset(&mut self) {
        let used = [self.list.len(), self.needy.len()];
        self.clear();
        trim(&mut self.list, used[0]);
        trim(&mut self.needy, used[1]);
    }

    /// Lanes from this one on come next.
    pub(super) fn begin_row(&mut self, lane: u32) {
        self.rows.push((lane, self.list.len()));
    }

    /// Notes a step to a state.
    #[inline]
    pub(super) fn add(&mut self, tag: u64, key: u64, lane: u32, state: &[u32]) {
        if self.list.len() == self.list.capacity() {
            // By a quarter, because what is there but never used counts for the limit of memory.
            self.list.reserve_exact(self.list.len() / 4 + FEW_CANDIDATES);
        }
        let at = self.states.push(state);
        self.list.push(Candidate { tag, key, lane, at });
    }

    pub(super) fn state(&self, candidate: &Candidate, words: usize) -> &[u32] {
        self.states.get(candidate.at, words)
    }

    /// Takes what workers have noted, in the order of lanes, and leaves them nothing.
    pub(super) fn gather<'n>(&mut self, all: impl Iterator<Item = &'n mut Candidates>) {
        self.reset();
        let mut all: Vec<&mut Candidates> = all.filter(|candidates| !candidates.rows.is_empty()).collect();
        if let [only] = &mut all[..] {
            mem::swap(self, only);
            return;
        }
        // To grow step by step would take up to twice the memory.
        self.list.reserve_exact(all.iter().map(|candidates| candidates.list.len()).sum());
        let mut rows = Vec::new();
        for candidates in &mut all {
            let base = self.states.take(&mut candidates.states);
            let ends = candidates.rows.iter().skip(1).map(|row| row.1).chain([candidates.list.len()]);
            rows.extend(
                candidates
                    .rows
                    .iter()
                    .zip(ends)
                    .map(|(&(lane, start), end)| (lane, &candidates.list[start..end], base)),
            );
            self.needy.extend_from_slice(&candidates.needy);
            self.untaken.append(&mut candidates.untaken);
            self.dropped += candidates.dropped;
        }
        rows.sort_unstable_by_key(|row| row.0);
        for (_, list, base) in rows {
            self.list.extend(list.iter().map(|candidate| Candidate { at: candidate.at + base, ..*candidate }));
        }
        all.into_iter().for_each(Candidates::reset);
        self.needy.sort_unstable();
    }

    /// Takes what was noted later of other lanes, and leaves nothing.
    pub(super) fn append(&mut self, other: &mut Candidates) {
        let base = self.states.take(&mut other.states);
        self.list.extend(other.list.iter().map(|candidate| Candidate { at: candidate.at + base, ..*candidate }));
        self.untaken.append(&mut other.untaken);
        other.clear();
    }

    /// Forgets the states, and gives their memory to others.
    pub(super) fn lend<'n>(&mut self, others: impl ExactSizeIterator<Item = &'n mut Candidates>) {
        self.states.clear();
        self.states.lend(others.map(|candidates| &mut candidates.states));
    }

    /// Bytes that are needed to put it together with others.
    pub(super) fn used(&self) -> u64 {
        (self.list.len() * size_of::<Candidate>() + self.needy.len() * 4) as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.list.capacity() * size_of::<Candidate>()
            + self.untaken.capacity() * size_of::<(u64, u32)>()
            + self.needy.capacity() * 4) as u64
            + self.states.bytes()
    }
}

/// The distinct states of all candidates, numbered in the order in which they were noted.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// For each candidate the number of its state.
    pub(super) numbers: Vec<u32>,
    /// For each state its first candidate.
    pub(super) firsts: Vec<u32>,
    /// For each state its tag.
    tags: Vec<u64>,
    /// At a place that a tag decides, its upper half and one more than the number of its state.
    slots: Vec<u64>,
}

/// The states with the smallest tags, and the largest of these tags.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) numbers: Vec<u32>,
    pub(super) largest: u64,
}

impl Distinct {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Numbers the states of these candidates.
    pub(super) fn number(&mut self, candidates: &Candidates, words: usize) {
        let (count, states) = (self.numbers.len(), self.firsts.len());
        self.numbers.clear();
        self.firsts.clear();
        self.tags.clear();
        self.slots.clear();
        trim(&mut self.numbers, count);
        trim(&mut self.firsts, states);
        trim(&mut self.tags, states);
        trim(&mut self.slots, slots_for(candidates.list.len()));
        // Many candidates are of states that were offered before: most slots stay free.
        self.slots.resize(slots_for(candidates.list.len()), 0);
        self.number_more(candidates, words);
    }

    /// Numbers the states of candidates that were added.
    pub(super) fn number_more(&mut self, candidates: &Candidates, words: usize) {
        let list = &candidates.list;
        if list.len() >= self.slots.len() {
            return self.number(candidates, words);
        }
        self.numbers.reserve_exact(list.len() - self.numbers.len());
        let mask = self.slots.len() - 1;
        for (at, candidate) in list.iter().enumerate().skip(self.numbers.len()) {
            if let Some(later) = list.get(at + CANDIDATES_AHEAD) {
                prefetch(&self.slots[later.tag as usize & mask]);
            }
            let upper = candidate.tag >> 32;
            let mut place = candidate.tag as usize & mask;
            let number = loop {
                let slot = self.slots[place];
                if slot == 0 {
                    self.firsts.push(at as u32);
                    self.tags.push(candidate.tag);
                    self.slots[place] = upper << 32 | self.firsts.len() as u64;
                    break self.firsts.len() as u32 - 1;
                }
                let number = slot as u32 - 1;
                if slot >> 32 == upper
                    && is_same(candidates, &list[self.firsts[number as usize] as usize], candidate, words)
                {
                    break number;
                }
                place = (place + 1) & mask;
            };
            self.numbers.push(number);
        }
    }

    /// The first candidate of a state.
    pub(super) fn candidate<'n>(&self, candidates: &'n Candidates, number: u32) -> &'n Candidate {
        &candidates.list[self.firsts[number as usize] as usize]
    }

    /// So many states, or all if there are not more: those with the smallest tags, by number.
    pub(super) fn smallest(&self, count: usize) -> Drawn {
        let all = 0..self.len() as u32;
        if self.len() <= count {
            return Drawn { numbers: all.collect(), largest: self.tags.iter().copied().max().unwrap_or(0) };
        }
        let Some(last) = count.checked_sub(1) else { return Drawn::default() };
        let mut tags = self.tags.clone();
        let (below, &mut largest, _) = tags.select_nth_unstable(last);
        // Different states may have the same tag; only so many of them are drawn as there is room for.
        let mut room = count - below.iter().filter(|&&tag| tag < largest).count();
        let is_drawn = |&number: &u32| {
            let tag = self.tags[number as usize];
            let is_last = tag == largest && room > 0;
            room -= usize::from(is_last);
            is_last || tag < largest
        };
        Drawn { numbers: all.filter(is_drawn).collect(), largest }
    }

    /// Bytes that it needs for so many candidates, of which about half are of states that were offered before; and what the
    /// choice among them needs for a while.
    pub(super) fn bytes_for(count: u64) -> u64 {
        const CHOICE: u64 = 14;
        slots_for(count as usize) as u64 * 8 + count * (10 + CHOICE)
    }

    pub(super) fn bytes(&self) -> u64 {
        let (numbers, tags) = (self.numbers.capacity() + self.firsts.capacity(), self.tags.capacity());
        (numbers * 4 + (tags + self.slots.capacity()) * 8) as u64
    }
}

/// Gives memory back of an empty list that has much more than this many need.
fn trim<T>(list: &mut Vec<T>, used: usize) {
    if list.capacity() / 4 > used {
        list.shrink_to(used * 2);
    }
}

/// The size of the table for so many candidates.
fn slots_for(count: usize) -> usize {
    (count * 4 / 3 + 1).next_power_of_two()
}

/// Whether two candidates are of one state. Where both have a key, that decides, as in the visited set.
#[inline]
fn is_same(candidates: &Candidates, one: &Candidate, other: &Candidate, words: usize) -> bool {
    let has_keys = one.key != NO_KEY && other.key != NO_KEY;
    one.tag == other.tag
        && (has_keys && one.key == other.key
            || !has_keys && candidates.state(one, words) == candidates.state(other, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest tags among the distinct states, whatever is noted twice, has the same tag, or no key.
    #[test]
    fn equal_states_are_one_and_the_smallest_tags_are_drawn() {
        let mut random = birk_exec::Random::new(7);
        for round in 0..2_000 {
            let (mut candidates, mut states) = (Candidates::default(), Vec::<u32>::new());
            // Tags collide on purpose: a state and the next have the same one in every third round.
            let tag = |state: u32| {
                let state = if round % 3 == 0 { state / 2 } else { state };
                (u64::from(state) * 0x9e37_79b9) << 20 | 5
            };
            candidates.begin_row(0);
            for lane in 0..random.below(40) as u32 {
                let state = random.below(30) as u32;
                let key = if random.below(4) == 0 && round % 2 == 0 { NO_KEY } else { u64::from(state) };
                candidates.add(tag(state), key, lane, &[state, 1]);
                states.push(state);
            }
            let mut distinct = Distinct::default();
            distinct.number(&candidates, 2);
            let mut seen: Vec<u32> = Vec::new();
            for (at, state) in states.iter().enumerate() {
                let expected = seen.iter().position(|other| other == state).unwrap_or_else(|| {
                    seen.push(*state);
                    seen.len() - 1
                });
                assert_eq!(distinct.numbers[at] as usize, expected, "{states:?}");
            }
            assert_eq!(distinct.len(), seen.len());
            let count = random.below(12);
            let drawn = distinct.smallest(count);
            assert_eq!(drawn.numbers.len(), count.min(seen.len()));
            assert!(drawn.numbers.is_sorted());
            let is_drawn = |number: &usize| drawn.numbers.contains(&(*number as u32));
            let tags = |drawn: bool| (0..seen.len()).filter(move |n| is_drawn(n) == drawn).map(|n| tag(seen[n]));
            assert!(tags(true).all(|one| tags(false).all(|other| one <= other)), "{states:?}");
            assert!(drawn.numbers.is_empty() || Some(drawn.largest) == tags(true).max());
        }
    }

    /// Rows of several workers come out as one worker would have noted them.
    #[test]
    fn rows_are_put_in_order() {
        let mut random = birk_exec::Random::new(3);
        for _ in 0..500 {
            let (mut alone, mut several) = (Candidates::default(), <[Candidates; 3]>::default());
            for row in 0..random.below(9) as u32 {
                let worker = &mut several[random.below(3)];
                alone.begin_row(row * 4);
                worker.begin_row(row * 4);
                for step in 0..random.below(5) as u32 {
                    let state = [random.below(50) as u32, step];
                    let lane = row * 4 + step.min(3);
                    alone.add(hash(&state), 1, lane, &state);
                    worker.add(hash(&state), 1, lane, &state);
                }
            }
            let mut together = Candidates::default();
            together.gather(several.iter_mut());
            let list = |candidates: &Candidates| -> Vec<(u64, u32, Vec<u32>)> {
                candidates
                    .list
                    .iter()
                    .map(|candidate| (candidate.tag, candidate.lane, candidates.state(candidate, 2).to_vec()))
                    .collect()
            };
            assert_eq!(list(&together), list(&alone));
            assert!(several.iter().all(|candidates| candidates.list.is_empty() && candidates.rows.is_empty()));
        }
    }

    fn hash(state: &[u32]) -> u64 {
        crate::store::hash::hash(state, 1)
    }
}
