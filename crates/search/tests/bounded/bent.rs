//! The search on a bare graph, as short as it can be written, and bent in every way that is known to be wrong.

use std::collections::BTreeSet;

/// What is changed. `Nothing` is the search as it should be: the engine makes exactly its explorations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bend {
    Nothing,
    /// States of the frontier get a threshold when they are met.
    FrontierGetsThreshold,
    /// A state on the stack has no threshold.
    NoProvisionalThreshold,
    /// Thresholds are forgotten between two bounds.
    ForgetsThresholds,
    /// What is met again on a shorter path stays in the frontier.
    FrontierKeepsAll,
    /// Children on the stack ask for nothing.
    IgnoresStack,
    /// A state asks for as little as one of its children, instead of as much as each.
    LeastOfChildren,
    /// "Never again" is kept as -1 in a number without a sign: "always".
    NeverBecomesAlways,
    /// What leads, by the states explored now, neither to the frontier nor further down on the stack is closed: never again.
    ClosedByStackPosition,
    /// Explored again at the threshold, not only below it.
    AlsoAtThreshold,
    /// No thresholds: a state is explored once, at whatever depth it is met first.
    OnlyOnce,
    /// A state is explored again at every smaller depth: right, but without the pruning.
    Naive,
    /// A child that is cut off asks for the depth it was met at, not for its threshold.
    CutOffAsksForItsDepth,
    /// A state asks from the beginning for the depth it is explored at.
    AsksForItsDepth,
    /// The last step to the limit is not taken if it is not whole.
    OnlyWholeSteps,
    /// Complete only if the last frontier is empty.
    NoClosureTest,
    /// States that only enter the frontier are not examined.
    FrontierIsNotVisited,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) visited: BTreeSet<usize>,
    pub(crate) frontier: BTreeSet<usize>,
    pub(crate) is_complete: bool,
    /// Explorations beyond the first of a state; `None` when there were too many to go on.
    pub(crate) revisits: Option<u64>,
}

/// Searches a graph up to `cutoff`, `increment` by `increment`.
pub(crate) fn search(edges: &[Vec<usize>], initial: &[usize], cutoff: u32, increment: u32, bend: Bend) -> Answer {
    let mut search = Search {
        edges,
        bend,
        above: vec![None; edges.len()],
        on_stack: vec![false; edges.len()],
        position: vec![0; edges.len()],
        lowest: vec![0; edges.len()],
        is_open: vec![false; edges.len()],
        out: Vec::new(),
        visited: initial.iter().copied().collect(),
        explored: BTreeSet::new(),
        bound: 0,
        explorations: 0,
    };
    let (mut depth, mut frontier) = (0, Vec::new());
    for &node in initial {
        if !frontier.contains(&node) {
            frontier.push(node);
        }
    }
    while depth < cutoff && !frontier.is_empty() {
        if bend == Bend::OnlyWholeSteps && depth + increment > cutoff {
            break;
        }
        if bend == Bend::ForgetsThresholds {
            search.above.fill(None);
        }
        search.bound = (depth + increment).min(cutoff);
        let starts =
            |node: &usize| bend != Bend::FrontierGetsThreshold || search.above[*node].is_none_or(|t| t > depth + 1);
        let roots: Vec<usize> = frontier.iter().copied().filter(starts).collect();
        roots.iter().for_each(|&root| search.above[root] = Some(depth + 1));
        roots.iter().for_each(|&root| _ = search.explore(root, depth));
        frontier = std::mem::take(&mut search.out);
        depth = search.bound;
    }
    if bend == Bend::FrontierIsNotVisited {
        frontier.iter().for_each(|node| _ = search.visited.remove(node));
    }
    let seen = |node: &usize| search.above[*node].is_some() || frontier.contains(node);
    let is_closed = bend != Bend::NoClosureTest && frontier.iter().all(|&node| edges[node].iter().all(seen));
    Answer {
        is_complete: frontier.is_empty() || is_closed,
        frontier: frontier.into_iter().collect(),
        revisits: (search.explorations < LIMIT).then(|| search.explorations - search.explored.len() as u64),
        visited: search.visited,
    }
}

/// More explorations are given up: they grow exponentially.
const LIMIT: u64 = 100_000;

struct Search<'a> {
    edges: &'a [Vec<usize>],
    bend: Bend,
    /// One more than the threshold of each node that was explored.
    above: Vec<Option<u32>>,
    on_stack: Vec<bool>,
    /// Of the last exploration of each node: its place on the stack, the lowest that was met, and whether the bound was.
    position: Vec<u32>,
    lowest: Vec<u32>,
    is_open: Vec<bool>,
    out: Vec<usize>,
    visited: BTreeSet<usize>,
    explored: BTreeSet<usize>,
    bound: u32,
    explorations: u64,
}

impl Search<'_> {
    /// Explores a node, and returns one more than its threshold. The graphs are small: it may call itself.
    fn explore(&mut self, node: usize, depth: u32) -> u32 {
        self.explorations += 1;
        if self.explorations >= LIMIT {
            return 0;
        }
        self.explored.insert(node);
        self.on_stack[node] = true;
        (self.position[node], self.lowest[node], self.is_open[node]) = (depth, u32::MAX, false);
        let mut asked = (self.bend == Bend::AsksForItsDepth).then_some(depth + 1);
        for &child in &self.edges[node] {
            let ask = self.meet(node, child, depth + 1);
            asked = match (asked, ask) {
                (Some(asked), Some(ask)) if self.bend == Bend::LeastOfChildren => Some(asked.min(ask)),
                (asked, ask) => asked.max(ask),
            };
        }
        self.on_stack[node] = false;
        let above = match self.bend {
            Bend::OnlyOnce => 0,
            Bend::Naive => depth + 1,
            Bend::ClosedByStackPosition if self.lowest[node] >= depth && !self.is_open[node] => 0,
            Bend::NeverBecomesAlways if asked.unwrap_or(0) == 0 => u32::MAX,
            _ => asked.unwrap_or(0),
        };
        self.above[node] = Some(above);
        above
    }

    /// What a child asks of its parent.
    fn meet(&mut self, parent: usize, child: usize, depth: u32) -> Option<u32> {
        if child == parent && self.bend != Bend::NoProvisionalThreshold {
            return None;
        }
        if let Some(above) = self.above[child] {
            let again = match self.bend {
                Bend::AlsoAtThreshold => depth < above,
                _ => depth + 1 < above,
            };
            if !again {
                if self.bend == Bend::CutOffAsksForItsDepth {
                    return Some(depth);
                }
                if self.on_stack[child] {
                    self.lowest[parent] = self.lowest[parent].min(self.position[child]);
                }
                let is_ignored = self.bend == Bend::IgnoresStack && self.on_stack[child];
                return Some(if is_ignored { 0 } else { above.saturating_sub(1) });
            }
        }
        self.visited.insert(child);
        if depth == self.bound {
            if !self.out.contains(&child) {
                self.out.push(child);
            }
            if self.bend == Bend::FrontierGetsThreshold {
                self.above[child] = Some(depth + 1);
            }
            self.is_open[parent] = true;
            return Some(self.bound);
        }
        if self.bend != Bend::FrontierKeepsAll {
            self.out.retain(|&node| node != child);
        }
        if self.bend != Bend::NoProvisionalThreshold {
            self.above[child] = Some(if self.bend == Bend::OnlyOnce { 0 } else { depth + 1 });
        }
        let asked = self.explore(child, depth).saturating_sub(1);
        self.lowest[parent] = self.lowest[parent].min(self.lowest[child]);
        self.is_open[parent] |= self.is_open[child];
        Some(asked)
    }
}
