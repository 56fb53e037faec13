//! A generalized Büchi automaton with marks on its edges: a run is accepted if it sees each mark infinitely often.
//!
//! With one mark that is on all edges of a state or on none, it is an automaton with accepting states.

use super::label::{Label, Labels};

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The letters it is for.
    pub label: Label,
    /// A set of marks.
    pub marks: u64,
    /// The state it leads to.
    pub target: usize,
}

/// States are numbers.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The labels of its edges.
    pub labels: Labels,
    /// How many marks there are: 0 to 63.
    pub marks: u32,
    /// All edges of a state have the same marks: states are accepting, not edges.
    pub by_state: bool,
    /// Where runs begin.
    pub initial: Vec<usize>,
    /// The edges of each state.
    pub edges: Vec<Vec<Edge>>,
}

/// The strongly connected components of a graph, and what they are good for.
pub(super) struct Components {
    /// The component of each state; a component has a smaller number than those that lead to it.
    pub(super) of: Vec<usize>,
    /// Whether a run that stays in it can be accepted.
    pub(super) accepting: Vec<bool>,
    /// Whether an accepted run goes through it.
    pub(super) useful: Vec<bool>,
}

impl Graph {
    /// All marks.
    pub fn all_marks(&self) -> u64 {
        (1 << self.marks) - 1
    }

    /// Drops what no accepted run uses: states, edges, marks that are not seen infinitely often.
    pub(super) fn trim(&mut self) {
        let components = self.components();
        let mut reached = vec![false; self.edges.len()];
        let mut waiting: Vec<usize> = self.initial.clone();
        let useful = |state: usize| components.useful[components.of[state]];
        while let Some(state) = waiting.pop() {
            if useful(state) && !std::mem::replace(&mut reached[state], true) {
                waiting.extend(self.edges[state].iter().map(|edge| edge.target));
            }
        }
        let mut number = vec![usize::MAX; self.edges.len()];
        for (next, state) in (0..self.edges.len()).filter(|&state| reached[state]).enumerate() {
            number[state] = next;
        }
        let old = std::mem::take(&mut self.edges);
        for (state, edges) in old.into_iter().enumerate().filter(|(state, _)| reached[*state]) {
            let stays = |edge: &Edge| {
                let component = components.of[state];
                (self.by_state || components.of[edge.target] == component) && components.accepting[component]
            };
            let kept = edges.into_iter().filter(|edge| reached[edge.target] && edge.label != Label::FALSE);
            let renumbered = kept.map(|edge| {
                let marks = if stays(&edge) { edge.marks } else { 0 };
                Edge { marks, target: number[edge.target], ..edge }
            });
            let edges: Vec<Edge> = renumbered.collect();
            self.edges.push(self.labels.merged(edges));
        }
        self.initial.retain(|&state| reached[state]);
        self.initial.iter_mut().for_each(|state| *state = number[*state]);
        self.initial.sort_unstable();
        self.initial.dedup();
    }

    /// Tarjan's algorithm, on an explicit stack.
    pub(super) fn components(&self) -> Components {
        let count = self.edges.len();
        let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
        let mut of = vec![usize::MAX; count];
        let (mut open, mut path) = (Vec::new(), Vec::<(usize, usize)>::new());
        let (mut time, mut found) = (0, 0);
        for root in 0..count {
            if index[root] != usize::MAX {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (state, ref mut edge)) = path.last_mut() {
                if *edge == 0 {
                    index[state] = time;
                    low[state] = time;
                    time += 1;
                    open.push(state);
                }
                if let Some(next) = self.edges[state].get(*edge) {
                    *edge += 1;
                    let target = next.target;
                    if index[target] == usize::MAX {
                        path.push((target, 0));
                    } else if of[target] == usize::MAX {
                        low[state] = low[state].min(index[target]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[state]);
                }
                if low[state] == index[state] {
                    while let Some(member) = open.pop() {
                        of[member] = found;
                        if member == state {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        self.classified(of, found)
    }

    fn classified(&self, of: Vec<usize>, found: usize) -> Components {
        let mut inside = vec![None; found];
        let edges = || self.edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |e| (from, e)));
        for (from, edge) in edges().filter(|(from, edge)| of[*from] == of[edge.target]) {
            *inside[of[from]].get_or_insert(0) |= edge.marks;
        }
        let accepting: Vec<bool> = inside.iter().map(|marks| *marks == Some(self.all_marks())).collect();
        // Components are numbered against the direction of edges, so the targets are known first.
        let mut useful = accepting.clone();
        let mut order: Vec<(usize, usize)> = edges().map(|(from, edge)| (of[from], of[edge.target])).collect();
        order.sort_unstable();
        for (from, to) in order {
            useful[from] |= useful[to];
        }
        Components { of, accepting, useful }
    }
}

impl Labels {
    /// Edges with one label for each target and marks; none that another makes superfluous.
    pub(super) fn merged(&mut self, mut edges: Vec<Edge>) -> Vec<Edge> {
        edges.sort_unstable_by_key(|edge| (edge.target, edge.marks));
        let mut merged: Vec<Edge> = Vec::new();
        for edge in edges {
            match merged.last_mut() {
                Some(last) if (last.target, last.marks) == (edge.target, edge.marks) => {
                    last.label = self.or(last.label, edge.label);
                }
                _ => merged.push(edge),
            }
        }
        merged.retain(|edge| edge.label != Label::FALSE);
        merged
    }
}
