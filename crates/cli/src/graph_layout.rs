//! Places for the nodes of a small directed graph: in layers by their distance from the first node, neighbours close
//! to each other (after Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
//! Structures", 1981; edges that skip a layer get no bends, since the distance makes them rare).

/// How often the order of the layers is improved.
const SWEEPS: usize = 6;

/// Where each node lies: its layer, and its place along the layer, in units of a node's width.
pub(crate) fn places(nodes: usize, edges: &[(usize, usize)]) -> Vec<(usize, f64)> {
    let graph = Graph::new(nodes, edges);
    let layer = graph.layers();
    let depth = layer.iter().copied().max().map_or(0, |deepest| deepest + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
    (0..nodes).for_each(|node| rows[layer[node]].push(node));
    let mut x = vec![0.0; nodes];
    for row in &rows {
        spread(row, &mut x, |_| None);
    }
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        let order: Vec<usize> = if is_down { (0..depth).collect() } else { (0..depth).rev().collect() };
        for at in order {
            let near = if is_down { &graph.before } else { &graph.after };
            let wish = |node: usize| {
                let beside: Vec<f64> =
                    near[node].iter().filter(|&&other| layer[other] != layer[node]).map(|&other| x[other]).collect();
                (!beside.is_empty()).then(|| beside.iter().sum::<f64>() / beside.len() as f64)
            };
            let wishes: Vec<Option<f64>> = rows[at].iter().map(|&node| wish(node)).collect();
            let key = |index: usize| wishes[index].unwrap_or(x[rows[at][index]]);
            let mut order: Vec<usize> = (0..rows[at].len()).collect();
            order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
            let sorted: Vec<(usize, Option<f64>)> = order.iter().map(|&i| (rows[at][i], wishes[i])).collect();
            rows[at] = sorted.iter().map(|(node, _)| *node).collect();
            spread(&rows[at], &mut x, |index| sorted[index].1);
        }
    }
    let left = x.iter().copied().fold(f64::INFINITY, f64::min);
    (0..nodes).map(|node| (layer[node], x[node] - left)).collect()
}

/// Gives the nodes of a row places as close to their wishes as the others allow, in order, one unit apart.
fn spread(row: &[usize], x: &mut [f64], wish: impl Fn(usize) -> Option<f64>) {
    let wishes: Vec<f64> = (0..row.len()).map(|i| wish(i).unwrap_or(x[row[i]])).collect();
    // From the left nobody may stand too far left, from the right nobody too far right: the middle is fair to both.
    let mut from_left = wishes.clone();
    let mut from_right = wishes;
    for i in 1..row.len() {
        from_left[i] = from_left[i].max(from_left[i - 1] + 1.0);
    }
    for i in (1..row.len()).rev() {
        from_right[i - 1] = from_right[i - 1].min(from_right[i] - 1.0);
    }
    for (i, &node) in row.iter().enumerate() {
        x[node] = f64::midpoint(from_left[i], from_right[i]);
    }
}

struct Graph {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Graph {
    fn new(nodes: usize, edges: &[(usize, usize)]) -> Self {
        let mut graph = Self { before: vec![Vec::new(); nodes], after: vec![Vec::new(); nodes] };
        for &(from, to) in edges.iter().filter(|(from, to)| *from < nodes && *to < nodes) {
            graph.after[from].push(to);
            graph.before[to].push(from);
        }
        graph
    }

    /// The distance of each node from the first; what cannot be reached from it lies with the first of its own.
    fn layers(&self) -> Vec<usize> {
        let mut layer = vec![usize::MAX; self.after.len()];
        for start in 0..layer.len() {
            if layer[start] != usize::MAX {
                continue;
            }
            layer[start] = 0;
            let mut queue = std::collections::VecDeque::from([start]);
            while let Some(node) = queue.pop_front() {
                for &next in &self.after[node] {
                    if layer[next] == usize::MAX {
                        layer[next] = layer[node] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        layer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_distances_and_nodes_do_not_overlap() {
        // A diamond with a tail, a loop and an edge back.
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 4), (4, 0)];
        let places = places(5, &edges);
        assert_eq!(places.iter().map(|(layer, _)| *layer).collect::<Vec<_>>(), [0, 1, 1, 2, 3]);
        assert!((places[1].1 - places[2].1).abs() >= 1.0);
        let middle = f64::midpoint(places[1].1, places[2].1);
        assert!((places[0].1 - middle).abs() < 0.01 && (places[3].1 - middle).abs() < 0.01, "{places:?}");
    }

    #[test]
    fn a_tree_has_no_crossings() {
        // Children given in an order that crosses: 1's are 5 and 6, 2's are 3 and 4.
        let edges = [(0, 1), (0, 2), (1, 5), (1, 6), (2, 3), (2, 4)];
        let places = places(7, &edges);
        let x = |node: usize| places[node].1;
        assert_eq!(x(1) < x(2), x(5).max(x(6)) < x(3).min(x(4)), "{places:?}");
        assert_eq!(super::places(0, &[]), []);
    }
}
