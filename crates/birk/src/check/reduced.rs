//! Properties of states, searched for with a stubborn set of steps in each state: in one search, or, where the goals hinder each
//! other, in one for each of them.

use std::ops::ControlFlow;

use birk_engine::{GoalSet, Hunt, Job, Limits, Stats};
use birk_exec::reduction::{Preserve, Trial};
use birk_exec::{Reduced, Specialised};
use birk_ir::{Coverage, Outcome, Stop};

use super::context::Context;
use super::safety::{Found, How, SafetyQuestion};
use crate::model::Layers;
use crate::report::Grade;
use crate::watch::Watch;

/// So many states are searched as they are: where the search ends among them, a reduction would take longer to prepare.
const FEW: u64 = 2_000;

/// So many states are remembered, and of others only those from which several steps are taken: it takes a little longer, where it
/// may matter how much memory is left.
const MANY: u64 = 1 << 26;

/// Why a reduction is of no use.
pub(super) const USELESS: &str = "nearly all steps depend on each other";

impl SafetyQuestion {
    /// Searches the model with a stubborn set of steps in each state, where that can be and is of use.
    pub(super) fn search_reduced(
        &self,
        context: &Context<'_>,
        how: How<'_>,
        job: &Job,
        watch: &mut dyn Watch,
    ) -> Found {
        if let Some(found) = self.search_few(context, how, job, watch) {
            return found;
        }
        let specialised = Specialised::new(context.program);
        let layers = Layers::new(&specialised.program, &self.goals);
        let hunted = layers
            .reduced(|goals| Preserve::Distances(goals), how.1.is_used(), job.limits.memory, watch)
            .and_then(|(reduced, trial)| match trial {
                Trial::Useless | Trial::Hopeless => self.hunt_each(context, how, (&layers, &reduced), job, watch),
                trial => {
                    let reduced = layers.natively(reduced, trial, watch).forgetting(MANY);
                    Ok(self.hunt(context, how, (&layers, &reduced), job, watch))
                }
            });
        match hunted {
            Ok(hunt) => {
                let mut hunt = how.1.of_specialised(context.program, &specialised, hunt);
                // What was not met may be there all the same: it is not told.
                (hunt.fired, hunt.stats.cut) = (Vec::new(), 0);
                Found { hunt, assumed: None, is_reduced: true, symmetry: None }
            }
            Err(reason) => {
                context.note_unreduced(&reason, watch);
                self.search(context, how, job, watch)
            }
        }
    }

    /// What a search says that ends soon, as it is. Where there is no reduction, there is no need to look.
    fn search_few(&self, context: &Context<'_>, how: How<'_>, job: &Job, watch: &mut dyn Watch) -> Option<Found> {
        if job.limits.states <= FEW || context.program.interpreted_only().is_some() {
            return None;
        }
        let few = Job { limits: Limits { states: FEW, ..job.limits }, ..job.clone() };
        let found = self.search(context, how, &few, watch);
        let is_over = match found.hunt.stopped {
            Stop::States => false,
            Stop::Exhausted => found.hunt.coverage == Coverage::Complete,
            _ => true,
        };
        is_over.then_some(found)
    }

    /// One search for each goal, if there are several and each alone is reduced; else a reason.
    fn hunt_each<'l>(
        &self,
        context: &Context<'_>,
        how: How<'_>,
        (layers, reduced): (&'l Layers<'_>, &Reduced<'l>),
        job: &Job,
        watch: &mut dyn Watch,
    ) -> Result<Hunt, String> {
        // Heuristic estimates are those of all goals.
        if self.goals.len() < 2 || context.engine.directed {
            return Err(USELESS.to_owned());
        }
        let mut alone = Vec::new();
        for goal in 0..self.goals.len() {
            let mut reduced = layers.for_goal(reduced, goal);
            match reduced.trial() {
                Trial::Useless | Trial::Hopeless => return Err(USELESS.to_owned()),
                trial => alone.push(layers.natively(reduced, trial, watch).forgetting(MANY)),
            }
        }
        let mut each = Each::default();
        for (goal, reduced) in alone.iter().enumerate() {
            let mut stop_at = GoalSet::default();
            if job.stop_at.contains(goal) {
                stop_at.insert(0);
            }
            let job = Job { goals: 1, stop_at, ..job.clone() };
            if each.take(self.hunt(context, how, (layers, reduced), &job, watch), stop_at.contains(0)).is_break() {
                break;
            }
        }
        Ok(each.joined(self.goals.len()))
    }
}

