//! The order within the layers: as few crossings as sweeps by the mean position of the neighbours and exchanges of neighbours
//! find. Crossings are counted as by Barth, Jünger and Mutzel, "Simple and Efficient Bilayer Cross Counting", 2002.

use crate::graph_layout::layers::Layered;

/// The sweeps end when so many of them in a row have found nothing better.
const PATIENCE: usize = 6;
/// So many items are swept until that happens, and neighbours are exchanged; more are swept a few times only.
const MAX_THOROUGH: usize = 3_000;
const FEW_SWEEPS: usize = 4;
/// So many passes of exchanges, at most, follow a sweep.
const PASSES: usize = 8;
/// Small graphs are begun from several orders, as often as this number of items allows, but not more often than that.
const WORK: usize = 8_000;
const MAX_STARTS: usize = 24;

/// Orders the items of each layer.
pub(super) fn order(graph: &mut Layered) {
    let mut rows = Rows::new(graph);
    let mut best = (rows.crossings(), rows.rows.clone());
    let starts = (WORK / graph.items.len().max(1)).clamp(1, MAX_STARTS);
    for start in 0..starts {
        if start > 0 && best.0 > 0 {
            rows.shuffle(start);
        }
        rows.improve(&mut best);
    }
    graph.rows = best.1;
}

/// The order as it is now.
struct Rows<'g> {
    graph: &'g Layered,
    rows: Vec<Vec<usize>>,
    /// The position of each item in its row.
    position: Vec<usize>,
}

impl<'g> Rows<'g> {
    fn new(graph: &'g Layered) -> Self {
        let mut rows = Self { graph, rows: graph.rows.clone(), position: vec![0; graph.items.len()] };
        (0..rows.rows.len()).for_each(|row| rows.number(row));
        rows
    }

    /// Sweeps until nothing better is found for a while.
    fn improve(&mut self, best: &mut (usize, Vec<Vec<usize>>)) {
        let is_small = self.graph.items.len() <= MAX_THOROUGH;
        let (mut least, mut idle) = (usize::MAX, 0);
        for sweep in 0.. {
            if best.0 == 0 || idle == PATIENCE || !is_small && sweep == FEW_SWEEPS {
                return;
            }
            self.sweep(sweep % 2 == 0, sweep / 2 % 2 == 1);
            for _ in (0..PASSES).take_while(|_| is_small) {
                if !self.exchange() {
                    break;
                }
            }
            let crossings = self.crossings();
            idle = if crossings < least { 0 } else { idle + 1 };
            least = least.min(crossings);
            if crossings < best.0 {
                *best = (crossings, self.rows.clone());
            }
        }
    }

    /// Another order to begin with: the same one for the same number, so that a graph is always drawn the same.
    fn shuffle(&mut self, number: usize) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64);
        for row in 0..self.rows.len() {
            for at in (1..self.rows[row].len()).rev() {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                self.rows[row].swap(at, (state % (at as u64 + 1)) as usize);
            }
            self.number(row);
        }
    }

    fn number(&mut self, row: usize) {
        for (position, &item) in self.rows[row].iter().enumerate() {
            self.position[item] = position;
        }
    }

    /// Sorts each row by the mean position of the neighbours in the row before it; `reverses` says what becomes of those that
    /// have the same.
    fn sweep(&mut self, is_down: bool, reverses: bool) {
        let graph = self.graph;
        let near = if is_down { &graph.above } else { &graph.below };
        for step in 0..self.rows.len() {
            let row = if is_down { step } else { self.rows.len() - 1 - step };
            let mut last = -1.0;
            let mean = |item: usize| {
                let sum: usize = near[item].iter().map(|&other| self.position[other]).sum();
                sum as f64 / near[item].len() as f64
            };
            // An item without neighbours stays with the one to its left.
            let mut keyed: Vec<(f64, usize)> = Vec::with_capacity(self.rows[row].len());
            for &item in &self.rows[row] {
                last = if near[item].is_empty() { last } else { mean(item) };
                keyed.push((last, item));
            }
            if reverses {
                keyed.reverse();
            }
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.rows[row] = keyed.into_iter().map(|(_, item)| item).collect();
            self.number(row);
        }
    }

    /// Exchanges neighbours where that saves crossings; whether it did.
    fn exchange(&mut self) -> bool {
        let mut is_better = false;
        for row in 0..self.rows.len() {
            for at in 1..self.rows[row].len() {
                let (left, right) = (self.rows[row][at - 1], self.rows[row][at]);
                if self.crossings_of(right, left) < self.crossings_of(left, right) {
                    self.rows[row].swap(at - 1, at);
                    self.position[left] = at;
                    self.position[right] = at - 1;
                    is_better = true;
                }
            }
        }
        is_better
    }

    /// The crossings between the edges of two items if they lie in this order.
    fn crossings_of(&self, left: usize, right: usize) -> usize {
        let pairs = |near: &[Vec<usize>]| -> usize {
            let is_crossed = |a: usize, b: usize| self.position[a] > self.position[b];
            near[left].iter().map(|&a| near[right].iter().filter(|&&b| is_crossed(a, b)).count()).sum()
        };
        pairs(&self.graph.above) + pairs(&self.graph.below)
    }

    fn crossings(&self) -> usize {
        (0..self.rows.len().saturating_sub(1)).map(|row| self.crossings_below(row)).sum()
    }

    /// The crossings between a row and the next one: the pairs of edges in the wrong order, counted by a tree of sums.
    fn crossings_below(&self, row: usize) -> usize {
        let wide = self.rows[row + 1].len();
        let mut sums = vec![0_usize; wide + 1];
        let (mut count, mut seen) = (0, 0);
        for &upper in &self.rows[row] {
            let mut ends: Vec<usize> = self.graph.below[upper].iter().map(|&lower| self.position[lower]).collect();
            ends.sort_unstable();
            for &end in &ends {
                // Those seen before that end further to the right.
                let mut at = end + 1;
                let mut left = 0;
                while at > 0 {
                    left += sums[at];
                    at &= at - 1;
                }
                count += seen - left;
            }
            for &end in &ends {
                let mut at = end + 1;
                while at <= wide {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
                seen += 1;
            }
        }
        count
    }
}
