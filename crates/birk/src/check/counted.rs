//! Properties of runs, proved by a bound on how often a run can be accepted by the automaton of its violations: the engine
//! proves, for one bound after the other, that no state is reached in which there was one more.

use birk_engine::{Hunt, Job, Limits, Progress, Search};
use birk_exec::Counted;
use birk_ir::{Coverage, Outcome, PropertyKind, Trace};

use super::certified::{Unchecked, checked};
use super::context::Context;
use super::liveness::LivenessQuestion;
use crate::certificate::{self, Bound, OfRuns};
use crate::error::Error;
use crate::options::Fairness;
use crate::watch::Watch;

/// The bounds that are tried. Behind the last one, the search for cycles is likely to be faster.
const BOUNDS: [u32; 8] = [0, 1, 2, 3, 4, 8, 16, 32];

/// What counting decides.
pub(super) struct ByCounting {
    pub(super) hunt: Hunt,
    /// No run is accepted more often.
    pub(super) bound: Option<u32>,
}

impl LivenessQuestion<'_> {
    /// Proves the property or finds a lasso, if that can be done; where it cannot, a note says why, and nothing is known.
    pub(super) fn count(
        &self,
        context: &Context<'_>,
        limits: Limits,
        watch: &mut dyn Watch,
    ) -> Result<Option<ByCounting>, Error> {
        let Search::Program(search) = context.engine.search else { return Ok(None) };
        let give_up = |reason: &str, watch: &mut dyn Watch| {
            watch.note(&format!("`{}` was searched for cycles instead: {reason}", self.property.name));
        };
        if context.options.fairness == Fairness::Strong {
            give_up("strong fairness cannot be counted", watch);
            return Ok(None);
        }
        for bound in BOUNDS {
            let fairness = context.fairness.as_ref();
            let counted = Counted::new(context.program, &self.automaton, &self.propositions, fairness, bound);
            let job = Job { limits, ..context.job(1) };
            let proved = counted.and_then(|counted| {
                let hunt = search(&counted.program, &[counted.goal()], &job, watch)?;
                Ok((counted, hunt))
            });
            let (counted, mut hunt) = match proved {
                Ok(proved) => proved,
                Err(reason) => {
                    give_up(&reason, watch);
                    return Ok(None);
                }
            };
            match &hunt.outcomes[0] {
                Outcome::Absent => {
                    let proof = certify(self, &counted, &mut hunt, watch)?;
                    let is_certifiable =
                        context.options.certificate && !matches!(self.property.kind, PropertyKind::Automaton);
                    if let Some(bytes) = proof.filter(|_| is_certifiable) {
                        let bound = Bound { most: bound, is_fair: fairness.is_some() };
                        let proof = OfRuns { property: self.property.name.clone(), bound, bytes };
                        context.of_runs.lock().expect("nobody who holds it panics").push(proof);
                    }
                    let bound = (hunt.outcomes[0] == Outcome::Absent).then_some(bound);
                    return Ok(Some(ByCounting { hunt, bound }));
                }
                Outcome::Found(trace) => {
                    let lasso = counted.lasso(context.program, trace).filter(|lasso| self.is_violation(context, lasso));
                    if let Some(lasso) = lasso {
                        hunt.outcomes[0] = Outcome::Found(lasso);
                        return Ok(Some(ByCounting { hunt, bound: None }));
                    }
                }
                Outcome::Untraced(_) => {}
                Outcome::Inconclusive => return Ok(Some(ByCounting { hunt, bound: None })),
            }
        }
        give_up(&format!("some runs are accepted more than {} times before they end or repeat", BOUNDS[7]), watch);
        Ok(None)
    }

    /// Whether a lasso violates the property: there are more runs where it is counted than there are.
    fn is_violation(&self, context: &Context<'_>, lasso: &Trace) -> bool {
        self.confirmed(context, lasso).is_ok()
    }
}

/// Lets the certifier check a proof, and returns its certificate; what it does not accept is not claimed.
fn certify(
    question: &LivenessQuestion<'_>,
    counted: &Counted,
    hunt: &mut Hunt,
    watch: &mut dyn Watch,
) -> Result<Option<Vec<u8>>, Error> {
    let property = &counted.program.properties[0];
    let Some(Some(invariant)) = hunt.stats.invariants().first() else {
        return Err(Error::Internal("a proof has no invariant".to_owned()));
    };
    let bytes = certificate::of_invariants(&counted.program, &[(property, invariant)]);
    let progress = Progress { depth: hunt.stats.max_depth, bytes: hunt.stats.store_bytes, ..Progress::default() };
    match checked(&counted.program, &bytes, &progress, watch) {
        Ok(()) => Ok(Some(bytes)),
        Err(Unchecked::Unknown(reason)) => {
            let name = &question.property.name;
            watch.note(&format!("the proof of `{name}` was not checked by the certifier: {reason}"));
            Ok(None)
        }
        Err(Unchecked::Wrong(reason)) => Err(Error::Internal(reason)),
        Err(Unchecked::Stopped(stop)) => {
            hunt.outcomes[0] = Outcome::Inconclusive;
            (hunt.coverage, hunt.stopped) = (Coverage::Partial(0), stop);
            Ok(None)
        }
    }
}
