//! The next queue: a random set of new states of which every lane has one, if it has no other way to go on.
//!
//! A subset drawn uniformly is kept if it serves every lane that needs it; a few draws are tried. What is rejected then is
//! repaired, and because a repaired subset is not quite as likely as any other, some random exchanges follow, which
//! bring it nearer to that: they favour no subset, and lead from each that serves all lanes to every other.
//! To draw one successor for each lane first and to fill up then would always be right, too, but far from uniform; to draw
//! until a subset happens to be right would take forever where there are many lanes.

use birk_exec::Random;

/// Subsets that are drawn before one is repaired, and states that are drawn for them.
const DRAWS: usize = 8;
const DRAWN_STATES: usize = 1024;
/// Exchanges after a repair, for each state of the queue, and altogether.
const EXCHANGES: usize = 4;
const MOST_EXCHANGES: usize = 1024;

/// The new states of a level, by number, each with the needy lanes that lead to it.
#[derive(Debug, Default)]
pub(super) struct Pool {
    lanes: Vec<u32>,
    /// Where the lanes of each state begin, and where they end.
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Pool {
    /// So many states; each step to one is given by the number of the state and by the lane, in the order of lanes.
    pub(super) fn new(states: usize, steps: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; states + 1];
        steps.clone().for_each(|(state, _)| starts[state as usize + 1] += 1);
        for state in 0..states {
            starts[state + 1] += starts[state];
        }
        let mut ends = starts.clone();
        let mut lanes = vec![0; starts[states] as usize];
        for (state, lane) in steps {
            let end = &mut ends[state as usize];
            // Several steps may lead from a lane to the same state.
            if *end == starts[state as usize] || lanes[*end as usize - 1] != lane {
                lanes[*end as usize] = lane;
                *end += 1;
            }
        }
        ends.pop();
        Self { lanes, starts, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn lanes_of(&self, state: u32) -> &[u32] {
        &self.lanes[self.starts[state as usize] as usize..self.ends[state as usize] as usize]
    }
}

/// Chooses as many states of the pool as `drawn` has, so that every needy lane has one of them. `drawn` is a random subset;
/// it has at least as many states as there are needy lanes. `count` has a number for each lane, and `is_whole` says that
/// nothing was left out of the pool.
pub(super) fn choose(
    pool: &Pool,
    drawn: Vec<u32>,
    needy: &[u32],
    count: Vec<u32>,
    is_whole: bool,
    random: &mut Random,
) -> Vec<u32> {
    let width = drawn.len();
    let mut choice = Choice { pool, needy, count, queue: Vec::new() };
    if choice.take(drawn) {
        return choice.queue;
    }
    for _ in 1..if is_whole { DRAWS.min(DRAWN_STATES / width) } else { 0 } {
        if choice.redraw(random) {
            return choice.in_order();
        }
    }
    choice.repair(random);
    if is_whole {
        choice.exchange(random);
    }
    choice.in_order()
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

    /// The queue by the numbers of its states.
    fn in_order(&self) -> Vec<u32> {
        let mut is_inside = vec![false; self.pool.len()];
        self.queue.iter().for_each(|&state| is_inside[state as usize] = true);
        (0..self.pool.len() as u32).filter(|&state| is_inside[state as usize]).collect()
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
        let mut ways: Vec<(u32, u32)> = Vec::new();
        for state in 0..self.pool.len() as u32 {
            let lanes = self.pool.lanes_of(state).iter();
            ways.extend(lanes.filter(|&&lane| self.count[lane as usize] == 0).map(|&lane| (lane, state)));
        }
        ways.sort_unstable();
        let mut missing: Vec<&[(u32, u32)]> = ways.chunk_by(|one, other| one.0 == other.0).collect();
        for place in (1..missing.len()).rev() {
            missing.swap(place, random.below(place + 1));
        }
        for ways in missing {
            if self.count[ways[0].0 as usize] == 0 {
                self.add(ways[random.below(ways.len())].1);
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
