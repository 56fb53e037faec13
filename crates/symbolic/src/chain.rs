//! Reachability without layers: each piece is applied at once to all that was reached so far, also by the pieces before
//! it (chaining: Roig, Cortadella, Pastor 1995), those low in the diagrams to their end before those above them
//! (saturation, see `ladder`).
//!
//! Many steps are taken at once, in as many orders as come for free, and the sets on the way are often much smaller
//! than layers: these cut through the middle of everything that goes on at the same time. The price is that depths
//! are not known. So when a goal can be reached, the search is done again by layers as far as the goal, which gives a
//! shortest run. A limit on the depth has a meaning only there.
//!
//! A round applies the pieces of the first rung once. Only between rounds is there a set that can be judged.

use birk_ir::{Coverage, Outcome, Stop};

use crate::diagram::{Attempt, Broken, Set};
use crate::layers;
use crate::search::{Search, saturated};
use crate::value::Algebra;

/// Explores until nothing is new, or a goal ends it.
pub(crate) fn explore(search: &mut Search<'_>) -> Attempt<()> {
    if search.job.limits.depth != u32::MAX {
        return layers::explore(search);
    }
    let initial = search.initial()?;
    let mut sound = search.encoding.diagrams.restrict(&initial, &search.encoding.diagrams.not(&search.faulty)?)?;
    arrive(search, &initial)?;
    let (ladder, mut climb) = search.climb();
    sound = ladder.below(&mut climb, &sound)?;
    loop {
        let reached = with_faults(search, &sound)?;
        arrive(search, &reached)?;
        let hits = hits(search, &reached)?;
        if is_over(search, &hits) {
            return layers::explore(search);
        }
        let (ladder, mut climb) = search.climb();
        let next = ladder.round(&mut climb, sound.clone())?;
        search.watch.iterations += 1;
        search.tidy();
        if next == sound {
            return complete(search, &hits, reached);
        }
        if search.is_full() {
            return Err(Broken::Stopped(Stop::States));
        }
        sound = next;
    }
}

/// These states, no check having failed, and the ends of checks that fail in a step from them.
fn with_faults(search: &mut Search<'_>, sound: &Set) -> Attempt<Set> {
    let diagrams = &search.encoding.diagrams;
    let reached = diagrams.minus(sound, &search.faulty)?;
    let (ladder, mut climb) = search.climb();
    let faults = ladder.faults(&mut climb, &reached)?;
    search.encoding.diagrams.or(&reached, &faults)
}

fn arrive(search: &mut Search<'_>, reached: &Set) -> Attempt<()> {
    search.states = search.count(reached)?;
    search.watch.progress.states = saturated(&search.states);
    search.coverage = Coverage::Sampled(search.watch.progress.states);
    search.tell();
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

/// Every state is known. What is left are the runs to the goals that can be reached.
fn complete(search: &mut Search<'_>, hits: &[bool], reached: Set) -> Attempt<()> {
    let (states, iterations) = (search.states.clone(), search.watch.iterations);
    let mut stopped = Ok(());
    if hits.contains(&true) {
        search.keeps_going = false;
        for (found, _) in search.found.iter_mut().zip(hits).filter(|(_, hit)| !**hit) {
            *found = Some(Outcome::Absent);
        }
        stopped = layers::explore(search);
        search.found.iter_mut().for_each(|found| _ = found.get_or_insert(Outcome::Inconclusive));
    }
    (search.states, search.levels) = (states, None);
    search.watch.iterations = iterations;
    search.expanded = Some(reached);
    search.coverage = Coverage::Complete;
    match stopped {
        Ok(()) | Err(Broken::Stopped(Stop::Goal)) => Err(Broken::Stopped(Stop::Exhausted)),
        other => other,
    }
}
