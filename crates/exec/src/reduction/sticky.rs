//! Which transitions close cycles (Kurshan, Levin, Minea, Peled and Yenigün 1998): on every cycle of states at least one of them
//! is taken.
//!
//! On a cycle of states every thread that moves goes round in its graph of locations. A closed walk in a graph takes an edge that
//! leads back in a depth-first walk of it, a loop at one location included. So the transitions that lead a thread along such
//! edges will do, whoever takes them: at a rendezvous and with `start` one thread's transition moves another thread.

use birk_ir::Program;

use super::footprint::{Footprint, Range, meet};

/// For each transition, whether it is among those that close cycles.
pub(super) fn sticky(program: &Program, footprints: &[Footprint]) -> Vec<bool> {
    let mut sticky = vec![false; footprints.len()];
    for (number, thread) in program.threads.iter().enumerate() {
        let kind = &program.kinds[thread.kind];
        let at = (kind.counter, thread.copy);
        let counter = [Range { variable: kind.counter, first: thread.copy, last: thread.copy }];
        // The last place is that of a thread that is not running.
        let places = kind.locations.len() + 1;
        let mut edges: Vec<Vec<(usize, usize)>> = vec![Vec::new(); places];
        for (transition, footprint) in footprints.iter().enumerate() {
            let is_own = program.transitions[transition].thread.index() == number;
            if !is_own && !meet(&footprint.writes, &counter) {
                continue;
            }
            let place = |known: Option<&i64>| known.and_then(|&at| usize::try_from(at).ok()).filter(|&at| at < places);
            match (place(footprint.before.get(&at)), place(footprint.after.get(&at))) {
                (Some(from), Some(to)) => edges[from].push((to, transition)),
                // It may lead anywhere.
                _ => sticky[transition] = true,
            }
        }
        let mut walk = Walk { edges: &edges, state: vec![Visit::New; places], sticky: &mut sticky };
        (0..places).for_each(|place| walk.from(place));
    }
    sticky
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    /// It is on the path to the place that is looked at.
    Open,
    Done,
}

/// A depth-first walk.
struct Walk<'a> {
    /// For each place, where transitions lead.
    edges: &'a [Vec<(usize, usize)>],
    state: Vec<Visit>,
    sticky: &'a mut [bool],
}

impl Walk<'_> {
    fn from(&mut self, start: usize) {
        if self.state[start] != Visit::New {
            return;
        }
        self.state[start] = Visit::Open;
        let mut path = vec![(start, 0)];
        while let Some((place, next)) = path.last_mut() {
            let Some(&(to, transition)) = self.edges[*place].get(*next) else {
                self.state[*place] = Visit::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match self.state[to] {
                Visit::Open => self.sticky[transition] = true,
                Visit::New => {
                    self.state[to] = Visit::Open;
                    path.push((to, 0));
                }
                Visit::Done => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back_edges(edges: &[Vec<(usize, usize)>], transitions: usize) -> Vec<bool> {
        let mut sticky = vec![false; transitions];
        let mut walk = Walk { edges, state: vec![Visit::New; edges.len()], sticky: &mut sticky };
        (0..edges.len()).for_each(|place| walk.from(place));
        sticky
    }

    #[test]
    fn every_closed_walk_takes_an_edge_that_leads_back() {
        // 0 to 1 to 2 to 0, a loop at 1, and a way from 0 to 2 that closes nothing.
        let edges = [vec![(1, 0), (2, 1)], vec![(2, 2), (1, 3)], vec![(0, 4)]];
        assert_eq!(back_edges(&edges, 5), [false, false, false, true, true]);
        // Two places that lead to each other and are not reached from the first.
        let edges = [vec![], vec![(2, 0)], vec![(1, 1)]];
        assert_eq!(back_edges(&edges, 2), [false, true]);
    }
}
