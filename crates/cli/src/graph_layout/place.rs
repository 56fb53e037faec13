//! Places along the layers: every item as close to its neighbours as the order and the room that others need allow. Of one layer,
//! given where the neighbours lie, the best places are an isotonic regression, found by pooling adjacent violators (Ayer,
//! Brunk, Ewing, Reid and Silverman 1955).

use crate::graph_layout::layers::{Item, Layered};

/// How often all layers are gone through: first by the neighbours on one side, then by all of them.
const ROUNDS: usize = 6;
const LAST_ROUNDS: usize = 12;
/// Large graphs are gone through less often.
const MAX_THOROUGH: usize = 20_000;
/// The room between boxes, and beside an edge or a label.
const BOX_GAP: f64 = 26.0;
const VIA_GAP: f64 = 14.0;
/// How much straighter the inner parts of long edges are than the ends.
const STRAIGHT: f64 = 8.0;

/// The middle of each item.
pub(super) fn places(graph: &Layered) -> Vec<f64> {
    let mut x = vec![0.0; graph.items.len()];
    for row in &graph.rows {
        let mut at = 0.0;
        for (index, &item) in row.iter().enumerate() {
            at += if index == 0 { 0.0 } else { apart(graph, row[index - 1], item) };
            x[item] = at;
        }
    }
    let (rounds, last) = if graph.items.len() > MAX_THOROUGH { (1, 2) } else { (ROUNDS, LAST_ROUNDS) };
    for _ in 0..rounds {
        (0..graph.rows.len()).for_each(|row| settle(graph, &mut x, row, [true, false]));
        (0..graph.rows.len()).rev().for_each(|row| settle(graph, &mut x, row, [false, true]));
    }
    for _ in 0..last {
        (0..graph.rows.len()).for_each(|row| settle(graph, &mut x, row, [true, true]));
        (0..graph.rows.len()).rev().for_each(|row| settle(graph, &mut x, row, [true, true]));
    }
    let left = (0..x.len()).map(|item| x[item] - graph.items[item].left).fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|place| *place -= left);
    x
}

/// How far the middles of two neighbours are apart, at least.
fn apart(graph: &Layered, left: usize, right: usize) -> f64 {
    let [left, right]: [&Item; 2] = [&graph.items[left], &graph.items[right]];
    left.right + right.left + if left.is_box && right.is_box { BOX_GAP } else { VIA_GAP }
}

/// Items that touch, and are moved together.
struct Pool {
    sum: f64,
    weight: f64,
    len: usize,
}

/// Gives the items of a row their best places, by the neighbours above, below, or both.
fn settle(graph: &Layered, x: &mut [f64], row: usize, [above, below]: [bool; 2]) {
    let row = &graph.rows[row];
    let mut pools: Vec<Pool> = Vec::with_capacity(row.len());
    // Measured from where each item would lie if all touched.
    let mut offsets = Vec::with_capacity(row.len());
    let mut offset = 0.0;
    for (index, &item) in row.iter().enumerate() {
        offset += if index == 0 { 0.0 } else { apart(graph, row[index - 1], item) };
        offsets.push(offset);
        let (mut sum, mut weight) = (0.0, 0.0);
        let sides = [(above, &graph.above[item]), (below, &graph.below[item])];
        for &other in sides.into_iter().filter(|(is_asked, _)| *is_asked).flat_map(|(_, near)| near) {
            let is_inner = !graph.items[item].is_box && !graph.items[other].is_box;
            let pull = if is_inner { STRAIGHT } else { 1.0 };
            sum += pull * x[other];
            weight += pull;
        }
        if weight == 0.0 {
            // Nobody pulls: it stays, and gives way to all others.
            (sum, weight) = (0.001 * x[item], 0.001);
        }
        pools.push(Pool { sum: sum - weight * offset, weight, len: 1 });
        while let [.., a, b] = &pools[..] {
            if a.sum / a.weight <= b.sum / b.weight {
                break;
            }
            let joined = Pool { sum: a.sum + b.sum, weight: a.weight + b.weight, len: a.len + b.len };
            pools.truncate(pools.len() - 2);
            pools.push(joined);
        }
    }
    let mut index = 0;
    for pool in &pools {
        for _ in 0..pool.len {
            x[row[index]] = pool.sum / pool.weight + offsets[index];
            index += 1;
        }
    }
}
