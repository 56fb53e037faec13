//! Of all shortest runs to a goal, one with the fewest context switches: the one that is easiest to follow (Qadeer and Rehof, "Context-
//! bounded model checking of concurrent software", 2005, for runs with few switches).
//!
//! A shortest run is at depth i after i steps, so it takes only steps from one level of a breadth-first search to the next. These are
//! kept, as far as they fit in a limited room; the fewest switches that are left in a state after a step of some thread are then found from
//! the goal backwards.

use std::collections::HashMap;

use birk_engine::{Model, Successors};
use birk_ir::{Program, Step, ThreadId, Trace};

/// Words of a state besides its own, which are kept twice, and of a step.
const STATE: usize = 24;
const STEP: usize = 4;

/// A step from a state of a level to one of the next.
struct Edge {
    step: Step,
    to: usize,
}

/// From a state on: the thread that moves first, the switches after that, and the position of its step.
type Best = (ThreadId, u32, usize);

/// The levels up to the first one with a goal.
#[derive(Default)]
struct Levels {
    states: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, usize>,
    /// For each state, its steps to the next level.
    edges: Vec<Vec<Edge>>,
    /// How many are initial.
    initial: usize,
    /// The first state of the last level, and which states of it are goals.
    last: usize,
    is_goal: Vec<bool>,
}

/// A shortest run to a goal, of those that have the fewest context switches; none if there is none of at most so many steps, or if
/// the states as near as the goal and their steps take more than about so many words.
pub fn fewest_switches(program: &Program, model: &dyn Model, goal: usize, steps: u32, words: usize) -> Option<Trace> {
    let levels = Levels::up_to(model, goal, steps, words)?;
    let thread = |edge: &Edge| program.transition(edge.step.transition).thread;
    let mut best: Vec<Vec<Best>> = levels.states.iter().map(|_| Vec::new()).collect();
    for state in (0..levels.last).rev() {
        for (position, edge) in levels.edges[state].iter().enumerate() {
            let left = match edge.to.checked_sub(levels.last) {
                Some(place) => levels.is_goal[place].then_some(0),
                None => best[edge.to].iter().map(|&(next, left, _)| left + u32::from(next != thread(edge))).min(),
            };
            let Some(left) = left else { continue };
            match best[state].iter_mut().find(|known| known.0 == thread(edge)) {
                Some(known) if known.1 <= left => {}
                Some(known) => *known = (known.0, left, position),
                None => best[state].push((thread(edge), left, position)),
            }
        }
    }
    levels.follow(&best)
}

impl Levels {
    fn up_to(model: &dyn Model, goal: usize, steps: u32, words: usize) -> Option<Self> {
        let mut levels = Self::default();
        let mut initial = Successors::new(model.words());
        model.initial(&mut initial);
        (0..initial.len()).for_each(|index| _ = levels.number(initial.state(index)));
        levels.initial = levels.states.len();
        let mut search = Expansion { model, goal, left: words, batch: Successors::in_parts(model.words()) };
        for _ in 0..=steps {
            let next = levels.states.len();
            let goals = (levels.last..next).map(|number| levels.expand(number, next, &mut search));
            levels.is_goal = goals.collect::<Option<_>>()?;
            if levels.is_goal.contains(&true) {
                return Some(levels);
            }
            levels.last = next;
        }
        None
    }

    /// The number of a state, a new one if it was not met.
    fn number(&mut self, state: &[u32]) -> usize {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        let number = self.states.len();
        self.numbers.insert(state.to_vec(), number);
        self.states.push(state.to_vec());
        self.edges.push(Vec::new());
        number
    }

    /// Notes the steps from a state to the next level, which begins with this number; whether the state is a goal. Nothing, if there
    /// are too many.
    fn expand(&mut self, number: usize, next: usize, search: &mut Expansion<'_>) -> Option<bool> {
        let Expansion { model, goal, left, batch } = search;
        let state = self.states[number].clone();
        if model.is_fault(&state) {
            return Some(model.evaluate(&state, false).contains(*goal));
        }
        batch.clear();
        let cut = batch.cut;
        model.successors(&state, batch);
        if batch.take_rest().is_some() {
            return None;
        }
        let known = self.states.len();
        for index in 0..batch.len() {
            let to = self.number(batch.state(index));
            if to >= next {
                self.edges[number].push(Edge { step: batch.step(index), to });
            }
        }
        let is_goal = model.evaluate(&state, batch.is_stuck_since(0, cut)).contains(*goal);
        let taken = (self.states.len() - known) * (2 * state.len() + STATE) + batch.len() * STEP;
        *left = left.checked_sub(taken)?;
        Some(is_goal)
    }

    /// The run along the best steps.
    fn follow(&self, best: &[Vec<Best>]) -> Option<Trace> {
        let fewest = |state: usize| match self.is_goal.get(state) {
            Some(&is_goal) if self.last == 0 => is_goal.then_some(0),
            _ => best[state].iter().map(|&(_, left, _)| left).min(),
        };
        let start = (0..self.initial).filter_map(|state| Some((fewest(state)?, state))).min()?.1;
        let mut trace = Trace { initial: start as u32, ..Trace::default() };
        let (mut here, mut last) = (start, None);
        while here < self.last {
            let after = |&&(thread, left, _): &&Best| left + u32::from(last.is_some_and(|last| last != thread));
            let &(thread, _, position) = best[here].iter().min_by_key(after)?;
            let edge = &self.edges[here][position];
            trace.steps.push(edge.step);
            (here, last) = (edge.to, Some(thread));
        }
        Some(trace)
    }
}

/// What is expanded, for which goal, and how many words are left for it.
struct Expansion<'m> {
    model: &'m dyn Model,
    goal: usize,
    left: usize,
    batch: Successors,
}
