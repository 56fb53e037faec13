//! Reachability by chaining (Roig, Cortadella, Pastor 1995): each piece is applied at once to all that was reached so
//! far, also by the pieces before it.
//!
//! A round takes many steps at once, in as many orders as come for free, and the sets on the way are often much smaller
//! than layers: these cut through the middle of everything that goes on at the same time. The price is that depths
//! are not known. So when a goal can be reached, the search is done again by layers as far as the goal, which gives a
//! shortest run. A limit on the depth has a meaning only there.
//!
//! Pieces are taken by the first bit that they look at, the last in the order first: what they change is low in the
//! diagrams, and settles before pieces above build on it.

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
    search.relation.bottom_up(&search.encoding.diagrams);
    let mut reached = search.initial()?;
    loop {
        arrive(search, &reached)?;
        let hits = hits(search, &reached)?;
        if is_over(search, &hits) {
            return layers::explore(search);
        }
        let before = reached.clone();
        for piece in &search.relation.pieces {
            let diagrams = &search.encoding.diagrams;
            reached = diagrams.or(&reached, &piece.image(diagrams, &reached)?)?;
            search.watch.look(diagrams)?;
            diagrams.tidy();
        }
        search.watch.iterations += 1;
        if reached == before {
            return complete(search, &hits, reached);
        }
        if search.is_full() {
            return Err(Broken::Stopped(Stop::States));
        }
    }
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
    let diagrams = &search.encoding.diagrams;
    search.goals.iter().map(|goal| Ok(diagrams.and(reached, goal)? != diagrams.no)).collect()
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
