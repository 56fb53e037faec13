//! What lies within a depth bound as a model of its own, in which cycles are hunted, while the bound grows.
//!
//! A nested search with a limit on its own depth would miss cycles: it reaches states late and by detours. So the states
//! within the bound are computed first, those at it included, and then searched as a whole. That begins anew with each
//! bounded model; so the next one to be searched is at least twice as large, and all of them together cost little more than
//! the last.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use birk_engine::{BoundedStats, EngineStats, GoalSet, Hunt, Job, Limits, Model, Observer, Options, Successors, Value};
use birk_ir::{Coverage, Field, Outcome, Stop};

use super::options::INCREMENT;
use super::search::{Rules, Search};
use super::shared::{Seen, Turn};
use super::thresholds::UNSEEN;
use crate::store::codec::Codec;
use crate::store::with_codec::{Keys, WithCodec, with_codec};

/// Hunts for cycles in a bounded model; told how many bytes the bounded model has.
pub(crate) type InBoundedModel<'f> = &'f mut dyn FnMut(&dyn Model, u64, &mut dyn Observer) -> Hunt;

/// Hunts for cycles within the depth limit: in that bounded model only, or, if it `grows`, in smaller ones before.
pub(crate) fn in_bounded_models(
    model: &dyn Model,
    (limits, increment): (&Limits, u32),
    grows: bool,
    hunt: InBoundedModel<'_>,
    observer: &mut dyn Observer,
) -> Hunt {
    // The other half is for the hunt.
    let limits = Limits { memory: limits.memory / 2, ..*limits };
    let options = Options::default().with(&INCREMENT, Value::Number(u64::from(increment)));
    let job = Job { keep_going: true, options, ..Job::new(1, limits) };
    let rules = Rules { prunes: true, ..Rules::default() };
    with_codec(model, &job, Keys::Fixed, InBoundedModels { model, job: &job, rules, grows, hunt, observer })
}

struct InBoundedModels<'a, 'o, 'f> {
    model: &'a dyn Model,
    job: &'a Job,
    rules: Rules,
    grows: bool,
    hunt: InBoundedModel<'f>,
    observer: &'o mut dyn Observer,
}

impl WithCodec for InBoundedModels<'_, '_, '_> {
    type Output = Hunt;

    fn run<C: Codec>(self, codec: C) -> Hunt {
        Search::new(self.model, self.job, codec, self.rules).in_bounded_models(self.grows, self.hunt, self.observer)
    }
}

impl<C: Codec> Search<'_, C> {
    fn in_bounded_models(mut self, grows: bool, hunt: InBoundedModel<'_>, observer: &mut dyn Observer) -> Hunt {
        let limits = self.shared.job.limits;
        let _ = self.workers[0].begin(&mut Turn::new(&self.shared, Some(observer)));
        let (mut searched, mut searched_states) = (None, 0);
        while self.shared.stop.get().is_none() {
            self.advance();
            let is_last = self.shared.from >= limits.depth || self.chunks().is_empty();
            let states = *self.shared.states.get_mut();
            if is_last || grows && states >= 2 * searched_states {
                let seen = self.shared.seen.get_mut().expect("no worker panics with it");
                let bytes = seen.bytes() + *self.shared.frontier_bytes.get_mut();
                let bounded_model = BoundedModel::new(self.shared.model, seen);
                let mut found = hunt(&bounded_model, bytes, observer);
                let leaves = bounded_model.leaves.into_inner();
                match found.stopped {
                    Stop::Exhausted => {}
                    Stop::Goal => {
                        let bounds = self.bounds;
                        found.stats.engine = EngineStats::Bounded(BoundedStats { bounds, ..BoundedStats::default() });
                        return found;
                    }
                    stop => _ = self.shared.stop.set(stop),
                }
                if found.stopped == Stop::Exhausted {
                    (searched, searched_states) = (self.covered, states);
                }
                if !leaves {
                    break;
                }
            }
            if is_last || self.shared.stop.get().is_some() {
                break;
            }
            self.raise();
            self.bound(observer);
        }
        let stopped = match self.shared.stop.get() {
            Some(&stop) => stop,
            None => self.close(observer),
        };
        self.covered = searched;
        let mut hunt = self.finish(stopped);
        let is_absent = hunt.coverage == Coverage::Complete;
        hunt.outcomes = vec![if is_absent { Outcome::Absent } else { Outcome::Inconclusive }];
        hunt
    }
}

/// A model without what was not visited.
struct BoundedModel<'s, C: Codec> {
    model: &'s dyn Model,
    seen: &'s Seen<C>,
    /// For whoever looks something up.
    parents: Mutex<Vec<C::Parent>>,
    /// A step was met that leads out of it.
    leaves: AtomicBool,
}

impl<'s, C: Codec> BoundedModel<'s, C> {
    fn new(model: &'s dyn Model, seen: &'s Seen<C>) -> Self {
        Self { model, seen, parents: Mutex::default(), leaves: AtomicBool::new(false) }
    }
}

impl<C: Codec> Model for BoundedModel<'_, C> {
    fn words(&self) -> usize {
        self.model.words()
    }

    fn fields(&self) -> Vec<Field> {
        self.model.fields()
    }

    fn initial(&self, out: &mut Successors) {
        self.model.initial(out);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        let (mut below, _) = out.begin_below(self.words(), state);
        let cut = below.cut;
        self.model.successors(state, &mut below);
        out.cut += below.cut - cut;
        out.is_withheld = below.is_withheld;
        let kept = self.parents.lock().expect("nobody panics with it").pop();
        let mut parent = kept.unwrap_or_else(|| self.seen.codec.parent());
        for i in 0..below.len() {
            let key = self.seen.codec.known_key(below.state(i), &mut parent);
            if key.is_some_and(|key| self.seen.thresholds.get(key) != UNSEEN) {
                let step = below.step(i);
                out.push(step.transition, step.choice, below.state(i));
            } else {
                self.leaves.store(true, Ordering::Relaxed);
            }
        }
        self.parents.lock().expect("nobody panics with it").push(parent);
        out.end_below(below, state, Vec::new);
    }

    fn evaluate(&self, state: &[u32], stuck: bool) -> GoalSet {
        self.model.evaluate(state, stuck)
    }

    fn transitions(&self) -> usize {
        self.model.transitions()
    }
}
