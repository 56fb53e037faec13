//! Words that repeat, and whether an automaton accepts them: by components of the product, nothing clever.

use birk_exec::automaton::Buchi;

/// The letters, and the position to which the last one goes back.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) letters: Vec<u64>,
    pub(crate) back: usize,
}

impl Word {
    pub(crate) fn next(&self, at: usize) -> usize {
        if at + 1 < self.letters.len() { at + 1 } else { self.back }
    }
}

/// All words with few letters before and in the loop.
pub(crate) fn words(propositions: usize, stem: usize, period: usize) -> Vec<Word> {
    let mut words = Vec::new();
    for length in 1..=stem + period {
        for number in 0..1u64 << (length * propositions) {
            let mask = (1 << propositions) - 1;
            let letters: Vec<u64> = (0..length).map(|at| number >> (at * propositions) & mask).collect();
            let backs = length.saturating_sub(period)..length.min(stem + 1);
            words.extend(backs.map(|back| Word { letters: letters.clone(), back }));
        }
    }
    words
}

pub(crate) fn accepts(automaton: &Buchi, word: &Word) -> bool {
    let length = word.letters.len();
    let successors = |node: usize| {
        let (state, at) = (node / length, node % length);
        let edges = automaton.edges(state).iter();
        let edges = edges.filter(move |edge| automaton.labels().is_true(edge.label, word.letters[at]));
        edges.map(|edge| edge.target * length + word.next(at)).collect::<Vec<_>>()
    };
    let initial: Vec<usize> = automaton.initial().iter().map(|state| state * length).collect();
    let marks = |node: usize| u64::from(automaton.is_accepting(node / length));
    has_accepting_cycle(automaton.len() * length, &initial, 1, &successors, &marks)
}

/// Whether a cycle that can be reached sees every mark: by repeated reachability from each node, the plainest oracle.
pub(crate) fn has_accepting_cycle(
    count: usize,
    initial: &[usize],
    all: u64,
    successors: &dyn Fn(usize) -> Vec<usize>,
    marks: &dyn Fn(usize) -> u64,
) -> bool {
    let mut edges: Vec<Option<Vec<usize>>> = vec![None; count];
    let mut waiting = initial.to_vec();
    while let Some(node) = waiting.pop() {
        if edges[node].is_none() {
            let next = successors(node);
            waiting.extend(&next);
            edges[node] = Some(next);
        }
    }
    // Kosaraju: order by the end of a search, then components backwards.
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (node, next) in edges.iter().enumerate() {
        next.iter().flatten().for_each(|&target| back[target].push(node));
    }
    let mut done = vec![false; count];
    let mut order = Vec::new();
    for root in 0..count {
        let mut path = vec![(root, 0)];
        while let Some((node, at)) = path.pop() {
            if at == 0 && (edges[node].is_none() || std::mem::replace(&mut done[node], true)) {
                continue;
            }
            match edges[node].as_ref().and_then(|next| next.get(at)) {
                Some(&target) => path.extend([(node, at + 1), (target, 0)]),
                None => order.push(node),
            }
        }
    }
    let mut component = vec![usize::MAX; count];
    for (number, &root) in order.iter().rev().enumerate() {
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            if component[node] == usize::MAX {
                component[node] = number;
                waiting.extend(back[node].iter().filter(|&&from| component[from] == usize::MAX));
            }
        }
    }
    let mut seen = vec![None; order.len()];
    for (node, next) in edges.iter().enumerate() {
        for &target in next.iter().flatten() {
            if component[node] == component[target] {
                *seen[component[node]].get_or_insert(0) |= marks(node) | marks(target);
            }
        }
    }
    seen.contains(&Some(all))
}
