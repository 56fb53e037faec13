//! Symbolic A* (Reffel and Edelkamp 1999): states are expanded first for which the steps so far and the heuristic estimate of
//! the steps to a goal are fewest.
//!
//! The paper keeps the costs as bits of the states and adds them symbolically. Here states are kept by depth, without costs: those
//! whose whole way, as estimated, is within a bound are cut out by the set of states that are so near to a goal.
//!
//! At first the bound is the length of the shortest runs of an abstract model (`abstraction`), and only what is on these is explored;
//! they are followed until they break, and the model is refined there. When it cannot be refined any more, the search goes on by
//! levels. Where the heuristic was chosen by the user, states wait by depth, and the bound is raised to the shortest way of what
//! waits, or a little beyond it: a thin slice of states is as much work as a thick one. (Breadth-first heuristic search: Zhou and Hansen 2006.)
//!
//! The heuristic is consistent, so that a way is no shorter in its middle than at its beginning: a state is at its true depth when
//! it is expanded, and is expanded once; and the first goal that is met is a nearest one, also where the bound
//! is beyond it. The paper looks for the goal among all that wait, which is right only for heuristics that are 0 nowhere
//! else; here it is looked for in what is expanded, which is always right. States from which no goal can be reached come last. What
//! was expanded is kept by depth: a run is walked back through it.

use birk_exec::heuristic::Heuristic;
use birk_exec::heuristic::REFINE;
use birk_ir::{Outcome, Stop};

use crate::attempt::{Attempt, Broken};
use crate::bdd::abstraction::{Abstraction, Concrete};
use crate::bdd::diagram::{Count, Diagrams, Set};
use crate::bdd::heuristic::{Estimates, estimates, least};
use crate::bdd::relation::Event;
use crate::bdd::saturation::Saturation;
use crate::bdd::search::{Ended, Fixpoint, Part, Search, saturated};
use crate::bdd::trace::rebuild;
use crate::bitvector::Algebra;

/// The bound is raised by at least this part of the first one.
const STRIDE: usize = 8;

/// What waits and what was expanded.
struct Open {
    /// By number of steps: the states from which a goal seems to be no farther than that.
    near: Vec<Set>,
    /// By depth: what waits.
    waiting: Vec<Set>,
    /// By depth.
    expanded: Vec<Set>,
    /// All of these.
    all: Set,
    /// At the depth limit: evaluated, but not gone on from.
    at_limit: Set,
}

/// Searches by a heuristic: the one that was asked for, or by abstraction.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<Ended> {
    match REFINE.number(&search.job.options) {
        Some(depth) => {
            search.settle()?;
            let estimates = estimated(search, depth as u32)?;
            by(search, &estimates)
        }
        None => by_abstraction(search),
    }
}

/// Raises the bound until the search is over.
fn by(search: &mut Search<'_>, estimates: &Estimates) -> Attempt<Ended> {
    let diagrams = &search.encoding.diagrams;
    let mut near = Vec::new();
    for set in estimates {
        near.push(diagrams.or(near.last().unwrap_or(&diagrams.no), set)?);
    }
    let mut open = Open::new(search)?;
    open.near = near;
    let first = open.shortest(&search.encoding.diagrams)?;
    let mut bound = first;
    while open.waits(&search.encoding.diagrams) {
        open.sweep(search, bound)?;
        let shortest = open.shortest(&search.encoding.diagrams)?;
        bound = shortest.map(|shortest| shortest.max(bound.unwrap_or(0) + first.unwrap_or(0) / STRIDE));
    }
    open.close(search)
}

/// Follows the runs of abstract models, and refines these until one is a run of the model, too. When they have none, or cannot
/// be refined any more, the rest is searched by levels: a heuristic that is far too low makes diagrams larger, not smaller.
fn by_abstraction(search: &mut Search<'_>) -> Attempt<Ended> {
    let mut open = Open::new(search)?;
    let mut abstraction = Abstraction::new(&mut concrete(search))?;
    loop {
        open.follow(search, &abstraction)?;
        abstraction.refine(&mut concrete(search), &open.expanded)?;
        let has_run = abstraction.raise(&mut concrete(search))?;
        if !has_run || abstraction.slice().bound > search.job.limits.depth as usize {
            break;
        }
    }
    open.wait(search)?;
    open.sweep(search, None)?;
    open.close(search)
}

/// What abstract models are made of.
fn concrete<'s, 'a>(search: &'s mut Search<'a>) -> Concrete<'s, 'a> {
    let Search { encoding, relation, conditions, watch, .. } = search;
    Concrete { encoding, relation, goals: conditions, watch }
}

