//! A run into a cycle: how it is read off the stacks, made shorter, and told as a trace.

use std::collections::HashMap;
use std::ops::ControlFlow;

use birk_engine::{Model, Successors};
use birk_ir::Trace;

/// No more states are examined to make a run shorter.
const MAX_STATES: usize = 200_000;
/// So many successors of a state count as much as a state.
const MANY: usize = 64;
/// States of at least so many words count when they are kept, too: eight for each so many words.
const LONG: usize = 64;

/// States, the last of which leads back to one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// From an initial state on.
    pub states: Vec<Vec<u32>>,
    /// Where the last one leads.
    pub back: usize,
}

impl Lasso {
    /// From the path of the blue search, that of the red one, which begins at its end, and the state that closes it.
    pub(super) fn close(mut path: Vec<Vec<u32>>, red: Vec<Vec<u32>>, closes: &[u32]) -> Self {
        let back = path.iter().position(|state| state == closes).expect("a cyan state is on the path");
        path.extend(red.into_iter().skip(1));
        Self { states: path, back }
    }

    /// A run with a shortest loop through some accepting state of this one, and a shortest way to it.
    pub(super) fn shortened(&self, model: &dyn Model) -> Self {
        let is_accepting = |&place: &usize| model.evaluate(&self.states[place], false).contains(0);
        let accepting: Vec<usize> = (self.back..self.states.len()).filter(is_accepting).collect();
        let mut place = *accepting.first().expect("a loop that was found has an accepting state");
        let mut period = self.states[place..].to_vec();
        period.extend_from_slice(&self.states[self.back..place]);
        let mut budget = MAX_STATES;
        for &seed in &accepting {
            let from = &self.states[seed];
            let closes = |state: &[u32], steps: usize| steps > 0 && state == from;
            if let Some(found) = shortest(model, std::slice::from_ref(from), &closes, period.len() - 1, &mut budget) {
                period = found[..found.len() - 1].to_vec();
                place = seed;
            }
        }
        let mut stem = self.states[..=place].to_vec();
        let mut initial = Successors::new(model.words());
        model.initial(&mut initial);
        let initial: Vec<Vec<u32>> = (0..initial.len()).map(|i| initial.state(i).to_vec()).collect();
        let at: HashMap<&[u32], usize> = period.iter().enumerate().map(|(i, state)| (&state[..], i)).collect();
        budget = MAX_STATES;
        if let Some(found) = shortest(model, &initial, &|state, _| at.contains_key(state), stem.len() - 1, &mut budget)
        {
            stem = found;
        }
        let last = stem.pop().expect("a way has at least one state");
        place = at[&last[..]];
        let back = stem.len();
        stem.extend(period[place..].iter().chain(&period[..place]).cloned());
        Self { states: stem, back }
    }

    /// As the steps between the states.
    pub(super) fn trace(&self, model: &dyn Model) -> Trace {
        let mut states = self.states.clone();
        states.push(self.states[self.back].clone());
        Trace { loop_start: Some(self.back), ..trace_of(model, &states) }
    }
}

/// The steps between states.
pub(crate) fn trace_of(model: &dyn Model, states: &[Vec<u32>]) -> Trace {
    let mut batch = Successors::in_parts(model.words());
    model.initial(&mut batch);
    let initial = (0..batch.len()).find(|&i| batch.state(i) == states[0]).expect("a run begins in an initial state");
    let mut trace = Trace { initial: initial as u32, ..Trace::default() };
    for pair in states.windows(2) {
        let found = batch.find(model, &pair[0], |_, state| state == pair[1]);
        trace.steps.push(batch.step(found.expect("each state follows from the one before")));
    }
    trace
}

/// A shortest way to a state that is wanted, both ends included; `None` where it has more steps than this, or where
/// too many states lie before it.
fn shortest(
    model: &dyn Model,
    from: &[Vec<u32>],
    is_wanted: &dyn Fn(&[u32], usize) -> bool,
    most: usize,
    budget: &mut usize,
) -> Option<Vec<Vec<u32>>> {
    let way = |states: &[(Vec<u32>, usize)], mut at: usize, last: Option<&[u32]>| {
        let mut way: Vec<Vec<u32>> = last.map(<[u32]>::to_vec).into_iter().collect();
        while let Some((state, parent)) = states.get(at) {
            way.push(state.clone());
            at = *parent;
        }
        way.reverse();
        way
    };
    let mut states: Vec<(Vec<u32>, usize)> = Vec::new();
    let mut known: HashMap<Vec<u32>, ()> = HashMap::new();
    for state in from {
        if is_wanted(state, 0) {
            return Some(vec![state.clone()]);
        }
        if known.insert(state.clone(), ()).is_none() {
            states.push((state.clone(), usize::MAX));
        }
    }
    let mut batch = Successors::in_parts(model.words());
    let (mut next, mut steps, mut level_end) = (0, 0, states.len());
    while next < states.len() && *budget > 0 {
        if next == level_end {
            steps += 1;
            level_end = states.len();
        }
        if steps == most {
            break;
        }
        *budget -= 1;
        let here = states[next].0.clone();
        let flow = batch.each_part(model, &here, |part| {
            let before = states.len();
            for i in 0..part.len() {
                let state = part.state(i);
                if is_wanted(state, 1) {
                    return ControlFlow::Break(Some(way(&states, next, Some(state))));
                }
                if !known.contains_key(state) {
                    known.insert(state.to_vec(), ());
                    states.push((state.to_vec(), next));
                }
            }
            let kept = (states.len() - before) * (part.words() / LONG * 8);
            *budget = budget.saturating_sub(part.len() / MANY + kept);
            if *budget > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(None) }
        });
        if let ControlFlow::Break(found) = flow {
            return found;
        }
        next += 1;
    }
    None
}
