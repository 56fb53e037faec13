//! The next queue: a random set of new states of which every lane has one, if it has no other way to go on.
//!
//! A subset drawn uniformly is kept if it serves every lane that needs it; a few draws are tried. What is rejected then is
//! repaired, and because a repaired subset is not quite as likely as any other, some random exchanges follow, which
//! bring it nearer to that: they favour no subset, and lead from each that serves all lanes to every other.
//! To draw one successor for each lane first and to fill up then would always be right, too, but far from uniform; to draw
//! until a subset happens to be right would take for ever where there are many lanes.

use birk_exec::Random;

/// Subsets that are drawn before one is repaired, and states that are drawn for them.
const DRAWS: usize = 8;
const DRAWN_STATES: usize = 1024;
/// Exchanges after a repair, for each state of the queue, and altogether.
const EXCHANGES: usize = 4;
const MOST_EXCHANGES: usize = 1024;

/// The new states of a level, as numbers in the order of their random tags, each with the needy lanes that lead to it.
#[derive(Debug, Default)]
pub(super) struct Pool {
    lanes: Vec<u32>,
    /// Where the lanes of each state begin.
    starts: Vec<u32>,
}

impl Pool {
    pub(super) fn clear(&mut self) {
        self.lanes.clear();
        self.starts.clear();
    }

    /// Another state.
    pub(super) fn open(&mut self) {
        self.starts.push(self.lanes.len() as u32);
    }

    /// A needy lane that leads to the state opened last; the same one only in a row.
    pub(super) fn lane(&mut self, lane: u32) {
        let start = self.starts.last().map_or(0, |&start| start as usize);
        if self.lanes[start..].last() != Some(&lane) {
            self.lanes.push(lane);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.lanes.capacity() + self.starts.capacity()) as u64 * 4
    }

    pub(super) fn lanes_of(&self, state: u32) -> &[u32] {
        let end = self.starts.get(state as usize + 1).map_or(self.lanes.len(), |&end| end as usize);
        &self.lanes[self.starts[state as usize] as usize..end]
    }
}

/// Chooses `width` states of the pool, or all if there are not more, so that every needy lane has one of them. There are at
/// most `width` needy lanes; `count` has a number for each lane, and `is_whole` says that nothing was left out of the pool.
pub(super) fn choose(
    pool: &Pool,
    width: usize,
    needy: &[u32],
    count: Vec<u32>,
    is_whole: bool,
    random: &mut Random,
) -> Vec<u32> {
    // The order is random: the first are as good as any.
    let first: Vec<u32> = (0..pool.len().min(width) as u32).collect();
    let mut choice = Choice { pool, needy, count, queue: Vec::new() };
    if choice.take(first) || choice.queue.len() == pool.len() {
        return choice.queue;
    }
    for _ in 1..if is_whole { DRAWS.min(DRAWN_STATES / width) } else { 0 } {
        if choice.redraw(random) {
            choice.queue.sort_unstable();
            return choice.queue;
        }
    }
    choice.repair(random);
    if is_whole {
        choice.exchange(random);
    }
    choice.queue.sort_unstable();
    choice.queue
}

struct Choice<'a> {
    pool: &'a Pool,
    needy: &'a [u32],
    /// For each needy lane, how many of its successors are in the queue.
    count: Vec<u32>,
    queue: Vec<u32>,
}

impl Choice<'_> {
    /// Makes this the queue; whether it serves all lanes.
    fn take(&mut self, queue: Vec<u32>) -> bool {
        self.needy.iter().for_each(|&lane| self.count[lane as usize] = 0);
        self.queue.clear();
        for state in queue {
            self.add(state);
        }
        self.needy.iter().all(|&lane| self.count[lane as usize] > 0)
    }

    fn redraw(&mut self, random: &mut Random) -> bool {
        let mut all: Vec<u32> = (0..self.pool.len() as u32).collect();
        let width = self.queue.len();
        for place in 0..width {
            let other = place + random.below(all.len() - place);
            all.swap(place, other);
        }
        all.truncate(width);
        self.take(all)
    }

    /// Every needy lane without a successor in the queue gets one, and another state that nobody needs goes.
    fn repair(&mut self, random: &mut Random) {
        let mut missing: Vec<u32> = self.needy.iter().copied().filter(|&lane| self.count[lane as usize] == 0).collect();
        missing.sort_unstable();
        let mut ways: Vec<(u32, u32)> = Vec::new();
        for state in 0..self.pool.len() as u32 {
            let lanes = self.pool.lanes_of(state).iter();
            ways.extend(lanes.filter(|&&lane| self.count[lane as usize] == 0).map(|&lane| (lane, state)));
        }
        ways.sort_unstable();
        for place in (1..missing.len()).rev() {
            missing.swap(place, random.below(place + 1));
        }
        for lane in missing {
            if self.count[lane as usize] == 0 {
                let from = ways.partition_point(|way| way.0 < lane);
                let many = ways[from..].partition_point(|way| way.0 == lane);
                self.add(ways[from + random.below(many)].1);
                self.evict(random);
            }
        }
    }

    fn add(&mut self, state: u32) {
        self.pool.lanes_of(state).iter().for_each(|&lane| self.count[lane as usize] += 1);
        self.queue.push(state);
    }

    /// Removes a random state that is not the only one of any needy lane. There is one: the queue has one state more than
    /// there can be needy lanes, and a state that cannot go is the only one of a lane of its own.
    fn evict(&mut self, random: &mut Random) {
        loop {
            let place = random.below(self.queue.len());
            let lanes = self.pool.lanes_of(self.queue[place]);
            if lanes.iter().all(|&lane| self.count[lane as usize] >= 2) {
                lanes.iter().for_each(|&lane| self.count[lane as usize] -= 1);
                self.queue.swap_remove(place);
                return;
            }
        }
    }

    /// A random walk through the subsets that serve all lanes: a state inside and one outside, drawn at random, change
    /// places if all lanes are served then. As likely in either direction, so that in the end every subset is as likely.
    fn exchange(&mut self, random: &mut Random) {
        let mut is_inside = vec![false; self.pool.len()];
        self.queue.iter().for_each(|&state| is_inside[state as usize] = true);
        let mut outside: Vec<u32> = (0..self.pool.len() as u32).filter(|&state| !is_inside[state as usize]).collect();
        for _ in 0..(self.queue.len() * EXCHANGES).min(MOST_EXCHANGES) {
            let (place, other) = (random.below(self.queue.len()), random.below(outside.len()));
            let (old, new) = (self.pool.lanes_of(self.queue[place]), self.pool.lanes_of(outside[other]));
            new.iter().for_each(|&lane| self.count[lane as usize] += 1);
            old.iter().for_each(|&lane| self.count[lane as usize] -= 1);
            if old.iter().all(|&lane| self.count[lane as usize] > 0) {
                std::mem::swap(&mut self.queue[place], &mut outside[other]);
            } else {
                old.iter().for_each(|&lane| self.count[lane as usize] += 1);
                new.iter().for_each(|&lane| self.count[lane as usize] -= 1);
            }
        }
    }
}
