//! The traps of nested search, one mutant each: the comparison with components catches every one of them.
//!
//! A small recursive search that can be got wrong in the ways in which it has been got wrong.

use std::collections::BTreeSet;

use birk_exec::Random;

use crate::system::{Explicit, System};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    None,
    /// Only the first initial state is begun with.
    OneInitialState,
    /// The red search starts before the blue one has gone below.
    RedInPreOrder,
    /// Red marks are forgotten, and blue ones taken for them.
    RedStopsAtBlue,
    /// A state is on the path if its hash is.
    HashedCyan,
    /// The search ends at a depth.
    DepthCut(usize),
    /// A run that ends is not a run.
    NoStutter,
    /// A state stays where it is because the automaton has no move.
    StutterInProduct,
    /// Whether a thread can move is asked of the part of the graph that was seen.
    EnabledInPart,
    /// A thread that can move in none of the states counts as starved.
    DisabledIsStarved,
    /// A state is red without a red search although a successor is on the path.
    AllRedOrCyan,
    /// A state is red without a red search although a successor is only blue.
    AllRedOrBlue,
}

struct Search<'e> {
    graph: &'e Explicit,
    mutant: Mutant,
    cyan: Vec<usize>,
    blue: BTreeSet<usize>,
    red: BTreeSet<usize>,
    found: bool,
}

impl Search<'_> {
    fn new(graph: &Explicit, mutant: Mutant) -> Search<'_> {
        Search { graph, mutant, cyan: Vec::new(), blue: BTreeSet::new(), red: BTreeSet::new(), found: false }
    }

    fn run(mut self) -> bool {
        let count = if self.mutant == Mutant::OneInitialState { 1 } else { usize::MAX };
        for &node in self.graph.initial.iter().take(count) {
            if !self.blue.contains(&node) {
                self.blue(node, 0);
            }
        }
        self.found
    }

    fn is_cyan(&self, node: usize) -> bool {
        match self.mutant {
            Mutant::HashedCyan => self.cyan.iter().any(|other| other % 4 == node % 4),
            _ => self.cyan.contains(&node),
        }
    }

    fn blue(&mut self, node: usize, depth: usize) {
        if matches!(self.mutant, Mutant::DepthCut(most) if depth > most) {
            return;
        }
        self.blue.insert(node);
        self.cyan.push(node);
        let accepting = self.graph.accepting.contains(&node);
        if accepting && self.mutant == Mutant::RedInPreOrder {
            self.red(node);
        }
        let mut all_red = true;
        for &(_, target) in &self.graph.edges[&node] {
            if !self.blue.contains(&target) {
                self.blue(target, depth + 1);
            }
            all_red &= match self.mutant {
                Mutant::AllRedOrCyan if self.cyan.contains(&target) => true,
                Mutant::AllRedOrBlue if !self.cyan.contains(&target) => true,
                _ => self.red.contains(&target),
            };
        }
        if all_red {
            self.red.insert(node);
        } else if accepting && self.mutant != Mutant::RedInPreOrder {
            self.red(node);
        }
        self.cyan.pop();
    }

    fn red(&mut self, node: usize) {
        self.red.insert(node);
        for &(_, target) in &self.graph.edges[&node] {
            if self.is_cyan(target) {
                self.found = true;
            }
            let stops = match self.mutant {
                Mutant::RedStopsAtBlue => self.blue.contains(&target),
                Mutant::DepthCut(_) => !self.blue.contains(&target),
                _ => false,
            };
            if !self.red.contains(&target) && !stops {
                self.red(target);
            }
        }
    }
}

fn answer(system: &System, mutant: Mutant) -> bool {
    match mutant {
        Mutant::NoStutter => Search::new(&system.explicit_with(false, &|_, _| false), mutant).run(),
        Mutant::StutterInProduct => Search::new(&system.explicit_with(false, &|_, none| none), mutant).run(),
        Mutant::EnabledInPart | Mutant::DisabledIsStarved => {
            let mut explicit = system.explicit(true);
            for (node, edges) in explicit.edges.clone() {
                let enabled = match mutant {
                    Mutant::EnabledInPart => {
                        let inside = edges.iter().filter(|(_, target)| target % 2 == node % 2);
                        inside.filter_map(|(thread, _)| *thread).collect()
                    }
                    _ => (0..system.threads).collect(),
                };
                explicit.enabled.insert(node, enabled);
            }
            explicit.has_cycle()
        }
        _ => Search::new(&system.explicit(false), mutant).run(),
    }
}

/// How many of the systems a mutant gets wrong: cycles it misses, and cycles that are not there.
fn wrong(mutant: Mutant) -> (usize, usize) {
    let mut random = Random::new(11);
    let (mut missed, mut invented) = (0, 0);
    for round in 0..4_000 {
        let system = System::random(&mut random, 1 + round % 3);
        let fair = matches!(mutant, Mutant::EnabledInPart | Mutant::DisabledIsStarved);
        match (system.explicit(fair).has_cycle(), answer(&system, mutant)) {
            (true, false) => missed += 1,
            (false, true) => invented += 1,
            _ => {}
        }
    }
    (missed, invented)
}

#[test]
fn every_trap_is_seen() {
    use Mutant::*;
    assert_eq!(wrong(None), (0, 0));
    let missing = [OneInitialState, RedInPreOrder, RedStopsAtBlue, DepthCut(4), NoStutter, DisabledIsStarved];
    for mutant in missing.into_iter().chain([AllRedOrCyan, AllRedOrBlue]) {
        let (missed, invented) = wrong(mutant);
        assert!(missed > 0 && invented == 0, "{mutant:?}: {missed} missed, {invented} invented");
    }
    for mutant in [HashedCyan, StutterInProduct, EnabledInPart] {
        let (missed, invented) = wrong(mutant);
        assert!(invented > 0, "{mutant:?}: {missed} missed, {invented} invented");
    }
}

/// What goes wrong with a depth: a nested search that ends there misses cycles within it, and so does one that leaves
/// out the states at it.
#[test]
fn every_trap_of_a_depth_is_seen() {
    let mut random = Random::new(12);
    let (mut cut, mut without_edge) = (0, 0);
    for round in 0..3_000 {
        let explicit = System::random(&mut random, 1 + round % 3).explicit(false);
        let depth = 1 + round / 3 % 4;
        if explicit.within(depth as u32).has_cycle() {
            cut += usize::from(!Search::new(&explicit, Mutant::DepthCut(depth)).run());
            without_edge += usize::from(!explicit.within(depth as u32 - 1).has_cycle());
        }
    }
    assert!(cut > 0 && without_edge > 0, "{cut} and {without_edge} missed");
}
