//! A* on sets of states (Reffel, Edelkamp 1999): of the sets that wait, the one whose steps so far and estimated steps to
//! a goal are fewest is expanded next.
//!
//! The paper keeps the costs as bits of the states and adds them symbolically. Here the states wait in buckets
//! instead, by the length of the whole way and the estimate, and an image is divided by the sets of equal estimates; no
//! arithmetic is needed. The paper looks for the goal among all that wait, which is right only for estimates that are
//! 0 nowhere else; here it is looked for in the bucket that is expanded, which is always right. The estimate is
//! consistent, so a state is at its true depth when it is expanded, and is expanded once. States from which
//! no goal can be reached come last. What was expanded is kept by depth: a run is walked back through it.

use std::collections::BTreeMap;

use birk_exec::heuristic::Heuristic;
use birk_ir::{Coverage, Outcome, Stop};

use crate::diagram::{Attempt, Broken, Count, Set};
use crate::estimate::{Estimates, estimates, least};
use crate::search::{Search, saturated};
use crate::trace::rebuild;
use crate::value::Algebra;

/// Behind all that can reach a goal.
const LAST: u64 = 1 << 40;

/// What waits and what was expanded.
struct Buckets {
    /// Sets of states by their estimate.
    estimates: Estimates,
    /// By the length of the whole way, and the estimate (`None`: never): the depth, and the states that wait there.
    open: BTreeMap<(u64, Option<u32>), Set>,
    /// By depth.
    expanded: Vec<Set>,
    /// All of these.
    all: Set,
    /// At the depth limit: judged, but not gone on from.
    at_limit: Set,
}

/// Infers an estimate and searches by it.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<()> {
    let estimates = estimated(search)?;
    by(search, estimates)
}

/// Expands bucket after bucket, until the search is over.
fn by(search: &mut Search<'_>, estimates: Estimates) -> Attempt<()> {
    let no = search.encoding.diagrams.no.clone();
    let mut buckets = Buckets { estimates, open: BTreeMap::new(), expanded: Vec::new(), all: no.clone(), at_limit: no };
    let initial = search.initial()?;
    buckets.wait(search, 0, &initial)?;
    (search.levels, search.expanded) = (Some(Vec::new()), Some(buckets.all.clone()));
    while let Some(((length, estimate), states)) = buckets.open.pop_first() {
        let depth = match estimate {
            Some(estimate) => length - u64::from(estimate),
            None => length - LAST,
        };
        let states = search.encoding.diagrams.minus(&states, &buckets.all)?;
        if states != search.encoding.diagrams.no {
            buckets.expand(search, depth as u32, &states)?;
        }
    }
    buckets.close(search)
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

/// The estimate of a goal. Where it would take more than a quarter of the memory it is refined less often; at last it
/// says only whether the goal is here.
fn affordable(search: &mut Search<'_>, goal: usize) -> Attempt<Estimates> {
    let (program, asked) = (search.encoding.program, &search.asked[goal]);
    let mut heuristic = match search.job.limits.refine {
        Some(depth) => Heuristic::new(program, asked, depth),
        None => Heuristic::deepened(program, asked),
    };
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

impl Buckets {
    /// Puts states that were reached in so many steps into their buckets.
    fn wait(&mut self, search: &Search<'_>, depth: u32, states: &Set) -> Attempt<()> {
        let diagrams = &search.encoding.diagrams;
        let mut rest = diagrams.minus(states, &self.all)?;
        for (steps, set) in (0..).zip(&self.estimates) {
            if rest == diagrams.no {
                return Ok(());
            }
            let here = diagrams.and(&rest, set)?;
            if here != diagrams.no {
                rest = diagrams.minus(&rest, &here)?;
                let bucket = self.open.entry((u64::from(depth) + u64::from(steps), Some(steps)));
                let bucket = bucket.or_insert_with(|| diagrams.no.clone());
                *bucket = diagrams.or(bucket, &here)?;
            }
        }
        if rest != diagrams.no {
            let bucket = self.open.entry((LAST + u64::from(depth), None)).or_insert_with(|| diagrams.no.clone());
            *bucket = diagrams.or(bucket, &rest)?;
        }
        Ok(())
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
        if depth == search.job.limits.depth {
            self.at_limit = diagrams.or(&self.at_limit, states)?;
            search.expanded = Some(self.all.clone());
            return Ok(());
        }
        let next = search.image(states)?;
        self.wait(search, depth + 1, &next)?;
        search.watch.iterations += 1;
        search.expanded = Some(self.all.clone());
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
