//! Properties of states: deadlock, runtime errors, invariants, states to be reached. One search hunts them all.

use birk_engine::{Hunt, Job, Model, ModelSearch, Search};
use birk_exec::replay;
use birk_ir::{Coverage, Expr, Goal, Outcome};

use super::context::Context;
use super::findings::{Answered, Decided, Question};
use crate::error::Error;
use crate::model::Layers;
use crate::process_memory::at_once;
use crate::properties::{goals_of, replay_failure};
use crate::watch::Watch;

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
        Job { stop_at, ..context.job(self.goals.len()) }
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
                let run = replay(context.program, trace).map_err(|error| replay_failure(property, &error))?;
                run.confirm(context.program, property).map_err(|error| replay_failure(property, &error))?;
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
                let hunt = search(context.program, &self.goals, &job, watch).map_err(refused)?;
                Found { hunt, assumed: None, is_reduced: false }
            }
            Search::Model(search) if context.reduces(watch) => self.search_reduced(context, search, &job, watch),
            Search::Model(search) => self.search(context, search, &job, watch),
        };
        watch.end();
        let Found { hunt, assumed, is_reduced } = found;
        Ok(Decided { answers: self.answers(context, &hunt)?, hunt, assumed, is_reduced })
    }
}

/// What a search found.
pub(super) struct Found {
    pub(super) hunt: Hunt,
    pub(super) assumed: Option<Vec<bool>>,
    pub(super) is_reduced: bool,
}

impl SafetyQuestion {
    /// Searches the model.
    pub(super) fn search(&self, context: &Context<'_>, search: ModelSearch, job: &Job, watch: &mut dyn Watch) -> Found {
        let layers = Layers::new(context.program, &self.goals);
        let hunt = self.hunt(context, search, (&layers, layers.plain()), job, watch);
        Found { hunt, assumed: Some(layers.assumed()), is_reduced: false }
    }

    pub(super) fn hunt(
        &self,
        context: &Context<'_>,
        search: ModelSearch,
        (layers, model): (&Layers<'_>, &dyn Model),
        job: &Job,
        watch: &mut dyn Watch,
    ) -> Hunt {
        let hunt = match context.bitstate() {
            Some(bitstate) => bitstate.hunt(model, job, watch),
            None if context.engine.directed => search(&layers.directed(model, &job.options), job, watch),
            None => search(model, job, watch),
        };
        layers.note_refusal(watch);
        hunt
    }
}
