//! A* on sets of states (Reffel, Edelkamp 1999): what is expanded first are states for which the steps so far and the
//! estimated steps to a goal are fewest.
//!
//! The paper keeps the costs as bits of the states and adds them symbolically. Here states wait by depth, without costs: those whose
//! whole way, as estimated, is within a bound are cut out by the set of states that are so near to a goal. They are
//! expanded depth by depth; then the bound is raised to the shortest way of what waits, or a little beyond it: a thin slice
//! of states is as much work as a thick one. (Breadth-first heuristic search: Zhou, Hansen 2006.)
//!
//! The estimate is consistent, so that a way is no shorter in its middle than at its beginning: a state is at its true depth when
//! it is expanded, and is expanded once; and the first goal that is met is a nearest one, also where the bound
//! is beyond it. The paper looks for the goal among all that wait, which is right only for estimates that are 0 nowhere
//! else; here it is looked for in what is expanded, which is always right. States from which no goal can be reached come last. What
//! was expanded is kept by depth: a run is walked back through it.

use birk_exec::heuristic::Heuristic;
use birk_ir::{Coverage, Outcome, Stop};

use crate::diagram::{Attempt, Broken, Count, Diagrams, Set};
use crate::estimate::{Estimates, estimates, least};
use crate::search::{Search, saturated};
use crate::simpler::Simplifier;
use crate::trace::rebuild;
use crate::value::Algebra;

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
    /// At the depth limit: judged, but not gone on from.
    at_limit: Set,
}

/// Infers an estimate, which is about all states, and searches by it.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<()> {
    search.settle()?;
    let estimates = estimated(search)?;
    by(search, &estimates)
}

/// Raises the bound until the search is over.
fn by(search: &mut Search<'_>, estimates: &Estimates) -> Attempt<()> {
    let diagrams = &search.encoding.diagrams;
    let no = diagrams.no.clone();
    let mut near = Vec::new();
    for set in estimates {
        near.push(diagrams.or(near.last().unwrap_or(&no), set)?);
    }
    let mut open = Open { near, waiting: vec![search.initial()?], expanded: Vec::new(), all: no.clone(), at_limit: no };
    (search.levels, search.expanded) = (Some(Vec::new()), Some(open.all.clone()));
    let first = open.shortest(&search.encoding.diagrams)?;
    let mut bound = first;
    while open.waits(&search.encoding.diagrams) {
        open.sweep(search, bound)?;
        let shortest = open.shortest(&search.encoding.diagrams)?;
        bound = shortest.map(|shortest| shortest.max(bound.unwrap_or(0) + first.unwrap_or(0) / STRIDE));
    }
    open.close(search)
}

/// The least estimate of all goals: 0 where one of them is, and behind a failing check, where no step leads on.
fn estimated(search: &mut Search<'_>) -> Attempt<Estimates> {
    let mut all = Vec::new();
    for goal in 0..search.goals.len() {
        let one = affordable(search, goal)?;
        all = least(&search.encoding.diagrams, &all, &one)?;
    }
    let diagrams = &search.encoding.diagrams;
    let here = diagrams.any([&search.goals[..], std::slice::from_ref(&search.faulty)].concat())?;
    least(diagrams, &all, &[here])
}

/// The estimate of a goal: unless it was said how often it is to be refined, the one of simpler models, if there is one.
fn affordable(search: &mut Search<'_>, goal: usize) -> Attempt<Estimates> {
    let (program, asked) = (search.encoding.program, &search.asked[goal]);
    let Some(depth) = search.job.limits.refine else {
        let Search { encoding, relation, watch, goals, .. } = &mut *search;
        let look = &mut || watch.look(&encoding.diagrams);
        let simpler = Simplifier { encoding, relation, look }.estimate(asked, &goals[goal])?;
        return simpler.map_or_else(|| refined(search, goal, Heuristic::deepened(program, asked)), Ok);
    };
    refined(search, goal, Heuristic::new(program, asked, depth))
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
                self.expand(search, depth as u32, &here)?;
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

    /// Judges states of one depth, and takes all steps from them.
    fn expand(&mut self, search: &mut Search<'_>, depth: u32, states: &Set) -> Attempt<()> {
        let at = depth as usize;
        self.expanded.resize(self.expanded.len().max(at + 1), search.encoding.diagrams.no.clone());
        self.arrive(search, at, states)?;
        self.judge(search, at, states)?;
        if search.ends() {
            return Err(Broken::Stopped(Stop::Goal));
        }
        search.tell();
        let diagrams = &search.encoding.diagrams;
        self.expanded[at] = diagrams.or(&self.expanded[at], states)?;
        self.all = diagrams.or(&self.all, states)?;
        search.expanded = Some(self.all.clone());
        if depth == search.job.limits.depth {
            self.at_limit = diagrams.or(&self.at_limit, states)?;
            return Ok(());
        }
        let next = search.image(states)?;
        let diagrams = &search.encoding.diagrams;
        let next = diagrams.minus(&next, &self.all)?;
        if next != diagrams.no {
            self.waiting.resize(self.waiting.len().max(at + 2), diagrams.no.clone());
            self.waiting[at + 1] = diagrams.or(&self.waiting[at + 1], &next)?;
        }
        search.watch.iterations += 1;
        search.tidy();
        if search.is_full() {
            return Err(Broken::Stopped(Stop::States));
        }
        Ok(())
    }

    fn arrive(&self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        let count = search.count(states)?;
        search.states = search.states.clone() + count.clone();
        search.watch.progress.depth = depth as u32;
        search.watch.progress.frontier = saturated(&count);
        search.watch.progress.states = saturated(&search.states);
        search.coverage = Coverage::Sampled(search.watch.progress.states);
        if let Some(levels) = search.levels.as_mut().filter(|_| saturated(&count) > 0) {
            levels.resize(levels.len().max(depth + 1), Count::from(0u32));
            levels[depth] = levels[depth].clone() + count;
        }
        Ok(())
    }

    fn judge(&self, search: &mut Search<'_>, depth: usize, states: &Set) -> Attempt<()> {
        for goal in 0..search.goals.len() {
            if search.found[goal].is_some() {
                continue;
            }
            let hits = search.encoding.diagrams.and(states, &search.goals[goal])?;
            if let Some(state) = search.encoding.pick(&hits) {
                let trace = rebuild(&search.encoding, &search.relation, &self.expanded[..depth], &state);
                // Without the memory to walk back, the run that exists cannot be shown.
                search.found[goal] = Some(trace.map_or(Outcome::Inconclusive, Outcome::Found));
            }
        }
        Ok(())
    }

    /// Nothing waits. Whether anything lies beyond the depth limit can be told only now.
    fn close(&self, search: &mut Search<'_>) -> Attempt<()> {
        let next = search.image(&self.at_limit)?;
        let diagrams = &search.encoding.diagrams;
        if diagrams.minus(&next, &self.all)? != diagrams.no {
            search.coverage = Coverage::Depth(search.job.limits.depth);
            return Err(Broken::Stopped(Stop::Depth));
        }
        Err(Broken::Stopped(Stop::Exhausted))
    }
}

#[cfg(test)]
mod tests;
