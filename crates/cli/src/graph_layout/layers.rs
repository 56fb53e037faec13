//! A graph in layers: boxes in the even ones, labels in the odd ones, and a place in each layer that an edge passes.

use crate::graph_layout::{Edge, Size};

/// More places of edges than this are not made: the longest edges then go straight to their ends.
const MAX_VIAS: usize = 150_000;
/// How far a loop goes beside its box, and how far the next one lies below.
pub(super) const LOOP: f64 = 26.0;
const LOOP_GAP: f64 = 4.0;
pub(super) const LOOP_HIGH: f64 = 18.0;
/// How wide the turn of an edge is between two boxes of the same layer.
pub(super) const TURN: f64 = 20.0;

/// A box, or the place of an edge in a layer.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) layer: usize,
    /// How far it reaches from its place to the left and to the right.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) high: f64,
    pub(super) is_box: bool,
}

/// What an edge is made of.
#[derive(Clone, Debug)]
pub(super) enum Chain {
    /// From a box to itself: the how manieth of its loops, and how far below the upper edge of all their labels.
    Loop(usize, f64),
    /// Between boxes of one layer: down to this item and up again.
    Turn(usize),
    /// The items between its boxes, from the upper one to the lower one, the item with the label, and whether the edge goes up.
    Way { items: Vec<usize>, label: usize, goes_up: bool },
    /// Straight to its end.
    Direct,
    /// There is no such box.
    Nowhere,
}

/// A graph in layers.
#[derive(Debug, Default)]
pub(super) struct Layered {
    /// First the boxes, in their order.
    pub(super) items: Vec<Item>,
    /// The items of each layer, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// The neighbours of each item in the layer above, and in the one below.
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
    /// One for each edge.
    pub(super) chains: Vec<Chain>,
    /// Of each box, how many loops it has and how high their labels are together.
    pub(super) loops: Vec<(usize, f64)>,
}

impl Layered {
    pub(super) fn new(boxes: &[Size], edges: &[Edge]) -> Self {
        let layer = layers(boxes.len(), edges);
        let mut graph = Self::default();
        for (size, layer) in boxes.iter().zip(&layer) {
            let half = size.wide / 2.0;
            graph.add(Item { layer: 2 * layer, left: half, right: half, high: size.high, is_box: true });
        }
        graph.chains = vec![Chain::Nowhere; edges.len()];
        let is_there = |edge: &Edge| edge.from < boxes.len() && edge.to < boxes.len();
        let mut order: Vec<usize> = (0..edges.len()).filter(|&index| is_there(&edges[index])).collect();
        // Short edges first: if places run out, those that are long anyway go without.
        order.sort_by_key(|&index| layer[edges[index].from].abs_diff(layer[edges[index].to]));
        graph.loops = vec![(0, 0.0); boxes.len()];
        for index in order {
            let edge = &edges[index];
            graph.chains[index] = match edge.from == edge.to {
                true => graph.add_loop(edge),
                false => graph.add_edge(edge),
            };
        }
        graph
    }

    fn add(&mut self, item: Item) -> usize {
        let number = self.items.len();
        if item.layer >= self.rows.len() {
            self.rows.resize(item.layer + 1, Vec::new());
        }
        self.rows[item.layer].push(number);
        self.items.push(item);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        number
    }

    fn connect(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// A place of an edge in a layer, wide enough for its label.
    fn via(&mut self, layer: usize, label: Size, least: f64) -> usize {
        let half = label.wide.max(least) / 2.0;
        self.add(Item { layer, left: half, right: half, high: label.high, is_box: false })
    }

    /// A loop makes its box wider, and, below other loops, higher.
    fn add_loop(&mut self, edge: &Edge) -> Chain {
        let (count, used) = &mut self.loops[edge.from];
        let chain = Chain::Loop(*count, *used);
        *count += 1;
        *used += edge.label.high.max(LOOP_HIGH) + LOOP_GAP;
        let item = &mut self.items[edge.from];
        item.right = item.right.max(item.left + LOOP + edge.label.wide);
        item.high = item.high.max(*used);
        chain
    }

    fn add_edge(&mut self, edge: &Edge) -> Chain {
        let [from, to] = [edge.from, edge.to].map(|end| self.items[end].layer);
        if from == to {
            let turn = Size { wide: edge.label.wide, high: edge.label.high + TURN / 2.0 };
            let via = self.via(from + 1, turn, TURN);
            self.connect(edge.from, via);
            self.connect(edge.to, via);
            return Chain::Turn(via);
        }
        let goes_up = to < from;
        let (upper, lower) = if goes_up { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let (top, bottom) = (from.min(to), from.max(to));
        if self.items.len() + (bottom - top) > MAX_VIAS {
            return Chain::Direct;
        }
        // The label is where the edge begins.
        let labelled = if goes_up { bottom - 1 } else { top + 1 };
        let mut items = Vec::new();
        let mut before = upper;
        for layer in top + 1..bottom {
            let size = if layer == labelled { edge.label } else { Size::default() };
            let via = self.via(layer, size, 0.0);
            self.connect(before, via);
            before = via;
            items.push(via);
        }
        self.connect(before, lower);
        let label = items[labelled - top - 1];
        Chain::Way { items, label, goes_up }
    }
}

/// The distance of each box from the first; what cannot be reached from it lies with the first of its own.
fn layers(boxes: usize, edges: &[Edge]) -> Vec<usize> {
    let mut after = vec![Vec::new(); boxes];
    for edge in edges.iter().filter(|edge| edge.from < boxes && edge.to < boxes) {
        after[edge.from].push(edge.to);
    }
    let mut layer = vec![usize::MAX; boxes];
    for start in 0..boxes {
        if layer[start] != usize::MAX {
            continue;
        }
        layer[start] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &next in &after[node] {
                if layer[next] == usize::MAX {
                    layer[next] = layer[node] + 1;
                    queue.push_back(next);
                }
            }
        }
    }
    layer
}