/// The least estimate of all goals: 0 where one of them is, and behind a failing check, where no step leads on.
fn estimated(search: &mut Search<'_>, depth: u32) -> Attempt<Estimates> {
    let mut all = Vec::new();
    for goal in 0..search.goals.len() {
        let heuristic = Heuristic::new(search.encoding.program, &search.asked[goal], depth);
        let one = refined(search, goal, heuristic)?;
        all = least(&search.encoding.diagrams, &all, &one)?;
    }
    let diagrams = &search.encoding.diagrams;
    let here = diagrams.any([&search.goals[..], std::slice::from_ref(&search.faulty)].concat())?;
    least(diagrams, &all, &[here])
}

/// The estimate of a goal as sets. Where it would take more than a quarter of the memory it is refined less often; at
/// last it says only whether the goal is here.
fn refined<'a>(search: &mut Search<'a>, goal: usize, mut heuristic: Heuristic<'a>) -> Attempt<Estimates> {
    let (program, asked) = (search.encoding.program, &search.asked[goal]);
    loop {
        let Search { encoding, relation, watch, goals, .. } = &mut *search;
        let look = &mut || match encoding.diagrams.is_quarter_full() {
            true => Err(Broken::Stopped(Stop::Memory)),
            false => watch.look(&encoding.diagrams),
        };
        match estimates(encoding, &relation.stuck, &heuristic, look) {
            Err(Broken::Stopped(Stop::Memory)) if heuristic.depth() > 0 => {
                heuristic = Heuristic::new(program, asked, heuristic.depth() / 2);
            }
            Err(Broken::Stopped(Stop::Memory)) => {
                let here = &goals[goal];
                return Ok(vec![here.clone(), encoding.diagrams.not(here)?]);
            }
            done => return done,
        }
    }
}

impl Open {
    /// The initial state waits.
    fn new(search: &mut Search<'_>) -> Attempt<Self> {
        let no = search.encoding.diagrams.no.clone();
        (search.levels, search.expanded) = (Some(Vec::new()), Some(no.clone()));
        let waiting = vec![search.initial()?];
        Ok(Self { near: Vec::new(), waiting, expanded: Vec::new(), all: no.clone(), at_limit: no })
    }

    /// Expands what is on a shortest run of the abstract model, and was not expanded before. Every step of such a run comes
    /// nearer to its end, so it is one that the abstract model sees: the others need not be taken.
    fn follow(&mut self, search: &mut Search<'_>, abstraction: &Abstraction) -> Attempt<()> {
        debug_assert!(abstraction.slice().is_tight());
        let Search { encoding, relation, faulty, .. } = &*search;
        let is_seen = |event: &Event| abstraction.keeps(event.written());
        let mut seen = Saturation::some(&encoding.diagrams, &relation.events, faulty, is_seen)?;
        let mut next = search.initial()?;
        for depth in 0.. {
            let diagrams = &search.encoding.diagrams;
            let new = diagrams.minus(&diagrams.and(&next, abstraction.slice().at(diagrams, depth))?, &self.all)?;
            if new != diagrams.no {
                self.meet(search, depth, &new)?;
            }
            let diagrams = &search.encoding.diagrams;
            let met = self.expanded.get(depth).unwrap_or(&diagrams.no);
            let here = diagrams.and(met, abstraction.slice().at(diagrams, depth))?;
            if here == diagrams.no {
                break;
            }
            let (_, mut walk) = search.walk();
            next = seen.image(&mut walk, &here)?;
            search.watch.iterations += 1;
            if search.encoding.diagrams.is_untidy() {
                seen.forget();
                search.tidy();
            }
        }
        Ok(())
    }

    /// What was not expanded, and can be reached by one step from what was, waits.
    fn wait(&mut self, search: &mut Search<'_>) -> Attempt<()> {
        self.waiting = vec![search.encoding.diagrams.minus(&search.initial()?, &self.all)?];
        for (depth, states) in self.expanded.iter().enumerate() {
            if depth == search.job.limits.depth as usize {
                self.at_limit = states.clone();
                break;
            }
            let next = search.image(states)?;
            self.waiting.push(search.encoding.diagrams.minus(&next, &self.all)?);
            search.tidy();
        }
        Ok(())
    }

    fn waits(&self, diagrams: &Diagrams) -> bool {
        self.waiting.iter().any(|waiting| *waiting != diagrams.no)
    }

