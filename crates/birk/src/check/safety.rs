//! Properties of states: deadlock, runtime errors, invariants, states to be reached. One search hunts them all.

use birk_engine::{GoalSet, Hunt, Job, Model, ModelSearch, Search};
use birk_exec::fewest_switches;
use birk_ir::{Coverage, Expr, Goal, Outcome, Step};

use super::certified;
use super::context::Context;
use super::findings::{Answered, Decided, Question};
use super::orbits::Orbits;
use crate::error::Error;
use crate::model::Layers;
use crate::process_memory::at_once;
use crate::properties::{goals_of, replay_failure};
use crate::recorded::Recorded;
use crate::report::SymmetryFigures;
use crate::watch::Watch;

/// Traces are compared by their context switches as long as states and steps take so many words: some ten thousand states of a small
/// model, and some milliseconds.
const MOST_WORDS: usize = 1 << 19;

/// The properties that are goals of one search.
pub(super) struct SafetyQuestion {
    /// Positions of the properties.
    indices: Vec<usize>,
    pub(super) goals: Vec<Goal>,
}

impl SafetyQuestion {
    pub(super) fn new(context: &Context<'_>) -> Result<Self, Error> {
        let (indices, goals) = goals_of(context.program, context.properties)?.into_iter().unzip();
        Ok(Self { indices, goals })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// The search for all goals.
    pub(super) fn job(&self, context: &Context<'_>) -> Job {
        let stop_at = context.stop_at(self.indices.iter().map(|&index| context.properties[index]));
        Job { stop_at, wants_invariant: context.options.certificate, ..context.job(self.goals.len()) }
    }

    /// Replaces each shortest trace by one that is as short and has the fewest context switches, where few states are as near.
    fn prefer_few_switches(&self, context: &Context<'_>, hunt: &mut Hunt) {
        if !hunt.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Found(_))) {
            return;
        }
        let layers = context.layers(&self.goals);
        let thread = |step: &Step| context.program.transition(step.transition).thread;
        let switches = |steps: &[Step]| steps.windows(2).filter(|two| thread(&two[0]) != thread(&two[1])).count();
        for (goal, outcome) in hunt.outcomes.iter_mut().enumerate().take(GoalSet::CAPACITY) {
            let Outcome::Found(trace) = outcome else { continue };
            let known = switches(&trace.steps);
            if known > 0
                && let length = trace.steps.len()
                && let Some(other) = fewest_switches(context.program, layers.plain(), goal, length as u32, MOST_WORDS)
                && other.steps.len() == length
                && switches(&other.steps) < known
            {
                *trace = other;
            }
        }
    }

    /// What a hunt says of each property; each trace is replayed.
    pub(super) fn answers(&self, context: &Context<'_>, hunt: &Hunt) -> Result<Vec<(usize, Answered)>, Error> {
        let mut answers = Vec::new();
        for ((&index, goal), outcome) in self.indices.iter().zip(&self.goals).zip(&hunt.outcomes) {
            let property = context.properties[index];
            // A goal that the types exclude needs no search.
            let outcome = if *goal == Goal::State(Expr::FALSE) { &Outcome::Absent } else { outcome };
            let is_open = *outcome == Outcome::Inconclusive;
            assert!(!is_open || hunt.coverage != Coverage::Complete, "a complete search decides every goal");
            // What is absent is so in every state, also where other goals are still open.
            let is_absent = *outcome == Outcome::Absent;
            let coverage = if is_absent { &Coverage::Complete } else { &hunt.coverage };
            let mut answered = Answered::new(property, outcome, coverage);
            if let Outcome::Found(trace) = outcome {
                let run = context.replay(property, trace)?;
                run.confirm(context.written, property).map_err(|error| replay_failure(property, &error))?;
                answered.run = Some(run);
            }
            answers.push((index, answered));
        }
        Ok(answers)
    }
}

impl Question for SafetyQuestion {
    fn name(&self, context: &Context<'_>) -> String {
        match self.indices[..] {
            [one] => context.properties[one].name.clone(),
            _ => "properties of states".into(),
        }
    }

    fn decide(&self, context: &Context<'_>, watch: &mut dyn Watch) -> Result<Decided, Error> {
        let mut job = self.job(context);
        let found = match context.engine.search {
            Search::Program(search) => {
                let refused = |reason: String| context.refused(&reason);
                job.limits.memory = at_once(job.limits.memory, context.engine.address_space).map_err(refused)?;
                // What an `assume` prunes is not noticed there.
                let mut hunt = search(context.program, &self.goals, &job, watch).map_err(refused)?;
                let certificate = certified::by_invariants(context, &self.indices, &mut hunt, watch)?;
                _ = context.certificate.set(certificate);
                Found { hunt, assumed: None, is_reduced: false, symmetry: None }
            }
            Search::Model(search) => {
                let symmetry = Orbits::new(context, &self.goals, watch);
                let found = match context.reduces(watch) {
                    true => self.search_reduced(context, (search, &symmetry), &job, watch),
                    false => self.search(context, (search, &symmetry), &job, watch),
                };
                Found { symmetry: symmetry.figures(context, &self.indices), ..found }
            }
        };
        watch.end();
        let Found { mut hunt, assumed, is_reduced, symmetry } = found;
        if context.engine.shortest {
            self.prefer_few_switches(context, &mut hunt);
        }
        Ok(Decided { answers: self.answers(context, &hunt)?, hunt, assumed, is_reduced, symmetry })
    }
}

/// What a search found.
pub(super) struct Found {
    pub(super) hunt: Hunt,
    pub(super) assumed: Option<Vec<bool>>,
    pub(super) is_reduced: bool,
    pub(super) symmetry: Option<SymmetryFigures>,
}

/// How to search, and which states count as one.
pub(super) type How<'s> = (ModelSearch, &'s Orbits);

impl SafetyQuestion {
    /// Searches the model.
    pub(super) fn search(&self, context: &Context<'_>, how: How<'_>, job: &Job, watch: &mut dyn Watch) -> Found {
        let layers = context.layers(&self.goals);
        let recorded = context.options.certificate.then(|| Recorded::new(context.program, layers.plain()));
        let model = recorded.as_ref().map_or(layers.plain(), |recorded| recorded);
        let hunt = self.hunt(context, how, (&layers, model), job, watch);
        if let Some(recorded) = recorded {
            let keys = recorded.into_keys();
            _ = context.certificate.set(certified::by_states(context, &self.indices, &hunt, &keys));
        }
        let hunt = how.1.original(context.program, hunt);
        let assumed = (!how.1.is_used()).then(|| layers.assumed());
        Found { hunt, assumed, is_reduced: false, symmetry: None }
    }

    pub(super) fn hunt(
        &self,
        context: &Context<'_>,
        (search, orbits): How<'_>,
        (layers, model): (&Layers<'_>, &dyn Model),
        job: &Job,
        watch: &mut dyn Watch,
    ) -> Hunt {
        let symmetric = orbits.layer(model);
        let model = symmetric.as_ref().map_or(model, |symmetric| symmetric);
        let hunt = match context.bitstate() {
            Some(bitstate) => bitstate.hunt(model, job, watch),
            None if context.engine.directed => search(&layers.directed(model, &job.options), job, watch),
            None => search(model, job, watch),
        };
        layers.note_refusal(watch);
        hunt
    }
}
