//! The next queue: a random set of new states of which every lane has one, if it has no other way to go on.

use birk_exec::Random;

/// The lanes that would end if none of their successors were chosen, each with its successors, as numbers of the new
/// states of this level. A successor may be listed twice.
#[derive(Debug, Default)]
pub(super) struct Needy {
    successors: Vec<u32>,
    /// Where the successors of each lane end.
    ends: Vec<usize>,
}

impl Needy {
    pub(super) fn clear(&mut self) {
        self.successors.clear();
        self.ends.clear();
    }

    /// A successor of the lane that is being looked at.
    pub(super) fn offer(&mut self, state: u32) {
        self.successors.push(state);
    }

    /// The lane has been looked at: it is needy, or what it offered is forgotten.
    pub(super) fn close(&mut self, is_needy: bool) {
        let start = self.ends.last().copied().unwrap_or(0);
        if is_needy {
            self.successors[start..].sort_unstable();
            self.ends.push(self.successors.len());
        } else {
            self.successors.truncate(start);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The new states that needy lanes lead to, each once, in order.
    pub(super) fn reached(&self) -> Vec<u32> {
        let mut reached = self.successors.clone();
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.successors.capacity() * 4 + self.ends.capacity() * 8) as u64
    }

    fn of(&self, lane: usize) -> impl Iterator<Item = u32> + '_ {
        let start = if lane == 0 { 0 } else { self.ends[lane - 1] };
        let successors = &self.successors[start..self.ends[lane]];
        successors
            .iter()
            .enumerate()
            .filter(|&(i, state)| i == 0 || successors[i - 1] != *state)
            .map(|(_, &state)| state)
    }
}

/// Chooses `width` states of the pool, or all if there are not more, so that every needy lane has one of them: a subset
/// drawn uniformly, then repaired. All successors of needy lanes are in the pool, and there are at most `width` needy lanes.
///
/// To draw one successor for each lane first and to fill up then would always be right, too, but far from uniform; to draw
/// until a subset happens to be right would take for ever.
pub(super) fn choose(mut pool: Vec<u32>, width: usize, needy: &Needy, random: &mut Random) -> Vec<u32> {
    if pool.len() <= width {
        return pool;
    }
    for place in 0..width {
        let other = place + random.below(pool.len() - place);
        pool.swap(place, other);
    }
    pool.truncate(width);
    Repair::new(pool, needy).run(random)
}

struct Repair<'a> {
    needy: &'a Needy,
    queue: Vec<u32>,
    /// For each lane, how many of its successors are in the queue.
    count: Vec<u32>,
    /// The needy lanes that lead to a state, as pairs of state and lane, in order.
    lanes: Vec<(u32, u32)>,
}

impl<'a> Repair<'a> {
    fn new(queue: Vec<u32>, needy: &'a Needy) -> Self {
        let pairs = (0..needy.len()).flat_map(|lane| needy.of(lane).map(move |state| (state, lane as u32)));
        let mut lanes: Vec<(u32, u32)> = pairs.collect();
        lanes.sort_unstable();
        let mut repair = Self { needy, queue: Vec::new(), count: vec![0; needy.len()], lanes };
        for state in queue {
            repair.add(state);
        }
        repair
    }

    /// Every needy lane without a successor in the queue gets one, and another state that nobody needs goes.
    fn run(mut self, random: &mut Random) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.needy.len()).filter(|&lane| self.count[lane] == 0).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        for lane in order {
            if self.count[lane] == 0 {
                let successors: Vec<u32> = self.needy.of(lane).collect();
                self.add(successors[random.below(successors.len())]);
                self.evict(random);
            }
        }
        self.queue.sort_unstable();
        self.queue
    }

    fn add(&mut self, state: u32) {
        for at in self.lanes_of(state) {
            self.count[self.lanes[at].1 as usize] += 1;
        }
        self.queue.push(state);
    }

    /// Removes a random state that is not the only one of any needy lane. There is one: the queue has one state more than
    /// there can be needy lanes, and a state that cannot go is the only one of a lane of its own.
    fn evict(&mut self, random: &mut Random) {
        loop {
            let place = random.below(self.queue.len());
            let lanes = self.lanes_of(self.queue[place]);
            if lanes.clone().all(|at| self.count[self.lanes[at].1 as usize] >= 2) {
                for at in lanes {
                    self.count[self.lanes[at].1 as usize] -= 1;
                }
                self.queue.swap_remove(place);
                return;
            }
        }
    }

    /// Where the lanes that lead to a state are listed.
    fn lanes_of(&self, state: u32) -> std::ops::Range<usize> {
        let from = self.lanes.partition_point(|pair| pair.0 < state);
        from..from + self.lanes[from..].partition_point(|pair| pair.0 == state)
    }
}
