//! The shortest lasso of a small product: as few steps as possible up to where it closes, stem and cycle together.
//!
//! A lasso of fewer steps than one that is known lies within fewer steps of the initial states. That part of the product is
//! explored breadth-first. From each of its states in turn, nearest first, a shortest closed walk through an accepting state is
//! searched, breadth-first in two copies of the graph: before and behind an accepting state. A state with its distance and its
//! walk is a lasso; the search ends where the distance alone is as long as the best lasso so far.

use std::collections::HashMap;
use std::ops::ControlFlow;

use birk_engine::{Model, Successors};

use super::lasso::Lasso;

/// So many states and steps may lie nearby.
const MOST_STATES: usize = 5_000;
const MOST_STEPS: usize = 100_000;
/// So many steps may be followed in the search for closed walks.
const MOST_FOLLOWED: usize = 4_000_000;
const NONE: usize = usize::MAX;

/// The states that are near enough.
struct Nearby {
    states: Vec<Vec<u32>>,
    distance: Vec<usize>,
    /// On a shortest way there.
    before: Vec<usize>,
    next: Vec<Vec<usize>>,
    accepting: Vec<bool>,
}

impl Lasso {
    /// This lasso, or a shorter one, and whether none is shorter. Where too much lies nearby, that is not known.
    pub(super) fn shortest(self, model: &dyn Model) -> (Self, bool) {
        if self.states.len() == 1 {
            return (self, true);
        }
        let Some(nearby) = Nearby::within(model, self.states.len()) else { return (self, false) };
        let (found, is_shortest) = nearby.lasso(self.states.len());
        (found.unwrap_or(self), is_shortest)
    }
}

impl Nearby {
    /// The states of lassos with fewer steps than this, unless there are too many.
    fn within(model: &dyn Model, steps: usize) -> Option<Self> {
        let (mut states, mut before) = (Vec::new(), Vec::new());
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut batch = Successors::new(model.words());
        model.initial(&mut batch);
        let farthest = steps - 2;
        let mut meet = |state: &[u32], at: usize, from: usize, states: &mut Vec<Vec<u32>>| match known.get(state) {
            Some(&number) => Some(number),
            None if at > farthest => None,
            None => {
                known.insert(state.to_vec(), states.len());
                states.push(state.to_vec());
                before.push(from);
                Some(states.len() - 1)
            }
        };
        (0..batch.len()).for_each(|index| _ = meet(batch.state(index), 0, NONE, &mut states));
        let mut distance = vec![0; states.len()];
        let (mut next, mut followed) = (Vec::new(), 0);
        let mut parts = Successors::in_parts(model.words());
        while let Some(here) = states.get(next.len()).cloned() {
            let (from, mut targets) = (next.len(), Vec::new());
            let flow = parts.each_part(model, &here, |part| {
                followed += part.len();
                for index in 0..part.len() {
                    targets.extend(meet(part.state(index), distance[from] + 1, from, &mut states));
                }
                distance.resize(states.len(), distance[from] + 1);
                match followed > MOST_STEPS || states.len() > MOST_STATES {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            if flow.is_break() {
                return None;
            }
            targets.sort_unstable();
            targets.dedup();
            next.push(targets);
        }
        let accepting = states.iter().map(|state| model.evaluate(state, false).contains(0)).collect();
        Some(Self { states, distance, before, next, accepting })
    }

    /// A shortest lasso with fewer steps than this, if there is one, and whether nothing was left out.
    fn lasso(&self, mut best: usize) -> (Option<Lasso>, bool) {
        let mut found = None;
        let mut followed = 0;
        let mut reached = vec![(NONE, NONE); 2 * self.states.len()];
        // The order of the search: their distance does not fall.
        for entry in 0..self.states.len() {
            let stem = self.distance[entry];
            if stem + 1 >= best {
                break;
            }
            let walk = self.closed_walk(entry, best - stem - 1, &mut reached, &mut followed);
            if let Some(walk) = walk {
                best = stem + walk.len();
                found = Some((entry, walk));
            }
            if followed > MOST_FOLLOWED {
                return (found.map(|found| self.told(found)), false);
            }
        }
        (found.map(|found| self.told(found)), true)
    }

    /// A shortest walk of at most so many steps from a state through an accepting one back to it: its states, each once. What was
    /// reached is marked with where it began and came from.
    fn closed_walk(
        &self,
        entry: usize,
        most: usize,
        reached: &mut [(usize, usize)],
        followed: &mut usize,
    ) -> Option<Vec<usize>> {
        let copy = |state: usize, is_behind: bool| 2 * state + usize::from(is_behind);
        let start = copy(entry, self.accepting[entry]);
        let (mut level, mut steps) = (vec![start], 0);
        reached[start] = (entry, NONE);
        while !level.is_empty() && steps < most {
            steps += 1;
            let mut further = Vec::new();
            for &from in &level {
                let is_behind = from % 2 == 1;
                *followed += self.next[from / 2].len();
                for &state in &self.next[from / 2] {
                    if state == entry && (is_behind || self.accepting[entry]) {
                        let mut walk = vec![from / 2];
                        let mut at = from;
                        while reached[at].1 != NONE {
                            at = reached[at].1;
                            walk.push(at / 2);
                        }
                        walk.reverse();
                        return Some(walk);
                    }
                    let to = copy(state, is_behind || self.accepting[state]);
                    if reached[to].0 != entry {
                        reached[to] = (entry, from);
                        further.push(to);
                    }
                }
            }
            level = further;
        }
        None
    }

    fn told(&self, (entry, walk): (usize, Vec<usize>)) -> Lasso {
        let mut way = Vec::new();
        let mut at = self.before[entry];
        while at != NONE {
            way.push(at);
            at = self.before[at];
        }
        way.reverse();
        let back = way.len();
        let states = way.into_iter().chain(walk).map(|state| self.states[state].clone()).collect();
        Lasso { states, back }
    }
}
