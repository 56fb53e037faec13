//! Ways to the goal that leave a run: breadth-first from what else was possible, up to a number of steps.
//!
//! Most ways come back to a state of the run, or to one from which a way is known, after a few steps; and where a search failed, its
//! states are known to be far away. So all searches together visit about as many states as one.

use std::collections::{HashMap, VecDeque};

use birk_ir::{Step, ThreadId};

use super::graph::{Graph, OutOfWork};
use super::{Run, threads};

/// The step that led to a state, and from where.
type From = Option<(usize, Step)>;

/// What is known of the distances of states from the goal, where only some threads move.
pub(super) struct Detours<'g, 'p> {
    pub(super) graph: &'g mut Graph<'p>,
    threads: Vec<ThreadId>,
    /// A way there: how many steps it has, and the first of them with the state after it.
    near: HashMap<usize, (u32, Option<(Step, usize)>)>,
    /// There is no way of so many steps.
    far: HashMap<usize, u32>,
}

impl<'g, 'p> Detours<'g, 'p> {
    pub(super) fn new(graph: &'g mut Graph<'p>, run: &Run) -> Self {
        let threads = threads(graph.program, &run.steps);
        let mut detours = Self { graph, threads, near: HashMap::new(), far: HashMap::new() };
        let length = run.steps.len();
        detours.near.insert(run.states[length], (0, None));
        for at in (0..length).rev() {
            detours.note_near(run.states[at], (length - at) as u32, (run.steps[at], run.states[at + 1]));
        }
        detours
    }

    fn note_near(&mut self, state: usize, steps: u32, first: (Step, usize)) {
        let known = self.near.entry(state).or_insert((steps, Some(first)));
        if known.0 > steps {
            *known = (steps, Some(first));
        }
    }

    /// The other steps that the threads can take in the place of one.
    pub(super) fn others(&mut self, state: usize, taken: Step) -> Result<Vec<(Step, usize)>, OutOfWork> {
        let node = self.graph.node(state)?;
        let others = node.steps.iter().filter(|(step, _)| *step != taken && self.moves(*step));
        Ok(others.copied().collect())
    }

    fn moves(&self, step: Step) -> bool {
        self.threads.contains(&self.graph.program.transition(step.transition).thread)
    }

    /// A way to the goal of at most so many steps, from the first of these states that has one, with the position of that state.
    pub(super) fn way(&mut self, starts: &[usize], most: u32) -> Result<Option<(usize, Vec<Step>)>, OutOfWork> {
        let mut met: HashMap<usize, (From, u32)> = HashMap::new();
        let mut queue = VecDeque::new();
        for &start in starts {
            if met.insert(start, (None, 0)).is_none() {
                queue.push_back(start);
            }
        }
        while let Some(state) = queue.pop_front() {
            let depth = met[&state].1;
            let left = most - depth;
            if self.near.get(&state).is_some_and(|(steps, _)| *steps <= left) {
                return Ok(Some(self.follow(starts, &met, state)));
            }
            if self.far.get(&state).is_some_and(|steps| *steps >= left) {
                continue;
            }
            let node = self.graph.node(state)?;
            if node.is_goal {
                self.near.insert(state, (0, None));
                return Ok(Some(self.follow(starts, &met, state)));
            }
            if left == 0 {
                continue;
            }
            for &(step, to) in &node.steps {
                if self.moves(step) && !met.contains_key(&to) {
                    met.insert(to, (Some((state, step)), depth + 1));
                    queue.push_back(to);
                }
            }
        }
        for (state, (_, depth)) in met {
            let far = self.far.entry(state).or_default();
            *far = (*far).max(most - depth);
        }
        Ok(None)
    }

    /// The steps from a start to a state from which a way is known, and on along that.
    fn follow(&mut self, starts: &[usize], met: &HashMap<usize, (From, u32)>, state: usize) -> (usize, Vec<Step>) {
        let (mut here, mut steps) = (state, Vec::new());
        while let Some((before, step)) = met[&here].0 {
            steps.push(step);
            self.note_near(before, self.near[&here].0 + 1, (step, here));
            here = before;
        }
        steps.reverse();
        let place = starts.iter().position(|&start| start == here).expect("a way begins at a start");
        let mut next = state;
        while let Some((step, to)) = self.near[&next].1 {
            steps.push(step);
            next = to;
        }
        (place, steps)
    }
}
