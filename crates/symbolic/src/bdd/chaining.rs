//! Reachability without layers: each event is applied at once to all that was reached so far, also by the events before
//! it (chaining: Roig, Cortadella and Pastor 1995), those low in the diagrams to their end before those above them
//! (see `saturation`).
//!
//! Many steps are taken at once, in as many orders as come for free, and the sets on the way are often much smaller
//! than layers: these cut through the middle of everything that goes on at the same time. The price is that depths
//! are not known. So when a goal can be reached, the search is done again by layers as far as the goal, which gives a
//! shortest run. A limit on the depth has a meaning only there.
//!
//! A round applies the events of the first level once. Only between rounds is there a set that can be evaluated.

use birk_ir::Outcome;

use crate::attempt::Attempt;
use crate::bdd::bfs;
use crate::bdd::diagram::Set;
use crate::bdd::search::{Ended, Fixpoint, Part, Search, saturated};
use crate::bitvector::Algebra;

/// Explores until nothing is new, or a goal ends it.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<Ended> {
    if search.job.limits.depth != u32::MAX {
        return bfs::explore(search);
    }
    let initial = search.initial()?;
    let mut sound = search.encoding.diagrams.restrict(&initial, &search.encoding.diagrams.not(&search.faulty)?)?;
    arrive(search, &initial)?;
    let (saturation, mut walk) = search.walk();
    sound = saturation.below(&mut walk, &sound)?;
    loop {
        let reached = with_faults(search, &sound)?;
        arrive(search, &reached)?;
        let hits = hits(search, &reached)?;
        if is_over(search, &hits) {
            return shortest(search);
        }
        // What is known to violate something, and is not shown yet, is not counted as explored.
        if !hits.contains(&true) {
            search.part = Part::Some(search.watch.progress.states);
        }
        search.tell();
        let (saturation, mut walk) = search.walk();
        let next = saturation.round(&mut walk, sound.clone())?;
        search.watch.iterations += 1;
        search.tidy();
        let new = search.encoding.diagrams.minus(&next, &sound)?;
        if let Some(fixpoint) = Fixpoint::of(&search.encoding.diagrams, &new) {
            return complete(search, fixpoint, &hits, reached);
        }
        if search.is_full(&new)? {
            return Ok(Ended::States);
        }
        sound = next;
    }
}

/// These states, no check having failed, and the ends of checks that fail in a step from them.
fn with_faults(search: &mut Search<'_>, sound: &Set) -> Attempt<Set> {
    let diagrams = &search.encoding.diagrams;
    let reached = diagrams.minus(sound, &search.faulty)?;
    let (saturation, mut walk) = search.walk();
    let faults = saturation.faults(&mut walk, &reached)?;
    search.encoding.diagrams.or(&reached, &faults)
}

fn arrive(search: &mut Search<'_>, reached: &Set) -> Attempt<()> {
    search.states = search.count(reached)?;
    search.watch.progress.states = saturated(&search.states);
    search.reached = reached.clone();
    Ok(())
}

/// For each goal whether one of these states satisfies it.
fn hits(search: &Search<'_>, reached: &Set) -> Attempt<Vec<bool>> {
    let no = &search.encoding.diagrams.no;
    (0..search.conditions.len()).map(|goal| Ok(search.hits(goal, reached)? != *no)).collect()
}

/// Whether the search would end if these goals were found.
fn is_over(search: &Search<'_>, hits: &[bool]) -> bool {
    let is_told = (0..hits.len()).any(|goal| hits[goal] && search.job.stop_at.contains(goal));
    is_told || (!hits.is_empty() && !search.keeps_going && hits.iter().all(|&hit| hit))
}

/// By layers as far as the goals that are known to be reached. The limit on states was for the way here.
fn shortest(search: &mut Search<'_>) -> Attempt<Ended> {
    search.most_states = u64::MAX;
    bfs::explore(search)
}

/// Every state is known. What is left are the runs to the goals that can be reached.
fn complete(search: &mut Search<'_>, fixpoint: Fixpoint, hits: &[bool], reached: Set) -> Attempt<Ended> {
    let (states, iterations) = (search.states.clone(), search.watch.iterations);
    if hits.contains(&true) {
        search.keeps_going = false;
        for (found, _) in search.found.iter_mut().zip(hits).filter(|(_, hit)| !**hit) {
            *found = Some(Outcome::Absent);
        }
        let walked = shortest(search);
        (search.states, search.levels) = (states, None);
        search.watch.iterations = iterations;
        match walked? {
            Ended::Goal => {}
            other => unreachable!("a goal that was reached is in a layer: {other:?}"),
        }
    }
    search.expanded = Some(reached);
    Ok(Ended::Complete(fixpoint))
}