/// What searches for one goal each found together.
#[derive(Default)]
struct Each {
    outcomes: Vec<Outcome>,
    stats: Stats,
    /// The least that was covered where a goal was not found, and why that search ended.
    covered: Option<(Coverage, Stop)>,
    /// What ended it before its time.
    broken_off: Option<Stop>,
}

impl Each {
    fn take(&mut self, hunt: Hunt, ends_it: bool) -> ControlFlow<()> {
        let is_found = matches!(hunt.outcomes[0], Outcome::Found(_));
        self.outcomes.extend(hunt.outcomes);
        let grade = |coverage: &Coverage| Grade::of(Some(coverage));
        if !is_found && self.covered.as_ref().is_none_or(|(least, _)| grade(&hunt.coverage) > grade(least)) {
            self.covered = Some((hunt.coverage, hunt.stopped));
        }
        let (all, next) = (&mut self.stats, hunt.stats);
        all.states += next.states;
        all.transient += next.transient;
        all.transitions += next.transitions;
        all.revisits += next.revisits;
        all.max_depth = all.max_depth.max(next.max_depth);
        all.peak_frontier = all.peak_frontier.max(next.peak_frontier);
        all.store_bytes = all.store_bytes.max(next.store_bytes);
        if matches!(hunt.stopped, Stop::Time | Stop::Interrupt) || is_found && ends_it {
            self.broken_off = Some(hunt.stopped);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// As one hunt for so many goals. If it was broken off, nothing is claimed of what was not found.
    fn joined(mut self, goals: usize) -> Hunt {
        let partial = Coverage::Partial(self.stats.states);
        let (coverage, stopped) = match (self.broken_off, self.covered) {
            (Some(stopped), _) => (partial, stopped),
            (None, Some(covered)) => covered,
            (None, None) => (partial, Stop::Goal),
        };
        self.outcomes.resize(goals, Outcome::Inconclusive);
        Hunt { outcomes: self.outcomes, coverage, stopped, stats: self.stats, fired: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use birk_ir::Trace;

    use super::*;

    fn hunt(outcome: Outcome, coverage: Coverage, stopped: Stop) -> Hunt {
        let stats = Stats { states: 10, ..Stats::default() };
        Hunt { outcomes: vec![outcome], coverage, stopped, stats, fired: Vec::new() }
    }

    #[test]
    fn what_was_not_searched_is_not_claimed() {
        let mut each = Each::default();
        assert!(each.take(hunt(Outcome::Absent, Coverage::Complete, Stop::Exhausted), true).is_continue());
        assert!(each.take(hunt(Outcome::Inconclusive, Coverage::Depth(7), Stop::Time), true).is_break());
        let joined = each.joined(3);
        assert_eq!(joined.outcomes, [Outcome::Absent, Outcome::Inconclusive, Outcome::Inconclusive]);
        assert_eq!((joined.coverage, joined.stopped), (Coverage::Partial(20), Stop::Time));
    }

    #[test]
    fn as_much_is_covered_as_by_the_search_that_covered_least() {
        let mut each = Each::default();
        let found = Outcome::Found(Trace { initial: 0, steps: Vec::new(), loop_start: None });
        assert!(each.take(hunt(found.clone(), Coverage::Partial(10), Stop::Goal), false).is_continue());
        assert!(each.take(hunt(Outcome::Inconclusive, Coverage::Depth(7), Stop::Depth), true).is_continue());
        assert!(each.take(hunt(Outcome::Absent, Coverage::Complete, Stop::Exhausted), true).is_continue());
        let joined = each.joined(3);
        assert_eq!((joined.coverage, joined.stopped), (Coverage::Depth(7), Stop::Depth));
        let mut each = Each::default();
        assert!(each.take(hunt(found, Coverage::Partial(10), Stop::Goal), true).is_break());
        assert_eq!(each.joined(2).outcomes[1], Outcome::Inconclusive);
    }
}