    /// The shortest way to a goal, as estimated, over what waits; `None` where no goal can be reached from there.
    fn shortest(&self, diagrams: &Diagrams) -> Attempt<Option<usize>> {
        let mut shortest: Option<usize> = None;
        for (depth, waiting) in self.waiting.iter().enumerate().filter(|(_, waiting)| **waiting != diagrams.no) {
            for (steps, near) in self.near.iter().enumerate() {
                if shortest.is_some_and(|shortest| shortest <= depth + steps) {
                    break;
                }
                if diagrams.and(waiting, near)? != diagrams.no {
                    shortest = Some(depth + steps);
                }
            }
        }
        Ok(shortest)
    }

    /// Expands what is within the bound, depth by depth; without a bound everything.
    fn sweep(&mut self, search: &mut Search<'_>, bound: Option<usize>) -> Attempt<()> {
        let mut depth = 0;
        while depth < self.waiting.len() {
            let diagrams = &search.encoding.diagrams;
            let waiting = diagrams.minus(&self.waiting[depth], &self.all)?;
            let here = match bound {
                None => waiting.clone(),
                Some(bound) => diagrams.and(&waiting, self.near(diagrams, bound, depth))?,
            };
            self.waiting[depth] = diagrams.minus(&waiting, &here)?;
            if here != diagrams.no {
                self.expand(search, depth, &here)?;
            }
            depth += 1;
        }
        Ok(())
    }

    /// The states from which a goal seems to be near enough.
    fn near<'s>(&'s self, diagrams: &'s Diagrams, bound: usize, depth: usize) -> &'s Set {
        let last = self.near.len().saturating_sub(1);
        bound.checked_sub(depth).and_then(|steps| self.near.get(steps.min(last))).unwrap_or(&diagrams.no)
    }

    /// Evaluates states of one depth, and takes all steps from them.
    fn expand(&mut self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        self.meet(search, depth, states)?;
        let diagrams = &search.encoding.diagrams;
        if depth == search.job.limits.depth as usize {
            self.at_limit = diagrams.or(&self.at_limit, states)?;
            return Ok(());
        }
        let next = search.image(states)?;
        let diagrams = &search.encoding.diagrams;
        let next = diagrams.minus(&next, &self.all)?;
        if next != diagrams.no {
            self.waiting.resize(self.waiting.len().max(depth + 2), diagrams.no.clone());
            self.waiting[depth + 1] = diagrams.or(&self.waiting[depth + 1], &next)?;
        }
        search.watch.iterations += 1;
        search.tidy();
        Ok(())
    }

    /// Evaluates states of one depth, from which steps are taken then.
    fn meet(&mut self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        if search.is_full(states)? {
            return Err(Broken::Stopped(Stop::States));
        }
        self.expanded.resize(self.expanded.len().max(depth + 1), search.encoding.diagrams.no.clone());
        self.arrive(search, depth, states)?;
        self.evaluate(search, depth, states)?;
        search.part = Part::Some(search.watch.progress.states);
        if search.ends() {
            return Err(Broken::Stopped(Stop::Goal));
        }
        search.tell();
        let diagrams = &search.encoding.diagrams;
        self.expanded[depth] = diagrams.or(&self.expanded[depth], states)?;
        self.all = diagrams.or(&self.all, states)?;
        search.expanded = Some(self.all.clone());
        Ok(())
    }

    fn arrive(&self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        let count = search.count(states)?;
        search.states = search.states.clone() + count.clone();
        search.watch.progress.depth = depth as u32;
        search.watch.progress.frontier = saturated(&count);
        search.watch.progress.states = saturated(&search.states);
        if let Some(levels) = search.levels.as_mut().filter(|_| saturated(&count) > 0) {
            levels.resize(levels.len().max(depth + 1), Count::from(0u32));
            levels[depth] = levels[depth].clone() + count;
        }
        Ok(())
    }

    /// Looks for goals. Without the memory to walk back from one, these states were not examined.
    fn evaluate(&self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        for goal in 0..search.goals.len() {
            if search.found[goal].is_some() {
                continue;
            }
            let hits = search.hits(goal, states)?;
            if let Some(state) = search.encoding.pick(&hits) {
                let trace = rebuild(&search.encoding, &search.relation, &self.expanded[..depth], &state)?;
                search.found[goal] = Some(Outcome::Found(trace));
            }
        }
        Ok(())
    }

    /// Nothing waits. Whether anything lies beyond the depth limit can be told only now.
    fn close(&self, search: &mut Search<'_>) -> Attempt<Ended> {
        let next = search.image(&self.at_limit)?;
        let diagrams = &search.encoding.diagrams;
        let new = diagrams.minus(&next, &self.all)?;
        if let Some(fixpoint) = Fixpoint::of(diagrams, &new) {
            return Ok(Ended::Complete(fixpoint));
        }
        search.part = Part::Depth(search.job.limits.depth);
        Ok(Ended::Depth)
    }
}

#[cfg(test)]
mod tests;
