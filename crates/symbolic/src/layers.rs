//! Reachability by layers: the states at distance 0, 1, 2, … as one set each (Burch, Clarke, McMillan, Dill, Hwang 1990).
//!
//! The layers are kept: they give the depth of every state, and a shortest run to any of them. As in the explicit
//! search, a layer is judged to its end before the search ends at a goal, and at the depth limit the search is
//! complete if nothing new lies beyond.

use birk_ir::{Coverage, Outcome, Stop};

use crate::diagram::{Attempt, Broken, Count, Set};
use crate::search::{Search, saturated};
use crate::trace::rebuild;
use crate::value::Algebra;

/// What was explored, layer by layer.
struct Layers {
    layers: Vec<Set>,
    /// All layers together.
    reached: Set,
}

/// Explores layer after layer, until the search is over.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<()> {
    let initial = search.initial()?;
    let mut layers = Layers { layers: vec![initial.clone()], reached: initial };
    (search.states, search.levels) = (Count::from(0u32), Some(Vec::new()));
    search.expanded = Some(search.encoding.diagrams.no.clone());
    loop {
        layers.layer(search)?;
    }
}

impl Layers {
    /// Judges and expands the last layer. It breaks off when there is no next one.
    fn layer(&mut self, search: &mut Search<'_>) -> Attempt<()> {
        let depth = self.layers.len() as u32 - 1;
        let here = self.layers[depth as usize].clone();
        arrive(search, depth, &here)?;
        self.judge(search, &here)?;
        search.coverage = Coverage::Depth(depth);
        if search.ends() {
            return Err(Broken::Stopped(Stop::Goal));
        }
        search.tell();
        let next = search.image(&here)?;
        let next = search.encoding.diagrams.minus(&next, &self.reached)?;
        search.watch.iterations += 1;
        search.expanded = Some(self.reached.clone());
        search.tidy();
        let diagrams = &search.encoding.diagrams;
        if next == diagrams.no {
            return Err(Broken::Stopped(Stop::Exhausted));
        }
        if depth == search.job.limits.depth {
            return Err(Broken::Stopped(Stop::Depth));
        }
        if search.is_full() {
            return Err(Broken::Stopped(Stop::States));
        }
        self.reached = diagrams.or(&self.reached, &next)?;
        self.layers.push(next);
        Ok(())
    }

    fn judge(&self, search: &mut Search<'_>, here: &Set) -> Attempt<()> {
        for goal in 0..search.conditions.len() {
            if search.found[goal].is_some() {
                continue;
            }
            let hits = search.hits(goal, here)?;
            if let Some(state) = search.encoding.pick(&hits) {
                let before = &self.layers[..self.layers.len() - 1];
                let trace = rebuild(&search.encoding, &search.relation, before, &state);
                // Without the memory to walk back, the run that exists cannot be shown.
                search.found[goal] = Some(trace.map_or(Outcome::Inconclusive, Outcome::Found));
            }
        }
        Ok(())
    }
}

/// A further layer was reached.
fn arrive(search: &mut Search<'_>, depth: u32, here: &Set) -> Attempt<()> {
    let states = search.count(here)?;
    search.watch.progress.depth = depth;
    search.watch.progress.frontier = saturated(&states);
    if saturated(&states) > 0 {
        search.states = search.states.clone() + states.clone();
        search.watch.progress.states = saturated(&search.states);
        search.levels.iter_mut().for_each(|levels| levels.push(states.clone()));
    }
    Ok(())
}
