//! Symbolic breadth-first search: the states at distance 0, 1, 2, … as one set each (Burch, Clarke, McMillan, Dill and Hwang
//! 1990).
//!
//! The layers are kept: they give the depth of every state, and a shortest run to any of them. As in the explicit
//! search, a layer is evaluated to its end before the search ends at a goal, and at the depth limit the search is
//! complete if nothing new lies beyond.

use birk_ir::Outcome;

use crate::attempt::Attempt;
use crate::bdd::diagram::{Count, Set};
use crate::bdd::search::{Ended, Fixpoint, Part, Search, saturated};
use crate::bdd::trace::rebuild;
use crate::bitvector::Algebra;

/// Explores layer after layer, until the search is over.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<Ended> {
    let initial = search.initial()?;
    search.reached = initial.clone();
    (search.states, search.levels) = (Count::from(0u32), Some(Vec::new()));
    search.expanded = Some(search.encoding.diagrams.no.clone());
    let mut layers = vec![initial];
    loop {
        if let Some(ended) = layer(search, &mut layers)? {
            return Ok(ended);
        }
    }
}

/// Evaluates and expands the last layer; the answer is why there is no next one.
fn layer(search: &mut Search<'_>, layers: &mut Vec<Set>) -> Attempt<Option<Ended>> {
    let depth = layers.len() as u32 - 1;
    let here = layers[depth as usize].clone();
    arrive(search, depth, &here)?;
    evaluate(search, layers, &here)?;
    search.part = Part::Depth(depth);
    if search.ends() {
        return Ok(Some(Ended::Goal));
    }
    search.tell();
    let next = search.image(&here)?;
    let next = search.encoding.diagrams.minus(&next, &search.reached)?;
    search.watch.iterations += 1;
    search.expanded = Some(search.reached.clone());
    search.tidy();
    if let Some(fixpoint) = Fixpoint::of(&search.encoding.diagrams, &next) {
        return Ok(Some(Ended::Complete(fixpoint)));
    }
    if depth == search.job.limits.depth {
        return Ok(Some(Ended::Depth));
    }
    if search.is_full(&next)? {
        return Ok(Some(Ended::States));
    }
    search.reached = search.encoding.diagrams.or(&search.reached, &next)?;
    layers.push(next);
    Ok(None)
}

/// Looks for goals in the last layer. Without the memory to walk back from one, it was not examined.
fn evaluate(search: &mut Search<'_>, layers: &[Set], here: &Set) -> Attempt<()> {
    for goal in 0..search.conditions.len() {
        if search.found[goal].is_some() {
            continue;
        }
        let hits = search.hits(goal, here)?;
        if let Some(state) = search.encoding.pick(&hits) {
            let before = &layers[..layers.len() - 1];
            let trace = rebuild(&search.encoding, &search.relation, before, &state)?;
            search.found[goal] = Some(Outcome::Found(trace));
        }
    }
    Ok(())
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
