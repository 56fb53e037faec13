//! The naive tableau: a state says of every temporal part of the formula whether it is true, and of every proposition.
//!
//! After Lichtenstein and Pnueli, without any cleverness: all combinations are states; an edge must fit what each part
//! says about the next state; and what is promised must come (or, denied, must be seen to fail).

use birk_exec::automaton::Buchi;

use crate::formula::Tree;
use crate::product::has_accepting_cycle;

struct Tableau<'t> {
    temporal: Vec<&'t Tree>,
    propositions: usize,
}

impl<'t> Tableau<'t> {
    fn collect(&mut self, tree: &'t Tree) {
        tree.children().into_iter().for_each(|child| self.collect(child));
        if tree.temporal() > tree.children().iter().map(|child| child.temporal()).sum() {
            self.temporal.push(tree);
        }
    }

    /// What a state says of a formula. Equal parts at different places have different bits, which is no harm.
    fn says(&self, state: usize, tree: &Tree) -> bool {
        let bit = |at: usize| state >> at & 1 == 1;
        if let Some(at) = self.temporal.iter().position(|part| std::ptr::eq(*part, tree)) {
            return bit(self.propositions + at);
        }
        match tree {
            Tree::Constant(value) => *value,
            Tree::Atom(p) => bit(*p),
            Tree::Not(a) => !self.says(state, a),
            Tree::And(parts) => self.says(state, &parts.0) && self.says(state, &parts.1),
            Tree::Or(parts) => self.says(state, &parts.0) || self.says(state, &parts.1),
            _ => unreachable!("temporal parts have bits"),
        }
    }

    /// Whether what one state says of each part fits what the next one says.
    fn fits(&self, state: usize, next: usize) -> bool {
        self.temporal.iter().all(|part| {
            let (now, later) = (|tree: &Tree| self.says(state, tree), self.says(next, part));
            let expected = match part {
                Tree::Next(a) => self.says(next, a),
                Tree::Always(a) => now(a) && later,
                Tree::Eventually(a) => now(a) || later,
                Tree::Until(parts) | Tree::Weak(parts) => now(&parts.1) || now(&parts.0) && later,
                Tree::Release(parts) => now(&parts.1) && (now(&parts.0) || later),
                _ => unreachable!("only temporal parts"),
            };
            expected == self.says(state, part)
        })
    }

    /// For each part: it is not claimed without an end, and not denied without an end.
    fn marks(&self, state: usize) -> u64 {
        let mut marks = 0;
        for (at, part) in self.temporal.iter().enumerate() {
            let claimed = self.says(state, part);
            let good = match part {
                Tree::Next(_) => true,
                Tree::Always(a) => claimed || !self.says(state, a),
                Tree::Eventually(a) => !claimed || self.says(state, a),
                Tree::Until(parts) => !claimed || self.says(state, &parts.1),
                Tree::Weak(parts) => claimed || !self.says(state, &parts.0),
                Tree::Release(parts) => claimed || !self.says(state, &parts.1),
                _ => unreachable!("only temporal parts"),
            };
            marks |= u64::from(good) << at;
        }
        marks
    }
}

/// Whether the automaton accepts a word of which the formula is true.
pub(crate) fn intersects(automaton: &Buchi, tree: &Tree, propositions: usize) -> bool {
    let mut tableau = Tableau { temporal: Vec::new(), propositions };
    tableau.collect(tree);
    let states = 1usize << (propositions + tableau.temporal.len());
    let follow: Vec<Vec<usize>> =
        (0..states).map(|state| (0..states).filter(|&next| tableau.fits(state, next)).collect()).collect();
    let letter = |state: usize| (state & ((1 << propositions) - 1)) as u64;
    let successors = |node: usize| {
        let (of_automaton, of_tableau) = (node / states, node % states);
        let edges = automaton.edges(of_automaton).iter();
        let edges = edges.filter(|edge| automaton.labels().is_true(edge.label, letter(of_tableau)));
        edges.flat_map(|edge| follow[of_tableau].iter().map(|next| edge.target * states + next)).collect::<Vec<_>>()
    };
    let begins = (0..states).filter(|&state| tableau.says(state, tree));
    let initial: Vec<usize> =
        begins.flat_map(|state| automaton.initial().iter().map(move |first| first * states + state)).collect();
    let count = tableau.temporal.len();
    let marks = |node: usize| tableau.marks(node % states) | u64::from(automaton.is_accepting(node / states)) << count;
    has_accepting_cycle(automaton.len() * states, &initial, (1 << (count + 1)) - 1, &successors, &marks)
}
